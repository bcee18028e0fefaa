"""The programs of the corpus: each with arguments, what it is about, and the gradient that is right."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

MODES = ("typed", "path", "carried", "pullback", "jvp", "hvp")


@dataclass(frozen=True, eq=False)
class Program:
    """A scalar function, and a maker of fresh arguments."""

    construct: str
    name: str
    function: Callable[..., Any]
    make: Callable[[], tuple[Any, ...]]
    expected: tuple[float, ...] | None = None
    """The gradient, flat, where finite differences do not show it."""
    modes: tuple[str, ...] = MODES
    error_allowed: bool = False
    """Whether a clear error is as good as the gradient."""
    needs: str | None = None
    """A module that may be missing; it is imported before."""


PROGRAMS: dict[str, Program] = {}


def register(program: Program) -> None:
    """Add a program to the corpus."""
    assert program.name not in PROGRAMS, f"two programs are called {program.name}"
    PROGRAMS[program.name] = program


def program(
    construct: str,
    *args: Any,
    given: Callable[[], tuple[Any, ...]] | None = None,
    expected: Sequence[float] | None = None,
    modes: tuple[str, ...] | None = None,
    error_allowed: bool = False,
    needs: str | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function with its arguments, or with ``given``, which makes them."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        make = given or (lambda: copy.deepcopy(args))
        register(
            Program(
                construct,
                function.__name__,
                function,
                make,
                None if expected is None else tuple(expected),
                modes or MODES,
                error_allowed,
                needs,
            )
        )
        return function

    return decorate
