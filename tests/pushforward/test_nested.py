"""Derivatives within derivatives."""

import functools
import math
import random

import numpy as np
import pytest

import autodiff_hook as ad
from autodiff_hook import grad, gradient, hessian, hvp, jacobian, jvp, pullback, value_and_grad


def d(f):
    """The derivative of a function of one number."""
    return lambda x: gradient(f, x)[0]


@pytest.mark.parametrize(
    "f, x, expected",
    [
        (lambda x: x * d(lambda y: x + y)(1.0), 2.0, 1.0),
        (lambda x: x * d(lambda y: x * y)(2.0), 3.0, 6.0),
        (lambda x: x * d(lambda y: y * d(lambda z: x + y + z)(1.0))(2.0), 2.0, 1.0),
        (lambda x: x * d(lambda y: y * d(lambda z: x * y * z)(1.0))(2.0), 3.0, 24.0),
        (lambda x: d(lambda y: d(lambda z: x * y * z)(y))(x), 3.0, 1.0),
        (lambda x: d(lambda y: y**3 * x)(x), 2.0, 36.0),
        (lambda x: d(lambda x: x * d(lambda x: x * x)(x))(x) * x, 2.0, 16.0),
    ],
)
def test_perturbations_are_not_confused(f, x, expected):
    assert d(f)(x) == pytest.approx(expected)
    assert jvp(f, (x,), (1.0,))[1] == pytest.approx(expected)


@pytest.mark.parametrize("order, expected", [(1, math.cos(0.7)), (2, -math.sin(0.7)), (3, -math.cos(0.7))])
def test_orders(order, expected):
    f = functools.reduce(lambda g, _: grad(g), range(order), math.sin)
    assert f(0.7) == pytest.approx(expected)


def forward(f):
    return lambda x: jvp(f, (x,), (1.0,))[1]


@pytest.mark.parametrize("modes", [(a, b, c) for a in (d, forward) for b in (d, forward) for c in (d, forward)])
def test_any_mixture_of_modes(modes):
    def f(x):
        total = 1.0
        for i in range(3):
            total = total * x + math.exp(i * x) / 10
        return total

    expected = 6.0 + (math.exp(0.4) * 1.0 + 0.0) * 0.0
    found = functools.reduce(lambda g, mode: mode(g), modes, f)(0.4)
    step = 1e-3
    second = functools.reduce(lambda g, mode: mode(g), modes[:2], f)
    difference = (second(0.4 + step) - second(0.4 - step)) / (2 * step)
    assert found == pytest.approx(difference, rel=1e-4) and found > expected - 6.0


def test_value_and_grad():
    def f(x):
        value, derivative = value_and_grad(lambda y: y**3)(x)
        return value * derivative

    assert d(f)(2.0) == pytest.approx(15 * 2.0**4)


def test_pullback():
    def f(x):
        y, back = pullback(lambda a, b: (a * b, a * a), x, x * x)
        first, second = back((x, 1.0))
        return first * second + y[0]

    assert d(f)(1.5) == pytest.approx(5 * 1.5**4 + 9 * 1.5**2)
    assert jvp(f, (1.5,), (1.0,))[1] == pytest.approx(5 * 1.5**4 + 9 * 1.5**2)


def test_pullback_made_outside():
    _, back = pullback(lambda x: x**3, 2.0)
    assert d(lambda c: back(c)[0] * c)(5.0) == pytest.approx(2 * 12.0 * 5.0)


def test_jacobian():
    x = np.array([0.5, 2.0])
    found = gradient(lambda x: (jacobian(lambda y: y**3 * y[0])(x) ** 2).sum(), x)[0]
    step = 1e-6

    def f(x):
        return (jacobian(lambda y: y**3 * y[0])(x) ** 2).sum()

    assert found == pytest.approx([(f(x + e) - f(x - e)) / (2 * step) for e in step * np.eye(2)], rel=1e-6)


def test_jvp_hvp_hessian_inside():
    assert d(lambda x: jvp(lambda y: y**3 * x, (x,), (x,))[1])(2.0) == pytest.approx(96.0)
    assert d(lambda x: hvp(lambda y: y**3 * x, (x,), (x,))[0])(2.0) == pytest.approx(72.0)
    assert d(lambda x: hessian(lambda y: y**3 * x)(x))(2.0) == pytest.approx(24.0)


def test_arrays():
    x = np.array([1.0, 2.0])
    assert gradient(lambda x: (d(lambda y: (y**3).sum())(x) ** 2).sum(), x)[0] == pytest.approx([36.0, 288.0])
    assert hessian(lambda x: np.sum(d(lambda y: np.sum(np.sin(y)))(x)))(x) == pytest.approx(np.diag(-np.cos(x)))


class Model:
    def __init__(self, w):
        self.w = w


def test_containers_and_objects():
    assert d(lambda x: gradient(lambda p: p["a"][0] ** 2 * p["b"], {"a": [x], "b": x * x})[0]["a"][0])(2.0) == 24.0
    assert d(lambda x: gradient(lambda m: m.w**3, Model(x))[0].w)(2.0) == pytest.approx(12.0)
    model = Model(2.0)
    assert d(lambda x: d(lambda y: y * y * model.w * x)(x))(3.0) == pytest.approx(4 * 2.0 * 3.0)


def test_gradient_with_respect_to_what_the_inner_function_captures():
    m = Model([1.0, 2.0])
    (found,) = gradient(lambda m: d(lambda y: y * y * m.w[0] + m.w[1] * y)(3.0), m)
    assert found.w == [6.0, 1.0]


def test_gradient_descent_inside():
    def loss(w, target):
        return (w - target) ** 2

    def train(rate, target):
        w = 0.0
        for _ in range(3):
            w = w - rate * gradient(loss, w, target)[0]
        return loss(w, target)

    rate, target = 0.1, 2.0
    step = 1e-6
    expected = [
        (train(rate + step, target) - train(rate - step, target)) / (2 * step),
        (train(rate, target + step) - train(rate, target - step)) / (2 * step),
    ]
    assert gradient(train, rate, target) == pytest.approx(expected, rel=1e-6)


def test_keyword_arguments_are_constants_of_the_inner_derivative_only():
    assert d(lambda x: gradient(lambda y, *, k: y * k**2, 3.0, k=x)[0])(2.0) == pytest.approx(4.0)


def test_zero_derivatives_stay_zero():
    assert gradient(lambda x: gradient(lambda y: 2.0 * y, x)[0], 3.0) == (0.0,)
    assert gradient(lambda x: gradient(lambda y: 1.0, x)[0] * x, 3.0) == (0.0,)


def test_effects_outside():
    log = []

    def f(y):
        log.append(y)
        return y * y

    assert right(lambda: gradient(lambda x: d(f)(x) * log[0], 2.0), "changes what is outside of it") in (None, (8.0,))
    log.clear()
    assert right(lambda: jvp(lambda x: d(f)(x) * log[0], (2.0,), (1.0,))[1], "outside of it") in (None, 8.0)


def test_changes_between_the_gradient_and_its_use():
    weights = [3.0]

    def outer(x):
        slope = d(lambda y: y * y * weights[0])(x)
        weights[0] = 5.0
        return slope

    assert right(lambda: gradient(outer, 2.0), "changed since") in (None, (6.0,))


def test_random_numbers():
    factor = random.Random(0).random()
    generator = random.Random(0)
    found = right(lambda: gradient(lambda x: d(lambda y: y * y * generator.random())(x), 2.0), "another value")
    assert found in (None, (2.0 * factor,))


def test_J_inside():
    assert right(lambda: gradient(lambda x: ad.J(lambda y: y * y, x)[1](1.0)[1], 2.0), "use pullback") in (None, (2.0,))
    found = right(lambda: gradient(lambda x: ad.J(lambda y: y * y * x, 3.0)[1](1.0)[0].x * x, 2.0), "use pullback")
    assert found in (None, (9.0,))
    found = right(lambda: jvp(lambda x: ad.J(lambda y: y * x, x * x)[1](1.0)[0].x * x, (2.0,), (1.0,)), "use pullback")
    assert found in (None, (8.0, 12.0))


def right(run, refusal):
    """What a run gives; None where that is refused."""
    try:
        return run()
    except ad.Unsupported as error:
        assert refusal in str(error)
        return None


@pytest.mark.parametrize("x", [2.0, np.float64(2.0), np.array(2.0)], ids=lambda x: type(x).__name__)
def test_arrays_without_axes_that_are_written_to(x):
    def squared(x):
        a = np.array(x, float)
        a[()] *= x
        b = a[...]
        b += x
        return a.item() * float(b)

    third = d(d(d(squared)))
    found = [float(derivative(x)) for derivative in (squared, d(squared), d(d(squared)), third)]
    assert found == pytest.approx([36.0, 60.0, 74.0, 60.0])
