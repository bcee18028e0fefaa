"""Probabilities of discrete distributions with respect to their shape parameters."""

from __future__ import annotations

import numpy as np
from scipy import special, stats

from autodiff_hook.registry import registry
from autodiff_rules.numpy._shared import unbroadcast
from autodiff_rules.scipy.stats._calls import method

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
