"""Factorisations: Cholesky's, LU and QR, and solving with their results."""

import numpy as np
from scipy import linalg

from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.extend import cotangents, fresh, shaped
from autodiff_hook.registry import LINEAR, frule, nondifferentiable
from autodiff_rules.numpy._shared import unbroadcast
from autodiff_rules.numpy.decompositions import cholesky_back, cholesky_tangent, qr_cotangent
from autodiff_rules.numpy.linalg import adjoint, solved
from autodiff_rules.scipy.linalg.systems import columns_of, in_form, like_right


def triangle(x, lower):
    return np.tril(x) if lower else np.triu(x)


shaped(linalg.cholesky)
fresh(linalg.cholesky, linalg.cho_factor, linalg.cho_solve, linalg.lu, linalg.lu_factor, linalg.lu_solve, linalg.qr)
cotangents(
    linalg.cholesky,
    "a, lower=False, overwrite_a=False, check_finite=True",
    a=lambda ȳ, y, a, lower: cholesky_back(ȳ, y, a, not lower),
)


def factor_tangent(ȧ, factor, lower):
    ȧ, whole = np.atleast_2d(ȧ), np.atleast_2d(factor)
    found = cholesky_tangent(ȧ, whole) if lower else adjoint(cholesky_tangent(adjoint(ȧ), adjoint(whole)))
    return np.reshape(found, np.shape(factor))


def cho_factor_tangent(ȧ, c, a, lower):
    ȧ, whole = np.reshape(ȧ, np.shape(np.atleast_2d(c))), np.atleast_2d(c)
    moved, rest = factor_tangent(ȧ, triangle(whole, lower), lower), whole - triangle(whole, lower)
    return np.reshape(moved + (ȧ - triangle(ȧ, lower) if np.any(rest != 0) else 0.0), np.shape(c))


def cho_solve_tangent(ċ, y, c_and_lower, b, check_finite):
    c, lower = triangle(c_and_lower[0], c_and_lower[1]), c_and_lower[1]
    ċ = triangle(ċ, lower)
    half = np.matmul(ċ, adjoint(c)) if lower else np.matmul(adjoint(ċ), c)
    found = -linalg.cho_solve(c_and_lower, np.matmul(half + adjoint(half), columns_of(y, b)), check_finite=check_finite)
    return in_form(found, b)


frule(linalg.cholesky, lambda ȧ, y, a, lower, overwrite_a, check_finite: factor_tangent(ȧ, y, lower))
frule(
    linalg.cho_factor,
    lambda ȧ, y, a, lower, overwrite_a, check_finite: (cho_factor_tangent(ȧ, y[0], a, lower), None),
)
frule(
    linalg.cho_solve,
    lambda ċ, y, c_and_lower, b, overwrite_b, check_finite: cho_solve_tangent(ċ[0], y, c_and_lower, b, check_finite),
    LINEAR,
)


@cotangents(linalg.cho_factor, "a, lower=False, overwrite_a=False, check_finite=True")
def cho_factor_cotangent(ȳ, y, a, lower):
    """The triangle that is no part of the factor is 0 or, in older versions of SciPy, that of ``a``."""
    c̄, c = ȳ[0], y[0]
    if c̄ is None:
        return None
    ā = cholesky_back(triangle(c̄, lower), triangle(c, lower), a, not lower)
    if np.any(c != triangle(c, lower)):
        ā = ā + (c̄ - triangle(c̄, lower))
    return unbroadcast(ā, a)


@cotangents(linalg.cho_solve, "c_and_lower, b, overwrite_b=False, check_finite=True", 0, "c_and_lower, b")
def cho_solve_cotangents(ȳ, y, c_and_lower, b, check_finite):
    c, lower = c_and_lower
    columns = linalg.cho_solve(c_and_lower, columns_of(ȳ, b), check_finite=check_finite)
    ā = -np.matmul(columns, adjoint(columns_of(y, b)))
    whole, factor = ā + adjoint(ā), triangle(c, lower)
    c̄ = triangle(np.matmul(whole, factor) if lower else np.matmul(factor, whole), lower)
    parts = (unbroadcast(c̄, c), None)
    return list(parts) if isinstance(c_and_lower, list) else parts, like_right(columns, b)


frule(linalg.lu_solve, None, LINEAR)


@nondifferentiable
def rows_of(piv):
    """The rows of matrices in the order in which they were eliminated, from LAPACK's exchanges."""
    order = np.empty(np.shape(piv), int)
    for place in np.ndindex(np.shape(piv)[:-1]):
        rows = np.arange(np.shape(piv)[-1])
        for i, other in enumerate(piv[place]):
            rows[i], rows[other] = rows[other], rows[i]
        order[place] = rows
    return order


def with_rows(x, order):
    return np.take_along_axis(x, order[..., None], -2)


def parts_of(lu):
    return np.tril(lu, -1) + np.eye(np.shape(lu)[-1]), np.triu(lu)


@cotangents(linalg.lu_factor, "a, overwrite_a=False, check_finite=True")
def lu_factor_cotangent(ȳ, y, a):
    lū, (lu, piv) = ȳ[0], y
    if lū is None:
        return None
    if np.size(lu) < 2:
        return unbroadcast(lū, a)
    if np.shape(lu)[-2] != np.shape(lu)[-1]:
        raise NotDifferentiable("scipy.linalg.lu_factor is differentiable for square matrices")
    return unbroadcast(with_rows(product_cotangent(lū, lu), np.argsort(rows_of(piv))), a)


def product_cotangent(lū, lu):
    """That of L U, the matrix with its rows in the order in which they were eliminated."""
    low, up = parts_of(lu)
    middle = np.tril(np.matmul(adjoint(low), np.tril(lū, -1)), -1) + np.triu(np.matmul(np.triu(lū), adjoint(up)))
    half = np.linalg.solve(adjoint(low), middle)
    return adjoint(solved(up, adjoint(half)))


@cotangents(linalg.lu, "a, permute_l=False, overwrite_a=False, check_finite=True, p_indices=False")
def lu_cotangent(ȳ, y, a, permute_l):
    l̄, ū = ȳ[-2:]
    if l̄ is None and ū is None:
        return None
    if not np.size(a):
        return np.zeros(np.shape(a))
    if np.shape(a)[-2] != np.shape(a)[-1]:
        raise NotDifferentiable("scipy.linalg.lu is differentiable for square matrices")
    order, low, up = linalg.lu(a, p_indices=True)
    lū = np.zeros(np.shape(low)) if ū is None else np.triu(ū)
    if l̄ is not None:
        lū = lū + np.tril(with_rows(l̄, np.argsort(order)) if permute_l else l̄, -1)
    return unbroadcast(with_rows(product_cotangent(lū, np.tril(low, -1) + up), order), a)


@cotangents(linalg.lu_solve, "lu_and_piv, b, trans=0, overwrite_b=False, check_finite=True", 0, "lu_and_piv, b")
def lu_solve_cotangents(ȳ, y, lu_and_piv, b, trans):
    lu, piv = lu_and_piv
    low, up = parts_of(lu)
    whole = with_rows(np.matmul(low, up), np.argsort(rows_of(piv)))
    c, ā = solved_by(whole, columns_of(ȳ, b), columns_of(y, b), trans)
    permuted = with_rows(ā, rows_of(piv))
    lū = np.tril(np.matmul(permuted, adjoint(up)), -1) + np.triu(np.matmul(adjoint(low), permuted))
    parts = (unbroadcast(lū, lu), None)
    return list(parts) if isinstance(lu_and_piv, list) else parts, like_right(c, b)


def solved_by(a, c, y, trans):
    """The cotangents of the right side and of ``a`` from that of the columns ``y``, which solve op(a) y = b."""
    h = (adjoint(a), np.conjugate(a), a)[trans]
    b̄ = solved(h, c)
    m̄ = -np.matmul(b̄, adjoint(y))
    return b̄, (m̄, np.swapaxes(m̄, -1, -2), adjoint(m̄))[trans]


@cotangents(linalg.qr, "a, overwrite_a=False, lwork=None, mode='full', pivoting=False, check_finite=True")
def qr_back(ȳ, y, a, mode, pivoting):
    rows, columns = np.shape(a)[-2:]
    if mode == "r":  # SciPy returns R alone for stacked matrices, else in a tuple
        q̄, r̄ = None, ȳ[0] if isinstance(y, tuple) else ȳ
    else:
        q̄, r̄ = ȳ[:2]
    if q̄ is None and r̄ is None:
        return None
    if not np.size(a):
        return np.zeros_like(a)
    undetermined = mode == "full" and rows > columns and q̄ is not None
    if mode not in ("full", "r", "economic") or undetermined:
        raise NotDifferentiable("scipy.linalg.qr of tall matrices is differentiable with mode='economic'")
    q, r, *order = linalg.qr(a, mode="economic", pivoting=pivoting)
    if r̄ is not None:
        r̄ = np.triu(r̄[..., :columns, :])
    pivoted = np.take_along_axis(np.asarray(a), order[0][..., None, :], -1) if pivoting else a
    ā = qr_cotangent(pivoted, q, r, q̄, r̄)
    if pivoting:
        ā = np.take_along_axis(ā, np.argsort(order[0])[..., None, :], -1)
    return unbroadcast(ā, a)
