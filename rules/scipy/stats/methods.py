"""Densities, distribution functions and quantiles of continuous distributions.

With f the density of x = loc + scale z and l its logarithm, derivatives with respect to x, loc and scale follow
from ∂l/∂z and f alone, those with respect to shapes are the family's. Outside the support they are zero.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

from autodiff_hook.registry import registry
from autodiff_hook.strong import times
from autodiff_rules.numpy._shared import unbroadcast
from autodiff_rules.scipy.stats._calls import method
from autodiff_rules.scipy.stats.families import FAMILIES

METHODS = "pdf logpdf cdf logcdf sf logsf ppf isf".split()


class Method:
    """A method of a distribution as a function of x (or q), loc, scale and the shapes."""

    def __init__(self, distribution, name):
        self.distribution, self.name, self.family = distribution, name, FAMILIES[type(distribution)]
        shapes = distribution.shapes.split(", ") if distribution.shapes else []
        first = "q" if name in ("ppf", "isf") else "x"
        self.parameters = [(first, None), *((s, None) for s in shapes), ("loc", 0.0), ("scale", 1.0)]
        self.__name__ = self.__qualname__ = f"{distribution.name}.{name}"
        self.__module__ = "scipy.stats"

    def __call__(self, *values):
        return getattr(self.distribution, self.name)(*values)


def method_rule(target):
    slopes = logarithmic if target.name in ("pdf", "logpdf") else cumulative
    slopes = quantile if target.name in ("ppf", "isf") else slopes

    def rule(*values):
        y = target(*values)

        def method_pullback(ȳ):
            arrays = [np.asarray(v) for v in values]
            parts = slopes(target, y, *arrays)
            return tuple(unbroadcast(times(ȳ, part), v) for part, v in zip(parts, values))

        return y, method_pullback

    return rule


def logarithmic(target, y, x, *parameters):
    """For the density and its logarithm."""
    *shapes, loc, scale = parameters
    log = y if target.name == "logpdf" else target.distribution.logpdf(x, *parameters)
    z, valid = standard(target.family, log, x, loc, scale)
    weight = valid if target.name == "logpdf" else y * valid
    slope = target.family.slope(z, *shapes)
    moved = weight * slope / scale
    own = [weight * part(z, *shapes) for part in target.family.shapes]
    return moved, *own, -moved, -weight * (1.0 + z * slope) / scale


def cumulative(target, y, x, *parameters):
    """For distribution functions, those of the tail, and their logarithms."""
    *shapes, loc, scale = parameters
    log = target.distribution.logpdf(x, *parameters)
    z, valid = standard(target.family, log, x, loc, scale)
    sign = -1.0 if target.name in ("sf", "logsf") else 1.0
    below = np.where(valid == 0, 0.0, y) if target.name in ("logcdf", "logsf") else 0.0
    density = sign * valid * np.exp(np.where(valid == 0, 0.0, log) - below)
    slopes = [part(z, *shapes) for part in target.family.cdf]
    own = [sign * valid * np.exp(-below) * slope for slope in slopes]
    return density, *own, -density, -density * z


def quantile(target, x, q, *parameters):
    """For the inverses of distribution functions."""
    *shapes, loc, scale = parameters
    log = target.distribution.logpdf(x, *parameters)
    z, valid = standard(target.family, log, x, loc, scale)
    sign = -1.0 if target.name == "isf" else 1.0
    density = np.exp(log)
    own = [-part(z, *shapes) / density for part in target.family.cdf]
    return sign / density, *own, np.ones(np.shape(z)), (x - loc) / scale


def standard(family, log, x, loc, scale):
    """z, moved into the support where the density is 0, and 1.0 in the support, 0.0 outside, nan where undefined."""
    valid = np.where(np.isnan(log), np.nan, np.where(log > -np.inf, 1.0, 0.0))
    return np.where(valid == 1.0, (x - loc) / scale, family.inside), valid


TARGETS = {}


def target_of(distribution, name):
    """The method as a function with a rule; None for distributions without one."""
    key = type(distribution), name
    if key[0] not in FAMILIES:
        return None
    if key not in TARGETS:
        TARGETS[key] = Method(distribution, name)
        registry.add(TARGETS[key], (), method_rule(TARGETS[key]))
    return TARGETS[key]


def register(name):
    def find(distribution):
        return target_of(distribution, name)

    method(getattr(stats.rv_continuous, name), find)


for name in METHODS:
    register(name)
