"""Functions that call themselves, and share lists, dicts, objects and captured variables with their callers."""

from __future__ import annotations

import math
from types import FunctionType

import numpy as np
import pytest
import shared_programs as programs
from shared_programs import BOX, Box, Tree, tree_of
from specialised_cases import GENERIC, check, check_slopes, has_all_ways, oracle, same, scope

import autodiff_hook as ad
from autodiff_hook.runtime.specialising import ONE_WAY

PROGRAMS = [f for f in vars(programs).values() if isinstance(f, FunctionType) and f.__code__.co_varnames[:1] == ("x",)]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_one_program_has_all_ways(f):
    for x in (0.7, 0.83, 0.61, 1.3):
        check_slopes(f, x, specialised=None)
    value, back = ad.pullback(f, 0.7)
    assert value == f(0.7)
    for _ in range(2):
        same(back(1.0), oracle(f, 0.7)[1])
    if not (GENERIC or ONE_WAY):
        assert has_all_ways(f, "gradient", "value")


def test_gradients_by_trees():
    shared = Tree(0.5)
    same_twice = Tree(1.0, shared, Tree(2.0, shared))
    for tree in (tree_of(3), tree_of(4, 0.5), Tree(2.0), Tree(1.0, tree_of(2), tree_of(1)), same_twice):
        check(programs.of_a_given_tree, tree, 0.7, specialised=None)
    if not (GENERIC or ONE_WAY):
        assert has_all_ways(programs.of_a_given_tree, "gradient")


def test_gradients_by_objects_in_lists():
    for box in (BOX, Box(2.0, [Box(1.0), Box(0.5, [Box(3.0)])]), Box(0.3)):
        check(programs.of_given_boxes, box, 0.7, specialised=None)


def test_gradients_by_lists():
    for items in ([1.0, 2.0, 0.3], [0.5], [], [1.0, 2]):
        check(programs.of_a_given_list, items, 0.7, specialised=None)


def test_lists_that_are_given_and_changed():
    f = programs.of_a_given_list_that_changes
    for _ in range(3):
        items = [1.0, 2.0, 0.3]
        same(ad.gradient(f, items, 0.7), oracle(f, [1.0, 2.0, 0.3], 0.7)[1])
        assert items == [1.0, 1.0 * 0.7, 2.0 * 0.7]


def test_objects_that_hold_each_other():
    class Node:
        def __init__(self, value):
            self.value, self.parent, self.inner = value, None, []

    def made(n, value):
        node = Node(value)
        for i in range(n):
            inner = made(n - 1, value * (i + 0.5))
            inner.parent = node
            node.inner.append(inner)
        return node

    def go(node, x):
        above = 0.0 if node.parent is None else node.parent.value
        return node.value * x + above * 0.1 + sum([go(inner, x * x) for inner in node.inner])

    outside = made(2, 1.0)
    check_slopes(lambda x: go(outside, x), 0.7, specialised=None)
    check_slopes(lambda x: go(made(3, x), x), 0.7, specialised=None)
    if not ONE_WAY:
        check(lambda x: go(outside, x), 0.7)
        check(lambda x: go(made(3, x), x), 0.7)


def scaled(v):
    return scope(
        "class Leaf:\n"
        "    def __init__(self, v, rest=None): self.v, self.rest = v, rest\n"
        "    def weight(self): return 2.0\n"
        "def go(leaf, x): return 0.0 if leaf is None else leaf.weight() * leaf.v * x + go(leaf.rest, x * x)\n"
        f"LEAF = Leaf({v}, Leaf(3.0, Leaf(0.5)))\n"
        "def f(x): return go(LEAF, x)\n"
    )


def change_a_number(names):
    names["LEAF"].rest.v = 7.0


def change_a_type(names):
    names["LEAF"].rest.rest.v = 7


def change_a_class(names):
    class Other(names["Leaf"]):
        def weight(self):
            return 5.0

    names["LEAF"].rest.rest = Other(1.0)


def hide_a_method(names):
    names["LEAF"].rest.weight = lambda: 11.0


def replace_a_method(names):
    names["Leaf"].weight = lambda self: self.v


def replace_the_function(names):
    exec("def go(leaf, x): return leaf.v * x", names)


def make_it_longer(names):
    names["LEAF"].rest.rest.rest = names["Leaf"](4.0)


def make_it_hold_itself_no_more_than_once(names):
    names["LEAF"].rest.rest = None


@pytest.mark.parametrize(
    "change",
    [
        change_a_number,
        change_a_type,
        change_a_class,
        hide_a_method,
        replace_a_method,
        replace_the_function,
        make_it_longer,
        make_it_hold_itself_no_more_than_once,
    ],
)
def test_what_is_taken_for_granted_is_guarded(change):
    names = scaled(1.0)
    f = names["f"]
    for _ in range(3):
        check_slopes(f, 0.7)
    change(names)
    for _ in range(2):
        check_slopes(f, 0.7, specialised=None)


OUTSIDE = """
import math
COUNTS, CALLS = {"calls": 0, "largest": 0.0}, 0

class Solver:
    rate = 0.5
    def __init__(self): self.calls, self.last = 0, 0.25
    def go(self, n, x):
        self.calls += 1
        self.last = self.last * 0.5 + x
        return x if n == 0 else self.go(n - 1, x * 0.9) + self.last
    def in_turns(self, other, n, x):
        self.last += x
        other.calls += 1
        return self.last if n == 0 else other.in_turns(self, n - 1, x * 0.9) + other.last * 0.1
    def of_the_class(self, n, x):
        self.rate = self.rate * x
        return self.rate if n == 0 else self.of_the_class(n - 1, x) + self.last
    def fails(self, n, x):
        self.last = x
        return math.log(x - 0.8) if n == 0 else self.fails(n - 1, x)

FIRST, SECOND = Solver(), Solver()

def counted(n, x):
    global CALLS
    CALLS += 1
    COUNTS["calls"] += 1
    COUNTS["largest"] = max(COUNTS["largest"], x)
    return x * COUNTS["calls"] if n == 0 else counted(n - 1, x * 1.1) + COUNTS["largest"]

def in_a_loop(x):
    found = 0.0
    for i in range(3):
        found += FIRST.go(i, x) + SECOND.go(1, x)
        SECOND.last = found
    return found
"""
ASSIGNING = {
    "globals": "counted(4, x) + COUNTS['largest']",
    "an object": "FIRST.go(4, x) + FIRST.last",
    "two objects": "FIRST.in_turns(SECOND, 4, x) + SECOND.last",
    "one object twice": "FIRST.in_turns(FIRST, 4, x) + FIRST.last",
    "of the class": "FIRST.of_the_class(3, x)",
    "fails": "FIRST.fails(2, x)",
    "in a loop": "in_a_loop(x)",
}


@pytest.mark.parametrize("call", ASSIGNING.values(), ids=ASSIGNING)
def test_what_is_outside_is_assigned_as_by_the_plain_program(call):
    def outcome(derive, x):
        names = scope(OUTSIDE)
        f = eval(f"lambda x: {call}", names)
        try:
            found = [derive(f, y) for y in (x, x + 0.3, 2.0 * x)]
        except ValueError as error:
            found = str(error)
        solvers = [vars(names[name]) for name in ("FIRST", "SECOND")]
        return found, repr((names["COUNTS"], names["CALLS"], solvers)), f

    for x in (0.7, 1.2):
        found, state, f = outcome(lambda f, x: ad.gradient(f, x), x)
        expected, same_state, _ = outcome(lambda f, x: oracle(f, x)[1], x)
        assert state == same_state
        assert found == expected if type(expected) is str else same(found, expected) is None
        if not (GENERIC or ONE_WAY or type(found) is str):
            assert has_all_ways(f, "gradient")


def test_arrays_that_are_changed_in_place_are_seen_by_all_their_names():
    class Point:
        def __init__(self, v):
            self.v = v

        def step(self, n, f):
            if n > 0:
                self.v += f * n
                self.step(n - 1, f)

    def f(a):
        point = Point(a * 1.0)
        before = point.v
        point.step(3, a)
        return np.sum(point.v * point.v) + np.sum(before)

    def go(weights, i, a):
        return a if i == len(weights) else go(weights, i + 1, np.tanh(weights[i] * a))

    def g(a):
        weights = [a * (i + 1) for i in range(3)]
        first = np.sum(go(weights, 0, a))
        b = a * 1.0
        b[0] = 3.0
        weights[1] = b
        second = np.sum(go(weights, 0, a))
        b[1] = first
        return second + np.sum(go(weights, 0, b))

    for a in (np.array([0.3, 0.7]), np.array([1.0, -0.2, 0.4])):
        check(f, a, specialised=None)
        check(g, a, specialised=None)


def test_keys_that_depend_on_what_is_differentiated():
    def put(d, n, x):
        if n > 0:
            d[x * n] = n
            put(d, n - 1, x)

    def f(x):
        d = {}
        put(d, 3, x)
        return sum([k for k in d])

    check_slopes(f, 0.7, specialised=None)


def test_errors_and_infinite_derivatives_within():
    def go(items, i):
        return 1.0 if i == len(items) else items[i] ** 1.5 * go(items, i + 1)

    def logs(items, i):
        return 0.0 if i == len(items) else math.log(items[i]) + logs(items, i + 1)

    for x in (0.7, 0.0):
        check(lambda x: go([0.0, x, 0.0, x], 0), x, specialised=None)
    for _ in range(2):
        with pytest.raises(ValueError, match="math domain error|expected a positive input"):
            ad.gradient(lambda x: logs([x, x - 1.0], 0), 0.5)
