"""Norms of vectors and matrices; the cotangent at zero is zero."""

import numpy as np

from autodiff_hook.extend import cotangents
from autodiff_hook.registry import nondifferentiable
from autodiff_hook.strong import over, times
from autodiff_rules.numpy._shared import conj, restore_axes, unbroadcast
from autodiff_rules.numpy.extremes import selected


def norm_cotangent(ȳ, y, x, ord, axis, keepdims):
    if ord is None and axis is None and not keepdims:
        return unbroadcast(times(over(ȳ, np.inf if y == 0 else y), x), x)
    axes = reduced_axes(x, axis)
    if len(axes) == 2 and ord not in (None, "fro", "f"):
        return unbroadcast(matrix_cotangent(ȳ, x, ord, axes, keepdims), x)
    power = 2 if ord in (None, "fro", "f") else ord
    return unbroadcast(vector_cotangent(ȳ, x, y, power, axes, keepdims), x)


cotangents(
    np.linalg.norm,
    "x, ord=None, axis=None, keepdims=False",
    x=norm_cotangent,
    ord="that of np.linalg.norm with respect to its order",
)


def norm_tangent(ẋ, y, x, ord, axis, keepdims):
    if ord is None or ord == "fro":
        return np.real(np.sum(np.multiply(conj(x), ẋ), axis=axis, keepdims=keepdims)) / np.where(y == 0, 1.0, y)
    slope = norm_cotangent(np.ones_like(y), y, x, ord, axis, keepdims)
    return np.real(np.sum(np.multiply(conj(slope), ẋ), axis=axis, keepdims=keepdims))


@nondifferentiable
def reduced_axes(x, axis):
    if axis is None:
        return tuple(range(np.ndim(x)))
    return axis if isinstance(axis, tuple) else (axis,)


cotangents(
    np.linalg.vector_norm,
    "x, /, *, axis=None, keepdims=False, ord=2",
    x=lambda ȳ, y, x, axis, keepdims, ord: unbroadcast(
        vector_cotangent(ȳ, x, y, ord, reduced_axes(x, axis), keepdims), x
    ),
)


@cotangents(np.linalg.matrix_norm, "x, /, *, keepdims=False, ord='fro'")
def matrix_norm_cotangent(ȳ, y, x, keepdims, ord):
    if ord in ("fro", "f", None):
        return unbroadcast(vector_cotangent(ȳ, x, y, 2, (-2, -1), keepdims), x)
    return unbroadcast(matrix_cotangent(ȳ, x, ord, (-2, -1), keepdims), x)


def vector_cotangent(ȳ, x, y, ord, axes, keepdims):
    """The cotangent of ``x``, whose elements along ``axes`` make one vector each."""
    if ord == 0:
        return np.zeros(np.shape(x))
    c = restore_axes(ȳ, x, axes, keepdims)
    if ord == 1:
        return times(c, np.sign(x))
    if ord in (np.inf, -np.inf):
        choose = np.argmax if ord > 0 else np.argmin
        return times(selected(ȳ, np.abs(x), choose, axes, keepdims), np.sign(x))
    y = restore_axes(y, x, axes, keepdims)
    if ord == 2:
        return times(over(c, np.where(y == 0, np.inf, y)), x)
    size = np.abs(x)
    relative = np.where(size == 0, 1.0, size) / np.where(y == 0, 1.0, y)
    return times(c, np.sign(x) * relative ** (ord - 1))


def matrix_cotangent(ȳ, x, ord, axes, keepdims):
    """The cotangent of ``x``, whose elements along the two ``axes`` make one matrix each."""
    if not np.size(x):
        return np.zeros(np.shape(x))
    if ord in (1, -1, np.inf, -np.inf):
        summed = axes[0] if abs(ord) == 1 else axes[1]
        sums = np.sum(np.abs(x), summed, keepdims=True)
        choose = np.argmax if ord > 0 else np.argmin
        return selected(ȳ, sums, choose, tuple(axes), keepdims) * np.sign(x)
    moved = np.moveaxis(x, axes, (-2, -1))
    thin = np.linalg.svd(moved, False)
    u, s, vh = thin[0], thin[1], thin[2]
    c = ȳ if np.ndim(ȳ) == 0 else restore_axes(ȳ, x, tuple(axes), keepdims)
    c = np.moveaxis(c, axes, (-2, -1)) if np.ndim(c) else c
    if ord == "nuc":
        return np.moveaxis(c * np.matmul(u * np.sign(s)[..., None, :], vh), (-2, -1), axes)
    i = 0 if ord == 2 else -1
    outer = u[..., :, i, None] * vh[..., i, None, :] * np.sign(s[..., i, None, None])
    return np.moveaxis(c * outer, (-2, -1), axes)
