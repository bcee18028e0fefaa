"""Facts about the control-flow graph of an IR; exception edges count as edges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import field
from itertools import chain
from typing import TypeVar

from autodiff_hook.ir.types import HANDLER_RECEIVED, IR, RECEIVED, Block, Edge, Operand, Statement, Variable
from autodiff_hook.records import record

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


def passed_on(block: Block) -> list[Operand]:
    """What is read where a block ends: by its terminator, and by its edges."""
    return [*block.terminator.operands, *(x for edge in block.edges() for x in edge.args)]


def statements_of(blocks: Iterable[Block]) -> Iterator[Statement]:
    """The statements of some blocks, in their order."""
    return chain.from_iterable([block.statements for block in blocks])


def definitions(statements: Iterable[Statement]) -> dict[Operand, Statement]:
    """What makes each of the values that statements make."""
    return {s.result: s for s in statements if s.result is not None}


def defined_in(blocks: Iterable[Block]) -> set[Operand]:
    """The parameters of some blocks, and what their statements make."""
    blocks = list(blocks)
    return {*chain.from_iterable([block.params for block in blocks]), *definitions(statements_of(blocks))}


def homes_of(blocks: Iterable[Block]) -> dict[Operand, Block]:
    """The block in which each value is defined, be it as a parameter."""
    return {x: block for block in blocks for x in (*block.params, *definitions(block.statements))}


def places_of(blocks: Iterable[Block]) -> dict[Statement, Block]:
    """The block that each statement is in."""
    return {s: block for block in blocks for s in block.statements}


def count_uses(blocks: Iterable[Block]) -> Counter[Operand]:
    """What some blocks read, in its order, and how often."""
    read: list[list[Operand]] = []
    for block in blocks:
        read += [s.operands for s in block.statements]
        read.append(passed_on(block))
    return Counter(chain.from_iterable(read))


def free_variables(blocks: list[Block]) -> list[Variable]:
    """The variables that some blocks read and do not define, in their order."""
    defined = defined_in(blocks)
    return [x for x in count_uses(blocks) if isinstance(x, Variable) and x not in defined]


def closure(roots: Iterable[T], following: Callable[[T], Iterable[T]], ends: Container[T] = ()) -> dict[T, None]:
    """The roots, what follows from these, and so on, but from none of the ``ends``: each once."""
    found = dict.fromkeys(roots)
    pending = [x for x in found if x not in ends]
    while pending:
        for other in following(pending.pop()):
            if other not in found:
                found[other] = None
                if other not in ends:
                    pending.append(other)
    return found


def successors(block: Block) -> list[Block]:
    """The blocks that control may come to from one."""
    return [edge.target for edge in block.edges()]


def reachable(blocks: list[Block]) -> list[Block]:
    """Those blocks that control may come to from the first, in their order."""
    found = closure(blocks[:1], successors)
    return [block for block in blocks if block in found]


def bindings(block: Block) -> Iterator[tuple[Variable, Operand]]:
    """What the edges that leave a block bind; what comes out of an iterator is bound to that."""
    terminator = block.terminator
    for edge, received in zip(terminator.edges, RECEIVED.get(terminator.kind, ())):
        yield from zip(edge.target.params, [*terminator.operands[:received], *edge.args])


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
    return postorder([ir.entry], lambda block: successors(block)[::-1])[::-1]


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


@record(eq=False)
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
            body = {header, *closure(latches, incoming.__getitem__, (header,))}
            exits = [(b, e) for b in order if b in body for e in b.edges() if e.target not in body]
            loops.append(Loop(header, latches, body, exits))
    return loops
