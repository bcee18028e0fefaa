"""Derivatives up to the fourth order, in all mixtures of modes."""

import functools
import itertools
import math

import numpy as np
import pytest

import autodiff_hook as ad
from autodiff_hook import grad, gradient, hessian, hvp, jacobian, jvp

POINT = 0.7


def reverse(f):
    return lambda x: gradient(f, x)[0]


def forward(f):
    return lambda x: jvp(f, (x,), (1.0,))[1]


MODES = (reverse, forward)


def stored(t):
    a = np.zeros(3)
    a[0] = t
    a[1:] = a[0] * t
    a *= t
    return (a * a).sum()


def collected(t):
    xs = [t]
    for _ in range(3):
        xs.append(xs[-1] * t)
    return xs.pop()


def generated(t):
    def powers():
        for i in range(5):
            yield t**i

    return sum(powers())


@pytest.mark.parametrize(
    "f, derivatives",
    [
        (math.sin, [math.cos, lambda x: -math.sin(x), lambda x: -math.cos(x), math.sin]),
        (lambda t: math.exp(2 * t), [lambda x, k=k: 2**k * math.exp(2 * x) for k in (1, 2, 3, 4)]),
        (lambda t: 1 / t, [lambda x: -(x**-2), lambda x: 2 * x**-3, lambda x: -6 * x**-4, lambda x: 24 * x**-5]),
        (
            stored,
            [
                lambda x: 4 * x**3 + 12 * x**5,
                lambda x: 12 * x**2 + 60 * x**4,
                lambda x: 24 * x + 240 * x**3,
                lambda x: 24 + 720 * x**2,
            ],
        ),
        (collected, [lambda x: 4 * x**3, lambda x: 12 * x**2, lambda x: 24 * x, lambda x: 24.0]),
        (
            generated,
            [
                lambda x: 1 + 2 * x + 3 * x**2 + 4 * x**3,
                lambda x: 2 + 6 * x + 12 * x**2,
                lambda x: 6 + 24 * x,
                lambda x: 24.0,
            ],
        ),
    ],
)
def test_orders(f, derivatives):
    for order in (1, 2, 3):
        for modes in itertools.product(MODES, repeat=order):
            found = functools.reduce(lambda g, mode: mode(g), modes, f)(POINT)
            assert found == pytest.approx(derivatives[order - 1](POINT))
    assert reverse(forward(reverse(forward(f))))(POINT) == pytest.approx(derivatives[3](POINT))


def viewed(t):
    a = np.outer(np.array([t, t * t]), np.array([1.0, t]))
    flat = a.ravel()
    flat[0] = t**3
    turned = a.T
    turned[0, 1] *= t
    a[[0, 1], [1, 1]] += t
    np.multiply(a, t, out=a)
    return (a * a).sum()


def stats(t):
    return {"mean": t * t, "parts": [t, t**3]}


@ad.rrule(stats)
def stats_rule(t):
    def stats_pullback(given):
        first, second = given.get("parts") or (None, None)
        total = 0.0
        if given.get("mean") is not None:
            total = total + given["mean"] * 2 * t
        if first is not None:
            total = total + first
        if second is not None:
            total = total + second * 3 * t * t
        return (total,)

    return stats(t), stats_pullback


def of_a_dict(t):
    found = stats(t)
    return found["mean"] * found["parts"][1] + found["parts"][0]


@pytest.mark.parametrize("f", [viewed, of_a_dict])
@pytest.mark.parametrize("modes", list(itertools.product(MODES, repeat=2)))
def test_views_and_results_in_containers(f, modes):
    step = 1e-5
    first = reverse(f)
    difference = (first(POINT + step) - first(POINT - step)) / (2 * step)
    assert modes[0](modes[1](f))(POINT) == pytest.approx(difference, rel=1e-6)


@pytest.mark.parametrize("modes", list(itertools.product(MODES, repeat=2)))
def test_what_the_outer_function_has_stored_is_read_by_the_inner_one(modes):
    def slope(t):
        a = np.zeros(2)
        a[0] = t
        return modes[1](lambda z: z * ((a * t)[0] + (-a)[0] + np.exp(a)[0]))(1.0)

    assert modes[0](slope)(POINT) == pytest.approx(2 * POINT - 1 + math.exp(POINT))


@pytest.mark.parametrize("modes", list(itertools.product(MODES, repeat=2)))
def test_functions_of_numbers(modes):
    def f(t):
        return math.atan2(t, 2.0 * t + 1.0) * math.pow(t, 1.5) / math.exp(t) - t**3 % 0.3

    step = 1e-6
    first = reverse(f)
    difference = (first(POINT + step) - first(POINT - step)) / (2 * step)
    assert forward(f)(POINT) == pytest.approx(first(POINT))
    assert modes[0](modes[1](f))(POINT) == pytest.approx(difference, rel=1e-6)


def test_minimisation_inside():
    def newton(a):
        w = 1.0

        def loss(w):
            return w**4 / 4 - a * w

        for _ in range(8):
            w = w - grad(loss)(w) / hessian(loss)(w)
        return w

    assert reverse(newton)(2.0) == pytest.approx(2 ** (-2 / 3) / 3)
    assert forward(newton)(2.0) == pytest.approx(2 ** (-2 / 3) / 3)


class Line:
    def __init__(self, w, b):
        self.w, self.b = w, b


def test_tangents_inside():
    def f(t):
        (found,) = gradient(lambda line: (line.w * line.w).sum() * line.b, Line(np.array([t, 2 * t]), t * t))
        return found.w.sum() * found["b"]

    for mode in MODES:
        assert mode(f)(POINT) == pytest.approx(150 * POINT**4)


def test_third_derivatives_of_arrays():
    x = np.array([0.3, 0.9])
    expected = np.zeros((2, 2, 2))
    expected[0, 0, 0] = expected[1, 1, 1] = 6.0
    assert jacobian(hessian(lambda v: (v**3).sum()))(x) == pytest.approx(expected)
    assert jvp(lambda v: hvp(lambda u: (u**3).sum(), (v,), (v,))[0], (x,), (x,))[1] == pytest.approx(12 * x * x)


def test_hook_and_checkpoint_within_derivatives():
    assert reverse(reverse(lambda t: ad.hook(lambda c: c, t * t) * t))(POINT) == pytest.approx(6 * POINT)
    assert reverse(reverse(ad.checkpoint(lambda t: t**4)))(POINT) == pytest.approx(12 * POINT**2)
    assert reverse(ad.checkpoint(lambda t: reverse(lambda y: y**3 * t)(t)))(POINT) == pytest.approx(9 * POINT**2)


def parts_of_eigenvectors(a):
    _, v = np.linalg.eig(a)
    return np.sum(np.real(v) * np.array([[1.0, 2.0], [3.0, 4.0]]) + np.imag(v))


def halves(x):
    z = (x * (1.0 + 2.0j)).real
    return np.sum(z * z * x)


TURNING = np.array([[0.3, -2.0], [1.5, 0.1]])


@pytest.mark.parametrize(("f", "x"), [(parts_of_eigenvectors, TURNING), (halves, np.array([0.5, -1.5]))])
def test_views_with_another_item_size(f, x):
    direction, step = np.ones(x.shape), 1e-6
    slopes = (gradient(f, x + step * direction)[0] - gradient(f, x - step * direction)[0]) / (2 * step)
    np.testing.assert_allclose(hvp(f, (x,), (direction,))[0], slopes, rtol=1e-5, atol=1e-6)
    nested = gradient(lambda x: np.sum(gradient(f, x)[0]), x)[0]
    np.testing.assert_allclose(nested, slopes, rtol=1e-5, atol=1e-6)
