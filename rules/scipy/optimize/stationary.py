"""Minimisers: the conditions of Karush, Kuhn and Tucker as an equation for the implicit function theorem.

The unknowns are x and the multipliers of the constraints that hold with equality at the minimum. Variables that a bound
holds are those bounds; the gradient of f(x) - λ·c(x) with respect to all others is 0, and so is c(x). Which constraints
hold is found from their multipliers at x and does not change with the parameters.
"""

from __future__ import annotations

import inspect
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import optimize

from autodiff_hook import gradient
from autodiff_hook.algebras.reverse import Reverse
from autodiff_hook.algebras.searching import reaches
from autodiff_hook.algebras.shadows import some
from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.runtime.arguments import is_lasting
from autodiff_hook.semantics.functions import enter
from autodiff_rules.scipy._callbacks import Call, Program
from autodiff_rules.scipy.optimize.implicit import Linearised, solution

CONVERGED = 1e-3
"""How far, relative to 1 + |x|, Newton's method may move a minimum that is differentiated."""

NEAR = 1e-3
"""How close, relative to 1 + |bound|, x is to a bound or a constraint that may hold it."""

PULLING = 1e-7
"""The smallest multiplier, relative to 1 + the largest derivative, of a constraint that holds x.

It is also larger than the distance to the constraint: of the two, one is zero at the minimum.
"""

REFINED = 1e-9

CURVED = 1e-10
"""Of the least value, the change by x from a minimum that is not looked at again: rounding errors make smaller ones."""

NEARBY = 1e-4
"""How far, relative to 1 + |x|, from a minimum that is looked at again."""


def value_of(x, fun, args, paired, jac):
    found = fun(x, *args)
    return np.sum(found[0] if paired else found)


def slopes(x, fun, args, paired, jac):
    """Its gradient: the one that the solver was given, or its own."""
    if paired:
        return np.ravel(np.asarray(fun(x, *args)[1]))
    if jac is not None:
        return np.ravel(np.asarray(jac(x, *args)))
    return np.ravel(gradient(lambda x: value_of(x, fun, args, paired, jac), x)[0])


def limit(bounds, box, i, side):
    """A bound of a variable: of a pair for each, or of two limits, in a ``box``, that are numbers or arrays."""
    if not box and not isinstance(bounds, optimize.Bounds):
        return bounds[i][side]
    given = bounds[side] if box and not isinstance(bounds, optimize.Bounds) else bounds.ub if side else bounds.lb
    return given[i] if np.size(given) > 1 else np.sum(given)


def residuals(x, constraint, side):
    """What is 0 where a constraint holds with equality."""
    if isinstance(constraint, dict):
        return np.ravel(np.asarray(constraint["fun"](x, *constraint.get("args", ()))))
    given = constraint.ub if side else constraint.lb
    if isinstance(constraint, optimize.LinearConstraint):
        return np.ravel(np.atleast_2d(constraint.A) @ x) - given
    return np.ravel(np.asarray(constraint.fun(x))) - given


def pull(x, λ, constraint, side, rows):
    """The gradient of the rows of a constraint, each times its multiplier."""
    return gradient(lambda x: np.sum(λ * residuals(x, constraint, side)[rows]), x)[0]


def unknowns(z, scalar, n):
    return z[0] if scalar else z[:n]


def conditions(z, function, args, others, slope, scalar, n, box, bounds, constraints, held, active):
    """What is 0 at a minimum."""
    x = unknowns(z, scalar, n)
    parts = [slope(x, function, args, *others)]
    start = n
    for place, side, rows in active:
        λ, start = z[start : start + len(rows)], start + len(rows)
        parts[0] = parts[0] - pull(x, λ, constraints[place], side, rows)
        parts.append(residuals(x, constraints[place], side)[rows])
    if held:
        free = [i for i in range(n) if i not in [place for place, _ in held]]
        parts[0] = parts[0][free]
        parts.append(np.array([z[i] - limit(bounds, box, i, side) for i, side in held]))
    return np.concatenate(parts)


class Holding(NamedTuple):
    """A bound (without ``row``) or a row of a constraint that may hold a minimum."""

    normal: Any
    required: bool
    """Whether it holds in any case."""
    distance: float
    place: int
    side: int
    row: int | None = None


class Minimum(Call):
    """A call of a minimiser: ``value`` is the function to be minimised, ``slope`` its gradient."""

    equal, value, slope = staticmethod(conditions), staticmethod(value_of), staticmethod(slopes)
    matter = ("args", "kwargs", "bounds", "constraints")
    """What a minimum depends on, beside the function."""
    least = 0.0
    """The least value, where its terms may cancel in the second derivative, as squares do not."""

    def __init__(self, alg, target, t, args, kwargs, scalar=False):
        function, *others = inspect.signature(target).parameters
        super().__init__(alg, target, function, t, args, kwargs)
        self.given = args, kwargs
        self.scalar = self.box = scalar
        self.jac = "fprime" if "fprime" in others else "jac"
        bounds = self.arguments.get("bounds")
        self.bounds = None if bounds is None or isinstance(bounds, (list, tuple)) and not bounds else bounds
        given = self.arguments.get("constraints") or ()
        self.constraints = list(given) if isinstance(given, (list, tuple)) else [given]
        self.held, self.active = [], []

    def run(self):
        args, kwargs = self.given
        value = self.target(*args, **kwargs)
        self.memory.ran()
        return value

    def extra(self):
        return super().extra() if "args" in self.arguments else ()

    @cached_property
    def alone(self):
        """The function that is minimised, if nothing else of the problem has a token, and no program of it is new."""
        (_, _, *others), (_, _, *tokens) = self.objective()
        if self.constraints or some([self.tokens.get("bounds"), *tokens]) or reaches(self.alg, self.bounds, *others):
            return None
        return super().alone if all(not callable(x) or is_lasting(x) for x in others) else None

    def objective(self):
        """The arguments of ``value`` and ``slope`` behind x, and their tokens."""
        jac, token = self.arguments.get(self.jac), self.tokens.get("args")
        paired = bool(jac) and not callable(jac) and not isinstance(jac, str)
        moving = self.tokens.get(self.jac) if callable(jac) else None
        values = self.callback, self.extra(), paired, jac if callable(jac) else None
        return values, (self.tokens.get(self.function), token, None, moving)

    def operands(self, z, token):
        (function, args, *others), (moving, moving_args, *rest) = self.objective()
        holding = tuple(self.constraints), tuple(self.held), tuple(self.active)
        problem = self.slope, self.scalar, self.n, self.box, self.bounds, *holding
        tokens = None, token, moving, moving_args, tuple(rest) if some(rest) else None
        bounds = self.tokens.get("bounds")
        return (z, function, args, tuple(others), *problem), (*tokens, None, None, None, None, bounds)

    def differentiated(self, f, x):
        """A differentiation of a function by x alone, with the scope of the program."""
        return Reverse(f, (x,), {}, modules=self.alg.modules)

    def refined(self, z):
        for _ in range(3):
            linearised = Linearised(self, z, False, False, CONVERGED)
            step = linearised.newton_step(self.hessian(linearised))
            if np.all(np.abs(step) <= REFINED * (1.0 + np.abs(z))):
                break
            z = z - step
        return z

    def hessian(self, linearised):
        """The Jacobian of the conditions; an error where rounding errors stand for the only second derivative.

        With these Newton's method leads anywhere from nearby, else to where it leads from here, or closer.
        """
        found, size = linearised.jacobian(), 1.0 + np.abs(linearised.x)
        if found.ndim == 1 and np.any(np.abs(found) * size**2 < CURVED * np.abs(self.least)):
            away = NEARBY * size
            nearby = Linearised(self, linearised.x + away, False, False, np.inf)
            moved = nearby.newton_step(nearby.jacobian()) - linearised.newton_step(found)
            if not np.all(np.abs(moved - away) < 0.9 * away):
                raise linearised.error("has no derivative: the function is flat there, but for rounding errors")
        return found

    def finish(self, z, token):
        self.found = enter(self.alg, (None, token, None, None), unknowns, (z, self.scalar, self.n), {})
        self.token_of_value = self.also(self.value, len(self.objective()[0]))

    def also(self, function, count):
        """The token of a function of the minimum and the first ``count`` things that the objective depends on."""
        if self.found is None:
            return self.token_of_value
        (x, moving), (values, tokens) = self.found, self.objective()
        if self.alone is None:
            token = enter(self.alg, (None, moving, *tokens[:count]), function, (x, *values[:count]), {})[1]
        else:
            token = self.alg.node(Program(self, function, x, values[2:count]).back, (moving, *self.tokens_alone()))
        self.memory.uncount()
        return token

    def solve(self, x, converged):
        """The token of the minimum ``x``; that of the least value is then known, too."""
        self.token_of_value = self.found = None
        if not self.depends():
            return None
        try:
            z = self.begin(x)
        except NotDifferentiable as error:
            self.memory.uncount()
            self.token_of_value = self.alg.unknown(error)
            return self.token_of_value
        token = solution(self, z, converged, slack=CONVERGED)
        if self.alg.is_unknown(token):
            self.token_of_value = token
            return token
        return self.confirmed(z) if token is None else self.found[1]

    def confirmed(self, z):
        """The token of a minimum whose conditions depend on nothing: none, if they determine it."""
        try:
            self.hessian(Linearised(self, z, False, False, CONVERGED))
        except NotDifferentiable as error:
            self.token_of_value = self.alg.unknown(error)
            return self.token_of_value
        finally:
            self.memory.uncount()
        return None

    def depends(self):
        """Whether anything but the starting point may have a derivative."""
        given = [self.function, self.jac, *self.matter]
        return self.may_move([name for name in given if name in self.arguments])

    def begin(self, x):
        """The unknowns: x and the multipliers of the constraints that hold it."""
        self.n = np.size(x)
        x = float(x) if self.scalar else np.array(x, float)
        found = [*self.near_bounds(np.ravel(x)), *self.near_constraints(x)]
        if not found:
            return np.ravel(x)
        given, _ = self.objective()
        slope = self.differentiated(lambda x: self.slope(x, *given), x).value
        multipliers = pulling(slope, found)
        rows = {}
        for item, λ in zip(found, multipliers):
            if λ and item.row is None:
                self.held.append((item.place, item.side))
            elif λ:
                rows.setdefault((item.place, item.side), {})[item.row] = -λ if item.side else λ
        self.active = [(place, side, list(values)) for (place, side), values in rows.items()]
        return np.concatenate([np.ravel(x), *[list(values.values()) for values in rows.values()]])

    def near_bounds(self, x):
        for i in range(self.n if self.bounds is not None else 0):
            lower, upper = limit(self.bounds, self.box, i, 0), limit(self.bounds, self.box, i, 1)
            for side, bound in enumerate((lower, upper) if lower != upper else (lower,)):
                if bound is None or not np.isfinite(bound) or abs(x[i] - bound) > NEAR * (1.0 + abs(bound)):
                    continue
                normal = (1 - 2 * side) * np.eye(self.n)[i]
                yield Holding(normal, lower == upper, abs(x[i] - bound), i, side)

    def near_constraints(self, x):
        for place, constraint in enumerate(self.constraints):
            for side, equal in sides(constraint):
                session = self.differentiated(lambda x, c=constraint, side=side: residuals(x, c, side), x)
                equal = np.broadcast_to(equal, session.value.shape)
                near = np.abs(session.value) <= NEAR
                for row in np.flatnonzero(near & ~equal if side else near | equal):
                    seed = np.zeros_like(session.value)
                    seed[row] = 1.0 - 2.0 * side
                    yield Holding(session.back(seed)[0], equal[row], abs(session.value[row]), place, side, row)


def sides(constraint):
    """The sides that a constraint has, and on which rows they are the same; these count as lower ones."""
    if isinstance(constraint, dict):
        return [(0, constraint["type"] == "eq")]
    equal = np.equal(constraint.lb, constraint.ub)
    return [(0, equal), (1, equal)]


def pulling(slope, found):
    """The multipliers of what may hold a minimum; 0 where it does not."""
    required = np.array([item.required for item in found], bool)
    normals = np.array([item.normal for item in found]).T
    λ = optimize.lsq_linear(normals, slope, (np.where(required, -np.inf, 0.0), np.inf), tol=1e-12).x
    tiny = PULLING * (1.0 + np.max(np.abs(slope)))
    holds = λ > np.maximum(tiny, [item.distance for item in found])
    return np.where(required, np.where(λ == 0, tiny, λ), np.where(holds, λ, 0.0))
