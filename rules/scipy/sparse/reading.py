"""What is read out of a matrix, natively: entries, parts, dense arrays and sums, with the derivative of its entries."""

import numpy as np
from scipy.sparse import (
    _base,
    _compressed,
    _coo,
    _csc,
    _csr,
    _data,
    _dia,
    _index,
    _matrix,
    block_array,
    block_diag,
    bmat,
    hstack,
    issparse,
    tril,
    triu,
    vstack,
)

from autodiff_hook.extend import cotangents, frule
from autodiff_hook.semantics.attribute_stores import setattr_
from autodiff_hook.semantics.functions import enter
from autodiff_hook.semantics.meanings import apply, call_method, means
from autodiff_rules.numpy._shared import unbroadcast
from autodiff_rules.scipy._standins import settled
from autodiff_rules.scipy.sparse._entries import summed
from autodiff_rules.scipy.sparse.matrices import coordinates, entries_of, followed, is_own, keys, numbers, regrouped


def gathered(data, origins, value):
    """``value``, each element of which is the entry of its origin, or 0 where that is -1."""
    return value


def returned(ȳ, origins, data):
    here = np.ravel(origins) >= 0
    return unbroadcast(np.reshape(summed(np.ravel(ȳ)[here], np.ravel(origins)[here], np.size(data)), data.shape), data)


def elements(ẋ, origins, value):
    if not np.size(ẋ):
        return np.zeros(np.shape(value))
    return np.reshape(np.where(origins >= 0, np.ravel(ẋ)[np.maximum(origins, 0)], 0.0), np.shape(value))


cotangents(gathered, "data, origins, value", ((),), data=lambda ȳ, data, origins: returned(ȳ, origins, data))
frule(gathered, lambda ẋ, y, data, origins, value: elements(ẋ, origins, value))


def read(alg, method, args, kwargs, rule, places):
    """Whether the rule knows the derivative of a method by the entries, and the value with it; not if it is a view."""
    matrices = matrices_of(args[0])
    value = method(*args, **kwargs)
    if not any([entries_of(alg, matrix)[2] for matrix in matrices]) or value is args[0]:
        return True, (value, None)
    found = value.data if issparse(value) else value
    shared = any([np.may_share_memory(found, matrix.data) for matrix in matrices])
    where = None if shared or found.dtype.kind not in "fc" else places(value)
    if where is None:
        return False, None
    data, token, _ = entries_of(alg, matrices[0])
    if len(matrices) > 1:
        entries = [entries_of(alg, matrix)[:2] for matrix in matrices]
        parts = tuple([np.ravel(data) for data, _ in entries])
        data, token = apply(alg, (None, tuple([token for _, token in entries])), np.concatenate, (parts,), {})
    x, token = apply(alg, (None, token, None, None), rule, (data, where, found), {})
    if issparse(value):
        setattr_(alg, (None, token), "data", value, x)
        return True, (value, None)
    return True, (x, token)


def matrices_of(given):
    """The matrices in (lists of lists of) blocks, of which those that are None are 0."""
    if type(given) in (list, tuple):
        return [matrix for part in given for matrix in matrices_of(part)]
    return [] if given is None else [given]


def numbered(given, count):
    """The same matrices, whose entries are numbers that go on after the count."""
    if type(given) in (list, tuple):
        return [numbered(part, count) for part in given]
    if given is None:
        return None
    first = count[0]
    count[0] += np.size(given.data)
    return given._with_data(numbers(given.data) + first, copy=False)


def is_known(matrix, kwargs):
    return (
        is_own(matrix)
        and matrix.ndim == 2
        and matrix.format in ("csr", "csc", "coo", "dia")
        and not kwargs.keys() & {"out", "dtype"}
    )


def adds_duplicates(matrix, method):
    """Whether a method changes the matrix itself."""
    return method is _base._spbase.sum and matrix.format == "coo" and not matrix.has_canonical_format


def adds_up(*methods):
    """Register the place in the result, if any, of each entry with these rows and columns."""

    def register(place_of):
        for method in methods:

            @means(method)
            def reading(alg, t, args, kwargs, method=method):
                matrix = args[0]
                if not is_known(matrix, kwargs) or len(args) > 2 or adds_duplicates(matrix, method):
                    return followed(alg, t, method, args, kwargs)

                def places(value):
                    where = place_of(matrix, *coordinates(matrix), value, *args[1:], **kwargs)
                    return None if where is None else np.where(keys(matrix) >= 0, where, -1)

                done, result = read(alg, method, args, kwargs, regrouped, places)
                return result if done else enter(alg, (None, *t), method, args, kwargs)

        return place_of

    return register


@adds_up(_compressed._cs_matrix.toarray, _coo._coo_base.toarray, _base._spbase.toarray)
@adds_up(_base._spbase.todense, _matrix.spmatrix.todense)
def dense_place(matrix, rows, columns, value, order=None):
    return rows * np.int64(matrix.shape[1]) + columns


@adds_up(_base._spbase.sum, _compressed._cs_matrix.sum, _dia._dia_base.sum)
def summand_place(matrix, rows, columns, value, axis=None, dtype=None):
    if axis is None:
        return np.zeros(len(rows), int)
    return None if dtype is not None or type(axis) is not int else (columns, rows)[axis]


@adds_up(_compressed._cs_matrix.diagonal, _coo._coo_base.diagonal, _dia._dia_base.diagonal)
def diagonal_place(matrix, rows, columns, value, k=0):
    return np.where(columns == rows + k, rows + min(k, 0), -1)


@adds_up(_base._spbase.trace)
def trace_place(matrix, rows, columns, value, offset=0):
    return np.where(columns == rows + offset, 0, -1)


def takes(*methods):
    """Register what gives some of the entries of matrices: which ones, their numbers say."""
    for method in methods:

        @means(method)
        def taking(alg, t, args, kwargs, method=method):
            matrices = matrices_of(args[0]) if args else []
            if not matrices or not all([is_known(x, kwargs) and is_canonical(x) for x in matrices]):
                return followed(alg, t, method, args, kwargs)

            def origins(value):
                there = method(numbered(args[0], [0.0]), *args[1:], **kwargs)
                there = np.asarray(there.data if issparse(there) else there)
                return there.astype(np.int64) - 1 if there.size == np.size(getattr(value, "data", value)) else None

            done, result = read(alg, method, args, kwargs, gathered, origins)
            return result if done else enter(alg, (None, *t), method, args, kwargs)


def is_canonical(matrix):
    return matrix.format != "dia" and matrix.data.dtype.kind in "fc" and matrix.has_canonical_format


takes(_index.IndexMixin.__getitem__)
takes(*[vars(cls)[name] for cls in (_csr._csr_base, _csc._csc_base) for name in ("_getrow", "_getcol")])
takes(_data._data_matrix.copy, tril, triu, vstack, hstack, bmat, block_array, block_diag)


def transposing(method):
    """Register what gives a matrix with the same entries, in the same array but where it is copied."""

    @means(method)
    def transposed(alg, t, args, kwargs):
        if not is_known(args[0], kwargs):
            return followed(alg, t, method, args, kwargs)
        data, token, moving = entries_of(alg, args[0])
        result = method(*args, **kwargs)
        if result.data is not data:
            return enter(alg, (None, *t), method, args, kwargs)
        if moving and result is not args[0]:
            setattr_(alg, (None, token), "data", result, data)
        return result, None


for cls in (_csr._csr_base, _csc._csc_base, _coo._coo_base):
    transposing(cls.transpose)


def added_to(method):
    """Register what adds a dense array, where they are of one shape."""

    @means(method)
    def adding(alg, t, args, kwargs):
        matrix, other = args
        plain = type(other) is np.ndarray and is_own(matrix) and matrix.ndim == 2 and matrix.shape == other.shape
        if not plain:
            return followed(alg, t, method, args, kwargs)
        value = method(matrix, other)
        dense, token = call_method(alg, (None,), ("toarray", ()), matrix)
        total, token = apply(alg, (None, token, t[1]), np.add, (dense, other), {})
        return apply(alg, (None, token, None), settled, (total, value), {})


for cls in (_base._spbase, _compressed._cs_matrix, _coo._coo_base):
    added_to(cls._add_dense)
