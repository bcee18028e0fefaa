"""Algebras over algebras: a value within a derivative within a derivative has a token for each level.

An algebra is built over the one that carries its caller. A token that is of two levels is a ``Pair``; any other is of
the innermost level that knows it, which for the outer ones is the only one that counts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autodiff_hook.algebras.object_slots import selected_places
from autodiff_hook.algebras.shadows import Algebra, Token, keep, keep_all
from autodiff_hook.runtime.buffers import root_of
from autodiff_hook.runtime.kinds import WRITTEN, kind_of


class Pair:
    """What a value is at a level, and its token at the levels below."""

    __slots__ = ("level", "over", "own")

    def __init__(self, level: Algebra, own: Any, over: Token) -> None:
        self.level, self.own, self.over = level, own, over


def mapped(tree: Any, visit: Callable[[Any], Any]) -> Any:
    """A tree of tokens with what ``visit`` makes of each."""
    if tree is None:
        return None
    if type(tree) is tuple:
        parts = tuple([mapped(part, visit) for part in tree])
        return parts if any(part is not None for part in parts) else None
    if type(tree) is list:
        items = [mapped(part, visit) for part in tree]
        return items if any(part is not None for part in items) else None
    if type(tree) is dict:
        named = {key: mapped(part, visit) for key, part in tree.items()}
        return named if any(part is not None for part in named.values()) else None
    return visit(tree)


def token_at(tree: Any, key: Any) -> Any:
    """What a tree of tokens has for a part of a value."""
    return None if tree is None else tree.get(key) if isinstance(tree, dict) else tree[key]


def lowered(alg: Algebra, token: Token) -> Token:
    """A token without what it is at levels above ``alg``."""
    while type(token) is Pair and token.level.depth > alg.depth:
        token = token.over
    return token


def parted(alg: Algebra, token: Token) -> tuple[Any, Token]:
    """What one token is at the level of ``alg``, and below."""
    if type(token) is Pair:
        if token.level is alg:
            return token.own, token.over
        if token.level.depth > alg.depth:
            return parted(alg, token.over)
    return (token, None) if alg.over is None else (None, token)


def own_of(alg: Algebra, tree: Any) -> Any:
    """What the tokens of a tree are at the level of ``alg``."""

    def own(token: Token) -> Any:
        token = lowered(alg, token)
        if type(token) is Pair and token.level is alg:
            return token.own
        return token if alg.over is None else None

    return mapped(tree, own)


def over_of(alg: Algebra, tree: Any) -> Any:
    """What the tokens of a tree are below ``alg``."""

    def over(token: Token) -> Any:
        token = lowered(alg, token)
        return token.over if type(token) is Pair and token.level is alg else token

    return mapped(tree, over)


def settled(alg: Algebra, value: Any, tree: Any, around: tuple[int, ...] = ()) -> Token:
    """The token of a new value from the tokens in it: what containers hold goes to their shadows.

    ``around``: the ids of the containers that it is in, of which one may be itself.
    """
    form = kind_of(type(value))
    if id(value) in around:
        return None
    around = (*around, id(value))
    if tree is None or form == "inert":
        return tree if issubclass(type(value), WRITTEN) else None
    if form == "tuple":
        return tuple([settled(alg, item, part, around) for item, part in zip(value, tree)])
    if form == "list":
        keep_all(alg, value, [settled(alg, item, part, around) for item, part in zip(value, tree)])
        return None
    if form == "array" and type(tree) is dict:
        keep_parts(alg, value, tree)
        return None
    if form == "object" and type(value).__name__ == "Tangent":
        value, form = value._fields, "dict"
    if form == "dict":
        keep_all(alg, value, {key: settled(alg, item, tree.get(key), around) for key, item in value.items()})
        return None
    return tree


def keep_parts(alg: Algebra, array: Any, tree: dict[Any, Any]) -> None:
    """The tokens of the fields of a structured array, or of the elements of one of objects, are these."""
    for key, part in tree.items():
        if array.dtype.names is None:
            keep(alg, root_of(array), int(selected_places(array, key)), settled(alg, array[key], part))
        elif type(part) is dict:
            keep_parts(alg, array[key], part)
        elif part is not None:
            alg.begin(array[key], part)
