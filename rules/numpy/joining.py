"""Joining arrays and taking them apart."""

import numpy as np

from autodiff_hook.extend import cotangents, linear
from autodiff_hook.registry import nondifferentiable, rrule
from autodiff_rules.numpy._shared import float_dtype, reshaped, unbroadcast


def contained(parts, container):
    """The list ``parts`` as the kind of thing that ``container`` is."""
    if isinstance(container, np.ndarray):
        return unbroadcast(np.array(parts), container)
    return parts if isinstance(container, list) else tuple(parts)


def pieces(ȳ, arrays, shapes, axis):
    """The pieces of ``ȳ`` along ``axis`` that came from arrays of these shapes, in their own shapes."""
    lead = [slice(None)] * (axis % ȳ.ndim)
    parts = []
    start = 0
    for x, shape in zip(arrays, shapes):
        stop = start + shape[axis]
        parts.append(reshaped(ȳ[(*lead, slice(start, stop))], x))
        start = stop
    return contained(parts, arrays)


@nondifferentiable
def shapes_of(arrays, minimum=0):
    """The shapes of the arrays, as ``np.atleast_1d`` and its kin would leave them."""
    promote = (np.asarray, np.atleast_1d, np.atleast_2d, np.atleast_3d)[minimum]
    return [promote(x).shape for x in arrays]


@rrule(np.concatenate)
def concatenate_rule(arrays, /, axis=0, out=None, *, dtype=None, casting="same_kind"):
    def concatenate_pullback(ȳ):
        if axis is None:
            return pieces(ȳ, arrays, [(np.size(x),) for x in arrays], 0), None, None
        return pieces(ȳ, arrays, shapes_of(arrays), axis), None, None

    return np.concatenate(arrays, axis, out, dtype=dtype, casting=casting), concatenate_pullback


@cotangents(np.stack, "arrays, axis=0, out=None, *, dtype=None, casting='same_kind'", 0)
def stack_cotangent(ȳ, arrays, axis):
    parts = np.moveaxis(ȳ, axis, 0) if axis != 0 else ȳ
    return contained([unbroadcast(c, x) for c, x in zip(parts, arrays)], arrays)


STACKED = "tup, *, dtype=None, casting='same_kind'"
linear(np.hstack, STACKED, lambda ȳ, tup: pieces(ȳ, tup, shapes_of(tup, 1), 0 if ȳ.ndim == 1 else 1), kinds=0)
linear(np.vstack, STACKED, lambda ȳ, tup: pieces(ȳ, tup, shapes_of(tup, 2), 0), kinds=0)
linear(np.dstack, "tup", lambda ȳ, tup: pieces(ȳ, tup, shapes_of(tup, 3), 2), kinds=0)


@cotangents(np.column_stack, "tup", 0)
def column_stack_cotangent(ȳ, tup):
    shapes = [(*shape, 1) if len(shape) == 1 else shape for shape in shapes_of(tup, 1)]
    return pieces(ȳ, tup, shapes, 1)


@cotangents(np.append, "arr, values, axis=None", 0, "arr, values")
def append_cotangents(ȳ, arr, values, axis):
    if axis is None:
        first, second = pieces(ȳ, (arr, values), [(np.size(arr),), (np.size(values),)], 0)
    else:
        first, second = pieces(ȳ, (arr, values), shapes_of((arr, values)), axis)
    return first, second


@cotangents(np.block, "arrays", 0)
def block_cotangent(ȳ, arrays):
    places = np.argsort(np.block(numbered(arrays, 0)), None)
    return unblocked(np.reshape(ȳ, -1)[places], arrays, 0)


@nondifferentiable
def elements(arrays):
    return sum(map(elements, arrays)) if isinstance(arrays, list) else np.size(arrays)


@nondifferentiable
def numbered(arrays, start):
    """The same nesting with the elements numbered from ``start``."""
    if not isinstance(arrays, list):
        return np.arange(start, start + np.size(arrays)).reshape(np.shape(arrays))
    parts = []
    for x in arrays:
        parts.append(numbered(x, start))
        start += elements(x)
    return parts


def unblocked(c, arrays, start):
    """The cotangents of nested arrays, whose elements are those of the vector ``c`` from ``start`` on."""
    if not isinstance(arrays, list):
        return reshaped(c[start : start + np.size(arrays)], arrays)
    parts = []
    for x in arrays:
        parts.append(unblocked(c, x, start))
        start += elements(x)
    return parts


def present(ȳ, parts):
    """The cotangents of parts of an array, None being zeros."""
    return [np.zeros(y.shape, float_dtype(y)) if c is None else c for c, y in zip(ȳ, parts)]


def joined(ȳ, ary, indices_or_sections, axis):
    """Of parts that are made anew: in the list of them a program may have changed what stands where."""
    return np.concatenate(present(ȳ, np.array_split(ary, indices_or_sections, axis)), axis)


linear(np.split, "ary, indices_or_sections, axis=0", joined)
linear(np.array_split, "ary, indices_or_sections, axis=0", joined)
linear(
    np.hsplit,
    "ary, indices_or_sections",
    lambda ȳ, ary, indices_or_sections: joined(ȳ, ary, indices_or_sections, 1 if np.ndim(ary) > 1 else 0),
)
linear(
    np.vsplit, "ary, indices_or_sections", lambda ȳ, ary, indices_or_sections: joined(ȳ, ary, indices_or_sections, 0)
)
linear(
    np.dsplit, "ary, indices_or_sections", lambda ȳ, ary, indices_or_sections: joined(ȳ, ary, indices_or_sections, 2)
)
linear(
    np.unstack,
    "x, /, *, axis=0",
    lambda ȳ, y, x, axis: np.stack(present(ȳ, y), axis) if len(y) else np.zeros(np.shape(x), float_dtype(x)),
)


@cotangents(np.meshgrid, "*xi, copy=True, sparse=False, indexing='xy'", 0, "xi")
def meshgrid_cotangents(ȳ, xi, indexing):
    return [None if c is None else mesh_cotangent(c, i, x, indexing) for i, (c, x) in enumerate(zip(ȳ, xi))]


def mesh_cotangent(c, i, x, indexing):
    own = 1 - i if indexing == "xy" and i < 2 and c.ndim > 1 else i
    return unbroadcast(c.sum(tuple([axis for axis in range(c.ndim) if axis != own])).reshape(np.shape(x)), x)
