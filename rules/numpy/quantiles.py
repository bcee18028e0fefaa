"""Partitions, quantiles and distinct elements. An element that is met several times stands for its first place."""

import numpy as np

from autodiff_hook.extend import cotangents
from autodiff_hook.registry import nondifferentiable
from autodiff_rules._definitions import defines
from autodiff_rules.numpy._shared import array_rrule, float_dtype, into, reshaped, unbroadcast
from autodiff_rules.numpy.axes import from_last, to_last
from autodiff_rules.numpy.indexing import along_axis, scatter_add, scatter_along, take_cotangent

SPREADS = {
    "linear": (1.0, 1.0),
    "interpolated_inverted_cdf": (0.0, 1.0),
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "median_unbiased": (1.0 / 3.0, 1.0 / 3.0),
    "normal_unbiased": (3.0 / 8.0, 3.0 / 8.0),
}
"""The parameters alpha and beta of the methods that are continuous in the rank (Hyndman and Fan 1996)."""


RANKS = "a, q, axis=None, out=None, overwrite_input=False, method='linear', keepdims=False"


def declare(target, whole, skipping):
    @cotangents(target, RANKS, 2, "a, q")
    def of_ranks(ȳ, a, q, axis, method):
        return rank_cotangents(ȳ, a, q, whole, axis, method, skipping)


declare(np.quantile, 1.0, False)
declare(np.percentile, 100.0, False)
declare(np.nanquantile, 1.0, True)
declare(np.nanpercentile, 100.0, True)
cotangents(
    np.nanmedian,
    "a, axis=None, out=None, overwrite_input=False, keepdims=False",
    a=lambda ȳ, a, axis: rank_cotangents(ȳ, a, 0.5, 1.0, axis, "linear", True)[0],
)


def rank_cotangents(ȳ, a, q, whole, axis, method, skipping):
    """The cotangents of ``a`` and of the ranks ``q``, parts of ``whole``, of quantiles."""
    rows = to_last(np.asarray(a), axis)
    ranks = np.ravel(q) / whole
    low, high, part, slope = neighbours(rows, ranks, method, skipping)
    part = moving_with(ranks, part, slope)
    c = np.moveaxis(np.reshape(ȳ, (np.size(q), *rows.shape[:-1])), 0, -1)
    places = along_axis(rows, np.concatenate((low, high), -1), -1)
    shares = np.concatenate((c * (1.0 - part), c * part), -1)
    ā = from_last(scatter_add(rows.shape, float_dtype(rows), places, shares), a, axis)
    steps = np.take_along_axis(rows, high, -1) - np.take_along_axis(rows, low, -1)
    q̄ = np.sum(np.reshape(np.where(slope == 0.0, 0.0, c * steps * slope), (-1, np.size(q))), 0) / whole
    return unbroadcast(ā, a), reshaped(q̄, q)


@nondifferentiable
def neighbours(rows, ranks, method, skipping):
    """Where in each row the elements next to each quantile are, the part of the second, and its derivative by the rank.

    The quantiles of 0, 1, 2, … are the (fractional) places of those in what is sorted.
    """
    order = np.argsort(rows, -1, "stable")
    counts = np.sum(~np.isnan(rows), -1) if skipping else np.full(rows.shape[:-1], rows.shape[-1])
    virtual = np.zeros((*counts.shape, ranks.size))
    slope = np.zeros(virtual.shape)
    for count in np.unique(counts[counts > 0]):
        virtual[counts == count] = np.quantile(np.arange(float(count)), ranks, method=method)
        slope[counts == count] = slopes(ranks, count, method)
    low = np.floor(virtual).astype(int)
    high = np.minimum(low + 1, np.maximum(counts - 1, 0)[..., None])
    return np.take_along_axis(order, low, -1), np.take_along_axis(order, high, -1), virtual - low, slope


def moving_with(ranks, part, slope):
    """``part``, whose derivative by the ranks is ``slope``."""
    return part


cotangents(moving_with, "ranks, part, slope", ((),), ranks=lambda ȳ, ranks, slope: unbroadcast(ȳ * slope, ranks))


def slopes(ranks, count, method):
    """By how many places a quantile of ``count`` elements moves with its rank."""
    if method not in SPREADS:
        return 0.0
    alpha, beta = SPREADS[method]
    slope = count + 1.0 - alpha - beta
    places = alpha - 1.0 + slope * ranks
    return np.where((places < 0.0) | (places >= count - 1.0), 0.0, slope)


def define_with_weights(function, quantile, unit):
    """Define the calls of ``function``, a ``quantile`` of ranks in this unit, with weights."""

    def call(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):
        """Which elements it selects does not move with the weights."""
        if weights is None:
            return function(a, q, axis, out, overwrite_input, method, keepdims)
        rank = np.true_divide(q, unit)
        return into(out, np.take(a, selected_places(quantile, a, rank, axis, method, keepdims, weights)))

    defines(function)(call)


define_with_weights(np.quantile, np.quantile, 1)
define_with_weights(np.percentile, np.quantile, 100)
define_with_weights(np.nanquantile, np.nanquantile, 1)
define_with_weights(np.nanpercentile, np.nanquantile, 100)


@nondifferentiable
def selected_places(quantile, a, q, axis, method, keepdims, weights):
    """Which elements of ``a`` a weighted quantile is: that of the ranks, in the place of the elements; nan is last."""
    order = np.argsort(a, None, "stable")
    ranks = np.empty(order.size)
    ranks[order] = np.where(np.isnan(np.ravel(a)[order]), np.nan, np.arange(order.size))
    found = quantile(ranks.reshape(np.shape(a)), q, axis, method=method, keepdims=keepdims, weights=weights)
    return order[np.where(np.isnan(found), order.size - 1, found).astype(int)]


@cotangents(np.partition, "a, kth, axis=-1, kind='introselect', order=None")
def partition_cotangent(ȳ, y, a, axis):
    sorted_by = np.argsort(y, axis, "stable")
    if axis is None:
        return take_cotangent(ȳ[sorted_by], a, np.argsort(a, None, "stable"), None)
    c = np.take_along_axis(ȳ, sorted_by, axis)
    return scatter_along(a, np.argsort(a, axis, "stable"), axis, c)


@array_rrule(np.unique)
def unique_rule(
    ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True, sorted=True
):
    options = {} if sorted else {"sorted": False}  # since NumPy 2.3
    y = np.unique(ar, return_index, return_inverse, return_counts, axis, equal_nan=equal_nan, **options)
    several = return_index or return_inverse or return_counts

    def unique_pullback(ȳ):
        c = ȳ[0] if several else ȳ
        if c is None:
            return None, None, None, None, None
        places = first_places(ar, y[0] if several else y, axis, equal_nan)
        return reshaped(take_cotangent(c, ar, places, axis), ar), None, None, None, None

    return y, unique_pullback


@nondifferentiable
def first_places(ar, distinct, axis, equal_nan):
    """Where in ``ar`` each of its distinct elements is first, in whatever order they are."""
    found = np.unique(ar, True, axis=axis, equal_nan=equal_nan)[1]
    if axis is not None:
        return found
    places = np.empty(found.size, int)
    places[np.argsort(distinct, None, "stable")] = found
    return places
