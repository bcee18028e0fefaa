"""What is known of a callable before it is called; what Python code calls, and may come to that has no derivative.

The order of ``standing`` is that of ``semantics/calls.py``.
"""

from __future__ import annotations

import builtins
import inspect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final, Literal

import numpy as np

from autodiff_hook import config
from autodiff_hook.errors import Unsupported
from autodiff_hook.ir.analysis import statements_of
from autodiff_hook.ir.types import IR, Operand, Statement
from autodiff_hook.lift import lift
from autodiff_hook.registry import describe, registry
from autodiff_hook.semantics.analysing import analyse
from autodiff_hook.semantics.calls import unfolding
from autodiff_hook.semantics.instances import constructors
from autodiff_hook.semantics.meanings import MEANINGS, WITH_OPTIONS
from autodiff_hook.semantics.scope import in_library, module_of
from autodiff_hook.semantics.table import TABLE as TABLE  # all meanings are registered when it is there

Standing = Literal["rule", "constant", "refused", "source", "library", "not opted in", "native"]
"""``rule``: a rule, or what it means is known otherwise; ``source``: Python code of the packages in question;
``library``: Python code of the standard library, NumPy or SciPy, which is entered where derivatives need it;
``refused``: an error on purpose; ``native``: nothing is known, and there is no Python code."""


BY_SEMANTICS: Final = frozenset({id(np.ndarray.flat)})
"""Attributes whose values are objects that ``semantics`` knows."""


def standing(function: Any, packages: Iterable[str] = ()) -> Standing:
    """What is known of ``function``, if ``packages`` are opted in."""
    if registry.has_rules(function):
        return "rule"
    if registry.is_constant(function):
        return "constant"  # of numbers, whatever it means for objects
    if id(function) in MEANINGS or id(function) in WITH_OPTIONS or id(function) in BY_SEMANTICS:
        return "rule"
    if registry.refusal(function) is not None:
        return "refused"
    form, inner = unfolding(function)
    if form == "class":
        return _of_class(function, packages)
    if form == "function":
        return of_code(function, packages)
    return "native" if inner is None else standing(inner, packages)


def of_code(function: FunctionType, packages: Iterable[str]) -> Standing:
    """Where Python code belongs."""
    if is_within(module_of(function), packages) or config.function_in_scope(function):
        return "source"
    return "library" if in_library(function) else "not opted in"


def _of_class(cls: Any, packages: Iterable[str]) -> Standing:
    if issubclass(cls, BaseException) or cls.__new__ is object.__new__ and cls.__init__ is object.__init__:
        return "constant"
    new, _, init = constructors(cls)
    if new is None and not hasattr(cls, "_fields"):
        return "native"
    code = [function for function in (new, init) if isinstance(function, FunctionType)]
    return of_code(code[-1], packages) if code else "rule"


def is_within(module: str, packages: Iterable[str]) -> bool:
    """Whether a module is one of ``packages``, or lies under one."""
    return any(f"{module}.".startswith(f"{package}.") for package in packages)


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
    for statement in statements_of(ir.blocks):
        found = _value(statement, values, globals_)
        if found is not _UNKNOWN:
            values[statement.result] = found
    for statement in statements_of(ir.blocks):
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
