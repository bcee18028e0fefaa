"""Copies of lists, dicts and objects on one way."""

from __future__ import annotations

from abc import ABCMeta
from types import MemberDescriptorType
from typing import Any, Final

import numpy as np

from autodiff_hook.ir.types import Constant, Operand
from autodiff_hook.runtime.kinds import DICTS
from autodiff_hook.transform.one_way.building import is_buildable, is_container_buildable
from autodiff_hook.transform.one_way.classes import instance
from autodiff_hook.transform.one_way.containers import as_key, pairs, parts
from autodiff_hook.transform.one_way.held import base_of, is_derived
from autodiff_hook.transform.one_way.operators import is_object, own_method
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
from autodiff_hook.transform.specialise.objects import is_copied_plainly, is_set_by_code, look, written
from autodiff_hook.transform.specialise.program import IN_ITS_ORDER
from autodiff_hook.transform.specialise.wording import named


def copied_alone(inf: Path, operand: Operand) -> Operand | None:
    """The copy of what holds nothing else, or of an object with what that holds; None if it is not such."""
    value = inf.type_of(operand)
    own = own_method(inf, operand, "__copy__")
    if own is not None:
        return inf.call(Constant(own), [operand])
    if is_object(value) and is_plainly_copied(inf, value.cls, "__copy__"):
        made = instance(inf, value.cls)
        inf.members(made).update(_attributes(inf, operand, value))
        return made
    if isinstance(value, (Known, Number)) or isinstance(value, Instance) and value.cls in (str, range):
        return operand
    return inf.perform("call_method", [operand, IN_ITS_ORDER], ("copy", ())) if isinstance(value, Array) else None


class Copies:
    """The copies that are made: what was one object is one in the copy, too, by whatever names it is loaded."""

    def __init__(self, inf: Path) -> None:
        self.inf = inf
        self.made: dict[Any, Operand] = {}
        self.loaded: dict[int, list[Operand]] = {}
        """What is loaded on entry, by what it was."""

    def key(self, operand: Operand) -> Any:
        """What an operand is known by: what it is on entry, or itself if the program has made it."""
        value, known = self.inf.type_of(operand), self.inf.final(operand)
        alike = isinstance(value, (Known, Number, Instance)) or isinstance(value, Array) and value.scalar
        if alike or not self.inf.world.is_outside(known):
            return operand
        self.loaded.setdefault(id(value.example), []).append(known)
        return id(value.example)

    def guard(self) -> None:
        """What is one object is to be one again, and what is two is to be two."""
        for first, *others in self.loaded.values():
            for other in others:
                if other is not first:
                    self.inf.world.same(first, other)
        self.inf.world.distinct([names[0] for names in self.loaded.values()])


def copied_deeply(inf: Path, operand: Operand) -> Operand:
    """A deep copy."""
    copies = Copies(inf)
    made = copied(inf, operand, copies)
    copies.guard()
    return made


def copied(inf: Path, operand: Operand, copies: Copies) -> Operand:
    """A deep copy, one of several."""
    operand = inf.present(operand)
    done, name = copies.made, copies.key(operand)
    if name not in done:
        value = inf.type_of(operand)
        cls = list if isinstance(value, List) else getattr(value, "cls", None)
        own = isinstance(value, Container) and cls in DICTS
        if own or cls is dict and not isinstance(value, Instance):
            made = done[name] = inf.made_like(operand, {}) if own else inf.made(dict, {})
            for key, item in pairs(inf, operand).items():
                known = as_key(inf, copied(inf, inf.shown(key), copies)) if is_open(key) else key
                inf.content(made)[known] = copied(inf, item, copies)
        elif isinstance(value, Container) and cls is np.ndarray:
            made = done[name] = inf.made(cls, inf.content(operand).copy())
            held = inf.content(made)
            held.flat = [copied(inf, x, copies) for x in held.flat]
        elif cls is list and not isinstance(value, Instance):
            made = done[name] = inf.made(list, [])
            inf.content(made).extend(copied(inf, x, copies) for x in parts(inf, operand))
        elif operand in inf.tuples or isinstance(value, Tuple) and value.cls is tuple:
            done[name] = inf.perform("build_tuple", [copied(inf, x, copies) for x in parts(inf, operand)])
        elif is_object(value) and is_plainly_copied(inf, value.cls, "__deepcopy__"):
            made, held = instance(inf, value.cls), _attributes(inf, operand, value)
            done[name] = made
            inf.members(made).update((name, copied(inf, x, copies)) for name, x in held.items())
        elif is_derived(value) and _is_filled_plainly(inf, value.cls):
            made = done[name] = instance(inf, value.cls)
            attributes = _attributes(inf, operand, value).items()
            inf.members(made).update((name, copied(inf, x, copies)) for name, x in attributes)
            inf.numbers[made] = copied(inf, inf.call(Constant(base_of(value.cls)), [operand]), copies)
        elif is_object(value):
            done[name] = _copied_by_itself(inf, operand, value)
        else:
            alone = copied_alone(inf, operand)
            if alone is None:
                raise Refused(f"a deep copy of {named(value)}")
            done[name] = alone
    return done[name]


def _copied_by_itself(inf: Path, operand: Operand, value: Fresh | Outside) -> Operand:
    """What ``__deepcopy__`` of a class gives, if that is the very object."""
    method = written(inf, value.cls, "__deepcopy__")
    made = None if method is None else inf.call(Constant(method), [operand, inf.made(dict, {})])
    if made is None or inf.final(made) is not inf.final(operand):
        raise Refused(f"a deep copy of {named(value)}")
    return operand


def is_plainly_copied(inf: Path, cls: type, hook: str) -> bool:
    """Whether the copy of an object is one of its class with the same attributes, and no code of the class is asked."""
    return is_buildable(cls) and type(cls) in (type, ABCMeta) and is_copied_plainly(inf, cls, hook)


def _is_filled_plainly(inf: Path, cls: type) -> bool:
    """The same of a class derived from ``list`` or ``dict``, to whose copy the items are added one by one."""
    base = base_of(cls)
    if base not in _FILLED or not is_container_buildable(cls) or type(cls) not in (type, ABCMeta):
        return False
    return is_copied_plainly(inf, cls, "__deepcopy__", base, _FILLED[base])


_FILLED: Final[dict[type, tuple[str, ...]]] = {
    list: ("__iter__", "append"),
    dict: ("__iter__", "__len__", "items", "__setitem__"),
}


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
