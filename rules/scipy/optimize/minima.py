"""Minimisers of ``scipy.optimize``: the minimum depends on the function, not on where the search began.

SciPy's older functions (``fmin`` and its kin) are followed, down to the solvers that they share with ``minimize``.
"""

import numpy as np
from scipy import optimize
from scipy.optimize import _cobyla_py, _lbfgsb_py, _optimize, _slsqp_py, _tnc

from autodiff_hook.algebras.shadows import keep, lose
from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.semantics.functions import enter
from autodiff_hook.semantics.meanings import means
from autodiff_rules.scipy.optimize.stationary import Minimum

MINIMISERS = [
    optimize.minimize,
    optimize.differential_evolution,
    optimize.dual_annealing,
    optimize.shgo,
    optimize.direct,
    _optimize._minimize_neldermead,
    _optimize._minimize_powell,
    _optimize._minimize_cg,
    _optimize._minimize_bfgs,
    _optimize._minimize_newtoncg,
    _lbfgsb_py._minimize_lbfgsb,
    _tnc._minimize_tnc,
    _slsqp_py._minimize_slsqp,
    _cobyla_py._minimize_cobyla,
]
SCALAR_MINIMISERS = [
    optimize.minimize_scalar,
    _optimize._minimize_scalar_brent,
    _optimize._minimize_scalar_golden,
    _optimize._minimize_scalar_bounded,
]


def computed(memo, x, *args):
    """What ``MemoizeJac`` does before it gives a value or a derivative, without looking whether it has them."""
    memo.x = np.asarray(x).copy()
    memo._value, memo.jac = memo.fun(x, *args)


@means(_optimize.MemoizeJac._compute_if_needed)
def compute(alg, t, args, kwargs):
    return enter(alg, (None, *t), computed, args, kwargs)


def with_result(call, result, known):
    """A result object with the tokens that are ``known`` by name; no other derivatives of it are."""
    for name, item in result.items():
        if name in known:
            keep(call.alg, result, name, known[name])
            continue
        kind = kind_of(type(item))
        if kind == "inert" or kind in ("number", "array") and np.asarray(item).dtype.kind not in "fc":
            continue
        what = NotDifferentiable(f"{name!r} in the result of {call.name} is not differentiated")
        keep(call.alg, result, name, lose(call.alg, item, call.alg.unknown(what)))
    return result, None


def minimiser(solver, scalar=False):
    @means(solver)
    def minimised(alg, t, args, kwargs):
        call = Minimum(alg, solver, t, args, kwargs, scalar)
        result = call.run()
        call.least = result.fun
        token = call.solve(result.x, result.success)
        known = {"x": token, "fun": call.token_of_value}
        return (result, None) if token is None else with_result(call, result, known)


for solver in MINIMISERS:
    minimiser(solver)
for solver in SCALAR_MINIMISERS:
    minimiser(solver, scalar=True)
