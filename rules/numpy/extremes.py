"""Greatest and smallest elements, and order. Of equal elements the first gets the cotangent."""

from __future__ import annotations

import numpy as np

from autodiff_hook.registry import rrule
from autodiff_rules.numpy._shared import array_rrule, float_dtype, restore_axes, unbroadcast
from autodiff_rules.numpy.axes import from_last, to_last
from autodiff_rules.numpy.indexing import scatter_add, scatter_along


@array_rrule(np.max)
@array_rrule(np.amax)
@rrule(np.ndarray.max)
@rrule(np.generic.max)
def max_rule(a, axis=None, out=None, keepdims=False, initial=np._NoValue, where=True):
    y = np.max(a, axis, out, keepdims, initial, where)

    def max_pullback(ȳ):
        if initial is np._NoValue:
            return selected(ȳ, a, np.argmax, axis, keepdims), None, None, None, None, None
        present = np.where(where, a, initial)
        return *from_initial(ȳ, y, present, a, np.argmax, axis, keepdims, initial), None

    return y, max_pullback


@array_rrule(np.min)
@array_rrule(np.amin)
@rrule(np.ndarray.min)
@rrule(np.generic.min)
def min_rule(a, axis=None, out=None, keepdims=False, initial=np._NoValue, where=True):
    y = np.min(a, axis, out, keepdims, initial, where)

    def min_pullback(ȳ):
        if initial is np._NoValue:
            return selected(ȳ, a, np.argmin, axis, keepdims), None, None, None, None, None
        present = np.where(where, a, initial)
        return *from_initial(ȳ, y, present, a, np.argmin, axis, keepdims, initial), None

    return y, min_pullback


def from_initial(ȳ, y, present, a, choose, axis, keepdims, initial):
    """The cotangents of an extreme's arguments up to ``initial``, which is met first."""
    first = np.equal(y, initial) | np.isnan(initial)
    c = np.where(first, 0.0, ȳ)
    ā = selected(c, present, choose, axis, keepdims) if np.size(a) else np.zeros(np.shape(a))
    return unbroadcast(ā, a), None, None, None, unbroadcast(np.where(first, ȳ, 0.0), initial)


@array_rrule(np.ptp)
def ptp_rule(a, axis=None, out=None, keepdims=False):
    def ptp_pullback(ȳ):
        greatest = selected(ȳ, a, np.argmax, axis, keepdims)
        return greatest - selected(ȳ, a, np.argmin, axis, keepdims), None, None, None

    return np.ptp(a, axis, out, keepdims), ptp_pullback


def selected(ȳ, a, choose, axis, keepdims):
    """Zeros like ``a``, with ``ȳ`` where the element is that ``choose`` (an argmax) finds along ``axis``."""
    if np.ndim(a) == 0:
        return unbroadcast(ȳ, a)
    if axis is None:
        if keepdims:
            ȳ = np.reshape(ȳ, ())
        return scatter_add((a.size,), float_dtype(a), int(choose(a)), ȳ).reshape(a.shape)
    c = restore_axes(ȳ, a, axis, keepdims)
    if not isinstance(axis, tuple):
        return scatter_along(a, choose(a, axis, keepdims=True), axis, c)
    last = to_last(a, axis)
    c = np.reshape(ȳ, (*last.shape[:-1], 1))
    return from_last(scatter_along(last, choose(last, -1, keepdims=True), -1, c), a, axis)


@array_rrule(np.sort)
def sort_rule(a, axis=-1, kind=None, order=None, *, stable=None):
    def sort_pullback(ȳ):
        if axis is None:
            places = np.argsort(a, None, "stable")
            return scatter_add((np.size(a),), float_dtype(a), places, ȳ).reshape(np.shape(a)), None, None, None
        return scatter_along(a, np.argsort(a, axis, "stable"), axis, ȳ), None, None, None

    return np.sort(a, axis, kind, order, stable=stable), sort_pullback


@array_rrule(np.median)
def median_rule(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    def median_pullback(ȳ):
        last = to_last(np.asarray(a), axis)
        count = last.shape[-1]
        middle = np.argsort(last, -1, "stable")[..., (count - 1) // 2 : count // 2 + 1]
        c = np.reshape(ȳ, (*last.shape[:-1], 1)) * np.full(middle.shape, 1.0 / middle.shape[-1])
        return unbroadcast(from_last(scatter_along(last, middle, -1, c), a, axis), a), None, None, None, None

    return np.median(a, axis, out, keepdims=keepdims), median_pullback
