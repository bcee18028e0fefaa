"""From items over virtual locals to instructions over slots, one segment at a time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from autodiff_hook import budget
from autodiff_hook.emit import versions
from autodiff_hook.emit.items import (
    FORGET,
    NO_ARG,
    CellVar,
    Copies,
    FreeVar,
    Item,
    Load,
    Mark,
    Null,
    Op,
    Segment,
    Store,
)
from autodiff_hook.emit.slots import Liveness, Slots, bits
from autodiff_hook.ir.types import Constant, Operand, Position, Variable

Lowered = Op | Mark


class Lowering:
    """Rewrites the items of segments."""

    def __init__(
        self,
        slots: Slots,
        liveness: Liveness,
        cells: dict[Variable, CellVar | FreeVar],
        released: Iterable[Variable],
        keep: bool,
    ) -> None:
        self._keep = keep
        self._slots = slots
        self._liveness = liveness
        self._cells = cells
        self._released = sum(liveness.bit(v) for v in set(released) if v in liveness.number)

    def lower(self, segment: Segment, dying: int) -> list[Lowered]:
        """The instructions of a segment; ``dying`` are variables that live before it on some way, not in it."""
        out: list[Lowered] = []
        live = self._liveness.live_out(segment)
        dead_load: Variable | None = None
        forgotten = False
        budget.check()
        for item in reversed(segment.items):
            if isinstance(item, Load):
                dead_load = None
                if item.bit and not live & item.bit:
                    dead_load = self._last_load(item, live, out, forgotten)
                    live |= item.bit
                out.append(self.load(item.value, item.position))
            elif isinstance(item, Store):
                if item.variable is dead_load:
                    out.pop()
                elif live & item.bit or self._kept(item.variable):
                    out.append(self._store(item.variable, item.position))
                else:
                    out.append(Op("POP_TOP", NO_ARG, item.position))
                dead_load = None
                live &= ~item.bit
            elif isinstance(item, Copies):
                dead_load = None
                out.extend(reversed(self._copy(item, live)))
                live = self._liveness.before_copies(item, live)
            else:
                dead_load = None
                out.append(Op("POP_TOP", NO_ARG, item.position) if isinstance(item, Op) and _forgets(item) else item)
                live = self._liveness.before(item, live)
            forgotten = _forgets(item)
        first = len(out)
        self._release(dying & self._released & ~live, live, out, _first_position(segment))
        released = out[first:][::-1]
        del out[first:]
        out.reverse()
        out[segment.fixed : segment.fixed] = released
        return out

    def _last_load(self, item: Load, live: int, out: list[Lowered], forgotten: bool) -> Variable | None:
        """Release after its last use what is to be released; other values need not be stored just before it."""
        value = item.value
        assert isinstance(value, Variable)
        if not item.bit & self._released and not forgotten:
            return None if self._kept(value) else value
        self._release(item.bit, live, out, item.position)
        return None

    def _kept(self, variable: Variable) -> bool:
        return self._keep and variable.name is not None

    def _release(self, mask: int, live: int, out: list[Lowered], position: Position | None) -> None:
        """Forget what the slots of the variables hold, unless another variable lives there."""
        for slot in {self._slots.slot[self._liveness.variables[i]] for i in bits(mask)}:
            if not self._slots.slot_members[slot] & live:
                out += [Op("STORE_FAST", slot, position), Op("LOAD_CONST", None, position)]

    def load(self, value: Operand | Null, position: Position | None) -> Op:
        """Push a value."""
        if isinstance(value, Constant):
            return Op("LOAD_CONST", value.value, position)
        if isinstance(value, Null):
            return Op("PUSH_NULL", NO_ARG, position)
        if value in self._cells:
            return Op(*versions.load_cell(self._cells[value]), position)
        return Op("LOAD_FAST", self._slots.slot[value], position)

    def _store(self, variable: Variable, position: Position | None) -> Op:
        return Op("STORE_FAST", self._slots.slot[variable], position)

    def _copy(self, item: Copies, live: int) -> list[Lowered]:
        loads: list[Lowered] = []
        stores: list[Lowered] = []
        for target, value in item.pairs:
            if not live & self._liveness.bit(target):
                continue
            slot = self._slots.slot[target]
            if isinstance(value, Variable) and value not in self._cells and self._slots.slot[value] == slot:
                continue
            loads.append(self.load(value, item.position))
            stores.append(Op("STORE_FAST", slot, item.position))
        stores.reverse()
        for target in reversed(item.stacked):
            dead = not live & self._liveness.bit(target)
            stores.append(Op("POP_TOP", NO_ARG, item.position) if dead else self._store(target, item.position))
        return loads + stores


def _forgets(item: Item) -> bool:
    return isinstance(item, Op) and item.name == FORGET


def _first_position(segment: Segment) -> Position | None:
    """What runs at the start of a segment is of its own line, not of the line of what happens to stand before it."""
    positions = (item.position for item in segment.items if not isinstance(item, Mark))
    return next((x for x in positions if x is not None), segment.exit.position)


def improve(code: list[Lowered]) -> list[Lowered]:
    """Local rewriting: NULL folded into LOAD_GLOBAL, slices, constant returns."""
    out: list[Lowered] = []
    for item in code:
        if isinstance(item, Op) and item.name in _SECOND and out:
            last = out[-1]
            fused = _fuse(last, item) if isinstance(last, Op) else None
            if fused is not None:
                out[-1] = fused
                continue
        out.append(item)
    return out


_SECOND: Final = frozenset({"LOAD_GLOBAL", "PUSH_NULL", "RETURN_VALUE", versions.SUBSCRIPT[0], "STORE_SUBSCR"})
"""What can be melted into the instruction before it."""


def _fuse(first: Op, second: Op) -> Op | None:
    pair = first.name, second.name
    if pair == ("PUSH_NULL", "LOAD_GLOBAL") and not versions.NULL_ABOVE and not second.arg[0]:
        return Op("LOAD_GLOBAL", (True, second.arg[1]), second.position, second.handler)
    if pair == ("LOAD_GLOBAL", "PUSH_NULL") and versions.NULL_ABOVE and not first.arg[0]:
        return Op("LOAD_GLOBAL", (True, first.arg[1]), first.position, first.handler)
    if pair == ("LOAD_CONST", "RETURN_VALUE") and versions.RETURN_CONST:
        return Op("RETURN_CONST", first.arg, second.position)
    if first.name == "BUILD_SLICE" and first.arg == 2 and versions.BINARY_SLICES:
        if (second.name, second.arg) == versions.SUBSCRIPT:
            return Op("BINARY_SLICE", NO_ARG, second.position, second.handler)
        if second.name == "STORE_SUBSCR":
            return Op("STORE_SLICE", NO_ARG, second.position, second.handler)
    return None
