"""The shape of control flow that the adjoint pass expects.

One exit block; an item that ``next`` or ``send`` hands over enters a block with no other way in; a
statement with an exception edge is alone in a block with one way in; where a loop comes to the end of its
iterator, and where a handler begins, there is a statement ``exhausted``. So each transition has one
meaning backwards: over a normal edge all of the source block has happened, over an exception edge
nothing of it has.
"""

from __future__ import annotations

from autodiff_hook.ir.types import IR, RECEIVED, Block, Edge, Operand, Statement, Terminator, Variable


def normalise(ir: IR) -> Block | None:
    """Rewrite ``ir`` in place; returns the exit block, or None if the function never returns."""
    exit_block = _single_exit(ir)
    for block in list(ir.blocks):
        _isolate_received(ir, block)
        _note_exhaustion(ir, block)
    _note_arrivals(ir)
    _end_blocks_at_yields(ir)
    incoming = count_incoming(ir)
    for block in list(ir.blocks):
        if _must_be_alone(block) and (
            block is ir.entry or incoming.get(block, 0) != 1 or len(block.statements) > 1 or _both_act(block)
        ):
            _isolate_last(ir, block)
    return exit_block


def count_incoming(ir: IR) -> dict[Block, int]:
    """How many edges enter each block."""
    incoming: dict[Block, int] = {}
    for block in ir.blocks:
        for edge in block.edges():
            incoming[edge.target] = incoming.get(edge.target, 0) + 1
    return incoming


def _single_exit(ir: IR) -> Block | None:
    returning = [b for b in ir.blocks if b.terminator is not None and b.terminator.kind == "return"]
    if not returning:
        return None
    value = Variable()
    exit_block = Block(params=[value], terminator=Terminator("return", [value]))
    for block in returning:
        terminator = _terminator(block)
        block.terminator = Terminator("jump", [], [Edge(exit_block, [terminator.operands[0]])], terminator.position)
    ir.blocks.append(exit_block)
    return exit_block


def _terminator(block: Block) -> Terminator:
    assert block.terminator is not None
    return block.terminator


def _isolate_received(ir: IR, block: Block) -> None:
    terminator = _terminator(block)
    for edge, received in zip(terminator.edges, RECEIVED.get(terminator.kind, ())):
        # What a delegate yields is yielded at once: CPython looks there for whom to throw into.
        if received and (terminator.kind != "send" or edge is terminator.edges[1]):
            items: list[Operand] = [Variable() for _ in range(received)]
            landing = Block(
                params=[item for item in items if isinstance(item, Variable)],
                terminator=Terminator("jump", [], [Edge(edge.target, items + edge.args)], terminator.position),
            )
            ir.blocks.append(landing)
            edge.target, edge.args = landing, []


def _note_exhaustion(ir: IR, block: Block) -> None:
    """A statement where a loop ends: what a generator did after its last ``yield`` has happened there."""
    terminator = _terminator(block)
    if terminator.kind != "next":
        return
    edge = terminator.edges[1]
    ended = Block(
        statements=[Statement("exhausted", [terminator.operands[0]], None, None, terminator.position)],
        terminator=Terminator("jump", [], [Edge(edge.target, edge.args)], terminator.position),
    )
    ir.blocks.append(ended)
    edge.target, edge.args = ended, []


def _note_arrivals(ir: IR) -> None:
    """Likewise where a handler begins: the exception may be a ``StopIteration`` that ``next`` has raised."""
    landings: dict[Block, Block] = {}
    for block in list(ir.blocks):
        if block.handler is None:
            continue
        target = block.handler.target
        if target not in landings:
            params = [Variable(param.name) for param in target.params]
            landings[target] = Block(
                params=params,
                statements=[Statement("exhausted", [])],
                terminator=Terminator("jump", [], [Edge(target, list(params))]),
            )
            ir.blocks.append(landings[target])
        block.handler.target = landings[target]


def _end_blocks_at_yields(ir: IR) -> None:
    pending = list(ir.blocks)
    while pending:
        block = pending.pop()
        for index, statement in enumerate(block.statements[:-1]):
            if statement.op == "yield":
                rest = Block(
                    statements=block.statements[index + 1 :], terminator=block.terminator, handler=block.handler
                )
                block.statements = block.statements[: index + 1]
                block.terminator = Terminator("jump", [], [Edge(rest)], statement.position)
                ir.blocks.insert(ir.blocks.index(block) + 1, rest)
                pending.append(rest)
                break


def _must_be_alone(block: Block) -> bool:
    return block.handler is not None or any(statement.op == "yield" for statement in block.statements)


def _both_act(block: Block) -> bool:
    """Whether a guarded block has a statement and also a terminator that acts."""
    return bool(block.statements) and _terminator(block).kind not in ("jump", "branch")


def _isolate_last(ir: IR, block: Block) -> None:
    acts = _terminator(block).kind not in ("jump", "branch", "return")
    kept = len(block.statements) if acts else len(block.statements) - 1
    last = Block(statements=block.statements[max(kept, 0) :], terminator=block.terminator, handler=block.handler)
    block.statements = block.statements[: max(kept, 0)]
    block.terminator = Terminator("jump", [], [Edge(last)], _terminator(block).position)
    block.handler = None
    ir.blocks.insert(ir.blocks.index(block) + 1, last)
