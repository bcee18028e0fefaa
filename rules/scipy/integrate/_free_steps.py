"""Explicit steps that no error has kept short: a solver takes wide ones where the states hardly move, though their
derivatives may. So the derivatives by these steps are compared with those by shorter ones, until they agree."""

import numpy as np

from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.tangent import Tangent
from autodiff_rules.scipy.integrate._recorded import RECORDED

WIDE = 0.05
"""From which part of a time span on a step is wide."""

MOST = 20_000
"""How many steps there may be at most."""

NEAR, SMALL = 1e-3, 1e-7
"""How near cotangents are to those by wider steps: to the largest of their own, and of all."""

TOO_WIDE = "the derivatives of the states move faster than its steps; a smaller max_step (odeint: hmax) resolves them"


def are_wide(steps):
    """Whether a step is wide that could have been wider still, for all that the solver has seen of its error."""
    span = abs(steps[-1].t - steps[0].t_old)
    return any(step.free and abs(step.t - step.t_old) > WIDE * span for step in steps)


def are_close(others, found):
    """Whether wider steps give cotangents that are so near that those of narrower ones, of high order, are right."""
    pairs = list(pairs_in(others, found))
    largest = max((np.max(np.abs(b), initial=0.0) for _, b in pairs), default=0.0)
    return all(np.all(np.abs(a - b) <= NEAR * np.max(np.abs(b), initial=0.0) + SMALL * largest) for a, b in pairs)


def pairs_in(others, found):
    """The numbers and arrays in two cotangents."""
    if isinstance(found, Tangent):
        others, found = others and others._fields, found._fields
    if isinstance(found, dict):
        for key, part in found.items():
            yield from pairs_in(others and others.get(key), part)
    elif isinstance(found, (tuple, list)):
        for other, part in zip(others or [None] * len(found), found):
            yield from pairs_in(other, part)
    elif found is not None:
        yield np.asarray(0.0 if others is None else others), np.asarray(found)


class Resolved:
    """The pullback of states over steps that are made shorter until the cotangents agree; these are kept.

    Or their pushforward, and the tangents. ``along`` makes it over some steps, ``shorter`` other steps of half the
    length; ``wider`` are steps to compare the first ones with.
    """

    def __init__(self, name, along, steps, shorter, wider=None):
        self.name, self.along, self.shorter = name, along, shorter
        self.found = steps, along(steps), None if wider is None else along(wider)

    def __call__(self, cotangent):
        steps, along, rough = self.found
        value, other = along(cotangent), None if rough is None else rough(cotangent)
        while other is None or not are_close(other, value):
            if len(steps) > MOST:
                raise NotDifferentiable(f"{self.name}: {TOO_WIDE}")
            steps = self.shorter(steps)
            rough, along = along, self.along(steps)
            value, other = along(cotangent), value
        self.found = steps, along, rough
        return value


class Again:
    """Steps of a solver from the same start to the same end, none of them longer than half of the longest before."""

    def __init__(self, call, fun):
        self.fun, self.args = fun, call.extra()
        self.method, options = RECORDED[call.arguments["method"]], call.arguments["options"]
        self.options = {name: x for name, x in options.items() if name in ("rtol", "atol")}

    def __call__(self, taken):
        longest, steps = max(abs(step.t - step.t_old) for step in taken) / 2.0, []

        def fun(time, y):
            return np.asarray(self.fun(time, y, *self.args))

        bounds = taken[0].t_old, taken[0].y_old, taken[-1].t
        solver = self.method(fun, *bounds, steps=steps, max_step=longest, **self.options)
        while solver.status == "running":
            solver.step()
        return steps
