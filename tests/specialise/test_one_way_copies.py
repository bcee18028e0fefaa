"""Copies of objects from outside and of arguments, on one way: what was one object is one in the copy, too."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from specialised_cases import check, is_specialised

import autodiff_hook as ad


class Basis:
    def __init__(self, knots):
        self.knots = knots


class Curve:
    def __init__(self, knots, points):
        basis = Basis(np.array(knots))
        self.basis, self.points, self.bases = basis, np.array(points), [Basis(basis.knots), basis]
        self.table, self.weight, self.name = {"w": [1.0, 2.0], "points": self.points}, 3.0, None

    def scaled(self, x):
        made = copy.deepcopy(self)
        made.points *= x
        made.basis.knots = made.basis.knots * x
        made.table["w"][0] *= x
        made.weight += x
        return made


class Node:
    def __init__(self, value):
        self.value, self.then = value, None


def moments(curve):
    sums = curve.table["points"].sum() * curve.bases[1].knots.sum() + curve.bases[0].knots[0]
    return float(sums * curve.table["w"][0] + curve.weight * (curve.bases[1] is curve.basis))


def of_given(curve, x):
    return moments(curve.scaled(x)) + curve.weight * x


def alone(curve, x):
    made = copy.copy(curve)
    made.weight *= x
    made.table["w"].append(x)
    return made.weight + made.table["w"][-1] * len(curve.table["w"]) + curve.weight


def after_a_store(curve, x):
    before = copy.deepcopy(curve)
    curve.weight = x
    after = copy.deepcopy(curve)
    curve.weight = 3.0
    return before.weight * x + after.weight * 2.0


@pytest.mark.parametrize("f", [of_given, after_a_store])
def test_given_objects(f):
    for i in range(3):
        check(f, Curve([1.0, 2.0 + i], [3.0, 4.0 - i]), 1.5 + i)


def test_given_objects_alone():
    for i in range(3):
        curve = Curve([1.0, 2.0 + i], [3.0, 4.0])
        found = ad.gradient(alone, curve, 1.5 + i)
        assert found[1] == pytest.approx(3.0 + len(curve.table["w"]))


def test_objects_from_outside():
    curve = Curve([1.0, 2.0], [3.0, 4.0])

    def f(x):
        return moments(curve.scaled(x))

    for i in range(3):
        check(f, 1.5 + i)
    curve.table["points"] = curve.points.copy()
    check(f, 1.5)
    curve.bases[1] = Basis(curve.basis.knots)
    check(f, 1.5)
    curve.table["points"] = curve.points
    check(f, 1.5)


def test_objects_with_other_attributes_later():
    curve = Curve([1.0, 2.0], [3.0, 4.0])
    for i in range(4):
        check(of_given, curve, 1.5)
        setattr(curve, f"further{i % 2}", 2.0 + i)


def test_objects_that_hold_themselves():
    def f(node, x):
        made = copy.deepcopy(node)
        return made.then.value * x * (2.0 if made.then is made else 3.0)

    for _ in range(3):
        ring, pair = Node(2.0), Node(4.0)
        ring.then, pair.then = ring, Node(5.0)
        of_ring, of_pair = ad.gradient(f, ring, 1.5), ad.gradient(f, pair, 1.5)
        assert (of_ring[0].value, of_ring[1]) == pytest.approx((3.0, 4.0))
        assert (of_pair[0].then.value, of_pair[1]) == pytest.approx((4.5, 15.0))
    assert is_specialised(f)


class Matrix(list):
    def __init__(self, rows, weight):
        super().__init__(rows)
        self.weight = weight


class Table(dict):
    pass


class Doubling(list):
    def append(self, value):
        super().append(2.0 * value)


def copies_of_containers(x, given):
    row = [x, 2.0]
    a, table = Matrix([row, row], x), Table(a=x, l=[x, 2.0])
    a.append(a)
    b, found, other = copy.deepcopy(a), copy.deepcopy(table), copy.deepcopy(given)
    b[0][0] *= x
    found["l"].append(x)
    other[0][1] *= x
    same = b[2] is b and b[1] is b[0] and b is not a and type(found) is Table
    return b[2][1][0] * a[0][0] * b.weight * (2.0 if same else 1.0) + sum(found["l"]) * len(table["l"]) + other[0][1]


def copy_that_is_asked(x):
    first, *_ = copy.deepcopy(Doubling([x, 1.0]))
    return first * x


def test_classes_of_containers():
    for i in range(3):
        check(copies_of_containers, 1.5 + i, Matrix([[1.0, 2.0 + i]], 3.0))
        check(copy_that_is_asked, 1.5 + i, specialised=None)
