"""Rules for the standard library's ``cmath``.

For a real loss L a complex cotangent is ∂L/∂Re + i ∂L/∂Im, so a holomorphic f has x̄ = ȳ · conj(f′(x)).
"""

import cmath
import math
from functools import partial

from autodiff_hook.extend import Form, cotangents, elementwise, per, scaled
from autodiff_hook.registry import registry
from autodiff_hook.signatures import Complex
from autodiff_hook.strong import over, times
from autodiff_rules._constants import COMPARES, declare
from autodiff_rules._numbers import COMPLEXES, REALS, project

INFINITY = complex(math.inf, 0.0)


def quotient(ȳ, slope, x):
    """``x̄`` where the derivative is 1 / ``slope``."""
    return project(over(ȳ, slope.conjugate()) if slope else times(ȳ, INFINITY), x)


def increment(x):
    """``x + 1`` with the sign of a zero imaginary part, which tells the sides of a branch cut apart."""
    return complex(x.real + 1, x.imag)


def leg(x):
    """The square root of 1 - x²."""
    return cmath.sqrt(increment(-x)) * cmath.sqrt(increment(x))


holomorphic = partial(
    elementwise,
    form=Form(
        "project(times({c}, {s}.conjugate()), {x})",
        "quotient({c}, {s}, {x})",
        lambda: {"project": project, "quotient": quotient, "times": times},
        lambda target, count, rule: registry.add(target, (Complex,), rule),
    ),
)
"""The derivative of a holomorphic function of one number."""

holomorphic(cmath.exp, lambda y: y)
holomorphic(cmath.log, per(lambda x: x))
holomorphic(cmath.log10, per(lambda x: x, 1 / math.log(10)))
holomorphic(cmath.sqrt, per(lambda y: 2 * y))


@cotangents(cmath.log, "x, base", COMPLEXES, "x, base")
def log_base_cotangents(ȳ, y, x, base):
    scaled = ȳ / cmath.log(base).conjugate()
    return quotient(scaled, x, x), quotient(-scaled * y.conjugate(), base, base)


# Trigonometric and hyperbolic functions
holomorphic(cmath.sin, lambda x: cmath.cos(x))
holomorphic(cmath.cos, scaled(-1.0, lambda x: cmath.sin(x)))
holomorphic(cmath.tan, lambda y: 1 + y * y)
holomorphic(cmath.asin, per(lambda x: leg(complex(x))))
holomorphic(cmath.acos, per(lambda x: leg(complex(x)), -1.0))
holomorphic(cmath.atan, per(lambda x: 1 + x * x))
holomorphic(cmath.sinh, lambda x: cmath.cosh(x))
holomorphic(cmath.cosh, lambda x: cmath.sinh(x))
holomorphic(cmath.tanh, lambda y: 1 - y * y)
holomorphic(cmath.asinh, per(lambda x: cmath.sqrt(increment(x * x))))
holomorphic(cmath.acosh, per(lambda x: cmath.sqrt(x - 1) * cmath.sqrt(increment(x))))
holomorphic(cmath.atanh, per(lambda x: (1 - x) * (1 + x)))


# Polar coordinates; the angle of 0 has derivative 0
cotangents(cmath.phase, "x", ((Complex,),), x=lambda ȳ, x: project(ȳ * 1j / x.conjugate(), x) if x else 0j)


@cotangents(cmath.polar, "x", ((Complex,),))
def polar_cotangent(ȳ, y, x):
    r, x̄ = y[0], 0j
    if r and ȳ[0] is not None:
        x̄ = x̄ + ȳ[0] * (x / r)
    if r and ȳ[1] is not None:
        x̄ = x̄ + ȳ[1] * 1j / x.conjugate()
    return project(x̄, x)


@cotangents(cmath.rect, "r, phi", REALS, "r, phi")
def rect_cotangents(ȳ, r, phi):
    direction = complex(math.cos(phi), math.sin(phi))
    r̄ = (ȳ * direction.conjugate()).real
    return r̄, (ȳ * (1j * r * direction).conjugate()).real


declare(COMPARES, cmath.isclose, cmath.isfinite, cmath.isinf, cmath.isnan)
