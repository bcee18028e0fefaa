"""Tuples of any length, ``zip(*rows)``, ``defaultdict`` and copies: what typed programs have lists and dicts for."""

from __future__ import annotations

import copy
import math
from collections import defaultdict

import numpy as np
import pytest
from specialised_cases import check, check_all_ways

import autodiff_hook as ad

VALUES = [0.4, -0.7, 1.3, 0.2]


def turned(x, y):
    m = [[x * i + y * j for j in range(3)] for i in range(2)]
    t = list(zip(*m))
    s = t[1][0] * t[2][1]
    for column in zip(*m):
        s = s * 0.7 + sum(column) * column[0] * len(column)
    a, b, c = zip(*m)
    return s + a[0] * b[1] * c[1]


def product_of_matrices(x, y):
    a = [[x * i + j for j in range(3)] for i in range(2)]
    b = [[y * i - j * x for j in range(2)] for i in range(3)]
    c = [[sum(p * q for p, q in zip(row, column)) for column in zip(*b)] for row in a]
    return c[0][0] * c[1][1] + c[0][1]


def tuples_of_any_length(x, y):
    items = tuple(v * y for v in [x, y, x * y])
    s = 1.0 if isinstance(items, tuple) else 0.0
    s += 2.0 if isinstance(items, list) or isinstance(items[:2], list) else 0.0
    for v in items[1:]:
        s = s * x + v
    return s + sum(items) * len(items) + max(items)


def totals(x, y):
    d = defaultdict(float)
    for i in range(7):
        d[i % 3] += x * i
    groups = defaultdict(list)
    for i in range(5):
        groups[i % 2].append(y * i)
    s = sum(d.values()) * d[1] + sum(sum(g) * (k + 1) for k, g in groups.items())
    return s + len(groups[9]) + len(groups) + (1.0 if 9 in groups else 0.0) + d.get(55, y)


def with_a_function(x, y):
    d = defaultdict(lambda: 0.5)
    d["a"] += x
    return d["a"] * d["b"] + y * len(d) * (2.0 if isinstance(d, dict) else 1.0)


def admittances(x, y):
    d = defaultdict(complex)
    for a, b in ((0, 1), (1, 2), (2, 0)):
        d[a, a] += 1.0 / complex(x + a, y)
        d[a, b] -= 1.0 / complex(x, b * y)
    return sum(abs(v) ** 2 for v in d.values()) + d[5, 5].real * x


def copies(x, y):
    items = [x, y]
    other = copy.copy(items)
    deep = copy.deepcopy(items)
    other[0] = 3.0 * y
    deep[1] = x * x
    return items[0] * other[1] * deep[0] + other[0] * deep[1] + copy.copy(x)


class Pair:
    def __init__(self, a, b):
        self.a = a
        self.b = b

    def __iter__(self):
        yield self.a
        yield self.b


def objects_that_are_iterated_over(x, y):
    a, b = Pair(x, y)
    s = a * b * b
    for v in Pair(x * y, y):
        s += math.sin(v)
    return s + sum(v for v in Pair(y, x))


@pytest.mark.parametrize(
    "f",
    [
        *(turned, product_of_matrices, tuples_of_any_length, totals, with_a_function, admittances, copies),
        objects_that_are_iterated_over,
    ],
)
def test_values_and_slopes(f):
    check_all_ways(f, 0.7, 0.9)
    check_all_ways(f, 1.9, 0.3)


def index_of_an_array(a, n):
    place = tuple(i for i in [0] * n)
    return np.sum(a[place]) * 2.0


def tuples_that_are_joined(xs):
    items = tuple(v * v for v in xs)
    return sum(items + (xs[0],)) + sum(items * 2)


def tuples_that_are_compared(xs):
    items = tuple(1 for v in xs)
    return xs[0] if items == (1,) * len(xs) else xs[1]


def key_that_is_a_tuple(xs):
    d = {}
    d[tuple(i for i in range(2))] = xs[0]
    return d[0, 1] * xs[1]


def text_of_a_tuple(xs):
    return len(str(tuple(1 for v in xs))) * xs[0] + len(f"{tuple(2 for v in xs)}") * xs[1]


def dicts_of_both_kinds(xs):
    d = defaultdict(float) if xs[0] > 0 else {}
    return d["a"] + xs[0]


def class_of_a_dict(xs):
    d = defaultdict(float)
    d["a"] += xs[0]
    return d["a"] * (2.0 if type(d) is dict else 3.0) * len(repr(d).split("defaultdict"))


@pytest.mark.parametrize(
    "f",
    [
        *(tuples_that_are_joined, tuples_that_are_compared, key_that_is_a_tuple, text_of_a_tuple, dicts_of_both_kinds),
        class_of_a_dict,
    ],
)
def test_what_shows_the_difference(f):
    check(f, VALUES, specialised=None)


def test_tuples_that_choose_items_of_arrays():
    a = np.arange(6.0).reshape(2, 3) + 0.5
    check(index_of_an_array, a, 2, specialised=None)
    check(index_of_an_array, a, 1, specialised=None)


def tuple_that_is_changed(xs):
    items = tuple(v for v in xs)
    items.append(xs[0])
    return items[0]


def tuple_with_an_item_assigned(xs):
    items = tuple(v for v in xs)
    items[0] = xs[1]
    return items[0]


def dict_without_the_key(xs):
    d = {}
    d["a"] = xs[0]
    return d["b"]


@pytest.mark.parametrize("f", [tuple_that_is_changed, tuple_with_an_item_assigned, dict_without_the_key])
def test_what_the_plain_call_raises_is_raised(f):
    for _ in range(2):
        with pytest.raises(Exception) as expected:
            f(VALUES)
        with pytest.raises(expected.type) as found:
            ad.gradient(f, VALUES)
        assert str(found.value) == str(expected.value)
