"""Equations, inverses and determinants."""

from __future__ import annotations

import numpy as np
from scipy import linalg
from scipy._lib._array_api import np_compat

from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.registry import rrule
from autodiff_rules.numpy._shared import array_rrule, reshaped, unbroadcast
from autodiff_rules.numpy.decompositions import hermitian_of, one_triangle
from autodiff_rules.numpy.linalg import adjoint, adjugate, pinv_cotangent
from autodiff_rules.scipy._standins import stand_in

GENERAL = (None, "gen", "general")
HERMITIAN = ("sym", "symmetric", "her", "hermitian", "pos", "positive definite")
TRIANGLES = {"upper triangular": False, "lower triangular": True}


def matrix_of_rows(x, a):
    """``x`` as a matrix of columns, if it is one vector beside the matrix ``a``."""
    return x[..., None] if np.ndim(x) == 1 and np.ndim(a) >= 2 else x


def read_part(c, assume_a, lower, name):
    """The cotangent of what was read of a matrix that was declared to be special."""
    if assume_a in GENERAL:
        return c
    if assume_a in HERMITIAN:
        if np.iscomplexobj(c) and assume_a in ("sym", "symmetric"):
            raise NotDifferentiable(f"{name} of a complex symmetric matrix is not differentiated")
        return one_triangle(0.5 * (c + adjoint(c)), "L" if lower else "U")
    if assume_a in TRIANGLES:
        return np.tril(c) if TRIANGLES[assume_a] else np.triu(c)
    raise NotDifferentiable(f"{name} with assume_a={assume_a!r} is not differentiated")


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
        h = np.conjugate(a) if transposed else adjoint(a)
        c = np.linalg.solve(h, matrix_of_rows(ȳ, a))
        m̄ = -np.matmul(c, adjoint(matrix_of_rows(y, a)))
        ā = read_part(np.swapaxes(m̄, -1, -2) if transposed else m̄, assume_a, lower, "scipy.linalg.solve")
        b̄ = c[..., 0] if np.ndim(y) == 1 else c
        return unbroadcast(ā, a), unbroadcast(b̄, b), None, None, None, None, None, None

    return y, solve_pullback


@array_rrule(linalg.solve_triangular, 2)
def solve_triangular_rule(a, b, trans=0, lower=False, unit_diagonal=False, overwrite_b=False, check_finite=True):
    options = {"lower": lower, "unit_diagonal": unit_diagonal, "check_finite": check_finite}
    y = linalg.solve_triangular(a, b, trans, **options)

    def solve_triangular_pullback(ȳ):
        kind = {"N": 0, "T": 1, "C": 2}.get(trans, trans)
        h, back = (a, 2) if kind == 0 else (np.conjugate(a), 0) if kind == 1 else (a, 0)
        b̄ = linalg.solve_triangular(h, ȳ, back, **options)
        m̄ = -np.matmul(matrix_of_rows(b̄, a), adjoint(matrix_of_rows(y, a)))
        ā = m̄ if kind == 0 else np.swapaxes(m̄, -1, -2) if kind == 1 else adjoint(m̄)
        offset = 1 if unit_diagonal else 0
        ā = np.tril(ā, -offset) if lower else np.triu(ā, offset)
        return unbroadcast(ā, a), unbroadcast(b̄, b), None, None, None, None, None

    return y, solve_triangular_pullback


@rrule(linalg.solve_banded)
def solve_banded_rule(l_and_u, ab, b, overwrite_ab=False, overwrite_b=False, check_finite=True):
    y = linalg.solve_banded(l_and_u, ab, b, check_finite=check_finite)

    def solve_banded_pullback(ȳ):
        (low, up), n = l_and_u, np.shape(ab)[-1]
        banded = np.array(np.conjugate(ab))
        transposed = np.zeros_like(banded)
        for d in range(-low, up + 1):
            columns = slice(max(d, 0), n + min(d, 0))
            transposed[low + d, max(-d, 0) : n - max(d, 0)] = banded[up - d, columns]
        b̄ = linalg.solve_banded((up, low), transposed, ȳ, check_finite=check_finite)
        left, right = matrix_of_rows(b̄, ab), matrix_of_rows(np.conjugate(y), ab)
        āb = np.zeros(np.shape(ab), np.result_type(left, right))
        for d in range(-low, up + 1):
            columns = slice(max(d, 0), n + min(d, 0))
            āb[up - d, columns] = -np.sum(left[max(-d, 0) : n - max(d, 0)] * right[columns], -1)
        return None, unbroadcast(āb, np.asarray(ab)), unbroadcast(b̄, b), None, None, None

    return y, solve_banded_pullback


@array_rrule(linalg.inv)
def inv_rule(a, overwrite_a=False, check_finite=True, *, assume_a=None, lower=False):
    options = {} if assume_a is None else {"assume_a": assume_a, "lower": lower}
    y = linalg.inv(a, check_finite=check_finite, **options)

    def inv_pullback(ȳ):
        h = adjoint(y)
        ā = read_part(-np.matmul(np.matmul(h, ȳ), h), assume_a, lower, "scipy.linalg.inv")
        return unbroadcast(ā, a), None, None

    return y, inv_pullback


@array_rrule(linalg.det)
def det_rule(a, overwrite_a=False, check_finite=True):
    y = linalg.det(a, check_finite=check_finite)

    def det_pullback(ȳ):
        ā = np.reshape(ȳ, (*np.shape(ȳ), 1, 1)) * adjoint(adjugate(a, y))
        return unbroadcast(ā, a), None, None

    return y, det_pullback


@array_rrule(linalg.pinv)
def pinv_rule(a, *, atol=None, rtol=None, return_rank=False, check_finite=True):
    y = linalg.pinv(a, atol=atol, rtol=rtol, return_rank=return_rank, check_finite=check_finite)

    def pinv_pullback(ȳ):
        p, c = (y[0], ȳ[0]) if return_rank else (y, ȳ)
        return (None if c is None else unbroadcast(pinv_cotangent(c, a, p), a),)

    return y, pinv_pullback


@array_rrule(linalg.pinvh)
def pinvh_rule(a, atol=None, rtol=None, lower=True, return_rank=False, check_finite=True):
    y = linalg.pinvh(a, atol=atol, rtol=rtol, lower=lower, return_rank=return_rank, check_finite=check_finite)

    def pinvh_pullback(ȳ):
        c, p = (ȳ[0], y[0]) if return_rank else (ȳ, y)
        if c is None:
            return None, None, None, None, None, None
        uplo = "L" if lower else "U"
        whole = pinv_cotangent(c, hermitian_of(a, uplo), p)
        return unbroadcast(one_triangle(whole, uplo), a), None, None, None, None, None

    return y, pinvh_pullback


@array_rrule(linalg.lstsq, 2)
def lstsq_rule(a, b, cond=None, overwrite_a=False, overwrite_b=False, check_finite=True, lapack_driver=None):
    y = linalg.lstsq(a, b, cond, check_finite=check_finite, lapack_driver=lapack_driver)

    def lstsq_pullback(ȳ):
        if np.ndim(a) > 2:
            raise NotDifferentiable("scipy.linalg.lstsq is differentiable for one matrix")
        x̄, r̄, _, s̄ = ȳ
        columns, x = matrix_of_rows(b, a), matrix_of_rows(y[0], a)
        ā, b̄ = np.zeros(np.shape(a)), np.zeros(np.shape(columns))
        if x̄ is not None:
            p = linalg.pinv(a) if cond is None else linalg.pinv(a, rtol=cond)
            c = matrix_of_rows(x̄, a)
            ā, b̄ = pinv_cotangent(np.matmul(c, adjoint(columns)), a, p), np.matmul(adjoint(p), c)
        if r̄ is not None and np.size(r̄):
            rest = 2.0 * r̄ * (columns - np.matmul(a, x))
            ā, b̄ = ā - np.matmul(rest, adjoint(x)), b̄ + rest
        if s̄ is not None:
            u, _, vh = linalg.svd(a, full_matrices=False)
            ā = ā + np.matmul(u * s̄, vh)
        return unbroadcast(ā, a), reshaped(b̄, b), None, None, None, None, None

    return y, lstsq_pullback


@stand_in(np_compat.linalg.solve)
def solve_of_the_array_api(x1, x2):
    """What SciPy's own code calls: NumPy's gufuncs, past ``np.linalg.solve``."""
    return np.linalg.solve(x1, x2)
