"""The abstract values of objects, the rules that calls have, and what comes out of them."""

from __future__ import annotations

import contextlib
import datetime
import itertools
import math
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import _HAS_DEFAULT_FACTORY  # type: ignore[attr-defined]
from threading import Lock, RLock
from types import BuiltinMethodType, CodeType, FunctionType, GenericAlias, UnionType
from typing import Any, Final
from uuid import UUID

import numpy as np

from autodiff_hook.registry import registry
from autodiff_hook.transform.specialise.abstract import (
    MISSING,
    Abstract,
    Array,
    Closure,
    Dict,
    Instance,
    Known,
    List,
    Number,
    Optional,
    Outside,
    Record,
    Reference,
    Tuple,
)
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.lattice import differentiable, example_of, is_none, is_whole, join, number_types
from autodiff_hook.transform.specialise.trying import example_for, samples, square_for, tried
from autodiff_hook.transform.specialise.wording import named

_NUMBERS: Final = frozenset({float, int, bool, complex, *(np.dtype(c).type for c in "bBhHiIlLqQfdFD")})
FLAGS: Final = type(np.zeros(0).flags)
_INERT: Final = (str, bytes, np.str_, np.bytes_, type(None), bool, range, slice, type(Ellipsis), FLAGS, UUID)
_COMBINATIONS: Final = 16
_LENGTH: Final = 32


def abstract_of(value: Any) -> Abstract:
    """What is known of a value that something computed: its type, not itself."""
    cls = type(value)
    if cls in _NUMBERS:
        return Number(frozenset({cls}), example=value)
    if is_array_of_texts(value):
        return Instance(cls, example=value)
    if cls is np.ndarray:
        if value.dtype.kind not in "fiubc" or value.dtype == np.float16:
            raise Refused(f"an array of {value.dtype}")
        return Array(value.dtype, value.ndim, example=value)
    if cls is tuple or issubclass(cls, tuple) and hasattr(cls, "_fields") and cls.__module__.startswith("numpy"):
        return Tuple(tuple(map(abstract_of, value)), cls, example=value)
    if cls is list and len(value) <= _LENGTH:
        return Tuple(tuple(map(abstract_of, value)), list, example=value)
    if cls in _INERT or cls is np.bool_ or issubclass(cls, np.dtype):
        return Instance(cls, example=value)
    raise Refused(f"a value of type {cls.__qualname__}")


def is_array_of_texts(value: Any) -> bool:
    """Whether a value is an array of texts with axes, which carries no derivative."""
    return type(value) is np.ndarray and value.dtype.kind == "U" and value.ndim > 0


def is_grid(value: Any) -> bool:
    """Whether a value is one of NumPy's objects whose items are made of the index."""
    return any(value is grid for grid in (np.mgrid, np.ogrid, np.r_, np.c_, np.s_))


def is_fixed(value: Any) -> bool:
    """Whether a value is known by identity though it is no code, because nothing in a process changes it."""
    cls = type(value)
    fixed = cls in _FIXED_TYPES or issubclass(cls, np.dtype) or cls.__module__ == "typing"
    return fixed or any([value is x for x in _FIXED]) or is_grid(value)


def is_form_of_types(value: Any) -> bool:
    """Whether the items of a value are types, as annotations have them: ``List``, ``Optional``, ``list``."""
    if not isinstance(value, type):
        return type(value).__module__ == "typing"
    item = getattr(value, "__class_getitem__", None)
    return getattr(item, "__func__", item) is GenericAlias or isinstance(item, BuiltinMethodType)


LOCKS: Final = (type(Lock()), type(RLock()))
_FIXED_TYPES: Final = (CodeType, re.Pattern, object, UnionType, GenericAlias, *LOCKS)
_FIXED: Final = (NotImplemented, Ellipsis, sys.version_info, np._NoValue, _HAS_DEFAULT_FACTORY)


def rule_for(function: Any, types: list[Abstract], names: tuple[str, ...]) -> Any:
    """The one rule for all types that the arguments may have."""
    choices = [exact_types(t) for t in types]
    found = {}
    for combination in _combinations(choices):
        rule = registry.rule(function, combination, names)
        if rule is not None or not all(cls in _INERT for cls in combination):
            # Without a number there is no derivative, so the rule for the others will do.
            found[id(rule)] = rule
    if len(found) != 1 or None in found.values():
        raise Refused(f"no single rule of {named(function)} for {', '.join(map(named, types))}")
    return next(iter(found.values()))


def _combinations(choices: list[tuple[type, ...]]) -> list[tuple[type, ...]]:
    made = list(itertools.islice(itertools.product(*choices), _COMBINATIONS + 1))
    if len(made) > _COMBINATIONS:
        raise Refused("too many types")
    return made


def exact_types(value: Abstract) -> tuple[type, ...]:
    """The types that a rule is chosen by."""
    types = number_types(value)
    if types is not None:
        return tuple(types) if len(types) == 1 else tuple(sorted(types, key=lambda t: t.__name__))
    if isinstance(value, Array):
        return (np.ndarray,)
    if isinstance(value, (Tuple, Outside, Record, List, Dict, Instance)):
        return (value.cls,)
    if isinstance(value, Known):
        return (type(value.value),)
    if isinstance(value, Closure):
        return (FunctionType,)
    raise Refused(f"an argument of type {named(value)}")


MOMENTS: Final = (datetime.datetime, datetime.date, datetime.time, datetime.timedelta, datetime.timezone)
"""What is made of numbers, and counts in whole ones: nothing is differentiated through it."""
IN_TEXTS: Final = "texts that NumPy holds, in which numbers may be written"
"""What is refused where a program may write numbers and read them again."""


def outcome(
    run: Callable[..., Any],
    types: list[Abstract],
    named: dict[str, Abstract],
    loose: bool = False,
    constant: bool = False,
) -> Abstract:
    """What a call without effects gives, found by running it on examples.

    With ``constant`` the result is none of the items that the call is given. With ``loose`` the lengths in the examples
    need not fit: those of lists that the program makes are not known.
    """
    if not named and all(number_types(t) is not None for t in types) and types:
        return _not_written(_number_outcome(run, types), types)
    options = {k: example_for(t) for k, t in named.items()}
    given = [example_for(t) for t in types]
    try:
        found = tried(run, [*map(_filled, given)] if _goes_through_items(run) else given, options)
    except Refused:
        if not loose or not any(isinstance(t, Array) for t in types):
            raise
        found = _tried_with_squares(run, types, options)
    if getattr(run, "__name__", "") in ("array", "asarray") and not all(map(_is_there, types)):
        raise Refused("an array of what may be None")
    result = _not_written(_of_nothing(found) or abstract_of(found), [*types, *named.values()])
    if _is_of_numpy(result) and _says_type([*types, *named.values()]):
        raise Refused("an array or a number of a type that is not known")
    if isinstance(result, Number) and not constant:
        result = Number(result.types | _possible(types, run), example=result.example)
    for cls in (int, float) if any(map(_may_differ, (*types, *named.values()))) else ():
        with contextlib.suppress(Refused):
            others = {k: _of_kind(t, cls) for k, t in named.items()}
            result = join(result, abstract_of(tried(run, [_of_kind(t, cls) for t in types], others)))
    if _varies(run, [*types, *named.values()]):
        return _widened(result)
    if any(isinstance(t, Array) and (t.scalar or t.ndim is None) for t in types):
        return _widened(result)
    return result


def _goes_through_items(run: Callable[..., Any]) -> bool:
    """Whether a function of Python's takes the items of arrays one by one, and gives another type if there are none."""
    return getattr(run, "__module__", None) in ("builtins", "math")


def _filled(example: Any) -> Any:
    """An array with items: that the arguments at hand come to none says nothing of the type of their sum."""
    if type(example) is not np.ndarray or example.size:
        return example
    return np.ones([max(n, 1) for n in example.shape], example.dtype)


def _tried_with_squares(run: Callable[..., Any], types: list[Abstract], options: dict[str, Any]) -> Any:
    """The result for arrays of equal lengths: of the shortest that fit what the call says of them, such as bands."""
    for length in _LENGTHS[:-1]:
        with contextlib.suppress(Refused):
            return tried(run, [square_for(t, length) for t in types], options)
    return tried(run, [square_for(t, _LENGTHS[-1]) for t in types], options)


_LENGTHS: Final = (2, 3, 5)


def _not_written(result: Abstract, given: list[Abstract]) -> Abstract:
    """What is given back, unless it is text that NumPy holds and in which what is given may be written."""
    dtype = getattr(result.example, "dtype", None) if isinstance(result, Instance) else None
    if dtype is not None and dtype.kind in "US" and any(map(_may_be_read, given)):
        raise Refused(IN_TEXTS)
    return result


def _may_be_read(value: Abstract) -> bool:
    """Whether text that is made of a value may read as a number that has a derivative.

    It may if that is such a number, or a text of Python's that is not known: the program may have made it of one.
    """
    if isinstance(value, Tuple):
        return any(map(_may_be_read, value.items))
    if isinstance(value, Reference):
        return any(map(_may_be_read, value.site.kinds()))
    return differentiable(value) and not is_whole(value) or isinstance(value, Instance) and value.cls in (str, bytes)


def _says_type(types: list[Abstract]) -> bool:
    """Whether a text that is not known may name the type of an array; beside arrays of texts it is data."""
    inert = [value for value in types if isinstance(value, Instance)]
    beside_texts = any(value.cls is np.ndarray for value in inert)
    return not beside_texts and any(_names_type(value.example) for value in inert)


def _names_type(value: Any) -> bool:
    with contextlib.suppress(TypeError, ValueError):
        return isinstance(value, str) and np.dtype(value).itemsize > 0
    return False


def _is_of_numpy(value: Abstract) -> bool:
    """Whether a value is an array, a number of NumPy's, or a tuple with some."""
    if isinstance(value, Tuple):
        return any(map(_is_of_numpy, value.items))
    return isinstance(value, Array) or any(issubclass(cls, np.generic) for cls in number_types(value) or ())


def _may_differ(value: Abstract) -> bool:
    """Whether the kind of a number, of an array or of something in a container is not certain."""
    if isinstance(value, Array):
        return value.dtype is None
    if isinstance(value, Tuple):
        return any(map(_may_differ, value.items))
    if isinstance(value, List):
        return value.item is not None and _may_differ(value.item)
    return len(number_types(value) or ()) > 1


def _of_kind(value: Abstract, cls: type) -> Any:
    """An example of a value, of this kind of numbers where it may be of that and another one."""
    example = example_for(value)
    if not _may_differ(value):
        return example
    if isinstance(value, Array):
        with np.errstate(all="ignore"):
            return np.real(example).astype(cls) if np.can_cast(cls, example.dtype) else example
    if isinstance(value, Tuple) and value.cls in (tuple, list):
        return value.cls([_of_kind(item, cls) for item in value.items])
    if isinstance(value, List):
        kinds = number_types(value.item) if value.item is not None else None
        return [_number_of(x, kinds, cls) for x in example] if kinds is not None else example
    return _number_of(example, number_types(value) or frozenset(), cls)


def _number_of(example: Any, types: frozenset[type], cls: type) -> Any:
    """A number like another one, of the class of this kind among several, if there is one."""
    kind = (int, np.integer) if cls is int else (float, np.floating)
    found = next((each for each in types if issubclass(each, kind) and each is not bool), None)
    if found is None:
        return example
    example = example.real if isinstance(example, complex) else example
    with np.errstate(all="ignore"):
        made = found(example) if math.isfinite(example) else example
    return made if math.isfinite(made) else samples(found)[0]


def _of_nothing(value: Any) -> Abstract | None:
    """What is known of an array that holds None alone: nobody stores into it, so it says nothing but its shape."""
    if type(value) is not np.ndarray or value.dtype != object or not value.ndim or not value.size:
        return None
    holds = all(x is None for x in value.reshape(-1).tolist())
    return Array(value.dtype, value.ndim, example=value) if holds else None


def _is_there(value: Abstract) -> bool:
    """Whether nothing in a value is None on some ways alone."""
    if isinstance(value, Tuple):
        return all(map(_is_there, value.items))
    if isinstance(value, List):
        return value.item is None or _is_there(value.item)
    return not isinstance(value, Optional)


def _possible(types: list[Abstract], run: Callable[..., Any]) -> frozenset[type]:
    """What else than the example says the type of a number may be that is made of numbers in containers."""
    found: set[type] = set()
    for value in types:
        if isinstance(value, Tuple):
            inside = [number_types(item) for item in value.items]
            if run in (max, min) or any(t is not None and len(t) > 1 for t in inside):
                found.update(*(t for t in inside if t is not None))
            found |= _possible([item for item in value.items if isinstance(item, (Tuple, List))], run)
        elif isinstance(value, List):
            found |= {int, float, *((number_types(value.item) if value.item is not None else None) or ())}
    return frozenset(found)


def _varies(run: Callable[..., Any], types: list[Abstract]) -> bool:
    """Whether the number of dimensions of the result depends on more than those of the arguments."""
    name = getattr(run, "__name__", "")
    if name in ("array", "asarray"):
        # A whole number is the least number of axes.
        return not all(map(_has_depth, types[:1])) or any(isinstance(t, Number) and int in t.types for t in types[1:])
    if name == "getitem":
        return not all(map(_is_there, types[1:]))
    return name in ("squeeze", "unique", "nonzero")


def _has_depth(value: Abstract) -> bool:
    """Whether it is known how many axes an array made of a value has."""
    if isinstance(value, Tuple):
        return all(map(_has_depth, value.items))
    return number_types(value) is not None or is_none(value) or isinstance(value, (Array, List))


def _widened(result: Abstract) -> Abstract:
    if isinstance(result, Array):
        return Array(result.dtype, None, scalar=True, example=result.example)
    if isinstance(result, Number) and np.float64 in result.types:
        certain = not any(issubclass(cls, (np.integer, complex)) for cls in result.types)
        return Array(np.dtype(np.float64) if certain else None, None, scalar=True, example=result.example)
    return result


def _number_outcome(run: Callable[..., Any], types: list[Abstract]) -> Abstract:
    """The types of a function of numbers, one by one; math is the same for all numbers of a type."""
    exact = [exact_types(t) for t in types]
    results: set[type] = set()
    example: Any = MISSING
    found: Abstract | None = None
    actual = tuple(type(example_of(t)) for t in types)
    for combination in sorted(_combinations(exact), key=lambda x: x != actual):
        value = _first(run, types, combination)
        result = abstract_of(value)
        if not isinstance(result, Number):
            found = result if found is None else join(found, result)
            continue
        results |= result.types
        example = value if example is MISSING else example
    if found is not None:
        return found
    if run in (max, min):
        return Number(frozenset().union(*(number_types(t) or () for t in types)), example=example)
    if getattr(run, "__name__", "") in ("pow", "ipow") and all(t <= {int, bool} for t in map(number_types, types) if t):
        results |= {int, float}
    return Number(frozenset(results), example=example)


def _tries(types: list[Abstract], combination: tuple[type, ...]) -> Iterator[list[Any]]:
    """Arguments of these types: those at hand, if they are, then others."""
    actual = [example_of(t) for t in types]
    if tuple(map(type, actual)) == combination:
        yield actual
    for k in (0, 1):
        yield [t.value if isinstance(t, Known) else samples(c)[k] for t, c in zip(types, combination)]


def _first(run: Callable[..., Any], types: list[Abstract], combination: tuple[type, ...]) -> Any:
    for args in _tries(types, combination):
        try:
            return tried(run, args, {})
        except Refused as error:
            refused = error
    raise refused
