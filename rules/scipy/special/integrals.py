"""Exponential, sine, cosine and logarithmic integrals (DLMF chapter 6)."""

from __future__ import annotations

import numpy as np
from scipy import special

from autodiff_rules.scipy._elementwise import binary, several, unary


def expi_slope(x, y):
    """DLMF 6.2.5."""
    return np.exp(x) / x


def exp1_slope(x, y):
    """DLMF 6.2.1."""
    return -np.exp(-x) / x


def expn_x(n, x, y):
    """DLMF 8.19.13; below n = 1 the function is elementary, 8.19.14. SciPy cuts the order off to a whole number."""
    whole = np.trunc(n)
    first = np.equal(whole, 0)
    below = np.exp(-x) * (1.0 + x) / np.where(first, x * x, 1.0)
    return -np.where(first, below, special.expn(np.maximum(whole - 1.0, 0.0), x))


unary(special.expi, expi_slope)
unary(special.exp1, exp1_slope)
binary(special.expn, "scipy.special.expn with respect to its order", expn_x)


def sici_slopes(x, y):
    """DLMF 6.2.9 and 6.2.11."""
    return special.spherical_jn(0, x), np.cos(x) / x


def shichi_slopes(x, y):
    """DLMF 6.2.15 and 6.2.16."""
    return special.spherical_in(0, x), np.cosh(x) / x


several(special.sici, sici_slopes)
several(special.shichi, shichi_slopes)


def spence_slope(x, y):
    """DLMF 25.12.2 for Li₂(1 - x)."""
    one = np.equal(x, 1)
    return np.where(one, -1.0, np.log(x) / np.where(one, 1.0, 1.0 - x))


unary(special.spence, spence_slope)
