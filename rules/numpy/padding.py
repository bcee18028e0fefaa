"""Padding. Each mode but ``maximum``, ``minimum`` and ``median`` is linear along each axis."""

import numpy as np

from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.registry import nondifferentiable
from autodiff_rules.numpy._shared import array_rrule, unbroadcast
from autodiff_rules.numpy.extremes import median_cotangent
from autodiff_rules.numpy.indexing import take_cotangent

COPYING = ("edge", "reflect", "symmetric", "wrap")
"""Modes that take elements as they are."""

STATISTICS = ("maximum", "minimum", "mean", "median")


@array_rrule(np.pad)
def pad_rule(array, pad_width, mode="constant", stat_length=None, constant_values=0, end_values=0, reflect_type="even"):
    if not isinstance(mode, str):
        raise NotDifferentiable("np.pad with a function for its mode is not differentiated: pad with np.concatenate")
    ends = constant_values if mode == "constant" else end_values
    options = options_of(mode, stat_length, reflect_type)
    name = {"constant": "constant_values", "linear_ramp": "end_values"}.get(mode)
    y = np.pad(array, pad_width, mode, **options) if name is None else np.pad(array, pad_width, mode, **{name: ends})

    def pad_pullback(ȳ):
        widths = widths_of(pad_width, np.ndim(array))
        ē = None
        if mode == "median":
            ā = from_medians(ȳ, array, widths, stat_length)
        elif mode in ("constant", "empty"):
            ā = ȳ[tuple([slice(before, before + n) for (before, _), n in zip(widths, np.shape(array))])]
        elif mode in ("maximum", "minimum") or mode in COPYING and reflect_type == "even":
            places = source_places(array, pad_width, mode, options)
            ā = take_cotangent(ȳ, array, places, None)
        else:
            ā = from_linear(ȳ, np.shape(array), widths, mode, options)
        if name is not None and not is_plain_zero(ends):
            ē = unbroadcast(from_ends(ȳ, np.shape(array), widths, mode, name), ends)
        of_constants, of_ramps = (ē, None) if mode == "constant" else (None, ē)
        return unbroadcast(ā, array), None, None, None, of_constants, of_ramps, None

    return y, pad_pullback


@nondifferentiable
def options_of(mode, stat_length, reflect_type):
    """The options that a mode has, but for values."""
    if mode in STATISTICS:
        return {"stat_length": stat_length}
    return {"reflect_type": reflect_type} if mode in ("reflect", "symmetric") else {}


@nondifferentiable
def is_plain_zero(x):
    """Whether what to pad with was not given."""
    return type(x) is int and x == 0


@nondifferentiable
def widths_of(pad_width, rank):
    """How much is added before and after along each axis."""
    if isinstance(pad_width, dict):
        pad_width = [pad_width.get(i, pad_width.get(i - rank, 0)) for i in range(rank)]
        pad_width = [(width, width) if np.ndim(width) == 0 else width for width in pad_width]
    return np.broadcast_to(pad_width, (rank, 2)).tolist()


@nondifferentiable
def source_places(array, pad_width, mode, options):
    """Which element of ``array`` each one of the result is: padded are the numbers, or the ranks, of its elements."""
    size, shape = np.size(array), np.shape(array)
    if mode in COPYING:
        return np.pad(np.arange(size).reshape(shape), pad_width, mode)
    numbers = np.arange(size)
    order = np.lexsort((-numbers if mode == "maximum" else numbers, np.ravel(array)))
    ranks = np.empty(size, int)
    ranks[order] = numbers
    return order[np.pad(ranks.reshape(shape), pad_width, mode, **options)]


def along(c, matrix, axis):
    """The products of a matrix and what lies along an axis."""
    return np.moveaxis(np.dot(np.moveaxis(c, axis, -1), matrix.T), -1, axis)


def from_linear(ȳ, shape, widths, mode, options):
    """The cotangent of an array of this shape: along each axis, padding is a matrix."""
    c = ȳ
    for axis in range(len(shape) - 1, -1, -1):
        c = along(c, padding_matrix(shape[axis], widths[axis], mode, options_along(axis, len(shape), options)), axis)
    return c


@nondifferentiable
def options_along(axis, rank, options):
    """The options with which one axis is padded, alone."""
    length = options.get("stat_length")
    return options if length is None else {"stat_length": (widths_of(length, rank)[axis], (1, 1))}


@nondifferentiable
def padding_matrix(count, width, mode, options):
    """The transpose of the matrix that pads ``count`` elements."""
    return np.pad(np.eye(count), (width, (0, 0)), mode, **options).T


def from_ends(ȳ, shape, widths, mode, name):
    """The cotangents of the values before and after along each axis. The last axis is padded last."""
    c, rows = ȳ, []
    for axis in range(len(shape) - 1, -1, -1):
        ends = [end_weights(shape[axis], widths[axis], mode, name, side) for side in ((1.0, 0.0), (0.0, 1.0))]
        rows.append([np.sum(np.dot(np.moveaxis(c, axis, -1), weights)) for weights in ends])
        c = along(c, padding_matrix(shape[axis], widths[axis], mode, {}), axis)
    return np.array(rows[::-1])


@nondifferentiable
def end_weights(count, width, mode, name, sides):
    """The part that the value before or after has in each element."""
    return np.pad(np.zeros(count), width, mode, **{name: sides})


def from_medians(ȳ, array, widths, stat_length):
    """The cotangent of ``array``: along each axis, the padding of what is padded along those before."""
    c, rank = ȳ, np.ndim(array)
    lengths = widths_of(stat_length, rank) if stat_length is not None else None
    for axis in range(rank - 1, -1, -1):
        padded = np.pad(
            array,
            [width if i < axis else (0, 0) for i, width in enumerate(widths)],
            "median",
            **({} if stat_length is None else {"stat_length": stat_length}),
        )
        rows, (before, after) = np.moveaxis(padded, axis, 0), widths[axis]
        cs, count = np.moveaxis(c, axis, 0), np.shape(array)[axis]
        first, last = (count, count) if lengths is None else [min(n, count) for n in lengths[axis]]
        inner = cs[before : before + count]
        if before:
            lead = median_cotangent(np.sum(cs[:before], 0), rows[:first], 0)
            inner = inner + np.concatenate((lead, np.zeros((count - first, *lead.shape[1:]))))
        if after:
            tail = median_cotangent(np.sum(cs[before + count :], 0), rows[count - last :], 0)
            inner = inner + np.concatenate((np.zeros((count - last, *tail.shape[1:])), tail))
        c = np.moveaxis(inner, 0, axis)
    return c
