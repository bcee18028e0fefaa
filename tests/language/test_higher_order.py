"""Functions as arguments: map, filter, reduce, partial, sorted, min and max with a key, itertools."""

from __future__ import annotations

import bisect
import contextlib
import functools
import itertools
import operator
import types

import numpy as np
from helpers import gradient_at

XS = [0.5, -1.5, 2.0]


@gradient_at(1.3)
def test_functions_as_arguments(x):
    def apply_twice(f, v):
        return f(f(v))

    def compose(f, g):
        return lambda t: f(g(t))

    return apply_twice(lambda t: t * x, x) + compose(lambda t: t * t, lambda t: t + x)(x)


@gradient_at(XS, 0.7)
def test_map(xs, y):
    a = list(map(lambda v: v * y, xs))
    b = tuple(map(lambda v, w: v * w, xs, a))
    c = 0.0
    for i, v in enumerate(map(operator.neg, xs)):
        c += i * v
    return sum(map(lambda v: v * v, b)) + a[0] + c + max(map(abs, xs)) + sum(map(float, xs))


@gradient_at(XS)
def test_filter(xs):
    kept = [v * v for v in filter(lambda v: v > 0, xs)]
    return sum(kept) * sum(filter(None, xs)) + len(list(filter(lambda v: v < 0, xs))) * xs[0]


@gradient_at(XS)
def test_reduce(xs):
    a = functools.reduce(lambda u, v: u * v + v, xs)
    b = functools.reduce(lambda u, v: u * v, xs, xs[0])
    c = functools.reduce(operator.add, (v * v for v in xs), 0.0)
    return a + b * c + functools.reduce(operator.mul, [xs[1]]) + functools.reduce(max, xs)


@gradient_at(1.2, 0.4)
def test_partial(x, y):
    def f(a, b, c=1.0):
        return a * b + c

    g = functools.partial(f, x)
    h = functools.partial(g, c=y)
    k = functools.partial(h, y, c=x)
    return g(y) + h(2.0) * k() + h(x, c=y * y) + functools.partial(operator.mul, x)(y)


@gradient_at(XS)
def test_sorted(xs):
    a, b, c = sorted(xs)
    d, e, f = sorted(xs, key=lambda v: -v * v)
    g = sorted(xs, key=abs, reverse=True)
    pairs = sorted(zip(xs, "abc"), key=lambda p: p[1], reverse=True)
    return a * b * c * c + d * 2 + e * 3 + f * f + g[0] * g[2] + pairs[0][0] * 5


@gradient_at(XS)
def test_min_and_max(xs):
    a, b, c = xs
    return (
        min(xs) * max(xs)
        + min(a, b, c)
        + max(xs, key=lambda v: v * v) * 3
        + min(xs, key=abs) * 5
        + max(a, b, key=lambda v: -v) * 7
        + max((v * v for v in xs), default=0.0)
        + min([], default=a)
        + max(map(abs, xs))
    )


@gradient_at(XS)
def test_sum(xs):
    return sum(xs) * sum(xs, xs[0]) + sum(v * v for v in xs) + sum([]) + sum(tuple(xs)) + sum(xs[1:])


@gradient_at(XS)
def test_operator_functions(xs):
    get = operator.itemgetter(1)
    both = operator.itemgetter(0, 2)
    a, b = both(xs)
    return operator.mul(get(xs), a) + operator.getitem(xs, 2) * b + operator.truediv(a, b)


@gradient_at(XS)
def test_itertools(xs):
    total = 0.0
    for v in itertools.chain(xs, [v * v for v in xs]):
        total += v * v
    numbers = itertools.count()
    assert isinstance(numbers, itertools.count) and next(numbers) == 0
    for i, v in zip(itertools.count(1), xs):
        total += i * v
    for a, b in itertools.pairwise(xs):
        total += a * b
    for a, b in itertools.product(xs, repeat=2):
        total += a * b * b
    for v in itertools.islice(xs, 1, None):
        total += v**3
    for v in itertools.accumulate(xs):
        total += v * v
    return total


@gradient_at(1.5)
def test_callbacks_with_effects(x):
    seen = []

    def note(v):
        seen.append(v * x)
        return v

    values = sorted([x, 2 * x], key=note)
    return seen[0] * values[1] + max([x, 3.0], key=note) * len(seen)


@gradient_at(1.5)
def test_filters_with_effects(x):
    seen = []

    def note(v):
        seen.append(v * v)
        return v > 2

    kept = list(filter(note, [x, 2 * x, 3 * x]))
    return sum(seen) * kept[0]


@gradient_at([3.0, 1.0, 2.0])
def test_sorting_in_place(xs):
    xs.sort()
    a = xs[0] * 2 + xs[1] * 3
    xs.sort(key=lambda v: -v)
    return a * xs[0] + xs[2]


@gradient_at(1.5)
def test_sorting_a_list_with_some_constants(x):
    xs = [5.0, x, 3.0]
    xs.sort()
    a = xs[0] * 2 + xs[1] * 3
    xs.reverse()
    return a + xs[2] * x


@gradient_at([3.0, 1.0, 2.0])
def test_comparison_functions(xs):
    xs = sorted(xs, key=functools.cmp_to_key(lambda a, b: (a > b) - (a < b)))
    return xs[0] * 2 + xs[1] * 3 + xs[2] * 4


@gradient_at(1.3)
def test_combinations(x):
    items = [x, 2.0, x * x]
    pairs = sum(a * b for a, b in itertools.combinations(items, 2))
    orders = sum(a + 2 * b for a, b in itertools.permutations(items, 2))
    return pairs + orders + sum(a * b for a, b in itertools.combinations_with_replacement(items, 2))


@gradient_at([0.7, 1.3, -2.0, -0.5, 3.0])
def test_groups_share_their_iterator(xs):
    kept = {name: group for name, group in itertools.groupby(xs, key=lambda v: v > 0)}
    total = sum(sum(group) for group in kept.values())
    source = iter(xs)
    for _, group in itertools.groupby(source, key=lambda v: v > 0):
        total += next(group) * 2.0 + next(source, 0.5) * 3.0
    pairs = list(itertools.groupby(xs))
    asked = []
    for _, group in itertools.groupby(xs, key=lambda v: asked.append(v) or v > 0):
        total += len(asked) * next(group)
    return total + len(pairs) + sum(len(list(group)) for _, group in pairs)


@gradient_at([0.7, 1.3, -2.0, -0.5, 3.0, 1.1, 0.2])
def test_what_slices_of_iterators_take(xs):
    source = iter(xs)
    total = sum(itertools.islice(source, 0, 5, 2)) + next(source) * 5.0
    source = iter(xs)
    middle = itertools.islice(source, 1, 4, 2)
    total += next(middle) * 2.0 + next(source) * 7.0
    return total + sum(middle) + next(source) * 3.0 + sum(itertools.islice(source, 2, 1))


@gradient_at(1.3, 0.4)
def test_places_from_the_end(x, y):
    items = [x, y, x * y, y]
    return items.index(y, -2) * x + items.index(x, -9) + items.index(x * y, 1) * y


@gradient_at(1.3)
def test_combinations_of_what_changes_afterwards(x):
    items = [x, 2.0, x * x]
    pairs, orders = itertools.combinations(items, 2), itertools.permutations(items)
    rows = itertools.product(items, [1.0, x])
    items[0] = 100.0
    items.append(x)
    total = sum(a * b for a, b in pairs) + sum(a / (1.0 + b) for a, b, _ in orders) + sum(a * b for a, b in rows)
    try:
        itertools.combinations(items, -1)
    except ValueError as error:
        total = total + len(str(error)) * x
    return total


@gradient_at(1.3)
def test_places_in_sorted_lists(x):
    grid = [0.0, 1.0, x * 2, 3.0]
    return x * grid[bisect.bisect_right(grid, x)] + grid[bisect.bisect_left(grid, 0.5)]


@gradient_at(1.3)
def test_reductions_by_functions_of_numpys(x):
    rows = np.array([[x, 2.0], [x * x, 0.5]])
    total = np.add.reduce(rows).prod() + np.multiply.reduce(rows, axis=1).sum()
    return total + np.maximum.reduce(rows, None) * np.minimum.reduce(rows, 1, None, None, True).sum()


class Counter:
    """What methods are called of by name."""

    def __init__(self, a):
        self.a = a

    def step(self, t, k=0.5, *, w=1.0):
        self.a = self.a * t + w
        return self.a * t * k

    def __enter__(self):
        return self

    def __exit__(self, *info):
        self.a *= 2


@gradient_at(0.4, 0.7)
def test_a_methodcaller_holds_arguments(x, y):
    step, counter = operator.methodcaller("step", y, k=x, w=y), Counter(x)
    return step(counter) + step(counter) + sum(map(operator.methodcaller("__mul__", x), [x, y]))


@gradient_at(0.4, 0.7)
def test_methods_that_are_bound_by_hand(x, y):
    counter = Counter(x)
    of_number = types.MethodType(lambda a, b: a * b + a * a, x)
    return types.MethodType(Counter.step, counter)(y) * counter.a + of_number(y)


@gradient_at(0.4, 0.7)
def test_a_manager_on_an_exit_stack(x, y):
    counter = Counter(x)
    with contextlib.ExitStack() as stack:
        stack.enter_context(counter)
        stack.callback(counter.step, y)
    return counter.a * y


@gradient_at(0.4)
def test_native_code_appends_a_constant_to_a_list_that_held_something(x):
    items = [x]
    first = items.pop()
    with contextlib.ExitStack() as stack:
        stack.callback(items.append, 0.3)
    items.append(x)
    return sum(items) * first
