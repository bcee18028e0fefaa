"""Making arrays of numbers, sequences and arrays."""

import numpy as np

from autodiff_hook.extend import cotangents, linear
from autodiff_rules.numpy._shared import nest, unbroadcast


def array_cotangent(ȳ, x, y):
    """The cotangent of ``x``, of which the array ``y`` was made."""
    if is_truncated(y, x):
        return None
    return nest(ȳ, x) if isinstance(x, (list, tuple)) else unbroadcast(ȳ, x)


def is_truncated(y, x):
    """Whether ``y`` has the whole parts of the floats ``x``, which have no derivative."""
    return y.dtype.kind in "iub" and np.asarray(x).dtype.kind in "fc"


linear(
    np.array,
    "object, dtype=None, *, copy=True, order='K', subok=False, ndmin=0, **options",
    lambda ȳ, y, object, ndmin: array_cotangent(np.reshape(ȳ, np.shape(object)) if ndmin else ȳ, object, y),
    kinds=0,
)
linear(np.asanyarray, "a, dtype=None, order=None, **options", lambda ȳ, y, a: array_cotangent(ȳ, a, y), kinds=0)
linear(np.asarray, "a, dtype=None, order=None, **options", lambda ȳ, y, a: array_cotangent(ȳ, a, y), kinds=0)
linear(np.ascontiguousarray, "a, dtype=None, **options", lambda ȳ, y, a: array_cotangent(ȳ, a, y), kinds=0)
linear(np.asfortranarray, "a, dtype=None, **options", lambda ȳ, y, a: array_cotangent(ȳ, a, y), kinds=0)
linear(np.asarray_chkfinite, "a, dtype=None, order=None", lambda ȳ, y, a: array_cotangent(ȳ, a, y), kinds=0)
linear(np.copy, "a, order='K', subok=False", lambda ȳ, y, a: array_cotangent(ȳ, a, y), kinds=0)
cotangents(
    np.full,
    "shape, fill_value, dtype=None, order='C', **options",
    0,
    fill_value=lambda ȳ, y, fill_value: None if is_truncated(y, fill_value) else unbroadcast(ȳ, fill_value),
)


@cotangents(np.full_like, "a, fill_value, dtype=None, order='K', subok=True, shape=None, **options", 1, "fill_value")
def full_like_cotangent(ȳ, y, fill_value):
    c = None if is_truncated(y, fill_value) else unbroadcast(ȳ, fill_value)
    return c


@cotangents(np.arange, "start, stop=None, step=1, *, dtype=None, **options", 0, "start, step")
def arange_cotangents(ȳ, y, start, stop, step):
    if is_truncated(y, start * 1.0):
        return None, None
    first = None if stop is None else unbroadcast(np.sum(ȳ), start)
    return first, unbroadcast(np.dot(ȳ, np.arange(len(y))), step)


@cotangents(
    np.linspace, "start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, **options", 2, "start, stop"
)
def linspace_cotangents(ȳ, y, start, stop, num, endpoint, retstep, axis):
    ȳ, step = ȳ if retstep else (ȳ, None)
    first, last = (None, None) if ȳ is None else both_ends(np.moveaxis(ȳ, axis, 0), endpoint)
    if step is not None:
        each = step / (num - 1 if endpoint else num)
        first, last = (-each, each) if first is None else (first - each, last + each)
    if first is None or is_truncated(y[0] if retstep else y, 1.0):
        return None, None
    return unbroadcast(first, start), unbroadcast(last, stop)


def both_ends(ȳ, endpoint):
    """The cotangents of the first and the last of evenly spaced points."""
    count = len(ȳ)
    parts = np.linspace(0.0, 1.0, count, endpoint)
    last = np.tensordot(parts, ȳ, 1)
    return np.sum(ȳ, 0) - last, last
