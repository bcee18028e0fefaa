"""Sums, products and other functions of two matrices in CSR or CSC format, entry by entry, and their matrix product."""

import numpy as np
from scipy.sparse import _compressed, _sparsetools

from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.extend import cotangents
from autodiff_hook.registry import nondifferentiable
from autodiff_hook.semantics.attribute_stores import setattr_
from autodiff_hook.semantics.functions import enter
from autodiff_hook.semantics.meanings import apply, call_method, means
from autodiff_hook.semantics.opaque import loses
from autodiff_rules.scipy._standins import natively, settled, stand_in
from autodiff_rules.scipy.sparse._entries import found, keys_of, rows_of, summed
from autodiff_rules.scipy.sparse.matrices import added_up, entries_of, followed, is_own, keys, taken


@nondifferentiable
def structure(target, args):
    copies = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]
    natively(target, copies, {})
    return copies[-3], copies[-2]


def aligned(keys, pointers, indices, data, width, size):
    """The entries at these keys, 0 where there is none, in an array of this size."""
    places = found(keys_of(pointers, indices, width), keys)
    known = np.flatnonzero(places >= 0)
    return summed(data[known], places[known], size)


def entry_by_entry(target, combine, together):
    """Register a function of two matrices; ``together``: an entry of one alone gives none."""

    def entries(height, length, ap, ai, ax, bp, bi, bx, cp, ci, cx):
        pointers, indices = structure(target, (height, length, ap, ai, ax, bp, bi, bx, cp, ci, cx))
        keys, first, second = keys_of(pointers, indices, length), keys_of(ap, ai, length), keys_of(bp, bi, length)
        expected = np.intersect1d(first, second) if together else np.union1d(first, second)
        if len(np.setdiff1d(expected, keys)):
            raise NotDifferentiable(f"{target.__name__} leaves away an entry that is 0, whose derivative would be lost")
        count = len(keys)
        a = aligned(keys, ap, ai, ax, length, count)
        b = aligned(keys, bp, bi, bx, length, count)
        return None, None, np.concatenate((combine(a, b), cx[count:]))

    stand_in(target, 8, 9, 10)(entries)


entry_by_entry(_sparsetools.csr_plus_csr, np.add, False)
entry_by_entry(_sparsetools.csr_minus_csr, np.subtract, False)
entry_by_entry(_sparsetools.csr_elmul_csr, np.multiply, True)


@nondifferentiable
def meetings(ap, ai, bp):
    """The entries of two matrices that a product multiplies: (i, k) of the first meets all of row k of the second."""
    counts = np.diff(bp)[ai[: ap[-1]]]
    first = np.repeat(np.arange(len(counts)), counts)
    starts = np.cumsum(counts) - counts
    return first, np.arange(len(first)) - starts[first] + bp[ai[first]]


@stand_in(_sparsetools.csr_matmat, 8, 9, 10)
def csr_matmat(height, length, ap, ai, ax, bp, bi, bx, cp, ci, cx):
    pointers, indices = structure(_sparsetools.csr_matmat, (height, length, ap, ai, ax, bp, bi, bx, cp, ci, cx))
    first, second = meetings(ap, ai, bp)
    keys = keys_of(pointers, indices, length)
    places = found(rows_of(ap)[first] * np.int64(length) + bi[second], keys)
    if np.any(places < 0):
        raise NotDifferentiable("a product of sparse matrices leaves away an entry that is 0, whose derivative is lost")
    return None, None, np.concatenate((summed(ax[first] * bx[second], places, len(keys)), cx[len(keys) :]))


def combined(first, second, places, value, sign):
    """``value``, to which the entries of two matrices are added up at their places, those of one with this sign."""
    return value


cotangents(
    combined,
    "first, second, places, value, sign",
    ((),),
    first=lambda ȳ, first, places: taken(ȳ, places[0], first),
    second=lambda ȳ, second, places, sign: sign * taken(ȳ, places[1], second),
)

SIGNS = {"_plus_": 1.0, "_minus_": -1.0}
binopt = _compressed._cs_matrix._binopt


@means(binopt)
def added(alg, t, args, kwargs):
    """Sums and differences natively, in which each entry of both has one place."""
    first, second, op = args
    known = op in SIGNS or op == "_elmul_"
    plain = is_own(first) and is_own(second) and first.ndim == second.ndim == 2
    if not known or not plain or not loses(alg, t, binopt, args, kwargs):
        return followed(alg, t, binopt, args, kwargs)
    if second.format != first.format:
        second, _ = call_method(alg, (None, None), ("asformat", ()), second, first.format)
    result = whole(binopt(first, second, op), binopt, first, second, "_elmul_" if op == "_elmul_" else "_plus_")
    if op == "_elmul_":
        return multiplied(alg, first, second, result) or followed(alg, t, binopt, (first, second, op), kwargs)
    places = [added_up(keys(x), result) for x in (first, second)]
    if result.data.dtype.kind not in "fc" or any(x is None for x in places):
        return followed(alg, t, binopt, (first, second, op), kwargs)
    (a, a_token, _), (b, b_token, _) = entries_of(alg, first), entries_of(alg, second)
    given = a, b, places, result.data, SIGNS[op]
    value, token = apply(alg, (None, a_token, b_token, None, None, None), combined, given, {})
    setattr_(alg, (None, token), "data", result, value)
    return result, None


def whole(result, operation, first, second, *options):
    """The result, with the entries that it leaves away as they are 0."""
    ones = [x._with_data(np.ones(np.size(x.data)), copy=False) for x in (first, second)]
    everything = operation(*ones, *options)
    if np.size(everything.data) == np.size(result.data):
        return result
    data = np.zeros(np.size(everything.data), result.data.dtype)
    data[found(keys(result), keys(everything))] = result.data
    return everything._with_data(data, copy=False)


def multiplied(alg, first, second, result):
    """The product entry by entry; None if it is not known what an entry is the product of."""
    origins = [found(keys(result), keys(x)) for x in (first, second)]
    both = np.intersect1d(keys(first), keys(second))
    canonical = first.has_canonical_format and second.has_canonical_format
    if not canonical or len(both) != len(result.data) or result.data.dtype.kind not in "fc":
        return None
    (a, a_token, _), (b, b_token, _) = entries_of(alg, first), entries_of(alg, second)
    given = a, b, *origins, result.data
    value, token = enter(alg, (None, a_token, b_token, None, None, None), products, given, {})
    setattr_(alg, (None, token), "data", result, value)
    return result, None


def products(a, b, first, second, value):
    return settled(a[first] * b[second], value)


def sum_of_products(a, b, first, second, places, value):
    return settled(summed(a[first] * b[second], places, len(value)), value)


matmul = _compressed._cs_matrix._matmul_sparse


@means(matmul)
def multiplied_by_matrix(alg, t, args, kwargs):
    first, second = args
    known = is_own(first) and is_own(second) and first.ndim == second.ndim == 2
    if not known or not loses(alg, t, matmul, args, kwargs):
        return followed(alg, t, matmul, args, kwargs)
    if second.format != first.format:
        second, _ = call_method(alg, (None, None), ("asformat", ()), second, first.format)
    result = whole(matmul(first, second), matmul, first, second)
    by_rows = first.format == "csr"
    a, b = (first, second) if by_rows else (second, first)
    left, right = meetings(a.indptr, a.indices, b.indptr)
    width = np.int64(result.shape[1 if by_rows else 0])
    wanted = rows_of(a.indptr)[left] * width + b.indices[right]
    places = found(wanted, keys_of(result.indptr, result.indices, width))
    if result.data.dtype.kind not in "fc" or np.any(places < 0):
        return followed(alg, t, matmul, (first, second), kwargs)
    (x, x_token, _), (y, y_token, _) = entries_of(alg, a), entries_of(alg, b)
    given = x, y, left, right, places, result.data
    value, token = enter(alg, (None, x_token, y_token, None, None, None, None), sum_of_products, given, {})
    setattr_(alg, (None, token), "data", result, value)
    return result, None
