"""The state of one forward pass (``Context``) and of one reverse sweep (``Sweep``).

Numbers, arrays and tuples are values: their cotangents travel along the edges of the program. Lists,
dicts, objects and cells are references: what is known of them is kept here, by identity. The context
marks which slots of which references hold something that carries a derivative; the sweep holds their
cotangents, sparse, by index, key or attribute (a *shadow*).
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from types import BuiltinFunctionType, CodeType, FunctionType
from typing import Any, Final, Protocol

import numpy as np

from autodiff_hook.errors import LIBRARIES, Unsupported
from autodiff_hook.runtime.buffers import Buffers, Shadows, operands_of
from autodiff_hook.runtime.cotangents import accumulate
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.memories import Memories

Pullback = Any

_SCAN_LIMIT: Final = 10_000


class Given(Protocol):
    """The references among the arguments, which may be met under another name (``given.py``)."""

    ids: set[int]
    kept: dict[tuple[int, Any], Any]

    def met(self, ctx: Context, reference: Any, key: Any, value: Any) -> None:
        """An argument was read from a slot of what is no argument."""


class Mark:
    """Which slots of a reference carry a derivative: all of them, or the keys in a set."""

    __slots__ = ("keys", "loss", "reference")

    def __init__(self, reference: Any) -> None:
        self.reference = reference
        self.keys: set[Any] | None = set()
        self.loss: Pullback | None = None

    def covers(self, key: Any) -> bool:
        """Whether the slot ``key`` carries a derivative."""
        return self.keys is None or key in self.keys


class Context:
    """What a forward pass knows of the references it met."""

    __slots__ = (
        *("buffers", "dictionaries", "effects", "finished", "given", "lost"),
        *("marks", "memories", "modules", "whole_numbers"),
    )

    def __init__(self) -> None:
        self.marks: dict[int, Mark] = {}
        self.buffers = Buffers()
        self.memories = Memories()
        self.given: Given | None = None
        self.effects = 0
        self.lost: str | None = None
        self.modules: set[str] = set()
        self.whole_numbers = False
        self.finished: list[Pullback] = []
        self.dictionaries: dict[int, tuple[Any, Any]] = {}

    def idle(self) -> bool:
        """Whether nothing that could be reached without a witness matters to a derivative."""
        return not self.marks and not self.buffers.held and not self.buffers.stored

    def mark(self, reference: Any, key: Any) -> Mark:
        """One slot of ``reference`` carries a derivative from now on."""
        mark = self._mark(reference)
        if mark.keys is not None:
            mark.keys.add(key)
        return mark

    def mark_all(self, reference: Any) -> Mark:
        """Every slot of ``reference``, and what is loaded from them, carries a derivative."""
        mark = self._mark(reference)
        mark.keys = None
        return mark

    def _mark(self, reference: Any) -> Mark:
        mark = self.marks.get(id(reference))
        if mark is None:
            mark = self.marks[id(reference)] = Mark(reference)
        return mark

    def move(self, reference: Any, moved: Callable[[set[Any]], set[Any]]) -> None:
        """What the slots of ``reference`` hold has moved to other slots."""
        mark = self._mark(reference)
        if mark.keys is not None:
            mark.keys = moved(mark.keys)

    def mark_for(self, reference: Any, key: Any) -> Mark | None:
        """The mark of ``reference`` if the slot ``key`` of it carries a derivative."""
        mark = self.marks.get(id(reference))
        return mark if mark is not None and (mark.keys is None or key in mark.keys) else None

    def reaches(self, value: Any) -> bool:
        """Whether something that carries a derivative can be reached from ``value`` by reference."""
        stored = self.buffers.stored
        if not self.marks and not stored:
            return False
        return any(
            id(item) in self.marks
            or id(item) in self.dictionaries
            or stored
            and (self.buffers.may_hold(item) or self.memories.may_have(item, stored.values()))
            for item in self.reachable(value, arrays=bool(stored))
        )

    def reachable(self, value: Any, arrays: bool = False) -> Iterator[Any]:
        """``value`` and what it refers to, or was given."""
        return reachable(value, arrays, self.memories.given)


class Sweep:
    """The shadows of one reverse sweep."""

    __slots__ = ("buffers", "context", "shadows")

    def __init__(self, context: Context) -> None:
        if context.lost is not None:
            raise Unsupported(context.lost)
        if context.finished:
            raise Unsupported(
                "a generator stored what carries a derivative between its last yield and its end, which code that is "
                "not differentiated has come to; this is not differentiated"
            )
        self.context = context
        self.shadows: dict[int, tuple[Any, dict[Any, Any]]] = {}
        self.buffers = Shadows()

    def add(self, reference: Any, key: Any, cotangent: Any) -> None:
        """Add to the cotangent of a slot."""
        if cotangent is None:
            return
        entry = self.shadows.get(id(reference))
        if entry is None:
            entry = self.shadows[id(reference)] = (reference, {})
        shadow = entry[1]
        shadow[key] = accumulate(shadow[key], cotangent) if key in shadow else cotangent

    def pop(self, reference: Any, key: Any) -> Any:
        """The cotangent of a slot, which starts again from zero."""
        entry = self.shadows.get(id(reference))
        return None if entry is None else entry[1].pop(key, None)

    def shadow(self, reference: Any) -> dict[Any, Any]:
        """The shadow of a reference, to be changed."""
        entry = self.shadows.get(id(reference))
        if entry is None:
            entry = self.shadows[id(reference)] = (reference, {})
        return entry[1]

    def peek(self, reference: Any) -> dict[Any, Any]:
        """The shadow of a reference, to be read."""
        entry = self.shadows.get(id(reference))
        return {} if entry is None else entry[1]


def reachable(value: Any, arrays: bool = False, given: dict[int, tuple[Any, list[Any]]] | None = None) -> Iterator[Any]:
    """``value`` and what it refers to: elements, attributes, captured cells, bound objects."""
    seen: set[int] = set()
    stack = [value]
    while stack and len(seen) < _SCAN_LIMIT:
        item = stack.pop()
        kind = kind_of(type(item))
        if id(item) in seen or kind == "number" or kind == "array" and not arrays:
            continue
        if kind == "inert" and type(item) is not BuiltinFunctionType and type(item) is not slice:
            continue
        seen.add(id(item))
        yield item
        stack.extend(_referents(item, kind))
        if given and id(item) in given:
            stack.extend(given[id(item)][1])


def _referents(item: Any, kind: str) -> list[Any]:
    cls = type(item)
    if cls is FunctionType:
        return [
            *globals_of(item),
            *(item.__closure__ or ()),
            *(item.__defaults__ or ()),
            *(item.__kwdefaults__ or {}).values(),
        ]
    if cls is BuiltinFunctionType:
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
        dictionary = getattr(item, "__dict__", None)
        if type(dictionary) is dict:
            return [dictionary, *gc.get_referents(item)]
    return gc.get_referents(item)


_DICTS_ASIDE: Final = sys.version_info >= (3, 13)
"""Whether an object refers to what its dict holds, and not to that."""


def globals_of(function: FunctionType) -> list[Any]:
    """The containers and functions of its module that a function of a program names."""
    globals_ = function.__globals__
    if str(globals_.get("__name__")).partition(".")[0] in LIBRARIES:
        return []
    found = [globals_[name] for name in names_in(function.__code__) if name in globals_]
    return [x for x in found if kind_of(type(x)) not in ("number", "inert")]


def names_in(code: CodeType) -> set[str]:
    """The names of globals, and of attributes, in code and the code of functions in it."""
    return {*code.co_names, *(n for c in code.co_consts if type(c) is CodeType for n in names_in(c))}


def _referents_of_array(array: Any) -> list[Any]:
    """What an array refers to; the array that it is a view of has the same elements."""
    found = [] if array.base is None or kind_of(type(array.base)) == "array" else [array.base]
    if array.dtype.hasobject:
        found += np.ndarray.flatten(array).tolist()
    return [*found, array.__dict__] if type(array) is not np.ndarray and hasattr(array, "__dict__") else found
