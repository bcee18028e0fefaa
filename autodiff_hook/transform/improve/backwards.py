"""Loops that leave no records, because the adjoint iterates over the same once more.

Where the adjoint of a loop needs of an iteration nothing but what the item and what is outside of the loop say, and
nobody reads what the loop comes to, the iterations are run in the adjoint alone, each before its own adjoint: branches
and loops within move there as they are. What may raise in an iteration has no other place to raise then, so the adjoint
has to come to all of them. Where somebody reads what the loop comes to, the adjoint takes items out of lists again.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

from autodiff_hook.ir.analysis import reverse_postorder
from autodiff_hook.ir.types import IR, Block, Constant, Edge, Operand, Statement, Terminator, Variable
from autodiff_hook.transform.improve.facts import value_of
from autodiff_hook.transform.improve.pairs import SOURCES, Pair, Pairs, calls
from autodiff_hook.transform.improve.shortcuts import MIRRORING, declared
from autodiff_hook.transform.specialise.abstract import List, Number, Optional, Record, Reference, Tuple
from autodiff_hook.transform.specialise.bodies import substitute
from autodiff_hook.transform.specialise.invariants import item_or_none

_FUNCTIONS: Final = (*SOURCES, *(abs, float, int, bool, len, min, max, bisect_left, bisect_right, item_or_none))
_OPERATIONS: Final = frozenset("binary unary compare truth not project unpack build_tuple getitem get_iter".split())
_PARTS: Final = ("getitem", "project", "call_method")
_PLACED: Final = ("getitem", "setitem")


class Backwards(Pairs):
    """Finds such loops in ``ir``.

    Copies of ``essential`` statements are essential, and what ``tables``, the types first, say of results they say of
    their copies.
    """

    def __init__(
        self, ir: IR, essential: set[Statement], tables: list[dict[Variable, Any]], is_steady: Callable[[Operand], bool]
    ) -> None:
        super().__init__(ir, is_steady)
        self.essential, self.tables = essential, tables

    def run(self) -> bool:
        """Let one loop leave no records; whether there was one."""
        for pair in filter(None, map(self.pair_of, self._outer_first())):
            if self._is_possible(pair):
                self._turn(pair)
                return True
            again = self._read_again(pair) if pair.body is pair.latch else None
            if again is not None:
                self._iterate(pair, again, set())
                return True
        return False

    def _outer_first(self) -> list[object]:
        """The loops that leave records: what an outer one comes to be, those in it are in the same iteration."""
        depth = {loop: sum(latch in each.body for each in self.loops) for loop, (_, latch) in self.records.items()}
        return sorted(self.records, key=lambda loop: depth[loop])

    # Whether it is possible

    def _is_possible(self, pair: Pair) -> bool:
        """Whether the iterations can be run in the adjoint alone."""
        record = self._record(pair)
        statements = [s for block in pair.region for s in block.statements if s is not record]
        made: set[Operand] = {s.result for s in statements if s.result is not None}
        local = made.union(*(block.params for block in pair.region))
        inside = Counter(x for block in pair.region for x in self.read_in(block))
        jumps = pair.before.terminator.kind == "jump"
        if pair.header.params or not jumps or any(self.uses[x] != inside[x] for x in local):
            return False
        # An item of a list is part of it; those of the others are made for each iteration.
        own = {*made, *pair.body.params} if pair.source else made
        if not all(self._repeats(s, own) for s in statements) or not all(_goes_on(b, own) for b in pair.region):
            return False
        if not self._has_all(pair, inside.keys() - local - {record.operands[0]}):
            return False
        return self.essential.isdisjoint([*statements, *pair.source]) or self.is_certain(pair.before, pair.setup)

    def _record(self, pair: Pair) -> Statement:
        """What a loop leaves of an iteration."""
        return next(s for s, latch in self.records.values() if latch is pair.latch)

    def _read_again(self, pair: Pair) -> list[Statement] | None:
        """What takes all that the adjoint reads out of steady lists; None if there is more to it."""
        wanted, found = set(pair.kept), list[Statement]()
        for s in reversed(pair.body.statements):
            if s.op != "record" and s.result in wanted:
                if s.op != "project" and not self._takes_items(s):
                    return None
                found.insert(0, s)
                wanted.update(s.operands)
        carried = not wanted.isdisjoint(pair.header.params)
        if carried or not all(calls(s, range) for s in pair.source):
            return None
        made = {pair.body.params[0], *(s.result for s in found)}
        read = [*pair.kept, *(x for s in found for x in s.operands)]
        return found if self._has_all(pair, {x for x in read if x not in made}) else None

    def _takes_items(self, s: Statement) -> bool:
        """Whether a statement takes items out of a steady list: a list of some would be another one each time."""
        if s.op not in ("getitem", "unpack"):
            return False
        steady = self._is_of(s.operands[0], List, Tuple) and self.is_steady(s.operands[0])
        if s.op == "getitem":
            return steady and (self._is_of(s.operands[1], Number) or type(value_of(s.operands[1])) is int)
        return steady and s.data[1] is None

    def _is_of(self, x: Operand | None, *kinds: type) -> bool:
        return isinstance(x, Variable) and isinstance(self.tables[0].get(x), kinds)

    def _has_all(self, pair: Pair, read: set[Operand]) -> bool:
        """Whether what is read in an iteration, and what is iterated over, can be had in the adjoint."""
        made = {s.result for s in pair.source}
        sources: list[Any] = [x for s in pair.source for x in s.operands] or [self.iterated(pair.header)]
        outer = [x for x in (*read, *sources) if x not in made]
        return all(self.is_there(x, pair.setup) or self.keeper(x, pair.setup) is not None for x in outer)

    def _repeats(self, s: Statement, own: set[Operand]) -> bool:
        """Whether a statement of an iteration does the same when it is done later, and changes nothing."""
        if s.op == "record" or s.op == "build_list" and not s.operands:
            # A list of records: no other list may be made, as it would end before the next one has its identity.
            return self._keeps_records(s.operands[0] if s.operands else s.result, own)
        if s.op in ("is", "is_not"):
            return True
        operands = s.operands[1:] if s.op == "call" else s.operands
        if not all(self.is_steady(x) or x in own and not self._is_part(x) for x in operands):
            return False
        if self._is_of(s.result, Reference) and not self._takes(s):
            return False
        if s.op == "call_method":
            return bool(s.data == ("item", ()))
        if s.op == "call":
            return calls(s, *_FUNCTIONS) or not s.data and _is_of_math(value_of(s.operands[0]))
        if s.op == "getattr":
            return self._is_of(s.operands[0], Record, Optional)
        return s.op in _OPERATIONS or s.op == "inplace" and self._is_of(s.result, Number)

    def _keeps_records(self, items: Operand | None, own: set[Operand]) -> bool:
        """Whether a list of an iteration is one of records."""
        return items in own and any(record.operands[0] is items for record, _ in self.records.values())

    def _takes(self, s: Statement) -> bool:
        """Whether a statement gives something that is there already, and not a slice."""
        if s.op == "getitem" or calls(s, item_or_none):
            return not isinstance(value_of(s.operands[-1]), slice)
        return s.op in ("getattr", "project")

    def _is_part(self, x: Operand) -> bool:
        """Whether a value is part of something else, which may be changed."""
        s = self.made.get(x)
        return s is not None and s.op in _PARTS

    # How it is done

    def _turn(self, pair: Pair) -> None:
        """Run the iterations in the adjoint alone: each goes on with its own adjoint."""
        # What is iterated over is made, and may raise, in the adjoint.
        made = {*pair.source, self.made[pair.header.terminator.operands[0]]}
        self._iterate_over(pair, set(self.essential))
        self.essential -= made
        local: set[Operand] = {x for block in pair.region for x in block.params}
        local.update(s.result for block in pair.region for s in block.statements if s.result is not None)
        self._recall(pair, {x: x for x in local})
        outer = {x for block in pair.region for x in self.read_in(block)} - local
        there = {x: self._at_hand(x, pair.step) for x in outer}
        substitute(pair.region, {x: y for x, y in there.items() if x is not y})
        ((_, edge),) = self.incoming[pair.step]
        edge.target, pair.step.params = pair.body, []
        pair.latch.terminator = Terminator("jump", [], [Edge(pair.step, [])])
        pair.before.terminator = Terminator("jump", [], [pair.header.terminator.edges[1]])
        self.ir.blocks = reverse_postorder(self.ir)
        self._excuse_reads(pair)

    def _iterate(self, pair: Pair, statements: list[Statement], essential: set[Statement]) -> None:
        """Let the adjoint iterate over the same as the loop, and compute in place of what it would recall."""
        self._iterate_over(pair, essential)
        known: dict[Operand, Operand] = {pair.body.params[0]: pair.step.params[0]}
        self._say(pair.body.params[0], pair.step.params[0])
        copies = [self._copy(s, known, pair.step, essential) for s in statements]
        self._recall(pair, known)
        pair.step.statements = [*copies, *pair.step.statements]

    def _iterate_over(self, pair: Pair, essential: set[Statement]) -> None:
        """Let the adjoint iterate over the same as the loop, from the last to the first."""
        known: dict[Operand, Operand] = {}
        source = [self._copy(s, known, pair.setup, essential) for s in pair.source]
        iterated = self.iterated(pair.header)
        assert iterated is not None
        iterated = known.get(iterated) or self._at_hand(iterated, pair.setup)
        if source and not calls(source[-1], range):
            source.append(Statement("call", [Constant(list), iterated], Variable("items"), ()))
            iterated = source[-1].result or iterated
        place = pair.setup.statements.index(pair.turned)
        pair.setup.statements[place:place] = source
        pair.turned.operands[1] = iterated

    def _recall(self, pair: Pair, known: dict[Operand, Operand]) -> None:
        """Let what the adjoint recalls of an iteration be what is ``known``, or at hand."""
        record = self._record(pair)
        recalls = [s for s in pair.step.statements if s.op == "recall" and s.data[0] is record.data[0]]
        mapping: dict[Operand, Operand] = {}
        for s in recalls:
            kept = record.operands[1 + s.data[1]]
            mapping[s.result] = known.get(kept) or self._at_hand(kept, pair.step)  # type: ignore[index]
        pair.step.statements = [s for s in pair.step.statements if s not in recalls]
        pair.latch.statements.remove(record)
        substitute(self.ir.blocks, mapping)

    def _excuse_reads(self, pair: Pair) -> None:
        """What nobody reads may go, if what is done with its cotangent raises where it would have raised."""
        read = {x for block in self.ir.blocks for x in self.read_in(block)}
        placed = [x for x in pair.step.statements if x.op in _PLACED]
        for s in [*pair.body.statements, *pair.latch.statements]:
            if s.op == "getitem" and s in self.essential and s.result not in read:
                if any(x.operands[1] is s.operands[1] and self._mirrors(x, s) for x in placed):
                    self.essential.discard(s)

    def _mirrors(self, x: Statement, s: Statement) -> bool:
        """Whether a statement has to do with something that has the places of what another one reads."""
        made = self.made.get(x.operands[0])
        mirror = made is not None and made.op == "call" and declared(MIRRORING, value_of(made.operands[0]))
        return mirror and made is not None and made.operands[-1] is s.operands[0]

    def _copy(self, s: Statement, known: dict[Operand, Operand], target: Block, essential: set[Statement]) -> Statement:
        operands = [known.get(x) or self._at_hand(x, target) for x in s.operands]
        copy = Statement(s.op, operands, Variable(s.result.name) if s.result is not None else None, s.data, s.position)
        if s.result is not None and copy.result is not None:
            known[s.result] = copy.result
            self._say(s.result, copy.result)
        if s in essential:
            self.essential.add(copy)
        return copy

    def _at_hand(self, x: Operand, target: Block) -> Operand:
        """A value in a block of the adjoint: it is there, or is recalled."""
        if self.is_there(x, target):
            return x
        loop = self.keeper(x, target)
        record, _ = self.records[loop]
        if x not in record.operands[1:]:
            record.operands.append(x)
        recalls, place = self.recalls[loop], record.operands.index(x, 1) - 1
        for s, _ in recalls:
            if s.data[1] == place and s.result is not None:
                return s.result
        assert isinstance(x, Variable)
        (first, step), result = recalls[0], Variable(x.name)
        recalls.append((Statement("recall", [first.operands[0]], result, (loop, place)), step))
        step.statements.insert(0, recalls[-1][0])
        self._say(x, result)
        return result

    def _say(self, x: Variable, copy: Variable) -> None:
        for table in self.tables:
            if x in table:
                table[copy] = table[x]


def _goes_on(block: Block, own: set[Operand]) -> bool:
    """Whether the way on from a block of an iteration takes items only of what is the iteration's own."""
    terminator = block.terminator
    return terminator.kind != "next" or terminator.operands[0] in own


def _is_of_math(function: object) -> bool:
    return getattr(function, "__module__", None) == "math"
