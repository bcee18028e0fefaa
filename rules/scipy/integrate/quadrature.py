"""``scipy.integrate.quad``: the integral of the derivative of the integrand, and the integrand at the limits.

The integral is computed natively. Its derivative is that of a sum over fixed nodes, at which the integrand is followed;
they are those of an adaptive rule. ``dblquad``, ``tplquad`` and ``nquad`` are followed, down to ``quad``.
"""

import numpy as np
from scipy import integrate

from autodiff_hook import tree_map
from autodiff_hook.algebras.searching import reaches
from autodiff_hook.algebras.shadows import some
from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.semantics.functions import enter
from autodiff_hook.semantics.meanings import means
from autodiff_rules.scipy._callbacks import Call, Program
from autodiff_rules.scipy._captured import number_of
from autodiff_rules.scipy.integrate._nodes import check, resolving

MATTER = ("func", "a", "b", "args", "wvar")


def integrand(f, x, args, weight, wvar):
    y = f(x, *args)
    y = number_of(y)
    if weight == "cos":
        return y * np.cos(wvar * x)
    return y * np.sin(wvar * x) if weight == "sin" else y


def beyond(f, at, args, weight, wvar, limit, nodes, weights):
    """The integral from ``at`` to a limit which is there, too, but has derivatives."""
    step = limit - at
    total = 0.0
    for node, factor in zip(nodes, weights):
        total += factor * integrand(f, at + node * step, args, weight, wvar)
    return total * step


def weighted_sum(f, args, weight, wvar, nodes, weights, limits, moving, rule):
    """The integral as a function of what the integrand has captured, and of those limits that are ``moving``."""
    total = 0.0
    for x, factor in zip(nodes, weights):
        total += factor * integrand(f, x, args, weight, wvar)
    a, b = limits
    if moving[0] is not None:
        total -= beyond(f, moving[0], args, weight, wvar, a, *rule)
    if moving[1] is not None:
        total += beyond(f, moving[1], args, weight, wvar, b, *rule)
    return total


def total_of(nodes, f, args, weights):
    """The sum of what an integrand gives at the nodes, times weights."""
    total = 0.0
    for node, weight in zip(nodes, weights):
        total += weight * number_of(f(node, *args))
    return total


class Integral(Call):
    """A call of ``quad``."""

    def token_of(self, value, error):
        self.memory.rewind()
        try:
            self.refuse()
            nodes, weights = self.nodes()
            if self.memory.changed:
                self.memory.undo()
        except NotDifferentiable as reason:
            self.memory.settle(self.callback)
            return self.alg.unknown(reason)
        found, token = self.sum_alone(nodes, weights) or self.sum(nodes, weights)
        self.memory.settle(self.callback)
        try:
            check(found, value, error, self.name)
        except NotDifferentiable as reason:
            return self.alg.unknown(reason)
        return token

    def refuse(self):
        if not callable(self.callback):
            raise NotDifferentiable(f"{self.name} of native code is not differentiated")
        weight = self.arguments["weight"]
        points = self.arguments["points"]
        if points is not None and (self.tokens.get("points") is not None or reaches(self.alg, points)):
            raise NotDifferentiable(
                f"{self.name} with points that depend on what is differentiated: split the integral"
            )
        infinite = np.isinf(self.arguments["a"]) or np.isinf(self.arguments["b"])
        if weight not in (None, "cos", "sin") or weight is not None and infinite:
            where = " and infinite limits" if infinite else ""
            raise NotDifferentiable(f"{self.name} with the weight {weight!r}{where} is not differentiated")

    def sum_alone(self, nodes, weights):
        """The integral and its token, by one program of all nodes; None if the integrand may not be taken alone."""
        if self.alone is None or self.arguments["weight"] is not None:
            return None
        args, limits = self.extra(), [(self.arguments[name], self.tokens.get(name)) for name in ("a", "b")]
        if any(token is not None and not np.isfinite(limit) for limit, token in limits):
            return None
        program = Program(self, total_of, nodes, (weights,))
        ends = [
            None if token is None else sign * number_of(self.callback(limit, *args))
            for sign, (limit, token) in zip((-1, 1), limits)
        ]
        slopes = [*program.back(1.0)[1:], *ends]

        def pullback(c):
            return tuple([tree_map(lambda slope: c * slope, slope) for slope in slopes])

        return program.value, self.alg.node(pullback, (*self.tokens_alone(), *(token for _, token in limits)))

    def sum(self, nodes, weights):
        """The integral and its token, at these nodes."""
        a, b = self.arguments["a"], self.arguments["b"]
        # What can be integrated up to infinity is 0 there: such a limit has no derivative.
        token_of_limits = tuple([self.tokens.get(n) if np.isfinite(self.arguments[n]) else None for n in ("a", "b")])
        moving = tuple([None if token is None else limit + 0.0 for limit, token in zip((a, b), token_of_limits)])
        given, weighting = self.extra(), (self.arguments["weight"], self.arguments["wvar"])
        token_of_args = self.tokens.get("args")
        points, factors = np.polynomial.legendre.leggauss((self.alg.depth + 2) // 2)
        rule = list((points + 1.0) / 2.0), list(factors / 2.0)
        tokens = (self.tokens.get("func"), token_of_args, None, self.tokens.get("wvar"), None, None)
        tokens = (None, *tokens, token_of_limits if some(token_of_limits) else None, None, None)
        operands = (self.callback, given, *weighting, nodes, weights, (a, b), moving, rule)
        return enter(self.alg, tokens, weighted_sum, operands, {})

    def nodes(self):
        """Nodes and weights that resolve the integrand."""
        a, b, points, weight, wvar = (self.arguments[name] for name in ("a", "b", "points", "weight", "wvar"))
        f, args = self.callback, self.extra()
        return resolving(lambda x: integrand(f, x, args, weight, wvar), a, b, points, self.name, self.alg.depth)


@means(integrate.quad)
def quad(alg, t, args, kwargs):
    call = Integral(alg, integrate.quad, "func", t, args, kwargs)
    if call.arguments["complex_func"]:
        return enter(alg, (None, *t), integrate.quad, args, kwargs)
    value = call.run()
    if not call.may_move(MATTER):
        return value, None
    what = alg.unknown(NotDifferentiable(f"the error estimate of {call.name} is not differentiated"))
    return value, (call.token_of(*value[:2]), what, *[None] * (len(value) - 2))
