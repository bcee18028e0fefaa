"""Inverses, equations, determinants and powers of matrices."""

import numpy as np
from numpy.linalg import _umath_linalg

from autodiff_hook.extend import cotangents
from autodiff_hook.registry import rrule
from autodiff_hook.strong import times
from autodiff_rules._definitions import defines
from autodiff_rules.numpy._shared import conj, reshaped, unbroadcast
from autodiff_rules.numpy.joining import contained
from autodiff_rules.numpy.products import dot_left, dot_right


def adjoint(a):
    """The conjugate transpose of each matrix."""
    return conj(np.swapaxes(a, -1, -2))


@cotangents(np.linalg.inv, "a")
def inv_cotangent(ȳ, y, a):
    h = adjoint(y)
    return unbroadcast(-np.matmul(np.matmul(h, ȳ), h), a)


@rrule(_umath_linalg.inv)
def inv_ufunc_rule(a, /, *, signature=None):
    return inverse(a, _umath_linalg.inv(a) if signature is None else _umath_linalg.inv(a, signature=signature))


def inverse(a, y):
    """The value and the pullback of an inverse ``y``."""

    def inv_pullback(ȳ):
        h = adjoint(y)
        return (unbroadcast(-np.matmul(np.matmul(h, ȳ), h), a),)

    return y, inv_pullback


@cotangents(np.linalg.solve, "a, b", 2, "a, b")
def solve_cotangents(ȳ, y, a, b):
    if np.ndim(b) == 1:
        c = np.linalg.solve(adjoint(a), ȳ[..., None])
        ā = -np.matmul(c, adjoint(y[..., None]))
        return unbroadcast(ā, a), unbroadcast(c[..., 0], b)
    c = np.linalg.solve(adjoint(a), ȳ)
    return unbroadcast(-np.matmul(c, adjoint(y)), a), unbroadcast(c, b)


@defines(_umath_linalg.solve)
def solve_ufunc(a, b, /, *, signature=None):
    return np.linalg.solve(a, b)


@defines(_umath_linalg.solve1)
def solve_ufunc_of_vectors(a, b, /, *, signature=None):
    return np.linalg.solve(a, np.expand_dims(b, -1))[..., 0]


def solve_tangent(ȧ, y, a, b):
    """What the tangent of the matrices of equations contributes to that of their solutions."""
    if np.ndim(b) == 1:
        return -np.linalg.solve(a, np.matmul(ȧ, y[..., None]))[..., 0]
    return -np.linalg.solve(a, np.matmul(ȧ, y))


def solved(a, b):
    """The solutions of stacked equations with matrices on the right; nan where a matrix is singular.

    What a singular matrix would make of zeros is zero.
    """
    try:
        return np.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        if a.ndim == 2 and b.ndim == 2:
            return np.where(np.any(b != 0, 0), np.nan, 0.0 * b)
        shape = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        pairs = zip(*[np.broadcast_to(x, (*shape, *x.shape[-2:])).reshape(-1, *x.shape[-2:]) for x in (a, b)])
        return np.stack([solved(*pair) for pair in pairs]).reshape(*shape, *b.shape[-2:])


@cotangents(solved, "a, b", 0, "a, b")
def solved_cotangents(ȳ, y, a, b):
    c = solved(adjoint(a), ȳ)
    return unbroadcast(-np.matmul(c, adjoint(y)), a), unbroadcast(c, b)


cotangents(
    np.linalg.det, "a", a=lambda ȳ, y, a: unbroadcast(np.reshape(ȳ, (*np.shape(ȳ), 1, 1)) * adjoint(adjugate(a, y)), a)
)


def det_tangent(ȧ, y, a):
    return np.sum(np.multiply(np.swapaxes(adjugate(a, y), -1, -2), ȧ), (-1, -2))


def adjugate(a, y):
    """det(a), which is ``y``, times the inverse of ``a``, also of singular matrices."""
    if np.all(np.not_equal(y, 0)):
        inverse = np.linalg.inv(a)
        if _far_from_singular(a, inverse):
            return np.reshape(y, (*np.shape(y), 1, 1)) * inverse
    factors = np.linalg.svd(a)
    s = factors[1]
    cofactors = np.prod(np.where(np.eye(s.shape[-1], dtype=bool), 1.0, s[..., None, :]), -1)
    return _in_bases(np.eye(s.shape[-1]) * cofactors[..., None], factors)


cotangents(adjugate, "a, y", ((),), a=lambda ȳ, a, y: unbroadcast(adjoint(adjugate_slope(adjoint(ȳ), a, y)), a))


def adjugate_slope(ȧ, a, y):
    if np.all(np.not_equal(y, 0)):
        inverse = np.linalg.inv(a)
        if _far_from_singular(a, inverse):
            turned = np.matmul(inverse, ȧ)
            trace = np.trace(turned, axis1=-2, axis2=-1)[..., None, None]
            return np.reshape(y, (*np.shape(y), 1, 1)) * (trace * inverse - np.matmul(turned, inverse))
    factors = np.linalg.svd(a)
    s = factors[1]
    same = np.eye(s.shape[-1], dtype=bool)
    others = np.prod(np.where(same[:, None] | same, 1.0, s[..., None, None, :]), -1) * ~same
    m = np.matmul(np.matmul(adjoint(factors[0]), ȧ), adjoint(factors[2]))
    diagonal = np.sum(others * np.diagonal(m, axis1=-2, axis2=-1)[..., None, :], -1)
    return _in_bases(same * diagonal[..., None] - others * m, factors)


def _far_from_singular(a, inverse):
    """Whether a determinant and an inverse have most of their digits, however the rows and columns are scaled."""
    return np.all(np.sum(np.abs(inverse) * np.abs(np.swapaxes(a, -1, -2)), -1) < 1e6)


def _in_bases(core, factors):
    """The adjugate of a matrix in terms of that of its singular values."""
    u, vh = factors[0], factors[2]
    phase = np.linalg.det(u) * np.linalg.det(vh)
    return np.reshape(phase, (*np.shape(phase), 1, 1)) * np.matmul(np.matmul(adjoint(vh), core), adjoint(u))


@cotangents(np.linalg.slogdet, "a")
def slogdet_cotangent(ȳ, y, a):
    sign, log = ȳ
    c = 0.0 if log is None else log
    if sign is not None and np.iscomplexobj(a):
        c = c - 1j * np.imag(conj(sign) * y[0])
    return unbroadcast(times(np.reshape(c, (*np.shape(c), 1, 1)), adjoint(solved(a, np.eye(np.shape(a)[-1])))), a)


def slogdet_tangent(ȧ, y, a):
    slope = np.trace(solved(a, ȧ), axis1=-2, axis2=-1)
    turning = y[0] * (1j * np.imag(slope)) if np.iscomplexobj(a) else np.zeros(np.shape(y[0]))
    return turning, np.real(slope)


@cotangents(np.linalg.matrix_power, "a, n")
def matrix_power_cotangent(ȳ, a, n):
    if n == 0:
        return None
    base = a if n > 0 else np.linalg.inv(a)
    h = adjoint(base)
    total, left = ȳ, ȳ
    for _ in range(abs(n) - 1):
        left = np.matmul(left, h)
        total = np.matmul(h, total) + left
    if n < 0:
        total = -np.matmul(np.matmul(h, total), h)
    return unbroadcast(total, a)


@cotangents(np.linalg.multi_dot, "arrays, *, out=None", 0)
def multi_dot_cotangent(ȳ, arrays):
    if len(arrays) == 2:
        a, b = map(np.asarray, arrays)
        pair = [unbroadcast(dot_left(ȳ, a, b), arrays[0]), unbroadcast(dot_right(ȳ, a, b), arrays[1])]
        return contained(pair, arrays)
    factors = [adjoint(matrix(x, i)) for i, x in enumerate(arrays)]
    c = np.reshape(ȳ, (np.shape(factors[0])[1], np.shape(factors[-1])[0]))
    before, lefts = c, []
    for factor in factors:
        lefts.append(before)
        before = np.dot(factor, before)
    parts = []
    after = None
    for i in range(len(factors) - 1, -1, -1):
        part = lefts[i] if after is None else np.dot(lefts[i], after)
        after = factors[i] if after is None else np.dot(after, factors[i])
        parts.append(reshaped(part, arrays[i]))
    return contained(parts[::-1], arrays)


def matrix(x, place):
    """``x`` as a matrix: a vector is a row in the first place, a column in the last."""
    x = np.asarray(x)
    return x if x.ndim == 2 else (x[None, :] if place == 0 else x[:, None])


def pinv_cotangent(ȳ, a, y):
    """The cotangent of ``a`` from that of its pseudo-inverse ``y``, where the rank stays."""
    h, c = adjoint(y), adjoint(ȳ)
    outside = c - np.matmul(a, np.matmul(y, c))
    beside = c - np.matmul(np.matmul(c, y), a)
    inside = np.matmul(np.matmul(h, ȳ), h)
    return np.matmul(np.matmul(outside, y), h) + np.matmul(np.matmul(h, y), beside) - inside


def as_columns(b):
    """``b`` as a matrix: a vector is its only column."""
    return np.asarray(b)[:, None] if np.ndim(b) == 1 else np.asarray(b)


@cotangents(np.linalg.lstsq, "a, b, rcond=None", 2, "a, b")
def lstsq_cotangents(ȳ, y, a, b, rcond):
    x̄, r̄, _, s̄ = ȳ
    columns, solutions = as_columns(b), as_columns(y[0])
    p = np.linalg.pinv(a, rcond)
    ā, b̄ = np.zeros(np.shape(a)), np.zeros(columns.shape)
    if x̄ is not None:
        c = as_columns(x̄)
        ā, b̄ = pinv_cotangent(np.dot(c, adjoint(columns)), a, p), np.dot(adjoint(p), c)
    if r̄ is not None and np.size(r̄):
        rest = 2.0 * r̄ * (columns - np.dot(a, solutions))
        ā, b̄ = ā - np.dot(rest, adjoint(solutions)), b̄ + rest
    if s̄ is not None and np.any(s̄):
        factors = np.linalg.svd(a, full_matrices=False)
        ā = ā + np.matmul(factors[0] * s̄, factors[2])
    return unbroadcast(ā, a), reshaped(b̄, b)


@defines(np.linalg.tensorsolve)
def tensorsolve(a, b, axes=None):
    """``np.linalg.tensorsolve``: equations of as many unknowns as ``b`` has elements."""
    a, b = np.asarray(a), np.asarray(b)
    if axes is not None:
        kept = [axis for axis in range(a.ndim) if axis not in axes]
        a = np.transpose(a, (*kept, *axes))
    shape = a.shape[-(a.ndim - b.ndim) :]
    return np.reshape(np.linalg.solve(np.reshape(a, (b.size, b.size)), np.ravel(b)), shape)


@defines(np.linalg.cond)
def cond(x, p=None):
    """``np.linalg.cond``, infinite for singular matrices."""
    x = np.asarray(x)
    if 0 in x.shape[-2:]:
        raise np.linalg.LinAlgError("cond is not defined on empty arrays")
    if p is None or p in (2, -2):
        s = np.linalg.svdvals(x)
        ratio = s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    else:
        inverse_of_x = solved(x, np.eye(np.shape(x)[-1]))
        ratio = np.linalg.norm(x, p, (-2, -1)) * np.linalg.norm(inverse_of_x, p, (-2, -1))
    undefined = np.isnan(ratio) & ~np.any(np.isnan(x), (-2, -1))
    if not np.any(undefined):
        return ratio
    return np.where(undefined, np.inf * (1.0 + np.linalg.norm(x, axis=(-2, -1))), ratio)[()]
