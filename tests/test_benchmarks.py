"""The benchmarks: their hand-written gradients are those of the programs, and the program that measures runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from autodiff_hook import gradient

sys.path.insert(0, str(Path(__file__).parents[1]))  # benchmarks/ is no part of what is installed

from benchmarks.operations import OPERATIONS
from benchmarks.workloads import WORKLOADS
from benchmarks.workloads.base import disagreement, mapped

RUN = Path(__file__).parents[1] / "benchmarks" / "run.py"


@pytest.mark.parametrize("workload", WORKLOADS.values(), ids=WORKLOADS)
def test_the_gradient_is_the_one_written_by_hand(workload):
    case = workload.build(workload.small)
    assert disagreement(case.by_hand(), gradient(case.loss, *case.params)) is None


@pytest.mark.parametrize("workload", WORKLOADS.values(), ids=WORKLOADS)
def test_the_loss_is_the_program_with_its_constants(workload):
    case = workload.build(workload.small)
    value = case.loss(*case.params)
    assert np.isfinite(value) and value == case.forward(*case.params, *case.constants)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_the_gradient_of_an_operation_is_that_of_the_minimal_tape(operation):
    x = operation.argument()
    assert disagreement(operation.by_hand(x, 20), gradient(operation.looped(20), x)[0]) is None


def test_what_is_wrong_is_found():
    right = ([1.0, {"a": np.array([1.0, 2.0]), "name": None}], 0.0)
    assert disagreement(right, mapped(lambda x: x + 1e-9, right)) is None
    assert disagreement(right, mapped(lambda x: x + 1e-7, right)) == "[0][0]: relative error 1.0e-07"
    assert disagreement(right, ([1.0, {"a": np.array([1.0, np.nan]), "name": None}], 0.0)) == (
        "[0][1]['a']: relative error nan"
    )
    for wrong in (
        ([1.0], 0.0),
        ([1.0, {"a": np.array([1.0, 2.0])}], 0.0),
        ([1.0, {"a": 1.0, "name": None}], 0.0),
        ([1.0, {"a": None, "name": None}], 0.0),
        ([1.0, {"a": np.array([1.0, 2.0]), "name": 0.0}], 0.0),
    ):
        assert disagreement(right, wrong) is not None


def run(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, RUN, *options], capture_output=True, text=True, timeout=120)


def test_a_quick_run_prints_and_writes_a_table(tmp_path):
    done = run("--quick", "--workload", "sincos", "--no-peers", "--markdown", str(tmp_path / "out.md"))
    assert done.returncode == 0, done.stderr
    head, row = done.stdout.splitlines()[:2]
    assert head.split() == ["workload", "forward", "by", "hand", "gradient", "/", "hand", "/", "forward"]
    assert row.startswith("sincos")
    assert "| sincos |" in (tmp_path / "out.md").read_text(encoding="utf-8")


def test_a_quick_run_of_operations_prints_and_writes_a_table(tmp_path):
    command = [sys.executable, RUN.with_name("carried.py"), "--quick", "--operation", "scalar*"]
    done = subprocess.run([*command, "--json", str(tmp_path / "out.json")], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    head, row, jvp, hvp = done.stdout.splitlines()
    assert head.startswith("operation") and row.startswith("scalar arithmetic")
    assert jvp.startswith("jvp") and hvp.startswith("hvp")
    assert (tmp_path / "out.json").exists()


WRONG = """
import sys
sys.path.insert(0, sys.argv[1])
from benchmarks import run
run.autodiff_hook.gradient = lambda f, x: (0.0,)
sys.exit(run.main(["--quick", "--no-peers", "--workload", "sincos"]))
"""


def test_a_wrong_gradient_fails_the_run():
    command = [sys.executable, "-c", WRONG, RUN.parents[1]]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1, done.stderr
    assert "sincos: ERROR: [0]: relative error 1.0e+00" in done.stdout


def test_an_unknown_workload_is_an_error():
    done = run("--workload", "cosine")
    assert done.returncode == 2 and "there are: " in done.stderr
