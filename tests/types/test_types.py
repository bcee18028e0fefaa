"""The types of the public API, as mypy sees them: wrong arguments of a gradient are found before it is taken."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import autodiff_hook

HERE = Path(__file__).parent
HOME = Path(autodiff_hook.__file__).resolve().parents[1]


def test_uses_that_are_wrong_are_found_and_no_others(tmp_path):
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir", str(tmp_path)]
    environment = {**os.environ, "MYPYPATH": str(HOME)}
    uses = HERE / "uses.py"
    done = subprocess.run([*command, str(uses)], capture_output=True, text=True, cwd=tmp_path, env=environment)
    found = {int(line) for line in re.findall(r"uses\.py:(\d+): error", done.stdout)}
    lines = uses.read_text(encoding="utf-8").splitlines()
    assert found == {number for number, line in enumerate(lines, 1) if line.endswith("# error")}, done.stdout
