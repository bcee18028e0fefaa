"""Iterators that are asked for one item here and one there by ``next``: over lists, and ``itertools.count``."""

from __future__ import annotations

import heapq
import itertools

import pytest
from specialised_cases import GENERIC, check, check_raises, has_all_ways

from autodiff_hook.runtime import specialising

ALL_WAYS = not (GENERIC or specialising.ONE_WAY)
VALUES = [0.3, 0.7, 0.2, 0.9, 0.4]


def parameters_in_order(xs):
    it = iter(xs)
    rows = [[next(it), next(it)] for _ in range(2)]
    return rows[0][0] * rows[1][1] + rows[0][1] * rows[1][0] + next(it) ** 2


def the_rest_in_a_loop(xs):
    it = iter(xs)
    total = next(it)
    for x in it:
        total = total * 0.9 + x
        if total > 1.2:
            break
    return total + sum(x * x for x in it) + next(it, 5.0)


def until_there_is_none(xs):
    it, total, k = iter(tuple(x * x for x in xs)), 0.0, 0
    while True:
        x = next(it, None)
        if x is None:
            break
        total += x * k
        k += 1
    return total


def growing_behind_its_end(xs):
    items = [x * x for x in xs]
    it = iter(items)
    total = sum(it)
    items.append(xs[0])
    return total + next(it, 2.0) + len(list(it))


def caught_at_its_end(xs):
    it, total = iter(xs), 0.0
    try:
        while True:
            total += next(it) * next(it)
    except StopIteration:
        return total * xs[-1]


def counted(xs):
    numbers, times = itertools.count(), itertools.count(xs[0], step=xs[1])
    total = sum(x * next(numbers) for x in xs)
    for x in xs:
        total += x * next(times)
    return total + next(times) * next(numbers)


class Simulation:
    def __init__(self):
        self.events, self.numbers, self.now = [], itertools.count(1), 0.0

    def schedule(self, delay, kind):
        heapq.heappush(self.events, (self.now + delay, next(self.numbers), kind))

    def run(self, xs):
        total = 0.0
        while self.events:
            self.now, number, kind = heapq.heappop(self.events)
            total += self.now * number
            if kind == "first":
                self.schedule(xs[1] * self.now, "second")
        return total


def numbered_events(xs):
    simulation = Simulation()
    for x in xs:
        simulation.schedule(x, "first")
    return simulation.run(xs)


@pytest.mark.parametrize(
    "f",
    [
        *(parameters_in_order, the_rest_in_a_loop, until_there_is_none, growing_behind_its_end, caught_at_its_end),
        *(counted, numbered_events),
    ],
)
def test_items_that_are_asked_for_one_by_one(f):
    for values in (VALUES, [*VALUES[::-1], 0.35]):
        check(f, values, specialised=ALL_WAYS or None)
    if ALL_WAYS:
        assert has_all_ways(f, "gradient", "value")


def of_two_at_once(xs):
    it = iter(xs)
    first = next(it)
    return first * sum(a * b for a, b in zip(it, it))


def of_pairs(xs):
    pairs = zip(xs, xs[1:])
    a, b = next(pairs)
    return a * b + sum(p * q * q for p, q in pairs)


@pytest.mark.parametrize("f", [of_two_at_once, of_pairs])
def test_what_shows_the_difference(f):
    check(f, VALUES, specialised=None)


def beyond_its_end(xs):
    it = iter(xs)
    return sum(next(it) for _ in range(9)) + xs[0]


def test_beyond_the_end():
    check_raises(beyond_its_end, VALUES)
