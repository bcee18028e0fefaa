"""Tangents in the form of gradients: given by the user with the arguments, and returned with the value."""

from __future__ import annotations

from typing import Any

from autodiff_hook.errors import Unsupported
from autodiff_hook.registry import rrule
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.mirror import _tuple_like, array_gradient, form_of, number_gradient, parts_of
from autodiff_hook.runtime.pushing.arrays import array_tangent, note_made
from autodiff_hook.runtime.pushing.context import TangentContext, holder_of, keep, known, load
from autodiff_hook.runtime.pushing.handlers import bookkeeping
from autodiff_hook.tangent import Tangent

form_of_value = bookkeeping(form_of)


def fitted(value: Any, tangent: Any) -> Any:
    """A tangent of the shape and precision of ``value``; zeros for None."""
    return number_gradient(value, tangent) if kind_of(type(value)) == "number" else array_gradient(value, tangent)


@rrule(fitted)
def fitted_rule(value: Any, tangent: Any) -> Any:
    """Nothing changes but the type."""

    def fitted_pullback(ȳ: Any) -> Any:
        return None, None if tangent is None else ȳ

    return fitted(value, tangent), fitted_pullback


def tuple_like(value: Any, items: tuple[Any, ...]) -> Any:
    """``items`` as a tuple of the type of ``value``."""
    return _tuple_like(value, list(items))


@rrule(tuple_like)
def tuple_like_rule(value: Any, items: tuple[Any, ...]) -> Any:
    """Nothing changes but the type."""

    def tuple_like_pullback(ȳ: Any) -> Any:
        return None, tuple(ȳ)

    return tuple_like(value, items), tuple_like_pullback


def seed(ctx: TangentContext, value: Any, tangent: Any, where: str) -> Any:
    """Give an argument its tangent: that of references goes to the context, the rest is returned."""
    if tangent is None:
        return None
    form = form_of_value(value)
    check_tangent(form, value, tangent, where)
    if form == "number":
        return fitted(value, tangent)
    if form == "array":
        edge = fitted(value, tangent)
        note_made(ctx, value, edge)
        return edge
    if form == "tuple":
        return tuple([seed(ctx, item, part, f"{where}[{i}]") for i, (item, part) in enumerate(zip(value, tangent))])
    if form == "list":
        for i in range(len(value)):
            seed_slot(ctx, value, i, value[i], tangent[i], f"{where}[{i}]")
    if form == "dict":
        for key in value:
            seed_slot(ctx, value, key, value[key], part_of(tangent, key), f"{where}[{key!r}]")
    if form == "object":
        for name in names_of(value):
            holder = holder_of(value, name)
            seed_slot(ctx, holder, name, getattr(value, name), part_of(tangent, name), f"{where}.{name}")
    return None


def seed_slot(ctx: TangentContext, owner: Any, key: Any, value: Any, tangent: Any, where: str) -> None:
    """Give one slot of an argument its tangent."""
    edge = seed(ctx, value, tangent, where)
    if edge is not None:
        keep(ctx, owner, key, edge)


def part_of(tangent: Any, key: Any) -> Any:
    """The tangent of an attribute or item; one that is not there is zero."""
    return tangent[key] if key in tangent else None


@bookkeeping
def names_of(value: Any) -> list[str]:
    """The names of the attributes that get gradients of their own."""
    return [name for name, _ in parts_of(value, "object")]


@bookkeeping
def check_tangent(form: str, value: Any, tangent: Any, where: str) -> None:
    """Raise for a tangent that is not in the form of a gradient of ``value``."""
    given = kind_of(type(tangent))
    if form in ("number", "array"):
        fits, wanted = _fits_leaf(form, value, tangent)
    elif form in ("tuple", "list"):
        fits = given in ("tuple", "list") and len(tangent) == len(value)
        wanted = f"a {form} of {len(value)} tangents"
    elif form in ("dict", "object"):
        fits = given == "dict" or isinstance(tangent, Tangent)
        wanted = "a dict of tangents" if form == "dict" else "a Tangent"
    else:
        fits, wanted = False, "None"
    if not fits:
        raise Unsupported(f"{where} must be {wanted}, like a gradient of {type(value).__qualname__}, not {tangent!r}")


def _fits_leaf(form: str, value: Any, tangent: Any) -> tuple[bool, str]:
    import numpy as np

    if kind_of(type(tangent)) not in ("number", "array"):
        return False, "a number" if form == "number" else "an array"
    if np.iscomplexobj(tangent) and not np.iscomplexobj(value):
        return False, "real"
    if form == "number":
        return np.size(tangent) == 1, "a number"
    return np.shape(tangent) == value.shape, f"an array of the shape {value.shape}"


def mirrored(ctx: TangentContext, value: Any, tangent: Any, done: dict[int, Any]) -> Any:
    """The whole tangent of a value in the form of a gradient: complete, with zeros where nothing flows."""
    form = form_of_value(value)
    if form == "number":
        return fitted(value, tangent)
    if form == "array":
        return fitted(value, array_tangent(ctx, value, tangent))
    if form == "tuple":
        items = [mirrored(ctx, item, None if tangent is None else tangent[i], done) for i, item in enumerate(value)]
        return tuple_like(value, tuple(items))
    if form == "method":
        return mirrored(ctx, value.__self__, None, done)
    if form == "inert":
        return None
    return done[id(value)] if id(value) in done else _mirrored_reference(ctx, form, value, done)


def _mirrored_reference(ctx: TangentContext, form: str, value: Any, done: dict[int, Any]) -> Any:
    if form == "list":
        found = known(ctx, value)
        items: list[Any] = []
        done[id(value)] = items
        for i in range(len(value)):
            items.append(mirrored(ctx, value[i], None if found is None else found[i], done))
        return items
    fields: dict[Any, Any] = {}
    result = done[id(value)] = fields if form == "dict" else Tangent(name_of(value), fields)
    for key, owner, slot, part in slots_of(form, value):
        fields[key] = mirrored(ctx, part, load(ctx, owner, slot), done)
    return result


@bookkeeping
def name_of(value: Any) -> str:
    """What a ``Tangent`` says it is of."""
    return str(getattr(value, "__qualname__", type(value).__qualname__))


@bookkeeping
def slots_of(form: str, value: Any) -> list[tuple[Any, Any, Any, Any]]:
    """The parts of a dict, object or function: name, the reference that holds it, its slot there, the value."""
    if form == "dict":
        return [(key, value, key, part) for key, part in parts_of(value, form)]
    if form == "object":
        return [(name, holder_of(value, name), name, part) for name, part in parts_of(value, form)]
    cells = dict(zip(value.__code__.co_freevars, value.__closure__ or ()))
    return [(name, cells[name], 0, part) for name, part in parts_of(value, form)]
