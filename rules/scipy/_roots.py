"""The implicit function theorem for solvers of f(x, *args) = 0 that call f back.

The solver runs natively. At its solution f is run once more, differentiated, so that the reverse sweep can
ask it: the cotangent x̄ of the solution becomes the cotangent λ of the value of f, with (∂f/∂x)ᵀ λ = -x̄,
and f's own pullback takes λ to its arguments and to whatever it captured. What f stores while it runs may
depend on x too; what comes back to x from there is treated as part of x̄.
"""

from __future__ import annotations

import numpy as np

from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.runtime.calls import apply
from autodiff_hook.runtime.context import Sweep
from autodiff_hook.runtime.cotangents import accumulate
from autodiff_hook.runtime.structures import absorb, structure_of
from autodiff_rules.scipy._implicit import NEWTON_STEP, flat, seeded


class Equation:
    """f at a solution ``x``; ``elementwise`` says that f[i] depends on x[i] alone."""

    def __init__(self, ctx, w, name, f, x, args, elementwise=False, slack=0.0):
        self.ctx, self.name, self.elementwise, self.slack = ctx, name, elementwise, slack
        self.x = np.array(x) if isinstance(x, np.ndarray) else x
        effects = ctx.effects
        self.value, self.pullback = apply(ctx, w, f, (self.x, *args), {})
        self.stores = ctx.effects != effects
        self.structure = structure_of(ctx, self.value)

    def run(self, sweep, seed):
        """The cotangents of f, x and args for one of the value."""
        edge = None if seed is None else absorb(sweep, self.structure, seeded(self.value, seed))
        given = self.pullback(sweep, edge)
        if given is None:
            return (None, None)
        x̄ = dense(given[1])
        if isinstance(self.x, np.ndarray) and self.ctx.buffers.is_stored(self.x):
            x̄ = accumulate(x̄, sweep.buffers.take(self.x))
        return (given[0], x̄, *given[2:])

    def probe(self, seed):
        """The cotangent of x alone, without a trace in the sweep that goes on."""
        sweep = Sweep(self.ctx)
        x̄ = sweep.buffers.swept(self.run, sweep, seed)[1]
        return np.zeros(np.shape(self.x)) if x̄ is None else x̄

    def solve(self, x̄):
        """λ, as an array of one dimension."""
        x̄ = np.ravel(x̄)
        if self.elementwise or np.size(self.x) == 1:
            slope = np.ravel(self.probe(np.ones(np.size(self.x))))
            self.check_holomorphic(slope)
            if not np.all(slope != 0) or not np.all(np.isfinite(slope)):
                raise self.error("has no derivative: that of the function is 0 or not finite there")
            self.check_residual(flat(self.value) / np.conj(slope))
            return -x̄ / slope
        n = np.size(self.x)
        transposed = np.stack([np.ravel(self.probe(row)) for row in np.eye(n)], -1)
        try:
            step = np.linalg.solve(np.conj(transposed.T), flat(self.value))
            λ = -np.linalg.solve(transposed, x̄)
        except np.linalg.LinAlgError:
            raise self.error("has no derivative: the Jacobian of the function is singular there") from None
        self.check_residual(step)
        return λ

    def check_holomorphic(self, slope):
        if not np.iscomplexobj(self.x):
            return
        turned = np.ravel(self.probe(1j * np.ones(np.size(self.x))))
        if not np.allclose(turned, 1j * slope, rtol=1e-8):
            raise self.error("has no derivative here: a function of complex numbers that is not holomorphic")

    def check_residual(self, step):
        size = np.abs(np.ravel(self.x))
        if np.any(np.abs(step) > self.slack * (1.0 + size) + NEWTON_STEP * (1.0 + size)):
            raise self.error("is not a solution, but a jump of the function, or the solver did not converge")

    def error(self, what):
        return NotDifferentiable(f"the solution {self.x!r} of {self.name} {what}")

    def backward(self, sweep, x̄):
        """The cotangents of f and args for one of the solution, those of captured values in their shadows."""
        if x̄ is None and not self.stores:
            return None
        before = len(sweep.buffers.redo)
        given = self.run(sweep, None if x̄ is None else self.solve(x̄))
        if self.stores and given[1] is not None:
            aside = given[1] if x̄ is None else given[1] + np.reshape(x̄, np.shape(given[1]))
            if np.any(np.abs(aside) > 1e-13 * np.max(np.abs(given[1]), initial=0.0)):
                sweep.buffers.take_back(before)
                given = tuple(map(accumulate, given, self.run(sweep, self.solve(aside))))
        return given


def dense(cotangent):
    """A cotangent as a number or an array."""
    return cotangent.dense() if hasattr(cotangent, "dense") else cotangent


def equation(ctx, w, memory, name, f, x, args, **options):
    """The equation solved, or None if nothing that carries a derivative goes into it.

    ``w`` are the witnesses of f and of args; ``memory`` is that of the native run.
    """
    memory.rewind()
    if not any(x is not None for x in w) and not ctx.reaches((f, args)):
        effects = ctx.effects
        _, pullback = apply(ctx, (None, None, *w[1:]), f, (x, *args), {})
        if pullback is None and ctx.effects == effects:
            memory.settle(ctx, f)
            return None
        memory.rewind()
    found = Equation(ctx, (w[0], True, *w[1:]), name, f, x, args, **options)
    memory.settle(ctx, f)
    return found
