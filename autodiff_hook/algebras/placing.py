"""Where the elements of an array lie in a buffer whose tangents are an array of numbers, one for each of its units.

The tangents of an array of numbers have its shape. A buffer of records has a flat array of them, one for each place
where an element may begin, of which a complex number takes two; complex numbers are seen as their parts where an array
sees them so.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from autodiff_hook.runtime.losses import array_mutation
from autodiff_hook.semantics.library import IN_TWO_PLACES

FLOATING: Final = "fc"


def buffer_type(root: Any) -> Any:
    """The dtype of the tangents of a buffer, and of its cotangents at second order."""
    return root.dtype if root.dtype.kind in FLOATING else np.dtype(float)


def buffer_shape(root: Any) -> tuple[int, ...]:
    """The shape of the tangents of a buffer."""
    return (root.nbytes // unit_of(root.dtype),) if root.dtype.names is not None else root.shape


def unit_of(dtype: Any) -> int:
    """The distance of two places where an element of a buffer may begin."""
    return math.gcd(dtype.itemsize, *[math.gcd(place, _length(leaf)) for leaf, place in leaves_of(dtype)])


def _length(leaf: Any) -> int:
    """Of a number; of a complex one, that of a part."""
    return int(leaf.itemsize) // (2 if leaf.kind == "c" else 1)


def leaves_of(dtype: Any, place: int = 0) -> list[tuple[Any, int]]:
    """The numbers in a record, each with its distance from the beginning of the record."""
    if dtype.names is not None:
        fields = [dtype.fields[name] for name in dtype.names]
        return [found for kind, offset, *_ in fields for found in leaves_of(kind, place + offset)]
    return [(dtype.base, place)]


def is_other_field(root: Any, array: Any) -> bool:
    """Whether an array shows a field of records that holds nothing with a derivative: small whole numbers, texts."""
    return root.dtype.names is not None and array.dtype.kind not in FLOATING and array.dtype != np.int64


def seen_as(root: Any, dtype: Any) -> Any:
    """As which dtype the tangents of a buffer are seen through an array of ``dtype``; None if as they are."""
    if root.dtype.names is not None:
        if dtype.kind != "c":
            return None
        if unit_of(root.dtype) != _length(dtype):
            raise array_mutation("a view of complex numbers in records with shorter numbers goes to")
        return IN_TWO_PLACES
    if dtype.itemsize == root.itemsize:
        return None
    if {root.dtype, dtype} in PARTS_OF_COMPLEX:
        return dtype
    raise array_mutation("a view with another item size goes to")


PARTS_OF_COMPLEX: Final = ({np.dtype("f8"), np.dtype("c16")}, {np.dtype("f4"), np.dtype("c8")})
"""Complex numbers and their parts: arrays of the ones may be seen as of the others."""


class Placement:
    """Where an array lies in the buffer that it views, which is asked only if something is stored there."""

    __slots__ = ("dtype", "offset", "shape", "strides")

    def __init__(self, root: Any, array: Any) -> None:
        self.offset = array.__array_interface__["data"][0] - root.__array_interface__["data"][0]
        self.dtype, self.shape, self.strides = array.dtype, array.shape, array.strides

    def places(self, root: Any) -> Any:
        """For each element its index in the tangents of ``root``, seen as ``seen_as`` says."""
        kind = seen_as(root, self.dtype)
        unit = unit_of(root.dtype) if root.dtype.names is not None else self.dtype.itemsize
        places = np.full(self.shape, self.offset // unit)
        for axis, (length, stride) in enumerate(zip(self.shape, self.strides)):
            places += (np.arange(length) * (stride // unit)).reshape((-1,) + (1,) * (len(self.shape) - axis - 1))
        if root.flags.c_contiguous or root.flags.f_contiguous and root.dtype.names is not None:
            return places
        if kind is not None or root.dtype.names is not None:
            raise array_mutation("a view with another item size goes to")
        in_memory = np.empty_like(root, int)
        in_memory[...] = np.arange(root.size).reshape(root.shape)
        return in_memory.ravel(order="K")[places]


def places_in(root: Any, array: Any) -> Any:
    """For each element of ``array`` its index in the tangents of ``root``, whose buffer it views."""
    return Placement(root, array).places(root)
