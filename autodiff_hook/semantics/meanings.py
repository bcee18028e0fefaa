"""Callables whose meaning is written here, asked after the rules."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, Final, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

Args = tuple[Any, ...]
Kwargs = dict[str, Any]
Meaning = Callable[..., tuple[Any, Any]]
"""``meaning(alg, tokens, args, kwargs) -> (value, token)``, with the tokens of args and kwargs."""

MEANINGS: Final[dict[int, Meaning]] = {}
WITH_OPTIONS: Final[dict[int, Meaning]] = {}
"""What calls with keywords mean, asked before the rules."""

LAZY: Final[set[int]] = set()
"""The ids of callables that look into their arguments only later, or for their caller: never left to run natively."""

TABLE: Final[dict[str, Any]] = {}
"""What carried programs call, by the name of the operation (``table.py``)."""

_targets: Final[list[Any]] = []


DEFINITIONS: Final[dict[int, FunctionType]] = {}
"""Python functions that do what callables of libraries do, by the identity of these."""


def calling(target: Any, result: Any, *operands: Any) -> Any:
    """A call of native code within ``DEFINITIONS``: what comes back is of the type of ``result``, and a constant.

    The definition gives it its derivative, which has none of its own.
    """
    return target(*operands)


def calling_back(target: Any, result: Any, f: Any, like: Any, *others: Any) -> Any:
    """The same of native code that calls ``f`` back, with one value of the type of ``like``."""
    return target(f, *others)


def result_of(cls: Any, names: tuple[str, ...], *values: Any) -> Any:
    """A result of a library function within ``DEFINITIONS``: an object of ``cls`` of which only attributes are read."""
    raise NotImplementedError


def differentiated() -> bool:
    """Whether a definition is followed for a derivative, and not for what native code calls back alone."""
    return True


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

    def called_natively(alg: Any, t: Any, args: Args, kwargs: Kwargs) -> tuple[Any, None]:
        return function(*args, **kwargs), None

    means(function)(called_natively)
    return function


def as_function(operation: Callable[..., tuple[Any, Any]], data: Any = None) -> Meaning:
    """What a function means that does what an operation of programs does."""

    def called(alg: Any, t: Any, args: Args, kwargs: Kwargs) -> tuple[Any, Any]:
        return operation(alg, t, data, *args)

    return called


def giving_owner(change: Meaning) -> Meaning:
    """What a function means that changes its first argument, and gives that."""

    def changed(alg: Any, t: Any, args: Args, kwargs: Kwargs) -> tuple[Any, None]:
        change(alg, t, args, kwargs)
        return args[0], None

    return changed


def meaning_of(function: Any) -> Meaning | None:
    """What a callable means, if it is known here."""
    return MEANINGS.get(id(function))


CALLING: Final[dict[str, Callable[..., tuple[Any, Any]]]] = {}
"""What ``calls`` says of calls: it is made of the modules that ask."""


def apply(alg: Any, t: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """A call; ``t`` has the tokens of the function and of all arguments."""
    return CALLING["apply"](alg, t, function, args, kwargs)


def call_method(alg: Any, t: Any, data: Any, receiver: Any, *args: Any) -> tuple[Any, Any]:
    """``receiver.name(...)``, where ``data`` has the name and those of the last arguments."""
    return CALLING["call_method"](alg, t, data, receiver, *args)
