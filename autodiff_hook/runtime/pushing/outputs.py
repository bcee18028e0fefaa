"""NumPy calls that write: ``out=``, ``np.copyto``, ``ndarray.fill``, as stores of what they compute."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from autodiff_hook.runtime.opaque import array_mutation
from autodiff_hook.runtime.pushing.arrays import store_array
from autodiff_hook.runtime.pushing.context import Result, TangentContext
from autodiff_hook.runtime.pushing.handlers import bookkeeping, pushes
from autodiff_hook.runtime.pushing.opaque import call_opaque

Args = tuple[Any, ...]
Kwargs = dict[str, Any]


def call_with_out(ctx: TangentContext, t: Any, function: Any, args: Args, kwargs: Kwargs) -> Result:
    """A call with an array for its result: the call without it, then a store of all of it."""
    from autodiff_hook.runtime.pushing.calls import apply

    place = place_of_out(function, args, kwargs)
    out = (*args, *kwargs.values())[place]
    target = out[0] if isinstance(out, tuple) else out
    options = {name: value for name, value in kwargs.items() if name != "out"}
    value, tangent = apply(ctx, (*t[: 1 + place], *t[2 + place :]), function, args[:place], options)
    if out is ...:
        return apply(ctx, (None, tangent), np.asarray, (value,), {})
    if out is None:
        return value, tangent
    own = t[1 + place]
    before = own[0] if isinstance(out, tuple) and own is not None else own
    return target, store_array(ctx, (before, None, tangent), target, ..., value)


@bookkeeping
def place_of_out(function: Any, args: Args, kwargs: Kwargs) -> int:
    """The index of the array for the result among all arguments."""
    named = kwargs.get("out") is not None
    out = kwargs["out"] if named else args[function.nin]
    several = isinstance(out, tuple) and len(out) != 1 or not named and len(args) > function.nin + 1
    if several or kwargs.get("where", True) is not True:
        raise array_mutation("a call with several results, or with where=, writes to")
    return len(args) + list(kwargs).index("out") if named else int(function.nin)


@pushes(np.copyto)
def copyto(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``np.copyto(target, source)``."""
    check_options(args, kwargs)
    store_array(ctx, (t[0], None, t[1]), args[0], ..., args[1])
    return None, None


@bookkeeping
def check_options(args: Args, kwargs: Kwargs) -> None:
    """Raise for ``np.copyto`` of a part."""
    if len(args) != 2 or kwargs.get("where", True) is not True:
        raise array_mutation("np.copyto with where= writes to")


@pushes(np.ndarray.fill)
def fill(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``array.fill(value)``."""
    store_array(ctx, (t[0], None, t[1]), args[0], ..., args[1])
    return None, None


_REDUCTIONS: Final = {np.add: np.sum, np.multiply: np.prod, np.maximum: np.max, np.minimum: np.min}


@pushes(np.ufunc.reduce)
def reduce_by_ufunc(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``np.add.reduce`` and its kin: the functions that they are the core of."""
    from autodiff_hook.runtime.pushing.calls import apply

    ufunc, array, *options = args
    named = reduction_options(options, kwargs)
    reduction = _REDUCTIONS.get(ufunc)
    if reduction is None or len(options) > 1 and options[1] is not None:
        return call_opaque(ctx, t, np.ufunc.reduce, args, kwargs, "which has no rule for these arguments")
    moving = named_tangents(options, kwargs, t[1:])
    value, tangent = apply(ctx, (None, t[1], *[moving.get(name) for name in named]), reduction, (array,), named)
    return value, tangent


_OPTIONS: Final = ("axis", "dtype", "out", "keepdims", "initial", "where")


@bookkeeping
def reduction_options(options: Any, kwargs: Kwargs) -> Kwargs:
    """The options of a reduction by name, without those that say nothing."""
    named = {"axis": 0, **dict(zip(_OPTIONS, options)), **kwargs}
    silent = {"dtype": None, "out": None, "keepdims": False, "initial": np._NoValue, "where": True}
    return {name: value for name, value in named.items() if name == "axis" or value is not silent[name]}


def named_tangents(options: Any, kwargs: Kwargs, t: Any) -> dict[str, Any]:
    """The tangents of the options of a reduction, by name."""
    return dict(zip((*_OPTIONS[: len(options)], *kwargs), t[1:]))
