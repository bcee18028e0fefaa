"""The pullbacks of what reads and writes the versions of a buffer."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from autodiff_hook.algebras.placing import FLOATING
from autodiff_hook.algebras.restoring import Memory
from autodiff_hook.runtime.buffers import Scatter, add_at, byte_bounds, dense, is_fancy, lender_of, overlaps_itself
from autodiff_hook.semantics.library import lasting

_WHOLE: Final = "iub"
_EIGHT: Final = np.dtype(float).itemsize


class Layout:
    """Where the elements of an array lie in a buffer, and what their cotangents are."""

    __slots__ = ("_lender", "_numbers", "_steps", "dtype", "length", "offset", "shape", "shared", "shown", "strides")

    def __init__(self, root: Any, array: Any) -> None:
        if array is root and root.flags.c_contiguous:
            self.length, self.offset = root.nbytes, 0
        else:
            low, high = byte_bounds(root)
            self.length, self.offset = high - low, array.__array_interface__["data"][0] - low
        self.shape, self.strides, self._steps = array.shape, array.strides, array.strides
        self.shared = overlaps_itself(array)
        self.shown = array.dtype
        self.dtype = _cotangent_type(array.dtype)
        if array.itemsize < _EIGHT and root.dtype == array.dtype and array.dtype.kind in _WHOLE:
            self._widen(_EIGHT // array.itemsize)
        self._lender: Any = self
        self._numbers: bool | None = None

    def _widen(self, times: int) -> None:
        """Leave eight bytes for the cotangent of each element, which has fewer."""
        self.length, self.offset = self.length * times, self.offset * times
        self._steps = tuple([stride * times for stride in self.strides])
        self.dtype = np.dtype(float)

    def of(self, memory: Any) -> Any:
        """The elements in the cotangent of the buffer."""
        return np.ndarray(self.shape, self.dtype, memory, self.offset, self._steps)

    def overlaps(self) -> bool:
        """Whether elements share memory."""
        return self.shared

    def takes_numbers(self, array: Any) -> bool:
        """Whether the array is one of floats by one index, in memory of its own."""
        if self._numbers is None:
            plain = self.shown.char == "d" and len(self.shape) == 1 and not self.shared
            self._numbers = plain and self.lender(array) is None
        return self._numbers

    def lender(self, array: Any) -> Any:
        """What has lent its memory to the array, and may go on using it; None if nothing has."""
        if self._lender is self:
            self._lender = lender_of(array)
        return self._lender


def _cotangent_type(dtype: Any) -> Any:
    """None for elements that have no cotangent."""
    if dtype.kind in FLOATING:
        return dtype
    # References to numbers, too, have eight bytes each.
    return np.dtype(float) if dtype.kind in "iuO" and dtype.itemsize == _EIGHT else None


class BufferCotangent:
    """The cotangent of all of a buffer, changed in place."""

    __slots__ = ("_layout", "_view", "memory")

    def __init__(self, length: int) -> None:
        self.memory = np.zeros(length, np.uint8)
        self._layout: Layout | None = None
        self._view: Any = None

    def of(self, layout: Layout) -> Any:
        """The cotangent of an array in the buffer, as a view."""
        if layout is not self._layout:
            self._view = layout.of(self.memory)
            self._layout = layout
        return self._view

    def add(self, layout: Layout, key: Any, cotangent: Any) -> None:
        """Add to the elements ``key`` of an array in the buffer."""
        whole = self.of(layout)
        cotangent = dense(cotangent)
        if layout.overlaps():
            np.add.at(whole, key, np.real(cotangent) if whole.dtype.kind != "c" else cotangent)
        else:
            add_at(whole, key, cotangent)

    def add_whole(self, other: BufferCotangent) -> None:
        """Add the cotangent of the same buffer that came another way: from what went on with the same version."""
        layout = self._layout or other._layout
        assert layout is not None, "made by what adds to it"
        real = np.dtype(f"f{layout.dtype.itemsize // 2}") if layout.dtype.kind == "c" else layout.dtype
        whole = self.memory.view(real)
        whole += other.memory.view(real)


class Reading:
    """What a read of a buffer adds to its cotangent."""

    __slots__ = ("cotangent", "key", "layout")

    def __init__(self, layout: Layout, key: Any, cotangent: Any) -> None:
        self.layout, self.key, self.cotangent = layout, key, cotangent

    def added_to(self, before: BufferCotangent | None) -> BufferCotangent:
        """The sum of what is there and this."""
        found = BufferCotangent(self.layout.length) if before is None else before
        found.add(self.layout, self.key, self.cotangent)
        return found


class Read:
    """The pullback of a read of a buffer."""

    __slots__ = ("key", "layout")

    def __init__(self, layout: Layout, key: Any) -> None:
        self.layout, self.key = layout, key

    def __call__(self, cotangent: Any) -> Any:
        return (Reading(self.layout, self.key, cotangent),)


class Begun:
    """The pullback of the first version of a buffer: the cotangent of the array that it was made as."""

    __slots__ = ("layout",)

    def __init__(self, layout: Layout) -> None:
        self.layout = layout

    def __call__(self, cotangent: BufferCotangent) -> Any:
        return (cotangent.of(self.layout).copy(),)


class Storing:
    """The pullback of ``array[key] = value``."""

    __slots__ = ("array", "content", "key", "layout", "memory", "shape")

    def __init__(self, memory: Memory, array: Any, key: Any, shape: Any, layout: Layout, content: Any) -> None:
        self.memory, self.key, self.shape = memory, key, shape
        self.layout, self.content = layout, content
        self.array = None if content is None else array

    def __call__(self, cotangent: BufferCotangent | None) -> Any:
        if self.content is not None:
            self.memory.put_back(self.array, self.key, self.content)
        if cotangent is None:
            return None, None
        whole = cotangent.of(self.layout)
        if self.shape is None:
            whole[self.key] = 0
            return cotangent, None
        if self.shape == () and type(self.key) is int and whole.ndim == 1:
            number = whole.item(self.key)
            whole[self.key] = 0
            return cotangent, number
        taken = np.array(whole[self.key])
        if is_fancy(self.key):
            taken = taken * lasting(np.arange(whole.size).reshape(whole.shape)[self.key])
        whole[self.key] = 0
        return cotangent, unbroadcast(taken, self.shape)


class StoringNumber:
    """The pullback of ``array[index] = number`` of a one-dimensional array that no pullback holds."""

    __slots__ = ("index", "layout")

    def __init__(self, layout: Layout, index: int) -> None:
        self.layout, self.index = layout, index

    def __call__(self, cotangent: BufferCotangent) -> Any:
        whole = cotangent.of(self.layout)
        number = whole.item(self.index)
        whole[self.index] = 0.0
        return cotangent, number


class Reshaped:
    """The pullback of ``array.shape = shape``: pullbacks of what came before find the array as it was."""

    __slots__ = ("array", "memory", "shape")

    def __init__(self, memory: Memory, array: Any, shape: tuple[int, ...]) -> None:
        self.memory, self.array, self.shape = memory, array, shape

    def __call__(self, cotangent: BufferCotangent | None) -> Any:
        self.memory.reshape(self.array, self.shape)
        return (cotangent,)


class Overwritten:
    """The pullback of what native code may have written."""

    __slots__ = ("layout", "unknown")

    def __init__(self, layout: Layout, unknown: Any) -> None:
        self.layout, self.unknown = layout, unknown

    def __call__(self, cotangent: BufferCotangent) -> Any:
        if cotangent.of(self.layout).any():
            self.unknown(cotangent)
        return (cotangent,)


class Part:
    """The pullback of ``array[key]`` of an array that nothing was stored into."""

    __slots__ = ("dtype", "key", "shape")

    def __init__(self, array: Any, key: Any) -> None:
        self.shape, self.key = array.shape, key
        self.dtype = array.dtype if array.dtype.kind in FLOATING else np.dtype(float)

    def __call__(self, cotangent: Any) -> Any:
        return (Scatter(self.shape, self.dtype, (self.key, dense(cotangent))),)


def unbroadcast(cotangent: Any, shape: tuple[int, ...]) -> Any:
    """The cotangent of what was broadcast."""
    lead = cotangent.ndim - len(shape)
    axes = [i for i, length in enumerate(shape, lead) if length == 1 and i >= 0 and cotangent.shape[i] != 1]
    given = cotangent.sum((*range(max(lead, 0)), *axes)).reshape(shape) if cotangent.shape != shape else cotangent
    return given if shape else given[()]
