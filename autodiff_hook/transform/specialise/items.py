"""Tuples, lists and slices that are written out, and the items of what has some."""

from __future__ import annotations

import functools
import operator
import sys
from collections import Counter
from enum import EnumMeta
from typing import Any

from autodiff_hook.ir.types import Constant, Statement
from autodiff_hook.semantics.equivalents.changing import value_or_made, value_or_zero
from autodiff_hook.transform.specialise import (
    assigned,
    constants,
    dicts,
    lists,
    named_tuples,
    raises_when,
    records,
    texts,
)
from autodiff_hook.transform.specialise.abstract import (
    BOOL,
    INT,
    MISSING,
    Abstract,
    Array,
    Dict,
    Fresh,
    Instance,
    Known,
    List,
    Number,
    Outside,
    Reference,
    Tuple,
)
from autodiff_hook.transform.specialise.bodies import Changes, Refused, is_plain
from autodiff_hook.transform.specialise.calling import HELD, call_known
from autodiff_hook.transform.specialise.grids import item_of_grid
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.inlining import inline_call
from autodiff_hook.transform.specialise.lattice import built_class, example_of, inert_class, join, known, number_types
from autodiff_hook.transform.specialise.places import is_assigned
from autodiff_hook.transform.specialise.plans import (
    alias,
    is_hashable,
    items_of,
    known_as,
    part_of,
    pure,
    require_inert,
    spread,
)
from autodiff_hook.transform.specialise.program import LOAD, STRUCTURAL
from autodiff_hook.transform.specialise.results import is_form_of_types, is_grid
from autodiff_hook.transform.specialise.trying import samples
from autodiff_hook.transform.specialise.views import flat_of, taken_flat


def build(inf: Inference, s: Statement) -> Abstract:
    """A tuple or a list that is written out."""
    if s in inf.classes:
        return named_tuples.built(inf, s)
    if s.op == "build_list" and not s.operands:
        return lists.begin(inf, s)
    items = [inf.type_of(x) for x in s.operands]
    cls = tuple if s.op == "build_tuple" else list
    is_changed = s.position in inf.program.changed or s in inf.listed
    found = lists.made_of(inf, s, tuple(items)) if cls is list and is_changed else None
    if found is not None:
        return found
    if cls is tuple and all(isinstance(x, Known) and is_plain(x.value) for x in items):
        return known_as(inf, s, tuple(example_of(x) for x in items))
    inf.plans[s] = STRUCTURAL
    examples = [_example_or_sample(x) for x in items]
    place = s.position if cls is list else None
    return Tuple(tuple(items), cls, example=cls(examples), place=place)


def _example_or_sample(value: Abstract) -> Any:
    found = example_of(value)
    types = number_types(value)
    return samples(next(iter(types)))[0] if found is MISSING and types else found


def project(inf: Inference, s: Statement) -> Abstract | None:
    """A part of what is made of parts."""
    if isinstance(inf.type_of(s.operands[0]), Array):
        s.op, s.operands, s.data = "getitem", [s.operands[0], Constant(s.data)], None
        return getitem(inf, s)
    items = items_of(inf.type_of(s.operands[0]))
    if items is None:
        raise Refused("a part of what is not a tuple")
    return part_of(inf, s, items, s.data)


def getitem(inf: Inference, s: Statement) -> Abstract | None:
    """``owner[key]``."""
    if raises_when.before_item(inf, s):
        return None
    owner, key = map(inf.type_of, s.operands)
    array = flat_of(owner)
    if array is not None:
        s.operands[0] = inf.before(s, "call_method", [array], taken_flat(key))
        return inf.evaluate(inf, s)
    if isinstance(key, Known) and is_hashable(key.value) and is_assigned(inf, owner, key.value):
        return assigned.read(inf, s, owner.example, s.operands[0], key.value)
    if isinstance(owner, Outside) and records.is_part(inf, s.operands[0], owner, known(key)):
        return alias(inf, s, inf.world.part(inf.final(s.operands[0]), owner.example, known(key), True))
    if isinstance(owner, Outside) and owner.cls in (list, dict):
        return _of_outside(inf, s, owner, key)
    if isinstance(owner, Tuple) and owner.cls is dict:
        return _of_written_dict(inf, s, owner, key)
    if inert_class(owner) is str:
        return texts.item(inf, s, owner, key)
    if isinstance(owner, Known) and owner.value is sys.version_info and isinstance(key, Known):
        return known_as(inf, s, owner.value[key.value])
    if isinstance(owner, Known) and type(owner.value) is EnumMeta and isinstance(key, Known):
        return constants.member(inf, s, owner.value, owner.value.__members__, key.value)
    if isinstance(owner, Known) and is_form_of_types(owner.value) and known(key) is not MISSING:
        return known_as(inf, s, owner.value[known(key)])
    if isinstance(owner, Known) and is_grid(owner.value):
        return item_of_grid(inf, s, owner.value, s.operands[1])
    items = items_of(owner)
    if items is not None:
        return _of_parts(inf, s, owner, items, key)
    if isinstance(owner, Dict) and built_class(owner) is None:
        return _of_dict(inf, s, owner, key)
    if isinstance(owner, List):
        return _of_list(inf, s, owner, key)
    return call_known(inf, s, operator.getitem, s.operands, {})


def _of_outside(inf: Inference, s: Statement, owner: Outside, key: Abstract) -> Abstract:
    """An item of a list or a dict from outside."""
    if not isinstance(key, Known):
        dicts.ask_for_any_key(inf, owner)
    if not isinstance(key, Known) or not _names_a_part(owner.cls, key.value):
        raise Refused("an item of an object by an unknown key")
    return alias(inf, s, inf.world.part(inf.final(s.operands[0]), owner.example, key.value, True))


def _of_written_dict(inf: Inference, s: Statement, owner: Tuple, key: Abstract) -> Abstract | None:
    """An item of a dict that is known in its parts."""
    if not isinstance(key, Known):
        return dicts.item_by_unknown_key(inf, s, owner)
    if key.value not in owner.keys:
        raise Refused("an item of a dict by a key that it does not have")
    return part_of(inf, s, owner.items, owner.keys.index(key.value))


def _of_parts(
    inf: Inference, s: Statement, owner: Abstract, items: tuple[Abstract, ...], key: Abstract
) -> Abstract | None:
    """An item, or a slice, of a tuple or a list that is known in its parts."""
    if isinstance(key, Known) and type(key.value) is int:
        return part_of(inf, s, items, key.value)
    if isinstance(key, Known) and type(key.value) is slice and isinstance(owner, (Known, Tuple)):
        return _slice_of_tuple(inf, s, owner, items, key.value)
    code = any(isinstance(x, Known) and callable(x.value) for x in items)
    if number_types(key) == INT.types and items and not code:
        together = functools.reduce(join, items)
        types = number_types(together)
        if types is not None or isinstance(together, Instance):
            inf.plans[s] = LOAD
            return together if types is None else Number(types)
    if isinstance(owner, Tuple) and owner.cls is list and owner.place is not None and not inf.one_way:
        raise Changes("a list that is written out is read at an unknown place", owner.place)
    raise Refused("an item of a tuple by an unknown index")


def _of_dict(inf: Inference, s: Statement, owner: Dict, key: Abstract) -> Abstract | None:
    """An item of a dict that the program makes."""
    require_inert(key)
    if owner.site.cls is MISSING:
        raise Refused("an item of a dict that may have default values")
    if owner.site.made_by is not None and s.data != HELD:
        return inline_call(inf, s, value_or_made, [*s.operands, Constant(owner.site.made_by)], {})
    if owner.site.cls is Counter and s.data != HELD:
        return inline_call(inf, s, value_or_zero, s.operands, {})
    inf.plans[s] = LOAD
    return dicts.item_of_dict(inf, owner, key)


def _of_list(inf: Inference, s: Statement, owner: List, key: Abstract) -> Abstract:
    """An item, or a slice, of a list that the program makes."""
    if inert_class(key) is slice:
        return lists.slice_of(inf, s, owner)
    if number_types(key) not in (INT.types, BOOL.types):
        raise Refused("an item of a list by an unknown index")
    inf.plans[s] = LOAD
    return lists.item_of_list(owner)


def _slice_of_tuple(
    inf: Inference, s: Statement, owner: Known | Tuple, items: tuple[Abstract, ...], part: slice
) -> Abstract | None:
    """``items[a:b]`` of a tuple, or of a list that nothing changes."""
    cls = owner.cls if isinstance(owner, Tuple) else tuple
    if cls not in (tuple, list):
        raise Refused("a slice of a named tuple")
    parts = spread(inf, s.operands[0], range(len(items))[part])
    s.op, s.operands, s.data = "build_tuple" if cls is tuple else "build_list", parts, None
    return build(inf, s)


def _names_a_part(cls: type, key: Any) -> bool:
    """Whether a key names one item of a list or a dict: a slice of a list is a new list each time."""
    if cls is list:
        return type(key) in (int, bool)
    return cls is dict and is_hashable(key)


def build_slice(inf: Inference, s: Statement) -> Abstract:
    """``a:b:c`` as an index."""
    values = [inf.type_of(x) for x in s.operands]
    if all(isinstance(v, Known) for v in values):
        return known_as(inf, s, slice(*map(example_of, values)))
    if any(isinstance(v, (Fresh, Outside, Reference)) for v in values):
        raise Refused("a slice whose ends are objects, which may run code")
    if any(types is not None and not types <= lists.WHOLE | {bool} for types in map(number_types, values)):
        raise Refused("a slice of numbers that are not whole")
    return pure(inf, s, Instance(slice, example=slice(*map(example_of, values))))
