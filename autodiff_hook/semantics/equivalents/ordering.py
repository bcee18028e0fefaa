"""Heaps, sorted lists and counts: what ``heapq``, ``bisect`` and ``collections`` have in C."""

from __future__ import annotations

import bisect
import collections
import heapq
import operator
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


def rising(heap: Any, greatest: Any, count: Any = None, undecided: Any = TypeError) -> Any:
    """The places that the last item of a heap goes through on its way up, its own first.

    Of tuples, ``count`` items decide about the order; where they do not, ``undecided`` is raised.
    """
    is_before = _order(greatest, count, undecided)
    place, item = len(heap) - 1, heap[-1]
    path = [place]
    while place:
        place = (place - 1) >> 1
        if not is_before(item, heap[place]):
            break
        path.append(place)
    return path


def sinking(heap: Any, start: Any, greatest: Any, count: Any = None, undecided: Any = TypeError) -> Any:
    """The places that the item at ``start`` goes through on its way down, its own first."""
    if not greatest and count is None:
        return _sinking(heap, start)
    is_before = _order(greatest, count, undecided)
    end, item, path = len(heap), heap[start], [start]
    child = 2 * start + 1
    while child < end:
        if child + 1 < end and not is_before(heap[child], heap[child + 1]):
            child += 1
        path.append(child)
        child = 2 * child + 1
    while len(path) > 1 and is_before(item, heap[path[-1]]):
        path.pop()
    return path


def _sinking(heap: Any, start: Any) -> Any:
    """The same of whole items, the least first: this is what takes the time of a heap."""
    end, item, path = len(heap) - 1, heap[start], [start]
    child = 2 * start + 1
    while child < end:
        if not heap[child] < heap[child + 1]:
            child += 1
        path.append(child)
        child = 2 * child + 1
    if child == end:
        path.append(child)
    while item < heap[path[-1]]:
        del path[-1]
    return path


def _order(greatest: Any, count: Any, undecided: Any) -> Callable[[Any, Any], Any]:
    """Whether an item comes before another one."""
    order = operator.gt if greatest else operator.lt
    if count is None:
        return order

    def is_before(a: Any, b: Any) -> Any:
        a, b = a[:count], b[:count]
        if a == b:
            raise undecided("what is behind in tuples would decide about their order")
        return order(a, b)

    return is_before


def moved(heap: Any, path: Any) -> None:
    """Move an item along these places to the last of them, and those that are there to the ones before."""
    if len(path) > 1:
        place = path[0]
        item = heap[place]
        for other in path[1:]:
            heap[place] = heap[other]
            place = other
        heap[place] = item


def heap_functions_by_places(greatest: Any) -> tuple[Callable[..., Any], ...]:
    """The same as ``heap_functions``, for items whose order is asked apart from what has derivatives."""

    def heapify(heap: Any) -> None:
        for place in range(len(heap) // 2 - 1, -1, -1):
            moved(heap, sinking(heap, place, greatest))

    def push(heap: Any, item: Any) -> None:
        heap.append(item)
        moved(heap, rising(heap, greatest))

    def pop(heap: Any) -> Any:
        last = heap.pop()
        return replace(heap, last) if heap else last

    def replace(heap: Any, item: Any) -> Any:
        first = heap[0]
        heap[0] = item
        moved(heap, sinking(heap, 0, greatest))
        return first

    def push_pop(heap: Any, item: Any) -> Any:
        if heap and (item < heap[0] if greatest else heap[0] < item):
            return replace(heap, item)
        return item

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


def merged(*rows: Any, key: Any = None, reverse: Any = False) -> Any:
    """``heapq.merge`` of lists."""
    heads, ranks, places = [], [], []
    for row in rows:
        if row:
            heads.append(row[0])
            ranks.append(row[0] if key is None else key(row[0]))
            places.append(1)
    left = [row for row in rows if row]
    open_rows = list(range(len(left)))
    while open_rows:
        best = open_rows[0]
        for i in open_rows:
            if ranks[best] < ranks[i] if reverse else ranks[i] < ranks[best]:
                best = i
        yield heads[best]
        if places[best] < len(left[best]):
            item = left[best][places[best]]
            heads[best] = item
            ranks[best] = item if key is None else key(item)
            places[best] += 1
        else:
            open_rows.remove(best)


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


def _heaps(make: Callable[[Any], Any], *orders: Any) -> list[tuple[Any, Callable[..., Any]]]:
    """The functions of ``heapq``; those of the other order have a name of their own since 3.14."""
    least, greatest = map(make, orders)
    names = ("heapify", "heappush", "heappop", "heapreplace", "heappushpop")
    found = [(getattr(heapq, name), code) for name, code in zip(names, least)]
    for name, code in zip(names, greatest):
        for target in (f"_{name}_max", f"{name}_max"):
            if hasattr(heapq, target):
                found.append((getattr(heapq, target), code))
    return found


IMMEDIATE: Final[list[tuple[Any, Callable[..., Any]]]] = [
    *_heaps(heap_functions, less, greater),
    (heapq.nsmallest, smallest),
    (heapq.nlargest, largest),
    (bisect.insort_right, insort_right),
    (bisect.insort_left, insort_left),
    (vars(collections)["_count_elements"], count_elements),
]
"""What looks into its arguments at once, and so may run as it is where nothing has a derivative."""
BY_PLACES: Final[list[tuple[Any, Callable[..., Any]]]] = _heaps(heap_functions_by_places, False, True)
"""Heaps of numbers and texts, and of tuples that begin with some."""
