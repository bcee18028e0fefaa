"""Assignments to what an array says of its content: ``shape``, ``real``, ``imag``, ``flat``; those that are errors."""

from __future__ import annotations

import numpy as np
import pytest
from in_all_modes import MODES, differences

from autodiff_hook import NotDifferentiable, gradient, jvp, pullback

AT, WAY = np.array([0.7, 1.3, 2.1]), np.array([0.3, -1.1, 0.6])


def shape_of_what_was_made(x):
    a = np.outer(x, x)
    a.shape = (9,)
    return float(np.sum(a**2 * np.arange(9)))


def shape_of_what_was_stored_into(x):
    a = np.zeros((3, 3))
    a[0] = x
    a.shape = 9
    a[3:6] = x**2
    return float(np.sum(a**2 * np.arange(9)))


def shape_of_what_pullbacks_hold(x):
    a = np.outer(x, x)
    y = a * a.T
    row = a[1]
    a.shape = (9,)
    z = a * a
    a.shape = (1, 9)
    row *= 2.0
    return float(y.sum() + (z * np.arange(9)).sum() + (a @ a.T).sum())


def shape_of_a_view(x):
    a = np.outer(x, x)
    b = a[1:]
    b.shape = (6,)
    b[1] = x[0]
    return float((b * np.arange(6)).sum() + (a * a.T).sum())


def parts_of_complex_numbers(x):
    a = np.zeros(3, complex)
    a.real = x
    a.imag = x**2
    a.imag[1] = x[0]
    return float(np.sum(np.abs(a) ** 2) + np.sum(a.imag * a.real**2))


def parts_of_what_is_complex_already(x):
    a = x * (1.0 + 2.0j)
    a.real[:2] = x[1:] ** 2
    a.imag = a.imag * x
    return float(np.sum(np.abs(a) ** 2))


def real_part_of_real_numbers(x):
    a = x * 2.0
    a.real = x[::-1] ** 2
    return float(np.sum(a * np.arange(3)))


def pairs_of_numbers_as_complex_ones(x):
    a = np.zeros(6)
    a[:3] = x
    a.view(complex)[1:] = x[:2] ** 2 * 1j
    return float(np.sum(a**2 * np.arange(6)))


def all_places_at_once(x):
    a = np.zeros((3, 2))
    a.flat = x**2
    return float(np.sum(a**2 * np.arange(6).reshape(3, 2)))


def some_places_of_what_is_not_in_order(x):
    a = np.zeros((3, 2))
    a.flat[1:4] = x
    a.T.flat[0] = x[1] ** 2
    a.T.flat[[1, 4]] = x[:2] * x[2]
    return float(np.sum(a**2 * np.arange(6).reshape(3, 2)))


RIGHT = (
    *(shape_of_what_was_made, shape_of_what_was_stored_into, shape_of_what_pullbacks_hold, shape_of_a_view),
    *(parts_of_complex_numbers, parts_of_what_is_complex_already, real_part_of_real_numbers),
    *(pairs_of_numbers_as_complex_ones, all_places_at_once, some_places_of_what_is_not_in_order),
)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("f", RIGHT, ids=lambda f: f.__name__)
def test_right(f, mode):
    def along(step):
        return f(AT + step * WAY)

    expected = differences(along, 0.0, 2 if mode == "hvp" else 1)
    assert MODES[mode](along, 0.0) == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_shapes_are_as_the_program_left_them():
    made = []

    def f(x):
        a = x * 2.0
        y = a * a
        a.shape = (3, 1)
        made.append(a)
        return y.sum() + (a @ a.T).sum()

    back = pullback(f, AT)[1]
    assert back(1.0)[0] == pytest.approx(back(1.0)[0])
    assert made[0].shape == (3, 1)


def shape_of_an_argument(x):
    x.shape = (3, 1)
    return float((x @ x.T).sum())


def size_of_what_was_made(x):
    a = x * 2.0
    a.resize(5)
    return float(np.sum(a**2))


def dtype_of_what_was_made(x):
    a = x + 1j * x
    a.dtype = float
    return float(np.sum(a**2))


@pytest.mark.parametrize(
    ("f", "what"),
    [
        (shape_of_an_argument, "another shape in place"),
        (size_of_what_was_made, "another size in place"),
        (dtype_of_what_was_made, "the assignment to the attribute dtype"),
    ],
)
def test_clear_errors(f, what):
    with pytest.raises(NotDifferentiable, match=what):
        gradient(f, AT.copy())


def test_the_shape_of_an_argument_forwards():
    assert jvp(shape_of_an_argument, (AT.copy(),), (WAY,))[1] == pytest.approx(2 * AT.sum() * WAY.sum())
