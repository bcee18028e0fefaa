"""How attributes are looked up where a program asks for it, on one way: plainly, statically, by a class itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_hook.ir.types import Args, Constant, Statement
from autodiff_hook.runtime.lookup import HEAP_TYPE, find_in_type, getter_of, has_in_type
from autodiff_hook.transform.one_way.attributes import looks_up, plain_attribute
from autodiff_hook.transform.one_way.operators import is_object
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.one_way.trail import Raised
from autodiff_hook.transform.specialise.abstract import MISSING, Abstract, Outside
from autodiff_hook.transform.specialise.attributes import attribute
from autodiff_hook.transform.specialise.instances import classes_of, decides_itself, isinstance_of
from autodiff_hook.transform.specialise.lattice import example_of, known
from autodiff_hook.transform.specialise.objects import look
from autodiff_hook.transform.specialise.plans import alias, known_as


def plainly(inf: Path, s: Statement, args: Args) -> Abstract | None:
    """``object.__getattribute__(owner, name)``."""
    owner = inf.type_of(args[0])
    if not is_object(owner):
        return None
    name = inf.pin(args[1])
    if isinstance(owner, Outside):
        return None if looks_up(inf, owner) else alias(inf, s, inf.perform("getattr", args[:1], name))
    found, getter = plain_attribute(inf, args[0], owner, name), getter_of(look(inf, owner.cls, name))
    if found is None and getter is not None:
        found = inf.call(Constant(getter), args[:1])
    return attribute(inf, s, owner, args[0], name) if found is None else alias(inf, s, found)


def instance_of(inf: Path, s: Statement, args: Args) -> Abstract | None:
    """Python asks an object for its ``__class__`` where its type alone does not fit."""
    value, classes = inf.type_of(args[0]), known(inf.type_of(args[1]))
    if classes is not MISSING and decides_itself(classes):
        return _decided(inf, s, value, classes)
    if not is_object(value) or not looks_up(inf, value) or classes is MISSING:
        return None
    if isinstance_of(value.cls, classes, inf.world.is_subclass):
        return known_as(inf, s, True)
    shown = known(inf.type_of(inf.perform("getattr", args[:1], "__class__")))
    return known_as(inf, s, isinstance_of(shown, classes, inf.world.is_subclass))


def _decided(inf: Path, s: Statement, value: Abstract, classes: Any) -> Abstract | None:
    """What a class says by itself of a value that has nothing but what its builtin class has."""
    cls, *others = classes_of(value)
    sample = np.empty(0) if cls is np.ndarray else example_of(value)
    if others or type(sample) is not cls or cls.__dictoffset__ or cls.__flags__ & HEAP_TYPE:
        return None
    for each in classes if isinstance(classes, tuple) else (classes,):
        inf.world.members(type(each))
    return known_as(inf, s, isinstance(sample, classes))


def statically(inf: Path, s: Statement, args: Args) -> Abstract | None:
    """``inspect.getattr_static(owner, name, default)`` of what has no attributes but those of its class."""
    classes = classes_of(inf.type_of(args[0]))
    if len(classes) > 1 or classes[0].__dictoffset__:
        return None
    name, cls = inf.pin(args[1]), classes[0]
    inf.world.members(cls)
    if has_in_type(cls, name):
        return known_as(inf, s, find_in_type(cls, name))
    if len(args) < 3:
        raise Raised(AttributeError)
    return alias(inf, s, args[2])
