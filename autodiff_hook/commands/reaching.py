"""What Python code calls, found without running it, and what that may come to that has no derivative."""

from __future__ import annotations

import builtins
import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final

from autodiff_hook.commands.standing import Standing, standing
from autodiff_hook.errors import Unsupported
from autodiff_hook.ir.types import IR, Operand, Statement
from autodiff_hook.lift import lift
from autodiff_hook.registry import describe
from autodiff_hook.semantics.analysing import analyse
from autodiff_hook.semantics.calls import unfolding
from autodiff_hook.semantics.instances import constructors


@dataclass(slots=True)
class Look:
    """One function: what it calls that has no derivative, with what is known of that, and the code that it calls."""

    obstacles: dict[str, Standing] = field(default_factory=dict)
    calls: list[FunctionType] = field(default_factory=list)
    """Python functions of the libraries and of the packages in question."""
    own: set[CodeType] = field(default_factory=set)
    """The code of those of the packages."""
    error: Unsupported | None = None
    """Why it cannot be lifted."""


class Reach:
    """Follows calls through Python code, as far as globals, modules and classes say what is called."""

    def __init__(self, packages: Sequence[str] = ()) -> None:
        self._packages = packages
        """What is followed besides the libraries."""
        self._looks: dict[CodeType, Look] = {}

    def obstacles(self, function: Any) -> tuple[str, ...]:
        """What a callable with Python code may come to: native callables without rule, and what cannot be lifted.

        >>> import statistics
        >>> Reach().obstacles(statistics.mean)
        ()
        """
        found: dict[str, None] = {}
        seen: set[CodeType] = set()
        pending = code_of(function)
        while pending:
            function = pending.pop()
            if function.__code__ not in seen:
                seen.add(function.__code__)
                look = self._look(function)
                found.update(dict.fromkeys(look.obstacles))
                if look.error is not None:
                    found[f"{describe(function)} ({look.error.construct})"] = None
                pending.extend(look.calls)
        return tuple(found)

    def _look(self, function: FunctionType) -> Look:
        code = function.__code__
        if code not in self._looks:
            self._looks[code] = look_at(function, self._packages)
        return self._looks[code]


def look_at(function: FunctionType, packages: Sequence[str]) -> Look:
    """What one function calls."""
    globals_, look = function.__globals__, Look()
    try:
        irs = list(lifted(function.__code__, globals_))
    except Unsupported as error:
        look.error = error
        return look
    for called in (value for ir in irs for value in called_by(ir, globals_)):
        known = standing(called, packages)
        if known in ("native", "not opted in"):
            look.obstacles[describe(called)] = known
        elif known in ("source", "library"):
            functions = code_of(called)
            look.calls += functions
            look.own.update(f.__code__ for f in functions if known == "source")
    return look


def code_of(function: Any) -> list[FunctionType]:
    """The Python functions that a call of this runs first, and what they wrap."""
    if isinstance(function, type):
        new, _, init = constructors(function)
        return [part for part in (new, init) if isinstance(part, FunctionType)]
    while not isinstance(function, FunctionType):
        form, inner = unfolding(function)
        if inner is None:
            return []
        function = inner
    wrapped = inspect.unwrap(function)
    return [function, wrapped] if isinstance(wrapped, FunctionType) and wrapped is not function else [function]


def lifted(code: CodeType, globals_: dict[str, Any]) -> Iterator[IR]:
    """The function, and those that are written in it. Raises ``Unsupported`` for what cannot be lifted."""
    analyse(code, globals_)
    yield lift(code)
    for inner in code.co_consts:
        if isinstance(inner, CodeType) and inner.co_flags & inspect.CO_OPTIMIZED:
            yield from lifted(inner, globals_)


_UNKNOWN: Final = object()


def called_by(ir: IR, globals_: dict[str, Any]) -> Iterator[Any]:
    """What a function calls, as far as globals, modules and classes say."""
    values: dict[Operand | None, Any] = {}
    for statement in (s for block in ir.blocks for s in block.statements):
        found = _value(statement, values, globals_)
        if found is not _UNKNOWN:
            values[statement.result] = found
    for statement in (s for block in ir.blocks for s in block.statements):
        if statement.op in ("call", "call_ex", "call_loaded"):
            called = values.get(statement.operands[0], _UNKNOWN)
        elif statement.op == "call_method":
            called = _attribute(values.get(statement.operands[0], _UNKNOWN), statement.data[0])
        else:
            continue
        if callable(called) and called is not _UNKNOWN:
            yield called


def _value(statement: Statement, values: dict[Operand | None, Any], globals_: dict[str, Any]) -> Any:
    """What a statement loads, if that is sure not to be the program's data."""
    if statement.op == "global":
        name = str(statement.data)
        found = globals_.get(name, getattr(builtins, name, _UNKNOWN))
        return found if isinstance(found, ModuleType) or callable(found) else _UNKNOWN
    if statement.op in ("getattr", "load_method"):
        return _attribute(values.get(statement.operands[0], _UNKNOWN), str(statement.data))
    return _UNKNOWN


def _attribute(owner: Any, name: str) -> Any:
    """An attribute of a module or a class, without running code of theirs."""
    if isinstance(owner, ModuleType):
        return owner.__dict__.get(name, _UNKNOWN)
    if isinstance(owner, type):
        found = inspect.getattr_static(owner, name, _UNKNOWN)
        return found.__func__ if isinstance(found, (staticmethod, classmethod)) else found
    return _UNKNOWN
