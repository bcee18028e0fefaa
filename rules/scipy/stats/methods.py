"""Densities, distribution functions and quantiles of continuous distributions.

With f the density of x = loc + scale z and l its logarithm, derivatives with respect to x, loc and scale follow
from ∂l/∂z and f alone, those with respect to shapes are the family's. Outside the support they are zero.
"""

import numpy as np
from scipy import stats

from autodiff_hook.cotangents import not_implemented
from autodiff_hook.strong import times
from autodiff_rules.numpy._shared import conj, unbroadcast
from autodiff_rules.scipy.stats._calls import methods
from autodiff_rules.scipy.stats.families import FAMILIES

BY_MAGNITUDE = frozenset(map(type, (stats.cauchy, stats.laplace, stats.logistic)))
"""The families whose methods SciPy computes with absolute values, which are not analytic in complex numbers."""
IN_COMPLEX = not_implemented("that of a method of scipy.stats.cauchy, laplace or logistic by complex numbers")
METHODS = "pdf logpdf cdf logcdf sf logsf ppf isf".split()


def parameters_of(distribution, name):
    """x (or q), the shapes, loc and scale."""
    shapes = distribution.shapes.split(", ") if distribution.shapes else []
    first = "q" if name in ("ppf", "isf") else "x"
    return [(first, None), *((s, None) for s in shapes), ("loc", 0.0), ("scale", 1.0)]


def method_rule(target):
    slopes = logarithmic if target.name in ("pdf", "logpdf") else cumulative
    slopes = quantile if target.name in ("ppf", "isf") else slopes

    def rule(*values):
        y = target(*values)

        def method_pullback(ȳ):
            if type(target.distribution) in BY_MAGNITUDE and any([np.iscomplexobj(v) for v in values]):
                return (IN_COMPLEX,) * len(values)
            arrays = [np.asarray(v) for v in values]
            parts = slopes(target, y, *arrays)
            return tuple(unbroadcast(times(ȳ, conj(part)), v) for part, v in zip(parts, values))

        return y, method_pullback

    return rule


def logarithmic(target, y, x, *parameters):
    *shapes, loc, scale = parameters
    family = FAMILIES[type(target.distribution)]
    log = y if target.name == "logpdf" else target.distribution.logpdf(x, *parameters)
    z, valid = standard(family, log, x, loc, scale)
    weight = valid if target.name == "logpdf" else y * valid
    slope = family.slope(z, *shapes)
    moved = weight * slope / scale
    own = [weight * part(z, *shapes) for part in family.shapes]
    return moved, *own, -moved, -weight * (1.0 + z * slope) / scale


def cumulative(target, y, x, *parameters):
    """For distribution functions, those of the tail, and their logarithms."""
    *shapes, loc, scale = parameters
    family = FAMILIES[type(target.distribution)]
    log = target.distribution.logpdf(x, *parameters)
    z, valid = standard(family, log, x, loc, scale)
    sign = -1.0 if target.name in ("sf", "logsf") else 1.0
    below = np.where(valid == 0, 0.0, y) if target.name in ("logcdf", "logsf") else 0.0
    density = sign * valid * np.exp(np.where(valid == 0, 0.0, log) - below)
    slopes = [part(z, *shapes) for part in family.cdf]
    own = [sign * valid * np.exp(-below) * slope for slope in slopes]
    return density, *own, -density, -density * z


def quantile(target, x, q, *parameters):
    *shapes, loc, scale = parameters
    family = FAMILIES[type(target.distribution)]
    log = target.distribution.logpdf(x, *parameters)
    z, valid = standard(family, log, x, loc, scale)
    sign = -1.0 if target.name == "isf" else 1.0
    density = np.exp(log)
    own = [-part(z, *shapes) / density for part in family.cdf]
    return sign / density, *own, np.ones(np.shape(z)), (x - loc) / scale


def standard(family, log, x, loc, scale):
    """z, moved into the support where the density is 0, and 1.0 in the support, 0.0 outside, nan where undefined."""
    valid = np.where(np.isnan(log), np.nan, np.where(log > -np.inf, 1.0, 0.0))
    return np.where(valid == 1.0, (x - loc) / scale, family.inside), valid


target_of = methods(stats.rv_continuous, METHODS, FAMILIES, parameters_of, method_rule)
