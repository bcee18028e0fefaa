"""How samples are registered, and what they use."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple


class Sample(NamedTuple):
    """A function and the arguments of its calls; whatever a call returns or raises is to be reproduced."""

    function: Callable[..., Any]
    calls: tuple[tuple[Any, ...], ...]


SAMPLES: list[Sample] = []
SIDE: list[Any] = []


def calls(*arguments: tuple[Any, ...]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the decorated function to be called with each of the tuples."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        SAMPLES.append(Sample(function, arguments))
        return function

    return register


@contextlib.contextmanager
def manager(swallow: bool = False) -> Iterator[int]:
    SIDE.append("enter")
    try:
        yield 5
    except ValueError:
        if not swallow:
            raise
    finally:
        SIDE.append("exit")


class Item:
    def __init__(self, value: Any = 1) -> None:
        self.value = value

    def add(self, other: Any, *, scale: Any = 1) -> Any:
        return self.value + scale * other


class Base:
    def f(self, x: Any = 1) -> Any:
        return ("base", x)

    attribute = "base attribute"


def keywords(*args: Any, **kwargs: Any) -> Any:
    return args, kwargs


def fail(kind: type[BaseException] = ValueError, *args: Any) -> Any:
    raise kind(*args)
