"""Root finders of ``scipy.optimize``, and fixed points, differentiated at the root by the implicit function theorem.

Brackets and starting points have no influence on a root: their derivatives are zero.
"""

import numpy as np
from scipy import optimize

from autodiff_hook.extend import pure
from autodiff_hook.semantics.meanings import means
from autodiff_rules._constants import IS_A_POSITION, IS_TEXT, declare
from autodiff_rules.scipy._callbacks import Call
from autodiff_rules.scipy.optimize.implicit import solution, with_tokens


def bracketing(solver):
    @means(solver)
    def bracketed(alg, t, args, kwargs):
        call = Call(alg, solver, "f", t, args, kwargs)
        full = call.arguments["full_output"]
        call.arguments["full_output"] = True
        x, result = call.run()
        return with_tokens(call, (x, result) if full else x, solution(call, x, result.converged))


for solver in (optimize.brentq, optimize.brenth, optimize.bisect, optimize.ridder, optimize.toms748):
    bracketing(solver)


@means(optimize.newton)
def newton(alg, t, args, kwargs):
    call = Call(alg, optimize.newton, "func", t, args, kwargs)
    full = call.arguments["full_output"]
    call.arguments["full_output"] = True
    value = call.run()
    x, converged = value[0], value[1] if isinstance(value[1], np.ndarray) else value[1].converged
    token = solution(call, x, np.all(converged), elementwise=True)
    return with_tokens(call, value if full else x, token)


@means(optimize.fsolve)
def fsolve(alg, t, args, kwargs):
    call = Call(alg, optimize.fsolve, "func", t, args, kwargs)
    full = call.arguments["full_output"]
    call.arguments["full_output"] = True
    x, info, status, message = call.run()
    value = (x, info, status, message)
    if not full:
        call.arguments["full_output"] = full
        value = x if status == 1 else call.run()
    return with_tokens(call, value, solution(call, x, status == 1))


def returning_result(solver, function, derivative, name, slack):
    """Register a solver with a result object, whose callback returns a tuple if ``derivative`` is True."""

    @means(solver)
    def solved(alg, t, args, kwargs):
        call = Call(alg, solver, function, t, args, kwargs)
        value = call.run()
        given = call.arguments[derivative]
        paired = bool(given) and not callable(given)
        converged = value.success if name == "x" else value.converged
        token = solution(call, value[name], converged, paired, slack=call.slack() or slack)
        return with_tokens(call, value, token)


def gap(x, func, args):
    """What is 0 at a fixed point."""
    return func(x, *args) - x


class FixedPoint(Call):
    """A call of ``fixed_point``."""

    equal = staticmethod(gap)


@means(optimize.fixed_point)
def fixed_point(alg, t, args, kwargs):
    call = FixedPoint(alg, optimize.fixed_point, "func", t, args, kwargs)
    x = call.run()
    at = np.array(x) if np.ndim(x) else float(x)
    return x, solution(call, at, True, slack=10.0 * call.arguments["xtol"])


returning_result(optimize.root, "fun", "jac", "x", 1e-4)
returning_result(optimize.root_scalar, "f", "fprime", "root", 0.0)


declare(IS_A_POSITION, optimize.linear_sum_assignment)
pure(optimize.linear_sum_assignment)
declare(IS_TEXT, optimize.show_options)
