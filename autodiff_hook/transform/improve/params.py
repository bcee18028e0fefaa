"""Parameters of blocks that only ever have one value."""

from __future__ import annotations

from collections.abc import Collection

from autodiff_hook.ir.analysis import predecessors
from autodiff_hook.ir.substituting import substitute
from autodiff_hook.ir.types import IR, Block, Constant, Edge, Operand, Variable


def drop_params(ir: IR, kept: Block, more: Collection[Operand] = ()) -> dict[Operand, Operand]:
    """Replace parameters that are bound to one value, or to themselves in a loop; not those of ``kept``, nor ``more``.

    What they are replaced by is returned.
    """
    replaced: dict[Operand, Operand] = {}
    while True:
        incoming = predecessors(ir)
        found: dict[Operand, Operand] = {}
        for block in ir.blocks[1:]:
            if block is kept:
                continue
            edges = [edge for _, edge in incoming[block]]
            for param in list(block.params):
                value = None if param in more else _only_value(param, block, edges, found)
                if value is not None:
                    _drop(param, block, edges)
                    found[param] = value
        if not found:
            return replaced
        substitute(ir.blocks, found)
        replaced |= found


def _only_value(param: Variable, block: Block, edges: list[Edge], found: dict[Operand, Operand]) -> Operand | None:
    places = [block.params.index(param) - len(block.params) + len(edge.args) for edge in edges]
    if not edges or min(places) < 0:
        return None
    values = [edge.args[place] for edge, place in zip(edges, places)]
    values = [x for x in values if x is not param]
    first = values[0] if values else None
    if first is None or first in found or not all(_is_same(x, first) for x in values):
        return None
    return first


def _is_same(a: Operand, b: Operand) -> bool:
    if isinstance(a, Constant) and isinstance(b, Constant):
        x, y = a.value, b.value
        return x is y or (type(x) is type(y) and type(x) in (float, int) and repr(x) == repr(y))
    return a is b


def _drop(param: Variable, block: Block, edges: list[Edge]) -> None:
    place = block.params.index(param) - len(block.params)
    for edge in edges:
        del edge.args[place]
    block.params.remove(param)
