"""Sums, products and other functions of two matrices in CSR or CSC format, entry by entry, and their matrix product."""

import numpy as np
from scipy.sparse import _sparsetools

from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.registry import nondifferentiable
from autodiff_rules.scipy._standins import natively, stand_in
from autodiff_rules.scipy.sparse._entries import found, keys_of, rows_of, summed


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
