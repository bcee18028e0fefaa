"""Steps of explicit methods of Runge and Kutta."""

from contextvars import ContextVar
from types import BuiltinFunctionType, CodeType, ModuleType

import numpy as np
from scipy.integrate import DOP853, RK45, solve_ivp

from autodiff_hook.algebras.shadows import keep_attribute, load, load_attribute, some
from autodiff_hook.errors import Unsupported
from autodiff_hook.extend import cotangents
from autodiff_hook.runtime.cotangents import accumulate
from autodiff_hook.semantics.functions import enter
from autodiff_hook.semantics.meanings import means
from autodiff_rules.scipy._captured import differentiable_alone, pulled_back
from autodiff_rules.scipy.optimize.implicit import seeded

RungeKutta = RK45.__base__
_native_step = RungeKutta._step_impl

CHANGED = (
    "the right-hand side of solve_ivp gives something else where it is differentiated than where it was solved: it "
    "draws random numbers, or an array that it reads has been changed since; give it a copy of that array"
)

STORES_NOTHING = ContextVar("STORES_NOTHING", default=False)
"""Whether the right-hand side is known to leave nothing behind but what it returns."""


def combination(y, weights, *slopes):
    return y + np.asarray(weights) @ np.stack(slopes)


cotangents(
    combination,
    "y, weights, *slopes",
    ((),),
    y=lambda ȳ: ȳ,
    slopes=lambda ȳ, weights: [ȳ * weight for weight in weights],
)


def called(fun, time, y, *args):
    return of_shape(np.asarray(fun(time, y, *args)), y)


def of_shape(slope, y):
    """A slope with the shape of the state: a number is that of all of it, as it is where it is stored."""
    return slope if slope.shape == y.shape else slope + np.zeros_like(y)


def reads_alone(function):
    """Whether a function reads nothing but what it is given, and modules: it does the same whenever it is called."""
    names, pending = set(), [function.__code__]
    while pending:
        code = pending.pop()
        names.update(code.co_names)
        pending += [const for const in code.co_consts if isinstance(const, CodeType)]
    read = [function.__globals__[name] for name in names if name in function.__globals__]
    return not function.__closure__ and all(isinstance(x, ModuleType | BuiltinFunctionType | np.ufunc) for x in read)


class Step:
    """A step whose stages are differentiated one by one: the call, and the pullback of its node.

    The pullbacks of the stages are made when a cotangent comes, so that only one step at a time has some, if the
    right-hand side does the same then. A second cotangent finds them kept.
    """

    __slots__ = ("args", "asked", "found", "h", "kept", "start", "tableau", "value", "y")

    def __init__(self, found, args, solver, start, y, h):
        self.found, self.args, self.start, self.y, self.h = found, args, start, y, h
        self.tableau = solver.A, solver.B, solver.C
        self.value = solver.y, solver.f, solver.K
        self.asked = False
        self.kept = None if reads_alone(found.function) else self.stages()

    def rows(self):
        """The weights of the stages and of the new y."""
        a, b, _ = self.tableau
        return [*(a[i, :i] for i in range(1, len(b))), b]

    def stages(self):
        """The values and the pullbacks of the stages, as the solver has called the right-hand side."""
        slopes, made, times = self.value[2], [], [*self.tableau[2][1:], 1.0]
        for i, (place, weights) in enumerate(zip(times, self.rows()), 1):
            at, time = self.y + np.dot(slopes[:i].T, weights) * self.h, float(self.start + place * self.h)
            made.append(pulled_back(self.found, time, at, *self.args))
        if np.array([value for value, _ in made], slopes.dtype).tobytes() != slopes[1:].tobytes():
            raise Unsupported(CHANGED)
        return made

    def __call__(self, cotangent):
        stages = self.kept or self.stages()
        if self.asked:
            self.kept = stages
        self.asked = True
        new, last, slopes = cotangent
        shape, dtype = self.value[2].shape, self.value[2].dtype
        captured, rows = len(self.found.values), self.rows()
        ȳ, ā = np.zeros(shape[1], dtype), [None] * (captured + len(self.args))
        slopes = np.zeros(shape, dtype) if slopes is None else np.array(slopes)
        slopes[-1] += 0.0 if last is None else last
        for i in range(len(stages) - 1, -1, -1):
            value, back = stages[i]
            given = list(back(seeded(value, slopes[i + 1])))
            at = given.pop(captured + 1)
            del given[captured]
            if i == len(stages) - 1 and new is not None:
                at = at + new
            ȳ += at
            slopes[: i + 1] += self.h * rows[i][:, None] * at
            ā = list(map(accumulate, ā, given))
        return ȳ, slopes[0], *ā


def accepted(fun, args, times, y, f, rows):
    """The new y, the slope there, and all slopes of a step; ``rows`` has the weights of the stages and of the new y."""
    slopes = [f]
    for time, weights in zip(times, rows):
        at = combination(y, weights, *slopes)
        slopes.append(called(fun, time, at, *args))
    return at, slopes[-1], np.stack(slopes)


def accepted_between(fun, args, start, end, y, f, tableau):
    """The same for a step whose ends have derivatives."""
    h = end - start
    slopes = [f]
    for weights, place in tableau:
        at = y + h * (np.asarray(weights) @ np.stack(slopes))
        slopes.append(called(fun, start + place * h, at, *args))
    return at, slopes[-1], np.stack(slopes)


def right_hand_side(alg, solver):
    """The function that a solver was made for, and further arguments, with the tokens of these."""
    fun, args = captured(solver._fun, "fun"), None
    if is_of(fun, solve_ivp):
        cell = captured(fun, "args", whole=True)
        fun, args = fun.__defaults__[0], cell.cell_contents
        return fun, tuple(args), load(alg, cell, 0, args) if type(args) is tuple else None
    return (solver.fun, (), None) if fun is None else (fun, (), None)


def is_of(function, maker):
    """Whether another function has made a function."""
    code = getattr(function, "__code__", None)
    return code is not None and code in maker.__code__.co_consts


def captured(function, name, whole=False):
    """A variable that a function has captured, or its cell."""
    names = function.__code__.co_freevars
    cell = function.__closure__[names.index(name)] if name in names else None
    return cell if whole or cell is None else cell.cell_contents


@means(_native_step)
def step(alg, t, args, kwargs):
    if not STORES_NOTHING.get():
        return enter(alg, (None, *t), _native_step, args, kwargs)
    solver = args[0]
    start, y, f = solver.t, solver.y, solver.f
    tokens = [load_attribute(alg, solver, name, getattr(solver, name)) for name in ("t", "y", "f")]
    bound = load_attribute(alg, solver, "t_bound", solver.t_bound)
    use_fresh_slopes(solver)
    value = _native_step(solver)
    if not value[0]:
        return value, None
    end, calls = solver.t, solver.nfev
    at_end = bound if end == solver.t_bound else None
    moving = moving_step(alg, solver, (start, end), (tokens[0], at_end), (y, f), tokens[1:]) or (None, None, None)
    solver.nfev = calls
    found = {"t": at_end, "y": moving[0], "f": moving[1], "y_old": tokens[1], "h_abs": None}
    found["h_previous"] = enter(alg, (None, at_end, tokens[0]), difference, (end, start), {})[1]
    for name, token in found.items():
        keep_attribute(alg, solver, name, token)
    keep_slopes(alg, solver, moving[2])
    return value, None


def moving_step(alg, solver, ends, moving_ends, state, moving_state):
    fun, args, token = right_hand_side(alg, solver)
    tableau = [(solver.A[i, :i].tolist(), solver.C[i]) for i in range(1, solver.n_stages)] + [(solver.B.tolist(), 1.0)]
    if some(moving_ends):
        tokens = (None, None, token, *moving_ends, *moving_state, None)
        return enter(alg, tokens, accepted_between, (fun, args, *ends, *state, tableau), {})[1]
    h = ends[1] - ends[0]
    found = differentiable_alone(alg, fun, args)
    if found is not None:
        tokens = (*moving_state, *found.tokens, *([None] * len(args) if token is None else token))
        if not some(tokens):
            return None
        made = Step(found, args, solver, ends[0], state[0], h)
        return alg.spread(made.value, alg.node(made, tokens))
    times = [float(ends[0] + place * h) for _, place in tableau]
    rows = [tuple([h * weight for weight in weights]) for weights, _ in tableau]
    return enter(alg, (None, None, token, None, *moving_state, None), accepted, (fun, args, times, *state, rows), {})[1]


def difference(end, start):
    return end - start


def use_fresh_slopes(solver):
    """Let the next step fill an array of its own: the last one may be held by a pullback."""
    if isinstance(solver, DOP853):
        solver.K_extended = solver.K_extended.copy()
        solver.K = solver.K_extended[: solver.n_stages + 1]
    else:
        solver.K = solver.K.copy()


def extended(slopes, rows):
    return np.concatenate([slopes, np.zeros((rows - len(slopes), slopes.shape[1]))])


def keep_slopes(alg, solver, token):
    """The token of the slopes of a step, from which values between its ends are computed."""
    if isinstance(solver, DOP853):
        operands = solver.K.copy(), len(solver.K_extended)
        keep_attribute(alg, solver, "K_extended", enter(alg, (None, token, None), extended, operands, {})[1])
    keep_attribute(alg, solver, "K", token)
