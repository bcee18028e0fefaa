"""The examples in docstrings run."""

from __future__ import annotations

import doctest
import importlib

import pytest

COMMANDS = ["commands.inputs", "commands.scanning", "commands.covering", "commands.reaching"]


@pytest.mark.parametrize(
    "module",
    ["api", "debugging", "explaining", "registry", "strong", "tangent", "testing", "runtime.trees", *COMMANDS],
)
def test_examples(module):
    found = doctest.testmod(importlib.import_module(f"autodiff_hook.{module}"))
    assert found.attempted
    assert not found.failed
