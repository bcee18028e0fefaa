"""Distribution functions: normal, t, χ², F, gamma, Poisson, (negative) binomial, noncentral χ², Tukey's λ, Kolmogorov.

They are incomplete gamma and beta functions (DLMF 8.17.4, 8.17.5; numbers of events are rounded down, and have no
derivative) or have a density that is known.
"""

import numpy as np
from scipy import special

from autodiff_hook.extend import elementwise
from autodiff_rules.scipy.special._inverses import distribution
from autodiff_rules.scipy.special._tails import beta_in_first, beta_in_second, gamma_in_order, student_in_df
from autodiff_rules.scipy.special.gammas import beta_density, gamma_density

# χ²: P(v/2, x/2)

distribution(
    *(special.chdtr, special.chdtrc, None, special.chdtri),
    v=lambda v, x: 0.5 * gamma_in_order(0.5 * v, 0.5 * x),
    x=lambda v, x: 0.5 * gamma_density(0.5 * v, 0.5 * x),
)

# Gamma: P(b, a x)

distribution(
    *(special.gdtr, special.gdtrc),
    a=lambda a, b, x: x * gamma_density(b, a * x),
    b=lambda a, b, x: gamma_in_order(b, a * x),
    x=lambda a, b, x: a * gamma_density(b, a * x),
)
elementwise(
    special.gdtrix,
    a=lambda a, b, p, y: -y / a,
    b=lambda a, b, p, y: -gamma_in_order(b, a * y) / (a * gamma_density(b, a * y)),
    p=lambda a, b, p, y: 1.0 / (a * gamma_density(b, a * y)),
)

# F: I(dfn/2, dfd/2, z) with z = dfn x/(dfn x + dfd)


def ratio(dfn, dfd, x):
    return dfn * x / (dfn * x + dfd)


def f_density(dfn, dfd, x):
    """The density times x, which is what the derivatives have in common."""
    z = ratio(dfn, dfd, x)
    return beta_density(0.5 * dfn, 0.5 * dfd, z) * z * (1.0 - z)


def f_slope(dfn, dfd, x):
    z = ratio(dfn, dfd, x)
    return beta_density(0.5 * dfn, 0.5 * dfd, z) * (1.0 - z) * dfn / (dfn * x + dfd)


def f_in_first(dfn, dfd, x):
    return 0.5 * beta_in_first(0.5 * dfn, 0.5 * dfd, ratio(dfn, dfd, x)) + f_density(dfn, dfd, x) / dfn


def f_in_second(dfn, dfd, x):
    return 0.5 * beta_in_second(0.5 * dfn, 0.5 * dfd, ratio(dfn, dfd, x)) - f_density(dfn, dfd, x) / dfd


distribution(special.fdtr, special.fdtrc, special.fdtri, dfn=f_in_first, dfd=f_in_second, x=f_slope)

# Numbers of events

distribution(special.pdtr, special.pdtrc, special.pdtri, k=None, m=lambda k, m: -gamma_density(np.floor(k) + 1.0, m))


def binomial_slope(k, n, p):
    return -beta_density(np.floor(k) + 1.0, n - np.floor(k), p)


distribution(special.bdtr, special.bdtrc, special.bdtri, k=None, n=None, p=binomial_slope)
distribution(
    *(special.nbdtr, special.nbdtrc, special.nbdtri),
    k=None,
    n=None,
    p=lambda k, n, p: beta_density(n, np.floor(k) + 1.0, p),
)


# Noncentral χ²: half the difference of two distribution functions, and its density by a Bessel function
# (N. L. Johnson, S. Kotz, N. Balakrishnan, Continuous univariate distributions 2, 1995, 29.4).


def noncentral_density(x, df, nc):
    order, root = 0.5 * df - 1.0, np.sqrt(nc * x)
    apart = np.sqrt(x) - np.sqrt(nc)
    return 0.5 * np.power(x / nc, 0.5 * order) * np.exp(-0.5 * apart * apart) * special.ive(order, root)


def noncentral_in_nc(x, df, nc):
    return 0.5 * (special.chndtr(x, df + 2.0, nc) - special.chndtr(x, df, nc))


def weights(nc):
    """Those of the central distributions, with 0, 2, 4, … degrees of freedom more, that a noncentral one is made of."""
    mean = np.reshape(0.5 * np.asarray(nc), (*np.shape(nc), 1))
    largest = np.max(mean, initial=0.0)
    more = np.arange(np.ceil(largest + 12.0 * np.sqrt(largest) + 25.0))
    return more, np.exp(special.xlogy(more, mean) - mean - special.gammaln(more + 1.0))


def noncentral_in_df(x, df, nc):
    more, weight = weights(nc)
    half_df, half = (
        np.reshape(0.5 * np.asarray(df), (*np.shape(df), 1)),
        np.reshape(0.5 * np.asarray(x), (*np.shape(x), 1)),
    )
    return np.sum(weight * 0.5 * gamma_in_order(half_df + more, half + 0.0 * more), -1)


# The density: by the recurrences of its Bessel function, and as a mixture of central ones


def noncentral_slope(x, df, nc):
    return 0.5 * (noncentral_density(x, df - 2.0, nc) - noncentral_density(x, df, nc))


def noncentral_slope_in_nc(x, df, nc):
    return 0.5 * (noncentral_density(x, df + 2.0, nc) - noncentral_density(x, df, nc))


def noncentral_slope_in_df(x, df, nc):
    more, weight = weights(nc)
    order, half = np.reshape(0.5 * np.asarray(df), (*np.shape(df), 1)) + more, np.reshape(x, (*np.shape(x), 1)) * 0.5
    central = np.exp((order - 1.0) * np.log(half) - half - special.gammaln(order))
    return 0.25 * np.sum(weight * central * (np.log(half) - special.psi(order)), -1)


elementwise(noncentral_density, x=noncentral_slope, df=noncentral_slope_in_df, nc=noncentral_slope_in_nc)
NONCENTRAL = {"edge": "x", "x": noncentral_density, "df": noncentral_in_df, "nc": noncentral_in_nc}
distribution(special.chndtr, None, special.chndtrix, **NONCENTRAL)


def tukey_slope(x, lmbda, y):
    """The quantile is (y^λ - (1 - y)^λ)/λ."""
    return np.where((y > 0.0) & (y < 1.0), 1.0 / (np.power(y, lmbda - 1.0) + np.power(1.0 - y, lmbda - 1.0)), 0.0 * x)


def tukey_in_shape(x, lmbda, y):
    """That of the quantile, times minus the density; near λ = 0 by the first terms of its series."""
    p = np.where((y > 0.0) & (y < 1.0), y, 0.5)
    a, b = np.log(p), np.log1p(-p)
    small = np.abs(lmbda) < 1e-5
    shape = np.where(small, 1.0, lmbda)
    plain = (np.exp(shape * a) * (shape * a - 1.0) - np.exp(shape * b) * (shape * b - 1.0)) / (shape * shape)
    near = 0.5 * (a * a - b * b) + lmbda * (a * a * a - b * b * b) / 3.0
    return -np.where(small, near, plain) * tukey_slope(x, lmbda, y)


elementwise(special.tklmbda, x=tukey_slope, lmbda=tukey_in_shape)
distribution(special.kolmogorov, None, special.kolmogi, x=lambda x: special._ufuncs._kolmogp(x))
distribution(special.smirnov, None, special.smirnovi, n=None, x=lambda n, x: special._ufuncs._smirnovp(n, x))


ROOT_TWO_PI = 2.5066282746310002
BY_ROOT_TWO_PI = 0.3989422804014327
ROOT_HALF = 0.7071067811865476


elementwise(special.ndtr, lambda x: BY_ROOT_TWO_PI * np.exp(-0.5 * x * x))
elementwise(special.ndtri, p=lambda y: ROOT_TWO_PI * np.exp(0.5 * y * y))
elementwise(special.log_ndtr, lambda x, y: BY_ROOT_TWO_PI * np.exp(-0.5 * x * x - y))
elementwise(special.ndtri_exp, p=lambda p, y: ROOT_TWO_PI * np.exp(p + 0.5 * y * y))


def student_density(df, t):
    """The density of Student's distribution."""
    scale = special.gammaln(0.5 * df + 0.5) - special.gammaln(0.5 * df) - 0.5 * np.log(np.pi * df)
    return np.exp(scale - 0.5 * (df + 1.0) * np.log1p(t * t / df))


distribution(special.stdtr, None, special.stdtrit, df=student_in_df, t=student_density)


def owens_t_a(h, a):
    growth = 1.0 + a * a
    return np.exp(-0.5 * h * h * growth) / (2.0 * np.pi * growth)


# From its definition, an integral over (0, a).
elementwise(
    special.owens_t,
    h=lambda h, a: -0.5 * BY_ROOT_TWO_PI * np.exp(-0.5 * h * h) * special.erf(ROOT_HALF * a * h),
    a=owens_t_a,
)
