"""The part of the rules for ``math`` that is about remainders, norms, sums and products."""

from __future__ import annotations

import math

from autodiff_hook.extend import cotangents
from autodiff_hook.registry import Array, Real, rrule
from autodiff_hook.strong import times
from autodiff_rules._numbers import REALS, like, repeated

# Absolute values, signs and remainders
cotangents(math.fabs, "x", ((Real,),), x=lambda ȳ, x: ȳ if x > 0 else -ȳ if x < 0 else 0.0)
cotangents(math.copysign, "x, y", REALS, x=lambda ȳ, x, y: math.copysign(1, x) * math.copysign(1, y) * ȳ, y=lambda: 0.0)
cotangents(math.fmod, "x, y", REALS, x=lambda ȳ: ȳ, y=lambda ȳ, z, x, y: times(-ȳ, (x - z) / y))
cotangents(math.remainder, "x, y", REALS, x=lambda ȳ: ȳ, y=lambda ȳ, z, x, y: times(-ȳ, (x - z) / y))
cotangents(math.modf, "x", ((Real,),), x=lambda ȳ: ȳ[0])


@rrule(math.frexp, Real)
def frexp_rule(x):
    mantissa, exponent = math.frexp(x)

    def frexp_pullback(ȳ):
        return (None if ȳ[0] is None or x == 0 else ȳ[0] * (mantissa / x),)

    return (mantissa, exponent), frexp_pullback


cotangents(math.ldexp, "x, i", ((Real,),), x=lambda ȳ, i: math.ldexp(ȳ, i), i=lambda ȳ, y: ȳ * y * math.log(2))


# Of several numbers
@rrule(math.hypot, Real)
def hypot_rule(*coordinates):
    r = math.hypot(*coordinates)

    def hypot_pullback(r̄):
        cotangents, unit = [], r or 1.0
        for x in coordinates:
            cotangents.append(times(r̄, x / unit))
        return tuple(cotangents)

    return r, hypot_pullback


@rrule(math.dist, list, list)
@rrule(math.dist, list, tuple)
@rrule(math.dist, tuple, list)
@rrule(math.dist, tuple, tuple)
def dist_rule(p, q):
    r = math.dist(p, q)

    def dist_pullback(r̄):
        p̄, q̄, unit = [], [], r or 1.0
        for x, y in zip(p, q):
            x̄ = times(r̄, (float(x) - float(y)) / unit)
            p̄.append(x̄)
            q̄.append(-x̄)
        return like(p̄, p), like(q̄, q)

    return r, dist_pullback


@rrule(math.dist, Array, Array)
def array_dist_rule(p, q):
    r = math.dist(p, q)

    def array_dist_pullback(r̄):
        p̄ = times(r̄, (p - q) / (r or 1.0))
        return p̄, -p̄

    return r, array_dist_pullback


cotangents(math.fsum, "seq", ((list,), (tuple,)), seq=lambda ȳ, seq: repeated(ȳ, seq))


@rrule(math.prod, list)
@rrule(math.prod, tuple)
def prod_rule(iterable, *, start=1):
    def prod_pullback(ȳ):
        before, product = [], ȳ * start
        for x in iterable:
            before.append(product)
            product = times(product, x)
        cotangents, after = [], 1.0
        for i in range(len(iterable) - 1, -1, -1):
            cotangents.append(times(before[i], after))
            after = after * iterable[i]
        return (like(cotangents[::-1], iterable),)

    return math.prod(iterable, start=start), prod_pullback


if hasattr(math, "sumprod"):

    @rrule(math.sumprod, list, list)
    @rrule(math.sumprod, list, tuple)
    @rrule(math.sumprod, tuple, list)
    @rrule(math.sumprod, tuple, tuple)
    def sumprod_rule(p, q):
        def sumprod_pullback(z̄):
            p̄, q̄ = [], []
            for x, y in zip(p, q):
                p̄.append(times(z̄, y))
                q̄.append(times(z̄, x))
            return like(p̄, p), like(q̄, q)

        return math.sumprod(p, q), sumprod_pullback


if hasattr(math, "fma"):

    @rrule(math.fma, Real, Real, Real)
    def fma_rule(x, y, z):
        def fma_pullback(w̄):
            return times(w̄, y), times(w̄, x), w̄

        return math.fma(x, y, z), fma_pullback
