"""Symmetric elliptic integrals, the arithmetic-geometric mean, shifted polynomials, Wright's and other functions.

Formulas of the DLMF, by number.
"""

import numpy as np
from scipy import special

from autodiff_hook.extend import cotangents, elementwise, not_implemented
from autodiff_hook.registry import nondifferentiable
from autodiff_hook.strong import times
from autodiff_rules.scipy.special.polynomials import lower, polynomial, positive

# 19.18: each derivative of R_F is one of R_D.

elementwise(
    special.elliprf,
    a=lambda a, b, c: special.elliprd(b, c, a) / -6.0,
    b=lambda a, b, c: special.elliprd(a, c, b) / -6.0,
    c=lambda a, b, c: special.elliprd(a, b, c) / -6.0,
)
elementwise(
    special.elliprc,
    a=lambda a, b: special.elliprd(b, b, a) / -6.0,
    b=lambda a, b: special.elliprd(a, b, b) / -3.0,
)


@nondifferentiable
def near(x, y):
    return np.abs(x - y) < 1e-8 * (np.abs(x) + np.abs(y))


def once(x):
    """``x``, of which derivatives are not known: it holds where arguments are the same."""
    return 1.0 * x


SAME = "a second derivative of Carlson's elliptic integrals where arguments are the same"
cotangents(once, "x", x=lambda: not_implemented(SAME))


def apart(y, other, x, last, equal, args):
    """The derivative by ``x`` of an integral ``y`` with 1/(t + last), from ``other`` with 1/(t + x) in its place.

    Partial fractions; ``equal`` of ``args`` is what it comes to where both are the same.
    """
    same = near(x, last)
    if not np.any(same):
        return 0.5 * (y - other) / (last - x)
    return np.where(same, once(equal(*args)), 0.5 * (y - other) / np.where(same, 1.0, last - x))


def rd_first(x, y, z):
    """∂R_D/∂x."""
    return apart(special.elliprd(x, y, z), special.elliprd(y, z, x), x, z, rd_equal, (x, y))


def rd_equal(x, y):
    """The derivatives of R_F, which are R_D, are homogeneous of degree -3/2 (19.18.11)."""
    value = special.elliprd(y, x, x)
    return -0.25 * (1.5 * value + y * apart(value, special.elliprd(x, x, y), y, x, all_equal, (x,))) / x


def all_equal(x):
    return -0.3 / np.power(x, 2.5)


def rd_last(x, y, z, value):
    return -(1.5 * value + weighed(rd_first, x, y, z) + weighed(rd_first, y, x, z)) / z


def weighed(slope, x, *others):
    """x slope(x, …), which is 0 where x is."""
    zero = np.equal(x, 0.0)
    return np.where(zero, 0.0, x * slope(np.where(zero, 1.0, x), *others))


def rj_first(x, y, z, p, value):
    """∂R_J/∂x."""
    return apart(value, special.elliprd(y, z, x), x, p, rj_equal, (x, y, z))


def rj_equal(x, y, z):
    """R_J(x, y, z, x) is R_D(y, z, x)."""
    others = weighed(rd_first, y, z, x) + weighed(rd_first, z, y, x)
    return -(0.5 * special.elliprd(y, z, x) + others / 3.0) / x


def rj_last(x, y, z, p, value):
    terms = [weighed(rj_first, a, b, c, p, value) for a, b, c in ((x, y, z), (y, z, x), (z, x, y))]
    return -(1.5 * value + terms[0] + terms[1] + terms[2]) / p


def rg_first(x, y, z):
    return 0.25 * (special.elliprf(x, y, z) - times(x, special.elliprd(y, z, x)) / 3.0)


elementwise(
    special.elliprd,
    a=lambda a, b, c: rd_first(a, b, c),
    b=lambda a, b, c: rd_first(b, a, c),
    c=lambda a, b, c, y: rd_last(a, b, c, y),
)
elementwise(
    special.elliprg,
    a=lambda a, b, c: rg_first(a, b, c),
    b=lambda a, b, c: rg_first(b, c, a),
    c=lambda a, b, c: rg_first(c, a, b),
)
elementwise(
    special.elliprj,
    a=lambda a, b, c, p, y: rj_first(a, b, c, p, y),
    b=lambda a, b, c, p, y: rj_first(b, c, a, p, y),
    c=lambda a, b, c, p, y: rj_first(c, a, b, p, y),
    p=lambda a, b, c, p, y: rj_last(a, b, c, p, y),
)


def mean_in_second(a, b):
    """∂M/∂b of M = π a/(2 K(m)), m = 1 - b²/a² (19.8.5, 19.4.1)."""
    rest = np.square(b / a)
    m = 1.0 - rest
    small = np.abs(m) < 1e-6
    k = np.where(small, 0.5, m)
    whole = special.ellipkm1(rest)
    slope = (special.ellipe(k) - (1.0 - k) * special.ellipk(k)) / (2.0 * k * (1.0 - k))
    return np.where(small, np.pi / 8.0 * (1.0 + 9.0 / 8.0 * m), slope) * np.pi * b / (a * whole * whole)


elementwise(
    special.agm,
    a=lambda a, b: mean_in_second(b, a),
    b=lambda a, b: mean_in_second(a, b),
)


# Polynomials of 2x - 1 and of x/2 (18.1, 18.9.19 to 18.9.21)

polynomial(
    special.eval_sh_legendre,
    lambda n, x: 2.0 * positive(n) * special.eval_gegenbauer(lower(n), 1.5, 2.0 * x - 1.0),
)
polynomial(special.eval_sh_chebyt, lambda n, x: 2.0 * n * special.eval_chebyu(np.subtract(n, 1), 2.0 * x - 1.0))
polynomial(
    special.eval_sh_chebyu,
    lambda n, x: 4.0 * positive(n) * special.eval_gegenbauer(lower(n), 2.0, 2.0 * x - 1.0),
)
polynomial(special.eval_chebyc, lambda n, x: n * special.eval_chebyu(np.subtract(n, 1), 0.5 * x))
polynomial(special.eval_chebys, lambda n, x: positive(n) * special.eval_gegenbauer(lower(n), 2.0, 0.5 * x))


def shifted_jacobi_x(n, p, q, x):
    factor = (n + p) / special.binom(2.0 * n + p - 1.0, n)
    return positive(n) * factor * special.eval_jacobi(lower(n), p - q + 1.0, q, 2.0 * x - 1.0)


polynomial(special.eval_sh_jacobi, shifted_jacobi_x)

# By differentiating a series, and an integral by parts

WRIGHT = "Wright's Bessel function with respect to its parameters"
elementwise(special.wright_bessel, a=WRIGHT, b=WRIGHT, x=lambda a, b, x: special.wright_bessel(a, a + b, x))
if hasattr(special, "log_wright_bessel"):
    elementwise(
        special.log_wright_bessel,
        a=WRIGHT,
        b=WRIGHT,
        x=lambda a, b, x, y: np.exp(special.log_wright_bessel(a, a + b, x) - y),
    )
BESSELPOLY = "scipy.special.besselpoly with respect to its orders"
elementwise(
    special.besselpoly,
    a=lambda a, lmb, nu, y: (special.jv(nu, 2.0 * a) - (lmb + 1.0) * y) / a,
    lmb=BESSELPOLY,
    nu=BESSELPOLY,
)
elementwise(
    special.radian,
    d=lambda s: np.pi / 180.0 + 0.0 * s,
    m=lambda s: np.pi / 10800.0 + 0.0 * s,
    s=lambda s: np.pi / 648000.0 + 0.0 * s,
)
