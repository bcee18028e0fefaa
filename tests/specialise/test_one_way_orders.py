"""Lists and tuples that are compared and sorted on one way through a program, also in heaps."""

from __future__ import annotations

import heapq

import pytest
from specialised_cases import GENERIC, check, is_specialised

VALUES = [0.7, 0.2, 0.9, 0.4]


def odd(x):
    """What sends a program on one way: a list of things of several kinds, which are asked for by place."""
    things = [x, "a", None, (x, 2.0)]
    return sum(1.0 if isinstance(things[k % 4], str) else 0.5 for k in range(3)) + things[0] * len(things)


def sorted_tuples(xs):
    rows = sorted((x, k, None) for k, x in enumerate([*xs, xs[0]]))
    events = sorted([(x, 1, "y") for x in xs] + [(0.5, 0, {"a": 2.0})], key=lambda row: row[:2], reverse=True)
    total = sum(x * k for k, (x, _, _) in enumerate(rows)) + sum(row[0] * k for k, row in enumerate(events))
    return total + max((xs[0], 1.0), (xs[1], 2.0))[0] + odd(xs[0])


def heaps_of_tuples(xs):
    heap, total = [], 0.0
    for k, x in enumerate(xs):
        heapq.heappush(heap, (x * x, k, [x]))
    while heap:
        square, k, (x,) = heapq.heappop(heap)
        total = total * 0.5 + square * x + k
    return total + odd(xs[0])


def compared(xs):
    a, b = (xs[0], xs[1]), (xs[0], xs[2], 1.0)
    total = xs[0] * (a < b) + xs[1] * (a <= a) + xs[2] * (b > a) + xs[3] * ([xs[0]] >= [xs[0], xs[1]])
    return total + (xs[0] if (a, 2) < (b, 1) else xs[1]) + odd(xs[0])


def given_list_beside_a_tuple(xs):
    first, *_, last = xs
    total = first * last if xs == (0.7, 0.2, 0.9, 0.4) else first
    return total + sum(xs[:2]) * (xs[:2] != (xs[0], xs[1])) + last * (tuple(xs) == xs) + odd(first)


def given_list_beside_lists(xs):
    first, *_, last = xs
    total = first * last if xs == [0.7, 0.2, 0.9, 0.4] else first + last * last
    return total + (xs[1] if [0.5] < xs else xs[2]) * (xs[1:] >= [xs[1]]) + odd(first)


@pytest.mark.parametrize(
    "f", [sorted_tuples, heaps_of_tuples, compared, given_list_beside_a_tuple, given_list_beside_lists]
)
def test_on_one_way(f):
    for values in (VALUES, VALUES[::-1], [0.3, 0.3, 0.3, 0.3]):
        check(f, values, specialised=None)
    if not GENERIC:
        assert is_specialised(f)
