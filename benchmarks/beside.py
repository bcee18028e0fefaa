"""What programs cost of which one statement is carried, and the same without the statement.

    python benchmarks/beside.py

``lock.locked()`` is what no typed program understands. *whole* is the gradient where the function is carried as a
whole, as it was before its loops became functions of their own. The exit status is 1 if a gradient is not the finite
difference.
"""

from __future__ import annotations

import argparse
import math
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from unittest.mock import patch

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

import autodiff_hook
from autodiff_hook.semantics import analysing
from benchmarks import measure, report
from benchmarks.compiling import POINT, first

LOCK = threading.Lock()
CALLS = 12
"""After how many gradients what is compiled is compiled."""


class Oscillator:
    def __init__(self, x: float) -> None:
        self.x, self.v, self.history = x, 0.0, [x]

    def run(self, count: int) -> float:
        for _ in range(count):
            self.v -= 0.01 * self.x
            self.x += 0.01 * self.v
            self.history.append(self.x)
        return self.x


def numbers(x: float) -> float:
    s = 0.0
    for i in range(500):
        s = s * 0.9 + math.sin(x * i) * x
    return s


def numbers_beside(x: float) -> float:
    LOCK.locked()
    s = 0.0
    for i in range(500):
        s = s * 0.9 + math.sin(x * i) * x
    return s


def lists(x: float) -> float:
    values = []
    for i in range(500):
        values.append(math.sin(x * i) * x)
    return sum(values)


def lists_beside(x: float) -> float:
    values = []
    LOCK.locked()
    for i in range(500):
        values.append(math.sin(x * i) * x)
    return sum(values)


def arrays(x: float) -> float:
    a = np.linspace(0.0, 1.0, 50) * x
    for _ in range(200):
        a = a + 0.01 * np.sin(a)
    return float(a.sum())


def arrays_beside(x: float) -> float:
    a = np.linspace(0.0, 1.0, 50) * x
    LOCK.locked()
    for _ in range(200):
        a = a + 0.01 * np.sin(a)
    return float(a.sum())


def objects(x: float) -> float:
    oscillator = Oscillator(x)
    oscillator.run(200)
    return sum(oscillator.history)


def objects_beside(x: float) -> float:
    LOCK.locked()
    oscillator = Oscillator(x)
    oscillator.run(200)
    return sum(oscillator.history)


PAIRS = [(numbers, numbers_beside), (lists, lists_beside), (arrays, arrays_beside), (objects, objects_beside)]


def ratio(f: Callable[[float], float]) -> float:
    """What a gradient costs in plain calls, once nothing is compiled any more."""
    for _ in range(CALLS):
        autodiff_hook.gradient(f, POINT)
    calls = {"plain": (f, (POINT,)), "gradient": (autodiff_hook.gradient, (f, POINT))}
    clocks = {name: measure.timer(*call, time.process_time) for name, call in calls.items()}
    return measure.ratio(measure.interleaved(clocks, measure.QUICK), "gradient", "plain")


def as_a_whole(f: Callable[[float], float]) -> float:
    """The same of a function that is not cut."""
    other = FunctionType(f.__code__.replace(co_name="whole"), globals(), "whole")
    with patch.object(analysing, "places", lambda code: frozenset()):
        return ratio(other)


def main(arguments: list[str] | None = None) -> int:
    """Measure and print; 1 if a gradient is wrong."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args(
        arguments
    )
    table, problems = [["gradient / plain", "without", "beside a lock", "whole"]], []
    for without, beside in PAIRS:
        problems += [problem for f in (without, beside) if (problem := first(f)[1]) is not None]
        table.append([without.__name__, *map(report.factor, (ratio(without), ratio(beside), as_a_whole(beside)))])
    print(report.as_text(table))
    for problem in problems:
        print(f"ERROR: {problem}")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
