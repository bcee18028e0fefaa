"""Local slots for virtual locals: liveness, interference, coalescing of copies, colouring. Sets are int bit masks."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import TypeGuard

from autodiff_hook import budget
from autodiff_hook.emit.items import Copies, Item, Load, Op, Segment, Store
from autodiff_hook.ir.types import Variable

_Effect = tuple[int, int] | Copies | Segment


class Liveness:
    """Which virtual locals are live where.

    The dataflow runs over summaries of the segments: pairs of masks (what dies, what comes to life), with the
    handlers and copies between them, whose effect depends on what is live.
    """

    def __init__(self, segments: list[Segment], never: Iterable[Variable]) -> None:
        self.number: dict[Variable, int] = {}
        self.variables: list[Variable] = []
        self._never = frozenset(never)
        self.live_in: dict[Segment, int] = dict.fromkeys(segments, 0)
        self._summaries: dict[Segment, list[_Effect]] = {}
        for segment in segments:
            segment.handlers = _handlers(segment)
        users: dict[Segment, list[Segment]] = {segment: [] for segment in segments}
        for segment in segments:
            for target in segment.successors():
                users[target].append(segment)
        pending = list(segments)
        queued = set(pending)
        while pending:
            segment = pending.pop()
            queued.discard(segment)
            live = self.live_out(segment)
            if segment in self._summaries:
                for effect in self._summaries[segment]:
                    live = self._apply(effect, live)
            else:
                live = self._summarise(segment, live)
            if live != self.live_in[segment]:
                self.live_in[segment] = live
                new = [s for s in users[segment] if s not in queued]
                queued.update(new)
                pending.extend(new)

    def bit(self, variable: Variable) -> int:
        """The mask of one variable."""
        number = self.number.get(variable)
        if number is None:
            number = self.number[variable] = len(self.variables)
            self.variables.append(variable)
        return 1 << number

    def uses_local(self, value: object) -> TypeGuard[Variable]:
        """Whether loading ``value`` reads a local slot."""
        return isinstance(value, Variable) and value not in self._never

    def live_out(self, segment: Segment) -> int:
        """What is live after the last item, the exit's own handler included."""
        live = 0
        for target in segment.exit.targets:
            live |= self.live_in[target]
        if segment.exit.handler is not None:
            live |= self.live_in[segment.exit.handler]
        for op in segment.exit.after:
            if op.handler is not None:
                live |= self.live_in[op.handler]
        return live

    def _summarise(self, segment: Segment, live: int) -> int:
        """The first pass over a segment: it numbers the variables, marks the items and gives what is live before."""
        effects = self._summaries[segment] = []
        stored = loaded = 0
        for item in reversed(segment.items):
            if isinstance(item, Load):
                if self.uses_local(item.value):
                    item.bit = self.bit(item.value)
                    loaded |= item.bit
            elif isinstance(item, Store):
                item.bit = self.bit(item.variable)
                stored |= item.bit
                loaded &= ~item.bit
            else:
                other = item if isinstance(item, Copies) else item.handler if isinstance(item, Op) else None
                if other is not None:
                    live = live & ~stored | loaded
                    effects += [(stored, loaded), other] if stored or loaded else [other]
                    live = self._apply(other, live)
                    stored = loaded = 0
        if stored or loaded:
            effects.append((stored, loaded))
        return live & ~stored | loaded

    def _apply(self, effect: _Effect, live: int) -> int:
        """What is live before something of a summary if ``live`` is after it."""
        if isinstance(effect, tuple):
            return live & ~effect[0] | effect[1]
        return self.before_copies(effect, live) if isinstance(effect, Copies) else live | self.live_in[effect]

    def before_copies(self, item: Copies, live: int) -> int:
        """What is live before a parallel copy."""
        result = live
        for target, _ in item.pairs:
            result &= ~self.bit(target)
        for target in item.stacked:
            result &= ~self.bit(target)
        for target, value in item.pairs:
            if live & self.bit(target) and self.uses_local(value):
                result |= self.bit(value)
        return result

    def before(self, item: Item, live: int) -> int:
        """What is live before ``item`` if ``live`` is after it."""
        if isinstance(item, Load):
            return live | item.bit
        if isinstance(item, Store):
            return live & ~item.bit
        if isinstance(item, Copies):
            return self.before_copies(item, live)
        if isinstance(item, Op) and item.handler is not None:
            return live | self.live_in[item.handler]
        return live

    def dying(self, order: list[Segment]) -> dict[Segment, int]:
        """For each segment, what is live in a predecessor where it branches off, but not in the segment."""
        result = dict.fromkeys(order, 0)
        for segment in order:
            live = self.live_out(segment)
            for target in segment.exit.targets:
                result[target] |= live & ~self.live_in[target]
            for effect in self._summaries[segment]:
                live = self._apply(effect, live)
                if isinstance(effect, Segment):
                    result[effect] |= live & ~self.live_in[effect]
        return result


def _handlers(segment: Segment) -> list[Segment]:
    found = {item.handler: None for item in (*segment.items, *segment.exit.after) if isinstance(item, Op)}
    found[segment.exit.handler] = None
    return [handler for handler in found if handler is not None]


class Slots:
    """The slot of each virtual local.

    With ``keep``, what the user has named keeps its object as long as the user's variable would: its
    slot is shared only with variables of the same name. Other values share slots as they can.
    """

    def __init__(
        self, segments: list[Segment], liveness: Liveness, params: dict[Variable, str], reserved: set[int], keep: bool
    ) -> None:
        self.liveness = liveness
        for param in params:
            liveness.bit(param)
        self._entry = segments[0]
        count = len(liveness.variables)
        self._conflicts = [0] * count
        self._members = [1 << i for i in range(count)]
        self._leader = list(range(count))
        self._fixed: dict[int, int] = {liveness.number[p]: i for i, p in enumerate(params)}
        self._names = [params.get(v, v.name if keep else None) for v in liveness.variables]
        affinities: list[tuple[int, int, int]] = []
        for segment in segments:
            self._collect(segment, affinities)
        entering = liveness.live_in[self._entry]
        for param in params:
            self._conflicts[liveness.number[param]] |= entering & ~liveness.bit(param)
        self._keep_apart(list(params))
        for _, a, b in sorted(affinities, key=lambda x: -x[0]):
            self._coalesce(a, b)
        self.slot_members: list[int] = [0] * len(params)
        self._slot_conflicts: list[int] = [0] * len(params)
        self._slot_names: list[str | None] = list(params.values())
        self._slots_named: dict[str | None, int] = {}
        for slot, name in enumerate(self._slot_names):
            if slot not in reserved:
                self._slots_named[name] = self._slots_named.get(name, 0) | 1 << slot
        self.slot: dict[Variable, int] = {}
        self._placed = self._met = self._occupied = 0
        self._met_in = [0] * len(params)
        self._colour(segments)

    def _collect(self, segment: Segment, affinities: list[tuple[int, int, int]]) -> None:
        """Interference: what is live when a variable gets its value, but not what it is a copy of."""
        liveness = self.liveness
        live = liveness.live_out(segment)
        for item in reversed(segment.items):
            if isinstance(item, Store):
                live &= ~item.bit
                self._conflicts[liveness.number[item.variable]] |= live
            elif isinstance(item, Load):
                live |= item.bit
            elif isinstance(item, Copies):
                for target, value in item.pairs:
                    i = liveness.number[target]
                    if not live >> i & 1:
                        continue
                    others = live & ~(1 << i)
                    if liveness.uses_local(value):
                        j = liveness.number[value]
                        others &= ~(1 << j)
                        affinities.append((segment.nesting, i, j))
                    self._conflicts[i] |= others
                for target in item.stacked:
                    i = liveness.number[target]
                    self._conflicts[i] |= live & ~(1 << i)
                live = liveness.before_copies(item, live)
            else:
                live = liveness.before(item, live)

    def _keep_apart(self, params: list[Variable]) -> None:
        """Two parameters never share a slot, even if one is never read."""
        numbers = [self.liveness.number[p] for p in params]
        everything = sum(1 << n for n in numbers)
        for n in numbers:
            self._conflicts[n] |= everything & ~(1 << n)

    def _find(self, i: int) -> int:
        leader = self._leader
        while leader[i] != i:
            leader[i] = leader[leader[i]]
            i = leader[i]
        return i

    def _coalesce(self, a: int, b: int) -> None:
        a, b = self._find(a), self._find(b)
        if a == b or self._conflicts[a] & self._members[b] or self._conflicts[b] & self._members[a]:
            return
        if None not in (self._names[a], self._names[b]) and self._names[a] != self._names[b]:
            return
        if b in self._fixed:
            a, b = b, a
        self._names[a] = self._names[a] or self._names[b]
        self._leader[b] = a
        self._conflicts[a] |= self._conflicts[b]
        self._members[a] |= self._members[b]

    def _colour(self, segments: list[Segment]) -> None:
        """In the order of definitions: what lives then is in conflict, and changes little from one to the next."""
        defined = (self.liveness.number[v] for segment in segments for v in _definitions(segment))
        leaders = dict.fromkeys(map(self._find, itertools.chain(defined, range(len(self._leader)))))
        for leader in leaders:
            if leader in self._fixed:
                self._place(leader, self._fixed[leader])
        for leader in leaders:
            if leader not in self._fixed:
                budget.check()
                self._place(leader, self._free_slot(leader))

    def _free_slot(self, leader: int) -> int:
        """The first slot of this name whose variables are in conflict with none of the leader's, in neither way."""
        self._meet(self._conflicts[leader] & self._placed)
        members, name = self._members[leader], self._names[leader]
        named = self._slots_named.get(name, 0)
        for slot in bits(named & ~self._occupied):
            if not self._slot_conflicts[slot] & members:
                return slot
        slot = len(self.slot_members)
        self._slots_named[name] = named | 1 << slot
        self.slot_members.append(0)
        self._slot_conflicts.append(0)
        self._slot_names.append(name)
        self._met_in.append(0)
        return slot

    def _meet(self, variables: int) -> None:
        """Occupy the slots of these variables instead of the last ones: most are the same, as their lives are long."""
        for i in bits(variables & ~self._met):
            slot = self.slot[self.liveness.variables[i]]
            self._met_in[slot] += 1
            self._occupied |= 1 << slot
        for i in bits(self._met & ~variables):
            slot = self.slot[self.liveness.variables[i]]
            self._met_in[slot] -= 1
            if not self._met_in[slot]:
                self._occupied ^= 1 << slot
        self._met = variables

    def _place(self, leader: int, slot: int) -> None:
        self.slot_members[slot] |= self._members[leader]
        self._slot_conflicts[slot] |= self._conflicts[leader]
        self._placed |= self._members[leader]
        for i in bits(self._members[leader]):
            self.slot[self.liveness.variables[i]] = slot

    def names(self, taken: set[str]) -> list[str]:
        """A name for each slot: the user's, or one nobody can write."""
        result: list[str] = []
        taken = set(taken)
        for slot, name in enumerate(self._slot_names):
            if slot >= len(self._fixed):
                own = (self.liveness.variables[i].name for i in bits(self.slot_members[slot]))
                invented = (f".{number}" for number in itertools.count(slot))
                name = next(n for n in itertools.chain((name, *own), invented) if n is not None and n not in taken)
            assert name is not None
            taken.add(name)
            result.append(name)
        return result


def _definitions(segment: Segment) -> Iterator[Variable]:
    for item in segment.items:
        if isinstance(item, Store):
            yield item.variable
        elif isinstance(item, Copies):
            yield from (target for target, _ in item.pairs)
            yield from item.stacked


def bits(mask: int) -> Iterator[int]:
    """The positions of the set bits."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
