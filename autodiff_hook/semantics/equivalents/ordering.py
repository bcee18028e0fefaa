"""Heaps, sorted lists and counts: what ``heapq``, ``bisect`` and ``collections`` have in C."""

from __future__ import annotations

import bisect
import collections
import heapq
from collections.abc import Callable
from typing import Any, Final


def less(a: Any, b: Any) -> Any:
    """Whether ``a`` comes before ``b`` in a heap whose least item is first."""
    return a < b


def greater(a: Any, b: Any) -> Any:
    """Whether ``a`` comes before ``b`` in a heap whose greatest item is first."""
    return b < a


def risen(heap: Any, place: Any, start: Any, before: Any) -> None:
    """Move the item at ``place`` up to where its parent, not above ``start``, comes before it."""
    item = heap[place]
    while place > start:
        parent = (place - 1) >> 1
        if not before(item, heap[parent]):
            break
        heap[place] = heap[parent]
        place = parent
    heap[place] = item


def sunk(heap: Any, start: Any, before: Any) -> None:
    """Move the item at ``start`` down along the lesser children, then up to its place."""
    end, place, item = len(heap), start, heap[start]
    child = 2 * place + 1
    while child < end:
        if child + 1 < end and not before(heap[child], heap[child + 1]):
            child += 1
        heap[place] = heap[child]
        place = child
        child = 2 * place + 1
    heap[place] = item
    risen(heap, place, start, before)


def require_list(heap: Any) -> None:
    """Raise what heaps do for what is no list."""
    if not isinstance(heap, list):
        raise TypeError(f"heap argument must be a list, not {type(heap).__name__}")


def heap_functions(before: Any) -> tuple[Callable[..., Any], ...]:
    """heapify, heappush, heappop, heapreplace and heappushpop, with this order."""

    def heapify(heap: Any) -> None:
        require_list(heap)
        for place in range(len(heap) // 2 - 1, -1, -1):
            sunk(heap, place, before)

    def push(heap: Any, item: Any) -> None:
        require_list(heap)
        heap.append(item)
        risen(heap, len(heap) - 1, 0, before)

    def pop(heap: Any) -> Any:
        require_list(heap)
        last = heap.pop()
        return replace(heap, last) if heap else last

    def replace(heap: Any, item: Any) -> Any:
        require_list(heap)
        first = heap[0]
        heap[0] = item
        sunk(heap, 0, before)
        return first

    def push_pop(heap: Any, item: Any) -> Any:
        require_list(heap)
        return replace(heap, item) if heap and before(heap[0], item) else item

    return heapify, push, pop, replace, push_pop


def insort_right(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> None:
    """``bisect.insort_right``."""
    end = len(a) if hi is None else hi
    if lo < 0:
        raise ValueError("lo must be non-negative")
    wanted = x if key is None else key(x)
    while lo < end:
        middle = (lo + end) // 2
        if wanted < (a[middle] if key is None else key(a[middle])):
            end = middle
        else:
            lo = middle + 1
    a.insert(lo, x)


def insort_left(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> None:
    """``bisect.insort_left``."""
    end = len(a) if hi is None else hi
    if lo < 0:
        raise ValueError("lo must be non-negative")
    wanted = x if key is None else key(x)
    while lo < end:
        middle = (lo + end) // 2
        if (a[middle] if key is None else key(a[middle])) < wanted:
            lo = middle + 1
        else:
            end = middle
    a.insert(lo, x)


def smallest(n: Any, iterable: Any, key: Any = None) -> Any:
    """``heapq.nsmallest``."""
    return sorted(iterable, key=key)[: max(n, 0)]


def largest(n: Any, iterable: Any, key: Any = None) -> Any:
    """``heapq.nlargest``."""
    return sorted(iterable, key=key, reverse=True)[: max(n, 0)]


def count_elements(mapping: Any, iterable: Any) -> None:
    """What a ``Counter`` counts with."""
    for item in iterable:
        mapping[item] = mapping.get(item, 0) + 1


def count_in(item: Any) -> Any:
    """How often there is what an item of a ``Counter`` counts."""
    return item[1]


def _heaps() -> list[tuple[Any, Callable[..., Any]]]:
    """The functions of ``heapq``; those of the other order have a name of their own since 3.14."""
    least, greatest = heap_functions(less), heap_functions(greater)
    names = ("heapify", "heappush", "heappop", "heapreplace", "heappushpop")
    found = [(getattr(heapq, name), code) for name, code in zip(names, least)]
    for name, code in zip(names, greatest):
        for target in (f"_{name}_max", f"{name}_max"):
            if hasattr(heapq, target):
                found.append((getattr(heapq, target), code))
    return found


IMMEDIATE: Final[list[tuple[Any, Callable[..., Any]]]] = [
    *_heaps(),
    (heapq.nsmallest, smallest),
    (heapq.nlargest, largest),
    (bisect.insort_right, insort_right),
    (bisect.insort_left, insort_left),
    (vars(collections)["_count_elements"], count_elements),
]
"""What looks into its arguments at once, and so may run as it is where nothing has a derivative."""
