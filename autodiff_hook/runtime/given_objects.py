"""The gradients of arguments that are objects, from the cotangents of the parts that a program has read."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from autodiff_hook.runtime.cotangents import accumulate
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.mirror import (
    Mirror,
    attributes_of,
    form_of,
    formed,
    gradient_of,
    is_plain_kind,
    mirror_of,
    tuple_like,
)
from autodiff_hook.runtime.references import ZEROS
from autodiff_hook.runtime.slots import Attribute
from autodiff_hook.tangent import Tangent

Slot = tuple[int | None, Any, Any]
"""The identity of an owner, or None for the arguments; a key; a cotangent of what is there."""


def object_gradients(values: tuple[Any, ...], table: dict[int, Any], *parts: Any) -> tuple[Any, ...]:
    """The gradients of arguments that are objects, from the cotangents of their parts.

    Each part has an owner, or None for the arguments, a slot of it, and a path of lengths and places in tuples. What
    lists and dicts hold is in the ``table`` of buffers, by the identity of their owners.
    """
    slots: list[Slot] = []
    for owner, key, path, cotangent in zip(parts[::4], parts[1::4], parts[2::4], parts[3::4]):
        if not _is_zero(cotangent):
            slots.append((None if owner is None else id(owner), key, _in_tuples(path, cotangent)))
    for identity, held in table.items():
        attributes = type(held) is defaultdict
        for key, cotangent in list(held.items() if isinstance(held, dict) else enumerate(held)):
            if not _is_zero(cotangent):
                slots.append((identity, Attribute(key) if attributes else key, cotangent))
    try:
        return _Walk(slots).gradients(values)
    except _Unusual:
        return _by_mirrors(values, slots)


def _is_zero(cotangent: Any) -> bool:
    return cotangent is None or type(cotangent) is float and cotangent == 0.0


def _in_tuples(path: tuple[tuple[int, int], ...], cotangent: Any) -> Any:
    for length, place in reversed(path):
        cotangent = tuple(cotangent if i == place else None for i in range(length))
    return cotangent


class _Unusual(Exception):
    """Something is given, or has a cotangent, that takes more than one walk."""


class _Walk:
    """One walk through the arguments, in which what has no cotangent costs as little as can be."""

    def __init__(self, slots: list[Slot]) -> None:
        self.given: dict[int | None, dict[Any, list[Any]]] = {}
        self.done: dict[int, Any] = {}
        for identity, key, cotangent in slots:
            name = key.name if type(key) is Attribute else key
            self.given.setdefault(identity, {}).setdefault(name, []).append(cotangent)

    def gradients(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """The gradients of the arguments."""
        given = self.given.get(None, {})
        return tuple([self._gradient(value, given.get(i, ())) for i, value in enumerate(values)])

    def _gradient(self, value: Any, cotangents: Any) -> Any:
        cls = type(value)
        if cls in ZEROS and (not cotangents or ZEROS[cls] is None):
            return ZEROS[cls]
        if cls is float and len(cotangents) == 1 and type(cotangents[0]) is float:
            return cotangents[0]
        if cls is tuple:
            return tuple(self._items(value, cotangents))
        if cls is list or cls is dict:
            return self._container(value, cls, cotangents)
        held = attributes_of(value) if is_plain_kind(cls) else ()
        return self._object(value, held, cotangents) if held else self._leaf(value, cotangents)

    def _items(self, value: Any, cotangents: Any) -> list[Any]:
        """The gradients of the items of a tuple, which are kept where the tuple is."""
        if not cotangents:
            return [ZEROS[type(x)] if type(x) in ZEROS else self._gradient(x, ()) for x in value]
        if not {tuple}.issuperset(map(type, cotangents)):
            raise _Unusual
        return [self._gradient(x, [c[i] for c in cotangents if c[i] is not None]) for i, x in enumerate(value)]

    def _container(self, value: Any, cls: type, cotangents: Any) -> Any:
        if cotangents:
            raise _Unusual
        if id(value) in self.done:
            return self.done[id(value)]
        given = self.given.get(id(value), _NOTHING)
        made: Any = [] if cls is list else {}
        self.done[id(value)] = made
        if cls is list:
            made += [self._part(x, given, i) for i, x in enumerate(value)]
        else:
            made.update({key: self._part(x, given, key) for key, x in value.items()})
        return made

    def _object(self, value: Any, held: Any, cotangents: Any) -> Any:
        if cotangents:
            raise _Unusual
        if id(value) in self.done:
            return self.done[id(value)]
        given = self.given.get(id(value), _NOTHING)
        fields: dict[str, Any] = {}
        tangent = self.done[id(value)] = Tangent(type(value).__qualname__, fields)
        for name, part in held:
            fields[name] = self._part(part, given, name)
        return tangent

    def _part(self, value: Any, given: dict[Any, list[Any]], key: Any) -> Any:
        if key in given:
            return self._gradient(value, given[key])
        return ZEROS[type(value)] if type(value) in ZEROS else self._gradient(value, ())

    def _leaf(self, value: Any, cotangents: Any) -> Any:
        kind = form_of(value)
        if kind == "inert":
            return None
        if kind == "tuple":
            return tuple_like(value, self._items(value, cotangents))
        if kind not in ("number", "array"):
            raise _Unusual
        total = None
        for cotangent in cotangents:
            if kind_of(type(cotangent)) not in ("number", "array"):
                raise _Unusual
            total = accumulate(total, cotangent)
        return formed(Mirror(value, kind), total)


_NOTHING: dict[Any, list[Any]] = {}


def _by_mirrors(values: tuple[Any, ...], given: list[Slot]) -> tuple[Any, ...]:
    """The gradients, where functions are given, or cotangents of whole containers."""
    known: dict[int, Mirror] = {}
    mirrors = [mirror_of(value, known) for value in values]
    slots: dict[tuple[int, Any], Mirror] = {}
    for mirror in mirrors:
        _note_slots(slots, mirror, set())
    found: dict[Mirror, Any] = {}
    for identity, key, cotangent in given:
        _give(found, mirrors[key] if identity is None else slots.get((identity, key)), cotangent)
    done: dict[Mirror, tuple[Any, Any]] = {}
    return tuple([gradient_of(m, lambda leaf: (formed(leaf, found.get(leaf)), None), done)[0] for m in mirrors])


def _note_slots(slots: dict[tuple[int, Any], Mirror], mirror: Mirror, seen: set[Mirror]) -> None:
    """Find the mirrors of what references hold, by reference and key."""
    if mirror in seen:
        return
    seen.add(mirror)
    for key, child in mirror.children.items():
        if mirror.kind == "function":
            cell = mirror.value.__closure__[mirror.value.__code__.co_freevars.index(key)]
            slots[id(cell), 0] = child
        elif mirror.kind != "tuple":
            slots[id(mirror.value), Attribute(key) if mirror.kind == "object" else key] = child
        _note_slots(slots, child, seen)


def _give(found: dict[Mirror, Any], mirror: Mirror | None, cotangent: Any) -> None:
    """Add a cotangent to those of the parts of what a mirror shows."""
    if mirror is None or cotangent is None or type(cotangent) is float and cotangent == 0.0:
        return
    if mirror.kind in ("number", "array"):
        found[mirror] = accumulate(found.get(mirror), cotangent)
    elif mirror.kind != "inert":
        for key, child in mirror.children.items():
            _give(found, child, cotangent[key])
