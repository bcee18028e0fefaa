"""Digital filters, with respect to their coefficients, the signal and the state.

With the coefficients divided by ``a[0]``, a step of the filter (direct form II transposed) is
y = z[0] + b[0] x; z[k] = z[k+1] + b[k+1] x - a[k+1] y. Transposed and backwards in time, this is
w = ȳ - Σ a[k] w[n+k], where w beyond the end is the cotangent of the last state; then b̄[k] = Σ x[n] w[n+k],
ā[k] = -Σ y[n] w[n+k], x̄[n] = Σ b[k] w[n+k], and the cotangent of the first state is w itself.
"""

import numpy as np
from scipy import signal
from scipy.signal import _signaltools

from autodiff_hook.extend import cotangents, fresh
from autodiff_hook.registry import frule
from autodiff_rules.numpy._shared import unbroadcast
from autodiff_rules.scipy._standins import stand_in, write_instead


def lfilter_cotangents(ȳ, y, b, a, x, axis, zi):
    y = y if zi is None else y[0]
    ȳ, state = (ȳ, None) if zi is None else ȳ
    ȳ = np.zeros(np.shape(y)) if ȳ is None else ȳ
    b̄, ā, x̄, z̄ = of_all(ȳ, state, y, np.asarray(b), np.asarray(a), np.asarray(x), axis)
    z̄ = None if zi is None else unbroadcast(z̄, zi)
    return unbroadcast(b̄, b), unbroadcast(ā, a), unbroadcast(x̄, x), z̄


def filtered(b, a, x, axis, zi):
    """What a filter makes of a signal, from rest."""
    return signal.lfilter(b, a, x, axis, None if zi is None else np.zeros(np.shape(zi)))


def poles_moved(ȧ, y, b, a, x, axis, zi):
    """The tangent of a filtered signal by that of the recursion: y times ``ȧ``, filtered, is what is missing."""
    if zi is None:
        return -signal.lfilter(ȧ, a, y, axis)
    ȧ, a, b = (np.reshape(c, -1) for c in (ȧ, a, b))
    step = ȧ[0] / a[0]
    moved = longer(np.concatenate((np.zeros(1), step * a[1:] - ȧ[1:])), max(np.size(a), np.size(b)))
    ẏ, ends = filtered(-step * b, a, x, axis, zi)
    ẏ_of_poles, ends_of_poles = filtered(moved, a, y[0], axis, zi)
    return ẏ + ẏ_of_poles, ends + ends_of_poles


for module in dict.fromkeys((signal, _signaltools)):
    cotangents(module.lfilter, "b, a, x, axis=-1, zi=None", 3, "b, a, x, zi")(lfilter_cotangents)
    frule(
        module.lfilter,
        lambda ḃ, y, b, a, x, axis, zi: filtered(ḃ, a, x, axis, zi),
        lambda ȧ, y, b, a, x, axis, zi: poles_moved(ȧ, y, b, a, x, axis, zi),
        lambda ẋ, y, b, a, x, axis, zi: filtered(b, a, ẋ, axis, zi),
        None,
        lambda żi, y, b, a, x, axis, zi: signal.lfilter(b, a, np.zeros(np.shape(x)), axis, żi),
    )


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


def sections(sos, x, zi):
    """What each section makes of what the last one gave, and their last states."""
    dtype = np.result_type(sos, x, zi)
    y, states = np.array(x, dtype, order="C"), np.array(zi, dtype, order="C")
    _signaltools._sosfilt(np.array(sos, dtype), y, states)
    return y, states


def sections_of_signal(sos, x, zi):
    """The same, if the coefficients have no derivative."""
    return sections(sos, x, zi)


def of_signal(ȳ, sos, x, zi):
    """The cotangents of the signal and the first states."""
    c, ends = ends_of(ȳ, x, zi)
    states = []
    for section in range(len(sos))[::-1]:
        b, a = np.conj(sos[section, :3]), np.conj(sos[section, 3:])
        w = np.concatenate((backwards(c, ends[:, section], a), ends[:, section]), -1)
        c = signal.lfilter(b, np.array([1.0]), w[..., ::-1])[..., ::-1][..., : np.shape(x)[-1]]
        states.append(w[..., :2])
    return unbroadcast(c, x), unbroadcast(np.stack(states[::-1], 1), zi)


def of_coefficients(ȳ, sos, x, zi):
    """The cotangents of the coefficients: the signals between the sections are made once more."""
    c, ends = ends_of(ȳ, x, zi)
    signals = [x]
    for section in range(len(sos)):
        b, a = sos[section, :3], sos[section, 3:]
        signals.append(signal.lfilter(b, a, signals[-1], zi=zi[:, section])[0])
    rows = []
    for section in range(len(sos))[::-1]:
        b, a = sos[section, :3], sos[section, 3:]
        b̄, ā, c, _ = of_all(c, ends[:, section], signals[section + 1], b, a, signals[section], -1)
        rows.append(np.concatenate((b̄, ā)))
    return unbroadcast(np.stack(rows[::-1]), sos)


def ends_of(ȳ, x, zi):
    """The cotangents of what comes out, and of the last states."""
    c, ends = ȳ
    return np.zeros(np.shape(x)) if c is None else c, np.zeros(np.shape(zi)) if ends is None else ends


cotangents(sections, "sos, x, zi", 0, **{"x, zi": of_signal, "sos": of_coefficients})
cotangents(sections_of_signal, "sos, x, zi", 0, **{"x, zi": of_signal})
frule(
    (sections, sections_of_signal),
    None,
    lambda ẋ, y, sos, x, zi: sections_of_signal(sos, ẋ, np.zeros(np.shape(zi))),
    lambda żi, y, sos, x, zi: sections_of_signal(sos, np.zeros(np.shape(x)), żi),
)
fresh(signal.lfilter, signal.lfilter_zi, sections, sections_of_signal)


def sosfilt_of_signal(sos, x, zi):
    y, states = sections_of_signal(sos, x, zi)
    x[...] = y
    zi[...] = states


@write_instead(_signaltools._sosfilt, 1, 2, fixed=sosfilt_of_signal, at=(0,))
def sosfilt(sos, x, zi):
    y, states = sections(sos, x, zi)
    x[...] = y
    zi[...] = states


def stationary_state_cotangents(ȳ, y, b, a):
    """Those of ``lfilter_zi``: it depends on ``a[0]`` where that is 1 and SciPy does not divide, too.

    The state solves z[k] - z[k+1] + a[k+1] z[0] = b[k+1] - a[k+1] b[0], with the coefficients divided by ``a[0]``.
    """
    b, a = np.atleast_1d(b), np.atleast_1d(a)
    zeros = np.flatnonzero(a)[0]
    leading, size = a[zeros], len(y) + 1
    b, a = np.conj(longer(b, size) / leading), np.conj(longer(a[zeros:], size) / leading)
    steps = np.eye(size - 1) - np.eye(size - 1, k=1)
    matrix = steps + np.concatenate((a[1:, None], np.zeros((size - 1, size - 2))), 1)
    c = np.linalg.solve(matrix.T, ȳ)
    b̄ = np.concatenate((-np.reshape(np.sum(a[1:] * c), 1), c))
    rest = -c * (np.conj(y[0]) + b[0])
    ā = np.concatenate((np.reshape(-np.sum(b̄ * b) - np.sum(rest * a[1:]), 1), rest))
    divisor = np.conj(leading)
    return b̄ / divisor, np.concatenate((np.zeros(zeros), ā / divisor))


def longer(c, size):
    return np.concatenate((c, np.zeros(size - len(c))))


def state_of_past(b, a, y, x=None):
    b, a, y = map(np.atleast_1d, (b, a, y))
    x = np.zeros(0) if x is None else np.atleast_1d(x)
    steps = range(max(len(a), len(b)) - 1)
    return np.array([met(b, x, m) - met(a, y, m) for m in steps]) / a[0]


def met(c, values, m):
    """What past values contribute to the element ``m`` of the state."""
    part = c[m + 1 : m + 1 + len(values)]
    return np.sum(part * values[: len(part)])


def state_cotangents(ȳ, y, b, a):
    b̄, ā = stationary_state_cotangents(ȳ, y, np.asarray(b), np.asarray(a))
    return unbroadcast(b̄[: np.size(b)], b), unbroadcast(ā[: np.size(a)], a)


for module in dict.fromkeys((signal, _signaltools)):
    cotangents(module.lfilter_zi, "b, a", 2, "b, a")(state_cotangents)
    stand_in(module.lfiltic)(state_of_past)
