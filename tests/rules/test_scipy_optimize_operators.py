"""Root finders in all operators and orders, and what they leave behind."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize

from autodiff_hook import gradient, hessian, hvp, jvp, withgradient
from autodiff_hook.testing import check_gradient


class Cached:
    def __init__(self, p):
        self.p, self.square = p, None

    def __call__(self, x):
        if self.square is None:
            self.square = self.p**2
        return x**3 - self.square


def cubic(x, p):
    return x**3 - p


def system_array(x, v):
    return np.array([x[0] ** 2 + 0.3 * x[1] - v[0], x[1] ** 3 + x[0] - v[1]])


def two_roots_with_one_work_array(p):
    work = np.zeros(2)

    def equation(x):
        work[:] = x * p
        return work * x - 1.0

    first = optimize.fsolve(equation, [1.0, 1.0], xtol=1e-13)
    between = work * 1.0
    p = p * 2
    second = optimize.fsolve(equation, [1.0, 1.0], xtol=1e-13)
    return np.sum(first * second * work) + np.sum(between * between)


def complex_roots_with_one_work_array(p):
    work = np.zeros(2, complex)

    def equation(z):
        work[0] = z * p[0]
        work[1] = work[0] * z
        return work[1] * z - p[1]

    first = optimize.newton(equation, -1.0 + 1.0j, tol=1e-13)
    p = p * 2
    second = optimize.newton(equation, -1.0 + 1.0j, tol=1e-13)
    return (first * second * work[1]).imag


def a_variable_of_the_callers(p):
    seen = 0.0

    def equation(x):
        nonlocal seen
        seen = x * p[0]
        return seen * x - p[1]

    return optimize.newton(equation, 1.0, tol=1e-13) * seen


def a_cache(p):
    equation = Cached(p[0])
    return optimize.brentq(equation, -10.0, 10.0, xtol=1e-14) * p[1] + equation.square


def a_result_object(p):
    result = optimize.root(lambda x: (x**3 - p, np.diag(3 * x * x)), [1.1, 1.1], jac=True, tol=1e-12)
    return result["x"][1] ** 2 * result.x[0]


def elementwise(p):
    return np.sum(optimize.newton(cubic, np.array([1.0, 1.2]), args=(p,), tol=1e-13) ** 2)


PROGRAMS = [
    two_roots_with_one_work_array,
    complex_roots_with_one_work_array,
    a_variable_of_the_callers,
    a_cache,
    a_result_object,
    elementwise,
]


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("point", [(1.3, 0.7), (2.3, 0.7)])
def test_all_operators_agree(f, point):
    p, v = np.array(point), np.array([0.6, -0.8])
    slope = gradient(f, p)[0] @ v
    assert np.isclose(slope, (f(p + 1e-5 * v) - f(p - 1e-5 * v)) / 2e-5, rtol=1e-5)
    assert np.isclose(jvp(f, (p,), (v,))[1], slope, rtol=1e-9)
    by_differences = (gradient(f, p + 1e-5 * v)[0] - gradient(f, p - 1e-5 * v)[0]) / 2e-5
    assert np.allclose(hvp(f, (p,), (v,))[0], by_differences, rtol=1e-5)
    assert np.allclose(hessian(f)(p) @ v, by_differences, rtol=1e-5)


def what_was_seen_last(p):
    """The callback is not called at the solution by the solver itself."""
    seen, row, made = {}, np.zeros(2), None

    def equation(x):
        nonlocal made
        seen["x"] = x * p[0]
        row[0] = x * x
        made = np.zeros(2)
        made[1] = x * p[1]
        return row[0] * p[0] - np.exp(p[1])

    root = optimize.newton(equation, 1.0, tol=1e-3)
    row[1] = 2.0 * row[0]
    return root, seen["x"], row, made


def test_values_are_those_of_the_plain_run():
    def f(p):
        root, x, row, made = what_was_seen_last(p)
        return root * x + row @ row + made @ np.array([1.0, 2.0]) + np.sum(np.sin(row) * made)

    p, v = np.array([1.3, 0.7]), np.array([0.6, -0.8])
    value, (slope,) = withgradient(f, p)
    assert value == f(p) and f(p) != pytest.approx(exact(p), rel=1e-9)
    by_differences = (exact(p + 1e-5 * v) - exact(p - 1e-5 * v)) / 2e-5
    assert slope @ v == pytest.approx(by_differences, rel=1e-2)
    value, tangent = jvp(f, (p,), (v,))
    assert value == f(p) and tangent == pytest.approx(slope @ v, rel=1e-9)


def exact(p):
    x = np.sqrt(np.exp(p[1]) / p[0])
    row, made = np.array([x * x, 2.0 * x * x]), np.array([0.0, x * p[1]])
    return x * x * p[0] + row @ row + made @ np.array([1.0, 2.0]) + np.sum(np.sin(row) * made)


def test_derivatives_of_higher_order():
    def root(p):
        return optimize.brentq(lambda x: x**3 + p * x - 2.0, 0.0, 10.0, xtol=1e-14)

    check_gradient(lambda p: gradient(root, p)[0], 1.3)
    v, step = np.array([2.0, 3.0]), np.array([1e-5, 0.0])
    by_differences = (slope_of_system(v + step) - slope_of_system(v - step)) / 2e-5
    assert np.isclose(gradient(slope_of_system, v)[0][0], by_differences, rtol=1e-6)


def slope_of_system(v):
    """The first of the derivatives of a function of the solution."""
    return gradient(lambda v: np.sum(optimize.fsolve(system_array, [1.0, 1.0], args=(v,), xtol=1e-13) ** 2), v)[0][0]


def test_forwards():
    value, tangent = jvp(lambda p: optimize.brentq(lambda x: x * x - p, 0.0, 10.0, xtol=1e-14), (2.0,), (1.0,))
    assert np.isclose(tangent, 0.5 / np.sqrt(2.0))
