"""Probabilities of discrete distributions with respect to their shape parameters."""

import numpy as np
from scipy import special, stats

from autodiff_rules.numpy._shared import unbroadcast
from autodiff_rules.scipy.stats._calls import methods

SHAPES = {
    type(stats.poisson): (lambda k, mu: k / mu - 1.0,),
    type(stats.bernoulli): (lambda k, p: k / p - (1.0 - k) / (1.0 - p),),
    type(stats.binom): (None, lambda k, n, p: k / p - (n - k) / (1.0 - p)),
    type(stats.geom): (lambda k, p: 1.0 / p - (k - 1.0) / (1.0 - p),),
    type(stats.nbinom): (
        lambda k, n, p: special.psi(k + n) - special.psi(n) + np.log(p),
        lambda k, n, p: n / p - k / (1.0 - p),
    ),
}
"""The derivatives of the logarithm of the probability of k, None for whole numbers."""


def parameters_of(distribution, name):
    """k, the shapes and loc."""
    return [("k", None), *((s, None) for s in distribution.shapes.split(", ")), ("loc", 0)]


def mass_rule(target):
    slopes = SHAPES[type(target.distribution)]

    def rule(*values):
        y = target(*values)

        def mass_pullback(ȳ):
            k, *shapes, loc = map(np.asarray, values)
            inside = np.isfinite(y) if target.name == "logpmf" else y > 0
            weight = ȳ * np.where(inside, 1.0 if target.name == "logpmf" else y, 0.0 * np.isnan(y))
            parts = [
                None if slope is None else unbroadcast(weight * np.where(inside, slope(k - loc, *shapes), 0.0), value)
                for slope, value in zip(slopes, values[1:])
            ]
            return None, *parts, None

        return y, mass_pullback

    return rule


target_of = methods(stats.rv_discrete, ("pmf", "logpmf"), SHAPES, parameters_of, mass_rule)
