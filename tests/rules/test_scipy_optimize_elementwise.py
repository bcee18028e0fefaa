from __future__ import annotations

import numpy as np
import pytest

from autodiff_hook import gradient
from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.testing import check_gradient

elementwise = pytest.importorskip("scipy.optimize.elementwise")


def cubic(x, p, shift=0.0):
    return x**3 - p - shift


def quartic(x, p, q):
    return (x - p) ** 2 + q * (x - p * q) ** 4


def test_roots_of_each_element():
    def roots(p, q):
        found = elementwise.find_root(cubic, (np.zeros(2), np.full(2, 5.0)), args=(p, q))
        return np.sum(found.x * np.array([1.0, 2.0])) + found.f_x[0] + found.nit[0]

    check_gradient(roots, np.array([2.0, 3.0]), 0.5)
    check_gradient(lambda p: elementwise.find_root(cubic, (0.0, 5.0), args=(p,)).x, 2.0)
    check_gradient(lambda p: elementwise.find_root(lambda x: x**3 - p, (0.0, 5.0))["x"], 2.0)


def test_minima_of_each_element():
    def minima(p, q):
        found = elementwise.find_minimum(quartic, (np.full(2, -3.0), np.full(2, 0.5), np.full(2, 9.0)), args=(p, q))
        return np.sum(found.x * np.array([1.0, 2.0])) + np.sum(found.f_x * np.array([3.0, 0.5]))

    check_gradient(minima, np.array([1.0, 2.0]), np.array([0.3, 0.6]), rtol=1e-5)
    check_gradient(lambda p: elementwise.find_minimum(lambda x: quartic(x, p, 0.4), (-3.0, 0.5, 9.0)).f_x, 1.0)


def test_functions_are_given_arrays_that_belong_together():
    def indexed(x, p):
        found = x.copy()
        found[x > -9.0] = (x**3 - p)[x > -9.0]
        return found

    check_gradient(lambda p: elementwise.find_root(indexed, (0.0, 5.0), args=(p,)).x, 2.0)
    grid = np.zeros((2, 1)), np.full((1, 3), 5.0)
    check_gradient(lambda p: np.sum(elementwise.find_root(indexed, grid, args=(p,)).x ** 2), np.array([2.0, 3.0, 4.0]))
    wells = np.full((2, 1), -9.0), np.zeros((1, 3)), np.full(3, 9.0)

    def minimum(x, p):
        return indexed(x, p) * 0.1 + (x - p) ** 2 * 9.0

    check_gradient(
        lambda p: np.sum(np.cos(elementwise.find_minimum(minimum, wells, args=(p,)).x)), np.array([2.0, 3.0, 4.0])
    )


def test_what_else_is_in_the_results_of_each_element_is_not_differentiated():
    def bracket(p):
        return elementwise.find_root(cubic, (0.0, 5.0), args=(p,)).bracket[0]

    with pytest.raises(NotDifferentiable, match="'bracket' in the result of scipy.optimize.find_root"):
        gradient(bracket, 2.0)
