"""3.14: loads that leave the reference to the local.

A borrowed load takes no reference of its own, so the local must outlive it on the stack: it is consumed before
the local is stored to, within the same run of instructions, and by something other than a store into a local.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from autodiff_hook.emit.items import Mark, Op
from autodiff_hook.emit.lower import Lowered

_BORROWED: Final = {"LOAD_FAST": "LOAD_FAST_BORROW", "LOAD_FAST_LOAD_FAST": "LOAD_FAST_BORROW_LOAD_FAST_BORROW"}

_POPS_AND_PUSHES: Final[dict[str, tuple[int, int]]] = {
    "NOP": (0, 0),
    "NOT_TAKEN": (0, 0),
    "LOAD_CONST": (0, 1),
    "LOAD_DEREF": (0, 1),
    "PUSH_NULL": (0, 1),
    "POP_TOP": (1, 0),
    "BINARY_OP": (2, 1),
    "COMPARE_OP": (2, 1),
    "IS_OP": (2, 1),
    "CONTAINS_OP": (2, 1),
    "UNARY_NEGATIVE": (1, 1),
    "UNARY_NOT": (1, 1),
    "TO_BOOL": (1, 1),
    "GET_ITER": (1, 1),
    "BINARY_SLICE": (3, 1),
    "STORE_SUBSCR": (3, 0),
    "STORE_ATTR": (2, 0),
    "LIST_APPEND": (1, 0),
    "RETURN_VALUE": (1, 0),
    "POP_JUMP_IF_TRUE": (1, 0),
    "POP_JUMP_IF_FALSE": (1, 0),
    "POP_JUMP_IF_NONE": (1, 0),
    "POP_JUMP_IF_NOT_NONE": (1, 0),
}
_SIZED: Final[dict[str, Callable[[Any], tuple[int, int]]]] = {
    "CALL": lambda count: (count + 2, 1),
    "CALL_KW": lambda count: (count + 3, 1),
    "BUILD_TUPLE": lambda count: (count, 1),
    "BUILD_LIST": lambda count: (count, 1),
    "BUILD_SLICE": lambda count: (count, 1),
    "UNPACK_SEQUENCE": lambda count: (1, count),
    "LOAD_GLOBAL": lambda arg: (0, 1 + arg[0]),
}

_Entry = tuple[int, int]
_OTHER: Final[_Entry] = (-1, -1)


def borrow(code: list[Lowered]) -> list[Lowered]:
    """The code with borrowed loads where that is safe."""
    pending: dict[int, int] = {}
    stack: list[_Entry] = []
    for index, item in enumerate(code):
        if isinstance(item, Mark):
            stack.clear()
        else:
            _step(item, index, stack, pending)
    out = list(code)
    for index, left in pending.items():
        op = code[index]
        if left == 0 and isinstance(op, Op):
            out[index] = Op(_BORROWED[op.name], op.arg, op.position, op.handler)
    return out


def _step(op: Op, index: int, stack: list[_Entry], pending: dict[int, int]) -> None:
    """What one instruction does to the stack, as far as it is known; ``pending`` counts what is not consumed yet."""
    name = op.name
    if name == "LOAD_FAST" and isinstance(op.arg, int):
        pending[index] = 1
        stack.append((index, op.arg))
    elif name == "LOAD_FAST_LOAD_FAST":
        pending[index] = 2
        stack.extend((index, slot) for slot in op.arg)
    elif name == "STORE_FAST":
        _store(stack, op.arg)
    elif name == "STORE_FAST_STORE_FAST":
        for slot in op.arg:
            _store(stack, slot)
    elif name == "STORE_FAST_LOAD_FAST":
        _store(stack, op.arg[0])
        stack.append(_OTHER)
    elif name == "SWAP" and len(stack) >= op.arg:
        stack[-1], stack[-op.arg] = stack[-op.arg], stack[-1]
    elif name == "LOAD_ATTR":
        owner = _pop(stack)
        if op.arg[0]:
            stack += [_OTHER, owner]
        else:
            _consume(owner, pending)
            stack.append(_OTHER)
    elif name in _POPS_AND_PUSHES or name in _SIZED:
        pops, pushes = _POPS_AND_PUSHES.get(name) or _SIZED[name](op.arg)
        for _ in range(pops):
            _consume(_pop(stack), pending)
        stack += [_OTHER] * pushes
    else:
        stack.clear()
    if name.startswith("POP_JUMP"):
        stack.clear()


def _pop(stack: list[_Entry]) -> _Entry:
    """The top; what lies below all that this run of instructions has pushed is of others."""
    return stack.pop() if stack else _OTHER


def _consume(entry: _Entry, pending: dict[int, int]) -> None:
    if entry is not _OTHER:
        pending[entry[0]] -= 1


def _store(stack: list[_Entry], slot: int) -> None:
    """A value that is stored, and those of the local that is stored to, have to be owned."""
    _pop(stack)
    stack[:] = [_OTHER if entry[1] == slot else entry for entry in stack]
