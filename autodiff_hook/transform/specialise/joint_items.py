"""The adjoints of what reads, appends and stores items and parts: their cotangents lie in buffers.

To go back over a store is to take the cotangent of the value out of the buffer and leave zero there.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from autodiff_hook.ir.types import Block, Constant, Operand, Statement, Variable
from autodiff_hook.transform.improve.pairs import calls
from autodiff_hook.transform.specialise.abstract import Array, Known, List, Number, Reference, Tuple
from autodiff_hook.transform.specialise.invariants import item_or_none
from autodiff_hook.transform.specialise.joint_buffers import Buffers, holds_tuples, is_zero
from autodiff_hook.transform.specialise.joint_primal import NONE, ZERO
from autodiff_hook.transform.specialise.lattice import may_be_complex
from autodiff_hook.transform.specialise.lists import Iteration, has_slots
from autodiff_hook.transform.specialise.parts import gives_places, is_basic_key, is_view, rank_of
from autodiff_hook.transform.specialise.program import APPEND, COPY, DROP, ITEMS, LOAD, PARTS, READ, STORE, TAKE


class Items(Buffers):
    """Goes back over the statements that read and make items."""

    # Items that are read

    def _reverse_item(self, iteration: Iteration, block: Block, out: Block) -> None:
        """The cotangent of an item goes to its place in the list it came from."""
        item = block.params[0]
        for source in reversed(iteration.sources):
            index = self._place(source, block, out)
            self._add_value(source.owner, index, item, source.path, out, None)

    def _reverse_load(self, s: Statement, out: Block) -> None:
        owner, index = s.operands[-2:] if s.op != "getattr" else (s.operands[0], Constant(s.data))
        if not isinstance(owner, Variable) or owner not in self.needs:
            return
        if not calls(s, item_or_none) or not isinstance(self.program.types[s.made], Number):
            self._add_value(owner, index, s.made, (), out, s.position)
            return
        cotangent = self._take(s.made, (), out)
        if not is_zero(cotangent):
            buffer, index = self._buffer(owner, out), self._index(index, out)
            self._call("add_early", buffer, index, cotangent, out, result=False, position=s.position)

    def _reverse_take(self, s: Statement, out: Block) -> None:
        """Go back over taking all items out of a list."""
        owner = s.operands[0]
        if isinstance(owner, Variable) and owner in self.needs:
            for index in range(s.data[0]):
                self._add_value(owner, Constant(index), s.made, (index,), out, s.position)

    def _reverse_parts(self, s: Statement, out: Block) -> None:
        """Go back over a list that was made of items of others."""
        kind = self.program.type_of(s.result)
        if not isinstance(kind, List) or kind.item is None or not has_slots(kind.item):
            return
        made = self._buffer(s.made, out)
        add = Constant(self.runtime["sum_of_slots"] if holds_tuples(kind) else operator.add)
        if s.op == "getitem":
            owner, key = s.operands
            if isinstance(owner, Variable) and owner in self.needs:
                self._call("add_slice", self._buffer(owner, out), self._index(key, out), made, add, out)
            return
        count: Operand = Constant(0)
        for owner in s.operands:
            if isinstance(owner, Variable):
                buffer = self._buffer(owner, out)
                count = self._call("add_run", buffer, made, count, add, out)

    def _reverse_array_load(self, s: Statement, cotangent: Operand, out: Block) -> Block:
        owner, index = s.operands
        assert isinstance(owner, Variable)
        if isinstance(self.program.types[s.made], Number):
            self._add_item(owner, index, cotangent, out, s.position)
            return out
        index = self._index(index, out)
        buffer = self.builder.read(("c", owner, ()), out)
        self._call("add_at", buffer, index, cotangent, out, result=False, position=s.position)
        return out

    def _reverse_read(self, s: Statement, out: Block) -> None:
        """Go back over reading a part of what is changed."""
        owner, index = s.operands
        assert isinstance(owner, Variable)
        result = self.program.types[s.made]
        if isinstance(result, List):
            self._reverse_parts(s, out)
            return
        cotangent = self._take(s.made, (), out)
        if is_zero(cotangent) or owner not in self.needs:
            return
        if isinstance(result, Number):
            self._add_item(owner, index, cotangent, out, s.position)
        elif isinstance(index, Constant) and index.value is Ellipsis:
            self._add_whole(owner, cotangent, out)
        elif is_basic_key(self.program.type_of(index)):
            buffer = self._buffer(owner, out)
            part = self.builder.emit(out, "getitem", buffer, self._index(index, out), position=s.position)
            self._add_to_part(part, cotangent, out, s.position)
        else:
            buffer = self._buffer(owner, out)
            self._call("add_at", buffer, self._index(index, out), cotangent, out, result=False)

    def _reverse_copy(self, s: Statement, out: Block) -> None:
        """Go back over the copy of a whole array."""
        assert isinstance(s.operands[0], Variable)
        self._add(s.operands[0], (), self._take(s.made, (), out), out)

    # Items that are made

    def _reverse_change(self, s: Statement, out: Block) -> None:
        """Go back over a statement that changes a list or an array."""
        owner = s.operands[0]
        if not isinstance(owner, Variable) or owner not in self.needs:
            return
        if self.program.plans.get(s) == APPEND:
            self._reverse_append(s, owner, out)
        elif self.program.plans.get(s) == DROP:
            self._reverse_drop(s, owner, out)
        elif isinstance(self.program.types[owner], Reference) or not is_zero(self.builder.read(("c", owner, ()), out)):
            self._reverse_store(s, owner, out)

    def _reverse_append(self, s: Statement, owner: Variable, out: Block) -> None:
        """What was appended last is the last item."""
        if owner in self.summed:
            self._give_slot(self.builder.read(("c", owner, ()), out), s.operands[1], (), out)
            return
        buffer, last = self._buffer(owner, out), Constant(-1)
        slot = self.builder.emit(out, "getitem", buffer, last, position=s.position)
        self.builder.emit(out, "delitem", buffer, last, result=False, position=s.position)
        self._give_slot(slot, s.operands[1], (), out)

    def _reverse_sum(self, items: Variable, cotangent: Operand, out: Block) -> None:
        """Go back over the sum of a list of which nothing else is asked."""
        key = ("c", items, ())
        present = self.builder.read(key, out)
        if not is_zero(present):
            cotangent = self.builder.emit(out, "binary", present, cotangent, data="+")
        self.builder.write(key, out, cotangent)

    def _reverse_drop(self, s: Statement, owner: Variable, out: Block) -> None:
        """What was dropped is there again, with the cotangent zero."""
        blank, buffer = self._blank(self._pattern_at(owner, s.operands[1]), out), self._buffer(owner, out)
        if isinstance(self.program.types[owner], List):
            self.builder.emit(out, "list_append", buffer, blank, result=False, position=s.position)
        else:
            key = self._index(s.operands[1], out)
            self.builder.emit(out, "setitem", buffer, key, blank, result=False, position=s.position)

    def _blank(self, pattern: Any, out: Block) -> Operand:
        """The cotangent zero of an item."""
        if not isinstance(pattern, tuple):
            return ZERO
        return self.builder.emit(out, "build_list", *[self._blank(x, out) for x in pattern])

    def _reverse_store(self, s: Statement, owner: Variable, out: Block) -> None:
        """Take the cotangent of what was stored, and leave zero."""
        index, value = (Constant(s.data), s.operands[1]) if s.op == "setattr" else s.operands[1:]
        builder, buffer, index = self.builder, self._buffer(owner, out), self._index(index, out)
        kind = self.program.types[owner]
        if not isinstance(kind, Array):
            pattern = self._pattern_at(owner, index)
            if value in self.needs:
                slot = builder.emit(out, "getitem", buffer, index, position=s.position)
                self._give_slot(slot, value, (), out)
            blank = self._blank(pattern, out)
            builder.emit(out, "setitem", buffer, index, blank, result=False, position=s.position)
            return
        cotangent: Operand = NONE
        if value in self.needs:
            part: Operand = builder.emit(out, "getitem", buffer, index, position=s.position)
            if gives_places(self.program.type_of(s.operands[1])):
                part = self._call("surviving", buffer, index, part, out)
            cotangent = self._of_value(s, part, out)
        builder.emit(out, "setitem", buffer, index, ZERO, result=False, position=s.position)
        if isinstance(value, Variable):
            self._add(value, (), cotangent, out)

    def _of_value(self, s: Statement, part: Operand, out: Block) -> Operand:
        """The cotangent of a number or an array that was stored into a part of an array."""
        value = s.operands[2]
        assert isinstance(value, Variable)
        builder, kind = self.builder, self.program.types[value]
        if may_be_complex(self.program.type_of(s.operands[0])) and not may_be_complex(kind):
            part = builder.emit(out, "getattr", part, data="real", position=s.position)
        if isinstance(kind, Array):
            part = builder.emit(out, "call_method", part, data=("copy", ()), position=s.position)
            return self._call("fitted", part, self._residual(value, out), out, position=s.position)
        owner, key = map(self.program.type_of, s.operands[:2])
        if isinstance(owner, Array) and rank_of(owner, key) == 0 and not is_view(key):
            return part
        return builder.emit(out, "call", Constant(np.sum), part, data=(), position=s.position)

    def _reverse_items(self, s: Statement, out: Block) -> None:
        """Go back over the beginning of a list or a dict: its items, written out or repeated."""
        if s.op in ("build_list", "build_map"):
            pairs = list(zip(s.operands[::2], s.operands[1::2])) if s.op == "build_map" else list(enumerate(s.operands))
            overwrites = s.op == "build_map" and not self._are_apart(s.operands[::2])
            for key, operand in reversed(pairs):
                takes = operand in self.needs and has_slots(self.program.type_of(operand))
                if not takes and not overwrites:
                    continue
                place = Constant(key) if isinstance(key, int) else self._index(key, out)
                if takes:
                    slot = self.builder.emit(out, "getitem", self._buffer(s.made, out), place, position=s.position)
                    self._give_slot(slot, operand, (), out)
                if overwrites:
                    blank = self._blank(self._pattern_at(s.made, place), out)
                    change = self._buffer(s.made, out), place, blank
                    self.builder.emit(out, "setitem", *change, result=False, position=s.position)
            return
        self._reverse_repeated(s, out)

    def _are_apart(self, keys: list[Operand]) -> bool:
        """Whether it is certain that no two keys are equal."""
        kinds = list(map(self.program.type_of, keys))
        return len(keys) < 2 or len({kind.value for kind in kinds if isinstance(kind, Known)}) == len(keys)

    def _reverse_repeated(self, s: Statement, out: Block) -> None:
        owner = next(x for x in s.operands if isinstance(self.program.type_of(x), (Tuple, List)))
        made = self.program.types[s.made]
        if not isinstance(owner, Variable) or owner not in self.needs or not isinstance(made, List):
            return
        if made.item is None or not has_slots(made.item):
            return
        kind = self.program.types[owner]
        count: Operand = Constant(len(kind.items)) if isinstance(kind, Tuple) else NONE
        if not isinstance(kind, Tuple):
            # The list may have another length when the adjoint comes here; its buffer has that of then.
            count = self.builder.emit(out, "call", Constant(len), self._buffer(owner, out), data=())
        folded = self._call("folded", self._buffer(s.made, out), count, out)
        self._add(owner, (), folded, out)

    def _reverse_of_items(self, s: Statement, out: Block) -> bool:
        """Go back over a statement about items; whether it was one."""
        plan = self.program.plans.get(s)
        if plan in (APPEND, DROP, STORE):
            self._reverse_change(s, out)
        elif s.result in self.needs and plan == LOAD:
            self._reverse_load(s, out)
        elif s.result in self.needs and plan == TAKE:
            self._reverse_take(s, out)
        elif s.result in self.needs and plan == PARTS:
            self._reverse_parts(s, out)
        elif s.result in self.needs and plan == READ:
            self._reverse_read(s, out)
        elif s.result in self.needs and plan == COPY:
            self._reverse_copy(s, out)
        elif s.result in self.needs and plan == ITEMS:
            self._reverse_items(s, out)
        else:
            return False
        return True
