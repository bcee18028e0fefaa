"""The slots of arrays of objects: where references begin in their buffer, whose shadow has the tokens by place."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_hook.algebras.shadows import Algebra, Token, kind, known, lose, opened, some
from autodiff_hook.runtime.buffers import root_of
from autodiff_hook.runtime.losses import plain


def is_objects(value: Any) -> bool:
    """Whether a value is an array of objects."""
    return kind(value) == "array" and value.dtype.kind == "O"


def places_in_memory(array: Any) -> Any:
    """For each element of an array of objects its place in the buffer."""
    root = root_of(array)
    places = np.full(array.shape, array.__array_interface__["data"][0] - root.__array_interface__["data"][0])
    for axis, (length, stride) in enumerate(zip(array.shape, array.strides)):
        places += (np.arange(length) * stride).reshape((-1,) + (1,) * (array.ndim - axis - 1))
    return places


def selected_places(array: Any, key: Any) -> Any:
    """The place of the element that a key names, or an array of those of several."""
    index = key if type(key) is tuple else (key,)
    if len(index) == array.ndim and all([type(i) is int for i in index]):
        begin = array.__array_interface__["data"][0] - root_of(array).__array_interface__["data"][0]
        rows = zip(index, array.shape, array.strides, strict=True)
        return begin + sum([(i % length) * stride for i, length, stride in rows])
    return places_in_memory(array)[key]


def tokens_at(alg: Algebra, root: Any, places: Any) -> Any:
    """An array of the tokens at places of a buffer; None if there are none."""
    slots = known(alg, root)
    if not slots or not some(slots.values()):
        return None
    found = np.empty(places.shape, object)
    for index, place in np.ndenumerate(places):
        found[index] = slots.get(int(place))
    return found


def tokens_in(alg: Algebra, array: Any) -> Any:
    """An array of the tokens of the elements of an array; None if they have none."""
    return tokens_at(alg, root_of(array), places_in_memory(array))


def keep_tokens(alg: Algebra, array: Any, tokens: Any) -> None:
    """The tokens of all elements of an array are these."""
    keep_tokens_at(alg, root_of(array), places_in_memory(array), tokens)


def keep_tokens_at(alg: Algebra, root: Any, places: Any, tokens: Any) -> None:
    if tokens is None and known(alg, root) is None:
        return
    slots = opened(alg, root)
    if tokens is None:
        for place in np.ravel(places).tolist():
            slots.pop(place, None)
        return
    spread = np.broadcast_to(tokens, np.shape(places))
    for index, place in np.ndenumerate(places):
        slots[int(place)] = spread[index]


def overwrite_objects(alg: Algebra, array: Any, before: Any, unknown: Token) -> None:
    """Native code may have put others in the place of elements."""
    for index, item in np.ndenumerate(plain(array)):
        if before[index] is not item:
            place = int(selected_places(array, index))
            token = None if unknown is None else lose(alg, item, unknown)
            if token is not None or known(alg, root_of(array)) is not None:
                opened(alg, root_of(array))[place] = token
