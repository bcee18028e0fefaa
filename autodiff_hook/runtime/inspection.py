"""What the compiler makes of a function, as text."""

from __future__ import annotations

from types import FunctionType, MethodType
from typing import Any

from autodiff_hook.errors import Unsupported
from autodiff_hook.ir.printer import to_text
from autodiff_hook.lift import lift
from autodiff_hook.runtime.functions import analyse, runtime_table
from autodiff_hook.transform.forward import forward_pass
from autodiff_hook.transform.reverse import reverse_pass


def _function(f: Any) -> FunctionType:
    if isinstance(f, MethodType):
        f = f.__func__
    if not isinstance(f, FunctionType):
        raise Unsupported(f"{f!r} is not a Python function: there is no bytecode to show")
    return f


def ir_text(f: Any) -> str:
    """The SSA form of a function."""
    return to_text(lift(_function(f).__code__), lines=True)


def adjoint_text(f: Any) -> str:
    """The forward and the reverse pass of a function."""
    function = _function(f)
    primal = analyse(function.__code__, function.__globals__)
    table = runtime_table()
    passes = forward_pass(primal, table), reverse_pass(primal, table)
    return "\n\n".join(to_text(ir, lines=True) for ir in passes)
