"""Steps of an implicit method of Radau, at stages that are known: what a step of any solver has as derivatives.

The equations Y = y + h A f(Y) of the stages are differentiated by the implicit function theorem. Their order is above
that of the solver, so that the derivative of the exact flow is found within its tolerance, stiff or not.
"""

from functools import cache, reduce

import numpy as np

from autodiff_hook.algebras.reverse import Reverse
from autodiff_hook.runtime.cotangents import accumulate
from autodiff_hook.semantics.calls import apply
from autodiff_hook.semantics.functions import enter
from autodiff_rules.scipy._captured import pulled_back
from autodiff_rules.scipy.optimize.implicit import improved, seeded


@cache
def radau(stages):
    """Nodes and matrix of the method Radau IIA (Hairer and Wanner, Solving ODEs II, IV.5)."""
    series = np.zeros(stages + 1)
    series[-2:] = -1.0, 1.0
    nodes = (np.sort(np.polynomial.legendre.legroots(series).real) + 1.0) / 2.0
    nodes[-1] = 1.0
    powers = np.arange(stages)
    matrix = (nodes[:, None] ** (powers + 1) / (powers + 1)) @ np.linalg.inv(nodes[:, None] ** powers)
    return nodes, matrix


def gap(fun, start, y, end, stages, nodes, matrix):
    """What is 0 for the stages of a step, up to the tolerance of the solver."""
    h = end - start
    slopes = np.stack([np.asarray(fun(start + node * h, stage)) for node, stage in zip(nodes, stages)])
    return stages - y - h * (matrix @ slopes)


class Stages:
    """The pullback of the stages of a step between given ends: by y, and by what the function has captured and
    further arguments. It is made of the pullbacks of the function at each of them."""

    __slots__ = ("h", "made", "place", "time")

    def __init__(self, found, args, tfirst, start, end, stages):
        nodes, _ = radau(len(stages))
        self.h, captured = end - start, len(found.values)
        self.time, self.place = (captured, captured + 1) if tfirst else (captured + 1, captured)
        self.made = []
        for node, y in zip(nodes, stages.copy()):
            time = float(start + node * self.h)
            at = (time, y) if tfirst else (y, time)
            self.made.append(pulled_back(found, *at, *args))

    def by(self, j, seed):
        """The cotangents of y, and of all else but the time, for one of the slope at a stage."""
        value, back = self.made[j]
        given = list(back(seeded(value, seed)))
        return given[self.place], [x for i, x in enumerate(given) if i not in (self.place, self.time)]

    def __call__(self, cotangent):
        count, n = cotangent.shape
        _, matrix = radau(count)
        slopes = [np.stack([self.by(j, row)[0] for row in np.eye(n)]) for j in range(count)]
        moving = np.linalg.solve(of_gap(slopes, self.h * matrix).T, cotangent.ravel()).reshape(count, n)
        given = [self.by(j, seed)[1] for j, seed in enumerate(self.h * (matrix.T @ moving))]
        return moving.sum(axis=0), *(reduce(accumulate, column) for column in zip(*given))


def moving_stages(alg, fun, start, y, end, stages, tokens):
    """The token of the stages of a step; ``tokens`` has those of the function, the start, y and the end."""
    nodes, matrix = radau(len(stages))
    jacobian = jacobian_of_gap(alg, fun, start, end, stages)
    moving, residual = None, None
    for _ in range(alg.depth + 1):
        operands = (fun, start, y, end, stages, nodes, matrix)
        value, token = enter(alg, (None, *tokens, moving, None, None), gap, operands, {})
        residual = value if residual is None else residual
        operands = stages, value, residual.ravel(), jacobian
        moving = apply(alg, (None, moving, token, None, None), improved, operands, {})[1]
    return moving


def jacobian_of_gap(alg, fun, start, end, stages):
    nodes, matrix = radau(len(stages))
    h = end - start
    slopes = [jacobian_of(alg, fun, start + node * h, stage) for node, stage in zip(nodes, stages)]
    return of_gap(slopes, h * matrix)


def of_gap(slopes, weights):
    """The Jacobian of the gap from those of the function at the stages."""
    count, n = len(slopes), len(slopes[0])
    blocks = np.asarray(weights)[:, None, :, None] * np.transpose(slopes, (1, 0, 2))
    return np.eye(count * n) - blocks.reshape(count * n, count * n)


def jacobian_of(alg, fun, time, y):
    session = Reverse(fun, (float(time), y), {}, modules=alg.modules)
    rows = [session.back(row)[1] for row in np.eye(len(y), dtype=session.value.dtype)]
    return np.stack([np.zeros_like(y) if row is None else row for row in rows])


def between(nodes):
    """The matrix that makes of values at 0 and at the nodes the coefficients of the polynomial through them."""
    places = np.concatenate([[0.0], nodes])
    return np.linalg.inv(places[:, None] ** np.arange(len(places)))
