"""Callables that the pushforward knows itself, and those that neither direction has to enter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from autodiff_hook.runtime.handlers import handles

F = TypeVar("F", bound=Callable[..., Any])

Pusher = Callable[..., tuple[Any, Any]]
"""``pusher(ctx, tangents, args, kwargs) -> (value, tangent)``, with the tangents of args and kwargs."""

PUSHERS: Final[dict[int, Pusher]] = {}
WITH_OPTIONS: Final[dict[int, Pusher]] = {}
"""How calls with keywords are pushed forward, asked before the rules."""

_targets: Final[list[Any]] = []


def pushes(*targets: Any) -> Callable[[F], F]:
    """Register how callables are pushed forward."""

    def register(pusher: F) -> F:
        for target in targets:
            PUSHERS[id(target)] = pusher
            _targets.append(target)
        return pusher

    return register


def bookkeeping(function: F) -> F:
    """Declare that the result of ``function`` carries no derivative that its arguments do not carry by reference."""

    def natively(ctx: Any, w: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, None]:
        return function(*args, **kwargs), None

    handles(function)(natively)
    pushes(function)(natively)
    return function


@bookkeeping
def pusher_with_options(function: Any, kwargs: dict[str, Any]) -> Pusher | None:
    """How a call with keywords is pushed forward, if that is not as without."""
    return WITH_OPTIONS.get(id(function)) if kwargs else None


@bookkeeping
def pusher_of(function: Any) -> Pusher | None:
    """How a callable is pushed forward, if it is known here."""
    return PUSHERS.get(id(function))
