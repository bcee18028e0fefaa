"""Which Python functions that are not differentiated only read what they are given.

Such a function runs natively, so what it writes to is not seen. Its IR is: if nothing in it stores to what it has not
made itself, and it calls only what reads, what it was given is after the call what it was before.
"""

from __future__ import annotations

import builtins
import functools
import sys
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final

import numpy as np

from autodiff_hook.errors import Unsupported
from autodiff_hook.ir.analysis import edges_with_received, statements_of
from autodiff_hook.ir.types import IR, Constant, Operand, Statement, Variable
from autodiff_hook.lift.lifting import shared
from autodiff_hook.records import record
from autodiff_hook.registry import registry
from autodiff_hook.runtime.native import READING_METHODS, place_of_out, places_of_native
from autodiff_hook.runtime.reachable import is_without_programs
from autodiff_hook.runtime.sharing import ByNamespace

_UNKNOWN: Final = object()
_READS: Final = frozenset(
    "global check make_cell cell_get getattr load_method getitem unary not truth binary compare is is_not in not_in "
    "build_tuple build_list build_set build_map build_slice build_string list_append set_add map_add list_extend "
    "set_update dict_update dict_merge list_to_tuple unpack project format get_iter get_len make_function "
    "import_name import_from push_exc pop_exc exc_match".split()
)
"""Operations that store to nothing, or to what an expression of the function itself is just making."""

_MAKES: Final = frozenset(
    "binary unary build_list build_tuple build_map build_set build_string compare get_len".split()
)
_MAKERS: Final = (float, int, complex, bool, str, len, range)
_CALLING: Final = (map, filter, functools.reduce)


def only_reads(function: FunctionType) -> bool:
    """Whether a call of ``function`` with arrays, containers and numbers leaves them as they are."""
    if function.__closure__ is None and is_without_programs(function.__globals__.get("__name__")):
        return _answers(function.__code__, function.__globals__).reads
    return _reads(function.__code__, function.__globals__, _cells_of(function), frozenset(), _Seen())


def _reads(
    code: CodeType, globals_: dict[str, Any], cells: dict[str, Any], callers: frozenset[int], seen: _Seen
) -> bool:
    ir = shared(code)
    if isinstance(ir, Unsupported) or ir.kind != "function" or id(code) in callers:
        return False
    return _Look(ir, globals_, cells, callers | {id(code)}, seen).reads()


def _cells_of(function: FunctionType) -> dict[str, Any]:
    return dict(zip(function.__code__.co_freevars, function.__closure__ or ()))


class _Seen:
    """What a look has met: globals, attributes, captured variables, and what is registered."""

    def __init__(self) -> None:
        self.version = registry.version
        self.found: list[tuple[Any, str, Any]] = []

    def ask(self, owner: Any, name: str) -> Any:
        """What ``owner`` has by a name, which is remembered."""
        value = _held(owner, name)
        self.found.append((owner, name, value))
        return value

    def hold(self, globals_: dict[str, Any]) -> bool:
        """Whether all of it is the same now."""
        if self.version != registry.version:
            return False
        for owner, name, value in self.found:
            if _held(owner, name) is not value:
                return False
        return True


def _held(owner: Any, name: str) -> Any:
    if type(owner) is dict:
        return owner[name] if name in owner else getattr(builtins, name, _UNKNOWN)
    try:
        return getattr(owner, name, _UNKNOWN)
    except ValueError:  # of a variable that has been captured and has no value
        return _UNKNOWN


@record(frozen=True)
class _Answer:
    """Whether a function of a library only reads, which keeps nothing alive that a program has made."""

    reads: bool
    facts: _Seen


def _answer(code: CodeType, globals_: dict[str, Any]) -> _Answer:
    seen = _Seen()
    return _Answer(_reads(code, globals_, {}, frozenset(), seen), seen)


_answers: Final = ByNamespace(_answer)


class _Look:
    """One look at the IR of a function: what is known of its variables."""

    def __init__(
        self, ir: IR, globals_: dict[str, Any], cells: dict[str, Any], callers: frozenset[int], seen: _Seen
    ) -> None:
        self.ir, self.globals, self.cells, self.callers, self.seen = ir, globals_, cells, callers, seen
        self.statements = list(statements_of(ir.blocks))
        self.known: dict[Variable, Any] = {}
        self.methods: dict[Operand, tuple[Operand, str]] = {}
        self.nested: dict[Variable, CodeType] = {}
        for statement in self.statements:
            self._know(statement)
        self.new = self._new()

    def reads(self) -> bool:
        """Whether every statement only reads."""
        return all(map(self._is_reading, self.statements))

    def _know(self, s: Statement) -> None:
        if s.result is None:
            return
        if s.op == "global":
            self.known[s.result] = self.seen.ask(self.globals, str(s.data))
        elif s.op == "getattr":
            owner = self._value(s.operands[0])
            if isinstance(owner, (ModuleType, type)):
                self.known[s.result] = self.seen.ask(owner, s.data)
        elif s.op == "cell_get" and s.data in self.cells:
            self.known[s.result] = self.seen.ask(self.cells[s.data], "cell_contents")
        elif s.op == "load_method":
            self.methods[s.result] = (s.operands[0], s.data)
        elif s.op == "make_function":
            self.nested[s.result] = s.data

    def _value(self, operand: Operand) -> Any:
        return operand.value if isinstance(operand, Constant) else self.known.get(operand, _UNKNOWN)

    def _new(self) -> set[Variable]:
        """The variables that hold what the function has made itself, or a number."""
        new = {s.result for s in self.statements if s.result is not None and self._makes(s)}
        arrivals: dict[Variable, list[Operand]] = {}
        for block in self.ir.blocks:
            for edge, received in edges_with_received(block):
                for param, arg in zip(edge.target.params[received:], edge.args):
                    arrivals.setdefault(param, []).append(arg)
        new |= arrivals.keys()
        size = -1
        while size != len(new):
            size = len(new)
            new -= {p for p, args in arrivals.items() if not all(self._is_new(a, new) for a in args)}
            new -= {
                s.result
                for s in self.statements
                if s.op == "inplace" and s.result is not None and not self._is_new(s.operands[0], new)
            }
        return new

    def _makes(self, s: Statement) -> bool:
        return (
            s.op in _MAKES
            or s.op == "inplace"
            or s.op == "call"
            and any(self._value(s.operands[0]) is x for x in _MAKERS)
        )

    @staticmethod
    def _is_new(operand: Operand, new: set[Variable]) -> bool:
        return isinstance(operand, Constant) or operand in new

    def _is_reading(self, s: Statement) -> bool:
        if s.op == "inplace":
            return self._is_new(s.operands[0], self.new)
        if s.op == "setitem":
            return isinstance(s.operands[0], Variable) and s.operands[0] in self.new
        if s.op == "call":
            return self._calls_reader(s.operands[0], s.operands[1:], s.data)
        if s.op == "call_method":
            return self._calls_method(s.operands[0], s.data[0], s.operands[1:], s.data[1])
        if s.op == "call_loaded":
            owner, name = self.methods[s.operands[0]]
            return self._calls_method(owner, name, s.operands[1:], s.data)
        return s.op in _READS

    def _calls_method(self, receiver: Operand, name: str, operands: list[Operand], kwnames: tuple[str, ...]) -> bool:
        owner = self._value(receiver)
        if isinstance(owner, (ModuleType, type)):
            return self._calls_reader(Constant(self.seen.ask(owner, name)), operands, kwnames)
        return name in READING_METHODS and not _has_output(kwnames) and len(operands) - len(kwnames) < 2

    def _calls_reader(self, called: Operand, operands: list[Operand], kwnames: tuple[str, ...]) -> bool:
        if isinstance(called, Variable) and called in self.nested:
            return _reads(self.nested[called], self.globals, {}, self.callers, self.seen)
        value = self._value(called)
        count = len(operands) - len(kwnames)
        if _has_output(kwnames) or count > _most_arguments(value):
            return False
        callbacks = [x for x, name in zip(operands[count:], kwnames) if name == "key"]
        if any(value is x for x in _CALLING):
            callbacks += operands[:1]
        return self._is_reader(value) and all(self._is_reader(self._value(x)) for x in callbacks)

    def _is_reader(self, value: Any) -> bool:
        if type(value) is FunctionType and not _is_declared(value):
            code = self.seen.ask(value, "__code__")
            return _reads(code, value.__globals__, _cells_of(value), self.callers, self.seen)
        if isinstance(value, type) and issubclass(value, BaseException):
            return self.seen.ask(value, "__init__") is BaseException.__init__ or value.__module__ == "builtins"
        return value is not _UNKNOWN and callable(value) and places_of_native(value) == ()


def _has_output(kwnames: tuple[str, ...]) -> bool:
    """Whether a call may name an array for its result."""
    return any(name in ("out", "copy") or name.startswith("overwrite") for name in kwnames)


def _most_arguments(function: Any) -> int:
    """How many arguments by place a function of NumPy's can have before one may be an array for its result."""
    return 1 if function is np.nan_to_num else place_of_out(function) or sys.maxsize


def _is_declared(function: FunctionType) -> bool:
    return registry.written(function) == () or registry.is_constant(function) or registry.has_rules(function)
