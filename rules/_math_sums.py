"""The part of the rules for ``math`` that is about remainders, norms, sums and products."""

import math

from autodiff_hook.extend import cotangents
from autodiff_hook.registry import frule
from autodiff_hook.signatures import Array, Real
from autodiff_hook.strong import times
from autodiff_rules._numbers import REALS, like, repeated

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
