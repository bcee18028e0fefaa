"""Which opcodes the dialect of the running version has to know: all but those of modules."""

from __future__ import annotations

import dis

PREFIXES_AND_CACHES = {"CACHE", "EXTENDED_ARG"}
MODULES = {"IMPORT_STAR"}
INTERNAL = {"PRINT_EXPR", "INTERPRETER_EXIT", "ENTER_EXECUTOR", "EXIT_INIT_CHECK", "RESERVED", "TRACE_RECORD"}


def opcodes() -> set[str]:
    """All that exist."""
    return {name for name, number in dis.opmap.items() if number < 255 and not name.startswith("INSTRUMENTED_")}


def of_functions_and_classes() -> set[str]:
    """Those that the compiler puts into functions and the bodies of classes."""
    return opcodes() - (PREFIXES_AND_CACHES | MODULES | INTERNAL)
