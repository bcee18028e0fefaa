"""Digital filters, with respect to their coefficients, the signal and the state.

With the coefficients divided by ``a[0]``, a step of the filter (direct form II transposed) is
y = z[0] + b[0] x; z[k] = z[k+1] + b[k+1] x - a[k+1] y. Transposed and backwards in time, this is
w = ȳ - Σ a[k] w[n+k], where w beyond the end is the cotangent of the last state; then b̄[k] = Σ x[n] w[n+k],
ā[k] = -Σ y[n] w[n+k], x̄[n] = Σ b[k] w[n+k], and the cotangent of the first state is w itself.
"""

import numpy as np
from scipy import signal
from scipy.signal import _signaltools

from autodiff_hook.extend import cotangents
from autodiff_rules.numpy._shared import unbroadcast
from autodiff_rules.scipy._standins import stand_in


def lfilter_cotangents(ȳ, y, b, a, x, axis, zi):
    y = y if zi is None else y[0]
    ȳ, state = (ȳ, None) if zi is None else ȳ
    ȳ = np.zeros(np.shape(y)) if ȳ is None else ȳ
    b̄, ā, x̄, z̄ = of_all(ȳ, state, y, np.asarray(b), np.asarray(a), np.asarray(x), axis)
    z̄ = None if zi is None else unbroadcast(z̄, zi)
    return unbroadcast(b̄, b), unbroadcast(ā, a), unbroadcast(x̄, x), z̄


for module in dict.fromkeys((signal, _signaltools)):
    cotangents(module.lfilter, "b, a, x, axis=-1, zi=None", 3, "b, a, x, zi")(lfilter_cotangents)


def of_all(ȳ, state, y, b, a, x, axis):
    """Those of b, a, x and the first state."""
    b, a = np.reshape(b, -1), np.reshape(a, -1)
    leading, length = a[0], max(np.size(a), np.size(b)) - 1
    b, a = np.conj(b / leading), np.conj(a / leading)
    ȳ, x, y = (np.moveaxis(v, axis, -1) for v in (ȳ, x, y))
    ends = np.zeros((*np.shape(x)[:-1], length)) if state is None else np.moveaxis(state, axis, -1)
    w = np.concatenate((backwards(ȳ, ends, a), ends), -1)
    b̄ = overlaps(np.conj(x), w, np.size(b))
    ā = -overlaps(np.conj(y), w, np.size(a))
    scaled = -(np.sum(b̄ * b) + np.sum(ā[1:] * a[1:]))
    x̄ = signal.lfilter(b, np.array([1.0, 0.0]), w[..., ::-1])[..., ::-1][..., : np.shape(x)[-1]]
    ā = np.concatenate((np.reshape(scaled, 1), ā[1:]))
    divisor = np.conj(leading)
    return b̄ / divisor, ā / divisor, np.moveaxis(x̄, -1, axis), np.moveaxis(w[..., :length], -1, axis)


def backwards(ȳ, ends, a):
    """w: the recursion that a filter's poles are, from the end, where w goes on as ``ends``."""
    order = np.size(a) - 1
    if order == 0:
        return ȳ
    states = [-np.sum(ends[..., : order - k] * a[k + 1 :], -1) for k in range(order)]
    return signal.lfilter(np.array([1.0]), a, ȳ[..., ::-1], zi=np.stack(states, -1))[0][..., ::-1]


def overlaps(x, w, count):
    """Σ x[n] w[n+k] for the first ``count`` k."""
    length = np.shape(x)[-1]
    return np.stack([np.sum(x * w[..., k : k + length]) for k in range(count)])


@stand_in(_signaltools._sosfilt, 1, 2)
def sosfilt(sos, x, zi):
    """Each section filters what the last one gave."""
    states = []
    for section in range(len(sos)):
        b, a = sos[section, :3], sos[section, 3:]
        x, state = signal.lfilter(b, a, x, zi=zi[:, section])
        states.append(state)
    return x, np.stack(states, 1)


def stationary_state(b, a):
    """The state of ``lfilter_zi``: it depends on ``a[0]`` where that is 1 and SciPy does not divide, too."""
    b, a = np.atleast_1d(b), np.atleast_1d(a)
    a = a[np.flatnonzero(a)[0] :]
    b, a = b / a[0], a / a[0]
    size = max(len(a), len(b))
    b, a = (np.concatenate((c, np.zeros(size - len(c)))) for c in (b, a))
    companion = np.concatenate((-a[None, 1:], np.eye(size - 2, size - 1)))
    return np.linalg.solve(np.eye(size - 1) - companion.T, b[1:] - a[1:] * b[0])


def state_of_past(b, a, y, x=None):
    b, a, y = map(np.atleast_1d, (b, a, y))
    x = np.zeros(0) if x is None else np.atleast_1d(x)
    steps = range(max(len(a), len(b)) - 1)
    return np.array([met(b, x, m) - met(a, y, m) for m in steps]) / a[0]


def met(c, values, m):
    """What past values contribute to the element ``m`` of the state."""
    part = c[m + 1 : m + 1 + len(values)]
    return np.sum(part * values[: len(part)])


for module in dict.fromkeys((signal, _signaltools)):
    stand_in(module.lfilter_zi)(stationary_state)
    stand_in(module.lfiltic)(state_of_past)
