"""Correlations with a kernel: what Gaussian, uniform, Sobel and Laplace filters, and convolutions, come to."""

import numpy as np
from scipy import LowLevelCallable
from scipy.ndimage import _nd_image

from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.registry import writes
from autodiff_rules.scipy._standins import follow_instead, stand_in
from autodiff_rules.scipy.ndimage._windows import line_windows, windows


@stand_in(_nd_image.correlate1d, 3)
def correlate1d(input, weights, axis, output, mode, cval, origin):
    shifted = line_windows(input, np.size(weights), axis, mode, cval, origin)
    return sum(weights[k] * part for k, part in enumerate(shifted))


@stand_in(_nd_image.correlate, 2)
def correlate(input, weights, output, mode, cval, origins):
    everywhere = np.ones(np.shape(weights), bool)
    shifted = windows(input, everywhere, mode, cval, origins)
    kernel = np.ravel(weights)
    return sum(kernel[k] * part for k, part in enumerate(shifted))


def generic_filter(input, function, footprint, output, mode, cval, origins, arguments, keywords):
    """``_nd_image.generic_filter``: a call for each element, with what is around it."""
    if isinstance(function, LowLevelCallable):
        raise NotDifferentiable("scipy.ndimage.generic_filter with a compiled function is not differentiated")
    around = np.stack([np.ravel(part) for part in windows(input, footprint, mode, cval, origins)], -1).astype(float)
    for row, place in enumerate(np.ndindex(*np.shape(output))):
        output[place] = function(around[row], *arguments, **keywords)


writes(_nd_image.generic_filter, 3)
follow_instead(_nd_image.generic_filter, generic_filter)


@stand_in(_nd_image.uniform_filter1d, 3)
def uniform_filter1d(input, size, axis, output, mode, cval, origin):
    return sum(line_windows(input, size, axis, mode, cval, origin)) / size
