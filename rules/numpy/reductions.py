"""Sums and means, and what is made of them."""

import numpy as np

from autodiff_hook.cotangents import not_implemented
from autodiff_hook.extend import cotangents
from autodiff_hook.registry import rrule
from autodiff_hook.strong import over, times
from autodiff_rules.numpy._shared import ABSENT, array_rrule, conj, expand_reduced, reshaped, restore_axes, unbroadcast


@array_rrule(np.sum)
@rrule(np.ndarray.sum)
@rrule(np.generic.sum)
def sum_rule(a, axis=None, dtype=None, out=None, keepdims=False, initial=0, where=True):
    def sum_pullback(ȳ):
        ā = expand_reduced(ȳ, a, axis, keepdims)
        return ā if where is True else times(ā, where), None, None, None, None, unbroadcast(ȳ, initial), None

    return np.add.reduce(a, axis, dtype, out, keepdims, initial, where), sum_pullback


@cotangents(
    (np.mean, np.ndarray.mean, np.generic.mean), "a, axis=None, dtype=None, out=None, keepdims=False, *, where=True"
)
def mean_cotangent(ȳ, y, a, axis, keepdims, where):
    if where is True:
        ā = expand_reduced(ȳ / (np.size(a) / max(np.size(y), 1)), a, axis, keepdims)
    else:
        mask = np.broadcast_to(where, np.shape(a))
        ā = times(expand_reduced(over(ȳ, mask.sum(axis, keepdims=keepdims)), a, axis, keepdims), mask)
    return ā


DDOF = not_implemented("that of a variance with respect to ddof")


def spread_rule(target, is_root, skips_nan):
    """The rule of a variance, or of the root of one, perhaps of what is not nan."""

    def rule(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, mean=ABSENT, *, where=True, correction=None):
        lost = ddof if correction is None else correction
        y = target(a, axis, dtype, out, lost, keepdims, where=where, mean=mean)

        def spread_pullback(ȳ):
            c = over(0.5 * ȳ, np.where(y == 0, np.inf, y)) if is_root else ȳ
            ā = deviations(c, a, axis, keepdims, lost, mean, ~np.isnan(a) & where if skips_nan else where)
            m̄ = None if mean is ABSENT else unbroadcast(-ā, mean)
            return unbroadcast(ā, a), None, None, None, DDOF, None, m̄

        return y, spread_pullback

    return rule


for function, is_root in ((np.var, False), (np.std, True)):
    rule = spread_rule(function, is_root, False)
    array_rrule(function)(rule)
    for owner in (np.ndarray, np.generic):
        rrule(getattr(owner, function.__name__))(rule)
array_rrule(np.nanvar)(spread_rule(np.nanvar, False, True))
array_rrule(np.nanstd)(spread_rule(np.nanstd, True, True))


def var_tangent(ẋ, y, a, axis, keepdims, lost, mean):
    moved = np.sum(np.real(np.multiply(ẋ, conj(centred(a, axis, mean)))), axis, keepdims=keepdims)
    count = np.size(a) / max(np.size(y), 1) - lost
    return moved * (2.0 / count if count > 0 else 0.0)


def std_tangent(ẋ, y, a, axis, keepdims, lost, mean):
    """The tangent of standard deviations, zero where they are."""
    return 0.5 * var_tangent(ẋ, y, a, axis, keepdims, lost, mean) / np.where(y == 0, np.inf, y)


def deviations(ȳ, a, axis, keepdims, lost, mean, where):
    """The cotangent of ``a`` from that of its variance."""
    if where is not True:
        mask = np.broadcast_to(where, np.shape(a))
        count = np.sum(mask, axis, keepdims=True)
        c = over(2.0 * restore_axes(ȳ, a, axis, keepdims), np.maximum(count - lost, 0))
        return np.where(mask, times(c, centred(a, axis, mean, mask)), 0.0)
    count = np.size(a) / max(np.size(ȳ), 1)
    return times(restore_axes(over(2.0 * ȳ, max(count - lost, 0)), a, axis, keepdims), centred(a, axis, mean))


def centred(a, axis, mean, where=True):
    """How far ``a`` is from its mean: from what rounds to it, and then from the mean of that.

    Numbers that are all equal have deviations of rounding alone otherwise, by which a derivative of their standard
    deviation would be divided.
    """
    if mean is not ABSENT:
        return a - mean
    far = a - np.mean(a, axis, keepdims=True, where=where)
    return far - np.mean(far, axis, keepdims=True, where=where)


@cotangents(np.average, "a, axis=None, weights=None, returned=False, *, keepdims=False", 1, "a, weights")
def average_cotangents(ȳ, y, a, axis, weights, returned, keepdims):
    if weights is None and not returned:
        share = ȳ * (np.size(y) / max(np.size(a), 1))
        return unbroadcast(expand_reduced(share, a, axis, keepdims), a), None
    mean = y[0] if returned else y
    m̄, t̄ = ȳ if returned else (ȳ, None)
    w = aligned(weights, a, axis)
    total = np.sum(w + np.zeros(np.shape(a)), axis, keepdims=True)
    c = np.zeros(np.shape(a)) if m̄ is None else over(expand_reduced(m̄, a, axis, keepdims), conj(total))
    ā = unbroadcast(times(c, conj(w)), a)
    if weights is None:
        return ā, None
    c = times(c, conj(a - restore_axes(mean, a, axis, keepdims)))
    if t̄ is not None:
        c = c + restore_axes(t̄, a, axis, keepdims)
    return ā, weights_back(unbroadcast(c, w), weights, a, axis)


def aligned(weights, a, axis):
    """``weights`` in a shape that broadcasts against ``a``."""
    if weights is None:
        return np.ones((1,) * np.ndim(a))
    if np.shape(weights) == np.shape(a):
        return np.asarray(weights)
    axes = axis if isinstance(axis, tuple) else (axis,)
    ordered = np.transpose(weights, np.argsort([i % np.ndim(a) for i in axes]))
    return np.reshape(ordered, [n if i in [k % np.ndim(a) for k in axes] else 1 for i, n in enumerate(np.shape(a))])


def weights_back(c, weights, a, axis):
    """The cotangent of ``weights`` from that of what is ``aligned``."""
    if np.shape(weights) != np.shape(a) and isinstance(axis, tuple):
        order = np.argsort([i % np.ndim(a) for i in axis])
        c = np.transpose(np.reshape(c, [np.shape(weights)[i] for i in order]), np.argsort(order))
    return reshaped(c, weights)


@cotangents(np.nansum, "a, axis=None, dtype=None, out=None, keepdims=False, initial=0, where=True", 1, "a, initial")
def nansum_cotangents(ȳ, a, axis, keepdims, initial, where):
    ā = np.where(np.isnan(a) | np.logical_not(where), 0.0, expand_reduced(ȳ, a, axis, keepdims))
    return ā, unbroadcast(ȳ, initial)


@cotangents(np.nanmean, "a, axis=None, dtype=None, out=None, keepdims=False, *, where=True")
def nanmean_cotangent(ȳ, a, axis, keepdims, where):
    seen = ~np.isnan(a) & where
    c = expand_reduced(over(ȳ, np.sum(seen, axis, keepdims=keepdims)), a, axis, keepdims)
    return np.where(seen, c, 0.0)
