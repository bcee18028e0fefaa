"""Deleting, inserting and choosing elements, and counting them with weights."""

import numpy as np

from autodiff_hook.extend import cotangents, linear
from autodiff_hook.registry import nondifferentiable
from autodiff_hook.semantics.equivalents.elementwise import axes_in_memory, places_of
from autodiff_rules._definitions import defines
from autodiff_rules.numpy._shared import float_dtype, into, reshaped, unbroadcast
from autodiff_rules.numpy.indexing import numbered, scatter_add, take_cotangent

linear(
    np.delete,
    "arr, obj, axis=None",
    lambda ȳ, arr, obj, axis: take_cotangent(ȳ, arr, np.delete(numbered(arr), obj, axis), None),
)


@cotangents(np.insert, "arr, obj, values, axis=None", 0, "arr, values")
def insert_cotangents(ȳ, arr, obj, values, axis):
    places = np.insert(numbered(arr), obj, -1 - numbered(values), axis)
    old, new = places >= 0, places < 0
    ā = scatter_add((np.size(arr),), float_dtype(ȳ), places[old], ȳ[old])
    v̄ = scatter_add((np.size(values),), float_dtype(ȳ), -1 - places[new], ȳ[new])
    return reshaped(ā, arr), reshaped(v̄, values)


@defines(np.ndarray.choose)
def choose(self, choices, out=None, mode="raise"):
    """``ndarray.choose``: of the arrays that are broadcast together, the elements of those that ``self`` says."""
    options = np.stack(np.broadcast_arrays(*choices, self)[:-1])
    wanted = np.broadcast_to(chosen_options(self, len(options), mode), options.shape[1:])
    return into(out, np.take_along_axis(options, wanted[None], 0)[0])


@nondifferentiable
def chosen_options(a, count, mode):
    """The numbers of what ``a`` chooses among ``count`` arrays."""
    return np.take(np.arange(count), a, mode=mode)


cotangents(
    np.bincount,
    "x, /, weights=None, minlength=0",
    2,
    weights=lambda ȳ, x, weights: None if weights is None else unbroadcast(ȳ[np.asarray(x, int)], weights),
)


@defines(np.polymul)
def product_of_polynomials(a1, a2):
    """The product of polynomials, which ``np.convolve`` takes as objects."""
    product = np.convolve(np.poly1d(a1).coeffs, np.poly1d(a2).coeffs)
    return np.poly1d(product) if isinstance(a1, np.poly1d) or isinstance(a2, np.poly1d) else product


@defines(np.vectorize._vectorize_call)
def vectorized(self, func, args):
    """What ``np.vectorize`` does with a function of numbers: a call for each element, and one for the types."""
    if self.signature is not None:
        return self._vectorize_call_with_signature(func, args)
    if not args:
        return func()
    shape, rows, kinds = np.broadcast_shapes(*[np.shape(x) for x in args]), [], self.otypes
    if kinds is None:
        if 0 in shape:
            raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
        first = func(*[np.asarray(x).flat[0] for x in args])
        kinds = [np.asarray(x).dtype.char for x in (first if isinstance(first, tuple) else (first,))]
        if self.cache:
            rows.append(first)
    axes = axes_in_memory([np.asarray(x) for x in args])
    items = list(zip(*[np.ravel(np.transpose(np.broadcast_to(x, shape), axes)).tolist() for x in args]))
    for row in items[len(rows) :]:
        rows.append(func(*row))
    columns = [rows] if len(kinds) == 1 else zip(*rows) if rows else [()] * len(kinds)
    lengths, places = [shape[axis] for axis in axes], places_of(axes)
    made = [np.transpose(np.reshape(_column(x, kind), lengths), places) for x, kind in zip(columns, kinds)]
    return made[0] if len(kinds) == 1 else tuple(made)


def _column(items, kind):
    """Items as an array; objects as they are, which may be arrays."""
    if kind != "O":
        return np.array(items, kind)
    made = np.empty(len(items), object)
    for place, item in enumerate(items):
        made[place] = item
    return made
