"""What compiling costs: long functions, a tree of small ones, a second caller of them; recursion; descents.

    python benchmarks/compiling.py

Times of compiling are CPU times of the first gradient. A descent is the whole of it, from the first gradient on, at new
parameters in each step, so that branches change. The exit status is 1 if a gradient differs from the difference
quotient, or a descent ends elsewhere than with the gradient that is written by hand.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np

import autodiff_hook
from benchmarks import measure, report
from benchmarks.workloads import WORKLOADS
from benchmarks.workloads.base import disagreement

SIZES = (100, 1000, 5000)
FUNCTIONS = 200
"""How many functions the tree of calls has, of five statements each."""
POINT = 0.7
STEPS = 400
RATES = {"scalar_mlp": 0.05, "index_list": 1e-4, "nbody": 1e-6}
"""The descents: workloads of loops over lists, and how far a step goes."""


def written(source: str) -> dict[str, Any]:
    """The functions of a text."""
    names: dict[str, Any] = {"math": math, "__name__": __name__}
    exec(source, names)
    return names


def straight(size: int) -> Callable[[float], float]:
    """A function of so many operations."""
    lines = ["def straight(x):", "    y = x"]
    lines += [f"    y = math.sin(y) * 0.5 + x * {i % 7}.25" for i in range(size // 4)]
    return written("\n".join([*lines, "    return y"]))["straight"]  # type: ignore[no-any-return]


def tree() -> dict[str, Any]:
    """Functions of which each calls two others, but for the last."""
    lines = []
    for i in range(FUNCTIONS):
        lines += [f"def f{i}(x):", f"    a = x * {1 + i % 3}.5 + {i % 7}.0", "    b = math.sin(a)", "    c = b * x"]
        calls = [f" + f{k}(x * 0.9)" for k in (2 * i + 1, 2 * i + 2) if k < FUNCTIONS]
        lines += ["    d = c + a * 0.1", f"    return d{''.join(calls)}"]
    return written("\n".join(lines))


def fibonacci(n: int, x: float) -> float:
    """A function that calls itself twice."""
    return x if n < 2 else fibonacci(n - 1, x) + fibonacci(n - 2, x) * x


def simpson(f: Any, a: float, b: float, fa: float, fm: float, fb: float, whole: float, depth: int) -> float:
    """An integral by Simpson's rule, halved where it is not exact enough."""
    m = (a + b) / 2
    low, high = f((a + m) / 2), f((m + b) / 2)
    left, right = (m - a) / 6 * (fa + 4 * low + fm), (b - m) / 6 * (fm + 4 * high + fb)
    rest = left + right - whole
    if depth <= 0 or abs(rest) <= 1e-9:
        return left + right + rest / 15
    return simpson(f, a, m, fa, low, fm, left, depth - 1) + simpson(f, m, b, fm, high, fb, right, depth - 1)


def integral(x: float) -> float:
    """The integral of a bell whose width is differentiated."""

    def bell(t: float) -> float:
        return math.exp(-x * t * t)

    fa, fm, fb = bell(0.0), bell(1.0), bell(2.0)
    return simpson(bell, 0.0, 2.0, fa, fm, fb, (fa + 4 * fm + fb) / 3, 20)


class Split:
    """A tree of numbers."""

    def __init__(self, depth: int) -> None:
        self.value = 0.5 + 0.01 * depth
        self.low, self.high = (Split(depth - 2), Split(depth - 1)) if depth > 1 else (None, None)

    def sum(self, x: float) -> float:
        """The leaves, each with the weights on the way to it."""
        if self.low is None or self.high is None:
            return self.value * x
        return math.sin(self.low.sum(x)) + self.value * self.high.sum(x)


TREE = Split(9)
RECURSIVE: dict[str, Callable[[float], float]] = {
    "a tree of objects": lambda x: TREE.sum(x),
    "fibonacci": lambda x: fibonacci(12, x),
    "adaptive quadrature": integral,
}


def first(f: Callable[[float], float]) -> tuple[float, str | None]:
    """How long the first gradient takes, and what is wrong with it."""
    before = time.process_time()
    (slope,) = autodiff_hook.gradient(f, POINT)
    took = time.process_time() - before
    step = 1e-6
    difference = (f(POINT + step) - f(POINT - step)) / (2 * step)
    wrong = abs(slope - difference) > 1e-5 * max(1.0, abs(slope))
    return took, f"{slope} instead of {difference}" if wrong else None


def moved(values: Any, slopes: Any, rate: float) -> Any:
    """Parameters a step further down."""
    if isinstance(values, list):
        return [moved(value, slope, rate) for value, slope in zip(values, slopes)]
    return values - rate * slopes


def descent(gradient: Callable[..., Any], params: tuple[Any, ...], rate: float) -> tuple[float, Any]:
    """How long it takes to go down so many steps, and where that ends."""
    before = time.process_time()
    for _ in range(STEPS):
        params = tuple(moved(value, slope, rate) for value, slope in zip(params, gradient(*params)))
    return time.process_time() - before, params


def main(arguments: list[str] | None = None) -> int:
    """Measure and print; 1 if a gradient is wrong."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args(
        arguments
    )
    first(math_only)
    found = {f"{size} operations": first(straight(size)) for size in SIZES}
    names = tree()
    found[f"a tree of {FUNCTIONS} functions"] = first(eval("lambda x: f0(x)", names))
    found["the same tree, another caller"] = first(eval("lambda x: f0(x) * 2.0", names))
    print(report.as_text([["compiling", "first gradient"], *[[n, report.duration(t)] for n, (t, _) in found.items()]]))
    times = [found[f"{size} operations"][0] for size in SIZES]
    exponent = np.polyfit(np.log(SIZES), np.log(times), 1)[0]
    print(f"\ngrows with the number of operations to the power of {exponent:.2f}\n")
    table = [["recursion", "plain", "gradient", "gradient / plain"]]
    for name, f in RECURSIVE.items():
        found[name] = first(f)
        clocks = {"plain": measure.timer(f, (POINT,)), "gradient": measure.timer(autodiff_hook.gradient, (f, POINT))}
        taken = measure.interleaved(clocks, measure.QUICK)
        cells = [report.duration(min(taken[key])) for key in ("plain", "gradient")]
        table.append([name, *cells, report.factor(measure.ratio(taken, "gradient", "plain"))])
    print(report.as_text(table))
    table = [[f"{STEPS} steps down", "by hand", "gradient", "gradient / by hand"]]
    for name, rate in RATES.items():
        case = WORKLOADS[name].build(WORKLOADS[name].size)
        by_hand, there = descent(lambda *params, case=case: case.adjoint(*params, *case.constants), case.params, rate)
        took, ended = descent(lambda *params, case=case: autodiff_hook.gradient(case.loss, *params), case.params, rate)
        found[name] = took, disagreement(there, ended)
        table.append([name, report.duration(by_hand), report.duration(took), report.factor(took / by_hand)])
    print(f"\n{report.as_text(table)}")
    wrong = {name: problem for name, (_, problem) in found.items() if problem}
    for name, problem in wrong.items():
        print(f"{name}: ERROR: {problem}")
    return int(bool(wrong))


def math_only(x: float) -> float:
    """What loads all that compiling needs."""
    return math.sin(x) * x


if __name__ == "__main__":
    sys.exit(main())
