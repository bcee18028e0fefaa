"""Kernel density estimates, and the von Mises distribution: what ``scipy.stats`` has in compiled code of its own."""

import numpy as np
from scipy import linalg, special, stats
from scipy.stats import _stats

from autodiff_hook.extend import elementwise
from autodiff_rules.scipy._standins import stand_in

KDE = stats.gaussian_kde


def logarithms(kde, points):
    """The logarithms of the weighted kernels, for each point (rows) and each of the data (columns)."""
    points = np.atleast_2d(np.asarray(points))
    if np.shape(points)[0] == 1 and np.shape(points)[1] == kde.d != 1:
        points = np.reshape(points, (kde.d, 1))
    factor = kde.cho_cov
    at = linalg.solve_triangular(factor, points, lower=True)
    data = linalg.solve_triangular(factor, kde.dataset, lower=True)
    apart = at[:, :, None] - data[:, None, :]
    size = np.sum(np.log(np.abs(np.diag(factor)))) + 0.5 * kde.d * np.log(2.0 * np.pi)
    return np.log(kde.weights) - 0.5 * np.sum(apart * apart, 0) - size


@stand_in(KDE.evaluate)
def evaluate(self, points):
    return np.sum(np.exp(logarithms(self, points)), 1)


@stand_in(KDE.logpdf)
def logpdf(self, x):
    return special.logsumexp(logarithms(self, x), 1)


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
