"""Arrays that are written to: the tangent of a whole buffer, of which all views read their parts.

Tangents of arrays are values, so a store makes a new one. What a buffer was made with is noted, for the
case that the first store goes through a view of it.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from autodiff_hook.registry import rrule
from autodiff_hook.runtime.buffers import lender_of, root_of
from autodiff_hook.runtime.opaque import array_mutation
from autodiff_hook.runtime.pushing.context import Tangent, TangentContext
from autodiff_hook.runtime.pushing.handlers import bookkeeping


@bookkeeping
def is_written(ctx: TangentContext, array: Any) -> bool:
    """Whether the buffer of ``array`` has been written to with a tangent."""
    return bool(ctx.arrays) and id(root_of(array)) in ctx.arrays


@bookkeeping
def buffer_of(array: Any) -> Any:
    """The array that owns the buffer of ``array``."""
    return root_of(array)


Layout = tuple[int, int, tuple[int, ...], tuple[int, ...]]


@bookkeeping
def layout_of(root: Any, array: Any) -> Layout:
    """Where the elements of ``array`` lie in the buffer of ``root``: item size, offset, shape, strides."""
    offset = array.__array_interface__["data"][0] - root.__array_interface__["data"][0]
    return array.itemsize, offset, array.shape, array.strides


@bookkeeping
def places_of(root: Any, layout: Layout) -> Any:
    """For each element of a view its index in ``root``, counted row by row."""
    itemsize, offset, shape, strides = layout
    if root.itemsize != itemsize:
        raise array_mutation("a view with another item size goes to")
    places = np.full(shape, offset // itemsize)
    for axis, (length, stride) in enumerate(zip(shape, strides)):
        places += (np.arange(length) * (stride // itemsize)).reshape((-1,) + (1,) * (len(shape) - axis - 1))
    if root.flags.c_contiguous:
        return places
    in_memory = np.empty_like(root, int)
    in_memory[...] = np.arange(root.size).reshape(root.shape)
    return in_memory.ravel(order="K")[places]


@bookkeeping
def places_in(root: Any, array: Any) -> Any:
    """For each element of ``array`` its index in ``root``, whose buffer it views."""
    return places_of(root, layout_of(root, array))


def array_tangent(ctx: TangentContext, array: Any, tangent: Tangent) -> Tangent:
    """The tangent of an array: of its buffer if that was written to, else its own."""
    if not is_written(ctx, array):
        return tangent
    root = buffer_of(array)
    whole = ctx.arrays[id(root)][1]
    return whole if array is root else whole.reshape(-1)[places_in(root, array)]


def store_array(ctx: TangentContext, t: Any, array: Any, key: Any, value: Any) -> Tangent:
    """``array[key] = value``; the tangent of the array from then on."""
    from autodiff_hook.runtime.pushing.structures import gather

    moving = gather(ctx, value, t[2])
    before = array_tangent(ctx, array, t[0])
    if moving is not None and (array.dtype.kind in "OV" or buffer_of(array).dtype.kind == "V"):
        raise array_mutation("this store writes to an array of what are no numbers:")
    if moving is not None and lender_of(array) is not None:
        raise array_mutation("this store writes to memory that others may use, which is")
    if moving is None and before is None or not can_move(array):
        array[key] = value
        return before
    root = buffer_of(array)
    whole = _whole(ctx, root, array, before)
    array[key] = value
    after = replaced(whole, places_in(root, array)[key], 0.0 if moving is None else moving)
    ctx.arrays[id(root)] = (root, after)
    return after if array is root else after.reshape(-1)[places_in(root, array)]


def _whole(ctx: TangentContext, root: Any, array: Any, tangent: Tangent) -> Tangent:
    """The tangent of the buffer of ``array``."""
    if is_written(ctx, root):
        return ctx.arrays[id(root)][1]
    if array is root:
        return zeros(root) if tangent is None else tangent
    if not is_noted(ctx, root):
        return zeros(root) if tangent is None else replaced(zeros(root), places_in(root, array), tangent)
    _, layout, made = ctx.made[id(root)]
    return replaced(zeros(root), places_of(root, layout), made)


@bookkeeping
def is_noted(ctx: TangentContext, root: Any) -> bool:
    """Whether it is known with what tangent a buffer was made."""
    found = ctx.made.get(id(root))
    return found is not None and found[0]() is root


def note_made(ctx: TangentContext, array: Any, tangent: Tangent) -> None:
    """``array``, or the buffer that it views, is new, and was made with this tangent."""
    root = buffer_of(array)
    if not is_noted(ctx, root):
        ctx.made[id(root)] = (weakly(ctx, root), layout_of(root, array), tangent)


@bookkeeping
def weakly(ctx: TangentContext, array: Any) -> Any:
    """A weak reference to an array, whose entry goes with it."""
    made, key = ctx.made, id(array)
    return weakref.ref(array, lambda _: made.pop(key, None))


@bookkeeping
def can_move(array: Any) -> bool:
    """Whether the elements of an array can have tangents."""
    return array.dtype.kind in "fc"


@bookkeeping
def zeros(array: Any) -> Any:
    """Zeros in the form of an array."""
    return np.zeros(array.shape, array.dtype)


def replaced(whole: Any, places: Any, part: Any) -> Any:
    """A copy of ``whole`` with other content at flat ``places``, the last one where they repeat."""
    result = whole.copy()
    result.reshape(-1)[places] = part
    return result


@rrule(replaced)
def replaced_rule(whole: Any, places: Any, part: Any) -> Any:
    """What was overwritten gets nothing; what was written gets the cotangent of its place."""

    def replaced_pullback(ȳ: Any) -> Any:
        return replaced(ȳ, places, 0.0), None, stored_cotangent(ȳ, places, part)

    return replaced(whole, places, part), replaced_pullback


def stored_cotangent(ȳ: Any, places: Any, part: Any) -> Any:
    """The cotangent of what was broadcast to ``places``."""
    taken = np.asarray(ȳ.reshape(-1)[places] * lasting(places))
    shape, lead = np.shape(part), taken.ndim - np.ndim(part)
    axes = [lead + i for i, length in enumerate(shape) if length == 1 and taken.shape[lead + i] != 1]
    given = taken.sum((*range(lead), *axes)).reshape(shape)
    return given if shape else given[()]


@bookkeeping
def lasting(places: Any) -> Any:
    """1 for each of ``places`` that no later one repeats, else 0."""
    order = np.arange(np.size(places)).reshape(np.shape(places))
    last: dict[int, int] = {}
    for number, place in enumerate(np.ravel(places).tolist()):
        last[place] = number
    return np.isin(order, list(last.values())).astype(float) if len(last) != order.size else 1.0
