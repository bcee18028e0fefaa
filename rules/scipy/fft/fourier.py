"""Complex, real and Hermitian transforms: their pullbacks are those of NumPy's."""

from __future__ import annotations

import numpy as np
from scipy import fft

from autodiff_rules.numpy._shared import array_rrule
from autodiff_rules.numpy.fourier import TRANSPOSED, doubled, forward, half, inverse


def hermitian(ȳ, x, s, axes, norm):
    """For ``hfftn``, which is ``irfftn`` of the conjugate with the other factor."""
    return np.conj(doubled(ȳ, np.conj(x), s, axes, TRANSPOSED[norm]))


def inverse_hermitian(ȳ, x, s, axes, norm):
    """For ``ihfftn``, the conjugate of ``rfftn`` with the other factor."""
    return half(np.conj(ȳ), x, s, axes, TRANSPOSED[norm])


def one_axis(target, cotangent):
    """Register a transform along one axis."""

    def one_axis_rule(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
        def one_axis_pullback(ȳ):
            return cotangent(ȳ, x, n, axis, norm), None, None, None, None, None

        return target(x, n, axis, norm, False, workers, plan=plan), one_axis_pullback

    array_rrule(target)(one_axis_rule)


def several_axes(target, cotangent, default):
    """Register a transform along the axes ``default``, if no others are named."""

    def several_axes_rule(x, s=None, axes=default, norm=None, overwrite_x=False, workers=None, *, plan=None):
        def several_axes_pullback(ȳ):
            return cotangent(ȳ, x, s, axes, norm), None, None, None, None, None

        return target(x, s, axes, norm, False, workers, plan=plan), several_axes_pullback

    array_rrule(target)(several_axes_rule)


FAMILIES = {
    "fft": forward,
    "ifft": inverse,
    "rfft": half,
    "irfft": doubled,
    "hfft": hermitian,
    "ihfft": inverse_hermitian,
}
for name, cotangent in FAMILIES.items():
    one_axis(getattr(fft, name), cotangent)
    several_axes(getattr(fft, f"{name}2"), cotangent, (-2, -1))
    several_axes(getattr(fft, f"{name}n"), cotangent, None)
