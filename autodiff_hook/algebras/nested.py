"""Algebras over another: whatever they compute is carried by it, so it has derivatives in its turn."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from autodiff_hook.algebras.arithmetic import REAL, summed
from autodiff_hook.algebras.levels import Pair, over_of, own_of, settled, token_at
from autodiff_hook.algebras.odd import is_odd, odd_result, refuse_shared, truncates
from autodiff_hook.algebras.placing import places_in, seen_as
from autodiff_hook.algebras.shadows import Algebra, Result, Token
from autodiff_hook.algebras.tape import in_places
from autodiff_hook.registry import registry
from autodiff_hook.runtime.buffers import root_of
from autodiff_hook.runtime.checking import Checking, pair
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.semantics.library import array_like, number_like
from autodiff_hook.semantics.meanings import apply
from autodiff_hook.semantics.scope import module_of_callable
from autodiff_hook.semantics.structures import gather

Carried = tuple[Any, Token]
"""A value and the tokens in it, of the algebra below."""


def carry(over: Algebra, function: Any, *operands: Carried) -> Carried:
    """Call a function with values that the algebra below carries; its result, with the tokens in it."""
    tokens = [settled(over, value, tree) for value, tree in operands]
    value, token = apply(over, (None, *tokens), function, tuple([value for value, _ in operands]), {})
    return value, gather(over, value, token)


def run_rule(over: Algebra, rule: Any, function: Any, args: Any, kwargs: Any, tokens: Any) -> tuple[Any, Token, Any]:
    """Call the rule of ``function`` below: its value, with the tokens in it, and its pullback."""
    over.modules.add(module_of_callable(rule))
    values = [_private(over, value, tree) for value, tree in zip((*args, *kwargs.values()), tokens)]
    named = dict(zip(kwargs, [value for value, _ in values[len(args) :]]))
    given = tuple([token for _, token in values])
    inner = tuple([value for value, _ in values[: len(args)]])
    returned, token = apply(over, (None, *given), rule, inner, named)
    if id(rule) in registry.tested:
        value, pullback = returned
    else:
        value, pullback = pair(rule, returned)
        pullback = Checking(rule, pullback, *inner, **named)
    tree = gather(over, value, None if token is None else token[0])
    if _views(value, {id(root) for given, _ in values for root in _roots(given)}):
        return function(*args, **kwargs), tree, pullback
    copied, tree = _copied(over, value, tree)
    return copied, tree, pullback


def _views(value: Any, private: set[int]) -> bool:
    """Whether arrays in the value of a rule are views of the copies of its arguments."""
    return any(id(root) in private for root in _roots(value))


def _roots(value: Any) -> list[Any]:
    """The buffers of the arrays in a value."""
    kind = kind_of(type(value))
    if kind == "array":
        return [root_of(value)]
    return [root for item in value for root in _roots(item)] if kind in ("tuple", "list") else []


def _private(over: Algebra, value: Any, tree: Any) -> tuple[Any, Token]:
    """An argument of which a pullback may keep hold, and its token: arrays are copied, they may change."""
    value, tree = _copied(over, value, tree)
    return value, settled(over, value, tree)


def _copied(over: Algebra, value: Any, tree: Any) -> Carried:
    kind = kind_of(type(value))
    if kind == "array":
        if tree is None:
            return value.copy("K"), None
        return carry(over, np.copy, (value, tree))
    if kind == "tuple" or type(value) is list:
        pairs = [_copied(over, item, token_at(tree, i)) for i, item in enumerate(value)]
        made = _of_class(value, [item for item, _ in pairs])
        return made, None if tree is None else made_like(value, [part for _, part in pairs])
    return value, tree


def _of_class(value: Any, items: list[Any]) -> Any:
    """A list or a tuple of the class of ``value``, with the other attributes that this has."""
    if type(value) is list:
        return items
    made = tuple.__new__(type(value), items)
    if type(value) is not tuple and hasattr(value, "__dict__"):
        made.__dict__.update(vars(value))
    return made


class Nested(Algebra):
    """What algebras over another one have in common."""

    over: Algebra

    def call_rule(self, rule: Any, function: Any, args: Any, kwargs: Any, tokens: Any) -> Result:
        owns = own_of(self, tokens)
        overs = over_of(self, tokens) or (None,) * len(tokens)
        if owns is None:
            if all(token is None for token in overs):
                return function(*args, **kwargs), None
            return self.over.call_rule(rule, function, args, kwargs, overs)
        if kwargs:
            owns = in_places(rule, function, len(args), kwargs, owns)
        value, tree, pullback = run_rule(self.over, rule, function, args, kwargs, overs)
        if is_odd(value):
            return value, self.unknown(odd_result(function, value))
        by_number = type(value) is float and not kwargs and REAL.issuperset(map(type, args))
        return value, self.of_rule(value, tree, pullback, owns, by_number)

    def of_rule(self, value: Any, tree: Any, pullback: Any, owns: Any, by_number: bool) -> Token:
        """The token of what a rule gave; ``by_number``: a number made of numbers."""
        raise NotImplementedError

    def own(self, array: Any, own: Any) -> Any:
        """What an array is at this level, which may be a part of a buffer that was written to."""
        raise NotImplementedError

    def own_part(self, own: Any, array: Any, key: Any, value: Any, token: Token) -> Any:
        """What ``array[key]`` is at this level."""
        raise NotImplementedError

    def stored(self, root: Any, array: Any, value: Any, own: Any, put: Any, places: Any) -> Any:
        """The next version of a buffer, where ``value`` is stored to ``places`` of it by a view."""
        raise NotImplementedError

    def follows(self, root: Any, array: Any) -> bool:
        """Whether a buffer, of which an array is a view, has something to do with a derivative at this level."""
        raise NotImplementedError

    def read(self, array: Any, token: Token) -> Token:
        below = self.over.read(array, over_of(self, token))
        own = self.own(array, own_of(self, token))
        return below if own is None else Pair(self, own, below)

    def part(self, array: Any, key: Any, value: Any, token: Token) -> Token:
        below = self.over.part(array, key, value, over_of(self, token))
        own = self.own(array, own_of(self, token))
        if own is None:
            return below
        return Pair(self, self.own_part(own, array, key, value, token), below)

    def write(self, array: Any, key: Any, value: Any, before: Token, moving: Token) -> None:
        root = root_of(array)
        own, put = self.own(array, own_of(self, before)), own_of(self, moving)
        refuse_shared(array, put)
        places = None if own is None and put is None and id(root) not in self.buffers else places_in(root, array)[key]
        self.over.write(array, key, value, over_of(self, before), over_of(self, moving))
        if places is None:
            return
        if put is not None and truncates(array, value):
            put = None
        self.buffers[id(root)] = (root, self.stored(root, array, value, own, put, places))

    def begin(self, array: Any, token: Token) -> None:
        root, own, below = root_of(array), own_of(self, token), over_of(self, token)
        if below is not None:
            self.over.begin(array, below)
        if own is not None:
            self.buffers[id(root)] = (root, self.stored(root, array, array, None, own, places_in(root, array)))

    def overwritten(self, array: Any, before: Any, unknown: Token) -> None:
        self.over.overwritten(array, before, over_of(self, unknown))
        root, own = root_of(array), own_of(self, unknown)
        if own is not None:
            self.buffers[id(root)] = (root, own)
        elif self.follows(root, array):
            self.buffers[id(root)] = (root, self.stored(root, array, array, None, None, places_in(root, array)))


def pulled(over: Algebra, pullback: Any, cotangent: Carried) -> Carried:
    """The cotangents that a pullback gives, which is looked at if nothing is known of its rule."""
    if type(pullback) is not Checking:
        return carry(over, pullback, cotangent)
    parts, below = carry(over, pullback.pullback, cotangent)
    return pullback.owed.checked(parts), below


def added(over: Algebra, a: Carried, b: Carried) -> Carried:
    """The sum of two cotangents of one value."""
    if a[0] is None:
        return b
    if b[0] is None:
        return a
    if isinstance(a[0], dict):
        named = {key: added(over, _at(a, key), _at(b, key)) for key in {**a[0], **b[0]}}
        return {key: value for key, (value, _) in named.items()}, {key: tree for key, (_, tree) in named.items()}
    if isinstance(a[0], (tuple, list)):
        pairs = [
            added(over, (x, token_at(a[1], i)), (y, token_at(b[1], i))) for i, (x, y) in enumerate(zip(a[0], b[0]))
        ]
        return tuple([x for x, _ in pairs]), tuple([t for _, t in pairs])
    return summed(over, a, b) if type(a[0]) in REAL and type(b[0]) in REAL else carry(over, operator.add, a, b)


def _at(cotangent: Carried, key: Any) -> Carried:
    """An item of a dict of cotangents, which may be incomplete."""
    return cotangent[0].get(key), token_at(cotangent[1], key)


def fitted(over: Algebra, value: Any, tangent: Any, tokens: Any) -> Carried:
    """A cotangent or tangent of ``value``, real where it is real, of its shape."""
    if tangent is None:
        return None, None
    kind = kind_of(type(value))
    if kind in ("tuple", "list"):
        pairs = [fitted(over, item, tangent[i], token_at(tokens, i)) for i, item in enumerate(value)]
        return made_like(value, [v for v, _ in pairs]), made_like(value, [t for _, t in pairs])
    if kind == "dict":
        named = {key: fitted(over, item, tangent.get(key), token_at(tokens, key)) for key, item in value.items()}
        return {key: v for key, (v, _) in named.items()}, {key: t for key, (_, t) in named.items()}
    if kind == "number" and type(tangent) is type(value) is float:
        return tangent, tokens
    if kind not in ("number", "array"):
        return tangent, tokens
    return carry(over, number_like if kind == "number" else array_like, (value, None), (tangent, tokens))


def seen_by(root: Any, array: Any) -> Any:
    """As what the tangents of a buffer are seen through an array."""
    return seen_as(root, array.dtype)


def made_like(tree: Any, items: list[Any]) -> Any:
    """A list, or a tuple, as ``tree`` is one."""
    return items if isinstance(tree, list) else tuple(items)
