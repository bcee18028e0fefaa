"""Forward mode over another algebra."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from autodiff_hook.algebras.arithmetic import scaled, summed
from autodiff_hook.algebras.levels import Pair, mapped, over_of, own_of, settled, token_at
from autodiff_hook.algebras.nested import Carried, Nested, added, carry, fitted, made_like, pulled, seen_by
from autodiff_hook.algebras.nested_tape import NestedTape
from autodiff_hook.algebras.placing import Placement, buffer_shape, buffer_type, is_other_field, places_in, seen_as
from autodiff_hook.algebras.shadows import Algebra, Token
from autodiff_hook.algebras.tangents import Moving, Tangents, UnknownTangent, lacking, one_like, placed
from autodiff_hook.errors import AutodiffError, NotDifferentiable
from autodiff_hook.runtime.buffers import root_of
from autodiff_hook.runtime.checking import Checking
from autodiff_hook.semantics.library import replaced, taken
from autodiff_hook.semantics.meanings import apply
from autodiff_hook.semantics.structures import gather
from autodiff_hook.strong import quietly


class NestedTangents(Nested, Tangents):
    """Tangents that are carried by the algebra below; the own part of a token is a tangent and its token there."""

    mode = "forward"

    def of_rule(self, value: Any, tree: Any, pullback: Any, owns: Any, by_number: bool) -> Token:
        try:
            tangent = (direct_over if by_number else transpose_over)(self.over, pullback, value, owns)
        except AutodiffError:
            raise
        except Exception as error:
            unknown = UnknownTangent(error)
            tangent = mapped(one_like(value), lambda x: unknown), None
        return self.spread_over(value, tangent, tree)

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
        moving = paired(self, value, tangent[0], tangent[1], tree)
        self.note_all(value, own_of(self, moving))
        return settled(self, value, moving)

    def hooked(self, function: Any, value: Any, tree: Any) -> Token:
        if own_of(self, tree) is not None:
            return super().hooked(function, value, tree)
        return self.over.hooked(function, value, over_of(self, tree))

    def own(self, array: Any, own: Any) -> Any:
        root = root_of(array)
        found = self.buffers.get(id(root)) if self.buffers else None
        if found is None or is_other_field(root, array):
            return own
        if array is root or type(found[1]) is UnknownTangent:
            return found[1]
        whole = found[1]
        places = places_in(root, array)
        return Moving(*self._carry(taken, whole, (places, None), (seen_by(root, array), None)))

    def _carry(self, function: Any, moving: Any, *operands: Carried) -> Carried:
        return carry(self.over, function, (moving.value, moving.tokens), *operands)

    def own_part(self, own: Any, array: Any, key: Any, value: Any, token: Token) -> Any:
        if type(own) is UnknownTangent:
            return own
        part = Moving(*self._carry(operator.getitem, own, (key, None)))
        self.note_selection(array, value, part)
        return part

    def stored(self, root: Any, array: Any, value: Any, own: Any, put: Any, places: Any) -> Any:
        whole: Any = put if type(put) is UnknownTangent else self._whole_over(root, array, own)
        if type(whole) is UnknownTangent:
            return whole
        part = (0.0, None) if put is None else (put.value, put.tokens)
        return Moving(*self._carry(replaced, whole, (places, None), part, (seen_by(root, array), None)))

    def adopt(self, array: Any, token: Token) -> None:
        self.over.adopt(array, over_of(self, token))
        super().adopt(array, own_of(self, token))

    def reshape(self, array: Any, token: Token, shape: Any) -> None:
        root = root_of(array)
        own = self.own(array, own_of(self, token))
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

    def follows(self, root: Any, array: Any) -> bool:
        return type(self.buffers.get(id(root), (None, None))[1]) is not UnknownTangent and self._moves(root)

    def _moves(self, root: Any) -> bool:
        return id(root) in self.buffers or self._was_made(root)

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


def paired(alg: Algebra, value: Any, tangent: Any, moving: Any, tree: Any) -> Any:
    """The tree of tokens of a value: of its tangent, with the tokens of that, and of itself below."""
    if tangent is None:
        return tree
    if isinstance(value, (tuple, list)):
        parts = [paired(alg, item, tangent[i], token_at(moving, i), token_at(tree, i)) for i, item in enumerate(value)]
        return tuple(parts) if isinstance(value, tuple) else parts
    if isinstance(value, dict):
        return {
            key: paired(alg, item, tangent[key], token_at(moving, key), token_at(tree, key))
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
        found = added(over, found, (parts[place], token_at(below, place)))
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


def _parts(owns: Any, part: str) -> Any:
    """The tangents in a tree of ``Moving``, or their tokens."""
    if owns is None or type(owns) is UnknownTangent:
        return None
    if type(owns) is Moving:
        return getattr(owns, part)
    if type(owns) is dict:
        return {key: _parts(item, part) for key, item in owns.items()}
    return made_like(owns, [_parts(item, part) for item in owns])
