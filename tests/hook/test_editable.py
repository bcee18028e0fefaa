"""A package that setuptools has installed in editable mode, whose finder is the last one on ``sys.meta_path``."""

from __future__ import annotations

import zipfile

PYPROJECT = """
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"
[project]
name = "editable-sample"
version = "1"
[tool.setuptools]
packages = ["pkg"]
[tool.setuptools.package-dir]
pkg = "source"
"""


def test_editable_install(project):
    source = project.root / "project"
    project.write("project/source/__init__.py", "def f(x):\n    return x\n")
    project.write("project/pyproject.toml", PYPROJECT)
    done = project.run("-c", "from setuptools.build_meta import build_editable\nbuild_editable('..')", cwd=source)
    assert done.returncode == 0, done.stderr
    site = project.root / "site"
    (wheel,) = project.root.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    project.check(
        f"import site, sys\nsite.addsitedir({str(site)!r})\n"
        "assert sys.meta_path[-1].__name__ == '_EditableFinder'\n"
        "import autodiff_hook\nautodiff_hook.install('pkg')\nimport pkg\n"
        "assert pkg.__autodiff__ == 'pkg' and pkg.f.J.function is pkg.f and pkg.__path__\n"
    )
