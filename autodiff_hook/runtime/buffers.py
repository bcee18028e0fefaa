"""The memory of arrays: whose it is, where a view lies in it, and cotangents of parts."""

from __future__ import annotations

import gc
import sys
from mmap import mmap
from typing import Any, Final

import numpy as np

from autodiff_hook.registry import writes
from autodiff_hook.runtime.kinds import kind_of

_WRITEABLE: Final = 0x400
"""A flag of arrays, in NumPy's C API."""


def is_writeable(array: Any) -> bool:
    """``array.flags.writeable``; of some arrays that are, those of ``np.broadcast_arrays``, NumPy warns at a look."""
    return bool(array.flags.num & _WRITEABLE)


def root_of(array: Any) -> Any:
    """The array that owns the buffer of ``array``, or has it from what is not an array."""
    while True:
        base = array.base
        if base is not None and not isinstance(base, np.ndarray):
            base = _array_behind(array, base)
        if not isinstance(base, np.ndarray):
            return array
        array = base


def _array_behind(array: Any, base: Any) -> Any:
    """The array whose memory is handed on by ``base``, which is not an array; None if there is none."""
    if type(base) is memoryview:
        return base.obj
    if type(base) is np.nditer:
        return next((x for x in operands_of(base) if np.may_share_memory(x, array)), None)
    return getattr(base, "base", None)


def operands_of(iterator: Any) -> tuple[Any, ...]:
    """The arrays that a ``np.nditer`` hands out parts of; none after its end."""
    try:
        operands: tuple[Any, ...] = iterator.operands
    except ValueError:
        return ()
    return operands


def lender_of(array: Any) -> Any:
    """What is not an array, has lent its memory to ``array``, and may go on using it; None if nothing has."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    base = array.base
    if type(base) is np.nditer:
        return base
    base = root_of(array).base
    owned = type(base).__name__ == "PyCapsule" and "dltensor" not in repr(base)
    return None if owned or isinstance(base, mmap) or _holders(base) == _ALONE else base


def _holders(base: Any) -> list[int] | None:
    """How many references there are to a view of bytes, to what it shares with other views, and to the bytes.

    None for what is no such view.
    """
    if type(base) is not memoryview or type(base.obj) is not bytearray:
        return None
    return [sys.getrefcount(base), sys.getrefcount(base.obj), *map(sys.getrefcount, gc.get_referents(base))]


def _holders_of_new() -> list[int] | None:
    array: Any = np.frombuffer(bytearray(8))
    base = array.base
    return _holders(base)


_ALONE: Final = _holders_of_new()
"""The references if an array has the bytes for itself, as those have that were pickled."""


writes(lender_of)  # to nothing: it is asked while tangents are carried, which second derivatives differentiate


def byte_bounds(array: Any) -> tuple[int, int]:
    low = high = array.__array_interface__["data"][0]
    for length, stride in zip(array.shape, array.strides):
        if stride < 0:
            low += (length - 1) * stride
        else:
            high += max(length - 1, 0) * stride
    return low, high + array.dtype.itemsize


def overlaps_itself(array: Any) -> bool:
    """Whether two elements of an array may share memory."""
    if array.size == 0 or array.flags.c_contiguous:
        return False
    if any(stride == 0 and length > 1 for stride, length in zip(array.strides, array.shape)):
        return True
    low, high = byte_bounds(array)
    return bool(array.size * array.dtype.itemsize > high - low)


def frozen_key(key: Any) -> Any:
    """An index that later stores cannot change."""
    if isinstance(key, tuple):
        return tuple(frozen_key(k) for k in key)
    if isinstance(key, np.ndarray):
        return key.copy()
    return list(key) if isinstance(key, list) else key


class Scatter:
    """The cotangent of an array of which parts were read, made dense once."""

    __slots__ = ("dtype", "parts", "shape")
    __array_ufunc__ = None

    def __init__(self, shape: tuple[int, ...], dtype: Any, *parts: tuple[Any, Any]) -> None:
        self.shape, self.dtype = shape, dtype
        self.parts = list(parts)
        """Keys, and what is added there, which may be another one as a whole."""

    def __add__(self, other: Any) -> Any:
        return Scatter(self.shape, self.dtype, (..., self), (..., other))

    __radd__ = __add__

    def take(self, other: Scatter) -> None:
        """Add another one in place."""
        self.parts += other.parts

    def dense(self) -> Any:
        """The array that this stands for."""
        whole = np.zeros(self.shape, self.dtype)
        stack: list[Any] = [self]
        while stack:
            for key, cotangent in stack.pop().parts:
                if type(cotangent) is Scatter:
                    stack.append(cotangent)
                else:
                    add_at(whole, key, cotangent)
        return whole


def add_at(whole: Any, key: Any, cotangent: Any) -> None:
    """Add to a part of an array."""
    if type(key) is int and isinstance(cotangent, float):
        whole[key] += cotangent
    elif is_fancy(key):
        np.add.at(whole, key, _like(whole, cotangent))
    else:
        whole[key] += _like(whole, cotangent)


def _like(whole: Any, cotangent: Any) -> Any:
    """A cotangent that may be added to ``whole``: the real part, if that is real."""
    return cotangent.real if whole.dtype.kind != "c" and np.asarray(cotangent).dtype.kind == "c" else cotangent


def dense(cotangent: Any) -> Any:
    """A cotangent as rules want it."""
    return cotangent.dense() if type(cotangent) is Scatter else cotangent


def is_fancy(key: Any) -> bool:
    """Whether a key may name an element twice."""
    return any(kind_of(type(k)) in ("array", "list") for k in (key if isinstance(key, tuple) else (key,)))


def address_of(array: Any) -> int:
    """Where an array begins in memory."""
    found: int = array.__array_interface__["data"][0]
    return found
