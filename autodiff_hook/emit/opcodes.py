"""The numbers of the opcodes of the running CPython, and what assembling them needs to know."""

from __future__ import annotations

import opcode
from dis import stack_effect
from typing import Final

PLAIN: Final = 0
LOCAL: Final = 1
CONSTANT: Final = 2
NAME: Final = 3
FLAGGED_NAME: Final = 4
JUMP_FORWARD: Final = 5
JUMP_BACKWARD: Final = 6
LOCALS: Final = 7
KEYWORDS: Final = 8

_FINAL: Final = frozenset({"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE"})
_FLAGGED: Final = frozenset({"LOAD_GLOBAL", "LOAD_ATTR"})
_OPCODES: Final = range(256)


def _kind(name: str, number: int) -> int:
    """What the argument of an instruction is before it becomes a number."""
    if number in opcode.hasjrel:
        return JUMP_BACKWARD if "BACKWARD" in name or name == "END_ASYNC_FOR" else JUMP_FORWARD
    if number in opcode.haslocal or number in opcode.hasfree:
        return LOCALS if name.count("_FAST") == 2 else LOCAL
    if number in opcode.hasconst:
        return KEYWORDS if name == "KW_NAMES" else CONSTANT
    if number in opcode.hasname:
        return FLAGGED_NAME if name in _FLAGGED and _is_flagged(number) else NAME
    return PLAIN


def _is_flagged(number: int) -> bool:
    return stack_effect(number, 0) != stack_effect(number, 1)


def _caches(name: str, number: int) -> int:
    entries = opcode._inline_cache_entries  # type: ignore[attr-defined]
    return int(entries[number] if isinstance(entries, list) else entries.get(name, 0))


def _fixed_effect(number: int, kind: int) -> int | None:
    """By how much an instruction changes the depth of the stack, if its argument has no say in it."""
    if number < opcode.HAVE_ARGUMENT:
        return stack_effect(number)
    return None if kind in (PLAIN, FLAGGED_NAME) else stack_effect(number, 0, jump=False)


CODES: Final = {
    name: (number, kind, _fixed_effect(number, kind))
    for name, number in opcode.opmap.items()
    if number in _OPCODES
    for kind in (_kind(name, number),)
}
"""Number, kind of argument and fixed effect on the stack by name."""

EXTENDED_ARG: Final = opcode.EXTENDED_ARG
UNITS: Final = [1 + _caches(opcode.opname[number], number) for number in _OPCODES]
"""How many code units an instruction fills without prefixes: one and its caches."""

ENDS: Final = [
    name in _FINAL or (name.startswith("JUMP_") and "_IF_" not in name) for name in opcode.opname[: len(_OPCODES)]
]
"""Whether control never goes to what stands behind the instruction."""

_known: Final[dict[tuple[int, int, bool], int]] = {}


def effect(number: int, arg: int, jump: bool = False) -> int:
    """By how much an instruction changes the depth of the stack; of a name's argument only the flag counts."""
    key = number, arg, jump
    found = _known.get(key)
    if found is None:
        found = _known[key] = stack_effect(number, arg, jump=jump)
    return found
