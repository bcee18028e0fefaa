"""Which opcodes the dialect of the running version has to know."""

from __future__ import annotations

import dis

PREFIXES_AND_CACHES = {"CACHE", "EXTENDED_ARG"}
MODULES_AND_CLASSES = {"LOAD_NAME", "STORE_NAME", "DELETE_NAME", "LOAD_LOCALS", "SETUP_ANNOTATIONS", "IMPORT_STAR"}
CLASS_SCOPES = {"LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF", "LOAD_FROM_DICT_OR_GLOBALS"}
INTERNAL = {"PRINT_EXPR", "INTERPRETER_EXIT", "ENTER_EXECUTOR", "EXIT_INIT_CHECK", "RESERVED", "TRACE_RECORD"}


def opcodes() -> set[str]:
    """All that exist."""
    return {name for name, number in dis.opmap.items() if number < 255 and not name.startswith("INSTRUMENTED_")}


def of_functions() -> set[str]:
    """Those that the compiler puts into functions."""
    return opcodes() - (PREFIXES_AND_CACHES | MODULES_AND_CLASSES | CLASS_SCOPES | INTERNAL)
