"""The polygamma functions of complex numbers, which SciPy has for real ones alone."""

import math

import numpy as np
from scipy import special

from autodiff_hook.extend import elementwise
from autodiff_rules._polygamma import BERNOULLI, cotangent_slopes

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
