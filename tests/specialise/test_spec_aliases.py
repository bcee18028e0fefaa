"""Lists, dicts and objects by identity: cotangents go where the items were, whatever names there are."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from specialised_cases import check, oracle, same

import autodiff_hook as ad

SHARED = [0.3, 0.4]
HELD = (SHARED, 1.0)


class Thing:
    """An object with any attributes."""

    common = [1.0, 2.0]

    def __init__(self, **attributes):
        self.__dict__.update(attributes)


def check_anew(f, *args):
    """``check`` of a function that changes what it is given."""
    expected = oracle(f, *copy.deepcopy(args))
    for _ in range(3):
        given = copy.deepcopy(args)
        found = ad.withgradient(f, *given)
        plain = copy.deepcopy(args)
        assert found[0] == f(*plain)
        same(found[1], expected[1])
        assert repr([vars(x) for x in given if isinstance(x, Thing)]) == repr(
            [vars(x) for x in plain if isinstance(x, Thing)]
        )


# Iterations over lists that grow


def turned_and_longer(xs):
    ys = []
    for v in xs:
        ys.append(v * 2)
    for v in reversed(ys):
        ys.append(v * v * 0.5)
    s = 0.0
    for i in range(len(ys)):
        s += ys[i] * (i + 1)
    return s


def turned_then_longer(xs):
    ys = list(xs)
    turned = reversed(ys)
    ys.append(xs[0] * xs[1])
    s = 0.0
    for i, v in enumerate(turned):
        s += v * v * (i + 1)
    return s * ys[-1]


@pytest.mark.parametrize("f", [turned_and_longer, turned_then_longer])
def test_reversed_lists_that_grow(f):
    check(f, [0.7, 0.9, 0.3], specialised=None)


# Lists repeated


def repeated_pairs(x, y, n):
    t = [(x, y)] * n
    s = 0.0
    for a, b in t:
        s += a * b
    return s + t[0][1]


def repeated_list_of_pairs(pairs, n):
    t = pairs * n
    s = 0.0
    for a, b in t:
        s += a * b * b
    return s


def test_pairs_that_are_repeated():
    check(repeated_pairs, 0.7, 0.8, 3)
    check(repeated_list_of_pairs, [(0.7, 0.8), (0.1, 0.2)], 3)
    check(repeated_list_of_pairs, [(0.7, 0.8), (0.1, 0.2)], 0)


# Rows taken before loops


def rows_if_there(t, i, n):
    s = 1.0
    for k in range(n):
        if i < len(t):
            s *= t[i][0][k]
    return s + t[0][0][0]


def test_rows_of_rows_that_are_not_there():
    t = [[[0.3, 0.4]], [[0.5, 0.6]]]
    check(rows_if_there, t, 0, 2)
    check(rows_if_there, t, 2, 2)


# One list that is passed, and reached in another way


def of_a_captured_tuple(xs):
    return xs[0] * HELD[0][1]


def of_a_class(thing, xs):
    return thing.common[0] * xs[1] * thing.k


def test_what_is_passed_is_captured_too():
    check(of_a_captured_tuple, [0.1, 0.2])
    check(of_a_captured_tuple, SHARED, specialised=None)


def test_what_is_passed_is_an_attribute_of_a_class_too():
    check(of_a_class, Thing(k=0.2), [0.3, 0.4])
    with pytest.raises(ad.NotDifferentiable, match="cannot be told apart"):
        ad.gradient(of_a_class, Thing(k=0.2), Thing.common)
    check(of_a_class, Thing(k=0.2, common=[0.5]), [0.3, 0.4], specialised=None)
    check(of_a_class, Thing(k=0.2), [0.3, 0.4])


# Lists that objects hold are not the program's own


def stored(thing, y):
    thing.xs[0] = y * y
    return thing.xs[0] * thing.xs[1]


def appended(thing, y):
    thing.xs.append(y * y)
    return thing.xs[-1] * thing.xs[1]


def of_several(things, y):
    for thing in things:
        thing.xs[0] = y * thing.xs[1]
    return things[0].xs[0] + things[1].xs[0]


def own_or_given(thing, y):
    xs = [y, y * y] if y > 1.0 else thing.xs
    xs.append(y)
    return xs[-1] * xs[0] * xs[1]


def test_changes_of_lists_that_objects_hold():
    check_anew(stored, Thing(xs=[0.1, 0.2]), 0.3)
    check_anew(appended, Thing(xs=[0.1, 0.2]), 0.3)
    check_anew(of_several, [Thing(xs=[0.1, 0.2]), Thing(xs=[0.3, 0.4])], 0.3)
    check_anew(own_or_given, Thing(xs=[0.1, 0.2]), 1.3)
    check_anew(own_or_given, Thing(xs=[0.1, 0.2]), 0.3)


def test_one_array_twice_in_a_list():
    a = np.ones(2)
    check(lambda xs: np.sum(xs[0]) * 2 + np.sum(xs[1] * xs[1]), [a, a], specialised=None)


# Dicts


def by_pairs(n, x):
    found = {}
    for k in range(n):
        found[k, k % 2] = k * x
    s = 0.0
    for k in found:
        found[k] = found[k] * found[k]
    for (a, b), v in found.items():
        s += v * (a + b)
    return s + found[1, 1]


def test_a_dict_with_tuples_for_keys():
    check(by_pairs, 3, 0.5)


# The greatest of a list, beside arrays


def greatest(n, a):
    ks = [0]
    for i in range(n):
        ks.append(i)
    u = np.zeros(5)
    u[:] = a
    for i in range(max(ks)):
        u[i] = a * u[i + 1]
    return u.sum() * max(ks) + max(ks, default=0) * max(u[0], u[1], u[2])


def test_the_greatest_of_a_list_beside_arrays():
    check(greatest, 3, 0.5)
