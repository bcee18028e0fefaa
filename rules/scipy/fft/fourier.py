"""Complex, real and Hermitian transforms: their pullbacks are those of NumPy's."""

import numpy as np
from scipy import fft

from autodiff_hook.extend import cotangents, fresh
from autodiff_hook.registry import LINEAR, frule
from autodiff_rules.numpy.fourier import TRANSPOSED, doubled, forward, half, inverse


def hermitian(ȳ, x, s, axes, norm):
    """For ``hfftn``, which is ``irfftn`` of the conjugate with the other factor."""
    return np.conj(doubled(ȳ, np.conj(x), s, axes, TRANSPOSED[norm]))


def inverse_hermitian(ȳ, x, s, axes, norm):
    """For ``ihfftn``, the conjugate of ``rfftn`` with the other factor."""
    return half(np.conj(ȳ), x, s, axes, TRANSPOSED[norm])


ONE = "x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None"
SEVERAL = "x, s=None, axes={}, norm=None, overwrite_x=False, workers=None, *, plan=None"


def declare(name, back):
    """Declare the transforms of this name along one axis, two and several."""
    targets = tuple([getattr(fft, f"{name}{suffix}") for suffix in ("", "2", "n")])
    fresh(*targets)
    frule(targets, LINEAR)
    cotangents(getattr(fft, name), ONE, x=lambda ȳ, x, n, axis, norm: back(ȳ, x, n, axis, norm))
    for suffix, axes in (("2", (-2, -1)), ("n", None)):
        several = getattr(fft, f"{name}{suffix}")
        cotangents(several, SEVERAL.format(axes), x=lambda ȳ, x, s, axes, norm: back(ȳ, x, s, axes, norm))


FAMILIES = {
    "fft": forward,
    "ifft": inverse,
    "rfft": half,
    "irfft": doubled,
    "hfft": hermitian,
    "ihfft": inverse_hermitian,
}
for name, back in FAMILIES.items():
    declare(name, back)
