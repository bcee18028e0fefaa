"""Distribution functions: of the normal distribution, and of Student's t."""

from __future__ import annotations

import numpy as np
from scipy import special

from autodiff_rules.scipy._elementwise import binary, unary

ROOT_TWO_PI = 2.5066282746310002
BY_ROOT_TWO_PI = 0.3989422804014327
ROOT_HALF = 0.7071067811865476


def ndtr_slope(x, y):
    return BY_ROOT_TWO_PI * np.exp(-0.5 * x * x)


def ndtri_slope(p, y):
    return ROOT_TWO_PI * np.exp(0.5 * y * y)


def log_ndtr_slope(x, y):
    return BY_ROOT_TWO_PI * np.exp(-0.5 * x * x - y)


def ndtri_exp_slope(p, y):
    return ROOT_TWO_PI * np.exp(p + 0.5 * y * y)


unary(special.ndtr, ndtr_slope)
unary(special.ndtri, ndtri_slope)
unary(special.log_ndtr, log_ndtr_slope)
unary(special.ndtri_exp, ndtri_exp_slope)


def student_density(df, t):
    """The density of Student's distribution."""
    scale = special.gammaln(0.5 * df + 0.5) - special.gammaln(0.5 * df) - 0.5 * np.log(np.pi * df)
    return np.exp(scale - 0.5 * (df + 1.0) * np.log1p(t * t / df))


def stdtr_t(df, t, y):
    return student_density(df, t)


def stdtrit_p(df, p, y):
    return 1.0 / student_density(df, y)


IN_DF = "the distribution function of Student's t with respect to the degrees of freedom"
binary(special.stdtr, IN_DF, stdtr_t)
binary(special.stdtrit, IN_DF, stdtrit_p)


def owens_t_h(h, a, y):
    """From its definition, an integral over (0, a)."""
    return -0.5 * BY_ROOT_TWO_PI * np.exp(-0.5 * h * h) * special.erf(ROOT_HALF * a * h)


def owens_t_a(h, a, y):
    growth = 1.0 + a * a
    return np.exp(-0.5 * h * h * growth) / (2.0 * np.pi * growth)


binary(special.owens_t, owens_t_h, owens_t_a)
