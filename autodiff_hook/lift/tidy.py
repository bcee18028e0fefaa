"""What is left to do when the SSA form is complete: unreachable blocks, needless blocks, needless parameters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from autodiff_hook.ir.analysis import closure, reachable, statements_of
from autodiff_hook.ir.substituting import substitute
from autodiff_hook.ir.types import (
    CANNOT_RAISE,
    HANDLER_RECEIVED,
    RECEIVED,
    TERMINATORS_THAT_RAISE,
    Block,
    Edge,
    Operand,
)


def tidy(blocks: list[Block], offset_of: Mapping[Block, int]) -> list[Block]:
    """The reachable blocks in the order of the code, as few as possible; the first stays the first."""
    kept = reachable(sorted(blocks, key=offset_of.__getitem__))
    _drop_parameters(kept)
    for block in kept:
        _bypass_empty(block)
    return _merge(reachable(kept))


def _edges(blocks: Iterable[Block]) -> Iterable[tuple[Edge, int]]:
    """All edges, and how many parameters the target of each receives by itself."""
    for block in blocks:
        received = RECEIVED.get(block.terminator.kind, ())
        yield from zip(block.terminator.edges, received, strict=True)
        if block.handler is not None:
            yield block.handler, HANDLER_RECEIVED


def _drop_parameters(blocks: list[Block]) -> None:
    """Remove block parameters that no statement and no terminator needs, not even through other parameters."""
    sources: dict[Operand, list[Operand]] = {}
    received: set[Operand] = set(blocks[0].params)
    for edge, count in _edges(blocks):
        received.update(edge.target.params[:count])
        for param, arg in zip(edge.target.params[count:], edge.args, strict=True):
            sources.setdefault(param, []).append(arg)
    used: list[Operand] = [x for s in statements_of(blocks) for x in s.operands]
    used += [x for block in blocks for x in block.terminator.operands]
    needed = received.union(closure(used, lambda x: sources.get(x, ()), received))
    for edge, count in _edges(blocks):
        bound = zip(edge.target.params[count:], edge.args, strict=True)
        edge.args = [arg for param, arg in bound if param in needed]
    for block in blocks:
        block.params = [x for x in block.params if x in needed]


def _bypass_empty(block: Block) -> None:
    """Lead edges past blocks that only jump, unless two edges to one block would result."""
    for edge in block.edges():
        passed = {edge.target}
        while (onward := _only_edge(edge.target)) is not None and not _does_anything(edge.target):
            if onward.target in passed or any(x.target is onward.target for x in block.edges()):
                break
            passed.add(onward.target)
            edge.target, edge.args = onward.target, list(onward.args)


def _does_anything(block: Block) -> bool:
    return bool(block.params or block.statements or block.handler)


def _merge(blocks: list[Block]) -> list[Block]:
    """Append to each block that jumps to a block with no other predecessor that block."""
    incoming = Counter(edge.target for edge, _ in _edges(blocks))
    replaced: dict[Operand, Operand] = {}
    merged: set[Block] = set()
    for block in blocks:
        while block not in merged and (edge := _only_edge(block)) is not None:
            if incoming[edge.target] > 1 or not _can_absorb(block, edge.target):
                break
            replaced.update(zip(edge.target.params, edge.args, strict=True))
            _absorb(block, edge.target)
            merged.add(edge.target)
    kept = [x for x in blocks if x not in merged]
    substitute(kept, replaced)
    return kept


def _only_edge(block: Block) -> Edge | None:
    return block.terminator.edges[0] if block.terminator.kind == "jump" else None


def _can_absorb(block: Block, following: Block) -> bool:
    """Whether one exception edge can serve both blocks."""
    if following is block:
        return False
    if block.handler is not None:
        plain = not following.statements and following.terminator.kind not in TERMINATORS_THAT_RAISE
        return plain and following.handler is None
    return following.handler is None or all(x.op in CANNOT_RAISE for x in block.statements)


def _absorb(block: Block, following: Block) -> None:
    block.statements += following.statements
    block.terminator = following.terminator
    block.handler = block.handler or following.handler
