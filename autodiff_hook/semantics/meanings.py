"""Callables whose meaning is written here, asked after the rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

Meaning = Callable[..., tuple[Any, Any]]
"""``meaning(alg, tokens, args, kwargs) -> (value, token)``, with the tokens of args and kwargs."""

MEANINGS: Final[dict[int, Meaning]] = {}
WITH_OPTIONS: Final[dict[int, Meaning]] = {}
"""What calls with keywords mean, asked before the rules."""

_targets: Final[list[Any]] = []


def means(*targets: Any) -> Callable[[F], F]:
    """Register what callables mean."""

    def register(meaning: F) -> F:
        for target in targets:
            MEANINGS[id(target)] = meaning
            _targets.append(target)
        return meaning

    return register


def natively(function: F) -> F:
    """Register a callable that only looks at its arguments, or wraps them."""

    def called_natively(alg: Any, t: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, None]:
        return function(*args, **kwargs), None

    means(function)(called_natively)
    return function


def meaning_with_options(function: Any, kwargs: dict[str, Any]) -> Meaning | None:
    """What a call with keywords means, if that is not as without."""
    return WITH_OPTIONS.get(id(function)) if kwargs else None


def meaning_of(function: Any) -> Meaning | None:
    """What a callable means, if it is known here."""
    return MEANINGS.get(id(function))
