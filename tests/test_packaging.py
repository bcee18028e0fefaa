"""The wheel: what is in it, and that every rule pack loads from an installed copy, away from the source tree."""

from __future__ import annotations

import email
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())
ENTRIES = SETTINGS["project"]["entry-points"]["autodiff_hook.rules"]
LOAD = """
import sys
from importlib.metadata import entry_points
for entry in sorted(entry_points(group="autodiff_hook.rules"), key=lambda entry: entry.name):
    print(entry.name, entry.load().__name__)
import autodiff_hook, autodiff_rules
print(autodiff_hook.__version__, *(it.__file__.startswith(sys.prefix) for it in (autodiff_hook, autodiff_rules)))
"""


def run(*command: str | Path, cwd: Path | str) -> str:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("AUTODIFF_", "PYTHON"))}
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=clean, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


FOLDERS = ("autodiff_hook", "benchmarks", "docs", "examples", "rules", "sitecustomize_example", "tests")
MADE = ("__pycache__", ".*", "_build", "generated", "*.egg-info", "sg_execution_times.rst")


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """A copy, so that nothing is left in the tree, and nothing in it but the sources matters."""
    copy = tmp_path_factory.mktemp("packaging") / "source"
    for name in FOLDERS:
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns(*MADE))
    for path in ROOT.iterdir():
        if path.is_file() and not path.name.startswith("."):
            shutil.copy(path, copy)
    return copy


@pytest.fixture(scope="module")
def wheel(source):
    return built(source, "wheel", "*.whl")


def built(source, what, pattern):
    run(sys.executable, "-c", f"from setuptools.build_meta import build_{what}\nbuild_{what}('..')", cwd=source)
    (path,) = source.parent.glob(pattern)
    return path


def metadata(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith("/METADATA")]
        return email.message_from_bytes(archive.read(name))


def test_the_wheel_holds_the_sources_and_nothing_else(wheel):
    version = SETTINGS["tool"]["setuptools"]["dynamic"]["version"]["attr"]
    assert version == "autodiff_hook._version.__version__" and wheel.name.startswith("autodiff_hook-0.1.0-py3")
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    sources = {
        f"autodiff_hook/{path.relative_to(ROOT / 'autodiff_hook')}" for path in (ROOT / "autodiff_hook").rglob("*.py")
    }
    rules = {f"autodiff_rules/{path.relative_to(ROOT / 'rules')}" for path in (ROOT / "rules").rglob("*.py")}
    assert names == sources | rules | {"autodiff_hook/py.typed"}


def test_the_source_distribution_holds_everything(source):
    with tarfile.open(built(source, "sdist", "*.tar.gz")) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    made = {name for name in names if ".egg-info" in name} | {"PKG-INFO", "setup.cfg", ""}
    files = {str(path.relative_to(source)) for path in source.rglob("*") if path.is_file()}
    files = {name for name in files if "__pycache__" not in name and ".egg-info" not in name}
    assert {name for name in files if not name.startswith("build/")} == {
        name for name in names - made if not (source / name).is_dir()
    }


def test_what_an_index_shows(wheel):
    found = metadata(wheel)
    assert found["Author"] == "the autodiff_hook authors" and "automatic differentiation" in found["Keywords"]
    urls = dict(text.split(", ", 1) for text in found.get_all("Project-URL"))
    assert {"Documentation", "Source", "Changelog", "Issues"} <= urls.keys()
    text = found.get_payload()
    assert found["Description-Content-Type"] == "text/markdown" and text.startswith("# autodiff_hook")
    links = re.findall(r"\]\(([^)]+)\)", text)
    files = [link.removeprefix(urls["Source"] + "/") for link in links if link.startswith(urls["Source"])]
    assert files and all((ROOT / name.partition("#")[0]).exists() for name in files)
    assert all(link.startswith(("https://", "#")) for link in links)


def test_no_version_is_forbidden_that_is_not_known_to_fail(wheel):
    bounds = metadata(wheel).get_all("Requires-Dist")
    assert "numpy" in " ".join(bounds) and not [
        text for text in bounds if re.search(r"<|==|~=|!=", text.partition(";")[0])
    ]
    assert metadata(wheel)["Requires-Python"] == ">=3.11"


def test_every_rule_pack_loads_from_an_installed_copy(wheel, tmp_path):
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv", cwd=tmp_path)
    (site,) = (tmp_path / "venv").glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    # The dependencies come from here; a folder named in a .pth file has its own .pth files ignored.
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    lines = run(tmp_path / "venv/bin/python", "-c", LOAD, cwd="/").splitlines()
    assert lines == [*(f"{name} {module}" for name, module in sorted(ENTRIES.items())), "0.1.0 True True"]


def test_the_console_script_works_in_an_installed_copy(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith("/entry_points.txt")]
        entries = archive.read(name).decode()
        archive.extractall(tmp_path)
    assert "[console_scripts]\nautodiff-hook = autodiff_hook.commands.main:main\n" in entries
    code = (
        "import sys; sys.path.insert(0, sys.argv.pop()); from autodiff_hook.commands.main import main; sys.exit(main())"
    )
    assert "opted in: nothing" in run(sys.executable, "-c", code, "status", tmp_path, cwd="/")


def test_every_pack_is_an_entry():
    public = {path.stem for path in (ROOT / "rules").iterdir() if path.stem[0] not in "_."}
    assert {f"autodiff_rules.{name}" for name in public} <= {".".join(it.split(".")[:2]) for it in ENTRIES.values()}
