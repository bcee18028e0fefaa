"""Arrays that are written to.

An array is a value, with its cotangent on the edges of the program, until something is stored into its
buffer. From then on what is read from the buffer, through whatever view, gives its cotangent to the
*shadow* of the buffer, in which each store backwards takes out what was stored. What is left there when
the reverse sweep comes to where the buffer was made is added to the cotangent of that value.

A store into a buffer that pullbacks hold keeps what it overwrites. The reverse sweep puts it back when it
passes the store, so each pullback finds the content it was made with; at its end the sweep restores memory.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from itertools import starmap
from mmap import mmap
from operator import setitem
from typing import Any, Final, TypeVar

import numpy as np

from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.registry import writes
from autodiff_hook.runtime.kinds import kind_of

T = TypeVar("T")
_FLOATING: Final = "fc"
_OTHER_SIZE: Final = "a view with another item size than its buffer, which was written to, is not differentiated"


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
    return None if owned or isinstance(base, mmap) else base


writes(lender_of)  # to nothing: it is asked while tangents are carried, which second derivatives differentiate


class Buffers:
    """What a forward pass knows of buffers: held by pullbacks, stored to, and by what they were made."""

    __slots__ = ("arguments", "held", "makers", "overwritten", "stored")

    def __init__(self) -> None:
        self.arguments: dict[int, Any] = {}
        self.overwritten = False
        """Whether something is kept that a reverse sweep puts back for a while."""
        self.held: dict[int, Any] = {}
        self.stored: dict[int, Any] = {}
        self.makers: dict[int, tuple[Any, Any, Any]] = {}

    def hold(self, array: Any) -> None:
        """A pullback holds ``array``."""
        root = root_of(array)
        self.held[id(root)] = root

    def given(self, array: Any) -> None:
        """``array`` is in an argument, under whatever other name the program may know it."""
        root = root_of(array)
        self.held[id(root)] = self.arguments[id(root)] = root

    def is_argument(self, array: Any) -> bool:
        """Whether the buffer of ``array`` is in an argument."""
        return bool(self.arguments) and id(root_of(array)) in self.arguments

    def is_held(self, array: Any) -> bool:
        """Whether a pullback holds the buffer of ``array``."""
        return bool(self.held) and id(root_of(array)) in self.held

    def is_stored(self, array: Any) -> bool:
        """Whether the cotangent of ``array`` is in the shadow of its buffer."""
        return bool(self.stored) and id(root_of(array)) in self.stored

    def may_hold(self, value: Any) -> bool:
        """Whether a value is an array whose cotangent is in the shadow of its buffer."""
        return bool(self.stored) and kind_of(type(value)) == "array" and id(root_of(value)) in self.stored

    def made(self, array: Any, maker: Any, place: Any) -> None:
        """``array`` is (part ``place`` of) the result of the call whose pullback is ``maker``."""
        root = root_of(array)
        known = self.makers.get(id(root))
        if known is None or known[0]() is not root:
            self.makers[id(root)] = (weakref.ref(root), maker, (place, array if array is not root else None))

    def is_known(self, array: Any) -> bool:
        """Whether what is in the buffer of ``array`` gets its cotangent, also after a store."""
        root = root_of(array)
        known = self.makers.get(id(root))
        made = known is not None and known[0]() is root
        return made or id(root) in self.arguments or id(root) in self.stored

    def store(self, array: Any) -> None:
        """Something is stored into ``array``: its maker will look into the shadow."""
        root = root_of(array)
        if _overlaps_itself(array):
            raise NotDifferentiable("a store into a view whose elements share memory is not differentiated")
        if id(root) not in self.stored and root.dtype.itemsize != array.dtype.itemsize:
            raise NotDifferentiable(
                "a store through a view with another item size than its buffer is not differentiated"
            )
        lender = lender_of(array)
        if lender is not None:
            raise NotDifferentiable(
                f"a store into memory that belongs to a {type(lender).__qualname__}, which others may use, is not "
                f"differentiated; make an array of your own of it (np.array)"
            )
        self.lose(root)

    def lose(self, array: Any) -> None:
        """Nobody knows what is in ``array`` from now on: it has been handed to code that may have written to it."""
        root = root_of(array)
        if id(root) in self.stored:
            return
        self.stored[id(root)] = root
        known = self.makers.get(id(root))
        if known is not None and known[0]() is root:
            place, view = known[2]
            known[1].collect(place, root if view is None else view)


class Shadows:
    """The shadows of buffers in one reverse sweep, and the log of what it put back into memory."""

    __slots__ = ("_taking_back", "flat", "redo")

    def __init__(self) -> None:
        self.flat: dict[int, tuple[Any, Any, int]] = {}
        self.redo: list[tuple[Any, Any, Any] | None] = [None]
        self._taking_back = starmap(setitem, iter(self.redo.pop, None))
        """Writes what ``redo`` has, the last first, and ends at the None that it begins with."""

    def view(self, array: Any, create: bool = False) -> Any:
        """The cotangent of ``array`` as a view of the shadow of its buffer; None if there is none."""
        root = root_of(array)
        entry = self.flat.get(id(root))
        if entry is None:
            if not create:
                return None
            low, high = _bounds(root)
            dtype = root.dtype if root.dtype.kind in _FLOATING else np.dtype(float)
            shadow = np.zeros((high - low) // root.dtype.itemsize, dtype)
            entry = self.flat[id(root)] = (root, shadow, low)
        if array.dtype.itemsize != root.dtype.itemsize:
            raise NotDifferentiable(_OTHER_SIZE)
        return _same_view(array, entry[1], entry[2])

    def is_asked_for(self, array: Any) -> bool:
        """Whether a cotangent has come to ``array``, or to the buffer that it is a view of another kind of."""
        root = root_of(array)
        entry = self.flat.get(id(root))
        if entry is None:
            return False
        same = array.dtype.itemsize == entry[1].dtype.itemsize == root.dtype.itemsize
        return bool((_same_view(array, entry[1], entry[2]) if same else entry[1]).any())

    def add(self, array: Any, cotangent: Any) -> None:
        """Add to the cotangent of ``array``."""
        if cotangent is None:
            return
        view = self.view(array, create=True)
        if not _overlaps_itself(array):
            if type(cotangent) is Scatter:
                cotangent.add_to(view)
            else:
                view += _like(view, cotangent)
            return
        cotangent = _like(view, dense(cotangent))
        flat, places = self._places(array)
        np.add.at(flat, places, cotangent)

    def _places(self, array: Any) -> tuple[Any, Any]:
        """The shadow of a buffer, and where in it the elements of ``array`` are."""
        _, flat, low = self.flat[id(root_of(array))]
        return flat, _same_view(array, np.arange(flat.size), low, flat.dtype.itemsize)

    def take(self, array: Any) -> Any:
        """The cotangent of ``array``, which starts again from zero.

        What several elements of a view share, as those of ``np.broadcast_to`` do, is given to one of them.
        """
        view = self.view(array)
        if view is None:
            return None
        taken = view.copy()
        if _overlaps_itself(array):
            first = np.unique(self._places(array)[1], return_index=True)[1]
            others = np.ones(taken.size, bool)
            others[first] = False
            taken[others.reshape(taken.shape)] = 0
        view[...] = 0
        return taken

    def undo(self, array: Any, key: Any, content: Any) -> None:
        """Put overwritten content back."""
        target = self._writeable(array)
        self.redo.append((target, key, np.array(target[key])))
        target[key] = content

    def _writeable(self, array: Any) -> Any:
        """A plain array, for writing to the memory of ``array``."""
        if type(array) is np.ndarray and array.flags.writeable:
            return array
        plain, root = np.ndarray.view(array, np.ndarray), root_of(array)
        if not root.flags.writeable:
            self.redo.append((root.flags, "WRITEABLE", False))
            root.flags.writeable = True
        plain.flags.writeable = True
        return plain

    def take_back(self, count: int) -> None:
        """Leave memory as it was when ``redo`` had ``count`` entries: what a sweep undid since is done again."""
        while len(self.redo) > count:
            entry = self.redo[-1]
            assert entry is not None
            target, key, content = entry
            target[key] = content
            self.redo.pop()

    def swept(self, function: Callable[..., T], *args: Any) -> T:
        """What a reverse sweep gives; afterwards memory is as the program left it, also if the sweep was interrupted.

        CPython looks for signals between calls of Python code, not within one of C: that takes everything back.
        """
        try:
            try:
                return function(*args)
            finally:
                any(self._taking_back)
        finally:
            # For what stopped the program just before that call: a debugger may do so anywhere.
            any(self._taking_back)


def _bounds(array: Any) -> tuple[int, int]:
    low = high = array.__array_interface__["data"][0]
    for length, stride in zip(array.shape, array.strides):
        if stride < 0:
            low += (length - 1) * stride
        else:
            high += max(length - 1, 0) * stride
    return low, high + array.dtype.itemsize


def _same_view(array: Any, flat: Any, low: int, itemsize: int = 0) -> Any:
    """What ``array`` is of its buffer, of ``flat``."""
    own = flat.dtype.itemsize
    scale = itemsize or own
    if array.dtype.itemsize != scale:
        raise NotDifferentiable(_OTHER_SIZE)
    offset = (array.__array_interface__["data"][0] - low) // scale * own
    strides = tuple(stride // scale * own for stride in array.strides)
    if not array.size:
        return np.zeros(array.shape, flat.dtype)
    return np.ndarray(array.shape, flat.dtype, flat, offset, strides)


def _overlaps_itself(array: Any) -> bool:
    if array.size == 0 or array.flags.c_contiguous:
        return False
    if any(stride == 0 and length > 1 for stride, length in zip(array.strides, array.shape)):
        return True
    low, high = _bounds(array)
    return bool(array.size * array.dtype.itemsize > high - low)


def frozen_key(key: Any) -> Any:
    """An index that later stores cannot change."""
    if isinstance(key, tuple):
        return tuple(frozen_key(k) for k in key)
    if isinstance(key, np.ndarray):
        return key.copy()
    return list(key) if isinstance(key, list) else key


class ArrayStore:
    """Pullback of ``array[key] = value``, with the value as operand 2 of 3."""

    __slots__ = ("array", "content", "key", "shape", "source", "tracked")

    def __init__(
        self,
        array: Any,
        key: Any,
        shape: tuple[int, ...] | None,
        content: Any,
        tracked: bool,
        source: Any = None,
    ) -> None:
        self.array, self.key, self.shape, self.content, self.tracked = array, key, shape, content, tracked
        self.source = source

    def __call__(self, sweep: Any, cotangent: Any) -> tuple[Any, Any, Any] | None:
        shadows = sweep.buffers
        given = None
        view = shadows.view(self.array) if self.tracked else None
        if view is not None:
            taken = np.array(view[self.key])
            if self.shape is not None:
                given = sum_to_shape(winners(view, self.key, taken), self.shape)
            view[self.key] = 0
        if self.content is not None:
            shadows.undo(self.array, self.key, self.content)
        if self.source is not None:
            shadows.add(self.source, given)
            return None
        return None if given is None else (None, None, given)


def winners(view: Any, key: Any, taken: Any) -> Any:
    """``taken`` without the entries of repeated indices that later ones overwrote."""
    keys = key if isinstance(key, tuple) else (key,)
    if not any(isinstance(k, (list, np.ndarray)) and np.asarray(k).dtype.kind in "iu" for k in keys):
        return taken
    order = np.arange(taken.size).reshape(taken.shape)
    last = np.zeros(view.shape, int)
    last[key] = order
    return np.where(last[key] == order, taken, 0)


def sum_to_shape(cotangent: Any, shape: tuple[int, ...]) -> Any:
    """A cotangent summed over the axes along which a value of ``shape`` was broadcast."""
    lead = cotangent.ndim - len(shape)
    if lead < 0:
        return cotangent.reshape(shape)
    axes = tuple(range(lead)) + tuple(
        lead + i for i, length in enumerate(shape) if length == 1 and cotangent.shape[lead + i] != 1
    )
    summed = cotangent.sum(axis=axes, keepdims=True) if axes else cotangent
    result = summed.reshape(shape)
    return result[()] if shape == () else result


def is_whole(ctx: Any, array: Any) -> bool:
    """Whether an array holds whole numbers that may have derivatives: those of the arguments count as real numbers."""
    return bool(ctx.whole_numbers and array.dtype == np.int64)


def store_item(ctx: Any, live: bool, array: Any, key: Any, value: Any, array_live: bool) -> Any:
    """``array[key] = value``; the pullback, or None if no derivative is concerned."""
    buffers: Buffers = ctx.buffers
    whole = is_whole(ctx, array) and (not array_live or buffers.is_known(array))
    floating = whole or array.dtype.kind in _FLOATING
    tracked = buffers.is_stored(array) or (floating and (live or array_live or buffers.is_argument(array)))
    held = buffers.is_held(array)
    if not tracked and not held:
        array[key] = value
        return None
    key = frozen_key(key)
    content = np.array(array[key]) if held else None
    buffers.overwritten = buffers.overwritten or held
    source = value if kind_of(type(value)) == "array" and buffers.is_stored(value) else None
    array[key] = value
    if tracked:
        buffers.store(array)
    ctx.effects += 1
    truncated = whole and np.asarray(value).dtype.kind in _FLOATING
    shape = np.shape(value) if live and floating and not truncated else None
    return ArrayStore(array, key, shape, content, tracked, source)


class Scatter:
    """The cotangent of an array of which one part was read; sums of such are trees, made dense once."""

    __slots__ = ("cotangent", "dtype", "key", "left", "right", "shape")
    __array_ufunc__ = None

    def __init__(self, shape: tuple[int, ...], dtype: Any, key: Any, cotangent: Any) -> None:
        self.shape, self.dtype, self.key, self.cotangent = shape, dtype, key, cotangent
        self.left: Any = None
        self.right: Any = None

    def __add__(self, other: Any) -> Any:
        both = Scatter(self.shape, self.dtype, None, None)
        both.left, both.right = self, other
        return both

    __radd__ = __add__

    def dense(self) -> Any:
        """The array that this stands for."""
        whole = np.zeros(self.shape, self.dtype)
        self.add_to(whole)
        return whole

    def add_to(self, whole: Any) -> None:
        """Add this cotangent to an array."""
        stack: list[Any] = [self]
        while stack:
            node = stack.pop()
            if not isinstance(node, Scatter):
                whole += _like(whole, node)
            elif node.left is not None:
                stack += [node.left, node.right]
            elif _is_fancy(node.key):
                np.add.at(whole, node.key, _like(whole, node.cotangent))
            else:
                whole[node.key] += _like(whole, node.cotangent)


def _like(whole: Any, cotangent: Any) -> Any:
    """A cotangent that may be added to ``whole``: the real part, if that is real."""
    return cotangent.real if whole.dtype.kind != "c" and np.asarray(cotangent).dtype.kind == "c" else cotangent


class Part:
    """Pullback of ``array[key]``."""

    __slots__ = ("array", "collected", "dtype", "key", "shape")

    def __init__(self, array: Any, key: Any, stored: bool) -> None:
        self.shape, self.key = array.shape, key
        self.dtype = array.dtype if array.dtype.kind in _FLOATING else np.dtype(float)
        self.array = array if stored else None
        self.collected: Any = None

    def collect(self, place: Any, array: Any) -> None:
        """The part is an array of its own, and has been written to."""
        self.collected = array

    def __call__(self, sweep: Any, cotangent: Any) -> tuple[Any, None] | None:
        if self.collected is not None:
            taken = sweep.buffers.take(self.collected)
            cotangent = taken if cotangent is None else cotangent if taken is None else cotangent + taken
        if cotangent is None:
            return None
        part = Scatter(self.shape, self.dtype, self.key, dense(cotangent))
        if self.array is None:
            return part, None
        sweep.buffers.add(self.array, part)
        return None


def dense(cotangent: Any) -> Any:
    """A cotangent as rules want it."""
    return cotangent.dense() if type(cotangent) is Scatter else cotangent


def _is_fancy(key: Any) -> bool:
    return any(kind_of(type(k)) in ("array", "list") for k in (key if isinstance(key, tuple) else (key,)))
