"""Correlations with a kernel: what Gaussian, uniform, Sobel and Laplace filters, and convolutions, come to.

And filters that choose: minimum, maximum, median and ranks of what a window shows; of equal elements the first.
"""

import numpy as np
from scipy import LowLevelCallable
from scipy.ndimage import _filters, _nd_image

from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.extend import cotangents, fresh, frule, linear
from autodiff_hook.registry import writes
from autodiff_rules._definitions import follow_instead
from autodiff_rules.numpy._shared import unbroadcast
from autodiff_rules.scipy._bilinear import bilinear
from autodiff_rules.scipy._standins import stand_in, write_instead
from autodiff_rules.scipy.ndimage._windows import ZEROS, line_windows, require_apart, spread, windows


def filtered(x, w, options, cval):
    """The correlation with a line along an axis, or with a kernel of all axes if that is None."""
    axis, mode, origin = options
    y, w = np.empty(np.shape(x)), np.ascontiguousarray(w)
    if axis is None:
        _nd_image.correlate(x, w, y, mode, cval, origin)
    else:
        _nd_image.correlate1d(x, w, axis, y, mode, cval, origin)
    return y


def beside_image(c, w, options, shape):
    axis, mode, origin = options

    def backwards(whole, origins):
        return filtered(whole, np.flip(w), (axis, ZEROS, origins if axis is None else origins[0]), 0.0)

    axes, origins = (range(np.ndim(w)), origin) if axis is None else ([axis], [origin])
    return spread(c, np.shape(w), axes, mode, origins, backwards)


def beside_kernel(x, c, options, cval, shape):
    axis, mode, origin = options
    if axis is None:
        seen = windows(x, np.ones(shape, bool), mode, cval, origin)
    else:
        seen = line_windows(x, *shape, axis, mode, cval, origin)
    return np.reshape(np.array([np.vdot(part, c) for part in seen]), shape)


filtered_image = bilinear(filtered, beside_image, beside_kernel)


def correlate1d_image(input, weights, axis, output, mode, cval, origin):
    output[...] = filtered_image(input, weights, (axis, mode, origin), cval)


def correlate_image(input, weights, output, mode, cval, origins):
    output[...] = filtered_image(input, weights, (None, mode, origins), cval)


@write_instead(_nd_image.correlate1d, 3, fixed=correlate1d_image, at=(1, 5))
def correlate1d(input, weights, axis, output, mode, cval, origin):
    output[...] = filtered(input, weights, (axis, mode, origin), cval)


@write_instead(_nd_image.correlate, 2, fixed=correlate_image, at=(1, 4))
def correlate(input, weights, output, mode, cval, origins):
    output[...] = filtered(input, weights, (None, mode, origins), cval)


def uniform(x, size, axis, mode, cval, origin):
    """The mean of a window along an axis."""
    y = np.empty(np.shape(x))
    _nd_image.uniform_filter1d(x, size, axis, y, mode, cval, origin)
    return y


def uniform_by_image(ȳ, size, axis, mode, origin):
    def backwards(whole, origins):
        return uniform(whole, size, axis, ZEROS, 0.0, origins[0])

    return spread(ȳ, [size], [axis], mode, [origin], backwards)


def uniform_border(x, size, axis, mode, origin):
    """What ones beyond the borders add to the mean."""
    return uniform(np.zeros(np.shape(x)), size, axis, mode, 1.0, origin)


cotangents(
    uniform,
    "x, size, axis, mode, cval, origin",
    0,
    x=lambda ȳ, x, size, axis, mode, origin: unbroadcast(uniform_by_image(ȳ, size, axis, mode, origin), x),
    cval=lambda ȳ, x, size, axis, mode, origin: np.vdot(uniform_border(x, size, axis, mode, origin), ȳ),
)
frule(uniform, lambda ẋ, y, x, size, axis, mode, cval, origin: uniform(ẋ, size, axis, mode, 0.0, origin))
linear(
    uniform_by_image,
    "x̄, size, axis, mode, origin",
    lambda ȳ, size, axis, mode, origin: uniform(ȳ, size, axis, mode, 0.0, origin),
    kinds=0,
)
fresh(uniform, uniform_by_image)


@write_instead(_nd_image.uniform_filter1d, 3)
def uniform_filter1d(input, size, axis, output, mode, cval, origin):
    output[...] = uniform(input, size, axis, mode, cval, origin)


def generic_filter(input, function, footprint, output, mode, cval, origins, arguments, keywords):
    """``_nd_image.generic_filter``: a call for each element, with what is around it."""
    if isinstance(function, LowLevelCallable):
        raise NotDifferentiable("scipy.ndimage.generic_filter with a compiled function is not differentiated")
    require_apart(output, input)
    around = np.stack([np.ravel(part) for part in windows(input, footprint, mode, cval, origins)], -1).astype(float)
    for row, place in enumerate(np.ndindex(*np.shape(output))):
        output[place] = function(around[row], *arguments, **keywords)


writes(_nd_image.generic_filter, 3)
follow_instead(_nd_image.generic_filter, generic_filter)


@stand_in(_nd_image.min_or_max_filter1d, 3)
def min_or_max_filter1d(input, size, axis, output, mode, cval, origin, minimum):
    seen = np.stack(line_windows(input, size, axis, mode, cval, origin))
    return np.min(seen, 0) if minimum else np.max(seen, 0)


@stand_in(_nd_image.min_or_max_filter, 3)
def min_or_max_filter(input, footprint, structure, output, mode, cval, origins, minimum):
    seen = windows(input, np.asarray(footprint, bool), mode, cval, origins)
    if structure is not None:
        added = structure[np.asarray(footprint, bool)]
        seen = [part - added[k] if minimum else part + added[k] for k, part in enumerate(seen)]
    return np.min(np.stack(seen), 0) if minimum else np.max(np.stack(seen), 0)


@stand_in(_nd_image.rank_filter, 3)
def rank_filter(input, rank, footprint, output, mode, cval, origins):
    seen = np.stack(windows(input, np.asarray(footprint, bool), mode, cval, origins))
    return np.sort(seen, 0)[rank]


@stand_in(_filters._rank_filter_1d.rank_filter, 3)
def rank_filter_1d(input, rank, size, output, mode, cval, origin):
    return np.sort(np.stack(line_windows(input, size, 0, mode, cval, origin)), 0)[rank]
