"""Crossing between references and rules: ``absorb`` a cotangent into shadows, ``take`` one out of them.

A rule sees a list or dict as a plain argument and gives it a cotangent of the same form. What the
argument looked like is noted when the rule is called, because it may change before the reverse sweep.
"""

from __future__ import annotations

from types import FunctionType, MethodType
from typing import Any, Final

from autodiff_hook.errors import Unsupported
from autodiff_hook.registry import NotImplementedCotangent
from autodiff_hook.runtime.context import Context, Sweep
from autodiff_hook.runtime.iteration import Iteration
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.slots import Attribute, mark_reference
from autodiff_hook.tangent import Tangent


class Structure:
    """The references in a value: itself if it is one, and those among its elements (by key)."""

    __slots__ = ("children", "keys", "kind", "reference")

    def __init__(self, kind: str, reference: Any, keys: list[Any], children: dict[Any, Structure]) -> None:
        self.kind, self.reference, self.keys, self.children = kind, reference, keys, children


def structure_of(ctx: Context, value: Any) -> Structure | None:
    """The references in ``value`` as they are now; None if there are none. An array that is written to is one."""
    kind = kind_of(type(value))
    if kind == "array" and ctx.buffers.is_stored(value):
        return Structure(kind, value, [], {})
    if kind == "object" and not issubclass(type(value), _OPAQUE):
        return Structure(kind, value, [], {})
    if kind not in ("tuple", "list", "dict"):
        return None
    items = list(value.items()) if kind == "dict" else list(enumerate(value))
    children = {key: s for key, item in items if (s := structure_of(ctx, item)) is not None}
    if kind == "tuple" and not children:
        return None
    return Structure(kind, None if kind == "tuple" else value, [key for key, _ in items], children)


_OPAQUE: Final = (FunctionType, MethodType, Iteration)


def absorb(sweep: Sweep, structure: Structure | None, cotangent: Any) -> Any:
    """Add ``cotangent`` to the shadows of the references; returns what is left for the edge."""
    if structure is None or cotangent is None:
        return cotangent
    if structure.kind == "array":
        sweep.buffers.add(structure.reference, cotangent)
        return None
    if structure.kind == "object":
        _absorb_attributes(sweep, structure.reference, cotangent)
        return None
    if type(cotangent) is NotImplementedCotangent:
        parts = dict.fromkeys(structure.keys, cotangent)
    else:
        parts = dict(cotangent) if structure.kind == "dict" else dict(enumerate(cotangent))
    rest = []
    for key in structure.keys:
        child = structure.children.get(key)
        left = absorb(sweep, child, parts.get(key))
        if structure.kind == "tuple":
            rest.append(left)
        else:
            sweep.add(structure.reference, key, left)
    return tuple(rest) if structure.kind == "tuple" else None


def _absorb_attributes(sweep: Sweep, reference: Any, cotangent: Any) -> None:
    """Add to the cotangents of the attributes of an object: a ``Tangent`` or a dict, by name."""
    if not isinstance(cotangent, (Tangent, dict)):
        raise Unsupported(
            f"the cotangent of an object ({type(reference).__qualname__}) is a Tangent or a dict of its attributes, "
            f"not {cotangent!r}"
        )
    for name in cotangent:
        part = cotangent[name]
        if part is not None:
            structure = structure_of(sweep.context, getattr(reference, name))
            sweep.add(reference, Attribute(name), absorb(sweep, structure, part))


def take(sweep: Sweep, structure: Structure | None, cotangent: Any) -> Any:
    """The whole cotangent of a value: what came over the edge, and what is in the shadows."""
    if structure is None or structure.kind in ("array", "object"):
        return cotangent
    if structure.kind == "tuple":
        parts = cotangent if cotangent is not None else (None,) * len(structure.keys)
        whole = tuple(take(sweep, structure.children.get(k), c) for k, c in zip(structure.keys, parts))
        return whole if any(c is not None for c in whole) else None
    found = {
        key: c
        for key in structure.keys
        if (c := take(sweep, structure.children.get(key), sweep.pop(structure.reference, key))) is not None
    }
    if not found:
        return None
    return found if structure.kind == "dict" else [found.get(key) for key in structure.keys]


def mark_deep(ctx: Context, value: Any) -> None:
    """Mark the references in ``value``: all they hold carries a derivative."""
    kind = kind_of(type(value))
    if kind == "tuple":
        for item in value:
            mark_deep(ctx, item)
    elif kind not in ("number", "array", "inert"):
        mark_reference(ctx, value)
