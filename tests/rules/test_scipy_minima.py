"""Minimisers: the derivatives of the minimum, whichever solver has found it."""

from __future__ import annotations

import numpy as np
import pytest
from bilinear_checks import require_typed
from scipy import optimize

from autodiff_hook import gradient, hvp, jvp, value_and_grad, withgradient
from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.runtime.specialising import GENERIC

POINT = np.array([1.3, 0.7, 0.4])
DIRECTION = np.array([0.6, -0.8, 0.3])


def hill(x, p):
    """The minimum is at (p0, p2 p0), and is p1."""
    return (x[0] - p[0]) ** 2 + (x[1] - p[2] * x[0]) ** 2 + p[1] + (x[0] - p[0]) ** 4


def slope_of_hill(x, p):
    along, across = x[0] - p[0], x[1] - p[2] * x[0]
    return np.array([2 * along - 2 * across * p[2] + 4 * along**3, 2 * across])


def summary(x, value):
    return x[0] ** 2 + 2.0 * x[1] + value


def exact(p):
    return p[0] ** 2 + 2.0 * p[2] * p[0] + p[1]


def circle(x, p):
    """The minimum on the circle of radius 1 around 0 is p / |p|."""
    return (x[0] - p[0]) ** 2 + (x[1] - p[1]) ** 2


def agrees(f, reference, p=POINT, v=DIRECTION, rtol=1e-3, second=True):
    """Whether the derivatives of ``f`` are those of a function that is known in closed form."""
    expected = gradient(reference, p)[0]
    value, (slope,) = withgradient(f, p)
    assert value == f(p)
    assert slope == pytest.approx(expected, rel=rtol, abs=rtol)
    assert jvp(f, (p,), (v,))[1] == pytest.approx(expected @ v, rel=rtol, abs=rtol)
    if second:
        assert hvp(f, (p,), (v,))[0] == pytest.approx(hvp(reference, (p,), (v,))[0], rel=rtol, abs=rtol)


METHODS = [
    ("Nelder-Mead", {}),
    ("Powell", {}),
    ("CG", {}),
    ("BFGS", {}),
    ("Newton-CG", {"jac": slope_of_hill}),
    ("L-BFGS-B", {}),
    ("TNC", {"tol": 1e-8}),
    ("COBYLA", {"tol": 1e-6}),
    ("COBYQA", {}),
    ("SLSQP", {}),
    ("trust-constr", {}),
    ("dogleg", {"jac": slope_of_hill, "hess": lambda x, p: 2.0 * np.array([[1 + p[2] ** 2, -p[2]], [-p[2], 1.0]])}),
]


@pytest.mark.parametrize(("method", "options"), METHODS)
def test_minimize(method, options):
    def f(p):
        result = optimize.minimize(hill, [0.5, 0.5], args=(p,), method=method, **options)
        return summary(result.x, result["fun"])

    agrees(f, exact)


def test_what_the_function_captures():
    agrees(lambda p: summary(*least(lambda x: hill(x, p))), exact)
    agrees(lambda p: summary(*least(Hill(p))), exact)
    agrees(lambda p: summary(*least(Hill(p).method)), exact)
    agrees(lambda p: summary(*least(lambda x, p: hill(x, p), args=p)), exact)
    agrees(lambda p: summary(*least(lambda x: (hill(x, p), slope_of_hill(x, p)), jac=True)), exact)
    agrees(lambda p: summary(*least(value_and_grad(lambda x: hill(x, p)), jac=True)), exact)


def test_gradients_by_differences_are_not_followed():
    for jac in ("2-point", "3-point"):
        agrees(lambda p, jac=jac: summary(*least(lambda x: hill(x, p), jac=jac, method="L-BFGS-B")), exact)


class Hill:
    def __init__(self, p):
        self.p = p

    def __call__(self, x):
        return hill(x, self.p)

    def method(self, x):
        return hill(x, self.p)


def least(function, **options):
    result = optimize.minimize(function, [0.5, 0.5], **options)
    return result.x, result.fun


OLDER = [
    lambda p: optimize.fmin(hill, [0.5, 0.5], (p,), disp=False),
    lambda p: optimize.fmin(hill, [0.5, 0.5], (p,), disp=False, full_output=True)[0],
    lambda p: optimize.fmin_powell(hill, [0.5, 0.5], (p,), disp=False),
    lambda p: optimize.fmin_cg(hill, [0.5, 0.5], slope_of_hill, (p,), disp=False),
    lambda p: optimize.fmin_bfgs(hill, [0.5, 0.5], args=(p,), disp=False),
    lambda p: optimize.fmin_ncg(hill, [0.5, 0.5], slope_of_hill, args=(p,), disp=False),
    lambda p: optimize.fmin_l_bfgs_b(lambda x: (hill(x, p), slope_of_hill(x, p)), [0.5, 0.5])[0],
    lambda p: optimize.fmin_l_bfgs_b(hill, [0.5, 0.5], args=(p,), approx_grad=True)[0],
    lambda p: optimize.fmin_slsqp(hill, [0.5, 0.5], args=(p,), iprint=0),
    lambda p: optimize.fmin_tnc(hill, [0.5, 0.5], slope_of_hill, (p,), pgtol=1e-8, disp=0)[0],
    lambda p: optimize.fmin_cobyla(hill, [0.5, 0.5], [], (p,), rhoend=1e-6),
]


@pytest.mark.parametrize("solver", OLDER)
def test_older_functions(solver):
    agrees(lambda p: summary(solver(p), p[1]), exact)


GLOBAL = [
    lambda p: optimize.differential_evolution(hill, [(0, 3), (0, 3)], (p,), rng=1),
    lambda p: optimize.dual_annealing(hill, [(0, 3), (0, 3)], (p,), maxiter=30, rng=1),
    lambda p: optimize.shgo(hill, [(0, 3), (0, 3)], (p,)),
    lambda p: optimize.direct(hill, [(0, 3), (0, 3)], args=(p,), len_tol=1e-4, maxfun=20000, eps=1e-6),
    lambda p: optimize.basinhopping(hill, [0.5, 0.5], niter=2, rng=1, minimizer_kwargs={"args": (p,)}),
]


@pytest.mark.parametrize("solver", GLOBAL)
def test_global_searches(solver):
    def f(p):
        result = solver(p)
        return summary(result.x, result.fun)

    agrees(f, exact, second=False)


SCALAR = [
    lambda f: optimize.minimize_scalar(f).x,
    lambda f: optimize.minimize_scalar(f, method="golden").x,
    lambda f: optimize.minimize_scalar(f, bounds=(0, 3), method="bounded").x,
    lambda f: optimize.brent(f),
    lambda f: optimize.golden(f, full_output=True)[0],
    lambda f: optimize.fminbound(f, 0, 3),
]


@pytest.mark.parametrize("solver", SCALAR)
def test_functions_of_one_number(solver):
    agrees(lambda p: p[1] * solver(lambda x: (x - p[0] * p[2]) ** 2 + (x - p[0] * p[2]) ** 4), lambda p: p.prod())


def test_a_bound_that_holds_the_minimum():
    agrees(lambda p: optimize.fminbound(lambda x: (x - p[0]) ** 2, -1, p[1]) ** 2, lambda p: p[1] ** 2)
    for bounds in (lambda p: [(None, p[1]), (0, None)], lambda p: optimize.Bounds([-1.0, -1.0], [p[1], 5.0])):

        def f(p, bounds=bounds):
            result = optimize.minimize(circle, [0.1, 0.1], args=(p[::2],), bounds=bounds(p))
            return result.x @ [1.0, 3.0] + result.fun

        agrees(f, lambda p: p[1] + 3.0 * p[2] + (p[1] - p[0]) ** 2)


CIRCLES = [
    ("SLSQP", lambda r: {"type": "eq", "fun": lambda x: x @ x - r * r}),
    ("SLSQP", lambda r: {"type": "ineq", "fun": lambda x, r: r * r - x @ x, "args": (r,)}),
    ("SLSQP", lambda r: [{"type": "ineq", "fun": lambda x: [x[0] + 9.0, r * r - x @ x]}]),
    ("COBYLA", lambda r: ({"type": "ineq", "fun": lambda x: r * r - x @ x},)),
    ("trust-constr", lambda r: optimize.NonlinearConstraint(lambda x: x @ x, -np.inf, r * r)),
    ("SLSQP", lambda r: optimize.NonlinearConstraint(lambda x: -x @ x, -r * r, np.inf)),
    ("SLSQP", lambda r: [optimize.NonlinearConstraint(lambda x: x @ x / r, r, r)]),
]


@pytest.mark.parametrize(("method", "constraint"), CIRCLES)
def test_constraints_that_hold_the_minimum(method, constraint):
    def f(p):
        result = optimize.minimize(circle, [0.3, 0.1], (p[:2],), method, constraints=constraint(p[2]), tol=1e-7)
        return result.x @ [1.0, 3.0] + result.fun

    def reference(p):
        size = np.sqrt(p[0] ** 2 + p[1] ** 2)
        return (p[0] + 3.0 * p[1]) * p[2] / size + (size - p[2]) ** 2

    agrees(f, reference)


def test_constraints_that_do_not_hold_it():
    def f(p):
        constraint = {"type": "ineq", "fun": lambda x: 3.0 + p[2] - x @ x}
        linear = optimize.LinearConstraint([[1.0, 1.0]], -np.inf, 5.0)
        result = optimize.minimize(circle, [0.3, 0.1], (p[:2],), "SLSQP", constraints=[constraint, linear])
        return result.x @ [1.0, 3.0] + result.fun

    agrees(f, lambda p: p[0] + 3.0 * p[1])


def test_a_linear_constraint():
    def f(p):
        constraint = optimize.LinearConstraint([[1.0, 1.0]], -np.inf, p[2])
        return optimize.minimize(circle, [0.3, 0.1], (p[:2],), "SLSQP", constraints=constraint).fun

    agrees(f, lambda p: (p[0] + p[1] - p[2]) ** 2 / 2.0)


def test_minima_within_minima():
    def f(p):
        def inner(x):
            return optimize.minimize(lambda y: (y[0] - x[0] * p[1]) ** 2 + y[0] ** 2, [0.0]).fun

        return optimize.minimize(lambda x: (x[0] - p[0]) ** 2 + inner(x), [0.0], method="Nelder-Mead").x[0]

    agrees(f, lambda p: p[0] / (1.0 + p[1] ** 2 / 2.0), second=False)


def test_where_the_search_began_has_no_influence():
    slope = gradient(lambda x0: optimize.minimize(lambda x: np.sum((x - 1.0) ** 2), x0).x @ x0, POINT)[0]
    assert slope == pytest.approx(np.ones(3), abs=1e-6)


FAILURES = {
    "did not converge": lambda p: optimize.minimize(hill, [0.0, 0.0], (p,), "Nelder-Mead", options={"maxiter": 5}).fun,
    "singular": lambda p: optimize.minimize(lambda x: (x[0] + x[1] - p[0]) ** 2, [0.0, 0.0]).x[0],
    "is not a solution": lambda p: optimize.minimize(lambda x: np.sum((x - p[0]) ** 4), [0.0, 0.0]).x[0],
    "'hess_inv' in the result": lambda p: optimize.minimize(hill, [0.0, 0.0], (p,)).hess_inv[0, 0],
}


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.3.0", reason="SciPy asks for the norm of no numbers")
def test_a_minimum_without_unknowns():
    """What is left of the sum of squares may still depend on the parameters."""
    for name in ("x", "cost"):

        def f(p, name=name):
            return np.sum(optimize.least_squares(lambda x: np.append(x, p), np.zeros(0))[name]) + p[0]

        np.testing.assert_allclose(gradient(f, POINT)[0], np.eye(len(POINT))[0] + (POINT if name == "cost" else 0.0))


@pytest.mark.parametrize("reason", FAILURES)
@pytest.mark.filterwarnings("ignore:Maximum number")
def test_what_has_no_derivative_is_an_error(reason):
    with pytest.raises(NotDifferentiable, match=reason):
        gradient(FAILURES[reason], POINT)


def test_the_derivative_is_that_of_the_minimum_where_the_search_has_ended_too_early():
    """A program of the function alone, and the function followed with the list."""

    def f(p):
        seen = []

        def objective(x):
            seen.append(p)
            return np.sum((x - seen[-1] ** 2) ** 4)

        return optimize.minimize(objective, [0.4891], method="Nelder-Mead", options={"xatol": 1e-3}).x[0]

    def alone(p):
        return optimize.minimize(lambda x: np.sum((x - p**2) ** 4), [0.4891], method="Nelder-Mead").x[0]

    for each in (f, alone):
        assert gradient(each, 0.7) == pytest.approx((1.4,), rel=1e-5)
        assert jvp(each, (0.7,), (1.0,))[1] == pytest.approx(1.4, rel=1e-5)


@pytest.mark.parametrize("p", [0.45, 0.7, 0.9])
def test_a_function_that_is_flat_but_for_rounding_errors_has_no_minimum(p):
    def f(p):
        return optimize.minimize_scalar(
            lambda x: p * (np.cos(x) ** 2 + np.sin(x) ** 2), bounds=(0.0, 1.0), method="bounded"
        ).x

    with pytest.raises(NotDifferentiable, match="has no derivative"):
        gradient(f, p)


@pytest.mark.parametrize("power", [2, 4])
def test_a_minimum_beside_a_large_constant(power):
    def f(p):
        return optimize.minimize(lambda x: np.sum((x - p) ** power) + 1e11, [0.699]).x[0]

    assert gradient(f, 0.7) == pytest.approx((1.0,))


TIMES = np.linspace(0.0, 2.0, 12)
SEEN = 2.0 * np.exp(-1.1 * TIMES) + 0.01 * np.cos(9.0 * TIMES)


def decay(t, a, b):
    return a * np.exp(-b * t)


def misfit(q, p):
    return decay(TIMES, *q) - p[0] * SEEN - 0.1 * p[1] * TIMES


def gauss_newton(p, steps=30):
    """The same fit, by iterations that are differentiated."""
    q = np.array([1.0, 1.0])
    for _ in range(steps):
        model = np.exp(-q[1] * TIMES)
        jacobian = np.stack([model, -q[0] * TIMES * model], axis=1)
        q = q - np.linalg.solve(jacobian.T @ jacobian, jacobian.T @ misfit(q, p))
    return q, np.linalg.inv(jacobian.T @ jacobian)


FITS = [
    lambda p: optimize.least_squares(misfit, [1.0, 1.0], args=(p,)).x,
    lambda p: optimize.least_squares(lambda q: misfit(q, p), [1.0, 1.0], method="lm").x,
    lambda p: optimize.least_squares(lambda q, p: misfit(q, p), [1.0, 1.0], kwargs={"p": p}, bounds=(0.0, 9.0)).x,
    lambda p: optimize.leastsq(misfit, [1.0, 1.0], (p,))[0],
    lambda p: optimize.curve_fit(decay, TIMES, p[0] * SEEN + 0.1 * p[1] * TIMES)[0],
    lambda p: optimize.curve_fit(decay, TIMES, p[0] * SEEN + 0.1 * p[1] * TIMES, bounds=(0.0, 9.0))[0],
]


@pytest.mark.parametrize("fit", FITS)
def test_fits(fit):
    agrees(lambda p: fit(p) @ [1.0, 3.0], lambda p: gauss_newton(p)[0] @ [1.0, 3.0])


LIMITS = [(-5, 5), (None, 9)]
TYPED = [
    *FITS[:2],
    *FITS[3:],
    lambda p: optimize.curve_fit(decay, TIMES, p[0] * SEEN, [1, 1], 1.0 + p[2] * TIMES, maxfev=900)[1][0],
    lambda p: optimize.minimize(lambda x: hill(x, p), [1.0, 1.0]).x,
    lambda p: np.array([optimize.minimize(hill, np.ones(2), (p,), bounds=LIMITS).fun, p[0]]),
    lambda p: np.array([optimize.minimize_scalar(lambda x: (x - p[0]) ** 2 + x**4).x, p[1]]),
    lambda p: optimize.nnls(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]]), p)[0],
]


@pytest.mark.skipif(GENERIC, reason="nothing is typed")
@pytest.mark.parametrize("fit", TYPED)
def test_minima_are_typed(fit):
    require_typed(lambda p: fit(p) @ [1.0, 3.0], POINT)


def test_the_covariance_of_a_fit():
    def f(p):
        return np.log(optimize.curve_fit(decay, TIMES, p[0] * SEEN + 0.1 * p[1] * TIMES)[1]).sum()

    def reference(p):
        q, inverse = gauss_newton(p)
        return np.log(inverse * np.sum(misfit(q, p) ** 2) / (len(TIMES) - 2)).sum()

    agrees(f, lambda p: reference(p), second=False)


def test_weights_and_losses():
    def f(p):
        start = optimize.curve_fit(decay, TIMES * p[1], SEEN, [1.0, 1.0], sigma=1.0 + p[2] * TIMES)[0]
        robust = optimize.least_squares(misfit, start, args=(p,), loss="soft_l1", f_scale=0.1, xtol=1e-12)
        return robust.x @ [1.0, 3.0] + robust.cost

    slope = gradient(f, POINT)[0]
    step = 1e-4 * DIRECTION
    assert slope @ DIRECTION == pytest.approx((f(POINT + step) - f(POINT - step)) / 2e-4, rel=1e-3)


def test_linear_least_squares():
    matrix = np.array([[1.0, 0.3], [2.0, 1.0], [0.0, 3.0]])

    def normal(p):
        moved = matrix * p[1]
        return np.linalg.solve(moved.T @ moved, moved.T @ p) @ [1.0, 3.0]

    agrees(lambda p: optimize.lsq_linear(matrix * p[1], p).x @ [1.0, 3.0], normal)
    agrees(lambda p: optimize.nnls(matrix * p[1], p)[0] @ [1.0, 3.0], normal)
    agrees(lambda p: optimize.lsq_linear(matrix, p, (-9.0, [0.1 * p[0], 9.0])).x[0], lambda p: 0.1 * p[0])
    agrees(lambda p: optimize.nnls(matrix, p * [1.0, 1.0, -1.0])[0][1] + p[0], lambda p: p[0])


def test_fixed_points():
    def f(p):
        return optimize.fixed_point(lambda x, a: np.cos(a * x) * p[1], 0.5, args=(p[0],), xtol=1e-12)

    def newton(p):
        x = 0.5
        for _ in range(20):
            x = x - (x - np.cos(p[0] * x) * p[1]) / (1.0 + np.sin(p[0] * x) * p[0] * p[1])
        return x

    agrees(f, newton)
    both = np.array([0.5, 0.6])
    agrees(lambda p: optimize.fixed_point(lambda x: np.cos(p[0] * x) * p[1], both, xtol=1e-12)[1], newton)


def test_a_minimum_where_the_function_is_constant():
    def found(a):
        return optimize.minimize(lambda v: (v[0] - a) ** 2 if v[0] > 0.0 else 1.0, [-2.0 * a], method="BFGS").x[0]

    with pytest.raises(NotDifferentiable, match="is 0 or not finite there"):
        gradient(found, 0.5)
