"""``emit``: the passes in order, and the order of the segments in the code."""

from __future__ import annotations

from collections.abc import Container
from types import CodeType

from autodiff_hook.emit import versions
from autodiff_hook.emit.assemble import Assembler
from autodiff_hook.emit.borrow import borrow
from autodiff_hook.emit.graph import Graph
from autodiff_hook.emit.items import CellVar, Segment
from autodiff_hook.emit.linear import fuse_locals, linear
from autodiff_hook.emit.lower import Lowering, improve
from autodiff_hook.emit.slots import Liveness, Slots
from autodiff_hook.emit.weave import Weaver
from autodiff_hook.ir.analysis import postorder
from autodiff_hook.ir.types import IR, Variable


def emit(ir: IR, release: bool = False, small: Container[Variable] = (), lifetimes: bool = False) -> CodeType:
    """Code that does what ``ir`` says; with ``release`` a local forgets its value after its last use.

    What is ``small`` (numbers, say) stays until the local is used again: forgetting costs more. With ``lifetimes``
    what the user has named lives as long as the user's variable does, and anything else to its last use.
    """
    graph = Graph(ir)
    segments = Weaver(graph, keep=not release).weave()
    ir = graph.ir
    params = dict(zip(ir.entry.params, ir.signature.names))
    liveness = Liveness(segments, graph.cells)
    cells = [cell.name for cell in graph.cells.values() if isinstance(cell, CellVar)]
    slots = Slots(segments, liveness, params, _reserved(ir, cells), keep=not release)
    if release:
        released = [v for v in liveness.variables if v not in small]
    else:
        released = _exceptions(graph)
        if lifetimes:
            # Variables without a name end where they are used last.
            released += [v for v in liveness.variables if v.name is None]
    lowering = Lowering(slots, liveness, graph.cells, released, keep=not release)
    order = layout(segments)
    dying = liveness.dying(order)
    lowered = {segment: lowering.lower(segment, dying[segment]) for segment in order}
    code = improve(list(linear(order, lowered)))
    if versions.FUSED_LOCALS:
        code = fuse_locals(code)
    if versions.BORROWED_LOADS:
        code = borrow(code)
    names = slots.names({*cells, *ir.free_names})
    handlers = {handler for segment in order for handler in segment.handlers}
    return Assembler(ir, names, cells, handlers).assemble(code)


def _exceptions(graph: Graph) -> list[Variable]:
    """Variables that hold exceptions: a frame that kept them would be part of a cycle."""
    found = [chain.caught for chain in graph.chains if chain.caught is not None]
    for chain in graph.chains:
        found += [step.results[0] for step in chain.steps if step.op == "push_exc" and step.results]
    return found


def _reserved(ir: IR, cells: list[str]) -> set[int]:
    """Slots that must keep their parameter: it became a cell, or ``super()`` looks for it there."""
    reserved = {i for i, name in enumerate(ir.signature.names) if name in cells}
    return reserved | {0} if "__class__" in ir.free_names and ir.signature.names else reserved


def layout(segments: list[Segment]) -> list[Segment]:
    """Loops contiguous and followed by what they leave to; what only exceptions reach comes last."""
    seen: set[Segment] = set()
    hot = _ordered([segments[0]], seen)
    cold: list[Segment] = []
    pending = hot
    while pending:
        handlers = [h for s in pending for h in s.handlers if h not in seen]
        pending = _ordered(handlers, seen)
        cold += pending
    return hot + cold


def _ordered(roots: list[Segment], seen: set[Segment]) -> list[Segment]:
    """Reverse postorder; of two successors the one in fewer loops, or later in the source, comes later."""
    return postorder(reversed(roots), _targets, seen)[::-1]


def _targets(segment: Segment) -> list[Segment]:
    return sorted(segment.exit.targets, key=lambda s: (s.nesting, -s.rank))
