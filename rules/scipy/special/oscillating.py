"""Functions whose derivatives are there, too: integrals, Kelvin, Jacobi and parabolic cylinder functions.

Formulas of the DLMF, by number. Those of integrals are what is integrated.
"""

import numpy as np
from scipy import special

from autodiff_hook.extend import cotangents, elementwise
from autodiff_rules.scipy._elementwise import several, summed


def quotient(a, x, at_zero):
    """a/x, and at 0 what that tends to."""
    return np.where(x == 0.0, at_zero, a / np.where(x == 0.0, 1.0, x))


several(special.itj0y0, lambda x, y: (special.j0(x), special.y0(x)))
several(special.iti0k0, lambda x, y: (special.i0(x), special.k0(x)))
several(
    special.it2j0y0, lambda x, y: (quotient(1.0 - special.j0(x), x, 0.25 * x), quotient(-special.y0(x), x, -np.inf))
)
several(
    special.it2i0k0, lambda x, y: (quotient(special.i0(x) - 1.0, x, 0.25 * x), quotient(-special.k0(x), x, -np.inf))
)
elementwise(special.itstruve0, lambda x: special.struve(0.0, x))
elementwise(special.itmodstruve0, lambda x: special.modstruve(0.0, x))
elementwise(special.it2struve0, lambda x: -quotient(special.struve(0.0, x), x, 2.0 / np.pi))


def airy_integrals(x, y):
    """Of Ai and Bi from 0 to x, and of both from 0 to -x."""
    right, left = special.airy(x), special.airy(-np.asarray(x))
    return right[0], right[2], left[0], left[2]


several(special.itairy, airy_integrals)


# Kelvin functions, 10.61: the second derivatives follow from x² w'' + x w' = i x² w, where w = ber + i bei.

elementwise(special.ber, lambda x: special.berp(x))
elementwise(special.bei, lambda x: special.beip(x))
elementwise(special.ker, lambda x: special.kerp(x))
elementwise(special.kei, lambda x: special.keip(x))
elementwise(special.berp, lambda x: -special.bei(x) - quotient(special.berp(x), x, 0.0))
elementwise(special.beip, lambda x: special.ber(x) - quotient(special.beip(x), x, 0.5))
elementwise(special.kerp, lambda x: -special.kei(x) - special.kerp(x) / x)
elementwise(special.keip, lambda x: special.ker(x) - special.keip(x) / x)


def second_derivative(slope, value, x):
    return 1j * value - slope / x


several(
    special.kelvin,
    lambda x, y: (y[2], y[3], second_derivative(y[2], y[0], x), second_derivative(y[3], y[1], x)),
)


# Parabolic cylinder functions, 12.2: value and derivative, by their differential equation


def parabolic(target, coefficient, why):
    cotangents(target, "v, x, /", 2, v=why, x=lambda ȳ, y, v, x: summed(ȳ, (y[1], coefficient(v, x) * y[0]), x))


IN_ORDER = "a parabolic cylinder function with respect to its order"
parabolic(special.pbdv, lambda v, x: 0.25 * np.square(x) - v - 0.5, IN_ORDER)
parabolic(special.pbvv, lambda v, x: 0.25 * np.square(x) - v - 0.5, IN_ORDER)
parabolic(special.pbwa, lambda a, x: a - 0.25 * np.square(x), IN_ORDER)


# Jacobi's elliptic functions and the amplitude, 22.13 and 22.20; and 19.4.2 for the parameter


@cotangents(special.ellipj, "u, m, /", 2, "u, m")
def ellipj_cotangents(ȳ, y, u, m):
    sn, cn, dn, amplitude = y
    along = (cn * dn, -sn * dn, -m * sn * cn, dn)
    moved = amplitude_in_parameter(u, m, y)
    by_m = (cn * moved, -sn * moved, -(0.5 * sn * sn + m * sn * cn * moved) / dn, moved)
    return summed(ȳ, along, u), summed(ȳ, by_m, m)


def amplitude_in_parameter(u, m, y):
    """∂φ/∂m, from u = F(φ | m) and 19.4.2; for m near 0 by the first terms of 22.11 and 22.16."""
    sn, cn, dn, amplitude = y
    small = np.abs(m) < 1e-8
    k = np.where(small, 0.5, m)
    whole = special.ellipeinc(amplitude, k) / (1.0 - k) - u
    plain = dn * (sn * cn / (dn * (1.0 - k)) - whole / k) / 2.0
    return np.where(small, -0.25 * (u - sn * cn), plain)
