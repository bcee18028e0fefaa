"""Rules for the operators on numbers.

For numbers an in-place operator is the plain one. Operators on arrays are in the NumPy pack; on tuples,
lists and strings they are the runtime's. Conventions: ``x // y`` and the bit operations have derivative
zero, that of ``x % y`` is 1 and ``-(x // y)``, that of ``abs`` at 0 is 0; powers: see ``_powers``.
"""

from __future__ import annotations

import math
import operator

from autodiff_hook.extend import cotangents
from autodiff_hook.registry import Complex, Real, rrule
from autodiff_hook.strong import over, times
from autodiff_rules._constants import COMPARES, IS_A_POSITION, declare_names
from autodiff_rules._numbers import COMPLEXES, REALS, binary, project
from autodiff_rules._powers import (
    base_cotangent,
    complex_base_cotangent,
    complex_exponent_cotangent,
    exponent_cotangent,
)


# Real numbers
@binary(operator.add, operator.iadd)
def add_rule(x, y):
    def add_pullback(z̄):
        return z̄, z̄

    return x + y, add_pullback


@binary(operator.sub, operator.isub)
def sub_rule(x, y):
    def sub_pullback(z̄):
        return z̄, -z̄

    return x - y, sub_pullback


@binary(operator.mul, operator.imul, times)
def mul_rule(x, y):
    def mul_pullback(z̄):
        return times(z̄, y), times(z̄, x)

    return x * y, mul_pullback


@binary(operator.truediv, operator.itruediv)
def truediv_rule(x, y):
    z = x / y

    def truediv_pullback(z̄):
        x̄ = over(z̄, y)
        return x̄, times(-x̄, z)

    return z, truediv_pullback


@cotangents(over, "cotangent, divisor", (*REALS, *COMPLEXES), "cotangent, divisor")
def over_cotangents(ȳ, y, cotangent, divisor):
    slope = over(times(-ȳ, y.conjugate()), divisor.conjugate())
    return project(over(ȳ, divisor.conjugate()), cotangent), project(slope, divisor)


@binary(operator.floordiv, operator.ifloordiv)
def floordiv_rule(x, y):
    def floordiv_pullback(z̄):
        return None, None

    return x // y, floordiv_pullback


@binary(operator.mod, operator.imod)
def mod_rule(x, y):
    def mod_pullback(z̄):
        return z̄, times(-z̄, x // y)

    return x % y, mod_pullback


@binary(operator.pow, operator.ipow)
def pow_rule(x, y):
    z = x**y

    def pow_pullback(z̄):
        x̄ = times(times(z̄, y), x ** (y - 1)) if x > 0 else base_cotangent(z̄, x, y, z)
        ȳ = times(z̄, z * math.log(x)) if x > 0 else exponent_cotangent(z̄, x, y, z)
        return x̄, ȳ

    return z, pow_pullback


@rrule(operator.pow, Real, int)
@rrule(operator.ipow, Real, int)
def integer_pow_rule(x, y):
    z = x**y

    def integer_pow_pullback(z̄):
        x̄ = times(z̄ * y, x ** (y - 1)) if y else 0.0
        ȳ = times(z̄, z * math.log(x)) if x > 0 else exponent_cotangent(z̄, x, y, z)
        return x̄, ȳ

    return z, integer_pow_pullback


@rrule(operator.neg, Real)
@rrule(operator.neg, Complex)
def neg_rule(x):
    def neg_pullback(ȳ):
        return (-ȳ,)

    return -x, neg_pullback


@rrule(operator.pos, Real)
@rrule(operator.pos, Complex)
def pos_rule(x):
    def pos_pullback(ȳ):
        return (ȳ,)

    return +x, pos_pullback


@rrule(operator.abs, Real)
@rrule(abs, Real)
def abs_rule(x):
    def abs_pullback(ȳ):
        return (ȳ if x > 0 else -ȳ if x < 0 else 0.0,)

    return abs(x), abs_pullback


# Complex numbers
@binary(operator.add, operator.iadd, signatures=COMPLEXES)
def complex_add_rule(x, y):
    def complex_add_pullback(z̄):
        return project(z̄, x), project(z̄, y)

    return x + y, complex_add_pullback


@binary(operator.sub, operator.isub, signatures=COMPLEXES)
def complex_sub_rule(x, y):
    def complex_sub_pullback(z̄):
        return project(z̄, x), project(-z̄, y)

    return x - y, complex_sub_pullback


@binary(operator.mul, operator.imul, times, signatures=COMPLEXES)
def complex_mul_rule(x, y):
    def complex_mul_pullback(z̄):
        return project(times(z̄, y.conjugate()), x), project(times(z̄, x.conjugate()), y)

    return x * y, complex_mul_pullback


@binary(operator.truediv, operator.itruediv, signatures=COMPLEXES)
def complex_truediv_rule(x, y):
    z = x / y

    def complex_truediv_pullback(z̄):
        x̄ = over(z̄, y.conjugate())
        return project(x̄, x), project(times(-x̄, z.conjugate()), y)

    return z, complex_truediv_pullback


@binary(operator.pow, operator.ipow, signatures=COMPLEXES)
def complex_pow_rule(x, y):
    z = x**y

    def complex_pow_pullback(z̄):
        return complex_base_cotangent(z̄, x, y), complex_exponent_cotangent(z̄, x, y, z)

    return z, complex_pow_pullback


cotangents((abs, operator.abs), "x", ((Complex,),), x=lambda ȳ, y, x: ȳ * (x / y) if y else 0.0)


# Bit operations: of numbers only, since ``|`` also merges dicts and sets
@rrule(operator.inv, int)
@rrule(operator.inv, Real)
@rrule(operator.invert, int)
@rrule(operator.invert, Real)
def invert_rule(x):
    def invert_pullback(ȳ):
        return (None,)

    return operator.invert(x), invert_pullback


def bit_rule(operation):
    def rule(x, y):
        def bit_pullback(z̄):
            return None, None

        return operation(x, y), bit_pullback

    return rule


for name in ("and_", "or_", "xor", "lshift", "rshift", "iand", "ior", "ixor", "ilshift", "irshift"):
    operation = getattr(operator, name)
    binary(operation, signatures=((int, int), (Real, Real)))(bit_rule(operation))

# Questions, whose answers have no derivative whatever is asked about
declare_names(
    operator,
    {
        COMPARES: "lt le eq ne ge gt not_ truth is_ is_not contains is_none is_not_none",
        IS_A_POSITION: "index countOf indexOf length_hint",
    },
)
