"""NumPy calls that write: ``out=``, ``np.copyto``, ``ndarray.fill``, as stores of what they compute."""

from __future__ import annotations

from types import MethodDescriptorType
from typing import Any, Final

import numpy as np

from autodiff_hook.algebras.shadows import Algebra, Result
from autodiff_hook.runtime.losses import array_mutation
from autodiff_hook.runtime.native import DISPATCHED, place_of_out
from autodiff_hook.semantics import library
from autodiff_hook.semantics.arrays import store_array
from autodiff_hook.semantics.functions import enter
from autodiff_hook.semantics.meanings import apply, means
from autodiff_hook.semantics.opaque import call_constant, call_opaque, loses

Args = tuple[Any, ...]
Kwargs = dict[str, Any]


def call_with_out(alg: Algebra, t: Any, function: Any, args: Args, kwargs: Kwargs) -> Result:
    """A call with arrays for its results: the call without them, then stores of all of them."""
    if not loses(alg, t[1:], function, args, kwargs):
        return call_constant(alg, function, args, kwargs)
    if kwargs.get("where", True) is not True:
        return call_opaque(alg, t[1:], function, args, kwargs, "which writes a part of its result to an array")
    if getattr(function, "signature", None) is not None:
        return call_opaque(alg, t[1:], function, args, kwargs, "whose result has the shape of the array for it")
    if kwargs.get("out") is not None:
        place = len(args) + list(kwargs).index("out")
        out, own, tokens = kwargs["out"], t[1 + place], (*t[: 1 + place], *t[2 + place :])
    else:
        count, args, given = len(args), args[: function.nin], args[function.nin :]
        out, own, tokens = given, t[1 + function.nin : 1 + count], (*t[: 1 + function.nin], *t[1 + count :])
    value, token = apply(alg, tokens, function, args, {name: item for name, item in kwargs.items() if name != "out"})
    if out is ...:
        return apply(alg, (None, token), np.asarray, (value,), {})
    if not isinstance(out, tuple):
        return _stored(alg, own, out, value, token)
    own = (None,) * len(out) if own is None else own
    if len(out) == 1:
        return _stored(alg, own[0], out[0], value, token)
    tokens = (None,) * len(out) if token is None else token
    pairs = [_stored(alg, *row) for row in zip(own, out, value, tokens)]
    return tuple([item for item, _ in pairs]), tuple([moving for _, moving in pairs])


def _stored(alg: Algebra, before: Any, target: Any, value: Any, token: Any) -> Result:
    """A result, which is stored to an array if there is one for it."""
    if target is None:
        return value, token
    store_array(alg, (before, None, token), target, ..., value)
    return target, alg.read(target, before)


@means(np.copyto)
def copyto(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``np.copyto(target, source)``."""
    check_options(args, kwargs)
    store_array(alg, (t[0], None, t[1]), args[0], ..., args[1])
    return None, None


def check_options(args: Args, kwargs: Kwargs) -> None:
    """Raise for ``np.copyto`` of a part."""
    if len(args) != 2 or kwargs.get("where", True) is not True:
        raise array_mutation("np.copyto with where= writes to")


@means(np.place)
def place(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``np.place(array, mask, values)``."""
    return enter(alg, (None, *t), library.place, args, kwargs)


@means(np.putmask)
def putmask(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``np.putmask(array, mask, values)``."""
    return enter(alg, (None, *t), library.putmask, args, kwargs)


@means(np.ndarray.fill)
def fill(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``array.fill(value)``."""
    store_array(alg, (t[0], None, t[1]), args[0], ..., args[1])
    return None, None


_REDUCTIONS: Final = {np.add: np.sum, np.multiply: np.prod, np.maximum: np.max, np.minimum: np.min}


@means(np.ufunc.reduce)
def reduce_by_ufunc(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``np.add.reduce`` and its kin: the functions that they are the core of."""
    ufunc, array, *options = args
    named = reduction_options(options, kwargs)
    reduction = _REDUCTIONS.get(ufunc)
    if reduction is None or len(options) > 1 and options[1] is not None:
        return call_opaque(alg, t, np.ufunc.reduce, args, kwargs, "which has no rule for these arguments")
    moving = named_tokens(options, kwargs, t[1:])
    value, token = apply(alg, (None, t[1], *[moving.get(name) for name in named]), reduction, (array,), named)
    return value, token


_OPTIONS: Final = ("axis", "dtype", "out", "keepdims", "initial", "where")


def reduction_options(options: Any, kwargs: Kwargs) -> Kwargs:
    """The options of a reduction by name, without those that say nothing."""
    named = {"axis": 0, **dict(zip(_OPTIONS, options)), **kwargs}
    silent = {"dtype": None, "out": None, "keepdims": False, "initial": np._NoValue, "where": True}
    return {name: value for name, value in named.items() if name == "axis" or value is not silent[name]}


def named_tokens(options: Any, kwargs: Kwargs, t: Any) -> dict[str, Any]:
    """The tokens of the options of a reduction, by name."""
    return dict(zip((*_OPTIONS[: len(options)], *kwargs), t[1:]))


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
