"""Loops over items and their counts, of which nobody reads the counts: loops over the items."""

from __future__ import annotations

from autodiff_hook.ir.analysis import predecessors
from autodiff_hook.ir.types import IR, Block, Operand, Statement, Variable
from autodiff_hook.transform.improve.pairs import calls


def drop_counts(ir: IR) -> None:
    """Iterate over what ``enumerate`` is given where the counts are not read."""
    made: dict[Operand, Statement] = {
        s.made: s for block in ir.blocks for s in block.statements if s.result is not None
    }
    numbered = {x: s for x, s in made.items() if calls(s, enumerate) and len(s.operands) == 2}
    if not numbered:
        return
    incoming, users = predecessors(ir), _users(ir)
    dropped = set[Statement]()
    for header in ir.blocks:
        iterator = made.get(header.terminator.operands[0]) if header.terminator.kind == "next" else None
        s = numbered.get(iterator.operands[0]) if iterator is not None and iterator.op == "get_iter" else None
        if iterator is None or s is None or any(len(users[x]) != 1 for x in (s.made, iterator.made)):
            continue
        body = header.terminator.edges[0].target
        taken = _taken(body, users) if len(incoming[body]) == 1 and len(body.params) == 1 else None
        if taken is not None:
            unpack, project = taken
            body.params = [project.made]
            iterator.operands = [s.operands[1]]
            dropped |= {s, unpack, project}
    for block in ir.blocks:
        block.statements = [s for s in block.statements if s not in dropped]


def _taken(body: Block, users: dict[Operand, list[object]]) -> tuple[Statement, Statement] | None:
    """What unpacks the pairs of counts and items, and what takes the items, if nothing else reads the pairs."""
    parts = _only(users.get(body.params[0], []), "unpack")
    item = _only(users.get(parts.made, []), "project") if parts is not None else None
    return (parts, item) if parts is not None and item is not None and item.data == 1 else None


def _only(reading: list[object], op: str) -> Statement | None:
    s = reading[0] if len(reading) == 1 else None
    return s if isinstance(s, Statement) and s.op == op else None


def _users(ir: IR) -> dict[Operand, list[object]]:
    """The statements and terminators that read variables."""
    users: dict[Operand, list[object]] = {}
    for block in ir.blocks:
        passed = [x for edge in block.edges() for x in edge.args]
        for x in (*block.terminator.operands, *passed):
            if isinstance(x, Variable):
                users.setdefault(x, []).append(block.terminator)
        for s in block.statements:
            for x in s.operands:
                if isinstance(x, Variable):
                    users.setdefault(x, []).append(s)
    return users
