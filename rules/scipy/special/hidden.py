"""Functions without a public name that ``scipy.stats`` calls; which of them there are depends on SciPy's version."""

import numpy as np
from scipy import special

from autodiff_hook.extend import per
from autodiff_rules.scipy.special._inverses import distribution
from autodiff_rules.scipy.special._tails import beta_in_first, beta_in_second
from autodiff_rules.scipy.special.distributions import (
    NONCENTRAL,
    binomial_slope,
    noncentral_slope,
    noncentral_slope_in_df,
    noncentral_slope_in_nc,
)
from autodiff_rules.scipy.special.gammas import beta_density


def hidden(*names, **slopes):
    """``distribution`` of functions that this version may not have."""
    distribution(*[getattr(special._ufuncs, name, None) for name in names], **slopes)


hidden(
    "_beta_ppf",
    p=lambda a, b, y: 1.0 / beta_density(a, b, y),
    a=lambda a, b, y: -beta_in_first(a, b, y) / beta_density(a, b, y),
    b=lambda a, b, y: -beta_in_second(a, b, y) / beta_density(a, b, y),
)
hidden(
    "_beta_pdf",
    x=lambda x, a, b, y: y * ((a - 1.0) / x - (b - 1.0) / (1.0 - x)),
    a=lambda x, a, b, y: y * (np.log(x) - special.psi(a) + special.psi(a + b)),
    b=lambda x, a, b, y: y * (np.log1p(-x) - special.psi(b) + special.psi(a + b)),
)
hidden("_log1mexp", x=lambda x, y: -np.exp(x - y))
hidden(
    *("_cosine_cdf", "", "_cosine_invcdf"),
    x=lambda x: np.where(np.abs(x) < np.pi, (1.0 + np.cos(x)) / (2.0 * np.pi), 0.0 * x),
)
hidden("", "_kolmogc", "", "_kolmogci", x=lambda x: special._ufuncs._kolmogp(x))
hidden("", "_smirnovc", "", "_smirnovci", n=None, x=lambda n, x: special._ufuncs._smirnovp(n, x))

# Numbers of events, and of trials of the binomial distribution, have no derivative.

hidden("_binom_cdf", "_binom_sf", k=None, n=None, p=binomial_slope)
hidden("_binom_pmf", k=None, n=None, p=lambda k, n, p, y: y * (k / p - (n - k) / (1.0 - p)))
hidden(
    *("_nbinom_cdf", "_nbinom_sf"),
    k=None,
    n=lambda k, n, p: beta_in_first(n, k + 1.0, p),
    p=lambda k, n, p: beta_density(n, k + 1.0, p),
)
hidden(
    "_nbinom_pmf",
    k=None,
    n=lambda k, n, p, y: y * (special.psi(k + n) - special.psi(n) + np.log(p)),
    p=lambda k, n, p, y: y * (n / p - k / (1.0 - p)),
)


# Of Landau's distribution, which is stable and not symmetric, the scale moves the location, too.


def landau_density(x, loc, scale):
    return special._ufuncs._landau_pdf(x, loc, scale)


def landau_in_scale(x, loc, scale):
    return (x - loc) / scale + 2.0 / np.pi


hidden(
    *("_landau_cdf", "_landau_sf"),
    x=landau_density,
    loc=lambda x, loc, scale: -landau_density(x, loc, scale),
    scale=lambda x, loc, scale: -landau_density(x, loc, scale) * landau_in_scale(x, loc, scale),
)
for name, sign in (("_landau_ppf", 1.0), ("_landau_isf", -1.0)):
    hidden(
        name,
        p=per(lambda loc, scale, y: landau_density(y, loc, scale), sign),
        loc=lambda y: np.ones(np.shape(y)),
        scale=lambda loc, scale, y: landau_in_scale(y, loc, scale),
    )

# Of the inverse Gaussian distribution, y/λ is one with the mean μ/λ.


def inverse_gauss_density(z, mu):
    return np.exp(-0.5 * np.square((z - mu) / mu) / z) / np.sqrt(2.0 * np.pi * z * z * z)


def inverse_gauss_in_mu(mu, lam, y):
    z, m = y / lam, mu / lam
    by_mean = -2.0 / (m * m) * np.exp(2.0 / m + special.log_ndtr(-(z / m + 1.0) / np.sqrt(z)))
    return -by_mean / inverse_gauss_density(z, m)


for name, sign in (("_invgauss_ppf", 1.0), ("_invgauss_isf", -1.0)):
    hidden(
        name,
        p=per(lambda mu, lam, y: inverse_gauss_density(y / lam, mu / lam) / lam, sign),
        mu=inverse_gauss_in_mu,
        lam=lambda mu, lam, y: y / lam - mu / lam * inverse_gauss_in_mu(mu, lam, y),
    )


hidden("_ncx2_pdf", x=noncentral_slope, df=noncentral_slope_in_df, nc=noncentral_slope_in_nc)
hidden("_ncx2_cdf", "_ncx2_sf", "_ncx2_ppf", "_ncx2_isf", **NONCENTRAL)
