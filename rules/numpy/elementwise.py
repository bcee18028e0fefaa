"""The ufuncs of one argument.

The sign of a zero tells the sides of a branch cut apart: ``x - -1.0`` keeps that of the imaginary part, and ``x + 1.0``
does not.
"""

from __future__ import annotations

import numpy as np

from autodiff_hook.strong import over, times
from autodiff_rules.numpy._shared import array_rrule, conj


@array_rrule(np.sqrt)
def sqrt_rule(x, /):
    y = np.sqrt(x)

    def sqrt_pullback(ȳ):
        return (over(0.5 * ȳ, conj(y)),)

    return y, sqrt_pullback


@array_rrule(np.cbrt)
def cbrt_rule(x, /):
    y = np.cbrt(x)

    def cbrt_pullback(ȳ):
        return (over(ȳ, 3.0 * y * y),)

    return y, cbrt_pullback


@array_rrule(np.square)
def square_rule(x, /):
    def square_pullback(ȳ):
        return (times(2.0 * ȳ, conj(x)),)

    return np.square(x), square_pullback


@array_rrule(np.reciprocal)
def reciprocal_rule(x, /):
    y = np.reciprocal(x)

    def reciprocal_pullback(ȳ):
        return (times(-ȳ, conj(y * y)),)

    return y, reciprocal_pullback


@array_rrule(np.exp)
def exp_rule(x, /):
    y = np.exp(x)

    def exp_pullback(ȳ):
        return (times(ȳ, conj(y)),)

    return y, exp_pullback


@array_rrule(np.exp2)
def exp2_rule(x, /):
    y = np.exp2(x)

    def exp2_pullback(ȳ):
        return (times(ȳ, conj(0.6931471805599453 * y)),)

    return y, exp2_pullback


@array_rrule(np.expm1)
def expm1_rule(x, /):
    y = np.expm1(x)

    def expm1_pullback(ȳ):
        return (times(ȳ, conj(y + 1.0)),)

    return y, expm1_pullback


@array_rrule(np.log)
def log_rule(x, /):
    def log_pullback(ȳ):
        return (over(ȳ, conj(x)),)

    return np.log(x), log_pullback


@array_rrule(np.log2)
def log2_rule(x, /):
    def log2_pullback(ȳ):
        return (over(ȳ, conj(0.6931471805599453 * x)),)

    return np.log2(x), log2_pullback


@array_rrule(np.log10)
def log10_rule(x, /):
    def log10_pullback(ȳ):
        return (over(ȳ, conj(2.302585092994046 * x)),)

    return np.log10(x), log10_pullback


@array_rrule(np.log1p)
def log1p_rule(x, /):
    def log1p_pullback(ȳ):
        return (over(ȳ, conj(1.0 + x)),)

    return np.log1p(x), log1p_pullback


@array_rrule(np.sin)
def sin_rule(x, /):
    def sin_pullback(ȳ):
        return (times(ȳ, conj(np.cos(x))),)

    return np.sin(x), sin_pullback


@array_rrule(np.cos)
def cos_rule(x, /):
    def cos_pullback(ȳ):
        return (times(-ȳ, conj(np.sin(x))),)

    return np.cos(x), cos_pullback


@array_rrule(np.tan)
def tan_rule(x, /):
    y = np.tan(x)

    def tan_pullback(ȳ):
        return (times(ȳ, conj(1.0 + y * y)),)

    return y, tan_pullback


@array_rrule(np.arcsin)
def arcsin_rule(x, /):
    def arcsin_pullback(ȳ):
        return (over(ȳ, conj(leg(x))),)

    return np.arcsin(x), arcsin_pullback


@array_rrule(np.arccos)
def arccos_rule(x, /):
    def arccos_pullback(ȳ):
        return (over(-ȳ, conj(leg(x))),)

    return np.arccos(x), arccos_pullback


def leg(x):
    """The square root of 1 - x², on the side of the branch cuts that the signs of zeros say; 0 and not -0 at 1."""
    return (np.sqrt(-(x - 1.0)) + 0.0) * np.sqrt(x - -1.0)


@array_rrule(np.arctan)
def arctan_rule(x, /):
    def arctan_pullback(ȳ):
        return (over(ȳ, conj(1.0 + x * x)),)

    return np.arctan(x), arctan_pullback


@array_rrule(np.sinh)
def sinh_rule(x, /):
    def sinh_pullback(ȳ):
        return (times(ȳ, conj(np.cosh(x))),)

    return np.sinh(x), sinh_pullback


@array_rrule(np.cosh)
def cosh_rule(x, /):
    def cosh_pullback(ȳ):
        return (times(ȳ, conj(np.sinh(x))),)

    return np.cosh(x), cosh_pullback


@array_rrule(np.tanh)
def tanh_rule(x, /):
    y = np.tanh(x)

    def tanh_pullback(ȳ):
        return (times(ȳ, conj((1.0 - y) * (1.0 + y))),)

    return y, tanh_pullback


@array_rrule(np.arcsinh)
def arcsinh_rule(x, /):
    def arcsinh_pullback(ȳ):
        return (over(ȳ, conj(np.sqrt(x * x - -1.0))),)

    return np.arcsinh(x), arcsinh_pullback


@array_rrule(np.arccosh)
def arccosh_rule(x, /):
    def arccosh_pullback(ȳ):
        return (over(ȳ, conj(np.sqrt(x - 1.0) * np.sqrt(x - -1.0))),)

    return np.arccosh(x), arccosh_pullback


@array_rrule(np.arctanh)
def arctanh_rule(x, /):
    def arctanh_pullback(ȳ):
        return (over(ȳ, conj((1.0 - x) * (1.0 + x))),)

    return np.arctanh(x), arctanh_pullback


@array_rrule(np.sinc)
def sinc_rule(x):
    y = np.sinc(x)

    def sinc_pullback(ȳ):
        return (times(ȳ, conj((np.cos(np.pi * x) - y) / np.where(np.equal(x, 0), 1.0, x))),)

    return y, sinc_pullback


@array_rrule(np.deg2rad)
@array_rrule(np.radians)
def radians_rule(x, /):
    def radians_pullback(ȳ):
        return (0.017453292519943295 * ȳ,)

    return np.radians(x), radians_pullback


@array_rrule(np.rad2deg)
@array_rrule(np.degrees)
def degrees_rule(x, /):
    def degrees_pullback(ȳ):
        return (57.29577951308232 * ȳ,)

    return np.degrees(x), degrees_pullback


@array_rrule(np.absolute)
def absolute_rule(x, /):
    def absolute_pullback(ȳ):
        return (times(ȳ, np.sign(x)),)

    return np.absolute(x), absolute_pullback


@array_rrule(np.fabs)
def fabs_rule(x, /):
    def fabs_pullback(ȳ):
        return (times(ȳ, np.sign(x)),)

    return np.fabs(x), fabs_pullback


@array_rrule(np.sign)
def sign_rule(x, /):
    y = np.sign(x)

    def sign_pullback(ȳ):
        if np.iscomplexobj(y):
            return ((ȳ - y * (ȳ * conj(y)).real) / np.where(x == 0, np.inf, np.abs(x)),)
        return (None,)

    return y, sign_pullback


@array_rrule(np.negative)
def negative_rule(x, /):
    def negative_pullback(ȳ):
        return (-ȳ,)

    return np.negative(x), negative_pullback


@array_rrule(np.positive)
def positive_rule(x, /):
    def positive_pullback(ȳ):
        return (ȳ,)

    return np.positive(x), positive_pullback


@array_rrule(np.conjugate)
def conjugate_rule(x, /):
    def conjugate_pullback(ȳ):
        return (conj(ȳ),)

    return np.conjugate(x), conjugate_pullback


@array_rrule(np.modf)
def modf_rule(x, /):
    def modf_pullback(ȳ):
        return (ȳ[0],)

    return np.modf(x), modf_pullback
