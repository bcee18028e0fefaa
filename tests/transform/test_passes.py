"""Each pass on its own: what it makes of the functions of some modules is well formed."""

from __future__ import annotations

import colorsys
import fractions
import heapq
import textwrap
from types import CodeType, FunctionType, ModuleType

import pytest

from autodiff_hook.emit import emit
from autodiff_hook.emit.checking import check_code
from autodiff_hook.errors import Unsupported
from autodiff_hook.ir.verifier import verify
from autodiff_hook.lift import lift
from autodiff_hook.runtime.functions import analyse, runtime_table
from autodiff_hook.transform.generic.forward import forward_pass
from autodiff_hook.transform.generic.normalise import normalise
from autodiff_hook.transform.generic.pushforward import pushforward_pass
from autodiff_hook.transform.generic.reverse import reverse_pass


def codes(module: ModuleType) -> list[CodeType]:
    """The code objects of the functions and methods of a module, nested ones included."""
    found = [f.__code__ for f in vars(module).values() if isinstance(f, FunctionType)]
    for cls in vars(module).values():
        if isinstance(cls, type) and cls.__module__ == module.__name__:
            found += [f.__code__ for f in vars(cls).values() if isinstance(f, FunctionType)]
    for code in found:
        found += [c for c in code.co_consts if isinstance(c, CodeType)]
    return found


@pytest.mark.parametrize("module", [colorsys, fractions, heapq, textwrap])
def test_programs_are_well_formed_after_every_pass(module):
    table = {**runtime_table(), "tuple_tangent": tuple}
    passed = 0
    for code in codes(module):
        try:
            ir = lift(code)
            verify(ir)
            normalise(ir)
            verify(ir)
            primal = analyse(code, vars(module))
        except Unsupported:
            continue
        for made in (forward_pass(primal, table), reverse_pass(primal, table), pushforward_pass(primal, table)):
            verify(made)
            check_code(emit(made))
            check_code(emit(made, release=True))
        passed += 1
    assert passed
