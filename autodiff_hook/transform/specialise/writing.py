"""Calls that write to an array: what they store there."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_hook.ir.types import Args, Constant, Kwargs, Operand, Statement
from autodiff_hook.transform.specialise.abstract import Abstract, Array
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.plans import alias


def written(inf: Inference, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> Abstract | None:
    """``np.exp(a, out=b)``, ``b.fill(x)``; None if it is none."""
    if "out" in kwargs and is_stored(inf, function, kwargs["out"]):
        return _result_written(inf, s, function, args, kwargs)
    if function is not np.ndarray.fill or kwargs or len(args) != 2 or not isinstance(inf.type_of(args[0]), Array):
        return None
    _store(inf, s, args[0], Constant(Ellipsis), args[1])
    return _done(inf, s, Constant(None))


def _done(inf: Inference, s: Statement, value: Operand) -> Abstract:
    """The call is nothing more: if its block is visited again, what it stores is there already."""
    s.op, s.operands, s.data = "same", [value], None
    return alias(inf, s, value)


def _result_written(inf: Inference, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> Abstract | None:
    rest = dict(kwargs)
    out = rest.pop("out")
    if isinstance(function, np.ufunc) and set(rest) == {"where"}:
        _store(inf, s, out, *_chosen_part(inf, s, function, args, rest["where"], out))
    elif inf.one_way or isinstance(function, np.ufunc) and "where" in rest:
        return None
    else:
        result = inf.before(s, "call", [Constant(function), *args, *rest.values()], tuple(rest))
        _store(inf, s, out, Constant(Ellipsis), result)
    return _done(inf, s, out)


def _chosen_part(
    inf: Inference, s: Statement, function: Any, args: Args, where: Operand, out: Operand
) -> tuple[Operand, Operand]:
    """The elements of ``out`` that a call with ``where`` is for, and what it gives for them."""
    shape = inf.before(s, "getattr", [out], "shape")
    bools = inf.before(s, "call", [Constant(np.asarray), where, Constant(bool)], ())
    chosen = inf.before(s, "call", [Constant(np.broadcast_to), bools, shape], ())
    whole = [inf.before(s, "call", [Constant(np.broadcast_to), x, shape], ()) for x in args]
    parts = [inf.before(s, "getitem", [x, chosen]) for x in whole]
    return chosen, inf.before(s, "call", [Constant(function), *parts], ())


def is_stored(inf: Inference, function: Any, out: Operand) -> bool:
    """Whether a call is one of NumPy's whose one result is stored to an array."""
    if isinstance(function, np.ufunc):
        return function.nout == 1 and isinstance(inf.type_of(out), Array)
    home = getattr(function, "__objclass__", None)
    module = str(getattr(function, "__module__", None) or "")
    of_numpy = module.partition(".")[0] == "numpy" and "random" not in module
    of_array = home in (np.ndarray, np.ufunc) or isinstance(getattr(function, "__self__", None), np.ufunc)
    return isinstance(inf.type_of(out), Array) and (of_array or of_numpy)


def _store(inf: Inference, s: Statement, *operands: Operand) -> None:
    if inf.one_way:
        inf.before(s, "setitem", list(operands))
    else:
        store_before(inf, s, list(operands))


def store_before(inf: Inference, s: Statement, operands: list[Operand]) -> None:
    """An assignment to an item before the statement at hand."""
    inner = Statement("setitem", operands, None, None, s.position)
    if inf.evaluate(inf, inner) is None:
        raise Refused("a store that is several operations")
    inf.insert(inner)
