"""Hessians, Jacobians and products with them within typed programs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from specialised_cases import check, direction, is_specialised, oracle, same

import autodiff_hook as ad
from autodiff_hook.runtime.specialising import GENERIC

pytestmark = pytest.mark.skipif(GENERIC, reason="only typed programs have derivatives within them")

VECTOR = np.array([0.7, 0.4, 1.1])
MATRIX = np.array([[0.3, -0.4, 0.2], [0.6, 0.1, -0.5]])


def bowl(y, w):
    return np.sum(y**4 * w) + np.prod(y) + y @ w


def along_numbers(x):
    value, slope = ad.jvp(lambda a, b: math.sin(a) * b**2, (x, 2.0), (0.5, x))
    return value * slope + ad.jvp(lambda a, b: a * b, (x, x), (None, 1))[1]


def along_arrays(x):
    value, slope = ad.jvp(lambda y: np.cumsum(y**2 * x), (x,), (np.cos(x),))
    return np.sum(value * slope)


def along_arrays_to_several(x):
    (a, b), (da, db) = ad.jvp(lambda y, s: (np.sum(y * s), y @ x), (x, 0.5), (x * x, 1.0))
    return a * da + b * db


def products_of_numbers(x):
    a, b = ad.hvp(lambda a, b: a**3 * b**2 * x, (x, 0.5), (1.0, x))
    return a * b


def products_of_arrays(x):
    (h,) = ad.hvp(lambda y: bowl(y, x), (x,), (np.cos(x),))
    return np.sum(h * x)


def products_of_several(x):
    a, b = ad.hvp(bowl, (x, x * x), (np.sin(x), None))
    return np.sum(a) * np.sum(b)


def products_in_a_loop(x):
    v = x / 2.0
    for _ in range(3):
        (h,) = ad.hvp(bowl, (x, VECTOR), (v, None))[:1]
        v = h / np.sum(h * h)
    return np.sum(v * x)


def hessian_of_a_number(x):
    return ad.hessian(lambda y: math.exp(y * x) * y)(0.4) * ad.hessian(lambda a, b: a**2 * b**3 * x, 1)(x, 2.0)


def hessian_of_an_array(x):
    h = ad.hessian(bowl)(x, 0.5 * x)
    return np.sum(h * h) + h[0, 1]


def hessian_of_a_matrix(x):
    h = ad.hessian(lambda m: np.sum(np.tanh(m @ x) ** 2) + np.sum(m**3))(MATRIX)
    return np.sum(h[0, 1] * h[1, 0]) + np.sum(h**2)


def newton(x):
    y = np.ones(3)
    for _ in range(4):

        def f(z):
            return np.sum(np.exp(z) * x) - np.sum(z) + 0.5 * z @ z

        y = y - np.linalg.solve(ad.hessian(f)(y), ad.grad(f)(y))
    return y @ y


def jacobian_by_columns(x):
    j = ad.jacobian(lambda y: np.outer(y, y * x))(x)
    return np.sum(j * j)


def jacobian_by_rows(x):
    j = ad.jacobian(lambda y: (MATRIX @ y) ** 2 * x[0])(x)
    return np.sum(j * j) * j[0, 1]


def jacobians_of_either_kind(x):
    def f(y, s):
        return np.cumsum(y * y * s)

    return np.sum(ad.jacfwd(f)(x, 0.5) * ad.jacrev(f)(x, 0.5) * x) + ad.jacrev(f, 1)(x, x[0]) @ x


def jacobians_of_numbers(x):
    y = np.sum(x)
    return ad.jacobian(lambda t: t**3 * y)(y) + np.sum(ad.jacobian(lambda t: t**2 * x)(y)) + ad.jacobian(bowl)(x, x) @ x


def wave(y, w):
    return np.sum(np.sin(y * w) * y)


operator = ad.hessian(wave)


def of_operators_from_outside(x):
    return np.sum(operator(x, x)) * np.sum(ad.jacobian(ad.grad(wave))(x, x)) + ad.grad(ad.grad(math.sin))(x[0])


CASES = [
    (along_numbers, 0.8),
    (along_arrays, VECTOR),
    (along_arrays_to_several, VECTOR),
    (products_of_numbers, 0.8),
    (products_of_arrays, VECTOR),
    (products_of_several, VECTOR),
    (products_in_a_loop, VECTOR),
    (hessian_of_a_number, 0.8),
    (hessian_of_an_array, VECTOR),
    (hessian_of_a_matrix, VECTOR),
    (newton, VECTOR),
    (jacobian_by_columns, VECTOR),
    (jacobian_by_rows, VECTOR),
    (jacobians_of_either_kind, VECTOR),
    (jacobians_of_numbers, VECTOR),
    (of_operators_from_outside, VECTOR),
]


@pytest.mark.parametrize("f, x", CASES, ids=[f.__name__ for f, _ in CASES])
def test_gradients_of_what_has_them(f, x):
    (expected,) = oracle(f, x)[1]
    v = direction(expected)
    slope = (f(x + 1e-6 * v) - f(x - 1e-6 * v)) / 2e-6
    for _ in range(3):
        (found,) = ad.gradient(f, x)
        same(found, expected)
        assert np.sum(found * v) == pytest.approx(slope, rel=1e-5, abs=1e-6)
    assert is_specialised(f)


@pytest.mark.parametrize("f", [along_arrays, products_of_arrays, jacobian_by_rows])
def test_other_shapes(f):
    for size in (3, 3, 3):
        check(f, 0.5 + 0.1 * np.arange(size) ** 2, specialised=None)
    with pytest.raises(ValueError):
        ad.gradient(jacobian_by_rows, np.ones(4))


def test_tangents_that_do_not_fit():
    def f(x, v):
        return np.sum(ad.jvp(lambda y: y * x, (x,), (v,))[1]) + np.sum(ad.hvp(lambda y: np.sum(y**3), (x,), (v,))[0])

    same(ad.gradient(f, VECTOR, VECTOR), oracle(f, VECTOR, VECTOR)[1])
    for wrong in (np.ones(1), np.ones(4), np.ones((3, 1))):
        with pytest.raises(Exception) as plain:
            f(VECTOR, wrong)
        for _ in range(2):
            with pytest.raises(type(plain.value)):
                ad.gradient(f, VECTOR, wrong)
