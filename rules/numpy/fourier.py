"""Discrete Fourier transforms: linear, so a pullback is the conjugate transpose, which is a transform again.

A transform of n points without its factor is a matrix whose conjugate transpose is the inverse transform without
its own: ``norm`` of the one says that of the other.
"""

from __future__ import annotations

import numpy as np

from autodiff_rules.numpy._shared import array_rrule, unbroadcast

_TRANSPOSED = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def resized(c, lengths, axes):
    """``c`` cut, or filled up with zeros, to these lengths along axes."""
    for length, axis in zip(lengths, axes):
        have, lead = np.shape(c)[axis], (slice(None),) * (axis % np.ndim(c))
        if have > length:
            c = c[(*lead, slice(0, length))]
        elif have < length:
            zeros = np.zeros([length - have if i == axis % np.ndim(c) else n for i, n in enumerate(np.shape(c))])
            c = np.concatenate((c, zeros), axis)
    return c


def axes_of(a, s, axes):
    """The axes that are transformed."""
    if axes is not None:
        return tuple(axes)
    return tuple(range(-(np.ndim(a) if s is None else len(s)), 0))


def transposed(inverse, ȳ, a, axes, norm):
    """The cotangent of ``a``, of which complex transforms along ``axes`` gave ``y``."""
    c = inverse(ȳ, None, axes, _TRANSPOSED[norm])
    return unbroadcast(resized(c, [np.shape(a)[i] for i in axes], axes), a)


def half_transposed(ȳ, a, y_length, axes, norm):
    """The cotangent of a real ``a``, of whose transform the half along the last axis was kept."""
    return transposed(np.fft.ifftn, resized(ȳ, [y_length], axes[-1:]), a, axes, norm)


def doubled(ȳ, a, axes, norm):
    """The cotangent of ``a``, the half of a spectrum that a real ``y`` was made of."""
    c = np.fft.rfftn(ȳ, None, axes, _TRANSPOSED[norm])
    length, axis = np.shape(ȳ)[axes[-1]], axes[-1] % np.ndim(c)
    weights = np.full(np.shape(c)[axis], 2.0)
    weights[0] = 1.0
    if length % 2 == 0:
        weights[-1] = 1.0
    c = c * np.reshape(weights, [-1 if i == axis else 1 for i in range(np.ndim(c))])
    return unbroadcast(resized(c, [np.shape(a)[i] for i in axes], axes), a)


@array_rrule(np.fft.fft)
def fft_rule(a, n=None, axis=-1, norm=None, out=None):
    def fft_pullback(ȳ):
        return transposed(np.fft.ifftn, ȳ, a, (axis,), norm), None, None, None, None

    return np.fft.fft(a, n, axis, norm), fft_pullback


@array_rrule(np.fft.ifft)
def ifft_rule(a, n=None, axis=-1, norm=None, out=None):
    def ifft_pullback(ȳ):
        return transposed(np.fft.fftn, ȳ, a, (axis,), norm), None, None, None, None

    return np.fft.ifft(a, n, axis, norm), ifft_pullback


@array_rrule(np.fft.rfft)
def rfft_rule(a, n=None, axis=-1, norm=None, out=None):
    def rfft_pullback(ȳ):
        length = np.shape(a)[axis] if n is None else n
        return half_transposed(ȳ, a, length, (axis,), norm), None, None, None, None

    return np.fft.rfft(a, n, axis, norm), rfft_pullback


@array_rrule(np.fft.irfft)
def irfft_rule(a, n=None, axis=-1, norm=None, out=None):
    def irfft_pullback(ȳ):
        return doubled(ȳ, a, (axis,), norm), None, None, None, None

    return np.fft.irfft(a, n, axis, norm), irfft_pullback


@array_rrule(np.fft.fftn)
def fftn_rule(a, s=None, axes=None, norm=None, out=None):
    def fftn_pullback(ȳ):
        return transposed(np.fft.ifftn, ȳ, a, axes_of(a, s, axes), norm), None, None, None, None

    return np.fft.fftn(a, s, axes_of(a, s, axes), norm), fftn_pullback


@array_rrule(np.fft.ifftn)
def ifftn_rule(a, s=None, axes=None, norm=None, out=None):
    def ifftn_pullback(ȳ):
        return transposed(np.fft.fftn, ȳ, a, axes_of(a, s, axes), norm), None, None, None, None

    return np.fft.ifftn(a, s, axes_of(a, s, axes), norm), ifftn_pullback


@array_rrule(np.fft.rfftn)
def rfftn_rule(a, s=None, axes=None, norm=None, out=None):
    def rfftn_pullback(ȳ):
        over = axes_of(a, s, axes)
        length = np.shape(a)[over[-1]] if s is None else s[-1]
        return half_transposed(ȳ, a, length, over, norm), None, None, None, None

    return np.fft.rfftn(a, s, axes_of(a, s, axes), norm), rfftn_pullback


@array_rrule(np.fft.irfftn)
def irfftn_rule(a, s=None, axes=None, norm=None, out=None):
    def irfftn_pullback(ȳ):
        return doubled(ȳ, a, axes_of(a, s, axes), norm), None, None, None, None

    return np.fft.irfftn(a, s, axes_of(a, s, axes), norm), irfftn_pullback


@array_rrule(np.fft.fft2)
def fft2_rule(a, s=None, axes=(-2, -1), norm=None, out=None):
    return fftn_rule(a, s, axes, norm)


@array_rrule(np.fft.ifft2)
def ifft2_rule(a, s=None, axes=(-2, -1), norm=None, out=None):
    return ifftn_rule(a, s, axes, norm)


@array_rrule(np.fft.rfft2)
def rfft2_rule(a, s=None, axes=(-2, -1), norm=None, out=None):
    return rfftn_rule(a, s, axes, norm)


@array_rrule(np.fft.irfft2)
def irfft2_rule(a, s=None, axes=(-2, -1), norm=None, out=None):
    return irfftn_rule(a, s, axes, norm)
