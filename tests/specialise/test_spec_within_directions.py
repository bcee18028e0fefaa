"""Hessians, Jacobians and products with them within typed programs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from specialised_cases import check, direction, is_specialised, oracle, same

import autodiff_hook as ad
from autodiff_hook.runtime.specialising import GENERIC

pytestmark = pytest.mark.skipif(GENERIC, reason="nothing is typed")

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


def pulled_back(x):
    y, back = ad.pullback(lambda a, b: np.sin(a * x) * b, x, 2.0)
    a, b = back(y)
    return np.sum(a * x) * b + np.sum(back(x)[0])


def pulled_back_in_parts(x):
    (_, (a, _)), back = ad.vjp(lambda y: (np.sum(y * x), (y * y, 1.0)), x)
    first = back((np.sum(a), None))[0]
    return np.sum(first * back((None, (x, None)))[0])


def pulled_back_later(x):
    scale, y = x[0], x.copy()
    for i in range(2):
        value, back = ad.pullback(lambda z: z**2 * scale * y[i], x)  # noqa: B023
        scale, y = scale * 2.0, y * x
        x = x - 0.1 * back(value)[0]
    return np.sum(x) * scale


def stored_into_before_it_is_pulled_back(x):
    y, z = x * 2.0, x * 3.0
    _, back = ad.pullback(lambda a: np.sum(a**2 * z), y)
    y[0], z[1:] = 7.0, 5.0
    return np.sum(back(1.0)[0]) * np.sum(y * z)


def pushed_twice(x):
    value, push = ad.linearize(lambda a, s: np.cumsum(a * s) * x, x, 0.5)
    return np.sum(push(value, None) * push(x, 1.0))


def gauss_newton(x):
    def residuals(p):
        return np.tanh(MATRIX @ p * x[0]) - x[:2]

    p = x / 3.0
    for _ in range(3):
        r, back = ad.vjp(residuals, p)
        _, push = ad.linearize(residuals, p)
        g = back(r)[0]
        p = p - g * (g @ g) / np.sum(push(g) ** 2)
    return p @ p


CASES = [
    (pulled_back, VECTOR),
    (pulled_back_in_parts, VECTOR),
    (pulled_back_later, VECTOR),
    (pushed_twice, VECTOR),
    (gauss_newton, VECTOR),
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


def test_what_is_stored_into_before_it_is_pulled_back():
    expected = oracle(stored_into_before_it_is_pulled_back, VECTOR)[1]
    for _ in range(3):
        same(ad.gradient(stored_into_before_it_is_pulled_back, VECTOR), expected)


class Gain:
    def __init__(self, k):
        self.k = k

    def __call__(self, y):
        return np.sum(y * y) * self.k


def of_an_object_that_changes(x):
    gain = Gain(x[0])
    _, back = ad.pullback(gain, x)
    gain.k = 7.0
    return np.sum(back(1.0)[0])


def of_a_list_that_changes(x):
    ks = [x[0], x[1]]
    _, back = ad.pullback(lambda y: np.sum(y * ks[0]) * ks[1], x)
    ks[0], ks[1] = ks[1], 3.0
    return np.sum(back(1.0)[0] ** 2)


def of_what_is_drawn(x):
    rng = np.random.default_rng(3)
    y, back = ad.pullback(lambda y: np.sum(y * rng.normal(size=3)), x)
    return y * np.sum(back(x[1])[0]) + rng.normal() * y


@pytest.mark.parametrize("f", [of_an_object_that_changes, of_a_list_that_changes, of_what_is_drawn])
def test_pullbacks_of_what_changes(f):
    expected = oracle(f, VECTOR)[1]
    for _ in range(3):
        same(ad.gradient(f, VECTOR), expected)


def test_cotangents_that_do_not_fit():
    def f(x, c):
        return np.sum(ad.pullback(lambda y: y * x, x)[1](c)[0])

    same(ad.gradient(f, VECTOR, VECTOR), oracle(f, VECTOR, VECTOR)[1])
    for wrong in (np.ones(1), np.ones(4), np.ones((3, 1)), 1.0):
        with pytest.raises(ad.AutodiffError, match="the cotangent given to back"):
            f(VECTOR, wrong)
        for _ in range(2):
            with pytest.raises(ad.AutodiffError, match="the cotangent given to back"):
                ad.gradient(f, VECTOR, wrong)


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
