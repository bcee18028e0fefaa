"""How samples are registered, what they use, and how they are played before and after a round trip."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from autodiff_hook.emit import emit
from autodiff_hook.ir.verifier import verify
from autodiff_hook.lift import lift
from autodiff_hook.lift.code import is_function


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


SCRIPTS = {
    "next": [("__next__",)] * 5,
    "send": [("__next__",), ("send", 5), ("send", 7), ("__next__",), ("__next__",), ("__next__",)],
    "caught": [("__next__",), ("throw", KeyError(3)), ("__next__",), ("__next__",), ("__next__",)],
    "uncaught": [("__next__",), ("throw", ValueError(3)), ("__next__",)],
    "closed": [("__next__",), ("close",), ("__next__",)],
}


def round_trip(code: CodeType) -> CodeType:
    """``code`` and the code of the functions in it, lifted and emitted."""
    ir = lift(code)
    verify(ir)
    for block in ir.blocks:
        for statement in block.statements:
            if statement.op == "make_function":
                if is_function(statement.data):
                    statement.data = round_trip(statement.data)
    return emit(ir)


def rebuilt(function: Callable[..., Any]) -> Callable[..., Any]:
    assert isinstance(function, FunctionType)
    code = round_trip(function.__code__)
    return FunctionType(code, function.__globals__, None, function.__defaults__, function.__closure__)


def outcome(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[str, ...]:
    """What a call returns or raises, and what it did to its arguments and outside."""
    SIDE.clear()
    arguments = copy.deepcopy(arguments)
    try:
        result = repr(function(*arguments))
    except Exception as error:
        result = repr((type(error), str(error), type(error.__cause__), type(error.__context__)))
    return tuple(x.split(" at 0x")[0] for x in (result, repr(arguments), repr(SIDE)))


def played(generator: Any, script: list[tuple[Any, ...]]) -> tuple[str, str]:
    """What a generator answers to a script, and what it did outside."""
    SIDE.clear()
    answers: list[Any] = []
    for method, *arguments in script:
        try:
            answers.append(getattr(generator, method)(*arguments))
        except Exception as error:
            answers.append((type(error), str(error)))
    return repr(answers), repr(SIDE)
