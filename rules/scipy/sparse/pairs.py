"""Sums, products and other functions of two matrices in CSR or CSC format, entry by entry, and their matrix product."""

import numpy as np
from scipy.sparse import _compressed, _sparsetools

from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.extend import cotangents
from autodiff_hook.registry import nondifferentiable
from autodiff_hook.semantics.attribute_stores import setattr_
from autodiff_hook.semantics.meanings import apply, call_method, means
from autodiff_hook.semantics.opaque import loses
from autodiff_rules.scipy._standins import natively, stand_in
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


@stand_in(_sparsetools.csr_matmat, 8, 9, 10)
def csr_matmat(height, length, ap, ai, ax, bp, bi, bx, cp, ci, cx):
    """Each entry (i, k) of the first meets the entries of row k of the second."""
    pointers, indices = structure(_sparsetools.csr_matmat, (height, length, ap, ai, ax, bp, bi, bx, cp, ci, cx))
    counts = np.diff(bp)[ai[: ap[-1]]]
    first = np.repeat(np.arange(len(counts)), counts)
    starts = np.cumsum(counts) - counts
    second = np.arange(len(first)) - starts[first] + bp[ai[first]]
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
    if op not in SIGNS or not is_own(first) or not is_own(second) or not loses(alg, t, binopt, args, kwargs):
        return followed(alg, t, binopt, args, kwargs)
    if second.format != first.format:
        second, _ = call_method(alg, (None, None), ("asformat", ()), second, first.format)
    result = binopt(first, second, op)
    places = [added_up(keys(x), result) for x in (first, second)]
    if result.data.dtype.kind not in "fc" or any(x is None for x in places):
        return followed(alg, t, binopt, (first, second, op), kwargs)
    (a, a_token, _), (b, b_token, _) = entries_of(alg, first), entries_of(alg, second)
    given = a, b, places, result.data, SIGNS[op]
    value, token = apply(alg, (None, a_token, b_token, None, None, None), combined, given, {})
    setattr_(alg, (None, token), "data", result, value)
    return result, None
