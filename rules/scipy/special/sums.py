"""Sums of exponentials, factorials and combinations: the Python functions of ``scipy.special``."""

import numpy as np
from scipy import special

from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.extend import cotangents
from autodiff_hook.registry import frule
from autodiff_rules.numpy._shared import conj, restore_axes, unbroadcast
from autodiff_rules.scipy._elementwise import cotangent
from autodiff_rules.scipy.special.gammas import binom_k, binom_n


@cotangents(special.logsumexp, "a, axis=None, b=None, keepdims=False, return_sign=False", 1, "a, b")
def logsumexp_cotangents(ȳ, y, a, axis, b, keepdims, return_sign):
    loḡ, sign̄ = ȳ if return_sign else (ȳ, None)
    log, sign = y if return_sign else (y, None)
    c = loḡ if sign̄ is None or not np.iscomplexobj(sign) else turned(loḡ, sign̄, sign)
    if c is None:
        return None, None
    c = restore_axes(c, a, axis, keepdims)
    log = restore_axes(log, a, axis, keepdims)
    weights = np.exp(a - np.where(np.isinf(log), 0.0, log))
    if sign is not None:
        weights = weights * conj(restore_axes(sign, a, axis, keepdims))
    if b is None:
        return unbroadcast(c * conj(weights), a), None
    return unbroadcast(c * conj(weights * b), a), unbroadcast(c * conj(weights), b)


def logsumexp_tangent(ȧ, y, a, axis, b, keepdims, return_sign):
    log, sign = y if return_sign else (y, 1.0)
    whole = restore_axes(log, a, axis, keepdims)
    weights = np.exp(a - np.where(np.isinf(whole), 0.0, whole))
    ẏ = np.sum(ȧ * (weights if b is None else weights * b), axis, keepdims=keepdims)
    if not return_sign:
        return ẏ
    ẏ = ẏ * conj(sign)
    return np.real(ẏ), 1j * np.imag(ẏ) * sign if np.iscomplexobj(sign) else np.zeros(np.shape(sign))


frule(
    special.logsumexp,
    lambda ȧ, y, a, axis, b, keepdims, return_sign: logsumexp_tangent(ȧ, y, a, axis, b, keepdims, return_sign),
)


def turned(loḡ, sign̄, sign):
    """The cotangent of the logarithm from those of its real part and of the number of length 1 with its phase."""
    phase = 1j * np.imag(sign̄ * conj(sign))
    return phase if loḡ is None else loḡ + phase


@cotangents(special.softmax, "x, axis=None")
def softmax_cotangent(ȳ, y, x, axis):
    h = conj(y)
    return unbroadcast(h * (ȳ - np.sum(h * ȳ, axis, keepdims=True)), x)


cotangents(
    special.log_softmax,
    "x, axis=None",
    x=lambda ȳ, y, x, axis: unbroadcast(ȳ - conj(np.exp(y)) * np.sum(ȳ, axis, keepdims=True), x),
)


frule(special.softmax, lambda ẋ, y, x, axis: y * (ẋ - np.sum(y * ẋ, axis, keepdims=True)))
frule(special.log_softmax, lambda ẋ, y, x, axis: ẋ - np.sum(np.exp(y) * ẋ, axis, keepdims=True))


@cotangents(special.comb, "N, k, *, exact=False, repetition=False", 2, "N, k")
def comb_cotangents(ȳ, y, N, k, exact, repetition):
    if exact:
        return None, None
    n = N + k - 1 if repetition else N
    n̄, k̄ = ȳ * binom_n(n, k, y), ȳ * binom_k(n, k, y)
    return unbroadcast(n̄, N), unbroadcast(k̄ + n̄ if repetition else k̄, k)


@cotangents(special.perm, "N, k, exact=False", 2, "N, k")
def perm_cotangents(ȳ, y, N, k, exact):
    if exact:
        return None, None
    last = special.psi(N - k + 1.0)
    return cotangent(ȳ, y * (special.psi(N + 1.0) - last), N), cotangent(ȳ, y * last, k)


@cotangents(special.factorial, "n, exact=False, extend='zero'")
def factorial_cotangent(ȳ, y, n, exact, extend):
    if exact:
        return None
    if extend != "zero":
        raise NotDifferentiable("scipy.special.factorial is differentiable with extend='zero'")
    return cotangent(ȳ, y * special.psi(n + 1.0), n)
