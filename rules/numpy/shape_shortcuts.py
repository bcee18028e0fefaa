"""What is known of arrays that get another shape, are copied or put together, and how their cotangents are written."""

import math

import numpy as np

from autodiff_hook.extend import ArrayFact, Constant, NumberFact, Symbol, TupleFact, reshaped, shaped, shortcut, typed
from autodiff_hook.runtime.updates import stored_cotangent, updated
from autodiff_rules.builtins import summands
from autodiff_rules.numpy import _shared, contractions, rearranging, shapes
from autodiff_rules.numpy.shortcuts import is_plain_index, like
from autodiff_rules.numpy.sum_shortcuts import DOUBLE, NONE

shaped(np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.copy, np.ndarray.copy, np.full, np.identity)
shaped(np.concatenate, np.stack, np.hstack, np.vstack, np.dstack, np.column_stack, np.append, np.broadcast_to, np.tile)
shaped(np.atleast_1d, np.atleast_2d, np.squeeze, np.expand_dims, np.swapaxes, np.moveaxis, np.flip, np.pad)
shaped(np.outer, np.inner, np.cross, np.kron, np.einsum, np.tensordot, np.diag, np.diagonal, np.linspace, np.take)
shaped(np.cumsum, np.cumprod, np.diff, np.unwrap, np.clip, np.select, np.interp, np.sort, np.gradient)
shaped(np.sum, np.prod, np.average)
shaped(np.zeros_like, np.ones_like, np.full_like, np.empty_like, np.linalg.norm, np.linalg.pinv)
shaped(np.fft.fftshift, np.fft.ifftshift)


@typed(np.reshape)
def reshape_typing(site, a, shape, order=NONE, copy=NONE):
    return reshaped(site, site.fact(a), shape) if site.is_array(a) else None


@shortcut(np.reshape)
def reshape_shortcut(site, a, shape, order=NONE, copy=NONE):
    plain = site.is_array(a) and site.value(order) in (None, "C") and site.value(copy) is None
    return site.method("reshape", a, shape) if plain else None


@typed(np.roll, updated)
def alike_typing(site, array, *more, axis=NONE):
    return site.fact(array) if site.is_array(array) else None


@typed(np.zeros_like, np.ones_like, np.empty_like)
def like_typing(site, array):
    return alike_typing(site, array)


@typed(np.full_like)
def full_like_typing(site, array, fill_value):
    return alike_typing(site, array)


@typed(np.ravel, np.ndarray.ravel, np.ndarray.flatten)
def ravel_typing(site, a, order=NONE):
    dims = tuple(map(site.shapes.find, site.dims(a) or ()))
    if not dims:
        return None
    if len(dims) == 1:
        return site.fact(a)
    known = not any(isinstance(d, Symbol) for d in dims)
    return ArrayFact(site.fact(a).dtype, (math.prod(dims),) if known else site.unknown())


@shortcut(np.ravel, np.moveaxis)
def same_shortcut(site, a, *rest):
    """What has one axis is as it is, where it need not be another object."""
    return a if not site.exact and site.is_double(a) and len(site.dims(a)) == 1 else None


@typed(*shapes.ATLEAST)
def atleast_typing(site, array):
    """What is known of the value and the pullback."""
    known = site.fact(array) if site.is_array(array) and len(site.dims(array)) > 1 else None
    return TupleFact((known, None)) if known else None


@typed(contractions.einsum_rule)
def einsum_typing(site, subscripts, *factors, out=NONE, optimize=NONE):
    """What is known of the value and the pullback: the lengths that the letters of the result have."""
    text, facts = site.value(subscripts), [site.fact(x) for x in factors]
    if type(text) is not str or site.value(out) is not None or not all(map(site.is_array, factors)):
        return None
    if not any(map(site.is_double, factors)) or any(
        fact.dtype.kind not in "iu" and fact.dtype != float for fact in facts
    ):
        return None
    terms, result, _ = contractions.explicit(text, tuple(len(fact.dims) for fact in facts))
    lengths = {}
    for term, fact in zip(terms, facts):
        if len(term) != len(fact.dims):
            return None
        for letter, dim in zip(term, fact.dims):
            if not site.shapes.same(lengths.setdefault(letter, dim), dim):
                return None
    return TupleFact((ArrayFact(DOUBLE, tuple(map(lengths.get, result))), None)) if result else None


@shortcut(rearranging.opposite)
def opposite_shortcut(site, shift):
    known = site.value(shift)
    return None if known is NotImplemented else Constant(rearranging.opposite(known))


@shortcut(shapes.resolved_order)
def order_shortcut(site, a, order):
    return Constant(site.value(order)) if site.value(order) in ("C", "F") else None


@shortcut(_shared.float_dtype)
def float_dtype_shortcut(site, x):
    return Constant(DOUBLE) if site.is_double(x) or site.is_floating(x) else None


@shortcut(summands)
def summands_shortcut(site, ȳ, items, y):
    parts = site.items(items)
    if parts is None or not site.is_number(y):
        return None
    return site.emit("build_tuple", *[ȳ] * len(parts))


# Stores


@typed(stored_cotangent)
def stored_typing(site, cotangent, array, key, value):
    if not (site.is_double(cotangent) and site.is_double(array)):
        return None
    fact = site.fact(value)
    return NumberFact(fact.types) if site.is_floating(value) else like(site, value, cotangent) if fact else None


@shortcut(stored_cotangent)
def stored_shortcut(site, cotangent, array, key, value):
    plain = site.is_double(cotangent) and site.is_double(array) and is_plain_index(site, key)
    if not plain or not (site.is_double(value) or site.is_floating(value)):
        return None
    return site.call(_shared.unbroadcast, site.emit("getitem", cotangent, key), value)
