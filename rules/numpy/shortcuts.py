"""How cotangents, reductions and indexing are written where types and shapes are known."""

import numpy as np

from autodiff_hook.extend import (
    ArrayFact,
    Constant,
    NumberFact,
    ShapeFact,
    borrowing,
    effects,
    fresh,
    harmless,
    ranks,
    shortcut,
    typed,
    viewing,
)
from autodiff_rules.numpy import _shared, arithmetic, extremes, indexing, rearranging, windows
from autodiff_rules.numpy.sum_shortcuts import DOUBLE, FALSE, NONE, NUMBER, TRUE, ZERO, reduced, summed, total

NOTHING = Constant(np._NoValue)

borrowing(_shared.conj, _shared.unbroadcast, extremes.selected)
viewing(_shared.expand, _shared.widened, _shared.expand_reduced, _shared.restore_axes)
fresh(np.max, np.min, np.mean, np.size, np.where, _shared.float_dtype)
fresh(np.sum, np.prod, np.std, np.var, np.median, np.average, np.ptp, np.percentile, np.quantile, np.clip)
fresh(np.nansum, np.nanprod, np.nanmean, np.nanstd, np.nanvar, np.nanmedian, np.nanpercentile, np.nanquantile)
fresh(np.amax, np.amin, np.trapezoid, np.bincount, np.partition, np.unique, np.ediff1d, np.unwrap, np.angle, np.kaiser)
fresh(np.sinc, np.compress, np.extract, np.take_along_axis, np.diagflat)
fresh(np.count_nonzero, np.any, np.all, np.isclose, np.allclose)
fresh(np.argmax, np.argmin, np.argsort, np.searchsorted, np.flatnonzero, np.nonzero, np.select, np.isin)
fresh(np.digitize, np.argpartition, np.argwhere, np.lexsort, np.nanargmax, np.nanargmin, np.indices, np.tri)
effects(np.add.at, np.put_along_axis, np.put, np.copyto, np.fill_diagonal)
ranks(np.ndim)
harmless(np.add.reduce, np.mean)
fresh(np.add.reduce, np.maximum.reduce, np.minimum.reduce)
fresh(indexing.scatter_add, indexing.scatter_along, windows.added_windows)


# Cotangents like a value


@typed(_shared.conj)
def conj_typing(site, x):
    return site.fact(x) if is_real(site, x) else None


@shortcut(_shared.conj)
def conj_shortcut(site, x):
    return x if is_real(site, x) else None


def is_real(site, x):
    return site.is_single(x) or (site.is_array(x) and site.fact(x).dtype.kind in "fbiu")


@typed(_shared.unbroadcast, _shared.reshaped)
def unbroadcast_typing(site, c, x, *options):
    return like(site, x, c)


def like(site, x, *operands):
    """The fact of a cotangent of ``x`` that ``unbroadcast`` gives, made of ``operands``."""
    if site.is_double(x):
        return site.fact(x)
    doubles = all(site.is_double(c) or site.is_floating(c) for c in operands)
    if site.is_single(x) and doubles:
        return NUMBER if any(site.is_array(c) for c in operands) or not site.is_floating(x) else None
    return None


@shortcut(_shared.unbroadcast)
def unbroadcast_shortcut(site, c, x):
    if site.is_single(x):
        if site.is_floating(c):
            return c
        return total(site, c) if site.is_double(c) else None
    if not site.is_double(c) or not site.is_array(x) or site.fact(x).dtype.kind not in "fiu":
        return None
    if site.alike(c, x):
        return c if site.is_double(x) or site.fact(x).dtype.kind in "iu" else None
    return summed(site, c, site.dims(c), site.dims(x)) if site.is_double(x) else None


@typed(_shared.expand_reduced)
def expand_reduced_typing(site, c, x, axis, keepdims):
    if site.is_array(x) and site.fact(x).dtype.kind in "iu":
        return ArrayFact(DOUBLE, site.dims(x))
    return site.fact(x) if site.is_double(x) and (site.is_double(c) or site.is_number(c)) else None


@shortcut(_shared.expand_reduced)
def expand_reduced_shortcut(site, c, x, axis, keepdims):
    if not site.is_double(x):
        return None
    if site.is_floating(c):
        return site.everywhere(c, x, site.call(_shared.expand, c, x))
    axes, keep = reduced_axes(site, x, axis), site.value(keepdims)
    if axes is None or keep not in (True, False) or not site.is_double(c):
        return None
    dims = site.dims(x)
    if not site.shapes.equal(site.dims(c), reduced_dims(dims, axes, keep)):
        return None
    if not keep:
        c = site.emit("getitem", c, Constant(tuple(None if i in axes else slice(None) for i in range(len(dims)))))
    return site.everywhere(c, x, site.call(_shared.expand, c, x))


@typed(_shared.expand, _shared.widened, _shared.stretched)
def expand_typing(site, c, x):
    return site.fact(x) if site.is_double(x) and (site.is_double(c) or site.is_number(c)) else None


@shortcut(_shared.widened)
def widened_shortcut(site, c, x):
    if site.is_floating(x) and site.is_floating(c):
        return c
    if not site.is_double(x) or not (site.is_double(c) or site.is_floating(c)):
        return None
    alike = site.is_double(c) and site.alike(c, x)
    return c if alike else site.everywhere(c, x, site.call(_shared.expand, c, x))


@typed(arithmetic.share)
def share_typing(site, exponential, x, other, y):
    return site.fact(y) if site.is_double(y) else None


@shortcut(_shared.stretched)
def stretched_shortcut(site, ẏ, y):
    return ẏ if site.is_double(ẏ) and site.is_double(y) and site.alike(ẏ, y) else None


# Reductions


@typed(np.add.reduce, np.maximum.reduce, np.minimum.reduce)
def reduce_typing(site, a, axis=ZERO, dtype=NONE, out=NONE, keepdims=FALSE, *rest):
    return reduction_typing(site, a, axis, keepdims)


@typed(np.max, np.min, np.amax, np.amin)
def extreme_typing(site, a, axis=NONE, out=NONE, keepdims=FALSE, *rest):
    return reduction_typing(site, a, axis, keepdims)


def reduction_typing(site, a, axis, keepdims):
    axes, keep = reduced_axes(site, a, axis), site.value(keepdims)
    if axes is None or keep not in (True, False):
        return None
    dims = reduced_dims(site.dims(a), axes, keep)
    return ArrayFact(DOUBLE, dims) if dims else NUMBER


def reduced_axes(site, a, axis):
    """The axes of a reduction of an array of doubles; None if they are not known."""
    axis = site.value(axis)
    if not site.is_double(a) or axis is NotImplemented:
        return None
    count = len(site.dims(a))
    if axis is None:
        return tuple(range(count))
    axes = axis if isinstance(axis, tuple) else (axis,)
    return tuple(i % count for i in axes) if all(type(i) is int and -count <= i < count for i in axes) else None


@shortcut(np.add.reduce)
def add_reduce_shortcut(site, a, axis=ZERO, dtype=NONE, out=NONE, keepdims=FALSE, initial=None, where=None):
    if initial is None or site.value(initial) != 0 or site.value(where) is not True or not site.is_double(a):
        return None
    if any(site.value(x) is not None for x in (dtype, out)) or site.value(keepdims) not in (True, False):
        return None
    return reduced(site, a, axis, site.value(keepdims))


@shortcut(np.max, np.amax)
def max_shortcut(site, a, axis=NONE, out=NONE, keepdims=FALSE, initial=NOTHING, where=TRUE):
    return extreme(site, np.maximum.reduce, a, axis, keepdims, (out, initial, where))


@shortcut(np.min, np.amin)
def min_shortcut(site, a, axis=NONE, out=NONE, keepdims=FALSE, initial=NOTHING, where=TRUE):
    return extreme(site, np.minimum.reduce, a, axis, keepdims, (out, initial, where))


def extreme(site, reduce, a, axis, keepdims, options):
    plain = tuple(map(site.value, options)) == (None, np._NoValue, True)
    if not plain or reduced_axes(site, a, axis) is None or site.value(keepdims) not in (True, False):
        return None
    if site.value(keepdims):
        return site.call(reduce, a, axis, NONE, NONE, keepdims)
    return site.call(reduce, a, axis)


@typed(np.mean)
def mean_typing(site, a, axis=NONE, dtype=NONE, out=NONE, keepdims=FALSE, where=TRUE):
    plain = site.value(dtype) is None and site.value(out) is None and site.value(where) is True
    return reduction_typing(site, a, axis, keepdims) if plain else None


@shortcut(np.mean)
def mean_shortcut(site, a, axis=NONE, dtype=NONE, out=NONE, keepdims=FALSE, where=TRUE):
    keep, axes = site.value(keepdims), reduced_axes(site, a, axis)
    if mean_typing(site, a, axis, dtype, out, keepdims, where) is None or len(axes) not in (1, len(site.dims(a))):
        return None
    if len(axes) == len(site.dims(a)):
        count = site.emit("getattr", a, data="size")
    else:
        count = site.emit("getitem", site.shape(a), Constant(axes[0]))
    return site.emit("binary", reduced(site, a, axis, keep), count, data="/")


@typed(np.size)
def size_typing(site, a):
    return NumberFact(frozenset({int})) if site.is_array(a) or site.is_number(a) else None


@typed(len)
def len_typing(site, a):
    return NumberFact(frozenset({int}), site.dims(a)[0]) if site.is_array(a) else None


@shortcut(np.size)
def size_shortcut(site, a):
    if site.is_number(a):
        return Constant(1)
    return site.emit("getattr", a, data="size") if site.is_array(a) else None


@shortcut(max)
def greater_shortcut(site, a, b):
    x, y = site.value(a), site.value(b)
    return Constant(max(x, y)) if type(x) is int and type(y) is int else None


@typed(max)
def greater_typing(site, a, b):
    whole = all(isinstance(site.fact(x), NumberFact) and site.fact(x).types == {int} for x in (a, b))
    return NumberFact(frozenset({int})) if whole else None


def reduced_dims(dims, axes, keep):
    return tuple(1 if i in axes else d for i, d in enumerate(dims) if keep or i not in axes)


@shortcut(extremes.selected)
def selected_shortcut(site, c, a, choose, axis, keepdims):
    axes = reduced_axes(site, a, axis)
    name = {np.argmax: "argmax", np.argmin: "argmin"}.get(site.value(choose))
    dims = site.dims(a)
    if axes is None or name is None or site.value(keepdims) not in (True, False):
        return None
    if len(dims) == 1 and axes == (0,) and site.is_number(c):
        return scattered(site, site.shape(a), site.method(name, a), c)
    if len(dims) == 2 and len(axes) == 1 and site.is_double(c):
        (along,) = axes
        places = site.method(name, a, Constant(along))
        count = site.emit("getitem", site.shape(a), Constant(1 - along))
        across = site.call(np.arange, count)
        if site.value(keepdims):
            c = site.method("reshape", c, Constant(-1))
        index = site.emit("build_tuple", *([across, places] if along else [places, across]))
        return scattered(site, site.shape(a), index, c)
    return None


def scattered(site, shape, index, c):
    """Zeros of a shape with ``c`` at ``index``, which selects no element twice."""
    out = site.call(np.zeros, shape)
    site.emit("setitem", out, index, site.dense(c), result=False)
    return out


@typed(indexing.scatter_add, windows.added_windows, rearranging.diagonal_matrix)
def scattered_typing(site, shape, dtype, *placed):
    known = site.fact(shape)
    return ArrayFact(DOUBLE, known.dims) if isinstance(known, ShapeFact) and is_double_dtype(site, dtype) else None


@shortcut(indexing.scatter_add)
def scatter_add_shortcut(site, shape, dtype, index, c):
    if not isinstance(site.fact(shape), ShapeFact) or not is_double_dtype(site, dtype):
        return None
    if not is_plain_index(site, index) or not (site.is_double(c) or site.is_number(c)):
        return None
    if is_new_axes(site, index) and site.is_double(c):
        return site.method("reshape", c, shape)
    return scattered(site, shape, index, c)


def is_double_dtype(site, dtype):
    """Whether a dtype is that of the cotangents of an array of doubles."""
    made = site.source(dtype)
    if site.value(dtype) == DOUBLE:
        return True
    return made is not None and made.callee is _shared.float_dtype and site.is_double(made.operands[1])


def is_plain_index(site, index):
    """Whether an index selects no element twice: numbers, slices and new axes."""
    value = site.value(index)
    if value is not NotImplemented:
        return all(x is None or type(x) in (int, slice) for x in (value if isinstance(value, tuple) else (value,)))
    made = site.source(index)
    if made is not None and made.op == "build_tuple":
        return all(is_plain_index(site, x) for x in made.operands)
    return site.is_number(index) or (made is not None and made.op == "build_slice")


def is_new_axes(site, index):
    """Whether an index does nothing but insert axes."""
    value = site.index(index)
    return isinstance(value, tuple) and all(x is None or x == slice(None) for x in value) and None in value


# Shapes


@shortcut(np.shape)
def shape_shortcut(site, a):
    return site.shape(a) if site.is_array(a) else None


@shortcut(np.ndim)
def ndim_shortcut(site, a):
    return Constant(len(site.dims(a))) if site.is_array(a) else None
