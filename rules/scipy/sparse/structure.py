"""Other formats, dense arrays, slices and sums: each entry of the result is one of the argument, or a sum of some."""

import numpy as np
from scipy._lib import _util
from scipy.sparse import _base, _compressed, _coo, _sparsetools

from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.extend import cotangents
from autodiff_hook.registry import nondifferentiable
from autodiff_hook.strong import times
from autodiff_rules._definitions import follow_instead
from autodiff_rules.scipy._standins import define, natively, stand_in
from autodiff_rules.scipy.sparse._entries import found, keys_of, rows_of, summed


@nondifferentiable
def origins(target, place, result, args):
    """Which entry of the argument each one of the result is: what ``target`` makes of their numbers."""
    labels = np.arange(1.0, 1.0 + np.size(args[place]))
    copies = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]
    copies[place] = np.reshape(labels, np.shape(args[place]))
    if result != place:
        copies[result] = np.zeros(np.shape(args[result]))
    target(*copies)
    return copies[result].astype(int) - 1


def moved(target, place, result, *constants, zeros=True):
    """Register that ``target`` writes the entries at ``place`` to ``result`` in another order; the rest is constant.

    Without ``zeros``, it leaves away entries that are 0; the numbers of entries are not.
    """

    def entries(*args):
        chosen = origins(target, place, result, args)
        if not zeros and not np.all(np.ravel(args[place])[chosen[chosen >= 0]]):
            raise NotDifferentiable(
                f"{target.__name__} leaves away an entry that is 0, whose derivative would be lost: "
                "a matrix that is made as csr_array((data, (rows, columns))) keeps its zeros"
            )
        parts = np.where(chosen >= 0, np.ravel(args[place])[np.maximum(chosen, 0)], args[result])
        return (*(None for _ in constants), parts) if constants else parts

    stand_in(target, *constants, result)(entries)


moved(_sparsetools.coo_tocsr, 5, 8, 6, 7)
moved(_sparsetools.csr_tocsc, 4, 7, 5, 6)
moved(_sparsetools.csr_row_index, 4, 6, 5)
moved(_sparsetools.csr_row_slice, 5, 7, 6)
moved(_sparsetools.csr_column_index2, 4, 6, 5)
moved(_sparsetools.csr_sort_indices, 3, 3, 2)
moved(_sparsetools.csr_hstack, 5, 8, 6, 7)
moved(_sparsetools.dia_tocsr, 5, 7, 8, 9, zeros=False)
moved(_sparsetools.csr_eliminate_zeros, 4, 4, 2, 3, zeros=False)
moved(_sparsetools.csr_tobsr, 6, 9, 7, 8)
moved(_sparsetools.bsr_tocsr, 6, 9, 7, 8)


def get_csr_submatrix(height, length, pointers, indices, data, *bounds):
    labels = np.arange(1.0, 1.0 + len(data))
    bp, bi, chosen = natively(_sparsetools.get_csr_submatrix, (height, length, pointers, indices, labels, *bounds), {})
    return bp, bi, data[chosen.astype(int) - 1]


follow_instead(_sparsetools.get_csr_submatrix, get_csr_submatrix)


def eliminate_zeros(self):
    kept = self.data != 0
    if not np.any(kept) and len(kept):
        raise NotDifferentiable("no entry of this matrix is left, so its derivative would be lost")
    self.coords = tuple([places[kept] for places in self.coords])
    self.data = entries_kept(self.data, kept)


define(_coo._coo_base.eliminate_zeros, eliminate_zeros)


def entries_kept(data, kept):
    """The entries of a matrix that are not 0."""
    return data[kept]


@cotangents(entries_kept, "data, kept", ((),))
def cotangents_of_all(ȳ, kept):
    """That of an entry which was left away is nan, as nobody knows it: zero times it is zero.

    It is linear in ȳ, so that forward mode has it, too.
    """
    whole = times(np.dot(ȳ, np.sqrt(np.arange(1.0, 1.0 + len(ȳ)))), np.where(kept, 0.0, np.nan))
    whole[kept] = ȳ
    return whole


@stand_in(_sparsetools.csr_todense, 5)
def csr_todense(height, length, pointers, indices, data, y):
    places = rows_of(pointers) * length + indices[: pointers[-1]]
    return y + np.reshape(summed(data[: pointers[-1]], places, height * length), np.shape(y))


@stand_in(_sparsetools.coo_todense, 6)
def coo_todense(height, length, count, rows, columns, data, y, fortran):
    places = rows + columns * np.int64(height) if fortran else rows * np.int64(length) + columns
    return y + summed(data, places, height * length)


@stand_in(_sparsetools.coo_todense_nd, 5)
def coo_todense_nd(strides, count, dimensions, coordinates, data, y, fortran):
    places = np.asarray(strides) @ np.reshape(coordinates, (dimensions, count))
    return y + summed(data, places, np.size(y))


@stand_in(_sparsetools.csr_diagonal, 6)
def csr_diagonal(k, height, length, pointers, indices, data, y):
    rows = rows_of(pointers)
    chosen = np.flatnonzero(indices[: pointers[-1]] == rows + k)
    return y + summed(data[chosen], rows[chosen] + min(k, 0), np.size(y))


@stand_in(_sparsetools.csr_sum_duplicates, 2, 3, 4)
def csr_sum_duplicates(height, length, pointers, indices, data):
    keys = keys_of(pointers, indices, length)
    kept, places = np.unique(keys, return_inverse=True)
    return None, None, np.concatenate((summed(data[: len(keys)], places, len(kept)), data[len(kept) :]))


@stand_in(_sparsetools.csr_scale_rows, 4)
def csr_scale_rows(height, length, pointers, indices, data, factors):
    return data * factors[rows_of(pointers)]


@stand_in(_sparsetools.csr_scale_columns, 4)
def csr_scale_columns(height, length, pointers, indices, data, factors):
    return data * factors[indices]


@stand_in(_sparsetools.csr_sample_values, 8)
def csr_sample_values(height, length, pointers, indices, data, count, rows, columns, y):
    wanted = np.where(rows < 0, rows + height, rows) * np.int64(length) + np.where(
        columns < 0, columns + length, columns
    )
    distinct, back = np.unique(wanted, return_inverse=True)
    places = found(keys_of(pointers, indices, length), distinct)
    known = np.flatnonzero(places >= 0)
    return summed(data[known], places[known], len(distinct))[np.reshape(back, -1)]


def pruned(array):
    """SciPy's copies an array that is a small part of its memory."""
    return array


for owner in (_util, _base, _compressed):
    if hasattr(owner, "_prune_array"):
        follow_instead(owner._prune_array, pruned)
