"""Least squares of ``scipy.optimize``: the sum of squares is the function that is minimised.

``curve_fit`` is followed, down to these.
"""

import numpy as np
from scipy import optimize
from scipy.optimize import _minpack_py

from autodiff_hook import gradient, jacfwd
from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.semantics.meanings import means
from autodiff_rules.scipy.optimize.minima import with_result
from autodiff_rules.scipy.optimize.stationary import Minimum

LOSSES = {
    "linear": lambda z: z,
    "soft_l1": lambda z: 2.0 * (np.sqrt(1.0 + z) - 1.0),
    "huber": lambda z: np.where(z <= 1.0, z, 2.0 * np.sqrt(z) - 1.0),
    "cauchy": np.log1p,
    "arctan": np.arctan,
}


def residuals_of(x, fun, args, kwargs):
    return np.ravel(np.asarray(fun(x, *args, **kwargs)))


def cost(x, fun, args, kwargs, loss, scale):
    """Half the sum of the squares, or of what a loss function makes of them."""
    z = (residuals_of(x, fun, args, kwargs) / scale) ** 2
    found = loss(z)[0] if callable(loss) else LOSSES[loss](z)
    return 0.5 * scale**2 * np.sum(found)


def slope_of_cost(x, fun, args, kwargs, loss, scale):
    return gradient(lambda x: cost(x, fun, args, kwargs, loss, scale), x)[0]


def jacobian_of_residuals(x, fun, args, kwargs):
    return jacfwd(lambda x: residuals_of(x, fun, args, kwargs))(x)


def covariance(x, fun, args, kwargs):
    """The inverse of JᵀJ."""
    jacobian = jacobian_of_residuals(x, fun, args, kwargs)
    return np.linalg.inv(jacobian.T @ jacobian)


class LeastSquares(Minimum):
    """A call of ``leastsq`` or ``least_squares``."""

    value, slope = staticmethod(cost), staticmethod(slope_of_cost)

    def __init__(self, alg, target, t, args, kwargs):
        super().__init__(alg, target, t, args, kwargs)
        self.box = True

    def objective(self):
        (fun, args, _, _), (moving, moving_args, _, _) = super().objective()
        loss, scale = self.arguments.get("loss", "linear"), self.arguments.get("f_scale", 1.0)
        values = fun, args, self.arguments.get("kwargs") or {}, loss, scale
        return values, (moving, moving_args, None, self.tokens.get("loss"), self.tokens.get("f_scale"))


@means(optimize.least_squares)
def least_squares(alg, t, args, kwargs):
    call = LeastSquares(alg, optimize.least_squares, t, args, kwargs)
    result = call.run()
    token = call.solve(result.x, result.success)
    if token is None:
        return result, None
    known = {"x": token, "cost": call.token_of_value, "fun": call.also(residuals_of, 3)}
    if call.arguments["loss"] == "linear":
        known["jac"] = call.also(jacobian_of_residuals, 3)
    return with_result(call, result, known)


@means(optimize.leastsq)
def leastsq(alg, t, args, kwargs):
    call = LeastSquares(alg, optimize.leastsq, t, args, kwargs)
    value = call.run()
    token = call.solve(np.asarray(value[0], float), value[-1] in (1, 2, 3, 4))
    if token is None or len(value) == 2:
        return value, (token, *[None] * (len(value) - 1))
    info = value[2]
    with_result(call, info, {"fvec": call.also(residuals_of, 3)})
    return value, (token, None if value[1] is None else call.also(covariance, 3), None, None, None)


def linear_cost(x, A, b):
    """Half the sum of the squares of Ax - b."""
    return 0.5 * np.sum((A @ x - b) ** 2)


def slope_of_linear_cost(x, A, b):
    return A.T @ (A @ x - b)


class LinearLeastSquares(Minimum):
    """A call of ``lsq_linear`` or ``nnls``, which call nothing back."""

    value, slope = staticmethod(linear_cost), staticmethod(slope_of_linear_cost)
    matter = ("b", "bounds")

    def __init__(self, alg, target, t, args, kwargs):
        super().__init__(alg, target, t, args, kwargs)
        self.box = True
        if "bounds" not in self.arguments:
            self.bounds = 0.0, np.inf

    def begin(self, x):
        if np.asarray(self.arguments["A"]).dtype.kind not in "fiu":
            raise NotDifferentiable(f"{self.name} is differentiated for a real matrix that is an array")
        return super().begin(x)

    def objective(self):
        given = self.arguments["A"], self.arguments["b"]
        return tuple(map(np.asarray, given)), (self.tokens.get("A"), self.tokens.get("b"))


@means(optimize.lsq_linear)
def lsq_linear(alg, t, args, kwargs):
    call = LinearLeastSquares(alg, optimize.lsq_linear, t, args, kwargs)
    result = call.run()
    token = call.solve(result.x, result.success)
    known = {"x": token, "cost": call.token_of_value}
    return (result, None) if token is None else with_result(call, result, known)


def distance(x, A, b):
    """The second result of ``nnls``."""
    return np.sqrt(np.sum((A @ x - b) ** 2))


@means(optimize.nnls)
def nnls(alg, t, args, kwargs):
    call = LinearLeastSquares(alg, optimize.nnls, t, args, kwargs)
    x, rest = call.run()
    token = call.solve(x, True)
    return (x, rest), None if token is None else (token, call.also(distance, 2))


@means(_minpack_py._lightweight_memoizer)
def without_memory(alg, t, args, kwargs):
    """What keeps its last value would give the engine one that it has not seen."""
    return args[0], t[0]
