"""What is used up by an iteration: how far one has come is not followed, so there is only one, over all of it.

A generator expression is a list comprehension, made when Python would only begin it.
"""

from __future__ import annotations

from collections.abc import Mapping

from autodiff_hook.ir.analysis import Loop
from autodiff_hook.ir.types import Block, Operand, Statement
from autodiff_hook.transform.specialise.abstract import (
    Iterator,
)
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.infer import APPEND, DROP, STORE, Inference
from autodiff_hook.transform.specialise.lattice import (
    differentiable,
)


def require_once(blocks: list[Block], loops_of: Mapping[Block, list[Loop]], inference: Inference) -> None:
    """``Refused`` if an iterator or a generator expression is used twice, or what it reads is changed before."""
    program, expressions = inference.program, inference.expressions
    homes: dict[Operand, Block] = {}
    for block in blocks:
        for s in block.statements:
            kind = program.type_of(s.result) if s.result is not None else None
            iterator = s.op == "call" and isinstance(kind, Iterator) and differentiable(kind)
            if s.result is not None and (iterator or s.result in expressions):
                homes[s.result] = block
    if not homes:
        return
    used: set[Operand] = set()
    for block in blocks:
        for s in block.statements:
            for x in s.operands[program.plans.get(s) == APPEND :]:
                if x in homes:
                    if x in used or loops_of[homes[x]] != loops_of[block]:
                        raise Refused("an iterator is used more than once", s)
                    used.add(x)
        given = [*(block.terminator.operands if block.terminator is not None else ()), *_passed_on(block)]
        if not homes.keys().isdisjoint(given):
            raise Refused("an iterator has several names")
    if not expressions.isdisjoint(homes):
        _require_unchanged(blocks, loops_of, inference)


def _passed_on(block: Block) -> list[Operand]:
    return [x for edge in block.edges() for x in edge.args]


def _require_unchanged(blocks: list[Block], loops_of: Mapping[Block, list[Loop]], inference: Inference) -> None:
    """What was there before a generator expression is not changed until it has been used."""
    plans = inference.plans
    places = {s: (i, j) for i, block in enumerate(blocks) for j, s in enumerate(block.statements)}
    home = {s: block for block in blocks for s in block.statements}
    made: dict[Operand, tuple[int, int]] = {s.result: place for s, place in places.items() if s.result is not None}
    changes = [
        s for s in places if plans.get(s) in (APPEND, DROP, STORE) and s.operands[0] not in inference.expressions
    ]
    for items in inference.expressions & made.keys():
        used = [s for s in places if items in s.operands]
        filled = max((places[s] for s in used if plans.get(s) == APPEND), default=made[items])
        around = len(loops_of[home[used[-1]]]) if used else 0
        for use in used:
            if plans.get(use) == APPEND:
                continue
            last = _end_of(use, blocks, loops_of, places, around)
            for s in changes:
                if filled < places[s] < last and made.get(s.operands[0], (-1, -1)) < made[items]:
                    raise Refused("what a generator expression may read is changed before it is used", s)


def _end_of(
    use: Statement,
    blocks: list[Block],
    loops_of: Mapping[Block, list[Loop]],
    places: Mapping[Statement, tuple[int, int]],
    around: int,
) -> tuple[int, int]:
    """Where an iteration that begins with a statement ends."""
    if use.op != "get_iter":
        return places[use]
    headers = [b for b in blocks if b.terminator is not None and use.result in b.terminator.operands]
    loops = [loop for b in headers for loop in loops_of[b][around : around + 1]]
    return max([(i, 1 << 30) for i, b in enumerate(blocks) for loop in loops if b in loop.body], default=places[use])
