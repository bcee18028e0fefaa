"""Stores of what shows the memory that is stored into: where NumPy overwrites elements before it has read them.

It makes a copy where it stores along several axes, by arrays of places, and in its ufuncs; along one axis (2.4) it
only chooses at which end to begin, which is enough if both step alike. ``array.flat`` always begins at the first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.runtime.losses import plain


def require_read_first(array: Any, key: Any, value: Any) -> None:
    """Raise for ``array[key] = value`` if that stores something else than what ``value`` was."""
    array, value = plain(array), plain(value)
    part = array[key] if np.may_share_memory(array, value) else None
    if not isinstance(part, np.ndarray) or part.ndim != 1 or value.size < 2 or not np.may_share_memory(part, value):
        return
    step, other = part.strides[0], value.strides[-1]
    if step * other <= 0 or step == other:
        return
    written, read = addresses(part).ravel(), addresses(value).ravel()
    if step < 0:
        written, read = written[::-1], read[::-1]
    if read[0] < written[0] < read[-1] + abs(other):
        written, read = written[::-1], read[::-1]
    _require(written, read, array.itemsize)


def require_read_first_of_flat(array: Any, places: Any, value: Any) -> None:
    """The same of ``array.flat[places] = value``."""
    array, shown = plain(array), np.asarray(value)
    if np.may_share_memory(array, shown):
        written = addresses(array).ravel()[places].ravel()
        _require(written, np.resize(addresses(shown), written.shape), array.itemsize)


def require_apart(array: Any, value: Any) -> None:
    """Raise if ``array``, which is written to piece by piece, shows memory of ``value``."""
    if isinstance(value, np.ndarray) and np.may_share_memory(plain(array), plain(value)):
        raise _overwritten()


def in_pieces(function: Any) -> bool:
    """Whether a function reads what it is given while it writes its result."""
    return function is np.concatenate or function is np.stack


def addresses(array: Any) -> Any:
    """Where each element of an array is."""
    found = np.full(array.shape, array.__array_interface__["data"][0])
    for axis, (length, stride) in enumerate(zip(array.shape, array.strides)):
        found += (np.arange(length) * stride).reshape(-1, *[1] * (array.ndim - axis - 1))
    return found


def _require(written: Any, read: Any, itemsize: int) -> None:
    """Raise if something is read after it was written, where elements are written and read in turn."""
    if not written.size:
        return
    if (written[0] - read[0]) % itemsize:
        raise _overwritten()
    first_written, writes = np.unique(written, return_index=True)
    last_read, reads = np.unique(read[::-1], return_index=True)
    _, i, j = np.intersect1d(first_written, last_read, assume_unique=True, return_indices=True)
    if np.any(writes[i] < len(read) - 1 - reads[j]):
        raise _overwritten()


def _overwritten() -> NotDifferentiable:
    return NotDifferentiable(
        "this overwrites elements before it has read them, since it writes into memory that it reads: the result "
        "is not that of what was there. Remedy: give it a copy (x.copy())"
    )
