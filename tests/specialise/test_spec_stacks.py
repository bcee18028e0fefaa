"""Lists that grow and shrink: stacks, worklists, ``pop``, ``del items[-1]``, ``extend`` and ``+=``."""

from __future__ import annotations

import math

import numpy as np
import pytest
from specialised_cases import check

import autodiff_hook as ad


def taken(x):
    items = [x, 2.0 * x]
    last = items.pop()
    return last * items[0]


def worklist(x):
    todo, total = [x], 0.0
    while todo:
        v = todo.pop()
        total = total + v * v
        if v > 0.1:
            todo.append(v * 0.5)
            todo.append(v * 0.3)
    return total


def bisected(x):
    todo, total = [(0.0, x)], 0.0
    while len(todo) > 0:
        a, b = todo.pop()
        m = 0.5 * (a + b)
        if b - a < 0.2:
            total = total + (b - a) * math.sin(m) * x
        else:
            todo.append((a, m))
            todo.append((m, b))
    return total


def down_again(x):
    items = []
    for i in range(5):
        items.append(x * i)
    total = 0.0
    for _ in range(3):
        total = total * x + items.pop()
    del items[-1]
    return total * sum([*items, x]) + len(items)


def rows(x):
    table = []
    for i in range(4):
        table.append([x * i, x])
    row = table.pop()
    row.append(x)
    table[-1].append(row[0])
    other = table.pop()
    return sum(other) * row[1] + table[-1][0]


def looked_at_before(x):
    items, total = [x, 2.0 * x, 3.0 * x], 0.0
    for i, v in enumerate(reversed(items)):
        total = total + v * i
    items.pop()
    for v in items:
        total = total + v * v
    items.pop()
    items.append(x * x)
    return total + items[-1] * items[0]


def repeated_before(x):
    items = [x]
    more = items * 3
    items.append(2.0 * x)
    twice = items + more
    items.pop()
    return sum(more) * more[1] + sum(items) * twice[1]


def changed_between(x):
    items = []
    items.append(x)
    y = items.pop()
    items.append(y * 2.0)
    items[0] = items[0] * 3.0
    return items.pop() * y


def extended(x):
    items = [x]
    items.extend([2.0 * x, 3.0])
    items += (x * x, x)
    for i in range(3):
        items += [items[-1] * x, x * i]
        items.extend((x,))
    items.extend([])
    return sum(items) * items[-2]


def of_arrays(x):
    stack = []
    for i in range(3):
        stack.append(x * i)
    return np.sum(stack.pop() * stack.pop()) + np.sum(stack[0])


NUMBERS = [taken, worklist, bisected, down_again, rows, looked_at_before, repeated_before, changed_between, extended]


@pytest.mark.parametrize("f", NUMBERS)
def test_stacks_of_numbers(f):
    check(f, 0.7)


def test_stacks_of_arrays():
    check(of_arrays, np.array([0.5, 0.7]), specialised=None)


def of_the_last(x):
    return [].pop() * x if x < 1.0 else x


def test_an_empty_list_has_nothing_to_take():
    for _ in range(2):
        with pytest.raises(IndexError, match="empty list"):
            ad.gradient(of_the_last, 0.5)
    check(of_the_last, 2.0, specialised=None)


def test_lists_that_are_given_keep_their_items():
    def f(items):
        return items.pop() * items[0]

    for _ in range(3):
        items = [2.0, 3.0]
        assert ad.gradient(f, items) == ([3.0, 2.0],)
        assert items == [2.0]


def by_place(x):
    items = [x, 2.0 * x, 3.0 * x]
    first = items.pop(0)
    items.insert(1, x * x)
    del items[0]
    return first * sum(items)


def test_other_places():
    check(by_place, 0.7, specialised=None)
