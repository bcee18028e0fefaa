"""Time, memory and first calls.

Times of two programs are only comparable if they were taken in the same moments, so everything that is compared runs in
one process and takes turns; what must start afresh runs in a child process.
"""

from __future__ import annotations

import gc
import json
import statistics
import subprocess
import sys
import time
import timeit
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.workloads import WORKLOADS

ROOT = Path(__file__).parents[1]
BLOCKS = 3
PATIENCE = 0.2
"""A call that takes longer than this many seconds is its own block, and there is one block a round."""


@dataclass(frozen=True)
class Pace:
    """How long to measure: rounds, and seconds for each of the blocks of a round."""

    rounds: int
    block: float


QUICK = Pace(rounds=3, block=0.002)
FULL = Pace(rounds=9, block=0.01)


def timer(
    function: Callable[..., Any], arguments: Sequence[Any], clock: Callable[[], float] = time.perf_counter
) -> timeit.Timer:
    """A timer of the call as one writes it: no ``*arguments``, which would cost more than a short program."""
    names = [f"argument{i}" for i in range(len(arguments))]
    scope = {"function": function, "gc": gc, **dict(zip(names, arguments))}
    return timeit.Timer(f"function({', '.join(names)})", setup="gc.enable()", timer=clock, globals=scope)


def calls_in(clock: timeit.Timer, seconds: float) -> int:
    """How many calls fill a block; the first ones are to warm up: long programs are specialised after some."""
    clock.timeit(10)
    calls = 1
    while (took := clock.timeit(calls)) < seconds / 4:
        calls *= 4
    return max(1, round(calls * seconds / took))


def interleaved(clocks: dict[str, timeit.Timer], pace: Pace) -> dict[str, list[float]]:
    """The seconds of one call, for each clock and round: the best of the blocks of that round."""
    calls = {name: calls_in(clock, pace.block) for name, clock in clocks.items()}
    times: dict[str, list[float]] = {name: [] for name in clocks}
    gc.collect()
    gc.freeze()  # the garbage of one is not to be searched for among the modules of another
    try:
        for _ in range(pace.rounds):
            best = dict.fromkeys(clocks, float("inf"))
            for block in range(BLOCKS):
                for name, clock in clocks.items():
                    if block == 0 or best[name] < PATIENCE:
                        best[name] = min(best[name], clock.timeit(calls[name]) / calls[name])
            for name, seconds in best.items():
                times[name].append(seconds)
    finally:
        gc.unfreeze()
    return times


def ratio(times: dict[str, list[float]], over: str, under: str) -> float:
    """The median over the rounds of the ratio within a round."""
    return statistics.median(a / b for a, b in zip(times[over], times[under]))


def in_child(program: str, *arguments: str) -> dict[str, Any]:
    """What a program prints as JSON when it runs in a new process."""
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"a child process failed:\n{done.stderr}")
    result: dict[str, Any] = json.loads(done.stdout)
    return result


FIRST_CALL = """
import json, sys, time
import numpy
sys.path.insert(0, "")
start = time.perf_counter()
import autodiff_hook
autodiff_hook.gradient(lambda x: x * x, 3.0)
loaded = time.perf_counter()
from benchmarks.workloads import WORKLOADS
workload = WORKLOADS[sys.argv[1]]
case = workload.build(int(sys.argv[2]))
built = time.perf_counter()
autodiff_hook.gradient(case.loss, *case.params)
first = time.perf_counter()
autodiff_hook.gradient(case.loss, *case.params)
second = time.perf_counter()
print(json.dumps({"loading": loaded - start, "first": first - built, "second": second - first}))
"""


def first_call(name: str, size: int, processes: int = 5) -> dict[str, float]:
    """Medians over new processes, in seconds.

    ``loading`` is the import and the gradient of ``x * x``, with NumPy already there; ``first`` and ``second`` are the
    calls after it of the workload's own gradient.
    """
    runs = [in_child(FIRST_CALL, name, str(size)) for _ in range(processes)]
    return {key: statistics.median(run[key] for run in runs) for key in runs[0]}


MEMORY = """
import json, sys
sys.path.insert(0, "")
from benchmarks import measure
print(json.dumps(measure.peaks(sys.argv[1], int(sys.argv[2]))))
"""


def memory(name: str, size: int) -> dict[str, int]:
    """``peaks``, of a new process."""
    return in_child(MEMORY, name, str(size))


def peaks(name: str, size: int) -> dict[str, int]:
    """How many bytes a warm call has allocated at its peak: ours, the hand-written gradient, the plain call."""
    import autodiff_hook

    case = WORKLOADS[name].build(size)
    return {
        "gradient": peak(lambda: autodiff_hook.gradient(case.loss, *case.params)),
        "hand": peak(case.by_hand),
        "forward": peak(lambda: case.loss(*case.params)),
    }


def peak(call: Callable[[], object]) -> int:
    """The peak of what Python and NumPy allocate during a call."""
    for _ in range(10):
        call()
    gc.collect()
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
