"""A place in a joint program where statements are written with the knowledge of types.

``transfer`` says what is known of a result; the shortcuts of rules write statements with ``emit``.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Any, Final

import numpy as np

from autodiff_hook.ir.types import Constant, Operand, Position, Statement, Variable, value_of
from autodiff_hook.transform.improve.facts import (
    ArrayFact,
    Dim,
    Dims,
    Fact,
    NumberFact,
    Shapes,
    Symbol,
    constant_fact,
    fact_of,
    is_array,
    is_double,
    is_floating,
    is_number,
    is_single,
    is_stable,
)
from autodiff_hook.transform.specialise.abstract import Abstract, Tuple
from autodiff_hook.transform.specialise.lattice import number_types

ARITHMETIC: Final = ("+", "-", "*", "/", "**")


class Site:
    """What is known of the variables of a program, and where new statements go."""

    def __init__(
        self,
        types: dict[Variable, Abstract],
        outside: set[Variable],
        transferred: Callable[[Site, Statement], Fact | None],
        once: set[Operand],
    ) -> None:
        self.types, self.outside, self.once = types, outside, once
        self.facts: dict[Variable, Fact | None] = {}
        self.made: dict[Operand, Statement] = {}
        self.shapes = Shapes()
        self.spread: dict[Operand, Operand] = {}
        self.recorded: dict[tuple[Any, int], tuple[Variable, Operand]] = {}
        """What iterations leave, and what of: a value that is asked for was there in that iteration."""
        self.volatile: Container[Variable] = frozenset()
        """Arrays that the program changes, and views of them."""
        self.out: list[Statement] = []
        self.position: Position | None = None
        self.exact = False
        """Whether what is rewritten is of the primal, whose digits are those of the plain run."""
        self.transferred = transferred
        self.simplified: Callable[[Statement], Operand | None] = lambda s: None
        self._own: dict[tuple[Variable | None, int], Symbol] = {}
        self._inferred: dict[Variable, Fact | None] = {}
        self._recalled: dict[tuple[Any, Symbol], Symbol] = {}
        self._lengths: dict[Operand, Symbol] = {}
        self.examples: dict[tuple[Any, ...], tuple[Any, tuple[Dim | None, ...]] | None] = {}
        """The dtypes and lengths of results that were found by examples."""
        self._current: Variable | None = None
        self._count = 0

    # Asking

    def fact(self, operand: Operand) -> Fact | None:
        """What is known of an operand."""
        return constant_fact(operand.value) if isinstance(operand, Constant) else self.facts.get(operand)

    def value(self, operand: Operand) -> Any:
        """The value of a constant, or of a tuple of constants; ``NotImplemented`` for a variable."""
        made = self.made.get(operand) if isinstance(operand, Variable) else None
        if made is not None and made.op == "build_tuple" and all(isinstance(x, Constant) for x in made.operands):
            return tuple(map(value_of, made.operands))
        return value_of(operand)

    def index(self, operand: Operand) -> Any:
        """What is known of an index: 0 is any number, an ``ArrayFact`` an array; in slices ``Symbol`` is a length."""
        if isinstance(operand, Constant):
            return operand.value
        made = self.made.get(operand)
        if made is not None and made.op == "build_slice":
            return slice(*map(self._bound, made.operands))
        fact = self.fact(operand)
        if isinstance(fact, ArrayFact) and fact.dtype.kind == "i" and not fact.optional:
            return fact
        if made is not None and made.op == "build_tuple":
            parts = tuple(map(self.index, made.operands))
            return NotImplemented if NotImplemented in parts else parts
        left = self.recorded.get(made.data) if made is not None and made.op == "recall" else None
        if left is not None and type(index := self.index(left[1])) is tuple and all(type(x) is int for x in index):
            # Only lengths may have been others in another iteration.
            return index
        return 0 if self.is_number(operand) else NotImplemented

    def _bound(self, operand: Operand) -> Any:
        """A bound of a slice: a constant, the length of an axis, or "?"."""
        fact = self.fact(operand)
        length = fact.dim if isinstance(fact, NumberFact) else None
        return operand.value if isinstance(operand, Constant) else "?" if length is None else length

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

    def is_single(self, operand: Operand) -> bool:
        """Whether an operand is a real number, and no bool, or an array of doubles or integers without axes."""
        return is_single(self.fact(operand))

    def is_floating(self, operand: Operand) -> bool:
        """Whether an operand is a float of Python or of double precision."""
        return is_floating(self.fact(operand))

    def display(self, operand: Operand) -> tuple[int, ...] | None:
        """The shape of the array of floats that a list of numbers, or of such lists, becomes; None if unknown."""
        known = self.types.get(operand) if isinstance(operand, Variable) else None
        return _display(known) if isinstance(known, Tuple) and known.cls in (list, tuple) else None

    def items(self, operand: Operand) -> list[Operand] | None:
        """The items of a tuple, or of a list that nothing changes, that is written out; None if they are not known."""
        known, made = self.types.get(operand) if isinstance(operand, Variable) else None, self.source(operand)
        if made is None or made.op not in ("build_tuple", "build_list") or not isinstance(known, Tuple):
            return None
        return made.operands

    def alike(self, a: Operand, b: Operand) -> bool:
        """Whether two operands are arrays of one shape."""
        x, y = self.dims(a), self.dims(b)
        return x is not None and y is not None and self.shapes.equal(x, y)

    def known_shape(self, dims: Dims) -> Operand | None:
        """A known shape, or a variable from outside that has it."""
        lengths = [self.shapes.find(dim) for dim in dims]
        if all(isinstance(dim, int) for dim in lengths):
            return Constant(tuple(lengths))
        if not any(isinstance(dim, Symbol) and dim.source is not None for dim in lengths):
            return None
        candidates = ((v, self.facts.get(v)) for v in self.outside)
        return next((v for v, f in candidates if is_array(f) and self.shapes.known_equal(f.dims, dims)), None)

    def source(self, operand: Operand) -> Statement | None:
        """The statement that made an operand, unless what it was made of may have changed since."""
        made = self.made.get(operand) if isinstance(operand, Variable) else None
        return None if made is None or self.is_volatile(made) else made

    def is_volatile(self, s: Statement) -> bool:
        """Whether a statement reads what the program changes."""
        return any(isinstance(x, Variable) and x in self.volatile for x in s.operands)

    def dense(self, operand: Operand) -> Operand:
        """What an operand has been broadcast from, if that is known; else the operand."""
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
        """``full``, an array of the shape of ``like`` to which ``number``, or a smaller array, is broadcast."""
        if (self.is_floating(number) or self.is_double(number)) and self.is_array(like) and isinstance(full, Variable):
            self.spread[full] = number
        return full

    # What is known of results

    def unknown(self, count: int = 1) -> Dims:
        """Lengths that nothing is known of: those of the result at hand."""
        dims = []
        for _ in range(count):
            key = (self._current, self._count)
            dims.append(self._own.setdefault(key, Symbol(stable=self._current in self.once)))
            self._count += 1
        return tuple(dims)

    def length(self, operand: Operand) -> Dim | None:
        """The length of an axis that an int says; None if an operand is something else."""
        fact = self.fact(operand)
        if not isinstance(fact, NumberFact) or fact.dim is None and fact.types != {int}:
            return None
        stable = operand in self.once or operand in self.outside
        return self._lengths.setdefault(operand, Symbol(stable)) if fact.dim is None else fact.dim

    def inferred(self, variable: Variable) -> Fact | None:
        """What the inference knows of a variable."""
        if variable not in self._inferred:
            abstract, outside = self.types.get(variable), variable in self.outside
            self._inferred[variable] = fact_of(abstract, variable, outside, variable in self.once)
        return self._inferred[variable]

    def transfer(self, s: Statement) -> Fact | None:
        """What is known of the result of a statement."""
        self._current, self._count = s.made, 0
        found = self.transferred(self, s)
        return self.inferred(s.made) if found is None else found

    def recalled(self, s: Statement) -> Fact | None:
        """What an iteration has left."""
        loop, index = s.data
        left = self.recorded.get((loop, index), ())
        fact = next((fact for x in left if (fact := self.fact(x)) is not None), None)
        if not isinstance(fact, ArrayFact):
            return NumberFact(fact.types) if isinstance(fact, NumberFact) else None
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
            unknown = self.unknown(max(len(dims), len(fact.dims)))
            dims = self.shapes.broadcast(dims, fact.dims, unknown) or dims
        return ArrayFact(dtype, dims) if dims else None


def _display(known: Abstract) -> tuple[int, ...] | None:
    if not isinstance(known, Tuple) or not known.items:
        return None
    inner = [number_types(x) for x in known.items]
    if None not in inner:
        each = [types for types in inner if types is not None]
        reals = all(t in (float, int) or t.__name__ == "float64" for types in each for t in types)
        return (len(each),) if reals and any(int not in types for types in each) else None
    parts = {_display(x) for x in known.items}
    (first,) = parts if len(parts) == 1 else (None,)
    return None if first is None else (len(inner), *first)


def common_dtype(a: Fact | None, b: Fact | None) -> Any:
    """The floating dtype of an operation of arrays, or of an array and a number; None if it is not known."""
    arrays = [f for f in (a, b) if is_array(f)]
    others = [f for f in (a, b) if not is_array(f)]
    if not arrays or not all(map(is_number, others)):
        return None
    chars = {f.dtype.char for f in arrays}
    if not all(f.dtype.isnative for f in arrays):
        return None
    if "d" in chars and chars <= set("df?bBhHiIlLqQ"):
        return next(f.dtype for f in arrays if f.dtype.char == "d")
    if chars == {"?"} and others and all(map(is_floating, others)):
        return np.dtype(float)
    plain = all(t in (int, float) for f in others for t in f.types)  # type: ignore[union-attr]
    return arrays[0].dtype if chars == {"f"} and plain else None


def is_elementwise(function: Any) -> bool:
    """Whether a function is a ufunc with one result and nothing but elements."""
    return type(function).__name__ == "ufunc" and function.nout == 1 and function.signature is None
