"""Displays with stars as single statements; ``displays.py`` says what they mean."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from autodiff_hook.ir.analysis import count_uses
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
                _gather(block, made, uses)


def _gather(block: Block, made: Statement, uses: Counter[Operand]) -> None:
    users = [s for s in block.statements if made.result in s.operands]
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
    last, whole, kind = steps[-1], made.result, made.op
    rest = users[len(steps) :]
    if len(rest) == 1 and rest[0].op == "list_to_tuple" and uses[whole] == len(users):  # type: ignore[index]
        last, whole, kind = rest[0], rest[0].result, "build_tuple"
    display = Statement("display", parts, whole, (kind, tuple(stars)), made.position)
    block.statements.insert(block.statements.index(last) + 1, display)
    gone = {made, *(s for s in steps if s.op == "list_append"), *(rest if kind == "build_tuple" else ())}
    block.statements = [s for s in block.statements if s not in gone]


def _is_step(s: Statement, made: Statement) -> bool:
    return s.op in STEPS[made.op] and s.operands[0] is made.result and made.result not in s.operands[1:]
