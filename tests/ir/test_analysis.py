from __future__ import annotations

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


def test_an_irreducible_cycle_is_no_natural_loop() -> None:
    ir, _ = graph({0: [1, 2], 1: [2, 3], 2: [1, 3], 3: []})
    assert natural_loops(ir) == []


def test_unreachable_blocks_are_left_out() -> None:
    ir, b = graph({0: [1], 1: [], 2: [1]})
    assert reverse_postorder(ir) == [b[0], b[1]]
    assert [source for source, _ in predecessors(ir)[b[1]]] == [b[0], b[2]]
