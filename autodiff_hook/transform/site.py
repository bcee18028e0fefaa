"""A place in a joint program where statements are written with the knowledge of types.

``transfer`` says what is known of a result; the shortcuts of rules write statements with ``emit``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from autodiff_hook.ir.types import Constant, Operand, Position, Statement, Variable
from autodiff_hook.transform.abstract import Abstract
from autodiff_hook.transform.facts import (
    ArrayFact,
    Dim,
    Dims,
    Fact,
    NumberFact,
    ShapeFact,
    Shapes,
    Symbol,
    constant_fact,
    fact_of,
    is_array,
    is_double,
    is_floating,
    is_number,
    is_stable,
    value_of,
)
from autodiff_hook.transform.shortcuts import TYPINGS, lookup

ARITHMETIC: Final = ("+", "-", "*", "/", "**")
_LOGIC: Final = ("|", "&", "^")


class Site:
    """What is known of the variables of a program, and where new statements go."""

    def __init__(self, types: dict[Variable, Abstract], outside: set[Variable]) -> None:
        self.types, self.outside = types, outside
        self.facts: dict[Variable, Fact | None] = {}
        self.made: dict[Variable, Statement] = {}
        self.shapes = Shapes()
        self.spread: dict[Operand, Operand] = {}
        self.recorded: dict[tuple[Any, int], Operand] = {}
        self.out: list[Statement] = []
        self.position: Position | None = None
        self.simplified: Callable[[Statement], Operand | None] = lambda s: None
        self._own: dict[tuple[Variable | None, int], Symbol] = {}
        self._inferred: dict[Variable, Fact | None] = {}
        self._recalled: dict[tuple[Any, Symbol], Symbol] = {}
        self._current: Variable | None = None
        self._count = 0

    # Asking

    def fact(self, operand: Operand) -> Fact | None:
        """What is known of an operand."""
        return constant_fact(operand.value) if isinstance(operand, Constant) else self.facts.get(operand)

    def value(self, operand: Operand) -> Any:
        """The value of a constant; ``NotImplemented`` for a variable."""
        return value_of(operand)

    def dims(self, operand: Operand) -> Dims | None:
        """The shape of an exact array."""
        fact = self.fact(operand)
        return fact.dims if isinstance(fact, ArrayFact) and not fact.optional else None

    def is_array(self, operand: Operand) -> bool:
        """Whether an operand is an exact array with axes."""
        return is_array(self.fact(operand))

    def is_double(self, operand: Operand) -> bool:
        """Whether an operand is an exact array of doubles with axes."""
        return is_double(self.fact(operand))

    def is_number(self, operand: Operand) -> bool:
        """Whether an operand is a real number, and no bool."""
        return is_number(self.fact(operand))

    def is_floating(self, operand: Operand) -> bool:
        """Whether an operand is a float of Python or of double precision."""
        return is_floating(self.fact(operand))

    def alike(self, a: Operand, b: Operand) -> bool:
        """Whether two operands are arrays of one shape."""
        x, y = self.dims(a), self.dims(b)
        return x is not None and y is not None and self.shapes.equal(x, y)

    def source(self, operand: Operand) -> Statement | None:
        """The statement that made an operand."""
        return self.made.get(operand) if isinstance(operand, Variable) else None

    def dense(self, operand: Operand) -> Operand:
        """The number that all elements of an operand are, if that is known; else the operand."""
        return self.spread.get(operand, operand)

    # Writing

    def emit(self, op: str, *operands: Operand, data: Any = None, result: bool = True) -> Operand:
        """Write a statement; its result."""
        s = Statement(op, list(operands), Variable() if result else None, data, self.position)
        found = self.simplified(s)
        if found is not None:
            return found
        self.add(s)
        return s.result if s.result is not None else Constant(None)

    def add(self, s: Statement) -> None:
        """Put a statement here."""
        self.out.append(s)
        if s.result is not None:
            self.made[s.result] = s
            self.facts[s.result] = self.transfer(s)

    def call(self, function: Any, *operands: Operand) -> Operand:
        """Write a call."""
        return self.emit("call", Constant(function), *operands, data=())

    def method(self, name: str, *operands: Operand) -> Operand:
        """Write a call of a method of the first operand."""
        return self.emit("call_method", *operands, data=(name, ()))

    def shape(self, array: Operand) -> Operand:
        """Write the shape of an array."""
        return self.emit("getattr", array, data="shape")

    def everywhere(self, number: Operand, like: Operand, full: Operand) -> Operand:
        """``full``, an array of the shape of ``like`` whose elements are all ``number``."""
        if self.is_floating(number) and self.is_array(like) and isinstance(full, Variable):
            self.spread[full] = number
        return full

    # What is known of results

    def unknown(self, count: int = 1) -> Dims:
        """Lengths that nothing is known of: those of the result at hand."""
        dims = []
        for _ in range(count):
            key = (self._current, self._count)
            dims.append(self._own.setdefault(key, Symbol(stable=False)))
            self._count += 1
        return tuple(dims)

    def inferred(self, variable: Variable) -> Fact | None:
        """What the inference knows of a variable."""
        if variable not in self._inferred:
            self._inferred[variable] = fact_of(self.types.get(variable), variable, variable in self.outside)
        return self._inferred[variable]

    def transfer(self, s: Statement) -> Fact | None:
        """What is known of the result of a statement."""
        assert s.result is not None
        self._current, self._count = s.result, 0
        rule = _TRANSFERS.get(s.op)
        found = rule(self, s) if rule is not None else None
        return self.inferred(s.result) if found is None else found

    def recalled(self, s: Statement) -> Fact | None:
        """What an iteration has left."""
        loop, index = s.data
        operand = self.recorded.get((loop, index))
        fact = self.fact(operand) if operand is not None else None
        if not isinstance(fact, ArrayFact):
            return fact if is_number(fact) else None
        return ArrayFact(fact.dtype, tuple(self._as_recalled(loop, d) for d in fact.dims), fact.optional)

    def _as_recalled(self, loop: Any, dim: Dim) -> Dim:
        dim = self.shapes.find(dim)
        if isinstance(dim, int) or is_stable(dim):
            return dim
        return self._recalled.setdefault((loop, dim), Symbol())

    def elementwise(self, dtype: Any, *operands: Operand) -> Fact | None:
        """An array of ``dtype`` in the shape that the operands broadcast to."""
        dims: Dims = ()
        for operand in operands:
            fact = self.fact(operand)
            if is_number(fact):
                continue
            if not isinstance(fact, ArrayFact) or fact.optional:
                return None
            together = self.shapes.broadcast(dims, fact.dims)
            dims = together if together is not None else self.unknown(max(len(dims), len(fact.dims)))
        return ArrayFact(dtype, dims) if dims else None


def _binary(site: Site, s: Statement) -> Fact | None:
    a, b = (site.fact(x) for x in s.operands)
    if s.data in _LOGIC and all(is_array(f) and f.dtype.char == "?" for f in (a, b)):  # type: ignore[union-attr]
        return site.elementwise(a.dtype, *s.operands)  # type: ignore[union-attr]
    if s.data not in ARITHMETIC:
        return None
    if is_number(a) and is_number(b):
        return _numbers(s.data, a, b)
    dtype = common_dtype(a, b)
    return None if dtype is None else site.elementwise(dtype, *s.operands)


def common_dtype(a: Fact | None, b: Fact | None) -> Any:
    """The floating dtype of an operation of arrays, or of an array and a number; None if it is not known."""
    arrays = [f for f in (a, b) if is_array(f)]
    others = [f for f in (a, b) if not is_array(f)]
    if not arrays or not all(map(is_number, others)):
        return None
    chars = {f.dtype.char for f in arrays}  # type: ignore[union-attr]
    if not all(f.dtype.isnative for f in arrays):  # type: ignore[union-attr]
        return None
    if "d" in chars and chars <= set("df?bBhHiIlLqQ"):
        return next(f.dtype for f in arrays if f.dtype.char == "d")  # type: ignore[union-attr]
    plain = all(t in (int, float) for f in others for t in f.types)  # type: ignore[union-attr]
    return arrays[0].dtype if chars == {"f"} and plain else None  # type: ignore[union-attr]


def _numbers(op: str, a: Any, b: Any) -> Fact | None:
    if op == "**":
        return None
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
    if s.data != "-" or not (is_number(fact) or is_array(fact)):
        return None
    return NumberFact(fact.types) if isinstance(fact, NumberFact) else fact


def _getattr(site: Site, s: Statement) -> Fact | None:
    dims = site.dims(s.operands[0])
    if dims is None:
        return None
    if s.data == "T":
        return ArrayFact(site.fact(s.operands[0]).dtype, dims[::-1])  # type: ignore[union-attr]
    return ShapeFact(dims) if s.data == "shape" else None


def _getitem(site: Site, s: Statement) -> Fact | None:
    fact, index = site.fact(s.operands[0]), site.value(s.operands[1])
    if isinstance(fact, ShapeFact) and type(index) is int and -len(fact.dims) <= index < len(fact.dims):
        return NumberFact(frozenset({int}), fact.dims[index])
    if not isinstance(fact, ArrayFact) or fact.optional:
        return None
    if index is NotImplemented and is_number(site.fact(s.operands[1])):
        index = 0
    dims = sliced(site, fact.dims, index)
    return ArrayFact(fact.dtype, dims) if dims else None


def sliced(site: Site, dims: Dims, index: Any) -> Dims | None:
    """The shape of ``x[index]``."""
    rest, result = list(dims), []
    for part in index if isinstance(index, tuple) else (index,):
        if part is None:
            result.append(1)
            continue
        if not rest:
            return None
        dim = rest.pop(0)
        if type(part) is slice:
            result.append(_part(site, dim, part))
        elif type(part) is not int:
            return None
    return (*result, *rest)


def _part(site: Site, dim: Dim, part: slice) -> Dim:
    start, stop = part.start or 0, part.stop
    if part.step in (None, 1) and type(start) is int and start >= 0:
        if stop is None:
            return site.shapes.shorter(dim, start)
        if type(stop) is int and stop < 0:
            return site.shapes.shorter(dim, start - stop)
    return site.unknown()[0]


def _call(site: Site, s: Statement) -> Fact | None:
    function = site.value(s.operands[0])
    if s.data or function is NotImplemented:
        return None
    typing = lookup(TYPINGS, function)
    if typing is not None:
        found: Fact | None = typing(site, *s.operands[1:])
        return found
    if is_elementwise(function) and len(s.operands) == 1 + function.nin:
        return _ufunc(site, function, s.operands[1:])
    return None


def is_elementwise(function: Any) -> bool:
    """Whether a function is a ufunc with one result and nothing but elements."""
    return type(function).__name__ == "ufunc" and function.nout == 1 and function.signature is None


def _ufunc(site: Site, function: Any, operands: list[Operand]) -> Fact | None:
    import numpy as np

    facts = [site.fact(x) for x in operands]
    numbers = [f for f in facts if is_number(f)]
    if len(numbers) == len(facts):
        doubles = all(is_floating(f) for f in facts)
        char = _loop(function, "d" * len(facts)) if doubles else None
        return NumberFact(frozenset({np.float64})) if char == "d" else None
    arrays = [f for f in facts if is_array(f)]
    chars = {f.dtype.char for f in arrays}  # type: ignore[union-attr]
    if len(arrays) + len(numbers) < len(facts) or len(chars) != 1:
        return None
    (char,) = chars
    plain = all(t in (int, float) for f in numbers for t in f.types)  # type: ignore[union-attr]
    if char not in "df" or (char == "f" and not plain):
        return None
    out = _loop(function, char * len(facts))
    return None if out is None else site.elementwise(np.dtype(out), *operands)


def _loop(function: Any, chars: str) -> str | None:
    """The dtype of the result of the loop of a ufunc for operands of these dtypes."""
    return next((t[-1] for t in function.types if t[:-3] == chars), None)


def _build_tuple(site: Site, s: Statement) -> Fact | None:
    dims: list[Dim] = []
    for operand in s.operands:
        fact = site.fact(operand)
        if not isinstance(fact, NumberFact) or fact.dim is None:
            return None
        dims.append(fact.dim)
    return ShapeFact(tuple(dims)) if dims else None


def _compare(site: Site, s: Statement) -> Fact | None:
    import numpy as np

    facts = [site.fact(x) for x in s.operands]
    if any(map(is_double, facts)) and all(is_double(f) or is_number(f) for f in facts):
        return site.elementwise(np.dtype(bool), *s.operands)
    return None


def _method(site: Site, s: Statement) -> Fact | None:
    fact = site.fact(s.operands[0])
    return fact if is_array(fact) and s.data == ("copy", ()) and len(s.operands) == 1 else None


_TRANSFERS: Final[dict[str, Callable[[Site, Statement], Fact | None]]] = {
    "binary": _binary,
    "unary": _unary,
    "getattr": _getattr,
    "getitem": _getitem,
    "call": _call,
    "call_method": _method,
    "build_tuple": _build_tuple,
    "compare": _compare,
    "recall": Site.recalled,
}
