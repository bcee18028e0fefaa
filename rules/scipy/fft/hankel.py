"""The fast Hankel transforms, by SciPy's own Python code, with respect to all their parameters."""

import numpy as np
from scipy import fft, special
from scipy.fft import _fftlog_backend

from autodiff_hook.errors import NotDifferentiable
from autodiff_rules._definitions import follow_instead
from autodiff_rules.scipy._standins import stand_in

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
