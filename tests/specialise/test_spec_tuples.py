"""Iterations over tuples of what is differentiated."""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import numpy as np
import pytest
from specialised_cases import check, check_all_ways, has_all_ways

from autodiff_hook.runtime.specialising import GENERIC, ONE_WAY


def horner(x, *coefficients):
    y = 0.0
    for c in coefficients:
        y = y * x + c
    return y


def of_rest_arguments(x):
    return horner(x, 1.0, x, 2.0)


def written_out(x):
    total = 0.0
    for v in (x, 2.0 * x, x * x):
        total = total + v * total + v
    return total


def side_by_side(x):
    total = 0.0
    for i, (a, b) in enumerate(zip((x, 2.0 * x), (3.0, x))):
        total = total + i * a * b + a
    return total


def within_a_loop(x):
    total = 0.5
    for _ in range(2):
        for v in (total, x):
            total = total * 0.5 + v
    return total


def in_expressions(x):
    total = functools.reduce(lambda a, b: a * b, [x, 2.0, x])
    return total + sum([a * b for a, b in zip((x, 1.0), (x, x))])


def weighted(x):
    first, second, total = x, x * x, 0.0
    for w, k in zip((0.5, 0.25), (first, second)):
        total = total + w * k
    for v in reversed((first, second)):
        total = total * x + v
    return total


def by_an_index(x):
    """From both ends, and of a tuple with a constant."""
    parts, total = (x, 3.0, x * x), 0.0
    for i in range(3):
        total = total + parts[i] * i * parts[i - 3] * x + parts[-1 - i]
    return total


@pytest.mark.parametrize(
    "f", [of_rest_arguments, written_out, side_by_side, within_a_loop, in_expressions, weighted, by_an_index]
)
def test_tuples_of_numbers(f):
    check(f, 0.7)


def of_pairs(x):
    total = 0.0
    for a, b in ((x, 1.0), (2.0 * x, x)):
        total = total + a * b
    return total


def of_several_kinds(x):
    total = 0.0
    for name, v in (("a", x), ("bc", 2.0 * x)):
        total = total + v * len(name)
    return total


@pytest.mark.parametrize("f", [of_pairs, of_several_kinds])
def test_tuples_of_tuples(f):
    check(f, 0.7, specialised=None)


def given(p):
    total = 0.0
    for v in p:
        total = total + v * v
    a, b = p
    return total * a * b


def test_tuples_that_are_given():
    check(given, (0.7, 0.3))


def of_arrays(x):
    total = np.zeros(2)
    for v in (x, 2.0 * x, x * x):
        total = total * 0.5 + v
    return np.sum(total)


def test_tuples_of_arrays():
    check(of_arrays, np.array([0.5, 0.7]), specialised=None)


def of_raised(x):
    """What the last iteration makes is read by none."""
    total = 0.0
    a, b = np.atleast_2d(x * 2.0, x + 1.0)
    for i in range(3):
        total = total + (a * b).sum()
        a, b = np.atleast_2d(x * i, x + i)
    return total


def of_broadcast(x):
    total = 0.0
    a, b = np.broadcast_arrays(x * 2.0, x + 1.0)
    for i in range(3):
        total = total + (a * b).sum()
        a, b = np.broadcast_arrays(x * i, x[:1] + i)
    return total


def of_fractions(x):
    total = 0.0
    whole, rest = np.modf(x)
    for i in range(3):
        total = total + (whole * rest * x).sum()
        whole, rest = np.modf(x * (i + 2.0))
    return total


@pytest.mark.parametrize("f", [of_raised, of_broadcast, of_fractions])
def test_tuples_of_rules_that_have_no_cotangent_in_some_runs(f):
    check(f, np.array([0.7, 1.3, 2.2]))
    assert GENERIC or ONE_WAY or has_all_ways(f, "gradient")


def put_together(x):
    state = (x[0], 1.0)
    for _ in range(5):
        a, b = state
        state = (a * b,) + (b + 0.1,)
    shape = (2,) + x.shape[1:] + (x.size,)
    return state[0] + np.sum(np.ones(shape) * x)


def repeated(x):
    pair = (x[0], x[1]) * 2
    pair += (x[2],)
    return sum(a * b for a, b in zip(pair, x.tolist() + x.tolist()))


def given_and_made(x):
    weights = SHIFTS * 1 + (float(x[0]),)
    return sum(w * x[1] for w in weights)


SHIFTS = (0.5, 2.0)


@pytest.mark.parametrize("f", [put_together, repeated, given_and_made])
def test_tuples_that_are_put_together(f):
    check(f, np.array([0.7, 1.3, 2.2]))
    assert GENERIC or ONE_WAY or has_all_ways(f, "gradient")


def test_tuples_that_grow():
    def f(x):
        found = ()
        for i in range(5):
            found = found + (x * i,)
        return math.fsum(found)

    check(f, 0.7)


class Node:
    def __init__(self, value, parents=()):
        self.value, self.parents = value, parents


def nodes(x, y):
    found = [Node(x), Node(y, (x,)), Node(x * y, (x, 2 * y))]
    for k in range(6):
        found.append(Node(y * k, (y,)) if k % 3 else Node(x * k, (x, y * k)))
    return found


def asked_for_their_items(x, y):
    total = 0.0
    for node in nodes(x, y):
        total += node.value * len(node.parents) + sum(node.parents[1:]) + isinstance(node.parents, tuple)
        if node.parents:
            total += node.parents[-1] * node.parents[0] + max(node.parents)
        if len(node.parents) == 2:
            first, second = node.parents
            total += first * second
    return total


def of_objects(x, y):
    def total(node):
        return node.value + sum(total(parent) * 0.5 for parent in node.parents)

    leaves = [Node(x), Node(y)]
    inner = Node(x * y, tuple(leaves))
    return total(Node(y, (inner, leaves[0], inner))) + total(inner)


class Step:
    def __init__(self, act, args):
        self.act, self.args = act, args


def spread_into_calls(x, y):
    steps, total = [], 0.0
    for k in range(9):
        if k % 3 == 0:
            steps.append(Step(lambda a: a * y, (x * k,)))
        else:
            steps.append(Step(lambda a, b: a + b * y, (x, k * 1.0)) if k % 3 == 1 else Step(lambda: x, ()))
    for step in steps:
        total = total * 0.9 + step.act(*step.args)
    return total


@pytest.mark.parametrize("f", [asked_for_their_items, of_objects, spread_into_calls])
def test_tuples_of_several_lengths_are_an_attribute(f):
    check_all_ways(f, 0.7, 0.9)
    check_all_ways(f, 1.3, 0.4)


def compared_and_added(x, y):
    total, table = 0.0, {}
    for node in nodes(x, y):
        node.parents = (*node.parents, y * y)
        total += sum(node.parents) * (3 if node.parents == (y * y,) else 1) + (x in node.parents)
        table[node.parents] = node.value
    return total + len(table)


def which_one_it_is(x, y):
    shared, found = (x, y, x * y), nodes(x, y)
    for node in found[3:]:
        node.parents = shared
    same = [node.parents is shared for node in found]
    return sum(node.value * (2 if is_one else 1) for node, is_one in zip(found, same)) + x * len(
        {id(node.parents) for node in found[3:]}
    )


@pytest.mark.parametrize("f", [compared_and_added, which_one_it_is])
def test_what_else_is_asked_of_them(f):
    check(f, 0.7, 0.9, specialised=None)


class Pair(NamedTuple):
    a: float
    b: float


class Odd(Pair):
    def __eq__(self, other):
        return self.a != other.a


def of_names(x, n=4):
    total, p = 0.0, Pair(x, 1.0)
    for i in range(n):
        q = Pair(x, 1.0 + i // 2)
        total += q.a * q.b if p == q else p.a * p.a
        total += p.b if p < q or p != (x, 1.0) else x
        p = q
    return total + (x if Odd(x, 1.0) == Odd(x, 1.0) else 2.0 * x)


def test_named_tuples_that_are_compared():
    for x in (0.7, 1.3):
        check(of_names, x, specialised=None)
    check(lambda x: x * x if Pair(x, 1.0) == Pair(x, 1.0) else x, 0.7)
