"""Loops that leave no records, because the adjoint iterates over the same once more.

Where the adjoint of a loop needs of an iteration nothing but what the item and what is outside of the loop say, and
nobody reads what the loop comes to, the iterations are run in the adjoint alone, each before its own adjoint: branches
and loops within move there as they are. What may raise in an iteration has no other place to raise then, so the adjoint
has to come to all of them. Where somebody reads what the loop comes to, the adjoint takes items out of lists again.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from autodiff_hook.ir.analysis import defined_in, reverse_postorder, statements_of
from autodiff_hook.ir.substituting import substitute
from autodiff_hook.ir.types import Block, Constant, Edge, Operand, Statement, Terminator, Variable, value_of
from autodiff_hook.transform.improve.pairs import SOURCES, Pair, calls
from autodiff_hook.transform.improve.rebuilding import Rebuilding, cost
from autodiff_hook.transform.improve.shortcuts import EFFECTS, FRESH, MIRRORING, declared
from autodiff_hook.transform.improve.site import is_elementwise
from autodiff_hook.transform.specialise.abstract import (
    INT,
    Array,
    Dict,
    List,
    Number,
    Optional,
    Record,
    Reference,
    Tuple,
)
from autodiff_hook.transform.specialise.invariants import is_math, item_or_none

_FUNCTIONS: Final = (*SOURCES, *(abs, float, int, bool, len, min, max, bisect_left, bisect_right, item_or_none))
_OPERATIONS: Final = frozenset("binary unary compare truth not project unpack build_tuple getitem get_iter".split())
_PARTS: Final = ("getitem", "project", "call_method")
_PLACED: Final = ("getitem", "setitem")
_BASE_PRICE: Final = 4
"""How many operations no record at all is worth, beside one for each value in it."""


class Backwards(Rebuilding):
    """Finds such loops in ``ir``."""

    def run(self) -> bool:
        """Let one loop leave no records; whether there was one."""
        for pair in filter(None, map(self.pair_of, self._outer_first())):
            if self._is_possible(pair):
                self._turn(pair)
                return True
            again = self._read_again(pair)
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
        statements = [s for s in statements_of(pair.region) if s is not record]
        made: set[Operand] = {s.result for s in statements if s.result is not None}
        local = made.union(*(block.params for block in pair.region))
        inside = Counter(x for block in pair.region for x in self.read_in(block))
        jumps = pair.before.terminator.kind == "jump"
        if pair.header.params or not jumps or any(self.uses[x] != inside[x] for x in local):
            return False
        # An item of a list is part of it; those of the others are made for each iteration.
        own = made.union(pair.body.params if pair.source else (), self.pairs & local)
        if not all(self._repeats(s, own) for s in statements) or not all(_goes_on(b, own) for b in pair.region):
            return False
        if not self._has_all(pair, inside.keys() - local - {record.operands[0]}):
            return False
        return self.essential.isdisjoint([*statements, *pair.source]) or self.is_certain(pair.before, pair.setup)

    def _record(self, pair: Pair) -> Statement:
        """What a loop leaves of an iteration."""
        return next(s for s, latch in self.records.values() if latch is pair.latch)

    def _read_again(self, pair: Pair) -> list[Statement] | None:
        """What has all that the adjoint reads of an iteration again; None if there is more to it."""
        found = self.rebuilt(pair.kept, pair.latch, pair.step, set(pair.body.params))
        if found is None or cost(found) > _BASE_PRICE + len(pair.kept) or not self._has_all(pair, set()):
            return None
        statements = [found[x] for x in sorted(found, key=self.place)]
        if all(calls(s, range) for s in pair.source):
            return statements
        form = self._form(pair.source)
        parts = parts_of(statements, pair.body.params[0], form) if form is not None else None
        return statements if parts is not None and not any(type(parts.get(x)) is tuple for x in pair.kept) else None

    def _form(self, source: list[Statement]) -> Any:
        """The form of the items of ``zip``, ``enumerate`` or one in the other, if these are of lists or arrays."""
        lists = [x for s in source[:1] for x in s.operands[1:]]
        if not lists or not all(self.is_of(x, List, Tuple, Array) for x in lists):
            return None
        if any(s.data or calls(s, range) for s in source) or any(len(s.operands) != 2 for s in source[1:]):
            return None
        first, *others = source
        form: Any = tuple(lists) if calls(first, zip) else (INDEX, *lists) if len(lists) == 1 else None
        for s in others:
            form = (INDEX, form) if calls(s, enumerate) and form is not None else None
        return form

    def _has_all(self, pair: Pair, read: set[Operand]) -> bool:
        """Whether what is read in an iteration, and what is iterated over, can be had in the adjoint."""
        made = {s.result for s in pair.source}
        sources: list[Any] = [x for s in pair.source for x in s.operands] or [self.iterated(pair.header)]
        outer = [x for x in (*read, *sources) if x not in made]
        return all(
            self.is_there(x, pair.setup, pair.before) or self.keeper(x, pair.setup, pair.before) is not None
            for x in outer
        )

    def _repeats(self, s: Statement, own: set[Operand]) -> bool:
        """Whether a statement of an iteration does the same when it is done later, and changes nothing."""
        if s.op == "record" or s.op == "build_list" and not s.operands:
            # A list of records: no other list may be made, as it would end before the next one has its identity.
            return self._keeps_records(s.operands[0] if s.operands else s.result, own)
        if s.op in ("is", "is_not"):
            return True
        operands = s.arguments
        if not all(self.is_steady(x) or x in own and not self._is_part(x) for x in operands):
            return False
        if s.op == "build_list":
            return self._is_argument(s.made)
        if self.is_of(s.result, Reference) and not self._takes(s):
            return False
        if s.op == "call_method":
            return bool(s.data == ("item", ()))
        if s.op == "call":
            return calls(s, *_FUNCTIONS) or not s.data and _computes(s.callee, len(s.operands) - 1)
        if s.op == "getattr":
            return self.is_of(s.operands[0], Record, Optional) and self.is_steady(s.operands[0])
        return s.op in _OPERATIONS or s.op == "inplace" and self.is_of(s.result, Number)

    def _is_argument(self, items: Operand) -> bool:
        """Whether a list is only there for functions that compute: nobody asks for its identity."""
        users = [s for s in statements_of(self.ir.blocks) if items in s.operands and s.op != "record"]
        return len(users) == self.uses[items] and all(
            self._is_argument(s.made) if s.op == "build_list" else calls(s, np.array) for s in users
        )

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
        item, parts = pair.body.params[0], self._all_parts(pair)
        if parts is None:
            self._iterate_over(pair, set(self.essential))
        else:
            pair.body.params = [self._count(pair)]
            known: dict[Operand, Operand] = {}
            for block in pair.region:
                block.statements = by_index(block.statements, parts, pair.body.params[0], known)
            substitute(self.ir.blocks, known)
        self.essential -= made
        local = {item, *defined_in(pair.region)}
        self._recall(pair, {x: x for x in local})
        outer = {x for block in pair.region for x in self.read_in(block)} - local
        there = {x: self.at_hand(x, pair.step, pair.latch) for x in outer}
        substitute(pair.region, {x: y for x, y in there.items() if x is not y})
        ((_, edge),) = self.incoming[pair.step]
        edge.target, pair.step.params = pair.body, []
        pair.latch.terminator = Terminator("jump", [], [Edge(pair.step, [])])
        pair.before.terminator = Terminator("jump", [], [pair.header.terminator.edges[1]])
        self.ir.blocks = reverse_postorder(self.ir)
        self._excuse_reads(pair)

    def _all_parts(self, pair: Pair) -> dict[Operand, Any] | None:
        """The forms of what an iteration takes out of its item, if nobody does anything else with that."""
        form = self._form(pair.source)
        blocks = [block for block in reverse_postorder(self.ir) if block in pair.region]
        taking = [s for s in statements_of(blocks) if s.op != "record"]
        parts = parts_of(taking, pair.body.params[0], form) if form is not None else None
        if parts is None:
            return None
        whole = [x for x, form in parts.items() if type(form) is tuple]
        return parts if all(self.uses[x] == sum(x in s.operands for s in taking) for x in whole) else None

    def _iterate(self, pair: Pair, statements: list[Statement], essential: set[Statement]) -> None:
        """Let the adjoint iterate over the same as the loop, and compute in place of what it would recall."""
        item, form = pair.body.params[0], self._form(pair.source)
        if form is None:
            self._iterate_over(pair, essential)
            self.say(item, pair.step.params[0])
        else:
            pair.step.params = [self._count(pair)]
        index = pair.step.params[0]
        known: dict[Operand, Operand] = {item: index, index: index}
        if form is not None:
            parts = parts_of(statements, item, form)
            assert parts is not None
            statements = by_index(statements, parts, index, known)
        copies = [self.copy(s, known, pair.step, pair.latch, essential) for s in statements]
        self.again.update(copies)
        self._recall(pair, known)
        pair.step.statements = [*copies, *pair.step.statements]

    def _count(self, pair: Pair) -> Variable:
        """Let the adjoint count down the places in the lists that are iterated over; the variable that does."""
        lists = [self.at_hand(x, pair.setup, pair.before) for x in pair.source[0].operands[1:]]
        lengths = [Statement("call", [Constant(len), x], Variable("length"), ()) for x in lists]
        counted: list[Operand] = [s.made for s in lengths]
        added = list(lengths)
        if len(counted) > 1:
            added.append(Statement("call", [Constant(min), *counted], Variable("length"), ()))
        added.append(Statement("call", [Constant(range), added[-1].made], Variable("places"), ()))
        self._before_turned(pair, added)
        index = Variable("index")
        self.tables[0][index] = INT
        return index

    def _iterate_over(self, pair: Pair, essential: set[Statement]) -> None:
        """Let the adjoint iterate over the same as the loop, from the last to the first."""
        known: dict[Operand, Operand] = {}
        source = [self.copy(s, known, pair.setup, pair.before, essential) for s in pair.source]
        iterated = self.iterated(pair.header)
        assert iterated is not None
        in_order = not source and not self.is_of(iterated, Dict) and type(value_of(iterated)) is not frozenset
        if not in_order and not (source and calls(source[-1], range)):
            last = source[-1].made if source else self.at_hand(iterated, pair.setup, pair.before)
            source.append(Statement("call", [Constant(list), last], Variable("items"), ()))
        if not source:
            pair.turned.operands[1] = self.at_hand(iterated, pair.setup, pair.before)
        else:
            self._before_turned(pair, source)

    def _before_turned(self, pair: Pair, statements: list[Statement]) -> None:
        """Make before the loop of the adjoint what it runs over backwards."""
        place = pair.setup.statements.index(pair.turned)
        pair.setup.statements[place:place] = statements
        pair.turned.operands[1] = statements[-1].made

    def _recall(self, pair: Pair, known: dict[Operand, Operand]) -> None:
        """Let what the adjoint recalls of an iteration be what is ``known``, or at hand."""
        record = self._record(pair)
        recalls = [s for s in pair.step.statements if s.op == "recall" and s.data[0] is record.data[0]]
        mapping: dict[Operand, Operand] = {}
        for s in recalls:
            kept = record.operands[1 + s.data[1]]
            mapping[s.made] = known.get(kept) or self.at_hand(kept, pair.step, pair.latch)
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
        mirror = made is not None and declared(MIRRORING, made.callee)
        return mirror and made is not None and made.operands[-1] is s.operands[0]


def _computes(function: Any, count: int) -> bool:
    """Whether a function of so many arguments makes a new number or array of them, and does nothing else."""
    if is_math(function) or function is np.array:
        return True
    if is_elementwise(function):
        return bool(count == function.nin)
    return declared(FRESH, function) and not declared(EFFECTS, function)


def _goes_on(block: Block, own: set[Operand]) -> bool:
    """Whether the way on from a block of an iteration takes items only of what is the iteration's own."""
    terminator = block.terminator
    return terminator.kind != "next" or terminator.operands[0] in own


INDEX: Final = object()
"""The form of an index; that of an item is the list that it lies in, that of a tuple a tuple of forms."""


def parts_of(statements: Iterable[Statement], item: Variable, form: Any) -> dict[Operand, Any] | None:
    """The forms of what ``statements`` take out of an item; None if they do something else with what is a tuple."""
    forms: dict[Operand, Any] = {item: form}
    for s in statements:
        if any(type(forms.get(x)) is tuple for x in s.operands):
            if s.op == "unpack":
                forms[s.made] = forms[s.operands[0]]
            elif s.op == "project":
                forms[s.made] = forms[s.operands[0]][s.data]
            else:
                return None
    return forms


def by_index(
    statements: list[Statement], forms: dict[Operand, Any], index: Variable, known: dict[Operand, Operand]
) -> list[Statement]:
    """The statements, which take items out of the lists; ``known``: what is the index."""
    kept = []
    for s in statements:
        form = forms.get(s.result) if s.op in ("unpack", "project") else None  # type: ignore[arg-type]
        if form is None:
            kept.append(s)
        elif form is INDEX:
            known[s.made] = index
        elif type(form) is not tuple:
            kept.append(Statement("getitem", [form, index], s.result, None, s.position))
    return kept
