"""Searches for tokens: whether something that has one can be reached from what a call is given."""

from __future__ import annotations

from types import FunctionType
from typing import Any, Final

from autodiff_hook.algebras.shadows import Algebra, holder_of, holds, idle, is_held, some
from autodiff_hook.runtime.buffers import is_writeable, root_of
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.lookup import is_open
from autodiff_hook.runtime.reachable import BY_TEXTS, Walk, methods_of, names_in, namespaces_of
from autodiff_hook.runtime.sharing import ByCode


def reaches(alg: Algebra, *values: Any, names: bool = True) -> bool:
    """Whether something with a token can be reached from one of ``values`` by reference, or by ``names``."""
    if idle(alg):
        return False
    return Search(alg, names).finds(values[0] if len(values) == 1 else values)


def fruitless(alg: Algebra, *values: Any) -> Search | None:
    """A search that has found nothing with a token; None if there is something."""
    search = Search(alg)
    return None if not idle(alg) and search.finds(values) else search


def soon_searched(alg: Algebra, function: FunctionType, *operands: Any) -> tuple[bool | None, Search]:
    """Whether something with a token can be reached from a call, and the search for it.

    None if little is held by what it is given, but so much named there that to enter it takes less than a search.
    """
    search, values = Search(alg), (function, *operands)
    if idle(alg):
        return False, search
    code = function.__code__
    if id(code) not in _named_much.found:
        found, _ = search.finds_within(values, _MUCH)
        if found is not None:
            return found, search
        _named_much.add(code, True)
        search = Search(alg)
    return None if _is_little(operands) else search.finds(values), search


_MUCH: Final = 1000
_named_much: Final[ByCode[bool]] = ByCode(1024)


def _is_little(operands: Any) -> bool:
    met = 0
    for items in Walk(names=False).levels(operands):
        met += len(items)
        if met > _MUCH:
            return False
    return True


class Search:
    """What a search for tokens needs to know of each item, and has found out about classes.

    While nothing gets a token, it goes on where it was: what was met is not looked at again.
    """

    __slots__ = ("_alg", "_classes", "_defaults", "_roots", "_walk")

    def __init__(self, alg: Algebra, names: bool = True) -> None:
        self._alg = alg
        self._roots = [root for root, _ in alg.buffers.values()]
        self._classes: dict[type, bool] = {}
        self._defaults: dict[type, bool] = {}
        self._walk = Walk(bool(alg.buffers), alg.memories.given, names=names)

    def finds(self, value: Any) -> bool:
        """Whether something with a token can be reached from a value."""
        return any(map(self._is_among, self._walk.levels(value)))

    def held(self) -> list[Any]:
        """The arrays that were met and may be written to, if pullbacks hold them."""
        alg = self._alg
        if not (alg.held or alg.others):
            return []
        return [array for array in self._walk.arrays if is_writeable(array) and is_held(alg, array)]

    def finds_within(self, value: Any, most: int) -> tuple[bool | None, int]:
        """The same, None if more is met than ``most``; and how much was met."""
        met = 0
        for items in self._walk.levels(value):
            met += len(items)
            if self._is_among(items):
                return True, met
            if met > most:
                return None, met
        return False, met

    def _is_among(self, items: list[Any]) -> bool:
        """Whether one of several items itself has a token: by its identity, or by what its class tells of it."""
        alg, classes, spaces = self._alg, self._classes, self._walk.namespaces
        for table in (alg.shadows, alg.losses, alg.generators):
            if table and not table.keys().isdisjoint(map(id, items)) and any(map(self._has_token, items)):
                return True
        if spaces:
            classes[FunctionType] = not alg.shadows.keys().isdisjoint(spaces)
        for item in items:
            cls = type(item)
            try:
                asked = classes[cls]
            except KeyError:
                asked = classes[cls] = self._asks(cls)
            if asked and self._tells(item):
                return True
        return False

    def _has_token(self, item: Any) -> bool:
        alg, key = self._alg, id(item)
        return key in alg.generators or (holds(alg, item) if key in alg.shadows else key in alg.losses)

    def _asks(self, cls: type) -> bool:
        """Whether more than the identity of the values of a class is asked for."""
        form = kind_of(cls)
        if form == "array" or issubclass(cls, type) or cls.__name__ == "CarriedIterator":
            return True
        return bool(self._roots) or form == "object" and is_open(cls) and self._has_defaults(cls)

    def _tells(self, item: Any) -> bool:
        alg, cls = self._alg, type(item)
        if issubclass(cls, type):
            return any([holds(alg, holder_of(base, "")) for base in item.__mro__]) or self._has_defaults(item)
        form = kind_of(cls)
        if form == "array":
            root = root_of(item)
            return id(root) in alg.buffers or id(root) in alg.shadows and holds(alg, root)
        if cls is FunctionType:
            return self._reads(item)
        if cls.__name__ == "CarriedIterator" or form == "object" and is_open(cls) and self._has_defaults(cls):
            return True
        return id(item) not in alg.shadows and bool(self._roots) and alg.memories.may_have(item, self._roots)

    def _reads(self, function: FunctionType) -> bool:
        """Whether a function names a global that has a token, or may ask for one by a text that it is given."""
        names = names_in(function.__code__)
        entries = [self._alg.shadows.get(id(held)) for held in namespaces_of(function, names)]
        tokens = [entry[1] for entry in entries if entry is not None]
        by_texts = not BY_TEXTS.isdisjoint(names)
        return any(some(held.values() if by_texts else map(held.get, names)) for held in tokens)

    def _has_defaults(self, cls: type) -> bool:
        """Whether a method of a class has a default that may have a token; what it has captured is met besides."""
        found = self._defaults.get(cls)
        if found is None:
            methods = methods_of(cls)
            held = (*methods, *[method.__kwdefaults__ for method in methods])
            found = self._defaults[cls] = not self._alg.shadows.keys().isdisjoint(map(id, held))
        return found
