"""Rules for the standard library's ``cmath``.

For a real loss L a complex cotangent is ∂L/∂Re + i ∂L/∂Im, so a holomorphic f has x̄ = ȳ · conj(f′(x)).
"""

from __future__ import annotations

import cmath
import math

from autodiff_hook.registry import Complex, nondifferentiable, rrule
from autodiff_hook.strong import over, times
from autodiff_rules._numbers import COMPLEXES, binary, project

INFINITY = complex(math.inf, 0.0)


def quotient(ȳ, slope, x):
    """``x̄`` where the derivative is 1 / ``slope``."""
    return project(over(ȳ, slope.conjugate()) if slope else times(ȳ, INFINITY), x)


def increment(x):
    """``x + 1`` with the sign of a zero imaginary part, which tells the sides of a branch cut apart."""
    return complex(x.real + 1, x.imag)


@rrule(cmath.exp, Complex)
def exp_rule(x):
    y = cmath.exp(x)

    def exp_pullback(ȳ):
        return (project(ȳ * y.conjugate(), x),)

    return y, exp_pullback


@rrule(cmath.log, Complex)
def log_rule(x):
    def log_pullback(ȳ):
        return (quotient(ȳ, x, x),)

    return cmath.log(x), log_pullback


@binary(cmath.log, signatures=COMPLEXES)
def log_base_rule(x, base):
    y = cmath.log(x, base)

    def log_base_pullback(ȳ):
        scaled = ȳ / cmath.log(base).conjugate()
        return quotient(scaled, x, x), quotient(-scaled * y.conjugate(), base, base)

    return y, log_base_pullback


@rrule(cmath.log10, Complex)
def log10_rule(x):
    def log10_pullback(ȳ):
        return (quotient(ȳ / math.log(10), x, x),)

    return cmath.log10(x), log10_pullback


@rrule(cmath.sqrt, Complex)
def sqrt_rule(x):
    y = cmath.sqrt(x)

    def sqrt_pullback(ȳ):
        return (quotient(ȳ, 2 * y, x),)

    return y, sqrt_pullback


# Trigonometry
@rrule(cmath.sin, Complex)
def sin_rule(x):
    def sin_pullback(ȳ):
        return (project(ȳ * cmath.cos(x).conjugate(), x),)

    return cmath.sin(x), sin_pullback


@rrule(cmath.cos, Complex)
def cos_rule(x):
    def cos_pullback(ȳ):
        return (project(-ȳ * cmath.sin(x).conjugate(), x),)

    return cmath.cos(x), cos_pullback


@rrule(cmath.tan, Complex)
def tan_rule(x):
    y = cmath.tan(x)

    def tan_pullback(ȳ):
        return (project(ȳ * (1 + y * y).conjugate(), x),)

    return y, tan_pullback


@rrule(cmath.asin, Complex)
def asin_rule(x):
    def asin_pullback(ȳ):
        z = complex(x)
        return (quotient(ȳ, cmath.sqrt(increment(-z)) * cmath.sqrt(increment(z)), x),)

    return cmath.asin(x), asin_pullback


@rrule(cmath.acos, Complex)
def acos_rule(x):
    def acos_pullback(ȳ):
        z = complex(x)
        return (quotient(-ȳ, cmath.sqrt(increment(-z)) * cmath.sqrt(increment(z)), x),)

    return cmath.acos(x), acos_pullback


@rrule(cmath.atan, Complex)
def atan_rule(x):
    def atan_pullback(ȳ):
        return (quotient(ȳ, 1 + x * x, x),)

    return cmath.atan(x), atan_pullback


# Hyperbolic functions
@rrule(cmath.sinh, Complex)
def sinh_rule(x):
    def sinh_pullback(ȳ):
        return (project(ȳ * cmath.cosh(x).conjugate(), x),)

    return cmath.sinh(x), sinh_pullback


@rrule(cmath.cosh, Complex)
def cosh_rule(x):
    def cosh_pullback(ȳ):
        return (project(ȳ * cmath.sinh(x).conjugate(), x),)

    return cmath.cosh(x), cosh_pullback


@rrule(cmath.tanh, Complex)
def tanh_rule(x):
    y = cmath.tanh(x)

    def tanh_pullback(ȳ):
        return (project(ȳ * (1 - y * y).conjugate(), x),)

    return y, tanh_pullback


@rrule(cmath.asinh, Complex)
def asinh_rule(x):
    def asinh_pullback(ȳ):
        return (quotient(ȳ, cmath.sqrt(increment(x * x)), x),)

    return cmath.asinh(x), asinh_pullback


@rrule(cmath.acosh, Complex)
def acosh_rule(x):
    def acosh_pullback(ȳ):
        return (quotient(ȳ, cmath.sqrt(x - 1) * cmath.sqrt(increment(x)), x),)

    return cmath.acosh(x), acosh_pullback


@rrule(cmath.atanh, Complex)
def atanh_rule(x):
    def atanh_pullback(ȳ):
        return (quotient(ȳ, (1 - x) * (1 + x), x),)

    return cmath.atanh(x), atanh_pullback


# Polar coordinates; the angle of 0 has derivative 0
@rrule(cmath.phase, Complex)
def phase_rule(x):
    def phase_pullback(φ̄):
        return (project(φ̄ * 1j / x.conjugate(), x) if x else 0.0,)

    return cmath.phase(x), phase_pullback


@rrule(cmath.polar, Complex)
def polar_rule(x):
    r, φ = cmath.polar(x)

    def polar_pullback(ȳ):
        x̄ = 0.0
        if r and ȳ[0] is not None:
            x̄ = x̄ + ȳ[0] * (x / r)
        if r and ȳ[1] is not None:
            x̄ = x̄ + ȳ[1] * 1j / x.conjugate()
        return (project(x̄, x),)

    return (r, φ), polar_pullback


@binary(cmath.rect)
def rect_rule(r, phi):
    def rect_pullback(ȳ):
        direction = complex(math.cos(phi), math.sin(phi))
        r̄ = (ȳ * direction.conjugate()).real
        return r̄, (ȳ * (1j * r * direction).conjugate()).real

    return cmath.rect(r, phi), rect_pullback


for function in (cmath.isclose, cmath.isfinite, cmath.isinf, cmath.isnan):
    nondifferentiable(function)
