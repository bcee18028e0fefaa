"""What forward mode and second order cost: jvp beside the plain call, hvp and hessian beside the gradient.

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


PROGRAMS: dict[str, tuple[Callable[[Any], Any], Any, Any]] = {
    "waves": (waves, 0.9, 1.0),
    "valley": (valley, [0.02 * i for i in range(SIZE)], [1.0 / (1 + i) for i in range(SIZE)]),
    "logistic": (logistic, np.linspace(-1.0, 1.0, SIZE), np.cos(np.arange(SIZE))),
}


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
    if name != "waves":
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
    for cells, problem in rows:
        if problem:
            print(f"{cells[0]}: ERROR: {problem}")
    return int(any(problem for _, problem in rows))


if __name__ == "__main__":
    sys.exit(main())
