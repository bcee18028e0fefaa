"""Subscripts: tuples and arrays give parts, lists and dicts slots, other objects methods."""

from __future__ import annotations

import operator
from types import FunctionType
from typing import Any

from autodiff_hook.runtime.lookup import find_in_type
from autodiff_hook.runtime.pushing.applying import push_rule, rule_for
from autodiff_hook.runtime.pushing.arrays import array_tangent, note_made, store_array
from autodiff_hook.runtime.pushing.context import (
    Result,
    TangentContext,
    keep,
    keep_all,
    kind,
    known,
    load,
    quiet,
    to_change,
)
from autodiff_hook.runtime.pushing.context import some as any_of
from autodiff_hook.runtime.pushing.handlers import bookkeeping
from autodiff_hook.runtime.pushing.iteration import get_iter, python_method
from autodiff_hook.runtime.pushing.opaque import call_opaque, describe_type


def getitem(ctx: TangentContext, t: Any, data: Any, owner: Any, key: Any) -> Result:
    """``owner[key]``."""
    from autodiff_hook.runtime.pushing.calls import apply

    if quiet(ctx, t):
        return owner[key], None
    method = python_method(owner, "__getitem__")
    if method is not None:
        return apply(ctx, (None, *t), method, (owner, key), {})
    form = kind(owner)
    if form == "array":
        return _array_part(ctx, array_tangent(ctx, owner, t[0]), owner, key)
    if form == "tuple":
        return owner[key], None if t[0] is None else t[0][key]
    if form == "list":
        return list_item(ctx, owner[key], owner, key)
    if form == "dict":
        return dict_item(ctx, owner, key)
    rule = rule_for(operator.getitem, (owner, key))
    if rule is not None:
        return push_rule(ctx, t, rule, operator.getitem, (owner, key), {})
    return call_opaque(ctx, t, operator.getitem, (owner, key), {}, f"which has no rule for {describe_type(owner)}")


def _array_part(ctx: TangentContext, tangent: Any, owner: Any, key: Any) -> Result:
    value = owner[key]
    if tangent is None:
        return value, None
    part = tangent[key]
    if kind(value) == "array":
        note_made(ctx, value, part)
    return value, part


def list_item(ctx: TangentContext, value: Any, owner: list[Any], key: Any) -> Result:
    """The item or slice ``value`` of a list, with its tangent."""
    found = known(ctx, owner)
    if found is None:
        return value, None
    if isinstance(key, slice):
        keep_all(ctx, value, found[key])
        return value, None
    return value, found[key]


def dict_item(ctx: TangentContext, owner: dict[Any, Any], key: Any) -> Result:
    """``owner[key]`` of a dict."""
    from autodiff_hook.runtime.pushing.calls import apply

    missing = missing_method(owner, key)
    if missing is not None:
        return apply(ctx, (None, None, None), missing, (owner, key), {})
    return dict.__getitem__(owner, key), load(ctx, owner, key)


@bookkeeping
def missing_method(owner: Any, key: Any) -> Any:
    """The ``__missing__`` written in Python that ``owner[key]`` calls."""
    if key in owner:
        return None
    found = find_in_type(type(owner), "__missing__")
    return found if isinstance(found, FunctionType) else None


def setitem(ctx: TangentContext, t: Any, data: Any, owner: Any, key: Any, value: Any) -> Result:
    """``owner[key] = value``."""
    from autodiff_hook.runtime.pushing.calls import apply

    if quiet(ctx, t):
        owner[key] = value
        return None, None
    method = python_method(owner, "__setitem__")
    form = kind(owner)
    if method is not None:
        apply(ctx, (None, *t), method, (owner, key, value), {})
    elif form == "array":
        store_array(ctx, t, owner, key, value)
    elif form == "list":
        list_store(ctx, t[2], owner, key, value)
    elif form == "dict":
        owner[key] = value
        keep(ctx, owner, key, t[2])
    else:
        reason = f"which has no rule for {describe_type(owner)}"
        call_opaque(ctx, t, operator.setitem, (owner, key, value), {}, reason)
    return None, None


def list_store(ctx: TangentContext, tangent: Any, owner: list[Any], key: Any, value: Any) -> None:
    """``owner[key] = value`` of a list."""
    if isinstance(key, slice):
        items, tangents = materialised(ctx, tangent, value)
        found = to_change(ctx, owner, tangents)
        list.__setitem__(owner, key, items)
        if found is not None:
            found[key] = tangents
        return
    found = to_change(ctx, owner, (tangent,))
    list.__setitem__(owner, key, value)
    if found is not None:
        found[key] = tangent


def materialised(ctx: TangentContext, tangent: Any, value: Any, hinted: bool = False) -> tuple[list[Any], list[Any]]:
    """The items of an iterable and their tangents, as two new lists; ``hinted``: it is asked for its length first."""
    if type(value) is tuple:
        return list(value), [None] * len(value) if tangent is None else list(tangent)
    if type(value) is list:
        found = known(ctx, value)
        return list(value), [None] * len(value) if found is None else list(found)
    source = get_iter(ctx, (tangent,), None, value)[0]
    if hinted:
        ask_length(ctx, value)
    pairs = list(source)
    return [item for item, _ in pairs], [moving for _, moving in pairs]


def _first(ctx: TangentContext, tangent: Any, value: Any, limit: int) -> tuple[list[Any], list[Any]]:
    """The first items of an iterable and their tangents."""
    if type(value) in (list, tuple):
        return materialised(ctx, tangent, value)
    items: list[Any] = []
    tangents: list[Any] = []
    for item, moving in get_iter(ctx, (tangent,), None, value)[0]:
        items.append(item)
        tangents.append(moving)
        if len(items) == limit:
            break
    return items, tangents


def ask_length(ctx: TangentContext, value: Any) -> None:
    """Call what lists and tuples ask for the number of items, for its effects."""
    from autodiff_hook.runtime.pushing.calls import apply

    for name in ("__len__", "__length_hint__"):
        method = python_method(value, name)
        if method is not None:
            try:
                apply(ctx, (None, None), method, (value,), {})
            except TypeError:
                continue
            return


def delitem(ctx: TangentContext, t: Any, data: Any, owner: Any, key: Any) -> Result:
    """``del owner[key]``."""
    from autodiff_hook.runtime.pushing.calls import apply

    method = python_method(owner, "__delitem__")
    if method is not None:
        apply(ctx, (None, *t), method, (owner, key), {})
        return None, None
    found = known(ctx, owner)
    del owner[key]
    if found is not None:
        if kind(owner) == "list":
            del found[key]
        else:
            found.pop(key, None)
    return None, None


def unpack(ctx: TangentContext, t: Any, data: tuple[int, int | None], value: Any) -> Result:
    """Take a sequence apart: a tuple of its items."""
    before, after = data
    items, tangents = _first(ctx, t[0], value, before + 1) if after is None else materialised(ctx, t[0], value)
    if after is None:
        if len(items) != before:
            wrong_count(len(items), before)
        return tuple(items), tuple(tangents) if any_of(tangents) else None
    if len(items) < before + after:
        raise ValueError(f"not enough values to unpack (expected at least {before + after}, got {len(items)})")
    stop = len(items) - after
    rest = items[before:stop]
    keep_all(ctx, rest, tangents[before:stop])
    moving = (*tangents[:before], None, *tangents[stop:])
    return (*items[:before], rest, *items[stop:]), moving if any_of(moving) else None


@bookkeeping
def wrong_count(count: int, expected: int) -> None:
    """Raise what Python raises for an unpacking that does not fit."""
    if count < expected:
        raise ValueError(f"not enough values to unpack (expected {expected}, got {count})")
    raise ValueError(f"too many values to unpack (expected {expected})")
