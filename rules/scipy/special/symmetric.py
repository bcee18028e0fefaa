"""Symmetric elliptic integrals, the arithmetic-geometric mean, shifted polynomials, Wright's and other functions.

Formulas of the DLMF, by number.
"""

import numpy as np
from scipy import special

from autodiff_hook.extend import elementwise
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
