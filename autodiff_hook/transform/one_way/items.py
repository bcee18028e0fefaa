"""Items of containers on one way: read, stored, deleted, and taken apart."""

from __future__ import annotations

import operator
from collections import Counter
from itertools import islice
from typing import Any, Final

import numpy as np

from autodiff_hook.ir.types import Args, Constant, Operand, Statement
from autodiff_hook.runtime.buffers import address_of
from autodiff_hook.runtime.kinds import DICTS
from autodiff_hook.transform.one_way import namespaces
from autodiff_hook.transform.one_way.containers import (
    as_key,
    as_place,
    changeable,
    elements,
    guarded_length,
    is_adopted,
    is_mapping,
    item_at,
    new,
    part_of_dict,
    parts,
)
from autodiff_hook.transform.one_way.held import item_that_is_missing
from autodiff_hook.transform.one_way.keys import key_in
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.one_way.trail import Raised, done, is_container
from autodiff_hook.transform.specialise.abstract import (
    ANY,
    Abstract,
    Container,
    Fresh,
    Known,
    List,
    Lookup,
    Number,
    Outside,
    Tuple,
)
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.grids import is_joined, joined
from autodiff_hook.transform.specialise.lattice import example_of, is_number_of
from autodiff_hook.transform.specialise.plans import alias, known_as
from autodiff_hook.transform.specialise.program import LOAD
from autodiff_hook.transform.specialise.views import flat_of, taken_flat


def getitem(inf: Path, s: Statement) -> Abstract | None:
    """``owner[key]`` of a container or a tuple; None if it is of neither."""
    owner, key = s.operands
    value = inf.type_of(owner)
    named = namespaces.item(inf, s)
    if named is not None:
        return named
    array = flat_of(value)
    if array is not None:
        if owner in inf.iterators:
            raise Refused("an iteration over the elements of an array that begins anew")
        elements = inf.perform("call_method", [array], taken_flat(inf.type_of(key)))
        return alias(inf, s, inf.perform("getitem", [elements, key]))
    if isinstance(value, Lookup) and value.name == INTERFACE:
        return _of_interface(inf, s, value.receiver)
    mapping = is_mapping(inf, owner, "__getitem__")
    if isinstance(value, Outside) and mapping:
        where = key_in(inf, value.example, key)
        if not inf.world.holds(inf.final(owner), value.example, where):
            return alias(inf, s, item_that_is_missing(inf, owner, key))
        inf.peeked.add(owner)
        return alias(inf, s, inf.world.part(inf.final(owner), value.example, where, True))
    if isinstance(value, Outside) and is_container(value.cls):
        inf.pin(key)
        owner = inf.adopted(owner, value)
        value = inf.type_of(owner)
    if isinstance(value, Known) and is_joined(value.value) and key in inf.tuples:
        return joined(inf, s, value.value, parts(inf, key))
    if isinstance(value, Known) and type(value.value) in (str, bytes, tuple, range) and _is_key(inf.type_of(key)):
        return known_as(inf, s, done(operator.getitem, value.value, inf.pin(key)))
    sequence = owner in inf.tuples or isinstance(value, Container) and value.cls is list
    if sequence or isinstance(value, Tuple) and value.cls is not dict:
        held = parts(inf, owner)
        where = place(inf, key, held)
        if isinstance(where, slice):
            chosen = held[where]
            tuple_like = owner in inf.tuples or isinstance(value, Tuple) and value.cls is tuple
            return alias(inf, s, inf.perform("build_tuple", chosen)) if tuple_like else new(inf, list, chosen)
        return alias(inf, s, done(operator.getitem, held, where))
    if isinstance(value, List):
        return _of_list(inf, s, value)
    if isinstance(value, Number) and value.types <= {float, int, bool, complex}:
        raise Raised(TypeError)
    if isinstance(value, Number) and all(issubclass(cls, np.generic) for cls in value.types):
        if is_number_of(inf.type_of(key), {int, np.int64}):
            raise Raised(IndexError)
        return alias(inf, s, inf.perform("getitem", [inf.call(Constant(np.asarray), [owner]), key]))
    if isinstance(value, Container) and value.cls in DICTS:
        return alias(inf, s, _held(inf, owner, value.cls, as_key(inf, key)))
    if isinstance(value, Tuple):
        return alias(inf, s, part_of_dict(inf, owner, value, inf.pin(key)))
    return None


INTERFACE: Final = "__array_interface__"


def _of_interface(inf: Path, s: Statement, array: Operand) -> Abstract:
    """``a.__array_interface__["data"]``: where an array begins in memory, which is asked of whether another does."""
    if inf.pin(s.operands[1]) != "data":
        raise Refused(f"{INTERFACE} of an array")
    example = address_of(example_of(inf.type_of(array)))
    kind = Number(frozenset({int}), example=example)
    place = inf.emit("call", Constant(address_of), array, abstract=kind, data=())
    return alias(inf, s, inf.perform("build_tuple", [place, inf.token("read only", ANY)]))


def got(inf: Path, s: Statement, owner: Operand, value: Outside, args: Args) -> Abstract:
    """``d.get(key)`` of a dict from outside: nothing else in it matters."""
    if inf.world.holds(inf.final(owner), value.example, key_in(inf, value.example, args[0])):
        return alias(inf, s, inf.perform("getitem", [owner, args[0]]))
    return alias(inf, s, args[1] if len(args) > 1 else Constant(None))


def _of_list(inf: Path, s: Statement, value: List) -> Abstract:
    """``items[key]`` of a list of numbers."""
    owner, key = s.operands
    index = place(inf, key, value.example)
    if type(index) is not int:
        return new(inf, list, elements(inf, owner, value)[index])
    if not -len(value.example) <= index < len(value.example):
        guarded_length(inf, owner, value)
        raise Raised(IndexError)
    found = inf.emit("getitem", owner, Constant(index), abstract=item_at(value, index), plan=LOAD)
    return alias(inf, s, found)


def _is_key(value: Abstract) -> bool:
    return isinstance(value, (Known, Number))


def place(inf: Path, key: Operand, held: Any) -> Any:
    """An index, a key or a slice: it decides about the way."""
    return slice(*map(inf.pin, inf.slices[key])) if key in inf.slices else as_place(inf, key, held)


def _held(inf: Path, owner: Operand, cls: type, key: Any) -> Operand:
    """What a dict has by a key, or makes of one that is missing."""
    held = inf.content(owner)
    if cls is Counter and key not in held:
        return Constant(0)
    if owner in inf.factories and key not in held:
        inf.changed(owner)[key] = inf.call(inf.factories[owner], [])
    found: Operand = done(operator.getitem, held, key)
    return found


def setitem(inf: Path, s: Statement) -> Abstract:
    """``owner[key] = value`` of a container."""
    owner, key, value = s.operands
    owner = changeable(inf, owner)
    held = inf.changed(owner)
    where = place(inf, key, held)
    done(operator.setitem, held, where, parts(inf, value) if isinstance(where, slice) else value)
    return known_as(inf, s, None)


def delitem(inf: Path, s: Statement) -> Abstract:
    """``del owner[key]`` of a container."""
    owner, key = s.operands
    owner = changeable(inf, owner)
    held = inf.changed(owner)
    where = as_place(inf, key, held)
    if getattr(inf.type_of(owner), "cls", None) is Counter:
        held.setdefault(where, key)
    done(operator.delitem, held, where)
    return known_as(inf, s, None)


def unpack(inf: Path, s: Statement) -> Abstract:
    """``a, *b = values``."""
    (before, after), owner = s.data, s.operands[0]
    value = inf.type_of(owner)
    if isinstance(value, (Fresh, Outside)) and not is_adopted(value):
        owner = inf.perform("get_iter", [owner])
    items = parts(inf, owner) if owner not in inf.iterators else _some(inf, owner, before, after)
    if len(items) < before + (after or 0) or after is None and len(items) > before:
        raise Raised(ValueError("a number of values that cannot be unpacked"))
    if after is not None:
        stop = len(items) - after
        items = [*items[:before], inf.made(list, items[before:stop]), *items[stop:]]
    return alias(inf, s, inf.perform("build_tuple", items))


def _some(inf: Path, operand: Operand, before: int, after: int | None) -> list[Operand]:
    iterator = inf.iterators[operand]
    return list(iterator) if after is not None else list(islice(iterator, before + 1))


def project(inf: Path, s: Statement) -> Abstract | None:
    """A part of a tuple."""
    return alias(inf, s, parts(inf, s.operands[0])[s.data])
