"""The cotangents of ``x ** y``, for the four spellings that Python has.

Conventions: the derivative of ``x ** 0`` is 0 everywhere, 0 included; that of ``0 ** y`` with respect to
the base is infinite for 0 < y < 1, and with respect to the exponent 0. For a negative base with a real
result the derivative with respect to the exponent does not exist.
"""

import cmath
import math

from autodiff_hook.cotangents import not_implemented
from autodiff_hook.strong import times
from autodiff_rules._numbers import project


def power_cotangents(ȳ, x, y, z):
    """The cotangents of the real power ``z = x ** y``."""
    x̄ = times(times(ȳ, y), x ** (y - 1)) if x > 0 else base_cotangent(ȳ, x, y, z)
    return x̄, times(ȳ, z * math.log(x)) if x > 0 else exponent_cotangent(ȳ, x, y, z)


def base_cotangent(z̄, x, y, z):
    """``x̄`` of the real power ``z = x ** y`` where ``x`` is not positive (then ``z`` may be complex)."""
    if isinstance(z, complex):
        return times(z̄, (y * z / x).conjugate()).real
    if y == 0:
        return 0.0
    if x == 0 and 0 < y < 1:
        return times(z̄, math.inf)
    return times(z̄ * y, x ** (y - 1))


def exponent_cotangent(z̄, x, y, z):
    """``ȳ`` of the real power ``z = x ** y`` where ``x`` is not positive."""
    if isinstance(z, complex):
        return times(z̄, (z * cmath.log(x)).conjugate()).real
    if x == 0:
        return 0.0
    return not_implemented("x ** y with respect to y, where x is negative and the result real")


def complex_base_cotangent(z̄, x, y):
    if y == 0:
        return 0.0
    if x == 0 and y != 1 and y.real <= 1:
        return project(times(z̄, complex(math.inf, 0.0)), x)
    return project(times(z̄, (y * x ** (y - 1)).conjugate()), x)


def complex_exponent_cotangent(z̄, x, y, z):
    return 0.0 if x == 0 else project(times(z̄, (z * cmath.log(x)).conjugate()), y)
