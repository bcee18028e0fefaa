"""``solve_ivp``.

A call runs natively first, with a solver that keeps its steps. If only the start and what the right-hand side has may
have derivatives, and it leaves nothing behind, the states are one node, whose pullback goes back over these steps. Else
the source is followed, from what the right-hand side found at first. If that leaves nothing behind, steps run natively
there, and of each only the stages that were accepted are followed; so the times of the steps are taken as they are, but
for the first and the last.
"""

from functools import reduce

import numpy as np
from scipy.integrate import solve_ivp

from autodiff_hook import pullback
from autodiff_hook.algebras.shadows import keep, reaches, some
from autodiff_hook.semantics.functions import enter
from autodiff_hook.semantics.meanings import means
from autodiff_rules.scipy._callbacks import Call
from autodiff_rules.scipy.integrate._collocation import added
from autodiff_rules.scipy.integrate._panels import Flow, Path, resolving
from autodiff_rules.scipy.integrate._recorded import RECORDED, Taken
from autodiff_rules.scipy.integrate.explicit import STORES_NOTHING, Step, reads_alone
from autodiff_rules.scipy.integrate.lsoda import starting
from autodiff_rules.scipy.optimize.implicit import seeded


class Problem(Call):
    """A call of ``solve_ivp``."""

    def extra(self):
        return self.arguments["args"] or ()

    def recording(self):
        """The method that keeps its steps, if the states may be one node; else None."""
        given = self.arguments
        method = given["method"]
        if given["dense_output"] or given["vectorized"] or given["events"] is not None:
            return None
        return None if self.may_move(("t_span", "t_eval")) else RECORDED.get(method)

    def record(self):
        """The value of the call, and the steps of its solver, if they are to be kept."""
        steps, given, method = [], dict(self.arguments), self.recording()
        options = self.arguments.setdefault("options", {})
        if method is not None:
            self.arguments.update(method=method, options=options | {"steps": steps})
        value = self.run()
        self.arguments.update(given)
        return value, steps


class Walk:
    """The pullback of states at ``times`` over steps of an explicit method: by the first state, and by all else."""

    def __init__(self, call, steps, times):
        found, args = call.alone, call.extra()
        self.captured, self.taken, self.times = len(found.values), steps, times
        self.steps = [Step(found, args, step, step.t_old, step.y_old, step.t - step.t_old) for step in steps]
        ends = np.array([steps[0].t_old, *(step.t for step in steps)])
        direction = np.sign(ends[-1] - ends[0])
        self.end = np.searchsorted(direction * ends, direction * times)
        self.inside = times != ends[self.end]
        self.first = found.function, *found.values, float(ends[0]), steps[0].y_old, *args
        self.kept = None if reads_alone(found.function) else pullback(*self.first)

    def __call__(self, cotangent):
        moving, slope, found = self.at_end(0, cotangent), None, []
        for i in range(len(self.steps), 0, -1):
            inside = (self.end == i) & self.inside
            old, slopes = between(self.taken[i - 1], self.times[inside], cotangent[inside])
            new = self.at_end(i, cotangent) + (moving if i < len(self.steps) else 0.0)
            moving, slope, *given = self.steps[i - 1]((new, slope, slopes))
            moving = moving + old
            found.append(given)
        value, back = self.kept or pullback(*self.first)
        given = list(back(seeded(value, slope)))
        by_first = given.pop(self.captured + 1)
        del given[self.captured]
        found.append(given)
        moving = added(moving + self.at_end(0, cotangent), by_first)
        return moving, *(reduce(added, column) for column in zip(*found))

    def at_end(self, i, cotangent):
        """The cotangent of what comes out where a step ends."""
        return cotangent[(self.end == i) & ~self.inside].sum(axis=0)


def between(step, times, cotangent):
    """The cotangents of the state before a step, and of its slopes, for those of the states at times within it."""
    if not len(times):
        return 0.0, None
    h = step.t - step.t_old
    powers = ((times - step.t_old) / h)[:, None] ** np.arange(1, step.P.shape[1] + 1)
    return cotangent.sum(axis=0), h * (step.P @ powers.T @ cotangent)


def node(call, steps, times):
    """The token of the states at ``times``; False if they are to be followed."""
    start, moving = enter(call.alg, (None, call.tokens.get("y0")), starting, (call.arguments["y0"],), {})
    tokens = (moving, *call.tokens_alone())
    if not some(tokens):
        return None
    if isinstance(steps[0], Taken):
        walk = Walk(call, steps, times)
    else:
        fun, args, options = call.callback, call.extra(), call.arguments["options"]
        tolerances = options.get("rtol", 1e-3), options.get("atol", 1e-6)
        path = Path(call.arguments["t_span"][0], start, steps)
        walk = Flow(call, resolving(path, lambda time, y: fun(time, y, *args), *tolerances), times, True)
    return call.alg.node(lambda cotangent: walk(cotangent.T), tokens)


def has_node(call, value, steps):
    """Whether the steps are all that the states depend on."""
    if call.alone is None or not steps or not isinstance(value.y, np.ndarray):
        return False
    ends = [steps[0].t_old, *(step.t for step in steps)]
    return not isinstance(steps[0], Taken) or steps[0].P is not None or bool(np.all(np.isin(value.t, ends)))


@means(solve_ivp)
def initial_value_problem(alg, t, args, kwargs):
    call = Problem(alg, solve_ivp, "fun", t, args, kwargs)
    if not some(t) and not reaches(alg, *args, *kwargs.values()):
        return solve_ivp(*args, **kwargs), None
    value, steps = call.record()
    if has_node(call, value, steps):
        keep(alg, value, "y", node(call, steps, value.t))
        return value, None
    call.memory.rewind()
    setting = STORES_NOTHING.set(not call.memory.changed)
    try:
        found = enter(alg, (None, *t), solve_ivp, args, kwargs)
    finally:
        STORES_NOTHING.reset(setting)
    call.memory.settle(call.callback)
    return found
