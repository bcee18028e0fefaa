"""Facts about the control-flow graph of an IR; exception edges count as edges."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from autodiff_hook.ir.types import HANDLER_RECEIVED, IR, RECEIVED, Block, Edge, Operand, Variable

T = TypeVar("T")


def predecessors(ir: IR) -> dict[Block, list[tuple[Block, Edge]]]:
    """The edges into each block, with the blocks they leave."""
    result: dict[Block, list[tuple[Block, Edge]]] = {block: [] for block in ir.blocks}
    for block in ir.blocks:
        for edge in block.edges():
            result.setdefault(edge.target, []).append((block, edge))
    return result


def edges_with_received(block: Block) -> list[tuple[Edge, int]]:
    """The edges that leave ``block``, each with the number of parameters its target receives by itself."""
    edges = list(zip(block.terminator.edges, RECEIVED.get(block.terminator.kind, ())))
    if block.handler is not None:
        edges.append((block.handler, HANDLER_RECEIVED))
    return edges


def used_operands(blocks: Iterable[Block]) -> dict[Operand, None]:
    """What statements, terminators and edges read, in their order."""
    used: dict[Operand, None] = {}
    for block in blocks:
        used.update(dict.fromkeys(x for s in block.statements for x in s.operands))
        used.update(dict.fromkeys(block.terminator.operands))
        used.update(dict.fromkeys(x for edge in block.edges() for x in edge.args))
    return used


def free_variables(blocks: list[Block]) -> list[Variable]:
    """The variables that some blocks read and do not define, in their order."""
    defined = {p for b in blocks for p in b.params} | {s.result for b in blocks for s in b.statements}
    return [x for x in used_operands(blocks) if isinstance(x, Variable) and x not in defined]


def postorder(roots: Iterable[T], successors: Callable[[T], Iterable[T]], seen: set[T] | None = None) -> list[T]:
    """What can be reached from the roots and was not ``seen``, each behind its successors except along back edges."""
    order: list[T] = []
    seen = set() if seen is None else seen
    for root in roots:
        stack = [] if root in seen else [(root, iter(successors(root)))]
        seen.add(root)
        while stack:
            node, rest = stack[-1]
            for following in rest:
                if following not in seen:
                    seen.add(following)
                    stack.append((following, iter(successors(following))))
                    break
            else:
                order.append(node)
                stack.pop()
    return order


def reverse_postorder(ir: IR) -> list[Block]:
    """The reachable blocks, each before its successors except along back edges."""
    return postorder([ir.entry], lambda block: [edge.target for edge in block.edges()][::-1])[::-1]


def dominators(ir: IR, order: list[Block] | None = None) -> dict[Block, Block]:
    """The immediate dominator of each reachable block (the entry's is itself); Cooper, Harvey, Kennedy."""
    order = order or reverse_postorder(ir)
    index = {block: i for i, block in enumerate(order)}
    incoming: list[list[int]] = [[] for _ in order]
    for i, block in enumerate(order):
        for edge in block.edges():
            incoming[index[edge.target]].append(i)
    idom: list[int] = [-1] * len(order)
    idom[0] = 0
    changed = True
    while changed:
        changed = False
        for i in range(1, len(order)):
            new = _common(idom, [p for p in incoming[i] if idom[p] >= 0])
            if idom[i] != new:
                idom[i] = new
                changed = True
    return {order[i]: order[d] for i, d in enumerate(idom)}


def _common(idom: list[int], blocks: list[int]) -> int:
    """The closest common dominator of some blocks; the way up from each is followed to where another came by."""
    found, *others = blocks
    above = {found}
    for block in others:
        while block not in above:
            if block > found:
                above.add(block)
                block = idom[block]
            else:
                found = idom[found]
                above.add(found)
    return found


def dominates(idom: dict[Block, Block], a: Block, b: Block) -> bool:
    """Whether every path from the entry to ``b`` goes through ``a``."""
    while b is not a:
        if idom[b] is b:
            return False
        b = idom[b]
    return True


@dataclass(eq=False, slots=True)
class Loop:
    """A natural loop: ``header`` dominates ``body`` (which contains it); ``latches`` jump back to it."""

    header: Block
    latches: list[Block]
    body: set[Block]
    exits: list[tuple[Block, Edge]] = field(default_factory=list)


def natural_loops(ir: IR) -> list[Loop]:
    """The natural loops, one for each header, outer loops before the loops they contain."""
    order = reverse_postorder(ir)
    idom = dominators(ir, order)
    incoming: dict[Block, list[Block]] = {block: [] for block in order}
    for block in order:
        for edge in block.edges():
            incoming[edge.target].append(block)
    loops = []
    place = {block: i for i, block in enumerate(order)}
    for header in order:
        back = [b for b in dict.fromkeys(incoming[header]) if place[b] >= place[header]]
        latches = [b for b in back if dominates(idom, header, b)]
        if latches:
            body = _loop_body(header, latches, incoming)
            exits = [(b, e) for b in order if b in body for e in b.edges() if e.target not in body]
            loops.append(Loop(header, latches, body, exits))
    return loops


def _loop_body(header: Block, latches: list[Block], incoming: dict[Block, list[Block]]) -> set[Block]:
    body = {header}
    pending = list(latches)
    while pending:
        block = pending.pop()
        if block not in body:
            body.add(block)
            pending.extend(incoming[block])
    return body
