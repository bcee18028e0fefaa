"""``importlib.reload``, and what IPython's ``%autoreload`` does on top of it."""

from __future__ import annotations

import pytest

MODULE = """
import functools

def f(x):
    return {k} * x * x

@functools.lru_cache
def cached(x):
    return {k} * x * x

class C:
    v = 3.0

    def m(self, x):
        return {k} * x * x

    @staticmethod
    def s(x):
        return {k} * x * x

    @property
    def p(self):
        return {k} * self.v
"""

CHECK = """
import autodiff_hook as ad, importlib, os
{opt_in}
import edited
from edited import C, cached, f
{late}
kept = C()

def caller(x):
    return f(x) + edited.f(x) + kept.m(x) + C.s(x) + edited.cached(x) + kept.p * x

def edit(k):
    text = open("template.txt").read().replace("{{k}}", repr(k))
    open("edited.py", "w").write(text)
    os.utime("edited.py", (2e9 + k, 2e9 + k))

earlier = []

def autoreload(module):
    '''What superreload of IPython's autoreload does with functions and classes.'''
    earlier.append({{name: vars(module)[name] for name in ("f", "C")}})
    importlib.reload(module)
    for old, new in [(old, vars(module)[name]) for known in earlier for name, old in known.items()]:
        if isinstance(old, type):
            for name, member in list(vars(old).items()):
                if isinstance(member, type(f)):
                    update(member, vars(new)[name])
                if not name.startswith("__"):
                    setattr(old, name, vars(new)[name])
            kept.__class__ = new
        else:
            update(old, new)

def update(old, new):
    for name in ("__code__", "__defaults__", "__doc__", "__closure__", "__globals__", "__dict__"):
        try:
            setattr(old, name, getattr(new, name))
        except (AttributeError, TypeError):
            pass

def slopes(k, functions):
    for _ in range(3):
        for function in functions:
            assert ad.gradient(function, 3.0) == (6.0 * k,), (function, k)
            assert function.J(3.0)[1](1.0)[1] == 6.0 * k, (function, k)

assert ad.gradient(caller, 3.0) == (5 * 12.0 + 6.0,)
slopes(2, [f, edited.f, C.s, edited.cached])
for k in (5, 7):
    edit(k)
    {reload}(edited)
    slopes(k, [edited.f, edited.C.s, edited.cached, edited.cached.__wrapped__{also}])
    for function in (edited.f, edited.C.m, edited.C.s, edited.cached, edited.C.p.fget):
        assert function.J.function is function
    for _ in range(3):
        assert ad.gradient(caller, 3.0) == ({expected}), ad.gradient(caller, 3.0)
"""

RELOADS = {
    "importlib": ("importlib.reload", "", "6.0 * k + 6.0 * k + 3 * 12.0 + 6.0,"),
    "autoreload": ("autoreload", ", f, C.s", "5 * 6.0 * k + 3.0 * k,"),
}
OPTED_IN = {
    "before": ("ad.install('edited')", ""),
    "after": ("", "ad.install('edited')"),
}


@pytest.mark.parametrize("path", [{}, {"AUTODIFF_GENERIC": "1"}, {"AUTODIFF_ONE_WAY": "1"}], ids=str)
@pytest.mark.parametrize("when", OPTED_IN)
@pytest.mark.parametrize("how", RELOADS)
def test_new_code_has_a_J_and_programs_of_its_own(project, how, when, path):
    reload, also, expected = RELOADS[how]
    opt_in, late = OPTED_IN[when]
    project.write("template.txt", MODULE)
    project.write("edited.py", MODULE.replace("{k}", "2"))
    project.check(
        CHECK.format(opt_in=opt_in, late=late, reload=reload, also=also, expected=expected),
        PYTHONDONTWRITEBYTECODE="1",
        **path,
    )


IPYTHON = r"""
from IPython.core.interactiveshell import InteractiveShell
import os, sys
shell = InteractiveShell.instance()
def cell(code):
    result = shell.run_cell(code)
    result.raise_error()
def edit(k):
    text = open("template.txt").read().replace("{k}", repr(k))
    open("edited.py", "w").write(text)
    os.utime("edited.py", (2e9 + k, 2e9 + k))
cell("import autodiff_hook as ad\nad.install('edited')\nimport edited\nfrom edited import C, f\nkept = C()")
cell("def caller(x):\n    return f(x) + edited.f(x) + kept.m(x) + C.s(x)")
cell("%load_ext autoreload\n%autoreload 2")
cell("assert ad.gradient(caller, 3.0) == (48.0,) and f.J(3.0)[1](1.0)[1] == 12.0")
for k in (5, 7):
    edit(k)
    cell("pass")
    cell(f"for _ in range(3):\n    assert ad.gradient(caller, 3.0) == (24.0 * {k},), ad.gradient(caller, 3.0)")
    cell(f"for g in (f, edited.f, C.s, edited.C.s):\n    assert g.J(3.0)[1](1.0)[1] == 6.0 * {k}, g")
    cell(f"assert C.m.J(kept, 3.0)[1](1.0)[2] == edited.C.m.J(kept, 3.0)[1](1.0)[2] == 6.0 * {k}")
"""


@pytest.mark.parametrize(
    "module", [MODULE, PLAIN := MODULE.replace("@functools.lru_cache", "")], ids=["whole", "patched"]
)
def test_autoreload_of_ipython(project, module):
    """A module is executed again, or single functions are patched, which lose their attributes."""
    pytest.importorskip("IPython")
    project.write("template.txt", module)
    project.write("edited.py", module.replace("{k}", "2"))
    done = project.run("-c", IPYTHON, PYTHONDONTWRITEBYTECODE="1", IPYTHONDIR=str(project.root / "ipython"))
    assert done.returncode == 0, done.stdout + done.stderr


def test_functions_that_are_patched_in_a_notebook(project):
    """Where there is no IPython: what it does with functions, and where it would ask for transformations."""
    project.write("edited.py", PLAIN.replace("{k}", "2"))
    project.check(
        r"""
import sys, types
shell = types.SimpleNamespace(ast_transformers=[])
ipython = sys.modules["IPython"] = types.ModuleType("IPython")
ipython.get_ipython = lambda: shell
import autodiff_hook as ad
ad.install("edited")
import edited
def patched():
    namespace = {}
    exec("def f(x):\n    return 5 * x * x", vars(edited), namespace)
    edited.f.__code__ = namespace["f"].__code__
    edited.f.__dict__ = namespace["f"].__dict__
    assert [transformer.visit("tree") for transformer in shell.ast_transformers] == ["tree"]
patched()
assert not hasattr(edited.f, "J")
sys.modules["IPython.extensions.autoreload"] = types.ModuleType("IPython.extensions.autoreload")
patched()
assert edited.f.J.function is edited.f and edited.f.J(3.0)[1](1.0)[1] == 30.0
ad.uninstall("edited")
patched()
assert not hasattr(edited.f, "J")
"""
    )
