"""Every operation of the IR is known wherever it has to be: who adds one is told here what is missing."""

from __future__ import annotations

import re

import pytest

from autodiff_hook.emit.select import _SELECTORS
from autodiff_hook.ir import types, verifier
from autodiff_hook.semantics.table import TABLE
from autodiff_hook.transform.generic import primal

OPERATIONS = sorted(verifier.OPERATIONS)
BY_THE_ENGINE = {"resume", "forget"}
"""What only the engine writes, into programs that nobody interprets."""
CARRIED_ONLY = {"name_get", "name_del", "name_or_cell_get", "setup_annotations"}
"""What stands in the bodies of classes, which nothing emits as they are."""


@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_grammar_names_it(operation):
    assert operation in BY_THE_ENGINE or re.search(rf"\b{operation}\b", types.__doc__)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_it_is_emitted(operation):
    assert operation in _SELECTORS or operation in BY_THE_ENGINE | CARRIED_ONLY


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_operation_has_a_meaning_or_is_plain(operation):
    plain = primal._PLAIN | primal.STRUCTURAL
    assert operation in BY_THE_ENGINE or (operation in TABLE) != (operation in plain)


def test_what_cannot_raise_are_operations():
    assert verifier.OPERATIONS > types.CANNOT_RAISE
