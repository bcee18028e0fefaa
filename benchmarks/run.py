"""How long gradients of plain programs take, beside hand-written gradients, the plain call and installed peers.

    python benchmarks/run.py --quick                       a first look
    python benchmarks/run.py --workload rk4 'mlp*'         some of them
    python benchmarks/run.py --memory --first-call --json out.json --markdown out.md

Every gradient is compared with the hand-written one; the exit status is 1 if one is wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
from dataclasses import replace
from fnmatch import fnmatchcase
from importlib.metadata import version
from pathlib import Path

# Libraries read these when they are loaded. Two threads on two shared cores wait for each other.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1", VECLIB_MAXIMUM_THREADS="1")
sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np

import autodiff_hook
from benchmarks import measure, report
from benchmarks.peers import Peer, Prepared, installed, leaves, why_not
from benchmarks.workloads import WORKLOADS, Case, Workload
from benchmarks.workloads.base import disagreement, mapped


def problem_of(case: Case) -> str | None:
    """What is wrong with our gradient, None if nothing is."""
    try:
        return disagreement(case.by_hand(), autodiff_hook.gradient(case.loss, *case.params))
    except Exception as raised:  # whatever it is, the rest is still measured
        return described(raised)


def described(raised: Exception) -> str:
    """The type of an exception and the first line of its message."""
    return f"{type(raised).__name__}: {(str(raised).splitlines() or [''])[0]}"


def checked_peer(prepare: Peer, case: Case) -> Prepared:
    """A peer's call, which has given the hand-written gradient once."""
    function, arguments = prepare(case)
    problem = disagreement(list(leaves(case.by_hand())), [np.asarray(leaf) for leaf in leaves(function(*arguments))])
    if problem:
        raise ValueError(problem)
    return function, arguments


def contenders(workload: Workload, case: Case, peers: dict[str, Peer], result: report.Result) -> dict[str, Prepared]:
    """What is to be timed; what cannot be is noted in the result."""
    found: dict[str, Prepared] = {
        "forward": (case.loss, case.params),
        "hand": (case.adjoint, (*case.params, *case.constants)),
    }
    problem = problem_of(case)
    if problem is None:
        found["gradient"] = autodiff_hook.gradient, (case.loss, *case.params)
    else:
        result.errors.append(problem)
    for name, prepare in peers.items():
        why = why_not(name, workload.name)
        if why is None:
            try:
                found[name] = checked_peer(prepare, case)
            except Exception as raised:  # a peer may refuse a program in any way
                why = described(raised)
        if why is not None:
            result.left_out[name] = why
    return found


def measured(workload: Workload, peers: dict[str, Peer], options: argparse.Namespace) -> report.Result:
    """Everything that the options ask about one workload."""
    result = report.Result(workload.name, workload.about, workload.group, workload.size)
    case = workload.build(workload.size)
    clocks = {name: measure.timer(*prepared) for name, prepared in contenders(workload, case, peers, result).items()}
    times = measure.interleaved(clocks, measure.QUICK if options.quick else measure.FULL)
    result.seconds = {name: statistics.median(seconds) for name, seconds in times.items()}
    if "gradient" not in times:
        return result
    # Code that ran often may have been replaced by faster code, which must not have kept what it ran with.
    elsewhere = replace(case, params=mapped(lambda x: 1.001 * x, case.params))
    for place, it in (("after many calls", case), ("at other parameters", elsewhere)):
        problem = problem_of(it)
        if problem is not None:
            result.errors.append(f"{place}: {problem}")
    others = [name for name in ("hand", "forward", *peers) if name in times]
    result.ratios = {name: measure.ratio(times, "gradient", name) for name in others}
    if options.memory:
        result.memory = measure.memory(workload.name, workload.size)
    if options.first_call:
        result.first_call = measure.first_call(workload.name, workload.size)
    return result


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    """The options; ``workload`` becomes the list of workloads."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workload", nargs="+", metavar="NAME", default=["*"], help="names or patterns; default: all")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds")
    parser.add_argument("--memory", action="store_true", help="the peak of a warm gradient, in a new process")
    parser.add_argument("--first-call", action="store_true", help="the first gradient, in five new processes")
    parser.add_argument("--no-peers", action="store_true", help="leave out what else is installed")
    parser.add_argument("--json", type=Path, metavar="FILE", help="everything that was measured")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="the table and the notes")
    options = parser.parse_args(arguments)
    for pattern in options.workload:
        if not any(fnmatchcase(name, pattern) for name in WORKLOADS):
            parser.error(f"no workload is called {pattern!r}; there are: {', '.join(WORKLOADS)}")
    options.workload = [
        workload for name, workload in WORKLOADS.items() if any(fnmatchcase(name, it) for it in options.workload)
    ]
    return options


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, write; 1 if a gradient is wrong."""
    options = parsed(arguments)
    peers = {} if options.no_peers else installed()
    environment = {
        "autodiff_hook": autodiff_hook.__version__,
        "Python": platform.python_version(),
        "NumPy": np.__version__,
        "processor": platform.machine(),
        **{name: version(name) for name in peers},
    }
    results = []
    for workload in options.workload:
        print(f"{workload.name:20}", end="\r" if sys.stderr.isatty() else "\n", file=sys.stderr, flush=True)
        results.append(measured(workload, peers, options))
    table, notes = report.rows(results), report.notes(results, environment)
    print(report.as_text(table), notes, sep="\n\n")
    if options.json:
        saved = {"environment": environment, "results": [vars(result) for result in results]}
        options.json.write_text(json.dumps(saved, indent=1) + "\n", encoding="utf-8")
    if options.markdown:
        paragraphs = notes.replace("\n", "\n\n")
        options.markdown.write_text(f"{report.as_markdown(table)}\n\n{paragraphs}\n", encoding="utf-8")
    return int(any(result.errors for result in results))


if __name__ == "__main__":
    sys.exit(main())
