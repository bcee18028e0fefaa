"""Loops over items and their counts, of which nobody reads the counts: loops over the items."""

from __future__ import annotations

from collections import Counter

from autodiff_hook.ir.analysis import count_uses, definitions, predecessors, statements_of
from autodiff_hook.ir.types import IR, Block, Operand, Statement
from autodiff_hook.transform.improve.pairs import calls


def drop_counts(ir: IR) -> None:
    """Iterate over what ``enumerate`` is given where the counts are not read."""
    made = definitions(statements_of(ir.blocks))
    numbered = {x: s for x, s in made.items() if calls(s, enumerate) and len(s.operands) == 2}
    if not numbered:
        return
    incoming, uses = predecessors(ir), count_uses(ir.blocks)
    dropped = set[Statement]()
    for header in ir.blocks:
        iterator = made.get(header.terminator.operands[0]) if header.terminator.kind == "next" else None
        s = numbered.get(iterator.operands[0]) if iterator is not None and iterator.op == "get_iter" else None
        if iterator is None or s is None or any(uses[x] != 1 for x in (s.made, iterator.made)):
            continue
        body = header.terminator.edges[0].target
        taken = _taken(body, uses) if len(incoming[body]) == 1 and len(body.params) == 1 else None
        if taken is not None:
            unpack, project = taken
            body.params = [project.made]
            iterator.operands = [s.operands[1]]
            dropped |= {s, unpack, project}
    for block in ir.blocks:
        block.statements = [s for s in block.statements if s not in dropped]


def _taken(body: Block, uses: Counter[Operand]) -> tuple[Statement, Statement] | None:
    """What unpacks the pairs of counts and items, and what takes the items, if nothing else reads the pairs."""
    parts = _only(body, body.params[0], uses, "unpack")
    item = _only(body, parts.made, uses, "project") if parts is not None else None
    return (parts, item) if parts is not None and item is not None and item.data == 1 else None


def _only(body: Block, x: Operand, uses: Counter[Operand], op: str) -> Statement | None:
    """The statement of this kind in the body that alone reads an operand."""
    return next((s for s in body.statements if s.op == op and x in s.operands and uses[x] == 1), None)
