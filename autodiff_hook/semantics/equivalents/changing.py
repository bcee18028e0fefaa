"""Methods of lists and dicts, as typed programs follow them."""

from __future__ import annotations

from collections import Counter, OrderedDict
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
    first = start if start >= 0 else max(start + len(items), 0)
    for place in range(first, len(items)):
        item = items[place]
        if item is value or item == value:
            return place
    raise ValueError("the value is not in the list")


def number_of(items: Any, value: Any) -> Any:
    """``list.count``."""
    if isinstance(value, (float, complex)) and value != value:
        raise ValueError("nan equals nothing, and is counted where it is the same object")
    found = 0
    for item in items:
        if item is value or item == value:
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


def taken_by_key(mapping: Any, key: Any) -> Any:
    """``dict.pop``."""
    value = held(mapping, key)
    del mapping[key]
    return value


def taken_or_default(mapping: Any, key: Any, default: Any) -> Any:
    """``dict.pop`` with a default value."""
    return taken_by_key(mapping, key) if key in mapping else default


def emptied(mapping: Any) -> None:
    """``dict.clear``."""
    while len(mapping) > 0:
        del mapping[last_key(mapping)]


def first_key(mapping: Any) -> Any:
    """The key of a dict that was put in first."""
    return next(iter(mapping))


def last_key(mapping: Any) -> Any:
    """The key of a dict that was put in last."""
    return next(reversed(mapping))


def last_taken(mapping: Any) -> Any:
    """``dict.popitem``."""
    if len(mapping) == 0:
        raise KeyError("popitem(): dictionary is empty")
    key = last_key(mapping)
    return key, taken_by_key(mapping, key)


def end_taken(mapping: Any, last: Any = True) -> Any:
    """``OrderedDict.popitem``."""
    if len(mapping) == 0:
        raise KeyError("dictionary is empty")
    key = last_key(mapping) if last else first_key(mapping)
    return key, taken_by_key(mapping, key)


def move_to_end(mapping: Any, key: Any, last: Any = True) -> None:
    """``OrderedDict.move_to_end``."""
    value = mapping[key]
    before = [] if last else [other for other in mapping if other != key]
    del mapping[key]
    mapping[key] = value
    for other in before:
        mapping[other] = taken_by_key(mapping, other)


def ordered(pairs: Any) -> Any:
    """``OrderedDict(pairs)``."""
    made: Any = OrderedDict()
    for key, value in pairs:
        made[key] = value
    return made


def value_or_made(mapping: Any, key: Any, make: Any) -> Any:
    """``mapping[key]`` of a ``defaultdict``."""
    if key not in mapping:
        mapping[key] = make()
    return held(mapping, key)


def value_or_zero(mapping: Any, key: Any) -> Any:
    """``mapping[key]`` of a ``Counter``."""
    return held(mapping, key) if key in mapping else 0


def counted(iterable: Any) -> Any:
    """``Counter(iterable)``."""
    counts: Any = Counter()
    for value in iterable:
        counts[value] += 1
    return counts


def count(counts: Any, iterable: Any) -> None:
    """``Counter.update``."""
    for value in iterable:
        counts[value] += 1


def uncount(counts: Any, iterable: Any) -> None:
    """``Counter.subtract``."""
    for value in iterable:
        counts[value] -= 1


def total(counts: Any) -> Any:
    """``Counter.total``."""
    return sum(counts.values())


def most_common(counts: Any, n: Any = None) -> Any:
    """``Counter.most_common``."""
    found = sorted(counts.items(), key=lambda item: item[1], reverse=True)
    return found if n is None else found[: max(n, 0)]


def add_all(items: Any, iterable: Any) -> None:
    """``set.update``."""
    for value in iterable:
        items.add(value)


def united(first: Any, second: Any) -> Any:
    """``first | second`` of dicts."""
    made: Any = {}
    made.update(first)
    made.update(second)
    return made


def united_in_place(mapping: Any, other: Any) -> Any:
    """``mapping |= other`` of dicts."""
    mapping.update(other)
    return mapping


def copied(mapping: Any) -> Any:
    """``dict(mapping)``."""
    made: Any = {}
    made.update(mapping)
    return made


def of_pairs(pairs: Any) -> Any:
    """``dict(pairs)``."""
    made: Any = {}
    for key, value in pairs:
        made[key] = value
    return made


def from_keys(keys: Any, value: Any = None) -> Any:
    """``dict.fromkeys``."""
    made: Any = {}
    for key in keys:
        made[key] = value
    return made


def update(mapping: Any, other: Any) -> None:
    """``dict.update`` by another dict."""
    for key, value in other.items():
        mapping[key] = value
