"""Positive definite matrices as the distributions of several variables factorise them, by a class of SciPy's."""

import numpy as np
from scipy.stats import _multivariate

from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.extend import cotangents
from autodiff_rules._definitions import defines
from autodiff_rules.numpy._shared import unbroadcast
from autodiff_rules.numpy.decompositions import one_triangle

NATIVE = _multivariate._PSD


def spectrum(M, cond, rcond, lower, check_finite, allow_singular):
    """The bound of what counts as zero, null vectors, rank, U with U Uᵀ = pinv(M), and the logarithm of det(M)."""
    made = NATIVE(M, cond, rcond, lower, check_finite, allow_singular)
    return made.eps, made.V, made.rank, made.U, made.log_pdet


@cotangents(spectrum, "M, cond, rcond, lower, check_finite, allow_singular")
def spectrum_back(ȳ, y, M, lower):
    """That of M, where U is used as a factor of M⁻¹ alone, so that it is free to turn.

    dU = -½ M⁻¹ dM U is one choice, which eigenvectors of equal eigenvalues have, too.
    """
    _, _, rank, U, _ = y
    if rank < len(U):
        raise NotDifferentiable("a distribution of several variables with respect to a singular matrix of covariances")
    Ū, log_pdet̄ = ȳ[3], ȳ[4]
    inverse = np.matmul(U, np.transpose(U))
    whole = 0.0 if log_pdet̄ is None else log_pdet̄ * inverse
    if Ū is not None:
        whole = whole - 0.5 * np.matmul(inverse, np.matmul(Ū, np.transpose(U)))
    return unbroadcast(one_triangle(0.5 * (whole + np.transpose(whole)), "L" if lower else "U"), M)


@defines(NATIVE.__init__)
def initialised(self, M, cond=None, rcond=None, lower=True, check_finite=True, allow_singular=True):
    self._M = np.asarray(M)
    found = spectrum(M, cond, rcond, lower, check_finite, allow_singular)
    self.eps, self.V, self.rank, self.U, self.log_pdet = found
    self._pinv = None
