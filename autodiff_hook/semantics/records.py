"""Structured arrays: what their fields hold has tokens in the versions of their memory; they have none themselves."""

from __future__ import annotations

import functools
from typing import Any, Final

import numpy as np

from autodiff_hook.algebras.object_slots import selected_places
from autodiff_hook.algebras.searching import reaches
from autodiff_hook.algebras.shadows import Algebra, Result, Token, load, lose
from autodiff_hook.runtime.buffers import root_of
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.losses import array_mutation, plain
from autodiff_hook.runtime.parted import record_in_array
from autodiff_hook.semantics.equivalents import recording
from autodiff_hook.semantics.meanings import Args, Kwargs, apply, means
from autodiff_hook.semantics.opaque import call_opaque


def is_records(value: Any) -> bool:
    """Whether a value is a structured array."""
    return kind_of(type(value)) == "array" and value.dtype.names is not None


def part_of_records(alg: Algebra, array: Any, key: Any, value: Any, token: Token) -> Token:
    """The token of ``value``, which is ``array[key]``."""
    if token is not None:
        return lose(alg, value, token)
    if kind_of(type(value)) != "array":
        return None
    if root_of(value) is root_of(array):
        return token_in_memory(alg, value)
    if reaches(alg, array):
        apply(alg, (None,) * 4, recording.copy_records, (value, array, key), {})
    return None


def token_in_memory(alg: Algebra, array: Any) -> Token:
    """The token of an array that shares the memory of a structured one."""
    return alg.read(array, None) if array.dtype.kind in "fc" or array.dtype == np.int64 else None


def store_records(alg: Algebra, t: Any, array: Any, key: Any, value: Any) -> None:
    """``array[key] = value``."""
    apply(alg, (None, None, None, t[2]), recording.store_record, (plain(array), key, value), {})


def item_of_record(alg: Algebra, record: Any, key: Any, value: Any) -> Token:
    """The token of ``value``, which is ``record[key]``."""
    array = record_in_array(record)
    if id(record) in alg.losses:
        return lose(alg, value, alg.losses[id(record)][1])
    if array is None or isinstance(value, np.void):
        return None
    field = array[array.dtype.names[key] if isinstance(key, int) else key]
    if kind_of(type(value)) == "array":
        return token_in_memory(alg, value)
    return _of_field(alg, field, value)


def _of_field(alg: Algebra, field: Any, value: Any) -> Token:
    """The token of what a field of one record holds, which is an array without dimensions."""
    if field.dtype.kind == "O":
        root = root_of(field)
        return load(alg, root, selected_places(field, ()), value)
    return alg.part(field, (), value, None) if field.dtype.kind in "fc" else None


def store_in_record(alg: Algebra, token: Token, record: Any, key: Any, value: Any) -> None:
    """``record[key] = value``."""
    array = record_in_array(record)
    if array is None:
        raise array_mutation("this store writes to a record of its own, not in")
    name = array.dtype.names[key] if isinstance(key, int) else key
    store_records(alg, (None, None, token), array, name, value)


MOVING: Final = (
    *(np.array, np.asarray, np.asanyarray, np.copy, np.ndarray.copy, np.ndarray.__copy__, np.concatenate, np.append),
    *(np.stack, np.vstack, np.hstack, np.take, np.ndarray.take, np.repeat, np.ndarray.repeat, np.tile, np.roll),
    *(np.ravel, np.ndarray.ravel, np.ndarray.flatten, np.reshape, np.ndarray.reshape, np.transpose, np.squeeze),
    *(np.ndarray.transpose, np.ndarray.squeeze, np.where, np.compress, np.ndarray.compress, np.delete, np.flip),
    *(np.expand_dims, np.atleast_1d, np.atleast_2d, np.moveaxis, np.swapaxes, np.ndarray.swapaxes, np.extract),
    *(np.broadcast_to, np.diagonal, np.ndarray.diagonal),
)
"""What puts elements elsewhere, and leaves them as they are."""
COPYING: Final = (np.generic.copy, np.generic.__copy__, np.generic.__deepcopy__)
_DEFINED: Final = (
    (np.sort, recording.sorted_records),
    (np.ndarray.astype, recording.records_as),
    (np.ndarray.__deepcopy__, recording.copied_deeply),
    *[(f, recording.listed) for f in (np.ndarray.tolist, np.ndarray.item, np.generic.tolist, np.generic.item)],
)


def handles_records(function: Any, values: Any) -> bool:
    """Whether a function is known for structured arrays: it moves their records, makes a list, or reads a view."""
    known = type(function) is functools.partial or id(function) in _HANDLED
    return known and any(map(_has_records, values))


_HANDLED: Final = frozenset(map(id, (*MOVING, *COPYING, *dict(_DEFINED))))


def _has_records(value: Any) -> bool:
    if type(value) in (list, tuple):
        return any(map(is_records, value))
    return is_records(value) or isinstance(value, np.void) and value.dtype.names is not None


def call_on_records(alg: Algebra, t: Any, function: Any, args: Args, kwargs: Kwargs) -> Result:
    """A call of such a function, with tokens."""
    if isinstance(args[0], np.void):
        array = record_in_array(args[0])
        if array is None or id(args[0]) in alg.losses:
            return call_opaque(alg, t, function, args, kwargs, "which was given a record that is in no array")
        if any(function is f for f in COPYING):
            copied = call_moving(alg, np.ndarray.copy, (array,), {})[0]
            return copied[()], None
        args = (array, *args[1:])
    for known, definition in _DEFINED:
        if function is known:
            return apply(alg, (None, *t), definition, args, kwargs)
    return call_moving(alg, function, args, kwargs)


def call_moving(alg: Algebra, function: Any, args: Args, kwargs: Kwargs) -> Result:
    """A call of such a function, with tokens."""
    value = function(*args, **kwargs)
    if isinstance(value, np.void):
        made = np.array(value)
        apply(alg, (None,) * 5, recording.move_records, (made, function, args, kwargs), {})
        return made[()], None
    roots = {id(root_of(x)) for arg in args for x in (arg if type(arg) in (list, tuple) else [arg]) if is_records(x)}
    if not is_records(value) or id(root_of(value)) in roots:
        return value, token_in_memory(alg, value) if kind_of(type(value)) == "array" else None
    apply(alg, (None,) * 5, recording.move_records, (value, function, args, kwargs), {})
    return value, None


def makes_records(function: Any, args: Args, kwargs: Kwargs) -> bool:
    """Whether a call makes an array of records of what is none."""
    if not any(function is f for f in (np.array, np.asarray, np.asanyarray)) or _has_records(args[0]):
        return False
    dtype = args[1] if len(args) > 1 else kwargs.get("dtype")
    return dtype is not None and asked_dtype(dtype).names is not None


def asked_dtype(asked: Any) -> Any:
    """What a ``dtype=`` stands for; ``np.dtype`` takes the classes in ``np.dtypes`` for any others."""
    made: Any = asked
    if isinstance(asked, type) and issubclass(asked, np.dtype):
        made = made()
    return np.dtype(made)


def made_records(alg: Algebra, t: Any, function: Any, args: Args, kwargs: Kwargs) -> Result:
    """A call that does, with tokens."""
    value = function(*args, **kwargs)
    store_records(alg, (None, None, t[0]), value, ..., args[0])
    return value, None


_SHOWS: Final = "which shows memory past what derivatives follow"


@means(np.ndarray.getfield)
def getfield(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``array.getfield(dtype, offset)``: a view."""
    if not is_records(args[0]):
        return call_opaque(alg, t, np.ndarray.getfield, args, kwargs, _SHOWS)
    value = np.ndarray.getfield(*args, **kwargs)
    return value, token_in_memory(alg, value) if t[0] is None else lose(alg, value, t[0])


@means(np.ndarray.setfield)
def setfield(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``array.setfield(value, dtype, offset)``."""
    array, value, *rest = args
    if not is_records(array):
        return call_opaque(alg, t, np.ndarray.setfield, args, kwargs, _SHOWS)
    field = np.ndarray.getfield(plain(array), *rest, **kwargs)
    apply(alg, (None, None, t[1]), recording.store_whole, (field, value), {})
    return None, None


@means(np.void.getfield)
def getfield_of_record(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``record.getfield(dtype, offset)``."""
    value = np.void.getfield(*args, **kwargs)
    array = record_in_array(args[0])
    if array is None or isinstance(value, np.void):
        return value, None
    field = np.ndarray.getfield(array, *args[1:], **kwargs)
    return value, _of_field(alg, field, value)


@means(np.void.setfield)
def setfield_of_record(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``record.setfield(value, dtype, offset)``."""
    record, value, *rest = args
    array = record_in_array(record)
    if array is None:
        raise array_mutation("this store writes to a record of its own, not in")
    field = np.ndarray.getfield(array, *rest, **kwargs)
    apply(alg, (None, None, t[1]), recording.store_whole, (field, value), {})
    return None, None
