"""What the way costs by which a derivative is asked for: by some arguments alone, of objects that are called.

    python benchmarks/entries.py

Each is beside the same in another form, and both are given in plain calls. The exit status is 1 if they do not agree.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

import autodiff_hook
from benchmarks import measure, report

CALLS = 12
"""After how many gradients what is compiled is compiled."""
Entry = tuple[Callable[..., Any], tuple[Any, ...]]


def loss(w: Any, x: Any, y: Any) -> Any:
    """The cost of a logistic regression."""
    p = 1.0 / (1.0 + np.exp(-(x @ w)))
    return -np.mean(y * np.log(p) + (1.0 - y) * np.log(1.0 - p))


class Table:
    """Weights of a series."""

    def __init__(self, weights: list[float]) -> None:
        self.weights = weights

    def __call__(self, x: float) -> float:
        total = 0.0
        for weight in self.weights:
            total = total * x + weight
        return total


def by_number(x: float, table: Table) -> float:
    return table(x)


def entries() -> list[tuple[str, Entry, Entry, Entry]]:
    """What is compared: a name, the plain call, one way and another one."""
    draw = np.random.default_rng(0)
    data = draw.normal(size=30), draw.normal(size=(200, 30)), (draw.random(200) > 0.5) * 1.0
    table = Table([0.01 * i for i in range(100)])
    gradient, grad = autodiff_hook.gradient, autodiff_hook.grad
    return [
        ("grad(loss)(w, x, y)", (loss, data), (grad(loss), data), (gradient, (loss, *data))),
        (
            "grad(f)(x, model)",
            (by_number, (0.5, table)),
            (grad(by_number), (0.5, table)),
            (gradient, (by_number, 0.5, table)),
        ),
        ("gradient(model, x)", (table, (0.5,)), (gradient, (table, 0.5)), (gradient, (table.__call__, 0.5))),
    ]


def compared(plain: Entry, one: Entry, other: Entry) -> tuple[list[float], bool]:
    """Both in plain calls, and whether they give the same."""
    for _ in range(CALLS):
        found = [np.ravel(np.asarray(f(*args)[0] if type(f(*args)) is tuple else f(*args))) for f, args in (one, other)]
    calls = {"plain": plain, "one": one, "other": other}
    clocks = {name: measure.timer(*call, time.process_time) for name, call in calls.items()}
    times = measure.interleaved(clocks, measure.QUICK)
    return [measure.ratio(times, name, "plain") for name in ("one", "other")], np.allclose(*found)


def main(arguments: list[str] | None = None) -> int:
    """Measure and print; 1 if two ways do not agree."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args(
        arguments
    )
    table, status = [["in plain calls", "so", "all arguments, a method"]], 0
    for name, *ways in entries():
        ratios, agree = compared(*ways)
        table.append([name, *map(report.factor, ratios)])
        status |= not agree
    print(report.as_text(table))
    return status


if __name__ == "__main__":
    sys.exit(main())
