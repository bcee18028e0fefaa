"""What caches of ``functools.lru_cache`` have answered, and whether an answer may come to be another one."""

from __future__ import annotations

import functools
import gc
from collections.abc import Iterable
from itertools import chain
from types import CellType, FunctionType, ModuleType
from typing import Any, Final
from weakref import WeakKeyDictionary

from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.lookup import HEAP_TYPE
from autodiff_hook.runtime.reachable import is_without_programs, names_in, namespaces_of


class Answers:
    """The answers that a cache has, to ask without calling whether one is there.

    Only the garbage collector is shown their dict, the last one before the attributes, and what stands in keys before
    arguments by name.
    """

    __slots__ = ("_before_names", "_found", "_typed")

    def __init__(self, cache: Any) -> None:
        held = gc.get_referents(cache)[::-1]
        self._found = next(x for x in held if type(x) is dict and x is not cache.__dict__)
        self._before_names = next(x for x in held if type(x) is object)
        self._typed = cache.cache_parameters()["typed"]

    def has(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether a cache has the answer to a call."""
        if len(args) == 1 and type(args[0]) in (int, str) and not (kwargs or self._typed):
            return args[0] in self._found
        named = [self._before_names, *chain.from_iterable(kwargs.items())] if kwargs else []
        types = map(type, (*args, *kwargs.values())) if self._typed else ()
        return (*args, *named, *types) in self._found


_known: Final[WeakKeyDictionary[Any, Answers]] = WeakKeyDictionary()


def is_answered(cache: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a cache has the answer to a call, which it then gives without calling its function."""
    found = _known.get(cache)
    if found is None:
        found = _known[cache] = Answers(cache)
    return found.has(args, kwargs)


def depends(cache: Any, args: Iterable[Any]) -> bool:
    """Whether what a cache says when it is first asked may depend on what somebody assigns or changes."""
    pending, seen = [cache], set[int]()
    while pending:
        item = wrapped(pending.pop())
        if id(item) in seen or _is_code_of_library(item):
            continue
        seen.add(id(item))
        if type(item) is not FunctionType:
            return True
        pending += _read_by(item)
    return not all(map(_is_fixed, args))


def wrapped(function: Any) -> Any:
    """The function behind a cache."""
    return function.__wrapped__ if type(function) is functools._lru_cache_wrapper else function


def _read_by(function: FunctionType) -> list[Any]:
    """What a function reads that is outside, but modules and default values that nobody can change."""
    names = names_in(function.__code__)
    found = [cell for cell in function.__closure__ or () if not _is_itself(cell, function)]
    defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    read = [held[name] for held in namespaces_of(function, names) for name in names if name in held]
    return [
        *found,
        *(x for x in defaults if not _is_fixed(x)),
        *(x for x in read if not issubclass(type(x), ModuleType)),
    ]


def _is_itself(cell: CellType, function: FunctionType) -> bool:
    try:
        return wrapped(cell.cell_contents) is function
    except ValueError:
        return False


def _is_fixed(value: Any) -> bool:
    if type(value) is tuple:
        return all(map(_is_fixed, value))
    is_class = issubclass(type(value), type)
    return _is_code_of_library(value) or not is_class and kind_of(type(value)) in ("number", "inert")


def _is_code_of_library(value: Any) -> bool:
    """Whether a value is a function or a class that no program has made."""
    cls = type(value)
    if cls is FunctionType or issubclass(cls, type) and value.__flags__ & HEAP_TYPE:
        return is_without_programs(value.__module__)
    return issubclass(cls, type) or kind_of(cls) == "inert" and callable(value)
