"""What is used up by an iteration: how far one has come is not followed, so there is only one, over all of it."""

from __future__ import annotations

from collections.abc import Mapping

from autodiff_hook.ir.analysis import Loop, passed_on
from autodiff_hook.ir.types import Block, Operand
from autodiff_hook.transform.specialise.abstract import (
    Iterator,
)
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.lattice import (
    differentiable,
)


def require_once(blocks: list[Block], loops_of: Mapping[Block, list[Loop]], inference: Inference) -> None:
    """``Refused`` if an iterator is used twice."""
    program = inference.program
    homes: dict[Operand, Block] = {}
    for block in blocks:
        for s in block.statements:
            kind = program.type_of(s.result) if s.result is not None else None
            if s.result is not None and s.op == "call" and isinstance(kind, Iterator) and differentiable(kind):
                homes[s.result] = block
    if not homes:
        return
    used: set[Operand] = set()
    for block in blocks:
        for s in block.statements:
            for x in s.operands:
                if x in homes:
                    if x in used or loops_of[homes[x]] != loops_of[block]:
                        raise Refused("an iterator is used more than once", s)
                    used.add(x)
        given = passed_on(block)
        if not homes.keys().isdisjoint(given):
            raise Refused("an iterator has several names")
