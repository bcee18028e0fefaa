"""Elliptic integrals with respect to the parameter and the amplitude (DLMF 19.2, 19.5)."""

from __future__ import annotations

import numpy as np
from scipy import special

from autodiff_rules.scipy._elementwise import binary, unary

IN_PARAMETER = "an incomplete elliptic integral with respect to its parameter"


def ellipk_slope(m, y):
    """DLMF 19.5.1 and 15.5.1."""
    return 0.39269908169872414 * special.hyp2f1(1.5, 1.5, 2.0, m)


def ellipe_slope(m, y):
    """DLMF 19.5.2 and 15.5.1."""
    return -0.39269908169872414 * special.hyp2f1(0.5, 1.5, 2.0, m)


def ellipkm1_slope(p, y):
    return -ellipk_slope(1.0 - p, y)


unary(special.ellipk, ellipk_slope)
unary(special.ellipe, ellipe_slope)
unary(special.ellipkm1, ellipkm1_slope)


def radicand(phi, m):
    sine = np.sin(phi)
    return 1.0 - m * sine * sine


def ellipkinc_phi(phi, m, y):
    return 1.0 / np.sqrt(radicand(phi, m))


def ellipeinc_phi(phi, m, y):
    return np.sqrt(radicand(phi, m))


binary(special.ellipkinc, ellipkinc_phi, IN_PARAMETER)
binary(special.ellipeinc, ellipeinc_phi, IN_PARAMETER)
