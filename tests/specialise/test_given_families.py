"""Objects of several classes that are given: in lists, dicts and attributes, in trees, changed, of others later."""

from __future__ import annotations

import copy
import math

import pytest
from specialised_cases import GENERIC, check, check_raises, has_all_ways, oracle, same

import autodiff_hook as ad
from autodiff_hook.runtime import specialising

ALL_WAYS = not (GENERIC or specialising.ONE_WAY)


class Part:
    sides = 1

    def __init__(self, weight):
        self.weight, self.uses = weight, 0

    def of(self, x):
        return self.weight * x

    def doubled(self, x):
        return 2.0 * self.of(x)


class Curved(Part):
    sides = 3

    def __init__(self, weight, coefficients):
        super().__init__(weight)
        self.coefficients = coefficients

    @property
    def first(self):
        return self.coefficients[0]

    def of(self, x):
        return sum(c * x**i for i, c in enumerate(self.coefficients)) + super().of(x)


class Named:
    def __init__(self, name, weight):
        self.name, self.weight = name, [weight, 2.0]

    def of(self, x):
        return math.sin(self.weight[0] * x) * len(self.name)

    def doubled(self, x):
        return x


class Pair:
    def __init__(self, left, right):
        self.left, self.right = left, right

    def of(self, x):
        return self.left.of(x) * self.right.of(x)


def parts():
    return [Part(0.5), Curved(2.0, [0.1, 0.3, -0.2]), Named("abc", 1.5), Part(1.5), Curved(-1.0, [0.7])]


def methods(x, items):
    return sum(item.of(x) + item.doubled(x) for item in items)


def asked_for_their_class(x, items):
    total = 0.0
    for item in items:
        if isinstance(item, Curved):
            total += item.first * x * item.sides
        elif not isinstance(item, Named):
            total += item.weight * item.sides
        if type(item) is Named:
            total += item.weight[1] * x
    return total


def greatest(x, items):
    best = max(items, key=lambda item: item.of(x))
    pairs = {type(item).__name__: item for item in items}
    return best.of(x) ** 2 + len(pairs) * x


class Holder:
    def __init__(self, items):
        self.items, self.table, self.chosen = items, {k: item for k, item in enumerate(items)}, items[1]


def in_attributes(x, holder):
    total = sum(item.of(x) * k for k, item in holder.table.items())
    return total + holder.chosen.of(x) + holder.items[2].of(x) * sum(item is holder.chosen for item in holder.items)


@pytest.mark.parametrize("f", [methods, asked_for_their_class, greatest, in_attributes])
def test_objects_that_are_given(f):
    def given():
        return Holder(parts() * 3) if f is in_attributes else parts() * 3

    for x in (0.7, 1.3):
        check(f, x, given(), specialised=None)
    if ALL_WAYS and f is not greatest:
        assert has_all_ways(f, "gradient", "value")
    held = given()

    def captured(x):
        return f(x, held)

    check(captured, 0.7, specialised=None)


def test_objects_of_other_classes_later():
    items = parts()
    check(methods, 0.7, items)
    items[1] = Named("de", 0.4)
    check(methods, 0.7, items)
    items[0] = Pair(Part(0.5), Part(0.2))
    items[0].doubled = lambda x: x
    check(methods, 0.7, items, specialised=None)
    check(methods, 0.7, items[3:4])


def test_attributes_of_other_kinds_later():
    items = parts()
    check(methods, 0.7, items)
    items[3].weight = 2
    check(methods, 0.7, items)
    items[2].weight = (1.0, 3.0)
    check(methods, 0.7, items, specialised=None)
    items[4].coefficients = []
    check(methods, 0.7, items, specialised=None)
    del items[0].weight
    check_raises(methods, 0.7, items)


def of_a_tree(x, tree):
    return tree.of(x) + tree.left.of(x)


def test_trees():
    tree = Pair(Pair(Part(0.5), Curved(1.0, [0.2, 0.4])), Pair(Named("a", 0.3), Pair(Part(2.0), Part(0.1))))
    check(of_a_tree, 0.7, tree, specialised=None)
    check(of_a_tree, 0.7, Pair(Part(1.0), tree), specialised=None)


def over_trees(x, trees):
    return sum(tree.of(x) for tree in trees)


def test_lists_of_trees():
    leaf = Part(0.5)
    trees = [leaf, Pair(leaf, Curved(1.0, [0.2])), Pair(Pair(leaf, Named("ab", 0.3)), leaf)]
    check(over_trees, 0.7, trees, specialised=None)
    check(over_trees, 0.7, trees[::-1] + [Part(1.0)], specialised=None)


def changed(x, items):
    total = 0.0
    for k in range(3):
        for item in items:
            total += item.of(x)
            if isinstance(item, Part):
                item.weight = item.weight * x + k
                item.uses += 1
    return total + items[0].weight


def test_objects_that_are_changed():
    expected = parts()
    value, grads = oracle(changed, 0.7, expected)
    for _ in range(3):
        items = parts()
        found, gradients = ad.withgradient(changed, 0.7, items)
        assert found == value
        same(gradients, grads)
        assert [vars(a) for a in items] == [vars(a) for a in expected]


def test_one_object_twice():
    items = parts()
    items[3] = items[0]
    check(methods, 0.7, items, specialised=None)
    check(changed_alone, 0.7, [copy.copy(x) for x in items], specialised=None)


def of_shared_settings(first, second):
    return (first.weight + second.weight**2) * first.settings["scale"] + second.settings["scale"] ** 2


def test_objects_that_share_a_dict_are_followed_from_the_first_call_on():
    first, second = Part(0.7), Part(1.3)
    first.settings = second.settings = {"scale": 2.0}
    check(of_shared_settings, first, second)
    if not GENERIC:
        known = specialising._known.found[id(of_shared_settings.__code__)].items()
        assert [x.attempts for (form, *_), x in known if form == "gradient"] == [1]
    second.settings = {"scale": 3.0}
    check(of_shared_settings, first, second)


def changed_alone(x, items):
    return sum(item.of(x) for item in items) * x


def test_what_a_class_says_may_change(monkeypatch):
    before = check(changed_alone, 0.7, parts(), specialised=None)
    monkeypatch.setattr(Named, "of", lambda self, x: self.weight[1] * x)
    assert check(changed_alone, 0.7, parts(), specialised=None) != before


def without_an_attribute(x, items):
    return sum(item.first * x for item in items)


def test_what_some_do_not_have():
    check_raises(without_an_attribute, 0.7, parts())
