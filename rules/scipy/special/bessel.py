"""Bessel functions, plain and scaled, Struve and Airy functions, with respect to their variable."""

import numpy as np
from scipy import special

from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.extend import cotangents, elementwise
from autodiff_hook.registry import frule
from autodiff_hook.strong import times
from autodiff_rules.numpy._shared import conj, unbroadcast
from autodiff_rules.scipy._elementwise import several

IN_ORDER = "a Bessel or Struve function with respect to its order"


def difference(function, v, z):
    """Half of that of the two orders beside ``v``, DLMF 10.6.1."""
    return 0.5 * (function(np.subtract(v, 1.0), z) - function(np.add(v, 1.0), z))


def mean(function, v, z):
    """That of the two orders beside ``v``, DLMF 10.29.1."""
    return 0.5 * (function(np.subtract(v, 1.0), z) + function(np.add(v, 1.0), z))


elementwise(special.jv, v=IN_ORDER, z=lambda v, z: difference(special.jv, v, z))
elementwise(special.yv, v=IN_ORDER, z=lambda v, z: difference(special.yv, v, z))
elementwise(special.iv, v=IN_ORDER, z=lambda v, z: mean(special.iv, v, z))
elementwise(special.kv, v=IN_ORDER, z=lambda v, z: -mean(special.kv, v, z))
elementwise(special.hankel1, v=IN_ORDER, z=lambda v, z: difference(special.hankel1, v, z))
elementwise(special.hankel2, v=IN_ORDER, z=lambda v, z: difference(special.hankel2, v, z))

# Those of whole order, which cut off what is given
elementwise(special.yn, n=IN_ORDER, z=lambda n, z: difference(special.yv, np.trunc(n), z))
elementwise(special.kn, n=IN_ORDER, z=lambda n, z: -mean(special.kv, np.trunc(n), z))

# The scaled ones: by exp(-|Im z|), exp(-|Re z|), exp(z) and exp(∓iz)


def scaled_by_a_part(target, slope, part, unit):
    """Register ``target``, which is scaled by exp(-|part|): no derivative of a complex function."""

    def in_variable(ȳ, y, v, z):
        z̄ = times(ȳ, conj(slope(v, z)))
        if np.any(part(z)):
            z̄ = z̄ - unit * (np.sign(part(z)) * np.real(conj(ȳ) * y))
        return unbroadcast(z̄, z)

    cotangents(target, "v, z, /", 2, v=IN_ORDER, z=in_variable)
    frule(target, None, lambda ż, y, v, z: ż * slope(v, z) - np.sign(part(z)) * y * part(ż))


scaled_by_a_part(special.jve, lambda v, z: difference(special.jve, v, z), np.imag, 1j)
scaled_by_a_part(special.yve, lambda v, z: difference(special.yve, v, z), np.imag, 1j)
scaled_by_a_part(special.ive, lambda v, z: mean(special.ive, v, z), np.real, 1.0)
elementwise(special.kve, v=IN_ORDER, z=lambda v, z, y: y - mean(special.kve, v, z))
elementwise(special.hankel1e, v=IN_ORDER, z=lambda v, z, y: difference(special.hankel1e, v, z) - 1j * y)
elementwise(special.hankel2e, v=IN_ORDER, z=lambda v, z, y: difference(special.hankel2e, v, z) + 1j * y)

# Orders 0 and 1, DLMF 10.6.3 and 10.29.3
elementwise(special.j0, lambda x: -special.j1(x))
elementwise(special.j1, lambda x: 0.5 * (special.j0(x) - special.jv(2.0, x)))
elementwise(special.y0, lambda x: -special.y1(x))
elementwise(special.y1, lambda x: 0.5 * (special.y0(x) - special.yn(2, x)))
elementwise(special.i0, lambda x: special.i1(x))
elementwise(special.i1, lambda x: 0.5 * (special.i0(x) + special.iv(2.0, x)))
elementwise(special.i0e, lambda x, y: special.i1e(x) - np.sign(x) * y)
elementwise(special.i1e, lambda x, y: 0.5 * (special.i0e(x) + special.ive(2.0, x)) - np.sign(x) * y)
elementwise(special.k0, lambda x: -special.k1(x))
elementwise(special.k1, lambda x: -0.5 * (special.k0(x) + special.kn(2, x)))
elementwise(special.k0e, lambda x, y: y - special.k1e(x))
elementwise(special.k1e, lambda x, y: y - 0.5 * (special.k0e(x) + special.kve(2.0, x)))

# DLMF 11.4.23 and 11.4.25, 11.4.24 and 11.4.26, whose sum and difference are finite at 0


def struve_term(v, x):
    return np.power(0.5 * x, v) * special.rgamma(v + 1.5) * 0.2820947917738782


elementwise(special.struve, v=IN_ORDER, x=lambda v, x: difference(special.struve, v, x) + struve_term(v, x))
elementwise(special.modstruve, v=IN_ORDER, x=lambda v, x: mean(special.modstruve, v, x) + struve_term(v, x))


def airy_slopes(x, y):
    """DLMF 9.2.1."""
    ai, aip, bi, bip = y
    return aip, x * ai, bip, x * bi


several(special.airy, airy_slopes)


def scaled_airy_slopes(x, y):
    """Of Ai and Ai' times exp(ζ), and of Bi and Bi' times exp(-|Re ζ|), for ζ = 2/3 x^(3/2)."""
    if np.iscomplexobj(x):
        raise NotDifferentiable("scipy.special.airye of complex numbers")
    ai, aip, bi, bip = y
    root = np.where(x > 0.0, np.sqrt(np.where(x > 0.0, x, 1.0)), 0.0)
    return aip + root * ai, x * ai + root * aip, bip - root * bi, x * bi - root * bip


several(special.airye, scaled_airy_slopes)
