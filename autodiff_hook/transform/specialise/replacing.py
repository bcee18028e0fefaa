"""Arrays that lie in lists, dicts and attributes, and are changed there as a whole: their place is given a new array.

``p.v += f`` stores into an array that others may hold. If each array of such a place lies there alone, and no other
name of one is used after a change, nobody can tell it from ``p.v = p.v + f``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Mapping
from typing import Any, Final

import numpy as np

from autodiff_hook.ir.analysis import closure, definitions, homes_of, statements_of, successors
from autodiff_hook.ir.liveness import live_from, live_out
from autodiff_hook.ir.types import IR, Block, Constant, Operand, Statement
from autodiff_hook.transform.improve.shortcuts import LOOKING, shortcut
from autodiff_hook.transform.improve.site import Site
from autodiff_hook.transform.specialise.abstract import Abstract, Array, Iterator, Known, Reference
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.lattice import number_types, sites_in
from autodiff_hook.transform.specialise.memory import sharing, show_arrays
from autodiff_hook.transform.specialise.origins import heirs, makes_new, may_hold
from autodiff_hook.transform.specialise.plans import checked
from autodiff_hook.transform.specialise.program import (
    APPEND,
    ASSIGN,
    DROP,
    ITEMS,
    LOAD,
    PURE,
    STORE,
    STRUCTURAL,
    TAKE,
    Given,
    Program,
)
from autodiff_hook.transform.specialise.questions import QUESTIONS
from autodiff_hook.transform.specialise.updating import Change, Place, given, name_of, place_of, update

Stored = Mapping[type, Mapping[str, bool]]
"""The attributes of objects from outside that are assigned, and whether their arrays are changed."""
_MOVING: Final = (LOAD, STORE, APPEND, DROP, TAKE, STRUCTURAL)
"""What hands on a list, a dict or an object, or takes an item out of it."""


def replace(ir: IR, program: Program, stored: Stored) -> None:
    """Store a new array where all of one is changed; ``Refused`` if somebody could see the difference."""
    made = definitions(statements_of(ir.blocks))
    found = [_replaced(program, made, block, s) for block in ir.blocks for s in list(block.statements)]
    changes = [*(change for change in found if change is not None), *update(ir, program)]
    if changes and show_arrays([*program.lent, *sharing(program)]):
        raise Refused("an array in a list or an object is changed in place beside calls that share these")
    owners = _Owners(ir, program) if changes else None
    for place in dict.fromkeys(change.place for change in changes):
        assert owners is not None
        owners.require_alone(place, [x for x in changes if x.place.meets(place)], stored)


def _replaced(program: Program, made: dict[Operand, Statement], block: Block, s: Statement) -> Change | None:
    """``old[...] = new; place = old`` becomes ``place = new``."""
    if program.plans.get(s) != STORE or not isinstance(program.type_of(s.operands[0]), Array):
        return None
    old, key, new = s.operands
    load, index = made.get(old), block.statements.index(s)
    if load is None or program.plans.get(load) != LOAD or new not in made or not _is_whole(key):
        return None
    place = place_of(program, load)
    back = next((x for x in block.statements[index + 1 :] if x.operands and x.operands[-1] is old), None)
    if place is None or back is None or not _is_back(program, back, load):
        return None
    back.operands[-1] = new
    _read_itself(program, made, old, made[new])
    block.statements[index : index + 1] = _checks(program, old, made[new])
    return Change(place, block, back)


def _is_whole(key: Operand) -> bool:
    return isinstance(key, Constant) and key.value is Ellipsis


def _is_back(program: Program, s: Statement, load: Statement) -> bool:
    """Whether a statement stores to where another one has read."""
    same = s.data == load.data and len(s.operands) == len(load.operands) + 1
    return same and program.plans.get(s) == STORE and all(map(_is_one, load.operands, s.operands))


def _is_one(a: Operand, b: Operand) -> bool:
    if isinstance(a, Constant) and isinstance(b, Constant):
        return type(a.value) is type(b.value) and bool(a.value == b.value)
    return a is b


def _read_itself(program: Program, made: dict[Operand, Statement], old: Operand, s: Statement) -> None:
    """What computes the new array is given the old one, where it was given all of its items."""
    for x in s.operands:
        part = made.get(x)
        if part is not None and part.op == "getitem" and part.operands[0] is old and _is_whole(part.operands[1]):
            given(program, s, x, old)


def _checks(program: Program, old: Operand, made: Statement) -> list[Statement]:
    if made.op == "binary" and number_types(program.type_of(made.operands[1])) is not None:
        return []
    check = Statement("call", [Constant(require_shape), old, made.made], None, ())
    program.plans[check] = PURE
    return [check]


def require_shape(old: Any, new: Any) -> None:
    """Give up if an array cannot be changed into another one."""
    if old.shape != new.shape:
        raise Given("what is put into an array does not fit")


class _Owners:
    """Where the arrays of a place come from, and by which names they are known."""

    def __init__(self, ir: IR, program: Program) -> None:
        self.program, self.type_of, self.blocks = program, program.type_of, ir.blocks
        self.homes, self.made = homes_of(ir.blocks), definitions(statements_of(ir.blocks))
        self.handed_on = heirs(program, ir.blocks, _may_show)
        self.live = live_out(ir.blocks)

    def require_alone(self, place: Place, changes: list[Change], stored: Stored) -> None:
        """Refuse an array that somebody else has, or that is used by another name after a change."""
        try:
            self._require_followed(place)
            names = self._names(place)
            self._require_kept_once(place, names)
            if place.site.given or place.site.examples:
                self._require_given_back(place, names, stored)
        except Refused as reason:
            raise Refused(f"an array is changed where it lies, and {reason}", changes[0].store) from None
        for change in changes:
            after = live_from(change.block, self.live, change.block.statements.index(change.store) + 1)
            if names & after - {change.store.operands[-1]}:
                raise Refused("an array is changed where it lies, and used by another name afterwards", change.store)

    def _statements(self) -> Generator[tuple[Block, Statement]]:
        return ((block, s) for block in self.blocks for s in block.statements)

    def _holders(self, place: Place, s: Statement) -> list[Operand]:
        """What a statement has to do with that may be what the arrays lie in, or hold that."""
        operands = [*s.operands, *([] if s.result is None else [s.result])]
        return [x for x in operands if any(site.root() is place.site for site in sites_in(self.type_of(x)))]

    def _require_followed(self, place: Place) -> None:
        """Refuse what may put arrays there, or take them out, unseen."""
        for _, s in self._statements():
            plan = self.program.plans.get(s)
            if plan in _MOVING or plan in (ITEMS, PURE) and s.op in ("build_list", "build_map"):
                continue
            makes = s.result is not None and bool(sites_in(self.type_of(s.result)))
            if (makes or plan == ASSIGN) and self._holders(place, s):
                raise Refused("what it lies in is copied or kept outside")

    def _entered(self, place: Place, s: Statement) -> list[Operand]:
        """What a statement puts there."""
        plan = self.program.plans.get(s)
        into = s.result if plan == ITEMS else s.operands[0] if plan in (STORE, APPEND) else None
        kind = None if into is None else self.type_of(into)
        if not isinstance(kind, Reference) or kind.site.root() is not place.site:
            return []
        if plan == ITEMS and s.op == "build_map":
            pairs = zip(s.operands[::2], s.operands[1::2])
            return [x for key, x in pairs if Place(place.site, name_of(key)).meets(place)]
        where = place_of(self.program, s) if plan == STORE else place
        if where is None or not where.meets(place):
            return []
        return list(s.operands) if plan == ITEMS else s.operands[-1:]

    def _names(self, place: Place) -> set[Operand]:
        """All that may lie in the memory of an array that lies there, or has lain there."""
        begin = [x for _, s in self._statements() for x in (*self._holders(place, s), *self._entered(place, s))]

        def following(x: Operand) -> list[Operand]:
            found = [y for y in self.handed_on.get(x, ()) if not self._is_elsewhere(place, y)]
            # The keys of a dict are nothing of an array.
            return [y for y in found if may_hold(self.type_of(y)) or self._is_array(x)]

        return set(filter(self._is_array, closure(begin, following)))

    def _is_elsewhere(self, place: Place, x: Operand) -> bool:
        """Whether a value was read of another attribute."""
        made = self.made.get(x)
        where = place_of(self.program, made) if made is not None and self.program.plans.get(made) == LOAD else None
        return where is not None and where.site is place.site and not where.meets(place)

    def _is_array(self, x: Operand) -> bool:
        kind = self.type_of(x)
        return _may_show(kind) or isinstance(kind, Known) and isinstance(kind.value, np.ndarray)

    def _require_kept_once(self, place: Place, names: set[Operand]) -> None:
        """Refuse an array that is not made for the place alone."""
        kept = Counter[Operand]()
        for block, s in self._statements():
            entered = self._entered(place, s)
            for x in filter(names.__contains__, self.program.put_by(s)):
                kept[x] += 1
                made = self.made.get(x)
                if x not in entered or made is None or not makes_new(made, self.type_of):
                    raise Refused("others may hold it, too")
                home = self.homes[x]
                if kept[x] > 1 or block in closure(successors(block), successors, [home]).keys() - {home}:
                    raise Refused("it is put into several places")

    def _require_given_back(self, place: Place, names: set[Operand], stored: Stored) -> None:
        """Refuse arrays from outside, unless they are given in the end what the program has made of them."""
        changed = [stored.get(type(x), {}).get(str(place.name)) for x in place.site.examples]
        if not changed or not all(changed):
            raise Refused("it is somebody else's")
        left = [x for _, s in self._statements() if self.program.plans.get(s) == ASSIGN for x in s.operands]
        left += [x for block in self.blocks if block.terminator.kind == "return" for x in block.terminator.operands]
        if not names.isdisjoint(left):
            raise Refused("it is returned, or kept outside")


def _may_show(kind: Abstract) -> bool:
    """Whether a value may lie in the memory of an array, or an iteration run over it."""
    return may_hold(kind) or isinstance(kind, Iterator)


@shortcut(require_shape)
def _fits(site: Site, old: Operand, new: Operand) -> Operand | None:
    return Constant(None) if site.alike(old, new) else None


QUESTIONS[require_shape] = checked
LOOKING.add(require_shape)
