"""An image moved by each place of a kernel, beyond its borders as ``mode`` says; and the transpose of that."""

import numpy as np
from scipy.ndimage import _ni_support

from autodiff_hook.registry import nondifferentiable
from autodiff_hook.runtime import overlaps
from autodiff_rules.scipy._borders import CONSTANT, PADDING, extended, folded

MODES = {_ni_support._extend_mode_to_code(name): name for name in (*PADDING, *CONSTANT)}
"""The names of SciPy's numbers; what has the same number is the same."""
ZEROS = _ni_support._extend_mode_to_code("constant")


@nondifferentiable
def require_apart(output, input):
    overlaps.require_apart(output, input)


def line_windows(x, size, axis, mode, cval, origin):
    """``x`` moved along an axis by each place of a window, as a list."""
    before = size // 2 + origin
    length = np.shape(x)[axis]
    whole = np.moveaxis(extended(x, axis, before, size - 1 - before, MODES[mode], cval), axis, -1)
    return [np.moveaxis(whole[..., k : k + length], -1, axis) for k in range(size)]


def windows(x, footprint, mode, cval, origins):
    """``x`` moved by each true place of a footprint, as a list."""
    shape, whole = np.shape(x), x
    for axis, (size, origin) in enumerate(zip(footprint.shape, origins)):
        before = size // 2 + origin
        whole = extended(whole, axis, before, size - 1 - before, MODES[mode], cval)
    return [whole[tuple([slice(k, k + n) for k, n in zip(place, shape)])] for place in np.argwhere(footprint).tolist()]


def spread(ȳ, sizes, axes, mode, origins, backwards):
    """The transpose of a filter: ``backwards``, which is the filter with its kernel turned around, and its origins.

    What a window has seen beyond the borders comes back to where it was taken from.
    """
    shape = list(np.shape(ȳ))
    for axis, size in zip(axes, sizes):
        shape[axis] += size - 1
    whole = np.zeros(shape)
    whole[tuple([slice(n) for n in np.shape(ȳ)])] = ȳ
    whole = backwards(whole, [(size - 1) // 2 for size in sizes])
    for axis, size, origin in zip(axes, sizes, origins):
        whole = folded(whole, axis, size // 2 + origin, np.shape(ȳ)[axis], MODES[mode])
    return whole
