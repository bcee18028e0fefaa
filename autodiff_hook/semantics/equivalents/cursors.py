"""Iterators that are asked for one item here and one there, as typed programs follow them: objects with a place."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, Final


class Cursor:
    """What stands for ``iter(items)`` of a list or a tuple."""

    def __init__(self, items: Any) -> None:
        self._items = items
        self._place = 0

    def __iter__(self) -> Iterator[Any]:
        while 0 <= self._place < len(self._items):
            self._place += 1
            yield self._items[self._place - 1]
        self._place = -1

    def __next__(self) -> Any:
        place = self._place
        if place < 0 or place >= len(self._items):
            # A list that grows later gives nothing any more.
            self._place = -1
            raise StopIteration
        self._place = place + 1
        return self._items[place]


class Count:
    """What stands for ``itertools.count``."""

    def __init__(self, start: Any = 0, step: Any = 1) -> None:
        self._value, self._step = start, step

    def __iter__(self) -> Iterator[Any]:
        while True:
            yield self.__next__()

    def __next__(self) -> Any:
        value = self._value
        self._value = value + self._step
        return value


CURSORS: Final[dict[Any, type]] = {iter: Cursor, itertools.count: Count}
"""The classes of what stands for the iterators that these make."""
