"""Loops that leave records, and the loops of the adjoint over these."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from autodiff_hook import budget
from autodiff_hook.ir.analysis import (
    Loop,
    definitions,
    dominates,
    dominators,
    homes_of,
    natural_loops,
    predecessors,
    statements_of,
)
from autodiff_hook.ir.types import IR, Block, Constant, Operand, Statement, Variable

SOURCES: Final = (range, enumerate, zip)
"""What makes something that can be iterated over once more."""


class Pair(NamedTuple):
    """A loop whose iterations leave records, and the loop over these."""

    before: Block
    header: Block
    body: Block
    """Where an iteration begins."""
    latch: Block
    """Where it ends."""
    region: list[Block]
    """All blocks of an iteration."""
    source: list[Statement]
    """What makes that which is iterated over, unless that is there."""
    setup: Block
    """The block before the loop over the records."""
    turned: Statement
    """What turns the records round there."""
    step: Block
    """Where an iteration of the adjoint begins."""
    kept: list[Operand]
    """What the adjoint reads of an iteration."""


class Pairs:
    """Where the loops of ``ir`` are, and those over their records.

    What ``is_steady`` is nothing that the program changes. ``lasts`` says whether the statement that has made a value
    has read of a list or a dict what is there to the end.
    """

    def __init__(
        self, ir: IR, is_steady: Callable[[Operand], bool], lasts: Callable[[Variable, Operand], bool]
    ) -> None:
        budget.check()
        self.ir, self.is_steady, self.lasts = ir, is_steady, lasts
        self.incoming, self.dominators, self.loops = predecessors(ir), dominators(ir), natural_loops(ir)
        self.loops_of: dict[Block, list[Loop]] = {block: [] for block in ir.blocks}
        for loop in self.loops:
            for block in loop.body:
                self.loops_of[block].append(loop)
        self.home, self.made = homes_of(ir.blocks), definitions(statements_of(ir.blocks))
        self.records: dict[object, tuple[Statement, Block]] = {}
        self.recalls: dict[object, list[tuple[Statement, Block]]] = {}
        for block in ir.blocks:
            for s in block.statements:
                if s.op == "record":
                    self.records[s.data[0]] = s, block
                elif s.op == "recall":
                    self.recalls.setdefault(s.data[0], []).append((s, block))
        self.uses = Counter(x for block in ir.blocks for x in self.read_in(block))

    def read_in(self, block: Block) -> Iterator[Operand]:
        """What a block reads; of records, what is recalled."""
        for s in block.statements:
            if s.op == "record":
                yield s.operands[0]
                yield from (s.operands[1 + i] for i in {r.data[1] for r, _ in self.recalls.get(s.data[0], ())})
            else:
                yield from s.operands
        yield from block.terminator.operands
        yield from (x for edge in block.edges() for x in edge.args)

    def pair_of(self, loop: object) -> Pair | None:
        """The two loops, if only the headers leave them."""
        record, latch = self.records[loop]
        steps = {block for _, block in self.recalls.get(loop, ())}
        if len(steps) != 1 or latch.terminator.kind != "jump":
            return None
        (step,), header = steps, latch.terminator.edges[0].target
        region = self._region(header)
        before = [block for block, _ in self.incoming[header] if block is not latch]
        heads = [block for block, _ in self.incoming[step]]
        if region is None or header.statements or len(before) != 1 or len(heads) != 1:
            return None
        source, turned = self._source(header, before[0]), self.iterated(heads[0])
        if source is None or turned is None or turned not in self.made or not _iterates(heads[0], step):
            return None
        made = self.made[turned]
        if not calls(made, reversed) or self.uses[turned] != 1 or made.operands[1] is not self._list(record):
            return None
        kept = [record.operands[1 + i] for i in dict.fromkeys(s.data[1] for s, _ in self.recalls[loop])]
        body, setup = header.terminator.edges[0].target, self.home[turned]
        return Pair(before[0], header, body, latch, region, source, setup, made, step, kept)

    def _region(self, header: Block) -> list[Block] | None:
        """The blocks of an iteration, if each begins and ends in one place."""
        loop = next((loop for loop in self.loops if loop.header is header), None)
        if loop is None or len(loop.latches) != 1 or any(block is not header for block, _ in loop.exits):
            return None
        region = [block for block in self.ir.blocks if block in loop.body and block is not header]
        entry = header.terminator.edges[0].target
        sure = entry in region and len(self.incoming[entry]) == 1 and _iterates(header, entry)
        return region if sure and not any(block.handler for block in region) else None

    def iterated(self, header: Block) -> Operand | None:
        iterator = self.made.get(header.terminator.operands[0]) if header.terminator.kind == "next" else None
        known = iterator is not None and iterator.op == "get_iter" and self.uses[iterator.made] == 1
        return iterator.operands[0] if iterator is not None and known else None

    def _source(self, header: Block, before: Block) -> list[Statement] | None:
        """The statements that make what a loop iterates over, the last one last; None if they are not known."""
        found: list[Statement] = []
        source, read = self.iterated(header), header.terminator.operands[:1]
        while source is not None and not self._stays_in(source, read[0]):
            s = self.made.get(source)
            if s is None or not calls(s, *SOURCES) or self.uses[source] != 1 or self.home[source] is not before:
                return None
            found.insert(0, s)
            unknown = [x for x in s.operands[1:] if not self._stays_in(x, source)]
            if len(unknown) > 1:
                return None
            if not unknown:
                return found
            source, read = unknown[0], [source]
        return found if source is not None else None

    def _stays_in(self, x: Operand, read: Operand) -> bool:
        """Whether what is iterated over, by what has been made of it, is the same to the end."""
        return self.is_steady(x) or isinstance(read, Variable) and self.lasts(read, x)

    def _list(self, record: Statement) -> Operand | None:
        """The list of records as the adjoint has it."""
        records = record.operands[0]
        if self.uses[records] != 2:
            return None
        found = [
            recall.made
            for loop, (outer, _) in self.records.items()
            for recall, _ in self.recalls.get(loop, ())
            if outer.operands[1 + recall.data[1]] is records
        ]
        if not found:
            return records
        return found[0] if len(found) == 1 and self.uses[found[0]] == 1 else None

    def is_there(self, x: Operand, target: Block, reader: Block) -> bool:
        """Whether a block has a value as a block of the primal has it: behind a loop only the last one is there."""
        if isinstance(x, Constant) or x not in self.home:
            return isinstance(x, Constant)
        home = self.home[x]
        return all(target in loop.body for loop in self._shared(home, reader)) and dominates(
            self.dominators, home, target
        )

    def _shared(self, a: Block, b: Block) -> list[Loop]:
        """The loops around two blocks, the innermost last."""
        return [loop for loop in self.loops_of[a] if b in loop.body]

    def keeper(self, x: Operand, target: Block, reader: Block) -> object | None:
        """The loop whose records may keep for a block of its adjoint what a block of the primal reads."""
        shared = self._shared(self.home[x], reader) if x in self.home else []
        for loop, (_, latch) in self.records.items() if shared else ():
            if self.around(latch) is not shared[-1] or not dominates(self.dominators, self.home[x], latch):
                continue
            steps = {block for _, block in self.recalls.get(loop, ())}
            if len(steps) == 1 and all(dominates(self.dominators, step, target) for step in steps):
                return loop
        return None

    def around(self, block: Block) -> Loop | None:
        """The innermost loop around a block."""
        return self.loops_of[block][-1] if self.loops_of[block] else None

    def is_certain(self, x: Block, y: Block) -> bool:
        """Whether a block of the adjoint is passed for each time that one of the primal is, if nothing raises."""
        first, second = self.around(x), self.around(y)
        if first is None or second is None or first is second:
            return first is second and not self._avoids(x, y, first)
        if any(block is not first.header for block, _ in first.exits):
            return False
        latches = {latch for _, latch in self.records.values() if latch in first.latches}
        steps = {
            b for s, latch in self.records.values() if latch in latches for _, b in self.recalls.get(s.data[0], ())
        }
        outside = [[b for b, _ in self.incoming[each.header] if b not in each.body] for each in (first, second)]
        if len(steps) != 1 or not steps <= second.body or any(len(blocks) != 1 for blocks in outside):
            return False
        (step,) = steps
        return not self._avoids(step, y, second) and self.is_certain(outside[0][0], outside[1][0])

    def _avoids(self, start: Block, target: Block, loop: Loop | None) -> bool:
        """Whether a way from one block leads past another to the end, or to the next iteration of a loop."""
        seen, pending = {start}, [start]
        while pending:
            block = pending.pop()
            if block is target:
                continue
            edges = list(block.edges())
            if not edges:
                return True
            for edge in edges:
                if loop is not None and (edge.target is loop.header or edge.target not in loop.body):
                    return True
                if edge.target not in seen:
                    seen.add(edge.target)
                    pending.append(edge.target)
        return False


def _iterates(header: Block, body: Block) -> bool:
    """Whether a block is entered with the next item by a header, and by nothing else."""
    terminator = header.terminator
    if terminator.kind != "next" or terminator.edges[0].target is not body:
        return False
    return len(body.params) == 1 and body.handler is None


def calls(s: Statement, *functions: Any) -> bool:
    return not s.data and any(s.callee is f for f in functions)
