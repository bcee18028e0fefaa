"""NumPy calls that write: ``out=``, ``np.copyto``, ``ndarray.fill``, as stores of what they compute."""

from __future__ import annotations

import inspect
from functools import cache
from types import MethodDescriptorType
from typing import Any, Final

import numpy as np

from autodiff_hook.runtime.context import Context, Pullback, Sweep
from autodiff_hook.runtime.cotangents import accumulate
from autodiff_hook.runtime.handlers import handles
from autodiff_hook.runtime.items import store_into_array
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.opaque import array_mutation, arrays_in, call_native, call_opaque, flows_in, live

Result = tuple[Any, Pullback | None]


_DISPATCHED: Final = type(np.sum)
_WITHOUT_SIGNATURE: Final = {np.dot: 2, np.concatenate: 2}
"""Where functions take the array for their result that say nothing about their parameters before NumPy 2.3."""


@cache
def _place_of_out(function: Any) -> int | None:
    """Where a function of NumPy's takes the array for its result; the method of its name, called with an array, too."""
    if type(function) is MethodDescriptorType:
        function = getattr(np, function.__name__, None) if function.__objclass__ is np.ndarray else None
    if type(function) is not _DISPATCHED:
        return None
    try:
        parameters = inspect.signature(function).parameters
    except ValueError:
        return _WITHOUT_SIGNATURE.get(function)
    out = parameters.get("out")
    by_place = out is not None and out.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    return list(parameters).index("out") if by_place else None


def _named_out(function: Any, args: tuple[Any, ...]) -> bool:
    """Whether an array for the result is among the positional arguments."""
    place = _place_of_out(function) if type(function) in (MethodDescriptorType, _DISPATCHED) else None
    return place is not None and len(args) > place and args[place] is not None


def writes_result(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether this is a call of NumPy's with an array for its result."""
    if isinstance(function, np.ufunc):
        return len(args) > function.nin or kwargs.get("out") is not None
    if len(args) > 1 and _named_out(function, args):
        raise array_mutation("an array for the result that is not given by name (out=…) is")
    return kwargs.get("out") is not None and (
        type(function).__module__ == "numpy"
        or getattr(function, "__objclass__", None) is np.ndarray
        or str(getattr(function, "__module__", "")).startswith("numpy")
    )


def call_with_out(ctx: Context, w: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
    """A call with an array for its result: the call without it, then a store of all of it."""
    from autodiff_hook.runtime.calls import apply

    count = len(args)
    if kwargs.get("out") is None:
        place = function.nin
        out, rest, options = args[place], args[:place], kwargs
        witnesses = (*w[: 1 + place], *w[1 + count :])
    else:
        names = list(kwargs)
        place = count + names.index("out")
        out, rest, options = kwargs["out"], args, {k: v for k, v in kwargs.items() if k != "out"}
        witnesses = (*w[: 1 + place], *w[2 + place :])
        if isinstance(out, tuple) and len(out) == 1:
            out = out[0]
    values = [*rest, *options.values()]
    matters = flows_in(ctx, witnesses[1:], values)
    if kind_of(type(out)) != "array" or not (matters or live(ctx, w[1 + place], out)):
        return call_native(ctx, function, args, kwargs, flows=matters)
    if options.get("where", True) is not True:
        raise array_mutation("a call with where= and out= writes to")
    if getattr(function, "signature", None) is not None:
        return call_opaque(ctx, w[1:], function, args, kwargs, "which writes its result to an array")
    value, pullback = apply(ctx, witnesses, function, rest, options)
    store = store_into_array(ctx, (w[1 + place], None, pullback), out, ..., value)
    return out, None if store is None else _out_pullback(store, pullback, place)


def _out_pullback(store: Pullback, pullback: Pullback | None, place: int) -> Pullback:
    def out_pullback(sweep: Sweep, cotangent: Any) -> Any:
        given = store(sweep, None)
        value = accumulate(cotangent, None if given is None else given[2])
        if pullback is None or value is None:
            return None
        before = pullback(sweep, value)
        return before and (*before[: 1 + place], None, *before[1 + place :])

    return out_pullback


@handles(np.vectorize.__call__)
def vectorized(ctx: Context, w: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
    """Calling a ``np.vectorize``, which runs Python code for each element."""
    function, *rest = args
    return call_opaque(ctx, w[1:], function, tuple(rest), kwargs, "which calls Python code for each element of arrays")


@handles(np.nditer)
def iterated(ctx: Context, w: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
    """``np.nditer``, which hands out parts of arrays to be written to."""
    values = [*args, *kwargs.values()]
    arrays = [x for v in values for x in arrays_in(v)]
    matters = any(live(ctx, x, v) for x, v in zip(w, values)) or any(map(ctx.buffers.is_held, arrays))
    if matters and "op_flags" in kwargs:
        raise array_mutation("np.nditer may write to")
    return call_opaque(ctx, w, np.nditer, args, kwargs, "which hands out parts of arrays")


@handles(np.copyto)
def copyto(ctx: Context, w: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
    """``np.copyto(target, source)``."""
    if len(args) != 2 or kwargs.get("where", True) is not True:
        matters = any(live(ctx, x, v) for x, v in zip(w, [*args, *kwargs.values()]))
        return call_native(ctx, np.copyto, args, kwargs, flows=matters)
    return None, _last_of(store_into_array(ctx, (w[0], None, w[1]), args[0], ..., args[1]))


@handles(np.ndarray.fill)
def fill(ctx: Context, w: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
    """``array.fill(value)``."""
    return None, _last_of(store_into_array(ctx, (w[0], None, w[1]), args[0], ..., args[1]))


def _last_of(store: Pullback | None) -> Pullback | None:
    if store is None:
        return None

    def fill_pullback(sweep: Sweep, cotangent: Any) -> Any:
        given = store(sweep, None)
        return None if given is None else (None, given[2])

    return fill_pullback


_REDUCTIONS: Final = {np.add: np.sum, np.multiply: np.prod, np.maximum: np.max, np.minimum: np.min}
_REDUCE_PARAMETERS: Final = ("axis", "dtype", "out", "keepdims", "initial", "where")


@handles(np.ufunc.reduce)
def reduce_by(ctx: Context, w: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
    """``np.add.reduce(array)`` and its kin, as the functions of their own that NumPy has for them."""
    from autodiff_hook.runtime.calls import apply

    function = _REDUCTIONS.get(args[0])
    if function is None or len(args) < 2:
        return call_opaque(ctx, w, np.ufunc.reduce, args, kwargs, "which is not Python code and has no rule")
    options = {"axis": 0, **dict(zip(_REDUCE_PARAMETERS, args[2:])), **kwargs}
    options = {name: value for name, value in options.items() if value is not None or name == "axis"}
    value, pullback = apply(ctx, (None, w[1], *(None,) * len(options)), function, (args[1],), options)
    if pullback is None:
        return value, None

    def reduce_pullback(sweep: Sweep, cotangent: Any) -> Any:
        given = pullback(sweep, cotangent)
        return None if given is None else (None, given[1], *(None,) * (len(args) - 2 + len(kwargs)))

    return value, reduce_pullback
