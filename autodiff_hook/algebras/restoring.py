"""What a reverse sweep puts back into memory for a while, so that each pullback finds what it captured.

Memory is shared: by the program that goes on, by other pullbacks, by other threads. At the end of a sweep, also of one
that fails or is interrupted, memory is as the program left it.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from itertools import starmap
from mmap import mmap
from operator import call, setitem
from typing import Any, Final, TypeVar

import numpy as np

from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.runtime.buffers import frozen_key, is_writeable, root_of
from autodiff_hook.runtime.losses import plain

T = TypeVar("T")


def content_at(array: Any, key: Any) -> Any:
    """What is in an array at ``key``, which later stores do not change."""
    content = array[key]
    is_view = isinstance(content, (np.ndarray, np.void)) and content.base is not None
    return content.copy() if is_view else content


class Log:
    """What one sweep has changed in memory."""

    __slots__ = ("_taking_back", "entries")

    def __init__(self) -> None:
        self.entries: list[tuple[Any, ...] | None] = [None]
        self._taking_back = starmap(call, iter(self.entries.pop, None))
        """Calls what ``entries`` has, the last first, and ends at the None that it begins with."""

    def put(self, array: Any, key: Any, content: Any) -> None:
        """Write to memory for the time of the sweep."""
        target = self._writeable(array)
        self.entries.append((setitem, target, key, content_at(target, key)))
        target[key] = content

    def reshape(self, array: Any, shape: tuple[int, ...]) -> None:
        """Give an array another shape for the time of the sweep."""
        self.entries.append((set_shape, array, array.shape))
        set_shape(array, shape)

    def _writeable(self, array: Any) -> Any:
        """A plain array, for writing to the memory of ``array``."""
        if type(array) is np.ndarray and is_writeable(array):
            return array
        plain, root = np.ndarray.view(array, np.ndarray), root_of(array)
        if not is_writeable(root):
            self.entries.append((setitem, root.flags, "WRITEABLE", False))
            root.flags.writeable = True
        plain.flags.writeable = True
        return plain

    def during(self, function: Callable[..., T], *args: Any) -> T:
        """What a function gives; afterwards memory is as it was, also if the function was interrupted.

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


set_shape: Final[Any] = getattr(np.ndarray, "_set_shape", None) or np.ndarray.shape.__set__  # type: ignore[attr-defined]
"""What gives an array another shape in place, which NumPy does not want programs to do any longer."""


_UNUSED: Final = Log()
"""That of no sweep."""


class Memory:
    """The memory that the pullbacks of one pass hold, between and during its sweeps."""

    __slots__ = ("__weakref__", "_log", "_turn", "at_end", "held", "later", "mapped")

    def __init__(self, held: dict[int, Any]) -> None:
        self.held = held
        """The buffers, by identity."""
        self._turn = threading.RLock()
        """Sweeps put memory back, and make dropped nodes again: one at a time."""
        self._log = _UNUSED
        self.at_end: list[tuple[Any, Any]] = []
        """What buffers that others can write to held when the forward pass ended."""
        self.later: list[tuple[Any, Any, Any]] = []
        """What was overwritten after the forward pass, in the order of the stores."""
        self.mapped: list[mmap] = []
        """Where buffers lie that go when these are closed: NumPy does not keep them open."""

    def note_mapped(self) -> None:
        """The forward pass is over: note what others may close."""
        self.mapped = [root.base for root in self.held.values() if type(root.base) is mmap]
        self._require_open()

    def _require_open(self) -> None:
        if any(x.closed for x in self.mapped):
            raise NotDifferentiable(_CLOSED, remedies=("compute with a copy: np.array(a)",))

    def put_back(self, array: Any, key: Any, content: Any) -> None:
        """A sweep passes a store: what was there before is there again."""
        self._log.put(array, key, content)

    def reshape(self, array: Any, shape: tuple[int, ...]) -> None:
        """A sweep passes the assignment of a shape: the array has the one that it had before."""
        self._log.reshape(array, shape)

    def during(self, sweep: Callable[..., T], *args: Any) -> T:
        """What a sweep gives, with memory as it was at the end of the forward pass."""
        self._require_open()
        shared = [array for array, _ in self.at_end] + [array for array, _, _ in self.later]
        roots = {id(root): root for root in map(root_of, shared)}
        found: T = _holding([self._turn, *[_lock_of(roots[key]) for key in sorted(roots)]], self._swept, sweep, *args)
        return found

    def _swept(self, sweep: Callable[..., T], *args: Any) -> T:
        before, log = self._log, Log()
        try:
            self._log = log
            found: T = log.during(self._from_end, sweep, *args)
            return found
        finally:
            self._log = before

    def _from_end(self, sweep: Callable[..., T], *args: Any) -> T:
        for array, key, content in reversed(self.later):
            self.put_back(array, key, content)
        for array, content in self.at_end:
            self.put_back(array, ..., content)
        return sweep(*args)


_CLOSED: Final = "an array that the gradient depends on lies in memory that was closed (mmap, SharedMemory)"


def _holding(locks: list[Any], function: Callable[..., T], *args: Any) -> T:
    """Call a function while holding locks, which all take in one order."""
    if not locks:
        return function(*args)
    with locks[0]:
        return _holding(locks[1:], function, *args)


_locks: Final[dict[int, tuple[weakref.ref[Any], Any]]] = {}


def _lock_of(root: Any) -> Any:
    """The lock of a buffer that several tapes may know."""
    key = id(root)
    found = _locks.get(key)
    if found is None or found[0]() is not root:
        found = _locks[key] = (weakref.ref(root, lambda _: _locks.pop(key, None)), threading.RLock())
    return found[1]


class Holders:
    """What the forward passes that are over hold, while their pullbacks are alive: stores of others keep content."""

    def __init__(self) -> None:
        self.known: set[weakref.ref[Memory]] = set()
        self.generation = 0

    def add(self, memory: Memory) -> None:
        """A forward pass is over."""
        self.known.add(weakref.ref(memory, self.known.discard))
        self.generation += 1

    def of(self, root: Any) -> list[Memory]:
        """The memories of those that hold a buffer."""
        memories = [known() for known in list(self.known)]
        return [memory for memory in memories if memory is not None and id(root) in memory.held]

    def keep(self, array: Any, key: Any, content: Any = None) -> None:
        """Keep what an array has at ``key``, which is about to be overwritten, or had."""
        for memory in self.of(root_of(array)) if self.known else ():
            found = content_at(plain(array), key) if content is None else content
            memory.later.append((array, frozen_key(key), found))


HOLDERS: Final = Holders()
