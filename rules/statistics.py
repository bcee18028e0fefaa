"""Rules for the functions of ``statistics`` that compute with exact fractions; the others are entered.

What such a function gives for numbers of a list or tuple is the value; the derivative is that of the formula.
"""

import math
import statistics

from autodiff_hook.extend import cotangents
from autodiff_rules._exact import plain
from autodiff_rules._numbers import like, repeated

SEQUENCES = ((list,), (tuple,))

cotangents(statistics.mean, "data", SEQUENCES, data=lambda ȳ, data: repeated(ȳ / len(data), data))


def spread_cotangents(ȳ, data, center, count):
    """The cotangents of the sum of squared deviations from ``center`` over ``count``, and that of ``center``."""
    middle = statistics.mean(data) if center is None else center
    cotangents, total = [], 0.0
    for x in data:
        x̄ = ȳ * (2.0 * plain(x - middle) / count)
        cotangents.append(x̄)
        total = total - x̄
    return like(cotangents, data), None if center is None else total


def of_root(ȳ, y):
    """The cotangent of what ``y`` is the root of; 0 where all data are equal."""
    return ȳ / (2.0 * plain(y)) if y and ȳ is not None else 0.0


@cotangents(statistics.variance, "data, xbar=None", SEQUENCES, "data, xbar")
def variance_cotangents(ȳ, data, xbar):
    return spread_cotangents(ȳ, data, xbar, len(data) - 1)


@cotangents(statistics.pvariance, "data, mu=None", SEQUENCES, "data, mu")
def pvariance_cotangents(ȳ, data, mu):
    return spread_cotangents(ȳ, data, mu, len(data))


@cotangents(statistics.stdev, "data, xbar=None", SEQUENCES, "data, xbar")
def stdev_cotangents(ȳ, y, data, xbar):
    return spread_cotangents(of_root(ȳ, y), data, xbar, len(data) - 1)


@cotangents(statistics.pstdev, "data, mu=None", SEQUENCES, "data, mu")
def pstdev_cotangents(ȳ, y, data, mu):
    return spread_cotangents(of_root(ȳ, y), data, mu, len(data))


@cotangents(vars(statistics)["_mean_stdev"], "data", SEQUENCES)
def mean_stdev_cotangent(ȳ, y, data):
    """What ``NormalDist.from_samples`` asks."""
    spread, _ = spread_cotangents(of_root(ȳ[1], y[1]), data, None, len(data) - 1)
    share = 0.0 if ȳ[0] is None else ȳ[0] / len(data)
    return like([share + x̄ for x̄ in spread], data)


@cotangents(vars(statistics)["_normal_dist_inv_cdf"], "p, mu, sigma", ((),), "p, mu, sigma")
def inverse_normal_cotangents(ȳ, y, mu, sigma):
    score = (y - plain(mu)) / plain(sigma)
    return ȳ * (plain(sigma) * math.sqrt(2.0 * math.pi) * math.exp(0.5 * score * score)), ȳ, ȳ * score


@cotangents(statistics.harmonic_mean, "data, weights=None", SEQUENCES, "data, weights")
def harmonic_mean_cotangents(ȳ, y, data, weights):
    given = [1.0] * len(data) if weights is None else list(map(plain, weights))
    mean, total, x̄, w̄ = plain(y), sum(given), [], []
    for x, w in zip(map(plain, data), given):
        share = ȳ * mean / total
        x̄.append(share * mean * w / (x * x) if x else 0.0)
        w̄.append(share * (1.0 - mean / x) if x else 0.0)
    return like(x̄, data), None if weights is None else like(w̄, weights)
