"""Displays with stars as single statements; ``displays.py`` says what they mean."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from autodiff_hook.ir.analysis import closure, count_uses, successors
from autodiff_hook.ir.types import Block, Operand, Statement, Variable

STEPS: Final = {"build_list": ("list_extend", "list_append"), "build_map": ("dict_update", "dict_merge")}


def gather(blocks: list[Block], changed: frozenset[Any]) -> None:
    """Let each display with stars be one statement, behind its last part; its data are what it builds and the stars.

    Those at places that are ``changed`` are made step by step.
    """
    uses = count_uses(blocks)
    for block in blocks:
        for made in [s for s in block.statements if s.op in STEPS]:
            if made.position not in changed:
                _gather(_brought_together(blocks, block, made, uses), made, uses)


def _brought_together(blocks: list[Block], block: Block, made: Statement, uses: Counter[Operand]) -> Block:
    """The block of all steps of a display, which is begun there, too.

    What it spreads may have blocks of its own, as an inlined comprehension has: these do not use what is begun.
    """
    if _users(block, made) or not uses[made.made]:
        return block
    other = next((x for x in blocks if _users(x, made)), block)
    users = _users(other, made)
    apart = uses[made.made] != len(users) or not _is_step(users[0], made)
    if apart or other in closure(successors(other), successors, (block,)):
        return block
    block.statements.remove(made)
    other.statements.insert(other.statements.index(users[0]), made)
    return other


def _gather(block: Block, made: Statement, uses: Counter[Operand]) -> None:
    users = _users(block, made)
    steps: list[Statement] = []
    while len(steps) < len(users) and _is_step(users[len(steps)], made):
        steps.append(users[len(steps)])
    if all(s.op == "list_append" for s in steps):
        return
    parts, stars = list(made.operands), [""] * len(made.operands)
    for s in steps:
        stars.append("" if s.op == "list_append" else s.op)
        if stars[-1]:
            # What is spread is looked at where the program does.
            s.op, s.operands, s.result, s.data = "star", s.operands[1:2], Variable("star"), (s.op, made.position)
        parts.append(s.result if s.result is not None else s.operands[1])
    last, whole, kind = steps[-1], made.made, made.op
    rest = users[len(steps) :]
    if len(rest) == 1 and rest[0].op == "list_to_tuple" and uses[whole] == len(users):
        last, whole, kind = rest[0], rest[0].made, "build_tuple"
    display = Statement("display", parts, whole, (kind, tuple(stars)), made.position)
    block.statements.insert(block.statements.index(last) + 1, display)
    gone = {made, *(s for s in steps if s.op == "list_append"), *(rest if kind == "build_tuple" else ())}
    block.statements = [s for s in block.statements if s not in gone]


def _users(block: Block, made: Statement) -> list[Statement]:
    return [s for s in block.statements if made.result in s.operands]


def _is_step(s: Statement, made: Statement) -> bool:
    return s.op in STEPS[made.op] and s.operands[0] is made.result and made.result not in s.operands[1:]
