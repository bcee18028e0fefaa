"""The standard library's own tests, with the modules under test and the tests themselves re-emitted."""

from __future__ import annotations

import dis
import importlib.util
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

from autodiff_hook.emit import emit
from autodiff_hook.lift import lift

HERE = Path(__file__).parent
LIFETIMES = [
    "TestLRUC.test_lru_cache_weakrefable",
    "TestLRUPy.test_lru_cache_weakrefable",
    "TestPartialC.test_weakref",
    "TestPartialCSubclass.test_weakref",
    "TestPartialPy.test_weakref",
    "TestPartialPySubclass.test_weakref",
    "FinalizationTest.test_frame_resurrect",
    "FinalizationTest.test_refcycle",
    "TestSingleDispatch.test_method_no_reference_loops",
]
"""What asks whether an object dies at ``del x``: after a round trip it lives on until the function returns."""

UNUSED = [
    "GeneratorDeallocTest.test_frame_locals_outlive_generator",
    "GeneratorDeallocTest.test_frame_locals_outlive_generator_with_exec",
    "GeneratorDeallocTest.test_frame_outlives_generator",
]
"""What reads in ``f_locals`` a variable that no statement uses: after a round trip there is none."""

MODULES = {
    "test_bisect": ["bisect"],
    "test_contextlib": ["contextlib"],
    "test_dataclasses": ["dataclasses"],
    "test_fractions": ["fractions"],
    "test_functools": ["functools"],
    "test_generators": [],
    "test_heapq": ["heapq"],
    "test_json": ["json", "json.decoder", "json.encoder", "json.scanner", "json.tool"],
    "test_statistics": ["statistics"],
    "test_textwrap": ["textwrap"],
}


@pytest.mark.parametrize("name", MODULES)
def test_standard_library(name: str) -> None:
    run_rewritten(name)


def test_signals_are_met_though_the_parent_ignores_them() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        run_rewritten("test_generators")
    finally:
        signal.signal(signal.SIGINT, before)


def run_rewritten(name: str) -> None:
    """Run a module of tests, re-emitted, in a process of its own."""
    if importlib.util.find_spec(f"test.{name}") is None:
        pytest.skip("this Python comes without its tests")
    environment = dict(os.environ, PYTHONPATH=str(HERE.parent.parent), ROUNDTRIP_SKIP=" ".join(LIFETIMES + UNUSED))
    command = [sys.executable, "-X", "dev", str(HERE / "rewriting.py"), f"test.{name}", *MODULES[name]]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr


def delegating(inner: Any) -> Any:
    try:
        return (yield from inner)
    finally:
        yield


async def awaiting(inner: Any) -> Any:
    async with inner as x:
        return await x


@pytest.mark.parametrize("function", [delegating, awaiting])
def test_signals_are_looked_at_where_cpython_does(function: Any) -> None:
    """Not between a generator and the one that it delegates to: what waits for the inner one would miss them."""

    def looks(code: CodeType) -> list[Any]:
        return sorted(i.arg for i in dis.get_instructions(code) if i.opname == "RESUME")

    made = emit(lift(function.__code__))
    assert looks(made) == looks(function.__code__)
    instructions = list(dis.get_instructions(made))
    resumed = [k for k, i in enumerate(instructions) if i.opname == "RESUME" and i.arg is not None and i.arg & 3 >= 2]
    back = [next(i.opname for i in instructions[k:] if i.opname.startswith("JUMP")) for k in resumed]
    assert back and set(back) == {"JUMP_BACKWARD_NO_INTERRUPT"}
