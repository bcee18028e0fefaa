"""Greatest and smallest elements, and order. Of equal elements the first gets the cotangent."""

import numpy as np

from autodiff_hook.extend import cotangents
from autodiff_hook.strong import times
from autodiff_rules.numpy._shared import ABSENT, ALONG_FIRST, float_dtype, restore_axes, unbroadcast
from autodiff_rules.numpy.axes import from_last, to_last
from autodiff_rules.numpy.indexing import scatter_along, take_cotangent

SIGNATURE = "a, axis=None, out=None, keepdims=False, initial=np._NoValue, where=True"

cotangents(
    (np.max, np.amax, np.ndarray.max, np.generic.max),
    SIGNATURE,
    a=lambda ȳ, y, a, axis, keepdims, initial, where: (
        selected(ȳ, a, np.argmax, axis, keepdims)
        if initial is ABSENT
        else beside_initial(ȳ, y, np.where(where, a, initial), a, np.argmax, axis, keepdims, initial)
    ),
    initial=lambda ȳ, y, initial: None if initial is ABSENT else of_initial(ȳ, y, initial),
)
cotangents(
    (np.min, np.amin, np.ndarray.min, np.generic.min),
    SIGNATURE,
    a=lambda ȳ, y, a, axis, keepdims, initial, where: (
        selected(ȳ, a, np.argmin, axis, keepdims)
        if initial is ABSENT
        else beside_initial(ȳ, y, np.where(where, a, initial), a, np.argmin, axis, keepdims, initial)
    ),
    initial=lambda ȳ, y, initial: None if initial is ABSENT else of_initial(ȳ, y, initial),
)


def beside_initial(ȳ, y, present, a, choose, axis, keepdims, initial):
    """The cotangent of ``a``, of whose elements those that count are in ``present``; ``initial`` is met first."""
    c = np.where(np.equal(y, initial) | np.isnan(initial), 0.0, ȳ)
    return unbroadcast(selected(c, present, choose, axis, keepdims) if np.size(a) else np.zeros(np.shape(a)), a)


def extreme_tangent(ẋ, y, a, choose, axis, keepdims, initial, where):
    """The tangent of the elements that ``choose`` finds."""
    ones = np.ones(np.shape(y))
    if initial is ABSENT:
        share = selected(ones, a, choose, axis, keepdims)
    else:
        share = beside_initial(ones, y, np.where(where, a, initial), a, choose, axis, keepdims, initial)
    return np.sum(times(share, ẋ), axis, keepdims=keepdims)


def of_initial(ȳ, y, initial):
    return unbroadcast(np.where(np.equal(y, initial) | np.isnan(initial), ȳ, 0.0), initial)


def greatest_number(a, axis=0, out=None, keepdims=False, initial=ABSENT, where=True):
    """``np.fmax.reduce``: what is no number is passed over."""
    return np.fmax.reduce(a, axis, None, out, keepdims, initial, where)


def least_number(a, axis=0, out=None, keepdims=False, initial=ABSENT, where=True):
    """``np.fmin.reduce``."""
    return np.fmin.reduce(a, axis, None, out, keepdims, initial, where)


@cotangents(greatest_number, ALONG_FIRST, 1, "a, initial")
def greatest_number_cotangents(ȳ, y, a, axis, keepdims, initial, where):
    return among_numbers(ȳ, y, a, np.argmax, -np.inf, axis, keepdims, initial, where)


@cotangents(least_number, ALONG_FIRST, 1, "a, initial")
def least_number_cotangents(ȳ, y, a, axis, keepdims, initial, where):
    return among_numbers(ȳ, y, a, np.argmin, np.inf, axis, keepdims, initial, where)


def among_numbers(ȳ, y, a, choose, last, axis, keepdims, initial, where):
    """The cotangents of ``a`` and of ``initial``, which is met first; ``last`` is what comes after all numbers."""
    present = np.where(np.isnan(a) | np.logical_not(where), last, a)
    if initial is ABSENT:
        return selected(
            ȳ, np.where(np.isnan(restore_axes(y, a, axis, keepdims)), a, present), choose, axis, keepdims
        ), None
    first = np.equal(y, initial)
    c = np.where(first, 0.0, ȳ)
    ā = selected(c, present, choose, axis, keepdims) if np.size(a) else np.zeros(np.shape(a))
    return unbroadcast(ā, a), unbroadcast(np.where(first, ȳ, 0.0), initial)


@cotangents(np.ptp, "a, axis=None, out=None, keepdims=False")
def ptp_cotangent(ȳ, a, axis, keepdims):
    greatest = selected(ȳ, a, np.argmax, axis, keepdims)
    return greatest - selected(ȳ, a, np.argmin, axis, keepdims)


def selected(ȳ, a, choose, axis, keepdims):
    """Zeros like ``a``, with ``ȳ`` where the element is that ``choose`` (an argmax) finds along ``axis``."""
    if np.ndim(a) == 0:
        return unbroadcast(ȳ, a)
    if not np.size(a):
        return np.zeros(np.shape(a), float_dtype(a))
    if axis is None:
        if keepdims:
            ȳ = np.reshape(ȳ, ())
        return take_cotangent(ȳ, a, int(choose(a)), None)
    c = restore_axes(ȳ, a, axis, keepdims)
    if not isinstance(axis, tuple):
        return scatter_along(a, choose(a, axis, keepdims=True), axis, c)
    last = to_last(a, axis)
    c = np.reshape(ȳ, (*last.shape[:-1], 1))
    return from_last(scatter_along(last, choose(last, -1, keepdims=True), -1, c), a, axis)


@cotangents(np.sort, "a, axis=-1, kind=None, order=None, *, stable=None")
def sort_cotangent(ȳ, a, axis):
    if axis is None:
        return take_cotangent(ȳ, a, np.argsort(a, None, "stable"), None)
    return scatter_along(a, np.argsort(a, axis, "stable"), axis, ȳ)


def sort_tangent(ẋ, a, axis):
    if axis is None:
        return np.ravel(ẋ)[np.argsort(a, None, "stable")]
    return np.take_along_axis(ẋ, np.argsort(a, axis, "stable"), axis)


@cotangents(np.median, "a, axis=None, out=None, overwrite_input=False, keepdims=False")
def median_cotangent(ȳ, a, axis):
    last = to_last(np.asarray(a), axis)
    count = last.shape[-1]
    middle = np.argsort(last, -1, "stable")[..., (count - 1) // 2 : count // 2 + 1]
    c = np.reshape(ȳ, (*last.shape[:-1], 1)) * np.full(middle.shape, 1.0 / middle.shape[-1])
    return unbroadcast(from_last(scatter_along(last, middle, -1, c), a, axis), a)
