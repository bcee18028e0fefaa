"""The state of one forward pass (``Context``) and of one reverse sweep (``Sweep``).

Numbers, arrays and tuples are values: their cotangents travel along the edges of the program. Lists,
dicts, objects and cells are references: what is known of them is kept here, by identity. The context
marks which slots of which references hold something that carries a derivative; the sweep holds their
cotangents, sparse, by index, key or attribute (a *shadow*).
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from types import BuiltinFunctionType, FunctionType
from typing import Any, Final

from autodiff_hook.errors import Unsupported
from autodiff_hook.runtime.buffers import Buffers, Shadows
from autodiff_hook.runtime.cotangents import accumulate
from autodiff_hook.runtime.kinds import kind_of

Pullback = Any

_SCAN_LIMIT: Final = 10_000


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

    __slots__ = ("buffers", "dictionaries", "effects", "finished", "lost", "marks", "modules", "whole_numbers")

    def __init__(self) -> None:
        self.marks: dict[int, Mark] = {}
        self.buffers = Buffers()
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
        if not self.marks and not self.buffers.stored:
            return False
        return any(
            id(item) in self.marks or id(item) in self.dictionaries or self.buffers.may_hold(item)
            for item in reachable(value, arrays=bool(self.buffers.stored))
        )


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


def reachable(value: Any, arrays: bool = False) -> Iterator[Any]:
    """``value`` and what it refers to: elements, attributes, captured cells, bound objects."""
    seen: set[int] = set()
    stack = [value]
    while stack and len(seen) < _SCAN_LIMIT:
        item = stack.pop()
        kind = kind_of(type(item))
        if id(item) in seen or kind == "number" or kind == "array" and not arrays:
            continue
        if kind == "inert" and type(item) is not BuiltinFunctionType:
            continue
        seen.add(id(item))
        yield item
        stack.extend(_referents(item, kind))


def _referents(item: Any, kind: str) -> list[Any]:
    cls = type(item)
    if cls is FunctionType:
        return [*(item.__closure__ or ()), *(item.__defaults__ or ()), *(item.__kwdefaults__ or {}).values()]
    if cls is BuiltinFunctionType:
        return [item.__self__]
    if kind == "array":
        return [] if item.base is None else [item.base]
    if cls is memoryview:
        return [item.obj]
    if cls.__name__ == "flatiter":
        return [item.base]
    return gc.get_referents(item)
