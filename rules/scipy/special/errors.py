"""The error function and its relatives (DLMF 7.2, 7.10), the Voigt profile, and exponential integrals (DLMF 6)."""

import numpy as np
from scipy import special

from autodiff_hook.extend import elementwise
from autodiff_rules.scipy._elementwise import several

TWO_BY_ROOT_PI = 1.1283791670955126
HALF_ROOT_PI = 0.886226925452758
ROOT_TWO = 1.4142135623730951
ROOT_TWO_PI = 2.5066282746310002


def wofz_slope(x, y):
    """DLMF 7.10.2."""
    return TWO_BY_ROOT_PI * 1j - 2.0 * x * y


elementwise(special.erf, lambda x: TWO_BY_ROOT_PI * np.exp(-x * x))  # DLMF 7.10.1
elementwise(special.erfc, lambda x: -TWO_BY_ROOT_PI * np.exp(-x * x))
elementwise(special.erfcx, lambda x, y: 2.0 * x * y - TWO_BY_ROOT_PI)
elementwise(special.erfi, lambda x: TWO_BY_ROOT_PI * np.exp(x * x))
elementwise(special.dawsn, lambda x, y: 1.0 - 2.0 * x * y)  # DLMF 7.10.3
elementwise(special.wofz, wofz_slope)  # DLMF 7.10.2
elementwise(special.erfinv, lambda y: HALF_ROOT_PI * np.exp(y * y))
elementwise(special.erfcinv, lambda y: -HALF_ROOT_PI * np.exp(y * y))


def voigt_parts(x, sigma, gamma):
    """The profile is Re w(z) / (σ √(2π)), DLMF 7.19: z, w′(z) and what both are divided by."""
    scale = sigma * ROOT_TWO
    z = (x + 1j * gamma) / scale
    return z, wofz_slope(z, special.wofz(z)), scale


def voigt_x(x, sigma, gamma):
    _, slope, scale = voigt_parts(x, sigma, gamma)
    return np.real(slope) / (scale * sigma * ROOT_TWO_PI)


def voigt_sigma(x, sigma, gamma, y):
    z, slope, _ = voigt_parts(x, sigma, gamma)
    return -(y + np.real(z * slope) / (sigma * ROOT_TWO_PI)) / sigma


def voigt_gamma(x, sigma, gamma):
    _, slope, scale = voigt_parts(x, sigma, gamma)
    return -np.imag(slope) / (scale * sigma * ROOT_TWO_PI)


elementwise(
    special.voigt_profile,
    x=voigt_x,
    sigma=voigt_sigma,
    gamma=voigt_gamma,
)


def fresnel_slopes(x, y):
    """DLMF 7.2.7 and 7.2.8."""
    angle = 0.5 * np.pi * x * x
    return np.sin(angle), np.cos(angle)


several(special.fresnel, fresnel_slopes)


def expn_x(n, x):
    """DLMF 8.19.13; below n = 1 the function is elementary, 8.19.14. SciPy cuts the order off to a whole number."""
    whole = np.trunc(n)
    first = np.equal(whole, 0)
    below = np.exp(-x) * (1.0 + x) / np.where(first, x * x, 1.0)
    return -np.where(first, below, special.expn(np.maximum(whole - 1.0, 0.0), x))


elementwise(special.expi, lambda x: np.exp(x) / x)  # DLMF 6.2.5
elementwise(special.exp1, lambda x: -np.exp(-x) / x)  # DLMF 6.2.1
# DLMF 8.19.13; below n = 1 the function is elementary, 8.19.14. SciPy cuts the order off to a whole number
elementwise(special.expn, n="scipy.special.expn with respect to its order", x=expn_x)


def sici_slopes(x, y):
    """DLMF 6.2.9 and 6.2.11."""
    return special.spherical_jn(0, x), np.cos(x) / x


def shichi_slopes(x, y):
    """DLMF 6.2.15 and 6.2.16."""
    return special.spherical_in(0, x), np.cosh(x) / x


several(special.sici, sici_slopes)
several(special.shichi, shichi_slopes)


SPENCE_SERIES = [(-1) ** k / -(k + 1) for k in range(16, -1, -1)]


def spence_slope(x):
    """DLMF 25.12.2 for Li₂(1 - x); close to 1 the terms of the series, whose derivatives are right there, too."""
    d = np.asarray(x) - 1.0
    near = np.abs(d) < 0.1
    series = np.polyval(SPENCE_SERIES, np.where(near, d, 0.0))
    return np.where(near, series, np.log(np.where(near, 2.0, x)) / np.where(near, -1.0, -d))


elementwise(special.spence, spence_slope)
