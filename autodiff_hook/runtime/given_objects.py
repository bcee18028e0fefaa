"""The gradients of lists, dicts and objects in their forms, from the cotangents of what they hold."""

from __future__ import annotations

from collections import defaultdict
from itertools import chain
from types import CellType, FunctionType
from typing import Any, Final

import numpy as np

from autodiff_hook.runtime.lookup import dictionary_of, own_attributes
from autodiff_hook.runtime.mirror import Mirror, attributes_with, form_of, formed, is_plain_kind, parts_of, tuple_like
from autodiff_hook.runtime.references import added, record_buffer
from autodiff_hook.runtime.slots import Attribute
from autodiff_hook.tangent import Tangent

Slots = Any
"""The cotangents of items: a list, or a dict by key."""
Path = tuple[tuple[int, int], ...]
"""Lengths and places in tuples."""


def list_gradient(table: dict[int, Slots] | None, items: Any) -> Any:
    """The gradient of a list or a dict, in its form."""
    if table and type(items) is list and {*map(type, items)} == {list}:
        rows = {id(row): row for row in items}
        found = {key: table[key] for key in rows if key in table}
        if REAL.issuperset(map(type, chain(*rows.values()))) and _FLOATS.issuperset(map(type, chain(*found.values()))):
            made = {key: list(map(float, found.get(key) or [0.0] * len(row))) for key, row in rows.items()}
            return [made[id(row)] for row in items]
    return _gradient(table or {}, items, None, {})


def object_gradients(values: tuple[Any, ...], table: dict[int, Slots], *parts: Any) -> tuple[Any, ...]:
    """The gradients of lists, dicts and objects, in their forms: they share what the values share.

    The cotangents of what they hold are in the ``table``, by the identity of their owners, and in ``parts``: each has
    an owner, or None for the values, a slot of it, a path of lengths and places in tuples, and a cotangent.
    """
    given: Slots = defaultdict(float)
    for owner, key, path, cotangent in zip(parts[::4], parts[1::4], parts[2::4], parts[3::4]):
        if cotangent is None or type(cotangent) is float and cotangent == 0.0:
            continue
        slots = given if owner is None else _slots(table, owner, key)
        name = key.name if type(key) is Attribute else key
        slot = slots[name]
        if type(cotangent) is type(slot) is float and not path:
            slots[name] = slot + cotangent
        else:
            item = values[key] if owner is None else _held(owner, key)
            slots[name] = _placed(table, item, slot, path, cotangent)
    done: dict[int, Any] = {}
    return tuple([_gradient(table, value, given.get(i), done) for i, value in enumerate(values)])


def _slots(table: dict[int, Slots], owner: Any, key: Any) -> Slots:
    """The cotangents of what an owner holds, by such keys, zeros at first."""
    if type(key) is not Attribute and id(owner) not in table and form_of(owner) == "list":
        table[id(owner)] = [0.0] * len(owner)
    return record_buffer(table, owner)


def _held(owner: Any, key: Any) -> Any:
    if type(key) is Attribute:
        own = dictionary_of(owner)
        return own[key.name] if own is not None and key.name in own else getattr(owner, key.name)
    return owner.cell_contents if type(owner) is CellType else owner[key]


def _placed(table: dict[int, Slots], item: Any, slot: Any, path: Path, cotangent: Any) -> Any:
    """The cotangent of an item with a contribution to a part of it."""
    if not path:
        return added(table, item, slot, cotangent)
    (length, place), *rest = path
    slots = slot if type(slot) is list else [0.0] * length
    slots[place] = _placed(table, item[place], slots[place], tuple(rest), cotangent)
    return slots


def _gradient(table: dict[int, Slots], value: Any, slot: Any, done: dict[int, Any]) -> Any:
    """The gradient of a value whose cotangent, if it is no reference, is in ``slot``."""
    cls = type(value)
    if cls in ZEROS:
        if slot is None or cls in _INERT:
            return ZEROS[cls]
        return slot if type(slot) is float else formed(Mirror(value, "number"), slot)
    if cls is tuple:
        return tuple(_gradients(table, value, slot, done))
    if id(value) in done:
        return done[id(value)]
    if cls is list:
        found = table.get(id(value))
        made = done[id(value)] = []
        if REAL.issuperset(map(type, value)) and (found is None or _FLOATS.issuperset(map(type, found))):
            made += [0.0] * len(value) if found is None else map(float, found)
        else:
            made += _gradients(table, value, found, done)
        return made
    if cls is dict:
        return _of_parts(table, value, value.items(), done, value)
    own = own_attributes(value) if is_plain_kind(cls) else None
    held = attributes_with(value, own) if is_plain_kind(cls) else {}
    return _of_parts(table, value, held.items(), done, own) if held else _of_form(table, value, slot, done)


def _of_form(table: dict[int, Slots], value: Any, slot: Any, done: dict[int, Any]) -> Any:
    form = form_of(value)
    if form == "inert":
        return None
    if form in ("number", "array"):
        return formed(Mirror(value, form), None if type(slot) is float and slot == 0.0 else slot)
    if form == "tuple":
        return tuple_like(value, _gradients(table, value, slot, done))
    if form == "method":
        return _gradient(table, value.__self__, None, done)
    if form == "list":
        made = done[id(value)] = []
        made += _gradients(table, value, table.get(id(value)), done)
        return made
    return _of_parts(table, value, parts_of(value, form), done)


def _of_parts(table: dict[int, Slots], value: Any, parts: Any, done: dict[int, Any], own: Any = None) -> Any:
    """The gradient of what has parts by key: a dict, an object, or a function, whose parts are in its cells.

    Objects that show one dict of attributes, their ``own``, and that dict have the same gradient by what is in it.
    """
    fields: dict[Any, Any] = {}
    is_function = type(value) is FunctionType
    named = value if is_function else type(value)
    done[id(value)] = fields if isinstance(value, dict) else Tangent(named.__qualname__, fields)
    slots = _captured(table, value) if is_function else table.get(id(value))
    for k, x in parts:
        slot = slots.get(k) if slots else None
        cls = type(x)
        if cls in REAL and (slot is None or type(slot) is float):
            fields[k] = 0.0 if slot is None else slot
        else:
            fields[k] = ZEROS[cls] if cls in _INERT else _gradient(table, x, slot, done)
    if own is not None:
        others = done.setdefault(~id(own), [])
        for key in own if others else ():
            total = _sum(others[0][key], fields[key])
            for each in (*others, fields):
                each[key] = total
        others.append(fields)
    return done[id(value)]


def _sum(a: Any, b: Any) -> Any:
    """The sum of two gradients with respect to one value."""
    if a is b or a is None:
        return b
    return tuple_like(a, list(map(_sum, a, b))) if isinstance(a, tuple) else a + b


def _captured(table: dict[int, Slots], function: FunctionType) -> Slots:
    cells = zip(function.__code__.co_freevars, function.__closure__ or ())
    return {name: table[id(cell)][0] for name, cell in cells if id(cell) in table}


def _gradients(table: dict[int, Slots], items: Any, slots: Slots, done: dict[int, Any]) -> list[Any]:
    """The gradients of the items of a list or a tuple; there may be no cotangents of them."""
    if type(slots) is list:
        return [_gradient(table, x, s, done) for x, s in zip(items, slots)]
    # What is not read costs as little as can be: objects may hold much of that.
    return [ZEROS[type(x)] if type(x) in ZEROS else _gradient(table, x, None, done) for x in items]


REAL: Final = frozenset({float, int})
"""Whose gradients are floats."""
_FLOATS: Final = frozenset({float, np.float64})
_INERT: Final[frozenset[type]] = frozenset({bool, str, bytes, slice, range, type(None)})
ZEROS: Final[dict[type, Any]] = {**dict.fromkeys(REAL, 0.0), **dict.fromkeys(_INERT)}
"""The gradients of what has no parts, where there is no cotangent."""
