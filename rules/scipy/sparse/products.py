"""Products with vectors and dense matrices; each adds to its last argument."""

import numpy as np
from scipy.sparse import _sparsetools

from autodiff_rules.scipy._standins import stand_in
from autodiff_rules.scipy.sparse._entries import rows_of, summed


def product(rows, columns, data, x, y):
    """y + A x, where ``x`` is a vector or a matrix, flat or not, and ``y`` the same."""
    width = np.size(y) // max(np.shape(y)[0], 1) if np.ndim(y) > 1 else 1
    terms = data * np.reshape(x, (-1, width))[columns, 0] if width == 1 else data[:, None] * x[columns]
    return y + np.reshape(summed(terms, rows, np.shape(y)[0]), np.shape(y))


def flat_product(rows, columns, data, height, width, x, y):
    """``product`` of matrices with ``width`` columns, all of whose elements are in one row."""
    terms = data[:, None] * np.reshape(x, (-1, width))[columns]
    return y + np.reshape(summed(terms, rows, height), np.shape(y))


@stand_in(_sparsetools.csr_matvec, 6)
def csr_matvec(height, length, pointers, indices, data, x, y):
    return product(rows_of(pointers), indices, data, x, y)


@stand_in(_sparsetools.csc_matvec, 6)
def csc_matvec(height, length, pointers, indices, data, x, y):
    return product(indices, rows_of(pointers), data, x, y)


@stand_in(_sparsetools.csr_matvecs, 7)
def csr_matvecs(height, length, width, pointers, indices, data, x, y):
    return flat_product(rows_of(pointers), indices, data, height, width, x, y)


@stand_in(_sparsetools.csc_matvecs, 7)
def csc_matvecs(height, length, width, pointers, indices, data, x, y):
    return flat_product(indices, rows_of(pointers), data, height, width, x, y)


@stand_in(_sparsetools.coo_matvec, 5)
def coo_matvec(count, rows, columns, data, x, y):
    return product(rows, columns, data, x, y)


@stand_in(_sparsetools.coo_matmat_dense, 6)
def coo_matmat_dense(count, width, rows, columns, data, x, y):
    return flat_product(rows, columns, data, np.size(y) // width, width, x, y)


def diagonals(height, length, offsets, stored):
    """The rows and columns of what is stored of diagonals, and where it is stored."""
    places, columns = np.divmod(np.arange(len(offsets) * stored), stored)
    rows = columns - offsets[places]
    inside = (rows >= 0) & (rows < height) & (columns < length)
    return rows[inside], columns[inside], places[inside], columns[inside]


@stand_in(_sparsetools.dia_matvec, 7)
def dia_matvec(height, length, count, stored, offsets, data, x, y):
    rows, columns, places, positions = diagonals(height, length, np.asarray(offsets), stored)
    return product(rows, columns, data[places, positions], x, y)


@stand_in(_sparsetools.dia_matvecs, 8)
def dia_matvecs(height, length, count, stored, offsets, data, width, x, y):
    rows, columns, places, positions = diagonals(height, length, np.asarray(offsets), stored)
    return flat_product(rows, columns, data[places, positions], height, width, x, y)


def blocks_product(pointers, indices, data, height, shape, x, y):
    """y + A x for a matrix of blocks of this shape, where ``x`` has blocks of rows."""
    blocks = np.reshape(data, (-1, *shape))
    terms = np.matmul(blocks, x[indices])
    return y + np.reshape(summed(terms, rows_of(pointers), height), np.shape(y))


@stand_in(_sparsetools.bsr_matvec, 8)
def bsr_matvec(height, length, r, c, pointers, indices, data, x, y):
    return blocks_product(pointers, indices, data, height, (r, c), np.reshape(x, (-1, c, 1)), y)


@stand_in(_sparsetools.bsr_matvecs, 9)
def bsr_matvecs(height, length, width, r, c, pointers, indices, data, x, y):
    return blocks_product(pointers, indices, data, height, (r, c), np.reshape(x, (-1, c, width)), y)
