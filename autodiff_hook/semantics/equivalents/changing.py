"""Methods of lists and dicts, as typed programs follow them."""

from __future__ import annotations

from typing import Any

from autodiff_hook.registry import nondifferentiable
from autodiff_hook.semantics.equivalents.iterating import in_order


@nondifferentiable
def require_short(items: Any) -> None:
    """What moves one item after the other is for short lists."""


def insert(items: Any, index: Any, value: Any) -> None:
    """``list.insert``."""
    require_short(items)
    items.append(value)
    place = len(items) - 1
    start = max(index + place, 0) if index < 0 else index
    while place > start:
        items[place] = items[place - 1]
        place -= 1
    items[place] = value


def taken(items: Any, index: Any = -1) -> Any:
    """``list.pop``."""
    require_short(items)
    last = len(items) - 1
    value = items[index]
    place = index + last + 1 if index < 0 else index
    while place < last:
        items[place] = items[place + 1]
        place += 1
    items.pop()
    return value


def remove(items: Any, value: Any) -> None:
    """``list.remove``."""
    taken(items, place_of(items, value))


def place_of(items: Any, value: Any, start: Any = 0) -> Any:
    """``list.index``."""
    for place in range(start, len(items)):
        if items[place] == value:
            return place
    raise ValueError("the value is not in the list")


def number_of(items: Any, value: Any) -> Any:
    """``list.count``."""
    found = 0
    for item in items:
        if item == value:
            found += 1
    return found


def extend(items: Any, iterable: Any) -> None:
    """``list.extend`` by something else than the list."""
    for item in iterable:
        items.append(item)


def extended(items: Any, iterable: Any) -> Any:
    """``items += iterable``."""
    for item in iterable:
        items.append(item)
    return items


def turn(items: Any) -> None:
    """``list.reverse``."""
    first, last = 0, len(items) - 1
    while first < last:
        items[first], items[last] = items[last], items[first]
        first += 1
        last -= 1


def sort(items: Any, *, key: Any = None, reverse: Any = False) -> None:
    """``list.sort``."""
    for place, item in enumerate(in_order(items, key=key, reverse=reverse)):
        items[place] = item


def clear(items: Any) -> None:
    """``list.clear``."""
    while len(items) > 0:
        items.pop()


def value_of(mapping: Any, key: Any, default: Any = None) -> Any:
    """``dict.get``."""
    return mapping[key] if key in mapping else default


def value_or_new(mapping: Any, key: Any, default: Any = None) -> Any:
    """``dict.setdefault``."""
    if key not in mapping:
        mapping[key] = default
    return mapping[key]


def held(mapping: Any, key: Any) -> Any:
    """An item that is there."""
    return mapping[key]


def value_or_made(mapping: Any, key: Any, make: Any) -> Any:
    """``mapping[key]`` of a ``defaultdict``."""
    if key not in mapping:
        mapping[key] = make()
    return held(mapping, key)


def update(mapping: Any, other: Any) -> None:
    """``dict.update`` by another dict."""
    for key, value in other.items():
        mapping[key] = value
