"""What of a program can carry a derivative, and how each operation is lowered.

Operations fall into three groups. *Plain* ones have no derivative and stay as they are (comparisons,
tests of identity, formatting, …). *Structural* ones (tuples taken apart and put together) are
differentiated by the adjoint pass itself. All others are *tracked*: generic code hands them to the
runtime, which looks at the actual values.

A variable is *live* if it may carry a derivative. Beside each live variable the generated forward pass
keeps its *witness*: None if this value happens to be constant, else anything.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from autodiff_hook.ir.types import HANDLER_RECEIVED, IR, RECEIVED, Block, Edge, Operand, Statement, Variable

PLAIN: Final = frozenset(
    "delete_global cell_del is is_not build_string format get_len "
    "build_class_function import_name import_from push_exc pop_exc exc_match eg_match prep_reraise_star "
    "match_mapping match_sequence aiter anext end_async_for enter_async intrinsic "
    "cleanup_throw forget".split()
)

OBSERVED: Final = frozenset({"not", "truth", "compare", "in", "not_in"})
"""Constants, but for classes that write them in Python: those may store what carries a derivative."""

BOOLEANS: Final = frozenset({"not", "truth", "compare", "in", "not_in", "is", "is_not"})
"""What gives a bool, of all that user code is likely to do; its truth needs no look."""

STRUCTURAL: Final = frozenset({"build_tuple", "project", "check", "yield"})


def is_tracked(statement: Statement, constant_global: Callable[[str], bool]) -> bool:
    """Whether the runtime has to see this statement."""
    if statement.op == "global":
        return not constant_global(str(statement.data))
    if statement.op == "make_function":
        return isinstance(statement.operands[0], Variable)
    if statement.op == "build_slice":
        return any(isinstance(part, Variable) for part in statement.operands)
    return statement.op not in PLAIN and statement.op not in STRUCTURAL


def live_variables(ir: IR, tracked: Callable[[Statement], bool], carried: bool = False) -> set[Variable]:
    """The variables that may carry a derivative, by a fixed point; if ``carried``, what is sent, too."""
    parameters = len(ir.signature.names)
    live: set[Variable] = set(ir.entry.params[:parameters])
    if carried:
        live.update(s.result for b in ir.blocks for s in b.statements if s.op == "yield" and s.result is not None)
    for block in ir.blocks:
        for edge, received in edges_with_received(block):
            if edge is not block.handler:
                live.update(edge.target.params[:received])
    changed = True
    while changed:
        before = len(live)
        for block in ir.blocks:
            _spread(block, live, tracked)
        changed = len(live) != before
    return live


def _spread(block: Block, live: set[Variable], tracked: Callable[[Statement], bool]) -> None:
    for statement in block.statements:
        if statement.result is None:
            continue
        if tracked(statement):
            live.add(statement.result)
        elif (
            statement.op in STRUCTURAL
            and statement.op != "yield"
            and any(_is_live(x, live) for x in statement.operands)
        ):
            live.add(statement.result)
    for edge, received in edges_with_received(block):
        for param, arg in zip(edge.target.params[received:], edge.args):
            if _is_live(arg, live):
                live.add(param)


def _is_live(operand: Operand, live: set[Variable]) -> bool:
    return isinstance(operand, Variable) and operand in live


def edges_with_received(block: Block) -> list[tuple[Edge, int]]:
    """The edges that leave ``block``, each with the number of parameters its target receives by itself."""
    terminator = block.terminator
    edges: list[tuple[Edge, int]] = []
    if terminator is not None:
        edges += zip(terminator.edges, RECEIVED.get(terminator.kind, ()))
    if block.handler is not None:
        edges.append((block.handler, HANDLER_RECEIVED))
    return edges
