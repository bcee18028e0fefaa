"""The error function and its relatives (DLMF 7.2, 7.10), and the Voigt profile."""

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
