"""The form of a call: what is called and given, taken apart into operands and what is known when a program is made.

Functions that the program has made are their code and what they have captured.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from types import BuiltinMethodType, FunctionType, MethodType
from typing import Any, Final, NamedTuple

import numpy as np

from autodiff_hook.ir.types import Constant, Operand, Statement, Variable
from autodiff_hook.transform.specialise.abstract import (
    Abstract,
    Array,
    Bound,
    Cell,
    Closure,
    Dict,
    Instance,
    Known,
    Lookup,
    Number,
    Optional,
    Outside,
    Partial,
    Reference,
    Tuple,
)
from autodiff_hook.transform.specialise.bodies import Changes, Parameters, Refused
from autodiff_hook.transform.specialise.cells import ask_for_lasting
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.lattice import (
    anonymous,
    codes_in,
    example_of,
    in_parts,
    inert_class,
    number_types,
)
from autodiff_hook.transform.specialise.merging import ask_for_objects
from autodiff_hook.transform.specialise.wording import named


class Form(NamedTuple):
    """What a value is made of: an operand, a constant, or a function of the program with what it has captured."""

    what: str
    known: tuple[Any, ...] = ()
    parts: tuple[Form, ...] = ()

    def key(self) -> tuple[Any, ...]:
        """What is equal for calls that one program will do for."""
        return self.what, tuple(map(_identity, self.known)), tuple(part.key() for part in self.parts)

    def cls(self) -> type:
        """The class of a function of this form."""
        return type(self.known[0]) if self.what in ("constant", "known") else _CLASSES[self.what]

    def size(self) -> int:
        """How many operands it has."""
        return (self.what in ("operand", "changing")) + sum(part.size() for part in self.parts)


_CLASSES: Final = {
    "function": FunctionType,
    "bound": MethodType,
    "partial": functools.partial,
    "lookup": BuiltinMethodType,
}


def _identity(x: Any) -> Any:
    return (type(x), repr(x)) if type(x) in (bool, str, bytes, int, float) else id(x)


class Call(NamedTuple):
    """How a function is called: the form of the function, and those of its parameters."""

    function: Form
    values: tuple[Form, ...]
    recursive: bool
    """Whether the function calls itself."""

    def key(self) -> tuple[Any, ...]:
        """What is equal for calls that one program will do for."""
        return self.function.key(), tuple(value.key() for value in self.values)


class Parts:
    """Takes the values of a call apart, before a statement.

    ``asks``: what is known in its parts is asked for whole. ``lasting``: what is captured is read later, perhaps after
    it has been assigned again.
    """

    def __init__(self, inf: Inference, s: Statement, asks: bool, lasting: bool = False) -> None:
        self.inf, self.statement, self.asks, self.lasting = inf, s, asks, lasting
        self.operands: list[Operand] = []
        self.cells: dict[Operand, int] = {}

    def parameters(self, bound: Parameters) -> tuple[Form, ...]:
        """The forms of all parameters."""
        found = []
        for value in bound.values:
            if isinstance(value, list):
                found.append(Form("rest", (), tuple(map(self.form, value))))
            elif isinstance(value, dict):
                found.append(Form("named", tuple(value), tuple(map(self.form, value.values()))))
            else:
                found.append(self.form(value))
        return tuple(found)

    def form(self, operand: Operand) -> Form:
        """The form of one value."""
        kind = self.inf.type_of(operand)
        if isinstance(kind, Closure):
            self.inf.assume(operand)
            return self.closure(kind)
        if isinstance(kind, Bound):
            self.inf.assume(operand)
            return Form("bound", (kind.function,), (self.form(kind.receiver),))
        if isinstance(kind, Lookup):
            self.inf.assume(operand)
            return Form("lookup", (kind.name,), (self.form(kind.receiver),))
        if isinstance(kind, Partial):
            self.inf.assume(operand)
            held = (kind.function, *kind.args, *kind.kwargs.values())
            return Form("partial", tuple(kind.kwargs), tuple(map(self.form, held)))
        if isinstance(kind, Known) and type(kind.value) not in (int, float):
            if isinstance(operand, Variable):
                self.inf.assumptions.fixed.append((operand, kind))
            return Form("constant", (kind.value,))
        if self.asks:
            ask_for_references(self.inf, kind)
        general(kind)
        self.operands.append(operand)
        return Form("operand")

    def closure(self, kind: Closure) -> Form:
        """The form of a function that the program has made."""
        named_defaults = kind.keyword_defaults or {}
        defaults = tuple(map(self.form, (*kind.defaults, *named_defaults.values())))
        known = (kind.code, kind.globals, len(kind.defaults), *named_defaults)
        return Form("function", known, (*defaults, *map(self._cell, kind.cells)))

    def _cell(self, cell: Operand) -> Form:
        if cell in self.cells:
            return Form("cell", (self.cells[cell],))
        number = self.cells[cell] = len(self.cells)
        place = self.inf.cell_places.get(cell, ())
        if isinstance(self.inf.type_of(cell), Dict):
            # It is assigned again.
            self.operands.append(cell)
            return Form("changing", (number,))
        if self.lasting:
            ask_for_lasting(self.inf, cell)
        if cell not in self.inf.cells:
            raise Refused("a captured variable that is not assigned")
        content = self.inf.before(self.statement, "cell_get", [cell])
        return Form("cell", (number, *place), (self.form(content),))


class Built:
    """Puts the values of a call together again, in the program of what is called."""

    def __init__(self, inner: Inference, operands: Sequence[Operand]) -> None:
        self.inner = inner
        self.left = iter(operands)
        self.cells: dict[int, Operand] = {}

    def parameters(self, values: Sequence[Form]) -> Parameters:
        """What the parameters are bound to."""
        found: list[Any] = []
        for value in values:
            if value.what == "rest":
                found.append(list(map(self.value, value.parts)))
            elif value.what == "named":
                found.append(dict(zip(value.known, map(self.value, value.parts))))
            else:
                found.append(self.value(value))
        return Parameters(found)

    def value(self, form: Form) -> Operand:
        """A value."""
        if form.what == "operand":
            return next(self.left)
        if form.what == "constant":
            return Constant(form.known[0])
        made = Variable()
        if form.what == "bound":
            self.inner.types[made] = Bound(form.known[0], self.value(form.parts[0]))
        elif form.what == "lookup":
            self.inner.types[made] = Lookup(form.known[0], self.value(form.parts[0]))
        elif form.what == "partial":
            function, *held = map(self.value, form.parts)
            count = len(held) - len(form.known)
            self.inner.types[made] = Partial(function, tuple(held[:count]), dict(zip(form.known, held[count:])))
        else:
            self.inner.types[made] = self.function(form)
        return made

    def function(self, form: Form) -> Closure:
        """A function that the program has made."""
        code, globals_, count, *names = form.known
        cells = count + len(names)
        defaults = list(map(self.value, form.parts[:cells]))
        named_defaults = dict(zip(names, defaults[count:])) or None
        return Closure(
            code, globals_, tuple(map(self._cell, form.parts[cells:])), tuple(defaults[:count]), named_defaults
        )

    def _cell(self, form: Form) -> Operand:
        number, *place = form.known
        if form.what == "changing":
            self.cells[number] = next(self.left)
        if number not in self.cells:
            made = self.cells[number] = Variable()
            self.inner.types[made] = Cell()
            self.inner.cells[made] = self.value(form.parts[0])
            if place:
                self.inner.cell_places[made] = tuple(place)
        return self.cells[number]


def ask_for_references(inf: Inference, kind: Abstract) -> None:
    """What is known in its parts is given to a function that calls itself: it is followed again as one of many."""
    ask_for_objects(inf, kind)
    if isinstance(kind, Tuple) and kind.cls is not tuple and kind.place is not None:
        raise Changes("a list or a dict that is written out is given to a function that calls itself", kind.place)
    for item in kind.items if isinstance(kind, Tuple) else ():
        ask_for_references(inf, item)


def general(kind: Abstract) -> Abstract:
    """What a program of its own takes for granted of a value: its type."""
    kind, types = in_parts(kind), number_types(kind)
    if types is not None:
        if types & {complex, np.complex128, np.complex64}:
            raise Refused("a complex number")
        return Number(types, example=example_of(kind))
    if isinstance(kind, Tuple) and kind.cls not in (list, dict):
        return Tuple(tuple(map(general, kind.items)), kind.cls, example=kind.example)
    if isinstance(kind, (Array, Reference)) or codes_in(kind):
        return kind
    cls = inert_class(kind)
    if cls is not None:
        return Instance(cls, example=example_of(kind))
    if isinstance(kind, Outside):
        return anonymous(kind)
    if isinstance(kind, Optional):
        return Optional(general(kind.content), kind.absent, example=kind.example)
    raise Refused(f"a call with {named(kind)}")
