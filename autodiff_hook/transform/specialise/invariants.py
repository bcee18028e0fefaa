"""The primal without detours: items of tuples that are made for them, arithmetic that each iteration would repeat.

This comes before the adjoint, so that neither is recorded.
"""

from __future__ import annotations

from collections.abc import Callable

from autodiff_hook.ir.analysis import Loop
from autodiff_hook.ir.types import Block, Constant, Edge, Operand, Statement, Variable
from autodiff_hook.transform.specialise.abstract import Abstract, number_types
from autodiff_hook.transform.specialise.bodies import resolve
from autodiff_hook.transform.specialise.infer import STRUCTURAL, Plan

TypeOf = Callable[[Operand], Abstract]
_FLOAT = frozenset({float})


def take_items(blocks: list[Block], plans: dict[Statement, Plan]) -> dict[Operand, Operand]:
    """Drop what takes items out of tuples, lists and dicts that the program itself makes; what these items are."""
    mapping: dict[Operand, Operand] = {}
    displays = [s for block in blocks for s in block.statements if plans.get(s) == STRUCTURAL]
    made = {s.result: s for s in displays if s.op in ("build_tuple", "build_list", "build_map")}
    for block in blocks:
        kept = []
        for s in block.statements:
            whole = made.get(resolve(s.operands[0], mapping)) if s.operands else None  # type: ignore[arg-type]
            item = _item_of(whole, s) if whole is not None and s.result is not None else None
            if item is None or s.result is None:
                kept.append(s)
            else:
                mapping[s.result] = item
        block.statements = kept
    return mapping


def _item_of(whole: Statement, s: Statement) -> Operand | None:
    if whole.op == "build_map":
        key = s.operands[1] if s.op == "getitem" else None
        pairs = zip(whole.operands[::2], whole.operands[1::2])
        same = (x for k, x in pairs if isinstance(k, Constant) and isinstance(key, Constant) and k.value == key.value)
        return next(same, None)
    index, items = _index(s), whole.operands
    return items[index] if index is not None and -len(items) <= index < len(items) else None


def _index(s: Statement) -> int | None:
    if s.op == "project":
        index: int = s.data
        return index
    key = s.operands[1] if s.op == "getitem" else None
    return key.value if isinstance(key, Constant) and type(key.value) is int else None


def hoist(loops: list[Loop], incoming: dict[Block, list[tuple[Block, Edge]]], type_of: TypeOf) -> None:
    """Move arithmetic of floats that is the same in every iteration before its loop; it cannot raise there."""
    for loop in reversed(loops):
        (before,) = (block for block, _ in incoming[loop.header] if block not in loop.body)
        inside: set[Operand] = {p for block in loop.body for p in block.params}
        inside.update(s.result for block in loop.body for s in block.statements if s.result is not None)
        while any([_move(block, before, inside, type_of) for block in loop.body]):
            pass


def _move(block: Block, before: Block, inside: set[Operand], type_of: TypeOf) -> bool:
    moved = [s for s in block.statements if inside.isdisjoint(s.operands) and is_total(s, type_of)]
    if moved:
        before.statements += moved
        inside.difference_update(s.result for s in moved if isinstance(s.result, Variable))
        block.statements = [s for s in block.statements if s not in moved]
    return bool(moved)


def is_total(s: Statement, type_of: TypeOf) -> bool:
    """Whether a statement is arithmetic of floats, which cannot raise."""
    if s.op not in ("binary", "inplace", "unary"):
        return False
    types = [number_types(type_of(x)) for x in s.operands]
    if _FLOAT not in types or not all(t == _FLOAT or _is_small(x) for t, x in zip(types, s.operands)):
        return False
    if s.data == "/":
        divisor = s.operands[1]
        return isinstance(divisor, Constant) and divisor.value != 0
    return s.data in ("+", "-", "*")


def _is_small(operand: Operand) -> bool:
    """Whether an operand is an int that is a float, too."""
    return isinstance(operand, Constant) and type(operand.value) is int and abs(operand.value) < 1 << 53
