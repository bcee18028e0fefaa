"""Arrays of classes with a say of their own in what NumPy makes of them: what is Python code of theirs is carried.

Functions in C leave the numbers to the array behind, and wrap what comes out in the class. So the token is that of the
same call of plain arrays, and the value that of the call itself. Functions of NumPy's in Python are entered, because
they ask the class for its methods.
"""

from __future__ import annotations

import operator
from inspect import CO_VARARGS
from types import FunctionType
from typing import Any, Final

import numpy as np

from autodiff_hook.algebras.shadows import Algebra, Result, Token, keep, keep_all, kind, load, lose, note_made
from autodiff_hook.registry import registry
from autodiff_hook.runtime.buffers import root_of
from autodiff_hook.runtime.lookup import find_in_type, in_numpys_order
from autodiff_hook.runtime.losses import NOT_PYTHON, failure, plain
from autodiff_hook.runtime.native import DISPATCHED
from autodiff_hook.semantics.finalizing import hands_on, note_attributes
from autodiff_hook.semantics.iteration import python_method
from autodiff_hook.semantics.meanings import Args, Kwargs, apply, means
from autodiff_hook.semantics.opaque import call_opaque
from autodiff_hook.semantics.operations import BINARY, UFUNCS
from autodiff_hook.signatures import Array

_OWN: Final[dict[str, None]] = dict.fromkeys(
    name for name in dir(np.ndarray) if name not in dir(object) and name != "__array_finalize__"
)
_WITHOUT_METHODS: Final = ("numpy.linalg", "numpy.fft")
"""Where functions in Python ask arrays for no method, and leave the numbers to C."""
_ALONE: Final = (np.interp, np.convolve, np.correlate, np.einsum)
"""Others that do."""
_SORTING: Final = (np.sort, np.partition)
"""What asks for a method that is said by the function, if it is not Python code."""


def is_subclass(value: Any) -> bool:
    """Whether a value is an array of a class that has methods of arrays of its own."""
    cls = type(value)
    if cls is np.ndarray or kind(value) != "array" or cls is np.memmap:
        return False
    return not Array.contains(cls) or any(type(find_in_type(cls, name)) is FunctionType for name in _OWN)


def has_subclasses(alg: Algebra, values: Any) -> bool:
    """Whether such an array is among the arguments of a call, or any of a class where copies of them are made."""
    for value in values:
        if type(value) in (list, tuple):
            if has_subclasses(alg, value):
                return True
        elif type(value) is not np.ndarray and kind(value) == "array":
            if alg.over is not None and type(value) is not np.memmap or is_subclass(value) or hands_on(alg, value):
                return True
    return False


def call_of_subclasses(
    alg: Algebra, rule: Any, function: Any, args: Args, kwargs: Kwargs, t: Any, whole: Any
) -> Result:
    """A call with a rule; ``t`` has the tokens of the arguments, ``whole`` those of what they hold, too."""
    inner = asking(function, args)
    if inner is not None:
        return apply(alg, (None, *t), inner, args, kwargs)
    function = _UFUNCS.get(function, function)
    if isinstance(function, np.ufunc):
        wrapping = _wrapper(args)
        if type(find_in_type(type(wrapping), "__array_wrap__")) is FunctionType:
            return _wrapped(alg, rule, function, args, kwargs, whole, t)
    value = function(*args, **kwargs)
    note_attributes(alg, value, args)
    behind, token = alg.call_rule(rule, function, *_all_unwrapped(args, kwargs), whole)
    return value, adopted(alg, function, value, behind, token)


def rule_behind(function: Any, args: Args, kwargs: Kwargs) -> Any:
    """The rule for plain arrays in the place of those of classes with arithmetic of their own."""
    if (
        not any(map(is_subclass, args))
        or python_method(args[0], f"__{getattr(function, '__name__', '')}__") is not None
    ):
        return None
    return registry.rule(function, tuple([type(unwrapped(x)) for x in args]), tuple(kwargs))


def call_behind(alg: Algebra, t: Any, function: Any, args: Args, kwargs: Kwargs) -> Result:
    """A call without a rule that leaves the numbers to plain arrays; ``t`` has the tokens of the arguments."""
    value = function(*args, **kwargs)
    note_attributes(alg, value, args)
    behind, token = apply(alg, (None, *t), function, *_all_unwrapped(args, kwargs))
    return value, adopted(alg, function, value, behind, token)


_UFUNCS: Final = {BINARY[op]: ufunc for op, ufunc in UFUNCS.items()}
"""What operators of arrays are, as functions."""


def asking(function: Any, args: Args) -> Any:
    """The Python code of a function of NumPy's that asks arrays for their methods; None for others."""
    inner = getattr(function, "_implementation", None) if type(function) is DISPATCHED else None
    if type(inner) is not FunctionType or str(inner.__module__).startswith(_WITHOUT_METHODS):
        return None
    alone = any(function is f for f in _ALONE)
    sorts = any(function is f for f in _SORTING) and python_method(args[0], function.__name__) is None
    return None if alone or sorts else inner


def _all_unwrapped(args: Args, kwargs: Kwargs) -> tuple[Args, Kwargs]:
    return tuple(map(unwrapped, args)), {name: unwrapped(x) for name, x in kwargs.items()}


def unwrapped(value: Any) -> Any:
    """The arrays in an argument, of no class of their own."""
    if type(value) in (list, tuple):
        return type(value)(map(unwrapped, value))
    return plain(value) if kind(value) == "array" else value


def adopted(alg: Algebra, function: Any, value: Any, behind: Any, token: Token) -> Token:
    """The token of ``value``, which is ``behind`` in the form that a class gives it; that has ``token``."""
    if type(behind) is list:
        return _adopted_list(alg, function, value, behind)
    if isinstance(behind, tuple):
        if not isinstance(value, tuple) or len(value) != len(behind):
            return _strange(alg, function, value)
        tokens = (None,) * len(value) if token is None else token
        return tuple([adopted(alg, function, *row) for row in zip(value, behind, tokens)])
    if token is None:
        return None
    if np.size(value) != np.size(behind) or not np.array_equal(
        plain_of(value).ravel(), np.ravel(behind), equal_nan=True
    ):
        return _strange(alg, function, value)
    if np.shape(value) == () != np.shape(behind):
        token = apply(alg, (None, token, None), operator.getitem, (behind, (0,) * behind.ndim), {})[1]
    elif np.shape(value) != np.shape(behind):
        token = apply(alg, (None, token, None), np.reshape, (behind, np.shape(value)), {})[1]
    if kind(value) == "array" and root_of(value) is not root_of(behind):
        alg.adopt(value, token)
    return token


def plain_of(value: Any) -> Any:
    return plain(value) if kind(value) == "array" else np.asarray(value)


def _adopted_list(alg: Algebra, function: Any, value: Any, behind: list[Any]) -> Token:
    """The same for a list, which holds its tokens; it may hold lists."""
    if type(value) is not list or value != behind:
        return _strange(alg, function, value)
    for index, item in enumerate(behind):
        token = load(alg, behind, index, item)
        found = _adopted_list(alg, function, value[index], item) if type(item) is list else token
        keep(alg, value, index, found)
    return None


def _strange(alg: Algebra, function: Any, value: Any) -> Token:
    why = "which gives another value for an array of this class than for a plain one"
    return lose(alg, value, alg.unknown(failure(function, why)))


def _wrapper(args: Args) -> Any:
    """The argument whose class wraps the result of a ufunc; None if that is left as it is."""
    arrays = [x for x in args if kind(x) == "array" and type(x) is not np.ndarray or wraps(x)]
    found = max(arrays, key=_priority, default=None)
    return None if np.ndarray in map(type, args) and found is not None and _priority(found) < 0.0 else found


def _priority(value: Any) -> float:
    return getattr(value, "__array_priority__", 0.0)


WRAPS: Final = "of which a class says what the result is (__array_wrap__)"


def wraps(value: Any) -> bool:
    """Whether a value is no array, but its class says in Python what NumPy is to make of results."""
    return kind(value) == "object" and python_method(value, "__array_wrap__") is not None


def _wrapped(alg: Algebra, rule: Any, ufunc: Any, args: Args, kwargs: Kwargs, whole: Any, t: Any) -> Result:
    """A call of a ufunc whose result an ``__array_wrap__`` in Python gets."""
    behind, token = alg.call_rule(rule, ufunc, *_all_unwrapped(args, kwargs), whole)
    return _given_to_wrapper(alg, ufunc, args, t, behind, token)


def call_wrapping(
    alg: Algebra, t: Any, function: Any, args: Args, kwargs: Kwargs, arrays: tuple[Any, ...], tokens: Any
) -> Result:
    """A call with what has an ``__array_wrap__`` in Python, and with the ``arrays`` that NumPy makes of that."""
    behind, token = apply(alg, tokens, function, arrays, kwargs)
    if not isinstance(function, np.ufunc):
        value = function(*args, **kwargs)
        if type(value) is type(behind) and np.array_equal(value, behind, equal_nan=True):
            return behind, token
        return call_opaque(alg, t, function, args, kwargs, WRAPS)
    return _given_to_wrapper(alg, function, args, t, behind, token)


def _given_to_wrapper(alg: Algebra, ufunc: Any, args: Args, t: Any, behind: Any, token: Any) -> Result:
    wrapping = _wrapper(args)
    if wrapping is None:
        return behind, token
    several = ufunc.nout > 1
    made, tokens = (behind, token) if several else ((behind,), (token,))
    own = t[next(place for place, x in enumerate(args) if x is wrapping)]
    pairs = []
    for place, (part, moving) in enumerate(zip(made, tokens if tokens is not None else (None,) * len(made))):
        scalar = np.ndim(part) == 0
        part, moving = apply(alg, (None, moving), np.asarray, (part,), {}) if scalar else (part, moving)
        moved = (own, moving, (None, tuple(t[: len(args)]), None), None)
        pairs.append(call_wrap(alg, moved, wrapping, part, (ufunc, args, place), scalar))
    if not several:
        return pairs[0]
    return tuple([value for value, _ in pairs]), tuple([moving for _, moving in pairs])


def call_wrap(alg: Algebra, t: Any, wrapping: Any, *given: Any) -> Result:
    """``__array_wrap__`` in Python of an array, with the array, the context and whether the result is a scalar."""
    wrap = find_in_type(type(wrapping), "__array_wrap__")
    # What was written for older versions of NumPy is not told whether the result is a scalar.
    taken = 4 if wrap.__code__.co_flags & CO_VARARGS else min(4, wrap.__code__.co_argcount)
    return apply(alg, (None, *t[:taken]), wrap, (wrapping, *given)[:taken], {})


def is_function_overridden(function: Any, args: Args) -> bool:
    """Whether a call of a function of NumPy's is one of the ``__array_function__`` of an argument."""
    return type(function) is DISPATCHED and any(map(_overrides, _relevant(args)))


def _relevant(args: Args) -> list[Any]:
    return [x for arg in args for x in (arg if type(arg) in (list, tuple) else (arg,))]


def _overrides(value: Any) -> bool:
    return type(value) is not np.ndarray and python_method(value, "__array_function__") is not None


def call_function_override(alg: Algebra, t: Any, function: Any, args: Args, kwargs: Kwargs) -> Result:
    """``function(*args, **kwargs)`` as NumPy dispatches it."""
    asked = [*filter(_overrides, _relevant(args))]
    found = [asked[i] for i in in_numpys_order([*map(type, asked)])]
    types = tuple(map(type, found))
    positional, named = tuple(t[1 : 1 + len(args)]), dict(kwargs)
    keep_all(alg, named, dict(zip(named, t[1 + len(args) :])))
    note_made(alg, named)
    for value in found:
        given = [token for place, token in zip(args, positional) if place is value]
        method = python_method(value, "__array_function__")
        operands = (value, function, types, args, named)
        moved = (None, given[0] if given else None, None, None, positional, None)
        result, token = apply(alg, moved, method, operands, {})
        if result is not NotImplemented:
            return result, token
    return function(*args, **kwargs), None


@means(np.ndarray.__array_function__)
def array_function(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``ndarray.__array_function__``, which a class calls from its own: what NumPy does with whatever arrays."""
    native = np.ndarray.__array_function__
    if len(args) != 5 or type(args[3]) is not tuple or type(args[4]) is not dict:
        return call_opaque(alg, t, native, args, kwargs, NOT_PYTHON)
    _, function, types, given, named = args
    if registry.is_constant(function):
        return native(*args), None
    overridden = is_function_overridden(function, given)
    code = getattr(function, "_implementation", None) if overridden else function
    followed = type(code) is FunctionType and all(issubclass(x, np.ndarray) for x in types)
    if overridden and not followed:
        return call_opaque(alg, t, native, args, kwargs, NOT_PYTHON)
    by_place = t[3] if type(t[3]) is tuple else (None,) * len(given)
    by_name = [load(alg, named, name, value) for name, value in named.items()]
    return apply(alg, (None, *by_place, *by_name), code, given, named)


@means(np.ndarray.__array_finalize__)
def array_finalize(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``ndarray.__array_finalize__``, which does nothing."""
    np.ndarray.__array_finalize__(*args, **kwargs)
    return None, None


@means(np.ndarray.__array_wrap__)
def array_wrap(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``ndarray.__array_wrap__``, which a class calls from its own."""
    value = np.ndarray.__array_wrap__(*args, **kwargs)
    note_attributes(alg, value, args[:1])
    return value, adopted(alg, np.ndarray.__array_wrap__, value, args[1], t[1])


@means(np.ufunc.__call__, DISPATCHED.__call__)
def call_of_numpy(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``function.__call__(*args)`` of a function of NumPy's."""
    return apply(alg, (None, *t[1:]), args[0], args[1:], kwargs)


@means(np.ndarray.__new__)
def new_array(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``ndarray.__new__(cls, shape, dtype, buffer)``: an array in the memory of another."""
    buffer = kwargs.get("buffer", args[3] if len(args) > 3 else None)
    value = np.ndarray.__new__(*args, **kwargs)
    if not isinstance(buffer, np.ndarray):
        return value, None
    order = kwargs.get("order", args[6] if len(args) > 6 else "C") or "C"
    whole = value.dtype == buffer.dtype and value.size == buffer.size and kind(buffer) == "array"
    if not whole or "strides" in kwargs or len(args) > 5 and args[5] is not None:
        return call_opaque(alg, t, np.ndarray.__new__, args, kwargs, "which shows memory past what derivatives follow")
    token = t[list(kwargs).index("buffer") + len(args)] if "buffer" in kwargs else t[3]
    token = apply(alg, (None, token, None, None), np.reshape, (plain(buffer), value.shape, order), {})[1]
    return value, token
