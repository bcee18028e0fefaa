"""Reading elements, slices and selections of arrays."""

import operator

import numpy as np

from autodiff_hook.extend import cotangents, linear
from autodiff_hook.registry import nondifferentiable, rrule
from autodiff_hook.runtime.specialised_runtime import fitted
from autodiff_hook.signatures import Array
from autodiff_rules.numpy._shared import float_dtype, unbroadcast, widened


def scatter_add(shape, dtype, index, c):
    """Zeros of ``shape`` to which ``c`` is added at ``index``: the transpose of indexing."""
    out = np.zeros(shape, dtype)
    if not np.size(c):
        return out
    if may_repeat(index):
        np.add.at(out, index, c)
    else:
        out[index] = c
    return out


SINGLE = frozenset({int, slice, type(None), type(Ellipsis)})
"""Indices that select no element twice."""


def may_repeat(index):
    """Whether ``index`` has an array of integers, so that an element may be selected twice."""
    if index.__class__ in SINGLE:
        return False
    if isinstance(index, tuple):
        return any([may_repeat(part) for part in index if part.__class__ not in SINGLE])
    if isinstance(index, np.ndarray):
        return index.dtype != bool and index.size > 1
    return isinstance(index, list) and np.asarray(index).dtype != bool


cotangents(
    scatter_add, "shape, dtype, index, c", 0, c=lambda ȳ, index, c: unbroadcast(ȳ[index] if np.size(c) else c, c)
)


def scatter_along(x, indices, axis, c):
    """Zeros like ``x`` with ``c`` at ``indices`` along ``axis``, no two the same."""
    out = np.zeros(np.shape(x), float_dtype(x))
    np.put_along_axis(out, indices, c, axis)
    return out


cotangents(
    scatter_along,
    "x, indices, axis, c",
    0,
    c=lambda ȳ, indices, axis, c: unbroadcast(np.take_along_axis(ȳ, indices, axis), c),
)


@rrule(operator.getitem, Array)
def getitem_rule(a, b):
    def getitem_pullback(ȳ):
        return scatter_add(a.shape, float_dtype(a), b, ȳ), None

    return a[b], getitem_pullback


# What adjoints call for an array that was stored into a part of another.
linear(fitted, "cotangent, value", lambda ȳ, cotangent: widened(ȳ, cotangent), kinds=((),))
linear(
    (np.take, np.ndarray.take),
    "a, indices, axis=None, out=None, mode='raise'",
    lambda ȳ, a, indices, axis, mode: take_cotangent(ȳ, a, take_indices(a, indices, axis, mode), axis),
)


def take_cotangent(ȳ, a, indices, axis):
    """The cotangent of ``a``, of which ``indices`` were taken along ``axis``."""
    if axis is None or np.ndim(a) == 0:
        return scatter_add((np.size(a),), float_dtype(a), indices, ȳ).reshape(np.shape(a))
    place = (*[slice(None)] * (axis % np.ndim(a)), indices)
    return scatter_add(np.shape(a), float_dtype(a), place, ȳ)


@nondifferentiable
def numbered(x):
    """The numbers of the elements of ``x``, in its shape."""
    return np.arange(np.size(x)).reshape(np.shape(x))


@nondifferentiable
def take_indices(a, indices, axis, mode):
    """``indices`` as they are used where ``np.take`` would wrap or clip them."""
    indices = np.asarray(indices)
    count = np.size(a) if axis is None or np.ndim(a) == 0 else np.shape(a)[axis]
    if mode == "wrap":
        return indices % max(count, 1)
    return np.clip(indices, 0, count - 1) if mode == "clip" else indices


@cotangents(np.take_along_axis, "arr, indices, axis=-1")
def take_along_axis_cotangent(ȳ, arr, indices, axis):
    if axis is None:
        return take_cotangent(ȳ, arr, np.asarray(indices), None)
    return scatter_add(np.shape(arr), float_dtype(arr), along_axis(arr, indices, axis), ȳ)


@nondifferentiable
def along_axis(x, indices, axis):
    """The index of ``x`` that selects ``indices`` along ``axis``."""
    mesh = list(np.ix_(*map(range, np.shape(x))))
    mesh[axis] = indices
    return tuple(mesh)


cotangents(
    np.compress,
    "condition, a, axis=None, out=None",
    2,
    a=lambda ȳ, condition, a, axis: take_cotangent(ȳ, a, np.flatnonzero(condition), axis),
)
linear(
    np.ndarray.compress,
    "self, condition, /, axis=None, out=None",
    lambda ȳ, self, condition, axis: take_cotangent(ȳ, self, np.flatnonzero(condition), axis),
)
cotangents(
    np.extract,
    "condition, arr",
    2,
    arr=lambda ȳ, condition, arr: take_cotangent(ȳ, arr, np.flatnonzero(condition), None),
)
