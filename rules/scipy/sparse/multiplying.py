"""Products of a matrix with a vector, or with the columns of a dense matrix."""

import numpy as np
from scipy.sparse import _base, _sparsetools, _sputils

from autodiff_hook.extend import Array, cotangents, fresh, pure
from autodiff_hook.semantics.functions import enter
from autodiff_hook.semantics.meanings import DEFINITIONS, apply, call_method, means
from autodiff_rules.numpy._shared import conj, unbroadcast
from autodiff_rules.scipy.sparse._entries import rows_of, summed
from autodiff_rules.scipy.sparse.matrices import coordinates, entries_of, followed, is_own, keys

dispatch = _base._spbase._matmul_dispatch


def times(data, x, indices, pointers, shape, by_rows):
    """The product of a matrix in CSR format, or CSC if not ``by_rows``: the arrays of one are those of the other's
    transpose."""
    height, width = shape
    if np.shape(x)[0] != width:
        raise ValueError(f"a matrix of shape {shape} times an array of shape {np.shape(x)}")
    y = np.zeros((height, *np.shape(x)[1:]), _sputils.upcast(data.dtype, x.dtype))
    name = ("csr" if by_rows else "csc") + ("_matvec" if np.ndim(x) == 1 else "_matvecs")
    columns = () if np.ndim(x) == 1 else np.shape(x)[1:]
    getattr(_sparsetools, name)(height, width, *columns, pointers, indices, data, np.ravel(x), np.reshape(y, -1))
    return y


def times_data(ȳ, data, x, indices, pointers, by_rows):
    outer, inner = rows_of(pointers), indices[: pointers[-1]]
    terms = ȳ[outer] * conj(x[inner]) if by_rows else ȳ[inner] * conj(x[outer])
    terms = np.sum(terms, 1) if np.ndim(terms) == 2 else terms
    return unbroadcast(np.concatenate((terms, np.zeros(len(data) - len(terms)))), data)


cotangents(
    times,
    "data, x, indices, pointers, shape, by_rows",
    ((Array, Array),),
    data=times_data,
    x=lambda ȳ, data, x, indices, pointers, shape, by_rows: unbroadcast(
        times(conj(data), ȳ, indices, pointers, shape[::-1], not by_rows), x
    ),
)
pure(times)
fresh(times)


def product(data, x, rows, columns, value):
    """``value``, the product of a matrix of entries at these places."""
    return value


@cotangents(product, "data, x, rows, columns, value", ((),), "data, x")
def product_cotangents(ȳ, data, x, rows, columns):
    by_entry = ȳ[rows]
    terms = by_entry * conj(x[columns])
    data̅ = np.reshape(np.sum(terms, 1) if np.ndim(terms) == 2 else terms, np.shape(data))
    entries = conj(np.ravel(data))
    x̄ = summed((entries if np.ndim(ȳ) == 1 else entries[:, None]) * by_entry, columns, np.shape(x)[0])
    return unbroadcast(data̅, data), unbroadcast(x̄, x)


def chosen(data, places):
    return np.ravel(data)[places]


def product_with_array(self, other):
    """What typed programs know of a product."""
    other = np.asanyarray(other)
    if self.format in ("csr", "csc"):
        return times(self.data, other, self.indices, self.indptr, self._shape, self.format == "csr")
    if other.shape[0] != self._shape[1]:
        raise ValueError(f"a matrix of shape {self._shape} times an array of shape {other.shape}")
    return self._matmul_vector(other) if other.ndim == 1 else self._matmul_multivector(other)


DEFINITIONS[id(dispatch)] = product_with_array


@means(dispatch)
def multiplied(alg, t, args, kwargs):
    matrix, other = args
    if is_own(matrix) and matrix.format == "lil":
        matrix, _ = call_method(alg, (None,), ("tocsr", ()), matrix)
        args = matrix, other
    plain = type(other) is np.ndarray and np.ndim(other) in (1, 2) and is_own(matrix) and matrix.ndim == 2
    if not plain or matrix.format not in ("csr", "csc", "coo", "dia") or matrix.shape[1] != len(other):
        return followed(alg, t, dispatch, args, kwargs)
    data, token, _ = entries_of(alg, matrix)
    if matrix.format in ("csr", "csc"):
        given = data, other, matrix.indices, matrix.indptr, matrix.shape, matrix.format == "csr"
        return apply(alg, (None, token, t[1], None, None, None, None), times, given, {})
    value, places = dispatch(matrix, other), keys(matrix)
    rows, columns = coordinates(matrix)
    if len(places) and np.min(places) < 0:
        inside = np.flatnonzero(places >= 0)
        rows, columns = rows[inside], columns[inside]
        data, token = enter(alg, (None, token, None), chosen, (data, inside), {})
    return apply(alg, (None, token, t[1], None, None, None), product, (data, other, rows, columns, value), {})
