"""Functions that iterate, as typed programs follow them."""

from __future__ import annotations

from typing import Any

from autodiff_hook.registry import nondifferentiable
from autodiff_hook.semantics.equivalents import MISSING


def listed(iterable: Any) -> Any:
    """``list(iterable)``."""
    items = []
    for item in iterable:
        items.append(item)
    return items


def numbers(array: Any) -> Any:
    """``array.tolist()`` of one axis of floats."""
    return [float(x) for x in array]


def whole_numbers(array: Any) -> Any:
    """``array.tolist()`` of one axis of whole numbers."""
    return [int(x) for x in array]


def rows_of_numbers(array: Any) -> Any:
    """``array.tolist()`` of two axes of floats."""
    rows = []
    for row in array:
        rows.append([float(x) for x in row])
    return rows


def number_at(array: Any, place: Any) -> Any:
    """``array.item(place)`` of one axis of floats."""
    return float(array[place])


def stepped(iterator: Any) -> Any:
    """What an object gives step by step."""
    while True:
        more, item = step(iterator)
        if not more:
            return
        yield item


def step(iterator: Any) -> Any:
    """Whether an object gives another item, and the item."""
    try:
        return True, iterator.__next__()
    except StopIteration:
        return False, None


def advanced(iterator: Any, default: Any = MISSING) -> Any:
    """``next`` of an object."""
    if default is MISSING:
        return iterator.__next__()
    more, item = step(iterator)
    return item if more else default


def mapped(function: Any, iterable: Any, *others: Any) -> Any:
    """``map``."""
    if others:
        for args in zip(iterable, *others):
            yield function(*args)
    else:
        for item in iterable:
            yield function(item)


def mapped_strictly(function: Any, iterable: Any, /, *others: Any, strict: Any = False) -> Any:
    """``map`` with the option of 3.14."""
    for args in zip(iterable, *others, strict=strict):
        yield function(*args)


def filtered(function: Any, iterable: Any) -> Any:
    """``filter``."""
    for item in iterable:
        if item if function is None else function(item):
            yield item


def any_of(iterable: Any) -> Any:
    """``any``."""
    for item in iterable:
        if item:
            return True
    return False


def all_of(iterable: Any) -> Any:
    """``all``."""
    for item in iterable:
        if not item:
            return False
    return True


def reduced(function: Any, iterable: Any, initial: Any = MISSING, /) -> Any:
    """``functools.reduce``."""
    total = initial
    for item in iterable:
        total = item if total is MISSING else function(total, item)
    if total is MISSING:
        raise TypeError("reduce() of empty iterable with no initial value")
    return total


def reduced_from_first(function: Any, items: Any, /) -> Any:
    """``functools.reduce`` of a list, without a value to begin with."""
    if not items:
        raise TypeError("reduce() of empty iterable with no initial value")
    total = items[0]
    for item in items[1:]:
        total = function(total, item)
    return total


def first(iterator: Any, default: Any = MISSING) -> Any:
    """``next`` of an iterator that nobody asks again."""
    for item in iterator:
        return item
    if default is MISSING:
        raise StopIteration
    return default


def enumerated(iterable: Any, start: Any = 0) -> Any:
    """``enumerate``."""
    index = 0 + start  # True is 1
    for item in iterable:
        yield index, item
        index += 1


def columns(rows: Any) -> Any:
    """``zip(*rows)`` of lists."""
    width = -1
    for row in rows:
        count = len(row)
        if width < 0 or count < width:
            width = count
    for place in range(width):
        yield tuple([row[place] for row in rows])


def zip_first(iterable: Any, items: Any) -> Any:
    """``zip`` of an iterator and what has items."""
    index = 0
    for value in iterable:
        if index >= len(items):
            return
        yield value, items[index]
        index += 1


def zip_second(items: Any, iterable: Any) -> Any:
    """``zip`` of what has items and an iterator, which is not asked for more than there are."""
    index = 0
    if len(items) == 0:
        return
    for value in iterable:
        yield items[index], value
        index += 1
        if index >= len(items):
            return


@nondifferentiable
def order_of(keys: Any, reverse: Any) -> list[int]:
    """The places of the keys in their order."""
    return sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)


def in_order(iterable: Any, /, *, key: Any = None, reverse: Any = False) -> Any:
    """``sorted``."""
    items, keys = [], []
    for item in iterable:
        items.append(item)
        keys.append(item if key is None else key(item))
    return [items[place] for place in order_of(keys, reverse)]


def _yielding(count: int) -> Any:
    """A generator function that yields each of its arguments; written out, because each yield is one place."""
    names = [f"x{i}" for i in range(count)]
    text = "".join([f"def one_by_one({', '.join(names)}):\n", *(f"    yield {name}\n" for name in names)])
    made: dict[str, Any] = {"__name__": __name__}
    exec(compile(text, __file__, "exec"), made)
    return made["one_by_one"]


ONE_BY_ONE: Any = tuple(map(_yielding, range(1, 13)))
"""Generators of so many things."""
