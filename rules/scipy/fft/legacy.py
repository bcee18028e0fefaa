"""The transforms of ``scipy.fftpack``, by those of ``scipy.fft``.

Inverses of real transforms are those of the transposed type without a factor; ``rfft`` packs into one real array.
"""

import numpy as np
from scipy import fft, fftpack

from autodiff_rules._definitions import defines
from autodiff_rules.scipy.fft.trigonometric import TRANSPOSED_TYPE


def complex_transform(name):
    transform, of_two, of_all = (getattr(fft, f"{name}{suffix}") for suffix in ("", "2", "n"))

    @defines(getattr(fftpack, name))
    def one_axis(x, n=None, axis=-1, overwrite_x=False):
        return transform(x, n, axis)

    @defines(getattr(fftpack, f"{name}2"))
    def two_axes(x, shape=None, axes=(-2, -1), overwrite_x=False):
        return of_two(x, shape, axes)

    @defines(getattr(fftpack, f"{name}n"))
    def all_axes(x, shape=None, axes=None, overwrite_x=False):
        return of_all(x, shape, axes)


def trigonometric_transform(name):
    transform, of_all = getattr(fft, name), getattr(fft, f"{name}n")

    @defines(getattr(fftpack, name))
    def one_axis(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False):
        return transform(x, type, n, axis, norm)

    @defines(getattr(fftpack, f"{name}n"))
    def all_axes(x, type=2, shape=None, axes=None, norm=None, overwrite_x=False):
        return of_all(x, type, shape, axes, norm)

    @defines(getattr(fftpack, f"i{name}"))
    def inverse_of_one_axis(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False):
        return transform(x, TRANSPOSED_TYPE[type], n, axis, norm)

    @defines(getattr(fftpack, f"i{name}n"))
    def inverse_of_all_axes(x, type=2, shape=None, axes=None, norm=None, overwrite_x=False):
        return of_all(x, TRANSPOSED_TYPE[type], shape, axes, norm)


for name in ("fft", "ifft"):
    complex_transform(name)
for name in ("dct", "dst"):
    trigonometric_transform(name)


@defines(fftpack.rfft)
def rfft(x, n=None, axis=-1, overwrite_x=False):
    n = np.shape(x)[axis] if n is None else n
    spectrum = np.moveaxis(fft.rfft(x, n, axis), axis, -1)
    packed = np.zeros((*spectrum.shape[:-1], n), spectrum.real.dtype)
    packed[..., ::2] = np.concatenate((spectrum.real[..., :1], spectrum.imag[..., 1 : (n + 1) // 2]), axis=-1)
    packed[..., 1::2] = spectrum.real[..., 1:]
    return np.moveaxis(packed, -1, axis)


@defines(fftpack.irfft)
def irfft(x, n=None, axis=-1, overwrite_x=False):
    n = np.shape(x)[axis] if n is None else n
    packed = np.moveaxis(x, axis, -1)
    given = packed.shape[-1]
    packed = (
        packed[..., :n] if given >= n else np.concatenate((packed, np.zeros((*packed.shape[:-1], n - given))), axis=-1)
    )
    spectrum = np.zeros((*packed.shape[:-1], n // 2 + 1), complex)
    spectrum[..., 0] = packed[..., 0]
    spectrum[..., 1:] = packed[..., 1::2]
    spectrum[..., 1 : (n + 1) // 2] += 1j * packed[..., 2::2]
    return np.moveaxis(fft.irfft(spectrum, n), -1, axis)
