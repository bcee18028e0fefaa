"""The standard library's own tests, with the modules under test and the tests themselves re-emitted."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

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
]
"""What asks whether an object dies at ``del x``: after a round trip it lives on until the function returns."""

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
    if importlib.util.find_spec(f"test.{name}") is None:
        pytest.skip("this Python comes without its tests")
    environment = dict(os.environ, PYTHONPATH=str(HERE.parent.parent), ROUNDTRIP_SKIP=" ".join(LIFETIMES))
    command = [sys.executable, "-X", "dev", str(HERE / "rewriting.py"), f"test.{name}", *MODULES[name]]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
