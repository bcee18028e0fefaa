"""Making arrays of numbers, sequences and arrays."""

from __future__ import annotations

import numpy as np

from autodiff_hook.registry import rrule
from autodiff_rules.numpy._shared import array_rrule, nest, unbroadcast


def array_cotangent(ȳ, x, y):
    """The cotangent of ``x``, of which the array ``y`` was made."""
    if is_truncated(y, x):
        return None
    return nest(ȳ, x) if isinstance(x, (list, tuple)) else unbroadcast(ȳ, x)


def is_truncated(y, x):
    """Whether ``y`` has the whole parts of the floats ``x``, which have no derivative."""
    return y.dtype.kind in "iub" and np.asarray(x).dtype.kind in "fc"


@rrule(np.array)
def array_rule(object, dtype=None, *, copy=True, order="K", subok=False, ndmin=0, **options):
    y = np.array(object, dtype, copy=copy, order=order, subok=subok, ndmin=ndmin, **options)

    def array_pullback(ȳ):
        return array_cotangent(np.reshape(ȳ, np.shape(object)) if ndmin else ȳ, object, y), None

    return y, array_pullback


@rrule(np.asanyarray)
def asanyarray_rule(a, dtype=None, order=None, **options):
    y = np.asanyarray(a, dtype, order, **options)

    def asanyarray_pullback(ȳ):
        return array_cotangent(ȳ, a, y), None, None

    return y, asanyarray_pullback


@rrule(np.asarray)
def asarray_rule(a, dtype=None, order=None, **options):
    y = np.asarray(a, dtype, order, **options)

    def asarray_pullback(ȳ):
        return array_cotangent(ȳ, a, y), None, None

    return y, asarray_pullback


@rrule(np.ascontiguousarray)
def ascontiguousarray_rule(a, dtype=None, **options):
    y = np.ascontiguousarray(a, dtype, **options)

    def ascontiguousarray_pullback(ȳ):
        return array_cotangent(ȳ, a, y), None

    return y, ascontiguousarray_pullback


@rrule(np.asfortranarray)
def asfortranarray_rule(a, dtype=None, **options):
    y = np.asfortranarray(a, dtype, **options)

    def asfortranarray_pullback(ȳ):
        return array_cotangent(ȳ, a, y), None

    return y, asfortranarray_pullback


@rrule(np.asarray_chkfinite)
def asarray_chkfinite_rule(a, dtype=None, order=None):
    y = np.asarray_chkfinite(a, dtype, order)

    def asarray_chkfinite_pullback(ȳ):
        return array_cotangent(ȳ, a, y), None, None

    return y, asarray_chkfinite_pullback


@rrule(np.copy)
def copy_rule(a, order="K", subok=False):
    y = np.copy(a, order, subok)

    def copy_pullback(ȳ):
        return array_cotangent(ȳ, a, y), None, None

    return y, copy_pullback


@rrule(np.full)
def full_rule(shape, fill_value, dtype=None, order="C", **options):
    y = np.full(shape, fill_value, dtype, order, **options)

    def full_pullback(ȳ):
        return None, None if is_truncated(y, fill_value) else unbroadcast(ȳ, fill_value), None, None

    return y, full_pullback


@array_rrule(np.full_like)
def full_like_rule(a, fill_value, dtype=None, order="K", subok=True, shape=None, **options):
    y = np.full_like(a, fill_value, dtype, order, subok, shape, **options)

    def full_like_pullback(ȳ):
        c = None if is_truncated(y, fill_value) else unbroadcast(ȳ, fill_value)
        return None, c, None, None, None, None

    return y, full_like_pullback


@rrule(np.arange)
def arange_rule(start_or_stop, /, stop=None, step=1, *, dtype=None, **options):
    y = np.arange(start_or_stop, stop, step, dtype=dtype, **options)

    def arange_pullback(ȳ):
        if is_truncated(y, start_or_stop * 1.0):
            return None, None, None
        start = None if stop is None else unbroadcast(np.sum(ȳ), start_or_stop)
        return start, None, unbroadcast(np.dot(ȳ, np.arange(len(y))), step)

    return y, arange_pullback


@array_rrule(np.linspace, 2)
def linspace_rule(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, **options):
    y = np.linspace(start, stop, num, endpoint, retstep, dtype, axis, **options)

    def linspace_pullback(ȳ):
        ȳ, step = ȳ if retstep else (ȳ, None)
        first, last = (None, None) if ȳ is None else both_ends(np.moveaxis(ȳ, axis, 0), endpoint)
        if step is not None:
            each = step / (num - 1 if endpoint else num)
            first, last = (-each, each) if first is None else (first - each, last + each)
        if first is None or is_truncated(y[0] if retstep else y, 1.0):
            return None, None, None, None, None, None, None
        return unbroadcast(first, start), unbroadcast(last, stop), None, None, None, None, None

    return y, linspace_pullback


def both_ends(ȳ, endpoint):
    """The cotangents of the first and the last of evenly spaced points."""
    count = len(ȳ)
    parts = np.linspace(0.0, 1.0, count, endpoint)
    last = np.tensordot(parts, ȳ, 1)
    return np.sum(ȳ, 0) - last, last
