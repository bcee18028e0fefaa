"""Products, and running sums and products."""

import numpy as np

from autodiff_hook.extend import cotangents, linear
from autodiff_hook.registry import nondifferentiable
from autodiff_hook.strong import over, times
from autodiff_rules.numpy._shared import conj, reshaped, restore_axes, unbroadcast
from autodiff_rules.numpy.axes import from_last, to_last
from autodiff_rules.numpy.indexing import take_along_axis_cotangent

PRODUCTS = "a, axis=None, dtype=None, out=None, keepdims=False, initial=1, where=True"


@cotangents((np.prod, np.ndarray.prod, np.generic.prod), PRODUCTS, 1, "a, initial")
def prod_cotangents(ȳ, y, a, axis, keepdims, initial, where):
    present = a if where is True else np.where(where, a, 1.0)
    if np.all(np.not_equal(present, 0)):
        c = over(restore_axes(times(ȳ, conj(y)), a, axis, keepdims), conj(present))
    else:
        c = times(restore_axes(times(ȳ, conj(initial)), a, axis, keepdims), conj(others(present, axis)))
    ī = None
    if not (isinstance(initial, int) and initial == 1):
        ī = unbroadcast(times(ȳ, conj(np.prod(present, axis, keepdims=keepdims))), initial)
    return unbroadcast(c if where is True else np.where(where, c, 0.0), a), ī


def prod_tangent(ẋ, y, a, axis, keepdims, initial, where):
    """The tangent of products: of each factor, times all others."""
    present = a if where is True else np.where(where, a, 1.0)
    ẋ = ẋ if where is True else np.where(where, ẋ, 0.0)
    if np.all(np.not_equal(present, 0)):
        return y * np.sum(over(ẋ, present), axis, keepdims=keepdims)
    return initial * np.sum(times(ẋ, others(present, axis)), axis, keepdims=keepdims)


@cotangents(np.nanprod, PRODUCTS, 1, "a, initial")
def nanprod_cotangents(ȳ, y, a, axis, keepdims, initial, where):
    x̄, ī = prod_cotangents(ȳ, y, np.where(np.isnan(a), 1.0, a), axis, keepdims, initial, where)
    return unbroadcast(np.where(np.isnan(a), 0.0, x̄), a), ī


def others(a, axis):
    """For each element the product of all others."""
    last = to_last(np.asarray(a), axis)
    before = [np.ones(last.shape[:-1])]
    after = [np.ones(last.shape[:-1])]
    for i in range(last.shape[-1] - 1):
        before.append(before[-1] * last[..., i])
        after.append(after[-1] * last[..., -1 - i])
    return from_last(np.stack(before, -1) * np.stack(after[::-1], -1), a, axis)


linear(
    (np.cumsum, np.ndarray.cumsum, np.generic.cumsum),
    "a, axis=None, dtype=None, out=None",
    lambda ȳ, a, axis: reshaped(reverse_cumsum(ȳ, axis), a),
)


def reverse_cumsum(c, axis):
    """The sums of all elements from each to the last."""
    if c.ndim == 1:
        return c[::-1].cumsum()[::-1]
    return np.flip(np.flip(c, axis).cumsum(axis), axis)


@cotangents((np.cumprod, np.ndarray.cumprod, np.generic.cumprod), "a, axis=None, dtype=None, out=None")
def cumprod_back(ȳ, y, a, axis):
    if np.all(np.not_equal(a, 0)):
        c = over(np.reshape(reverse_cumsum(times(ȳ, conj(y)), axis), np.shape(a)), conj(a))
    else:
        c = cumprod_cotangent(ȳ, a, y, axis)
    return unbroadcast(c, a)


def cumprod_cotangent(ȳ, a, y, axis):
    """The adjoint of y[i] = y[i - 1] * a[i], step by step, which divides by nothing."""
    along = -1 if axis is None else axis
    x, y, ȳ = to_last(np.asarray(a), axis), np.moveaxis(y, along, -1), np.moveaxis(ȳ, along, -1)
    running = np.zeros(x.shape[:-1])
    parts = []
    for i in range(x.shape[-1] - 1, -1, -1):
        running = running + ȳ[..., i]
        parts.append(times(running, conj(y[..., i - 1])) if i else running)
        running = times(running, conj(x[..., i]))
    return from_last(np.stack(parts[::-1], -1), a, axis)


def greatest_so_far(a, axis=0):
    """``np.maximum.accumulate``."""
    return np.maximum.accumulate(a, axis)


def least_so_far(a, axis=0):
    """``np.minimum.accumulate``."""
    return np.minimum.accumulate(a, axis)


cotangents(
    greatest_so_far,
    "a, axis=0",
    a=lambda ȳ, a, axis: take_along_axis_cotangent(ȳ, a, record_places(np.maximum, a, axis), axis),
)
cotangents(
    least_so_far,
    "a, axis=0",
    a=lambda ȳ, a, axis: take_along_axis_cotangent(ȳ, a, record_places(np.minimum, a, axis), axis),
)


@nondifferentiable
def record_places(ufunc, a, axis):
    """Where along ``axis`` the greatest (or least) element so far is; of equal ones the first."""
    records = np.moveaxis(ufunc.accumulate(a, axis), axis, 0)
    rows = np.moveaxis(a, axis, 0)
    numbers = np.arange(len(rows)).reshape([-1] + [1] * (rows.ndim - 1))
    passed = records[1:] != records[:-1]
    passed &= ~(np.isnan(records[1:]) & np.isnan(records[:-1]))
    found = np.where(np.concatenate([np.ones_like(rows[:1], bool), passed]), numbers, 0)
    return np.moveaxis(np.maximum.accumulate(found), 0, axis)
