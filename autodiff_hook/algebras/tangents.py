"""Forward mode: a token is the tangent of its value.

A primitive's tangent is the transpose of its pullback, which is linear: ``⟨transpose(pb, ẋ), ȳ⟩ = ⟨ẋ, pb(ȳ)⟩`` for
every ``ȳ``. So it is the cotangent of ``ȳ`` for the cotangent ``ẋ`` of ``pb(ȳ)``, and what transposes is a tape of the
pullback.
"""

from __future__ import annotations

import copy
import weakref
from collections.abc import Iterable
from typing import Any

import numpy as np

from autodiff_hook.algebras.arithmetic import REAL
from autodiff_hook.algebras.levels import mapped, own_of, settled
from autodiff_hook.algebras.lifetimes import drop_buffers
from autodiff_hook.algebras.odd import is_odd, odd_result, refuse_shared, truncates
from autodiff_hook.algebras.placing import Placement, buffer_shape, buffer_type, is_other_field, places_in, seen_as
from autodiff_hook.algebras.restoring import HOLDERS, set_shape
from autodiff_hook.algebras.shadows import Algebra, Result, Token, lose
from autodiff_hook.algebras.tape import Tape, in_places
from autodiff_hook.cotangents import NotImplementedCotangent
from autodiff_hook.errors import AutodiffError, NotDifferentiable
from autodiff_hook.registry import registry
from autodiff_hook.runtime.buffers import dense, root_of
from autodiff_hook.runtime.checking import Owed, pair
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.mirror import array_gradient, number_gradient
from autodiff_hook.semantics.library import put, taken
from autodiff_hook.semantics.meanings import apply
from autodiff_hook.semantics.scope import module_of_callable
from autodiff_hook.semantics.structures import gather
from autodiff_hook.strong import has_nan, quietly, times
from autodiff_hook.tangent import Tangent


class UnknownTangent:
    """The tangent of what has no known derivative, and of all that depends on it: an error if it is asked for."""

    def __init__(self, error: Exception) -> None:
        self.error = error


class Moving:
    """A tangent, with the tokens in it below."""

    __slots__ = ("tokens", "value")

    def __init__(self, value: Any, tokens: Any) -> None:
        self.value, self.tokens = value, tokens


def _linear(partials: Any, tokens: Any) -> Any:
    found = None
    for partial, tangent in zip(partials, tokens):
        if type(tangent) is UnknownTangent:
            return tangent
        if tangent is not None:
            part = times(tangent, partial)
            found = part if found is None else found + part
    return found


class Tangents(Algebra):
    """Carries tangents along; nothing is recorded."""

    def __init__(self, over: Algebra | None = None) -> None:
        super().__init__(over)
        self._most = drop_buffers(self.buffers)
        self.made: dict[int, tuple[Any, Any, Any]] = {}
        """With which tangents buffers were made: a weak reference, the places in it, the tangent."""
        if over is None:
            self.numbers, self.held = _linear, self.made

    def note(self, array: Any, tangent: Any) -> None:
        """``array``, or the buffer that it views, is new, and was made with this tangent."""
        root = root_of(array)
        known = self.made.get(id(root))
        if known is None or known[0]() is not root:
            self.made[id(root)] = (weakref.ref(root), Placement(root, array) if array is not root else ..., tangent)

    def note_all(self, value: Any, tangents: Any) -> None:
        """The arrays in a value are new, and were made with these tangents."""
        if tangents is None or type(tangents) is UnknownTangent:
            return
        form = kind_of(type(value))
        if form == "array":
            self.note(value, tangents)
        elif form in ("tuple", "list"):
            for item, part in zip(value, tangents):
                self.note_all(item, part)
        elif form == "dict":
            for key, item in value.items():
                self.note_all(item, tangents.get(key))

    def note_selection(self, array: Any, value: Any, tangent: Any) -> None:
        """``value`` was read from ``array``: if it is no view of it, it is new."""
        if isinstance(value, np.ndarray) and root_of(value) is not root_of(array):
            self.note(value, tangent)

    def call_rule(self, rule: Any, function: Any, args: Any, kwargs: Any, tokens: Any) -> Result:
        if self.nested:
            tokens = own_of(self, tokens)
            if tokens is None:
                return function(*args, **kwargs), None
        if kwargs:
            tokens = in_places(rule, function, len(args), kwargs, tokens)
        if id(rule) in registry.tested:
            value, pullback = rule(*args, **kwargs)
            owed = None
        else:
            value, pullback = pair(rule, rule(*args, **kwargs))
            owed = Owed(rule, args, kwargs)
        if is_odd(value):
            return value, self.unknown(odd_result(function, value))
        numbers = type(value) is float and REAL.issuperset(map(type, args)) and not kwargs
        try:
            found = (direct if numbers else transpose)(pullback, value, tokens, owed)
        except AutodiffError:
            raise
        except Exception as error:
            found = UnknownTangent(error)  # not to be met by a handler of the program, which has not failed
        return value, found if numbers else self.spread(value, found)

    def moves_nan(self, tokens: Any) -> bool:
        if isinstance(tokens, (tuple, list)):
            return any(map(self.moves_nan, tokens))
        own = tokens if self.over is None else own_of(self, tokens)
        return has_nan(own.value if type(own) is Moving else own)

    def linear(self, partials: Any, tokens: Any) -> Any:
        return _linear(partials, tokens)

    def scaled(self, value: Any, scale: Any, token: Token) -> Token:
        return self.spread(value, self.linear((scale,), (token,)))

    def spread(self, value: Any, token: Token) -> Token:
        """The token of a new value from the whole tangent of it."""
        if type(token) is UnknownTangent:
            return lose(self, value, token)
        self.note_all(value, token)
        return settled(self, value, token)

    def unknown(self, error: NotDifferentiable) -> Token:
        return UnknownTangent(error)

    def is_unknown(self, token: Token) -> bool:
        return type(own_of(self, token) if self.nested or self.over is not None else token) is UnknownTangent

    def read(self, array: Any, token: Token) -> Token:
        if not self.buffers:
            return token
        root = root_of(array)
        found = self.buffers.get(id(root))
        if found is None or is_other_field(root, array):
            return token
        if type(found[1]) is UnknownTangent:
            return found[1]
        return found[1].copy() if array is root else taken(found[1], places_in(root, array), seen_as(root, array.dtype))

    def part(self, array: Any, key: Any, value: Any, token: Token) -> Token:
        found = self.buffers.get(id(array)) if array.base is None else None
        token = self.read(array, token) if found is None else found[1]
        if token is None:
            return None
        if type(token) is UnknownTangent:
            return token
        part = token[key]
        self.note_selection(array, value, part)
        return part.copy() if found is not None and isinstance(part, np.ndarray) else part

    def write(self, array: Any, key: Any, value: Any, before: Token, moving: Token) -> None:
        if moving is not None and truncates(array, value):
            moving = None
        refuse_shared(array, moving)
        HOLDERS.keep(array, key)
        root = root_of(array)
        if moving is None and before is None and id(root) not in self.buffers and not self._was_made(root):
            array[key] = value
            return
        whole: Any = moving if type(moving) is UnknownTangent else self._whole(root, array, before)
        if type(whole) is UnknownTangent:
            array[key] = value
            self.buffers[id(root)] = (root, whole)
            return
        places = places_in(root, array)[key]
        array[key] = value
        put(whole, places, 0.0 if moving is None else moving, seen_as(root, array.dtype))
        self.buffers[id(root)] = (root, whole)
        if len(self.buffers) > self._most:
            self._most = drop_buffers(self.buffers)

    def begin(self, array: Any, token: Token) -> None:
        root = root_of(array)
        whole = token if type(token) is UnknownTangent else self._whole(root, array, None)
        if type(whole) is not UnknownTangent:
            put(whole, places_in(root, array), token, seen_as(root, array.dtype))
        self.buffers[id(root)] = (root, whole)

    def adopt(self, array: Any, token: Token) -> None:
        if token is not None and type(token) is not UnknownTangent:
            self.note(array, token)

    def reshape(self, array: Any, token: Token, shape: Any) -> None:
        root = root_of(array)
        known = token is not None or id(root) in self.buffers or self._was_made(root)
        whole = self._whole(root, array, token) if known else None
        set_shape(array, shape)
        if whole is not None:
            is_array = array is root and type(whole) is not UnknownTangent
            self.buffers[id(root)] = (root, whole.reshape(array.shape) if is_array else whole)

    def overwritten(self, array: Any, before: Any, unknown: Token) -> None:
        HOLDERS.keep(array, ..., before)
        root = root_of(array)
        if unknown is not None:
            self.buffers[id(root)] = (root, unknown)
        elif id(root) in self.buffers or self._was_made(root):
            whole = self._whole(root, array, None)
            if type(whole) is not UnknownTangent:
                put(whole, places_in(root, array), 0.0, seen_as(root, array.dtype))
                self.buffers[id(root)] = (root, whole)

    def version(self, array: Any) -> Any:
        found = super().version(array)
        return found if found is None else (found[0], copy.copy(found[1]))

    def _was_made(self, root: Any) -> bool:
        """Whether a buffer was made with a tangent, though the view at hand has none: that of ``.flat``, say."""
        known = self.made.get(id(root))
        return known is not None and known[0]() is root

    def _whole(self, root: Any, array: Any, token: Token) -> Any:
        """The tangent of a buffer, to be changed in place."""
        found = self.buffers.get(id(root))
        if found is not None or type(token) is UnknownTangent:
            return token if found is None else found[1]
        whole = np.zeros(buffer_shape(root), buffer_type(root))
        known = self.made.get(id(root))
        if known is not None and known[0]() is root:
            if known[1] is ...:
                whole[...] = known[2]
            else:
                put(whole, known[1].places(root), known[2], seen_as(root, known[1].dtype))
        elif token is not None:
            put(whole, places_in(root, array), token, seen_as(root, array.dtype))
        return whole


def refuse_unknown(tree: Any) -> None:
    """Raise if a tangent in a tree is not known."""
    if type(tree) is UnknownTangent:
        raise tree.error
    if type(tree) in (tuple, list):
        for part in tree:
            refuse_unknown(part)
    elif type(tree) is dict:
        for part in tree.values():
            refuse_unknown(part)


def transpose(pullback: Any, value: Any, tangents: Any, owed: Owed | None = None) -> Any:
    """The tangent of ``value`` from the pullback of the rule that gave it; None if it is zero.

    Of a tuple whose items have not all a derivative here, each has its own, known or not.
    """
    if type(value) is np.ndarray and value.dtype.kind == "b":
        return None
    one = one_like(value)
    try:
        return _transposed(pullback, value, one, tangents, owed)
    except NotDifferentiable:
        if type(one) is not tuple:
            raise
        found = [_part_of_transpose(pullback, value, one, i, tangents, owed) for i in range(len(one))]
        if all(type(part) is UnknownTangent for part in found):
            raise
        return tuple(found)


def _part_of_transpose(pullback: Any, value: Any, one: Any, place: int, tangents: Any, owed: Owed | None) -> Any:
    """The tangent of one item of ``value``."""
    alone = (*[None] * place, one[place], *[None] * (len(one) - place - 1))
    try:
        found = _transposed(pullback, value, alone, tangents, owed)
    except NotDifferentiable as error:
        return UnknownTangent(error)
    return found[place] if type(found) is tuple else found


def _transposed(pullback: Any, value: Any, one: Any, tangents: Any, owed: Owed | None) -> Any:
    """The tangent of what has a cotangent in ``one``."""
    tape = Tape()
    tape.modules.add(module_of_callable(pullback))
    leaves = mapped(one, lambda x: None if x is None else tape.leaf())
    with quietly():
        cotangents, token = apply(tape, (None, settled(tape, one, leaves)), pullback, (one,), {})
    if owed is not None:
        cotangents = owed.checked(cotangents)
    missing = lacking(tangents, cotangents)
    if missing is not None:
        return missing
    tree = gather(tape, cotangents, token)
    if tree is None:
        return None
    found = tape.sweep(tree, placed(tangents, cotangents)).values
    return fit(value, mapped(leaves, lambda leaf: found[leaf]))


def direct(pullback: Any, value: Any, tangents: Any, owed: Owed | None) -> Any:
    """The tangent of a real number that is made of such: the derivative by each is its own transpose."""
    found: Any = None
    for place, tangent in enumerate(tangents):
        if tangent is None:
            continue
        is_unknown = type(tangent) is UnknownTangent
        cotangents = pullback(1.0 if is_unknown else tangent)
        if owed is not None:
            cotangents = owed.checked(cotangents)
        missing = lacking(tangent, cotangents[place])
        if missing is not None:
            return missing
        if cotangents[place] is not None:
            found = cotangents[place] if found is None else found + cotangents[place]
    return fit(value, found)


def placed(tangents: Any, cotangents: Any) -> Any:
    """The tangents, one for each of ``cotangents``."""
    given = tuple([None if c is None else t for t, c in zip(tangents, cotangents)])
    return given + (None,) * (len(cotangents) - len(given))


def lacking(tangents: Any, cotangents: Any) -> UnknownTangent | None:
    """What is not known of a transpose: a tangent where the cotangent is not zero, or the cotangent of what has one."""
    if tangents is None or cotangents is None:
        return None
    if type(tangents) is UnknownTangent:
        return tangents
    if isinstance(cotangents, NotImplementedCotangent):
        return UnknownTangent(cotangents.fail())
    for tangent, cotangent in _pairs(tangents, cotangents):
        found = lacking(tangent, cotangent)
        if found is not None:
            return found
    return None


def _pairs(tangents: Any, cotangents: Any) -> Iterable[tuple[Any, Any]]:
    """The parts of a tree of tangents and one of cotangents, of which one may be an array for a list of the other."""
    if isinstance(cotangents, Tangent):
        cotangents = cotangents._fields
    if isinstance(tangents, dict):
        named = isinstance(cotangents, dict)
        return [(tangent, cotangents.get(key) if named else cotangents) for key, tangent in tangents.items()]
    several = isinstance(cotangents, (list, tuple))
    if isinstance(tangents, (list, tuple)):
        return zip(tangents, cotangents) if several else [(tangent, cotangents) for tangent in tangents]
    return [(tangents, cotangent) for cotangent in cotangents] if several else ()


def one_like(value: Any) -> Any:
    """A cotangent of ``value``: its pullback is linear, so it does not matter which."""
    kind = kind_of(type(value))
    if kind == "number":
        # A class that is derived from these may ask for more than a number.
        return type(value)(1) if type(value).__module__ == "numpy" else 1.0 + 0j if isinstance(value, complex) else 1.0
    if kind == "array" and value.dtype.kind in "fciu":
        return np.ones(value.shape, value.dtype if value.dtype.kind in "fc" else float)
    if kind == "tuple":
        return tuple(map(one_like, value))
    if kind == "list":
        return list(map(one_like, value))
    return {key: one_like(item) for key, item in value.items()} if kind == "dict" else None


def fit(value: Any, tangent: Any) -> Any:
    """The tangent of ``value``, real where it is real, of its shape and precision."""
    tangent = dense(tangent)
    if tangent is None:
        return None
    kind = kind_of(type(value))
    if kind == "number":
        return number_gradient(value, tangent)
    if kind == "array":
        return array_gradient(value, tangent)
    if kind in ("tuple", "list"):
        parts = [fit(item, part) for item, part in zip(value, tangent)]
        return tuple(parts) if kind == "tuple" else parts
    return {key: fit(item, tangent.get(key)) for key, item in value.items()} if kind == "dict" else None
