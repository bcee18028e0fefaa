"""Reading elements, slices and selections of arrays."""

from __future__ import annotations

import operator

import numpy as np

from autodiff_hook.registry import Array, nondifferentiable, rrule
from autodiff_rules.numpy._shared import array_rrule, float_dtype, unbroadcast


def scatter_add(shape, dtype, index, c):
    """Zeros of ``shape`` to which ``c`` is added at ``index``: the transpose of indexing."""
    out = np.zeros(shape, dtype)
    if may_repeat(index):
        np.add.at(out, index, c)
    else:
        out[index] = c
    return out


def may_repeat(index):
    """Whether ``index`` has an array of integers, so that an element may be selected twice."""
    if isinstance(index, tuple):
        return any(map(may_repeat, index))
    if isinstance(index, np.ndarray):
        return index.dtype != bool and index.size > 1
    return isinstance(index, list) and np.asarray(index).dtype != bool


@rrule(scatter_add)
def scatter_add_rule(shape, dtype, index, c):
    def scatter_add_pullback(ȳ):
        return None, None, None, unbroadcast(ȳ[index], c)

    return scatter_add(shape, dtype, index, c), scatter_add_pullback


def scatter_along(x, indices, axis, c):
    """Zeros like ``x`` with ``c`` at ``indices`` along ``axis``, no two the same."""
    out = np.zeros(np.shape(x), float_dtype(x))
    np.put_along_axis(out, indices, c, axis)
    return out


@rrule(scatter_along)
def scatter_along_rule(x, indices, axis, c):
    def scatter_along_pullback(ȳ):
        return None, None, None, unbroadcast(np.take_along_axis(ȳ, indices, axis), c)

    return scatter_along(x, indices, axis, c), scatter_along_pullback


@rrule(operator.getitem, Array)
def getitem_rule(a, b):
    def getitem_pullback(ȳ):
        return scatter_add(a.shape, float_dtype(a), b, ȳ), None

    return a[b], getitem_pullback


@array_rrule(np.take)
@rrule(np.ndarray.take)
def take_rule(a, indices, axis=None, out=None, mode="raise"):
    def take_pullback(ȳ):
        return take_cotangent(ȳ, a, take_indices(a, indices, axis, mode), axis), None, None, None, None

    return np.take(a, indices, axis, out, mode), take_pullback


def take_cotangent(ȳ, a, indices, axis):
    """The cotangent of ``a``, of which ``indices`` were taken along ``axis``."""
    if axis is None:
        return scatter_add((np.size(a),), float_dtype(a), indices, ȳ).reshape(np.shape(a))
    place = (*[slice(None)] * (axis % np.ndim(a)), indices)
    return scatter_add(np.shape(a), float_dtype(a), place, ȳ)


@nondifferentiable
def take_indices(a, indices, axis, mode):
    """``indices`` as they are used where ``np.take`` would wrap or clip them."""
    indices = np.asarray(indices)
    count = np.size(a) if axis is None else np.shape(a)[axis]
    if mode == "wrap":
        return indices % count
    return np.clip(indices, 0, count - 1) if mode == "clip" else indices


@array_rrule(np.take_along_axis)
def take_along_axis_rule(arr, indices, axis=-1):
    def take_along_axis_pullback(ȳ):
        if axis is None:
            flat = scatter_add((np.size(arr),), float_dtype(arr), np.asarray(indices), ȳ)
            return flat.reshape(np.shape(arr)), None, None
        return scatter_add(np.shape(arr), float_dtype(arr), along_axis(arr, indices, axis), ȳ), None, None

    return np.take_along_axis(arr, indices, axis), take_along_axis_pullback


@nondifferentiable
def along_axis(x, indices, axis):
    """The index of ``x`` that selects ``indices`` along ``axis``."""
    mesh = list(np.ix_(*map(range, np.shape(x))))
    mesh[axis] = indices
    return tuple(mesh)


@array_rrule(np.compress, 2)
def compress_rule(condition, a, axis=None, out=None):
    def compress_pullback(ȳ):
        return None, take_cotangent(ȳ, a, np.flatnonzero(condition), axis), None, None

    return np.compress(condition, a, axis, out), compress_pullback


@rrule(np.ndarray.compress)
def compress_method_rule(self, condition, /, axis=None, out=None):
    def compress_pullback(ȳ):
        return take_cotangent(ȳ, self, np.flatnonzero(condition), axis), None, None, None

    return self.compress(condition, axis, out), compress_pullback


@array_rrule(np.extract, 2)
def extract_rule(condition, arr):
    def extract_pullback(ȳ):
        return None, take_cotangent(ȳ, arr, np.flatnonzero(condition), None)

    return np.extract(condition, arr), extract_pullback
