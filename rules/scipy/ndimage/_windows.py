"""An image moved by each place of a kernel, beyond its borders as ``mode`` says."""

import numpy as np
from scipy.ndimage import _ni_support

from autodiff_rules.scipy._borders import CONSTANT, PADDING, extended

MODES = {_ni_support._extend_mode_to_code(name): name for name in (*PADDING, *CONSTANT)}
"""The names of SciPy's numbers; what has the same number is the same."""


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
