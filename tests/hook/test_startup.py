"""What importing the package loads: next to nothing."""

from __future__ import annotations

import pytest

import autodiff_hook

HEAVY = "('numpy', 'bytecode', 'importlib.metadata', 'logging', 'tomllib', 'typing', 'dataclasses', 'inspect')"
LOADED = f"print([name for name in {HEAVY} if name in sys.modules])\n"
NO_SITE_PACKAGES = "-S"  # the .pth files there import what they like


def output(project, code, **environment):
    return project.output(NO_SITE_PACKAGES, "-c", "import sys, autodiff_hook\n" + code + LOADED, **environment)


@pytest.mark.parametrize("variable", [{}, {"AUTODIFF_MODULES": "pkg"}], ids=["nothing opted in", "a package opted in"])
def test_import_loads_nothing_heavy(sample, variable):
    assert output(sample, "import pkg\n", **variable) == "[]"


def test_install_loads_nothing_heavy(sample):
    assert output(sample, "autodiff_hook.install('pkg')\nimport pkg\nautodiff_hook.uninstall()\n") == "[]"


def test_tomllib_is_loaded_for_the_table_only(project):
    project.write("pyproject.toml", "[tool.other]\n")
    assert output(project, "") == "[]"
    project.write("pyproject.toml", "[tool.autodiff]\n")
    assert "tomllib" in output(project, "")


def test_nothing_opted_in_installs_no_finder(project):
    project.check("import sys\nbefore = list(sys.meta_path)\nimport autodiff_hook\nassert sys.meta_path == before")


def test_the_public_names():
    for name in autodiff_hook.__all__:
        assert getattr(autodiff_hook, name) is not None
    assert set(autodiff_hook.__all__) <= set(dir(autodiff_hook))
    with pytest.raises(AttributeError, match="module 'autodiff_hook' has no attribute 'gradiant'"):
        getattr(autodiff_hook, "gradi" + "ant")
