"""Python code for what NumPy does with structured arrays: stores and copies, field by field."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np


def store_record(array: Any, key: Any, value: Any) -> None:
    """``array[key] = value`` of records: what is given is taken by position, one number for all fields."""
    names = array.dtype.names
    if isinstance(key, str) or isinstance(key, list) and key and isinstance(key[0], str):
        store_whole(array[key], value)
        return
    rows = isinstance(value, list)
    one = first_row(value) if rows else value
    if isinstance(one, tuple) and len(one) != len(names):
        raise ValueError(f"could not assign tuple of length {len(one)} to structure with {len(names)} fields.")
    for place, name in enumerate(names):
        field = array[name]
        part = column(value, place) if rows else field_of(value, place)
        if field.dtype.names is None:
            field[key] = part
        else:
            store_record(field, key, part)


def store_whole(array: Any, value: Any) -> None:
    """``array[...] = value``, of records or numbers."""
    if array.dtype.names is None:
        array[...] = value
    else:
        store_record(array, ..., value)


def field_of(value: Any, place: int) -> Any:
    """What a value has for one field."""
    if isinstance(value, np.ndarray) and value.dtype.names is not None:
        return value[value.dtype.names[place]]
    return value[place] if isinstance(value, (tuple, np.void)) else value


def first_row(rows: Any) -> Any:
    """The first record in nested lists of such."""
    return first_row(rows[0]) if isinstance(rows, list) else rows


def column(rows: Any, place: int) -> Any:
    """What nested lists of records have for one field."""
    return [column(row, place) if isinstance(row, list) else field_of(row, place) for row in rows]


def copy_records(made: Any, array: Any, key: Any) -> None:
    """Fill ``made`` with what is at ``key`` of an array of records."""
    for name in made.dtype.names:
        if made.dtype[name].names is None:
            made[name][...] = array[name][key]
        else:
            copy_records(made[name], array[name], key)


def sorted_records(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    """``np.sort`` of records."""
    places = np.argsort(a, axis, kind, order, stable=stable)
    if places.ndim == 1:
        return (np.ravel(a) if axis is None else a)[places]
    made = np.empty_like(a)
    move_records(made, np.take_along_axis, (a, places, axis), {})
    return made


def records_as(array: Any, dtype: Any, *options: Any, **named: Any) -> Any:
    """``array.astype(dtype)`` of records: fields keep their places."""
    made = np.empty(array.shape, dtype)
    made[...] = array
    return made


def listed(array: Any, *args: Any) -> Any:
    """``array.tolist()`` of records, and ``array.item()``: tuples of Python's numbers."""
    if args:
        return listed(array.flat[args[0]] if len(args) == 1 and isinstance(args[0], int) else array[args])
    if np.ndim(array):
        return [listed(array[place, ...]) for place in range(len(array))]
    values = []
    for name in array.dtype.names:
        field = array[name]
        values.append(listed(field) if field.dtype.names is not None else field if field.ndim else field.item())
    return tuple(values)


def copied_deeply(array: Any, memo: Any) -> Any:
    """``copy.deepcopy`` of records."""
    made = np.empty_like(array)
    for name in array.dtype.names:
        field = array[name]
        made[name][...] = copy.deepcopy(field, memo) if field.dtype.hasobject else field
    return made


def move_records(made: Any, function: Any, args: Any, kwargs: Any) -> None:
    """Fill ``made`` with what a function that only moves elements makes of arrays of records."""
    for place, name in enumerate(made.dtype.names):
        parts = [fields_in(value, place) for value in args]
        made[name][...] = function(*parts, **kwargs)


def fields_in(value: Any, place: int) -> Any:
    """The arguments of such a function, of one field alone."""
    if isinstance(value, (list, tuple)) and any([isinstance(x, np.ndarray) for x in value]):
        return [fields_in(x, place) for x in value]
    return field_of(value, place) if isinstance(value, np.ndarray) else value
