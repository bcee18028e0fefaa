"""What is not right: programs that end in a clear error, and those that wait for an issue, with the modes in question.

A mode may name versions of CPython: ``jvp@3.11``, ``jvp@3.13+``. The tests fail where something here is so no more.
"""

from __future__ import annotations

EVERY_MODE = "typed path carried pullback jvp hvp"
FIRST_ORDER = "typed path carried pullback"

CLEAR_ERRORS = {
    "array_filled_by_fortran": EVERY_MODE,
    "read_by_a_memoryview": EVERY_MODE,
    "checkpoint_of_a_function_with_state": FIRST_ORDER,
    "other_names.a global list": EVERY_MODE,
    "other_names.a global dict": EVERY_MODE,
    "other_names.a global object": EVERY_MODE,
    "other_names.an attribute of the receiver": EVERY_MODE,
    "other_names.an item of an attribute": EVERY_MODE,
    "other_names.an attribute of a global": EVERY_MODE,
    "other_names.a class attribute": EVERY_MODE,
    "other_names.a default value": EVERY_MODE,
    "other_names.a captured variable": EVERY_MODE,
    "other_names.an item of a list": EVERY_MODE,
    "other_names.an item of a tuple": EVERY_MODE,
    "other_names.an item of a copy": EVERY_MODE,
    "other_names.an item of a slice": EVERY_MODE,
    "other_names.an item of a sum": EVERY_MODE,
    "other_names.an item of a product": EVERY_MODE,
    "other_names.an item of what was sorted": EVERY_MODE,
    "other_names.an item of what was spread": EVERY_MODE,
    "other_names.an unpacked item": EVERY_MODE,
    "other_names.a global of a callee": EVERY_MODE,
}

WAITING: dict[str, dict[str, str]] = {}
