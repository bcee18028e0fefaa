"""Matrices as wholes: made, converted, multiplied and solved natively, with the derivative of their entries.

What SciPy's Python code does around its native loops (checks, types of indices, sorting) costs what it costs without
derivatives. Where it is not certain where each entry goes, that code is followed, and its loops have the derivatives.
"""

import numpy as np
from scipy.sparse import _base, _bsr, _compressed, _coo, _csc, _csr, _dia, issparse
from scipy.sparse.linalg import spsolve

from autodiff_hook.algebras.searching import reaches
from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.extend import cotangents, frule
from autodiff_hook.semantics.attribute_stores import setattr_
from autodiff_hook.semantics.attributes import getattr_
from autodiff_hook.semantics.functions import enter
from autodiff_hook.semantics.meanings import apply, call_method, means
from autodiff_hook.semantics.opaque import call_constant, loses, search_of
from autodiff_rules.numpy._shared import unbroadcast
from autodiff_rules.scipy.sparse._entries import found, rows_of, summed
from autodiff_rules.scipy.sparse.solving import COLUMNS, ROWS, solution_cotangents


def is_own(matrix):
    """Whether a matrix is of a class of SciPy's, whose code does nothing else."""
    return issparse(matrix) and type(matrix).__module__.startswith("scipy.sparse.")


def regrouped(data, places, value):
    """``value``, in which the entries of ``data`` are added up at their places; a place of -1 is none."""
    return value


def taken(ȳ, places, data):
    if not np.size(ȳ):
        return unbroadcast(np.zeros(np.shape(data)), data)
    c = np.where(places >= 0, np.ravel(ȳ)[np.maximum(places, 0)], 0.0)
    return unbroadcast(np.reshape(c, np.shape(data)), data)


def spread(ẋ, places, value):
    here = places >= 0
    return np.reshape(summed(np.ravel(ẋ)[here], places[here], np.size(value)), np.shape(value))


cotangents(regrouped, "data, places, value", ((),), data=lambda ȳ, data, places: taken(ȳ, places, data))
frule(regrouped, lambda ẋ, y, data, places, value: spread(ẋ, places, y))


def keys(matrix):
    """A number for the place of each entry that is stored, -1 where it is in no place; None if that is not known."""
    if matrix.ndim != 2 or matrix.format not in ("csr", "csc", "coo", "dia"):
        return None
    rows, columns = coordinates(matrix)
    height, width = matrix.shape
    inside = (rows >= 0) & (rows < height) & (columns < width)
    return np.where(inside, rows * np.int64(width) + columns, -1)


def coordinates(matrix):
    if matrix.format == "coo":
        return matrix.coords
    if matrix.format == "dia":
        columns = np.arange(matrix.data.shape[1])
        rows = columns - matrix.offsets[:, None]
        return np.ravel(rows), np.ravel(np.broadcast_to(columns, rows.shape))
    outer, inner = rows_of(matrix.indptr), matrix.indices[: matrix.indptr[-1]]
    return (outer, inner) if matrix.format == "csr" else (inner, outer)


def moved(numbered, result, data):
    """The place in ``result`` of each entry of ``data``; ``numbered``: what their numbers became in the place of them.

    None if it has not as many, because they were added up or left away.
    """
    if np.size(numbered.data) != np.size(result.data):
        return None
    places = np.full(np.size(data), -1)
    places[np.ravel(numbered.data).astype(np.int64) - 1] = np.arange(np.size(result.data))
    return places


def numbers(data):
    return np.reshape(np.arange(1.0, 1.0 + np.size(data)), np.shape(data))


def added_up(source, result):
    """The place in ``result`` of each entry with these keys, which stand there once; None if that is not so."""
    target = keys(result)
    if source is None or target is None or np.size(result.data) != len(target):
        return None
    if len(target) > 1 and np.min(np.diff(np.sort(target))) == 0:
        return None
    places = found(source, target)
    if np.any((places < 0) & (source >= 0)):
        raise NotDifferentiable(
            f"a matrix in {result.format.upper()} format leaves away an entry that is 0, whose derivative would be "
            "lost: a matrix that is made as csr_array((data, (rows, columns))) keeps its zeros"
        )
    return places


def give(alg, matrix, token, data, places):
    """The entries of a new matrix are those of ``data`` at their places."""
    if matrix.data.dtype.kind in "fc":
        value, token = apply(alg, (None, token, None, None), regrouped, (data, places, matrix.data), {})
        setattr_(alg, (None, token), "data", matrix, value)


def entries_of(alg, matrix):
    """What a matrix stores, its token, and whether derivatives flow into it."""
    data, token = getattr_(alg, (None,), "data", matrix)
    return data, token, token is not None or reaches(alg, data)


def followed(alg, t, function, args, kwargs):
    """SciPy's code, where its loops are what has derivatives."""
    search = search_of(alg, t, function, args, kwargs)
    if search is None:
        return enter(alg, (None, *t), function, args, kwargs)
    return call_constant(alg, function, args, kwargs, search)


def converted(method):
    """Register a method that gives the same matrix in another format."""

    @means(method)
    def conversion(alg, t, args, kwargs):
        matrix = args[0]
        if not is_own(matrix):
            return followed(alg, t, method, args, kwargs)
        data, token, moving = entries_of(alg, matrix)
        result = method(*args, **kwargs)
        if not moving or result is matrix:
            return result, None
        places = None
        if matrix.format == "dia" or np.size(data) == np.size(result.data):
            places = moved(method(matrix._with_data(numbers(data), copy=False)), result, data)
        places = added_up(keys(matrix), result) if places is None else places
        if places is None:
            return enter(alg, (None, *t), method, args, kwargs)
        give(alg, result, token, data, places)
        return result, None


for owner, names in {
    _compressed._cs_matrix: "tocoo",
    _csr._csr_base: "tocsc tocoo",
    _csc._csc_base: "tocsr",
    _coo._coo_base: "tocsr tocsc",
    _dia._dia_base: "tocsr",
    _base._spbase: "tocsc",
}.items():
    for name in names.split():
        converted(vars(owner)[name])


def as_they_are(data, matrix):
    return np.arange(np.size(data)) if np.size(data) == np.size(matrix.data) else None


def places_of_given(given, data, matrix):
    """The place of each entry in a new matrix that is made of entries and what says where they are.

    Elements of a dense array that are 0 have none.
    """
    if type(given) is not tuple:
        return None if matrix.ndim != 2 else found(np.arange(np.size(data)), keys(matrix))
    if matrix.format in ("coo", "dia") or len(given) == 3:
        return as_they_are(data, matrix)
    if matrix.format == "bsr" or matrix.ndim != 2:
        return None
    if np.size(data) == np.size(matrix.data):
        return moved(type(matrix)((numbers(data), *given[1:]), shape=matrix.shape), matrix, data)
    rows, columns = (np.asarray(x).astype(np.int64) for x in given[1])
    return added_up(rows * np.int64(matrix.shape[1]) + columns, matrix)


def made(init):
    """Register what makes a matrix of entries and their places, or of another matrix."""

    @means(init)
    def making(alg, t, args, kwargs):
        matrix, given = args[0], args[1] if len(args) > 1 else None
        if not is_own(matrix) or not loses(alg, t, init, args, kwargs):
            return followed(alg, t, init, args, kwargs)
        if issparse(given) and given.format != matrix.format:
            given, _ = call_method(alg, (None, None), ("asformat", ()), given, matrix.format)
            args = (matrix, given, *args[2:])
        if issparse(given):
            data, token, moving = entries_of(alg, given)
        elif type(given) is tuple and given and type(given[0]) in (np.ndarray, list, tuple):
            data, token = apply(alg, (None, None if t[1] is None else t[1][0]), np.asarray, given[:1], {})
            moving = token is not None or reaches(alg, data)
        elif type(given) in (np.ndarray, list) and matrix.format in ("csr", "csc", "coo"):
            data, token = apply(alg, (None, t[1]), np.asarray, (given,), {})
            moving = token is not None or reaches(alg, data)
        else:
            return enter(alg, (None, *t), init, args, kwargs)
        init(*args, **kwargs)
        if not moving:
            return None, None
        places = as_they_are(data, matrix) if issparse(given) else places_of_given(given, data, matrix)
        if places is None:
            vars(matrix).clear()
            return enter(alg, (None, *t), init, args, kwargs)
        give(alg, matrix, token, data, places)
        return None, None


for cls in (_compressed._cs_matrix, _coo._coo_base, _dia._dia_base, _bsr._bsr_base):
    made(cls.__init__)


def solved(data, b, indices, pointers, form, x):
    """``x``, the solution of A x = b."""
    return x


@cotangents(solved, "data, b, indices, pointers, form, x", ((),), "data, b")
def solved_cotangents(ȳ, y, data, b, indices, pointers, form):
    return solution_cotangents(ȳ, y, data, indices, pointers, b, form)


@means(spsolve)
def solving(alg, t, args, kwargs):
    if not is_plain_equation(*args[:2]):
        return followed(alg, t, spsolve, args, kwargs)
    matrix, b = args[:2]
    data, token, _ = entries_of(alg, matrix)
    x = spsolve(*args, **kwargs)
    form = ROWS if matrix.format == "csr" else COLUMNS
    given = (data, b, matrix.indices, matrix.indptr, form, x)
    return apply(alg, (None, token, t[1], None, None, None, None), solved, given, {})


def is_plain_equation(matrix=None, b=None):
    """Whether SciPy's driver is given the entries as they are, and the right side."""
    if not is_own(matrix) or matrix.format not in ("csr", "csc") or type(b) is not np.ndarray:
        return False
    return np.ndim(b) == 1 and matrix.dtype.kind in "fc" and matrix.has_canonical_format
