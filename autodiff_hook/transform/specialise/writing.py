"""Calls that write to an array: what they store there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_hook.ir.types import Args, Constant, Kwargs, Operand, Statement, Variable
from autodiff_hook.runtime.overlaps import in_pieces
from autodiff_hook.transform.specialise.abstract import Abstract, Array
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.lattice import number_types
from autodiff_hook.transform.specialise.plans import alias, checked, known_as
from autodiff_hook.transform.specialise.program import Given
from autodiff_hook.transform.specialise.questions import OF_ALL_WAYS
from autodiff_hook.transform.specialise.views import may_show, store_before


def writing(
    inf: Inference, s: Statement, function: Any, args: Args, kwargs: Kwargs
) -> Callable[[], Abstract | None] | None:
    """What does ``np.exp(a, out=b)`` or ``b.fill(x)``; None if it is none."""
    if function is np.fill_diagonal and len(args) > 1 and not inf.one_way and may_show(inf, args[1], args[0]):
        raise Refused("the diagonal of an array is filled with what the array shows")
    if function is np.ndarray.fill and not kwargs and len(args) == 2 and isinstance(inf.type_of(args[0]), Array):
        return lambda: _filled(inf, s, *args)
    if "out" not in kwargs or not is_stored(inf, function, kwargs["out"]):
        return None
    rest = {name: x for name, x in kwargs.items() if name != "out"}
    if isinstance(function, np.ufunc) and set(rest) == {"where"}:
        return lambda: _part_written(inf, s, function, args, rest["where"], kwargs["out"])
    if inf.one_way or isinstance(function, np.ufunc) and "where" in rest or in_pieces(function):
        return None
    return lambda: _result_written(inf, s, function, args, rest, kwargs["out"])


def _filled(inf: Inference, s: Statement, array: Operand, value: Operand) -> Abstract:
    _store(inf, s, array, Constant(Ellipsis), value)
    return _done(inf, s, Constant(None))


def _done(inf: Inference, s: Statement, value: Operand) -> Abstract:
    """The call is nothing more: if its block is visited again, what it stores is there already."""
    _write_done(s, value)
    return alias(inf, s, value)


def _write_done(s: Statement, value: Operand) -> None:
    s.op, s.operands, s.data = "same", [value], None


def _part_written(inf: Inference, s: Statement, function: Any, args: Args, where: Operand, out: Operand) -> Abstract:
    chosen, part = _chosen_part(inf, s, function, args, where, out)
    _require_same_dtype(inf.type_of(out), inf.type_of(part))
    _store(inf, s, out, chosen, part)
    return _done(inf, s, out)


def _result_written(
    inf: Inference, s: Statement, function: Any, args: Args, rest: Kwargs, out: Operand
) -> Abstract | None:
    made = Statement("call", [Constant(function), *args, *rest.values()], Variable(), tuple(rest), s.position)
    # A ufunc broadcasts to the array; what else there is wants an array of the shape of the result.
    exact = Constant(not isinstance(function, np.ufunc))
    like = Statement("call", [Constant(require_like), out, made.made, exact], Variable(), (), s.position)
    store = Statement("setitem", [out, Constant(Ellipsis), made.made], None, None, s.position)
    _write_done(s, out)
    return inf.first(made, like, store)


def require_like(array: Any, result: Any, exact: bool) -> None:
    """Give up where NumPy computes with other numbers, or refuses, since the array for a result has another form."""
    if array.dtype != result.dtype or exact and array.shape != np.shape(result):
        raise Given("a result for which there is an array of another form")


def _like(inf: Inference, s: Statement, args: Args) -> Abstract:
    array, result = map(inf.type_of, args[:2])
    _require_same_dtype(array, result)
    sure = args[2] == Constant(False) and isinstance(array, Array) and array.dtype is not None
    return known_as(inf, s, None) if sure else checked(inf, s, args)


def _require_same_dtype(array: Abstract, result: Abstract) -> None:
    """Refuse what is of another dtype than the array for it, if that is known."""
    types = frozenset({result.dtype.type}) if isinstance(result, Array) and result.dtype else number_types(result)
    if isinstance(array, Array) and array.dtype and types and types != frozenset({array.dtype.type}):
        raise Refused("a result for which there is an array of another type")


OF_ALL_WAYS[require_like] = _like


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
