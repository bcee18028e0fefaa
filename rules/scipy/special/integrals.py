"""Exponential, sine, cosine and logarithmic integrals (DLMF chapter 6)."""

import numpy as np
from scipy import special

from autodiff_hook.extend import elementwise
from autodiff_rules.scipy._elementwise import several


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
