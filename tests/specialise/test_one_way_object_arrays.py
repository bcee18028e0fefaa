"""Arrays of objects on one way: of arrays, of objects with operators of their own, of numbers and None."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from specialised_cases import check, slopes


class Dual:
    def __init__(self, v):
        self.v = v

    def __add__(self, other):
        return Dual(self.v + (other.v if isinstance(other, Dual) else other))

    def __mul__(self, other):
        return Dual(self.v * (other.v if isinstance(other, Dual) else other))

    def __rmul__(self, other):
        return Dual(self.v * other * 2)

    def __neg__(self):
        return Dual(-self.v)

    def __eq__(self, other):
        return isinstance(other, Dual) and self.v == other.v

    __hash__ = None


def arrays_in_cells(x):
    out = np.empty((2, 2), dtype=np.ndarray)
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = np.array([x, x * i + j])
    row = out[1]
    row[0] = np.array([x * x])
    static = all(cell.item().size < 3 for cell in np.nditer(out, flags=["refs_ok"]))
    return float(sum(np.sum(v) for v in out.flat) + np.sum(out[1, 0]) * len(out) + out[0][-1][0] * static)


def operators(x):
    a = np.array([Dual(x), Dual(2 * x), Dual(3.0)])
    b, c, d = a * 2.0, 2.0 * a, a * a + a
    weighted = a * np.array([1.0, 2.0, x])
    return float(sum(p.v for p in b) + sum(p.v for p in c) + d[1].v + np.sum(a).v + (-weighted)[2].v)


def numbers_and_none(x):
    a = np.array([x, 2.0, None], dtype=object)
    a[2] = x * x
    b = a.astype(float)
    return float(np.sum(b * np.array([1.0, 2.0, 3.0])) + a.size * x + (a[1:] * a[:2]).sum() + max(a))


def copies_and_views(x):
    a = np.array([[Dual(x), Dual(1.0)], [Dual(2.0), Dual(x)]])
    held, deep = a.copy(), copy.deepcopy(a)
    deep[0, 0].v = deep[0, 0].v * 3
    a[0, 1] = Dual(x * x)
    total = sum(p.v for p in deep.ravel()) + held[0, 1].v + a.T[1, 0].v
    first, second = a
    found = a == Dual(2.0)
    return float(total + first[0].v * second[1].v * found.sum() + np.concatenate([a[0], a[1]])[1].v)


def in_place(x):
    a = np.zeros(3, dtype=object)
    kept = a
    a += x
    a[0] += 1
    a.reshape(3, 1)[2, 0] = x * x * x
    a[[0, 1]] = [x * 5, None]
    a[a == None] = 2.0  # noqa: E711
    return float(a[0] * a[1] + kept[2] + (a if a.ndim > 1 else a[:1])[0] + sum(a.tolist()))


def filled_with_rows(x):
    out = np.full((2, 3), None)
    for i in range(2):
        out[i, :] = np.array([x, x * x, 1.0]) * (i + 1)
    return float(np.sum(np.asarray(out, dtype=float) * np.array([1.0, x, 2.0])) + (out is not None) * out[1, 0])


def filled_with_arrays(x):
    out, rows = np.empty(2, dtype=object), np.empty((2, 2), dtype=object)
    out[:] = [np.array([x, 2.0]), np.array([1.0, x])]
    rows[:] = [np.array([x, 2.0]), [x, None]]
    return float(np.sum(out[0] * out[1]) + rows[0, 0] * rows[1, 0] + (rows[1][1] is None))


def changed_while_iterated_over(x):
    a, total = np.array([x, x * x, 3.0], dtype=object), 0.0
    for i, v in enumerate(a):
        if i < 2:
            a[i + 1] = a[i + 1] + v
        total += v * v
    return float(total)


def filled_with_a_list(x):
    a, b = np.full(2, [x, x * x], object), np.full((2, 2), [x, 3.0], dtype=object)
    return float(a[0] * a[1] * 3 + b[1, 0] * b[0, 1])


def of_numbers(x):
    a = np.array([x, 2.0, None], dtype=object)[:2]
    weights = np.array([x, 2.0])
    try:
        weights += a
    except TypeError:
        weights = weights * 3.0
    kinds = [type(v) is float for v in np.isfinite(weights) * a]
    empty = a[:0]
    try:
        filled = bool(empty)
    except ValueError:
        filled = 3.0
    same = a.astype(object, copy=False)
    same[0] = x * x
    return float((weights * a).sum() + sum(kinds) * x + filled * x)


FUNCTIONS = [
    filled_with_a_list,
    changed_while_iterated_over,
    filled_with_arrays,
    arrays_in_cells,
    operators,
    numbers_and_none,
    copies_and_views,
    in_place,
    filled_with_rows,
]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_arrays_of_objects(f):
    for x in (1.3, 0.7):
        assert check(f, x) == pytest.approx(slopes(f, x))


def test_an_array_of_objects_that_is_given_to_other_code():
    def f(x):
        return np.array([x, None], dtype=object), x

    check(lambda x: f(x)[0][0] * x, 0.7)


def ambiguous(x):
    a = np.array([x, None], dtype=object)
    try:
        return x if a else 2 * x
    except ValueError:
        return x * x * (3.0 if np.array([None]) else 4.0)


def test_the_truth_of_several_objects():
    check(ambiguous, 0.7)


def test_arrays_of_objects_beside_arrays_of_numbers():
    for x in (1.3, 0.7):
        assert check(of_numbers, x, specialised=None) == pytest.approx(slopes(of_numbers, x))
