"""``functools.lru_cache`` of functions that a program makes, as typed programs follow it: a dict of what is known."""

from __future__ import annotations

from typing import Any

from autodiff_hook.registry import nondifferentiable


@nondifferentiable
def require_room(count: int, limit: Any) -> None:
    """Typed programs forget nothing."""


@nondifferentiable
def require_constant(key: Any, value: Any) -> None:
    """What is kept for a key is given to all that equal it, whatever their derivatives, so it may have none."""


def lru_cache(maxsize: Any = 128) -> Any:
    """``functools.lru_cache(maxsize)``, or of a function."""
    if maxsize is not None and not isinstance(maxsize, int):
        return _remembered(maxsize, 128)

    def decorate(function: Any) -> Any:
        return _remembered(function, maxsize)

    return decorate


def _remembered(function: Any, limit: Any) -> Any:
    known: dict[Any, Any] = {}

    def ask(*args: Any) -> Any:
        # One whole number is a key of its own, unlike other numbers that equal it.
        key = (len(args) == 1 and type(args[0]) is int, *args)
        if key in known:
            value = known[key]
        else:
            value = function(*args)
            require_room(len(known), limit)
            known[key] = value
        require_constant(key, value)
        return value

    return ask
