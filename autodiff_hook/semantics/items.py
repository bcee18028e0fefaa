"""Subscripts: tuples and arrays give parts, lists and dicts slots, other objects methods."""

from __future__ import annotations

import operator
from array import array
from collections import defaultdict, deque
from types import FunctionType, MappingProxyType, MethodType
from typing import Any, Final

import numpy as np

from autodiff_hook.algebras.lifetimes import enter_weakly
from autodiff_hook.algebras.shadows import (
    Algebra,
    Result,
    count_of,
    drop_key,
    ended,
    is_list,
    keep,
    keep_all,
    keep_key,
    kind,
    known,
    load,
    note_kept,
    note_made,
    quiet,
    to_change,
)
from autodiff_hook.algebras.shadows import some as any_of
from autodiff_hook.runtime.lookup import behind, find_in_type
from autodiff_hook.runtime.overlaps import require_read_first_of_flat
from autodiff_hook.runtime.typed_arrays import is_shown
from autodiff_hook.semantics.arrays import part_of, store_array
from autodiff_hook.semantics.exceptions import note_raised, raising
from autodiff_hook.semantics.iteration import flattened, get_iter, python_method
from autodiff_hook.semantics.keys import load_by
from autodiff_hook.semantics.meanings import apply
from autodiff_hook.semantics.opaque import call_opaque, describe_type, fail
from autodiff_hook.semantics.records import item_of_record, store_in_record
from autodiff_hook.semantics.rules import call_rule, rule_for
from autodiff_hook.semantics.special_attributes import BASE

_DOUBLES: Final = frozenset({float, np.float64})


def getitem(alg: Algebra, t: Any, data: Any, owner: Any, key: Any) -> Result:
    """``owner[key]``."""
    if quiet(alg, t):
        return owner[key], None
    if type(owner) is np.ndarray:
        value = owner[key]
        return value, part_of(alg, owner, key, value, t[0])
    if type(owner) is list and type(key) is int:
        value = owner[key]
        return value, load(alg, owner, key, value)
    if type(owner) is dict:
        try:
            value = owner[key]
        except KeyError as error:
            note_raised(alg, error, (owner, key), t)
            raise
        return value, load_by(alg, owner, key, t[1], value)
    method = python_method(owner, "__getitem__")
    if method is not None:
        return apply(alg, (None, *t), method, (owner, key), {})
    if isinstance(owner, type):
        maker = find_in_type(type(owner), "__getitem__") is None and getattr(owner, "__class_getitem__", None)
        if type(maker) is MethodType:
            return apply(alg, (None, t[1]), maker, (key,), {})
    form = kind(owner)
    if form == "array":
        value = owner[key]
        return value, part_of(alg, owner, key, value, t[0])
    if form == "number" and isinstance(owner, np.generic):
        value = operator.getitem(owner, key)  # type: ignore[call-overload]
        if not isinstance(value, np.ndarray):
            return value, t[0]
        if not value.size:
            return value, None
        return apply(alg, (None, t[0], None), np.reshape, (owner, value.shape), {})
    if form == "tuple":
        return owner[key], None if t[0] is None else t[0][key]
    if is_list(owner):
        return list_item(alg, owner[key], owner, key)
    if form == "dict":
        return dict_item(alg, owner, key, t[1])
    if type(owner) is np.flatiter:
        flat, token = flattened(alg, owner)
        value = owner[key]
        return value, part_of(alg, flat, key, value, token)
    if type(owner) is MappingProxyType:
        return getitem(alg, t, None, behind(owner), key)
    if isinstance(owner, np.void) and owner.dtype.names is not None and isinstance(key, (str, int)):
        value = owner[key]
        return value, item_of_record(alg, owner, key, value)
    rule = rule_for(operator.getitem, (owner, key))
    if rule is not None:
        return call_rule(alg, t, rule, operator.getitem, (owner, key), {})
    return call_opaque(alg, t, operator.getitem, (owner, key), {}, f"which has no rule for {describe_type(owner)}")


def list_item(alg: Algebra, value: Any, owner: list[Any], key: Any) -> Result:
    """The item of a list, deque or ``array.array`` that ``value`` is, or a slice, with its token."""
    if isinstance(key, slice):
        found = known(alg, owner)
        note_given(alg, owner, value, range(count_of(owner))[key])
        note_made(alg, value)
        if found is not None:
            keep_all(alg, value, found[key])
        elif id(owner) in alg.losses:
            enter_weakly(alg.losses, value, alg.losses[id(owner)][1])
        return value, None
    return value, load(alg, owner, key, value)


def dict_item(alg: Algebra, owner: dict[Any, Any], key: Any, moving: Any) -> Result:
    """``owner[key]`` of a dict; ``moving`` is the token of the key."""
    missing = missing_method(owner, key)
    if missing is not None:
        return apply(alg, (None, None, moving), missing, (owner, key), {})
    if isinstance(owner, defaultdict) and owner.default_factory is not None and key not in owner:
        value, token = apply(alg, (None,), owner.default_factory, (), {})
        keep_key(alg, owner, key, moving)
        dict.__setitem__(owner, key, value)
        keep(alg, owner, key, token)
        return value, token
    value = raising(alg, (None, moving), dict.__getitem__, owner, key)
    return value, load_by(alg, owner, key, moving, value)


def missing_method(owner: Any, key: Any) -> Any:
    """The ``__missing__`` written in Python that ``owner[key]`` calls."""
    if key in owner:
        return None
    found = find_in_type(type(owner), "__missing__")
    return found if type(found) is FunctionType else None


def setitem(alg: Algebra, t: Any, data: Any, owner: Any, key: Any, value: Any) -> Result:
    """``owner[key] = value``."""
    if t[2] is None and quiet(alg, t):
        owner[key] = value
        return None, None
    if type(owner) is np.ndarray:
        shares = alg.given is not None and alg.given.shared
        if type(value) in _DOUBLES and owner.dtype.char == "d" and not shares:
            alg.write(owner, key, value, t[0], t[2])
        else:
            store_array(alg, t, owner, key, value)
        return None, None
    method = python_method(owner, "__setitem__")
    form = kind(owner)
    if method is not None:
        apply(alg, (None, *t), method, (owner, key, value), {})
    elif form == "array":
        store_array(alg, t, owner, key, value)
    elif type(owner) is np.flatiter:
        _flat_store(alg, t[2], owner, key, value)
    elif isinstance(owner, np.void):
        store_in_record(alg, t[2], owner, key, value)
    elif is_list(owner):
        list_store(alg, t[2], owner, key, value)
    elif form == "dict":
        keep_key(alg, owner, key, t[1])
        owner[key] = value
        keep(alg, owner, key, t[2])
        if t[2] is None:
            alg.lifetimes.note(owner, value)
        note_kept(alg, owner, key, value)
    else:
        reason = f"which has no rule for {describe_type(owner)}"
        call_opaque(alg, t, operator.setitem, (owner, key, value), {}, reason)
    return None, None


def _flat_store(alg: Algebra, moving: Any, owner: Any, key: Any, value: Any) -> None:
    """``array.flat[key] = value``: a value that is too short is repeated, of one too long the beginning is stored."""
    base = owner.base
    flat = np.arange(base.size)[key]
    if moving is not None:
        require_read_first_of_flat(base, flat, value)
    if np.shape(flat) and np.shape(value) not in ((), np.shape(flat)):
        if not np.size(value):
            return
        value, moving = apply(alg, (None, moving, None), np.resize, (value, np.shape(flat)), {})
    # An array of no dimension has no index that says where.
    base, before = (base, load(alg, owner, BASE, base)) if base.ndim else flattened(alg, owner)
    store_array(alg, (before, None, moving), base, np.unravel_index(flat, base.shape), value)
    owner[:0]  # as after each look, what it gives next is the first item


def list_store(alg: Algebra, token: Any, owner: Any, key: Any, value: Any) -> None:
    """``owner[key] = value`` of a list, a deque or an ``array.array``."""
    if isinstance(owner, array):
        array_store(alg, token, owner, key, value)
        return
    if isinstance(key, slice) and isinstance(owner, list):
        items, tokens = materialised(alg, token, value)
        found = to_change(alg, owner, tokens)
        list.__setitem__(owner, key, items)
        if found is not None:
            found[key] = tokens
            for item in items:
                alg.lifetimes.note(owner, item)
        return
    found = to_change(alg, owner, (token,))
    (deque if isinstance(owner, deque) else list).__setitem__(owner, key, value)
    if found is not None:
        found[key] = token
        if token is None:
            alg.lifetimes.note(owner, value)


def array_store(alg: Algebra, token: Any, owner: array[Any], key: Any, value: Any) -> None:
    """``owner[key] = value`` of an ``array.array``."""
    several = isinstance(key, slice) and type(value) is array
    tokens = materialised(alg, token, value)[1] if several else [token]
    found = to_change_typed(alg, owner, tokens)
    array.__setitem__(owner, key, value)
    if found is not None:
        found[key] = tokens if several else token


def to_change_typed(alg: Algebra, owner: array[Any], tokens: Any) -> Any:
    """The tokens of the items of an ``array.array`` if they matter when ``tokens`` are stored there."""
    if any_of(tokens) and is_shown(owner):
        fail(array, "in whose memory others look (a memoryview or a NumPy array): it takes no derivatives then")
    return to_change(alg, owner, tokens)


def note_given(alg: Algebra, owner: Any, items: Any, places: Any) -> None:
    """Arguments are among the items that were read from ``places`` of a reference: there they have another name."""
    if alg.given is None or not alg.given.ids or alg.given.ids.isdisjoint(map(id, items)):
        return
    for place, item in zip(places, items):
        load(alg, owner, place, item)


def tokens_of(alg: Algebra, cls: Any, owner: Any) -> list[Any]:
    """The tokens of all items of a list, deque or ``array.array``, whatever a subclass makes of iteration."""
    items = list(cls.__iter__(owner))
    if id(owner) in alg.losses:
        return [load(alg, owner, index, item) for index, item in enumerate(items)]
    note_given(alg, owner, items, range(len(items)))
    found = known(alg, owner)
    return [None] * len(items) if found is None else list(found)


def materialised(alg: Algebra, token: Any, value: Any, hinted: bool = False) -> tuple[list[Any], list[Any]]:
    """The items of an iterable and their tokens, as two new lists; ``hinted``: it is asked for its length first."""
    if type(value) is tuple:
        return list(value), [None] * len(value) if token is None else list(token)
    if type(value) is list:
        return list(value), tokens_of(alg, list, value)
    source = get_iter(alg, (token,), None, value)[0]
    if hinted:
        ask_length(alg, value)
    pairs = list(source)
    return [item for item, _ in pairs], [moving for _, moving in pairs]


def _first(alg: Algebra, token: Any, value: Any, limit: int) -> tuple[list[Any], list[Any]]:
    """The first items of an iterable and their tokens."""
    if type(value) in (list, tuple):
        return materialised(alg, token, value)
    items: list[Any] = []
    tokens: list[Any] = []
    for item, moving in get_iter(alg, (token,), None, value)[0]:
        items.append(item)
        tokens.append(moving)
        if len(items) == limit:
            break
    return items, tokens


def ask_length(alg: Algebra, value: Any) -> None:
    """Call what lists and tuples ask for the number of items, for its effects."""
    for name in ("__len__", "__length_hint__"):
        method = python_method(value, name)
        if method is not None:
            try:
                apply(alg, (None, None), method, (value,), {})
            except TypeError:
                continue
            return


def delitem(alg: Algebra, t: Any, data: Any, owner: Any, key: Any) -> Result:
    """``del owner[key]``."""
    method = python_method(owner, "__delitem__")
    if method is not None:
        apply(alg, (None, *t), method, (owner, key), {})
        return None, None
    found = known(alg, owner)
    raising(alg, t, operator.delitem, owner, key)
    if found is not None:
        if is_list(owner):
            del found[key]
        else:
            drop_key(found, key)
    ended(alg)
    return None, None


def unpack(alg: Algebra, t: Any, data: tuple[int, int | None], value: Any) -> Result:
    """Take a sequence apart: a tuple of its items."""
    before, after = data
    items, tokens = _first(alg, t[0], value, before + 1) if after is None else materialised(alg, t[0], value)
    if after is None:
        if len(items) != before:
            wrong_count(len(items), before)
        return tuple(items), tuple(tokens) if any_of(tokens) else None
    if len(items) < before + after:
        raise ValueError(f"not enough values to unpack (expected at least {before + after}, got {len(items)})")
    stop = len(items) - after
    rest = items[before:stop]
    keep_all(alg, rest, tokens[before:stop])
    note_made(alg, rest)
    moving = (*tokens[:before], None, *tokens[stop:])
    return (*items[:before], rest, *items[stop:]), moving if any_of(moving) else None


def wrong_count(count: int, expected: int) -> None:
    """Raise what Python raises for an unpacking that does not fit."""
    if count < expected:
        raise ValueError(f"not enough values to unpack (expected {expected}, got {count})")
    raise ValueError(f"too many values to unpack (expected {expected})")
