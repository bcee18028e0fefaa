"""``collections.deque``, as typed programs follow it: a list, and how many of its first items have been taken."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class Deque:
    """What stands for a deque that the program makes."""

    def __init__(self, items: Any = (), maxlen: Any = None) -> None:
        if maxlen is not None and maxlen < 0:
            raise ValueError("maxlen must be non-negative")
        self._items: list[Any] = []
        self._begin = self._changes = 0
        self._bound = maxlen
        for item in items:
            self.append(item)

    @property
    def maxlen(self) -> Any:
        """How many items there may be."""
        return self._bound

    def append(self, item: Any) -> None:
        """Put an item behind the others."""
        self._changes += 1
        self._items.append(item)
        if self._bound is not None and len(self._items) - self._begin > self._bound:
            self._begin += 1

    def appendleft(self, item: Any) -> None:
        """Put an item before the others."""
        self._changes += 1
        if self._begin == 0:
            self._items.insert(0, item)
        else:
            self._begin -= 1
            self._items[self._begin] = item
        if self._bound is not None and len(self._items) - self._begin > self._bound:
            self._items.pop()

    def pop(self) -> Any:
        """Take the last item."""
        if self._begin == len(self._items):
            raise IndexError("pop from an empty deque")
        self._changes += 1
        return self._items.pop()

    def popleft(self) -> Any:
        """Take the first item."""
        if self._begin == len(self._items):
            raise IndexError("pop from an empty deque")
        item = self._items[self._begin]
        self._changes += 1
        self._begin += 1
        return item

    def extend(self, items: Any) -> None:
        """Put items behind the others."""
        for item in items:
            self.append(item)

    def extendleft(self, items: Any) -> None:
        """Put items before the others, one by one."""
        for item in items:
            self.appendleft(item)

    def rotate(self, steps: int = 1) -> None:
        """Move items from one end to the other."""
        count = len(self._items) - self._begin
        if count > 1 and steps < 0:
            for _ in range(-steps % count):
                self.append(self.popleft())
        elif count > 1:
            for _ in range(steps % count):
                self.appendleft(self.pop())

    def reverse(self) -> None:
        """Turn the items round."""
        first, last = self._begin, len(self._items) - 1
        while first < last:
            self._items[first], self._items[last] = self._items[last], self._items[first]
            first += 1
            last -= 1

    def clear(self) -> None:
        """Take all items."""
        self._changes += 1
        self._begin = len(self._items)

    def copy(self) -> Deque:
        """Another one with the same items."""
        return Deque(self, self._bound)

    __copy__ = copy

    def __len__(self) -> int:
        return len(self._items) - self._begin

    def __getitem__(self, index: int) -> Any:
        if index >= len(self._items) - self._begin or index < self._begin - len(self._items):
            raise IndexError("deque index out of range")
        return self._items[index] if index < 0 else self._items[self._begin + index]

    def __setitem__(self, index: int, item: Any) -> None:
        if index >= len(self._items) - self._begin or index < self._begin - len(self._items):
            raise IndexError("deque assignment index out of range")
        if index >= 0:
            index += self._begin
        self._items[index] = item

    def __iter__(self) -> Iterator[Any]:
        changes = self._changes
        for place in range(self._begin, len(self._items)):
            self._require_as(changes)
            yield self._items[place]
        self._require_as(changes)

    def _require_as(self, changes: int) -> None:
        if self._changes != changes:
            raise RuntimeError("deque mutated during iteration")

    def __eq__(self, other: object) -> bool:
        raise NotImplementedError("typed programs compare no deques")

    __hash__ = None  # type: ignore[assignment]


def deque(items: Any = (), maxlen: Any = None) -> Deque:
    """``deque(items, maxlen)``."""
    return Deque(items, maxlen)
