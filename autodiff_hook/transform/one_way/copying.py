"""Copies of lists, dicts and objects on one way."""

from __future__ import annotations

from abc import ABCMeta
from types import FunctionType, MemberDescriptorType
from typing import Any

from autodiff_hook.ir.types import Constant, Operand
from autodiff_hook.runtime.kinds import DICTS
from autodiff_hook.transform.one_way.building import is_buildable
from autodiff_hook.transform.one_way.classes import instance
from autodiff_hook.transform.one_way.containers import as_key, pairs, parts
from autodiff_hook.transform.one_way.operators import is_object
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.one_way.trail import is_open
from autodiff_hook.transform.specialise.abstract import (
    Array,
    Container,
    Fresh,
    Instance,
    Known,
    List,
    Number,
    Outside,
    Tuple,
)
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.objects import is_copied_plainly, is_set_by_code, look
from autodiff_hook.transform.specialise.program import IN_ITS_ORDER
from autodiff_hook.transform.specialise.wording import named


def copied_alone(inf: Path, operand: Operand) -> Operand | None:
    """The copy of what holds nothing else, or of an object with what that holds; None if it is not such."""
    value = inf.type_of(operand)
    own = look(inf, value.cls, "__copy__") if is_object(value) else None
    if type(own) is FunctionType:
        return inf.call(Constant(own), [operand])
    if is_object(value) and is_plainly_copied(inf, value.cls, "__copy__"):
        made = instance(inf, value.cls)
        inf.members(made).update(_attributes(inf, operand, value))
        return made
    if isinstance(value, (Known, Number)) or isinstance(value, Instance) and value.cls in (str, range):
        return operand
    return inf.perform("call_method", [operand, IN_ITS_ORDER], ("copy", ())) if isinstance(value, Array) else None


def copied_deeply(inf: Path, operand: Operand) -> Operand:
    """A deep copy: what was one object is one in the copy, too."""
    done: dict[Operand, Operand] = {}
    made = copied(inf, operand, done)
    known: dict[int, Operand] = {}
    for example, x in filter(None, [_loaded(inf, x) for x in done]):
        inf.world.same(x, known.setdefault(id(example), x))
    inf.world.distinct([*known.values()])
    return made


def _loaded(inf: Path, operand: Operand) -> tuple[Any, Operand] | None:
    """What an operand is on entry, and what it is loaded as; None if it is made by the program or has no identity."""
    value, known = inf.type_of(operand), inf.final(operand)
    if isinstance(value, (Known, Number, Instance)) or not inf.world.is_outside(known):
        return None
    return value.example, known


def _known_before(inf: Path, operand: Operand, done: dict[Operand, Operand]) -> Operand:
    """What has been copied and is the same object, loaded from another place."""
    mine = None if operand in done else _loaded(inf, operand)
    if mine is None:
        return operand
    others = ((x, _loaded(inf, x)) for x in done)
    return next((x for x, other in others if other is not None and other[0] is mine[0]), operand)


def copied(inf: Path, operand: Operand, done: dict[Operand, Operand]) -> Operand:
    """A deep copy; ``done`` has the copies that are made."""
    operand = inf.present(operand)
    known = _known_before(inf, operand, done)
    if known is not operand:
        done[operand] = done[known]
    if operand not in done:
        value = inf.type_of(operand)
        cls = list if isinstance(value, List) else getattr(value, "cls", None)
        own = isinstance(value, Container) and cls in DICTS
        if own or cls is dict and not isinstance(value, Instance):
            made = done[operand] = inf.made_like(operand, {}) if own else inf.made(dict, {})
            for key, item in pairs(inf, operand).items():
                known = as_key(inf, copied(inf, inf.shown(key), done)) if is_open(key) else key
                inf.content(made)[known] = copied(inf, item, done)
        elif cls is list and not isinstance(value, Instance):
            made = done[operand] = inf.made(list, [])
            inf.content(made).extend(copied(inf, x, done) for x in parts(inf, operand))
        elif operand in inf.tuples or isinstance(value, Tuple) and value.cls is tuple:
            done[operand] = inf.perform("build_tuple", [copied(inf, x, done) for x in parts(inf, operand)])
        elif is_object(value) and is_plainly_copied(inf, value.cls, "__deepcopy__"):
            made, held = instance(inf, value.cls), _attributes(inf, operand, value)
            done[operand] = made
            inf.members(made).update((name, copied(inf, x, done)) for name, x in held.items())
        elif is_object(value):
            raise Refused(f"a deep copy of {named(value)}")
        else:
            alone = copied_alone(inf, operand)
            if alone is None:
                raise Refused(f"a deep copy of {named(value)}")
            done[operand] = alone
    return done[operand]


def is_plainly_copied(inf: Path, cls: type, hook: str) -> bool:
    """Whether the copy of an object is one of its class with the same attributes, and no code of the class is asked."""
    return is_buildable(cls) and type(cls) in (type, ABCMeta) and is_copied_plainly(inf, cls, hook)


def _attributes(inf: Path, operand: Operand, value: Fresh | Outside) -> dict[str, Operand]:
    """The attributes of an object."""
    if isinstance(value, Fresh):
        return dict(inf.members(value.made))
    owner, own = inf.final(operand), getattr(value.example, "__dict__", None)
    slots = any(isinstance(x, MemberDescriptorType) for base in value.cls.__mro__ for x in vars(base).values())
    if own is None or slots:
        raise Refused(f"a copy of {named(value)}")
    if any(is_set_by_code(look(inf, value.cls, name)) for name in own):
        raise Refused(f"a copy of {named(value)}")
    inf.world.names(owner, value.example)
    if any(other is not owner and inf.is_the_same(owner, other) for other, _ in inf.assigned):
        raise Refused(f"a copy of {named(value)}, which is known in two ways")
    names = dict.fromkeys([*own, *(name for other, name in inf.assigned if other is owner)])
    return {name: inf.perform("getattr", [operand], name) for name in names}
