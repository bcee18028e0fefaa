"""The dialect tables: complete for the running version, and nothing in them that does not exist."""

from __future__ import annotations

import dis
import sys

import pytest

from autodiff_hook.errors import Unsupported
from autodiff_hook.lift.dialects import dialect

PREFIXES_AND_CACHES = {"CACHE", "EXTENDED_ARG"}
MODULES_AND_CLASSES = {"LOAD_NAME", "STORE_NAME", "DELETE_NAME", "LOAD_LOCALS", "SETUP_ANNOTATIONS", "IMPORT_STAR"}
CLASS_SCOPES = {"LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF", "LOAD_FROM_DICT_OR_GLOBALS"}
INTERNAL = {"PRINT_EXPR", "INTERPRETER_EXIT", "ENTER_EXECUTOR", "EXIT_INIT_CHECK", "RESERVED"}


def opcodes() -> set[str]:
    return {name for name, number in dis.opmap.items() if number < 255 and not name.startswith("INSTRUMENTED_")}


def test_every_opcode_of_functions_has_a_meaning() -> None:
    left_out = PREFIXES_AND_CACHES | MODULES_AND_CLASSES | CLASS_SCOPES | INTERNAL
    assert opcodes() - left_out == opcodes() & set(dialect())


def test_only_existing_opcodes_have_a_meaning() -> None:
    assert set(dialect()) <= opcodes()


@pytest.mark.parametrize("version", [(3, 11), (3, 12), (3, 13)])
def test_each_version_has_a_dialect(version: tuple[int, int]) -> None:
    assert dialect(version)["LOAD_FAST"]
    assert (dialect(version) == dialect()) == (version == sys.version_info[:2])


@pytest.mark.parametrize("version", [(3, 10), (3, 14)])
def test_other_versions_are_refused(version: tuple[int, int]) -> None:
    with pytest.raises(Unsupported, match=r"3\.1[04]: autodiff_hook reads the bytecode of 3\.11 to 3\.13"):
        dialect(version)
