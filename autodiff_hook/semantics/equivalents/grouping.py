"""``itertools.groupby``: the groups take their items from the iterator that goes from group to group."""

from __future__ import annotations

from typing import Any


class NOTHING:
    """Stands for the name of no group."""


class Groups:
    """Gives each group with its name; ``name`` is that of ``item``, which nobody has taken yet."""

    def __init__(self, iterable: Any, key: Any = None) -> None:
        self.source, self.key = iter(iterable), key
        self.name: Any = NOTHING
        self.item: Any = None
        self.last: Any = NOTHING
        self.current: Any = None

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        self.current = None
        while self.name is NOTHING or is_same(self.last, self.name):
            self.step()
        self.last = self.name
        self.current = Group(self, self.last)
        return self.last, self.current

    def step(self) -> None:
        """Ask for another item."""
        self.item = next(self.source)
        self.name = self.item if self.key is None else self.key(self.item)


class Group:
    """Gives items as long as they have its name, and nobody has asked for the next group."""

    def __init__(self, groups: Any, name: Any) -> None:
        self.groups, self.name = groups, name

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        groups = self.groups
        if groups.current is not self:
            raise StopIteration
        if groups.name is NOTHING:
            groups.step()
        if not is_same(self.name, groups.name):
            raise StopIteration
        groups.name = NOTHING
        return groups.item


def is_same(a: Any, b: Any) -> Any:
    """Whether items are the same, or equal."""
    return a is b or a == b


def groupby(iterable: Any, key: Any = None) -> Any:
    """``itertools.groupby``."""
    return Groups(iterable, key)
