"""Interpreters that nothing can be differentiated on: a warning at import, an error at the first derivative."""

from __future__ import annotations

import sys

import pytest

from autodiff_hook.interpreter import SUPPORTED

OTHERS = {
    "a later version": ("sys.version_info = (3, 99, 0, 'final', 0)", "CPython 3.99"),
    "an earlier version": ("sys.version_info = (3, 10, 13, 'final', 0)", "CPython 3.10"),
    "another implementation": (
        "import types\nsys.implementation = types.SimpleNamespace(**{**vars(sys.implementation), 'name': 'pypy'})",
        f"PyPy {sys.version_info[0]}.{sys.version_info[1]}",
    ),
}


@pytest.mark.parametrize("pretence", OTHERS)
def test_an_unsupported_interpreter(sample, pretence):
    change, name = OTHERS[pretence]
    reason = f"{name} is not supported: autodiff_hook works on CPython 3.11, "
    done = sample.run(
        "-c",
        f"""
import sys
{change}
import autodiff_hook as ad
import autodiff_hook.loader, pkg.mod
from autodiff_hook import gradient, value_and_grad, J
def is_refused(f, *args):
    try:
        f(*args)
    except ad.Unsupported as error:
        return str(error).startswith({reason!r})
for f in (gradient, ad.jacobian, value_and_grad, J, pkg.f.J, ad.code_ir):
    assert is_refused(f, pkg.f, 1.0), f
assert is_refused(__import__, "autodiff_hook.api")
assert "numpy" not in sys.modules
print(ad.status())
""",
        AUTODIFF_MODULES="pkg",
    )
    assert done.returncode == 0, done.stderr
    (warning,) = sample.warned(done.stderr)
    assert warning.startswith(f"AutodiffWarning: {reason}")
    assert done.stdout.startswith(reason) and "opted in: pkg (environment)" in done.stdout


def test_this_interpreter_is_supported(sample):
    assert sys.version_info[:2] in SUPPORTED
    sample.check("import autodiff_hook as ad\nassert 'supported' not in str(ad.status())")


@pytest.mark.parametrize("build", ["lambda: False", "lambda: True"], ids=["lock off", "lock on"])
def test_a_free_threaded_build_is_told_when_the_engine_is_imported(sample, build):
    done = sample.run(
        "-c",
        f"""
import sys, sysconfig
sys._is_gil_enabled = {build}
sysconfig.get_config_vars()["Py_GIL_DISABLED"] = 1
import autodiff_hook as ad
print("imported", file=sys.stderr)
assert [ad.gradient(lambda x: x * x, 3.0), ad.grad(lambda x: x)(1.0)] == [(6.0,), 1.0]
""",
    )
    assert done.returncode == 0, done.stderr
    first, rest = done.stderr.split("\n", 1)
    (warning,) = sample.warned(rest)
    assert first == "imported" and warning.startswith("AutodiffWarning: CPython without the global interpreter lock")
