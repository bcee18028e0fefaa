"""Equations, inverses and determinants."""

import numpy as np
from scipy import linalg
from scipy._lib._array_api import np_compat

from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.extend import cotangents, fresh
from autodiff_hook.registry import LINEAR, frule
from autodiff_rules.numpy._shared import array_rrule, reshaped, unbroadcast
from autodiff_rules.numpy.decompositions import half_triangle, hermitian_of, one_triangle
from autodiff_rules.numpy.linalg import adjoint, adjugate, det_tangent, lstsq_cotangents, pinv_cotangent
from autodiff_rules.scipy._standins import stand_in

fresh(linalg.inv, linalg.pinv, linalg.pinvh, linalg.solve, linalg.solve_triangular, linalg.lstsq)
fresh(linalg.solve_banded, linalg.solveh_banded)
SYMMETRIC = ("sym", "symmetric")
HERMITIAN = ("her", "hermitian", "pos", "positive definite")
TRIANGLES = {"upper triangular": "U", "lower triangular": "L"}
BANDS = {"diagonal": 0, "tridiagonal": 1}


def columns_of(x, b):
    """The solutions ``x`` as matrices of columns, where ``b`` on the right is one vector."""
    return x[..., None] if np.ndim(b) < 2 else x


def like_right(columns, b):
    return unbroadcast(in_form(columns, b), b)


def in_form(columns, b):
    """Columns as one vector, where ``b`` on the right is one."""
    return columns[..., 0] if np.ndim(b) < 2 else columns


def triangle(x, uplo, offset=0):
    return np.tril(x, -offset) if uplo == "L" else np.triu(x, offset)


def band(x, width):
    return np.triu(np.tril(x, width), -width)


def read_matrix(a, assume_a, lower):
    """The matrix that is meant by what is read of ``a``, which was declared to be special."""
    uplo = "L" if lower else "U"
    if assume_a in HERMITIAN:
        return hermitian_of(a, uplo)
    if assume_a in SYMMETRIC:
        return triangle(a, uplo) + np.swapaxes(triangle(a, uplo, 1), -1, -2)
    if assume_a in BANDS:
        return band(a, BANDS[assume_a])
    return triangle(a, TRIANGLES[assume_a]) if assume_a in TRIANGLES else a


def read_part(c, assume_a, lower):
    """The cotangent of what was read, from one of the whole matrix."""
    uplo = "L" if lower else "U"
    if assume_a in HERMITIAN:
        return one_triangle(c, uplo)
    if assume_a in SYMMETRIC:
        return half_triangle(c + np.swapaxes(c, -1, -2), uplo)
    if assume_a in BANDS:
        return band(c, BANDS[assume_a])
    return triangle(c, TRIANGLES[assume_a]) if assume_a in TRIANGLES else c


@array_rrule(linalg.solve, 2)
def solve_rule(
    a,
    b,
    lower=False,
    overwrite_a=False,
    overwrite_b=False,
    check_finite=True,
    assume_a=None,
    transposed=False,
):
    options = {"lower": lower, "check_finite": check_finite, "transposed": transposed}
    if assume_a is not None:
        options["assume_a"] = assume_a
    y = linalg.solve(a, b, **options)

    def solve_pullback(ȳ):
        if np.size(a) == 1:
            ā, b̄ = quotient_cotangents(ȳ, y, a, b)
            return ā, b̄, None, None, None, None, None, None
        m = read_matrix(a, assume_a, lower)
        c = np.linalg.solve(np.conjugate(m) if transposed else adjoint(m), columns_of(ȳ, b))
        m̄ = -np.matmul(c, adjoint(columns_of(y, b)))
        ā = read_part(np.swapaxes(m̄, -1, -2) if transposed else m̄, assume_a, lower)
        return unbroadcast(ā, a), like_right(c, b), None, None, None, None, None, None

    return y, solve_pullback


def solve_tangent(ȧ, y, a, b, lower, assume_a, transposed):
    """What the tangent of the matrix contributes to that of the solution."""
    if np.size(a) == 1:
        return -np.reshape(ȧ, ()) / np.reshape(a, ()) * y
    m, ṁ = read_matrix(a, assume_a, lower), read_matrix(ȧ, assume_a, lower)
    if transposed:
        m, ṁ = np.swapaxes(m, -1, -2), np.swapaxes(ṁ, -1, -2)
    columns = -np.linalg.solve(m, np.matmul(ṁ, columns_of(y, b)))
    return in_form(columns, b)


frule(
    linalg.solve,
    lambda ȧ, y, a, b, lower, overwrite_a, overwrite_b, check_finite, assume_a, transposed: solve_tangent(
        ȧ, y, a, b, lower, assume_a, transposed
    ),
    LINEAR,
)


def quotient_cotangents(ȳ, y, a, b):
    """Those of one number ``a`` and of all that is divided by it."""
    c = ȳ / np.conjugate(np.reshape(a, ()))
    return reshaped(-np.sum(c * np.conjugate(y)), a), unbroadcast(c, b)


TRANSPOSITIONS = {"N": 0, "T": 1, "C": 2}
TRIANGULAR = "a, b, trans=0, lower=False, unit_diagonal=False, overwrite_b=False, check_finite=True"


@cotangents(linalg.solve_triangular, TRIANGULAR, 2, "a, b")
def solve_triangular_cotangents(ȳ, y, a, b, trans, lower, unit_diagonal, check_finite):
    kind = TRANSPOSITIONS.get(trans, trans)
    h, back = (a, 2) if kind == 0 else (np.conjugate(a), 0) if kind == 1 else (a, 0)
    c = linalg.solve_triangular(h, columns_of(ȳ, b), back, lower, unit_diagonal, check_finite=check_finite)
    m̄ = -np.matmul(c, adjoint(columns_of(y, b)))
    ā = m̄ if kind == 0 else np.swapaxes(m̄, -1, -2) if kind == 1 else adjoint(m̄)
    ā = triangle(ā, "L" if lower else "U", 1 if unit_diagonal else 0)
    return unbroadcast(ā, a), like_right(c, b)


def solve_triangular_tangent(ȧ, y, a, b, trans, lower, unit_diagonal, check_finite):
    ṁ = triangle(ȧ, "L" if lower else "U", 1 if unit_diagonal else 0)
    kind = TRANSPOSITIONS.get(trans, trans)
    if kind:
        ṁ = np.swapaxes(ṁ, -1, -2) if kind == 1 else adjoint(ṁ)
    columns = np.matmul(ṁ, columns_of(y, b))
    found = -linalg.solve_triangular(a, columns, trans, lower, unit_diagonal, check_finite=check_finite)
    return in_form(found, b)


frule(
    linalg.solve_triangular,
    lambda ȧ, y, a, b, trans, lower, unit_diagonal, overwrite_b, check_finite: solve_triangular_tangent(
        ȧ, y, a, b, trans, lower, unit_diagonal, check_finite
    ),
    LINEAR,
)


@cotangents(linalg.solve_banded, "l_and_u, ab, b, overwrite_ab=False, overwrite_b=False, check_finite=True", 0, "ab, b")
def solve_banded_cotangents(ȳ, y, l_and_u, ab, b, check_finite):
    (low, up), n = l_and_u, np.shape(ab)[-1]
    banded = np.array(np.conjugate(ab))
    transposed = np.zeros_like(banded)
    for d in range(-low, up + 1):
        rows, columns = slice(max(-d, 0), n - max(d, 0)), slice(max(d, 0), n + min(d, 0))
        transposed[..., low + d, rows] = banded[..., up - d, columns]
    c = linalg.solve_banded((up, low), transposed, columns_of(ȳ, b), check_finite=check_finite)
    right = columns_of(np.conjugate(y), b)
    āb = np.zeros((*np.shape(c)[:-2], *np.shape(ab)[-2:]), np.result_type(c, right))
    for d in range(-low, up + 1):
        rows, columns = slice(max(-d, 0), n - max(d, 0)), slice(max(d, 0), n + min(d, 0))
        āb[..., up - d, columns] = -np.sum(c[..., rows, :] * right[..., columns, :], -1)
    return unbroadcast(āb, np.asarray(ab)), like_right(c, b)


SYMMETRIC_BAND = "ab, b, overwrite_ab=False, overwrite_b=False, lower=False, check_finite=True"


@cotangents(linalg.solveh_banded, SYMMETRIC_BAND, 2, "ab, b")
def solveh_banded_cotangents(ȳ, y, ab, b, lower, check_finite):
    c = linalg.solveh_banded(ab, columns_of(ȳ, b), lower=lower, check_finite=check_finite)
    right, (height, n) = columns_of(y, b), np.shape(ab)[-2:]
    āb = np.zeros((*np.shape(c)[:-2], height, n), np.result_type(c, right))
    for d in range(height):
        low, up = (c[..., d:, :], right[..., d:, :]), (c[..., : n - d, :], right[..., : n - d, :])
        band = -np.sum(low[0] * np.conjugate(up[1]) + np.conjugate(up[0]) * low[1], -1)
        if d == 0:
            āb[..., 0 if lower else -1, :] = 0.5 * np.real(band)
        elif lower:
            āb[..., d, : n - d] = band
        else:
            āb[..., height - 1 - d, d:] = np.conjugate(band)
    return unbroadcast(āb, np.asarray(ab)), like_right(c, b)


def solve_banded_tangent(ȧb, y, l_and_u, ab, b, check_finite):
    (low, up), n, x = l_and_u, np.shape(ab)[-1], columns_of(y, b)
    moved = np.zeros(np.shape(x), np.result_type(ȧb, x))
    for d in range(-low, up + 1):
        rows, columns = slice(max(-d, 0), n - max(d, 0)), slice(max(d, 0), n + min(d, 0))
        moved[..., rows, :] += ȧb[..., up - d, columns, None] * x[..., columns, :]
    found = -linalg.solve_banded(l_and_u, ab, moved, check_finite=check_finite)
    return in_form(found, b)


def solveh_banded_tangent(ȧb, y, ab, b, lower, check_finite):
    (height, n), x = np.shape(ab)[-2:], columns_of(y, b)
    moved = np.zeros(np.shape(x), np.result_type(ȧb, x))
    for d in range(height):
        band = ȧb[..., d, : n - d, None] if lower else np.conjugate(ȧb[..., height - 1 - d, d:, None])
        if d == 0:
            moved += np.real(band) * x
        else:
            moved[..., d:, :] += band * x[..., : n - d, :]
            moved[..., : n - d, :] += np.conjugate(band) * x[..., d:, :]
    found = -linalg.solveh_banded(ab, moved, lower=lower, check_finite=check_finite)
    return in_form(found, b)


frule(
    linalg.solve_banded,
    None,
    lambda ȧb, y, l_and_u, ab, b, overwrite_ab, overwrite_b, check_finite: solve_banded_tangent(
        np.asarray(ȧb), y, l_and_u, ab, b, check_finite
    ),
    LINEAR,
)
frule(
    linalg.solveh_banded,
    lambda ȧb, y, ab, b, overwrite_ab, overwrite_b, lower, check_finite: solveh_banded_tangent(
        np.asarray(ȧb), y, ab, b, lower, check_finite
    ),
    LINEAR,
)


@array_rrule(linalg.inv)
def inv_rule(a, overwrite_a=False, check_finite=True, *, assume_a=None, lower=False):
    options = {} if assume_a is None else {"assume_a": assume_a, "lower": lower}
    y = linalg.inv(a, check_finite=check_finite, **options)

    def inv_pullback(ȳ):
        h = adjoint(y)
        ā = read_part(-np.matmul(np.matmul(h, ȳ), h), assume_a, lower)
        return unbroadcast(ā, a), None, None

    return y, inv_pullback


frule(linalg.inv, lambda ȧ, y, a, overwrite_a, check_finite: -np.matmul(np.matmul(y, ȧ), y))
frule(linalg.det, lambda ȧ, y, a, overwrite_a, check_finite: det_tangent(ȧ, y, a))


@cotangents(linalg.det, "a, overwrite_a=False, check_finite=True")
def det_cotangent(ȳ, y, a):
    ā = np.reshape(ȳ, (*np.shape(ȳ), 1, 1)) * adjoint(adjugate(a, y))
    return unbroadcast(ā, a)


@cotangents(linalg.pinv, "a, *, atol=None, rtol=None, return_rank=False, check_finite=True")
def pinv_back(ȳ, y, a, return_rank):
    p, c = (y[0], ȳ[0]) if return_rank else (y, ȳ)
    return None if c is None else unbroadcast(pinv_cotangent(c, a, p), a)


@cotangents(linalg.pinvh, "a, atol=None, rtol=None, lower=True, return_rank=False, check_finite=True")
def pinvh_cotangent(ȳ, y, a, lower, return_rank):
    c, p = (ȳ[0], y[0]) if return_rank else (ȳ, y)
    if c is None:
        return None
    uplo = "L" if lower else "U"
    whole = pinv_cotangent(c, hermitian_of(a, uplo), p)
    return unbroadcast(one_triangle(whole, uplo), a)


LEAST_SQUARES = "a, b, cond=None, overwrite_a=False, overwrite_b=False, check_finite=True, lapack_driver=None"


@cotangents(linalg.lstsq, LEAST_SQUARES, 2, "a, b")
def lstsq_back(ȳ, y, a, b, cond):
    if np.ndim(a) > 2:
        raise NotDifferentiable("scipy.linalg.lstsq is differentiable for one matrix")
    return lstsq_cotangents(ȳ, y, a, b, cond)


@stand_in(np_compat.linalg.solve)
def solve_of_the_array_api(x1, x2):
    """What SciPy's own code calls: NumPy's gufuncs, past ``np.linalg.solve``."""
    return np.linalg.solve(x1, x2)
