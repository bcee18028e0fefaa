"""Arrays: reading and writing what may share memory."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from autodiff_hook.algebras.placing import PARTS_OF_COMPLEX
from autodiff_hook.algebras.searching import reaches
from autodiff_hook.algebras.shadows import Algebra, Result, Token, kind, lose
from autodiff_hook.runtime.losses import plain, stores_into_part
from autodiff_hook.runtime.overlaps import require_read_first
from autodiff_hook.semantics.equivalents import elementwise
from autodiff_hook.semantics.finalizing import note_attributes
from autodiff_hook.semantics.library import viewed
from autodiff_hook.semantics.meanings import Args, Kwargs, apply, means
from autodiff_hook.semantics.object_arrays import part_of_objects, store_objects
from autodiff_hook.semantics.opaque import call_opaque
from autodiff_hook.semantics.records import is_records, part_of_records, store_records, token_in_memory
from autodiff_hook.semantics.structures import gather


def store_array(alg: Algebra, t: Any, array: Any, key: Any, value: Any) -> None:
    """``array[key] = value``, whatever the class of the array makes of that."""
    if alg.given is not None and alg.given.shared:
        alg.given.require_one_array(array)
    if stores_into_part(type(array), array.ndim, key):
        array, token = apply(alg, (None, t[0], t[1]), operator.getitem, (array, key), {})
        t, key = (token, None, t[2]), Ellipsis
    array = plain(array)
    if array.dtype.names is not None:
        store_records(alg, t, array, key, value)
        return
    if array.dtype.kind == "O":
        store_objects(alg, t, array, key, value)
        return
    moving = t[2]
    form = kind(value)
    if form == "array" and value.dtype.kind == "O":
        value, moving = apply(alg, (None, moving, None), elementwise.as_numbers, (value, array.dtype), {})
    if form == "array":
        moving = alg.read(value, moving)
        if moving is not None:
            require_read_first(array, key, value)
    elif form not in ("number", "inert"):
        value, moving = _made_array(alg, array, value, moving)
    alg.write(array, key, value, t[0], moving)


def _made_array(alg: Algebra, array: Any, value: Any, token: Token) -> Result:
    """What ``array`` is given where ``value`` is no array: NumPy makes one of it."""
    if kind(value) in ("list", "tuple") and gather(alg, value, token, of="argument") is not None:
        made, moving = apply(alg, (None, token), np.array, (value,), {})
        if made.dtype.kind != "O":
            return made, moving
    if token is None and not reaches(alg, value):
        return value, None
    return apply(alg, (None, token, None), np.asarray, (value, array.dtype), {})


def part_of(alg: Algebra, array: Any, key: Any, value: Any, token: Token) -> Token:
    """The token of ``value``, which is ``array[key]``."""
    if type(array) is not np.ndarray:
        note_attributes(alg, value, (array,))
    form = array.dtype.kind
    if form in "fciu":
        return alg.part(array, key, value, token)
    if array.dtype.names is not None:
        return part_of_records(alg, array, key, value, token)
    if form == "O":
        return part_of_objects(alg, array, key, value, token)
    return None if token is None else lose(alg, value, token)


@means(np.ndarray.view)
def view(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``array.view()`` or ``array.view(cls)``: the same elements."""
    array, *kinds = *args, *kwargs.values()
    if is_records(array):
        value = np.ndarray.view(*args, **kwargs)
        if value.dtype.kind in "iu" and value.dtype != array.dtype:
            return call_opaque(alg, t, np.ndarray.view, args, kwargs, "which shows floats as whole numbers")
        return value, token_in_memory(alg, value) if t[0] is None else lose(alg, value, t[0])
    dtypes = [np.dtype(kind) for kind in kinds if not (isinstance(kind, type) and issubclass(kind, np.ndarray))]
    if dtypes and dtypes[0] != array.dtype:
        if len(kinds) > 1 or {array.dtype, dtypes[0]} not in PARTS_OF_COMPLEX:
            reason = "which has no rule for another type of the elements"
            return call_opaque(alg, t, np.ndarray.view, args, kwargs, reason)
        return apply(alg, (None, t[0], None), viewed, (array, dtypes[0]), {})
    value = np.ndarray.view(*args, **kwargs)
    note_attributes(alg, value, (array,))
    if value.shape != array.shape:
        return value, apply(alg, (None, t[0], None), np.reshape, (plain(array), value.shape), {})[1]
    return value, part_of(alg, array, ..., value, t[0])


@means(np.ndarray.__getitem__)
def item(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``ndarray.__getitem__(array, key)``, past what a class makes of it."""
    array, key = args
    value = np.ndarray.__getitem__(array, key)
    return value, part_of(alg, array, key, value, t[0])


@means(np.ndarray.__setitem__)
def store_item(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``ndarray.__setitem__(array, key, value)``, past what a class makes of it."""
    array, key, value = args
    store_array(alg, t, np.ndarray.view(array, np.ndarray), key, value)
    return None, None
