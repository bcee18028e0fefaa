"""Rules for the standard library's ``math``.

Conventions at the edges: where a derivative is infinite (``sqrt(0)``, ``asin(1)``, …) it is ``inf``; where a
norm has a kink (``fabs``, ``hypot`` and ``dist`` at 0, ``atan2(0, 0)``) it is 0. Rounding has none.
"""

import math

from autodiff_hook.extend import cotangents, per, scalar, scaled
from autodiff_hook.registry import rrule
from autodiff_hook.signatures import Real
from autodiff_hook.strong import times
from autodiff_rules import _math_sums as _math_sums
from autodiff_rules._constants import COMPARES, CONSISTS_OF_STEPS, IS_OF_INTEGERS, declare
from autodiff_rules._numbers import REALS
from autodiff_rules._polygamma import polygamma
from autodiff_rules._powers import power_cotangents

# Exponentials, logarithms and powers
scalar(math.exp, lambda y: y)
scalar(math.expm1, lambda x: math.exp(x))
scalar(math.exp2, lambda y: y * math.log(2))
scalar(math.log, per(lambda x: x))
scalar(math.log1p, per(lambda x: 1 + x))
scalar(math.log2, per(lambda x: x, 1 / math.log(2)))
scalar(math.log10, per(lambda x: x, 1 / math.log(10)))
scalar(math.sqrt, per(lambda y: y, 0.5, pole=True))
scalar(math.cbrt, per(lambda y: 3 * y * y, pole=True))


@cotangents(math.log, "x, base", ((Real, Real),), "x, base")
def log_base_cotangents(ȳ, y, x, base):
    scaled = ȳ / math.log(base)
    return scaled / x, -scaled * y / base


cotangents(math.pow, "x, y", REALS, "x, y")(power_cotangents)

# Trigonometry
scalar(math.sin, lambda x: math.cos(x))
scalar(math.cos, scaled(-1.0, lambda x: math.sin(x)))
scalar(math.tan, lambda y: 1 + y * y)
scalar(math.asin, per(lambda x: math.sqrt((1 - x) * (1 + x)), pole=True))
scalar(math.acos, per(lambda x: math.sqrt((1 - x) * (1 + x)), -1.0, pole=True))
scalar(math.atan, per(lambda x: 1 + x * x))
scalar(math.degrees, lambda: 180 / math.pi)
scalar(math.radians, lambda: math.pi / 180)


@cotangents(math.atan2, "y, x", REALS, "y, x")
def atan2_cotangents(ȳ, y, x):
    r = math.hypot(x, y) or 1.0
    scaled = ȳ / r
    return times(scaled, x / r), times(-scaled, y / r)


# Hyperbolic functions
scalar(math.sinh, lambda x: math.cosh(x))
scalar(math.cosh, lambda x: math.sinh(x))
scalar(math.tanh, lambda y: 1 - y * y)
scalar(math.asinh, per(lambda x: math.hypot(x, 1)))
scalar(math.acosh, per(lambda x: math.sqrt(x - 1) * math.sqrt(x + 1), pole=True))
scalar(math.atanh, per(lambda x: (1 - x) * (1 + x)))


# Neighbours: so many steps of the last digit from ``x``, or ``y`` itself
@rrule(math.nextafter, Real, Real)
def nextafter_rule(x, y, *, steps=None):
    z = math.nextafter(x, y) if steps is None else math.nextafter(x, y, steps=steps)

    def nextafter_pullback(z̄):
        return (0.0, z̄) if z == y else (z̄, 0.0)

    return z, nextafter_pullback


# The error function and the gamma function
scalar(math.erf, lambda x: 2 / math.sqrt(math.pi) * math.exp(-x * x))
scalar(math.erfc, scaled(-1.0, lambda x: 2 / math.sqrt(math.pi) * math.exp(-x * x)))
scalar(math.gamma, lambda x, y: y * polygamma(0, x))
scalar(math.lgamma, lambda x: polygamma(0, x))

# Whole numbers and questions
declare(CONSISTS_OF_STEPS, math.ceil, math.floor, math.trunc, math.ulp)
declare(COMPARES, math.isclose, math.isfinite, math.isinf, math.isnan)
declare(IS_OF_INTEGERS, math.comb, math.perm, math.factorial, math.gcd, math.lcm, math.isqrt)
