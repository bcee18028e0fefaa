"""``upfirdn``: zeros put between the samples, a filter, and some samples of what it gives."""

import numpy as np
from scipy.signal import _upfirdn

from autodiff_hook.errors import NotDifferentiable
from autodiff_rules.scipy._borders import extended
from autodiff_rules.scipy._standins import stand_in

BORDERS = {
    _upfirdn.mode_enum("constant"): "constant",
    _upfirdn.mode_enum("symmetric"): "reflect",
    _upfirdn.mode_enum("reflect"): "mirror",
    _upfirdn.mode_enum("edge"): "nearest",
    _upfirdn.mode_enum("wrap"): "wrap",
}
"""``scipy.signal``'s borders by the names of ``scipy.ndimage``'s."""


@stand_in(_upfirdn._apply, 2)
def apply(x, phases, out, up, down, axis, mode, cval):
    """out[n] = Σ h[n·down - m·up] x[m]; ``phases`` has the filter by phases, each backwards."""
    if mode not in BORDERS:
        raise NotDifferentiable("scipy.signal.upfirdn is not differentiated for extrapolating or antisymmetric borders")
    taps = np.reshape(phases, (up, -1))[:, ::-1]
    count = np.shape(taps)[1]
    x = np.moveaxis(x, axis, -1)
    places = np.arange(np.shape(out)[axis]) * down
    newest = places // up
    beyond = max(0, int(newest[-1]) + 1 - np.shape(x)[-1])
    x = extended(x, -1, count - 1, beyond, BORDERS[mode], cval)
    result = 0.0
    for k in range(count):
        result = result + taps[places % up, k] * x[..., newest + (count - 1 - k)]
    return np.moveaxis(result, -1, axis)
