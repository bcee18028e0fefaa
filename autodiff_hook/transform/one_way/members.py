"""Attributes, imported modules and global names on one way through a program."""

from __future__ import annotations

from functools import partial
from types import FunctionType, MethodDescriptorType, ModuleType, WrapperDescriptorType
from typing import Final

import numpy as np

from autodiff_hook.ir.types import Constant, Statement
from autodiff_hook.runtime.lookup import find_in_type, getter_of, has_in_type
from autodiff_hook.transform.one_way import inert, signatures
from autodiff_hook.transform.one_way.attributes import attribute, field_deleted, field_written, looks_up, of_class
from autodiff_hook.transform.one_way.containers import held_as
from autodiff_hook.transform.one_way.namespaces import namespace
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.one_way.stores import assign_shape
from autodiff_hook.transform.one_way.trail import Raised
from autodiff_hook.transform.specialise import records
from autodiff_hook.transform.specialise.abstract import (
    Abstract,
    Array,
    Bound,
    Cell,
    Closure,
    Container,
    Fresh,
    Instance,
    Known,
    Lookup,
    Number,
    Outside,
    Partial,
    Super,
    Tuple,
)
from autodiff_hook.transform.specialise.attributes import behind, super_attribute
from autodiff_hook.transform.specialise.instances import classes_of
from autodiff_hook.transform.specialise.lattice import example_of
from autodiff_hook.transform.specialise.plans import alias, known_as

_METHODS: Final = (FunctionType, WrapperDescriptorType, MethodDescriptorType)


def get_attribute(inf: Path, s: Statement) -> Abstract | None:
    """``owner.name``."""
    owner, name = s.operands[0], str(s.data)
    value = inf.type_of(owner)
    if name == "__class__" and len(classes_of(value)) == 1:
        if not isinstance(value, (Fresh, Outside)) or not looks_up(inf, value):
            return known_as(inf, s, classes_of(value)[0])
    if isinstance(value, Known) and isinstance(value.value, ModuleType):
        stored = inf.stored_globals.get((id(vars(value.value)), name))
        if stored is not None:
            return alias(inf, s, stored[1])
        return (
            namespace(Constant(vars(value.value))) if name == "__dict__" and type(value.value) is ModuleType else None
        )
    keeps = isinstance(value, Known) and isinstance(value.value, (type, FunctionType))
    assigned = of_class(inf, value.value, name) if keeps else None  # type: ignore[attr-defined]
    if assigned is not None:
        return alias(inf, s, assigned)
    if isinstance(value, Outside) and records.is_field(inf, owner, value, name):
        return None
    if isinstance(value, (Fresh, Outside)):
        found = attribute(inf, owner, value, name)
        return None if found is None else alias(inf, s, found)
    if isinstance(value, Container):
        method = find_in_type(value.cls, name)
        if method is None:
            raise Raised(AttributeError)
        return Bound(method, owner)
    if isinstance(value, Super):
        after, _, behind_class = behind(inf, value, name)
        getter = None if behind_class else getter_of(after)
        if getter is not None:
            return alias(inf, s, inf.call(Constant(getter), [value.receiver]))
        if after is None:
            raise Raised(AttributeError)
        is_method = isinstance(after, _METHODS) and not behind_class
        return Bound(after, value.receiver) if is_method else super_attribute(inf, s, value, name)
    if isinstance(value, Partial):
        return _of_partial(inf, s, value, name)
    if owner in inf.iterators and name == "__next__":
        return Bound(next, owner)
    if isinstance(value, Cell) and name == "cell_contents":
        if owner not in inf.cells:
            raise Raised(ValueError)
        return alias(inf, s, inf.cells[owner])
    if isinstance(value, Bound) and name == "__self__":
        return alias(inf, s, value.receiver)
    if isinstance(value, Closure):
        return signatures.told_by_function(inf, s, value, name)
    if isinstance(value, Known) and type(value.value) is str and has_in_type(str, name):
        return Bound(find_in_type(str, name), owner)
    if name == "__array_priority__" and isinstance(value, (Array, Number)) and len(set(classes_of(value))) == 1:
        return known_as(inf, s, example_of(value).__array_priority__)
    if name == "flat" and isinstance(value, Array) and not value.scalar:
        return Lookup(name, owner)
    if isinstance(value, (Number, Array, Tuple)) or isinstance(value, Instance) and _has_no_attributes(value.cls):
        methods = [find_in_type(cls, name) for cls in classes_of(value)]
        if not any(has_in_type(cls, name) for cls in classes_of(value)):
            raise Raised(AttributeError)
        if len(methods) == 1 and isinstance(methods[0], MethodDescriptorType):
            return Bound(methods[0], owner)
    answer = signatures.read(inf, s, value.value, name) if isinstance(value, Known) else None
    if answer is not None:
        return answer
    if isinstance(value, Known) and not hasattr(value.value, name) and not inf.world.answers(value.value, name):
        raise Raised(AttributeError)
    if is_accessor(value, name):
        return known_as(inf, s, getattr(example_of(value), name))
    if isinstance(value, Known) and type(value.value) in (np.finfo, np.iinfo, np.ufunc):
        told = getattr(value.value, name)
        return None if callable(told) else held_as(inf, s, told)
    return None


def is_accessor(value: Abstract, name: str) -> bool:
    """Whether an attribute is a function that a property reads, assigns or deletes by, which nothing can replace."""
    return isinstance(value, Known) and isinstance(value.value, property) and name in ("fget", "fset", "fdel")


def _of_partial(inf: Path, s: Statement, value: Partial, name: str) -> Abstract | None:
    """The function of a partial, and what it was given by position; what by name is a dict that may be changed."""
    function = inf.type_of(value.function)
    if name not in ("func", "args") or isinstance(function, Known) and isinstance(function.value, partial):
        return None
    return alias(inf, s, value.function if name == "func" else inf.perform("build_tuple", list(value.args)))


def _has_no_attributes(cls: type) -> bool:
    """Whether objects of a class have nothing that the class has not."""
    return not cls.__dictoffset__ and not has_in_type(cls, "__getattr__")


def set_attribute(inf: Path, s: Statement) -> Abstract | None:
    """``owner.name = value``."""
    owner, value = s.operands
    if s.data == "shape" and isinstance(inf.type_of(owner), Array):
        assign_shape(inf, owner, value)
        return known_as(inf, s, None)
    if s.data == "flat" and isinstance(inf.type_of(owner), Array):
        items = inf.perform("getattr", [owner], "flat")
        value = inf.call(Constant(np.ravel), [value]) if isinstance(inf.type_of(value), Array) else value
        return alias(inf, s, inf.perform("setitem", [items, Constant(slice(None)), value]))
    flag = inert.flag_written(inf, s)
    if flag is not None:
        return flag
    found = field_written(inf, owner, inf.type_of(owner), str(s.data), value)
    return alias(inf, s, found)


def delete_attribute(inf: Path, s: Statement) -> Abstract:
    """``del owner.name``."""
    field_deleted(inf, inf.type_of(s.operands[0]), str(s.data))
    return known_as(inf, s, None)


def import_name(inf: Path, s: Statement) -> Abstract | None:
    """``import name``."""
    level, names = map(inf.type_of, s.operands)
    if not isinstance(level, Known) or not isinstance(names, Known):
        return None
    if not level.value and inf.world.not_installed(str(s.data)):
        raise Raised(ModuleNotFoundError)
    return None


def store_global(inf: Path, s: Statement) -> Abstract:
    """A global name is assigned."""
    inf.require_not_shown(inf.frames[-1])
    inf.stored_globals[id(inf.frames[-1]), str(s.data)] = (inf.frames[-1], s.operands[0])
    return known_as(inf, s, None)
