"""What writes to an array in place, as stores to its items."""

import math

import numpy as np

from autodiff_hook.extend import cotangents, pure
from autodiff_hook.registry import nondifferentiable
from autodiff_hook.runtime.overlaps import require_read_first_of_flat
from autodiff_rules._definitions import defines
from autodiff_rules.numpy._shared import unbroadcast
from autodiff_rules.numpy.indexing import numbered
from autodiff_rules.numpy.selection import made_finite


def plainly(array):
    """An array without what its class says of stores, which native code does not ask."""
    return array if type(array) is np.ndarray else np.ndarray.view(array, np.ndarray)


@nondifferentiable
def require_stored(function, array, values, *args):
    """Raise what NumPy raises where it does not store values of their type: it is asked to, in another array."""
    given = np.asarray(values).dtype
    if given.kind in "fc" and given != array.dtype:
        function(np.empty_like(array), *args)


@defines(np.copyto)
def copyto(dst, src, casting="same_kind", where=True):
    """``np.copyto``: what is in the array already has its place in a mask."""
    dst = plainly(dst)
    require_stored(np.copyto, dst, src, src, casting, where)
    if where is True:
        dst[...] = src
        return
    chosen = np.broadcast_to(where, np.shape(dst))
    dst[chosen] = np.broadcast_to(src, np.shape(dst))[chosen]


@defines(np.place)
def place(arr, mask, vals):
    """``np.place``: the first values, again and again, where the mask is true."""
    chosen = np.asarray(mask, bool).reshape(arr.shape)
    count, given = np.count_nonzero(chosen), np.ravel(vals)
    if count and not len(given):
        raise ValueError("Cannot insert from an empty array!")
    if count:
        require_stored(np.place, arr, vals, mask, vals)
        plainly(arr)[chosen] = given[np.arange(count) % len(given)]


@defines(np.putmask)
def putmask(a, mask, values):
    """``np.putmask``: the values of the same places, again and again, where the mask is true."""
    chosen, given = np.asarray(mask, bool).reshape(a.shape), np.ravel(values)
    if len(given):
        require_stored(np.putmask, a, values, mask, values)
        plainly(a)[chosen] = given[np.flatnonzero(chosen) % len(given)]


@defines(np.nan_to_num)
def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    """``np.nan_to_num``: without a copy, a store to the array."""
    finite = made_finite(x, nan, posinf, neginf)
    if copy:
        return finite
    if not isinstance(x, np.ndarray):
        raise ValueError("Unable to avoid copy while creating an array as requested.")
    plainly(x)[...] = finite
    return x


@defines(np.put, np.ndarray.put)
def put(a, ind, v, mode="raise"):
    """``np.put``: values, again and again, at flat places; a scalar stays as it is."""
    if isinstance(a, np.generic):
        return a.put(ind, v, mode)
    store_again(a, flat_places(a, ind, mode), v)


@defines(np.fill_diagonal)
def fill_diagonal(a, val, wrap=False):
    """``np.fill_diagonal``: values, again and again."""
    places = diagonal_places(a.shape, wrap)
    require_read_first(a, places, val)
    store_again(a, places, val)


@nondifferentiable
def require_read_first(a, places, val):
    require_read_first_of_flat(a, places, val)


pure(require_read_first)  # typed programs are refused where the array may show the values


def store_again(a, places, values):
    """Store values, again and again, at places of ``a`` read row by row."""
    given = np.ravel(values)
    if len(given):
        shown = with_axes(plainly(a))
        shown[np.unravel_index(places, shown.shape)] = given[np.arange(places.size) % len(given)]


def with_axes(a):
    """An array with at least one axis that shows ``a``: no index says where in one without."""
    return a if np.ndim(a) else a.reshape(-1)


@defines(np.put_along_axis)
def put_along_axis(arr, indices, values, axis):
    """``np.put_along_axis``; without an axis NumPy stores into a copy."""
    if axis is not None:
        places = np.take_along_axis(numbered(arr), indices, axis)
        arr[np.unravel_index(places, arr.shape)] = values


@nondifferentiable
def diagonal_places(shape, wrap):
    """The places of the diagonal of an array, read row by row."""
    if len(shape) < 2:
        raise ValueError("array must be at least 2-d")
    numbers = np.arange(math.prod(shape))
    if len(shape) == 2:
        return numbers[: None if wrap else shape[1] * shape[1] : shape[1] + 1]
    if len(set(shape)) > 1:
        raise ValueError("All dimensions of input must be of equal length")
    return numbers[:: sum(shape[0] ** i for i in range(len(shape)))]


@nondifferentiable
def flat_places(a, indices, mode):
    """The places in ``a``, read row by row, that ``indices`` say."""
    return np.take(np.arange(a.size), np.ravel(indices), mode=mode)


@defines(np.ndarray.sort)
def sort(self, axis=-1, kind=None, order=None, *, stable=None):
    """``ndarray.sort``: of an array of a derived class, which may sort in another way, what it holds."""
    held = np.asarray(self)
    held[...] = np.sort(held, axis, kind, order, stable=stable)


@defines(np.ndarray.partition)
def partition(self, kth, axis=-1, kind="introselect", order=None):
    held = np.asarray(self)
    held[...] = np.partition(held, kth, axis, kind, order)


@defines(np.ufunc.at)
def at(ufunc, a, indices, *b):
    """``ufunc.at``: elements that are met again are changed again, one after the other."""
    a = plainly(a)
    if ufunc is np.add:
        a[...] = added_at(a, indices, *b)
        return
    if ufunc is np.subtract:
        # Whole numbers without a sign, and booleans, have no negative.
        a[...] = added_at(a, indices, np.subtract(np.zeros((), a.dtype), *b))
        return
    places, turns = selected_places(a, indices)
    others = [np.broadcast_to(x, np.shape(places)) for x in b]
    a = with_axes(a)
    for turn in range(1 + np.max(turns, initial=-1)):
        chosen = turns == turn
        index = np.unravel_index(places[chosen], np.shape(a))
        a[index] = ufunc(a[index], *[x[chosen] for x in others])


@nondifferentiable
def selected_places(a, indices):
    """The places in ``a``, read row by row, that ``indices`` select, and how often each one was met before."""
    places = np.asarray(np.arange(np.size(a)).reshape(np.shape(a))[indices])
    order = np.argsort(places, None, "stable")
    ordered = places.ravel()[order]
    turns = np.empty(places.size, int)
    turns[order] = np.arange(places.size) - np.searchsorted(ordered, ordered)
    return places, turns.reshape(places.shape)


def added_at(a, indices, b):
    """A copy of ``a`` to which ``b`` was added at ``indices``, as often as they say."""
    y = np.array(a)
    np.add.at(y, indices, b)
    return y


cotangents(
    added_at,
    "a, indices, b",
    ((),),
    a=lambda ȳ, a: unbroadcast(ȳ, a),
    b=lambda ȳ, indices, b: unbroadcast(ȳ[indices], b),
)
