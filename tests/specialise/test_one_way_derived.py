"""Arrays of classes derived from ``ndarray``, on one way: what NumPy and their classes make of them."""

from __future__ import annotations

import numpy as np
import pytest
from specialised_cases import GENERIC, check, close, is_specialised, slopes

import autodiff_hook as ad


class Plain(np.ndarray):
    """Says nothing but how it is made."""

    def __new__(cls, values):
        return np.asarray(values, dtype=float).view(cls)

    def norm(self):
        return np.sqrt((self * self).sum())

    @property
    def first(self):
        return self[0]


class Tagged(Plain):
    """Hands an attribute on."""

    def __new__(cls, values, tag=2):
        made = super().__new__(cls, values)
        made.tag = tag
        return made

    def __array_finalize__(self, other):
        if other is None:
            return
        self.tag = getattr(other, "tag", 1)


class Wrapped(Plain):
    """Makes itself anew of what NumPy gives."""

    def __array_finalize__(self, _):
        self.dimension = self.size

    def __array_wrap__(self, array, context=None, return_scalar=False):
        if return_scalar:
            return array[()]
        return type(self)(array)


class Scaled(Plain):
    """Has operators and items of its own."""

    def __mul__(self, other):
        return 2.0 * super().__mul__(other)

    def __rmul__(self, other):
        return super().__rmul__(other) + 1.0

    def __getitem__(self, key):
        return super().__getitem__(key) * 1.0

    def total(self):
        return super().sum() * 3.0


class Matrix(Plain):
    def transposed(self):
        return self.T

    def row(self, i):
        return self[i]

    def __array_finalize__(self, other):
        super().__array_finalize__(other)
        self.kept = getattr(other, "kept", 0) + 1


class Doubled(Tagged):
    """Hands on what it is given by name."""

    def __new__(cls, values, **options):
        return super().__new__(cls, 2.0 * np.asarray(values), **options)

    @classmethod
    def of(cls, *values, **options):
        return super().__new__(cls, values, **options)


class Holder:
    def __init__(self, point, direction):
        self.point, self.direction = point, direction

    def along(self, t):
        return self.point + t * self.direction


def made(x, y):
    v = Plain([x, y])
    return float(v.norm() + (2.0 * v - v / 3.0).dot(np.array([1.0, 2.0])))


def typed(x, y):
    v = Plain([x, y])
    w = np.exp(v) + v
    kinds = isinstance(w, Plain), type(w) is Plain, type(np.asarray(w)) is np.ndarray, type(w.sum()) is np.float64
    return float(w.sum() if all(kinds) and not isinstance(np.linalg.norm(v), Plain) else 0.0 * x)


def tagged(x, y):
    v = Tagged([x, y], tag=3)
    w = (v + 1.0)[:1]
    return float(w.tag * w.sum() + v.copy().tag * v.prod())


def wrapped(x, y):
    v = Wrapped([x, y])
    w = np.subtract(v, 0.5) * v
    return float(w.dimension * w.sum() + w.norm())


def operators(x, y):
    v = Scaled([x, y])
    return float((v * 3.0).sum() + (0.5 * v).sum() + v[1] + v.total() + (np.array([1.0, 2.0]) * v).sum())


def parts(x, y):
    v = Plain([x, y])
    a, b = v
    return float(a * b + sum(q * q for q in v) + len(v) * v.first + (v[0] if v.any() else 0.0))


def matrices(x, y):
    m = Matrix([[x, y], [y, 2.0]])
    total = 0.0
    for i, row in enumerate(m.transposed()):
        total = total + (i + 1) * row.sum() * row.kept * m.row(0)[1]
    return float(total + (m @ m).trace() + np.vstack([m, m])[3, 0])


def with_literals(x, y):
    a = Plain([x, y, 1.0])
    return float(a.dot([1.0, 2.0, x]) + np.dot(a, (y, 1.0, 0.5)) + (a * [1, 2, 3]).sum())


def stored(x, y):
    v = Plain([x, y])
    w = v.copy()
    w[0] = v[1] * 2.0
    return float((w * v).sum())


def compared(x, y):
    v = Plain([x, y])
    return float(v[v > 0.2].sum() + np.where(v > 0.5, v, 2.0 * v).sum())


class Unit(np.ndarray):
    """Is made in the memory of another array, which it shows."""

    def __new__(cls, values, tag=2):
        own = np.array(values, dtype=float)
        own /= np.linalg.norm(own)
        made = super().__new__(cls, own.shape, float, own)
        made.own, made.tag = own, tag
        return made

    def __array_finalize__(self, other):
        self.tag = getattr(other, "tag", 1)


def in_the_memory_of_another(x, y):
    v = Unit([x, y, 2.0], tag=3)
    w = (v * x)[1:]
    rows = np.arange(4.0) * x
    m = np.ndarray.__new__(Unit, shape=(2, 2), dtype=float, buffer=rows)
    m[1, 0] = y
    v += y
    return float(v.own[0] * v.tag + w.sum() * w.tag + rows[2] * m[1, 1])


def changed_in_place(x, y):
    v = Tagged([x, y, 1.0], tag=3)
    kept, part = v, v[1:]
    v *= v
    v -= 0.1 * Tagged([y, x, 2.0])
    for _ in range(2):
        v /= v.norm() + 1.0
    return float(part.sum() * part.tag + kept.first * v.tag * (kept is v))


def viewed(x, y):
    values = np.array([x, y * y])
    tag, plain = values.view(type=Tagged, dtype=values.dtype), values.view(float, Plain)
    return float((tag * x).sum()) * tag.tag + float(plain.view(np.float64, np.ndarray)[0] * plain.norm())


def kept_in_containers(x, y):
    named, listed = {}, [None, None]
    named["v"], listed[1] = Tagged([x, y], tag=3), Tagged([y, x], tag=5)
    return float((named["v"] * x).sum() * named["v"].tag + listed[1].norm() * listed[1].tag)


def by_classes_behind(x, y):
    v, w = Doubled([x, y], **{"tag": 3}), Doubled.of(x, y, **{"tag": 4})
    return float(v.norm() * v.tag + w.norm() * w.tag)


FUNCTIONS = [
    *(made, typed, tagged, parts, matrices, stored, compared, viewed, kept_in_containers, by_classes_behind),
    *(in_the_memory_of_another, changed_in_place, with_literals),
]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_what_a_program_makes(f):
    gradient = check(f, 0.7, 0.3)
    assert gradient == pytest.approx(slopes(f, 0.7, 0.3))


ARITHMETIC = pytest.mark.skipif(
    GENERIC, reason="classes with arithmetic of their own are opaque where they are carried"
)


@ARITHMETIC
def test_operators_of_the_class():
    assert ad.gradient(operators, 0.7, 0.3) == pytest.approx(slopes(operators, 0.7, 0.3))
    assert is_specialised(operators)


def test_what_the_class_makes_of_results():
    assert ad.gradient(wrapped, 0.7, 0.3) == pytest.approx(slopes(wrapped, 0.7, 0.3))
    assert is_specialised(wrapped)


def whole(v, w):
    return float(v.norm() * w.sum() + v.dot(w) + v.first)


@pytest.mark.parametrize("cls", [Plain, Tagged, Wrapped])
def test_given(cls):
    gradient = check(whole, cls([0.3, 0.6]), cls([1.5, 2.0]))
    assert [type(g) for g in gradient] == [np.ndarray, np.ndarray]


def test_given_and_plain_ones():
    check(lambda v, w: float((v * w).sum()), Plain([0.3, 0.6]), np.array([1.5, 2.0]))
    check(lambda v, w: float((v * w).sum()), np.array([1.5, 2.0]), Wrapped([0.3, 0.6]))


def test_in_objects():
    check(lambda h, t: float(h.along(t).norm()), Holder(Plain([0.3, 0.6]), Tagged([1.0, 2.0])), 0.4)


def test_in_lists():
    check(
        lambda vs: float(np.array(vs).sum() + vs[0].norm() + np.vstack(vs)[1, 1]),
        [Plain([0.3, 0.6]), Plain([1.0, 2.0])],
    )


POINT = Tagged([0.5, -1.0], tag=4)


def test_captured():
    check(lambda x: float((POINT * x).sum() * POINT.tag * (x * POINT).tag), 0.7)


def test_another_class_is_another_program():
    f = lambda v: float((v * v).sum() * getattr(v, "tag", 1))  # noqa: E731
    for v in (
        Plain([1.0, 2.0]),
        Tagged([1.0, 2.0]),
        np.array([1.0, 2.0]),
        Plain([1.0, 2.0, 3.0]),
        Tagged([1.0, 2.0], 3),
    ):
        (gradient,) = ad.gradient(f, v)
        close(gradient, 2.0 * getattr(v, "tag", 1) * np.asarray(v))


def test_what_the_class_of_a_given_array_says_may_change(monkeypatch):
    f = lambda v: v.norm() + v.first  # noqa: E731
    v = Plain([3.0, 4.0])
    close(ad.gradient(f, v)[0], np.array([1.6, 0.8]))
    monkeypatch.setattr(Plain, "norm", lambda self: 2.0 * self[1])
    close(ad.gradient(f, v)[0], np.array([1.0, 2.0]))


class Answering(Plain):
    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        given = [np.asarray(x) for x in inputs]
        return 2.0 * getattr(ufunc, method)(*given, **options)


def test_a_class_that_says_what_ufuncs_are():
    assert ad.gradient(lambda x: float(np.sum(Answering([x, 1.0]) * 3.0)), 0.5) == (pytest.approx(6.0),)


class Totalled(Plain):
    def __array_finalize__(self, other):
        self.total = float(np.asarray(self).sum()) if other is not None else 0.0


@pytest.mark.skipif(GENERIC, reason="what NumPy calls to finish an array is not carried")
def test_attributes_that_depend_on_what_is_in_the_array():
    f = lambda x: float((Totalled([x, 2.0]) * x).total)  # noqa: E731
    close(ad.gradient(f, 0.5), (2 * 0.5 + 2.0,))


def shapes_that_are_compared(x, z):
    rows, columns = x.shape
    held = [1, "a"]
    held.append(x[0, 0])
    if np.shape(z) == (rows, columns):
        z = z * 2.0
    elif np.shape(z) != () and (columns,) == np.shape(z):
        z = z * 3.0
    return np.sum(x * z) * held[-1]


def test_shapes_that_are_compared():
    x = np.arange(6.0).reshape(3, 2) + 1.0
    for z in (np.ones((3, 2)), np.ones(2), np.ones(1), 2.0):
        check(shapes_that_are_compared, x, z)


def matrices(x, y):
    a = np.matrix([[x, y, 1.0], [2.0, x * y, 3.0]])
    b, gain = np.bmat([[a], [a[1] * x]]), np.matrix(np.eye(2)) * 0.3
    total = 0.0
    for row in a:
        total += (row * row.T)[0, 0] + row[:, 1].item()
    return total + (gain.I * a * b.T).sum() + np.hstack((a, gain)).A1[3] + np.asmatrix(b[:, 2]).T.mean(axis=1)[0, 0]


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_matrices():
    check(matrices, 0.7, 1.3)


def columns_of_matrices(x, y):
    a, gain = np.matrix([[x, y, 1.0], [2.0, x * y, 3.0]]), np.matrix(np.eye(2)) * 0.3
    gain[:, 1] = a[:, 0] * y
    return (gain * a).sum()


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_columns_of_matrices():
    # Of NumPy 2.5 on, a column is what reshape makes, of which typed programs do not know whether it shows the matrix.
    check(columns_of_matrices, 0.7, 1.3, specialised=None if hasattr(np.ndarray, "_set_shape") else True)


def of_a_given_matrix(m, x):
    return (m * m.T * x)[0, 1] + m[0].sum() + np.linalg.det(m)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_a_matrix_that_is_given():
    for x in (0.7, 1.3):
        check(of_a_given_matrix, np.matrix([[1.0, x], [3.0, 4.0]]), x, specialised=None)
