"""Each construct of the language behaves the same after lifting and emitting, nested functions included."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

import pytest
import samples_control
import samples_values
from sampling import SAMPLES, SIDE, Sample

from autodiff_hook.emit import emit
from autodiff_hook.errors import Unsupported
from autodiff_hook.ir.verifier import verify
from autodiff_hook.lift import lift

assert samples_control and samples_values

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
                try:
                    statement.data = round_trip(statement.data)
                except Unsupported as error:
                    assert "module or class" in str(error)
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


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda x: x.function.__name__)
def test_functions(sample: Sample) -> None:
    again = rebuilt(sample.function)
    for arguments in sample.calls:
        assert outcome(again, arguments) == outcome(sample.function, arguments)


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


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
@pytest.mark.parametrize("function", samples_control.GENERATORS, ids=lambda x: x.__name__)
def test_generators(function: Callable[..., Any], script: list[tuple[Any, ...]]) -> None:
    assert played(rebuilt(function)(2), script) == played(function(2), script)


@pytest.mark.parametrize("function", samples_control.COROUTINES, ids=lambda x: x.__name__)
def test_coroutines(function: Callable[..., Any]) -> None:
    assert asyncio.run(rebuilt(function)(3)) == asyncio.run(function(3))


@pytest.mark.parametrize("function", samples_control.ASYNC_GENERATORS, ids=lambda x: x.__name__)
def test_async_generators(function: Callable[..., Any]) -> None:
    async def items(source: Any) -> list[Any]:
        return [x async for x in source]

    assert asyncio.run(items(rebuilt(function)(3))) == asyncio.run(items(function(3)))
