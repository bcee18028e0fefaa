"""Logarithms of sums of exponentials: ``np.logaddexp.reduce`` and ``np.logaddexp2.reduce``, with their options."""

import numpy as np

from autodiff_hook.extend import cotangents
from autodiff_hook.strong import times
from autodiff_rules.numpy._shared import ABSENT, ALONG_FIRST, restore_axes, unbroadcast


def log_sum(a, axis=0, out=None, keepdims=False, initial=ABSENT, where=True):
    return np.logaddexp.reduce(a, axis, None, out, keepdims, initial, where)


def log2_sum(a, axis=0, out=None, keepdims=False, initial=ABSENT, where=True):
    return np.logaddexp2.reduce(a, axis, None, out, keepdims, initial, where)


@cotangents(log_sum, ALONG_FIRST, 1, "a, initial")
def log_sum_cotangents(ȳ, y, a, axis, keepdims, initial, where):
    return shared(ȳ, y, a, axis, keepdims, initial, where, np.exp)


@cotangents(log2_sum, ALONG_FIRST, 1, "a, initial")
def log2_sum_cotangents(ȳ, y, a, axis, keepdims, initial, where):
    return shared(ȳ, y, a, axis, keepdims, initial, where, np.exp2)


def shared(ȳ, y, a, axis, keepdims, initial, where, exponential):
    """The cotangents of the elements and of ``initial``; of equal infinities each has an equal part."""
    c, total = (restore_axes(x, a, axis, keepdims) for x in (ȳ, y))
    present = np.where(where, a, -np.inf)
    count = np.sum(np.equal(present, total) & where, axis, keepdims=True)
    if initial is ABSENT or initial is None:
        first = None
    else:
        count = count + np.equal(initial, total)
        first = unbroadcast(times(c, share(exponential, initial, total, count)), initial)
    return unbroadcast(np.where(where, times(c, share(exponential, present, total, count)), 0.0), a), first


def share(exponential, x, total, count):
    """The exponential of x - total, or the part of one of ``count`` that are as infinite as ``total``."""
    infinite = np.isinf(total)
    part = exponential(np.where(infinite, 0.0, x) - np.where(infinite, 0.0, total))
    return np.where(infinite, np.equal(x, total) / np.maximum(count, 1), part)
