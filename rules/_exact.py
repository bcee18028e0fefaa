"""Rules for the operators on ``Fraction`` and ``Decimal``, and for their conversion to floats.

Their derivatives are floats, so pullbacks compute with floats in the place of such numbers.
"""

from __future__ import annotations

import math
import operator
from decimal import Decimal
from fractions import Fraction

from autodiff_hook.cotangents import not_implemented
from autodiff_hook.extend import cotangents
from autodiff_hook.registry import nondifferentiable
from autodiff_hook.signatures import Complex, Exact, Real
from autodiff_hook.strong import over, times
from autodiff_rules._numbers import project
from autodiff_rules._powers import (
    base_cotangent,
    complex_base_cotangent,
    complex_exponent_cotangent,
    exponent_cotangent,
)

REALS = ((Exact, Exact), (Exact, Real), (Real, Exact), (Exact, bool), (bool, Exact))
NUMBERS = (*REALS, (Exact, Complex), (Complex, Exact))


@nondifferentiable
def is_exact(x: object) -> bool:
    return isinstance(x, (Fraction, Decimal))


def plain(x):
    """A number that computes with cotangents: a float for an exact one."""
    return float(x) if is_exact(x) else x


# The cotangents of two numbers
def of_sum(ȳ, x, y):
    return project(ȳ, x), project(ȳ, y)


def of_difference(ȳ, x, y):
    return project(ȳ, x), project(-ȳ, y)


def of_product(ȳ, x, y):
    return project(times(ȳ, plain(y).conjugate()), x), project(times(ȳ, plain(x).conjugate()), y)


def of_quotient(ȳ, x, y, z):
    x̄ = over(ȳ, plain(y).conjugate())
    return project(x̄, x), project(times(-x̄, plain(z).conjugate()), y)


def of_remainder(ȳ, x, y, z):
    return ȳ, times(-ȳ, round(plain((x - z) / y)))


def of_power(ȳ, x, y, z):
    x, y, z = plain(x), plain(y), plain(z)
    if isinstance(x, complex) or isinstance(y, complex):
        return complex_base_cotangent(ȳ, x, y), complex_exponent_cotangent(ȳ, x, y, z)
    if x > 0:
        return times(ȳ * y, x ** (y - 1)), times(ȳ * z, math.log(x))
    return base_cotangent(ȳ, x, y, z), exponent_cotangent(ȳ, x, y, z)


def of_division(ȳ, x, y, z):
    return (None, None) if ȳ[1] is None else of_remainder(ȳ[1], x, y, z[1])


for name, signatures, function in (
    ("add", NUMBERS, of_sum),
    ("sub", NUMBERS, of_difference),
    ("mul", NUMBERS, of_product),
    ("truediv", NUMBERS, of_quotient),
    ("mod", REALS, of_remainder),
    ("pow", NUMBERS, of_power),
):
    both = getattr(operator, name), getattr(operator, f"i{name}")
    cotangents(both, "x, y", signatures, "x, y")(function)
cotangents((operator.floordiv, operator.ifloordiv), "x, y", REALS, x=lambda: None)
cotangents(divmod, "x, y", REALS, "x, y")(of_division)


@cotangents(pow, "base, exp, mod=None", NUMBERS, "base, exp, mod")
def pow_cotangents(ȳ, y, base, exp, mod):
    if mod is None:
        return (*of_power(ȳ, base, exp, y), None)
    unknown = not_implemented("pow with three arguments")
    return unknown, unknown, unknown


# That of one number
def of_absolute(ȳ, x):
    return ȳ if x > 0 else -ȳ if x < 0 else 0.0


def of_same(ȳ):
    return ȳ


def of_negative(ȳ):
    return -ȳ


for targets, function in (
    *((float, of_same), (operator.pos, of_same), (operator.neg, of_negative)),
    ((abs, operator.abs), of_absolute),
):
    cotangents(targets, "x", ((Exact,),))(function)
