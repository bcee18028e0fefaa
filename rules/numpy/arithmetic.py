"""The ufuncs of two arguments: arithmetic, and those of geometry and of choice."""

from __future__ import annotations

import numpy as np

from autodiff_hook.registry import Real, rrule
from autodiff_hook.strong import over, times
from autodiff_rules.numpy._shared import array_rrule, conj, unbroadcast
from autodiff_rules.numpy.powers import base_cotangent, exponent_cotangent, number_power_cotangent


@array_rrule(np.add, 2)
def add_rule(x1, x2, /):
    def add_pullback(ȳ):
        return unbroadcast(ȳ, x1), unbroadcast(ȳ, x2)

    return np.add(x1, x2), add_pullback


@array_rrule(np.subtract, 2)
def subtract_rule(x1, x2, /):
    def subtract_pullback(ȳ):
        return unbroadcast(ȳ, x1), unbroadcast(-ȳ, x2)

    return np.subtract(x1, x2), subtract_pullback


@array_rrule(np.multiply, 2)
def multiply_rule(x1, x2, /):
    def multiply_pullback(ȳ):
        return unbroadcast(times(ȳ, conj(x2)), x1), unbroadcast(times(ȳ, conj(x1)), x2)

    return np.multiply(x1, x2), multiply_pullback


@array_rrule(np.divide, 2)
def divide_rule(x1, x2, /):
    y = np.divide(x1, x2)

    def divide_pullback(ȳ):
        c = over(ȳ, conj(x2))
        return unbroadcast(c, x1), unbroadcast(times(-c, conj(y)), x2)

    return y, divide_pullback


@array_rrule(np.remainder, 2)
def remainder_rule(x1, x2, /):
    def remainder_pullback(ȳ):
        return unbroadcast(ȳ, x1), unbroadcast(times(-ȳ, np.floor_divide(x1, x2)), x2)

    return np.remainder(x1, x2), remainder_pullback


@array_rrule(np.fmod, 2)
def fmod_rule(x1, x2, /):
    def fmod_pullback(ȳ):
        return unbroadcast(ȳ, x1), unbroadcast(times(-ȳ, np.trunc(np.divide(x1, x2))), x2)

    return np.fmod(x1, x2), fmod_pullback


@array_rrule(np.divmod, 2)
def divmod_rule(x1, x2, /):
    y = np.divmod(x1, x2)

    def divmod_pullback(ȳ):
        r̄ = ȳ[1]
        if r̄ is None:
            return None, None
        return unbroadcast(r̄, x1), unbroadcast(times(-r̄, y[0]), x2)

    return y, divmod_pullback


@array_rrule(np.power, 2)
def power_rule(x1, x2, /):
    y = np.power(x1, x2)

    def power_pullback(ȳ):
        return base_cotangent(ȳ, x1, x2), exponent_cotangent(ȳ, x1, x2, y)

    return y, power_pullback


@rrule(np.power, np.ndarray, Real)
def power_number_rule(x1, x2, /):
    y = np.power(x1, x2)

    def power_number_pullback(ȳ):
        return number_power_cotangent(ȳ, x1, x2), exponent_cotangent(ȳ, x1, x2, y)

    return y, power_number_pullback


@array_rrule(np.float_power, 2)
def float_power_rule(x1, x2, /):
    y = np.float_power(x1, x2)

    def float_power_pullback(ȳ):
        return base_cotangent(ȳ, x1, x2), exponent_cotangent(ȳ, x1, x2, y)

    return y, float_power_pullback


@array_rrule(np.arctan2, 2)
def arctan2_rule(x1, x2, /):
    def arctan2_pullback(ȳ):
        c = over(ȳ, nonzero_square(x1, x2))
        return unbroadcast(times(c, x2), x1), unbroadcast(times(-c, x1), x2)

    return np.arctan2(x1, x2), arctan2_pullback


def nonzero_square(x1, x2):
    """The square of the distance from the origin, 1 at the origin."""
    square = np.multiply(x1, x1) + np.multiply(x2, x2)
    return np.where(square == 0, 1.0, square)


@array_rrule(np.hypot, 2)
def hypot_rule(x1, x2, /):
    y = np.hypot(x1, x2)

    def hypot_pullback(ȳ):
        c = over(ȳ, np.where(y == 0, 1.0, y))
        return unbroadcast(times(c, x1), x1), unbroadcast(times(c, x2), x2)

    return y, hypot_pullback


@array_rrule(np.maximum, 2)
def maximum_rule(x1, x2, /):
    def maximum_pullback(ȳ):
        first = np.greater_equal(x1, x2) | np.not_equal(x1, x1)
        return unbroadcast(times(ȳ, first), x1), unbroadcast(times(ȳ, ~first), x2)

    return np.maximum(x1, x2), maximum_pullback


@array_rrule(np.minimum, 2)
def minimum_rule(x1, x2, /):
    def minimum_pullback(ȳ):
        first = np.less_equal(x1, x2) | np.not_equal(x1, x1)
        return unbroadcast(times(ȳ, first), x1), unbroadcast(times(ȳ, ~first), x2)

    return np.minimum(x1, x2), minimum_pullback


@array_rrule(np.fmax, 2)
def fmax_rule(x1, x2, /):
    def fmax_pullback(ȳ):
        first = np.greater_equal(x1, x2) | np.not_equal(x2, x2)
        return unbroadcast(times(ȳ, first), x1), unbroadcast(times(ȳ, ~first), x2)

    return np.fmax(x1, x2), fmax_pullback


@array_rrule(np.fmin, 2)
def fmin_rule(x1, x2, /):
    def fmin_pullback(ȳ):
        first = np.less_equal(x1, x2) | np.not_equal(x2, x2)
        return unbroadcast(times(ȳ, first), x1), unbroadcast(times(ȳ, ~first), x2)

    return np.fmin(x1, x2), fmin_pullback


@array_rrule(np.logaddexp, 2)
def logaddexp_rule(x1, x2, /):
    y = np.logaddexp(x1, x2)

    def logaddexp_pullback(ȳ):
        first, second = share(np.exp, x1, x2, y), share(np.exp, x2, x1, y)
        return unbroadcast(times(ȳ, first), x1), unbroadcast(times(ȳ, second), x2)

    return y, logaddexp_pullback


def share(exponential, x, other, y):
    """The exponential of x - y, where y is the logarithm of a sum of two; of equal infinities each has one half."""
    same = np.equal(x, y)
    part = exponential(np.where(same, 0.0, x) - np.where(same, 0.0, y))
    return np.where(same & np.equal(x, other), 0.5, part)


@array_rrule(np.logaddexp2, 2)
def logaddexp2_rule(x1, x2, /):
    y = np.logaddexp2(x1, x2)

    def logaddexp2_pullback(ȳ):
        return unbroadcast(times(ȳ, share(np.exp2, x1, x2, y)), x1), unbroadcast(
            times(ȳ, share(np.exp2, x2, x1, y)), x2
        )

    return y, logaddexp2_pullback


@array_rrule(np.copysign, 2)
def copysign_rule(x1, x2, /):
    y = np.copysign(x1, x2)

    def copysign_pullback(ȳ):
        return unbroadcast(ȳ * np.where(np.signbit(x1) == np.signbit(y), 1.0, -1.0), x1), None

    return y, copysign_pullback


@array_rrule(np.heaviside, 2)
def heaviside_rule(x1, x2, /):
    def heaviside_pullback(ȳ):
        return None, unbroadcast(np.where(np.equal(x1, 0), ȳ, 0.0), x2)

    return np.heaviside(x1, x2), heaviside_pullback


@array_rrule(np.ldexp, 2)
def ldexp_rule(x1, x2, /):
    def ldexp_pullback(ȳ):
        return unbroadcast(np.ldexp(ȳ, x2), x1), None

    return np.ldexp(x1, x2), ldexp_pullback


@array_rrule(np.nextafter, 2)
def nextafter_rule(x, y, /):
    z = np.nextafter(x, y)

    def nextafter_pullback(z̄):
        there = np.equal(z, y)
        return unbroadcast(np.where(there, 0.0, z̄), x), unbroadcast(np.where(there, z̄, 0.0), y)

    return z, nextafter_pullback
