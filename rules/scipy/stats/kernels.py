"""Kernel density estimates, and the von Mises distribution: what ``scipy.stats`` has in compiled code of its own."""

import numpy as np
from scipy import linalg, special
from scipy.stats import _stats

from autodiff_hook.extend import elementwise
from autodiff_rules.scipy._standins import stand_in


def kernels(points, xi, cho_cov):
    """The logarithms of the kernels, for each place (rows) and each of the data (columns)."""
    at = linalg.solve_triangular(cho_cov, xi.T, lower=True)
    data = linalg.solve_triangular(cho_cov, points.T, lower=True)
    apart = at[:, :, None] - data[:, None, :]
    size = np.sum(np.log(np.abs(np.diag(cho_cov)))) + 0.5 * len(cho_cov) * np.log(2.0 * np.pi)
    return -0.5 * np.sum(apart * apart, 0) - size


def estimate(points, values, xi, cho_cov, dtype):
    return np.exp(kernels(points, xi, cho_cov)) @ values


def estimate_log(points, values, xi, cho_cov, dtype):
    return special.logsumexp(kernels(points, xi, cho_cov)[:, :, None] + np.log(values), 1)


for spec in ("float", "double", "long double"):
    stand_in(_stats.gaussian_kernel_estimate[spec])(estimate)
    stand_in(_stats.gaussian_kernel_estimate_log[spec])(estimate_log)


NODES, WEIGHTS = np.polynomial.legendre.leggauss(96)


def von_mises_density(kappa, x):
    return np.exp(kappa * (np.cos(x) - 1.0)) / (2.0 * np.pi * special.i0e(kappa))


def von_mises_in_kappa(kappa, x):
    """The integral of the derivative of the density from 0, as far as that is not nothing."""
    folded = np.mod(x + np.pi, 2.0 * np.pi) - np.pi
    reach = np.minimum(np.pi, 12.0 / np.sqrt(kappa))
    half = np.reshape(0.5 * np.clip(folded, -reach, reach), (*np.shape(folded + reach), 1))
    k = np.reshape(np.asarray(kappa), (*np.shape(kappa), 1))
    t = half * (NODES + 1.0)
    rate = np.cos(t) - special.i1e(k) / special.i0e(k)
    return np.sum(WEIGHTS * half * von_mises_density(k, t) * rate, -1)


elementwise(_stats.von_mises_cdf, kappa=von_mises_in_kappa, x=von_mises_density)
