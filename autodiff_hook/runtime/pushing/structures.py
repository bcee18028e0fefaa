"""Crossing between references and values: ``gather`` the whole tangent of a value, ``spread`` it again."""

from __future__ import annotations

from typing import Any

from autodiff_hook.runtime.pushing.arrays import array_tangent, note_made
from autodiff_hook.runtime.pushing.context import Tangent, TangentContext, keep_all, kind, known, reaches, some
from autodiff_hook.tangent import Tangent as Gradient


def gather(ctx: TangentContext, value: Any, tangent: Tangent) -> Tangent:
    """The whole tangent of a value, containers included, in the form of the value; None if it is zero."""
    form = kind(value)
    if form == "number":
        return tangent
    if form == "array":
        return array_tangent(ctx, value, tangent)
    if tangent is None and not reaches(ctx, value):
        return None
    if form == "tuple":
        return _gathered_tuple(ctx, value, tangent)
    found = known(ctx, value)
    if form == "list":
        parts = [gather(ctx, item, None if found is None else found[i]) for i, item in enumerate(value)]
        return parts if some(parts) else None
    if form == "dict":
        named = {key: gather(ctx, item, None if found is None else found.get(key)) for key, item in value.items()}
        return named if some(named.values()) else None
    return found


def _gathered_tuple(ctx: TangentContext, value: Any, tangent: Tangent) -> Tangent:
    parts = [gather(ctx, item, None if tangent is None else tangent[i]) for i, item in enumerate(value)]
    return tuple(parts) if some(parts) else None


def spread(ctx: TangentContext, value: Any, tangent: Tangent) -> Tangent:
    """Give a new value its tangent: that of references goes to the context, the rest is returned."""
    if tangent is None:
        return None
    form = kind(value)
    if form == "tuple":
        return tuple([spread(ctx, item, part) for item, part in zip(value, tangent)])
    if form == "list":
        keep_all(ctx, value, [spread(ctx, item, part) for item, part in zip(value, tangent)])
        return None
    if form == "dict":
        keep_all(ctx, value, {key: spread(ctx, item, tangent.get(key)) for key, item in value.items()})
        return None
    if form == "array":
        note_made(ctx, value, tangent)
    if isinstance(value, Gradient):
        return spread(ctx, value._fields, tangent._fields if isinstance(tangent, Gradient) else tangent)
    return tangent
