"""Explicit steps that no error has kept short: a solver takes wide ones where the states hardly move, though their
derivatives may. So the derivatives by these steps are compared with those by shorter ones, until they agree."""

import numpy as np

from autodiff_hook.errors import NotDifferentiable
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
    pairs = [(np.asarray(a), np.asarray(b)) for a, b in zip(others, found) if b is not None]
    largest = max((np.max(np.abs(b), initial=0.0) for _, b in pairs), default=0.0)
    return all(np.all(np.abs(a - b) <= NEAR * np.max(np.abs(b), initial=0.0) + SMALL * largest) for a, b in pairs)


class Shortened:
    """The pullback of states over steps of an explicit method, which are halved until the cotangents agree.

    ``walk`` makes the pullback over some steps.
    """

    def __init__(self, call, steps, walk):
        self.name, self.steps, self.walk = call.name, steps, walk
        self.fun, self.args = call.alone.native, call.extra()
        self.method, options = RECORDED[call.arguments["method"]], call.arguments["options"]
        self.options = {name: x for name, x in options.items() if name in ("rtol", "atol")}
        self.rough = walk(steps)

    def __call__(self, cotangent):
        others, found, steps = None, self.rough(cotangent), self.steps
        longest = max(abs(step.t - step.t_old) for step in steps)
        while others is None or not are_close(others, found):
            if len(steps) > MOST:
                raise NotDifferentiable(f"{self.name}: {TOO_WIDE}")
            longest /= 2.0
            steps = self.shorter(longest)
            others, found = found, self.walk(steps)(cotangent)
        return found

    def shorter(self, longest):
        """Steps over the same time that are no longer."""
        first, steps = self.steps[0], []

        def fun(time, y):
            return np.asarray(self.fun(time, y, *self.args))

        bounds = first.t_old, first.y_old, self.steps[-1].t
        solver = self.method(fun, *bounds, steps=steps, max_step=longest, **self.options)
        while solver.status == "running":
            solver.step()
        return steps
