"""Generators whose bodies stand around the loops that use them, and library functions that iterate."""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np
import pytest
from specialised_cases import check, check_all_ways

import autodiff_hook as ad

VALUES = [0.4, -0.7, 1.3, 0.2]


def multiples(x, count):
    for i in range(count):
        yield x * i


def newton(x):
    y = x
    while True:
        y = 0.5 * (y + x / y)
        yield y


def both(x, y):
    yield x
    for i in range(3):
        if i % 2:
            yield y * i
    yield x * y


def delegating(x):
    yield x * 3
    yield from multiples(x, 3)
    yield from [x, 2 * x]


def paired(xs):
    for i, x in enumerate(xs):
        for other in xs[:i]:
            yield x, other


def summed(x, y):
    s = 0.0
    for v in multiples(x, 4):
        s = s * y + v
    return s


def until_it_converges(x, y):
    last = y
    for v in newton(x):
        if abs(v - last) < 1e-12:
            break
        last = v
    return last * y


def last_one_after_a_break(x, y):
    k, v = 0, 0.0
    for k, v in enumerate(newton(x)):
        y = y * 1.1
        if k == 4 or v < 0:
            break
    return v * y + k


def several_yields(x, y):
    s, last = 0.0, y
    for v in both(x, y):
        if v > 5:
            s = s + 100 * v
            continue
        s = s * 0.5 + v * last
        last = v
    else:
        s = s * last
    return s


def several_yields_and_a_break(x, y):
    s = y
    for v in both(x, y):
        w = v * s
        if v > 1.2:
            break
        s = s + w
    return s * w


def delegated(x, y):
    return sum(v * v * y for v in delegating(x))


def nested(x, y):
    s = 0.0
    for a in multiples(x, 3):
        for b in both(a, y):
            if b < 0.1:
                continue
            s = s + math.sin(b) * y
    return s


def produced_by_another(x, y):
    squares = (v * v for v in multiples(x, 4))
    return sum(w * y for w in squares if w > 0.1)


def changed_meanwhile(x, y):
    items = [x, y]
    s = 0.0
    for v in (a * a for a in items):
        s += v
        if len(items) < 6:
            items.append(v * 0.7)
    return s


def variable_that_changes_meanwhile(x, y):
    k = x
    s = 0.0
    for v in (k * i for i in range(4)):
        s += v * y
        k = k * 0.5 + s
    return s


class Path:
    def __init__(self, step):
        self.step = step

    def points(self, count):
        place = 0.0
        for _ in range(count):
            place += self.step
            yield place, self.step * place

    def __iter__(self):
        yield self.step
        yield self.step * 2


def of_a_method(x, y):
    s = 0.0
    for p, q in Path(x).points(3):
        s += p * q * y
    return s


def returned_on_the_way(x, y):
    for v in newton(x):
        if v < 1.4:
            return v * y
    return 0.0


def first_that_fits(x, y):
    return next(v for v in multiples(x, 9) if v > y) * y + next((v for v in [x] if v > 9), y)


def with_star_arguments(x, y):
    def scaled(*factors):
        for f in factors:
            yield f * x

    return sum(scaled(y, 2.0, x))


@pytest.mark.parametrize(
    "f",
    [
        *(summed, until_it_converges, last_one_after_a_break, several_yields, several_yields_and_a_break, delegated),
        *(nested, produced_by_another, changed_meanwhile, variable_that_changes_meanwhile, of_a_method),
        *(returned_on_the_way, first_that_fits, with_star_arguments),
    ],
)
def test_generators_run_in_the_order_of_the_program(f):
    check_all_ways(f, 0.7, 0.9)
    check_all_ways(f, 0.9, 1.1)
    check(f, 1.9, 0.3, specialised=None)


def used_twice(x, y):
    values = multiples(x, 4)
    s = 0.0
    for v in values:
        s += v
        if v > x:
            break
    for v in values:
        s += v * y
    return s


def used_in_a_loop(x, y):
    values = multiples(x, 4)
    s = 0.0
    for k in range(3):
        for v in values:
            s += v * (k + y)
            if v > x:
                break
    return s


def asked_for_single_items(x, y):
    values = newton(x)
    return next(values) * y + next(values)


def that_cleans_up(x, y):
    found = []

    def values():
        try:
            yield x
            yield y
        finally:
            found.append(x * y)

    s = 0.0
    for v in values():
        s += v
        break
    return s + sum(found)


def that_is_sent_to(x, y):
    def running():
        total = 0.0
        while True:
            total += yield total

    sums = running()
    next(sums)
    return sums.send(x) * sums.send(y)


def whose_result_is_used(x, y):
    def inner():
        yield x
        return y

    def outer():
        last = yield from inner()
        yield last * x

    return sum(v * v for v in outer())


def that_raises(x, y):
    def values():
        yield x
        raise KeyError("no more")

    s = 0.0
    try:
        for v in values():
            s += v
    except KeyError:
        s *= y
    return s


def that_calls_itself(x, y):
    def nodes(depth, v):
        if depth > 0:
            yield v
            yield from nodes(depth - 1, v * y)

    return sum(nodes(3, x))


@pytest.mark.parametrize(
    "f",
    [
        *(used_twice, used_in_a_loop, asked_for_single_items, that_cleans_up, that_is_sent_to, whose_result_is_used),
        *(that_raises, that_calls_itself),
    ],
)
def test_generators_of_which_more_is_asked(f):
    check(f, 0.7, 0.9, specialised=None)


def accumulated(x, y):
    s = 0.0
    for t in itertools.accumulate([x, y, x * y]):
        s += t * t
    for t in itertools.accumulate([x, y], lambda a, b: a * b, initial=0.5):
        s += t
    return s


def crossed(x, y):
    s = 0.0
    for i, j, k in itertools.product(range(2), repeat=3):
        s += i * j * k * y
    for i, j, k in itertools.product((-1, 0, 1), repeat=3):
        s += (i + j * k) * x
    for i, j in itertools.product(range(3), repeat=2):
        s += x * i * y**j
    for a, b, c in itertools.product([x, y], (1.0, x), [y]):
        s += a * b + c
    return s


def combined(x, y):
    items = [x, y, x * y, 2 * x]
    s = sum(a * b for a, b in itertools.combinations(items, 2))
    for a, b, c in itertools.permutations(items, 3):
        s += a * b * b * c * c * c
    return s + sum(a * b for a, b in itertools.combinations_with_replacement(items, 2))


def side_by_side(x, y):
    items = [x * i + y for i in range(5)]
    s = sum((b - a) ** 2 for a, b in itertools.pairwise(items))
    for i, v in zip(itertools.count(1), items):
        s += i * v * v
    for v, k in zip(items, itertools.cycle([1.0, y])):
        s += v * k
    return s + sum(a * b for a, b in zip(items, map(math.sin, items[1:])))


def parts_of_sequences(x, y):
    items = [x * i + y for i in range(6)]
    s = sum(itertools.islice(items, 2)) + sum(v * v for v in itertools.islice(newton(x), 1, 8, 3))
    s += sum(itertools.takewhile(lambda v: v < 2 * y, items))
    s += sum(v * y for v in itertools.dropwhile(lambda v: v < 2 * y, items))
    for v in itertools.chain(items, (x, y), multiples(x, 3)):
        s = s * 0.9 + v
    for v in itertools.chain.from_iterable([[x, y], [x * y]]):
        s = s * 0.9 + v
    return s + sum(itertools.starmap(lambda a, b: a * b * x, zip(items, items[1:])))


def mapped_and_filtered(x, y):
    items = [x, -y, x * y, -x]
    s = sum(map(lambda v: v * y, items)) + sum(filter(lambda v: v > 0, items))
    s += sum(map(lambda a, b: a * b, items, [1.0, x, y, 2.0]))
    for v in map(abs, filter(None, items)):
        s += v * v
    return s * math.fsum(v * v for v in items) * math.prod(v + 2 for v in items)


def any_and_all(x, y):
    items = [x, y, x * y]
    s = x if any(v > 1 for v in items) else 2 * y
    return s * y if all(v > 0.1 for v in items) and any(items) else s


def extremes(x, y):
    items = [x, -y, x * y]
    s = max(items, key=lambda v: abs(v - 0.3)) + min(items, key=abs) * 2 + max(items, default=0.0) * 3
    s += max(v * v for v in items) + min((v for v in items if v > 100), default=y)
    a, b = max([(x, y), (y, x), (2 * x, x)], key=lambda p: p[0] * p[1])
    return s + a * a * b + max(x, y, key=lambda v: -v)


def ordered(x, y):
    items = [x, -y, x * y, y]
    a, b, *_ = sorted(items)[:2] + [x]
    largest = sorted(items, key=abs, reverse=True)
    s = a * b + sum((i + 1) * v for i, v in enumerate(largest))
    for p, q in sorted([(y, x), (x, y)], key=lambda pair: pair[0]):
        s = s * 0.7 + p * q * q
    return s + sum(v * i for i, v in enumerate(sorted(v * v for v in items)))


def numbered(x, y):
    s = 0.0
    for i, v in enumerate(multiples(x, 4), start=2):
        s += i * v * y
    return s + sum(i * v for i, v in enumerate([x, y], 5)) + len(list(multiples(x, 5))) * x


def made_to_lists(x, y):
    rows = list(zip([x, y], (2.0, x)))
    items = list(map(lambda v: v * y, [x, y]))
    items.append(x)
    matrix = [[x, y], [y, 2.0], [x * y, x]]
    turned = list(zip(*matrix))
    return sum(a * b for a, b in rows) + sum(items) * turned[0][2] * turned[1][0] + list(range(4))[2] * x


def recursive(n, x, y):
    return y if n == 0 else x * recursive(n - 1, x, y) + y


def of_small_depth(x, y):
    return recursive(5, x, y) + functools.reduce(lambda a, b: a * functools.reduce(lambda c, d: c + d, [b, x]), [x, y])


@pytest.mark.parametrize(
    "f",
    [
        *(accumulated, crossed, combined, side_by_side, parts_of_sequences, mapped_and_filtered, any_and_all, extremes),
        *(ordered, numbered, of_small_depth),
    ],
)
def test_functions_of_the_library_are_followed(f):
    check_all_ways(f, 0.7, 0.9)
    check_all_ways(f, 1.9, 0.3)


def over_given_lists(xs):
    best = max(xs, key=lambda v: v * v)
    s = sum(a * b for a, b in itertools.combinations(xs, 2)) * best
    for a, b in zip(sorted(xs), itertools.accumulate(xs)):
        s += a * b
    return s + sum(map(math.exp, xs))


def test_given_lists_of_any_length():
    for count in (4, 4, 3, 1):
        check(over_given_lists, VALUES[:count])


def empty_maximum(xs):
    return max(v for v in xs if v > 100)


def exhausted(xs):
    return next(v for v in xs if v > 100)


def without_order(xs):
    return sorted([xs[0], "a"])[0] * xs[1]


@pytest.mark.parametrize("f", [empty_maximum, exhausted, without_order])
def test_what_the_plain_call_raises_is_raised(f):
    import autodiff_hook as ad

    for _ in range(2):
        with pytest.raises(BaseException) as expected:
            f(VALUES)
        with pytest.raises(expected.type) as found:
            ad.gradient(f, VALUES)
        assert str(found.value) == str(expected.value)


def arrays_in_turn(x):
    s = 0.0
    for row in (x * k for k in range(1, 4)):
        s += np.sum(np.sin(row))
    return s + max((x, 2 * x), key=lambda row: row[0])[1]


def test_generators_of_arrays():
    check(arrays_in_turn, np.array([0.3, 0.4, -0.2]))


def running_sum(x):
    total = 0.0
    while True:
        sent = yield total
        if sent is None:
            return
        total += sent * x


def fed_by_hand(x, y):
    sums = running_sum(x)
    next(sums)
    first = sums.send(y)
    second = sums.send(2.0)
    return first * second + sums.send(x)


def passing_on(x):
    before = yield from running_sum(x)
    yield before if before is not None else x * x


def fed_through(x, y):
    outer = passing_on(x)
    outer.__next__()
    first = outer.send(y)
    return first * outer.send(y * y) + outer.send(None)


def until_it_stops(x, y):
    sums = running_sum(x)
    found = [sums.__next__(), sums.send(y)]
    try:
        sums.send(None)
    except StopIteration:
        found.append(x * y)
    return sum(found)


def sent_at_once(x, y):
    try:
        return running_sum(x).send(y)
    except TypeError:
        return x * y


def sent_to_no_generator(x, y):
    try:
        return iter([x, y]).send(x)
    except AttributeError:
        return x * y


@pytest.mark.parametrize("f", [fed_by_hand, fed_through, until_it_stops])
def test_generators_that_are_sent_values(f):
    for x, y in ((0.7, 0.3), (0.2, -1.5)):
        check(f, x, y)


@pytest.mark.parametrize("f", [sent_at_once, sent_to_no_generator])
def test_what_cannot_be_sent_a_value(f):
    check(f, 0.7, 0.3, specialised=None)


def over_places(matrix):
    out, places = np.zeros(matrix.shape), np.ndindex(2, 2)
    for place in np.ndindex(matrix.shape):
        out[place] = matrix[place] ** 2 * (1 + place[0])
    s = sum(out[row].sum() * row[0] for row in np.ndindex(*matrix.shape[:-1]))
    s += next(places)[1] + sum(matrix[i, j] * out[i, j] for i, j in places)
    return s + sum(1 for _ in np.ndindex(())) * matrix[1, 2]


def test_over_places():
    check(over_places, np.array([[0.3, 0.4, -0.2], [1.1, 0.7, 0.5]]))
    with pytest.raises(ValueError, match="negative dimensions"):
        ad.gradient(lambda x: x * sum(1 for _ in np.ndindex(-1)), 1.0)
