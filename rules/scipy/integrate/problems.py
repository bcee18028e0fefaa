"""``solve_ivp``.

A call runs natively first, with a solver that keeps its steps. If only the start and what the right-hand side has may
have derivatives, and it leaves nothing behind, the states are one node, whose pullback goes back over these steps. Else
the source is followed, from what the right-hand side found at first. If that leaves nothing behind, steps run natively
there, and of each only the stages that were accepted are followed; so the times of the steps are taken as they are, but
for the first and the last.
"""

from functools import partial, reduce

import numpy as np
from scipy.integrate import solve_ivp
from scipy.integrate._ivp import base
from scipy.integrate._ivp.rk import rk_step

from autodiff_hook.algebras.searching import reaches
from autodiff_hook.algebras.shadows import keep, some
from autodiff_hook.runtime.cotangents import accumulate
from autodiff_hook.semantics.functions import enter
from autodiff_hook.semantics.meanings import means
from autodiff_rules.scipy._callbacks import Call
from autodiff_rules.scipy._captured import pulled_back
from autodiff_rules.scipy.integrate._ahead import by_panels, by_steps, pushing
from autodiff_rules.scipy.integrate._free_steps import Again, Resolved, are_wide
from autodiff_rules.scipy.integrate._panels import Path, flow, resolving
from autodiff_rules.scipy.integrate._recorded import RECORDED, Implicit, Taken
from autodiff_rules.scipy.integrate.explicit import STORES_NOTHING, Step, captured, of_shape, reads_alone
from autodiff_rules.scipy.integrate.lsoda import start_of
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
        recorded = None if self.may_move(("t_span", "t_eval")) else RECORDED.get(method)
        # The path of an implicit method is real.
        of_complex = recorded is not None and issubclass(recorded, Implicit) and np.iscomplexobj(given["y0"])
        return None if of_complex else recorded

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
        self.found, self.args, self.times = call.alone, call.extra(), times
        self.captured, self.taken = len(self.found.values), steps
        ends = np.array([steps[0].t_old, *(step.t for step in steps)])
        direction = np.sign(ends[-1] - ends[0])
        self.end = np.searchsorted(direction * ends, direction * times)
        self.inside = times != ends[self.end]
        self.steps = list(map(self.step, steps))
        self.parts = [self.parts_of(i, step) if step.P is None else None for i, step in enumerate(steps, 1)]
        self.first = float(ends[0]), steps[0].y_old, *self.args
        self.kept = None if reads_alone(self.found.function) else pulled_back(self.found, *self.first)

    def step(self, taken):
        return Step(self.found, self.args, taken, taken.t_old, taken.y_old, taken.t - taken.t_old)

    def parts_of(self, i, taken):
        """Shorter steps, to the times within one."""
        times = self.times[(self.end == i) & self.inside].tolist()
        return [self.step(shortened(self.found.again, self.args, taken, t)) for t in times]

    def __call__(self, cotangent):
        moving, slope, found = 0.0, None, []
        for i in range(len(self.steps), 0, -1):
            inside = (self.end == i) & self.inside
            if self.parts[i - 1] is None:
                old, slopes = between(self.taken[i - 1], self.times[inside], cotangent[inside])
            else:
                old, slopes = self.of_parts(i, cotangent[inside], found)
            moving, slope, *given = self.steps[i - 1]((self.at_end(i, cotangent) + moving, slope, slopes))
            moving = moving + old
            found.append(given)
        value, back = self.kept or pulled_back(self.found, *self.first)
        given = list(back(seeded(value, slope)))
        by_first = given.pop(self.captured + 1)
        del given[self.captured]
        found.append(given)
        moving = accumulate(moving + self.at_end(0, cotangent), by_first)
        return moving, *(reduce(accumulate, column) for column in zip(*found))

    def of_parts(self, i, cotangent, found):
        """The same as ``between``, by the pullbacks of shorter steps; what these give to all else goes to ``found``."""
        old, slopes = 0.0, np.zeros_like(self.taken[i - 1].K)
        for part, seed in zip(self.parts[i - 1], cotangent):
            moving, slope, *given = part((seed, None, None))
            old, slopes[0] = old + moving, slopes[0] + slope
            found.append(given)
        return old, slopes

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


def shortened(fun, args, step, t):
    """A step from the same start, as it would have been taken to an earlier time."""
    slopes = np.empty_like(step.K)
    at_start = step.t_old, step.y_old, step.K[0], t - step.t_old
    y, f = rk_step(lambda t, y: np.asarray(fun(t, y, *args)), *at_start, step.A, step.B, step.C, slopes)
    return step._replace(t=t, y=y, f=f, K=slopes)


def node(call, steps, times):
    """The token of the states at ``times``."""
    start, moving = start_of(call)
    tokens = (moving, *call.tokens_alone())
    if not some(tokens):
        return None
    if isinstance(steps[0], Taken):
        along = partial(Walk, call, times=times)
        walk = Resolved(call.name, along, steps, Again(call, call.alone.again)) if are_wide(steps) else along(steps)
    else:
        walk = flow(call, *path_of(call, start, steps), times, True)
    return call.alg.node(lambda cotangent: walk(cotangent.T), tokens)


def tangent_of(call, push, steps, times):
    """The tangent of the states at ``times``."""
    start, moving = start_of(call)
    if isinstance(steps[0], Taken):
        walk = by_steps(call, push, steps, times)
    else:
        walk = by_panels(call, push, *path_of(call, start, steps), times, True)
    return walk(np.zeros(len(start)) if moving is None else moving)[0].T


def path_of(call, start, steps):
    """The path of an implicit method, and between which times it has its panels."""
    fun, args, options = call.callback, call.extra(), call.arguments["options"]
    path = Path(call.arguments["t_span"][0], start, steps)
    tolerances = options.get("rtol", 1e-3), options.get("atol", 1e-6)
    return path, resolving(path, lambda time, y: fun(time, y, *args), *tolerances)


def has_node(call, value, steps):
    """Whether the steps are all that the states depend on."""
    return call.alone is not None and bool(steps) and isinstance(value.y, np.ndarray)


@means(base.check_arguments)
def check_arguments(alg, t, args, kwargs):
    """The right-hand side of a solver: stores of what it returns would broadcast a number, derivatives have a shape."""
    (checked, y0), token = enter(alg, (None, *t), base.check_arguments, args, kwargs)
    operands = captured(checked, "fun"), captured(checked, "dtype"), y0
    return enter(alg, (None, t[0], None, None if token is None else token[1]), of_states, operands, {})


def of_states(fun, dtype, y0):
    def checked(t, y):
        slope = np.asarray(fun(t, y), dtype=dtype)
        return slope if slope.shape == y.shape else of_shape(slope, y)

    return checked, y0


@means(solve_ivp)
def initial_value_problem(alg, t, args, kwargs):
    call = Problem(alg, solve_ivp, "fun", t, args, kwargs)
    if not some(t) and not reaches(alg, *args, *kwargs.values()):
        return solve_ivp(*args, **kwargs), None
    value, steps = call.record()
    if has_node(call, value, steps):
        keep(alg, value, "y", node(call, steps, value.t))
        return value, None
    push = pushing(call) if steps and isinstance(value.y, np.ndarray) else None
    if push is not None:
        keep(alg, value, "y", tangent_of(call, push, steps, value.t))
        return value, None
    call.memory.rewind()
    setting = STORES_NOTHING.set(not call.memory.changed)
    try:
        found = enter(alg, (None, *t), solve_ivp, args, kwargs)
    finally:
        STORES_NOTHING.reset(setting)
    call.memory.settle(call.callback)
    return found
