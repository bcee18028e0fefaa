"""Arrays with parts: the fields of structured arrays and of records in them, the elements of arrays of objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from autodiff_hook.tangent import Tangent

Form = Callable[[Any], str]

PARTED: Final = frozenset({"records", "objects"})


def record_in_array(record: Any) -> Any:
    """The array without dimensions that a record is in; None if it is in none."""
    array = record.base
    if not isinstance(array, np.ndarray):
        return None
    distance = record.__array_interface__["data"][0] - array.__array_interface__["data"][0]
    if array.ndim == 1:
        place: Any = distance // array.strides[0]
    elif array.flags.c_contiguous:
        place = np.unravel_index(distance // array.itemsize, array.shape)
    else:
        steps = [np.arange(n) * stride for n, stride in zip(array.shape, array.strides)]
        place = tuple(np.argwhere(sum(np.ix_(*steps)) == distance)[0])
    found = array.view(np.ndarray)[(*place, ...) if isinstance(place, tuple) else (place, ...)]
    return found if found.dtype == record.dtype else found.view(record.dtype)


def array_of(value: Any) -> Any:
    """The array without dimensions that a record is in; what is an array as it is."""
    return record_in_array(value) if issubclass(type(value), np.void) else value


def parted_form(value: Any, form_of: Form) -> str:
    """How the gradient of an array of what are no numbers looks: inert, if no part of it has one."""
    if value.dtype.names is not None:
        return "records" if array_of(value) is not None and fields_of(value, form_of) else "inert"
    return "objects" if value.dtype.kind == "O" and any(form_of(x) != "inert" for x in value.flat) else "inert"


def fields_of(records: Any, form_of: Form) -> list[tuple[str, Any]]:
    """The fields of a structured array that have derivatives, as views: what holds whole numbers or text has none."""
    plain = array_of(records).view(np.ndarray)
    views = [(name, plain[name]) for name in plain.dtype.names]
    return [(name, view) for name, view in views if view.dtype.kind not in "iu" and form_of(view) != "inert"]


def elements_of(objects: Any) -> list[tuple[tuple[int, ...], Any]]:
    """The elements of an array of objects, by their indices."""
    return list(np.ndenumerate(objects.view(np.ndarray)))


def blank(value: Any, form_of: Form) -> Any:
    """An array for the gradients of the parts of ``value``: of its shape, with the fields that have derivatives."""
    return np.empty(value.shape, np.dtype(object) if value.dtype.names is None else _blank_type(value, form_of))


def _blank_type(records: Any, form_of: Form) -> Any:
    rows = []
    for name, part in fields_of(records, form_of):
        held = part.dtype if part.dtype.names is None else _blank_type(part, form_of)
        rows.append((name, held, part.shape[records.ndim :]))
    return np.dtype(rows)


def part_at(tree: Any, key: Any) -> Any:
    """What a gradient, cotangent or tangent has for a part; None if it leaves that out."""
    if isinstance(tree, (np.ndarray, np.void)):
        return tree[key] if tree.dtype.names is None or key in tree.dtype.names else None
    return (tree._fields if isinstance(tree, Tangent) else tree).get(key)
