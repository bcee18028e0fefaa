"""Repeating, rolling and flipping, and diagonals and triangles."""

import numpy as np

from autodiff_hook.extend import cotangents, linear
from autodiff_hook.registry import nondifferentiable
from autodiff_rules.numpy._shared import float_dtype, reshaped, unbroadcast
from autodiff_rules.numpy.indexing import take_cotangent

linear(np.roll, "a, shift, axis=None", lambda ȳ, shift, axis: np.roll(ȳ, opposite(shift), axis))
linear(np.flip, "m, axis=None", lambda ȳ, axis: np.flip(ȳ, axis))
linear(np.fliplr, "m", lambda ȳ: np.fliplr(ȳ))
linear(np.flipud, "m", lambda ȳ: np.flipud(ȳ))
linear(np.rot90, "m, k=1, axes=(0, 1)", lambda ȳ, k, axes: np.rot90(ȳ, -k, axes))


def opposite(shift):
    return tuple([-n for n in shift]) if isinstance(shift, (tuple, list)) else -shift


@cotangents(np.tile, "A, reps")
def tile_cotangent(ȳ, A, reps):
    counts, lengths = tiling(A, reps)
    stacked = np.reshape(ȳ, [n for pair in zip(counts, lengths) for n in pair])
    return reshaped(stacked.sum(tuple(range(0, stacked.ndim, 2))), A)


@nondifferentiable
def tiling(a, reps):
    """How often ``a`` is repeated along each axis of the result, and its lengths there."""
    reps = list(reps) if np.ndim(reps) else [int(reps)]
    axes = max(len(reps), np.ndim(a))
    return [1] * (axes - len(reps)) + reps, [1] * (axes - np.ndim(a)) + list(np.shape(a))


@cotangents((np.repeat, np.ndarray.repeat), "a, repeats, axis=None")
def repeat_cotangent(ȳ, a, repeats, axis):
    if not np.ndim(a):
        return unbroadcast(ȳ, a)
    count = np.size(a) if axis is None else np.shape(a)[axis]
    return take_cotangent(ȳ, a, np.repeat(np.arange(count), repeats), axis)


def diagonal_matrix(shape, dtype, offset, axis1, axis2, c):
    """Zeros of ``shape`` with ``c`` on a diagonal: the transpose of ``np.diagonal``."""
    out = np.zeros(shape, dtype)
    count = c.shape[-1]
    rows = np.arange(count) + max(-offset, 0)
    np.moveaxis(out, (axis1, axis2), (-2, -1))[..., rows, rows + offset] = c
    return out


cotangents(
    diagonal_matrix,
    "shape, dtype, offset, axis1, axis2, c",
    0,
    c=lambda ȳ, offset, axis1, axis2: np.diagonal(ȳ, offset, axis1, axis2),
)
linear(
    (np.diagonal, np.ndarray.diagonal),
    "a, offset=0, axis1=0, axis2=1",
    lambda ȳ, a, offset, axis1, axis2: diagonal_matrix(np.shape(a), float_dtype(a), offset, axis1, axis2, ȳ),
)
linear(
    np.linalg.diagonal,
    "x, /, *, offset=0",
    lambda ȳ, x, offset: diagonal_matrix(np.shape(x), float_dtype(x), offset, -2, -1, ȳ),
)
linear(
    (np.trace, np.ndarray.trace),
    "a, offset=0, axis1=0, axis2=1, dtype=None, out=None",
    lambda ȳ, a, offset, axis1, axis2: trace_cotangent(ȳ, a, offset, axis1, axis2),
)
linear(np.linalg.trace, "x, /, *, offset=0, dtype=None", lambda ȳ, x, offset: trace_cotangent(ȳ, x, offset, -2, -1))


def trace_cotangent(ȳ, a, offset, axis1, axis2):
    """``ȳ`` in every place of the diagonal."""
    ones = np.ones(diagonal_length(a, offset, axis1, axis2))
    return diagonal_matrix(np.shape(a), float_dtype(a), offset, axis1, axis2, np.expand_dims(ȳ, -1) * ones)


@nondifferentiable
def diagonal_length(a, offset, axis1, axis2):
    return np.diagonal(a, offset, axis1, axis2).shape[-1]


@cotangents(np.diag, "v, k=0")
def diag_cotangent(ȳ, v, k):
    if np.ndim(v) == 1:
        return np.diagonal(ȳ, k)
    return diagonal_matrix(np.shape(v), float_dtype(v), k, 0, 1, ȳ)


linear(np.diagflat, "v, k=0", lambda ȳ, v, k: reshaped(np.diagonal(ȳ, k), v))
linear(np.tril, "m, k=0", lambda ȳ, m, k: unbroadcast(np.tril(ȳ, k), m))
linear(np.triu, "m, k=0", lambda ȳ, m, k: unbroadcast(np.triu(ȳ, k), m))
