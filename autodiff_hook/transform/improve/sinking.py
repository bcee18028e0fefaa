"""What is looked up is looked up where it is needed, not before a branch one way of which does without."""

from __future__ import annotations

from functools import reduce

from autodiff_hook.ir.analysis import dominators, natural_loops
from autodiff_hook.ir.types import IR, Block, Operand, Statement
from autodiff_hook.transform.improve.facts import value_of
from autodiff_hook.transform.improve.shortcuts import LOOKUPS, declared


def sink(ir: IR) -> None:
    """Move lookups to the last block that is passed on all ways to their uses, in the same loops."""
    homes = [(s, block) for block in ir.blocks for s in block.statements if _is_lookup(s)]
    if not homes:
        return
    immediate, loops = dominators(ir), natural_loops(ir)
    around = {block: {id(loop) for loop in loops if block in loop.body} for block in ir.blocks}
    uses = _uses(ir)
    for s, home in reversed(homes):
        target = reduce(lambda a, b: _common(immediate, a, b), uses.get(s.result, [home]))  # type: ignore[arg-type]
        while around[target] != around[home]:
            target = immediate[target]
        if target is not home:
            home.statements.remove(s)
            target.statements.insert(0, s)


def _is_lookup(s: Statement) -> bool:
    return s.op == "call" and s.result is not None and declared(LOOKUPS, value_of(s.operands[0]))


def _uses(ir: IR) -> dict[Operand, list[Block]]:
    """The blocks in which operands are used."""
    found: dict[Operand, dict[Block, None]] = {}
    for block in ir.blocks:
        operands = [x for s in block.statements for x in s.operands]
        operands += [*(block.terminator.operands)]
        operands += [x for edge in block.edges() for x in edge.args]
        for x in operands:
            found.setdefault(x, {})[block] = None
    return {x: list(blocks) for x, blocks in found.items()}


def _common(immediate: dict[Block, Block], a: Block, b: Block) -> Block:
    """The last block that is passed on all ways to two blocks."""
    before_a = _before(immediate, a)
    return next(block for block in _before(immediate, b) if block in before_a)


def _before(immediate: dict[Block, Block], block: Block) -> dict[Block, None]:
    """A block, and those that are passed on all ways to it, the last first."""
    found = {block: None}
    while immediate[block] is not block:
        block = immediate[block]
        found[block] = None
    return found
