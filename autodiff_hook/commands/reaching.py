"""What Python code of the libraries may come to that has no derivative."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

from autodiff_hook.commands.callees import called_by, lifted
from autodiff_hook.commands.standing import standing
from autodiff_hook.errors import Unsupported
from autodiff_hook.registry import describe
from autodiff_hook.semantics.calls import unfolding
from autodiff_hook.semantics.instances import constructors


@dataclass(frozen=True, slots=True)
class Look:
    """One function: what it calls that has no derivative, and the code that it calls."""

    obstacles: tuple[str, ...]
    calls: tuple[FunctionType, ...]


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
                pending.extend(look.calls)
        return tuple(found)

    def _look(self, function: FunctionType) -> Look:
        code = function.__code__
        if code not in self._looks:
            self._looks[code] = look_at(function, self._packages)
        return self._looks[code]


def look_at(function: FunctionType, packages: Sequence[str]) -> Look:
    """What one function calls."""
    globals_ = function.__globals__
    try:
        irs = list(lifted(function.__code__, globals_))
    except Unsupported as error:
        return Look((f"{describe(function)} ({error.construct})",), ())
    obstacles: dict[str, None] = {}
    calls: list[FunctionType] = []
    for called in (value for ir in irs for value in called_by(ir, globals_)):
        known = standing(called, packages)
        if known in ("native", "not opted in"):
            obstacles[describe(called)] = None
        elif known in ("source", "library"):
            calls += code_of(called)
    return Look(tuple(obstacles), tuple(calls))


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
