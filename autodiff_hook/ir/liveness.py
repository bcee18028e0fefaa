"""Which variables a program still uses at the end of each block, and at places in it."""

from __future__ import annotations

from collections.abc import Mapping

from autodiff_hook.ir.analysis import passed_on
from autodiff_hook.ir.types import RECEIVED, Block, Operand, Variable


def live_out(blocks: list[Block]) -> dict[Block, set[Variable]]:
    """The variables that are used after each block, what its edges bind included."""
    uses: dict[Block, set[Variable]] = {}
    defines: dict[Block, set[Variable]] = {}
    bound: dict[Block, set[Variable]] = {}
    for block in blocks:
        terminator = block.terminator
        operands: list[Operand] = [x for s in block.statements for x in s.operands] + terminator.operands
        uses[block] = {x for x in operands if isinstance(x, Variable)}
        defines[block] = {s.result for s in block.statements if s.result is not None} | set(block.params)
        bound[block] = {x for e in terminator.edges for x in e.args if isinstance(x, Variable)}
        if RECEIVED.get(terminator.kind, (0,))[0]:
            bound[block] |= uses[block] & set(terminator.operands)
    after = {block: set(bound[block]) for block in blocks}
    before: dict[Block, set[Variable]] = {block: set() for block in blocks}
    changed = True
    while changed:
        changed = False
        for block in reversed(blocks):
            terminator = block.terminator
            live = after[block].union(*(before[edge.target] for edge in terminator.edges))
            after[block] = live
            entering = (live | uses[block]) - defines[block]
            if entering != before[block]:
                before[block] = entering
                changed = True
    return after


def live_from(block: Block, after: Mapping[Block, set[Variable]], place: int = 0) -> set[Operand]:
    """What is used by a statement of a block and those that follow it, or ``after`` the block, unless they make it."""
    live: set[Operand] = {*after[block], *passed_on(block)}
    for s in reversed(block.statements[place:]):
        live.discard(s.result)
        live.update(s.operands)
    return live
