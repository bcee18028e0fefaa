"""Probabilities of discrete distributions with respect to their shape parameters."""

from __future__ import annotations

import numpy as np
from scipy import special, stats

from autodiff_hook.registry import registry
from autodiff_rules.numpy._shared import unbroadcast
from autodiff_rules.scipy.stats._calls import method


def poisson_mu(k, mu):
    return k / mu - 1.0


def bernoulli_p(k, p):
    return k / p - (1.0 - k) / (1.0 - p)


def binom_p(k, n, p):
    return k / p - (n - k) / (1.0 - p)


def geom_p(k, p):
    return 1.0 / p - (k - 1.0) / (1.0 - p)


def nbinom_n(k, n, p):
    return special.psi(k + n) - special.psi(n) + np.log(p)


def nbinom_p(k, n, p):
    return n / p - k / (1.0 - p)


SHAPES = {
    type(stats.poisson): (poisson_mu,),
    type(stats.bernoulli): (bernoulli_p,),
    type(stats.binom): (None, binom_p),
    type(stats.geom): (geom_p,),
    type(stats.nbinom): (nbinom_n, nbinom_p),
}
"""The derivatives of the logarithm of the probability of k, None for whole numbers."""


class Mass:
    """``pmf`` or ``logpmf`` of a distribution as a function of k, the shapes and loc."""

    def __init__(self, distribution, name):
        self.distribution, self.name = distribution, name
        self.parameters = [("k", None), *((s, None) for s in distribution.shapes.split(", ")), ("loc", 0)]
        self.__name__ = self.__qualname__ = f"{distribution.name}.{name}"
        self.__module__ = "scipy.stats"

    def __call__(self, *values):
        return getattr(self.distribution, self.name)(*values)


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


TARGETS = {}


def target_of(distribution, name):
    """The method as a function with a rule; None for distributions without one."""
    key = type(distribution), name
    if key[0] not in SHAPES:
        return None
    if key not in TARGETS:
        TARGETS[key] = Mass(distribution, name)
        registry.add(TARGETS[key], (), mass_rule(TARGETS[key]))
    return TARGETS[key]


def register(name):
    def find(distribution):
        return target_of(distribution, name)

    method(getattr(stats.rv_discrete, name), find)


register("pmf")
register("logpmf")
