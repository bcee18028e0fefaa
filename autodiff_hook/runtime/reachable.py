"""What a value refers to: elements, attributes, captured cells, bound objects."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from types import BuiltinFunctionType, CellType, CodeType, FunctionType
from typing import Any, Final

import numpy as np

from autodiff_hook.errors import LIBRARIES
from autodiff_hook.runtime.buffers import operands_of
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.lookup import dictionary_of, wrapped_by

_HEAP_TYPE: Final = 1 << 9
_WITHOUT_PROGRAMS: Final = LIBRARIES | {"autodiff_hook", "autodiff_rules", "pandas"}
"""Packages whose globals hold nothing that a program has made."""
_LEAVES: Final = frozenset({int, float, complex, bool, str, bytes, type(None), CodeType})
"""What refers to nothing that matters; most of what large structures hold."""


def reachable(
    value: Any,
    arrays: bool = False,
    given: dict[int, tuple[Any, list[Any]]] | None = None,
    seen: set[int] | None = None,
) -> Iterator[Any]:
    """``value`` and what it refers to: elements, attributes, captured cells, bound objects, classes without more.

    What is ``seen`` is passed by, and grows by what is met.
    """
    seen = set() if seen is None else seen
    waiting = [value]
    for item in waiting:  # it grows: what is near comes first
        cls = type(item)
        if cls in _LEAVES or id(item) in seen:
            continue
        kind = kind_of(cls)
        if kind == "number" or kind == "array" and not (arrays or item.dtype.hasobject):
            continue
        if kind == "inert" and not issubclass(cls, BuiltinFunctionType) and cls is not slice:
            if issubclass(cls, type):
                seen.add(id(item))
                waiting.extend(captured_by(item))
                if item.__flags__ & _HEAP_TYPE:
                    yield item
            continue
        seen.add(id(item))
        yield item
        waiting.extend(_referents(item, kind))
        if given and id(item) in given:
            waiting.extend(given[id(item)][1])


def _referents(item: Any, kind: str) -> list[Any]:
    cls = type(item)
    if cls is FunctionType:
        return [
            *globals_of(item),
            *(item.__closure__ or ()),
            *(item.__defaults__ or ()),
            item.__kwdefaults__,
            item.__dict__ or None,
        ]
    if issubclass(cls, BuiltinFunctionType):
        return [item.__self__]
    if kind == "array":
        return _referents_of_array(item)
    if cls is memoryview:
        return [item.obj]
    if cls is np.flatiter or issubclass(cls, np.void):
        return [item.base]
    if cls is np.nditer:
        return list(operands_of(item))
    if _DICTS_ASIDE and kind == "object" and cls.__dictoffset__:
        dictionary = dictionary_of(item)
        if type(dictionary) is dict:
            return [dictionary, *gc.get_referents(item)]
    return gc.get_referents(item)


def captured_by(cls: type) -> Iterator[CellType]:
    """The variables that the methods of a class have captured."""
    for base in cls.__mro__:
        for method in vars(base).values():
            if type(method) is FunctionType:
                yield from wrapped_by(method).__closure__ or ()


_DICTS_ASIDE: Final = sys.version_info >= (3, 13)
"""Whether an object refers to what its dict holds, and not to that."""


def globals_of(function: FunctionType) -> list[Any]:
    """The containers and functions of its module that a function of a program names."""
    globals_ = function.__globals__
    if str(globals_.get("__name__")).partition(".")[0] in _WITHOUT_PROGRAMS:
        return []
    found = [globals_[name] for name in names_in(function.__code__) if name in globals_]
    return [x for x in found if kind_of(type(x)) not in ("number", "inert")]


def names_in(code: CodeType) -> set[str]:
    """The names of globals, and of attributes, in code and the code of functions in it."""
    return {*code.co_names, *(n for c in code.co_consts if type(c) is CodeType for n in names_in(c))}


def defaults_of(cls: type) -> Iterator[Any]:
    """What the methods of a class hold of the values of their defaults: themselves, and the dicts of keywords."""
    for base in cls.__mro__:
        for method in vars(base).values():
            if type(method) is FunctionType:
                yield wrapped_by(method)
                yield wrapped_by(method).__kwdefaults__


def _referents_of_array(array: Any) -> list[Any]:
    """What an array refers to; the array that it is a view of has the same elements."""
    found = [] if array.base is None or kind_of(type(array.base)) == "array" else [array.base]
    if array.dtype.hasobject:
        found += np.ndarray.flatten(array).tolist()
    return [*found, array.__dict__] if type(array) is not np.ndarray and hasattr(array, "__dict__") else found
