"""Reverse mode over another algebra."""

from __future__ import annotations

import operator
import weakref
from typing import Any, cast

from autodiff_hook.algebras.arithmetic import scaled
from autodiff_hook.algebras.levels import Pair, over_of, own_of, settled, token_at
from autodiff_hook.algebras.nested import Carried, Nested, added, pulled, run_rule, seen_by
from autodiff_hook.algebras.places import here, line_of, made_at, tell
from autodiff_hook.algebras.placing import Placement, buffer_shape, buffer_type, is_other_field, places_in, seen_as
from autodiff_hook.algebras.shadows import Algebra, Token
from autodiff_hook.algebras.tape import Tape, Unknown, numbers_in
from autodiff_hook.cotangents import NotImplementedCotangent
from autodiff_hook.errors import NotDifferentiable, Unsupported, located
from autodiff_hook.registry import registry
from autodiff_hook.runtime.buffers import root_of
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.losses import shape_of
from autodiff_hook.runtime.parted import part_at
from autodiff_hook.semantics.library import hooked, keyed_pullback, reshaped_pullback, stored_pullback, taken_pullback
from autodiff_hook.strong import quietly


class NestedTape(Nested, Tape):
    """A tape whose pullbacks, and their sums, are carried by the algebra below."""

    mode = "reverse"

    def __init__(self, over: Algebra) -> None:
        super().__init__(over)
        self.made: dict[int, tuple[Any, Any, int]] = {}
        """As which nodes buffers were made: a weak reference, the places in it, the node."""

    def of_rule(self, value: Any, tree: Any, pullback: Any, owns: Any, by_number: bool) -> Token:
        self.nodes.append((pullback, owns, here()))
        return self.spread_over(value, len(self.nodes) - 1, tree)

    def spread_over(self, value: Any, own: int, tree: Any) -> Token:
        """The token of what a node gives, whose tokens below are ``tree``."""
        kind = kind_of(type(value))
        if kind == "array":
            self.note(value, own)
        if kind in ("number", "array"):
            return Pair(self, own, tree)
        if kind in ("tuple", "list"):
            parts = [
                self.spread_over(item, self._item(own, i, len(value)), token_at(tree, i))
                for i, item in enumerate(value)
            ]
            return settled(self, value, tuple(parts) if kind == "tuple" else parts)
        if kind == "dict":
            named = {
                key: self.spread_over(item, self.node(keyed_pullback(key), (own,)), token_at(tree, key))
                for key, item in value.items()
            }
            return settled(self, value, named)
        return None

    def pair(self, own: int, tree: Token) -> Token:
        """The token of a value that is this node here, and has this token below."""
        return Pair(self, own, tree)

    def unknown(self, error: NotDifferentiable) -> Token:
        return Pair(self, self.node(Unknown(error), ()), self.over.unknown(error))

    def note(self, array: Any, own: int) -> None:
        """``array``, or the buffer that it views, is new, and was made as this node."""
        root = root_of(array)
        known = self.made.get(id(root))
        if known is None or known[0]() is not root:
            self.made[id(root)] = (weakref.ref(root), None if array is root else Placement(root, array), own)

    def own(self, array: Any, own: int | None) -> int | None:
        if not self.buffers:
            return own
        root = root_of(array)
        found = self.buffers.get(id(root))
        if found is None or is_other_field(root, array):
            return own
        if found[1] is None or array is root:
            return cast("int | None", found[1])
        pullback = taken_pullback(buffer_shape(root), buffer_type(root), places_in(root, array), seen_by(root, array))
        return self.node(pullback, (found[1],))

    def own_part(self, own: Any, array: Any, key: Any, value: Any, token: Token) -> int:
        rule = registry.rule(operator.getitem, (type(array), type(key)))
        if rule is None:
            raise Unsupported(located("this part of an array, within a derivative within a derivative"))
        _, _, pullback = run_rule(self.over, rule, operator.getitem, (array, key), {}, (over_of(self, token), None))
        node = self.node(pullback, (own, None))
        if kind_of(type(value)) == "array":
            self.note(value, node)
        return node

    def stored(self, root: Any, array: Any, value: Any, own: Any, put: Any, places: Any) -> int:
        store = stored_pullback(places, shape_of(value), seen_by(root, array))
        return self.node(store, (self._whole(root, array, own), put))

    def follows(self, root: Any, array: Any) -> bool:
        return self.own(array, None) is not None

    def _whole(self, root: Any, array: Any, own: int | None) -> int | None:
        """The node of a buffer."""
        found = self.buffers.get(id(root))
        if found is not None:
            return cast(int, found[1])
        known = self.made.get(id(root))
        placement = None if array is root else Placement(root, array)
        if known is not None and known[0]() is root:
            placement, own = known[1], known[2]
        if own is None or placement is None:
            return own
        places = placement.places(root)
        return self.node(stored_pullback(places, places.shape, seen_as(root, placement.dtype)), (None, own))

    def adopt(self, array: Any, token: Token) -> None:
        self.over.adopt(array, over_of(self, token))
        own = own_of(self, token)
        if own is not None:
            self.note(array, own)

    def reshape(self, array: Any, token: Token, shape: Any) -> None:
        root, before = root_of(array), array.shape
        whole = self._whole(root, array, self.own(array, own_of(self, token)))
        self.over.reshape(array, over_of(self, token), shape)
        if whole is not None:
            node = self.node(reshaped_pullback(before), (whole,)) if array is root else whole
            self.buffers[id(root)] = (root, node)

    def hooked(self, function: Any, value: Any, tree: Any) -> Token:
        own, below = own_of(self, tree), over_of(self, tree)
        if kind_of(type(value)) not in ("number", "array"):
            raise Unsupported(located("hook of a container, within a derivative within a derivative"))
        below = None if below is None else self.over.hooked(function, value, below)
        return below if own is None else Pair(self, self.node(hooked(function), (own,)), below)

    def sweep_over(self, tree: Any, cotangent: Any, tokens: Any) -> list[Carried | None]:
        """The cotangents of all nodes, with their tokens below."""
        found: list[Carried | None] = [None] * len(self.nodes)
        self._give(found, tree, cotangent, tokens)
        for index in range(len(self.nodes) - 1, -1, -1):
            given = found[index]
            pullback, inputs = self.nodes[index][:2]
            if given is None or pullback is None:
                continue
            found[index] = None
            try:
                if type(given[0]) is NotImplementedCotangent:
                    self._pass_on(found, given[0], pullback, inputs)
                    continue
                if type(pullback) is tuple:
                    for target, partial in zip(inputs, pullback):
                        if target is not None:
                            self._give(found, target, *scaled(self.over, partial, given))
                    continue
                with quietly():
                    parts, below = pulled(self.over, pullback, given)
                for place, target in enumerate(inputs):
                    self._give(found, target, parts[place], token_at(below, place), index)
            except Exception as error:
                tell(error, made_at(self.nodes[index]))
                raise
        return found

    def _pass_on(self, found: list[Any], cotangent: NotImplementedCotangent, pullback: Any, inputs: Any) -> None:
        """A cotangent that nobody has worked out passes a node: those of what went in are not known either."""
        if not inputs:
            pullback(cotangent)
        for node in numbers_in(inputs):
            found[node] = (cotangent, None)

    def _give(self, found: list[Any], target: Any, cotangent: Any, tokens: Any, node: int | None = None) -> None:
        if target is None or cotangent is None:
            return
        if isinstance(cotangent, NotImplementedCotangent):
            place = None if node is None else line_of(made_at(self.nodes[node]))
            self._pass_on(found, cotangent.at(place), None, (target,))
        elif type(target) is int:
            before = found[target]
            if before is not None and (
                type(before[0]) is NotImplementedCotangent or type(self.nodes[target][0]) is Unknown
            ):
                return
            found[target] = (cotangent, tokens) if before is None else added(self.over, before, (cotangent, tokens))
        else:
            is_named = isinstance(target, dict)
            for key in target if is_named else range(len(target)):
                part = part_at(cotangent, key) if is_named else cotangent[key]
                self._give(found, target[key], part, token_at(tokens, key), node)
