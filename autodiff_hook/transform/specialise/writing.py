"""Calls that write to an array: what they store there."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from autodiff_hook.ir.types import Constant, Operand, Statement
from autodiff_hook.transform.specialise.abstract import Abstract, Array
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.lattice import number_types
from autodiff_hook.transform.specialise.plans import alias, known_as

_COPYING: Final = (np.ndarray.fill, np.copyto)


def written(
    inf: Inference, s: Statement, function: Any, args: list[Operand], kwargs: dict[str, Operand]
) -> Abstract | None:
    """``np.exp(a, out=b)``, ``b.fill(x)``, ``np.copyto(b, a)``, ``np.fill_diagonal(b, x)``; None if it is none."""
    if isinstance(function, np.ufunc) and set(kwargs) == {"out"} and function.nout == 1 and len(args) == function.nin:
        out = kwargs["out"]
        if not isinstance(inf.type_of(out), Array) or inf.one_way:
            return None
        _store(inf, s, out, Constant(Ellipsis), inf.before(s, "call", [Constant(function), *args], ()))
        return alias(inf, s, out)
    if kwargs or len(args) != 2 or not isinstance(inf.type_of(args[0]), Array):
        return None
    if any(function is f for f in _COPYING):
        _store(inf, s, args[0], Constant(Ellipsis), args[1])
    elif function is np.fill_diagonal and number_types(inf.type_of(args[1])) is not None:
        places = inf.before(s, "call", [Constant(np.diag_indices_from), args[0]], ())
        _store(inf, s, args[0], places, args[1])
    else:
        return None
    return known_as(inf, s, None)


def _store(inf: Inference, s: Statement, *operands: Operand) -> None:
    if inf.one_way:
        inf.before(s, "setitem", list(operands))
    else:
        store_before(inf, s, list(operands))


def store_before(inf: Inference, s: Statement, operands: list[Operand]) -> None:
    """An assignment to an item before the statement at hand."""
    assert inf.block is not None
    inner = Statement("setitem", operands, None, None, s.position)
    if inf.evaluate(inf, inner) is None:
        raise Refused("a store that is several operations")
    inf.block.statements.insert(inf.index, inner)
    inf.index += 1
