"""Which variables a program still uses at the end of each block, and at places in it."""

from __future__ import annotations

from collections.abc import Mapping

from autodiff_hook.ir.analysis import passed_on, postorder
from autodiff_hook.ir.types import RECEIVED, Block, Operand, Variable


def live_out(blocks: list[Block]) -> dict[Block, set[Variable]]:
    """The variables that are used after each block, what its edges bind included."""
    after, before, defines = {}, {}, {}
    for block in blocks:
        terminator = block.terminator
        read = {x for s in block.statements for x in s.operands if isinstance(x, Variable)}
        ends = {x for x in terminator.operands if isinstance(x, Variable)}
        after[block] = {x for e in terminator.edges for x in e.args if isinstance(x, Variable)}
        if RECEIVED.get(terminator.kind, (0,))[0]:
            after[block] |= ends
        defines[block] = {*block.params, *(s.result for s in block.statements if s.result is not None)}
        before[block] = ((read | ends) | after[block]) - defines[block]
    order = postorder(blocks, lambda block: [edge.target for edge in block.terminator.edges])
    changed = True
    while changed:
        changed = False
        for block in order:
            live = after[block]
            known = len(live)
            live.update(*[before[edge.target] for edge in block.terminator.edges])
            if len(live) > known:
                before[block] |= live - defines[block]
                changed = True
    return after


def live_from(block: Block, after: Mapping[Block, set[Variable]], place: int = 0) -> set[Operand]:
    """What is used by a statement of a block and those that follow it, or ``after`` the block, unless they make it."""
    live: set[Operand] = {*after[block], *passed_on(block)}
    for s in reversed(block.statements[place:]):
        live.discard(s.result)
        live.update(s.operands)
    return live
