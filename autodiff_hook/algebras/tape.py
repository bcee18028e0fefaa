"""Reverse mode: a token is the number of a node on a flat tape of pullbacks, which a sweep goes through in reverse."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from types import FunctionType
from typing import Any, Final

import numpy as np

from autodiff_hook.algebras.buffers import Buffers
from autodiff_hook.algebras.checkpoints import Recomputed
from autodiff_hook.algebras.levels import own_of
from autodiff_hook.algebras.odd import is_odd, odd_result
from autodiff_hook.algebras.places import Node, here, line_of, made_at, tell
from autodiff_hook.algebras.shadows import Algebra, Result, Token
from autodiff_hook.algebras.stores import BufferCotangent, Overwritten, Reading, Reshaped, Storing
from autodiff_hook.cotangents import NotImplementedCotangent
from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.parameters import parameters_of
from autodiff_hook.registry import registry
from autodiff_hook.runtime.buffers import Scatter, dense
from autodiff_hook.runtime.checking import checked_rule
from autodiff_hook.runtime.cotangents import accumulate
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.losses import option_without_derivative
from autodiff_hook.runtime.parted import part_at
from autodiff_hook.semantics.library import hooked, item_pullback, keyed_pullback
from autodiff_hook.strong import quietly, times

Inputs = tuple[Any, ...]
"""Where the cotangents of a pullback go: numbers of nodes, None, or tuples, lists and dicts of such."""


_TESTED: Final = registry.tested


def _linear(nodes: list[Node], partials: Any, tokens: Any) -> int:
    nodes.append((partials, tokens))
    return len(nodes) - 1


class Tape(Algebra):
    """What a forward pass leaves behind: nodes, each a pullback and where its cotangents go."""

    def __init__(self, over: Algebra | None = None) -> None:
        super().__init__(over)
        self.nodes: list[Node] = []
        self.buffered = Buffers(self)
        if over is None:
            # No method of its own: a tape that holds itself would wait for the collector, with all it has recorded.
            self.numbers = partial(_linear, self.nodes)
        self.sweeping = Cotangents([])

    def node(self, pullback: Any, inputs: Inputs) -> int:
        """A new node."""
        self.nodes.append((pullback, inputs))
        return len(self.nodes) - 1

    def linear(self, partials: Any, tokens: Any) -> int:
        return _linear(self.nodes, partials, tokens)

    def scaled(self, value: Any, scale: Any, token: Token) -> Token:
        node = self.node(_Scaling(scale), (token,))
        self.buffered.note(value, node)
        return node

    def cotangents(self, nodes: list[Node]) -> Cotangents:
        """Where a sweep keeps the cotangents of nodes."""
        return Cotangents(nodes)

    def leaf(self) -> int:
        """A node whose cotangent is asked for."""
        return self.node(None, ())

    def call_rule(self, rule: Any, function: Any, args: Any, kwargs: Any, tokens: Inputs) -> Result:
        if self.nested:
            tokens = own_of(self, tokens)
            if tokens is None:
                return function(*args, **kwargs), None
        if kwargs:
            tokens = in_places(rule, function, len(args), kwargs, tokens)
        tested = id(rule) in _TESTED
        value, pullback = rule(*args, **kwargs) if tested else checked_rule(rule, args, kwargs)
        nodes = self.nodes
        token = len(nodes)
        cls = type(value)
        if cls is float:
            nodes.append((pullback, tokens) if tested else (pullback, tokens, here()))
            return value, token
        nodes.append((pullback, tokens, here()))
        if cls is not np.float64 and is_odd(value):
            return value, self.unknown(odd_result(function, value))
        buffered = self.buffered
        buffered.hold_all(args, kwargs)
        if cls is np.ndarray and value.base is None:
            key = id(value)
            buffered.held[key], buffered.made[key] = value, token
            if type(pullback) is FunctionType and pullback.__closure__ is None:
                buffered.uncaptured.add(key)
            else:
                buffered.uncaptured.discard(key)
            return value, token
        return value, self.spread(value, token)

    def spread(self, value: Any, token: Token) -> Token:
        """The token of what a node gives: containers have those of their items in their shadows."""
        kind = kind_of(type(value))
        if kind == "number":
            return token
        if kind == "array":
            self.buffered.note(value, token)
            return token
        if kind == "tuple":
            return tuple([self.spread(item, self._item(token, i, len(value))) for i, item in enumerate(value)])
        if kind == "list":
            tokens = [self.spread(item, self._item(token, i, len(value))) for i, item in enumerate(value)]
            self.lifetimes.hold(value, tokens)
        elif kind == "dict":
            named = {key: self.spread(item, self.node(keyed_pullback(key), (token,))) for key, item in value.items()}
            self.lifetimes.hold(value, named)
        return None

    def _item(self, token: Token, index: int, count: int) -> Token:
        return self.node(item_pullback(index, count), (token,))

    def read(self, array: Any, token: Token) -> Token:
        return self.buffered.read(array, own_of(self, token) if self.nested else token)

    def write(self, array: Any, key: Any, value: Any, before: Token, moving: Token) -> None:
        if self.nested:
            before, moving = own_of(self, before), own_of(self, moving)
        self.buffered.write(array, key, value, before, moving)

    def begin(self, array: Any, token: Token) -> None:
        self.buffered.begin(array, own_of(self, token) if self.nested else token)

    def adopt(self, array: Any, token: Token) -> None:
        own = own_of(self, token) if self.nested else token
        if own is not None:
            self.buffered.note(array, own)

    def reshape(self, array: Any, token: Token, shape: Any) -> None:
        self.buffered.reshape(array, own_of(self, token) if self.nested else token, shape)

    def overwritten(self, array: Any, before: Any, unknown: Token) -> None:
        self.buffered.overwritten(array, before, own_of(self, unknown) if self.nested else unknown)

    def part(self, array: Any, key: Any, value: Any, token: Token) -> Token:
        token = own_of(self, token) if self.nested else token
        return self.buffered.part(array, key, value, token)

    def unknown(self, error: NotDifferentiable) -> Token:
        return self.node(Unknown(error), ())

    def is_unknown(self, token: Token) -> bool:
        own = own_of(self, token) if self.nested or self.over is not None else token
        return type(own) is int and type(self.nodes[own][0]) is Unknown

    def hooked(self, function: Any, value: Any, tree: Any) -> Token:
        make = list if kind_of(type(value)) == "list" else None
        node = self.node(hooked(function, make), (own_of(self, tree) if self.nested else tree,))
        return self.spread(value, node)

    def checkpointed(self, run: Any, call: Any) -> Result:
        return Recomputed(self, run, call).begin() if self.over is None else run()

    def sweep(self, tree: Any, cotangent: Any) -> Cotangents:
        """The cotangents of all leaves, for one of what has the tokens ``tree``."""
        found = self.cotangents(self.nodes)
        found.give(tree, cotangent)
        self.buffered.memory.during(self._sweep, found)
        return found

    def _sweep(self, found: Cotangents) -> None:
        before = self.sweeping
        self.sweeping = found
        try:
            with quietly():
                self.sweep_down()
        finally:
            self.sweeping = before

    def sweep_down(self, end: int = 0) -> None:
        """Sweep all nodes down to one of them."""
        found, nodes = self.sweeping, self.nodes
        values = found.values
        index = 0
        try:
            for index in range(len(nodes) - 1, end - 1, -1):
                given = values[index]
                node = nodes[index]
                pullback, inputs = node[0], node[1]
                if given is None:
                    if type(pullback) not in _UNDONE:
                        continue
                elif type(pullback) is tuple:
                    values[index] = None
                    for target, partial in zip(inputs, pullback):
                        if target is not None:
                            before = values[target]
                            part = given * partial
                            if part != part:
                                part = times(given, partial)
                            if before is None:
                                values[target] = part
                            elif type(before) is float is type(part):
                                values[target] = before + part
                            else:
                                values[target] = accumulate(before, part)
                    continue
                elif pullback is None:
                    continue
                elif type(given) is NotImplementedCotangent:
                    values[index] = None
                    found.pass_on(given, pullback, inputs)
                    continue
                elif type(given) is Scatter:
                    given = given.dense()
                elif type(given) in _CONTAINERS:
                    given = type(given)(map(dense, given))
                values[index] = None
                for target, part in zip(inputs, pullback(given)):
                    if part is None or target is None:
                        continue
                    if type(part) in _VALUES and type(target) is int:
                        before = values[target]
                        if before is None:
                            values[target] = part
                            continue
                        if type(before) is float is type(part):
                            values[target] = before + part
                            continue
                    found.give(target, part, index)
        except Exception as error:
            tell(error, made_at(nodes[index]))
            raise


_UNDONE: Final = frozenset({Storing, Reshaped})
"""What a sweep takes back, whether a cotangent passes or not."""
_CONTAINERS: Final = (tuple, list)
_VALUES: Final = frozenset({float, np.float64, np.ndarray, BufferCotangent})


def in_places(rule: Any, function: Any, count: int, kwargs: Any, tokens: Inputs) -> Inputs:
    """The tokens of a call in the order of the rule's cotangents."""
    known = parameters_of(rule).places
    places = [known.get(name, -1) for name in kwargs]
    for name, token in zip(kwargs, tokens[count:]):
        if token is not None and name not in known:
            raise option_without_derivative(function, name)
    placed = [*tokens[:count], *[None] * (1 + max((count - 1, *places)) - count)]
    for place, token in zip(places, tokens[count:]):
        if place >= 0:
            placed[place] = token
    return tuple(placed)


class Cotangents:
    """The cotangents of the nodes of a tape, by number."""

    def __init__(self, nodes: list[Node]) -> None:
        self.nodes = nodes
        self.values: list[Any] = [None] * len(nodes)

    def is_lost(self, node: int) -> bool:
        """Whether a node is of what has no known derivative: values of any shape may share one."""
        return type(self.nodes[node][0]) is Unknown

    def give(self, target: Any, cotangent: Any, node: int | None = None) -> None:
        """Add a cotangent, which comes from ``node``, to what has these tokens."""
        if cotangent is None or target is None:
            return
        if type(cotangent) is NotImplementedCotangent:
            self.spoil(target, cotangent if node is None else cotangent.at(line_of(made_at(self.nodes[node]))))
        elif type(target) is int:
            before = self.values[target]
            if type(before) is NotImplementedCotangent or before is not None and self.is_lost(target):
                return
            if type(cotangent) is Reading:
                self.values[target] = cotangent.added_to(before)
            elif type(before) is BufferCotangent:
                before.add_whole(cotangent)
            elif type(cotangent) is Scatter and type(before) is Scatter:
                before.take(cotangent)
            else:
                self.values[target] = accumulate(before, cotangent)
        elif isinstance(target, dict):
            for key, part in target.items():
                self.give(part, part_at(cotangent, key), node)
        else:
            for part, item in zip(target, cotangent, strict=True):
                self.give(part, item, node)

    def spoil(self, target: Any, cotangent: NotImplementedCotangent) -> None:
        """What has these tokens has a cotangent that nobody has worked out: an error if it is asked for."""
        for node in numbers_in(target):
            if type(self.values[node]) is not NotImplementedCotangent:
                self.values[node] = cotangent

    def pass_on(self, cotangent: NotImplementedCotangent, pullback: Any, inputs: Inputs) -> None:
        """Such a cotangent passes a node: those of what went in are not known either."""
        if type(pullback) in _UNDONE:
            pullback(None)
        elif type(pullback) is Overwritten:
            pullback.unknown(cotangent)
        elif not inputs:
            pullback(cotangent)
        self.spoil(inputs, cotangent)


def numbers_in(tree: Any) -> Iterator[int]:
    """The nodes in a tree of tokens."""
    if type(tree) is int:
        yield tree
    elif tree is not None:
        for part in tree.values() if isinstance(tree, dict) else tree:
            yield from numbers_in(part)


class _Scaling:
    """The pullback of an array times a number."""

    __slots__ = ("scale",)

    def __init__(self, scale: Any) -> None:
        self.scale = scale

    def __call__(self, cotangent: Any) -> Any:
        return (cotangent if self.scale == 1.0 else times(cotangent, self.scale),)


class Unknown:
    """The pullback of what has no known derivative."""

    def __init__(self, error: NotDifferentiable) -> None:
        self.error = error

    def __call__(self, cotangent: Any) -> Any:
        raise self.error
