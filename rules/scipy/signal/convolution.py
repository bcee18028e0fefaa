"""Convolution and correlation in several dimensions; each is the transpose of the other."""

import numpy as np
from scipy import signal
from scipy.signal import _signaltools, _sigtools

from autodiff_hook.extend import cotangents, fresh
from autodiff_hook.registry import LINEAR, frule
from autodiff_rules.numpy._shared import unbroadcast
from autodiff_rules.scipy._borders import extended
from autodiff_rules.scipy._standins import stand_in

fresh(signal.convolve, signal.correlate)
VALID, SAME, FULL = 0, 1, 2


def whole(ȳ, a, b, mode):
    """The cotangent of the full convolution of ``a`` and ``b``, of which ``mode`` has left a part."""
    if mode == "full":
        return ȳ
    places = []
    for size, n, m in zip(np.shape(ȳ), np.shape(a), np.shape(b)):
        start = min(n, m) - 1 if mode == "valid" else (m - 1) // 2
        places.append((start, n + m - 1 - size - start))
    return np.pad(ȳ, places)


def flipped(x):
    return np.conj(np.flip(x))


def convolve_cotangents(ȳ, in1, in2, mode, method):
    c = whole(ȳ, in1, in2, mode)
    a = _signaltools.correlate(c, np.asarray(in2), "valid", method)
    b = _signaltools.correlate(c, np.asarray(in1), "valid", method)
    return unbroadcast(a, in1), unbroadcast(b, in2)


def correlate_cotangents(ȳ, in1, in2, mode, method):
    """The convolution with the conjugate backwards."""
    c = whole(ȳ, in1, in2, mode)
    a = _signaltools.correlate(c, flipped(in2), "valid", method)
    b = _signaltools.correlate(c, np.asarray(in1), "valid", method)
    return unbroadcast(a, in1), unbroadcast(flipped(b), in2)


for owner in (signal, _signaltools):
    cotangents(owner.convolve, "in1, in2, mode='full', method='auto'", 2, "in1, in2")(convolve_cotangents)
    cotangents(owner.correlate, "in1, in2, mode='full', method='auto'", 2, "in1, in2")(correlate_cotangents)
    frule((owner.convolve, owner.correlate), LINEAR, LINEAR)

BORDERS = {0: "constant", 4: "reflect", 8: "wrap"}


@stand_in(_sigtools._convolve2d)
def convolve2d(in1, in2, flip, mode, boundary, fillvalue):
    """The convolution, or without ``flip`` the correlation, of an image that goes on beyond its borders."""
    kernel = in2 if flip else in2[::-1, ::-1]
    image = in1
    for axis in range(2):
        beyond = np.shape(kernel)[axis] - 1
        if mode == SAME:
            first = beyond // 2 if flip else beyond - beyond // 2
            image = extended(image, axis, beyond - first, first, BORDERS[boundary], fillvalue)
        elif mode == FULL:
            image = extended(image, axis, beyond, beyond, BORDERS[boundary], fillvalue)
    return signal.convolve(image, kernel, "valid", "direct")
