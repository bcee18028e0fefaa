"""Arrays of objects: they hold references, so what is stored there keeps its derivative, whatever it is."""

from __future__ import annotations

import copy
import operator
import pickle

import numpy as np
import pytest
from in_all_modes import MODES, differences
from scipy import sparse

from autodiff_hook import NotDifferentiable, gradient, jvp

AT, WAY = np.array([0.7, 1.3, 2.1]), np.array([0.3, -1.1, 0.6])


def stored(x):
    a = np.empty(3, dtype=object)
    for i in range(3):
        a[i] = x[i] ** 2
    return float(a[0] * a[1] + a[2])


def arithmetic(x):
    a = np.empty(3, dtype=object)
    for i in range(3):
        a[i] = x[i]
    b = a * a + 2 * a - a / 3.0
    return float(np.sum(b))


def made_of_numbers(x):
    a = np.array([x[0], x[1], x[2]], dtype=object)
    return float(a[0] * a[1] + np.sum(a**2))


def products(x):
    a = np.array([x[0], x[1], x[2]], dtype=object)
    return float(np.dot(a, a) + a @ a + a.sum())


def converted(x):
    a = x.astype(object)
    a[1] = a[0] * 3
    return float(np.sum(a.astype(float) ** 2))


def vectorized(x):
    f = np.vectorize(lambda t: t * t, otypes=[object])
    return float(np.sum(f(x)))


def of_arrays(x):
    a = np.empty(2, dtype=object)
    a[0] = x[:2] ** 2
    a[1] = x
    return float(np.sum(a[0]) + np.sum(a[1] ** 2))


def of_arrays_in_two_dimensions(x):
    a = np.empty((2, 2), dtype=object)
    for i in range(2):
        for j in range(2):
            a[i, j] = np.array([x[i] * x[j], 1.0])
    return float(np.sum(a[0, 1]) + a[1][1][0])


def filled_with_arrays(x):
    data = [x[0], [x[1], x[2]]]
    out = np.empty((1, 2), dtype=object)
    for i in range(1):
        for j in range(2):
            out[i, j] = np.array(data[j], dtype=float, ndmin=1)
    return float(sum(np.sum(v**2) for v in out.flat))


def of_several_types(x):
    a = np.array([x[0], x[1], "s", None], dtype=object)
    return float(a[0] * a[1] + sum(v for v in a.tolist()[:2]))


def of_objects_of_the_program(x):
    class V:
        def __init__(s, v):
            s.v = v

        def __add__(s, o):
            return V(s.v + o.v)

        def __mul__(s, o):
            return V(s.v * (o.v if isinstance(o, V) else o))

        __rmul__ = __mul__

    a = np.empty(2, dtype=object)
    a[0] = V(x[0])
    a[1] = V(x[1])
    b = a * 2.0 + a
    return float(b[0].v * b[1].v)


def views(x):
    a = np.empty(3, dtype=object)
    a[:] = [x[0], x[1], x[2]]
    b = a[1:]
    b[0] = x[0] * 5
    return float(a[0] * a[1] * a[2])


def filled_with_one(x):
    a = np.full(3, x[0] * 2, dtype=object)
    return float(a[0] * a[1] + a[2])


def reduced(x):
    a = np.outer(x, x).astype(object)
    return float(
        np.sum(a, axis=0)[1]
        + a.sum(axis=1, keepdims=True)[2, 0]
        + np.prod(a[0])
        + a.mean()
        + np.mean(a, axis=0)[2]
        + np.max(a)
        + a.min()
        + np.add.reduce(a)[0]
        + a.std()
    )


def with_arrays_of_numbers(x):
    a = np.array([x[0], x[1], 2.0], dtype=object)
    b = x * a + a * np.sin(x) - x[0] * a + a**2
    c = np.add(a, x) * np.subtract(1.0, a)
    b += a
    b *= x
    return float(
        b.sum() + np.asarray(c, dtype=float).sum() + np.array(a, float).sum() + -a[0] + (-a).sum() + abs(a).sum()
    )


def matrices(x):
    a = np.array([[x[0], x[1]], [x[2], 1]], dtype=object)
    b = a @ a + np.dot(a, [1.0, 2.0]) + a.T.dot(a)
    return float(b.sum() + np.trace(a))


def rows_beside_numbers(x):
    a = np.empty((2, 2), dtype=object)
    a[0, 0] = x[0]
    a[0, 1] = a[1, 0] = x[1] * x[2]
    a[1, 1] = 3.0
    rows = np.array([a @ x[:2], [x[2], x[0]]])
    return float(rows[0][1] * rows[1, 0] + operator.getitem(rows, (0, 0)) ** 2 + operator.getitem(rows, 1)[1])


def moved(x):
    a = np.array([x[0], x[1], x[2]], dtype=object)
    b = np.concatenate([a, a[::-1]]).reshape(2, 3).T.copy()
    c = np.where([True, False, True], a, x * 2)
    d = np.append(a, x[0] ** 2)
    e = np.stack([a, 2 * a])
    f = a[[2, 0]]
    g = a[a > 1.0]
    h = np.tile(a, 2)
    a.flat[0] = x[1]
    return float(
        b[2, 0] * b[0, 1]
        + (c * np.arange(3)).sum()
        + d[3] * d[0]
        + e[1, 2]
        + f[0] * f[1]
        + g.sum()
        + h[4]
        + a[0] * a.flat[2]
        + sum(a)
        + max(a)
    )


def of_lists(x):
    a = np.empty(3, dtype=object)
    for i in range(3):
        a[i] = []
    for i in range(3):
        a[i].append(x[i] ** 2)
        a[0].append(x[i])
    return float(sum(sum(v) for v in a) + len(a[0]) + a.tolist()[1][0])


def of_dicts(x):
    a = np.array([{"v": x[0]}, {"v": x[1]}])
    a[0]["v"] = a[0]["v"] * a[1]["v"]
    return float(sum(d["v"] for d in a))


def of_functions(x):
    a = np.array([lambda: x[0] ** 2, lambda: x[1] * x[2]])
    return float(sum(f() for f in a) + a[0]())


def in_an_object(x):
    class S:
        def __init__(s):
            s.items = np.empty((2, 2), dtype=object)

        def put(s, i, j, v):
            s.items[i, j] = v
            s.items[i][j] = s.items[i][j] * 1.0

    s = S()
    for i in range(2):
        for j in range(2):
            s.put(i, j, x[i] * x[j + 1])
    return float(s.items[0, 1] * s.items[1, 0] + s.items.sum())


def of_objects_with_arithmetic(x):
    class V:
        def __init__(s, v):
            s.v = v

        def __add__(s, o):
            return V(s.v + (o.v if isinstance(o, V) else o))

        __radd__ = __add__

        def __mul__(s, o):
            return V(s.v * (o.v if isinstance(o, V) else o))

        __rmul__ = __mul__

        def __neg__(s):
            return V(-s.v)

        def sqrt(s):
            return V(s.v**0.5)

        def __float__(s):
            return float(s.v)

    a = np.array([V(t) for t in x])
    b = np.dot(a, a) + np.sum(np.sqrt(a) * x) + (2.0 * a).sum() + np.float64(2.0) * a[0] + (-a)[1]
    return float(b.v + np.array([b])[0].v)


class OfPythonsNumbers:
    """Knows no numbers of NumPy's, which then ask again with one of Python's."""

    def __init__(self, value):
        self.value = value

    def combined(self, other, operation):
        if type(other) not in (int, float, OfPythonsNumbers):
            return NotImplemented
        return OfPythonsNumbers(operation(self.value, getattr(other, "value", other)))

    def __add__(self, other):
        return self.combined(other, operator.add)

    def __truediv__(self, other):
        return self.combined(other, operator.truediv)


def divided_by_numbers_of_numpy(x):
    a = np.array([OfPythonsNumbers(t) for t in x])
    return float(a.mean().value ** 2 + (a[0] / np.float64(x[1]) + np.int64(2)).value)


def stored_by_slices(x):
    a = np.zeros((3, 3), dtype=object)
    for i in range(3):
        a[i, i] = x[i]
    a[0, 1:] = x[1:]
    a[1:, 0] = [x[0] ** 2, 4]
    a[2] += 1
    return float(a.sum() + (a @ a)[0, 0] + a.astype(float).sum() + np.sum(a.ravel() ** 2))


def functions_by_element(x):
    f = np.frompyfunc(lambda a, b: a * b + a, 2, 1)
    return float(np.sum(f(x, x[::-1]).astype(float)))


def functions_with_two_results(x):
    f = np.frompyfunc(lambda a: (a * a, a + 1), 1, 2)
    u, v = f(x)
    g = np.frompyfunc(lambda a, b: a * b + a, 2, 1)
    return float(u.sum() + (v * u).sum() + g(x[0], 2.0) + g.outer(x, x).sum() + g(x, 1.0).astype(float).sum())


def taken_apart(x):
    a = np.array([x[0], x[1], x[2]], dtype=object)
    first, *rest = a
    pairs = sum(p * q for p, q in zip(a, a[::-1])) + sum(i[0] * e for i, e in np.ndenumerate(a))
    return float(pairs + sum(map(abs, a)) + sorted(a)[1] + first * rest[1] + max(a, key=lambda t: -t) + [*a][0])


def copied_deeply(x):
    a = np.array([x[0], [x[1]]], dtype=object)
    b, c = copy.deepcopy(a), copy.copy(a)
    a[1][0] = 1.0
    a[0] = 2.0
    return float(b[0] * b[1][0] + c[0] * c[1][0])


def nested_and_swapped(x):
    a, b = np.empty(2, dtype=object), np.empty(1, dtype=object)
    b[0] = x[0] ** 2
    a[0], a[1] = b, {"k": [x[1]]}
    a[0], a[1] = a[1], a[0]
    return float(a[1][0] * a[0]["k"][0] + np.cumsum(np.array([x[0], x[1]], dtype=object))[1] ** 2)


def holders_of_arrays(x):
    class Holder:
        def __init__(self, values):
            self.values = values

        def __array__(self, dtype=None, copy=None):
            return np.asarray(self.values, dtype)

    held = Holder(x**2)
    return float(np.sum(np.asarray(held) * 2) + np.sum(np.sin(held)) + np.sum(x * held))


class Pair:
    """A sequence by code."""

    def __init__(self, first, second):
        self.items = (first, second)

    def __len__(self):
        return 2

    def __getitem__(self, i):
        return self.items[i]


def sequences_by_code(x):
    rows = [Pair(x[0], x[1]), Pair(x[1] ** 2, 2.0)]
    table = np.array(rows) @ np.array(Pair(x[2], 1.0))
    return float(
        np.sum(table**2) + np.dot(Pair(x[0], 3.0), rows[1]) + np.sum(np.stack(rows) * np.cos(Pair(rows[0], rows[1])))
    )


class Element:
    """What refuses to tell its length is one element for NumPy, which asks it for its ``conjugate`` and ``sqrt``."""

    def __init__(self, value):
        self.value = value

    def __len__(self):
        raise TypeError("a length would be ambiguous")

    def __getitem__(self, i):
        return self.value

    def conjugate(self):
        return Element(self.value * 3)

    def sqrt(self):
        return Element(self.value**0.5)


def elements_that_refuse_a_length(x):
    return float(np.conjugate(Element(x[0])).value * np.sqrt(Element(x[1] ** 2 + 1.0)).value)


def conjugates_of_sparse_matrices(x):
    matrix = sparse.csr_matrix((x, ([0, 1, 2], [2, 0, 1])), shape=(3, 3))
    return float(np.sum(np.conj(matrix * 2.0).toarray() ** 2) + np.sum(np.abs(-matrix).toarray() ** 3))


def places_of_arrays(x):
    table = np.outer(x, x)
    flat = np.asarray(table.T.flat)
    return float(
        np.sum(flat[1:4] ** 2) + np.sum(np.array([x.flat, table[1].flat]) ** 3) + np.mean(np.sin((x * x).flat))
    )


def functions_as_they_are(x):
    functions = np.asarray(np.atleast_1d(lambda y: y * y * x[0]), dtype=None)
    return float(functions[0](x[1]) * x[2])


def joined_by_rows(x):
    rows = np.frompyfunc(lambda a, b: np.array([a * b, a - b]), 2, 1)(x, x[::-1] ** 2)
    out = np.zeros(6)
    np.concatenate(rows, out=out)
    table = np.vstack(rows) * np.stack(rows, axis=-1).T
    return float(np.sum(table**2) + np.sum(out**3) + np.hstack(rows)[1] + np.concatenate(rows[1:])[0] ** 2)


def stored_into_numbers(x):
    a = np.array([x[0], x[1] * x[2], x[2]], dtype=object)
    b, c, d = np.zeros(3), np.empty((2, 3)), np.zeros(3, complex)
    b[:] = a
    c[...] = a * x
    c[0, [0, 2]] = a[1:]
    d[::-1] = a
    np.copyto(b, a * b, casting="unsafe")
    return float(np.sum(b**2) + np.sum(c**3) + np.sum(np.abs(d) ** 2))


def taken_one_by_one(x):
    a = np.empty(3, dtype=object)
    a[0], a[1], a[2] = x**2, (x[0], x[1] ** 2), np.array([x[0] * x[2], None])
    return float(np.sum(np.take(a, 0) ** 2) + np.take(a, 1)[1] * a.take(1)[0] + np.take(a, 2)[0] ** 2)


def reduced_beside_numbers(x):
    a = np.array([x[0], x[1] * x[2], x[2]], dtype=object)
    return float(np.sum([a, x]) ** 2 + np.max([a, x]) * np.prod((a, x), axis=0)[1])


def vectorized_to_arrays(x):
    rows = np.vectorize(lambda t: np.array([t, t * t]), otypes=[object])(x)
    return float(np.sum(np.stack(rows) ** 2) * rows[1][1])


def joined_with_plain_numbers(x):
    a = np.array([x[0], x[1] * x[2], x[2]], dtype=object)
    numbers = np.zeros(3)
    numbers[...] = x * x
    b = np.append(a, 5.0) * np.append([1.0, x[0]], a[1:])
    c = np.concatenate([a, np.array([1, 2, 3]), numbers]) + np.hstack([a, x, [1.0, x[1]], 2.0])
    d = np.where([True, False, True], a, 2.0) * np.where([1, 0, 1], numbers, a)
    return float(np.sum(b) + np.sum(c**2) + np.sum(d) + np.stack([a, (1.0, x[0], 2.0)])[1, 1])


def crosses_objects():
    """Whether this version of NumPy has a cross product of objects."""
    try:
        return np.cross(np.ones(3, object), np.ones(3, object)).shape == (3,)
    except TypeError:
        return False


product_of_objects = np.cross if crosses_objects() else np.multiply


def crossed(x):
    a, whole = np.array([x[0], x[1] * x[2], x[2]], dtype=object), np.asarray(x[0] * 1.0)
    whole[...] = x[1] * x[2]
    rest = a[..., 1]
    rest -= whole
    return float(np.sum(product_of_objects(a, x) * product_of_objects(a[::-1], a)) + a[1] ** 2)


RIGHT = (
    *(joined_with_plain_numbers, crossed),
    *(joined_by_rows, stored_into_numbers, taken_one_by_one, reduced_beside_numbers, vectorized_to_arrays),
    functions_as_they_are,
    *(sequences_by_code, places_of_arrays, elements_that_refuse_a_length, conjugates_of_sparse_matrices),
    *(taken_apart, copied_deeply, nested_and_swapped, holders_of_arrays),
    *(stored, arithmetic, made_of_numbers, products),
    *(converted, vectorized, of_arrays, of_arrays_in_two_dimensions),
    *(filled_with_arrays, of_several_types, of_objects_of_the_program, views),
    *(filled_with_one, reduced, with_arrays_of_numbers, matrices),
    *(moved, of_lists, of_dicts, of_functions),
    *(in_an_object, of_objects_with_arithmetic, stored_by_slices, divided_by_numbers_of_numpy, functions_by_element),
    *(functions_with_two_results, rows_beside_numbers),
)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("f", RIGHT, ids=lambda f: f.__name__)
def test_right(f, mode):
    def along(step):
        return f(AT + step * WAY)

    expected = differences(along, 0.0, 2 if mode == "hvp" else 1)
    assert MODES[mode](along, 0.0) == pytest.approx(expected, rel=1e-6, abs=1e-5)


def sorted_natively(x):
    a = np.array([x[1], x[0]], dtype=object)
    return float(np.unique(a)[0] * 3.0)


def shuffled(x):
    a = np.array([x[0], x[1]], dtype=object)
    np.random.default_rng(0).shuffle(a)
    return float(a[0] + 2 * a[1])


def joined_as_numbers(x):
    a = np.array([x[0], x[1]], dtype=object)
    return float(np.sum(np.concatenate([a, x], dtype=float, casting="unsafe") ** 2))


def partitioned(x):
    a = np.array([x[1], x[2], x[0]], dtype=object)
    a.partition(1)
    return float(a[0] * 2.0)


@pytest.mark.parametrize("f", [sorted_natively, shuffled, joined_as_numbers, partitioned])
def test_right_or_a_clear_error(f):
    def along(step):
        return f(AT + step * WAY)

    for differentiate in (lambda: gradient(along, 0.0)[0], lambda: jvp(along, (0.0,), (1.0,))[1]):
        try:
            found = differentiate()
        except NotDifferentiable:
            continue
        assert found == pytest.approx(differences(along, 0.0, 1))


MOVED = {
    "an element": lambda a: np.take(a, 0),
    "ravel": lambda a: a.ravel()[0],
    "flatten": lambda a: a.flatten()[0],
    "copy": lambda a: a.copy()[0],
    "reshape": lambda a: a.reshape(2, 1)[0, 0],
    "transposed": lambda a: a.T[0],
    "flat": lambda a: a.flat[0],
    "concatenate": lambda a: np.concatenate([a, a])[2],
    "where": lambda a: np.where([True, False], a, a)[0],
    "broadcast": lambda a: np.broadcast_to(a, (2, 2))[1, 0],
}
SUMMED = {
    "sum": lambda a: a[:1].sum(),
    "product": lambda a: (a * 2.0)[0] * 0.5,
    "astype": lambda a: a.astype(object)[0],
}
MADE = {
    "objects": lambda x: np.array([x * x, 1.0], object),
    "records": lambda x: np.array([(x * x,), (1.0,)], [("a", float)]),
}


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("name", MOVED)
def test_what_moves_elements(name, made):
    def f(x):
        found = MOVED[name](MADE[made](x))
        return float(found["a"] if made == "records" else found)

    for mode, operator_ in MODES.items():
        assert operator_(f, 1.3) == pytest.approx(2.0 if mode == "hvp" else 2.6)


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("name", [*MOVED, *SUMMED])
def test_what_is_made_of_an_array_that_is_unknown_is_unknown(name, made):
    if made == "records" and name in SUMMED:
        return

    def f(x):
        found = (MOVED | SUMMED)[name](pickle.loads(pickle.dumps(MADE[made](x))))
        return found["a"] if made == "records" else found

    for differentiate in (gradient, lambda f, x: jvp(f, (x,), (1.0,))):
        with pytest.raises(NotDifferentiable, match="dumps"):
            differentiate(f, 1.3)


@pytest.mark.parametrize("mode", MODES)
def test_an_array_that_is_filled_with_a_list(mode):
    def f(x):
        a = np.full((2, 2), 0.0, dtype=object)
        a.fill([x])
        a[0, 0].append(x * x)
        b = np.empty(2, dtype=object)
        b.fill(x * x)
        b[1] = 2.0
        return sum(a[1, 1]) * len(a[0, 1]) + b[0] * b[1]

    for x in (1.3, 0.7):
        assert MODES[mode](f, x) == pytest.approx(8.0 if mode == "hvp" else 2.0 + 8.0 * x)


@pytest.mark.parametrize("mode", MODES)
def test_a_store_of_an_array_with_an_axis_in_front(mode):
    def f(x):
        a = np.full(3, 1.0, dtype=object)
        a[:2] = np.array([[x, 3.0 * x]])
        return a[0] * a[1] + a[2]

    for x in (1.3, 0.7):
        assert MODES[mode](f, x) == pytest.approx(6.0 if mode == "hvp" else 6.0 * x)


@pytest.mark.parametrize("mode", MODES)
def test_an_array_of_numbers_that_is_made_of_lists_of_arrays_of_objects(mode):
    def f(x):
        a = np.array([x, 2.0], dtype=object)
        b = np.array([a, [x * x, 3.0], np.array([x, 1.0])], dtype=float)
        c = np.asarray([[a], [a * x]], dtype=float)
        return b[0, 0] + b[1, 0] * b.size + b[2, 0] + c[1, 0, 0] * c.size

    for x in (1.3, 0.7):
        assert MODES[mode](f, x) == pytest.approx(20.0 if mode == "hvp" else 2.0 + 20.0 * x)


@pytest.mark.parametrize("mode", MODES)
def test_objects_are_real_numbers_to_numpy(mode):
    def f(x):
        a = np.array([x, 2.0], dtype=object)
        return a.imag[0] * x + np.imag(a)[0] * x + a.real[0] * a[1] ** 2

    assert MODES[mode](f, 1.3) == (0.0 if mode == "hvp" else 4.0)
