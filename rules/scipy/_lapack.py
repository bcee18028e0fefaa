"""LAPACK's solvers, as SciPy's own code and others call them: factors of what is solved have no derivative.

Nobody looks at those; ``dpotrf``, whose factor is what is asked for, has its own.
"""

import numpy as np
from scipy.linalg import blas, cho_solve, lapack, solve_banded, solve_triangular

from autodiff_hook.errors import NotDifferentiable
from autodiff_rules.scipy._standins import define, natively, part_natively, settled


def dgesv(a, b, overwrite_a=False, overwrite_b=False):
    factors, pivots, x, info = (part_natively(lapack.dgesv, (a, b), i) for i in range(4))
    return factors, pivots, solved(np.linalg.solve(a, b), x, info), info


def dsysv(a, b, lwork=None, lower=False, overwrite_a=False, overwrite_b=False):
    factors, pivots, x, info = (part_natively(native_dsysv, (a, b, lower), i) for i in range(4))
    return factors, pivots, solved(np.linalg.solve(symmetric(a, lower), b), x, info), info


def dposv(a, b, lower=False, overwrite_a=False, overwrite_b=False):
    factor, x, info = (part_natively(lapack.dposv, (a, b, lower), i) for i in range(3))
    return factor, solved(np.linalg.solve(symmetric(a, lower), b), x, info), info


def dpotrf(a, lower=False, clean=True, overwrite_a=False):
    factor, info = (part_natively(lapack.dpotrf, (a, lower, clean), i) for i in range(2))
    found = np.linalg.cholesky(symmetric(a, lower))
    whole = found if lower else found.T
    return solved(whole if clean else whole + (np.triu(a, 1) if lower else np.tril(a, -1)), factor, info), info


def dpotrs(c, b, lower=False, overwrite_b=False):
    x, info = (part_natively(lapack.dpotrs, (c, b, lower), i) for i in range(2))
    return solved(cho_solve((c, lower), b), x, info), info


def dtrtrs(a, b, lower=False, trans=0, unitdiag=False, lda=None, overwrite_b=False):
    x, info = (part_natively(lapack.dtrtrs, (a, b, lower, trans, unitdiag), i) for i in range(2))
    return solved(solve_triangular(a, b, trans, lower, unitdiag), x, info), info


def dgbsv(kl, ku, ab, b, overwrite_ab=False, overwrite_b=False):
    factors, pivots, x, info = (part_natively(lapack.dgbsv, (kl, ku, ab, b), i) for i in range(4))
    return factors, pivots, solved(solve_banded((kl, ku), ab[kl:], b), x, info), info


def dpbsv(ab, b, lower=False, ldab=None, overwrite_ab=False, overwrite_b=False):
    factor, x, info = (part_natively(lapack.dpbsv, (ab, b, lower), i) for i in range(3))
    outside = len(ab) - 1
    return factor, solved(solve_banded((outside, outside), whole_band(ab, lower), b), x, info), info


def dgtsv(dl, d, du, b, overwrite_dl=False, overwrite_d=False, overwrite_du=False, overwrite_b=False):
    *factors, x, info = (part_natively(lapack.dgtsv, (dl, d, du, b), i) for i in range(5))
    banded = np.vstack([np.append(0.0, du), d, np.append(dl, 0.0)])
    return *factors, solved(solve_banded((1, 1), banded, b), x, info), info


def dptsv(d, e, b, overwrite_d=False, overwrite_e=False, overwrite_b=False):
    *factors, x, info = (part_natively(lapack.dptsv, (d, e, b), i) for i in range(4))
    return *factors, solved(solve_banded((1, 1), whole_band(np.vstack([d, np.append(e, 0.0)]), True), b), x, info), info


def dgemm(alpha, a, b, beta=0.0, c=None, trans_a=0, trans_b=0, overwrite_c=False):
    product = alpha * ((a.T if trans_a else a) @ (b.T if trans_b else b))
    native = natively(native_dgemm, (alpha, a, b, beta, c, trans_a, trans_b), {})
    return settled(product if c is None else product + beta * c, native)


def native_dsysv(a, b, lower):
    return lapack.dsysv(a, b, lower=lower)


def native_dgemm(alpha, a, b, beta, c, trans_a, trans_b):
    options = {} if c is None else {"c": c}
    return blas.dgemm(alpha, a, b, beta, trans_a=trans_a, trans_b=trans_b, **options)


def solved(x, native, info):
    """What native code gives, with the derivative of ``x``, which is the same but for rounding."""
    if info:
        raise NotDifferentiable(f"LAPACK has not solved this system (info = {info}): its result has no derivative")
    return settled(x, native)


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


for solver in (dgesv, dsysv, dposv, dpotrf, dpotrs, dtrtrs, dgbsv, dpbsv, dgtsv, dptsv):
    define(getattr(lapack, solver.__name__), solver)
define(blas.dgemm, dgemm)
