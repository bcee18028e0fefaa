"""Complex, real and Hermitian transforms, with NumPy's pullbacks; and Hankel transforms, by SciPy's Python code."""

import numpy as np
from scipy import fft, special
from scipy.fft import _fftlog_backend

from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.extend import cotangents, fresh
from autodiff_hook.registry import LINEAR, frule
from autodiff_rules._definitions import follow_instead
from autodiff_rules.numpy.fourier import TRANSPOSED, doubled, forward, half, inverse
from autodiff_rules.scipy._standins import stand_in


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


follow_instead(fft.fht, _fftlog_backend.fht)
follow_instead(fft.ifht, _fftlog_backend.ifht)


@stand_in(_fftlog_backend.fhtcoeff)
def coefficients(n, dln, mu, offset=0.0, bias=0.0, inverse=False):
    """2^q exp(-2iy (offset - ln 2)) Γ((mu+1+q)/2 + iy)/Γ((mu+1-q)/2 - iy), q being the bias.

    A. J. S. Hamilton, Uncorrelated modes of the non-linear power spectrum, 2000, appendix B.
    """
    above, below = (mu + 1.0 + bias) / 2.0, (mu + 1.0 - bias) / 2.0
    if any(x <= 0.0 and x == np.round(x) for x in (above, below)):
        raise NotDifferentiable("the coefficients of a singular Hankel transform have no derivative")
    y = np.linspace(0.0, 1.0, n // 2 + 1) * (np.pi * (n // 2) / (n * dln))
    phase = 2j * y * (np.log(2.0) - offset)
    gammas = special.loggamma(above + 1j * y) - np.conj(special.loggamma(below + 1j * y))
    u = np.exp(gammas + np.log(2.0) * bias + phase)
    return np.concatenate((u[:-1], np.real(u[-1:]))) if n % 2 == 0 else u
