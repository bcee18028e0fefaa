"""LAPACK's solvers, as SciPy's own code and others call them; of factors, those of ``dpotrf`` have derivatives."""

import numpy as np
from scipy.linalg import blas, cho_solve, lapack, solve_banded, solve_triangular

from autodiff_hook.extend import cotangents, not_implemented, pure
from autodiff_rules.scipy._standins import define, natively, part_natively, settled

FACTORS = "that of the factors which a solver of LAPACK leaves behind; those of dpotrf have one"
UNSOLVED = "that of a system which LAPACK has not solved (its info is not 0)"


def dgesv(a, b, overwrite_a=False, overwrite_b=False):
    native, given = lapack.dgesv, (a, b)
    pivots = part_natively(native, given, 1)
    return factor(native, (a,), (b,), 0), pivots, *solved(native, given, lambda: np.linalg.solve(a, b))


def dsysv(a, b, lwork=None, lower=False, overwrite_a=False, overwrite_b=False):
    native, others = lapack.dsysv, (b, max(len(a), 1) if lwork is None else lwork, lower)
    pivots = part_natively(native, (a, *others), 1)
    found = solved(native, (a, *others), lambda: np.linalg.solve(symmetric(a, lower), b))
    return factor(native, (a,), others, 0), pivots, *found


def dposv(a, b, lower=False, overwrite_a=False, overwrite_b=False):
    native = lapack.dposv
    found = solved(native, (a, b, lower), lambda: np.linalg.solve(symmetric(a, lower), b))
    return factor(native, (a,), (b, lower), 0), *found


def dpotrf(a, lower=False, clean=True, overwrite_a=False):
    def find():
        found = np.linalg.cholesky(symmetric(a, lower))
        whole = found if lower else found.T
        return whole if clean else whole + (np.triu(a, 1) if lower else np.tril(a, -1))

    return solved(lapack.dpotrf, (a, lower, clean), find)


def dpotrs(c, b, lower=False, overwrite_b=False):
    return solved(lapack.dpotrs, (c, b, lower), lambda: cho_solve((c, lower), b))


def dtrtrs(a, b, lower=False, trans=0, unitdiag=False, lda=None, overwrite_b=False):
    given = a, b, lower, trans, unitdiag
    return solved(lapack.dtrtrs, given, lambda: solve_triangular(a, b, trans, lower, unitdiag))


def dgbsv(kl, ku, ab, b, overwrite_ab=False, overwrite_b=False):
    native, matrix = lapack.dgbsv, (kl, ku, ab)
    pivots = part_natively(native, (*matrix, b), 1)
    found = solved(native, (*matrix, b), lambda: solve_banded((kl, ku), ab[kl:], b))
    return factor(native, matrix, (b,), 0), pivots, *found


def dpbsv(ab, b, lower=False, ldab=None, overwrite_ab=False, overwrite_b=False):
    native, outside = lapack.dpbsv, len(ab) - 1
    found = solved(native, (ab, b, lower), lambda: solve_banded((outside, outside), whole_band(ab, lower), b))
    return factor(native, (ab,), (b, lower), 0), *found


def dgtsv(dl, d, du, b, overwrite_dl=False, overwrite_d=False, overwrite_du=False, overwrite_b=False):
    def find():
        return solve_banded((1, 1), np.vstack([np.append(0.0, du), d, np.append(dl, 0.0)]), b)

    native, matrix = lapack.dgtsv, (dl, d, du)
    factors = factor(native, matrix, (b,), 0), factor(native, matrix, (b,), 1), factor(native, matrix, (b,), 2)
    return *factors, *solved(native, (*matrix, b), find)


def dptsv(d, e, b, overwrite_d=False, overwrite_e=False, overwrite_b=False):
    def find():
        return solve_banded((1, 1), whole_band(np.vstack([d, np.append(e, 0.0)]), True), b)

    native, matrix = lapack.dptsv, (d, e)
    factors = factor(native, matrix, (b,), 0), factor(native, matrix, (b,), 1)
    return *factors, *solved(native, (*matrix, b), find)


def dgemm(alpha, a, b, beta=0.0, c=None, trans_a=0, trans_b=0, overwrite_c=False):
    product = alpha * ((a.T if trans_a else a) @ (b.T if trans_b else b))
    native = natively(native_dgemm, (alpha, a, b, beta, c, trans_a, trans_b), {})
    return settled(product if c is None else product + beta * c, native)


def dtrsm(alpha, a, b, side=0, lower=0, trans_a=0, diag=0, overwrite_b=0):
    """A triangular matrix on the left of the solution, or on its right."""
    if side:
        found = solve_triangular(a, (alpha * b).T, 0 if trans_a else 1, lower, diag).T
    else:
        found = solve_triangular(a, alpha * b, trans_a, lower, diag)
    return settled(found, natively(blas.dtrsm, (alpha, a, b, side, lower, trans_a, diag), {}))


def native_dgemm(alpha, a, b, beta, c, trans_a, trans_b):
    options = {} if c is None else {"c": c}
    return blas.dgemm(alpha, a, b, beta, trans_a=trans_a, trans_b=trans_b, **options)


def solved(native, given, find):
    """What a solver gives last: the solution, which ``find`` gives but for rounding, and how it went."""
    info = part_natively(native, given, -1)
    if info:
        return left(given, (), native, -2, UNSOLVED), info
    return settled(find(), part_natively(native, given, -2)), info


def factor(native, matrix, others, place):
    return left(matrix, others, native, place, FACTORS)


def left(moving, others, native, place, why):
    """One part of what native code gives, whose derivative by what is ``moving`` is an error."""
    return native(*moving, *others)[place]


def symmetric(a, lower):
    """The matrix of which one triangle is read."""
    return np.tril(a) + np.tril(a, -1).T if lower else np.triu(a) + np.triu(a, 1).T


def whole_band(band, lower):
    """The diagonals of a symmetric matrix on both sides, of those on one."""
    outside, n = len(band) - 1, np.shape(band)[1]
    whole = np.zeros((2 * outside + 1, n))
    for k in range(outside + 1):
        diagonal = band[k, : n - k] if lower else band[outside - k, k:]
        whole[outside - k, k:] = diagonal
        whole[outside + k, : n - k] = diagonal
    return whole


pure(left)
cotangents(left, "moving, others, native, place, why", ((),), moving=lambda why: not_implemented(why))

for solver in (dgesv, dsysv, dposv, dpotrf, dpotrs, dtrtrs, dgbsv, dpbsv, dgtsv, dptsv):
    define(getattr(lapack, solver.__name__), solver)
define(blas.dgemm, dgemm)
define(blas.dtrsm, dtrsm)
