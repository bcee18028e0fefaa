"""Calls that write their result to an array are specialised as stores of it."""

from __future__ import annotations

import numpy as np
import pytest
from specialised_cases import check

import autodiff_hook as ad
from autodiff_hook.testing import check_gradient

X = np.array([1.2, 0.3, 0.55, 0.6])


def copied_as_floats(x):
    """What ``astype`` makes is the program's own."""
    y = x.astype(float)
    y /= y.max()
    return np.sum(y**2)


def not_copied(x):
    """With ``copy=False`` it may be the argument, and is not specialised."""
    y = x.astype(float, copy=False) * 1.0
    y += 1.0
    return np.sum(y**2)


def by_position(x):
    y = x * 2.0
    np.negative(y, y)
    return np.sum(y**3)


def into_a_part(x):
    q = np.array(x, dtype=np.float64, copy=True)
    np.negative(q[1:], q[1:])
    return np.sum(np.sin(q / np.dot(q, q)))


def where_it_is_defined(x):
    """Elsewhere the root has no derivative, and the array has its own."""
    return np.sum(np.sqrt(x - 0.4, out=np.zeros_like(x), where=x > 0.5) ** 2 * 3.0)


def where_others_stay(x):
    return np.sum(np.divide(x * 2.0, 1.0 - x, out=x / 2.0, where=x > 0.4) ** 2)


def where_of_numbers(x):
    return np.sum(np.add(2.0, x[1] * x, out=np.ones_like(x), where=[True, False, True, True]))


def where_of_rows(x):
    rows = np.zeros((3, 4))
    np.multiply(x, x[:3, None], out=rows, where=x > 0.5)
    return np.sum(rows**2)


def not_of_a_ufunc(x):
    y = x * 3.0
    np.clip(y, 1.0, 2.5, out=y)
    z = np.zeros_like(x)
    np.cumsum(y, out=z)
    return np.sum(z**2)


def by_position_of_functions(x):
    y, c, z, w = x * 3.0, np.zeros(4), np.zeros(4), np.zeros(4)
    np.clip(y, 1.0, 2.5, y)
    np.dot(np.outer(x, x), y, c)
    np.sum(np.outer(y, x), 1, None, z)
    y.cumsum(0, None, w)
    return np.sum(w**2) + c @ z


def read_before_and_after(x):
    y = np.exp(x)
    before = y[1:] * 2.0
    np.sin(y, y, where=x < 0.58)
    return np.sum(before * y[:-1])


def in_a_loop(x):
    """What is known of the sum changes in the loop, whose body is looked at again."""
    y, total = np.zeros_like(x), 0
    for _ in range(3):
        np.multiply(y, x, out=y)
        np.add(y, 0.5, out=y, where=y < 2.0)
        total = total + y[0] * x[1]
        y.fill(total + y[1])
        np.fill_diagonal(rows := np.outer(y, x), total)
        np.copyto(y, rows[1] + y)
    return total + np.sum(y)


def in_a_branch(x):
    y = x * 1.0
    if y[1] < 0.5:
        np.negative(y, y)
    y /= np.sqrt(np.dot(y, y))
    return np.sum(y**3)


def on_a_diagonal(x):
    a, b, c = np.outer(x, x), np.zeros((9, 2)), np.multiply.outer(np.outer(x, x), x)
    np.fill_diagonal(a, np.exp(x))
    np.fill_diagonal(b, x[:3] ** 2, wrap=True)
    np.fill_diagonal(c, [x[0], 0.0])
    return np.sum(np.sin(a)) + np.sum(b.sum(1) ** 2) + np.sum(np.cos(c))


def at_flat_places(x):
    a = np.outer(x, x)
    np.put(a, [0, 7, 3], x[:2] ** 2)
    a.put([-1, 4], x[3])
    np.put(a, [17, 21], x[1], mode="wrap")
    return np.sum(np.sin(a) * x)


def along_an_axis(x):
    a = np.outer(x, x)
    np.put_along_axis(a, np.argmax(a, axis=1)[:, None], x[:, None] ** 3, axis=1)
    return np.sum(np.sin(a) * x)


def by_masks(x):
    a, b, c = x * 2.0, np.outer(x, x), x * 3.0
    np.copyto(a, x**2, where=x > 0.5)
    np.copyto(b, x[:, None] ** 2, where=x < 0.57)
    np.place(c, x > 0.5, [x[0], 1.0])
    np.putmask(c, x < 0.58, a**2)
    return np.sum(a * x) + np.sum(np.sin(b)) + np.sum(c**2)


WRITING = [
    *(on_a_diagonal, at_flat_places, along_an_axis, by_masks),
    *(copied_as_floats, not_copied, by_position, into_a_part, where_it_is_defined, where_others_stay, where_of_numbers),
    *(where_of_rows, not_of_a_ufunc, by_position_of_functions, read_before_and_after, in_a_loop, in_a_branch),
]


@pytest.mark.parametrize("f", WRITING, ids=lambda f: f.__name__)
def test_results_that_are_written(f):
    check(f, X)
    check_gradient(f, X)


def test_what_others_hold_is_not_taken_for_a_copy():
    def f(x):
        y = x * 1.0
        z = y.astype(float, copy=False)
        z += 1.0
        return np.sum(y * z)

    check(f, X, specialised=None)
    assert ad.gradient(f, X)[0] == pytest.approx(2.0 * (X + 1.0))


def test_several_arrays_that_are_written():
    def f(x):
        fractions, wholes, sines = np.empty_like(x), np.empty_like(x), np.ones_like(x)
        np.modf(x * 2.0, out=(fractions, wholes))
        np.sin(x, out=(sines,), where=x > 0.5)
        return np.sum(fractions * sines + wholes)

    check(f, X, specialised=None)
    check_gradient(f, X)
