"""Differences, quadrature, interpolation and convolution of samples."""

import numpy as np

from autodiff_hook.extend import cotangents
from autodiff_hook.registry import nondifferentiable
from autodiff_hook.strong import times
from autodiff_rules._definitions import defines
from autodiff_rules.numpy._shared import ABSENT, conj, reshaped, unbroadcast
from autodiff_rules.numpy.indexing import scatter_add


@cotangents(np.diff, "a, n=1, axis=-1, prepend=np._NoValue, append=np._NoValue", 1, "a, prepend, append")
def diff_cotangents(ȳ, a, n, axis, prepend, append):
    if n == 0:
        return unbroadcast(ȳ, a), None, None
    for _ in range(n):
        ȳ = -np.diff(ȳ, 1, axis, 0.0, 0.0)
    place = axis % np.ndim(a)
    start = joined_length(a, prepend, axis)
    stop = start + np.shape(a)[axis]
    lead = (slice(None),) * place
    before = None if prepend is ABSENT else unbroadcast(ȳ[(*lead, slice(0, start))], prepend)
    after = None if append is ABSENT else unbroadcast(ȳ[(*lead, slice(stop, None))], append)
    return unbroadcast(ȳ[(*lead, slice(start, stop))], a), before, after


def diff_tangent(ȧ, n, axis, prepend, append):
    """The tangent of differences, of constants before and behind."""
    before = ABSENT if prepend is ABSENT else np.zeros(np.shape(prepend))
    after = ABSENT if append is ABSENT else np.zeros(np.shape(append))
    return np.diff(ȧ, n, axis, before, after)


@nondifferentiable
def joined_length(a, x, axis):
    if x is ABSENT:
        return 0
    return 1 if np.ndim(x) == 0 else np.shape(x)[axis]


# Whole turns are added.
cotangents(np.unwrap, "p, discont=None, axis=-1, *, period=2 * np.pi", p=lambda ȳ, p: unbroadcast(ȳ, p))


@cotangents(np.ediff1d, "ary, to_end=None, to_begin=None", 1, "ary, to_end, to_begin")
def ediff1d_cotangents(ȳ, ary, to_end, to_begin):
    start = 0 if to_begin is None else np.size(to_begin)
    stop = start + max(np.size(ary) - 1, 0)
    c = -np.diff(ȳ[start:stop], 1, -1, 0.0, 0.0)[: np.size(ary)]
    end = None if to_end is None else reshaped(ȳ[stop:], to_end)
    begin = None if to_begin is None else reshaped(ȳ[:start], to_begin)
    return reshaped(c, ary), end, begin


@cotangents(np.trapezoid, "y, x=None, dx=1.0, axis=-1", 2, "y, x, dx")
def trapezoid_cotangents(ȳ, y, x, dx, axis):
    lower, upper = both_ends(y, axis)
    ȳ = 0.5 * np.expand_dims(ȳ, axis)
    steps = dx if x is None else along(np.diff(x, 1, -1 if np.ndim(x) == 1 else axis), y, axis)
    areas = ȳ * conj(steps) + np.zeros(lower.shape)
    if np.shape(y)[axis] == 2:
        areas = areas.sum(axis, keepdims=True)  # one height for all steps
    several = np.shape(y)[axis] > 0
    ordinates = np.add(*padded(areas, axis)) if several else areas
    heights = ȳ * conj(lower + upper)
    if x is None:
        return unbroadcast(ordinates, y), None, unbroadcast(heights, dx)
    if np.shape(y)[axis] == 2:
        heights = heights + np.zeros(np.shape(steps))
    elif np.shape(x)[-1 if np.ndim(x) == 1 else axis] == 2:
        heights = heights.sum(axis, keepdims=True)  # one step for all heights
    before, after = padded(heights, axis) if several else (heights, heights)
    return unbroadcast(ordinates, y), along_back(after - before, x, axis), None


def both_ends(y, axis):
    """``y`` without the last, and without the first, along ``axis``."""
    lead = (slice(None),) * (axis % np.ndim(y))
    return y[(*lead, slice(None, -1))], y[(*lead, slice(1, None))]


def padded(c, axis):
    """``c`` with a zero after, and with a zero before, along ``axis``."""
    lead = (slice(None),) * (axis % c.ndim)
    zero = np.zeros(c[(*lead, slice(0, 1))].shape) if c.shape[axis] else np.zeros(one_along(c, axis))
    return np.concatenate([c, zero], axis), np.concatenate([zero, c], axis)


@nondifferentiable
def one_along(c, axis):
    """The shape of ``c`` with length 1 along ``axis``."""
    return [1 if i == axis % c.ndim else n for i, n in enumerate(c.shape)]


def along(steps, y, axis):
    """A vector of steps as an array that broadcasts along ``axis`` of ``y``."""
    return (
        np.reshape(steps, [-1 if i == axis % np.ndim(y) else 1 for i in range(np.ndim(y))])
        if steps.ndim == 1
        else steps
    )


def along_back(c, x, axis):
    """The cotangent of the vector or array ``x`` of abscissas."""
    if np.ndim(x) == 1 and c.ndim > 1:
        c = c.sum(tuple([i for i in range(c.ndim) if i != axis % c.ndim]))
    return unbroadcast(c, x)


@cotangents(np.interp, "x, xp, fp, left=None, right=None", 1, "x, xp, fp, left, right")
def interp_cotangents(ȳ, x, xp, fp, left, right):
    nodes, values = np.asarray(xp), np.asarray(fp)
    if not len(nodes):
        return unbroadcast(ȳ, x), unbroadcast(nodes, xp), unbroadcast(values, fp), None, None
    if np.ndim(x) == 0 and left is None and right is None:
        low, high, within = segment(x, nodes)
        start, first = nodes.item(low), values.item(low)
        width = nodes.item(high) - start + (1.0 - within)
        part = times(within, (x - start) / width)
        x_share = times(ȳ, conj(times(within, (values.item(high) - first) / width)))
        return (
            unbroadcast(x_share, x),
            at_nodes(times(-x_share, 1.0 - part), times(-x_share, part), low, high, xp),
            at_nodes(times(ȳ, 1.0 - part), times(ȳ, part), low, high, fp),
            None,
            None,
        )
    nodes, values = as_floats(nodes), as_floats(values)
    low, high = segments(x, nodes)
    below, above = np.less(x, nodes[0]), np.greater(x, nodes[-1])
    inside = np.where(below | above, 0.0, ȳ)
    width = np.where(high == low, 1.0, nodes[high] - nodes[low])
    slope = (values[high] - values[low]) / width
    part = np.where(below | above, 0.0, (x - nodes[low]) / width)
    low_share = times(inside, 1.0 - part)
    if left is None:
        low_share = low_share + np.where(below, ȳ, 0.0)
    high_share = times(inside, part)
    if right is None:
        high_share = high_share + np.where(above, ȳ, 0.0)
    x_share = times(inside, conj(slope))
    return (
        unbroadcast(x_share, x),
        at_nodes(times(-x_share, 1.0 - part), times(-x_share, part), low, high, xp),
        at_nodes(low_share, high_share, low, high, fp),
        None if left is None else unbroadcast(np.where(below, ȳ, 0.0), left),
        None if right is None else unbroadcast(np.where(above, ȳ, 0.0), right),
    )


def as_floats(x):
    """An array of which differences are those of numbers: not of booleans, or of whole numbers without a sign."""
    array = np.asarray(x)
    return np.asarray(array, np.result_type(float, array))


def interp_slope(x, xp, fp):
    nodes, values = as_floats(xp), as_floats(fp)
    if not len(nodes):
        return np.zeros(np.shape(x))
    low, high = segments(x, nodes)
    width = np.where(high == low, 1.0, nodes[high] - nodes[low])
    return np.where(np.less(x, nodes[0]) | np.greater(x, nodes[-1]), 0.0, (values[high] - values[low]) / width)


def interp_tangent(ḟp, x, xp, left, right):
    """What the tangent of the values contributes to that of ``np.interp``."""
    return np.interp(x, xp, ḟp, None if left is None else 0.0, None if right is None else 0.0)


@defines(np.interp)
def interp(x, xp, fp, left=None, right=None, period=None):
    """``np.interp`` with a period: the nodes of one, and one more on either side."""
    if period == 0:
        raise ValueError("period must be a non-zero value")
    length = np.abs(period)
    places, values = np.asarray(xp) % length, np.asarray(fp)
    order = np.argsort(places)
    places, values = places[order], values[order]
    around = np.concatenate((places[-1:] - length, places, places[:1] + length))
    return np.interp(np.asarray(x) % length, around, np.concatenate((values[-1:], values, values[:1])))


@nondifferentiable
def segments(x, nodes):
    last = len(nodes) - 1
    low = np.clip(np.searchsorted(nodes, x, "right") - 1, 0, max(last - 1, 0))
    return low, np.minimum(low + 1, last)


@nondifferentiable
def segment(x, nodes):
    """The places of the nodes around a number, and 1.0; beyond all nodes twice that of the last one, and 0.0."""
    last = len(nodes) - 1
    if x < nodes[0] or x > nodes[last]:
        place = 0 if x < nodes[0] else last
        return place, place, 0.0
    low = min(max(int(nodes.searchsorted(x, "right")) - 1, 0), max(last - 1, 0))
    return low, min(low + 1, last), 1.0 if last else 0.0


def at_nodes(low_share, high_share, low, high, x):
    """The cotangent of the nodes or values ``x`` from the shares of each segment's ends."""
    shape, dtype = np.shape(x), np.result_type(float, low_share)
    return unbroadcast(scatter_add(shape, dtype, low, low_share) + scatter_add(shape, dtype, high, high_share), x)


@cotangents(np.convolve, "a, v, mode='full'", 2, "a, v")
def convolve_cotangents(ȳ, y, a, v):
    before, after = trimmed(np.size(a), np.size(v), np.size(y))
    c = np.concatenate([np.zeros(before), ȳ, np.zeros(after)])
    ā, v̄ = np.correlate(c, np.atleast_1d(v), "valid"), np.correlate(c, np.atleast_1d(a), "valid")
    return reshaped(ā, a), reshaped(v̄, v)


@nondifferentiable
def trimmed(m, n, length):
    """How much of the full convolution of ``m`` and ``n`` samples is cut off before and after."""
    lost = m + n - 1 - length
    return lost // 2, lost - lost // 2


@cotangents(np.correlate, "a, v, mode='valid'", 2, "a, v")
def correlate_cotangents(ȳ, a, v):
    before, after = trimmed(len(a), len(v), len(ȳ))
    if len(v) > len(a):
        before, after = after, before
    c = np.concatenate([np.zeros(before), ȳ, np.zeros(after)])
    ā = np.correlate(c, conj(np.asarray(v))[::-1], "valid")
    v̄ = np.correlate(c, a, "valid")
    return unbroadcast(ā, a), unbroadcast(conj(v̄)[::-1], v)
