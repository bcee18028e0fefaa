"""Elliptic integrals with respect to the parameter and the amplitude (DLMF 19.2, 19.5)."""

import numpy as np
from scipy import special

from autodiff_hook.extend import elementwise

IN_PARAMETER = "an incomplete elliptic integral with respect to its parameter"


def ellipk_slope(m):
    """DLMF 19.5.1 and 15.5.1."""
    return 0.39269908169872414 * special.hyp2f1(1.5, 1.5, 2.0, m)


elementwise(special.ellipk, m=ellipk_slope)  # DLMF 19.5.1 and 15.5.1
# DLMF 19.5.2 and 15.5.1
elementwise(special.ellipe, m=lambda m: -0.39269908169872414 * special.hyp2f1(0.5, 1.5, 2.0, m))
elementwise(special.ellipkm1, p=lambda p: -ellipk_slope(1.0 - p))


def radicand(phi, m):
    sine = np.sin(phi)
    return 1.0 - m * sine * sine


elementwise(special.ellipkinc, phi=lambda phi, m: 1.0 / np.sqrt(radicand(phi, m)), m=IN_PARAMETER)
elementwise(special.ellipeinc, phi=lambda phi, m: np.sqrt(radicand(phi, m)), m=IN_PARAMETER)
