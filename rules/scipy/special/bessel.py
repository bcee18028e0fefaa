"""Bessel functions, plain and scaled, Struve and Airy functions, with respect to their variable."""

from __future__ import annotations

import numpy as np
from scipy import special

from autodiff_rules.scipy._elementwise import binary, require_real, several, unary

IN_ORDER = "a Bessel or Struve function with respect to its order"


# DLMF 10.6.1 and 10.29.1


def jv_z(v, z, y):
    return 0.5 * (special.jv(np.subtract(v, 1.0), z) - special.jv(np.add(v, 1.0), z))


def yv_z(v, z, y):
    return 0.5 * (special.yv(np.subtract(v, 1.0), z) - special.yv(np.add(v, 1.0), z))


def iv_z(v, z, y):
    return 0.5 * (special.iv(np.subtract(v, 1.0), z) + special.iv(np.add(v, 1.0), z))


def kv_z(v, z, y):
    return -0.5 * (special.kv(np.subtract(v, 1.0), z) + special.kv(np.add(v, 1.0), z))


def hankel1_z(v, z, y):
    return 0.5 * (special.hankel1(np.subtract(v, 1.0), z) - special.hankel1(np.add(v, 1.0), z))


def hankel2_z(v, z, y):
    return 0.5 * (special.hankel2(np.subtract(v, 1.0), z) - special.hankel2(np.add(v, 1.0), z))


binary(special.jv, IN_ORDER, jv_z)
binary(special.yv, IN_ORDER, yv_z)
binary(special.iv, IN_ORDER, iv_z)
binary(special.kv, IN_ORDER, kv_z)
binary(special.hankel1, IN_ORDER, hankel1_z)
binary(special.hankel2, IN_ORDER, hankel2_z)


# Those of whole order, which cut off what is given


def yn_z(n, z, y):
    return yv_z(np.trunc(n), z, y)


def kn_z(n, z, y):
    return kv_z(np.trunc(n), z, y)


binary(special.yn, IN_ORDER, yn_z)
binary(special.kn, IN_ORDER, kn_z)


# The scaled ones: by exp(-|Im z|), exp(-|Re z|), exp(z) and exp(∓iz)


def jve_z(v, z, y):
    require_real(z, "scipy.special.jve")
    return 0.5 * (special.jve(np.subtract(v, 1.0), z) - special.jve(np.add(v, 1.0), z))


def yve_z(v, z, y):
    require_real(z, "scipy.special.yve")
    return 0.5 * (special.yve(np.subtract(v, 1.0), z) - special.yve(np.add(v, 1.0), z))


def ive_z(v, z, y):
    require_real(z, "scipy.special.ive")
    return 0.5 * (special.ive(np.subtract(v, 1.0), z) + special.ive(np.add(v, 1.0), z)) - np.sign(z) * y


def kve_z(v, z, y):
    return y - 0.5 * (special.kve(np.subtract(v, 1.0), z) + special.kve(np.add(v, 1.0), z))


def hankel1e_z(v, z, y):
    return 0.5 * (special.hankel1e(np.subtract(v, 1.0), z) - special.hankel1e(np.add(v, 1.0), z)) - 1j * y


def hankel2e_z(v, z, y):
    return 0.5 * (special.hankel2e(np.subtract(v, 1.0), z) - special.hankel2e(np.add(v, 1.0), z)) + 1j * y


binary(special.jve, IN_ORDER, jve_z)
binary(special.yve, IN_ORDER, yve_z)
binary(special.ive, IN_ORDER, ive_z)
binary(special.kve, IN_ORDER, kve_z)
binary(special.hankel1e, IN_ORDER, hankel1e_z)
binary(special.hankel2e, IN_ORDER, hankel2e_z)


# Orders 0 and 1, DLMF 10.6.3 and 10.29.3


def j0_slope(x, y):
    return -special.j1(x)


def j1_slope(x, y):
    return 0.5 * (special.j0(x) - special.jv(2.0, x))


def y0_slope(x, y):
    return -special.y1(x)


def y1_slope(x, y):
    return 0.5 * (special.y0(x) - special.yn(2, x))


def i0_slope(x, y):
    return special.i1(x)


def i1_slope(x, y):
    return 0.5 * (special.i0(x) + special.iv(2.0, x))


def i0e_slope(x, y):
    return special.i1e(x) - np.sign(x) * y


def i1e_slope(x, y):
    return 0.5 * (special.i0e(x) + special.ive(2.0, x)) - np.sign(x) * y


def k0_slope(x, y):
    return -special.k1(x)


def k1_slope(x, y):
    return -0.5 * (special.k0(x) + special.kn(2, x))


def k0e_slope(x, y):
    return y - special.k1e(x)


def k1e_slope(x, y):
    return y - 0.5 * (special.k0e(x) + special.kve(2.0, x))


unary(special.j0, j0_slope)
unary(special.j1, j1_slope)
unary(special.y0, y0_slope)
unary(special.y1, y1_slope)
unary(special.i0, i0_slope)
unary(special.i1, i1_slope)
unary(special.i0e, i0e_slope)
unary(special.i1e, i1e_slope)
unary(special.k0, k0_slope)
unary(special.k1, k1_slope)
unary(special.k0e, k0e_slope)
unary(special.k1e, k1e_slope)


def struve_z(v, x, y):
    """DLMF 11.4.27."""
    return special.struve(np.subtract(v, 1.0), x) - v / x * y


def modstruve_z(v, x, y):
    """DLMF 11.4.29."""
    return special.modstruve(np.subtract(v, 1.0), x) - v / x * y


binary(special.struve, IN_ORDER, struve_z)
binary(special.modstruve, IN_ORDER, modstruve_z)


def airy_slopes(x, y):
    """DLMF 9.2.1."""
    ai, aip, bi, bip = y
    return aip, x * ai, bip, x * bi


several(special.airy, airy_slopes)
