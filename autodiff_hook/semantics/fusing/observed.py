"""What was seen of a run: the types of its values, and which of them have tokens."""

from __future__ import annotations

import weakref
from abc import ABCMeta
from functools import partial
from types import GetSetDescriptorType, ModuleType
from typing import Any, Final

import numpy as np

from autodiff_hook.algebras.shadows import Algebra
from autodiff_hook.ir.types import Constant, Operand, Statement, Variable
from autodiff_hook.runtime.lookup import find_in_type
from autodiff_hook.semantics.operations import BINARY, UNARY
from autodiff_hook.transform.generic.runs import Run, is_pure

NUMBERS: Final = frozenset({float, int})
COMPARED: Final = frozenset({float, int, bool})
SIZED: Final = frozenset({list, tuple, dict, str})
PLAINLY: Final[Any] = object.__getattribute__
METACLASSES: Final = frozenset({type, ABCMeta})
HARMLESS: Final = frozenset({object, type(None), float, int, bool, str, tuple, list, dict})
"""Types of class attributes that an attribute of an instance hides; ``object`` is that of ``MISSING``."""
_RECORDED: Final = frozenset({*COMPARED, *SIZED, ModuleType})
_COMPARE: Final[dict[str, Any]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


class Unfit(Exception):
    """A run that cannot be fused, and its statement that is to blame."""

    def __init__(self, statement: Statement) -> None:
        super().__init__(statement.op)
        self.statement = statement


class Observed:
    """What the values of a run were like, whenever it was looked at."""

    def __init__(self) -> None:
        self.types: dict[Variable, set[type]] = {}
        self.moved: dict[Variable, set[bool]] = {}
        self.functions: dict[Statement, Any] = {}

    def size(self) -> int:
        """How much was seen: it only grows."""
        return sum(map(len, self.types.values())) + sum(map(len, self.moved.values()))

    def look(
        self, run: Run, alg: Algebra, given: dict[Operand, Any], tokens: dict[Operand, Any], globals_: Any
    ) -> None:
        """Evaluate a run. Raises what it raises, or ``Unfit``."""
        look = _Look(self, alg, given, tokens, globals_)
        for variable in run.inputs:
            look.note(variable, given[variable], tokens.get(variable))
        for statement in run.statements:
            look.step(statement)


class _Look:
    def __init__(self, seen: Observed, alg: Algebra, values: Any, tokens: Any, globals_: Any) -> None:
        self.seen, self.alg, self.values, self.tokens, self.globals = seen, alg, values, tokens, globals_

    def note(self, variable: Variable | None, value: Any, token: Any) -> None:
        assert variable is not None
        self.values[variable], self.tokens[variable] = value, token
        cls = type(value)
        self.seen.types.setdefault(variable, set()).add(cls if cls in _RECORDED else object)
        self.seen.moved.setdefault(variable, set()).add(token is not None)

    def value(self, operand: Operand) -> Any:
        return operand.value if isinstance(operand, Constant) else self.values[operand]

    def step(self, s: Statement) -> None:
        if s.op == "global":
            self.note(s.result, self.values[s.result], self._slot(self.globals, str(s.data)))
            return
        operands = list(map(self.value, s.operands))
        if s.op == "cell_get":
            cell = operands[0]
            self.note(s.result, cell.cell_contents, self._slot(cell, 0))
        elif s.op == "getattr":
            self._attribute(s, operands[0])
        elif s.op == "getitem":
            self._item(s, *operands)
        elif s.op == "call":
            self._call(s, *operands)
        else:
            self._compute(s, operands)

    def _slot(self, reference: Any, key: Any) -> Any:
        entry = self.alg.shadows.get(id(reference))
        if entry is None:
            return None
        return entry[1].get(key) if type(entry[1]) is dict else entry[1][key]

    def _attribute(self, s: Statement, owner: Any) -> None:
        cls = type(owner)
        if cls is not ModuleType and not has_plain_attribute(cls, str(s.data)):
            raise Unfit(s)
        holder = owner.__dict__
        self.note(s.result, holder[s.data], self._slot(holder, s.data))

    def _item(self, s: Statement, owner: Any, key: Any) -> None:
        cls = type(owner)
        if cls is tuple and type(key) is int:
            token = self.tokens.get(s.operands[0])
            self.note(s.result, owner[key], None if token is None else token[key])
        elif type(key) is str and self.tokens.get(s.operands[1]) is not None:
            raise Unfit(s)
        elif cls is list and type(key) is int or cls is dict and type(key) in (int, str):
            self.note(s.result, owner[key], self._slot(owner, key))
        else:
            raise Unfit(s)

    def _call(self, s: Statement, function: Any, *args: Any) -> None:
        if not is_pure(function) or self.seen.functions.setdefault(s, function) is not function:
            raise Unfit(s)
        if function is len:
            if type(args[0]) not in SIZED:
                raise Unfit(s)
        elif not NUMBERS.issuperset(map(type, args)) or not args:
            raise Unfit(s)
        self.note(s.result, function(*args), None)

    def _compute(self, s: Statement, operands: list[Any]) -> None:
        allowed = COMPARED if s.op == "compare" else NUMBERS
        if not allowed.issuperset(map(type, operands)):
            raise Unfit(s)
        functions = _COMPARE if s.op == "compare" else UNARY if s.op == "unary" else BINARY
        self.note(s.result, functions[s.data](*operands), None)


_plain: Final[dict[str, dict[int, Any]]] = {}


def plain_classes(name: str) -> dict[int, Any]:
    """The classes, by id, whose instances have an attribute of this name in their ``__dict__``, as far as was seen."""
    return _plain.setdefault(name, {})


def has_plain_attribute(cls: Any, name: str) -> bool:
    """Whether an attribute of instances of a class is what their ``__dict__`` has by its name."""
    if type(cls) not in METACLASSES or cls.__getattribute__ is not PLAINLY or issubclass(cls, np.ndarray):
        return False
    if type(find_in_type(cls, name)) not in HARMLESS or type(find_in_type(cls, "__dict__")) is not GetSetDescriptorType:
        return False
    known = plain_classes(name)
    # Another class may get this number next, so the callback runs no Python code, which may be interrupted.
    known[id(cls)] = weakref.ref(cls, partial(known.pop, id(cls)))
    return True
