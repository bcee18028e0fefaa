"""Complex, real and Hermitian transforms: a pullback is the conjugate transpose, which is a transform again.

A transform of n points without its factor is a matrix whose conjugate transpose is the inverse transform without
its own: ``norm`` of the one says that of the other.
"""

from __future__ import annotations

import numpy as np
from scipy import fft

from autodiff_rules.numpy._shared import array_rrule, unbroadcast
from autodiff_rules.numpy.fourier import resized

TRANSPOSED = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def axes_and_lengths(x, s, axes):
    """The axes that are transformed, and how long the transforms are."""
    if axes is None:
        axes = range(-(np.ndim(x) if s is None else np.size(s)), 0)
    axes = (axes,) if np.ndim(axes) == 0 else tuple(axes)
    lengths = [None] * len(axes) if s is None else [s] if np.ndim(s) == 0 else s
    return axes, [np.shape(x)[i] if n in (None, -1) else n for n, i in zip(lengths, axes)]


def cut(c, x, axes):
    """``c`` in the shape of the argument ``x``, of which a part was taken or which was filled up with zeros."""
    return unbroadcast(resized(c, [np.shape(x)[i] for i in axes], axes), x)


def forward_cotangent(ȳ, x, s, axes, norm):
    axes, _ = axes_and_lengths(x, s, axes)
    return cut(fft.ifftn(ȳ, axes=axes, norm=TRANSPOSED[norm]), x, axes)


def inverse_cotangent(ȳ, x, s, axes, norm):
    axes, _ = axes_and_lengths(x, s, axes)
    return cut(fft.fftn(ȳ, axes=axes, norm=TRANSPOSED[norm]), x, axes)


def half_cotangent(ȳ, x, s, axes, norm):
    """For ``rfftn``: the transform of which the other half of the last axis was left away."""
    axes, lengths = axes_and_lengths(x, s, axes)
    whole = resized(ȳ, lengths[-1:], axes[-1:])
    return cut(fft.ifftn(whole, axes=axes, norm=TRANSPOSED[norm]), x, axes)


def doubled_cotangent(ȳ, x, s, axes, norm):
    """For ``irfftn``: all but the ends of the half spectrum are there twice, conjugated."""
    axes, _ = axes_and_lengths(x, s, axes)
    c = fft.rfftn(ȳ, axes=axes, norm=TRANSPOSED[norm])
    axis = axes[-1] % np.ndim(c)
    weights = np.full(np.shape(c)[axis], 2.0, np.real(c).dtype)
    weights[0] = 1.0
    if np.shape(ȳ)[axis] % 2 == 0:
        weights[-1] = 1.0
    c = c * np.reshape(weights, [-1 if i == axis else 1 for i in range(np.ndim(c))])
    return cut(c, x, axes)


def hermitian_cotangent(ȳ, x, s, axes, norm):
    """For ``hfftn``, which is ``irfftn`` of the conjugate with the other factor."""
    return np.conj(doubled_cotangent(ȳ, np.conj(x), s, axes, TRANSPOSED[norm]))


def inverse_hermitian_cotangent(ȳ, x, s, axes, norm):
    """For ``ihfftn``, the conjugate of ``rfftn`` with the other factor."""
    return half_cotangent(np.conj(ȳ), x, s, axes, TRANSPOSED[norm])


def one_axis(target, cotangent):
    """Register a transform along one axis."""

    def one_axis_rule(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
        def one_axis_pullback(ȳ):
            return cotangent(ȳ, x, n, axis, norm), None, None, None, None, None

        return target(x, n, axis, norm, False, workers, plan=plan), one_axis_pullback

    array_rrule(target)(one_axis_rule)


def two_axes(target, cotangent):
    """Register a transform along the last two axes, if no others are named."""

    def two_axes_rule(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
        def two_axes_pullback(ȳ):
            return cotangent(ȳ, x, s, axes, norm), None, None, None, None, None

        return target(x, s, axes, norm, False, workers, plan=plan), two_axes_pullback

    array_rrule(target)(two_axes_rule)


def all_axes(target, cotangent):
    """Register a transform along all axes, if none are named."""

    def all_axes_rule(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
        def all_axes_pullback(ȳ):
            return cotangent(ȳ, x, s, axes, norm), None, None, None, None, None

        return target(x, s, axes, norm, False, workers, plan=plan), all_axes_pullback

    array_rrule(target)(all_axes_rule)


FAMILIES = {
    "fft": forward_cotangent,
    "ifft": inverse_cotangent,
    "rfft": half_cotangent,
    "irfft": doubled_cotangent,
    "hfft": hermitian_cotangent,
    "ihfft": inverse_hermitian_cotangent,
}
for name, cotangent in FAMILIES.items():
    one_axis(getattr(fft, name), cotangent)
    two_axes(getattr(fft, f"{name}2"), cotangent)
    all_axes(getattr(fft, f"{name}n"), cotangent)
