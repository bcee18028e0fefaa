"""Matrices in LIL and in DOK format: lists and dicts of entries."""

from bisect import bisect_left

import numpy as np
from scipy.sparse import _csparsetools, _dok, _index, _lil

from autodiff_hook.algebras.searching import reaches
from autodiff_hook.semantics.attribute_stores import setattr_
from autodiff_hook.semantics.functions import enter
from autodiff_hook.semantics.items import delitem, getitem, setitem
from autodiff_hook.semantics.meanings import apply, call_method, means
from autodiff_rules.scipy.sparse.matrices import entries_of, is_own, numbers, regrouped

INTEGERS = (int, np.integer)
lil = _lil._lil_base


def place_of(rows, height, width, i, j):
    """The row of an entry, where it stands in that, or would stand, and whether it does."""
    i, j = int(i), int(j)
    if not (-height <= i < height and -width <= j < width):
        raise IndexError(f"({i}, {j}) is no place in a matrix of shape {(height, width)}")
    columns, j = rows[i], j % width
    place = bisect_left(columns, j)
    return columns, j, place, place < len(columns) and columns[place] == j


def entry(alg, height, width, rows, data, i, j):
    """An entry and its token, 0 and none where it is not stored."""
    _, _, place, there = place_of(rows, height, width, i, j)
    return getitem(alg, (None, None), None, data[i], place) if there else (0.0, None)


def insert(alg, height, width, rows, data, i, j, x, token):
    """Store an entry: one that is 0 is left away, but for those that derivatives flow into."""
    columns, j, place, there = place_of(rows, height, width, i, j)
    if x == 0 and token is None:
        if there:
            del columns[place]
            delitem(alg, (None, None), None, data[i], place)
    elif there:
        setitem(alg, (None, None, token), None, data[i], place, x)
    else:
        columns.insert(place, j)
        call_method(alg, (None, None, token), ("insert", ()), data[i], place, x)


def append(alg, rows, data, i, j, x, token):
    rows[i].append(j)
    call_method(alg, (None, token), ("append", ()), data[i], x)


@means(_csparsetools.lil_get1)
def entry_asked(alg, t, args, kwargs):
    return entry(alg, *args)


@means(_csparsetools.lil_insert)
def entry_stored(alg, t, args, kwargs):
    insert(alg, *args, t[6])
    return None, None


@means(_csparsetools.lil_fancy_set)
def entries_stored(alg, t, args, kwargs):
    *matrix, rows, columns, values = args
    for place in np.ndindex(np.shape(rows)):
        x, token = (values[place], None) if t[6] is None else getitem(alg, (t[6], None), None, values, place)
        insert(alg, *matrix, rows[place], columns[place], x, token)
    return None, None


@means(_csparsetools.lil_fancy_get)
def entries_asked(alg, t, args, kwargs):
    height, width, rows, data, new_rows, new_data, wanted_rows, wanted_columns = args
    for row, column in np.ndindex(np.shape(wanted_rows)):
        i, j = wanted_rows[row, column], wanted_columns[row, column]
        _, _, place, there = place_of(rows, height, width, i, j)
        if there:
            append(alg, new_rows, new_data, row, column, *getitem(alg, (None, None), None, data[i], place))
    return None, None


@means(_csparsetools.lil_get_row_ranges)
def rows_asked(alg, t, args, kwargs):
    _, _, rows, data, new_rows, new_data, wanted, start, stop, stride, _ = args
    inside = range(start, stop, stride)
    for row, i in enumerate(wanted):
        chosen = [(inside.index(j), place) for place, j in enumerate(rows[i]) if j in inside]
        for column, place in sorted(chosen):
            append(alg, new_rows, new_data, row, column, *getitem(alg, (None, None), None, data[i], place))
    return None, None


@means(lil.tocsr)
def compressed(alg, t, args, kwargs):
    matrix = args[0]
    if not is_own(matrix):
        return enter(alg, (None, *t), lil.tocsr, args, kwargs)
    result = lil.tocsr(*args, **kwargs)
    if not reaches(alg, *matrix.data):
        return result, None
    entries = []
    for row in matrix.data:
        call_method(alg, (None, None), ("extend", ()), entries, row)
    flat, token = apply(alg, (None, None), np.asarray, (entries,), {})
    given = flat, np.arange(len(entries)), result.data
    value, token = apply(alg, (None, token, None, None), regrouped, given, {})
    setattr_(alg, (None, token), "data", result, value)
    return result, None


def is_of_one(matrix, key):
    return is_own(matrix) and type(key) is tuple and len(key) == 2 and all([isinstance(x, INTEGERS) for x in key])


@means(lil.__getitem__)
def item_asked(alg, t, args, kwargs):
    matrix, key = args
    if not is_of_one(matrix, key):
        return enter(alg, (None, *t), lil.__getitem__, args, kwargs)
    x, token = entry(alg, *matrix.shape, matrix.rows, matrix.data, *key)
    return apply(alg, (None, token), matrix.dtype.type, (x,), {})


class Recorder(_index.IndexMixin):
    """What is stored where by a store into a matrix of this shape."""

    format, dtype = "lil", np.dtype(float)

    def __init__(self, shape):
        self.shape, self.stored = shape, ()

    def _set_intXint(self, row, col, x):
        self.stored = [(row, col, x)]

    def _set_arrayXarray(self, row, col, x):
        self.stored = zip(np.ravel(row), np.ravel(col), np.ravel(x))


def is_array(x):
    return type(x) in (np.ndarray, np.matrix) or isinstance(x, (int, float, complex, np.number))


@means(lil.__setitem__)
def item_stored(alg, t, args, kwargs):
    matrix, key, x = args
    part = is_own(x) and x.shape != matrix.shape
    if part:
        x, _ = call_method(alg, (None, None), ("asformat", ()), x, "csr")
        part = x.has_canonical_format
    if not is_own(matrix) or not (part or is_array(x)):
        return enter(alg, (None, *t), lil.__setitem__, (matrix, key, x), kwargs)
    if is_of_one(matrix, key) and is_array(x) and np.ndim(x) == 0:
        x, token = getitem(alg, (t[2], None), None, x, ()) if type(x) is np.ndarray else (x, t[2])
        x, token = apply(alg, (None, token), matrix.dtype.type, (x,), {})
        insert(alg, *matrix.shape, matrix.rows, matrix.data, *key, x, token)
        return None, None
    if part:
        values, token, _ = entries_of(alg, x)
        numbered = x._with_data(numbers(values), copy=False)
    else:
        values, token, numbered = x, t[2], numbers(x)
    values, token = apply(alg, (None, token, None), np.asarray, (values, matrix.dtype), {})
    values, token = apply(alg, (None, token), np.ravel, (values,), {})
    recorder = Recorder(matrix.shape)
    _index.IndexMixin.__setitem__(recorder, key, numbered)
    for row, column, number in recorder.stored:
        x, x_token = getitem(alg, (token, None), None, values, int(number) - 1) if number else (0.0, None)
        insert(alg, *matrix.shape, matrix.rows, matrix.data, row, column, x, x_token)
    return None, None


def keep_entry(matrix, *given):
    *place, x = given
    matrix._dict[place[0] if len(place) == 1 else tuple(place)] = x


def keep_entries(matrix, *given):
    *places, x = given
    numbers = [list(map(int, place.ravel())) for place in places]
    matrix._dict.update(zip(numbers[0] if len(numbers) == 1 else zip(*numbers), x.ravel()))


def storing(left_away, kept):
    """A method that stores entries, as ``left_away`` does or as ``kept``."""

    def carried(alg, t, args, kwargs):
        return enter(alg, (None, *t), left_away if t[-1] is None else kept, args, kwargs)

    return carried


for _name, _kept in {
    **dict.fromkeys(("_set_int", "_set_intXint"), keep_entry),
    **dict.fromkeys(("_set_array", "_set_arrayXarray"), keep_entries),
}.items():
    _method = getattr(_dok._dok_base, _name, None)
    if _method is not None:
        means(_method)(storing(_method, _kept))
