"""``array.array`` and ``bytearray``: whose memory NumPy arrays and memoryviews may show as well."""

from __future__ import annotations

from array import array
from typing import Any


def is_typed_array(value: Any) -> bool:
    """Whether ``value`` is an ``array.array``, not of a class derived from it."""
    return type(value) is array


def is_shown(owner: array[Any] | bytearray) -> bool:
    """Whether others look into the memory of an array: then its length cannot change, as CPython says."""
    try:
        owner.append(owner[0] if owner else 0)
    except BufferError:
        return True
    owner.pop()
    return False
