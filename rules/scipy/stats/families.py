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


def exponential_slope(z):
    return -1.0 + 0.0 * z


def uniform_slope(z):
    return 0.0 * z


def cauchy_slope(z):
    return -2.0 * z / (1.0 + z * z)


def laplace_slope(z):
    return -np.sign(z)


def logistic_slope(z):
    return -np.tanh(0.5 * z)


def gumbel_r_slope(z):
    return np.exp(-z) - 1.0


def gumbel_l_slope(z):
    return 1.0 - np.exp(z)


def rayleigh_slope(z):
    return 1.0 / z - z


def maxwell_slope(z):
    return 2.0 / z - z


family(stats.norm, normal_slope)
family(stats.halfnorm, normal_slope)
family(stats.expon, exponential_slope)
family(stats.uniform, uniform_slope)
family(stats.cauchy, cauchy_slope)
family(stats.halfcauchy, cauchy_slope)
family(stats.laplace, laplace_slope)
family(stats.logistic, logistic_slope)
family(stats.gumbel_r, gumbel_r_slope)
family(stats.gumbel_l, gumbel_l_slope)
family(stats.rayleigh, rayleigh_slope)
family(stats.maxwell, maxwell_slope)


# Made from the gamma and beta functions


def gamma_slope(z, a):
    return (a - 1.0) / z - 1.0


def gamma_a(z, a):
    return np.log(z) - special.psi(a)


def invgamma_slope(z, a):
    return (1.0 / z - a - 1.0) / z


def invgamma_a(z, a):
    return -np.log(z) - special.psi(a)


def chi2_slope(z, df):
    return (0.5 * df - 1.0) / z - 0.5


def chi2_df(z, df):
    return 0.5 * (np.log(0.5 * z) - special.psi(0.5 * df))


def beta_slope(z, a, b):
    return (a - 1.0) / z - (b - 1.0) / (1.0 - z)


def beta_a(z, a, b):
    return np.log(z) - special.psi(a) + special.psi(a + b)


def beta_b(z, a, b):
    return np.log1p(-z) - special.psi(b) + special.psi(a + b)


def t_slope(z, df):
    return -(df + 1.0) * z / (df + z * z)


def t_df(z, df):
    gammas = special.psi(0.5 * df + 0.5) - special.psi(0.5 * df) - 1.0 / df
    return 0.5 * (gammas - np.log1p(z * z / df) + (df + 1.0) * z * z / (df * (df + z * z)))


def f_slope(z, n, m):
    return (0.5 * n - 1.0) / z - 0.5 * (n + m) * n / (m + n * z)


def f_dfn(z, n, m):
    whole = m + n * z
    gammas = special.psi(0.5 * (n + m)) - special.psi(0.5 * n)
    return 0.5 * (gammas + 1.0 + np.log(n * z / whole) - (n + m) * z / whole)


def f_dfd(z, n, m):
    whole = m + n * z
    gammas = special.psi(0.5 * (n + m)) - special.psi(0.5 * m)
    return 0.5 * (gammas + 1.0 + np.log(m / whole) - (n + m) / whole)


family(stats.gamma, gamma_slope, gamma_a, cdf=(lambda z, a: gamma_in_order(a, z),))
family(stats.invgamma, invgamma_slope, invgamma_a, cdf=(lambda z, a: -gamma_in_order(a, 1.0 / z),))
family(stats.chi2, chi2_slope, chi2_df, cdf=(lambda z, df: 0.5 * gamma_in_order(0.5 * df, 0.5 * z),))
family(
    stats.beta,
    beta_slope,
    beta_a,
    beta_b,
    cdf=(lambda z, a, b: beta_in_first(a, b, z), lambda z, a, b: beta_in_second(a, b, z)),
)
family(stats.t, t_slope, t_df, cdf=(lambda z, df: student_in_df(df, z),))
family(
    stats.f,
    f_slope,
    f_dfn,
    f_dfd,
    cdf=(lambda z, n, m: f_in_first(n, m, z), lambda z, n, m: f_in_second(n, m, z)),
)


# With distribution functions that are elementary, or made of the normal one


def lognorm_slope(z, s):
    return -(1.0 + np.log(z) / (s * s)) / z


def lognorm_s(z, s):
    scaled = np.log(z) / s
    return (scaled * scaled - 1.0) / s


def lognorm_cdf_s(z, s):
    scaled = np.log(z) / s
    return -np.exp(-0.5 * scaled * scaled) / np.sqrt(2.0 * np.pi) * scaled / s


def weibull_slope(z, c):
    return (c - 1.0 - c * np.power(z, c)) / z


def weibull_c(z, c):
    return 1.0 / c + np.log(z) * (1.0 - np.power(z, c))


def weibull_cdf_c(z, c):
    power = np.power(z, c)
    return np.exp(-power) * power * np.log(z)


def pareto_slope(z, b):
    return -(b + 1.0) / z


def pareto_b(z, b):
    return 1.0 / b - np.log(z)


def pareto_cdf_b(z, b):
    return np.power(z, -b) * np.log(z)


def invgauss_slope(z, mu):
    return -1.5 / z - 0.5 * (1.0 / (mu * mu) - 1.0 / (z * z))


def invgauss_mu(z, mu):
    return (z - mu) / (mu * mu * mu)


def invgauss_cdf_mu(z, mu):
    return -2.0 / (mu * mu) * np.exp(2.0 / mu + special.log_ndtr(-(z / mu + 1.0) / np.sqrt(z)))


def mills(z):
    """φ(z)/Φ(z)."""
    return np.exp(-0.5 * z * z - special.log_ndtr(z)) / np.sqrt(2.0 * np.pi)


def skewnorm_slope(z, a):
    return a * mills(a * z) - z


def skewnorm_a(z, a):
    return z * mills(a * z)


def skewnorm_cdf_a(z, a):
    """The distribution function is Φ(z) - 2 T(z, a), with Owen's T."""
    growth = 1.0 + a * a
    return -np.exp(-0.5 * z * z * growth) / (np.pi * growth)


family(stats.lognorm, lognorm_slope, lognorm_s, cdf=(lognorm_cdf_s,))
family(stats.weibull_min, weibull_slope, weibull_c, cdf=(weibull_cdf_c,))
family(stats.pareto, pareto_slope, pareto_b, cdf=(pareto_cdf_b,), inside=1.5)
family(stats.invgauss, invgauss_slope, invgauss_mu, cdf=(invgauss_cdf_mu,))
family(stats.skewnorm, skewnorm_slope, skewnorm_a, cdf=(skewnorm_cdf_a,))
