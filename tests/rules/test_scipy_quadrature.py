"""Integrals: by limits, by what is given to the integrand, and by what it has captured."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest
from scipy import integrate, special

from autodiff_hook import gradient, hvp, jvp, withgradient
from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.reports import collecting
from autodiff_hook.runtime.specialising import GENERIC

POINT = np.array([1.3, 0.7, 0.4])
DIRECTION = np.array([0.6, -0.8, 0.3])


def agrees(f, reference, p=POINT, v=DIRECTION, rtol=1e-6, second=True):
    """Whether the derivatives of ``f`` are those of a function that is known in closed form."""
    expected = gradient(reference, p)[0]
    value, (slope,) = withgradient(f, p)
    assert value == f(p) == pytest.approx(reference(p), rel=1e-6)
    assert slope == pytest.approx(expected, rel=rtol, abs=rtol)
    assert jvp(f, (p,), (v,))[1] == pytest.approx(expected @ v, rel=rtol, abs=rtol)
    if second:
        assert hvp(f, (p,), (v,))[0] == pytest.approx(hvp(reference, (p,), (v,))[0], rel=rtol, abs=rtol)


def growth(x, a, b):
    return b * math.exp(a * x)


def area(p, low, high):
    return p[1] * (np.exp(p[0] * high) - np.exp(p[0] * low)) / p[0]


class Growth:
    def __init__(self, rates):
        self.rates = {"a": rates[0], "b": [rates[1]]}

    def __call__(self, x):
        return self.rates["b"][0] * np.exp(self.rates["a"] * x)

    def method(self, x, shift):
        return self(x) + shift * 0.0


RATE = HEIGHT = 1.0


def with_globals(p):
    global RATE, HEIGHT
    RATE, HEIGHT = p[0], p[1]
    return integrate.quad(lambda x: HEIGHT * np.exp(RATE * x), 0.0, 2.0)[0]


def with_a_global_and_a_captured_variable(p):
    global RATE
    RATE, height = p[0], p[1]
    return integrate.quad(lambda x: height * np.exp(RATE * x), 0.0, 2.0)[0]


def with_functions_within(p):
    rate, height = p[0], p[1]

    def grown(x):
        return np.exp(rate * x)

    return integrate.quad(lambda x: height * grown(x), 0.0, 2.0)[0]


def with_captured_numbers(p):
    rate, CAPTURED, one, zip = p[0], p[1:2], 1, 0.0
    return integrate.quad(lambda x: CAPTURED[0] * np.exp(rate * x) * one + zip, 0.0, 2.0)[0]


def carried(p):
    """What the integrand has captured is a dict, and nothing around it is typed."""
    rates = {"a": p[0], "b": [p[1]], "frame": sys._getframe().f_code.co_name}
    return integrate.quad(lambda x: rates["b"][0] * np.exp(rates["a"] * x), 0.0, 2.0)[0]


INTEGRANDS = [
    with_globals,
    with_a_global_and_a_captured_variable,
    with_functions_within,
    with_captured_numbers,
    lambda p: integrate.quad(lambda x, b, r=p[0]: b * np.exp(r * x), 0.0, 2.0, p[1])[0],
    lambda p: integrate.quad(growth, 0.0, 2.0, (p[0], p[1]))[0],
    lambda p: integrate.quad(lambda x, b: growth(x, p[0], b), 0.0, 2.0, p[1])[0],
    lambda p: integrate.quad(lambda x: np.asarray(p[1] * np.exp(p[0] * x)), 0.0, 2.0)[0],
    lambda p: integrate.quad(Growth(p), 0.0, 2.0)[0],
    lambda p: integrate.quad(Growth(p).method, 0.0, 2.0, args=(p[2],))[0],
    carried,
    lambda p: -integrate.quad(growth, 2.0, 0.0, (p[0], p[1]), full_output=True)[0],
    lambda p: integrate.quad(growth, 0.0, 2.0, (p[0], p[1]), points=[0.3, 1.1])[0],
    lambda p: integrate.quad(lambda x: growth(x, p[0], 1j * p[1]), 0.0, 2.0, complex_func=True)[0].imag,
    lambda p: integrate.fixed_quad(lambda x: p[1] * np.exp(p[0] * x), 0.0, 2.0, n=12)[0],
    lambda p: integrate.quad_vec(lambda x: growth(x, p[0], p[1:2]), 0.0, 2.0)[0][0],
]


@pytest.mark.parametrize("f", INTEGRANDS)
def test_what_the_integrand_depends_on(f):
    agrees(f, lambda p: area(p, 0.0, 2.0))


@pytest.mark.skipif(GENERIC, reason="nothing is typed")
def test_integrands_that_stand_alone_are_typed_once():
    def f(rate, height):
        def apart(x):
            return height * np.exp(rate * x)

        return integrate.quad(apart, 0.0, 2.0, full_output=True)[0]

    with collecting() as reports:
        for rate in (0.3, 0.4, 0.5):
            gradient(f, rate, 2.0)
    assert [r.kind for r in reports if r.code is not None and r.code.co_name == "apart"] == ["typed"]


GROWING = np.array([1.0, 2.0, -0.5])
OF_VECTORS = {
    "a number": lambda p: integrate.quad_vec(lambda x: np.exp(p[0] * x) * p[1], 0.0, 2.0)[0],
    "an array": lambda p: integrate.quad_vec(lambda x: np.exp(p[0] * x * GROWING), 0.0, 2)[0] @ GROWING,
    "a matrix, downwards": lambda p: integrate.quad_vec(lambda x: np.outer(GROWING, p) * x ** p[1], 1.0, 0.0)[0].sum(),
    "limits": lambda p: integrate.quad_vec(lambda x: np.cos(p[0] * x * GROWING), p[2], p[1])[0] @ GROWING,
    "args": lambda p: integrate.quad_vec(lambda x, k, m: np.sin(k * x) * m, 0, p[1], args=(p[0], GROWING))[0].sum(),
    "no value at a limit": lambda p: integrate.quad_vec(lambda x: p * (x / math.sqrt(x)), 0, 1)[0] @ p,
    "infinite": lambda p: integrate.quad_vec(lambda x: np.exp(-x * p[:2]), 0.0, np.inf)[0].sum(),
    "points": lambda p: integrate.quad_vec(lambda x: p * abs(x - 0.3), 0, 1, points=[0.3])[0] @ p,
    "all that there is": lambda p: integrate.quad_vec(lambda x: p * x, 0, 1, full_output=True)[0].sum(),
}


@pytest.mark.parametrize("name", OF_VECTORS)
def test_integrals_of_vectors(name):
    f = OF_VECTORS[name]
    for p in (np.array([0.4, 1.1, 0.3]), np.array([0.9, 0.7, 0.2])):
        value, (slope,) = withgradient(f, p)
        assert value == f(p)
        steps = 1e-6 * np.eye(3)
        expected = [(f(p + step) - f(p - step)) / 2e-6 for step in steps]
        assert slope == pytest.approx(np.array(expected), rel=1e-5, abs=1e-7)
        assert jvp(f, (p,), (np.ones(3),))[1] == pytest.approx(sum(expected), rel=1e-5, abs=1e-7)


def test_second_derivatives_of_integrals_of_vectors():
    def f(x):
        return integrate.quad_vec(lambda t: np.sin(x * t * GROWING), 0.5, x)[0].sum()

    curvature = (f(1.3 + 1e-4) - 2 * f(1.3) + f(1.3 - 1e-4)) / 1e-8
    assert hvp(f, (1.3,), (1.0,))[0] == pytest.approx(curvature, rel=1e-5)


def test_a_limit_that_is_the_argument():
    assert gradient(lambda x: integrate.quad(lambda t: t * t, 1.0, x)[0], 3.0)[0] == pytest.approx(9.0)
    assert gradient(lambda x: integrate.quad(lambda t: t * t, x, 1.0)[0], 3.0)[0] == pytest.approx(-9.0)


def test_limits():
    agrees(lambda p: integrate.quad(growth, p[2], p[0], (1.1, 0.5))[0], lambda p: area([1.1, 0.5], p[2], p[0]))
    agrees(lambda p: integrate.quad(growth, p[1], p[2], (p[0], p[1]))[0], lambda p: area(p, p[1], p[2]))
    agrees(lambda p: integrate.fixed_quad(np.exp, p[2], p[0], n=9)[0], lambda p: np.exp(p[0]) - np.exp(p[2]))
    assert gradient(lambda b: integrate.quad(np.cos, 1.0, b)[0], 1.0) == (pytest.approx(np.cos(1.0)),)


def test_derivatives_of_third_order():
    def slope(p):
        return hvp(lambda p: integrate.quad(growth, 0.0, p[2], (p[0], p[1]))[0], (p,), (DIRECTION,))[0] @ DIRECTION

    def expected(p):
        return hvp(lambda p: area(p, 0.0, p[2]), (p,), (DIRECTION,))[0] @ DIRECTION

    assert gradient(slope, POINT)[0] == pytest.approx(gradient(expected, POINT)[0], rel=1e-6)


BELLS = [
    lambda p: integrate.quad(lambda x: np.exp(-p[0] * x * x), p[1], np.inf)[0],
    lambda p: integrate.quad(lambda x: np.exp(-p[0] * x * x), -np.inf, -p[1])[0],
    lambda p: -integrate.quad(lambda x: np.exp(-p[0] * x * x), np.inf, p[1])[0],
    lambda p: -integrate.quad(lambda x: np.exp(-p[0] * x * x), -p[1], -np.inf)[0],
    lambda p: integrate.quad(lambda x: np.exp(-p[0] * x * x), -np.inf, np.inf)[0] - bell(p, -p[1]),
    lambda p: -integrate.quad(lambda x: np.exp(-p[0] * x * x), np.inf, -np.inf)[0] - bell(p, -p[1]),
]


def bell(p, low):
    return np.sqrt(np.pi / p[0]) / 2.0 * special.erfc(np.sqrt(p[0]) * low)


@pytest.mark.parametrize("f", BELLS)
def test_infinite_limits(f):
    agrees(f, lambda p: bell(p, p[1]))


def test_singularities():
    agrees(lambda p: integrate.quad(lambda x: x ** p[1], 0.0, p[0])[0], lambda p: p[0] ** (p[1] + 1.0) / (p[1] + 1.0))
    agrees(lambda p: integrate.quad(lambda x: x ** -p[2], 0.0, 1.0)[0], lambda p: 1.0 / (1.0 - p[2]), rtol=1e-5)
    agrees(lambda p: integrate.quad(lambda x: np.log(x * p[0]), 0.0, p[1])[0], lambda p: logs(p))
    agrees(
        lambda p: integrate.quad(lambda x: np.sqrt(abs(x - p[2])), 0.0, 1.0)[0],
        lambda p: 2.0 / 3.0 * (p[2] ** 1.5 + (1.0 - p[2]) ** 1.5),
        second=False,
        rtol=1e-4,
    )


def logs(p):
    return p[1] * np.log(p[0] * p[1]) - p[1]


def test_oscillating_weights():
    def exact(p, wave):
        def antiderivative(x):
            return np.exp(-p[0] * x) * (p[1] * np.sin(p[1] * x) - p[0] * np.cos(p[1] * x)) / (p[0] ** 2 + p[1] ** 2)

        return antiderivative(wave) - antiderivative(0.0)

    def f(p):
        return integrate.quad(lambda x: np.exp(-p[0] * x), 0.0, p[2], weight="cos", wvar=p[1])[0]

    agrees(f, lambda p: exact(p, p[2]))


NESTED = [
    lambda p: integrate.dblquad(lambda y, x: np.exp(p[0] * x) * y, 0.0, p[1], lambda x: 0.0 * x, lambda x: p[2])[0],
    lambda p: integrate.nquad(lambda y, x, a: np.exp(a * x) * y, [(0.0, p[2]), (0.0, p[1])], args=(p[0],))[0],
    lambda p: integrate.quad(lambda x: integrate.quad(lambda y: np.exp(p[0] * x) * y, 0.0, p[2])[0], 0.0, p[1])[0],
]


@pytest.mark.parametrize("f", NESTED)
def test_integrals_of_integrals(f):
    agrees(f, lambda p: (np.exp(p[0] * p[1]) - 1.0) / p[0] * p[2] ** 2 / 2.0)


def test_three_integrals():
    def f(p):
        return integrate.tplquad(lambda z, y, x: p[0] * x * y * z, 0.0, p[1], 0.0, 1.0, 0.0, p[2])[0]

    assert gradient(f, POINT)[0] == pytest.approx(gradient(lambda p: p[0] * (p[1] * p[2]) ** 2 / 8.0, POINT)[0])


def test_what_the_integrand_stores():
    def f(p):
        seen = {"most": 0.0}

        def integrand(x):
            seen["area"] = p[0] ** 2
            return np.exp(p[1] * x)

        return integrate.quad(integrand, 0.0, 1.0)[0] * seen["area"]

    agrees(f, lambda p: (np.exp(p[1]) - 1.0) / p[1] * p[0] ** 2)


def test_a_jump_that_may_move_is_an_error():
    def f(p, **options):
        return integrate.quad(lambda x: p[0] * x if x < p[2] else 0.5, 0.0, 1.0, **options)[0]

    with pytest.raises(NotDifferentiable, match="has a jump at 0.(4|39999)"):
        gradient(f, POINT)
    with pytest.raises(NotDifferentiable, match="points that depend"):
        gradient(lambda p: f(p, points=[p[2]]), POINT)
    agrees(lambda p: integrate.quad(lambda x: p[0] * (x < 0.4), 0.0, 1.0, points=[0.4])[0], lambda p: 0.4 * p[0])


def test_a_kink_that_may_move_has_no_second_derivative():
    def f(p):
        return integrate.quad(lambda x: abs(x - p[2]), 0.0, 1.0)[0]

    agrees(f, lambda p: (p[2] ** 2 + (1.0 - p[2]) ** 2) / 2.0, second=False)
    with pytest.raises(NotDifferentiable, match="kink or narrow peak at 0.(4|39999)"):
        hvp(f, (POINT,), (DIRECTION,))


REFUSED = {
    "the weight 'cauchy'": lambda p: integrate.quad(lambda x: p[0], -1.0, 2.0, weight="cauchy", wvar=0.0)[0],
    "infinite limits": lambda p: integrate.quad(lambda x: np.exp(-p[0] * x), 0.0, np.inf, weight="cos", wvar=1.0)[0],
    "error estimate": lambda p: integrate.quad(lambda x: p[0] * x, 0.0, 1.0)[1],
    "not resolved": lambda p: integrate.quad(lambda x: p[0] * x**-0.99, 0.0, 1.0)[0],
}


@pytest.mark.parametrize("reason", REFUSED)
@pytest.mark.filterwarnings("ignore::scipy.integrate.IntegrationWarning")
def test_what_is_not_differentiated_is_an_error(reason):
    with pytest.raises(NotDifferentiable, match=reason):
        gradient(REFUSED[reason], POINT)


SAMPLES = np.linspace(0.0, 1.0, 9)
SUMS = [
    lambda y, x: integrate.trapezoid(y, x),
    lambda y, x: integrate.simpson(y, x=x),
    lambda y, x: integrate.simpson(y[:-1], x=x[:-1]),
    lambda y, x: integrate.simpson(y, dx=x[1]),
    lambda y, x: integrate.romb(y, dx=x[1]),
    lambda y, x: np.sum(integrate.cumulative_trapezoid(y, x, initial=0) ** 2),
    lambda y, x: np.sum(integrate.cumulative_simpson(y, x=x) ** 2),
]


@pytest.mark.parametrize("total", SUMS)
def test_sums_over_samples(total):
    def f(p):
        return total(p[1] * np.sin(p[0] * SAMPLES), SAMPLES * p[2] + 0.1 * p[0] * SAMPLES**2)

    step = 1e-5 * DIRECTION
    expected = (f(POINT + step) - f(POINT - step)) / 2e-5
    assert gradient(f, POINT)[0] @ DIRECTION == pytest.approx(expected, rel=1e-6)
    assert jvp(f, (POINT,), (DIRECTION,))[1] == pytest.approx(expected, rel=1e-6)
    twice = (gradient(f, POINT + step)[0] - gradient(f, POINT - step)[0]) / 2e-5
    assert hvp(f, (POINT,), (DIRECTION,))[0] == pytest.approx(twice, rel=1e-5, abs=1e-8)


POLYNOMIALS = np.polynomial
MAKERS = [
    *(POLYNOMIALS.legendre.leggauss, POLYNOMIALS.chebyshev.chebgauss, POLYNOMIALS.laguerre.laggauss),
    *(POLYNOMIALS.hermite.hermgauss, POLYNOMIALS.hermite_e.hermegauss),
    *(getattr(special, f"roots_{name}") for name in "legendre chebyt chebyu hermite laguerre sh_legendre".split()),
]


@pytest.mark.parametrize("nodes", MAKERS, ids=lambda f: f.__name__)
def test_nodes_and_weights_are_constants(nodes):
    def integral(x, n):
        at, weights = nodes(n)
        return np.sum(weights * np.exp(-x * at * at)) + sum(w * math.cos(a * x) for a, w in zip(at, weights))

    for x in (0.7, 1.2):
        for n in (4, 4, 5):
            found = gradient(lambda x, n=n: integral(x, n), x)[0]
            assert found == pytest.approx((integral(x + 1e-6, n) - integral(x - 1e-6, n)) / 2e-6, rel=1e-6)
