"""``LSODA`` and ``odeint``: native steps, each differentiated as a step of an implicit method at the same places."""

import numpy as np
from scipy import integrate
from scipy.integrate import LSODA, solve_ivp

from autodiff_hook import stop_gradient
from autodiff_hook.algebras.searching import reaches
from autodiff_hook.algebras.shadows import keep_attribute, load, load_attribute, some
from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.semantics.functions import enter
from autodiff_hook.semantics.meanings import means
from autodiff_rules.scipy._callbacks import Call
from autodiff_rules.scipy._captured import differentiable_alone
from autodiff_rules.scipy.integrate._ahead import by_panels, pushing
from autodiff_rules.scipy.integrate._collocation import Stages, between, moving_stages, radau
from autodiff_rules.scipy.integrate._panels import Path, flow, resolving
from autodiff_rules.scipy.integrate._recorded import RecordedLSODA
from autodiff_rules.scipy.integrate.explicit import STORES_NOTHING, captured, is_of, right_hand_side

_native_step, _native_dense = LSODA._step_impl, LSODA._dense_output_impl
SAME = 1e-3
"""How far what is differentiated may be from the values of ``odeint``, relative to the largest of them."""

SUCCESS = "Integration successful."
MATTER = ("func", "y0", "t", "args")


@means(LSODA._step_impl)
def step(alg, t, args, kwargs):
    solver = args[0]
    start, y = solver.t, solver.y
    names = ("fun", "t", "y")
    tokens = [load_attribute(alg, solver, name, getattr(solver, name)) for name in names]
    bound = load_attribute(alg, solver, "t_bound", solver.t_bound)
    value = _native_step(solver)
    if not value[0]:
        return value, None
    end = solver.t
    at_end = bound if end == solver.t_bound else None
    calls, solver.t_old = solver.nfev, start
    interpolant = _native_dense(solver)
    nodes, _ = radau((solver._lsoda_solver._integrator.iwork[13] + 3) // 2 + 1)
    stages = np.array([interpolant(start + node * (end - start)) for node in nodes])
    stages[-1] = solver.y
    moving = moving_step(alg, solver, (start, y, end, stages), (*tokens, at_end))
    solver.nfev = calls
    solver._stages = (start, y, end, stages)
    keep_attribute(alg, solver, "_stages", (tokens[1], tokens[2], at_end, moving))
    keep_attribute(alg, solver, "t", at_end)
    keep_attribute(alg, solver, "y", enter(alg, (None, moving), last, (stages,), {})[1])
    return value, None


def moving_step(alg, solver, operands, tokens):
    """The token of the stages of a step; ``tokens`` has those of the function, the start, y and the end."""
    start, y, end, stages = operands
    if STORES_NOTHING.get() and not some((tokens[1], tokens[3])):
        fun, args, token, tfirst = called_back(alg, solver)
        found = differentiable_alone(alg, fun, args)
        if found is not None:
            tokens = (tokens[2], *found.tokens, *([None] * len(args) if token is None else token))
            return alg.node(Stages(found, args, tfirst, start, end, stages), tokens) if some(tokens) else None
    return moving_stages(alg, solver.fun, start, y, end, stages, tokens)


def called_back(alg, solver):
    """The function that the user gave, further arguments with their token, and whether it takes the time first."""
    fun, args, token = right_hand_side(alg, solver)
    if not is_of(fun, followed):
        return fun, args, token, True
    cell = captured(fun, "args", whole=True)
    args = cell.cell_contents
    return captured(fun, "func"), args, load(alg, cell, 0, args), captured(fun, "tfirst")


def last(stages):
    return stages[-1]


@means(LSODA._dense_output_impl)
def dense_output(alg, t, args, kwargs):
    solver = args[0]
    value = _native_dense(solver)
    tokens = load_attribute(alg, solver, "_stages", solver._stages)
    if tokens is not None:
        order = value.yh.shape[1] - 1
        moving = enter(alg, (None, *tokens, None, None), nordsieck, (*solver._stages, value.h, order), {})[1]
        keep_attribute(alg, value, "yh", moving)
        keep_attribute(alg, value, "t", tokens[2])
        keep_attribute(alg, value, "t_old", tokens[0])
    return value, None


def nordsieck(start, y, end, stages, h, order):
    """Scaled derivatives at the end: those of the polynomial through the start and all stages.

    One of higher degree is replaced by the one that it meets at equally spaced points.
    """
    nodes, _ = radau(len(stages))
    coefficients = between(nodes) @ np.concatenate([y[None], stages])
    degree = min(order, len(stages))
    places = np.linspace(0.0, 1.0, degree + 1)
    values = places[:, None] ** np.arange(len(nodes) + 1) @ coefficients
    scaled = (places - 1.0) * ((end - start) / h)
    found = np.linalg.solve(scaled[:, None] ** np.arange(degree + 1), values)
    return np.concatenate([found, np.zeros((order - degree, len(y)))]).T


def starting(y0):
    return np.ravel(np.asarray(y0) * 1.0)


def start_of(call):
    """The first state, with its token."""
    return enter(call.alg, (None, call.tokens.get("y0")), starting, (call.arguments["y0"],), {})


def flow_token(call, found):
    """The token of what ``odeint`` has found; None if its steps are not found again."""
    times, tfirst = np.asarray(call.arguments["t"]) * 1.0, bool(call.arguments["tfirst"])
    start, moving = start_of(call)
    tokens = (moving, *call.tokens_alone(), call.tokens.get("t"))
    if not some(tokens):
        return None
    path = path_again(call, start, times, tfirst, found)
    if path is None:
        return None
    walk = flow(call, *path, times, tfirst)

    def pullback(cotangent):
        ȳ, *rest = walk(cotangent)
        return ȳ, *rest, None if tokens[-1] is None else of_times(call, times, tfirst, found, cotangent, ȳ)

    return call.alg.node(pullback, tokens)


def of_times(call, times, tfirst, states, cotangent, of_start):
    """The cotangents of the times, by the slopes there; ``of_start`` is that of the first state."""
    again, args = call.alone.again, call.extra()
    slopes = [again(t, y, *args) if tfirst else again(y, t, *args) for t, y in zip(times, states)]
    found = np.sum(cotangent * np.array(slopes), axis=1)
    found[0] -= np.sum(of_start * slopes[0])
    return found


def tangent_of(call, push, found):
    """The same in forward mode."""
    times, tfirst = np.asarray(call.arguments["t"]) * 1.0, bool(call.arguments["tfirst"])
    start, moving = start_of(call)
    found = path_again(call, start, times, tfirst, found)
    if found is None:
        return None
    return by_panels(call, push, *found, times, tfirst)(np.zeros(len(start)) if moving is None else moving)[0]


def path_again(call, start, times, tfirst, found):
    """The path of steps like those of ``odeint``, and between which times it has its panels; None if it is another."""
    func, args = call.callback, call.extra()

    def fun(time, y):
        return func(time, y, *args) if tfirst else func(y, time, *args)

    steps, options = [], options_of(call.arguments)
    solver = RecordedLSODA(fun, times[0], start, times[-1], steps=steps, **options)
    while solver.status == "running":
        solver.step()
    path = None if solver.status == "failed" else Path(times[0], start, steps)
    if path is None or not agree(path.at(times), found):
        return None
    return path, resolving(path, fun, options["rtol"], options["atol"])


def agree(again, found):
    return np.allclose(again, found, SAME, SAME * np.max(np.abs(found), initial=0.0))


def followed(func, y0, t, args, tfirst, times_move, options):
    """``odeint`` by ``solve_ivp``, which gives each time once."""

    def fun(time, y):
        return func(time, y, *args) if tfirst else func(y, time, *args)

    times, start = np.asarray(t) * 1.0, np.ravel(np.asarray(y0) * 1.0)
    places = stop_gradient(times)
    new = np.concatenate([[True], places[1:] != places[:-1]])
    index = np.cumsum(new) - 1
    if index[-1] == 0:
        states = np.stack([start for _ in times])
    else:
        found = solve_ivp(fun, (times[0], places[-1]), start, "LSODA", t_eval=places[new], **options)
        if not found.success:
            return None
        states = np.concatenate([start[None], found.y.T[1:]])[index]
    if not times_move:
        return states
    shifts = times - places
    shifts = shifts - np.where(index == 0, shifts[0], 0.0)
    return np.stack([flowed(fun, *row) for row in zip(places, states, shifts)])


def flowed(fun, time, y, h):
    """The state after a time of 0: four stages of Runge and Kutta, whose derivatives by ``h`` are those of the flow."""
    a = fun(time, y)
    b = fun(time + h / 2, y + h / 2 * a)
    c = fun(time + h / 2, y + h / 2 * b)
    d = fun(time + h, y + h * c)
    return y + h / 6 * (a + 2 * b + 2 * c + d)


def options_of(arguments):
    """The options of ``odeint`` by their names in ``solve_ivp``; its tolerances are 1.49012e-8 if none are given."""
    found = {name: 1.49012e-8 if arguments[name] is None else arguments[name] for name in ("rtol", "atol")}
    given = {"first_step": "h0", "max_step": "hmax", "min_step": "hmin"}
    return found | {name: arguments[other] for name, other in given.items() if arguments[other]}


@means(integrate.odeint)
def odeint(alg, t, args, kwargs):
    call = Call(alg, integrate.odeint, "func", t, args, kwargs)
    full, call.arguments["full_output"] = call.arguments["full_output"], True
    found, info = call.run()
    value = (found, info) if full else found
    if not call.may_move(MATTER):
        return value, None
    token = token_of(call, found) if info["message"] == SUCCESS else None
    if token is None:
        what = f"{call.name} did not come to the end, or has options that are not known"
        token = alg.unknown(NotDifferentiable(what))
    return value, (token, None) if full else token


def token_of(call, found):
    """The token of what ``odeint`` has found; None if it is not found again."""
    times = call.arguments["t"]
    moves = reaches(call.alg, times) or times[0] == times[-1]
    still = call.tokens.get("t") is None and not moves
    if not moves and (still or type(times) is np.ndarray) and call.alone is not None:
        return flow_token(call, found)
    push = pushing(call) if still else None
    tangent = None if push is None else tangent_of(call, push, found)
    return followed_token(call, found) if tangent is None else tangent


def followed_token(call, found):
    """The token of what ``odeint`` has found; None if it is not found again."""
    call.memory.rewind()
    extra, token = call.extra(), call.tokens.get("args")
    given = [call.tokens.get(name) for name in MATTER[:3]]
    times_move = given[2] is not None or reaches(call.alg, call.arguments["t"])
    operands = (
        call.callback,
        call.arguments["y0"],
        call.arguments["t"],
        extra,
        bool(call.arguments["tfirst"]),
        times_move,
    )
    tokens = (None, *given, token, None, None, None)
    again, moving = enter(call.alg, tokens, followed, (*operands, options_of(call.arguments)), {})
    call.memory.settle(call.callback)
    return moving if again is not None and agree(again, found) else None
