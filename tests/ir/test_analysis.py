from __future__ import annotations

import random

from autodiff_hook.ir.analysis import dominates, dominators, natural_loops, predecessors, reverse_postorder
from autodiff_hook.ir.types import IR, Block, Constant, Edge, Signature, Terminator


def graph(edges: dict[int, list[int]]) -> tuple[IR, list[Block]]:
    """Blocks numbered from 0, ending in jump, branch or return according to the number of successors."""
    blocks = [Block() for _ in edges]
    for i, targets in edges.items():
        made = [Edge(blocks[t]) for t in targets]
        operands = [Constant(None)] if len(targets) != 1 else []
        blocks[i].terminator = Terminator(("return", "jump", "branch")[len(targets)], operands, made)  # type: ignore[arg-type]
    return IR("f", Signature(), blocks=blocks), blocks


def test_nested_loops() -> None:
    ir, b = graph({0: [1], 1: [2, 5], 2: [3, 4], 3: [2], 4: [1], 5: []})
    outer, inner = natural_loops(ir)
    assert outer.header is b[1] and outer.body == {b[1], b[2], b[3], b[4]} and outer.latches == [b[4]]
    assert [(s, e.target) for s, e in outer.exits] == [(b[1], b[5])]
    assert inner.header is b[2] and inner.body == {b[2], b[3]}
    assert [(s, e.target) for s, e in inner.exits] == [(b[2], b[4])]


def test_dominators_of_a_diamond() -> None:
    ir, b = graph({0: [1, 2], 1: [3], 2: [3], 3: []})
    idom = dominators(ir)
    assert [idom[x] for x in b] == [b[0]] * 4
    assert dominates(idom, b[0], b[3]) and not dominates(idom, b[1], b[3])


def reached(edges: dict[int, list[int]], without: int | None = None) -> set[int]:
    """What is reached from the first block, not by way of another one."""
    seen: set[int] = set()
    waiting = [0] if without != 0 else []
    while waiting:
        number = waiting.pop()
        if number not in seen and number != without:
            seen.add(number)
            waiting += edges[number]
    return seen


def test_dominators_are_what_every_way_passes() -> None:
    draw = random.Random(5)
    for _ in range(300):
        count = draw.randint(2, 9)
        edges = {i: [draw.randrange(1, count) for _ in range(draw.randint(0, 2))] for i in range(count)}
        ir, b = graph(edges)
        idom = dominators(ir)
        assert {b.index(x) for x in idom} == reached(edges)
        for one in reached(edges):
            gone = reached(edges) - reached(edges, one)
            assert {other for other in reached(edges) if dominates(idom, b[one], b[other])} == gone


def test_the_common_dominator_of_a_long_chain() -> None:
    count = 3000
    edges = {i: [i + 1, count] for i in range(count - 1)} | {count - 1: [count], count: []}
    ir, b = graph(edges)
    idom = dominators(ir)
    assert idom[b[count]] is b[0] and idom[b[count - 1]] is b[count - 2]


def test_an_irreducible_cycle_is_no_natural_loop() -> None:
    ir, _ = graph({0: [1, 2], 1: [2, 3], 2: [1, 3], 3: []})
    assert natural_loops(ir) == []


def test_unreachable_blocks_are_left_out() -> None:
    ir, b = graph({0: [1], 1: [], 2: [1]})
    assert reverse_postorder(ir) == [b[0], b[1]]
    assert [source for source, _ in predecessors(ir)[b[1]]] == [b[0], b[2]]
