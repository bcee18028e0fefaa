"""What the lifter knows of the operations: which cannot raise, which give an exact bool."""

from __future__ import annotations

from typing import Final

from autodiff_hook.ir.types import Statement

_CANNOT_RAISE: Final = frozenset(
    "make_cell cell_set is is_not build_tuple build_list build_slice build_string list_append list_to_tuple "
    "project make_function push_exc pop_exc match_mapping match_sequence forget".split()
)
_EXACT_BOOL: Final = frozenset("truth not is is_not in not_in exc_match match_mapping match_sequence".split())
_TERMINATORS_THAT_RAISE: Final = frozenset({"next", "send", "raise", "reraise"})


def cannot_raise(op: str) -> bool:
    """Whether no operand can make the operation raise."""
    return op in _CANNOT_RAISE


def exact_bool(statement: Statement) -> bool:
    """Whether the result is True or False, and not just something with a truth value."""
    return statement.op in _EXACT_BOOL


def terminator_raises(kind: str) -> bool:
    """Whether a terminator of this kind may (or must) raise."""
    return kind in _TERMINATORS_THAT_RAISE
