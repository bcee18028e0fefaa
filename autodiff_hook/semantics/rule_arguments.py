"""Arguments of calls as rules take them: by place, iterables as tuples, floats of other classes as floats."""

from __future__ import annotations

import math
from array import array
from collections import deque
from types import BuiltinFunctionType, GeneratorType, MappingProxyType, MethodDescriptorType
from typing import Any, Final

import numpy as np

from autodiff_hook.algebras.searching import reaches
from autodiff_hook.algebras.shadows import Algebra, kind, some
from autodiff_hook.registry import registry
from autodiff_hook.runtime.kinds import WRITTEN
from autodiff_hook.runtime.lookup import find_in_type, is_iterated_by_code
from autodiff_hook.runtime.oddities import adds_objects, is_own_number
from autodiff_hook.semantics import equivalents
from autodiff_hook.semantics.comparing import compares_by_code
from autodiff_hook.semantics.iteration import get_iter, is_iterated_by_type, is_iteration, is_view, python_method
from autodiff_hook.semantics.meanings import Args, Kwargs, apply
from autodiff_hook.signatures import is_exact


def by_place(t: Any, function: Any, args: Args, kwargs: Kwargs) -> tuple[Args, Kwargs, Any]:
    """The arguments of a call and their tokens, with those by place that can stand there."""
    moved = registry.parameters(function).by_place(len(args), kwargs)
    if not moved:
        return args, kwargs, t
    count = 1 + len(args)
    tokens = dict(zip(kwargs, t[count:]))
    named = {name: value for name, value in kwargs.items() if name not in moved}
    t = (*t[:count], *map(tokens.__getitem__, (*moved, *named)))
    return (*args, *map(kwargs.__getitem__, moved)), named, t


_OF_SEQUENCES: Final = tuple([f for name in ("fsum", "prod", "dist", "sumprod") if (f := getattr(math, name, None))])


def takes_items(function: Any) -> bool:
    """Whether a function has rules for lists and tuples, and takes the items of anything."""
    return function in _OF_SEQUENCES or getattr(function, "__module__", None) == "statistics"


def as_tuples(alg: Algebra, t: Any, args: Args) -> tuple[Args, Any]:
    """The iterables among the arguments as tuples, with the tokens of their items."""
    values, tokens = list(args), list(t)
    for place, value in enumerate(args):
        if kind(value) not in ("list", "tuple", "number") and find_in_type(type(value), "__iter__") is not None:
            pairs = list(get_iter(alg, (t[1 + place],), None, value)[0])
            values[place] = tuple([item for item, _ in pairs])
            moving = tuple([token for _, token in pairs])
            tokens[1 + place] = moving if some(moving) else None
    return tuple(values), tuple(tokens)


def reads_floats(function: Any, args: Args) -> bool:
    """Whether a callable takes some arguments for the floats that they are, whatever arithmetic their class has."""
    own = [] if _USUAL.issuperset(map(type, args)) else [type(x) for x in args if is_own_number(x)]
    if not own:
        return False
    if type(function) is MethodDescriptorType and function.__objclass__ is not np.ndarray:
        return function.__objclass__ in (float, complex)
    if getattr(function, "__module__", None) in ("math", "cmath"):
        return True
    by_numpy = type(function) is MethodDescriptorType or _is_of_numpy(function)
    return by_numpy and not any(map(is_exact, own)) and not any(map(_is_of_objects, args))


def _is_of_objects(value: Any) -> bool:
    """Whether a value is an array of objects, or says that one is made."""
    dtype = getattr(value, "dtype", value)
    return dtype is object or isinstance(dtype, np.dtype) and dtype.hasobject


_USUAL: Final = frozenset({float, int, bool, complex, np.float64, np.int64, np.ndarray, list, tuple, str, type(None)})
"""Types of which no number has arithmetic of its own."""


def plain_float(value: Any) -> Any:
    """A number as one of no class of its own; an exact number as a float."""
    return float(value) if is_exact(type(value)) else plain_number(value)


def plain_number(value: Any) -> Any:
    """A number as one of no class of its own."""
    for base, plain in _PLAIN:
        if issubclass(type(value), base):
            return plain(value)
    return value


_PLAIN: Final[Any] = ((float, float.__float__), (complex, complex.__complex__), (int, int.__int__))


def with_floats(alg: Algebra, t: Any, function: Any, args: Args) -> tuple[Any, Any, Args]:
    """A call of a function of ``math``: arrays of one number are taken as floats."""
    pairs = []
    for value, token in zip(args, t[1:]):
        is_array = kind(value) == "array"
        pairs.append(apply(alg, (None, token), float, (value,), {}) if is_array else (value, token))
    return (t[0], *[token for _, token in pairs]), function, tuple([value for value, _ in pairs])


def code_that_adds(function: Any, args: Args, kwargs: Kwargs) -> Any:
    """The Python code for ``sum``, ``max`` and their kin of objects; None for others, and for numbers."""
    if type(function) is not BuiltinFunctionType:
        return None
    if function in _EXTREMES:
        items = args if len(args) > 1 else args[0] if args and type(args[0]) in (list, tuple) else ()
        return _EXTREMES[function] if any(chosen_whole(item) for item in items) else None
    code = _ADDING.get(function)
    return code if code is not None and adds_objects(args, kwargs) else None


def chosen_whole(item: Any) -> bool:
    """Whether ``max`` and ``min`` only choose such an item: it is no number, nor an array."""
    return kind(item) in ("tuple", "list") or issubclass(type(item), WRITTEN) or compares_by_code(item)


_ADDING: Final[Any] = {sum: equivalents.total, math.prod: equivalents.product_of}
_EXTREMES: Final[Any] = {max: equivalents.maximum, min: equivalents.minimum}


def converted(alg: Algebra, t: Any, function: Any, args: Args) -> tuple[Args, Any]:
    """Arguments with the floats that Python code of their classes makes of them, where a function asks for these."""
    asked = [issubclass(type(x), float) and python_method(x, "__float__") is not None for x in args]
    if True not in asked or not (function in (float, complex) or _is_of_numpy(function)):
        return args, t
    pairs = [
        apply(alg, (None, token), python_method(value, "__float__"), (value,), {}) if again else (value, token)
        for value, token, again in zip(args, t[1:], asked)
    ]
    return tuple([value for value, _ in pairs]), (t[0], *[token for _, token in pairs], *t[1 + len(args) :])


def _is_of_numpy(function: Any) -> bool:
    return isinstance(function, np.ufunc) or str(getattr(function, "__module__", None)).partition(".")[0] == "numpy"


def drained(alg: Algebra, t: Any, function: Any, args: Args) -> tuple[Args, Any]:
    """Arguments that are iterated over with tokens turned into tuples, as rules want them."""
    if function in _EXTREMES and len(args) > 1:
        return args, t
    # Where a sum starts is no sequence of summands, even if it can be iterated over.
    drains = [drains_as(alg, function, value) and not (i and function is sum) for i, value in enumerate(args)]
    if True not in drains:
        return args, t
    values: list[Any] = []
    tokens: list[Any] = []
    for value, token, drain in zip(args, t[1:], drains):
        if drain:
            pairs = list(get_iter(alg, (token,), None, value)[0])
            value = tuple([item for item, _ in pairs])
            token = tuple([moving for _, moving in pairs])
            token = token if some(token) else None
        values.append(value)
        tokens.append(token)
    return tuple(values), (t[0], *tokens, *t[1 + len(args) :])


def drains_as(alg: Algebra, function: Any, value: Any) -> bool:
    """Whether a rule of ``function`` has to be given the items of ``value``."""
    if is_iteration(value) or type(value) is GeneratorType and id(value) in alg.generators:
        return True
    form = kind(value)
    if is_view(value) or form == "set":
        return reaches(alg, value)
    summing = function in (sum, *_EXTREMES) or takes_items(function)
    if type(value) is array:
        return reaches(alg, value) and (summing or function is np.array and value.typecode == "d")
    if issubclass(type(value), deque) or summing and (is_iterated_by_type(value) or type(value) is MappingProxyType):
        return reaches(alg, value)
    if form in ("list", "tuple") and is_iterated_by_code(type(value)):
        return getattr(function, "__module__", None) != "_operator"
    if not summing or form not in ("object", "list", "tuple", "dict"):
        return False
    native = form == "object" and find_in_type(type(value), "__iter__") is not None
    return is_iterated_by_code(type(value)) or native and reaches(alg, value)
