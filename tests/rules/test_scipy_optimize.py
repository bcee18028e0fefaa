from __future__ import annotations

import subprocess
import sys
import weakref

import numpy as np
import pytest
from scipy import optimize, stats

from autodiff_hook import gradient, jvp
from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.reports import collecting
from autodiff_hook.runtime.specialising import GENERIC
from autodiff_hook.testing import check_gradient, check_rule
from autodiff_rules.scipy.optimize.implicit import improved

BRACKETING = [optimize.brentq, optimize.brenth, optimize.bisect, optimize.ridder, optimize.toms748]


class Cubic:
    def __init__(self, p):
        self.p = p

    def __call__(self, x):
        return x**3 - self.p

    def method(self, x):
        return x**3 - self.p


def cubic(x, p, shift=0.0):
    return x**3 - p - shift


def system(x, p, v):
    return [x[0] ** 2 + p * x[1] - v[0], x[1] ** 3 + x[0] - v[1]]


def system_array(x, v):
    return np.array([x[0] ** 2 + 0.3 * x[1] - v[0], x[1] ** 3 + x[0] - v[1]])


@pytest.mark.parametrize("solver", BRACKETING)
def test_captured_values(solver):
    def root(p, q):
        return solver(lambda x: x**3 - p * x - q, 0.0, 10.0, xtol=1e-14)

    check_gradient(root, 2.0, 3.0)


@pytest.mark.parametrize("solver", BRACKETING)
def test_further_arguments_and_full_output(solver):
    def root(p, q):
        x, result = solver(cubic, 0.0, 10.0, args=(p, q), xtol=1e-14, full_output=True)
        return x * result.root + result.iterations

    check_gradient(root, 2.0, 3.0)
    check_gradient(lambda p: solver(cubic, 0.0, 10.0, args=p, xtol=1e-14), 2.0)


SPREADING = {
    "newton": lambda args: optimize.newton(cubic, 1.0, args=args, tol=1e-13),
    "fixed_point": lambda args: optimize.fixed_point(lambda x, p, s: (p + s + x) / (x * x + 1.0), 1.0, args=args),
    "least_squares": lambda args: optimize.least_squares(cubic, [1.0], args=args, xtol=1e-14).x[0],
    "fminbound": lambda args: optimize.fminbound(lambda x, p, s: cubic(x, p, s) ** 2, 0.5, 3.0, args=args, xtol=1e-9),
    "find_root": lambda args: optimize.elementwise.find_root(cubic, (0.1, 10.0), args=args).x,
}


@pytest.mark.parametrize("name", SPREADING)
def test_further_arguments_that_are_spread(name):
    check_gradient(lambda p, q: SPREADING[name]([p, q]), 2.0, 0.5)
    check_gradient(lambda p: SPREADING[name](p), np.array([2.0, 0.5]))


def test_further_arguments_that_are_one():
    def pair(x, p):
        return x**3 - p[0] * p[1]

    check_gradient(lambda p: optimize.brentq(pair, 0.0, 10.0, args=p, xtol=1e-14), [2.0, 3.0])
    check_gradient(lambda p: optimize.root_scalar(pair, args=p, x0=1.0, x1=2.0).root, np.array([2.0, 3.0]))
    check_gradient(lambda p: optimize.fsolve(lambda x, p: pair(x[0], p), 1.0, args=p, xtol=1e-13)[0], [2.0, 3.0])
    check_gradient(lambda p: optimize.elementwise.find_root(cubic, (0.1, 10.0), args=p).x, 2.0)


def test_brackets_have_no_influence():
    assert gradient(lambda a, p: optimize.brentq(cubic, a, 10.0, (p,)), 0.5, 2.0)[0] == 0.0
    assert gradient(lambda a: optimize.brentq(cubic, a, 10.0, (2.0,)), 0.5) == (0.0,)
    assert gradient(lambda x0, p: optimize.newton(cubic, x0, args=(p,)), 1.0, 2.0)[0] == 0.0


LATE = """
from autodiff_hook import gradient

def root(p):
    from scipy import optimize
    return optimize.brentq(lambda x: x * x - p, 0.0, 10.0)

def probability(x):
    from scipy import stats
    return stats.gamma.logcdf(x, 2.5)

print(*gradient(root, 4.0), *gradient(probability, 0.7))
"""


def test_a_module_that_the_program_imports(tmp_path):
    script = tmp_path / "late.py"
    script.write_text(LATE)
    told = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True).stdout
    slope = stats.gamma.pdf(0.7, 2.5) / stats.gamma.cdf(0.7, 2.5)
    assert np.allclose(np.array(told.split(), float), [0.25, slope])


def test_objects_and_methods():
    check_gradient(lambda p: optimize.brentq(Cubic(p), 0, 10, xtol=1e-14), 2.0)
    check_gradient(lambda p: optimize.brentq(Cubic(p).method, 0, 10, xtol=1e-14), 2.0)


def test_lists_and_arrays_that_are_captured():
    def root(values, weights):
        def equation(x):
            return sum(v * x for v in values) + weights @ weights - 5.0

        return optimize.brentq(equation, -50, 50, xtol=1e-14)

    check_gradient(root, [1.0, 2.5], np.array([1.5, -0.3]))


def test_weak_proxies_of_what_is_gone_are_merely_reachable():
    gone = weakref.proxy(Cubic(1.0))

    def root(p):
        equation = Cubic(p)
        equation.proxies = [gone]
        return optimize.brentq(equation, 0, 10, xtol=1e-14)

    check_gradient(root, 2.0)


def test_nested_roots():
    def outer(p):
        def equation(x):
            return optimize.brentq(lambda y: y**3 - p * x - y * x, 0.1, 10.0, xtol=1e-14) - 2.0 * p

        return optimize.brentq(equation, 0.1, 20.0, xtol=1e-14)

    check_gradient(outer, 0.7)


def test_what_the_callback_stores():
    def f(p):
        state, row = {}, np.zeros(2)

        def equation(x):
            state["y"] = x * x * p
            row[0] = x * p
            row[1] = row[0] * x
            return row[1] - 2.0

        root = optimize.brentq(equation, 0.0, 10.0, xtol=1e-14)
        return root + state["y"] + row[0] ** 2

    (p̄,) = gradient(f, 1.3)
    assert np.isclose(p̄, (f(1.3 + 1e-6) - f(1.3 - 1e-6)) / 2e-6, rtol=1e-6)


def test_newton():
    check_gradient(lambda p: optimize.newton(cubic, 1.0, args=(p,), tol=1e-13), 2.0)
    check_gradient(lambda p: optimize.newton(lambda x: x**3 - p, 1.0, lambda x: 3 * x * x, tol=1e-13), 2.0)
    two = np.array([1.0, 1.2])
    check_gradient(lambda p: np.sum(optimize.newton(cubic, two, args=(p,), tol=1e-13)), np.array([2.0, 3.0]))
    check_gradient(lambda p: optimize.newton(cubic, 1.0, args=(p,), tol=1e-13, full_output=True)[0], 2.0)
    check_gradient(lambda p: optimize.newton(cubic, -1.0 + 1.0j, args=(p,), tol=1e-13).imag, 2.0)


def test_newton_of_a_function_that_is_not_holomorphic():
    def root(p):
        return optimize.newton(lambda z: z.real + 2j * z.imag - p, 1.0 + 1.0j, lambda z: 1.5, tol=1e-13).real

    with pytest.raises(NotDifferentiable):
        gradient(root, 2.0)


def test_fsolve():
    v = np.array([2.0, 3.0])
    check_gradient(lambda p, v: optimize.fsolve(system, [1.0, 1.0], args=(p, v), xtol=1e-13)[1], 0.3, v)
    check_gradient(lambda p, v: np.sum(optimize.fsolve(lambda x: system(x, p, v), v, xtol=1e-13)), 0.3, v)
    check_gradient(lambda p: optimize.fsolve(cubic, 1.0, (p,), xtol=1e-13, full_output=True)[0][0], 2.0)


def test_parts_of_the_result_that_are_not_differentiated():
    def f(p):
        return optimize.fsolve(cubic, 1.0, (p,), full_output=True)[1]["fjac"][0, 0]

    with pytest.raises(NotDifferentiable, match="fjac"):
        gradient(f, 2.0)
    assert gradient(lambda p: optimize.fsolve(cubic, 1.0, (p,), full_output=True)[1]["fvec"][0], 2.0) == (0.0,)


@pytest.mark.parametrize("method", ["hybr", "lm", "krylov", "broyden1"])
def test_root(method):
    def f(v):
        result = optimize.root(system_array, [1.1, 1.1], args=(v,), tol=1e-10, method=method)
        return result.x[1] * result["x"][0]

    check_gradient(f, np.array([2.0, 3.0]), rtol=1e-4)


@pytest.mark.parametrize(
    "options",
    [
        {"bracket": (0, 10)},
        {"method": "newton", "x0": 1.0, "fprime": lambda x, p: 3 * x * x},
        {"method": "secant", "x0": 1.0, "x1": 2.0},
    ],
)
def test_root_scalar(options):
    check_gradient(lambda p: optimize.root_scalar(cubic, args=(p,), xtol=1e-13, **options).root, 2.0)


def test_root_scalar_with_a_callback_that_returns_its_derivative():
    def f(p):
        return optimize.root_scalar(lambda x: (x**3 - p, 3 * x * x), x0=1.0, xtol=1e-13, fprime=True).root

    check_gradient(f, 2.0)


def test_jumps_and_failures_are_errors():
    def jump(p):
        return optimize.brentq(lambda x: x - p - 2 if x < 1 else x - p + 2, -5, 5.3)

    def flat(p):
        return optimize.brentq(lambda x: -p if x < 1 else p, -5, 5.3)

    def unfinished(p):
        return optimize.brentq(lambda x: np.exp(x) - p, -5, 50.0, maxiter=3, disp=False)

    for f in (jump, flat, unfinished):
        with pytest.raises(NotDifferentiable):
            gradient(f, 0.5)


def test_nothing_to_differentiate():
    assert gradient(lambda p: p * optimize.brentq(cubic, 0.0, 10.0, (8.0,)), 3.0) == (pytest.approx(2.0),)


def test_constants():
    cost = np.array([[4.0, 1.0], [2.0, 3.0]])

    def f(cost):
        rows, columns = optimize.linear_sum_assignment(cost)
        return cost[rows, columns].sum()

    with collecting() as reports:
        for step in (0.0, 0.1, 0.2):
            assert np.array_equal(gradient(f, cost + step)[0], [[0.0, 1.0], [1.0, 0.0]])
        assert np.array_equal(gradient(f, cost * [[1.0, 5.0], [5.0, 1.0]])[0], np.eye(2))
    assert GENERIC or "carried" not in [r.kind for r in reports]


class Cached:
    def __init__(self, p):
        self.p, self.calls, self.square = p, 0, None

    def __call__(self, x):
        self.calls += 1
        if self.square is None:
            self.square = self.p**2
        return x - self.square


def test_what_the_callback_caches():
    def f(p):
        equation = Cached(p)
        return optimize.brentq(equation, -10.0, 10.0) + equation.square

    check_gradient(f, 1.3)


def test_a_counter_goes_on():
    equation = Cached(1.3)
    gradient(lambda p: optimize.brentq(equation, -10.0, 10.0) * p, 2.0)
    assert equation.calls > 2 and equation.square == 1.3**2


def test_a_history_may_be_kept_but_has_no_derivative():
    def root(p, history):
        def equation(x):
            history.append((x + 1.0) * p)
            return x * x - p

        return optimize.brentq(equation, 0.0, 10.0)

    history = []
    assert np.isclose(gradient(lambda p: root(p, history), 2.0)[0], 0.5 / np.sqrt(2.0))
    assert len(history) > 3

    def first(p):
        seen = []
        root(p, seen)
        return seen[0]

    with pytest.raises(NotDifferentiable, match="which a solver called"):
        gradient(first, 2.0)


def test_a_work_array_that_earlier_results_depend_on():
    def f(p):
        work = np.array([p, 2.0])
        before = np.sum(work * work)

        def equation(x):
            work[0] = x * p
            return work[0] * x - 2.0

        root = optimize.brentq(equation, 0.1, 10.0, xtol=1e-14)
        return before + root * p

    check_gradient(f, 1.3)


def filled(x, p):
    found = np.zeros(2)
    found[0] = x[0] ** 2 - p
    found[1] = x[1] ** 3 - x[0] * p
    return found


SOLVERS_OF_SYSTEMS = {
    "fsolve": lambda f, p: optimize.fsolve(f, [1.0, 1.0], args=(p,), xtol=1e-13),
    "root": lambda f, p: optimize.root(f, [1.0, 1.0], args=(p,), tol=1e-13).x,
    "fixed_point": lambda f, p: optimize.fixed_point(lambda x, p: x - 0.1 * f(x, p), np.ones(2), (p,), xtol=1e-13),
    "least_squares": lambda f, p: optimize.least_squares(f, [1.0, 1.0], args=(p,), xtol=1e-13).x,
}


@pytest.mark.parametrize("solver", sorted(SOLVERS_OF_SYSTEMS))
def test_functions_that_fill_an_array(solver):
    check_gradient(lambda p: np.sum(SOLVERS_OF_SYSTEMS[solver](filled, p) * np.array([1.0, 2.0])), 2.0)


def test_functions_that_change_a_copy():
    def changed(x, p):
        found = x.copy()
        found[:] = x**3 - p
        return found

    check_gradient(lambda p: np.sum(optimize.newton(changed, np.ones(2), args=(p,), tol=1e-13)), 2.0)


TIMES = np.linspace(0.0, 1.0, 20)


def roots_of_functions_of_functions(p, q):
    def slope(x):
        return p * x

    def shifted(x):
        return slope(x) - q

    return optimize.brentq(lambda x: x**3 + shifted(x), -5.0, 5.0, xtol=1e-14)


def roots_of_functions_that_call_themselves(p, q):
    def power(x, n):
        return p if n == 0 else x * power(x, n - 1)

    return optimize.brentq(lambda x: power(x, 3) - q, 0.1, 9.0, xtol=1e-14)


def roots_of_roots(p, q):
    def inner(x):
        return optimize.brentq(lambda z: z**3 + x * z - p, -5.0, 5.0, xtol=1e-14)

    return optimize.brentq(lambda x: inner(x) * x - 0.3 * q, 0.0, 5.0, xtol=1e-14)


def functions_of_a_loop(p, q):
    def root_with(k):
        def slope(x):
            return k * x

        return optimize.brentq(lambda x: x**3 + slope(x) - q, -5.0, 5.0, xtol=1e-14)

    return sum([root_with(k) for k in (p, 2.0, q)])


def functions_with_defaults(p, q):
    def slope(x, k=p):
        return k * x

    return optimize.brentq(lambda x: x**3 + slope(x) - q, -5.0, 5.0, xtol=1e-14)


def functions_in_lists(p, q):
    terms = [lambda x: p * x, lambda x: x**3]
    return optimize.brentq(lambda x: terms[0](x) + terms[1](x) - q, -5.0, 5.0, xtol=1e-14)


def functions_that_store(p, q):
    last = 0.0

    def equation(x):
        nonlocal last
        last = x * p
        return x**3 + last - q

    return optimize.brentq(equation, -5.0, 5.0, xtol=1e-14) + last


def arrays_that_change_afterwards(p, q):
    weights = np.array([p, q])
    root = optimize.brentq(lambda x: x**3 + weights[0] * x - weights[1], -5.0, 5.0, xtol=1e-14)
    weights[0] = 7.0
    return root * weights[0] * weights[1]


def systems_as_tuples(p, q):
    def system(x):
        return x[0] ** 2 + p * x[1] - 4.0, x[1] ** 3 + x[0] - q

    return optimize.fsolve(system, [1.9, -0.9], xtol=1e-12) @ np.array([1.0, 2.0])


def fits(p, q):
    def model(t, a, b):
        return a * np.exp(-b * t) + q * t

    data = p * np.exp(-1.2 * TIMES) + 0.01 * np.sin(9.0 * TIMES) + q * TIMES**2
    found, covariance = optimize.curve_fit(model, TIMES, data, p0=[1.0, 1.0], xtol=1e-13, ftol=1e-13)
    return found[0] * found[1] + covariance[0, 1]


def least_squares_with_a_bound(p, q):
    def rest(x):
        return np.array([x[0] - p, x[1] - q * x[0], x[0] * x[1] - 1.0])

    found = optimize.least_squares(rest, [0.5, 0.5], bounds=([0.0, 0.0], [0.9, 9.0]), xtol=1e-14, ftol=1e-14)
    return found.x[0] * found.x[1] + found.cost + found.jac[2, 0] + found.fun[1]


def minima_between_bounds(p, q):
    def height(x):
        return (x[0] - p) ** 2 + (x[1] - q * x[0]) ** 4 + x[1] ** 2

    found = optimize.minimize(height, [0.5, 1.0], bounds=[(0.0, 0.7), (None, None)], options={"gtol": 1e-9})
    return found.x @ np.array([1.0, 2.0]) + found.fun


CAPTURING = [
    roots_of_functions_of_functions,
    roots_of_functions_that_call_themselves,
    roots_of_roots,
    functions_of_a_loop,
    functions_with_defaults,
    functions_in_lists,
    functions_that_store,
    arrays_that_change_afterwards,
    systems_as_tuples,
    fits,
    least_squares_with_a_bound,
    minima_between_bounds,
]


@pytest.mark.parametrize("f", CAPTURING)
def test_what_callbacks_have_captured(f):
    point, along = (1.3, 0.9), (0.6, -0.8)

    def at(h):
        return f(*(x + h * v for x, v in zip(point, along)))

    step = 1e-3
    expected = (8.0 * (at(step) - at(-step)) - at(2.0 * step) + at(-2.0 * step)) / (12.0 * step)
    for _ in range(2):
        assert np.dot(gradient(f, *point), along) == pytest.approx(expected, rel=2e-4)
    assert jvp(f, point, along)[1] == pytest.approx(expected, rel=2e-4)


@pytest.mark.skipif(GENERIC, reason="nothing is typed")
def test_equations_of_functions_that_stand_alone_are_typed_once():
    def f(p, q):
        def slope(x):
            return p * x

        def equation_of_its_own(x):
            return x**3 + slope(x) - q

        return optimize.toms748(equation_of_its_own, -5.0, 5.0)

    with collecting() as reports:
        for p in (1.1, 1.2, 1.3):
            gradient(f, p, 0.9)
    found = [r.kind for r in reports if r.code is not None and r.code.co_name == "equation_of_its_own"]
    assert found == ["typed"]


@pytest.mark.skipif(GENERIC, reason="nothing is typed")
def test_fits_of_several_models_do_not_disturb_each_other():
    def fit(model, p, start):
        def rest(c):
            return model(TIMES, *c) - np.sin(p * TIMES)

        return optimize.least_squares(rest, start).x[0]

    def unlike(t, *c):
        return sum({str(i): a * t**i for i, a in enumerate(c)}.values())

    def line(t, a, b):
        return a + b * t

    def parabola(t, a, b, c):
        return a + b * t + c * t * t

    with collecting() as reports:
        for model, count in [(unlike, 3), (line, 2), (parabola, 3)] * 3:
            gradient(lambda p, model=model, count=count: fit(model, p, [1.0] * count), 1.3)
    typed = [code.co_name for r in reports if r.kind == "typed" for code in set(r.inlined)]
    # The equation, half the sum of the squares, the residuals and their Jacobian.
    assert typed.count("line") >= 4 <= typed.count("parabola")


@pytest.mark.parametrize(
    "x, value, jacobian",
    [
        (0.3, 0.2, np.array([2.0])),
        (0.3, np.array([0.2]), np.array([2.0])),
        (0.3, [0.2], np.array([2.0])),
        (np.array([[0.3, 0.1]]), np.array([[0.2, 0.5]]), np.array([2.0, -3.0])),
        (np.array([0.3, 0.1]), np.array([0.2, 0.5]), np.array([[2.0, 1.0], [0.5, -3.0]])),
        (np.array([0.3, 0.1]), (0.2, 0.5), np.array([[2.0, 1.0], [0.5, -3.0]])),
        (np.array([0.3j, 0.1]), np.array([0.2, 0.5j]), np.array([[2.0, 1.0j], [0.5, -3.0]])),
    ],
)
def test_rule_of_a_step_from_a_solution(x, value, jacobian):
    residual = np.zeros(np.size(x))

    def with_both_fixed(x, value, _residual, _jacobian):
        return improved(x, value, residual, jacobian)

    check_rule(improved, x, value, residual, jacobian, differences=with_both_fixed)
    check_gradient(lambda x, value: np.sum(np.abs(improved(x, value, residual, jacobian)) ** 2), x, value)
    expected = np.ravel(x) - (np.ravel(value) / jacobian if jacobian.ndim == 1 else np.linalg.solve(jacobian, value))
    assert np.ravel(improved(x, value, residual, jacobian)) == pytest.approx(expected)
