"""Solvers of an equation that call a function back: the implicit function theorem.

The solver runs natively. Then the equation F, of which the function is a part, is followed at its solution x, and
``x - J⁻¹ (F(x) - r)``, with the Jacobian J and the residual r taken as constants, is x again, but has the derivative of
the solution; as often repeated, those of higher order. At last the function is followed once more, so that what it
stores depends on the solution as it should.
"""

import numpy as np

from autodiff_hook.algebras.shadows import keep, some
from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.extend import cotangents
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.semantics.calls import apply
from autodiff_hook.semantics.structures import gather
from autodiff_rules.numpy._shared import unbroadcast

SOLUTION = ("x", "root")
RESIDUAL = ("fun", "fvec")
"""What is 0 at every solution, and so has the derivative 0."""

NEWTON_STEP = 1e-6
"""How far, relative to 1 + |x|, Newton's method may still move a solution that is differentiated."""

CONDITION = 1e12
"""The largest condition number of the scaled Jacobian of an equation whose solution is differentiated."""


class Linearised:
    """The equation at its solution: its residual and its Jacobian."""

    def __init__(self, call, x, paired, elementwise, slack):
        self.call, self.x, self.elementwise, self.slack = call, x, elementwise, slack
        self.session = call.opened(x)
        value = self.session.value
        self.paired = paired
        self.value = value[0] if paired else value
        self.rest = (None,) * (len(value) - 1) if paired else ()

    def jacobian(self):
        """The matrix, or its diagonal if f[i] depends on x[i] alone; an error if the solution has no derivative."""
        if self.elementwise or np.size(self.x) <= 1:
            slope = self.row(np.ones(np.size(self.x)))
            self.check_holomorphic(slope)
            if not np.all(slope != 0) or not np.all(np.isfinite(slope)):
                raise self.error("has no derivative: that of the function is 0 or not finite there")
            self.check_residual(self.newton_step(np.conj(slope)))
            return np.conj(slope)
        matrix = np.conj(np.stack([self.row(row) for row in np.eye(np.size(self.x))]))
        if not np.all(np.isfinite(matrix)) or not np.linalg.cond(scaled(matrix)) < CONDITION:
            raise self.error("has no derivative: the Jacobian of the function is singular there, or nearly so")
        self.check_residual(self.newton_step(matrix))
        return matrix

    def newton_step(self, jacobian):
        value = flat(self.value)
        return value / jacobian if jacobian.ndim == 1 else np.linalg.solve(jacobian, value)

    def row(self, seed):
        """The cotangent of x for one of the value."""
        x̄ = self.back(seed)[0]
        return np.zeros(np.size(self.x)) if x̄ is None else np.ravel(x̄)

    def back(self, seed):
        given = seeded(self.value, seed)
        return self.session.back((given, *self.rest) if self.paired else given)

    def implicit(self, jacobian):
        """The pullback from the solution to all that the equation depends on."""
        return lambda x̄: self.back(backwards(x̄, jacobian))[1:]

    def check_holomorphic(self, slope):
        if not np.iscomplexobj(self.x):
            return
        turned = self.row(1j * np.ones(np.size(self.x)))
        if not np.allclose(turned, 1j * slope, rtol=1e-8):
            raise self.error("has no derivative here: a function of complex numbers that is not holomorphic")

    def check_residual(self, step):
        size = np.abs(np.ravel(self.x))
        if np.any(np.abs(step) > (self.slack + NEWTON_STEP) * (1.0 + size)):
            raise self.error("is not a solution, but a jump of the function, or the solver did not converge")

    def error(self, what):
        return NotDifferentiable(f"the solution {self.x!r} of {self.call.name} {what}")


def scaled(matrix):
    """A matrix whose columns, and then rows, have elements of at most 1."""
    largest = np.max(np.abs(matrix), axis=0)
    matrix = matrix / np.where(largest == 0, 1.0, largest)
    largest = np.max(np.abs(matrix), axis=1, keepdims=True)
    return matrix / np.where(largest == 0, 1.0, largest)


def flat(value):
    """The numbers in the value of a function, which may be a list or tuple of them."""
    return np.ravel(np.asarray(value))


_FLOATS = frozenset({float, np.float64})


def seeded(value, seed):
    kind = kind_of(type(value))
    if kind == "array":
        if not np.iscomplexobj(value):
            seed = np.real(seed)
        return np.array(seed, value.dtype if value.dtype.kind in "fc" else None).reshape(value.shape)
    if kind in ("list", "tuple") and len(value) == len(seed) and _FLOATS.issuperset(map(type, value)):
        return np.real(seed).tolist() if kind == "list" else tuple(np.real(seed).tolist())
    if kind in ("list", "tuple"):
        parts, start = [], 0
        for item in value:
            stop = start + np.size(item)
            parts.append(seeded(item, seed[start:stop]))
            start = stop
        return parts if kind == "list" else tuple(parts)
    number = np.ravel(seed)[0].item()
    return number if isinstance(value, complex) else np.real(number).item() if isinstance(number, complex) else number


def improved(x, value, residual, jacobian):
    """One step of the chord method from a solution, which does not move it."""
    difference = np.ravel(np.asarray(value)) - residual
    step = difference / jacobian if jacobian.ndim == 1 else np.linalg.solve(jacobian, difference)
    return x - (np.reshape(step, x.shape) if isinstance(x, np.ndarray) else step[0])


cotangents(
    improved,
    "x, value, residual, jacobian",
    2,
    x=lambda ȳ: ȳ,
    value=lambda ȳ, value, jacobian: unbroadcast(np.reshape(backwards(ȳ, jacobian), np.shape(value)), value),
)


def backwards(ȳ, jacobian):
    """The cotangent of the value of the function from that of the solution."""
    ȳ, transposed = -np.ravel(ȳ), np.conj(jacobian.T)
    return ȳ / transposed if jacobian.ndim == 1 else np.linalg.solve(transposed, ȳ)


def solution(call, x, converged, paired=False, elementwise=False, slack=None):
    """The token of ``x``, at which the equation is 0."""
    alg = call.alg
    x = np.array(x) if isinstance(x, np.ndarray) else x
    call.memory.rewind()
    alone = call.alone is not None
    value, token = (None, None) if alone else call.equation(x, None)
    # An equation may have branches that decide about its value, and no token.
    if not some(call.tokens_alone()) if alone else gather(alg, value, token) is None and not call.depends():
        call.memory.settle(call.callback)
        return None
    try:
        if not converged:
            raise NotDifferentiable(f"{call.name} did not converge: its result has no derivative")
        found, x = x, call.refined(x)
        linearised = Linearised(call, x, paired, elementwise, call.slack() if slack is None else slack)
        jacobian, moving = linearised.jacobian(), None
    except NotDifferentiable as error:
        call.memory.settle(call.callback)
        return alg.unknown(error)
    if alone:
        moving = alg.node(linearised.implicit(jacobian), call.tokens_alone())
    elif x is not found:
        call.memory.undo()
        value, token = call.equation(x, None)
    for order in () if alone else range(alg.depth + 1):
        value, token = call.equation(x, moving) if order else (value, token)
        if paired:
            value, token = value[0], None if token is None else token[0]
        # A copy: what shares the memory of the value has its derivative, too.
        operands = (x, value, flat(value).copy(), jacobian)
        moving = apply(alg, (None, moving, token, None, None), improved, operands, {})[1]
        call.memory.undo()
    call.finish(x, moving)
    call.memory.settle(call.callback)
    return moving


def with_tokens(call, value, token):
    """A result object, or a tuple of the solution and others, with the token of the solution."""
    for result in value if type(value) is tuple else (value,):
        if not isinstance(result, dict):
            continue
        for name, item in result.items():
            if name in SOLUTION:
                keep(call.alg, result, name, token)
            elif token is not None and name not in RESIDUAL and np.asarray(item).dtype.kind in "fc":
                what = f"{name!r} in the result of {call.name} is not differentiated"
                keep(call.alg, result, name, call.alg.unknown(NotDifferentiable(what)))
    if isinstance(value, dict):
        return value, None
    return value, token if type(value) is not tuple else (token, *[None] * (len(value) - 1))
