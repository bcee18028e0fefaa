"""What stands in the place of operands that have been found to be others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from autodiff_hook.ir.types import Block, Constant, Edge, Operand, Statement, Terminator, Variable


def resolve(operand: Operand, known: Mapping[Any, Operand]) -> Operand:
    """What an operand has been found to be."""
    while operand in known:
        operand = known[operand]
    return operand


def substitute(blocks: Iterable[Block], mapping: Mapping[Any, Operand]) -> None:
    """Replace operands everywhere in ``blocks``."""
    if not mapping:
        return
    is_free = mapping.keys().isdisjoint
    for block in blocks:
        for statement in block.statements:
            if not is_free(statement.operands):
                statement.operands = [resolve(x, mapping) for x in statement.operands]
        block.terminator.operands = [resolve(x, mapping) for x in block.terminator.operands]
        for edge in block.edges():
            edge.args = [resolve(x, mapping) for x in edge.args]


def share(
    block: Block,
    key: Callable[[Statement], Any],
    known: dict[Operand, Operand],
    may_go: Callable[[Statement], bool] = lambda s: True,
) -> None:
    """Of the statements of a block that have one key leave the first alone: ``known`` gets what stands for the others.

    All are asked for their key in their order, with operands as they are known to be; those without one stay.
    """
    seen: dict[Any, Operand] = {}
    kept = []
    for s in block.statements:
        s.operands = [resolve(x, known) for x in s.operands]
        name = key(s)
        if name is not None and s.result is not None and seen.setdefault(name, s.result) is not s.result and may_go(s):
            known[s.result] = seen[name]
        else:
            kept.append(s)
    block.statements = kept


def key_of(operand: Operand) -> Any:
    """What is equal for the same variable, the same object, and equal texts and numbers of one type."""
    if not isinstance(operand, Constant):
        return operand
    plain = type(operand.value) in (int, float, str)
    return (type(operand.value), repr(operand.value)) if plain else ("object", id(operand.value))


def go_on_at(rest: Block, blocks: Iterable[Block]) -> None:
    """Let blocks that return go on at ``rest``, whose parameter is what they return."""
    for block in blocks:
        end = block.terminator
        if end.kind == "return":
            block.terminator = Terminator("jump", [], [Edge(rest, list(end.operands))], end.position)


def copy_blocks(blocks: Iterable[Block], names: dict[Operand, Operand]) -> dict[Block, Block]:
    """Copies of blocks, by what they are copies of; edges that lead elsewhere still do.

    ``names`` says what stands for some operands, and what makes these is left out; the new variables are added to it.
    """
    given, own = set(names), dict[Operand, Variable]()
    for block in blocks:
        own.update((param, Variable(param.name)) for param in block.params)
        for s in block.statements:
            if s.result is not None and s.result not in given:
                own[s.result] = Variable(s.result.name)
    names |= own
    known = names.get
    copies = {block: Block([own[p] for p in block.params]) for block in blocks}
    for block, new in copies.items():
        new.statements = [
            Statement(s.op, [known(x, x) for x in s.operands], own.get(s.result), s.data, s.position)  # type: ignore[arg-type]
            for s in block.statements
            if s.result not in given
        ]
        end = block.terminator
        edges = [Edge(copies.get(e.target, e.target), [known(x, x) for x in e.args]) for e in block.edges()]
        new.handler = edges.pop() if block.handler is not None else None
        new.terminator = Terminator(end.kind, [known(x, x) for x in end.operands], edges, end.position)
    return copies
