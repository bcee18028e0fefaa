"""Rules for the standard library's ``math``.

Conventions at the edges: where a derivative is infinite (``sqrt(0)``, ``asin(1)``, …) it is ``inf``; where a
norm has a kink (``fabs``, ``hypot`` and ``dist`` at 0, ``atan2(0, 0)``) it is 0. Rounding has none.
"""

from __future__ import annotations

import math

from autodiff_hook.registry import Real, nondifferentiable, rrule
from autodiff_hook.strong import over, times
from autodiff_rules import _math_sums as _math_sums
from autodiff_rules._numbers import binary
from autodiff_rules._polygamma import polygamma
from autodiff_rules._powers import base_cotangent, exponent_cotangent


# Exponentials, logarithms and powers
@rrule(math.exp, Real)
def exp_rule(x):
    y = math.exp(x)

    def exp_pullback(ȳ):
        return (ȳ * y,)

    return y, exp_pullback


@rrule(math.expm1, Real)
def expm1_rule(x):
    def expm1_pullback(ȳ):
        return (ȳ * math.exp(x),)

    return math.expm1(x), expm1_pullback


@rrule(math.exp2, Real)
def exp2_rule(x):
    y = math.exp2(x)

    def exp2_pullback(ȳ):
        return (ȳ * y * math.log(2),)

    return y, exp2_pullback


@rrule(math.log, Real)
def log_rule(x):
    def log_pullback(ȳ):
        return (ȳ / x,)

    return math.log(x), log_pullback


@rrule(math.log, Real, Real)
def log_base_rule(x, base):
    y = math.log(x, base)

    def log_base_pullback(ȳ):
        scaled = ȳ / math.log(base)
        return scaled / x, -scaled * y / base

    return y, log_base_pullback


@rrule(math.log1p, Real)
def log1p_rule(x):
    def log1p_pullback(ȳ):
        return (ȳ / (1 + x),)

    return math.log1p(x), log1p_pullback


@rrule(math.log2, Real)
def log2_rule(x):
    def log2_pullback(ȳ):
        return (ȳ / x / math.log(2),)

    return math.log2(x), log2_pullback


@rrule(math.log10, Real)
def log10_rule(x):
    def log10_pullback(ȳ):
        return (ȳ / x / math.log(10),)

    return math.log10(x), log10_pullback


@rrule(math.sqrt, Real)
def sqrt_rule(x):
    y = math.sqrt(x)

    def sqrt_pullback(ȳ):
        return (over(0.5 * ȳ, y) if y else times(ȳ, math.inf),)

    return y, sqrt_pullback


@rrule(math.cbrt, Real)
def cbrt_rule(x):
    y = math.cbrt(x)

    def cbrt_pullback(ȳ):
        return (over(ȳ, 3 * y * y) if y else times(ȳ, math.inf),)

    return y, cbrt_pullback


@binary(math.pow)
def pow_rule(x, y):
    z = math.pow(x, y)

    def pow_pullback(z̄):
        x̄ = z̄ * y * math.pow(x, y - 1) if x > 0 else base_cotangent(z̄, x, y, z)
        ȳ = z̄ * z * math.log(x) if x > 0 else exponent_cotangent(z̄, x, y, z)
        return x̄, ȳ

    return z, pow_pullback


# Trigonometry
@rrule(math.sin, Real)
def sin_rule(x):
    def sin_pullback(ȳ):
        return (ȳ * math.cos(x),)

    return math.sin(x), sin_pullback


@rrule(math.cos, Real)
def cos_rule(x):
    def cos_pullback(ȳ):
        return (-ȳ * math.sin(x),)

    return math.cos(x), cos_pullback


@rrule(math.tan, Real)
def tan_rule(x):
    y = math.tan(x)

    def tan_pullback(ȳ):
        return (ȳ * (1 + y * y),)

    return y, tan_pullback


@rrule(math.asin, Real)
def asin_rule(x):
    def asin_pullback(ȳ):
        slope = math.sqrt((1 - x) * (1 + x))
        return (over(ȳ, slope) if slope else times(ȳ, math.inf),)

    return math.asin(x), asin_pullback


@rrule(math.acos, Real)
def acos_rule(x):
    def acos_pullback(ȳ):
        slope = math.sqrt((1 - x) * (1 + x))
        return (over(-ȳ, slope) if slope else times(-ȳ, math.inf),)

    return math.acos(x), acos_pullback


@rrule(math.atan, Real)
def atan_rule(x):
    def atan_pullback(ȳ):
        return (ȳ / (1 + x * x),)

    return math.atan(x), atan_pullback


@binary(math.atan2)
def atan2_rule(y, x):
    def atan2_pullback(z̄):
        r = math.hypot(x, y) or 1.0
        scaled = z̄ / r
        return scaled * (x / r), -scaled * (y / r)

    return math.atan2(y, x), atan2_pullback


@rrule(math.degrees, Real)
def degrees_rule(x):
    def degrees_pullback(ȳ):
        return (math.degrees(ȳ),)

    return math.degrees(x), degrees_pullback


@rrule(math.radians, Real)
def radians_rule(x):
    def radians_pullback(ȳ):
        return (math.radians(ȳ),)

    return math.radians(x), radians_pullback


# Hyperbolic functions
@rrule(math.sinh, Real)
def sinh_rule(x):
    def sinh_pullback(ȳ):
        return (ȳ * math.cosh(x),)

    return math.sinh(x), sinh_pullback


@rrule(math.cosh, Real)
def cosh_rule(x):
    def cosh_pullback(ȳ):
        return (ȳ * math.sinh(x),)

    return math.cosh(x), cosh_pullback


@rrule(math.tanh, Real)
def tanh_rule(x):
    y = math.tanh(x)

    def tanh_pullback(ȳ):
        return (ȳ * (1 - y * y),)

    return y, tanh_pullback


@rrule(math.asinh, Real)
def asinh_rule(x):
    def asinh_pullback(ȳ):
        return (ȳ / math.hypot(x, 1),)

    return math.asinh(x), asinh_pullback


@rrule(math.acosh, Real)
def acosh_rule(x):
    def acosh_pullback(ȳ):
        slope = math.sqrt(x - 1) * math.sqrt(x + 1)
        return (over(ȳ, slope) if slope else times(ȳ, math.inf),)

    return math.acosh(x), acosh_pullback


@rrule(math.atanh, Real)
def atanh_rule(x):
    def atanh_pullback(ȳ):
        return (ȳ / ((1 - x) * (1 + x)),)

    return math.atanh(x), atanh_pullback


# Neighbours: so many steps of the last digit from ``x``, or ``y`` itself
@rrule(math.nextafter, Real, Real)
def nextafter_rule(x, y, *, steps=None):
    z = math.nextafter(x, y) if steps is None else math.nextafter(x, y, steps=steps)

    def nextafter_pullback(z̄):
        return (0.0, z̄) if z == y else (z̄, 0.0)

    return z, nextafter_pullback


# The error function and the gamma function
@rrule(math.erf, Real)
def erf_rule(x):
    def erf_pullback(ȳ):
        return (ȳ * (2 / math.sqrt(math.pi)) * math.exp(-x * x),)

    return math.erf(x), erf_pullback


@rrule(math.erfc, Real)
def erfc_rule(x):
    def erfc_pullback(ȳ):
        return (-ȳ * (2 / math.sqrt(math.pi)) * math.exp(-x * x),)

    return math.erfc(x), erfc_pullback


@rrule(math.gamma, Real)
def gamma_rule(x):
    y = math.gamma(x)

    def gamma_pullback(ȳ):
        return (ȳ * y * polygamma(0, x),)

    return y, gamma_pullback


@rrule(math.lgamma, Real)
def lgamma_rule(x):
    def lgamma_pullback(ȳ):
        return (ȳ * polygamma(0, x),)

    return math.lgamma(x), lgamma_pullback


# Whole numbers and questions
for function in (
    *(math.ceil, math.floor, math.trunc, math.ulp),
    *(math.isclose, math.isfinite, math.isinf, math.isnan),
    *(math.comb, math.perm, math.factorial, math.gcd, math.lcm, math.isqrt),
):
    nondifferentiable(function)
