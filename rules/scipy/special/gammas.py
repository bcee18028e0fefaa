"""The gamma and beta functions, complete and incomplete (DLMF chapters 5 and 8), and what is made of them.

SciPy has the polygamma functions for real numbers alone; those of complex numbers are made here.
"""

import math

import numpy as np
from scipy import special

from autodiff_hook.extend import elementwise
from autodiff_hook.registry import nondifferentiable
from autodiff_rules._constants import CONSISTS_OF_STEPS
from autodiff_rules._polygamma import BERNOULLI, cotangent_slopes
from autodiff_rules.scipy.special._inverses import distribution
from autodiff_rules.scipy.special._tails import beta_in_first, beta_in_second, gamma_in_order

IN_ORDER = "scipy.special.polygamma with respect to its order"


def rgamma_slope(x, y):
    """At the poles of the gamma function, where 1/Γ is 0, by DLMF 5.2.1: (-1)ⁿ n!."""
    if np.iscomplexobj(x):
        return -y * special.psi(x)
    pole = np.logical_and(np.less_equal(x, 0), np.equal(x, np.floor(x)))
    inside = np.where(pole, 1.0, x)
    sign = 1.0 - 2.0 * np.mod(np.where(pole, x, 0.0), 2.0)
    at_pole = sign * special.gamma(1.0 - np.where(pole, x, 0.0))
    return np.where(pole, at_pole, -special.rgamma(inside) * special.psi(inside))


elementwise(special.gamma, lambda x, y: y * special.psi(x))  # DLMF 5.2.2
elementwise(special.gammaln, lambda x: special.psi(x))
elementwise(special.loggamma, lambda x: special.psi(x))
elementwise(special.rgamma, rgamma_slope)
nondifferentiable(special.gammasgn, CONSISTS_OF_STEPS)


elementwise(special.polygamma, n=IN_ORDER, x=lambda n, x: special.polygamma(np.add(n, 1), x))


# The beta function, DLMF 5.12


def binom_n(n, k, y):
    return y * (special.psi(n + 1.0) - special.psi(n - k + 1.0))


def binom_k(n, k, y):
    return y * (special.psi(n - k + 1.0) - special.psi(k + 1.0))


elementwise(
    special.beta,
    a=lambda a, b, y: y * (special.psi(a) - special.psi(a + b)),
    b=lambda a, b, y: y * (special.psi(b) - special.psi(a + b)),
)
elementwise(
    special.betaln,
    a=lambda a, b: special.psi(a) - special.psi(a + b),
    b=lambda a, b: special.psi(b) - special.psi(a + b),
)
elementwise(special.binom, n=binom_n, k=binom_k)
elementwise(
    special.poch, z=lambda z, m, y: y * (special.psi(z + m) - special.psi(z)), m=lambda z, m, y: y * special.psi(z + m)
)


# The incomplete functions: densities, and the inverses of those


def gamma_density(a, x):
    """The derivative of P(a, x), DLMF 8.8.13 by Γ(a)."""
    return np.exp(special.xlogy(a - 1.0, x) - x - special.gammaln(a))


distribution(
    *(special.gammainc, special.gammaincc, special.gammaincinv, special.gammainccinv),
    a=gamma_in_order,
    x=gamma_density,
)


def beta_density(a, b, x):
    """The derivative of I(a, b, x), DLMF 8.17.1."""
    return np.exp(special.xlogy(a - 1.0, x) + special.xlog1py(b - 1.0, -x) - special.betaln(a, b))


distribution(
    *(special.betainc, special.betaincc, special.betaincinv, special.betainccinv),
    a=beta_in_first,
    b=beta_in_second,
    x=beta_density,
)


STEPS = 12


def complex_polygamma(n, z):
    """The ``n``-th derivative of the digamma function at complex numbers, ``n`` > 0."""
    left = (np.real(z) < 0.5) & (np.abs(np.imag(z)) < 5.0)  # above, what is left of the cotangent is below rounding
    right = on_the_right(n, np.where(left, 1.0 - z, z))
    if not np.any(left):
        return right
    inverse_tangent, value = 1.0 / np.tan(np.pi * np.where(left, z, 0.5)), 0.0 * z
    for coefficient in reversed(cotangent_slopes(n)):
        value = value * inverse_tangent + coefficient
    return np.where(left, (-right if n % 2 else right) - np.pi * value, right)  # DLMF 5.15.6


def on_the_right(n, z):
    """By DLMF 5.15.5 farther to the right, and by 5.15.8 and 5.15.9 there."""
    total = 0.0 * z
    for _ in range(STEPS + n):
        total = total + math.factorial(n) / z ** (n + 1)
        z = z + 1.0
    total = total + math.factorial(n - 1) / z**n + math.factorial(n) / (2.0 * z ** (n + 1))
    for k, number in enumerate(BERNOULLI, 1):
        total = total + math.factorial(2 * k + n - 1) / math.factorial(2 * k) * number / z ** (2 * k + n)
    return total if n % 2 else -total


def polygamma(n, x):
    return complex_polygamma(n, x) if np.iscomplexobj(x) else special.polygamma(n, x)


elementwise(complex_polygamma, n=None, z=lambda n, z: complex_polygamma(n + 1, z))
elementwise(special.psi, lambda x: polygamma(1, x))
