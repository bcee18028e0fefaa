"""Windows and frequencies: what is made of a length and a parameter.

Hanning, Hamming, Blackman and Bartlett windows are differentiated through NumPy's own Python code.
"""

import numpy as np

from autodiff_hook.extend import cotangents
from autodiff_rules.numpy._shared import unbroadcast

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
