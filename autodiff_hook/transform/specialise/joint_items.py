"""The adjoints of what reads, appends and stores items and parts: their cotangents lie in buffers.

The buffer of a list or an array holds the cotangent of what is in it at the place that the adjoint has come to. To go
back over a store is to take the cotangent of the value out of the buffer and leave zero there.
"""

from __future__ import annotations

import numpy as np

from autodiff_hook.ir.types import Block, Constant, Operand, Position, Statement, Variable
from autodiff_hook.transform.specialise.abstract import Array, Number, OwnDict, OwnList, Tuple
from autodiff_hook.transform.specialise.infer import APPEND, COPY, ITEMS, LOAD, READ, STORE
from autodiff_hook.transform.specialise.joint_primal import NONE, ZERO, PrimalHalf
from autodiff_hook.transform.specialise.lists import Iteration, slot_of
from autodiff_hook.transform.specialise.stores import is_basic_key, rank_of


class Items(PrimalHalf):
    """Takes cotangents out of buffers, and adds to them."""

    def _add(
        self, variable: Variable, path: tuple[int, ...], contribution: Operand, out: Block, sure: bool = True
    ) -> None:
        raise NotImplementedError

    def _take(self, variable: Variable, path: tuple[int, ...], out: Block) -> Operand:
        key = ("c", variable, path)
        found = self.builder.read(key, out)
        self.builder.write(key, out, self._default(key))
        return found

    def _buffer(self, owner: Variable, out: Block) -> Operand:
        """The cotangents of the items of a list or an array."""
        if owner in self.memory.rows:
            outer, index = self.memory.rows[owner]
            place = (
                self._residual(self.indices[self._landing(owner)], out) if index is None else self._index(index, out)
            )
            return self.builder.emit(out, "getitem", self._buffer(outer, out), place)
        present = self.builder.read(("c", owner, ()), out)
        if owner in self.buffered or present in self.allocated:
            return present
        whole = self._residual(owner, out)
        if not isinstance(self.program.types[owner], Array):
            made = self.builder.emit(out, "call", Constant(self.runtime["buffer"]), present, whole, data=())
        elif is_zero(present):
            made = self.builder.emit(out, "call", Constant(self.runtime["zeros_like"]), whole, data=())
        else:
            made = self.builder.emit(out, "call", Constant(self.runtime["array"]), present, whole, data=())
        self.builder.write(("c", owner, ()), out, made)
        self.allocated.add(made)
        return made

    def _landing(self, item: Variable) -> Block:
        return next(block for block in self.landings if block.params[0] is item)

    def _allocate(self, out: Block) -> None:
        """Buffers for the cotangents of what is read item by item, or stored into."""
        for variable in self.buffered:
            kind = self.program.types[variable]
            if isinstance(kind, OwnDict):
                buffer = self.builder.emit(out, "call", Constant(dict.fromkeys), variable, ZERO, data=())
            elif self._holds_lists(variable):
                nested = Constant(self.runtime["buffer"])
                buffer = self.builder.emit(out, "call", nested, NONE, variable, data=())
            elif isinstance(kind, Array):
                buffer = self.builder.emit(out, "call", Constant(self.runtime["zeros_like"]), variable, data=())
            else:
                count = self.builder.emit(out, "call", Constant(len), variable, data=())
                one = self.builder.emit(out, "build_list", ZERO)
                buffer = self.builder.emit(out, "binary", one, count, data="*")
            self.builder.write(("c", variable, ()), out, buffer)

    def _add_whole(self, array: Variable, contribution: Operand, out: Block) -> None:
        """Add to the buffer of an array that is stored into: it belongs to nobody else."""
        present = self.builder.read(("c", array, ()), out)
        if is_zero(present):
            first = Constant(self.runtime["first"])
            made = self.builder.emit(out, "call", first, contribution, self._residual(array, out), data=())
            self.builder.write(("c", array, ()), out, made)
            self.allocated.add(made)
            return
        self._add_to_part(self._buffer(array, out), contribution, out, None)

    def _add_to_part(self, part: Operand, contribution: Operand, out: Block, position: Position | None) -> None:
        add_part = Constant(self.runtime["add_part"])
        self.builder.emit(out, "call", add_part, part, contribution, data=(), position=position)

    # Items that are read

    def _reverse_item(self, iteration: Iteration, block: Block, out: Block) -> None:
        """The cotangent of an item goes to its place in the list it came from."""
        for source in reversed(iteration.sources):
            if block.params[0] in self.memory.rows:
                continue
            cotangent = self._take(block.params[0], source.path, out)
            if is_zero(cotangent):
                continue
            index = self._residual(self.indices[block], out)
            if source.backwards:
                index = self.builder.emit(out, "unary", index, data="~")
            self._add_item(source.owner, index, cotangent, out, None)

    def _reverse_load(self, s: Statement, out: Block) -> None:
        assert s.result is not None
        if s.result in self.memory.rows:
            return
        cotangent = self._take(s.result, (), out)
        owner, index = s.operands
        if is_zero(cotangent) or owner not in self.needs:
            return
        assert isinstance(owner, Variable)
        self._add_item(owner, index, cotangent, out, s.position)

    def _add_item(
        self, owner: Variable, index: Operand, cotangent: Operand, out: Block, position: Position | None
    ) -> None:
        builder = self.builder
        index = self._index(index, out)
        buffer = self._buffer(owner, out)
        if self._holds_arrays(owner, index):
            add_item = Constant(self.runtime["add_item"])
            builder.emit(out, "call", add_item, buffer, index, cotangent, data=(), result=False, position=position)
            return
        item = self._item(owner, buffer, index, out, position)
        item = builder.emit(out, "binary", item, cotangent, data="+", position=position)
        builder.emit(out, "setitem", buffer, index, item, result=False, position=position)

    def _item(self, owner: Variable, buffer: Operand, index: Operand, out: Block, position: Position | None) -> Operand:
        """An item of a buffer, as a float of Python's: arithmetic is fastest with these."""
        if isinstance(self.program.types[owner], Array):
            return self.builder.emit(out, "call_method", buffer, index, data=("item", ()), position=position)
        return self.builder.emit(out, "getitem", buffer, index, position=position)

    def _holds_lists(self, owner: Variable) -> bool:
        kind = self.program.types[owner]
        return isinstance(kind, OwnList) and isinstance(self.program.items.get(kind.made), OwnList)

    def _holds_arrays(self, owner: Variable, key: Operand = NONE) -> bool:
        """Whether the items of a list are arrays, or what a dict has by a key."""
        kind, items = self.program.types[owner], self.program.items
        if isinstance(kind, OwnDict):
            if isinstance(key, Constant) and type(key.value) is str and slot_of(kind) not in items:
                return isinstance(items[slot_of(kind, key.value)], Array)
            return any(
                isinstance(x, Array) for slot, x in items.items() if type(slot) is tuple and slot[0] is kind.made
            )
        return isinstance(items.get(kind.made) if isinstance(kind, OwnList) else getattr(kind, "item", None), Array)

    def _index(self, index: Operand, out: Block) -> Operand:
        return self._residual(index, out) if isinstance(index, Variable) and index in self.loops else index

    def _reverse_array_load(self, s: Statement, cotangent: Operand, out: Block) -> Block:
        owner, index = s.operands
        assert isinstance(owner, Variable) and s.result is not None
        if isinstance(self.program.types[s.result], Number):
            self._add_item(owner, index, cotangent, out, s.position)
            return out
        index = self._index(index, out)
        buffer = self.builder.read(("c", owner, ()), out)
        add_at = Constant(self.runtime["add_at"])
        self.builder.emit(out, "call", add_at, buffer, index, cotangent, data=(), result=False, position=s.position)
        return out

    def _reverse_read(self, s: Statement, out: Block) -> None:
        """Go back over reading a part of what is changed."""
        assert s.result is not None
        owner, index = s.operands
        assert isinstance(owner, Variable)
        result = self.program.types[s.result]
        cotangent = self._take(s.result, (), out)
        if is_zero(cotangent) or owner not in self.needs:
            return
        if isinstance(result, Number):
            self._add_item(owner, index, cotangent, out, s.position)
        elif isinstance(result, OwnList):
            self._add(owner, (), cotangent, out)
        elif isinstance(index, Constant) and index.value is Ellipsis:
            self._add_whole(owner, cotangent, out)
        elif is_basic_key(self.program.type_of(index)):
            buffer = self._buffer(owner, out)
            part = self.builder.emit(out, "getitem", buffer, self._index(index, out), position=s.position)
            self._add_to_part(part, cotangent, out, s.position)
        else:
            add_at, buffer = Constant(self.runtime["add_at"]), self._buffer(owner, out)
            places = self._index(index, out)
            self.builder.emit(out, "call", add_at, buffer, places, cotangent, data=(), result=False)

    def _reverse_copy(self, s: Statement, out: Block) -> None:
        """Go back over the copy of a whole array."""
        assert s.result is not None and isinstance(s.operands[0], Variable)
        self._add(s.operands[0], (), self._take(s.result, (), out), out)

    # Items that are made

    def _reverse_change(self, s: Statement, out: Block) -> None:
        """Go back over a statement that changes a list or an array."""
        owner = s.operands[0]
        if not isinstance(owner, Variable) or owner not in self.needs:
            return
        if self.program.plans.get(s) == APPEND:
            self._reverse_append(s, owner, out)
        elif owner in self.memory.rows or not is_zero(self.builder.read(("c", owner, ()), out)):
            self._reverse_store(s, owner, out)

    def _reverse_append(self, s: Statement, owner: Variable, out: Block) -> None:
        """What was appended last is the last item."""
        value = s.operands[1]
        buffer = self._buffer(owner, out)
        arrays = self._holds_arrays(owner)
        cotangent = self._out_of(buffer, Constant(-1), arrays, out, s.position)
        self.builder.emit(out, "delitem", buffer, Constant(-1), result=False, position=s.position)
        if isinstance(value, Variable) and isinstance(self.program.types.get(value), OwnList):
            self.builder.write(("c", value, ()), out, cotangent)
        elif isinstance(value, Variable):
            self._add(value, (), cotangent, out, sure=not arrays)

    def _out_of(self, buffer: Operand, index: Operand, arrays: bool, out: Block, position: Position | None) -> Operand:
        """The cotangent of an item of a list, that of an array being None if there is none."""
        if arrays:
            taken = Constant(self.runtime["taken"])
            return self.builder.emit(out, "call", taken, buffer, index, data=(), position=position)
        return self.builder.emit(out, "getitem", buffer, index, position=position)

    def _reverse_store(self, s: Statement, owner: Variable, out: Block) -> None:
        """Take the cotangent of what was stored, and leave zero."""
        _, index, value = s.operands
        builder, buffer, index = self.builder, self._buffer(owner, out), self._index(index, out)
        cotangent: Operand = NONE
        arrays = self._holds_arrays(owner, index)
        if value in self.needs:
            assert isinstance(value, Variable)
            cotangent = self._out_of(buffer, index, arrays, out, s.position)
            if isinstance(self.program.types[owner], Array):
                cotangent = self._of_value(s, cotangent, out)
        builder.emit(out, "setitem", buffer, index, ZERO, result=False, position=s.position)
        if isinstance(value, Variable):
            self._add(value, (), cotangent, out, sure=not arrays)

    def _of_value(self, s: Statement, part: Operand, out: Block) -> Operand:
        """The cotangent of a number or an array that was stored into a part of an array."""
        value = s.operands[2]
        assert isinstance(value, Variable)
        builder, kind = self.builder, self.program.types[value]
        if isinstance(kind, Array):
            part = builder.emit(out, "call_method", part, data=("copy", ()), position=s.position)
            fitted = Constant(self.runtime["fitted"])
            whole = self._residual(value, out)
            return builder.emit(out, "call", fitted, part, whole, data=(), position=s.position)
        owner, key = map(self.program.type_of, s.operands[:2])
        if isinstance(owner, Array) and rank_of(owner, key) == 0:
            return part
        return builder.emit(out, "call", Constant(np.sum), part, data=(), position=s.position)

    def _reverse_items(self, s: Statement, out: Block) -> None:
        """Go back over the beginning of a list: its items, written out or repeated."""
        assert s.result is not None
        cotangents = self._take(s.result, (), out)
        if is_zero(cotangents):
            return
        if s.op in ("build_list", "build_map"):
            pairs = zip(s.operands[::2], s.operands[1::2]) if s.op == "build_map" else enumerate(s.operands)
            for key, operand in pairs:
                if operand in self.needs:
                    assert isinstance(operand, Variable)
                    place = Constant(key) if isinstance(key, int) else key
                    arrays = self._holds_arrays(s.result, place)
                    item = self._out_of(cotangents, place, arrays, out, s.position)
                    self._add(operand, (), item, out, sure=not arrays)
            return
        owner = next(x for x in s.operands if isinstance(self.program.type_of(x), (Tuple, OwnList)))
        if not isinstance(owner, Variable) or owner not in self.needs:
            return
        kind = self.program.types[owner]
        count: Operand = Constant(len(kind.items)) if isinstance(kind, Tuple) else NONE
        if not isinstance(kind, Tuple):
            count = self.builder.emit(out, "call", Constant(len), self._residual(owner, out), data=())
        folded = self.builder.emit(out, "call", Constant(self.runtime["folded"]), cotangents, count, data=())
        self._add(owner, (), folded, out)

    def _reverse_of_items(self, s: Statement, out: Block) -> bool:
        """Go back over a statement about items; whether it was one."""
        plan = self.program.plans.get(s)
        if plan in (APPEND, STORE):
            self._reverse_change(s, out)
        elif s.result in self.needs and plan == LOAD:
            self._reverse_load(s, out)
        elif s.result in self.needs and plan == READ:
            self._reverse_read(s, out)
        elif s.result in self.needs and plan == COPY:
            self._reverse_copy(s, out)
        elif s.result in self.needs and plan == ITEMS:
            self._reverse_items(s, out)
        else:
            return False
        return True


def is_zero(operand: Operand) -> bool:
    """Whether a cotangent is known to be zero."""
    return isinstance(operand, Constant) and (
        operand.value is None or (type(operand.value) is float and operand.value == 0.0)
    )
