"""What one operation costs where no types are known, beside a minimal tape written by hand.

    python benchmarks/carried.py --quick
    python benchmarks/carried.py --operation 'array*' --json out.json

Nothing is specialised: every value carries its token through the general meaning of each operation. The exit status is
1 if a gradient is not the one of the minimal tape.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
import timeit
from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

os.environ.update(AUTODIFF_GENERIC="1", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
sys.path.insert(0, str(Path(__file__).parents[1]))

import autodiff_hook
from benchmarks import measure, report
from benchmarks.operations import OPERATIONS, Operation
from benchmarks.workloads.base import disagreement

COUNT = 1000
HEADS = ["operation", "plain", "by hand", "gradient", "/ hand", "/ plain", "memory", "memory / hand"]


def timer(function: Callable[..., Any], *arguments: Any) -> timeit.Timer:
    """A timer of what the process itself takes: a call lasts longer than the system lets it run undisturbed."""
    return measure.timer(function, arguments, time.process_time)


def gradient(operation: Operation, count: int) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """What is timed: the gradient of a loop."""
    return autodiff_hook.gradient, (operation.looped(count), operation.argument())


def measured(operation: Operation, pace: measure.Pace) -> dict[str, Any]:
    """Seconds and bytes for one operation, and what is wrong with the gradient."""
    x = operation.argument()
    ours = gradient(operation, COUNT)
    problem = disagreement(operation.by_hand(x, COUNT), ours[0](*ours[1])[0])
    clocks = {
        "plain": timer(operation.program, x, COUNT),
        "hand": timer(operation.by_hand, x, COUNT),
        "gradient": timer(ours[0], *ours[1]),
    }
    times = measure.interleaved(clocks, pace)
    return {
        "name": operation.name,
        "problem": problem,
        "seconds": {name: statistics.median(seconds) / COUNT for name, seconds in times.items()},
        "ratios": {name: measure.ratio(times, "gradient", name) for name in ("hand", "plain")},
        "bytes": {name: memory(operation, name) for name in ("hand", "gradient")},
    }


def memory(operation: Operation, name: str) -> float:
    """The bytes that one operation more adds to the peak."""
    x = operation.argument()

    def peak(count: int) -> int:
        if name == "hand":
            return measure.peak(lambda: operation.by_hand(x, count))
        function, arguments = gradient(operation, count)
        return measure.peak(lambda: function(*arguments))

    return (peak(2 * COUNT) - peak(COUNT)) / COUNT


def derivatives(pace: measure.Pace) -> dict[str, Any]:
    """jvp and hvp of a scalar loop, beside the plain call."""
    program = OPERATIONS[0].looped(COUNT)
    clocks = {
        "plain": timer(program, 0.9),
        "jvp": timer(autodiff_hook.jvp, program, (0.9,), (1.0,)),
        "hvp": timer(autodiff_hook.hvp, program, (0.9,), (1.0,)),
    }
    times = measure.interleaved(clocks, pace)
    return {
        "seconds": {name: statistics.median(seconds) for name, seconds in times.items()},
        "ratios": {name: measure.ratio(times, name, "plain") for name in ("jvp", "hvp")},
    }


def row(found: dict[str, Any]) -> list[str]:
    """One operation of the table."""
    seconds, ratios, used = found["seconds"], found["ratios"], found["bytes"]
    return [
        found["name"],
        *[report.duration(seconds[name]) for name in ("plain", "hand", "gradient")],
        report.factor(ratios["hand"]),
        report.factor(ratios["plain"]),
        report.amount(round(used["gradient"])),
        report.factor(used["gradient"] / max(1.0, used["hand"])),
    ]


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, write; 1 if a gradient is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--operation", nargs="+", metavar="NAME", default=["*"], help="names or patterns; default: all")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds")
    parser.add_argument("--json", type=Path, metavar="FILE", help="everything that was measured")
    options = parser.parse_args(arguments)
    wanted = [it for it in OPERATIONS if any(fnmatchcase(it.name, pattern) for pattern in options.operation)]
    if not wanted:
        parser.error(f"there are: {', '.join(it.name for it in OPERATIONS)}")
    pace = measure.QUICK if options.quick else measure.FULL
    results = [measured(operation, pace) for operation in wanted]
    print(report.as_text([HEADS, *map(row, results)]))
    further = derivatives(pace)
    for name, ratio in further["ratios"].items():
        taken = report.duration(further["seconds"][name])
        print(f"{name} of the scalar loop of {COUNT} steps: {taken}, {report.factor(ratio)} x the plain call")
    for result in results:
        if result["problem"]:
            print(f"{result['name']}: ERROR: {result['problem']}")
    if options.json:
        options.json.write_text(json.dumps({"operations": results, **further}, indent=1) + "\n", encoding="utf-8")
    return int(any(result["problem"] for result in results))


if __name__ == "__main__":
    sys.exit(main())
