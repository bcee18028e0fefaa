"""Python functions in the place of calls of them."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from autodiff_hook.ir.types import Args, Kwargs, Operand, Statement, Variable
from autodiff_hook.runtime.native import compiled_from
from autodiff_hook.transform.specialise.abstract import Abstract
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.world import bind_to


def inline_call(inf: Inference, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> Abstract | None:
    """Put a function from outside, written in Python, in the place of a call."""
    placed = inf.callees.place(inf, s, function, args, kwargs) if inf.callees is not None else None
    if placed is not None:
        return placed
    inf.world.function(function)
    cells: list[Operand] = []
    for cell in function.__closure__ or ():
        variable = Variable()
        inf.cells[variable] = inf.world.captured(cell)
        cells.append(variable)
    call = bind_to(inf.world, function, args, kwargs)
    inf.inline(s, function.__code__, function.__globals__, call, cells)
    return None


def implementation(function: Any) -> FunctionType | None:
    """The Python code behind a dispatcher of NumPy's, or one of Numba's."""
    inner = getattr(function, "_implementation", None) if type(function).__module__ == "numpy" else None
    return inner if type(inner) is FunctionType else compiled_from(function)
