"""Finite differences of the plain function: what the derivatives of a program have to be."""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable, Sequence

import numpy as np

from corpus.registry import Program
from corpus.vectors import filled, numbers

UNKNOWN = math.nan
"""The place of a derivative that differences do not show: near a kink, or outside of the domain."""
_STEP = 1e-4
_STEP_OF_SECOND = 1e-3


def plain(program: Program, vector: Sequence[float]) -> float:
    """The value of the plain function where its arguments hold these numbers."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return float(program.function(*filled(program.make(), iter(vector))))


def point(program: Program) -> tuple[float, ...]:
    """The numbers in the arguments."""
    args = program.make()
    return tuple(numbers(args, args))


def another_point(program: Program) -> tuple[float, ...]:
    """A point near by."""
    return tuple(x * 1.01 + 0.003 for x in point(program))


def directions(count: int) -> list[tuple[float, ...]]:
    """Two directions."""
    return [tuple(math.cos(3 * i + k) + 1.2 for i in range(count)) for k in range(2)]


def _moved(at: Sequence[float], *steps: tuple[float, Sequence[float]]) -> list[float]:
    return [x + sum(h * v[i] for h, v in steps) for i, x in enumerate(at)]


def _extrapolated(difference: Callable[[float], float], step: float) -> float:
    """A difference with two steps, extrapolated; UNKNOWN where the two do not agree."""
    try:
        fine, coarse = difference(step), difference(2 * step)
    except (ArithmeticError, ValueError, TypeError, LookupError):
        return UNKNOWN
    agree = math.isclose(fine, coarse, rel_tol=1e-2, abs_tol=1e-4)
    return (4 * fine - coarse) / 3 if agree else UNKNOWN


@functools.lru_cache(None)
def slopes(program: Program, at: tuple[float, ...]) -> tuple[float, ...]:
    """The gradient at a point."""
    if program.expected is not None and at == point(program):
        return program.expected

    def along(direction: Sequence[float]) -> float:
        def central(h: float) -> float:
            ahead, behind = (plain(program, _moved(at, (s * h, direction))) for s in (1, -1))
            return (ahead - behind) / (2 * h)

        return _extrapolated(central, _STEP)

    return tuple(along(unit) for unit in np.eye(len(at)).tolist())


@functools.lru_cache(None)
def curvatures(program: Program, at: tuple[float, ...], v: tuple[float, ...]) -> tuple[float, ...]:
    """The Hessian times ``v`` at a point."""

    def along(direction: Sequence[float]) -> float:
        def mixed(h: float) -> float:
            values = [
                s * t * plain(program, _moved(at, (s * h, direction), (t * h, v))) for s in (1, -1) for t in (1, -1)
            ]
            return math.fsum(values) / (4 * h * h)

        return _extrapolated(mixed, _STEP_OF_SECOND)

    return tuple(along(unit) for unit in np.eye(len(at)).tolist())
