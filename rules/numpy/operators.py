"""Python's arithmetic operators where an array takes part."""

from __future__ import annotations

import operator

import numpy as np

from autodiff_hook.registry import Array, Complex, Real, registry, rrule
from autodiff_hook.strong import over, times
from autodiff_rules import operator as numbers
from autodiff_rules._numbers import binary
from autodiff_rules.numpy._shared import conj, float_dtype, through_arrays, unbroadcast
from autodiff_rules.numpy.powers import base_cotangent, exponent_cotangent, number_power_cotangent

_NUMPY_SCALARS = (np.float64, np.float32, np.int64, np.int32, np.complex128, np.complex64)
_REPEATING = (operator.mul, operator.matmul)
"""What makes no array of a sequence and a scalar of NumPy's."""


def array_operator(target):
    """``rrule`` for an array on either side, and an array, a number or a sequence on the other.

    A scalar of NumPy's makes an array of a sequence, too.
    """

    def register(rule):
        through = through_arrays(rule, 2)
        rrule(target, Array, Array)(rule)
        scalars = () if target in _REPEATING else _NUMPY_SCALARS
        for cls in (list, tuple):
            for other in (Array, *scalars):
                registry.add(target, (other, cls), through)
                registry.add(target, (cls, other), through)
        for kind in (Complex, bool, np.bool_):
            rrule(target, Array, kind)(rule)
            rrule(target, kind, Array)(rule)
        return rule

    return register


@array_operator(operator.add)
def add_rule(x, y):
    def add_pullback(z̄):
        return unbroadcast(z̄, x), unbroadcast(z̄, y)

    return x + y, add_pullback


@array_operator(operator.sub)
def sub_rule(x, y):
    def sub_pullback(z̄):
        return unbroadcast(z̄, x), unbroadcast(-z̄, y)

    return x - y, sub_pullback


@array_operator(times)
def times_rule(cotangent, derivative):
    def times_pullback(c̄):
        return (
            unbroadcast(times(c̄, conj(derivative)), cotangent),
            unbroadcast(times(c̄, conj(cotangent)), derivative),
        )

    return times(cotangent, derivative), times_pullback


@array_operator(operator.mul)
def mul_rule(x, y):
    def mul_pullback(z̄):
        return unbroadcast(times(z̄, conj(y)), x), unbroadcast(times(z̄, conj(x)), y)

    return x * y, mul_pullback


@array_operator(operator.truediv)
def truediv_rule(x, y):
    z = x / y

    def truediv_pullback(z̄):
        x̄ = over(z̄, conj(y))
        return unbroadcast(x̄, x), unbroadcast(times(-x̄, conj(z)), y)

    return z, truediv_pullback


@array_operator(over)
def over_rule(cotangent, divisor):
    def over_pullback(c̄):
        quotient = over(cotangent, divisor)
        return (
            unbroadcast(over(c̄, conj(divisor)), cotangent),
            unbroadcast(over(times(-c̄, conj(quotient)), conj(divisor)), divisor),
        )

    return over(cotangent, divisor), over_pullback


@array_operator(operator.mod)
def mod_rule(x, y):
    def mod_pullback(z̄):
        return unbroadcast(z̄, x), unbroadcast(times(-z̄, np.floor_divide(x, y)), y)

    return x % y, mod_pullback


@array_operator(operator.floordiv)
def floordiv_rule(x, y):
    def floordiv_pullback(z̄):
        return None, None

    return x // y, floordiv_pullback


@array_operator(divmod)
def divmod_rule(x, y):
    z = divmod(x, y)

    def divmod_pullback(z̄):
        r̄ = z̄[1]
        if r̄ is None:
            return None, None
        return unbroadcast(r̄, x), unbroadcast(times(-r̄, z[0]), y)

    return z, divmod_pullback


@rrule(pow, Array, Real)
@rrule(operator.pow, Array, Real)
def pow_number_rule(x, y):
    z = x**y

    def pow_number_pullback(z̄):
        return number_power_cotangent(z̄, x, y), exponent_cotangent(z̄, x, y, z)

    return z, pow_number_pullback


@array_operator(pow)
@array_operator(operator.pow)
def pow_rule(x, y):
    z = x**y

    def pow_pullback(z̄):
        return base_cotangent(z̄, x, y), exponent_cotangent(z̄, x, y, z)

    return z, pow_pullback


@rrule(operator.neg, Array)
def neg_rule(x):
    def neg_pullback(ȳ):
        return (-ȳ,)

    return -x, neg_pullback


@rrule(operator.pos, Array)
def pos_rule(x):
    def pos_pullback(ȳ):
        return (ȳ,)

    return +x, pos_pullback


@rrule(operator.abs, Array)
@rrule(abs, Array)
def abs_rule(x):
    def abs_pullback(ȳ):
        return (times(ȳ, np.sign(x)),)

    return abs(x), abs_pullback


@rrule(float, Array)
def float_rule(x, /):
    def float_pullback(ȳ):
        return (np.full(x.shape, ȳ, float_dtype(x)),)

    return float(x), float_pullback


@rrule(complex, Array)
def complex_rule(real, imag=0):
    def complex_pullback(ȳ):
        return unbroadcast(np.full(real.shape, ȳ), real), unbroadcast(-1j * ȳ, imag)

    return complex(real, imag), complex_pullback


_SCALARS = {
    (operator.add, operator.iadd): (numbers.add_rule, numbers.complex_add_rule),
    (operator.sub, operator.isub): (numbers.sub_rule, numbers.complex_sub_rule),
    (operator.mul, operator.imul): (numbers.mul_rule, numbers.complex_mul_rule),
    (operator.truediv, operator.itruediv): (numbers.truediv_rule, numbers.complex_truediv_rule),
    (operator.pow, operator.ipow): (numbers.pow_rule, numbers.complex_pow_rule),
    (operator.floordiv, operator.ifloordiv): (numbers.floordiv_rule,),
    (operator.mod, operator.imod): (numbers.mod_rule,),
}
for targets, found in _SCALARS.items():
    for kind, rule in zip((Real, Complex), found):
        # A comparison of NumPy's scalars gives a bool of NumPy's, and that is a factor as a bool is.
        binary(*targets, signatures=((kind, np.bool_), (np.bool_, kind)))(rule)
