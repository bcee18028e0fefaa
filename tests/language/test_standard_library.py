"""itertools, functools, operator, heapq and what ``math`` does with iterables, in all modes."""

import functools
import heapq
import itertools
import math
import operator

import numpy as np
import pytest
from language.in_all_modes import MODES, differences


def data(x):
    return [x, x * x, 2.0, math.sin(x) + 3]


def accumulated(x):
    sums, products = itertools.accumulate(data(x)), itertools.accumulate(data(x), operator.mul)
    next(sums)
    started = sum(itertools.accumulate(data(x), lambda a, b: a * b, initial=x))
    return next(sums) * list(products)[-1] + started + sum(itertools.accumulate(data(x), max)) ** 2


def grouped(x):
    values = sum(k * sum(g) for k, g in itertools.groupby([x, x, 2.0, 2.0, x]))
    return values + sum(math.prod(g) for _, g in itertools.groupby(data(x), key=lambda v: v > 1))


def combined(x):
    total = sum(a * b for a, b in itertools.product(data(x), repeat=2)) + sum(
        a * b for a, b in itertools.pairwise(data(x))
    )
    for choose in (itertools.combinations, itertools.permutations, itertools.combinations_with_replacement):
        total += sum(a * b * b for a, b in choose(data(x), 2))
    return total + sum(a * b for a, b in itertools.zip_longest(data(x), [x, 2.0], fillvalue=x))


def split(x):
    a, b, c = itertools.tee((v for v in data(x)), 3)
    next(b)
    return sum(u * v for u, v in zip(a, b)) * next(c)


def selected(x):
    xs = data(x)
    parts = (
        itertools.islice(xs, 1, None, 2),
        itertools.compress(xs, [1, 0, 1, 1]),
        itertools.takewhile(lambda v: v < 2.5, xs),
        itertools.dropwhile(lambda v: v < 1, xs),
        itertools.filterfalse(lambda v: v < 1, xs),
        itertools.chain(xs, [x], (v * x for v in xs)),
        itertools.chain.from_iterable([xs, [x * x]]),
    )
    return math.prod(sum(part) for part in parts)


def endless(x):
    around = math.prod(itertools.islice(itertools.cycle(data(x)), 7))
    counted = math.prod(itertools.islice(itertools.count(x, x * 0.5), 4))
    return around + counted + math.prod(itertools.repeat(x, 4)) + sum(map(pow, [x, 2 * x], itertools.repeat(3)))


def mapped(x):
    return sum(itertools.starmap(pow, [(x, 2), (x, 3)])) + sum(map(operator.mul, data(x), data(2 * x)))


def in_batches(x):
    if not hasattr(itertools, "batched"):
        return x
    return sum(batch[0] * batch[-1] for batch in itertools.batched((v * x for v in data(x)), 3))


def reduced(x):
    order = functools.cmp_to_key(lambda a, b: (a > b) - (a < b))
    folded = functools.reduce(lambda a, b: a * b + 1, data(x)) * functools.reduce(operator.mul, data(x), x)
    return folded + sorted(data(x), key=order)[1] ** 2 + functools.partial(pow, x)(3)


@functools.singledispatch
def general(value):
    return value * 3


@general.register
def _(value: float):
    return value * value


@general.register(list)
def _(value):
    return value[0] ** 3


class Parts:
    def __init__(self, k):
        self.k = k

    @functools.singledispatchmethod
    def power(self, value):
        return value * 2

    @power.register
    def _(self, value: float):
        return value**3 * self.k

    @functools.cached_property
    def square(self):
        return self.k**2

    def product(self, a, b):
        return a * b * self.k

    tripled = functools.partialmethod(product, 3.0)


@functools.cache
def remembered(x):
    return x * x * 3


def dispatched(x):
    parts = Parts(x)
    return general(x) + general([x]) + parts.power(x) + parts.square * parts.square + parts.tripled(x)


def cached(x):
    return remembered(x) * remembered(x) + remembered(2.0)


def operators_as_functions(x):
    xs = [x]
    operator.iadd(xs, [x * x])
    operator.iconcat(xs, (x,))
    operator.setitem(xs, 0, 3 * x)
    operator.delitem(xs, 2)
    parts = operator.concat((x,), (2 * x,))[1] * operator.itemgetter(0, 1)(xs)[1] * operator.getitem(xs, 0)
    v = x
    for name in ("iadd", "isub", "imul", "itruediv", "ipow", "imod"):
        v = getattr(operator, name)(v + 1, x + 0.3)
    return parts * v * operator.methodcaller("__add__", x)(2 * x) * operator.attrgetter("k")(Parts(x))


def called(x):
    if not hasattr(operator, "call"):
        return x
    return operator.call(math.atan2, x, 2.0) * operator.call(lambda v, k=1: v * k, x, k=x)


def operators_by_name(x):
    product = operator.__add__(x, 1) * operator.__iadd__(x, 1) * operator.__pow__(x, 2) * operator.__truediv__(1, x)
    return product * operator.__getitem__([x], 0) * operator.__concat__([x], [1])[0] * operator.__neg__(x)


def heaps(x):
    heap = data(x)
    heapq.heapify(heap)
    heapq.heappush(heap, 1.5 * x)
    taken = heapq.heappop(heap) * heapq.heappushpop(heap, 0.1 * x) + heapq.heapreplace(heap, 4.0)
    best = math.prod(heapq.nlargest(2, data(x))) * math.prod(heapq.nsmallest(2, data(x), key=lambda v: -v))
    merged = sum(i * v for i, v in enumerate(heapq.merge(sorted(data(x)), [x, 1.0, 5.0])))
    return taken + best + merged + sum(heap)


def products_with_a_start(x):
    return math.prod([x, 2.0], start=x) * math.prod((x,), start=3) + math.prod([], start=x) * math.prod(data(x))


def numbers_of_iterables(x):
    pair = np.array([x, x * x])
    sums = math.fsum({x, 2.0}) + math.fsum(v * x for v in [x, 2.0]) + math.fsum(pair) + math.prod({x: 1, 2.0: 2})
    return sums * math.prod(pair) + math.prod(range(1, 4)) * x + math.dist(pair, [x * x, 1.0]) + math.dist((x, 1), pair)


def sums_of_products(x):
    if not hasattr(math, "sumprod"):
        return x
    listed = math.sumprod([x, x * x, 3], (x, 1.0, x)) + math.sumprod((v for v in [x, x * x, 3]), [x, 1.0, x])
    return listed + math.sumprod([x, x * x, 3], range(3)) + math.sumprod(np.array([x, x * x]), [x, 1.0])


PROGRAMS = [
    *(accumulated, grouped, combined, split, selected, endless, mapped, in_batches, reduced, dispatched, cached),
    *(operators_as_functions, called, operators_by_name, heaps),
    *(products_with_a_start, numbers_of_iterables, sums_of_products),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("f", PROGRAMS)
def test_programs(f, mode):
    expected = differences(f, 0.7, 2 if mode == "hvp" else 1)
    assert MODES[mode](f, 0.7) == pytest.approx(expected, rel=1e-6, abs=1e-4 if mode == "hvp" else 1e-8)


@pytest.mark.parametrize(
    "wrong", [lambda x: operator.concat(x, x), lambda x: math.dist(x, [x]), lambda x: math.prod(x)]
)
def test_errors_are_those_of_the_plain_call(wrong):
    for mode in MODES.values():
        with pytest.raises(TypeError):
            mode(wrong, 0.7)
