"""What is known of arrays and numbers in a joint program: dtypes, and shapes as symbols that can be compared.

A dimension is an int or a ``Symbol``. Symbols of arrays that come from outside may be found to be equal in the
examples; then they are assumed to be equal, and the program is guarded by that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, TypeGuard

from autodiff_hook.ir.types import Variable
from autodiff_hook.records import record
from autodiff_hook.transform.specialise.abstract import Abstract, Array, Known, Number

LARGE: Final = 1 << 14
"""From this number of elements on an array is worth some calls to save a pass over it."""


@record(eq=False)
class Symbol:
    """The length of an axis. ``source``: the variable and axis that it is read from; ``example``: what it was.

    ``stable``: it means the same everywhere, not another length in each iteration of a loop. ``longer``: what it is
    shorter than, and by how much.
    """

    stable: bool = False
    source: tuple[Variable, int] | None = None
    example: int | None = None
    parent: Dim | None = None
    longer: tuple[Symbol, int] | None = None


Dim = int | Symbol
Dims = tuple[Dim, ...]


@record(frozen=True)
class ArrayFact:
    """An exact ``numpy.ndarray`` with at least one axis; ``optional``: or None, which is zero."""

    dtype: Any
    dims: Dims
    optional: bool = False


@record(frozen=True)
class PointFact:
    """An exact ``numpy.ndarray`` without axes, of doubles or, if it is ``whole``, of integers."""

    whole: bool


@record(frozen=True)
class NumberFact:
    """A number of one of these types; ``dim`` if it is the length of an axis."""

    types: frozenset[type]
    dim: Dim | None = None


@record(frozen=True)
class ShapeFact:
    """A tuple of the lengths of axes."""

    dims: Dims


@record(frozen=True)
class TupleFact:
    """A tuple whose items are known, as far as they are."""

    items: tuple[ArrayFact | NumberFact | ShapeFact | None, ...]


Fact = ArrayFact | PointFact | NumberFact | ShapeFact | TupleFact
NOTHING: Final = ArrayFact(None, (), optional=True)
"""The constant None as a cotangent."""


class Shapes:
    """Comparing dimensions, and what had to be assumed for it."""

    def __init__(self) -> None:
        self.assumed: list[tuple[Dim, str, Symbol]] = []
        self._shorter: dict[tuple[Symbol, int], Symbol] = {}

    def find(self, dim: Dim) -> Dim:
        """The representative of a dimension."""
        while isinstance(dim, Symbol) and dim.parent is not None:
            dim = dim.parent
        return dim

    def same(self, a: Dim, b: Dim) -> bool:
        """Whether two lengths are equal, perhaps by an assumption."""
        a, b = self.find(a), self.find(b)
        if a is b or (isinstance(a, int) and a == b):
            return True
        if isinstance(b, int):
            a, b = b, a
        if not isinstance(b, Symbol) or not b.source or b.example is None:
            return False
        if a != b.example if isinstance(a, int) else not a.source or a.example != b.example:
            return False
        self.assumed.append((a, "==", b))
        b.parent = a
        return True

    def fits(self, a: Dim, b: Dim) -> bool:
        """Whether the first length is at most the second, perhaps by an assumption."""
        a, b = self.find(a), self.find(b)
        if a is b or isinstance(a, int) and isinstance(b, int):
            return a is b or a <= b  # type: ignore[operator]
        example = a if isinstance(a, int) else a.example if a.source else None
        if not (isinstance(b, Symbol) and b.source) or example is None or b.example is None or example > b.example:
            return False
        self.assumed.append((a, "<=", b))
        return True

    def equal(self, a: Dims, b: Dims) -> bool:
        """Whether two shapes are equal."""
        return len(a) == len(b) and all(self.same(x, y) for x, y in zip(a, b))

    def known_equal(self, a: Dims, b: Dims) -> bool:
        """Whether two shapes are equal without assuming anything."""
        found = [(self.find(x), self.find(y)) for x, y in zip(a, b)]
        return len(a) == len(b) and all(x is y or (isinstance(x, int) and x == y) for x, y in found)

    def count(self, dims: Dims) -> int | None:
        """How many elements an array of this shape had in the example; None if that is not known."""
        lengths = [self.find(dim) for dim in dims]
        sizes = [x if isinstance(x, int) else x.example for x in lengths]
        known = [x for x in sizes if x is not None]
        return math.prod(known) if len(known) == len(sizes) else None

    def shorter(self, dim: Dim, by: int) -> Dim:
        """The length of what is left without ``by`` elements."""
        dim = self.find(dim)
        if isinstance(dim, int) or by == 0:
            return max(dim - by, 0) if isinstance(dim, int) else dim
        if dim.longer is not None:
            return self.shorter(dim.longer[0], dim.longer[1] + by)
        return self._shorter.setdefault((dim, by), Symbol(dim.stable, longer=(dim, by)))

    def broadcast(self, a: Dims, b: Dims, unknown: Dims = ()) -> Dims | None:
        """The shape of an elementwise operation, None if it is not known; ``unknown``: for axes not known."""
        if len(a) < len(b):
            a, b = b, a
        lead = len(a) - len(b)
        dims = list(a[:lead])
        for x, y in zip(a[lead:], b):
            if self.same(x, y) or y == 1:
                dims.append(x)
            elif x == 1:
                dims.append(y)
            elif unknown:
                dims.append(unknown[len(dims)])
            else:
                return None
        return tuple(dims)


def fact_of(abstract: Abstract | None, variable: Variable | None, outside: bool, stable: bool) -> Fact | None:
    """What the inference knows; ``outside``: of something that comes into the program; ``stable``: made once."""
    if isinstance(abstract, Number):
        return NumberFact(abstract.types)
    if isinstance(abstract, Known) and type(abstract.value) in (int, float):
        return NumberFact(frozenset({type(abstract.value)}))
    if not isinstance(abstract, Array) or abstract.dtype is None or abstract.ndim is None or abstract.scalar:
        return None
    if not abstract.ndim:
        whole = abstract.dtype.kind in "iu"
        return PointFact(whole) if whole or abstract.dtype.char == "d" and abstract.dtype.isnative else None
    if not outside or variable is None:
        return ArrayFact(abstract.dtype, tuple(Symbol(stable) for _ in range(abstract.ndim)))
    shape: Sequence[int] = getattr(abstract.example, "shape", ())
    if len(shape) != abstract.ndim:
        shape = ()
    dims = [Symbol(True, (variable, i), shape[i] if shape else None) for i in range(abstract.ndim)]
    return ArrayFact(abstract.dtype, tuple(dims))


def constant_fact(value: Any) -> Fact | None:
    """What is known of a constant."""
    if value is None:
        return NOTHING
    if type(value) in (int, float) or type(value).__name__ == "float64":
        return NumberFact(frozenset({type(value)}), value if type(value) is int else None)
    if type(value) is tuple and value and all(type(x) is int and x >= 0 for x in value):
        return ShapeFact(value)
    return None


def is_number(fact: Fact | None) -> TypeGuard[NumberFact]:
    """Whether a value is a real number."""
    return isinstance(fact, NumberFact) and all(t in (int, float) or t.__name__ == "float64" for t in fact.types)


def is_floating(fact: Fact | None) -> bool:
    """Whether a value is a float, of Python or of NumPy's double precision."""
    return isinstance(fact, NumberFact) and all(issubclass(t, float) for t in fact.types)


def is_single(fact: Fact | None) -> bool:
    """Whether a value is a real number, or an array of doubles or integers without axes."""
    return is_number(fact) or isinstance(fact, PointFact)


def is_array(fact: Fact | None) -> TypeGuard[ArrayFact]:
    """Whether a value is an exact array with axes, and not None."""
    return isinstance(fact, ArrayFact) and not fact.optional


def is_double(fact: Fact | None) -> bool:
    """Whether a value is an exact array of doubles with axes."""
    return isinstance(fact, ArrayFact) and not fact.optional and fact.dtype.char == "d" and fact.dtype.isnative


def joined(facts: list[Fact | None], shapes: Shapes, old: Fact | None) -> Fact | None:
    """What is true of a value that comes over several edges."""
    numbers = [f for f in facts if isinstance(f, NumberFact)]
    if len(numbers) == len(facts):
        return NumberFact(frozenset().union(*(f.types for f in numbers)))
    arrays = [f for f in facts if isinstance(f, ArrayFact) and f is not NOTHING]
    if any(not isinstance(f, ArrayFact) for f in facts):
        return None
    if not arrays:
        return NOTHING
    first = arrays[0]
    if any(f.dtype != first.dtype or len(f.dims) != len(first.dims) for f in arrays):
        return None
    optional = any(f.optional for f in facts if isinstance(f, ArrayFact))
    before: Dims = old.dims if isinstance(old, ArrayFact) and len(old.dims) == len(first.dims) else ()
    dims: list[Dim] = []
    for i, dim in enumerate(first.dims):
        kept = is_stable(shapes.find(dim)) and all(shapes.same(dim, f.dims[i]) for f in arrays)
        own = before[i] if before and not is_stable(before[i]) else Symbol()
        dims.append(dim if kept else own)
    return ArrayFact(first.dtype, tuple(dims), optional)


def is_stable(dim: Dim) -> bool:
    """Whether a length is the same in all iterations of a loop."""
    return isinstance(dim, int) or dim.stable
