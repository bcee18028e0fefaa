"""Versions of CPython that are not installed: as WebAssembly, in Node.js.

``AUTODIFF_PYODIDE`` names folders of the npm package ``pyodide`` (``node_modules/pyodide``), one for each version.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PACKAGES = [x for x in os.environ.get("AUTODIFF_PYODIDE", "").split(os.pathsep) if x]


@pytest.mark.skipif(not PACKAGES, reason="AUTODIFF_PYODIDE names no package")
@pytest.mark.skipif(shutil.which("node") is None, reason="no Node.js")
@pytest.mark.parametrize("package", PACKAGES)
def test_on_webassembly(package: str) -> None:
    command = ["node", str(HERE / "run.mjs"), package, str(HERE.parent.parent)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    print(done.stdout)
