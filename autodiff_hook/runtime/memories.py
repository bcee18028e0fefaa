"""What native objects may remember: arrays and containers that they were given, which nobody can see in them.

An object whose class is not Python code may keep hold of the memory of an array in a way that the garbage collector
does not know. What such objects are given while a program is followed is noted. One that was met before, or was made
where nobody looked, may remember every array that others have had a hold of.
"""

from __future__ import annotations

import pickle
import struct
import weakref
from types import FunctionType, MethodType
from typing import Any, Final

import numpy as np

from autodiff_hook.runtime.effects import places_written
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.lookup import HEAP_TYPE
from autodiff_hook.runtime.native import OF_CYTHON, STANDARD, package_of

_WITHOUT: Final = STANDARD | {"numpy", "numba", "_dispatcher", "gmpy2", "pandas"}
"""Packages whose native objects have no hidden memory of arrays. ``_dispatcher`` is Numba's."""

_BORROWING: Final = (pickle.PickleBuffer, type(struct.iter_unpack("B", b"")))
_hiding: dict[int, tuple[bool, weakref.ref[type]]] = {}


def hides(value: Any) -> bool:
    """Whether ``value`` is a native object that may remember what cannot be seen in it."""
    cls = type(value)
    found = _hiding.get(id(cls))
    if found is None:
        key = id(cls)
        found = _hiding[key] = (_may_hide(cls), weakref.ref(cls, lambda _: _hiding.pop(key, None)))
    return found[0]


def _may_hide(cls: type) -> bool:
    if cls in _BORROWING:
        return True
    if kind_of(cls) != "object" or issubclass(cls, type) or cls.__name__ in OF_CYTHON:
        return False
    return any(package_of(base) not in _WITHOUT and not _is_of_python(base) for base in cls.__mro__)


def _is_of_python(cls: type) -> bool:
    """Whether a class was made by a class statement: its instances have a dict, or slots, and nothing more."""
    if not cls.__flags__ & HEAP_TYPE:
        return False
    meta: type = type(cls)
    if not all([package_of(base) in STANDARD or _is_of_python(base) for base in meta.__mro__]):
        return False
    slots = cls.__dict__.get("__slots__", ())
    own = 2 + (1 if isinstance(slots, str) else len(tuple(slots)))
    parent = cls.__base__
    return parent is not None and cls.__basicsize__ - parent.__basicsize__ <= 8 * own


class Memories:
    """What native objects were given in one forward pass; which arrays nobody else can know."""

    __slots__ = ("addresses", "given", "own")

    def __init__(self) -> None:
        self.given: dict[int, tuple[Any, list[Any]]] = {}
        self.addresses: list[tuple[Any, Any]] = []
        self.own: dict[int, weakref.ref[Any]] = {}

    def ran(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], value: Any) -> None:
        """Note a call that nothing with a derivative went into."""
        if type(value) is np.ndarray:
            if value.base is None and _is_of_numpy(function) and not any(value is x for x in args):
                self.own[id(value)] = weakref.ref(value)
        elif hides(value) or any(map(hides, args)):
            self.note(function, args, kwargs, value)
        if self.own and _runs_unseen(function):
            self.own.clear()

    def is_own(self, root: Any) -> bool:
        """Whether only this program has ever had a hold of an array."""
        known = self.own.get(id(root))
        return known is not None and known() is root

    def of_call(self, function: Any) -> list[tuple[Any, Any]]:
        """The arrays that a native function may find by their addresses alone, each behind its token."""
        return self.addresses if self.addresses and places_written(function) is None else []

    def may_have(self, value: Any, roots: Any) -> bool:
        """Whether a native object may remember one of these arrays, though it was never seen to be given it."""
        return hides(value) and id(value) not in self.given and not all(map(self.is_own, roots))

    def note(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        """Note what native objects may remember of a call."""
        operands = [getattr(function, "__self__", None), *args, *kwargs.values()]
        given = [x for x in operands if kind_of(type(x)) not in ("number", "inert")]
        results = result if type(result) in (tuple, list) else (result,)
        for holder in filter(hides, (function, *given, *results)):
            self.given.setdefault(id(holder), (holder, []))[1].extend(given)


def _is_of_numpy(function: Any) -> bool:
    return getattr(function, "__objclass__", None) is np.ndarray or package_of(function) == "numpy"


def _runs_unseen(function: Any) -> bool:
    """Whether a call runs Python code of a program, natively."""
    if not isinstance(function, (FunctionType, MethodType, type)):
        return False
    return package_of(function) not in STANDARD and package_of(function) != "numpy"
