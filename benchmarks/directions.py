"""What forward mode and higher orders cost: jvp beside the plain call, hvp and hessian beside the gradient; derivatives
within derivatives beside the same program with the inner derivatives written by hand.

    python benchmarks/directions.py --quick

The exit status is 1 if a product differs from what the carried programs give.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np

import autodiff_hook
from autodiff_hook.api import generic_hvp, generic_jvp
from benchmarks import measure, report
from benchmarks.workloads.base import disagreement

SIZE = 50
HEADS_WITHIN = ["within", "plain, by hand", "gradient", "gradient / plain", "gradient / gradient by hand"]
HEADS = ["program", "plain", "gradient", "jvp / plain", "hvp / gradient", f"hessian of {SIZE} / gradient"]


def waves(x: float) -> float:
    """A loop of a thousand steps of numbers."""
    y = 0.0
    for i in range(1000):
        y = math.sin(x + y) * 0.5 + x / (1.0 + i)
    return y


def valley(xs: list[float]) -> float:
    """Rosenbrock's function of a list, item by item."""
    total = 0.0
    for i in range(len(xs) - 1):
        total += 100.0 * (xs[i + 1] - xs[i] ** 2) ** 2 + (1.0 - xs[i]) ** 2
    return total


MATRIX = np.random.default_rng(0).normal(size=(400, SIZE))


def logistic(w: np.ndarray) -> Any:
    """The loss of a logistic regression of four hundred rows."""
    margins = MATRIX @ w
    return np.mean(np.log1p(np.exp(-margins))) + 0.01 * np.dot(w, w)


def heat(start: np.ndarray) -> Any:
    """Forty explicit steps of the heat equation, in place."""
    u = start.copy()
    for _ in range(40):
        u[1:-1] = u[1:-1] + 0.2 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u**4)


def paths(cost: list[list[float]]) -> float:
    """The soft shortest path through a table, by dynamic programming in lists of lists."""
    best = [[0.0] * len(cost) for _ in cost]
    for i in range(1, len(cost)):
        for j in range(1, len(cost)):
            left, up = best[i][j - 1], best[i - 1][j]
            best[i][j] = cost[i][j] - math.log(math.exp(-left) + math.exp(-up))
    return best[-1][-1]


TABLE = [[math.sin(1.0 + i * j) for j in range(20)] for i in range(20)]
PROGRAMS: dict[str, tuple[Callable[[Any], Any], Any, Any]] = {
    "waves": (waves, 0.9, 1.0),
    "valley": (valley, [0.02 * i for i in range(SIZE)], [1.0 / (1 + i) for i in range(SIZE)]),
    "logistic": (logistic, np.linspace(-1.0, 1.0, SIZE), np.cos(np.arange(SIZE))),
    "heat": (heat, np.linspace(-1.0, 1.0, SIZE) ** 2, np.cos(np.arange(SIZE))),
    "paths": (paths, TABLE, [[math.cos(x) for x in row] for row in TABLE]),
}


def potential(q: float, k: float) -> float:
    """An anharmonic well."""
    return 0.5 * k * q * q + math.sin(q) * k


def by_grad(slope: Callable[[float, float], float], k: float) -> float:
    """A hundred steps of a leapfrog, by forces that ``slope`` gives."""
    q, p = 1.0, 0.0
    for _ in range(100):
        p = p - 0.01 * slope(q, k)
        q = q + 0.01 * p
    return q


def first_order(k: float) -> float:
    """The leapfrog with the gradient of the potential within."""
    return by_grad(autodiff_hook.grad(potential), k)


def second_order(k: float) -> float:
    """The leapfrog with a second derivative within."""
    return by_grad(autodiff_hook.grad(autodiff_hook.grad(potential)), k)


def first_by_hand(k: float) -> float:
    """The leapfrog with the force written out."""
    return by_grad(lambda q, k: k * q + math.cos(q) * k, k)


def second_by_hand(k: float) -> float:
    """The leapfrog with the second derivative written out."""
    return by_grad(lambda q, k: k - math.sin(q) * k, k)


def wells(q: np.ndarray, k: float) -> Any:
    """The energy of three wells, as an array program."""
    return 0.5 * k * np.sum(q * q) + k * np.sum(np.sin(q))


def in_wells(slope: Callable[[np.ndarray, float], Any], k: float) -> Any:
    """A hundred steps of a leapfrog of arrays."""
    q, p = np.array([1.0, 0.5, 2.0]), np.zeros(3)
    for _ in range(100):
        p = p - 0.01 * slope(q, k)
        q = q + 0.01 * p
    return np.sum(q)


def curvature(q: np.ndarray, k: float) -> Any:
    """The gradient of the sum of a gradient."""
    return autodiff_hook.grad(lambda q: np.sum(autodiff_hook.grad(wells)(q, k)))(q)


WITHIN = {
    "grad": (first_order, first_by_hand),
    "grad of grad": (second_order, second_by_hand),
    "grad by an array": (
        lambda k: in_wells(autodiff_hook.grad(wells), k),
        lambda k: in_wells(lambda q, k: k * q + k * np.cos(q), k),
    ),
    "grad of grad by an array": (
        lambda k: in_wells(curvature, k),
        lambda k: in_wells(lambda q, k: k - k * np.sin(q), k),
    ),
}


def row_within(name: str, pace: measure.Pace) -> tuple[list[str], str | None]:
    """The gradient of a function that takes derivatives, and what is wrong with it."""
    f, hand = WITHIN[name]
    problem = disagreement(autodiff_hook.gradient(hand, 0.9)[0], autodiff_hook.gradient(f, 0.9)[0])
    clocks = {
        "plain": measure.timer(hand, (0.9,)),
        "gradient": measure.timer(autodiff_hook.gradient, (f, 0.9)),
        "hand": measure.timer(autodiff_hook.gradient, (hand, 0.9)),
    }
    times = measure.interleaved(clocks, pace)
    cells = [name, *[report.duration(min(times[key])) for key in ("plain", "gradient")]]
    cells.append(report.factor(measure.ratio(times, "gradient", "plain")))
    cells.append(report.factor(measure.ratio(times, "gradient", "hand")))
    return cells, problem


def row(name: str, pace: measure.Pace) -> tuple[list[str], str | None]:
    """One program of the table, and what is wrong with its products."""
    f, x, v = PROGRAMS[name]
    product = autodiff_hook.hvp(f, (x,), (v,))[0]
    problem = disagreement(generic_hvp(f, (x,), (v,))[0], product)
    slope = autodiff_hook.jvp(f, (x,), (v,))[1]
    problem = problem or disagreement(float(generic_jvp(f, (x,), (v,))[1]), float(slope))
    clocks = {
        "plain": measure.timer(f, (x,)),
        "gradient": measure.timer(autodiff_hook.gradient, (f, x)),
        "jvp": measure.timer(autodiff_hook.jvp, (f, (x,), (v,))),
        "hvp": measure.timer(autodiff_hook.hvp, (f, (x,), (v,))),
    }
    if name not in ("waves", "paths"):
        clocks["hessian"] = measure.timer(autodiff_hook.hessian(f), (x,))
    times = measure.interleaved(clocks, pace)
    cells = [name, *[report.duration(min(times[key])) for key in ("plain", "gradient")]]
    cells.append(report.factor(measure.ratio(times, "jvp", "plain")))
    cells.append(report.factor(measure.ratio(times, "hvp", "gradient")))
    cells.append(report.factor(measure.ratio(times, "hessian", "gradient")) if "hessian" in clocks else "")
    return cells, problem


def main(arguments: list[str] | None = None) -> int:
    """Measure and print; 1 if a product is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds")
    pace = measure.QUICK if parser.parse_args(arguments).quick else measure.FULL
    rows = [row(name, pace) for name in PROGRAMS]
    print(report.as_text([HEADS, *[cells for cells, _ in rows]]))
    within = [row_within(name, pace) for name in WITHIN]
    print()
    print(report.as_text([HEADS_WITHIN, *[cells for cells, _ in within]]))
    for cells, problem in [*rows, *within]:
        if problem:
            print(f"{cells[0]}: ERROR: {problem}")
    return int(any(problem for _, problem in [*rows, *within]))


if __name__ == "__main__":
    sys.exit(main())
