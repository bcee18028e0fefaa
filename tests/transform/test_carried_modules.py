"""What is made of the functions of some modules is well formed when it is carried."""

from __future__ import annotations

import colorsys
import contextlib
import fractions
import heapq
import textwrap
from asyncio import base_events
from types import CodeType, FunctionType, ModuleType

import pytest
from code_checks import check_code

from autodiff_hook.emit import emit
from autodiff_hook.errors import Unsupported
from autodiff_hook.ir.verifier import verify
from autodiff_hook.semantics.analysing import analyse
from autodiff_hook.semantics.table import TABLE
from autodiff_hook.transform.generic.carrying import carrying_pass


def codes(module: ModuleType) -> list[CodeType]:
    """The code objects of the functions and methods of a module, nested ones included."""
    found = [f.__code__ for f in vars(module).values() if isinstance(f, FunctionType)]
    for cls in vars(module).values():
        if isinstance(cls, type) and cls.__module__ == module.__name__:
            found += [f.__code__ for f in vars(cls).values() if isinstance(f, FunctionType)]
    for code in found:
        found += [c for c in code.co_consts if isinstance(c, CodeType)]
    return found


@pytest.mark.parametrize("module", [base_events, colorsys, contextlib, fractions, heapq, textwrap])
def test_carried_programs_are_well_formed(module):
    passed = 0
    for code in codes(module):
        try:
            primal = analyse(code, vars(module))
        except Unsupported:
            continue
        verify(primal.ir)
        carried = carrying_pass(primal, TABLE)
        verify(carried)
        check_code(emit(carried))
        check_code(emit(carried, lifetimes=True))
        passed += 1
    assert passed
