"""What is looked up, or computed again, is so where it is needed, not before a branch one way of which does without."""

from __future__ import annotations

from collections.abc import Callable, Container
from functools import reduce
from typing import Any

from autodiff_hook.ir.analysis import (
    closure,
    defined_in,
    dominators,
    natural_loops,
    passed_on,
    places_of,
    predecessors,
    statements_of,
)
from autodiff_hook.ir.substituting import share, substitute
from autodiff_hook.ir.types import IR, Block, Operand, Statement
from autodiff_hook.transform.improve.shortcuts import LOOKUPS, declared


def look_up_once(ir: IR) -> None:
    """Let what is looked up in each iteration of a loop be looked up before it, and in each block once."""
    do_once(ir, lambda s: (s.callee, *s.operands[1:]) if _is_lookup(s) else None)


def do_once(ir: IR, key: Callable[[Statement], Any]) -> None:
    """Do what has a key, which may be done at any time, before loops that do not make its operands; in a block once."""
    if all(key(s) is None for s in statements_of(ir.blocks)):
        return
    incoming = predecessors(ir)
    for loop in reversed(natural_loops(ir)):
        before = [block for block, _ in incoming[loop.header] if block not in loop.body]
        if len(before) != 1 or before[0].terminator.kind != "jump":
            continue
        inside = defined_in(loop.body)
        for block in loop.body:
            moved = [s for s in block.statements if key(s) is not None and inside.isdisjoint(s.operands)]
            before[0].statements += moved
            block.statements = [s for s in block.statements if s not in moved]
    known: dict[Operand, Operand] = {}
    for block in ir.blocks:
        share(block, key, known)
    substitute(ir.blocks, known)


def sink(ir: IR, again: Container[Statement]) -> None:
    """Move lookups, and what is done ``again``, to the last block on all ways to their uses, in the same loops."""
    homes = [(s, block) for block in ir.blocks for s in block.statements if s in again or _is_lookup(s)]
    if not homes:
        return
    immediate, loops = dominators(ir), natural_loops(ir)
    around = {block: {id(loop) for loop in loops if block in loop.body} for block in ir.blocks}
    home = places_of(ir.blocks)
    users, ends = _uses(ir)
    for s, start in reversed(homes):
        used = [home[user] for user in users.get(s.result, ())] + ends.get(s.result, [])  # type: ignore[arg-type]
        target = reduce(lambda a, b: _common(immediate, a, b), used or [start])
        while around[target] != around[start]:
            target = immediate[target]
        if target is not start:
            start.statements.remove(s)
            target.statements.insert(0, s)
            home[s] = target


def _is_lookup(s: Statement) -> bool:
    return s.result is not None and declared(LOOKUPS, s.callee)


def _uses(ir: IR) -> tuple[dict[Operand, list[Statement]], dict[Operand, list[Block]]]:
    """The statements that use operands, and the blocks at whose ends they are used."""
    users: dict[Operand, list[Statement]] = {}
    ends: dict[Operand, list[Block]] = {}
    for block in ir.blocks:
        for s in block.statements:
            for x in s.operands:
                users.setdefault(x, []).append(s)
        for x in passed_on(block):
            ends.setdefault(x, []).append(block)
    return users, ends


def _common(immediate: dict[Block, Block], a: Block, b: Block) -> Block:
    """The last block that is passed on all ways to two blocks."""
    before_a = closure([a], lambda block: [immediate[block]])
    while b not in before_a:
        b = immediate[b]
    return b
