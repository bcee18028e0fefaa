"""Where the entries of a compressed matrix stand, and sums of what belongs to one place."""

import numpy as np

from autodiff_hook.extend import linear
from autodiff_hook.registry import nondifferentiable
from autodiff_rules.numpy._shared import unbroadcast


@nondifferentiable
def rows_of(pointers):
    """The row of each entry of a matrix in CSR format, the column in CSC."""
    return np.repeat(np.arange(len(pointers) - 1), np.diff(pointers))


def summed(values, places, count):
    """An array of length ``count`` whose elements are the sums of the values at their places."""
    total = np.zeros((count, *np.shape(values)[1:]), values.dtype)
    np.add.at(total, places, values)
    return total


linear(summed, "values, places, count", lambda ȳ, values, places: unbroadcast(ȳ[places], values), kinds=((),))


@nondifferentiable
def keys_of(pointers, indices, width):
    """A number for the place of each entry, in which places are in order."""
    return rows_of(pointers) * np.int64(width) + indices[: pointers[-1]]


@nondifferentiable
def found(keys, among):
    """The position of each key among others, -1 where it is not there."""
    if not len(among):
        return np.full(len(keys), -1)
    order = np.argsort(among, kind="stable")
    places = np.minimum(np.searchsorted(among[order], keys), len(among) - 1)
    return np.where(among[order[places]] == keys, order[places], -1)
