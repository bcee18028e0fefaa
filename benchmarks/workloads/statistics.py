"""Two likelihoods: a Gaussian mixture and a Gaussian process."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.workloads.base import Case, workload


def gmm(alphas, means, factors, points, places, gamma):
    """The log likelihood of a Gaussian mixture with a Wishart prior (the objective of ADBench).

    A row of ``factors`` is the root of an inverse covariance: the logarithms of its diagonal, then what is below it;
    ``places`` says where, from 1, with 0 for what is zero.
    """
    count, dimension = points.shape
    log_diagonal = factors[:, :dimension]
    below = factors[:, dimension:]
    diagonal = np.exp(log_diagonal)
    lower = np.concatenate((np.zeros((len(alphas), 1)), below), axis=1)[:, places]
    offsets = points[None, :, :] - means[:, None, :]
    whitened = diagonal[:, None, :] * offsets + offsets @ np.transpose(lower, (0, 2, 1))
    scores = (alphas + np.sum(log_diagonal, axis=1))[:, None] - 0.5 * np.sum(whitened**2, axis=2)
    top = np.max(scores, axis=0)
    likelihood = np.sum(top + np.log(np.sum(np.exp(scores - top), axis=0)))
    peak = np.max(alphas)
    normaliser = peak + np.log(np.sum(np.exp(alphas - peak)))
    prior = 0.5 * gamma**2 * (np.sum(diagonal**2) + np.sum(below**2))
    return likelihood - count * normaliser + prior


def gmm_adjoint(alphas, means, factors, points, places, gamma):
    """Whole roots, with their diagonal, are multiplied with the points, and the means are subtracted after it."""
    count, dimension = points.shape
    below = factors[:, dimension:]
    diagonal = np.exp(factors[:, :dimension])
    rows, columns = np.nonzero(places)
    origin = places[rows, columns] - 1
    axis = np.arange(dimension)
    roots = np.zeros((len(alphas), dimension, dimension))
    roots[:, rows, columns] = below[:, origin]
    roots[:, axis, axis] = diagonal
    whitened = points @ roots.transpose(0, 2, 1)
    whitened -= (roots @ means[:, :, None]).transpose(0, 2, 1)
    shares = np.einsum("kni,kni->kn", whitened, whitened)
    shares *= -0.5
    shares += (alphas + factors[:, :dimension].sum(axis=1))[:, None]
    shares -= shares.max(axis=0)
    np.exp(shares, out=shares)
    shares /= shares.sum(axis=0)
    totals = shares.sum(axis=1)
    prior_shares = np.exp(alphas - alphas.max())
    prior_shares *= count / prior_shares.sum()
    whitened *= shares[:, :, None]
    pull = whitened.sum(axis=1)
    roots_bar = pull[:, :, None] * means[:, None, :]
    roots_bar -= whitened.transpose(0, 2, 1) @ points
    factors_bar = np.empty_like(factors)
    factors_bar[:, :dimension] = totals[:, None] + diagonal * (roots_bar[:, axis, axis] + gamma * gamma * diagonal)
    factors_bar[:, dimension + origin] = roots_bar[:, rows, columns]
    factors_bar[:, dimension:] += gamma * gamma * below
    return totals - prior_shares, (pull[:, None, :] @ roots)[:, 0, :], factors_bar


@workload("gmm", "ADBench's Gaussian mixture, 25 components in 10 dimensions", size=1000, small=6)
def build_gmm(count):
    rng = np.random.default_rng(9)
    dimension, components = 10, 25
    places = np.zeros((dimension, dimension), dtype=int)
    rows, columns = np.tril_indices(dimension, -1)
    order = np.lexsort((rows, columns))  # column by column
    places[rows[order], columns[order]] = np.arange(1, len(rows) + 1)
    points, gamma = rng.normal(size=(count, dimension)), 1.0
    params = (
        rng.normal(size=components),
        rng.random((components, dimension)),
        rng.normal(scale=0.5, size=(components, dimension * (dimension + 1) // 2)),
    )
    return Case(
        gmm,
        lambda alphas, means, factors: gmm(alphas, means, factors, points, places, gamma),
        gmm_adjoint,
        params,
        (points, places, gamma),
    )


def gp(logs, distances, y):
    """The log marginal likelihood; the logarithms are of the amplitude, the length scale and the noise."""
    covariance = np.exp(2.0 * logs[0]) * np.exp(-0.5 * np.exp(-2.0 * logs[1]) * distances)
    root = np.linalg.cholesky(covariance + np.exp(2.0 * logs[2]) * np.eye(len(y)))
    whitened = np.linalg.solve(root, y)
    fit = -0.5 * np.sum(whitened**2)
    return fit - np.sum(np.log(np.diag(root))) - 0.5 * len(y) * math.log(2.0 * math.pi)


def gp_adjoint(logs, distances, y):
    """With K the covariance and a = K^-1 y, the cotangent of K is (a a' - K^-1) / 2."""
    amplitude, scale, noise = (math.exp(2.0 * float(value)) for value in logs)
    signal = np.multiply(distances, -0.5 / scale)
    np.exp(signal, out=signal)
    signal *= amplitude
    covariance = signal.copy()
    covariance.ravel()[:: len(y) + 1] += noise
    inverse = np.linalg.inv(covariance)
    a = inverse @ y
    twice = np.subtract(np.outer(a, a), inverse, out=inverse)
    noise_bar = noise * twice.trace()
    twice *= signal
    return (np.array([twice.sum(), 0.5 / scale * np.vdot(twice, distances), noise_bar]),)


@workload("gp", "the likelihood of a Gaussian process: cholesky, solve, 3 hyperparameters", size=100, small=5)
def build_gp(count):
    rng = np.random.default_rng(10)
    points = rng.random((count, 3))
    distances = np.sum((points[:, None, :] - points[None, :, :]) ** 2, axis=-1)
    y = np.sin(4.0 * points[:, 0]) + points[:, 1] + rng.normal(scale=0.1, size=count)
    return Case(gp, lambda logs: gp(logs, distances, y), gp_adjoint, (np.array([0.1, -0.7, -1.5]),), (distances, y))
