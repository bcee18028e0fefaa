"""The dialect tables: complete for the running version, and nothing in them that does not exist."""

from __future__ import annotations

import sys

import pytest
from opcode_names import of_functions_and_classes, opcodes

from autodiff_hook.errors import Unsupported
from autodiff_hook.lift.dialects import dialect


def test_every_opcode_of_functions_and_classes_has_a_meaning() -> None:
    assert of_functions_and_classes() == opcodes() & set(dialect())


def test_only_existing_opcodes_have_a_meaning() -> None:
    assert set(dialect()) <= opcodes()


@pytest.mark.parametrize("version", [(3, 11), (3, 12), (3, 13), (3, 14), (3, 15)])
def test_each_version_has_a_dialect(version: tuple[int, int]) -> None:
    assert dialect(version)["LOAD_FAST"]
    assert (dialect(version) == dialect()) == (version == sys.version_info[:2])


@pytest.mark.parametrize("version", [(3, 10), (3, 16)])
def test_other_versions_are_refused(version: tuple[int, int]) -> None:
    with pytest.raises(Unsupported, match=r"3\.1[06]: autodiff_hook reads the bytecode of 3\.11 to 3\.15"):
        dialect(version)
