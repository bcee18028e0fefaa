"""The types of the public API, as mypy and pyright see them: wrong arguments are found before a gradient is taken.

Both have to find the package where it is installed: as a wheel, and in editable mode, where they run no import hooks.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


@pytest.fixture(scope="module", params=["wheel", "editable"])
def installed(request, tmp_path_factory):
    """The interpreter of a virtual environment in which the package is installed."""
    folder = tmp_path_factory.mktemp(request.param)
    source = folder / "source"
    for name in ("autodiff_hook", "rules"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    build = f"build_{request.param}"
    finished([sys.executable, "-c", f"from setuptools.build_meta import {build}\n{build}('..')"], source)
    finished([sys.executable, "-m", "venv", "--without-pip", str(folder / "venv")], folder)
    (site,) = (folder / "venv").glob("lib/python*/site-packages")
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    # The dependencies come from here; a folder named in a .pth file has its own .pth files ignored.
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder / "venv" / "bin" / "python"


def finished(command, cwd):
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("AUTODIFF_", "PYTHON", "MYPY"))}
    done = subprocess.run(command, cwd=cwd, env=clean, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 or "uses.py" in done.stdout, done.stdout + done.stderr
    return done.stdout


def mypy(python, uses):
    options = ["--strict", "--config-file=", "--cache-dir", str(uses.parent), "--python-executable", str(python)]
    return re.findall(
        r"uses\.py:(\d+): error", finished([sys.executable, "-m", "mypy", *options, str(uses)], uses.parent)
    )


def pyright(python, uses):
    pytest.importorskip("pyright")
    fetched = subprocess.run(
        [sys.executable, "-m", "pyright", "--version"], capture_output=True, text=True, timeout=300
    )
    if fetched.returncode:
        pytest.skip(f"pyright cannot be fetched: {fetched.stderr.strip()[-200:]}")
    settings = {"include": ["uses.py"], "typeCheckingMode": "standard"}
    (uses.parent / "pyrightconfig.json").write_text(json.dumps(settings))
    options = ["--project", str(uses.parent), "--pythonpath", str(python)]
    return re.findall(r"uses\.py:(\d+):\d+ - error", finished([sys.executable, "-m", "pyright", *options], uses.parent))


@pytest.mark.parametrize("check", [mypy, pyright])
def test_uses_that_are_wrong_are_found_and_no_others(check, installed, tmp_path):
    uses = tmp_path / "uses.py"
    shutil.copy(HERE / "uses.py", uses)
    lines = uses.read_text(encoding="utf-8").splitlines()
    expected = {number for number, line in enumerate(lines, 1) if line.endswith("# error")}
    assert {int(line) for line in check(installed, uses)} == expected


def test_an_editable_install_is_a_plain_path(installed):
    (site,) = installed.parents[1].glob("lib/python*/site-packages")
    assert not [path for path in site.glob("__editable__*.py")], "an import hook, which checkers do not run"
    code = "import autodiff_hook as ad, autodiff_rules.numpy as n; print(ad.gradient(lambda x: x * x, 3.0), n.__name__)"
    assert finished([str(installed), "-c", code], "/") == "(6.0,) autodiff_rules.numpy\n"


def test_an_editable_install_is_compiled(installed):
    source = installed.parents[2] / "source"
    if not (source / "build" / "editable").exists():
        pytest.skip("what a wheel holds is compiled by who installs it")
    found = [path for name in ("autodiff_hook", "rules") for path in (source / name).rglob("*.py")]
    cached = [Path(importlib.util.cache_from_source(path)) for path in found]
    assert found and all(path.exists() for path in cached)
