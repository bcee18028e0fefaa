"""Continuous distributions in standard form: the partial derivatives of the logarithm of the density.

A function is one of z = (x - loc)/scale and the shape parameters. ``cdf`` has the derivatives of the distribution
function with respect to the shapes. The densities are those of SciPy's manual.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special, stats

from autodiff_rules.scipy.special._tails import beta_in_first, beta_in_second, gamma_in_order, student_in_df
from autodiff_rules.scipy.special.distributions import f_in_first, f_in_second


@dataclass(frozen=True)
class Family:
    """``slope`` is with respect to z, ``shapes`` with respect to each shape; ``inside`` is a point in the support."""

    slope: object
    shapes: tuple = ()
    cdf: tuple = ()
    inside: float = 0.5


FAMILIES = {}


def family(distribution, slope, *shapes, cdf=(), inside=0.5):
    FAMILIES[type(distribution)] = Family(slope, shapes, cdf, inside)


# Location and scale only


def normal_slope(z):
    return -z


def cauchy_slope(z):
    return -2.0 * z / (1.0 + z * z)


family(stats.norm, normal_slope)
family(stats.halfnorm, normal_slope)
family(stats.expon, lambda z: -1.0 + 0.0 * z)
family(stats.uniform, lambda z: 0.0 * z)
family(stats.cauchy, cauchy_slope)
family(stats.halfcauchy, cauchy_slope)
family(stats.laplace, lambda z: -np.sign(z))
family(stats.logistic, lambda z: -np.tanh(0.5 * z))
family(stats.gumbel_r, lambda z: np.exp(-z) - 1.0)
family(stats.gumbel_l, lambda z: 1.0 - np.exp(z))
family(stats.rayleigh, lambda z: 1.0 / z - z)
family(stats.maxwell, lambda z: 2.0 / z - z)


# Made from the gamma and beta functions


def t_df(z, df):
    gammas = special.psi(0.5 * df + 0.5) - special.psi(0.5 * df) - 1.0 / df
    return 0.5 * (gammas - np.log1p(z * z / df) + (df + 1.0) * z * z / (df * (df + z * z)))


def f_dfn(z, n, m):
    whole = m + n * z
    gammas = special.psi(0.5 * (n + m)) - special.psi(0.5 * n)
    return 0.5 * (gammas + 1.0 + np.log(n * z / whole) - (n + m) * z / whole)


def f_dfd(z, n, m):
    whole = m + n * z
    gammas = special.psi(0.5 * (n + m)) - special.psi(0.5 * m)
    return 0.5 * (gammas + 1.0 + np.log(m / whole) - (n + m) / whole)


family(
    stats.gamma,
    lambda z, a: (a - 1.0) / z - 1.0,
    lambda z, a: np.log(z) - special.psi(a),
    cdf=(lambda z, a: gamma_in_order(a, z),),
)
family(
    stats.invgamma,
    lambda z, a: (1.0 / z - a - 1.0) / z,
    lambda z, a: -np.log(z) - special.psi(a),
    cdf=(lambda z, a: -gamma_in_order(a, 1.0 / z),),
)
family(
    stats.chi2,
    lambda z, df: (0.5 * df - 1.0) / z - 0.5,
    lambda z, df: 0.5 * (np.log(0.5 * z) - special.psi(0.5 * df)),
    cdf=(lambda z, df: 0.5 * gamma_in_order(0.5 * df, 0.5 * z),),
)
family(
    stats.beta,
    lambda z, a, b: (a - 1.0) / z - (b - 1.0) / (1.0 - z),
    lambda z, a, b: np.log(z) - special.psi(a) + special.psi(a + b),
    lambda z, a, b: np.log1p(-z) - special.psi(b) + special.psi(a + b),
    cdf=(lambda z, a, b: beta_in_first(a, b, z), lambda z, a, b: beta_in_second(a, b, z)),
)
family(stats.t, lambda z, df: -(df + 1.0) * z / (df + z * z), t_df, cdf=(lambda z, df: student_in_df(df, z),))
family(
    stats.f,
    lambda z, n, m: (0.5 * n - 1.0) / z - 0.5 * (n + m) * n / (m + n * z),
    f_dfn,
    f_dfd,
    cdf=(lambda z, n, m: f_in_first(n, m, z), lambda z, n, m: f_in_second(n, m, z)),
)


# With distribution functions that are elementary, or made of the normal one


def lognorm_s(z, s):
    scaled = np.log(z) / s
    return (scaled * scaled - 1.0) / s


def lognorm_cdf_s(z, s):
    scaled = np.log(z) / s
    return -np.exp(-0.5 * scaled * scaled) / np.sqrt(2.0 * np.pi) * scaled / s


def weibull_cdf_c(z, c):
    power = np.power(z, c)
    return np.exp(-power) * power * np.log(z)


def mills(z):
    """φ(z)/Φ(z)."""
    return np.exp(-0.5 * z * z - special.log_ndtr(z)) / np.sqrt(2.0 * np.pi)


def skewnorm_cdf_a(z, a):
    """The distribution function is Φ(z) - 2 T(z, a), with Owen's T."""
    growth = 1.0 + a * a
    return -np.exp(-0.5 * z * z * growth) / (np.pi * growth)


family(stats.lognorm, lambda z, s: -(1.0 + np.log(z) / (s * s)) / z, lognorm_s, cdf=(lognorm_cdf_s,))
family(
    stats.weibull_min,
    lambda z, c: (c - 1.0 - c * np.power(z, c)) / z,
    lambda z, c: 1.0 / c + np.log(z) * (1.0 - np.power(z, c)),
    cdf=(weibull_cdf_c,),
)
family(
    stats.pareto,
    lambda z, b: -(b + 1.0) / z,
    lambda z, b: 1.0 / b - np.log(z),
    cdf=(lambda z, b: np.power(z, -b) * np.log(z),),
    inside=1.5,
)
family(
    stats.invgauss,
    lambda z, mu: -1.5 / z - 0.5 * (1.0 / (mu * mu) - 1.0 / (z * z)),
    lambda z, mu: (z - mu) / (mu * mu * mu),
    cdf=(lambda z, mu: -2.0 / (mu * mu) * np.exp(2.0 / mu + special.log_ndtr(-(z / mu + 1.0) / np.sqrt(z))),),
)
family(stats.skewnorm, lambda z, a: a * mills(a * z) - z, lambda z, a: z * mills(a * z), cdf=(skewnorm_cdf_a,))
