"""What stands in the place of operands that have been found to be others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from autodiff_hook.ir.types import Block, Operand


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
