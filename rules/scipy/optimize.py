"""Root finders of ``scipy.optimize``, differentiated at the root by the implicit function theorem.

Brackets and starting points have no influence on a root: their cotangents are zero.
"""

from __future__ import annotations

import inspect

import numpy as np
from scipy import optimize

from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.registry import nondifferentiable
from autodiff_hook.runtime.cotangents import accumulate
from autodiff_hook.runtime.handlers import handles
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.structures import mark_deep
from autodiff_hook.semantics.meanings import means
from autodiff_rules.scipy import _implicit
from autodiff_rules.scipy._implicit import RESIDUAL, SOLUTION
from autodiff_rules.scipy._memory import Memory
from autodiff_rules.scipy._roots import equation


class Call:
    """The arguments of a call by name, and where their cotangents belong."""

    def __init__(self, target, w, args, kwargs):
        self.signature = inspect.signature(target)
        self.places = {}
        names = [p.name for p in self.signature.parameters.values()]
        for i, name in enumerate([*names[: len(args)], *kwargs]):
            self.places[name] = i
        self.bound = self.signature.bind(*args, **kwargs)
        self.bound.apply_defaults()
        self.target, self.arguments, self.w = target, self.bound.arguments, w
        self.count = len(args) + len(kwargs)
        self.memory = Memory(*self.arguments.values())

    def run(self):
        """The native call, with the arguments as they are now."""
        value = self.target(*self.bound.args, **self.bound.kwargs)
        self.memory.ran()
        return value

    def witness(self, name):
        return self.w[self.places[name]] if name in self.places else None

    def extra(self):
        """The further arguments of the callback, as a tuple."""
        args = self.arguments["args"]
        return args if isinstance(args, tuple) else (args,)

    def witnesses(self, function):
        """Those of the callback and of its further arguments."""
        given = self.witness("args")
        live = [given if kind_of(type(x)) in ("number", "array", "tuple") else None for x in self.extra()]
        return (self.witness(function), *live)

    def cotangents(self, function, given):
        """Cotangents of the arguments from those of the callback, of x and of its further arguments."""
        result = [None] * self.count
        if given is None:
            return tuple(result)
        result[self.places[function]] = given[0]
        if "args" in self.places and any(c is not None for c in given[2:]):
            rest = tuple(given[2:])
            result[self.places["args"]] = rest if isinstance(self.arguments["args"], tuple) else rest[0]
        return tuple(result)


class Solved:
    """Pullback of a solver whose value is the root, a result object, or a tuple of the root and others."""

    def __init__(self, ctx, call, function, equation, value, converged):
        self.call, self.function, self.equation, self.converged = call, function, equation, converged
        self.results = [item for item in (value if type(value) is tuple else (value,)) if isinstance(item, dict)]
        self.leads = not isinstance(value, dict)
        self.is_tuple = isinstance(value, tuple)
        for item in self.results:
            mark_deep(ctx, item)

    def __call__(self, sweep, cotangent):
        x̄ = self.collected(sweep, cotangent)
        if x̄ is not None and not self.converged:
            raise NotDifferentiable(f"{self.equation.name} did not converge: its result has no derivative")
        return self.call.cotangents(self.function, self.equation.backward(sweep, x̄))

    def collected(self, sweep, cotangent):
        """The cotangent of the root."""
        x̄ = None
        if self.leads:
            x̄ = cotangent[0] if self.is_tuple and cotangent is not None else cotangent
        for result in self.results:
            for name in list(sweep.peek(result)):
                c = sweep.pop(result, name)
                if name in SOLUTION:
                    x̄ = accumulate(x̄, c)
                elif c is not None and name not in RESIDUAL and np.asarray(result[name]).dtype.kind in "fc":
                    raise NotDifferentiable(f"{name!r} in the result of {self.equation.name} is not differentiated")
        return x̄.dense() if hasattr(x̄, "dense") else x̄


def solved(ctx, call, function, name, value, x, converged, **options):
    """Value and pullback of a solver whose solution is ``x``."""
    f = call.arguments[function]
    found = equation(ctx, call.witnesses(function), call.memory, name, f, x, call.extra(), **options)
    return value, None if found is None else Solved(ctx, call, function, found, value, converged)


def slack(arguments):
    """How far from the root the solver was allowed to stop, with a margin."""
    return 10.0 * sum(arguments.get(name) or 0.0 for name in ("xtol", "rtol", "tol"))


def bracketing(solver):
    """Register a solver that needs a bracket."""

    @handles(solver)
    def bracketed(ctx, w, args, kwargs):
        call = Call(solver, w, args, kwargs)
        full = call.arguments["full_output"]
        call.arguments["full_output"] = True
        x, result = call.run()
        name, value = f"scipy.optimize.{solver.__name__}", (x, result) if full else x
        return solved(ctx, call, "f", name, value, x, result.converged, slack=slack(call.arguments))


for solver in (optimize.brentq, optimize.brenth, optimize.bisect, optimize.ridder, optimize.toms748):
    bracketing(solver)


@handles(optimize.newton)
def newton(ctx, w, args, kwargs):
    call = Call(optimize.newton, w, args, kwargs)
    full = call.arguments["full_output"]
    call.arguments["full_output"] = True
    value = call.run()
    x, converged = value[0], value[1] if isinstance(value[1], np.ndarray) else value[1].converged
    value = value if full else x
    options = {"slack": slack(call.arguments), "elementwise": True}
    return solved(ctx, call, "func", "scipy.optimize.newton", value, x, np.all(converged), **options)


@handles(optimize.fsolve)
def fsolve(ctx, w, args, kwargs):
    call = Call(optimize.fsolve, w, args, kwargs)
    full = call.arguments["full_output"]
    call.arguments["full_output"] = True
    x, info, status, message = call.run()
    value = (x, info, status, message)
    if not full:
        call.arguments["full_output"] = full
        value = x if status == 1 else call.run()
    return solved(ctx, call, "func", "scipy.optimize.fsolve", value, x, status == 1, slack=slack(call.arguments))


@handles(optimize.root)
def root(ctx, w, args, kwargs):
    call = Call(optimize.root, w, args, kwargs)
    value = call.run()
    options = {"slack": slack(call.arguments) or 1e-4}
    return returning_pair(ctx, call, "fun", "jac", "scipy.optimize.root", value, value.x, value.success, options)


@handles(optimize.root_scalar)
def root_scalar(ctx, w, args, kwargs):
    call = Call(optimize.root_scalar, w, args, kwargs)
    value = call.run()
    options = {"slack": slack(call.arguments)}
    name = "scipy.optimize.root_scalar"
    return returning_pair(ctx, call, "f", "fprime", name, value, value.root, value.converged, options)


class First:
    """A callback that returns its derivative too, without it."""

    def __init__(self, function):
        self.function = function

    def __call__(self, *args):
        return self.function(*args)[0]


def returning_pair(ctx, call, function, derivative, name, value, x, converged, options):
    """``solved``, where the callback returns a tuple if ``derivative`` is True."""
    given = call.arguments[derivative]
    if given and not callable(given):
        call.arguments[function] = First(call.arguments[function])
    return solved(ctx, call, function, name, value, x, converged, **options)


def bracketing_carried(solver):
    """Register what a solver that needs a bracket means."""

    @means(solver)
    def carried(alg, t, args, kwargs):
        call = _implicit.Call(alg, solver, "f", t, args, kwargs)
        full = call.arguments["full_output"]
        call.arguments["full_output"] = True
        x, result = call.run()
        token = _implicit.solution(call, x, result.converged)
        return _implicit.with_tokens(call, (x, result) if full else x, token)


for solver in (optimize.brentq, optimize.brenth, optimize.bisect, optimize.ridder, optimize.toms748):
    bracketing_carried(solver)


@means(optimize.newton)
def newton_carried(alg, t, args, kwargs):
    call = _implicit.Call(alg, optimize.newton, "func", t, args, kwargs)
    full = call.arguments["full_output"]
    call.arguments["full_output"] = True
    value = call.run()
    x, converged = value[0], value[1] if isinstance(value[1], np.ndarray) else value[1].converged
    token = _implicit.solution(call, x, np.all(converged), elementwise=True)
    return _implicit.with_tokens(call, value if full else x, token)


@means(optimize.fsolve)
def fsolve_carried(alg, t, args, kwargs):
    call = _implicit.Call(alg, optimize.fsolve, "func", t, args, kwargs)
    full = call.arguments["full_output"]
    call.arguments["full_output"] = True
    x, info, status, message = call.run()
    value = (x, info, status, message)
    if not full:
        call.arguments["full_output"] = full
        value = x if status == 1 else call.run()
    return _implicit.with_tokens(call, value, _implicit.solution(call, x, status == 1))


def returning_pair_carried(solver, function, derivative, name, slack):
    """Register a solver with a result object, whose callback returns a tuple if ``derivative`` is True."""

    @means(solver)
    def carried(alg, t, args, kwargs):
        call = _implicit.Call(alg, solver, function, t, args, kwargs)
        value = call.run()
        given = call.arguments[derivative]
        paired = bool(given) and not callable(given)
        converged = value.success if name == "x" else value.converged
        token = _implicit.solution(call, value[name], converged, paired, slack=call.slack() or slack)
        return _implicit.with_tokens(call, value, token)


returning_pair_carried(optimize.root, "fun", "jac", "x", 1e-4)
returning_pair_carried(optimize.root_scalar, "f", "fprime", "root", 0.0)


for function in (optimize.linear_sum_assignment, optimize.show_options):
    nondifferentiable(function)
