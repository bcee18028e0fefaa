"""Rules for the standard library's ``math``.

Conventions at the edges: where a derivative is infinite (``sqrt(0)``, ``asin(1)``, …) it is ``inf``; where a
norm has a kink (``fabs``, ``hypot`` and ``dist`` at 0, ``atan2(0, 0)``) it is 0. Rounding has none.
"""

import math

from autodiff_hook.extend import cotangents, per, scalar, scaled
from autodiff_hook.registry import frule, rrule
from autodiff_hook.signatures import Array, Real
from autodiff_hook.strong import times
from autodiff_rules._constants import COMPARES, CONSISTS_OF_STEPS, IS_OF_INTEGERS, declare
from autodiff_rules._numbers import REALS, like, repeated
from autodiff_rules._polygamma import polygamma
from autodiff_rules._powers import power_cotangents

# Absolute values, signs and remainders
cotangents(math.fabs, "x", ((Real,),), x=lambda ȳ, x: ȳ if x > 0 else -ȳ if x < 0 else 0.0)
cotangents(math.copysign, "x, y", REALS, x=lambda ȳ, x, y: math.copysign(1, x) * math.copysign(1, y) * ȳ, y=lambda: 0.0)
cotangents(math.fmod, "x, y", REALS, x=lambda ȳ: ȳ, y=lambda ȳ, z, x, y: times(-ȳ, (x - z) / y))
cotangents(math.remainder, "x, y", REALS, x=lambda ȳ: ȳ, y=lambda ȳ, z, x, y: times(-ȳ, (x - z) / y))
cotangents(math.modf, "x", ((Real,),), x=lambda ȳ: ȳ[0])


cotangents(math.frexp, "x", ((Real,),), x=lambda ȳ, y, x: None if ȳ[0] is None or x == 0 else ȳ[0] * (y[0] / x))
cotangents(math.ldexp, "x, i", ((Real,),), x=lambda ȳ, i: math.ldexp(ȳ, i), i=lambda ȳ, y: ȳ * y * math.log(2))


# Of several numbers
@cotangents(math.hypot, "*coordinates", ((Real,),), "coordinates")
def hypot_cotangents(ȳ, y, coordinates):
    parts, unit = [], y or 1.0
    for x in coordinates:
        parts.append(times(ȳ, x / unit))
    return tuple(parts)


SEQUENCES = ((list,), (tuple,))
PAIRS = ((list, list), (list, tuple), (tuple, list), (tuple, tuple))


@cotangents(math.dist, "p, q", PAIRS, "p, q")
def dist_cotangents(ȳ, y, p, q):
    p̄, q̄, unit = [], [], y or 1.0
    for a, b in zip(p, q):
        c = times(ȳ, (float(a) - float(b)) / unit)
        p̄.append(c)
        q̄.append(-c)
    return like(p̄, p), like(q̄, q)


@cotangents(math.dist, "p, q", ((Array, Array),), "p, q")
def array_dist_cotangents(ȳ, y, p, q):
    p̄ = times(ȳ, (p - q) / (y or 1.0))
    return p̄, -p̄


cotangents(math.fsum, "seq", SEQUENCES, seq=lambda ȳ, seq: repeated(ȳ, seq))


@cotangents(math.prod, "iterable, *, start=1", SEQUENCES)
def prod_cotangent(ȳ, iterable, start):
    before, product = [], ȳ * start
    for x in iterable:
        before.append(product)
        product = times(product, x)
    cotangents, after = [], 1.0
    for i in range(len(iterable) - 1, -1, -1):
        cotangents.append(times(before[i], after))
        after = after * iterable[i]
    return like(cotangents[::-1], iterable)


def prod_tangent(ẋ, iterable):
    """Of each factor the tangent, times all others."""
    product, tangent = 1.0, 0.0
    for factor, change in zip(iterable, ẋ):
        tangent = times(tangent, factor) + times(change, product)
        product = product * factor
    return tangent


frule(math.prod, lambda ẋ, y, iterable: prod_tangent(ẋ, iterable))


def products(ȳ, factors, items):
    """The cotangents of ``items``, of which each is multiplied by one of ``factors``."""
    parts = []
    for factor in factors:
        parts.append(times(ȳ, factor))
    return like(parts, items)


if hasattr(math, "sumprod"):
    cotangents(math.sumprod, "p, q", PAIRS, p=lambda ȳ, p, q: products(ȳ, q, p), q=lambda ȳ, p, q: products(ȳ, p, q))
if hasattr(math, "fma"):
    cotangents(
        math.fma,
        "x, y, z",
        ((Real, Real, Real),),
        x=lambda ȳ, y: times(ȳ, y),
        y=lambda ȳ, x: times(ȳ, x),
        z=lambda ȳ: ȳ,
    )

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
