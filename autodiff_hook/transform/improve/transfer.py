"""What is known of the result of a statement, from what is known of its operands."""

from __future__ import annotations

from collections.abc import Callable
from types import NoneType
from typing import Any, Final

import numpy as np

from autodiff_hook.ir.types import Operand, Statement, value_of
from autodiff_hook.transform.improve.examples import by_example
from autodiff_hook.transform.improve.facts import (
    ArrayFact,
    Dim,
    Dims,
    Fact,
    NumberFact,
    PointFact,
    ShapeFact,
    Symbol,
    TupleFact,
    is_array,
    is_double,
    is_floating,
    is_number,
    is_single,
)
from autodiff_hook.transform.improve.shortcuts import SHAPED, TYPINGS, applied, declared, lookup
from autodiff_hook.transform.improve.site import ARITHMETIC, Site, common_dtype, is_elementwise

_LOGIC: Final = ("|", "&", "^")


def transfer(site: Site, s: Statement) -> Fact | None:
    """What the operands say of the result of ``s``."""
    rule = _TRANSFERS.get(s.op)
    return rule(site, s) if rule is not None else None


def _binary(site: Site, s: Statement) -> Fact | None:
    a, b = (site.fact(x) for x in s.operands)
    if s.data in _LOGIC and all(is_array(f) and f.dtype.char == "?" for f in (a, b)):
        return site.elementwise(a.dtype, *s.operands)  # type: ignore[union-attr]
    if s.data not in ARITHMETIC:
        return None
    if is_number(a) and is_number(b):
        count = value_of(s.operands[1])
        if s.data == "-" and isinstance(a, NumberFact) and a.dim is not None and type(count) is int and count >= 0:
            # Where it would be negative it is the length of nothing.
            return NumberFact(a.types, site.shapes.shorter(a.dim, count))
        return _numbers(s.data, a, b)
    if is_single(a) and is_single(b):
        return _of_points(a, b)
    dtype = common_dtype(a, b)
    return None if dtype is None else site.elementwise(dtype, *s.operands)


def _of_points(*facts: Any) -> Fact | None:
    """What arithmetic makes of arrays without axes, if that is a double."""
    return NumberFact(frozenset({np.float64})) if any(map(_is_floating_single, facts)) else None


def _is_floating_single(fact: Fact | None) -> bool:
    return is_floating(fact) or isinstance(fact, PointFact) and not fact.whole


def _numbers(op: str, a: Any, b: Any) -> Fact | None:
    if op == "**":
        return NumberFact(a.types) if is_floating(a) and b.types == {int} else None
    types = set()
    for x in a.types:
        for y in b.types:
            plain = x in (int, float) and y in (int, float)
            whole = x is int and y is int and op != "/"
            double = next(iter({t for t in (x, y) if t not in (int, float)}), float)
            types.add(int if whole else float if plain else double)
    return NumberFact(frozenset(types))


def _unary(site: Site, s: Statement) -> Fact | None:
    fact = site.fact(s.operands[0])
    if s.data == "~" and is_array(fact) and fact.dtype.char == "?":
        return fact
    if s.data != "-" or not (is_single(fact) or is_array(fact)):
        return None
    if isinstance(fact, PointFact):
        return _of_points(fact)
    return NumberFact(fact.types) if isinstance(fact, NumberFact) else fact


def _getattr(site: Site, s: Statement) -> Fact | None:
    dims = site.dims(s.operands[0])
    if dims is None:
        return None
    if s.data == "T":
        return ArrayFact(site.fact(s.operands[0]).dtype, dims[::-1])  # type: ignore[union-attr]
    if s.data == "size":
        return NumberFact(frozenset({int}))
    return ShapeFact(dims) if s.data == "shape" else None


def _getitem(site: Site, s: Statement) -> Fact | None:
    fact, index = site.fact(s.operands[0]), value_of(s.operands[1])
    if isinstance(fact, ShapeFact) and type(index) is int and -len(fact.dims) <= index < len(fact.dims):
        return NumberFact(frozenset({int}), fact.dims[index])
    if isinstance(fact, TupleFact) and type(index) is int and index < len(fact.items):
        return fact.items[index]
    if not isinstance(fact, ArrayFact) or fact.optional:
        return None
    index = site.index(s.operands[1])
    dims = sliced(site, fact.dims, index)
    is_number = dims == () and index is not Ellipsis and not (isinstance(index, tuple) and Ellipsis in index)
    if is_number and is_double(fact):
        return NumberFact(frozenset({type(fact.dtype.type())}))
    return ArrayFact(fact.dtype, dims) if dims else None


def _project(site: Site, s: Statement) -> Fact | None:
    fact = site.fact(s.operands[0])
    known = isinstance(fact, ShapeFact) and s.data < len(fact.dims)
    return NumberFact(frozenset({int}), fact.dims[s.data]) if known else None  # type: ignore[union-attr]


def sliced(site: Site, dims: Dims, index: Any) -> Dims | None:
    """The shape of ``x[index]``."""
    rest, result = list(dims), list[Dim]()
    parts = index if isinstance(index, tuple) else (index,)
    if any(isinstance(part, ArrayFact) for part in parts) and not _is_simple(parts):
        return None
    for part in parts:
        if part is Ellipsis:
            skipped = len(dims) - sum(x is not None and x is not Ellipsis for x in parts)
            result += rest[:skipped]
            del rest[:skipped]
            continue
        if part is None:
            result.append(1)
            continue
        if not rest:
            return None
        dim = rest.pop(0)
        if type(part) is slice:
            result.append(_part(site, dim, part))
        elif isinstance(part, ArrayFact):
            result += part.dims
        elif type(part) is not int:
            return None
    return (*result, *rest)


def _is_simple(parts: tuple[Any, ...]) -> bool:
    """Whether an array of places is the only index besides slices and new axes, so that its axes stay in place."""
    others = [part for part in parts if not isinstance(part, ArrayFact)]
    return len(others) == len(parts) - 1 and all(x is None or x is Ellipsis or type(x) is slice for x in others)


def _part(site: Site, dim: Dim, part: slice) -> Dim:
    start, stop = 0 if part.start is None else part.start, part.stop
    known = all(type(x) in (int, NoneType) for x in (part.start, stop, part.step))
    if isinstance(dim, int) and known:
        return len(range(*part.indices(dim)))
    if part == slice(None, None, -1):
        return dim
    if part.step in (None, 1) and type(start) is int:
        if start >= 0 and (stop is None or type(stop) is int and stop < 0):
            return site.shapes.shorter(dim, start - (stop or 0))
        reach = -start if start < 0 else stop
        if known and (start >= 0 or not stop or stop < 0) and site.shapes.fits(reach, dim):
            return len(range(*part.indices(reach)))
        if start == 0 and isinstance(stop, Symbol) and site.shapes.fits(stop, dim):
            return stop
    return site.unknown()[0]


def _call(site: Site, s: Statement) -> Fact | None:
    function = s.callee
    found: Fact | None = applied(TYPINGS, site, s)
    if found is None and declared(SHAPED, function):
        return by_example(site, s, function, s.operands[1:])
    if found is not None or s.data or lookup(TYPINGS, function) is not None:
        return found
    if is_elementwise(function) and len(s.operands) == 1 + function.nin:
        return _ufunc(site, function, s.operands[1:])
    return None


def _inplace(site: Site, s: Statement) -> Fact | None:
    fact = site.fact(s.operands[0])
    return fact if is_array(fact) else _binary(site, s)


def _ufunc(site: Site, function: Any, operands: list[Operand]) -> Fact | None:
    facts = [site.fact(x) for x in operands]
    numbers = [f for f in facts if is_number(f)]
    if all(map(is_single, facts)):
        doubles = all(map(_is_floating_single, facts))
        char = _loop(function, "d" * len(facts)) if doubles else None
        return NumberFact(frozenset({np.float64})) if char == "d" else None
    arrays = [f for f in facts if is_array(f)]
    chars = {f.dtype.char for f in arrays}
    if len(arrays) + len(numbers) < len(facts) or len(chars) != 1:
        return None
    (char,) = chars
    plain = all(t in (int, float) for f in numbers for t in f.types)
    if char not in "df" or (char == "f" and not plain):
        return None
    out = _loop(function, char * len(facts))
    return None if out is None else site.elementwise(np.dtype(out), *operands)


def _loop(function: Any, chars: str) -> str | None:
    """The dtype of the result of the loop of a ufunc for operands of these dtypes."""
    return next((t[-1] for t in function.types if t[:-3] == chars), None)


def _build_tuple(site: Site, s: Statement) -> Fact | None:
    dims = [site.length(operand) for operand in s.operands]
    known = [dim for dim in dims if dim is not None]
    return ShapeFact(tuple(known)) if known and len(known) == len(dims) else None


def _compare(site: Site, s: Statement) -> Fact | None:
    facts = [site.fact(x) for x in s.operands]
    if any(map(is_array, facts)) and all(is_number(f) or is_array(f) and f.dtype.kind in "fiub" for f in facts):
        return site.elementwise(np.dtype(bool), *s.operands)
    return None


def _method(site: Site, s: Statement) -> Fact | None:
    fact = site.fact(s.operands[0])
    if s.data == ("item", ()) and is_double(fact):
        return NumberFact(frozenset({float}))
    if not isinstance(fact, ArrayFact) or fact.optional:
        return None
    if s.data == ("reshape", ()) and len(s.operands) == 2:
        return reshaped(site, fact, s.operands[1])
    return fact if s.data == ("copy", ()) else None


def reshaped(site: Site, fact: ArrayFact, shape: Operand) -> Fact | None:
    """An array in a shape whose lengths are known, or those of another array."""
    known, made = site.fact(shape), site.source(shape)
    if not isinstance(known, ShapeFact):
        return None
    dims = tuple(map(site.shapes.find, known.dims))
    lengths = made is not None and made.op == "getattr"
    return ArrayFact(fact.dtype, dims) if lengths or all(isinstance(d, int) and d >= 0 for d in dims) else None


_TRANSFERS: Final[dict[str, Callable[[Site, Statement], Fact | None]]] = {
    "binary": _binary,
    "inplace": _inplace,
    "unary": _unary,
    "getattr": _getattr,
    "getitem": _getitem,
    "project": _project,
    "call": _call,
    "call_method": _method,
    "build_tuple": _build_tuple,
    "compare": _compare,
    "recall": Site.recalled,
}
