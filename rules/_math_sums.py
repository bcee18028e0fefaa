"""The part of the rules for ``math`` that is about remainders, norms, sums and products."""

from __future__ import annotations

import math

from autodiff_hook.registry import Array, Real, rrule
from autodiff_hook.strong import times
from autodiff_rules._numbers import binary, like, repeated


# Absolute values, signs and remainders
@rrule(math.fabs, Real)
def fabs_rule(x):
    def fabs_pullback(ȳ):
        return (ȳ if x > 0 else -ȳ if x < 0 else 0.0,)

    return math.fabs(x), fabs_pullback


@binary(math.copysign)
def copysign_rule(x, y):
    def copysign_pullback(z̄):
        return math.copysign(1, x) * math.copysign(1, y) * z̄, 0.0

    return math.copysign(x, y), copysign_pullback


@binary(math.fmod)
def fmod_rule(x, y):
    z = math.fmod(x, y)

    def fmod_pullback(z̄):
        return z̄, times(-z̄, (x - z) / y)

    return z, fmod_pullback


@binary(math.remainder)
def remainder_rule(x, y):
    z = math.remainder(x, y)

    def remainder_pullback(z̄):
        return z̄, times(-z̄, (x - z) / y)

    return z, remainder_pullback


@rrule(math.modf, Real)
def modf_rule(x):
    def modf_pullback(ȳ):
        return (ȳ[0],)

    return math.modf(x), modf_pullback


@rrule(math.frexp, Real)
def frexp_rule(x):
    mantissa, exponent = math.frexp(x)

    def frexp_pullback(ȳ):
        return (None if ȳ[0] is None or x == 0 else ȳ[0] * (mantissa / x),)

    return (mantissa, exponent), frexp_pullback


@rrule(math.ldexp, Real)
def ldexp_rule(x, i):
    y = math.ldexp(x, i)

    def ldexp_pullback(ȳ):
        return math.ldexp(ȳ, i), ȳ * y * math.log(2)

    return y, ldexp_pullback


# Of several numbers
@rrule(math.hypot, Real)
def hypot_rule(*coordinates):
    r = math.hypot(*coordinates)

    def hypot_pullback(r̄):
        cotangents, unit = [], r or 1.0
        for x in coordinates:
            cotangents.append(r̄ * (x / unit))
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
            x̄ = r̄ * ((float(x) - float(y)) / unit)
            p̄.append(x̄)
            q̄.append(-x̄)
        return like(p̄, p), like(q̄, q)

    return r, dist_pullback


@rrule(math.dist, Array, Array)
def array_dist_rule(p, q):
    r = math.dist(p, q)

    def array_dist_pullback(r̄):
        p̄ = (p - q) / (r or 1.0) * r̄
        return p̄, -p̄

    return r, array_dist_pullback


@rrule(math.fsum, list)
@rrule(math.fsum, tuple)
def fsum_rule(seq):
    def fsum_pullback(ȳ):
        return (repeated(ȳ, seq),)

    return math.fsum(seq), fsum_pullback


@rrule(math.prod, list)
@rrule(math.prod, tuple)
def prod_rule(iterable, *, start=1):
    def prod_pullback(ȳ):
        before, product = [], ȳ * start
        for x in iterable:
            before.append(product)
            product = product * x
        cotangents, after = [], 1.0
        for i in range(len(iterable) - 1, -1, -1):
            cotangents.append(before[i] * after)
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
            return w̄ * y, w̄ * x, w̄

        return math.fma(x, y, z), fma_pullback
