"""Sums of exponentials, factorials and combinations: the Python functions of ``scipy.special``."""

from __future__ import annotations

import numpy as np
from scipy import special

from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.extend import cotangents
from autodiff_rules.numpy._shared import array_rrule, conj, restore_axes, unbroadcast
from autodiff_rules.scipy._elementwise import cotangent
from autodiff_rules.scipy.special.gammas import binom_k, binom_n


@array_rrule(special.logsumexp)
def logsumexp_rule(a, axis=None, b=None, keepdims=False, return_sign=False):
    y = special.logsumexp(a, axis, b, keepdims, return_sign)

    def logsumexp_pullback(ȳ):
        loḡ, sign̄ = ȳ if return_sign else (ȳ, None)
        log, sign = y if return_sign else (y, None)
        c = loḡ if sign̄ is None or not np.iscomplexobj(sign) else turned(loḡ, sign̄, sign)
        if c is None:
            return None, None, None, None, None
        c = restore_axes(c, a, axis, keepdims)
        log = restore_axes(log, a, axis, keepdims)
        weights = np.exp(a - np.where(np.isinf(log), 0.0, log))
        if sign is not None:
            weights = weights * conj(restore_axes(sign, a, axis, keepdims))
        if b is None:
            return unbroadcast(c * conj(weights), a), None, None, None, None
        return unbroadcast(c * conj(weights * b), a), None, unbroadcast(c * conj(weights), b), None, None

    return y, logsumexp_pullback


def turned(loḡ, sign̄, sign):
    """The cotangent of the logarithm from those of its real part and of the number of length 1 with its phase."""
    phase = 1j * np.imag(sign̄ * conj(sign))
    return phase if loḡ is None else loḡ + phase


@array_rrule(special.softmax)
def softmax_rule(x, axis=None):
    y = special.softmax(x, axis)

    def softmax_pullback(ȳ):
        h = conj(y)
        return unbroadcast(h * (ȳ - np.sum(h * ȳ, axis, keepdims=True)), x), None

    return y, softmax_pullback


cotangents(
    special.log_softmax,
    "x, axis=None",
    x=lambda ȳ, y, x, axis: unbroadcast(ȳ - conj(np.exp(y)) * np.sum(ȳ, axis, keepdims=True), x),
)


@array_rrule(special.comb, 2)
def comb_rule(N, k, *, exact=False, repetition=False):
    y = special.comb(N, k, exact=exact, repetition=repetition)

    def comb_pullback(ȳ):
        if exact:
            return None, None
        n = N + k - 1 if repetition else N
        n̄, k̄ = ȳ * binom_n(n, k, y), ȳ * binom_k(n, k, y)
        return unbroadcast(n̄, N), unbroadcast(k̄ + n̄ if repetition else k̄, k)

    return y, comb_pullback


@array_rrule(special.perm, 2)
def perm_rule(N, k, exact=False):
    y = special.perm(N, k, exact)

    def perm_pullback(ȳ):
        if exact:
            return None, None, None
        last = special.psi(N - k + 1.0)
        return cotangent(ȳ, y * (special.psi(N + 1.0) - last), N), cotangent(ȳ, y * last, k), None

    return y, perm_pullback


@array_rrule(special.factorial)
def factorial_rule(n, exact=False, extend="zero"):
    y = special.factorial(n, exact, extend)

    def factorial_pullback(ȳ):
        if exact:
            return None, None, None
        if extend != "zero":
            raise NotDifferentiable("scipy.special.factorial is differentiable with extend='zero'")
        return cotangent(ȳ, y * special.psi(n + 1.0), n), None, None

    return y, factorial_pullback
