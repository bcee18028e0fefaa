"""What imports through the hook must leave as it is: a row of HOOK.md's check table each."""

from __future__ import annotations

import zipfile

import pytest

PRELUDE = "import autodiff_hook, sys\nautodiff_hook.install('pkg')\n"

CHECKS = {
    "functions see the mark through their globals": """
import pkg.mod
for function in (pkg.f, pkg.mod.C.m, pkg.mod.C().m, pkg.mod.outer(1), pkg.mod.C.Inner.m):
    assert function.__globals__["__autodiff__"] == "pkg"
""",
    "the real loader stands in the module, also while it runs": """
import importlib.machinery as machinery, pkg.mod
assert type(pkg.mod.__spec__.loader) is type(pkg.mod.__loader__) is machinery.SourceFileLoader
assert pkg.mod.DURING == ["SourceFileLoader", "SourceFileLoader", True]
""",
    "the pyc has the usual name": """
import os, pkg.mod, importlib.util
assert pkg.mod.__cached__ == importlib.util.cache_from_source(pkg.mod.__file__)
assert sorted(os.listdir("pkg/__pycache__")) == sorted(
    f"{name}.{sys.implementation.cache_tag}.pyc" for name in ("__init__", "mod"))
""",
    "source and resources are found": """
import importlib.resources, inspect, pkgutil, pkg.mod
assert inspect.getsource(pkg.f).startswith("def f(x: float")
assert pkgutil.get_data("pkg", "data.txt") == b"some data"
assert importlib.resources.files("pkg").joinpath("data.txt").read_text() == "some data"
assert [module.name for module in pkgutil.iter_modules(pkg.__path__)] == ["mod", "sub"]
""",
    "find_spec without an import": """
import importlib.machinery as machinery, importlib.util, pickle
spec = importlib.util.find_spec("pkg")
assert isinstance(spec.loader, machinery.SourceFileLoader)
assert spec.loader.get_source("pkg") == "from pkg.mod import f\\n"
assert type(pickle.loads(pickle.dumps(spec.loader))) is machinery.SourceFileLoader
assert "pkg" not in sys.modules
""",
    "find_spec of an imported module": """
import importlib.machinery as machinery, importlib.util, pkg
assert type(importlib.util.find_spec("pkg").loader) is machinery.SourceFileLoader
""",
    "pickle": """
import copy, pickle, pkg.mod
for thing in (pkg.f, pkg.mod.C, pkg.mod.C.m, pkg.mod.C.Inner, pkg.mod.cached):
    assert pickle.loads(pickle.dumps(thing)) is thing
    assert copy.copy(thing) is copy.deepcopy(thing) is thing
assert type(pickle.loads(pickle.dumps(pkg.mod.__loader__))) is type(pkg.mod.__loader__)
assert pickle.loads(pickle.dumps(pkg.f.J)).function is pkg.f
assert copy.deepcopy(pkg.f.J).function is pkg.f
""",
    "reload": """
import importlib.machinery, pkg.mod
before = pkg.mod.f
again = importlib.reload(pkg.mod)
assert again is pkg.mod and again.f is not before and again.__autodiff__ == "pkg"
assert type(again.__loader__) is type(again.__spec__.loader) is importlib.machinery.SourceFileLoader
assert again.f.J.function is again.f
""",
    "a lazy loader": """
import importlib.machinery, importlib.util
spec = importlib.util.find_spec("pkg.mod")
spec.loader = importlib.util.LazyLoader(spec.loader)
module = sys.modules["pkg.mod"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
assert module.f.J.function is module.f and module.__autodiff__ == "pkg"
assert type(module.__loader__) is importlib.machinery.SourceFileLoader
""",
    "modules outside are left alone": """
import json.tool, autodiff_hook.testing
assert not hasattr(json.dumps, "J") and "__autodiff__" not in vars(json)
""",
}


@pytest.mark.parametrize("check", CHECKS)
def test_import_machinery_is_unchanged(sample, check):
    sample.check(PRELUDE + CHECKS[check])


def test_marks_are_there_before_the_first_line_runs(project):
    project.write("pkg.py", "assert __autodiff__ == 'pkg'\n")
    project.check(PRELUDE + "import pkg")


def test_namespace_package_keeps_its_path(project):
    project.write("pkg/mod.py", "def f(x):\n    return x\n")
    project.check(
        PRELUDE
        + "import pkg.mod\nassert type(pkg.__path__).__name__ == '_NamespacePath'\nassert pkg.__file__ is None\n"
        "assert '__autodiff__' not in vars(pkg) and pkg.mod.f.J.function is pkg.mod.f"
    )


def test_zip_import(project):
    with zipfile.ZipFile(project.root / "archive.zip", "w") as archive:
        archive.writestr("pkg/__init__.py", "")
        archive.writestr("pkg/mod.py", "def f(x):\n    return x\n")
        archive.writestr("pkg/data.txt", "some data")
    project.check(
        "import autodiff_hook, inspect, pkgutil, sys, zipimport\n"
        "sys.path.insert(0, 'archive.zip')\n"
        "autodiff_hook.install('pkg')\nimport pkg.mod\n"
        "assert type(pkg.mod.__loader__) is zipimport.zipimporter and pkg.mod.__autodiff__ == 'pkg'\n"
        "assert inspect.getsource(pkg.mod.f).startswith('def f') and pkg.mod.f.J.function is pkg.mod.f\n"
        "assert pkgutil.get_data('pkg', 'data.txt') == b'some data'"
    )


def test_everything(project):
    """Built-in, frozen and extension modules load as ever when all modules are opted in."""
    project.check(
        "import autodiff_hook, sys\nautodiff_hook.install('*')\n"
        "import _ctypes, marshal, zipimport, json, statistics, numpy\n"
        "assert type(_ctypes.__loader__).__name__ == 'ExtensionFileLoader'\n"
        "assert '__autodiff__' not in vars(_ctypes) and '__autodiff__' not in vars(zipimport)\n"
        "assert statistics.mean.J.function is statistics.mean and not hasattr(autodiff_hook.install, 'J')"
    )


def test_threads(project):
    """No circle of imports: CPython 3.11 by itself sometimes finds a deadlock in one that many threads import."""
    for number in range(40):
        following = f"import pkg.m{number + 1}\n" if number < 39 else ""
        project.write(f"pkg/m{number}.py", f"{following}def f(x):\n    return {number} * x\n")
    project.write("pkg/__init__.py", "")
    project.check(
        PRELUDE + "import importlib, threading\nfailures = []\nbarrier = threading.Barrier(120)\n"
        "def work(number):\n"
        "    barrier.wait()\n"
        "    try:\n"
        "        module = importlib.import_module(f'pkg.m{number % 40}')\n"
        "        assert module.f.J.function is module.f and module.__autodiff__ == 'pkg'\n"
        "    except BaseException as error:\n"
        "        failures.append(error)\n"
        "threads = [threading.Thread(target=work, args=(number,)) for number in range(120)]\n"
        "for thread in threads: thread.start()\n"
        "for thread in threads: thread.join(60)\n"
        "assert not failures, failures"
    )


def test_another_finder_that_asks_all_the_others(sample):
    """Two such finders ask each other; neither may loop."""
    sample.check(
        """
import sys
class Asking:
    def find_spec(self, name, path=None, target=None):
        for finder in sys.meta_path:
            if finder is not self and (spec := finder.find_spec(name, path, target)):
                return spec
sys.meta_path.insert(0, Asking())
"""
        + PRELUDE
        + "import pkg\nassert pkg.f.J.function is pkg.f"
    )


FAILING = {
    "ZeroDivisionError": "def broken():\n    return 1 / 0\n\nbroken()\n",
    "ImportError": "from math import nothing_of_that_name\n",
    "ModuleNotFoundError": "import no_module_of_that_name\n",
    "SyntaxError": "def f(:\n",
}


PLAIN = "import autodiff_hook, importlib, sys\n"


@pytest.mark.parametrize("error", FAILING)
def test_traceback_of_a_failing_import_is_the_plain_one(project, error):
    project.write("pkg/__init__.py", "from pkg import mod\n")
    project.write("pkg/mod.py", FAILING[error])
    script = project.write("script.py", PLAIN + "None\nimport pkg\n")
    plain = project.run(script).stderr
    assert plain.splitlines()[-1].startswith(error) and plain.count("File") in (3, 4)
    script.write_text(PLAIN + "autodiff_hook.install('pkg')\nimport pkg\n")
    assert project.run(script).stderr == plain


@pytest.mark.parametrize("call", ["importlib.import_module('pkg.mod')", "importlib.reload(sys.modules['pkg'])"])
def test_traceback_of_an_import_by_call(project, call):
    """Python shows importlib's own frames there; ours count among them."""
    project.write("pkg/__init__.py", "if '__again__' in globals():\n    1 / 0\n__again__ = True\n")
    project.write("pkg/mod.py", FAILING["ZeroDivisionError"])
    script = project.write("script.py", PLAIN + f"None\nimport pkg\n{call}\n")
    plain = project.run(script).stderr.splitlines()
    script.write_text(PLAIN + f"autodiff_hook.install('pkg')\nimport pkg\n{call}\n")
    hooked = project.run(script).stderr.splitlines()
    assert "ZeroDivisionError" in plain[-1]
    assert [line for line in hooked if "<frozen" not in line] == [line for line in plain if "<frozen" not in line]
