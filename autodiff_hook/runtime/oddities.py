"""What rules for numbers and arrays are not meant for: objects, arrays of such, structured and masked arrays."""

from __future__ import annotations

from collections.abc import Iterable
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, Final

import numpy as np

from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.lookup import find_in_type, has_in_type
from autodiff_hook.signatures import Array, Complex, is_exact

_NUMBERS: Final = frozenset({float, int, complex, bool, type(None), str})
_CODE: Final = (FunctionType, MethodType, BuiltinFunctionType)
KEEPING: Final = (np.array, np.asarray, np.asanyarray, np.reshape, np.ravel, np.transpose, np.copy)
"""What leaves the elements of arrays as they are."""

_MAKING: Final = (np.array, np.asarray, np.asanyarray)
_CHOOSING: Final = (max, min)
"""What gives back one of the objects that it is given."""


def is_odd(value: Any, by_numpy: bool = True) -> bool:
    """Whether a function of numbers and arrays, NumPy's or not, would call methods of ``value``, or read fields."""
    cls = type(value)
    if cls is np.ndarray:
        return value.dtype.kind in "OV" and _holds_odd(value)
    kind = kind_of(cls)
    if kind == "array":
        return value.dtype.kind in "OV" and _holds_odd(value) or not Array.contains(cls)
    if by_numpy and kind in ("list", "tuple", "dict") and is_converted_by_code(cls):
        return True
    if kind in ("list", "tuple"):
        return not _NUMBERS.issuperset(map(type, value)) and any([is_odd(item, by_numpy) for item in value])
    if kind == "dict":
        return any(map(is_odd, value.values()))
    return kind == "object" and not isinstance(value, _CODE) or cls is np.void


def is_converted_by_code(cls: type) -> bool:
    """Whether NumPy asks a class for the array that a list, a tuple, a dict or a number is, and does not look at it."""
    return cls not in _PLAIN and any(find_in_type(cls, name) is not None for name in _CONVERTING)


_PLAIN: Final = frozenset({list, tuple, float, int, complex})
_CONVERTING: Final = ("__array__", "__array_interface__", "__array_struct__")


def _holds_odd(array: Any) -> bool:
    return array.dtype.kind == "V" or any(kind_of(type(item)) != "number" for item in array.flat)


def has_odd(function: Any, given: Iterable[tuple[Any, Any]]) -> bool:
    """Whether a rule of ours for ``function`` is not meant for one of these arguments.

    With each comes what tells whether it carries a derivative; what does not may be any object, as a generator of
    random numbers is.
    """
    if any(function is f for f in _CHOOSING):
        return False
    pairs = list(given)
    if any(function is f for f in KEEPING) and pairs and _keeps(function, pairs):
        return False
    by_numpy = getattr(function, "__module__", None) not in _ITERATING
    return any(
        (place is not None or kind_of(type(value)) == "array") and is_odd(value, by_numpy) for value, place in pairs
    )


def hands_on(function: Any, cls: type) -> bool:
    """Whether a function of NumPy's only asks an object of a class for its method of that name."""
    inner = getattr(function, "_implementation", None)
    if type(inner) is not FunctionType:
        return False
    code = inner.__code__
    if any(name.startswith("_wrap") for name in code.co_names):
        return any(type(name) is str and has_in_type(cls, name) for name in code.co_consts)
    name = function.__name__
    return name in code.co_names and has_in_type(cls, name)


_ITERATING: Final = ("builtins", "math", "cmath")
"""Where functions iterate over what they are given, and ask for no array."""


def _keeps(function: Any, pairs: list[tuple[Any, Any]]) -> bool:
    """Whether the elements of an array stay what they are: where a dtype is asked for, they may not."""
    converts = len(pairs) > 1 and any(function is f for f in _MAKING)
    return kind_of(type(pairs[0][0])) == "array" and not converts


def is_strange(result: Any, args: tuple[Any, ...]) -> bool:
    """Whether a rule gave an object, which has cotangents of no known form, and was not given it."""
    kind = kind_of(type(result))
    if kind == "inert":
        return isinstance(result, np.void)
    return kind == "object" and not any(result is x for arg in args for x in _items(arg))


def _items(value: Any) -> Any:
    return (value, *value) if kind_of(type(value)) in ("list", "tuple") else (value,)


def adds_objects(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether ``sum`` or ``math.prod`` would call methods of objects, or concatenate lists or tuples."""
    if not args or len(args) > 2 or not kwargs.keys() <= {"start"}:
        return False
    items = args[0] if type(args[0]) in (list, tuple) else ()
    terms = (*items, *args[1:], *kwargs.values())
    return any(kind_of(type(x)) in ("object", "list", "tuple") or is_own_number(x) for x in terms)


def is_own_number(value: Any) -> bool:
    """Whether ``value`` is an exact number, or one of a class with arithmetic of its own in Python."""
    cls = type(value)
    if cls in _NUMBERS:
        return False
    return issubclass(cls, (float, int, complex)) and not Complex.contains(cls) or is_exact(cls)
