"""Python code for callables of the standard library that are written in C: differentiated in their place.

Each function takes the arguments of its original; ``substitutes`` registers them.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from autodiff_hook.semantics.equivalents.combining import chosen, product
from autodiff_hook.semantics.equivalents.grouping import groupby


class MISSING:
    """Stands for an argument that is not given."""


def maximum(*args: Any, key: Any = None, default: Any = MISSING) -> Any:
    """``max`` with a key or a default."""
    found = best = None
    empty = True
    for item in args[0] if len(args) == 1 else args:
        value = item if key is None else key(item)
        if empty or value > best:
            found, best, empty = item, value, False
    if not empty:
        return found
    if default is MISSING:
        raise ValueError("max() iterable argument is empty")
    return default


def minimum(*args: Any, key: Any = None, default: Any = MISSING) -> Any:
    """``min`` with a key or a default."""
    found = best = None
    empty = True
    for item in args[0] if len(args) == 1 else args:
        value = item if key is None else key(item)
        if empty or value < best:
            found, best, empty = item, value, False
    if not empty:
        return found
    if default is MISSING:
        raise ValueError("min() iterable argument is empty")
    return default


def total(items: Any, start: Any = 0) -> Any:
    """``sum`` of what is not made of numbers."""
    result = start
    for item in items:
        result = result + item
    return result


def product_of(items: Any, *, start: Any = 1) -> Any:
    """``math.prod`` of what is not made of numbers."""
    result = start
    for item in items:
        result = result * item
    return result


def item_of(keys: Any, owner: Any) -> Any:
    """``operator.itemgetter(*keys)(owner)``."""
    return owner[keys[0]] if len(keys) == 1 else tuple([owner[key] for key in keys])


def attribute_of(names: Any, owner: Any) -> Any:
    """``operator.attrgetter(*names)(owner)``."""
    found = []
    for dotted in names:
        value = owner
        for name in dotted.split("."):
            value = getattr(value, name)
        found.append(value)
    return found[0] if len(names) == 1 else tuple(found)


def chain(*iterables: Any) -> Any:
    """``itertools.chain``."""
    for iterable in iterables:
        for item in iterable:
            yield item


def chain_apart(*iterables: Any) -> Any:
    """``itertools.chain`` with a loop for each of the iterables."""
    if iterables:
        for item in iterables[0]:
            yield item
        yield from chain_apart(*iterables[1:])


def chain_from(iterables: Any) -> Any:
    """``itertools.chain.from_iterable``."""
    for iterable in iterables:
        for item in iterable:
            yield item


def count(start: Any = 0, step: Any = 1) -> Any:
    """``itertools.count``."""
    value = start
    while True:
        yield value
        value = value + step


def cycle(iterable: Any) -> Any:
    """``itertools.cycle``."""
    seen = []
    for item in iterable:
        yield item
        seen.append(item)
    while seen:
        for item in seen:
            yield item


def repeat(object: Any, times: Any = None) -> Any:
    """``itertools.repeat``."""
    done = 0
    while times is None or done < times:
        yield object
        done += 1


def accumulate(iterable: Any, func: Any = None, *, initial: Any = None) -> Any:
    """``itertools.accumulate``."""
    total = initial
    begun = initial is not None
    if begun:
        yield total
    for item in iterable:
        if not begun:
            total = item
        elif func is None:
            total = total + item
        else:
            total = func(total, item)
        begun = True
        yield total


def tee(iterable: Any, n: Any = 2) -> Any:
    """``itertools.tee``."""
    source = iter(iterable)
    seen: list[Any] = []
    return tuple([Branch(source, seen, 0) for _ in range(n)])


class Branch:
    """One of the iterators of ``tee``; what they have seen is theirs together."""

    def __init__(self, source: Any, seen: list[Any], index: Any) -> None:
        self.source, self.seen, self.index = source, seen, index

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        if self.index == len(self.seen):
            self.seen.append(next(self.source))
        item = self.seen[self.index]
        self.index += 1
        return item

    def __copy__(self) -> Any:
        return Branch(self.source, self.seen, self.index)


def pairwise(iterable: Any) -> Any:
    """``itertools.pairwise``."""
    previous = None
    begun = False
    for item in iterable:
        if begun:
            yield previous, item
        previous, begun = item, True


def islice(iterable: Any, *args: Any) -> Any:
    """``itertools.islice``."""
    start, stop, step = (0, *args, 1) if len(args) == 1 else (*args, 1) if len(args) == 2 else args
    start = 0 if start is None else start
    step = 1 if step is None else step
    count, place = 0, start
    if stop is not None and max(start, stop) <= 0:
        return
    for item in iterable:
        count += 1
        if count > place and (stop is None or place < stop):
            yield item
            place += step
            if stop is not None and place > stop:
                place = stop
        if stop is not None and count >= stop and count >= place:
            return


def takewhile(predicate: Any, iterable: Any) -> Any:
    """``itertools.takewhile``."""
    for item in iterable:
        if not predicate(item):
            break
        yield item


def dropwhile(predicate: Any, iterable: Any) -> Any:
    """``itertools.dropwhile``."""
    dropping = True
    for item in iterable:
        dropping = dropping and predicate(item)
        if not dropping:
            yield item


def filterfalse(predicate: Any, iterable: Any) -> Any:
    """``itertools.filterfalse``."""
    for item in iterable:
        if not (item if predicate is None else predicate(item)):
            yield item


def compress(data: Any, selectors: Any) -> Any:
    """``itertools.compress``."""
    for item, selected in zip(data, selectors):
        if selected:
            yield item


def starmap(function: Any, iterable: Any) -> Any:
    """``itertools.starmap``."""
    for args in iterable:
        yield function(*args)


def zip_longest(*iterables: Any, fillvalue: Any = None) -> Any:
    """``itertools.zip_longest``."""
    iterators = [iter(iterable) for iterable in iterables]
    active = len(iterators)
    ended = [False] * active
    while active:
        row = []
        for place, iterator in enumerate(iterators):
            item = MISSING if ended[place] else next(iterator, MISSING)
            if item is MISSING and not ended[place]:
                ended[place] = True
                active -= 1
            row.append(fillvalue if item is MISSING else item)
        if active:
            yield tuple(row)


def ndindex(*shape: Any) -> Any:
    """``np.ndindex``."""
    sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
    if any([size < 0 for size in sizes]):
        raise ValueError("negative dimensions are not allowed")
    return itertools.product(*map(range, sizes))


def ndenumerate(arr: Any) -> Any:
    """``np.ndenumerate``."""
    array = np.asarray(arr)
    for index in np.ndindex(array.shape):
        yield index, array[index]


class Ordered:
    """What ``functools.cmp_to_key`` makes of an item."""

    __slots__ = ("compare", "obj")

    def __init__(self, compare: Any, obj: Any) -> None:
        self.compare, self.obj = compare, obj

    def __lt__(self, other: Any) -> Any:
        return self.compare(self.obj, other.obj) < 0


def cmp_to_key(mycmp: Any) -> Any:
    """``functools.cmp_to_key``."""
    return functools.partial(Ordered, mycmp)


def property_get(self: property, owner: Any, cls: Any = None) -> Any:
    """``property.__get__``."""
    if owner is None:
        return self
    if self.fget is None:
        raise AttributeError("a property without a getter is read")
    return self.fget(owner)


def property_set(self: property, owner: Any, value: Any) -> None:
    """``property.__set__``."""
    if self.fset is None:
        raise AttributeError("a property without a setter is assigned")
    self.fset(owner, value)


SUBSTITUTES: Final[list[tuple[Any, Callable[..., Any]]]] = [
    (itertools.chain, chain),
    (itertools.count, count),
    (itertools.cycle, cycle),
    (itertools.repeat, repeat),
    (itertools.accumulate, accumulate),
    (itertools.product, product),
    (itertools.pairwise, pairwise),
    (itertools.tee, tee),
    (itertools.islice, islice),
    (itertools.takewhile, takewhile),
    (itertools.dropwhile, dropwhile),
    (itertools.filterfalse, filterfalse),
    (itertools.compress, compress),
    (itertools.starmap, starmap),
    (itertools.zip_longest, zip_longest),
    (itertools.groupby, groupby),
    (np.ndenumerate, ndenumerate),
    (np.ndindex, ndindex),
    (property.__get__, property_get),
    (property.__set__, property_set),
    (itertools.combinations, chosen(itertools.combinations)),
    (itertools.permutations, chosen(itertools.permutations)),
    (itertools.combinations_with_replacement, chosen(itertools.combinations_with_replacement)),
]

BEGUN: Final[dict[Any, slice]] = {
    **dict.fromkeys((itertools.accumulate, itertools.cycle, itertools.islice, itertools.groupby), slice(1)),
    **dict.fromkeys((itertools.pairwise, itertools.chain.from_iterable), slice(1)),
    **dict.fromkeys((itertools.takewhile, itertools.dropwhile, itertools.filterfalse, itertools.starmap), slice(1, 2)),
    **dict.fromkeys((itertools.compress, itertools.zip_longest), slice(None)),
    **{map: slice(1, None), filter: slice(1, 2)},
    **({vars(itertools)["batched"]: slice(1)} if hasattr(itertools, "batched") else {}),
}
"""Where what iterates takes what it goes over: the iteration begins when it is called, whenever items are asked for."""

GETTERS: Final[list[tuple[Any, Callable[..., Any]]]] = [
    (operator.itemgetter.__call__, item_of),
    (operator.attrgetter.__call__, attribute_of),
]

WITH_OPTIONS: Final[list[tuple[Any, Callable[..., Any]]]] = [(max, maximum), (min, minimum)]

NATIVE: Final[tuple[Any, ...]] = (
    *(functools._lru_cache_wrapper, functools.cmp_to_key),
    *(operator.itemgetter, operator.attrgetter),
)
"""Callables that only wrap a function, or say what is to be looked up; what is called later is seen then."""
