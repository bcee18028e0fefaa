"""NumPy calls that write: ``out=``, ``np.copyto``, ``ndarray.fill``, as stores of what they compute."""

from __future__ import annotations

from types import MethodDescriptorType
from typing import Any, Final

import numpy as np

from autodiff_hook.runtime.context import Context, Pullback, Sweep
from autodiff_hook.runtime.cotangents import accumulate
from autodiff_hook.runtime.effects import DISPATCHED, place_of_out
from autodiff_hook.runtime.handlers import handles
from autodiff_hook.runtime.items import store_into_array
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.opaque import NOT_PYTHON, Loss, array_mutation, arrays_in, call_opaque, flows_in, live

Result = tuple[Any, Pullback | None]

_WRITES: Final = "which writes its result to an array"


def _named_out(function: Any, args: tuple[Any, ...]) -> bool:
    """Whether an array for the result is among the positional arguments."""
    place = place_of_out(function) if type(function) in (MethodDescriptorType, DISPATCHED) else None
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
        given, rest, options = args[place:], args[:place], kwargs
        witnesses = (*w[: 1 + place], *w[1 + count :])
    else:
        place = count + list(kwargs).index("out")
        given, rest, options = (kwargs["out"],), args, {k: v for k, v in kwargs.items() if k != "out"}
        witnesses = (*w[: 1 + place], *w[2 + place :])
    out = given if len(given) > 1 else given[0]
    if isinstance(out, tuple) and len(out) == 1:
        out = out[0]
    if out is None or out is ...:
        return _without_target(ctx, witnesses, function, rest, options, out, place)
    targets = out if isinstance(out, tuple) else (out,)
    arrays = [x for x in targets if kind_of(type(x)) == "array"]
    values = [*rest, *options.values()]
    matters = flows_in(ctx, witnesses[1:], values) or any(live(ctx, w[1 + place], x) for x in arrays)
    if not matters or len(arrays) != sum(x is not None for x in targets):
        return call_opaque(ctx, w[1:], function, args, kwargs, _WRITES)
    if options.get("where", True) is not True:
        raise array_mutation("a call with where= and out= writes to")
    if getattr(function, "signature", None) is not None:
        return call_opaque(ctx, w[1:], function, args, kwargs, _WRITES)
    value, pullback = apply(ctx, witnesses, function, rest, options)
    outputs = _Outputs(pullback, place, len(given))
    if not isinstance(out, tuple):
        outputs.stores = [store_into_array(ctx, (w[1 + place], None, pullback), out, ..., value)]
        return out, outputs if outputs.matters() else None
    outputs.stores = [
        None if x is None else store_into_array(ctx, (w[1 + place], None, pullback), x, ..., v)
        for x, v in zip(targets, value)
    ]
    return tuple(v if x is None else x for x, v in zip(targets, value)), outputs if outputs.matters() else None


def _without_target(
    ctx: Context, w: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any, place: int
) -> Result:
    """``function(*args, out=None)``, or with ``out=...``, which asks for an array where there would be a number."""
    from autodiff_hook.runtime.calls import apply

    value, pullback = apply(ctx, w, function, args, kwargs)
    made: Pullback | None = None
    if out is ... and kind_of(type(value)) == "number":
        value, made = apply(ctx, (None, pullback, None), np.asarray, (value, value.dtype), {})
    if pullback is None:
        return value, None

    def result_pullback(sweep: Sweep, cotangent: Any) -> Any:
        if made is not None:
            given = made(sweep, cotangent)
            cotangent = None if given is None else given[1]
        before = pullback(sweep, cotangent)
        return before and (*before[: 1 + place], None, *before[1 + place :])

    return value, result_pullback


class _Outputs:
    """Pullback of a call whose results were stored into arrays: one, or a tuple of several."""

    __slots__ = ("count", "place", "pullback", "stores")

    def __init__(self, pullback: Pullback | None, place: int, count: int) -> None:
        self.pullback, self.place, self.count = pullback, place, count
        self.stores: list[Pullback | None] = []

    def matters(self) -> bool:
        """Whether a derivative is concerned."""
        return self.pullback is not None or any(store is not None for store in self.stores)

    def __call__(self, sweep: Sweep, cotangent: Any) -> Any:
        several = len(self.stores) > 1
        parts = (cotangent or (None,) * len(self.stores)) if several else (cotangent,)
        given = [None if store is None else store(sweep, None) for store in reversed(self.stores)][::-1]
        whole = tuple(accumulate(part, None if g is None else g[2]) for part, g in zip(parts, given))
        if self.pullback is None or all(part is None for part in whole):
            return None
        before = self.pullback(sweep, whole if several else whole[0])
        return before and (*before[: 1 + self.place], *(None,) * self.count, *before[1 + self.place :])


@handles(np.vectorize.__call__)
def vectorized(ctx: Context, w: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
    """Calling a ``np.vectorize``, which runs Python code for each element."""
    function, *rest = args
    return call_opaque(ctx, w[1:], function, tuple(rest), kwargs, "which calls Python code for each element of arrays")


@handles(np.nditer)
def iterated(ctx: Context, w: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
    """``np.nditer``, which hands out parts of arrays to be written to."""
    values = [*args, *kwargs.values()]
    arrays = [x for v in values for x in arrays_in(ctx, v)]
    matters = any(live(ctx, x, v) for x, v in zip(w, values)) or any(map(ctx.buffers.is_held, arrays))
    if matters and "op_flags" in kwargs:
        raise array_mutation("np.nditer may write to")
    return call_opaque(ctx, w, np.nditer, args, kwargs, "which hands out parts of arrays")


@handles(np.copyto)
def copyto(ctx: Context, w: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
    """``np.copyto(target, source)``."""
    if len(args) != 2 or kwargs.get("where", True) is not True:
        return call_opaque(ctx, w, np.copyto, args, kwargs, _WRITES)
    return None, _last_of(store_into_array(ctx, (w[0], None, w[1]), args[0], ..., args[1]))


@handles(np.ndarray.fill)
def fill(ctx: Context, w: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
    """``array.fill(value)``."""
    return None, _last_of(store_into_array(ctx, (w[0], None, w[1]), args[0], ..., args[1]))


@handles(np.ndarray.view)
def view(ctx: Context, w: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
    """``array.view(cls)``: the same elements, as an array of another class."""
    array, *options = args
    value = np.ndarray.view(*args, **kwargs)
    matters = live(ctx, w[0], array)
    if not matters or ctx.buffers.is_stored(array):
        return value, None
    if all(isinstance(option, type) and issubclass(option, np.ndarray) for option in (*options, *kwargs.values())):
        return value, _Viewed(len(args) + len(kwargs))
    return value, Loss(np.ndarray.view, "as another type of numbers", [])


class _Viewed:
    """Pullback of a view of all of an array."""

    __slots__ = ("count",)

    def __init__(self, count: int) -> None:
        self.count = count

    def __call__(self, sweep: Sweep, cotangent: Any) -> Any:
        return None if cotangent is None else (cotangent, *(None,) * (self.count - 1))


@handles(np.ndarray.resize)
def resize(ctx: Context, w: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
    """``array.resize(shape)``, which NumPy refuses for arrays that somebody else has a hold of."""
    if live(ctx, w[0], args[0]) or ctx.buffers.is_held(args[0]):
        raise array_mutation("ndarray.resize changes")
    return args[0].resize(*args[1:], **kwargs), None


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
        return call_opaque(ctx, w, np.ufunc.reduce, args, kwargs, NOT_PYTHON)
    options = {"axis": 0, **dict(zip(_REDUCE_PARAMETERS, args[2:])), **kwargs}
    options = {name: value for name, value in options.items() if value is not None or name == "axis"}
    value, pullback = apply(ctx, (None, w[1], *(None,) * len(options)), function, (args[1],), options)
    if pullback is None:
        return value, None

    def reduce_pullback(sweep: Sweep, cotangent: Any) -> Any:
        given = pullback(sweep, cotangent)
        return None if given is None else (None, given[1], *(None,) * (len(args) - 2 + len(kwargs)))

    return value, reduce_pullback
