"""The ufuncs of one argument.

The sign of a zero tells the sides of a branch cut apart: ``x - -1.0`` keeps that of the imaginary part, and ``x + 1.0``
does not.
"""

import math
from functools import partial

import numpy as np

from autodiff_hook.extend import arrays, cotangents, elementwise, linear, per, scaled
from autodiff_hook.strong import times
from autodiff_rules.numpy._shared import conj

ufunc = partial(elementwise, form=arrays(exact=True))

ufunc(np.sqrt, per(lambda y: y, 0.5))
ufunc(np.cbrt, per(lambda y: 3.0 * y * y))
ufunc(np.square, scaled(2.0, lambda x: x))
ufunc(np.reciprocal, scaled(-1.0, lambda y: y * y))
ufunc(np.exp, lambda y: y)
ufunc(np.exp2, lambda y: 0.6931471805599453 * y)
ufunc(np.expm1, lambda y: y + 1.0)
ufunc(np.log, per(lambda x: x))
ufunc(np.log2, per(lambda x: 0.6931471805599453 * x))
ufunc(np.log10, per(lambda x: 2.302585092994046 * x))
ufunc(np.log1p, per(lambda x: 1.0 + x))

# Trigonometric and hyperbolic functions


def leg(x):
    """The square root of 1 - x², on the side of the branch cuts that the signs of zeros say; 0 and not -0 at 1."""
    return (np.sqrt(-(x - 1.0)) + 0.0) * np.sqrt(x - -1.0)


ufunc(np.sin, lambda x: np.cos(x))
ufunc(np.cos, scaled(-1.0, lambda x: np.sin(x)))
ufunc(np.tan, lambda y: 1.0 + y * y)
ufunc(np.arcsin, per(lambda x: leg(x)))
ufunc(np.arccos, per(lambda x: leg(x), -1.0))
ufunc(np.arctan, per(lambda x: 1.0 + x * x))
ufunc(np.sinh, lambda x: np.cosh(x))
ufunc(np.cosh, lambda x: np.sinh(x))
ufunc(np.tanh, lambda y: (1.0 - y) * (1.0 + y))
ufunc(np.arcsinh, per(lambda x: np.sqrt(x * x - -1.0)))
ufunc(np.arccosh, per(lambda x: np.sqrt(x - 1.0) * np.sqrt(x - -1.0)))
ufunc(np.arctanh, per(lambda x: (1.0 - x) * (1.0 + x)))


SINC_SERIES = [(-1) ** k * 2 * k / math.factorial(2 * k + 1) for k in range(10, 0, -1)]


def sinc_slope(x):
    """For small x the terms of the series, since differences of close numbers have no derivatives."""
    u = np.pi * np.asarray(x)
    near = np.abs(u) < 1.0
    small, large = np.where(near, u, 0.0), np.where(near, 1.0, u)
    series = small * np.polyval(SINC_SERIES, small * small)
    return np.pi * np.where(near, series, (np.cos(large) - np.sin(large) / large) / large)


elementwise(np.sinc, sinc_slope)

# Linear, and in pieces
for target in (np.radians, np.deg2rad):
    linear(target, "x, /", lambda ȳ: 0.017453292519943295 * ȳ)
for target in (np.degrees, np.rad2deg):
    linear(target, "x, /", lambda ȳ: 57.29577951308232 * ȳ)
linear(np.negative, "x, /", lambda ȳ: -ȳ)
linear(np.positive, "x, /", lambda ȳ: ȳ)
linear(np.conjugate, "x, /", lambda ȳ: conj(ȳ))
cotangents(np.absolute, "x, /", x=lambda ȳ, x: times(ȳ, np.sign(x)))
ufunc(np.fabs, lambda x: np.sign(x))


@cotangents(np.sign, "x, /")
def sign_cotangent(ȳ, y, x):
    if np.iscomplexobj(y):
        return (ȳ - y * (ȳ * conj(y)).real) / np.where(x == 0, np.inf, np.abs(x))
    return None


cotangents(np.modf, "x, /", x=lambda ȳ: ȳ[0])
cotangents(np.frexp, "x, /", x=lambda ȳ, y: None if ȳ[0] is None else np.ldexp(ȳ[0], -y[1]))
