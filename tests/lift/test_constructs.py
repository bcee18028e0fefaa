"""Each construct of the language behaves the same after lifting and emitting, nested functions included."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
import samples_control
import samples_values
from sampling import SAMPLES, SCRIPTS, Sample, outcome, played, rebuilt

assert samples_control and samples_values


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda x: x.function.__name__)
def test_functions(sample: Sample) -> None:
    again = rebuilt(sample.function)
    for arguments in sample.calls:
        assert outcome(again, arguments) == outcome(sample.function, arguments)


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
