"""Exception handlers that do nothing (those of 3.12's comprehensions, once their local is gone) are passed by."""

from __future__ import annotations

from dataclasses import replace

from autodiff_hook.ir.types import HANDLER_RECEIVED, IR, Block, Edge, Operand, Terminator


def without_idle_handlers(ir: IR) -> IR:
    """The same function without handlers that only raise the exception again."""
    if not any(block.handler is not None and _is_idle(block.handler.target) for block in ir.blocks):
        return ir
    copies = {b: Block(b.params, b.statements) for b in ir.blocks}
    for block, copy in copies.items():
        terminator = block.terminator
        edges = [Edge(copies[e.target], e.args) for e in terminator.edges]
        copy.terminator = Terminator(terminator.kind, terminator.operands, edges, terminator.position)
        handler = block.handler
        while handler is not None and _is_idle(handler.target):
            handler = _handler_beyond(handler)
        copy.handler = handler and Edge(copies[handler.target], handler.args)
    return replace(ir, blocks=list(copies.values()))


def _is_idle(block: Block) -> bool:
    terminator = block.terminator
    if terminator.kind != "reraise" or block.statements:
        return False
    received = block.params[:HANDLER_RECEIVED]
    return (
        len(received) == HANDLER_RECEIVED
        and terminator.operands[0] is received[0]
        and not (
            block.handler is not None and (block.handler.target is block or set(block.handler.args) & set(received))
        )
    )


def _handler_beyond(edge: Edge) -> Edge | None:
    """Where the exception goes in the end that an idle handler raises again."""
    outer = edge.target.handler
    if outer is None:
        return None
    bound: dict[Operand, Operand] = dict(zip(edge.target.params[HANDLER_RECEIVED:], edge.args, strict=True))
    return Edge(outer.target, [bound.get(x, x) for x in outer.args])
