"""The multivariate normal distribution with respect to the point, the mean and the covariance."""

import numpy as np
from scipy import stats

from autodiff_hook.cotangents import not_implemented
from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.extend import cotangents
from autodiff_rules.numpy._shared import unbroadcast
from autodiff_rules.numpy.decompositions import one_triangle

MULTIVARIATE = type(stats.multivariate_normal)
AT_SINGULAR = not_implemented("that of scipy.stats.multivariate_normal with respect to a singular covariance")


GIVEN = "self, x, mean=None, cov=1, allow_singular=False"


@cotangents(MULTIVARIATE.logpdf, GIVEN, ((MULTIVARIATE,),), "x, mean, cov")
def logpdf_cotangents(ȳ, y, x, mean, cov, allow_singular):
    return of_all(np.where(np.isneginf(y), 0.0, ȳ) if allow_singular else ȳ, x, mean, cov)


@cotangents(MULTIVARIATE.pdf, GIVEN, ((MULTIVARIATE,),), "x, mean, cov")
def pdf_cotangents(ȳ, y, x, mean, cov):
    return of_all(ȳ * y, x, mean, cov)


def of_all(ȳ, x, mean, cov):
    """Those of x, mean and cov from one of the logarithm of the density.

    K. B. Petersen, M. S. Pedersen, The Matrix Cookbook, 2012, (86) and (57), (61). SciPy reads the lower triangle
    of the covariance. At a singular covariance, the point and the mean move within its range, where there is a density.
    """
    if isinstance(cov, stats.Covariance):
        raise NotDifferentiable("scipy.stats.multivariate_normal with a Covariance object is not differentiated")
    points, center, matrix = as_arrays(x, mean, cov)
    dim = np.shape(matrix)[0]
    singular = np.linalg.matrix_rank(matrix, hermitian=True) < dim
    inverse = np.linalg.pinv(matrix, hermitian=True) if singular else np.linalg.inv(matrix)
    apart = points - (center if dim > 1 else center[0])
    deviations = np.reshape(apart, (-1, dim))
    scaled = np.matmul(deviations, inverse)
    weights = np.reshape(ȳ, (-1, 1))
    weighted = weights * scaled
    x̄ = unbroadcast(np.reshape(-weighted, np.shape(apart)), x)
    mean̄ = None if mean is None else unbroadcast(np.reshape(np.sum(weighted, 0), np.shape(mean)), mean)
    if singular:
        return x̄, mean̄, AT_SINGULAR
    whole = 0.5 * (np.matmul(np.transpose(weighted), scaled) - np.sum(weights) * inverse)
    return x̄, mean̄, covariance_cotangent(whole, cov, dim)


def as_arrays(x, mean, cov):
    """The point with its components in the last axis, the mean as a vector, the covariance as a matrix."""
    if mean is not None:
        dim = np.size(mean)
    else:
        dim = np.shape(cov)[0] if np.ndim(cov) == 2 else 1
    center = np.zeros(dim) if mean is None else np.reshape(np.asarray(mean), (dim,))
    spread = np.asarray(cov)
    if dim == 1 or np.ndim(spread) == 2:
        matrix = np.reshape(spread, (dim, dim))
    else:
        matrix = np.eye(dim) * spread
    matrix = np.tril(matrix) + np.transpose(np.tril(matrix, -1))
    return np.asarray(x), center, matrix


def covariance_cotangent(whole, cov, dim):
    if np.ndim(cov) == 2 and dim > 1:
        return unbroadcast(one_triangle(0.5 * (whole + np.transpose(whole)), "L"), cov)
    if dim == 1:
        return unbroadcast(np.reshape(whole, np.shape(cov)), cov)
    diagonal = np.sum(np.eye(dim) * whole, 0)
    return unbroadcast(diagonal if np.ndim(cov) == 1 else np.sum(diagonal), cov)
