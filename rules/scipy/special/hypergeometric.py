"""Hypergeometric functions with respect to their variable, and elliptic integrals (DLMF 13, 15, 19.2, 19.5)."""

import numpy as np
from scipy import special

from autodiff_hook.extend import elementwise

IN_PARAMETERS = "a hypergeometric function with respect to its parameters"


# DLMF 15.5.1.
elementwise(
    special.hyp2f1,
    a=IN_PARAMETERS,
    b=IN_PARAMETERS,
    c=IN_PARAMETERS,
    z=lambda a, b, c, z: a * b / c * special.hyp2f1(a + 1.0, b + 1.0, c + 1.0, z),
)
# DLMF 13.3.15.
elementwise(
    special.hyp1f1, a=IN_PARAMETERS, b=IN_PARAMETERS, z=lambda a, b, z: a / b * special.hyp1f1(a + 1.0, b + 1.0, z)
)
# DLMF 13.3.22.
elementwise(
    special.hyperu, a=IN_PARAMETERS, b=IN_PARAMETERS, z=lambda a, b, z: -a * special.hyperu(a + 1.0, b + 1.0, z)
)
elementwise(special.hyp0f1, v=IN_PARAMETERS, z=lambda v, z: special.hyp0f1(v + 1.0, z) / v)  # DLMF 16.3.1


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


def continued(phi, within, whole):
    """sin³ φ within/6 between -π/2 and π/2, beyond by what is added for each turn by π."""
    turns = np.round(phi / np.pi)
    sine = np.sin(phi - np.pi * turns)
    return sine * sine * sine * within / 6.0 + np.where(turns == 0.0, 0.0, turns * whole / 3.0)


def ellipkinc_m(phi, m):
    cosine = np.cos(phi)
    within = special.elliprd(cosine * cosine, 1.0, radicand(phi, m))
    return continued(phi, within, special.elliprd(0.0, 1.0, 1.0 - m))


def ellipeinc_m(phi, m):
    cosine = np.cos(phi)
    within = special.elliprd(cosine * cosine, radicand(phi, m), 1.0)
    return -continued(phi, within, special.elliprd(0.0, 1.0 - m, 1.0))


# DLMF 19.25.5 and 19.25.9, whose R_F is differentiated by 19.18.1.
elementwise(
    special.ellipkinc,
    phi=lambda phi, m: 1.0 / np.sqrt(radicand(phi, m)),
    m=ellipkinc_m,
)
elementwise(
    special.ellipeinc,
    phi=lambda phi, m: np.sqrt(radicand(phi, m)),
    m=ellipeinc_m,
)
