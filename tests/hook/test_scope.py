"""The ways in which other hooks "silently did nothing": scope is decided from the function, so all are in scope."""

from __future__ import annotations

import pytest


def test_module_imported_before_install(sample):
    sample.check(
        "import asking, pkg.mod, autodiff_hook\nassert not asking.on(pkg.f)\nautodiff_hook.install('pkg')\n"
        "assert asking.on(pkg.f) and asking.on(pkg.mod.outer(2.0))\n"
        "assert pkg.f.J.function is pkg.f and pkg.mod.C.m.J.function is pkg.mod.C.m\n"
        "assert '__autodiff__' not in vars(pkg)"
    )


@pytest.mark.parametrize("variable", [{}, {"AUTODIFF_MODULES": "pkg"}], ids=["call", "environment"])
def test_run_by_m(sample, variable):
    opt_in = "" if variable else "autodiff_hook.install('pkg')\n"
    sample.write(
        "pkg/tool.py",
        f"def f(x):\n    return x\n\nimport autodiff_hook\n{opt_in}import asking\n"
        "assert __name__ == '__main__'\nprint(asking.on(f), type(f.J).__name__)\n",
    )
    sample.write("pkg/__main__.py", (sample.root / "pkg/tool.py").read_text())
    assert sample.output("-m", "pkg.tool", **variable) == "True AttachedJ"
    assert sample.output("-m", "pkg", **variable) == "True AttachedJ"


def test_main_by_its_name(sample):
    script = sample.write(
        "script.py",
        "import asking, autodiff_hook\ndef f(x):\n    return x\n"
        "assert not asking.on(f)\nautodiff_hook.install('__main__')\nprint(asking.on(f), type(f.J).__name__)\n",
    )
    assert sample.output(script) == "True AttachedJ"


SPAWN = """
import autodiff_hook, multiprocessing, os
{at_module_level}
def ask(_):
    import asking, pkg
    return asking.on(pkg.f), type(pkg.f.J).__name__

if __name__ == "__main__":
    {in_main}
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(*pool.map(ask, [0]))
"""
INSTALL = "autodiff_hook.install('pkg')"


@pytest.mark.parametrize("places", [(INSTALL, "pass"), ("", INSTALL)], ids=["module level", "under __main__"])
def test_spawned_children(sample, places):
    script = sample.write("script.py", SPAWN.format(at_module_level=places[0], in_main=places[1]))
    assert sample.output(script) == "(True, 'AttachedJ')"


TEST_FILE = """
import asking, pkg

def helper(x):
    return x

def test_scope():
    assert asking.on(helper) and asking.on(pkg.f)
    assert [finder.__class__.__name__ for finder in __import__("sys").meta_path].index("Finder") == {position}
    assert ("__autodiff__" in globals()) in {marked}

def test_rewriting():
    value = [1, 2]
    try:
        assert value == [1, 3]
    except AssertionError as error:
        assert "At index 1 diff: 2 != 3" in str(error)
"""
MODES = ["prepend", "append", "importlib"]


def run_pytest(sample, *arguments, **variables):
    done = sample.run("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *arguments, **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout and done.stderr == ""


@pytest.mark.parametrize("mode", MODES)
def test_pytest_with_our_finder_in_front(sample, mode):
    """conftest.py runs after pytest has put its own finder first."""
    sample.write(
        "conftest.py", "import sys, autodiff_hook\nsys.path.insert(0, '.')\nautodiff_hook.install('pkg', 'test_it')\n"
    )
    sample.write("test_it.py", TEST_FILE.format(position=0, marked=[mode != "importlib", True]))
    run_pytest(sample, f"--import-mode={mode}")


@pytest.mark.parametrize("mode", MODES)
def test_pytest_with_its_own_finder_in_front(sample, mode):
    """Switched on before pytest starts: its finder loads the test modules, and they are in scope all the same."""
    sample.write("site/sitecustomize.py", "import autodiff_hook\n")
    sample.write("test_it.py", TEST_FILE.format(position=1, marked=[False]))
    run_pytest(sample, f"--import-mode={mode}", path=(sample.root / "site",), AUTODIFF_MODULES="pkg,test_it")


def test_parents_imported_by_path(sample):
    """pytest --import-mode=importlib imports packages without asking any finder."""
    sample.write("pkg/tests/__init__.py", "def helper(x):\n    return x\n")
    sample.write(
        "pkg/tests/test_it.py", TEST_FILE.format(position=1, marked=[False]) + "\nfrom pkg.tests import helper\n"
    )
    sample.write("site/sitecustomize.py", "import autodiff_hook\n")
    run_pytest(sample, "--import-mode=importlib", path=(sample.root / "site",), AUTODIFF_MODULES="pkg")


def test_other_origins(sample):
    """exec'd code, decorated and nested functions, modules under the name, and none beside it."""
    sample.write("pkgother.py", "def f(x):\n    return x\n")
    sample.check(
        "import autodiff_hook, functools, pkg.mod, pkg.sub, pkgother, types\nautodiff_hook.install('pkg')\n"
        "exec('def made(x): return x', vars(pkg.mod))\n"
        "import asking\nfrom autodiff_hook.config import in_scope\n"
        "for function in (pkg.mod.made, pkg.mod.outer(1), pkg.mod.cached.__wrapped__, pkg.sub.g):\n"
        "    assert asking.on(function)\n"
        "assert not asking.on(pkgother.f) and not in_scope(globals()) and not in_scope({})\n"
        "assert not in_scope({'__name__': 3}) and not in_scope({'__spec__': 3, '__name__': 'x'})\n"
        "assert in_scope({'__spec__': 3, '__name__': 'pkg.x'})\n"
    )


def test_scope_follows_the_configuration(sample):
    sample.check(
        "import asking, autodiff_hook, pkg\nfrom autodiff_hook import config\n"
        "before = config.version\nassert not asking.on(pkg.f)\n"
        "handle = autodiff_hook.install('pkg')\nassert asking.on(pkg.f) and config.version > before\n"
        "between = config.version\nhandle.uninstall()\nassert not asking.on(pkg.f) and config.version > between\n"
    )
