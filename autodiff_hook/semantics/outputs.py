"""NumPy calls that write: ``out=``, ``ndarray.fill``, as stores of what they compute."""

from __future__ import annotations

from types import MethodDescriptorType
from typing import Any

import numpy as np

from autodiff_hook.algebras.shadows import Algebra, Result
from autodiff_hook.runtime.losses import NOT_PYTHON, array_mutation
from autodiff_hook.runtime.native import DISPATCHED, place_of_out
from autodiff_hook.runtime.overlaps import in_pieces, require_apart
from autodiff_hook.semantics import library
from autodiff_hook.semantics.arrays import store_array
from autodiff_hook.semantics.functions import enter
from autodiff_hook.semantics.meanings import Args, Kwargs, apply, means
from autodiff_hook.semantics.opaque import call_constant, call_opaque, loses
from autodiff_hook.semantics.rules import converted
from autodiff_hook.semantics.subclasses import wraps


def call_with_out(alg: Algebra, t: Any, function: Any, args: Args, kwargs: Kwargs) -> Result:
    """A call with arrays for its results: the call without them, then stores of all of them."""
    if not loses(alg, t[1:], function, args, kwargs):
        return call_constant(alg, function, args, kwargs)
    if isinstance(kwargs.get("out"), np.ndarray) and kwargs["out"].dtype.kind in "US":
        # How long the texts may be, only the array says.
        return call_opaque(alg, t[1:], function, args, kwargs, NOT_PYTHON)
    if kwargs.get("out") is not None:
        place = len(args) + list(kwargs).index("out")
        out, own, tokens = kwargs["out"], t[1 + place], (*t[: 1 + place], *t[2 + place :])
    else:
        count, args, given = len(args), args[: function.nin], args[function.nin :]
        absent = (None,) * (function.nout - len(given))
        out, own = (*given, *absent), (*t[1 + function.nin : 1 + count], *absent)
        tokens = (*t[: 1 + function.nin], *t[1 + count :])
    named = {name: item for name, item in kwargs.items() if name != "out"}
    if in_pieces(function) and out is not None:
        for piece in args[0]:
            require_apart(out, piece)
    if isinstance(function, np.ufunc) and "where" in kwargs and function.nout == 1 and out is not ...:
        target, before = (out[0], own and own[0]) if isinstance(out, tuple) else (out, own)
        # What NumPy does not store there it refuses, whatever is chosen.
        function(*args, out=np.empty_like(target, subok=False), **{**named, "where": False})
        return enter(alg, (None, before, None, *tokens[1:]), library.stored_part, (target, function, *args), named)
    # What is written to an array no class has a say of.
    again = converted(alg, function, args, tokens[1:]) if any(map(wraps, args)) else None
    value, token = (
        apply(alg, tokens, function, args, named) if again is None else apply(alg, again[0], function, again[1], named)
    )
    if out is ...:
        return apply(alg, (None, token), np.asarray, (value,), {})
    value = _as_written(function, args, named, out, value)
    if not isinstance(out, tuple):
        return _stored(alg, own, out, value, token)
    own = (None,) * len(out) if own is None else own
    if len(out) == 1:
        return _stored(alg, own[0], out[0], value, token)
    tokens = (None,) * len(out) if token is None else token
    pairs = [_stored(alg, *row) for row in zip(own, out, value, tokens)]
    return tuple([item for item, _ in pairs]), tuple([moving for _, moving in pairs])


def _as_written(function: Any, args: Args, named: Kwargs, out: Any, value: Any) -> Any:
    """A result as NumPy writes it: for an array of another form it computes with other numbers, or refuses."""
    arrays, results = (out, value) if isinstance(out, tuple) and len(out) > 1 else ([out], [value])
    if isinstance(out, tuple) and len(out) == 1:
        arrays = out
    if all(map(_is_like, arrays, results)):
        return value
    written = [array if array is None else np.empty_like(array) for array in arrays]
    return function(*args, **named, out=tuple(written) if isinstance(out, tuple) else written[0])


def _is_like(array: Any, result: Any) -> bool:
    """Whether a result has the form of the array for it; objects and arrays of other classes are not asked."""
    if type(array) is not np.ndarray or array.dtype.hasobject:
        return True
    return bool(array.shape == np.shape(result) and array.dtype == getattr(result, "dtype", None))


def _stored(alg: Algebra, before: Any, target: Any, value: Any, token: Any) -> Result:
    """A result, which is stored to an array if there is one for it."""
    if target is None:
        return value, token
    if not isinstance(target, np.ndarray):
        raise TypeError("return arrays must be of ArrayType")
    store_array(alg, (before, None, token), target, ..., value)
    return target, alg.read(target, before)


@means(np.ndarray.fill)
def fill(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    owner, value = args
    # A list that fills an array of objects is an element of it.
    for key in np.ndindex(owner.shape) if owner.dtype == object else (...,):
        store_array(alg, (t[0], None, t[1]), owner, key, value)
    return None, None


def _named_out(function: Any, args: tuple[Any, ...]) -> bool:
    """Whether an array for the result is among the positional arguments."""
    place = place_of_out(function) if type(function) in (MethodDescriptorType, DISPATCHED) else None
    return place is not None and len(args) > place and args[place] is not None


def writes_result(function: Any, args: Args, kwargs: Kwargs) -> bool:
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
