"""Eigenvalues of symmetric matrices, and singular values. Each reads what SciPy reads: one triangle."""

import numpy as np
from scipy import linalg

from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.extend import cotangents, fresh
from autodiff_rules.numpy._shared import unbroadcast
from autodiff_rules.numpy.decompositions import (
    determined,
    eig_cotangent,
    gaps,
    one_triangle,
    singular_cotangent,
    svd_cotangent,
)
from autodiff_rules.numpy.linalg import adjoint, solved

fresh(linalg.eig, linalg.eigh, linalg.eigvalsh, linalg.svd, linalg.svdvals)
fresh(linalg.eig_banded, linalg.eigh_tridiagonal)
EIG = "scipy.linalg.eig"


BOTH_SIDES = (
    "a, b=None, left=False, right=True, overwrite_a=False, overwrite_b=False, check_finite=True, "
    "homogeneous_eigvals=False"
)


@cotangents(linalg.eig, BOTH_SIDES, 1, "a, b")
def eig_back(ȳ, y, a, b, left, right, check_finite, homogeneous_eigvals):
    if homogeneous_eigvals:
        raise NotDifferentiable("scipy.linalg.eig is not differentiated with homogeneous_eigvals")
    found, given = (y, ȳ) if left or right else ((y,), (ȳ,))
    w̄, v̄l, v̄r = given[0], given[1] if left else None, given[-1] if right else None
    if b is None:
        ā = None
        if w̄ is not None or v̄r is not None:
            v = found[-1] if right else linalg.eig(a, check_finite=check_finite)[1]
            ā = eig_cotangent(EIG, found[0], v, w̄, v̄r)
        if v̄l is not None:
            c = adjoint(eig_cotangent(EIG, np.conjugate(found[0]), found[1], None, v̄l))
            ā = c if ā is None else ā + c
        return None if ā is None else unbroadcast(ā, a), None
    if v̄l is not None or v̄r is not None:
        raise NotDifferentiable("scipy.linalg.eig of two matrices is differentiated in the eigenvalues alone")
    v = found[-1] if right else linalg.eig(a, b, check_finite=check_finite)[1]
    v = determined(EIG, v, found[0])
    ā = solved(adjoint(np.matmul(b, v)), w̄[..., :, None] * adjoint(v))
    b̄ = solved(adjoint(np.matmul(b, v)), -(w̄ * np.conjugate(found[0]))[..., :, None] * adjoint(v))
    return unbroadcast(ā, a), unbroadcast(b̄, b)


@cotangents(linalg.matrix_balance, "A, permute=True, scale=True, separate=False, overwrite_a=False")
def matrix_balance_cotangent(ȳ, y, A, permute, scale, separate):
    """Of the similar matrix ``t⁻¹ A t``, where ``t`` permutes, and scales by powers of two: a constant."""
    if ȳ[0] is None:
        return None
    h = adjoint(linalg.matrix_balance(A, permute, scale)[1] if separate else y[1])
    return unbroadcast(np.matmul(np.linalg.solve(h, ȳ[0]), h), A)


OPTIONS = "overwrite_a=False, overwrite_b=False, type=1, check_finite=True, subset_by_index=None, subset_by_value=None"


@cotangents(linalg.eigh, f"a, b=None, *, lower=True, eigvals_only=False, {OPTIONS}, driver=None", 1, "a, b")
def eigh_back(ȳ, y, a, b, lower, eigvals_only, type, subset_by_index, subset_by_value):
    w̄, v̄ = (ȳ, None) if eigvals_only else ȳ
    subset = {"subset_by_index": subset_by_index, "subset_by_value": subset_by_value}
    w, v = linalg.eigh(a, b, lower=lower, type=type, **subset) if eigvals_only else y
    return eigh_cotangents(a, b, w, v, w̄, v̄, lower, type, subset)


@cotangents(linalg.eigvalsh, f"a, b=None, *, lower=True, {OPTIONS}, driver=None", 1, "a, b")
def eigvalsh_back(ȳ, a, b, lower, type, subset_by_index, subset_by_value):
    subset = {"subset_by_index": subset_by_index, "subset_by_value": subset_by_value}
    w, v = linalg.eigh(a, b, lower=lower, type=type, **subset)
    return eigh_cotangents(a, b, w, v, ȳ, None, lower, type, subset)


def eigh_cotangents(a, b, w, v, w̄, v̄, lower, type, subset):
    """Those of ``a`` and ``b`` where a v = b v w and vᴴ b v is the identity.

    A variation of v is v c with c[i, j] = (vᴴ (da - w[j] db) v)[i, j] / (w[j] - w[i]), and c[i, i] is half of
    -(vᴴ db v)[i, i].
    """
    if v̄ is None and w̄ is None:
        return None, None
    if type != 1 or v̄ is not None and any(limits is not None for limits in subset.values()):
        raise NotDifferentiable("scipy.linalg.eigh is differentiable for type 1; with a subset, in the eigenvalues")
    size, v = np.shape(w)[-1], determined("scipy.linalg.eigh", v, w)
    inner = np.zeros((size, size)) if w̄ is None else np.eye(size) * w̄[..., None, :]
    turned = None if v̄ is None else np.matmul(adjoint(v), v̄)
    if v̄ is not None:
        inner = inner + turned * gaps("scipy.linalg.eigh", w, v̄)
    uplo = "L" if lower else "U"
    ā = one_triangle(np.matmul(np.matmul(v, inner), adjoint(v)), uplo)
    if b is None:
        return unbroadcast(ā, a), None
    other = -inner * w[..., None, :]
    if v̄ is not None:
        other = other - 0.5 * np.real(np.eye(size) * turned)
    b̄ = one_triangle(np.matmul(np.matmul(v, other), adjoint(v)), uplo)
    return unbroadcast(ā, a), unbroadcast(b̄, b)


@cotangents(
    linalg.svd, "a, full_matrices=True, compute_uv=True, overwrite_a=False, check_finite=True, lapack_driver='gesdd'"
)
def svd_back(ȳ, y, a, compute_uv):
    if compute_uv:
        return unbroadcast(svd_cotangent("scipy.linalg.svd", a, y, ȳ), a)
    return unbroadcast(singular_cotangent(a, ȳ), a)


cotangents(
    linalg.svdvals, "a, overwrite_a=False, check_finite=True", a=lambda ȳ, a: unbroadcast(singular_cotangent(a, ȳ), a)
)


def bands_back(name, matrix, found, given, eigvals_only, partly):
    """The cotangent of a real symmetric matrix from those of its eigenvalues and eigenvectors, or None."""
    w̄, v̄ = (given, None) if eigvals_only else given
    if v̄ is None and w̄ is None:
        return None
    if np.iscomplexobj(matrix) or v̄ is not None and partly:
        raise NotDifferentiable(f"{name} is differentiable for real matrices; of some, in the eigenvalues")
    w, v = found
    return eigh_cotangents(matrix, None, w, v, w̄, v̄, True, 1, {})[0]


def below_diagonal(rows):
    """Matrices with these on their diagonal, on the one below it and so on."""
    size = np.shape(rows[0])[-1]
    matrix = np.zeros((*np.shape(rows[0])[:-1], size, size), np.result_type(*rows))
    for i, row in enumerate(rows):
        places = np.arange(size - i)
        matrix[..., places + i, places] = row
    return matrix


PARTLY = "select='a', select_range=None"


@cotangents(
    linalg.eigh_tridiagonal,
    f"d, e, eigvals_only=False, {PARTLY}, check_finite=True, tol=0.0, lapack_driver='auto'",
    2,
    "d, e",
)
def eigh_tridiagonal_back(ȳ, y, d, e, eigvals_only, select, select_range):
    found = linalg.eigh_tridiagonal(d, e, select=select, select_range=select_range) if eigvals_only else y
    matrix = below_diagonal([d, e])
    c = bands_back("scipy.linalg.eigh_tridiagonal", matrix, found, ȳ, eigvals_only, select not in ("a", "all", 0))
    if c is None:
        return None, None
    return unbroadcast(np.diagonal(c, 0, -2, -1), d), unbroadcast(np.diagonal(c, -1, -2, -1), e)


@cotangents(
    linalg.eig_banded,
    f"a_band, lower=False, eigvals_only=False, overwrite_a_band=False, {PARTLY}, max_ev=0, check_finite=True",
)
def eig_banded_back(ȳ, y, a_band, lower, eigvals_only, select, select_range):
    found = linalg.eig_banded(a_band, lower, select=select, select_range=select_range) if eigvals_only else y
    band = np.asarray(a_band)
    if not band.size:
        return np.zeros(band.shape)
    outside, size = band.shape[-2] - 1, band.shape[-1]
    rows = [band[..., i if lower else outside - i, :] for i in range(outside + 1)]
    matrix = below_diagonal([row[..., : size - i] if lower else row[..., i:] for i, row in enumerate(rows)])
    c = bands_back("scipy.linalg.eig_banded", matrix, found, ȳ, eigvals_only, select not in ("a", "all", 0))
    if c is None:
        return None
    placed = np.zeros(band.shape)
    for i in range(outside + 1):
        part = np.diagonal(c, -i, -2, -1)
        if lower:
            placed[..., i, : size - i] = part
        else:
            placed[..., outside - i, i:] = part
    return unbroadcast(placed, a_band)
