"""Arguments of which nobody else has hold: containers and objects are copied, and their tokens put together.

What a program that is cut in two was given may not change before its reverse half runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import is_
from types import FunctionType
from typing import Any, Final

import numpy as np

from autodiff_hook.algebras.searching import Search
from autodiff_hook.algebras.shadows import Algebra, Key, Token, idle, keep_all, known, load, some
from autodiff_hook.runtime.arguments import Unread, constant_kind, is_plain_object
from autodiff_hook.runtime.kinds import WRITTEN, kind_of
from autodiff_hook.runtime.lookup import has_in_type
from autodiff_hook.runtime.reachable import reachable
from autodiff_hook.signatures import is_exact

_MANY: Final = 2000
"""Of how much no copies are made."""


class _Plain:
    pass


def _layout(cls: type) -> tuple[int, int, int]:
    return cls.__basicsize__, cls.__dictoffset__, cls.__weakrefoffset__


_LAYOUT: Final = _layout(_Plain)
"""The memory of objects that have nothing but a ``__dict__``: no slots, and no base class written in C."""


class Unfit(Exception):
    """Something that is not to be copied, or of which no derivative is known."""


class Private:
    """Makes copies of arguments; ``alg`` knows the tokens of what is in them, and marks new ones in the copies."""

    def __init__(self, alg: Algebra) -> None:
        self.alg, self.made, self.count = alg, dict[int, Any](), 0
        self.kept: list[Any] = []
        """What was copied."""
        self.passed: list[Any] = []
        """What is no copy, and may hold arrays."""
        self._search: Search | None = None

    def taken(self, value: Any, token: Token) -> tuple[Any, Any]:
        """A copy of a value, and the tokens in it in its form; what is met again has them where it was met first."""
        self.count += 1
        if self.count > _MANY:
            raise Unfit
        cls, form = type(value), kind_of(type(value))
        if cls is np.ndarray and value.dtype.kind in "fciu":
            self.passed.append(value)
            return value, self._sure(self.alg.read(value, token))
        if form == "number" and not is_exact(cls):
            return value, self._sure(token)
        if issubclass(cls, WRITTEN) and token is not None:
            raise Unfit
        if form == "inert" or constant_kind(value):
            if cls is FunctionType and self._reaches(value):
                raise Unfit
            if cls is not str:
                self.passed.append(value)
            return value, None
        if cls is tuple:
            parts = [self.taken(x, None if token is None else token[i]) for i, x in enumerate(value)]
            others, trees = tuple([x for x, _ in parts]), _together([tree for _, tree in parts])
            if all(map(is_, others, value)):
                return value, trees
            self.kept.append(value)
            return others, trees
        if id(value) in self.made:
            return self.made[id(value)], None
        if id(value) in self.alg.losses:
            raise Unfit
        self.kept.append(value)
        if cls is list:
            return self._list(value)
        if cls is dict:
            copied = self.made[id(value)] = {}
            return copied, self._dict(value, copied)
        if is_plain_object(value) and _layout(cls) == _LAYOUT and not has_in_type(cls, "__del__"):
            copied = self.made[id(value)] = object.__new__(cls)
            return copied, self._dict(value.__dict__, copied.__dict__)
        raise Unfit

    def is_met_in(self, values: Iterable[Any]) -> bool:
        """Whether what was copied can be reached from any of some values: a copy is not what is found there."""
        copied = set(map(id, self.kept))
        return any(id(item) in copied for value in values for item in reachable(value, names=False))

    def _reaches(self, function: FunctionType) -> bool:
        """Whether a function reaches something with a token; most of what one reaches, others do, too."""
        if idle(self.alg):
            return False
        search = self._search or Search(self.alg)
        found = search.finds(function)
        self._search = None if found else search
        return found

    def _sure(self, token: Token) -> Token:
        if token is not None and self.alg.is_unknown(token):
            raise Unfit
        return token

    def _list(self, value: list[Any]) -> tuple[Any, Any]:
        if _PLAIN.issuperset(map(type, value)):
            copied, held = value.copy(), known(self.alg, value)
            self.made[id(value)] = copied
            return copied, None if held is None else list(map(self._sure, held))
        copied = self.made[id(value)] = []
        trees = []
        for index, item in enumerate(value):
            part, tree = self.taken(item, load(self.alg, value, index, item))
            copied.append(part)
            trees.append(tree)
        return copied, trees if some(trees) else None

    def _dict(self, value: dict[Any, Any], copied: dict[Any, Any]) -> Any:
        held = known(self.alg, value)
        if held is not None and any(type(key) is Key and token is not None for key, token in held.items()):
            raise Unfit
        trees = self._tokens_of_numbers(value, held)
        if trees is not None:
            copied.update(value)
            self.count += len(value)
            return trees if some(trees.values()) else None
        trees = {}
        for key, item in list(value.items()):
            copied[key], trees[key] = self._part(item, load(self.alg, value, key, item))
        return trees if some(trees.values()) else None

    def _tokens_of_numbers(self, value: dict[Any, Any], held: Any) -> dict[Any, Token] | None:
        """The tokens in a dict that has nothing but numbers; None if it has more, or one that is not known."""
        if self.alg.losses or not _PLAIN.issuperset(map(type, value.values())):
            return None
        tokens = {key: held.get(key) for key in value} if held else {}
        unknown = any([token is not None and self.alg.is_unknown(token) for token in tokens.values()])
        return None if unknown else tokens

    def _part(self, item: Any, token: Token) -> tuple[Any, Any]:
        """A copy of a part and its tokens; of one that is unfit nothing is known, as programs read some parts only."""
        count, known_before = self.count, len(self.made)
        try:
            return self.taken(item, token)
        except Unfit:
            self.count = count
            for key in list(self.made)[known_before:]:
                del self.made[key]
            return Unread, None


def _together(trees: list[Any]) -> Any:
    return tuple(trees) if some(trees) else None


_PLAIN: Final = frozenset({float, int})


def seeded(alg: Algebra, value: Any, seen: set[int], leaf: Any) -> tuple[Token, Any]:
    """The token of a private value whose numbers and arrays are leaves, and these in its form."""
    form = kind_of(type(value))
    if form in ("number", "array"):
        found = leaf(value)
        return found, found
    if form == "tuple":
        parts = [seeded(alg, x, seen, leaf) for x in value]
        return tuple([token for token, _ in parts]), tuple([tree for _, tree in parts])
    if form not in ("list", "dict", "object") or constant_kind(value) or id(value) in seen:
        return None, None
    seen.add(id(value))
    holder = value.__dict__ if form == "object" else value
    pairs = {key: seeded(alg, x, seen, leaf) for key, x in (enumerate(value) if form == "list" else holder.items())}
    tokens = {key: token for key, (token, _) in pairs.items()}
    keep_all(alg, holder, [*tokens.values()] if form == "list" else tokens)
    trees = {key: tree for key, (_, tree) in pairs.items()}
    return None, [*trees.values()] if form == "list" else trees
