"""Root finders in typed programs: natively, with a function of the program, and one step of the chord method there."""

import math

import numpy as np
from scipy import optimize
from scipy.optimize._zeros_py import RootResults, _iter, _rtol, _xtol

from autodiff_hook import operators, stop_gradient, withgradient
from autodiff_hook.semantics.meanings import DEFINITIONS, calling, calling_back, differentiated, result_of
from autodiff_rules.scipy._standins import settled
from autodiff_rules.scipy.optimize.implicit import CONDITION, NEWTON_STEP, scaled


def moved(f, x, slack):
    """A root of ``f`` that was found, with its derivative."""
    if not differentiated():
        return x
    y, (slope,) = withgradient(f, x)
    if not (0.0 < abs(slope) < math.inf and abs(y / slope) <= (slack + NEWTON_STEP) * (1.0 + abs(x))):
        raise ArithmeticError  # The carried program says what is wrong.
    return settled(x - (f(x) - stop_gradient(y)) / stop_gradient(slope), x)


FIELDS = "root", "converged", "iterations", "function_calls", "flag", "method"
LIKE = 0.5, True, 1, 1, "", ""


def report(found):
    if not found.converged:
        raise ArithmeticError(found.flag)
    return tuple([found[name] for name in FIELDS])


def reporting(solver):
    """A solver with ``full_output=True``, as what it reports has no derivative."""
    return lambda f, *options: report(solver(f, *options, full_output=True, disp=False)[1])


def defined(solver):
    """The root that a solver finds between two places."""
    reported = reporting(solver)

    def between(f, a, b, args=(), xtol=_xtol, rtol=_rtol, maxiter=_iter, full_output=False, disp=True):
        def equation(x):
            return f(x, *args)

        slack, options = 10.0 * (xtol + rtol), (stop_gradient(a), stop_gradient(b), (), xtol, rtol, maxiter)
        if full_output:
            result = described(equation, calling_back(reported, LIKE, equation, 0.5, *options), slack)
            return result.root, result
        return moved(equation, calling_back(solver, 0.5, equation, 0.5, *options), slack)

    DEFINITIONS[id(solver)] = between


def described(equation, found, slack):
    return result_of(RootResults, FIELDS, moved(equation, found[0], slack), *found[1:])


for solver in (optimize.brentq, optimize.brenth, optimize.bisect, optimize.ridder):
    defined(solver)


def scalar(f, *options, fprime=None):
    names = "method", "bracket", "x0", "x1", "xtol", "rtol", "maxiter"
    return report(optimize.root_scalar(f, fprime=fprime, **dict(zip(names, options))))


def apart(both):
    """Two functions of what one gives, which is called once where both are asked for the same number."""
    known = [None, None]

    def at(x):
        if known[0] is not x:
            known[:] = x, both(x)
        return known[1]

    return lambda x: at(x)[0], lambda x: at(x)[1]


def scalar_with_slope(both, *options):
    value, slope = apart(both)
    return scalar(value, *options, fprime=slope)


def one_root(
    f,
    args=(),
    method=None,
    bracket=None,
    fprime=None,
    fprime2=None,
    x0=None,
    x1=None,
    xtol=None,
    rtol=None,
    maxiter=None,
):
    def equation(x):
        return f(x, *args)

    options = method, bracket, x0, x1, xtol, rtol, maxiter
    if fprime is None and fprime2 is None:
        found = calling_back(scalar, LIKE, equation, 0.5, *options)
    elif fprime2 is None and callable(fprime):

        def sloped(x):
            return equation(x), fprime(x, *args)

        found = calling_back(scalar_with_slope, LIKE, sloped, 0.5, *options)
    else:
        raise NotImplementedError  # The carried program is told curvatures, and values with slopes.
    return described(equation, found, 10.0 * ((xtol or 0.0) + (rtol or 0.0)))


DEFINITIONS[id(optimize.root_scalar)] = one_root


def from_guess(func, x0, fprime=None, args=(), tol=1.48e-8, maxiter=50, *, full_output=False, disp=True):
    def equation(x):
        return func(x, *args)

    def sloped(x):
        return func(x, *args), fprime(x, *args)

    start = stop_gradient(x0 * 1.0)
    options, given = (start, None, (), tol, maxiter), (equation, secant, secant_reporting)
    if fprime is not None:
        given = sloped, newton, newton_reporting
    called, solver, reported = given
    if full_output:
        result = described(equation, calling_back(reported, LIKE, called, start, *options), 10.0 * tol)
        return result.root, result
    return moved(equation, calling_back(solver, start, called, start, *options), 10.0 * tol)


secant, secant_reporting = optimize.newton, reporting(optimize.newton)


def newton(both, x0, _, *options, **more):
    """Newton's method with one function for the value and the slope."""
    value, slope = apart(both)
    return optimize.newton(value, x0, slope, *options, **more)


newton_reporting = reporting(newton)


DEFINITIONS[id(optimize.newton)] = from_guess


def found(f, x0, xtol, maxfev):
    x, _, status, message = optimize.fsolve(f, x0, xtol=xtol, maxfev=maxfev, full_output=True)
    if status != 1:
        raise ArithmeticError(message)
    return x


def regular(x, y, jacobian, slack):
    """A Jacobian, if ``x`` is a solution at which it is not singular."""
    if jacobian.shape != (x.size, x.size) or not np.all(np.isfinite(jacobian)):
        raise ArithmeticError
    step = np.linalg.solve(jacobian, y)
    if not np.linalg.cond(scaled(jacobian)) < CONDITION or np.any(
        np.abs(step) > (slack + NEWTON_STEP) * (1.0 + np.abs(x))
    ):
        raise ArithmeticError
    return jacobian


def moved_together(f, x, slack):
    """A root of several functions of as many variables that was found, with its derivative."""
    if not differentiated():
        return x
    y, jacobian = stop_gradient(f(x)), stop_gradient(operators.jacobian(f)(x))
    jacobian = calling(regular, jacobian, x, y, jacobian, slack)
    return settled(x - np.linalg.solve(jacobian, f(x) - y), x)


def from_start(func, x0, args=(), xtol=1.49012e-8, maxfev=0):
    def equation(x):
        return np.asarray(func(x, *args))

    def residual(x):
        return np.ravel(equation(x))

    start = stop_gradient(np.ravel(np.asarray(x0) * 1.0))
    x = calling_back(found, start, equation, start, start, xtol, maxfev)
    return moved_together(residual, x, 10.0 * xtol)


SEVERAL = "x", "success", "message"


def several(f, x0, method, tol):
    found = optimize.root(f, x0, method=method, tol=tol)
    if not found.success:
        raise ArithmeticError(found.message)
    return tuple([found[name] for name in SEVERAL])


def roots(fun, x0, args=(), method="hybr", jac=None, tol=None):
    def equation(x):
        return np.asarray(fun(x, *args))

    if jac is not None:
        raise NotImplementedError  # The carried program is told a Jacobian.
    start = stop_gradient(np.asarray(x0) * 1.0)
    found = calling_back(several, (start, True, ""), equation, start, start, method, tol)
    slack = 1e-4 if tol is None else 10.0 * tol
    return result_of(optimize.OptimizeResult, SEVERAL, moved_together(equation, found[0], slack), *found[1:])


DEFINITIONS[id(optimize.root)] = roots
DEFINITIONS[id(optimize.fsolve)] = from_start
