"""Forward mode: the tangents of states, along the steps that a solver has taken."""

from functools import partial

import numpy as np

from autodiff_hook import jvp
from autodiff_hook.algebras.tangents import Tangents
from autodiff_hook.runtime.mirror import form_of, parts_of
from autodiff_hook.semantics.opaque import first_lost
from autodiff_hook.tangent import Tangent
from autodiff_rules.scipy._captured import alone_forwards
from autodiff_rules.scipy.integrate._collocation import of_gap
from autodiff_rules.scipy.integrate._free_steps import Again, Resolved, are_wide
from autodiff_rules.scipy.integrate._panels import Panels, resolved, slopes_of


def pushing(call):
    """The pushforward of functions of a state that are given the right-hand side; None if it has no program alone."""
    alg = call.alg
    if type(alg) is not Tangents or alg.over is not None or call.memory.changed:
        return None
    found = alone_forwards(alg, call.callback, call.extra())
    taken = None if found is None else found.taken()
    further = call.tokens.get("args")
    if taken is None or first_lost(alg, (found.tokens, further)) is not None:
        return None
    captured = tuple(map(tangent_like, found.values, found.tokens))

    def push(function, x, ẋ, moving, *others):
        """The tangent of ``function(x, fun, args, *others)``: by x, and if these are ``moving`` by all else."""
        given = (*captured, further) if moving else (None,) * (len(captured) + 1)
        primals = function, x, *found.values, call.extra(), *others
        return jvp(taken, primals, (None, ẋ, *given, *[None] * len(others)))[1]

    return push


def tangent_like(value, token):
    """The tangent of what a function has captured, in the form of its value."""
    form = form_of(value)
    if token is None or form not in ("list", "tuple", "dict", "object"):
        return token
    parts = {key: tangent_like(part, token[key]) for key, part in parts_of(value, form)}
    if form in ("list", "tuple"):
        return (list if form == "list" else tuple)(parts.values())
    return Tangent(type(value).__name__, parts) if form == "object" else parts


def along(y, fun, args, ends, rows, places, counts, weights):
    """States at times within explicit steps: ``counts`` of them in each, with the weights of the slopes there."""
    slopes, found, first = np.zeros((len(rows) + 1, len(y))), np.zeros((len(weights), len(y))), 0
    slopes[0] = fun(ends[0], y, *args)
    for i in range(len(counts)):
        h, start = ends[i + 1] - ends[i], y
        for j in range(len(rows)):
            y = start + h * (rows[j] @ slopes)
            slopes[j + 1] = fun(ends[i] + places[j] * h, y, *args)
        last = first + counts[i]
        found[first:last] = start + h * (weights[first:last] @ slopes)
        slopes[0], first = slopes[-1], last
    return found


def layout(steps, times):
    """What ``along`` is given to take these steps again; in parts, if their slopes do not say what is within them."""
    first, stages = steps[0], len(steps[0].B)
    rows = np.zeros((stages, stages + 1))
    rows[-1, :-1] = first.B
    for i in range(1, stages):
        rows[i - 1, :i] = first.A[i, :i]
    ends = np.array([first.t_old, *(step.t for step in steps)])
    direction = np.sign(ends[-1] - ends[0])
    if first.P is None:
        ends = direction * np.unique(direction * np.concatenate([ends, times]))
    end = np.searchsorted(direction * ends, direction * times)
    weights = np.zeros((len(times), stages + 1))
    for weight, i, time in zip(weights, end, times):
        if time != ends[i]:
            place = (time - ends[i - 1]) / (ends[i] - ends[i - 1])
            weight[:] = first.P @ place ** np.arange(1, first.P.shape[1] + 1)
        elif i:
            weight[:-1] = first.B
    counts = np.bincount(np.maximum(end - 1, 0), minlength=len(ends) - 1)
    return ends.tolist(), rows, [*first.C[1:stages].tolist(), 1.0], counts.tolist(), weights


def by_steps(call, push, steps, times):
    """The pushforward of states at ``times`` over explicit steps."""

    def over(steps):
        return lambda tangent: (push(along, steps[0].y_old, tangent, True, *layout(steps, times)),)

    return Resolved(call.name, over, steps, Again(call, call.callback)) if are_wide(steps) else over(steps)


def by_panels(call, push, path, bounds, times, tfirst):
    """The same along the path of an implicit method, by panels between ``bounds``, as ``flow``."""
    return resolved(call, partial(over_panels, push, path, times, tfirst), bounds)


def over_panels(push, path, times, tfirst, bounds):
    panels = Panels(path, bounds[:-1], bounds[1:])
    panel, weights = panels.outputs(times)
    shape = panels.stages.shape
    states, at = panels.stages.reshape(-1, shape[2]), panels.times.ravel().tolist()

    def slopes(tangent, moving):
        return push(slopes_of, states.copy(), np.zeros_like(states) + tangent, moving, at, tfirst).reshape(shape)

    def pushed(tangent):
        jacobians, moved = np.stack([slopes(row, False) for row in np.eye(shape[2])], axis=-1), slopes(0.0, True)
        found = np.empty((len(jacobians), shape[1] + 1, shape[2]))
        for i, length in enumerate(panels.lengths):
            inner = length * panels.matrix
            gap = np.linalg.solve(of_gap(jacobians[i], inner), np.ravel(tangent + inner @ moved[i]))
            found[i, 0], found[i, 1:] = tangent, gap.reshape(shape[1:])
            tangent = found[i, -1]
        return (np.einsum("tj,tjn->tn", weights, found[panel]),)

    return pushed
