"""``upfirdn``: zeros put between the samples, a filter, and some samples of what it gives."""

import numpy as np
from scipy.signal import _upfirdn

from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.extend import cotangents
from autodiff_rules.scipy._bilinear import bilinear
from autodiff_rules.scipy._borders import extended, folded
from autodiff_rules.scipy._standins import define, write_instead

BORDERS = {
    _upfirdn.mode_enum("constant"): "constant",
    _upfirdn.mode_enum("symmetric"): "reflect",
    _upfirdn.mode_enum("reflect"): "mirror",
    _upfirdn.mode_enum("edge"): "nearest",
    _upfirdn.mode_enum("wrap"): "wrap",
}
"""``scipy.signal``'s borders by the names of ``scipy.ndimage``'s."""

NUMBERS = {name: _upfirdn.mode_enum(name) for name in _upfirdn._upfirdn_modes}


def number_of(mode):
    if mode not in NUMBERS:
        raise ValueError(f"Unknown mode: {mode}")
    return NUMBERS[mode]


define(_upfirdn.mode_enum, number_of)
cotangents(_upfirdn._output_len, "len_h, in_len, up, down", 0, len_h=lambda ȳ: None)


def resampled(x, phases, options, cval):
    """y[n] = Σ h[n·down - m·up] x[m]; ``phases`` has the filter by phases, each backwards."""
    up, down, axis, mode, length = options
    if min(up, down) < 1 or np.size(phases) % up:
        raise ValueError("the filter does not have so many phases")  # the native loop relies on it
    shape = [length if i == axis else n for i, n in enumerate(np.shape(x))]
    dtype = np.result_type(x, phases)
    y = np.zeros(shape, dtype)
    _upfirdn._apply(np.asarray(x, dtype), np.asarray(phases, dtype), y, up, down, axis, mode, cval)
    return y


def reach(phases, options, size):
    """How many samples are needed before the first one, and after the last."""
    up, down, axis, mode, length = options
    return np.size(phases) // up - 1, max(0, (length - 1) * down // up + 1 - size)


def beside_signal(c, phases, options, shape):
    """The filter backwards, with ``up`` and ``down`` exchanged; what is beyond the borders comes back."""
    up, down, axis, mode, length = options
    before, after = reach(phases, options, shape[axis])
    backwards = np.append(0.0, np.flip(np.reshape(phases, (up, -1)).T, 1))
    found = np.moveaxis(_upfirdn.upfirdn(backwards, c, down, up, axis), axis, 0)[1:]
    whole = np.zeros((before + shape[axis] + after, *found.shape[1:]), found.dtype)
    whole[: len(found)] = found[: len(whole)]
    return folded(np.moveaxis(whole, 0, axis), axis, before, shape[axis], BORDERS[mode])


def beside_filter(x, c, options, cval, shape):
    up, down, axis, mode, length = options
    before, after = reach(np.zeros(shape), options, np.shape(x)[axis])
    places = np.arange(length) * down
    whole = np.moveaxis(extended(x, axis, before, after, BORDERS[mode], cval), axis, 0)
    rows = np.reshape(np.moveaxis(c, axis, 0), (length, -1))
    whole = np.reshape(whole, (len(whole), -1))
    taps = np.zeros((up, before + 1), np.result_type(x, c))
    for k in range(before + 1):
        np.add.at(taps[:, k], places % up, np.sum(rows * whole[places // up + before - k], 1))
    return np.reshape(taps[:, ::-1], shape)


resampled_signal = bilinear(resampled, beside_signal, beside_filter)


def require_borders(mode):
    if mode not in BORDERS:
        raise NotDifferentiable("scipy.signal.upfirdn is not differentiated for extrapolating or antisymmetric borders")


def apply_to_signal(x, phases, out, up, down, axis, mode, cval):
    require_borders(mode)
    out[...] = resampled_signal(x, phases, (up, down, axis, mode, out.shape[axis]), cval)


@write_instead(_upfirdn._apply, 2, fixed=apply_to_signal, at=(1, 7))
def apply(x, phases, out, up, down, axis, mode, cval):
    require_borders(mode)
    out[...] = resampled(x, phases, (up, down, axis, mode, out.shape[axis]), cval)
