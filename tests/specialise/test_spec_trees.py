"""Objects that hold others of their class: expressions, decision trees, chains, by methods that call themselves."""

from __future__ import annotations

import functools
import math
import random
from dataclasses import dataclass
from typing import Any

import pytest
from specialised_cases import GENERIC, is_specialised

import autodiff_hook as ad
from autodiff_hook.runtime import specialising

needs_programs = pytest.mark.skipif(GENERIC or specialising.ONE_WAY, reason="these are programs for all ways")


class Node:
    """An expression: ``op`` of two others, or a leaf."""

    def __init__(self, op, left=None, right=None, value=0.0):
        self.op, self.left, self.right, self.value = op, left, right, value

    def at(self, x):
        if self.op == "c":
            return self.value
        if self.op == "x":
            return x
        a, b = self.left.at(x), self.right.at(x)
        if self.op == "+":
            return a + b
        return a * b if self.op == "*" else math.sin(a) - b


@dataclass
class Split:
    """A decision tree; a leaf has no branches."""

    value: float
    low: Any = None
    high: Any = None


def decided(tree, x):
    if tree.low is None:
        return tree.value * x * x
    return decided(tree.low, x) * 1.1 if x < tree.value else decided(tree.high, x)


@dataclass
class Joint:
    """A chain that branches, of as many parts as it may be."""

    length: float
    parts: list

    def reach(self, x):
        total = self.length * math.cos(x)
        for part in self.parts:
            total += part.reach(x * 1.1)
        return total


@dataclass
class Pair:
    weight: float
    left: Any
    right: Any


def total(pair, x):
    if pair is None:
        return 0.5
    return pair.weight * x * total(pair.left, x) + total(pair.right, x)


def expression(size, draw):
    if size < 2:
        return Node(draw.choice("cx"), value=draw.random())
    first = draw.randint(1, size - 1)
    return Node(draw.choice("+*s"), expression(first, draw), expression(size - first, draw))


def decisions(size, draw):
    if size < 2 or draw.random() < 0.2:
        return Split(draw.random())
    return Split(draw.random(), decisions(size // 2, draw), decisions(size // 2, draw))


def joints(size, draw):
    return Joint(draw.random(), [joints(size // 2, draw) for _ in range(draw.randint(1, 2))] if size else [])


def pairs(size, draw):
    return Pair(draw.random(), pairs(size // 2, draw), pairs(draw.choice([0, size // 3]), draw)) if size else None


CASES = [(Node.at, expression), (decided, decisions), (Joint.reach, joints), (total, pairs)]


@pytest.mark.parametrize(("f", "make"), CASES)
def test_trees_of_any_shape(f, make):
    draw = random.Random(3)

    def by_number(x, tree):
        return f(tree, x)

    for _ in range(8):
        tree, x = make(20, draw), draw.random()
        expected = (f(tree, x + 1e-6) - f(tree, x - 1e-6)) / 2e-6
        assert ad.grad(by_number)(x, tree) == pytest.approx(expected, rel=1e-6, abs=1e-8)
        assert ad.gradient(functools.partial(f, tree), x)[0] == pytest.approx(expected, rel=1e-6, abs=1e-8)


@needs_programs
@pytest.mark.parametrize(("f", "make"), CASES)
def test_trees_of_any_shape_have_one_program_for_each_kind_of_root(f, make, monkeypatch):
    draw, tree = random.Random(5), None

    def by_number(x):
        return f(tree, x)

    for _ in range(12):
        tree = make(40, draw)
        ad.gradient(by_number, 0.3)
    assert is_specialised(by_number)
    made = []
    monkeypatch.setattr(specialising, "_specialise", lambda *args: made.append(args) or (None, True))
    for _ in range(5):
        tree = make(40, draw)
        ad.gradient(by_number, draw.random())
    assert not made


def test_gradients_by_trees():
    tree = Node("*", Node("s", Node("x"), Node("c", value=0.5)), Node("+", Node("x"), Node("c", value=2.0)))
    for x in (0.3, 0.7, 1.1):
        slope, by_x = ad.gradient(Node.at, tree, x)
        assert slope.left.right.value == pytest.approx(-(x + 2.0))
        assert slope.right.right.value == pytest.approx(math.sin(x) - 0.5)
        assert by_x == pytest.approx(math.cos(x) * (x + 2.0) + math.sin(x) - 0.5)


def test_a_branch_that_is_missing_is_the_plain_error():
    whole, broken = Node("+", Node("x"), Node("x")), Node("+", Node("x"), Node("*", Node("x")))

    def f(x, tree):
        return tree.at(x)

    for tree in (whole, broken, whole):
        if tree is whole:
            assert ad.grad(f)(0.5, tree) == 2.0
        else:
            with pytest.raises(AttributeError, match="'NoneType' object has no attribute 'at'"):
                ad.grad(f)(0.5, tree)


def test_a_shared_branch_and_a_changed_one():
    shared = Node("*", Node("x"), Node("c", value=3.0))
    tree = Node("+", shared, Node("+", shared, Node("x")))

    def f(x):
        return tree.at(x)

    assert [ad.gradient(f, 0.5)[0] for _ in range(3)] == [7.0] * 3
    shared.right.value = 4.0
    assert ad.gradient(f, 0.5)[0] == 9.0
    tree.right = Node("c", value=1.0)
    assert ad.gradient(f, 0.5)[0] == 4.0
    tree.right = Node("x", value="text")
    assert ad.gradient(f, 0.5)[0] == 5.0
