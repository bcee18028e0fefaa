"""Products of vectors, matrices and tensors."""

import math
import operator

import numpy as np

from autodiff_hook.extend import cotangents
from autodiff_hook.registry import nondifferentiable
from autodiff_hook.strong import contraction, is_plain, skipping, times, with_value
from autodiff_rules.numpy._shared import conj, reshaped, unbroadcast
from autodiff_rules.numpy.operators import register_for_arrays

nondifferentiable(is_plain)
nondifferentiable(skipping)


cotangents(with_value, "plain, value", 0, plain=lambda ȳ: ȳ)


matmul_rule = cotangents(
    (np.matmul, np.linalg.matmul),
    "x, y, /",
    2,
    x=lambda ȳ, x, y: matmul_left(ȳ, x, y),
    y=lambda ȳ, x, y: matmul_right(ȳ, x, y),
)
register_for_arrays(operator.matmul, matmul_rule)


def as_matrix(x):
    """``x`` with all axes but the last as one."""
    return x.reshape(math.prod(x.shape[:-1]), x.shape[-1])


def matmul_left(z̄, x, y):
    if y.ndim == 2:
        if x.ndim <= 2:
            return unbroadcast(contraction(np.dot, z̄, conj(y).T), x)
        return unbroadcast(contraction(np.matmul, z̄, conj(y).T), x)
    if y.ndim == 1:
        return unbroadcast(times(z̄ if x.ndim == 1 else z̄[..., None], conj(y)), x)
    if x.ndim == 1:
        return unbroadcast(contraction(np.matmul, conj(y), z̄[..., None])[..., 0], x)
    return unbroadcast(contraction(np.matmul, z̄, conj(y).swapaxes(-1, -2)), x)


def matmul_right(z̄, x, y):
    if x.ndim == 2:
        if y.ndim == 2:
            return unbroadcast(contraction(transposed_product, conj(x), z̄), y)
        return unbroadcast(contraction(np.dot if y.ndim == 1 else np.matmul, conj(x).T, z̄), y)
    if x.ndim == 1:
        return unbroadcast(times(z̄, conj(x)) if y.ndim == 1 else times(z̄[..., None, :], conj(x)[:, None]), y)
    if y.ndim == 1:
        return unbroadcast(contraction(np.dot, z̄.reshape(-1), as_matrix(conj(x))), y)
    if y.ndim == 2:
        return unbroadcast(contraction(np.dot, as_matrix(conj(x)).T, as_matrix(z̄)), y)
    return unbroadcast(contraction(np.matmul, conj(x).swapaxes(-1, -2), z̄), y)


_UNPACKED = 1_000_000
"""Products of so many multiplications OpenBLAS does with AVX-512 without copying the matrices first."""

_FEWEST_ROWS = 64


def transposed_product(x, c):
    """``x.T @ c``, of shapes ``(n, p)`` and ``(n, q)``, in the order that is fastest for these lengths.

    BLAS is faster with the transpose of a product that has many rows and few columns. Where ``n`` is large, too,
    copying ``x`` as products of large matrices do takes longer than multiplying: then it is a sum over blocks.
    """
    count, columns = c.shape
    if count < 32 or columns < 2:
        return np.dot(x.T, c)
    if x.size * columns > _UNPACKED and x.flags.c_contiguous:
        rows = _UNPACKED // (x.shape[1] * columns)
        if rows >= _FEWEST_ROWS:
            return _sum_over_blocks(x, c, -(-count // -(-count // rows)))
    return np.dot(c.T, x).T if x.shape[1] >= 8 * columns else np.dot(x.T, c)


cotangents(
    transposed_product,
    "x, c",
    2,
    x=lambda ȳ, x, c: unbroadcast(contraction(np.dot, conj(c), ȳ.T), x),
    c=lambda ȳ, x, c: unbroadcast(contraction(np.dot, conj(x), ȳ), c),
)


def _sum_over_blocks(x, c, rows):
    total = np.dot(c[:rows].T, x[:rows])
    for start in range(rows, len(x), rows):
        total += np.dot(c[start : start + rows].T, x[start : start + rows])
    return total.T


cotangents(
    (np.dot, np.ndarray.dot),
    "a, b, out=None",
    2,
    a=lambda ȳ, a, b: dot_left(ȳ, a, b),
    b=lambda ȳ, a, b: dot_right(ȳ, a, b),
)


def dot_left(ȳ, a, b):
    if np.ndim(b) == 0 or np.ndim(a) == 0:
        return unbroadcast(times(ȳ, conj(b)), a)
    if b.ndim <= 2:
        return matmul_left(ȳ, a, b)
    columns = as_matrix(conj(b).swapaxes(-1, -2))
    c = ȳ.reshape(math.prod(a.shape[:-1]), len(columns))
    return unbroadcast(contraction(np.dot, c, columns).reshape(a.shape), a)


def dot_right(ȳ, a, b):
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return unbroadcast(times(ȳ, conj(a)), b)
    if a.ndim == 1 or b.ndim == 1 or a.ndim == b.ndim == 2:
        return matmul_right(ȳ, a, b)
    rows = as_matrix(conj(a))
    shape = (*b.shape[:-2], b.shape[-1])
    stacked = contraction(np.dot, rows.T, ȳ.reshape(len(rows), math.prod(shape)))
    return unbroadcast(np.moveaxis(stacked.reshape(a.shape[-1], *shape), 0, -2), b)


cotangents(
    np.vdot,
    "a, b, /",
    2,
    a=lambda ȳ, a, b: reshaped(times(conj(ȳ), b), a),
    b=lambda ȳ, a, b: reshaped(times(ȳ, a), b),
)
cotangents(np.inner, "a, b, /", 2, a=lambda ȳ, a, b: inner_left(ȳ, a, b), b=lambda ȳ, a, b: inner_right(ȳ, a, b))


def inner_left(ȳ, a, b):
    if np.ndim(a) == 0 or np.ndim(b) <= 1:
        return dot_left(ȳ, a, b)
    return unbroadcast(tensor_product(ȳ, conj(b), b.ndim - 1), a)


def inner_right(ȳ, a, b):
    if np.ndim(b) == 0 or np.ndim(a) == 0:
        return unbroadcast(times(ȳ, conj(a)), b)
    axes = tuple(range(a.ndim - 1))
    return unbroadcast(tensor_product(ȳ, conj(a), (axes, axes)), b)


def tensor_product(a, b, axes):
    """``np.tensordot`` of a cotangent and a factor."""

    def product(x, y):
        return np.tensordot(x, y, axes)

    return contraction(product, a, b)


@cotangents(np.outer, "a, b, out=None", 2, "a, b")
def outer_cotangents(ȳ, a, b):
    ā = contraction(np.dot, ȳ, conj(np.ravel(b))).reshape(np.shape(a))
    b̄ = contraction(np.dot, conj(np.ravel(a)), ȳ).reshape(np.shape(b))
    return unbroadcast(ā, a), unbroadcast(b̄, b)


@cotangents(np.matvec, "x1, x2, /", 2, "x1, x2")
def matvec_cotangents(ȳ, x1, x2):
    x̄2 = contraction(np.matvec, np.swapaxes(conj(x1), -1, -2), ȳ)
    return unbroadcast(times(ȳ[..., None], conj(x2)[..., None, :]), x1), unbroadcast(x̄2, x2)


@cotangents(np.vecmat, "x1, x2, /", 2, "x1, x2")
def vecmat_cotangents(ȳ, x1, x2):
    x̄1 = contraction(np.matvec, x2, conj(ȳ))
    return unbroadcast(x̄1, x1), unbroadcast(times(ȳ[..., None, :], x1[..., None]), x2)
