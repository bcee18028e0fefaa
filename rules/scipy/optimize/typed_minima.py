"""Minimisers and fits in typed programs: natively, with a function of the program, and one step of Newton's there."""

import inspect

import numpy as np
from scipy import optimize

from autodiff_hook import operators, stop_gradient
from autodiff_hook.semantics.meanings import DEFINITIONS, calling, calling_back, differentiated, result_of
from autodiff_rules.scipy._standins import settled
from autodiff_rules.scipy.optimize.implicit import CONDITION, scaled
from autodiff_rules.scipy.optimize.stationary import CONVERGED, CURVED, NEAR, PULLING, REFINED
from autodiff_rules.scipy.optimize.typed import regular


def newton_step(x, slope, hessian, least):
    """The step from nearly a minimum; an error, which the carried program explains, where that has no derivative."""
    if x.size == 1 and np.abs(hessian[0, 0]) * (1.0 + np.abs(x[0])) ** 2 < CURVED * np.abs(least):
        raise ArithmeticError("flat")
    return np.linalg.solve(regular(x, slope, hessian, CONVERGED), slope)


def is_refined(x, step):
    return bool(np.all(np.abs(step) <= REFINED * (1.0 + np.abs(x))))


def minimum(cost, x, least):
    """A minimum of ``cost`` that was found, with its derivative."""
    if not differentiated():
        return x

    def slope(x):
        return operators.gradient(cost, x)[0]

    found, hessian = x, np.eye(x.size)
    for count in range(4):
        hessian = stop_gradient(operators.jacobian(slope)(x))
        step = calling(newton_step, x, x, stop_gradient(slope(x)), hessian, least)
        if count == 3 or calling(is_refined, True, x, step):
            break
        x = x - step
    there = slope(x)
    return settled(x - np.linalg.solve(hessian, there - stop_gradient(there)), found)


def half_of_squares(values):
    return 0.5 * np.sum(values**2)


def least(residuals, x):
    """A fit that was found, with its derivative."""

    def cost(x):
        return half_of_squares(residuals(x))

    return minimum(cost, x, 0.0)


def require_success(found, bounds):
    if not found.success:
        raise ArithmeticError(found.message)
    require_free(found.x, bounds)


def require_free(x, bounds):
    """Leave a minimum that a bound may hold to the carried program."""
    for limit in bounds:
        limit = np.array([np.inf if value is None else value for value in np.broadcast_to(limit, np.size(x))], float)
        if np.any(np.isfinite(limit) & (np.abs(x - limit) <= NEAR * (1.0 + np.abs(limit)))):
            raise ArithmeticError("held by a bound")


def limits_of(bounds, pairs=False):
    """The lower and upper limits of what ``bounds`` says, of ``pairs`` or not."""
    if bounds is None:
        return ()
    if isinstance(bounds, optimize.Bounds):
        return bounds.lb, bounds.ub
    return list(zip(*bounds)) if pairs else bounds


MINIMUM = "x", "fun", "success", "message"


def minimised(f, x0, method, bounds, tol, options):
    found = optimize.minimize(f, x0, method=method, bounds=bounds, tol=tol, options=options)
    require_success(found, limits_of(bounds, pairs=True))
    return found.x, float(found.fun), True, str(found.message)


def minimize(fun, x0, args=(), method=None, jac=None, *, bounds=None, tol=None, options=None):
    def function(x):
        return np.sum(fun(x, *args))

    if jac is not None:
        raise NotImplementedError  # The carried program is told a gradient.
    start = stop_gradient(np.atleast_1d(x0) * 1.0)
    like = start, 0.5, True, ""
    found = calling_back(minimised, like, function, start, start, method, bounds, tol, options)
    x = minimum(function, found[0], found[1])
    return result_of(optimize.OptimizeResult, MINIMUM, x, settled(function(x), found[1]), *found[2:])


def minimised_scalar(f, bracket, bounds, method, tol, options):
    found = optimize.minimize_scalar(f, bracket, bounds, method=method, tol=tol, options=options)
    require_success(found, limits_of(bounds))
    return float(found.x), float(found.fun), True, str(found.message)


def minimize_scalar(fun, bracket=None, bounds=None, args=(), method=None, tol=None, options=None):
    def function(x):
        return fun(x, *args)

    def of_one(x):
        return fun(x[0], *args)

    given = bracket, bounds, method, tol, options
    found = calling_back(minimised_scalar, (0.5, 0.5, True, ""), function, 0.5, *given)
    x = minimum(of_one, np.array([found[0]]), found[1])[0]
    return result_of(optimize.OptimizeResult, MINIMUM, x, settled(function(x), found[1]), *found[2:])


def fitted(f, x0, xtol, ftol, gtol, maxfev):
    x, status = optimize.leastsq(f, x0, xtol=xtol, ftol=ftol, gtol=gtol, maxfev=maxfev)
    if status not in (1, 2, 3, 4):
        raise ArithmeticError("not converged")
    return x, status


def leastsq(func, x0, args=(), *, ftol=1.49012e-8, xtol=1.49012e-8, gtol=0.0, maxfev=0):
    def residuals(x):
        return np.ravel(np.asarray(func(x, *args)))

    start = stop_gradient(np.ravel(np.asarray(x0) * 1.0))
    found = calling_back(fitted, (start, 1), residuals, start, start, xtol, ftol, gtol, maxfev)
    return least(residuals, found[0]), found[1]


FIT = "x", "cost", "fun", "success", "message"


def squared(f, x0, bounds, method, ftol, xtol, gtol, x_scale, max_nfev):
    tolerances = {"ftol": ftol, "xtol": xtol, "gtol": gtol}
    found = optimize.least_squares(
        f, x0, bounds=bounds, method=method, **tolerances, x_scale=x_scale, max_nfev=max_nfev
    )
    require_success(found, limits_of(bounds))
    return found.x, float(found.cost), found.fun, True, str(found.message)


def least_squares(
    fun,
    x0,
    *,
    bounds=(-np.inf, np.inf),
    method="trf",
    ftol=1e-8,
    xtol=1e-8,
    gtol=1e-8,
    x_scale=1.0,
    max_nfev=None,
    args=(),
):
    def residuals(x):
        return np.ravel(np.asarray(fun(x, *args)))

    start = stop_gradient(np.atleast_1d(x0) * 1.0)
    given = bounds, method, ftol, xtol, gtol, x_scale, max_nfev
    found = calling_back(squared, (start, 0.5, start, True, ""), residuals, start, start, *given)
    x = least(residuals, found[0])
    rest = residuals(x)
    made = x, settled(half_of_squares(rest), found[1]), settled(rest, found[2]), *found[3:]
    return result_of(optimize.OptimizeResult, FIT, *made)


def fitted_curve(f, x, y, p0, given, sigma, absolute_sigma, check_finite, bounds, method, maxfev):
    def model(x, *q):
        return f(np.array(q))

    # SciPy counts the parameters of the model, and begins within the bounds.
    names = [inspect.Parameter(f"p{i}", inspect.Parameter.POSITIONAL_ONLY) for i in range(p0.size + 1)]
    model.__signature__ = inspect.Signature(names)
    data = x, y, p0 if given else None, sigma
    options = {} if maxfev is None else {"maxfev": maxfev}
    found, covariance = optimize.curve_fit(model, *data, absolute_sigma, check_finite, bounds, method, **options)
    require_free(found, limits_of(bounds))
    return found, covariance


def curve_fit(
    f,
    xdata,
    ydata,
    p0=None,
    sigma=None,
    absolute_sigma=False,
    check_finite=True,
    bounds=(-np.inf, np.inf),
    method=None,
    *,
    maxfev=None,
):
    x, y = np.asarray(xdata) * 1.0, np.asarray(ydata) * 1.0
    weight = None if sigma is None else np.asarray(sigma) * 1.0

    def model(q):
        return f(x, *q)

    def residuals(q):
        return model(q) - y if weight is None else (model(q) - y) / weight

    if np.ndim(weight) == 2:
        raise NotImplementedError  # The carried program follows what whitens residuals.
    start = np.ones(len(inspect.signature(f).parameters) - 1) if p0 is None else np.atleast_1d(p0) * 1.0
    start = stop_gradient(start)
    data = stop_gradient(x), stop_gradient(y), start, p0 is not None, stop_gradient(weight)
    options = absolute_sigma, check_finite, bounds, method, maxfev
    found = calling_back(fitted_curve, (start, np.eye(2)), model, start, *data, *options)
    q = least(residuals, found[0])
    jacobian = operators.jacobian(residuals)(q)
    covariance = np.linalg.inv(jacobian.T @ jacobian)
    if not absolute_sigma:
        covariance = covariance * (np.sum(residuals(q) ** 2) / (y.size - q.size))
    return q, settled(covariance, found[1])


def positive(A, b):
    """What ``nnls`` finds, with 1.0 for what is free, and 0.0 for what is held at 0."""
    x, rest = optimize.nnls(A, b)
    slope = A.T @ (A @ x - b)
    free = 1.0 - (slope > np.maximum(PULLING * (1.0 + np.max(np.abs(slope))), x))
    active = A[:, free > 0.0]
    if not np.linalg.cond(scaled(active.T @ active)) < CONDITION:
        raise ArithmeticError("singular")
    return x, float(rest), free


def nnls(A, b):
    A, b = np.asarray(A) * 1.0, np.asarray(b) * 1.0
    given = stop_gradient(A), stop_gradient(b)
    found = calling(positive, (given[1], 0.5, given[1]), *given)
    active = A * found[2]
    x = np.linalg.solve(active.T @ active + np.diag(1.0 - found[2]), active.T @ b)
    return settled(x, found[0]), settled(np.linalg.norm(A @ x - b), found[1])


DEFINITIONS[id(optimize.minimize)] = minimize
DEFINITIONS[id(optimize.minimize_scalar)] = minimize_scalar
DEFINITIONS[id(optimize.leastsq)] = leastsq
DEFINITIONS[id(optimize.least_squares)] = least_squares
DEFINITIONS[id(optimize.curve_fit)] = curve_fit
DEFINITIONS[id(optimize.nnls)] = nnls
