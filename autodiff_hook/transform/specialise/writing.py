"""Calls that write to an array: what they store there."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from autodiff_hook.ir.types import Constant, Operand, Statement
from autodiff_hook.transform.specialise.abstract import Abstract, Array
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.plans import alias, known_as

_COPYING: Final = (np.ndarray.fill, np.copyto)


def written(
    inf: Inference, s: Statement, function: Any, args: list[Operand], kwargs: dict[str, Operand]
) -> Abstract | None:
    """``np.exp(a, out=b)``, ``b.fill(x)``, ``np.copyto(b, a)``; None if it is something else."""
    if isinstance(function, np.ufunc) and set(kwargs) == {"out"} and function.nout == 1 and len(args) == function.nin:
        out = kwargs["out"]
        if not isinstance(inf.type_of(out), Array) or inf.one_way:
            return None
        store_whole(inf, s, out, inf.before(s, "call", [Constant(function), *args], ()))
        return alias(inf, s, out)
    if kwargs or len(args) != 2 or not any(function is f for f in _COPYING):
        return None
    if not isinstance(inf.type_of(args[0]), Array):
        return None
    store_whole(inf, s, *args)
    return known_as(inf, s, None)


def store_whole(inf: Inference, s: Statement, array: Operand, value: Operand) -> None:
    """``array[...] = value`` before the statement at hand."""
    if inf.one_way:
        inf.before(s, "setitem", [array, Constant(Ellipsis), value])
    else:
        store_before(inf, s, [array, Constant(Ellipsis), value])


def store_before(inf: Inference, s: Statement, operands: list[Operand]) -> None:
    """An assignment to an item before the statement at hand."""
    assert inf.block is not None
    inner = Statement("setitem", operands, None, None, s.position)
    if inf.evaluate(inf, inner) is None:
        raise Refused("a store that is several operations")
    inf.block.statements.insert(inf.index, inner)
    inf.index += 1
