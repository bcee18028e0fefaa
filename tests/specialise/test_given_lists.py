"""Given lists, and arrays in loops, that a program changes in place: typed for all ways, and changed at its end."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest
from specialised_cases import GENERIC, check, has_all_ways, identical, oracle, outcome, same, scope

import autodiff_hook as ad
from autodiff_hook.runtime import specialising

SOURCE = """
history, kept, table = [0.5, 2.0], [], {"xs": None}

def filtered(xs):
    for i in range(1, len(xs)):
        xs[i] = xs[i] + 0.5 * xs[i - 1] * xs[i]
    return sum(xs)
def ordered(xs):
    xs.sort()
    s = 0.0
    for i, x in enumerate(xs):
        s += i * x * x
    xs.reverse()
    return s
def grown(xs):
    xs.append(xs[0] * xs[1])
    xs.extend([xs[-1], 2.0])
    xs += [x * x for x in xs]
    return sum(x * x for x in xs)
def shrunk(xs):
    s = 0.0
    while len(xs) > 2:
        s += xs.pop() * len(xs)
    xs.insert(0, s * xs[0])
    return s * xs[0]
def emptied(xs):
    s = math.prod(xs)
    xs.clear()
    return s
def swapped(xs):
    xs[0], xs[-1] = xs[-1] * xs[0], xs[0]
    del xs[1]
    return xs[0] * xs[-1]
def sliced(xs):
    xs[1:3] = [xs[0] * xs[1]]
    return sum(xs) * xs[1]
def normalised(v):
    total = sum(v)
    for i in range(len(v)):
        v[i] /= total
def by_another_function(xs):
    normalised(xs)
    return xs[0] * xs[1]
def on_some_ways(xs, x):
    if x > 1.0:
        xs[0] = x * xs[0]
    return xs[0] * x
def while_iterating(xs):
    s = 0.0
    for i, x in enumerate(xs):
        xs[i] = x * x + s
        s += xs[i]
    return s
def of_whole_numbers(xs):
    for i in range(len(xs)):
        xs[i] = xs[i] * 0.5
    return sum(xs) * xs[0]
def rows_are_changed(rows):
    for row in rows:
        row[0] = row[0] * row[1]
    return sum(row[0] for row in rows)
def rows_change_places(rows):
    rows[0], rows[1] = rows[1], rows[0]
    rows.append(rows[0])
    return rows[0][0] * rows[1][1] + rows[2][0] ** 2
def rows_are_replaced(rows):
    rows[0] = [2.0 * x for x in rows[1]]
    return rows[0][0] * rows[1][0]
def bubbles(xs):
    for _ in range(len(xs)):
        for j in range(len(xs) - 1):
            if xs[j] > xs[j + 1]:
                xs[j], xs[j + 1] = xs[j + 1], xs[j]
    return sum(i * x for i, x in enumerate(xs))
def two(xs, ys):
    for i in range(len(xs)):
        xs[i], ys[i] = ys[i] * xs[i], xs[i]
    return sum(xs) * ys[0]
def beside_others(xs):
    xs[0] = history[0] * xs[1]
    history[1] = xs[0]
    print("changed", xs)
    return sum(xs) * history[1]
def read_before(xs):
    first = xs[:]
    for i in range(len(xs)):
        xs[i] = first[i] * first[i - 1]
    return sum(a * b for a, b in zip(xs, first))
def returned(xs):
    xs[0] = xs[0] * 2.0
    return xs[0]
def kept_elsewhere(xs):
    xs[0] = xs[0] * 3.0
    kept.append(xs)
    return xs[0] * xs[1]
def kept_in_a_dict(xs):
    xs[0] = xs[0] * 3.0
    table["xs"] = xs
    return xs[0] * xs[1]
def in_a_list(xs):
    rows = [xs, [1.0, 2.0]]
    rows[0][0] = xs[1] * 2.0
    return xs[0] * rows[0][1]
def recursive(xs, n=3):
    xs[0] = xs[0] * xs[1]
    return xs[0] if n == 0 else recursive(xs, n - 1) + xs[0]
def stored_in_turn(a):
    for i in range(1, len(a)):
        a[i] = a[i] + 0.5 * a[i - 1] * a[i]
    return np.sum(a * a)
def iterated(a):
    for k in range(5):
        a += 0.1 * np.sin(a)
        a[0] = a[-1] * k
    return np.sum(a * a) + a[0]
def rows_of_an_array(m):
    for row in m:
        row *= row[0]
    return np.sum(m)
def through_a_view(a):
    tail = a[1:]
    for i in range(len(tail)):
        tail[i] = a[i] * tail[i]
    return np.sum(a)
"""
X = [1.3, 0.4, 2.1, 0.9, 1.7]
ROWS = [[1.5, 2.0], [0.3, 0.7], [1.1, 0.2]]
CASES = {
    **dict.fromkeys(
        "filtered ordered grown shrunk emptied swapped sliced by_another_function while_iterating".split(), [X]
    ),
    **dict.fromkeys("bubbles beside_others read_before returned kept_elsewhere kept_in_a_dict in_a_list".split(), [X]),
    **dict.fromkeys(["rows_are_changed", "rows_change_places", "rows_are_replaced"], [ROWS]),
    **dict.fromkeys(["stored_in_turn", "iterated", "through_a_view"], [np.array(X)]),
    "on_some_ways": [X, 1.5],
    "of_whole_numbers": [[1, 3, 2]],
    "two": [X, X[::-1]],
    "recursive": [X],
    "rows_of_an_array": [np.array(ROWS)],
}
ON_ONE_WAY = {
    *("swapped", "sliced", "kept_elsewhere", "kept_in_a_dict", "in_a_list", "rows_are_changed", "rows_change_places"),
    *("rows_are_replaced", "rows_of_an_array", "recursive"),
}


def made():
    return scope(SOURCE, math=math, np=np)


@pytest.mark.parametrize("name", CASES)
def test_lists_are_changed_as_by_the_plain_call(name):
    args, f, plain = CASES[name], made()[name], made()
    own = f.__globals__
    for again in range(4):
        expected, given, along = copy.deepcopy(args), copy.deepcopy(args), copy.deepcopy(args)
        _, slopes = oracle(made()[name], *copy.deepcopy(args))
        value = plain[name](*expected)
        found, grads = ad.withgradient(f, *given)
        assert found == value
        same(grads, slopes)
        assert repr(given) == repr(expected)
        assert [repr(own[n]) for n in ("history", "kept", "table")] == [
            repr(plain[n]) for n in ("history", "kept", "table")
        ]
        assert (own["table"]["xs"] is given[0]) == (plain["table"]["xs"] is expected[0])
        value, slope = ad.jvp(made()[name], tuple(along), tuple(copy.deepcopy(grads)))
        assert value == pytest.approx(found)
        assert slope == pytest.approx(sum(np.sum(np.square(y)) for y in ad.tree_leaves(grads)))
        assert repr(along) == repr(given) or again
    if not (GENERIC or specialising.ONE_WAY or name in ON_ONE_WAY):
        assert has_all_ways(f)


def test_gradients_share_no_memory_with_what_is_changed():
    f = scope("def f(a, b):\n    s = a @ b\n    a[0] = 5.0\n    a *= 2.0\n    return s")["f"]
    for _ in range(3):
        a, b = np.array([1.0, 2.0]), np.array([3.0, 4.0])
        by_a, by_b = ad.gradient(f, a, b)
        assert (by_a.tolist(), by_b.tolist(), a.tolist()) == ([3.0, 4.0], [1.0, 2.0], [10.0, 4.0])
        assert not any(np.shares_memory(x, y) for x in (a, b) for y in (by_a, by_b))


def test_names_that_come_to_be_one():
    """A list that is also a global, or a part of one, is carried: its derivative there is not known, or an error."""
    source = "history = [1.0, 2.0]\ndef f(xs):\n    xs[0] = xs[0] * xs[1]\n    return xs[0] * history[1] + history[0]"
    for change in ("history = mine", "rows = [mine]\nhistory = rows[0]"):
        names = scope(source)
        for _ in range(2):
            assert ad.gradient(names["f"], [2.0, 3.0]) == ([6.0, 4.0],)
        mine = [2.0, 3.0]
        exec(change, names, names | {"mine": mine})
        names["history"] = mine
        found, expected = outcome(ad.gradient, names["f"], mine), outcome(oracle, names["f"], [2.0, 3.0])
        assert isinstance(found, type) or found == expected[1]


def test_a_list_that_is_given_twice():
    f = made()["two"]
    ad.gradient(f, X[:], X[:])
    for _ in range(2):
        mine, other = X[:], X[:]
        found, expected = outcome(ad.gradient, f, mine, mine), outcome(oracle, f, other, other)
        assert mine == other
        assert found is expected if isinstance(expected, type) else found == expected[1]


def test_rows_that_are_one_share_their_gradient():
    f = scope("def f(rows):\n    return sum(x * x for row in rows for x in row) * rows[0][0]")["f"]
    for _ in range(3):
        assert ad.gradient(f, [[1.0, 2.0], [3.0], []]) == ([[16.0, 4.0], [6.0], []],)
        row = [1.0, 2.0]
        (found,) = ad.gradient(f, [row, [3.0], row])
        assert found == oracle(f, [row, [3.0], row])[1][0]
        assert found[0] is found[2]


def test_what_raises_has_changed_its_list_once():
    f = scope("def f(xs):\n    xs[0] = xs[0] * 2.0\n    xs.append(1.0 / (xs[1] - 2.0))\n    return sum(xs)")["f"]
    for _ in range(3):
        given = [1.0, 3.0]
        ad.gradient(f, given)
        assert given == [2.0, 3.0, 1.0]
        given = [1.0, 2.0]
        with pytest.raises(ZeroDivisionError):
            ad.gradient(f, given)
        assert given == [2.0, 2.0]


def test_operators_change_it_once():
    f = scope("def f(xs):\n    xs[0] = xs[0] * xs[1]\n    return xs[0] * xs[0]")["f"]
    for work in (
        lambda xs: ad.gradient(f, xs),
        lambda xs: ad.pullback(f, xs)[1](1.0),
        lambda xs: ad.jvp(f, (xs,), ([1.0, 0.0],)),
        lambda xs: ad.hvp(f, (xs,), ([1.0, 0.0],)),
        lambda xs: ad.value_and_grad(f)(xs),
    ):
        for _ in range(3):
            given = [2.0, 3.0]
            work(given)
            assert given == [6.0, 3.0]


def test_readonly_and_strided_arrays():
    f = made()["stored_in_turn"]
    for _ in range(2):
        whole = np.ones((3, 2))
        column = whole[:, 0]
        same(ad.gradient(f, column), oracle(f, np.ones(3))[1])
        locked = np.ones(3)
        locked.flags.writeable = False
        with pytest.raises(ValueError, match="read-only"):
            ad.gradient(f, locked)
        identical(locked, np.ones(3))
        ad.gradient(f, np.ones(3))


def scaled_to_bounds(params, problem):
    bounds, total = problem["bounds"], 0.0
    for i, p in enumerate(params):
        total += p * (bounds[i][1] - bounds[i][0]) + bounds[i][0] ** 2
    own = [list(pair) for pair in bounds]
    own[0][0] = 5.0
    return total + own[0][0] * own[1][0]


def first_and_last(a, b):
    return a[0] * b[-1] + sum(a)


def test_a_list_in_two_places():
    for i in range(3):
        pair, values = [-1.0, 2.0 + i], [1.0, 2.0]
        check(scaled_to_bounds, [1.0, 2.0, 3.0], {"bounds": [pair] * 3})
        check(scaled_to_bounds, [1.0, 2.0, 3.0], {"bounds": [pair, values, [0.5, 0.6]]})
        check(first_and_last, values, values)
        check(first_and_last, values, [3.0, 4.0])


def test_a_list_in_two_places_that_is_changed():
    def appended(a, b, x):
        a.append(x)
        return b[-1] * b[0] + len(b) * x

    for _ in range(4):
        values = [2.0, 3.0]
        assert ad.gradient(appended, values, values, 5.0) == ([5.0, 0.0], [5.0, 0.0], 5.0)
        assert values == [2.0, 3.0, 5.0]
