"""``argnums``: of what it does not name there is no derivative, and none is worked out."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import autodiff_hook as ad
from autodiff_hook import grad, hessian, jacfwd, jacobian, jacrev, value_and_grad

W = np.array([0.3, -0.2, 0.5])
X = np.array([[1.0, 2.0, 0.5], [0.1, -1.0, 1.5]])


def loss(w, x, y, scale=1.0):
    return scale * np.sum((np.tanh(x @ w) - y) ** 2)


def all_slopes(*args, **kwargs):
    return ad.gradient(loss, *args, **kwargs)


@pytest.mark.parametrize("argnums", [0, 1, 2, -1, (0,), (2, 0), (1, 2), (0, 1, 2), (2, 2), (1, 0, 1)])
@pytest.mark.parametrize("scale", [{}, {"scale": 2.0}])
def test_they_are_those_of_all_arguments(argnums, scale):
    for y in (0.25, -0.5, 0.125):
        slopes = all_slopes(W, X, y, **scale)
        value, found = value_and_grad(loss, argnums)(W, X, y, **scale)
        again = grad(loss, argnums)(W, X, y, **scale)
        if isinstance(argnums, int):
            argnums, found, again = (argnums,), (found,), (again,)
        assert value == loss(W, X, y, **scale)
        for i, slope, same in zip(argnums, found, again, strict=True):
            np.testing.assert_allclose(slope, slopes[i])
            np.testing.assert_allclose(same, slopes[i])


def test_methods_and_partials():
    class Model:
        power = 2

        def cost(self, w, n, k):
            return k * w**n * self.power

    for _ in range(3):
        assert grad(Model().cost)(2.0, 3, 0.5) == 12.0
        assert grad(Model().cost, 2)(2.0, 3, 0.5) == 16.0
        assert grad(Model.cost, 1)(Model(), 2.0, 3, 0.5) == 12.0
        assert grad(functools.partial(Model().cost, 2.0), 1)(3, 0.5) == 16.0
        assert grad(functools.partial(Model().cost, k=0.5))(2.0, 3) == 12.0


def test_what_others_lead_through_needs_no_derivative():
    calls = []

    def energy(x, y):
        calls.append(x)
        return x * x * np.frombuffer(y.tobytes()).sum()

    y = np.array([1.0, 2.0])
    for _ in range(3):
        assert grad(energy)(3.0, y) == 18.0
    assert len(calls) == 3


def test_no_pullback_runs_for_others():
    swept = []

    def costly(y):
        return float(y @ y)

    @ad.rrule(costly)
    def costly_rule(y):
        def pullback(slope):
            swept.append(slope)
            return (2.0 * slope * y,)

        return float(y @ y), pullback

    def energy(x, y):
        return x * costly(y)

    y = np.array([1.0, 2.0])
    for _ in range(3):
        assert grad(energy)(3.0, y) == 5.0
        assert value_and_grad(energy)(3.0, y) == (15.0, 5.0)
        assert jacobian(energy)(3.0, y) == jacrev(energy)(3.0, y) == 5.0
    assert not swept
    np.testing.assert_allclose(grad(energy, 1)(3.0, y), [6.0, 12.0])
    assert swept


def test_objects_that_are_others_may_be_changed():
    class Log:
        def __init__(self):
            self.values = []

    def noted(x, log):
        log.values.append(x)
        return x * len(log.values)

    log = Log()
    assert [grad(noted)(2.0, log) for _ in range(3)] == [1.0, 2.0, 3.0]
    assert log.values == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("make", [lambda: [3.0, 1.0], lambda: {0: 3.0, 1: 1.0}])
def test_an_argument_that_is_another_one_too_is_one_variable(make):
    """References are known by identity."""
    x = make()
    for _ in range(3):
        assert grad(lambda a, b: a[0] * a[0] * b[0])(x, x)[0] == 27.0
        assert grad(lambda a, b: a[0] * a[0] * b[0][0])(x, [x])[0] == 27.0


def test_arrays_that_are_two_arguments_are_two_variables():
    x = np.array([3.0, 1.0])
    for _ in range(3):
        np.testing.assert_allclose(grad(lambda a, b: a[0] * a[0] * b[0])(x, x), [18.0, 0.0])


def test_jacobians_and_hessians():
    def both(x, k, y):
        return np.array([x[0] * k, x[1] * y]), k * x[0]

    x = np.array([2.0, 3.0])
    for operator in (jacobian, jacrev, jacfwd):
        for _ in range(2):
            by_y, by_x = operator(both, (2, 0))(x, 4.0, 5.0)
            np.testing.assert_allclose(by_x[0], [[4.0, 0.0], [0.0, 5.0]])
            np.testing.assert_allclose(by_x[1], [4.0, 0.0])
            np.testing.assert_allclose(by_y[0], [0.0, 3.0])
    plain = hessian(lambda w: loss(w, X, 0.25))(W)
    for _ in range(2):
        np.testing.assert_allclose(hessian(loss)(W, X, 0.25), plain)
        np.testing.assert_allclose(jacobian(grad(loss))(W, X, 0.25), plain)
        assert hessian(loss, (0, 2))(W, X, 0.25)[0][1].shape == W.shape


def test_derivatives_of_derivatives():
    def f(x, y, n):
        return x**n * y

    def inner(a, b):
        return grad(f)(a, b, 2) * b

    for _ in range(3):
        assert grad(grad(f, 1))(2.0, 3.0, 3) == 12.0
        assert grad(grad(f, 1), 1)(2.0, 3.0, 3) == 0.0
        assert grad(inner, 1)(1.5, 2.0) == 12.0
        assert grad(inner)(1.5, 2.0) == 8.0


def test_an_other_argument_carries_what_is_outside():
    """The derivative is differentiated with respect to what it counts as a constant."""

    def slope(x, w):
        found = {"slope": grad(lambda a, b: a * a * b[0])(x, [w * w])}
        return found["slope"]

    for _ in range(3):
        assert grad(slope, 1)(1.5, 2.0) == 12.0
        assert grad(slope)(1.5, 2.0) == 8.0
        assert ad.gradient(slope, 1.5, 2.0) == (8.0, 12.0)
