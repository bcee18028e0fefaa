"""Discrete Fourier transforms: linear, so a pullback is the conjugate transpose, which is a transform again.

A transform of n points without its factor is a matrix whose conjugate transpose is the inverse transform without
its own: ``norm`` of the one says that of the other. Frequencies and the Kaiser window are made of a length and a
parameter; other windows are differentiated through NumPy's own Python code.
"""

import numpy as np

from autodiff_hook.extend import cotangents, linear
from autodiff_rules._definitions import defines
from autodiff_rules.numpy._shared import into, unbroadcast

TRANSPOSED = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


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
    if axes is None:
        return tuple(range(-(np.ndim(a) if s is None else np.size(s)), 0))
    return (axes,) if np.ndim(axes) == 0 else tuple(axes)


def cut(c, a, axes):
    """``c`` in the shape of the argument ``a``, of which a part was taken or which was filled up with zeros."""
    return unbroadcast(resized(c, [np.shape(a)[i] for i in axes], axes), a)


def forward(ȳ, a, s, axes, norm):
    """The cotangent of ``a``, which ``fftn`` has transformed."""
    axes = axes_of(a, s, axes)
    return cut(np.fft.ifftn(ȳ, None, axes, TRANSPOSED[norm]), a, axes)


def inverse(ȳ, a, s, axes, norm):
    axes = axes_of(a, s, axes)
    return cut(np.fft.fftn(ȳ, None, axes, TRANSPOSED[norm]), a, axes)


def half(ȳ, a, s, axes, norm):
    """For ``rfftn``: the transform of which the other half of the last axis was left away."""
    axes = axes_of(a, s, axes)
    length = None if s is None else np.ravel(s)[-1]
    whole = resized(ȳ, [np.shape(a)[axes[-1]] if length in (None, -1) else int(length)], axes[-1:])
    return cut(np.fft.ifftn(whole, None, axes, TRANSPOSED[norm]), a, axes)


def doubled(ȳ, a, s, axes, norm):
    """For ``irfftn``: all but the ends of the half spectrum are there twice, conjugated."""
    axes = axes_of(a, s, axes)
    c = np.fft.rfftn(ȳ, None, axes, TRANSPOSED[norm])
    even = np.shape(ȳ)[axes[-1]] % 2 == 0
    return cut(ends_scaled(2.0 * c, axes[-1], 0.5, 0.5 if even else 1.0), a, axes)


def ends_scaled(c, axis, first, last):
    """``c`` with its ends along ``axis`` multiplied."""
    weights = np.ones(np.shape(c)[axis], np.real(c).dtype)
    weights[0] = weights[0] * first
    weights[-1] = weights[-1] * last
    return c * np.reshape(weights, [-1 if i == axis % np.ndim(c) else 1 for i in range(np.ndim(c))])


ONE = "a, n=None, axis=-1, norm=None, out=None"
SEVERAL = {"2": "a, s=None, axes=(-2, -1), norm=None, out=None", "n": "a, s=None, axes=None, norm=None, out=None"}

linear(np.fft.fft, ONE, lambda ȳ, a, n, axis, norm: forward(ȳ, a, n, axis, norm))
linear(np.fft.ifft, ONE, lambda ȳ, a, n, axis, norm: inverse(ȳ, a, n, axis, norm))
linear(np.fft.rfft, ONE, lambda ȳ, a, n, axis, norm: half(ȳ, a, n, axis, norm))
linear(np.fft.irfft, ONE, lambda ȳ, a, n, axis, norm: doubled(ȳ, a, n, axis, norm))
for suffix, signature in SEVERAL.items():
    linear(getattr(np.fft, f"fft{suffix}"), signature, lambda ȳ, a, s, axes, norm: forward(ȳ, a, s, axes, norm))
    linear(getattr(np.fft, f"ifft{suffix}"), signature, lambda ȳ, a, s, axes, norm: inverse(ȳ, a, s, axes, norm))
    linear(getattr(np.fft, f"rfft{suffix}"), signature, lambda ȳ, a, s, axes, norm: half(ȳ, a, s, axes, norm))
    linear(getattr(np.fft, f"irfft{suffix}"), signature, lambda ȳ, a, s, axes, norm: doubled(ȳ, a, s, axes, norm))


@defines(np.fft.ihfft)
def ihfft(a, n=None, axis=-1, norm=None, out=None):
    return into(out, np.conjugate(np.fft.rfft(a, n, axis, TRANSPOSED[norm])))


NODES = (np.arange(256) + 0.5) * (np.pi / 256)
COSINES, SQUARED_SINES = np.cos(NODES), np.sin(NODES) ** 2


def bessel_ratio(x):
    """I₁(x) / x by the integral DLMF 10.32.2, whose midpoint rule converges at once."""
    return np.dot(np.exp(np.expand_dims(x, -1) * COSINES), SQUARED_SINES) / 256.0


@cotangents(np.kaiser, "M, beta", 0, "M, beta")
def kaiser_cotangents(ȳ, y, M, beta):
    """Of I₀(β s) / I₀(β) with s² = 1 - r²: at both ends s is 0, and only s² has a derivative."""
    if np.size(y) <= 1:
        return None, None
    places = np.arange(len(y))
    half = (M - 1.0) / 2.0
    r = (places - half) / half
    inner = beta * np.sqrt(np.maximum(1.0 - r * r, 0.0))
    scale = beta / np.i0(beta)
    ratios = bessel_ratio(inner)
    in_beta = scale * ((1.0 - r * r) * ratios - y * bessel_ratio(beta))
    in_length = scale * beta * ratios * r * places / (2.0 * half * half)
    return unbroadcast(np.sum(ȳ * in_length), M), unbroadcast(np.sum(ȳ * in_beta), beta)


cotangents(np.fft.fftfreq, "n, d=1.0, device=None", 0, d=lambda ȳ, y, d: unbroadcast(-ȳ * y / d, d))
cotangents(np.fft.rfftfreq, "n, d=1.0, device=None", 0, d=lambda ȳ, y, d: unbroadcast(-ȳ * y / d, d))
