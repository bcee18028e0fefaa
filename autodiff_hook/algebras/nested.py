"""Algebras over another: whatever they compute is carried by it, so it has derivatives in its turn."""

from __future__ import annotations

import operator
import weakref
from typing import Any, cast

import numpy as np

from autodiff_hook.algebras.arithmetic import REAL, scaled, summed
from autodiff_hook.algebras.levels import Pair, mapped, over_of, own_of, settled
from autodiff_hook.algebras.odd import is_odd, odd_part, odd_result, refuse_shared, truncates
from autodiff_hook.algebras.places import here, line_of, made_at, tell
from autodiff_hook.algebras.placing import Placement, buffer_shape, buffer_type, is_other_field, places_in, seen_as
from autodiff_hook.algebras.shadows import Algebra, Result, Token
from autodiff_hook.algebras.tangents import (
    Moving,
    Tangents,
    UnknownTangent,
    lacking,
    one_like,
    placed,
)
from autodiff_hook.algebras.tape import Tape, Unknown, in_places, numbers_in
from autodiff_hook.errors import NotDifferentiable, Unsupported, located
from autodiff_hook.registry import NotImplementedCotangent, registry
from autodiff_hook.runtime.buffers import root_of
from autodiff_hook.runtime.checking import Checking, pair
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.semantics.library import (
    array_like,
    hooked,
    keyed_pullback,
    number_like,
    replaced,
    reshaped_pullback,
    stored_pullback,
    taken,
    taken_pullback,
)
from autodiff_hook.semantics.meanings import apply
from autodiff_hook.semantics.scope import module_of_callable
from autodiff_hook.semantics.structures import gather
from autodiff_hook.strong import quietly
from autodiff_hook.tangent import Tangent

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
    if kind == "array" and value.flags.writeable:
        if tree is None:
            return value.copy(), None
        return carry(over, np.copy, (value, tree))
    if kind in ("tuple", "list") and type(value) in (tuple, list):
        pairs = [_copied(over, item, None if tree is None else tree[i]) for i, item in enumerate(value)]
        made = type(value)([item for item, _ in pairs])
        return made, None if tree is None else type(value)([part for _, part in pairs])
    return value, tree


def _below(over: Algebra, rule: Any, function: Any, args: Any, kwargs: Any, tokens: Any) -> Result:
    """A call that concerns the algebra below alone."""
    if all(token is None for token in tokens):
        return function(*args, **kwargs), None
    return over.call_rule(rule, function, args, kwargs, tokens)


class NestedTape(Tape):
    """A tape whose pullbacks, and their sums, are carried by the algebra below."""

    over: Algebra
    mode = "reverse"

    def __init__(self, over: Algebra) -> None:
        super().__init__(over)
        self.made: dict[int, tuple[Any, Any, int]] = {}
        """As which nodes buffers were made: a weak reference, the places in it, the node."""

    def call_rule(self, rule: Any, function: Any, args: Any, kwargs: Any, tokens: Any) -> Result:
        owns = own_of(self, tokens)
        overs = over_of(self, tokens) or (None,) * len(tokens)
        if owns is None:
            return _below(self.over, rule, function, args, kwargs, overs)
        if kwargs:
            owns = in_places(rule, function, len(args), kwargs, owns)
        value, tree, pullback = run_rule(self.over, rule, function, args, kwargs, overs)
        if is_odd(value):
            return value, self.unknown(odd_result(function))
        node = len(self.nodes)
        self.nodes.append((pullback, owns, here()))
        return value, self.spread_over(value, node, tree)

    def spread_over(self, value: Any, own: int, tree: Any) -> Token:
        """The token of what a node gives, whose tokens below are ``tree``."""
        kind = kind_of(type(value))
        if kind == "array":
            self.note(value, own)
        if kind in ("number", "array"):
            return Pair(self, own, tree)
        if kind in ("tuple", "list"):
            parts = [
                self.spread_over(item, self._item(own, i, len(value)), None if tree is None else tree[i])
                for i, item in enumerate(value)
            ]
            return settled(self, value, tuple(parts) if kind == "tuple" else parts)
        if kind == "dict":
            named = {
                key: self.spread_over(
                    item, self.node(keyed_pullback(key), (own,)), None if tree is None else tree.get(key)
                )
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

    def read(self, array: Any, token: Token) -> Token:
        below = self.over.read(array, over_of(self, token))
        own = self._own(array, own_of(self, token))
        return below if own is None else Pair(self, own, below)

    def _own(self, array: Any, own: int | None) -> int | None:
        """The node of an array, which may be a part of a buffer that was written to."""
        if not self.buffers:
            return own
        root = root_of(array)
        found = self.buffers.get(id(root))
        if found is None or is_other_field(root, array):
            return own
        if found[1] is None or array is root:
            return cast("int | None", found[1])
        pullback = taken_pullback(buffer_shape(root), buffer_type(root), places_in(root, array), _seen(root, array))
        return self.node(pullback, (found[1],))

    def part(self, array: Any, key: Any, value: Any, token: Token) -> Token:
        own = self._own(array, own_of(self, token))
        below = self.over.part(array, key, value, over_of(self, token))
        if own is None or array.dtype.kind not in "fciu":
            return below if own is None else odd_part(self, array, value, token)
        rule = registry.rule(operator.getitem, (type(array), type(key)))
        if rule is None:
            raise Unsupported(located("this part of an array, within a derivative within a derivative"))
        _, _, pullback = run_rule(self.over, rule, operator.getitem, (array, key), {}, (over_of(self, token), None))
        node = self.node(pullback, (own, None))
        if kind_of(type(value)) == "array":
            self.note(value, node)
        return Pair(self, node, below)

    def write(self, array: Any, key: Any, value: Any, before: Token, moving: Token) -> None:
        root = root_of(array)
        own, put = self._own(array, own_of(self, before)), own_of(self, moving)
        refuse_shared(array, put)
        places = None if own is None and put is None and id(root) not in self.buffers else places_in(root, array)[key]
        self.over.write(array, key, value, over_of(self, before), over_of(self, moving))
        if places is None:
            return
        if put is not None and truncates(array, value):
            put = None
        inputs = self._whole(root, array, own), put
        node = self.node(stored_pullback(places, np.shape(value), _seen(root, array)), inputs)
        self.buffers[id(root)] = (root, node)

    def overwritten(self, array: Any, before: Any, unknown: Token) -> None:
        self.over.overwritten(array, before, over_of(self, unknown))
        root, own = root_of(array), own_of(self, unknown)
        if own is not None:
            self.buffers[id(root)] = (root, own)
        elif self._own(array, None) is not None:
            store = stored_pullback(places_in(root, array), array.shape, _seen(root, array))
            self.buffers[id(root)] = (root, self.node(store, (self._whole(root, array, None), None)))

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

    def reshape(self, array: Any, token: Token, shape: Any) -> None:
        root, before = root_of(array), array.shape
        whole = self._whole(root, array, self._own(array, own_of(self, token)))
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
                    self._give(found, target, parts[place], None if below is None else below[place], index)
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
            if isinstance(cotangent, Tangent):
                cotangent = cotangent._fields
            for key in target if isinstance(target, dict) else range(len(target)):
                if not isinstance(target, dict) or key in cotangent:
                    self._give(found, target[key], cotangent[key], _token_at(tokens, key), node)


def _token_at(tokens: Any, key: Any) -> Token:
    return None if tokens is None else tokens.get(key) if isinstance(tokens, dict) else tokens[key]


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
            added(over, (x, None if a[1] is None else a[1][i]), (y, None if b[1] is None else b[1][i]))
            for i, (x, y) in enumerate(zip(a[0], b[0]))
        ]
        return tuple([x for x, _ in pairs]), tuple([t for _, t in pairs])
    return summed(over, a, b) if type(a[0]) in REAL and type(b[0]) in REAL else carry(over, operator.add, a, b)


def _at(cotangent: Carried, key: Any) -> Carried:
    """An item of a dict of cotangents, which may be incomplete."""
    return cotangent[0].get(key), None if cotangent[1] is None else cotangent[1].get(key)


class NestedTangents(Tangents):
    """Tangents that are carried by the algebra below; the own part of a token is a tangent and its token there."""

    over: Algebra
    mode = "forward"

    def call_rule(self, rule: Any, function: Any, args: Any, kwargs: Any, tokens: Any) -> Result:
        owns = own_of(self, tokens)
        overs = over_of(self, tokens) or (None,) * len(tokens)
        if owns is None:
            return _below(self.over, rule, function, args, kwargs, overs)
        if kwargs:
            owns = in_places(rule, function, len(args), kwargs, owns)
        value, tree, pullback = run_rule(self.over, rule, function, args, kwargs, overs)
        if is_odd(value):
            return value, self.unknown(odd_result(function))
        if type(value) is float and REAL.issuperset(map(type, args)) and not kwargs:
            tangent = direct_over(self.over, pullback, value, owns)
        else:
            tangent = transpose_over(self.over, pullback, value, owns)
        return value, self.spread_over(value, tangent, tree)

    def linear(self, partials: Any, tokens: Any) -> Any:
        found: Carried | None = None
        for partial, own in zip(partials, tokens):
            if type(own) is UnknownTangent:
                return own
            if own is not None:
                part = scaled(self.over, partial, (own.value, own.tokens))
                found = part if found is None else summed(self.over, found, part)
        assert found is not None
        return Moving(*found)

    def spread_over(self, value: Any, tangent: Carried, tree: Any) -> Token:
        """The token of a new value with this tangent, and these tokens below."""
        if kind_of(type(value)) == "array" and tangent[0] is not None and type(tangent[0]) is not UnknownTangent:
            self.note(value, Moving(*tangent))
        return settled(self, value, paired(self, value, tangent[0], tangent[1], tree))

    def read(self, array: Any, token: Token) -> Token:
        below = self.over.read(array, over_of(self, token))
        own = self._own(array, own_of(self, token))
        return below if own is None else Pair(self, own, below)

    def hooked(self, function: Any, value: Any, tree: Any) -> Token:
        if own_of(self, tree) is not None:
            return super().hooked(function, value, tree)
        return self.over.hooked(function, value, over_of(self, tree))

    def _own(self, array: Any, own: Any) -> Any:
        """The tangent of an array, which may be a part of a buffer that was written to."""
        root = root_of(array)
        found = self.buffers.get(id(root)) if self.buffers else None
        if found is None or is_other_field(root, array):
            return own
        if array is root or type(found[1]) is UnknownTangent:
            return found[1]
        whole = found[1]
        places = places_in(root, array)
        return Moving(*self._carry(taken, whole, (places, None), (_seen(root, array), None)))

    def _carry(self, function: Any, moving: Any, *operands: Carried) -> Carried:
        return carry(self.over, function, (moving.value, moving.tokens), *operands)

    def part(self, array: Any, key: Any, value: Any, token: Token) -> Token:
        below = self.over.part(array, key, value, over_of(self, token))
        own = self._own(array, own_of(self, token))
        if own is None or array.dtype.kind not in "fciu":
            return below if own is None else odd_part(self, array, value, token)
        if type(own) is UnknownTangent:
            return Pair(self, own, below)
        return Pair(self, Moving(*carry(self.over, operator.getitem, (own.value, own.tokens), (key, None))), below)

    def write(self, array: Any, key: Any, value: Any, before: Token, moving: Token) -> None:
        root = root_of(array)
        own, put = self._own(array, own_of(self, before)), own_of(self, moving)
        refuse_shared(array, put)
        places = None if own is None and put is None and id(root) not in self.buffers else places_in(root, array)[key]
        self.over.write(array, key, value, over_of(self, before), over_of(self, moving))
        if places is None:
            return
        if put is not None and truncates(array, value):
            put = None
        whole: Any = put if type(put) is UnknownTangent else self._whole_over(root, array, own)
        if type(whole) is UnknownTangent:
            self.buffers[id(root)] = (root, whole)
            return
        part = (0.0, None) if put is None else (put.value, put.tokens)
        after = Moving(*self._carry(replaced, whole, (places, None), part, (_seen(root, array), None)))
        self.buffers[id(root)] = (root, after)

    def reshape(self, array: Any, token: Token, shape: Any) -> None:
        root = root_of(array)
        own = self._own(array, own_of(self, token))
        known = own is not None or id(root) in self.buffers or self._was_made(root)
        whole: Any = self._whole_over(root, array, own) if known else None
        self.over.reshape(array, over_of(self, token), shape)
        if whole is None:
            return
        if array is root and type(whole) is not UnknownTangent:
            whole = Moving(*self._carry(np.reshape, whole, (array.shape, None)))
        self.buffers[id(root)] = (root, whole)

    def unknown(self, error: NotDifferentiable) -> Token:
        return Pair(self, UnknownTangent(error), self.over.unknown(error))

    def overwritten(self, array: Any, before: Any, unknown: Token) -> None:
        self.over.overwritten(array, before, over_of(self, unknown))
        root, own = root_of(array), own_of(self, unknown)
        if own is not None:
            self.buffers[id(root)] = (root, own)
        elif id(root) in self.buffers and type(self.buffers[id(root)][1]) is not UnknownTangent:
            whole = self._whole_over(root, array, None)
            places, seen = (places_in(root, array), None), (_seen(root, array), None)
            after = Moving(*self._carry(replaced, whole, places, (0.0, None), seen))
            self.buffers[id(root)] = (root, after)

    def _whole_over(self, root: Any, array: Any, own: Any) -> Any:
        """The tangent of a buffer: moving, or unknown."""
        found = self.buffers.get(id(root))
        if found is not None or type(own) is UnknownTangent:
            return own if found is None else found[1]
        zeros = Moving(np.zeros(buffer_shape(root), buffer_type(root)), None)
        placement: Any = None if array is None else Placement(root, array)
        known = self.made.get(id(root))
        if known is not None and known[0]() is root:
            placement, own = Placement(root, root) if known[1] is ... else known[1], known[2]
        if own is None:
            return zeros
        places, seen = (placement.places(root), None), (seen_as(root, placement.dtype), None)
        return Moving(*self._carry(replaced, zeros, places, (own.value, own.tokens), seen))


def _seen(root: Any, array: Any) -> Any:
    """As what the tangents of a buffer are seen through an array."""
    return seen_as(root, array.dtype)


def paired(alg: Algebra, value: Any, tangent: Any, moving: Any, tree: Any) -> Any:
    """The tree of tokens of a value: of its tangent, with the tokens of that, and of itself below."""
    if tangent is None:
        return tree
    if isinstance(value, (tuple, list)):
        parts = [
            paired(alg, item, tangent[i], None if moving is None else moving[i], None if tree is None else tree[i])
            for i, item in enumerate(value)
        ]
        return tuple(parts) if isinstance(value, tuple) else parts
    if isinstance(value, dict):
        return {
            key: paired(alg, item, tangent[key], _token_at(moving, key), _token_at(tree, key))
            for key, item in value.items()
        }
    return Pair(alg, tangent if type(tangent) is UnknownTangent else Moving(tangent, moving), tree)


def direct_over(over: Algebra, pullback: Any, value: Any, owns: Any) -> Carried:
    """The tangent of a real number that is made of such: the derivative by each is its own transpose."""
    found: Carried = None, None
    for place, own in enumerate(owns):
        if own is None:
            continue
        is_unknown = type(own) is UnknownTangent
        parts, below = pulled(over, pullback, (1.0, None) if is_unknown else (own.value, own.tokens))
        missing = lacking(own, parts[place])
        if missing is not None:
            return missing, None
        found = added(over, found, (parts[place], _token_at(below, place)))
    return fitted(over, value, *found)


def transpose_over(over: Algebra, pullback: Any, value: Any, owns: Any) -> Carried:
    """The tangent of ``value`` from the pullback of the rule that gave it, carried by the algebra below."""
    tape = NestedTape(over)
    one = one_like(value)
    leaves = mapped(one, lambda x: None if x is None else tape.pair(tape.leaf(), None))
    checking = type(pullback) is Checking
    inner = pullback.pullback if checking else pullback
    with quietly():
        cotangents, token = apply(tape, (None, settled(tape, one, leaves)), inner, (one,), {})
    if checking:
        cotangents = pullback.owed.checked(cotangents)
    missing = lacking(owns, cotangents)
    if missing is not None:
        return mapped(one, lambda x: missing), None
    tree = own_of(tape, gather(tape, cotangents, token))
    if tree is None:
        return None, None
    tangents = placed(_parts(owns, "value"), cotangents)
    tokens = _parts(owns, "tokens")
    found = tape.sweep_over(tree, tangents, tokens + (None,) * (len(tangents) - len(tokens)))
    given = mapped(leaves, lambda pair: found[pair.own])
    return fitted(over, value, *_unzipped(leaves, given))


def _unzipped(leaves: Any, given: Any) -> tuple[Any, Any]:
    """The values and the tokens in a tree of pairs, which is in the form of ``leaves``."""
    if given is None or type(leaves) is Pair:
        return (None, None) if given is None else given
    if isinstance(leaves, dict):
        named = {key: _unzipped(leaf, given.get(key)) for key, leaf in leaves.items()}
        return {key: value for key, (value, _) in named.items()}, {key: tree for key, (_, tree) in named.items()}
    rows = [_unzipped(leaf, part) for leaf, part in zip(leaves, given)]
    return made_like(leaves, [value for value, _ in rows]), made_like(leaves, [tree for _, tree in rows])


def fitted(over: Algebra, value: Any, tangent: Any, tokens: Any) -> Carried:
    """A cotangent or tangent of ``value``, real where it is real, of its shape."""
    if tangent is None:
        return None, None
    kind = kind_of(type(value))
    if kind in ("tuple", "list"):
        pairs = [fitted(over, item, tangent[i], None if tokens is None else tokens[i]) for i, item in enumerate(value)]
        return made_like(value, [v for v, _ in pairs]), made_like(value, [t for _, t in pairs])
    if kind == "dict":
        named = {key: fitted(over, item, tangent.get(key), _token_at(tokens, key)) for key, item in value.items()}
        return {key: v for key, (v, _) in named.items()}, {key: t for key, (_, t) in named.items()}
    if kind == "number" and type(tangent) is type(value) is float:
        return tangent, tokens
    if kind not in ("number", "array"):
        return tangent, tokens
    return carry(over, number_like if kind == "number" else array_like, (value, None), (tangent, tokens))


def _parts(owns: Any, part: str) -> Any:
    """The tangents in a tree of ``Moving``, or their tokens."""
    if owns is None or type(owns) is UnknownTangent:
        return None
    if type(owns) is Moving:
        return getattr(owns, part)
    if type(owns) is dict:
        return {key: _parts(item, part) for key, item in owns.items()}
    return made_like(owns, [_parts(item, part) for item in owns])


def made_like(tree: Any, items: list[Any]) -> Any:
    """A list, or a tuple, as ``tree`` is one."""
    return items if isinstance(tree, list) else tuple(items)
