"""Lift, IR and emit stand alone: they can be used, and tested, where there is no NumPy."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import importlib, pkgutil, sys
sys.modules["numpy"] = None
import autodiff_hook.emit, autodiff_hook.ir, autodiff_hook.lift
for package in (autodiff_hook.emit, autodiff_hook.ir, autodiff_hook.lift):
    for module in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)
def f(x, *rest):
    return [x * y for y in rest]
again = type(f)(autodiff_hook.emit.emit(autodiff_hook.lift.lift(f.__code__)), globals())
assert again(2, 3, 4) == f(2, 3, 4)
print([x for x in sys.modules if x.startswith(("autodiff_hook.runtime", "autodiff_hook.transform", "autodiff_rules"))])
"""


def test_no_numpy_and_no_runtime() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr
