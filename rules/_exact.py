"""Rules for the operators on ``Fraction`` and ``Decimal``, and for their conversion to floats.

Their derivatives are floats, so pullbacks compute with floats in the place of such numbers.
"""

from __future__ import annotations

import math
import operator
from decimal import Decimal
from fractions import Fraction

from autodiff_hook.registry import Complex, Exact, Real, nondifferentiable, not_implemented, rrule
from autodiff_hook.strong import over, times
from autodiff_rules._numbers import binary
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


def project(x̄, x):
    """The cotangent of ``x``, real unless that is complex."""
    return x̄ if isinstance(x, complex) else x̄.real


# The cotangents of two numbers, from that of the result
def of_sum(z̄, x, y, z):
    return project(z̄, x), project(z̄, y)


def of_difference(z̄, x, y, z):
    return project(z̄, x), project(-z̄, y)


def of_product(z̄, x, y, z):
    return project(times(z̄, plain(y).conjugate()), x), project(times(z̄, plain(x).conjugate()), y)


def of_quotient(z̄, x, y, z):
    x̄ = over(z̄, plain(y).conjugate())
    return project(x̄, x), project(times(-x̄, plain(z).conjugate()), y)


def of_remainder(z̄, x, y, z):
    return z̄, times(-z̄, round(plain((x - z) / y)))


def of_power(z̄, x, y, z):
    x, y, z = plain(x), plain(y), plain(z)
    if isinstance(x, complex) or isinstance(y, complex):
        return complex_base_cotangent(z̄, x, y), complex_exponent_cotangent(z̄, x, y, z)
    if x > 0:
        return times(z̄ * y, x ** (y - 1)), times(z̄ * z, math.log(x))
    return base_cotangent(z̄, x, y, z), exponent_cotangent(z̄, x, y, z)


def of_division(z̄, x, y, z):
    remainder = z̄[1]
    return (None, None) if remainder is None else of_remainder(remainder, x, y, z[1])


def of_steps(z̄, x, y, z):
    return None, None


def operation(function, cotangents):
    """The rule of a function of two numbers."""

    def operation_rule(x, y):
        z = function(x, y)

        def operation_pullback(z̄):
            return cotangents(z̄, x, y, z)

        return z, operation_pullback

    return operation_rule


for name, signatures, cotangents in (
    ("add", NUMBERS, of_sum),
    ("sub", NUMBERS, of_difference),
    ("mul", NUMBERS, of_product),
    ("truediv", NUMBERS, of_quotient),
    ("floordiv", REALS, of_steps),
    ("mod", REALS, of_remainder),
    ("pow", NUMBERS, of_power),
):
    plainly, in_place = getattr(operator, name), getattr(operator, f"i{name}")
    binary(plainly, in_place, signatures=signatures)(operation(plainly, cotangents))
binary(divmod, signatures=REALS)(operation(divmod, of_division))


@binary(pow, signatures=NUMBERS)
def pow_rule(base, exp, mod=None):
    z = pow(base, exp, mod)

    def pow_pullback(z̄):
        if mod is None:
            return (*of_power(z̄, base, exp, z), None)
        unknown = not_implemented("pow with three arguments")
        return unknown, unknown, unknown

    return z, pow_pullback


def of_absolute(ȳ, x, y):
    return ȳ if x > 0 else -ȳ if x < 0 else 0.0


def of_same(ȳ, x, y):
    return ȳ


def of_negative(ȳ, x, y):
    return -ȳ


def function_of_one(function, cotangent):
    """The rule of a function of one number."""

    def function_rule(x):
        y = function(x)

        def function_pullback(ȳ):
            return (cotangent(ȳ, x, y),)

        return y, function_pullback

    return function_rule


for function, cotangent in (
    *((float, of_same), (operator.pos, of_same), (operator.neg, of_negative)),
    *((abs, of_absolute), (operator.abs, of_absolute)),
):
    rrule(function, Exact)(function_of_one(function, cotangent))


@rrule(complex, Complex, Exact)
@rrule(complex, Exact)
def complex_rule(real, imag=None):
    z = complex(real) if imag is None else complex(real, imag)

    def complex_pullback(z̄):
        return project(z̄, real), None if imag is None else project(-1j * z̄, imag)

    return z, complex_pullback
