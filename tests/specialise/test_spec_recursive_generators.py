"""Generators that call themselves."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest
from specialised_cases import check, check_slopes


class Node:
    def __init__(self, value, children=()):
        self.value, self.children, self.slope = value, list(children), 0.0

    def __iter__(self):
        yield self.value
        for child in self.children:
            yield from child


def tree(x, y, depth=5):
    if depth == 0:
        return Node(x)
    return Node(x + y * depth, [tree(x * 1.1, y, depth - 1), tree(x, y * 0.9, depth - 1)])


def values(node, depth=0):
    yield node.value * 0.9**depth
    for child in node.children:
        for value in values(child, depth + 1):  # noqa: UP028
            yield value


def nodes(node):
    yield node
    for child in node.children:
        yield from nodes(child)


def moves(n, a, b, c):
    if n > 0:
        yield from moves(n - 1, a, c, b)
        yield a, c
        yield from moves(n - 1, b, a, c)


def panels(f, a, b):
    m = (a + b) / 2
    if b - a < 0.2:
        yield (b - a) * (f(a) + 4 * f(m) + f(b)) / 6
    else:
        yield from panels(f, a, m)
        yield from panels(f, m, b)


def in_order(x, y):
    return sum(v * 0.99**k for k, v in enumerate(tree(x, y)))


def in_depth(x, y):
    found = list(values(tree(x, y)))
    return max(found) + sum(v * v for v in values(tree(y, x)))


def towers(x, y):
    weights = [x, y, x * y]
    return sum(weights[a] * weights[c] - weights[c] for a, c in moves(5, 0, 1, 2))


def integral(x, y):
    return sum(panels(lambda t: math.sin(t * x) * y, 0.0, 3.0))


def in_turns(x, y):
    def even(node):
        yield node.value
        for child in node.children:
            yield from odd(child)

    def odd(node):
        yield node.value * y
        for child in node.children:
            yield from even(child)

    return sum(even(tree(x, y)))


def what_is_not_read_changes(x, y):
    root = tree(x, y)
    for _ in range(2):
        for node in nodes(root):
            node.slope = node.value * y
        for node in nodes(root):
            node.value -= 0.1 * node.slope
    return sum(values(root))


@pytest.mark.parametrize("f", [in_order, in_depth, towers, integral, in_turns, what_is_not_read_changes])
def test_all_items_are_used(f):
    check_slopes(f, 0.7, 0.9)
    check_slopes(f, 1.3, 0.4)


def what_is_read_changes(x, y):
    root, total = tree(x, y), 0.0
    for k, value in enumerate(root):
        total += value * (k + 1)
        root.children[1].value = total * 0.01
    for node in nodes(root):
        if len(node.children) == 2 and node.value > 1.0:
            node.children.pop()
        total += node.value
    return total


def it_changes_by_a_call(x, y):
    root, total = tree(x, y), 0.0

    def raised(node, by):
        node.children[0].value += by
        if node.children[0].children:
            raised(node.children[0], by)

    for value in root:
        total += value
        raised(root, y)
    return total


def it_changes_before(x, y):
    root = tree(x, y)
    found = values(root)
    root.value = 5.0 * y
    return sum(found)


def captured_variables_change(x, y):
    factor = 1.0

    def scaled(node):
        yield node.value * factor
        for child in node.children:
            yield from scaled(child)

    total = 0.0
    for value in scaled(tree(x, y)):
        factor += y
        total += value
    return total


def arrays_change(x, y):
    a = np.array([x, y])

    def scaled(node):
        yield a[0] * node.value
        for child in node.children:
            yield from scaled(child)

    total = 0.0
    for value in scaled(tree(x, y)):
        total += value * value * 0.01
        a[0] = total * 0.01
    return total


def the_generator_changes(x, y):
    log, total = [], 0.0

    def logged(node):
        log.append(node.value)
        node.value *= 1.1
        yield node.value
        for child in node.children:
            yield from logged(child)

    for value in logged(tree(x, y)):
        total += value * len(log)
    return total + sum(log)


def drawn_in_turns(x, y):
    def noisy(node):
        yield node.value * random.random()
        for child in node.children:
            yield from noisy(child)

    random.seed(3)
    return sum(value * random.random() for value in noisy(tree(x, y)))


@pytest.mark.parametrize(
    "f",
    [
        *(what_is_read_changes, it_changes_by_a_call, it_changes_before, captured_variables_change, arrays_change),
        *(the_generator_changes, drawn_in_turns),
    ],
)
def test_it_makes_a_difference_when_they_are_made(f):
    check(f, 0.7, 0.9, specialised=None)


def left(x, y):
    def numbers(n):
        yield n * x
        yield from numbers(n + 1)

    def endless(n):
        yield n * y
        while n > 3:
            yield x
        yield from endless(n + 1)

    total = 0.0
    for value in numbers(0):
        total += value * y
        if value > 9:
            break
    for k, value in enumerate(endless(0)):
        total += value
        if k > 20:
            return total


def some_are_asked_for(x, y):
    found, twice = values(tree(x, y)), values(tree(y, x))
    total = next(found) * 2 + next(found) * y + sum(found) + sum(twice) + sum(twice)
    total += sum(a * b for a, b in zip(tree(x, y), [x, y]))
    return total + sum(itertools.islice(values(tree(x, y)), 4)) + any(v > 2 for v in values(tree(x, y)))


def it_raises(x, y):
    def deep(node, depth=0):
        if depth == 2:
            raise ValueError(node.value)
        yield node.value
        for child in node.children:
            yield from deep(child, depth + 1)

    total = 0.0
    try:
        for value in deep(tree(x, y)):
            total += value
    except ValueError as error:
        total += error.args[0] * y
    return total


@pytest.mark.parametrize("f", [left, some_are_asked_for, it_raises])
def test_not_all_items_are_used(f):
    check(f, 0.7, 0.9, specialised=None)


def test_what_is_printed_stands_in_its_order(capsys):
    def f(x, y):
        def told(node):
            print("yielded", end=" ")
            yield node.value
            for child in node.children:
                yield from told(child)

        total = 0.0
        for value in told(tree(x, y)):
            print("used", end=" ")
            total += value
        return total

    check(f, 0.7, 0.9, specialised=None)
    said = capsys.readouterr().out
    assert "yielded yielded" not in said and "used used" not in said
