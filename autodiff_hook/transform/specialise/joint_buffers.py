"""Where the cotangents of items lie while the adjoint runs.

The buffer of a list or an array holds the cotangent of what is in it at the place that the adjoint has come to.

The buffer of a list or a dict is found by its identity, in a table of the adjoint's own, so that it may have any number
of names, and be held by others; those of lists in lists are found from the lists themselves.
"""

from __future__ import annotations

from typing import Any

from autodiff_hook.ir.types import Block, Constant, Operand, Position, Statement, Variable
from autodiff_hook.transform.specialise.abstract import Abstract, Array, Dict, Optional, Record, Reference, Tuple
from autodiff_hook.transform.specialise.joint_primal import NONE, PrimalHalf, leaves_of
from autodiff_hook.transform.specialise.lattice import content_of
from autodiff_hook.transform.specialise.lists import has_slots, slots_pattern


class Buffers(PrimalHalf):
    """Finds buffers, adds to the slots in them, and takes out of them."""

    def _add(
        self, variable: Variable, path: tuple[int, ...], contribution: Operand, out: Block, sure: bool = True
    ) -> None:
        raise NotImplementedError

    def _take(self, variable: Variable, path: tuple[int, ...], out: Block) -> Operand:
        if isinstance(self._type_at(variable, path), Reference):
            # The cotangents of what it holds are in the table.
            return NONE
        key = ("c", variable, path)
        found = self.builder.read(key, out)
        self.builder.write(key, out, self._default(key))
        return found

    def _index(self, index: Operand, out: Block) -> Operand:
        return self._residual(index, out) if isinstance(index, Variable) and index in self.loops else index

    def _buffer(self, owner: Variable, out: Block) -> Operand:
        """The cotangents of the items of a list or an array."""
        if isinstance(self.program.types[owner], Reference):
            return self._found(owner, out)
        present = self.builder.read(("c", owner, ()), out)
        if owner in self.buffered or present in self.allocated:
            return present
        whole = self._residual(owner, out)
        made = self._call("zeros_like", whole, out) if is_zero(present) else self._call("array", present, whole, out)
        self.builder.write(("c", owner, ()), out, made)
        self.allocated.add(made)
        return made

    def _found(self, owner: Variable, out: Block) -> Operand:
        """The buffer of a list or a dict: looked up once where the adjoint first has the list."""
        around = self.loops.get(owner)
        if around and around[-1] in self.whole_loops:
            return self.builder.read(("b", owner), out)
        if around or owner not in self.certain:
            return self._looked_up(self._residual(owner, out), self.program.types[owner], out)
        if owner not in self.first_found:
            self.first_found[owner] = Variable(owner.name)
        return self.first_found[owner]

    def _looked_up(self, whole: Operand, kind: Abstract, out: Block) -> Operand:
        assert isinstance(kind, Reference)
        if isinstance(kind, Record):
            name = "record_buffer"
        elif holds_tuples(kind):
            name = "slots_buffer"
        else:
            name = "dict_buffer" if isinstance(kind, Dict) else "buffer"
        return self._call(name, self.table, whole, out)

    def _allocate(self, out: Block) -> None:
        """Buffers for the cotangents of what is read item by item, or stored into."""
        if self.split != "shared":
            out.statements.append(Statement("build_map", [], self.table, None))
        self.beginning = out, len(out.statements)
        for variable in self.buffered:
            if isinstance(self.program.types[variable], Array):
                buffer = self._call("zeros_like", variable, out)
                self.builder.write(("c", variable, ()), out, buffer)

    def _look_up_first(self) -> None:
        """Look up, where the adjoint begins, what has been asked for of lists outside of loops."""
        out, place = self.beginning
        rest = out.statements[place:]
        del out.statements[place:]
        for owner, found in self.first_found.items():
            self._looked_up(self.kept.get(owner, owner), self.program.types[owner], out)
            out.statements[-1].result = found
        out.statements += rest

    def _add_whole(self, array: Variable, contribution: Operand, out: Block) -> None:
        """Add to the buffer of an array that is stored into: it belongs to nobody else."""
        present = self.builder.read(("c", array, ()), out)
        if is_zero(present):
            made = self._call("first", contribution, self._residual(array, out), out)
            self.builder.write(("c", array, ()), out, made)
            self.allocated.add(made)
            return
        self._add_to_part(self._buffer(array, out), contribution, out, None)

    def _add_to_part(self, part: Operand, contribution: Operand, out: Block, position: Position | None) -> None:
        self._call("add_part", part, contribution, out, position=position)

    def _add_value(
        self,
        owner: Variable,
        index: Operand,
        value: Variable,
        path: tuple[int, ...],
        out: Block,
        position: Position | None,
    ) -> None:
        """Add the cotangent of a value to that of the item of ``owner`` which it is."""
        kind = self._type_at(value, path)
        if isinstance(kind, Tuple) and has_slots(kind):
            leaves = [leaf for leaf in leaves_of(kind, path) if has_slots(self._type_at(value, leaf))]
            found = [(leaf, self._take(value, leaf, out)) for leaf in leaves]
            found = [(leaf, cotangent) for leaf, cotangent in found if not is_zero(cotangent)]
            if found:
                index, buffer = self._index(index, out), self._buffer(owner, out)
                if isinstance(self.program.types[owner], Record) or self._may_be_absent(value, path):
                    self._call("begin_slots", buffer, index, Constant(slots_pattern(kind)), out)
                slots = self.builder.emit(out, "getitem", buffer, index, position=position)
            for leaf, cotangent in found:
                self._add_to_slots(slots, value, leaf, len(path), cotangent, out)
        elif has_slots(kind):
            cotangent = self._take(value, path, out)
            if is_zero(cotangent):
                return
            whole = self.program.types[owner]
            if isinstance(whole, Tuple):
                index = self._index(index, out)
                for i in range(len(whole.items)):
                    places = (Constant(i), Constant(i - len(whole.items)))
                    self._add(owner, (i,), self._call("chosen", cotangent, index, *places, out), out)
            elif isinstance(whole, Array) and isinstance(kind, Array) and kind.ndim:
                index, buffer = self._index(index, out), self._buffer(owner, out)
                row = self.builder.emit(out, "getitem", buffer, index, position=position)
                self._add_to_part(row, cotangent, out, position)
            else:
                self._add_item(owner, index, cotangent, out, position)

    def _add_to_slots(
        self, slots: Operand, value: Variable, path: tuple[int, ...], depth: int, cotangent: Operand, out: Block
    ) -> None:
        """Add to one of the cotangents of the parts of a tuple, which is ``depth`` within the value."""
        for at in range(depth, len(path) - 1):
            inner, index = path[: at + 1], Constant(path[at])
            if self._may_be_absent(value, inner):
                self._call("begin_slots", slots, index, Constant(slots_pattern(self._type_at(value, inner))), out)
            slots = self.builder.emit(out, "getitem", slots, index)
        place = Constant(path[-1])
        if isinstance(self._type_at(value, path), Array):
            self._call("add_item", slots, place, cotangent, out, result=False)
            return
        item = self.builder.emit(out, "getitem", slots, place)
        item = self.builder.emit(out, "binary", item, cotangent, data="+")
        self.builder.emit(out, "setitem", slots, place, item, result=False)

    def _add_item(
        self, owner: Variable, index: Operand, cotangent: Operand, out: Block, position: Position | None
    ) -> None:
        builder = self.builder
        index = self._index(index, out)
        buffer = self._buffer(owner, out)
        if self._holds_arrays(owner, index):
            self._call("add_item", buffer, index, cotangent, out, result=False, position=position)
            return
        item = self._item(owner, buffer, index, out, position)
        item = builder.emit(out, "binary", item, cotangent, data="+", position=position)
        builder.emit(out, "setitem", buffer, index, item, result=False, position=position)

    def _item(self, owner: Variable, buffer: Operand, index: Operand, out: Block, position: Position | None) -> Operand:
        """An item of a buffer, as a float of Python's: arithmetic is fastest with these."""
        if isinstance(self.program.types[owner], Array):
            return self.builder.emit(out, "call_method", buffer, index, data=("item", ()), position=position)
        return self.builder.emit(out, "getitem", buffer, index, position=position)

    def _may_be_absent(self, value: Variable, path: tuple[int, ...]) -> bool:
        """Whether a part of a value may be None: no cotangents of its parts have been begun then."""
        if not path:
            return isinstance(self.program.types[value], Optional)
        whole = self._type_at(value, path[:-1])
        return isinstance(whole, Tuple) and isinstance(whole.items[path[-1]], Optional)

    def _holds_arrays(self, owner: Variable, key: Operand) -> bool:
        """Whether the items of a list are arrays, or what a dict has by a key."""
        kind = self.program.types[owner]
        if not isinstance(kind, Reference):
            return False
        named = kind.site.named
        if isinstance(key, Constant) and type(key.value) is str and kind.site.item is None and key.value in named:
            return isinstance(content_of(named[key.value]), Array)
        return any(isinstance(content_of(x), Array) for x in kind.site.kinds())

    def _give_slot(self, slot: Operand, value: Operand, path: tuple[int, ...], out: Block) -> None:
        """Give a value the cotangent that was in a slot."""
        if not isinstance(value, Variable) or value not in self.needs:
            return
        kind = self._type_at(value, path)
        if isinstance(kind, Tuple):
            if has_slots(kind) and self._may_be_absent(value, path):
                slot = self._call("begun_slots", slot, Constant(slots_pattern(kind)), out)
            for i, item in enumerate(kind.items):
                if has_slots(item):
                    part = self.builder.emit(out, "getitem", slot, Constant(i))
                    self._give_slot(part, value, (*path, i), out)
        elif isinstance(kind, Array):
            self._add(value, path, self._call("taken", slot, out), out, sure=False)
        elif has_slots(kind):
            self._add(value, path, slot, out)

    def _pattern_at(self, owner: Variable, key: Operand) -> Any:
        kind = self.program.types[owner]
        assert isinstance(kind, Reference)
        name = key.value if isinstance(key, Constant) and type(key.value) is str else None
        return slots_pattern(kind.site.named.get(name, kind.site.item) if name is not None else kind.site.item)


def holds_tuples(kind: Reference) -> bool:
    """Whether an item of a list or a dict may be a tuple."""
    return any(isinstance(content_of(item), Tuple) for item in kind.site.kinds())


def is_zero(operand: Operand) -> bool:
    """Whether a cotangent is known to be zero."""
    return isinstance(operand, Constant) and (
        operand.value is None or (type(operand.value) is float and operand.value == 0.0)
    )
