"""Discrete Fourier transforms: linear, so a pullback is the conjugate transpose, which is a transform again.

A transform of n points without its factor is a matrix whose conjugate transpose is the inverse transform without
its own: ``norm`` of the one says that of the other.
"""

from __future__ import annotations

import numpy as np

from autodiff_hook.extend import linear
from autodiff_rules._definitions import defines
from autodiff_rules.numpy._shared import unbroadcast

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


def half_transposed(ȳ, a, s, axes, norm):
    """The cotangent of a real ``a``, of whose transform the half along the last axis was kept."""
    length = np.shape(a)[axes[-1]] if s is None else s[-1]
    return transposed(np.fft.ifftn, resized(ȳ, [length], axes[-1:]), a, axes, norm)


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


ONE = "a, n=None, axis=-1, norm=None, out=None"
TWO = "a, s=None, axes=(-2, -1), norm=None, out=None"
ALL = "a, s=None, axes=None, norm=None, out=None"

linear(np.fft.fft, ONE, lambda ȳ, a, axis, norm: transposed(np.fft.ifftn, ȳ, a, (axis,), norm))
linear(np.fft.ifft, ONE, lambda ȳ, a, axis, norm: transposed(np.fft.fftn, ȳ, a, (axis,), norm))
linear(np.fft.rfft, ONE, lambda ȳ, a, n, axis, norm: half_transposed(ȳ, a, None if n is None else (n,), (axis,), norm))
linear(np.fft.irfft, ONE, lambda ȳ, a, axis, norm: doubled(ȳ, a, (axis,), norm))
for fft, signature in ((np.fft.fft2, TWO), (np.fft.fftn, ALL)):
    linear(fft, signature, lambda ȳ, a, s, axes, norm: transposed(np.fft.ifftn, ȳ, a, axes_of(a, s, axes), norm))
for ifft, signature in ((np.fft.ifft2, TWO), (np.fft.ifftn, ALL)):
    linear(ifft, signature, lambda ȳ, a, s, axes, norm: transposed(np.fft.fftn, ȳ, a, axes_of(a, s, axes), norm))
for rfft, signature in ((np.fft.rfft2, TWO), (np.fft.rfftn, ALL)):
    linear(rfft, signature, lambda ȳ, a, s, axes, norm: half_transposed(ȳ, a, s, axes_of(a, s, axes), norm))
for irfft, signature in ((np.fft.irfft2, TWO), (np.fft.irfftn, ALL)):
    linear(irfft, signature, lambda ȳ, a, s, axes, norm: doubled(ȳ, a, axes_of(a, s, axes), norm))


@defines(np.fft.ihfft)
def ihfft(a, n=None, axis=-1, norm=None, out=None):
    """``np.fft.ihfft``."""
    y = np.conjugate(np.fft.rfft(a, n, axis, _TRANSPOSED[norm]))
    if out is None:
        return y
    out[...] = y
    return out
