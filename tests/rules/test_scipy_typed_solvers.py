"""Solvers within typed programs: SciPy is given a function of the program, and what it finds has its derivative."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, optimize

from autodiff_hook import explain, grad, gradient, hvp, jvp, withgradient
from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.runtime.specialising import GENERIC, ONE_WAY
from autodiff_hook.testing import check_gradient, check_rule
from autodiff_rules.scipy.integrate.typed import estimated, integral, vector

TYPED = not GENERIC and not ONE_WAY


def roots_in_a_loop(p):
    total = 0.0
    for k in range(1, 5):
        total += k * optimize.brentq(lambda x: x**3 + p * x - k, 0.0, 3.0)  # noqa: B023
    return total


def roots_of_what_was_found(p):
    found = 1.0
    for _ in range(3):
        last = found
        found = optimize.bisect(lambda x, a: x**3 + p * x - a * last, 0.0, 3.0, args=(2.0 * p,), xtol=1e-13)  # noqa: B023
    return found


class Balance:
    def __init__(self, p):
        self.p = p

    def at(self, x):
        return math.exp(x) * self.p - 2.0

    def found(self):
        return optimize.ridder(self.at, -5.0, 5.0) * optimize.brenth(self.at, -5.0, 5.0)


def roots_of_methods(p):
    return Balance(p).found()


def roots_of_arrays(p):
    weights = np.array([1.0, p, p * p])
    return optimize.brentq(lambda x: np.sum(weights * x) + np.exp(x) - 2.0, -5.0, 5.0)


def roots_from_a_guess(p):
    return optimize.newton(lambda x, a: np.exp(x) * a - 2.0, 1.0, args=(p,))


def roots_with_reports(p):
    x, told = optimize.newton(lambda x: np.exp(x) * p - 2.0, 1.0, full_output=True, disp=False)
    y, found = optimize.brentq(lambda x, a: x**3 - a * x - 1.0, 0.0, 3.0, args=(p,), xtol=1e-13, full_output=True)
    return x * y * found.root if told.converged and found.iterations else p


class Cubic:
    def at(self, x, a):
        return x**3 - a * x - 1.0

    def slope(self, x, a):
        return 3.0 * x * x - a


def roots_along_a_slope(p):
    cubic, start = Cubic(), np.where(p < 9.0, 1.5, p)
    x = optimize.newton(cubic.at, start, cubic.slope, args=(p,), tol=1e-12)
    y, told = optimize.newton(lambda x: x * x - p, x, fprime=lambda x: 2.0 * x, tol=1e-12, full_output=True)
    found = optimize.root_scalar(lambda x: x**3 - p, x0=y, fprime=lambda x: 3.0 * x * x, method="newton", xtol=1e-12)
    return x * y * found.root if told.converged and found.converged else p


def several_roots(p):
    def equations(x):
        a, b = x
        return a + b * b - 4.0 * p, np.exp(a) + a * b - 3.0

    a, b = optimize.fsolve(equations, (1, 1))
    return a * b


def several_roots_from_the_argument(p):
    matrix = np.array([[2.0, p], [p, 3.0]])
    return np.sum(optimize.fsolve(lambda x, a: matrix @ x + x**3 - a, np.array([p, p]), args=(p,)) ** 2)


def one_root_of_several(p):
    return optimize.fsolve(lambda x: x[0] ** 2 - p, 1)[0]


def result_of(p):
    return optimize.root_scalar(lambda x: x**3 + p * x - 2.0, bracket=[0.0, 2.0], xtol=1e-13)


def results(p):
    found = result_of(2.0 * p)
    if not found.converged or type(found).__name__ != "RootResults" or not isinstance(found, dict):
        raise RuntimeError(found.flag)
    several = optimize.root(lambda x, a: [x[0] ** 2 + a * x[1] - 2.0, x[1] - x[0] * a], [1.0, 1.0], (p,))
    guessed = optimize.root_scalar(lambda x: np.exp(x) * p - 2.0, x0=1.0, x1=1.2).root
    return result_of(p).root * min(found.iterations, 2) + several.x[0] * guessed


def integrals_in_a_loop(p):
    found = [integrate.quad(lambda t, k: math.sin(k * t * p), 0, 1, args=(k,))[0] for k in range(1, 4)]
    return sum(x * x for x in found)


def integrals_up_to_infinity(p):
    left, error = integrate.quad(lambda t: math.exp(-p * t * t), -np.inf, p)
    return left if error < 1e-3 else 0.0


def integrals_between_moving_limits(p):
    return integrate.quad(lambda t: np.exp(-p * t) * np.sqrt(t), p, 3.0 * p, epsabs=1e-12)[0]


def integrals_from_a_singularity(p):
    return integrate.quad(lambda t: math.log(t) * p, 0.0, p, epsabs=1e-13, epsrel=1e-13)[0]


def integrals_of_integrals(p):
    def inner(t):
        return integrate.quad(lambda u: math.exp(-p * t * u), 0.0, t * p)[0]

    return integrate.quad(inner, 0.0, p)[0]


def integrals_of_roots(p):
    return integrate.quad(lambda t: optimize.brentq(lambda x: x**3 + p * x - t, 0.0, 3.0), 0.0, 1.0)[0]


def double_integrals(p):
    half, error = integrate.dblquad(lambda y, x, q: math.exp(-q * x * y), 0.0, p, 0.0, lambda x: p * x, args=(p,))
    return half + integrate.dblquad(lambda y, x: x * y * p, 0.0, 1.0, lambda x: 0.0, np.inf if error > 1 else 2.0)[0]


PROGRAMS = [
    double_integrals,
    roots_in_a_loop,
    roots_of_what_was_found,
    roots_of_methods,
    roots_of_arrays,
    roots_from_a_guess,
    roots_along_a_slope,
    roots_with_reports,
    several_roots,
    several_roots_from_the_argument,
    one_root_of_several,
    results,
    integrals_in_a_loop,
    integrals_up_to_infinity,
    integrals_between_moving_limits,
    integrals_from_a_singularity,
    integrals_of_integrals,
    integrals_of_roots,
]


@pytest.mark.parametrize("f", PROGRAMS)
def test_what_solvers_find_is_typed(f):
    check_gradient(f, 1.3)
    assert withgradient(f, 1.3)[0] == f(1.3)
    slope = gradient(f, 1.3)[0]
    assert jvp(f, (1.3,), (2.0,))[1] == pytest.approx(2.0 * slope)
    near = gradient(f, 1.3 + 1e-5)[0] - gradient(f, 1.3 - 1e-5)[0]
    assert hvp(f, (1.3,), (1.0,))[0] == pytest.approx(near / 2e-5, rel=1e-5, abs=1e-6)
    if TYPED:
        assert " 0 carried" in str(explain(f, 1.3))


def roots_of_roots(p):
    inner = lambda x: optimize.brentq(lambda z: z**3 + x * z * p - 1.0, 0.0, 5.0)  # noqa: E731
    return optimize.brentq(lambda x: x + inner(x) - 2.0, 0.0, 5.0)


def roots_of_integrals(p):
    return optimize.brentq(lambda x: integrate.quad(lambda t: math.exp(-x * t * t), 0.0, 1.0)[0] - 0.5 * p, 0.01, 10.0)


def slopes_of_roots(p):
    return grad(lambda q: optimize.brentq(lambda x: x**3 + q * x - 2.0, 0.0, 2.0))(p)


def slopes_of_slopes_of_integrals(p):
    return grad(grad(lambda q: integrate.quad(lambda t: math.exp(-q * t * t), 0.0, 1.0)[0]))(p)


@pytest.mark.parametrize("f", [roots_of_roots, roots_of_integrals, slopes_of_roots, slopes_of_slopes_of_integrals])
def test_what_is_differentiated_again_has_its_derivatives(f):
    check_gradient(f, 1.3)


def roots_with_a_list(p):
    seen = []

    def equation(x):
        seen.append(x)
        return x * x - p

    return optimize.brentq(equation, 0.0, 3.0) * len(seen)


def roots_with_a_memory(p):
    last = {"x": 0.0}

    def equation(x):
        last["x"] = x * p
        return x * x - p

    return optimize.brentq(equation, 0.0, 3.0) * last["x"]


def roots_with_a_work_array(p):
    out = np.empty(2)

    def equations(x):
        out[0], out[1] = x[0] ** 2 + p * x[1] - 2.0, x[1] - x[0] * p
        return out

    return optimize.fsolve(equations, [1.0, 1.0])[0]


SEEN = []


def integrals_with_a_list(p):
    def integrand(t):
        SEEN.append(t)
        return t * p

    return integrate.quad(integrand, 0.0, 1.0)[0]


def roots_whose_exception_decides(p):
    try:
        optimize.brentq(lambda x: x * x + p, 0.0, 2.0)
    except ValueError:
        return 3.0 * p
    return p


STORING = [
    roots_with_a_list,
    roots_with_a_memory,
    roots_with_a_work_array,
    integrals_with_a_list,
    roots_whose_exception_decides,
]


def shown(found):
    return found.root * len(repr(found).split("\n"))


def kept(found):
    SEEN.append(found)
    return SEEN[-1].root


def changed(found):
    found.root = 2.0 * found.root
    return found.root


OF_RESULTS = [
    shown,
    kept,
    changed,
    lambda found: found["root"],
    lambda found: sum(value for name, value in found.items() if name == "root"),
    lambda found: found.root * len(found) if found else 0.0,
    lambda found: getattr(found, "nothing", found.root),
]


@pytest.mark.parametrize("used", OF_RESULTS)
def test_results_are_those_of_the_solver(used):
    def f(p):
        return used(result_of(p))

    SEEN.clear()
    value, (slope,) = withgradient(f, 1.3)
    assert all(type(found) is type(result_of(1.3)) for found in SEEN)
    assert value == f(1.3)
    assert slope / value == pytest.approx(gradient(lambda p: result_of(p).root, 1.3)[0] / result_of(1.3).root)


@pytest.mark.parametrize("f", STORING)
def test_functions_that_store_are_called_as_often_as_without(f):
    SEEN.clear()
    expected, count = f(1.3), len(SEEN)
    assert withgradient(f, 1.3)[0] == expected
    assert len(SEEN) == 2 * count or not count
    check_gradient(f, 1.3)


@pytest.mark.skipif(not TYPED, reason="nothing is typed")
def test_functions_that_draw_random_numbers_are_not_typed():
    def f(p):
        generator = np.random.default_rng(3)
        return optimize.brentq(lambda x: x + 1e-30 * generator.normal() - p, 0.0, 3.0)

    assert " 0 carried" not in str(explain(f, 1.3))


def test_complex_roots_from_a_guess():
    check_gradient(lambda p: optimize.newton(lambda x: x**3 - p, -1.0 + 1.0j).imag, 2.0, rtol=1e-5)


def not_bracketed(p):
    return optimize.brentq(lambda x: x * x + p, 0.0, 2.0)


def not_converged(p):
    return optimize.brentq(lambda x: x * x - p, 0.0, 3.0, maxiter=2)


def a_jump(p):
    return optimize.brentq(lambda x: 1.0 if x > p else -1.0, 0.0, 2.0)


def no_solution(p):
    return optimize.fsolve(lambda x: x**2 + p, 1.0)[0]


def a_jump_within(p):
    return integrate.quad(lambda t: 1.0 if t < p else 0.0, 0.0, 3.0)[0]


def an_error_estimate(p):
    return sum(integrate.quad(lambda t: math.exp(-p * t), 0.0, 1.0))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("f", "error", "says"),
    [
        (not_bracketed, ValueError, "different signs"),
        (not_converged, RuntimeError, "2 iterations"),
        (a_jump, NotDifferentiable, "brentq has no derivative"),
        (no_solution, NotDifferentiable, "did not converge"),
        (a_jump_within, NotDifferentiable, "has a jump"),
        (an_error_estimate, NotDifferentiable, "the error estimate"),
    ],
)
def test_errors_stay_errors(f, error, says):
    for _ in range(2):
        with pytest.raises(error, match=says):
            gradient(f, 1.3)


def test_rules_of_what_integrals_are():
    def moved(value, total, f_a, a, f_b, b):
        return total + f_b * (b - 2.0) - f_a * (a - 1.0)

    check_rule(integral, 0.5, 0.5, 0.3, 1.0, -0.7, 2.0, differences=moved, second_order=True)
    check_rule(estimated, 0.5, 0.7)
    value, at_a, at_b = np.array([0.5, 0.7]), np.array([0.3, -0.2]), np.array([-0.7, 1.1])
    check_rule(vector, value, value, at_a, 1.0, at_b, 2.0, differences=moved, second_order=True)
