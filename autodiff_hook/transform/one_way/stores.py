"""Stores into arrays on one way through a program: each makes a new version of the array.

Only arrays that the program has made itself are stored into. A view of such an array is taken anew after a store; what
may or may not be a view is not used any more, or what it may be a view of is not, if it is stored into itself.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from autodiff_hook.ir.types import Args, Constant, Kwargs, Operand, Statement
from autodiff_hook.runtime.overlaps import in_pieces
from autodiff_hook.transform.one_way import given_arrays
from autodiff_hook.transform.one_way.containers import parts, sequence_of
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.one_way.trail import Raised
from autodiff_hook.transform.specialise.abstract import (
    BOOL,
    Abstract,
    Array,
    Instance,
    Known,
    Number,
    Tuple,
    same_dtype,
)
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.lattice import example_of, number_types
from autodiff_hook.transform.specialise.origins import makes_new
from autodiff_hook.transform.specialise.overlaps import is_read_first, is_whole, may_be_overwritten, views_from
from autodiff_hook.transform.specialise.plans import alias, known_as
from autodiff_hook.transform.specialise.views import base_of, flat_of, is_sure, turned_back
from autodiff_hook.transform.specialise.writing import is_stored


def note(inf: Path, s: Statement, result: Operand) -> None:
    """Remember where an array comes from: from nothing else's memory, or from what it may be a view of."""
    if s.op.startswith("build_") or not _has_arrays(inf.type_of(result)):
        return
    if (s.op == "call" or isinstance(inf.type_of(result), Array)) and makes_new(s, inf.type_of):
        inf.own.add(result)
        return
    base = base_of(s, inf.type_of)
    if base is not None and (is_sure(s, inf.type_of) or example_of(inf.type_of(base)).flags.c_contiguous):
        inf.viewing[result] = s
    elif all(isinstance(x, (Array, Known)) or number_types(x) for x in map(inf.type_of, s.operands)):
        inf.showing[result] = s
    for operand in s.operands:
        if _has_arrays(inf.type_of(operand)):
            inf.views.setdefault(operand, []).append(result)


def _has_arrays(value: Abstract) -> bool:
    if isinstance(value, Tuple):
        return any(map(_has_arrays, value.items))
    return isinstance(value, Array)


def store(inf: Path, s: Statement) -> Abstract | None:
    """``array[key] = value``; None if it is no array."""
    owner, key, value = s.operands
    if isinstance(inf.type_of(owner), Number):
        cls = type(example_of(inf.type_of(owner)))
        raise Raised(TypeError(f"'{cls.__name__}' object does not support item assignment"))
    array = flat_of(inf.type_of(owner))
    if array is not None:
        owner = inf.perform("call_method", [array, Constant(-1)], ("reshape", ()))
    if not isinstance(inf.type_of(owner), Array):
        return None
    _require_own(inf, owner)
    _require_read_first(inf, owner, key, value, array is not None)
    _assign(inf, owner, _updated(inf, owner, key, value))
    return known_as(inf, s, None)


def _require_read_first(inf: Path, owner: Operand, key: Operand, value: Operand, flat: bool) -> None:
    """Refuse a store of what shows an array into it, unless both step alike; ``flat``: through ``array.flat``."""
    whole = owner in inf.own and is_whole(inf.type_of(key))
    if whole or not may_be_overwritten(*map(inf.type_of, (owner, key, value))) and not flat:
        return
    views = views_from(lambda x: inf.present(x) is inf.present(owner), value, inf.viewing.get)
    if (flat or not views or not is_read_first(views, key, inf.type_of)) and _may_show(inf, value, owner):
        raise Refused("an array is stored into memory that it shows")


def require_apart(inf: Path, function: Any, args: Args) -> None:
    """Refuse to fill the diagonal of an array with what the array shows."""
    if function is np.fill_diagonal and len(args) > 1 and _may_show(inf, args[1], inf.present(args[0])):
        raise Refused("the diagonal of an array is filled with what the array shows")


def apart(inf: Path, s: Statement, args: Args) -> Abstract:
    """Whether an array that is written to piece by piece shows what is read meanwhile."""
    array, value = inf.present(args[0]), args[1]
    if value in (args[0], array, root_of(inf, array)) or _may_show(inf, value, array):
        raise Refused("an array is written to piece by piece that may show what is read")
    return known_as(inf, s, None)


def _may_show(inf: Path, value: Operand, array: Operand) -> bool:
    shown = list(inf.views.get(root_of(inf, array), ()))
    for view in shown:
        shown += [x for x in inf.views.get(view, ()) if x not in shown]
    return value in shown


def root_of(inf: Path, array: Operand) -> Operand:
    """What an array is a view of in the end."""
    while array not in inf.own and array in inf.viewing:
        base = base_of(inf.viewing[array], inf.type_of)
        if base is None:
            break
        array = inf.present(base)
    return array


def _updated(inf: Path, owner: Operand, key: Operand, value: Operand) -> Operand:
    return inf.perform("call", [Constant(inf.updated), owner, key, inf.frozen(value)], ())


def _assign(inf: Path, owner: Operand, result: Operand) -> Operand:
    """From now on an array, or a part of one, is ``result``; returns what it is known as."""
    if owner in inf.own:
        replace(inf, owner, result)
        return result
    s = inf.viewing_of(owner)
    base = _base(inf, s)
    if s.op == "getitem":
        whole = _updated(inf, base, s.operands[1], result)
    else:
        whole = turned_back(inf, s, base, s, result)
    _assign(inf, base, whole)
    return owner


def augmented(inf: Path, s: Statement) -> Operand | None:
    """``array += value``: the array that it becomes; None if it is no array."""
    owner = s.operands[0]
    before = inf.type_of(owner)
    if not isinstance(before, Array):
        return None
    part = inf.stored_back and owner not in inf.own and any(owner in found for found in inf.views.values())
    if not part:
        _require_own(inf, owner)
    result = inf.perform("binary", s.operands, s.data)
    if part and before.ndim == 0 and _is_item(inf.type_of(result), before):
        return result
    result = _made_like(inf, owner, result, before)
    return result if part else _assign(inf, owner, result)


def _is_item(value: Abstract, array: Array) -> bool:
    """Whether a value is a scalar of the type that an array without axes has, which NumPy makes of such."""
    return array.dtype is not None and number_types(value) == frozenset({array.dtype.type})


def stored_result(inf: Path, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> Abstract | None:
    """``np.exp(a, out=b)``: from now on ``b`` is the result."""
    rest = dict(kwargs)
    given = rest.pop("out")
    if isinstance(function, np.ufunc) and len(inf.tuples.get(given, ())) == 1:
        (given,) = inf.tuples[given]
    out = inf.present(given)
    if isinstance(function, np.ufunc) and "casting" in rest and inf.pin(rest["casting"]) in _USUAL:
        del rest["casting"]
    before = inf.type_of(out)
    if "where" in rest or not is_stored(inf, function, out) or not isinstance(before, Array) or in_pieces(function):
        return None
    _require_own(inf, out)
    result = _made_like(inf, out, inf.call(Constant(function), args, rest), before)
    return alias(inf, s, _assign(inf, out, result))


_USUAL: Final = ("same_kind", "unsafe")
"""The castings that let NumPy compute as it does without an option; what is stored into is of the result's type."""


def _made_like(inf: Path, owner: Operand, result: Operand, before: Array) -> Operand:
    """What is stored into all of an array, as an array like it."""
    if before.ndim == 0 and _is_item(inf.type_of(result), before):
        result = inf.call(Constant(np.asarray), [result])
    after = inf.type_of(result)
    same = isinstance(after, Array) and same_dtype(after.dtype, before.dtype)
    for name in ("shape", "strides") if owner in inf.own and before.ndim != 1 else ("shape",):
        if not same or getattr(after.example, name) != getattr(before.example, name):
            raise Refused("an array is changed in place by what is not like it")
        both = [inf.emit("getattr", x, abstract=Instance(tuple), data=name) for x in (owner, result)]
        inf.guard(inf.emit("compare", *both, abstract=BOOL, data="=="), True)
    return result


def _base(inf: Path, s: Statement) -> Operand:
    base = base_of(s, inf.type_of)
    assert base is not None
    return inf.present(base)


def replace(inf: Path, owner: Operand, result: Operand) -> None:
    """From now on ``owner`` is ``result``."""
    inf.own.add(result)
    stale = list(inf.views.get(owner, ()))
    while stale:
        view = stale.pop()
        inf.stale_views.add(view)
        stale += inf.views.get(view, ())
    inf.versions[owner] = result


def assign_shape(inf: Path, owner: Operand, shape: Operand) -> None:
    """``array.shape = shape``: from now on it is a view of what it was, which is not stored into."""
    held = inf.perform("getattr", [owner], "shape")
    if sequence_of(inf, shape) is tuple and inf.pin(shape) == inf.pin(held):
        return
    _require_own(inf, owner)
    result = of_shape(inf, owner, shape)
    inf.viewing.pop(result, None)
    inf.own.discard(result)
    inf.versions[owner] = result


def of_shape(inf: Path, array: Operand, shape: Operand) -> Operand:
    """A view of an array that has another shape."""
    example = example_of(inf.type_of(array))
    asked = [inf.pin(x) for x in parts(inf, shape)] if example.ndim == 1 else []
    if len(asked) == 2 and 1 in asked and max(asked) == len(example):
        key = (Constant(slice(None)), Constant(None))
        return inf.perform("getitem", [array, inf.perform("build_tuple", [*key[:: 1 if asked[1] == 1 else -1]])])
    if example.ndim > 1:
        if not example.flags.c_contiguous:
            raise Refused("an array gets another shape whose items do not lie one after the other")
        inf.require_in_order(array)
    return inf.perform("call_method", [array, shape], ("reshape", ()))


def _require_own(inf: Path, owner: Operand) -> None:
    """What is stored into is an array of the program's own, or one from outside, which is rewritten at the end."""
    owner = root_of(inf, owner)
    if owner not in inf.own and not _is_taken_over(inf, owner):
        given_arrays.take(inf, owner)


def _is_taken_over(inf: Path, array: Operand) -> bool:
    """Whether what may show arrays of the program's own is one from now on, and they are not used any more."""
    s = inf.showing.get(array)
    roots = [] if s is None else [root_of(inf, x) for x in s.operands if isinstance(inf.type_of(x), Array)]
    if not roots or not inf.own.issuperset(roots):
        return False
    pending = list(roots)
    while pending:
        shown = pending.pop()
        inf.stale_views.add(shown)
        inf.viewing.pop(shown, None)
        pending += [x for x in inf.views.get(shown, ()) if x is not array and x not in inf.stale_views]
    inf.own.add(array)
    return True
