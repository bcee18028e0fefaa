"""Rules for the functions of ``statistics`` that compute with exact fractions; the others are entered.

What such a function gives for numbers of a list or tuple is the value; the derivative is that of the formula.
"""

from __future__ import annotations

import math
import statistics

from autodiff_hook.extend import cotangents
from autodiff_hook.registry import rrule
from autodiff_rules._exact import plain
from autodiff_rules._numbers import like, repeated


def of_sequences(target):
    """Register a rule for lists and for tuples of numbers."""

    def register(rule):
        for kind in (list, tuple):
            rrule(target, kind)(rule)
        return rule

    return register


cotangents(statistics.mean, "data", ((list,), (tuple,)), data=lambda ȳ, data: repeated(ȳ / len(data), data))


def spread_cotangents(ȳ, data, center, count):
    """The cotangents of the sum of squared deviations from ``center`` over ``count``, and that of ``center``."""
    middle = statistics.mean(data) if center is None else center
    cotangents, total = [], 0.0
    for x in data:
        x̄ = ȳ * (2.0 * plain(x - middle) / count)
        cotangents.append(x̄)
        total = total - x̄
    return like(cotangents, data), None if center is None else total


@of_sequences(statistics.variance)
def variance_rule(data, xbar=None):
    def variance_pullback(ȳ):
        return spread_cotangents(ȳ, data, xbar, len(data) - 1)

    return statistics.variance(data, xbar), variance_pullback


@of_sequences(statistics.pvariance)
def pvariance_rule(data, mu=None):
    def pvariance_pullback(ȳ):
        return spread_cotangents(ȳ, data, mu, len(data))

    return statistics.pvariance(data, mu), pvariance_pullback


def of_root(ȳ, y):
    """The cotangent of what ``y`` is the root of; 0 where all data are equal."""
    return ȳ / (2.0 * plain(y)) if y and ȳ is not None else 0.0


@of_sequences(statistics.stdev)
def stdev_rule(data, xbar=None):
    y = statistics.stdev(data, xbar)

    def stdev_pullback(ȳ):
        return spread_cotangents(of_root(ȳ, y), data, xbar, len(data) - 1)

    return y, stdev_pullback


@of_sequences(statistics.pstdev)
def pstdev_rule(data, mu=None):
    y = statistics.pstdev(data, mu)

    def pstdev_pullback(ȳ):
        return spread_cotangents(of_root(ȳ, y), data, mu, len(data))

    return y, pstdev_pullback


@of_sequences(vars(statistics)["_mean_stdev"])
def mean_stdev_rule(data):
    """What ``NormalDist.from_samples`` asks."""
    mean, deviation = statistics._mean_stdev(data)

    def mean_stdev_pullback(ȳ):
        spread, _ = spread_cotangents(of_root(ȳ[1], deviation), data, None, len(data) - 1)
        share = 0.0 if ȳ[0] is None else ȳ[0] / len(data)
        return (like([share + x̄ for x̄ in spread], data),)

    return (mean, deviation), mean_stdev_pullback


@rrule(vars(statistics)["_normal_dist_inv_cdf"])
def inverse_normal_rule(p, mu, sigma):
    y = statistics._normal_dist_inv_cdf(p, mu, sigma)

    def inverse_normal_pullback(ȳ):
        score = (y - plain(mu)) / plain(sigma)
        return ȳ * (plain(sigma) * math.sqrt(2.0 * math.pi) * math.exp(0.5 * score * score)), ȳ, ȳ * score

    return y, inverse_normal_pullback


@cotangents(statistics.harmonic_mean, "data, weights=None", ((list,), (tuple,)), "data, weights")
def harmonic_mean_cotangents(ȳ, y, data, weights):
    given = [1.0] * len(data) if weights is None else list(map(plain, weights))
    mean, total, x̄, w̄ = plain(y), sum(given), [], []
    for x, w in zip(map(plain, data), given):
        share = ȳ * mean / total
        x̄.append(share * mean * w / (x * x) if x else 0.0)
        w̄.append(share * (1.0 - mean / x) if x else 0.0)
    return like(x̄, data), None if weights is None else like(w̄, weights)
