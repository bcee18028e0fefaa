"""From items over virtual locals to instructions over slots, one segment at a time."""

from __future__ import annotations

from collections.abc import Iterable

from bytecode.instr import CellVar, FreeVar

from autodiff_hook.emit import versions
from autodiff_hook.emit.items import NO_ARG, NULL, Copies, Load, Mark, Null, Op, Segment, Store
from autodiff_hook.emit.slots import Liveness, Slots, bits
from autodiff_hook.ir.types import Constant, Operand, Position, Variable


class Slot(int):
    """The argument of an instruction that is the number of a slot."""


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
        for item in reversed(segment.items):
            if isinstance(item, Store) and item.variable is dead_load:
                out.pop()
                dead_load = None
                continue
            dead_load = None
            if isinstance(item, Load):
                value = item.value
                if isinstance(value, Variable) and value not in self._cells:
                    bit = self._liveness.bit(value)
                    if not live & bit:
                        dead_load = None if bit & self._released or self._kept(value) else value
                        self._release(bit & self._released, live, out, item.position)
                out.append(self.load(value, item.position))
            elif isinstance(item, Store):
                dead = not live & self._liveness.bit(item.variable) and not self._kept(item.variable)
                out.append(Op("POP_TOP", NO_ARG, item.position) if dead else self._store(item.variable, item.position))
            elif isinstance(item, Copies):
                out.extend(reversed(self._copy(item, live)))
            else:
                out.append(item)
            live = self._liveness.before(item, live)
        first = len(out)
        self._release(dying & self._released & ~live, live, out, None)
        released = out[first:][::-1]
        del out[first:]
        out.reverse()
        out[segment.fixed : segment.fixed] = released
        return out

    def _kept(self, variable: Variable) -> bool:
        return self._keep and variable.name is not None

    def _release(self, mask: int, live: int, out: list[Lowered], position: Position | None) -> None:
        """Forget what the slots of the variables hold, unless another variable lives there."""
        for slot in {self._slots.slot[self._liveness.variables[i]] for i in bits(mask)}:
            if not self._slots.slot_members[slot] & live:
                out += [Op("STORE_FAST", Slot(slot), position), Op("LOAD_CONST", None, position)]

    def load(self, value: Operand | Null, position: Position | None) -> Op:
        """Push a value."""
        if isinstance(value, Constant):
            return Op("LOAD_CONST", value.value, position)
        if value is NULL:
            return Op("PUSH_NULL", NO_ARG, position)
        assert isinstance(value, Variable)
        if value in self._cells:
            return Op(*versions.load_cell(self._cells[value]), position)
        return Op("LOAD_FAST", Slot(self._slots.slot[value]), position)

    def _store(self, variable: Variable, position: Position | None) -> Op:
        return Op("STORE_FAST", Slot(self._slots.slot[variable]), position)

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
            stores.append(Op("STORE_FAST", Slot(slot), item.position))
        stores.reverse()
        for target in reversed(item.stacked):
            dead = not live & self._liveness.bit(target)
            stores.append(Op("POP_TOP", NO_ARG, item.position) if dead else self._store(target, item.position))
        return loads + stores


def dying_variables(segments: list[Segment], liveness: Liveness) -> dict[Segment, int]:
    """For each segment, what is live in a predecessor where it branches off, but not in the segment."""
    result = dict.fromkeys(segments, 0)
    for segment in segments:
        live = liveness.live_out(segment)
        for target in segment.exit.targets:
            result[target] |= live & ~liveness.live_in[target]
        for item in reversed(segment.items):
            live = liveness.before(item, live)
            if isinstance(item, Op) and item.handler is not None:
                result[item.handler] |= live & ~liveness.live_in[item.handler]
    return result


def improve(code: list[Lowered]) -> list[Lowered]:
    """Local rewriting: NULL folded into LOAD_GLOBAL, slices, constant returns."""
    out: list[Lowered] = []
    for item in code:
        last = out[-1] if out else None
        if isinstance(item, Op) and isinstance(last, Op):
            fused = _fuse(last, item)
            if fused is not None:
                out[-1] = fused
                continue
        out.append(item)
    return out


def _fuse(first: Op, second: Op) -> Op | None:
    pair = first.name, second.name
    if pair == ("PUSH_NULL", "LOAD_GLOBAL") and not versions.PY313 and not second.arg[0]:
        return Op("LOAD_GLOBAL", (True, second.arg[1]), second.position, second.handler)
    if pair == ("LOAD_GLOBAL", "PUSH_NULL") and versions.PY313 and not first.arg[0]:
        return Op("LOAD_GLOBAL", (True, first.arg[1]), first.position, first.handler)
    if pair == ("LOAD_CONST", "RETURN_VALUE") and versions.RETURN_CONST:
        return Op("RETURN_CONST", first.arg, second.position)
    if first.name == "BUILD_SLICE" and first.arg == 2 and versions.BINARY_SLICES:
        if second.name in ("BINARY_SUBSCR", "STORE_SUBSCR"):
            return Op(second.name.replace("SUBSCR", "SLICE"), NO_ARG, second.position, second.handler)
    return None
