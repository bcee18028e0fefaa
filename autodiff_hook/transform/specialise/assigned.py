"""What a program assigns outside: attributes of objects, items of dicts, globals, by name; and lists and arrays.

It works on what is its own, records and copies, and does to the others what they have come to at its end. So a program
may still be given up at any point. That what is changed has no other name is guarded, and nothing but the program looks
at it meanwhile.
"""

from __future__ import annotations

import collections.abc
from functools import reduce
from typing import Any, Final, NamedTuple, Protocol, cast

from autodiff_hook.ir.analysis import closure, passed_on, statements_of
from autodiff_hook.ir.substituting import go_on_at
from autodiff_hook.ir.types import Block, Constant, Operand, Statement, Terminator, Variable, value_of
from autodiff_hook.runtime.altering import GENERATORS, assign_if
from autodiff_hook.transform.specialise import altered, dicts, draws, saying
from autodiff_hook.transform.specialise.abstract import (
    BOOL,
    Abstract,
    Array,
    Dict,
    Known,
    List,
    Outside,
    Record,
    Reference,
    Site,
)
from autodiff_hook.transform.specialise.bodies import Changes, Refused
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.lattice import example_of, item_like, leaves_in, reached, sites_in
from autodiff_hook.transform.specialise.named_tuples import holds_named
from autodiff_hook.transform.specialise.origins import heirs, holds
from autodiff_hook.transform.specialise.places import assigned_to, assigns, copied_from, place_of
from autodiff_hook.transform.specialise.program import (
    APPEND,
    ASSIGN,
    COPY,
    IN_ITS_ORDER,
    ITEMS,
    LOAD,
    PARTS,
    STORE,
    Alias,
    OwnPlan,
)


class Holder(NamedTuple):
    """What has a record: an object or a dict from outside, as it is loaded."""

    at: Operand
    example: Any
    record: Variable
    kind: Dict


class Around(Protocol):
    """What the world of a function with a program of its own knows of the program around it."""

    def may_assign(self) -> bool:
        """Whether it assigns something outside at its end."""

    def record(self, at: Operand, example: Any) -> Variable:
        """Its record of an object or a dict, as it is loaded here."""


# Records


def read(inf: Inference, s: Statement, example: Any, owner: Operand, name: str) -> Abstract:
    """``owner.name``, ``owner[name]``, or a global."""
    holder = holder_of(inf, example, owner)
    return dicts.load_slot(inf, s, holder.record, holder.kind, name)


def write(inf: Inference, s: Statement, example: Any, owner: Operand, name: str) -> Abstract:
    """``owner.name = value``; the first time, the program is followed again with a record of the owner."""
    place, value = place_of(example, name), s.operands[-1]
    if not may_assign(inf):
        raise Refused(f"{name} of what is outside is assigned")
    if place not in inf.program.changed:
        inf.wanted[place] = None
        inf.plans[s] = Alias(Constant(None))
        return Known(None)
    holder = holder_of(inf, example, owner)
    mark = _mark(holder, name)
    if mark is not None and s not in inf.checked:
        noted = Statement("setitem", [holder.record, Constant(mark), Constant(True)], None, None, s.position)
        inf.insert(noted, plan=STORE)
        inf.checked.add(s)
    return dicts.store_slot(inf, s, holder.record, holder.kind, name, value)


def may_assign(inf: Inference) -> bool:
    """Whether a program, or the one around it, assigns something outside at its end."""
    return inf.outer.allowed if inf.give is None else cast(Around, inf.world).may_assign()


def holder_of(inf: Inference, example: Any, owner: Operand) -> Holder:
    """The record of what is assigned, which is made where the program begins, or lent by the program around it."""
    at, key = inf.final(owner), id(example)
    if isinstance(at, Variable) and not inf.world.is_outside(at):
        raise Refused("an attribute of an object that is not known on entry is assigned")
    if inf.give is not None:
        record = cast(Around, inf.world).record(at, example)
        kind = inf.types[record]
        assert isinstance(kind, Dict)
        return Holder(at, example, record, kind)
    found = inf.outer.holders.get(key)
    if found is None:
        found = inf.outer.holders[key] = Holder(at, example, Variable("record"), Dict(Site()))
        _begin(inf, found)
    if isinstance(at, Variable) and found.at is not at:
        raise Refused("an object that is known in two ways is changed")
    return found


def _begin(inf: Inference, holder: Holder) -> None:
    """Make a record, with what there is of it."""
    operands = list[Operand]()
    inf.types[holder.record] = holder.kind
    mine = assigned_to(holder.example)
    for name in [place[2] for place in inf.program.changed if type(place) is tuple and place[:-1] == mine]:
        initial = inf.world.initial(holder.at, holder.example, name)
        kind = None if initial is None else inf.type_of(initial)
        if initial is not None and kind is not None and not sites_in(kind) and item_like(kind) is not None:
            dicts.into_dict(inf, holder.kind, Known(name), kind)
            operands += [Constant(name), initial]
            if _is_of_class(inf, holder, name):
                mark = name + _MARK
                dicts.into_dict(inf, holder.kind, Known(mark), BOOL)
                operands += [Constant(mark), Constant(False)]
    s = Statement("build_map", operands, holder.record)
    inf.plans[s] = ITEMS
    inf.outer.first.statements.insert(0, s)
    inf.index += inf.block is inf.outer.first


_MARK: Final = " is assigned"


def _mark(holder: Holder, name: str) -> str | None:
    """The item of a record that says whether an attribute which the class has was assigned to the object."""
    mark = name + _MARK
    return mark if not isinstance(holder.example, dict) and mark in holder.kind.site.named else None


def _is_of_class(inf: Inference, holder: Holder, name: str) -> bool:
    cls = type(holder.example)
    if isinstance(holder.at, Constant) or cls is dict or hasattr(getattr(cls, name, holder), "__set__"):
        return False
    return hasattr(cls, name) and not inf.world.has(holder.at, holder.example, name)


def require_promoted(inf: Inference, blocks: list[Block]) -> None:
    """What is assigned is on all ways there before it is read, and in the end."""
    records = {holder.record: holder.kind.site.named for holder in inf.outer.holders.values()}
    made = [s for s in statements_of(blocks) if s.result in records]
    if any({*map(value_of, s.operands[::2])} != {*records[s.made]} for s in made):
        raise Refused("what is assigned outside on one way is read on others, where it was not there or is a list")


# Copies


def take_copies(inf: Inference) -> dict[Variable, Variable]:
    """The lists and arrays from outside that are changed, each with the copy that the program is to work on."""
    found: dict[Variable, Variable] = {}
    for here in inf.world.changing if assigns(inf) else ():
        found[here] = Variable(here.name)
        inf.types[found[here]] = inf.types[here]
    return found


def _copy(inf: Inference, here: Variable, own: Variable) -> list[Statement]:
    """Make a copy where the program begins; what writes it back."""
    _require_one_name(inf, here)
    _require_real(inf.types[here])
    is_list, value = isinstance(inf.types[here], List), inf.world.changing[here]
    if copied_from(value) not in inf.program.changed:
        _require_appended(inf, here, own)
        make = Statement("build_list", [], own)
        back = Statement("call_method", [here, own], None, ("extend", ()))
    elif is_list:
        make = Statement("getitem", [here, Constant(slice(None))], own)
        back = Statement("setitem", [here, Constant(slice(None)), own], None)
    else:
        make = Statement("call_method", [here, IN_ITS_ORDER], own, ("copy", ()))
        back = Statement("setitem", [here, Constant(Ellipsis), own], None)
    inf.plans[make] = ITEMS if make.op == "build_list" else PARTS if is_list else COPY
    inf.outer.first.statements.insert(0, make)
    return [back]


def _require_appended(inf: Inference, here: Variable, own: Variable) -> None:
    """Follow the program again with a copy of a list if it asks for more than to append."""
    for block in inf.program.blocks:
        used = [x for s in block.statements for x in s.operands[s.op == "list_append" :]]
        if own in (*used, *passed_on(block)):
            raise Changes("a list from outside is read", copied_from(inf.world.changing[here]))


def require_apart(inf: Inference, blocks: list[Block], copies: dict[Variable, Variable]) -> None:
    """What is kept outside, or returned, is no copy, and no part of one; a list or an array itself is what it was."""
    if not copies:
        return
    handed_on = heirs(inf.program, blocks, lambda kind: holds(kind, True))
    mine = closure(list[Operand](copies.values()), lambda x: handed_on.get(x, ()))
    originals = dict[Operand, Operand]((own, here) for here, own in copies.items())
    for block in blocks:
        kept = list(block.terminator.operands) if block.terminator.kind == "return" else []
        for s in block.statements:
            if inf.plans.get(s) == ASSIGN and copies.keys().isdisjoint(s.operands):
                s.operands = [originals.get(x, x) for x in s.operands]
                kept += s.operands
            elif inf.plans.get(s) in (APPEND, STORE) and isinstance(inf.type_of(s.operands[0]), Reference):
                kept.append(s.operands[-1])
        if not mine.keys().isdisjoint(kept):
            raise Refused("what is kept outside may be a part of what is changed in place")


# The end


def settle(inf: Inference, copies: dict[Variable, Variable]) -> None:
    """Do outside what the program comes to, where it ends."""
    # What may fail comes first.
    last = saying.settle(inf, [inf.world.changing[here] for here in copies]) + altered.settle(inf)
    if inf.outer.holders or copies:
        _require_unseen(inf)
    for holder in inf.outer.holders.values():
        _require_own_attributes(inf, holder)
        last += _assignments(inf, holder)
    last += [s for here, own in copies.items() for s in _copy(inf, here, own)]
    last += draws.settle(inf)
    inf.plans.update(dict.fromkeys([s for s in last if s.result is None], ASSIGN))
    if last and inf.one_way:
        inf.block.statements += last
    elif last:
        _end_with(inf, last)


def _assignments(inf: Inference, holder: Holder) -> collections.abc.Iterator[Statement]:
    names = list(holder.kind.site.named)
    marks = {name: _mark(holder, name) for name in names}
    for name in [name for name in names if name not in marks.values()]:
        load, kept = _loaded(inf, holder, name)
        mark = marks[name]
        _require_real(inf.types[kept])
        yield load
        if isinstance(holder.example, dict):
            yield Statement("setitem", [holder.at, Constant(name), kept], None)
        elif mark is not None:
            load, assigned = _loaded(inf, holder, mark)
            yield load
            yield Statement("call", [Constant(assign_if), assigned, holder.at, Constant(name), kept], None, ())
        else:
            yield Statement("setattr", [holder.at, kept], None, name)


def _loaded(inf: Inference, holder: Holder, name: str) -> tuple[Statement, Variable]:
    """An item of a record, and what loads it."""
    kept = Variable(name)
    load = Statement("getitem", [holder.record, Constant(name)], kept)
    inf.types[kept], inf.plans[load] = dicts.item_of_dict(inf, holder.kind, Known(name)), LOAD
    return load, kept


def _require_real(kind: Abstract) -> None:
    """Refuse to keep outside what only stands for another class."""
    roots = {root for site in sites_in(kind) for root in reached(site)}
    if any(root.cls is not None or any(map(holds_named, root.kinds())) for root in roots) or holds_named(kind):
        raise Refused("what only stands for another class is kept outside")


def _end_with(inf: Inference, last: list[Statement]) -> None:
    """Let all ways to the end of the program lead over some statements."""
    returning = [b for b in inf.program.blocks if b.terminator.kind == "return"]
    if not returning:
        return
    value = Variable("result")
    kinds = [inf.type_of(b.terminator.operands[0]) for b in returning]
    inf.types[value] = reduce(inf.joined, kinds)
    end = Block([value], last, Terminator("return", [value]))
    go_on_at(end, returning)
    inf.add(returning[0], end)


_LOOKING: Final = ("is", "is_not", "build_tuple", "project", "unpack")
"""What does not look into an object."""


def _require_unseen(inf: Inference) -> None:
    """Refuse to show an object from outside whole: what it is asked may depend on what is to be assigned."""
    for each in programs_of(inf):
        for s in list(statements_of(each.program.blocks)):
            told = s in each.program.slots or isinstance(each.plans.get(s), (Alias, OwnPlan))
            looks = s.op not in _LOOKING and not told and not saying.puts_together(s)
            if looks and any(_is_object(inf, each.type_of(x)) for x in s.operands):
                raise Refused("an object from outside is used whole, and something is assigned outside", s)


def programs_of(inf: Inference) -> list[Inference]:
    """A program, and those that it calls."""
    return [inf, *(inf.callees.inferences if inf.callees is not None else ())]


def _is_object(inf: Inference, value: Abstract) -> bool:
    outside = [x for x in leaves_in(value) if isinstance(x, Outside)]
    return any(x.cls not in (list, dict, *GENERATORS) or id(x.example) in inf.outer.holders for x in outside)


def _require_own_attributes(inf: Inference, holder: Holder) -> None:
    """Nothing else that the program has loaded is the holder, or has the same attributes."""
    cls = type(holder.example)
    kinds = [kind for each in programs_of(inf) for kind in each.types.values()]
    if any(isinstance(kind, Record) and kind.cls is cls for kind in kinds):
        raise Refused("an attribute of an object is assigned, of whose class there are others in lists")
    for other, found in list(inf.types.items()):
        loaded = isinstance(found, (Outside, Dict)) and inf.world.is_outside(other)
        if not loaded or other is holder.at or not isinstance(holder.at, Variable):
            continue
        inf.world.apart(holder.at, other, holder.example, example_of(found))


def _require_one_name(inf: Inference, here: Variable) -> None:
    """Nothing else that the program has loaded is a list or an array that is changed, or holds it."""
    changing, kind = inf.world.changing, inf.types[here]
    given: dict[Operand, Operand] = {x: inf.world.argument(place) for place, x in enumerate(inf.params)}
    others = [x for x in inf.types if x is not here and (inf.world.is_outside(x) or x in given)]
    for other in others:
        if changing.get(other, example_of(inf.types[other])) is changing[here]:
            raise Refused("a list or an array that is known in two ways is changed")
    mine = given.get(here, here)
    inf.world.alone(
        mine, changing[here], [given.get(x, x) for x in others if holds(inf.types[x], isinstance(kind, Array))]
    )
