"""Objects of several classes that come by one name: in lists and dicts, in attributes, by several ways."""

from __future__ import annotations

import copy
import functools
import math

import pytest
from specialised_cases import check, check_all_ways, check_raises

VALUES = [0.3, 0.7, 0.2, 0.9, 0.4]


class Shape:
    sides = 0
    count = 1

    def __init__(self, weight):
        self.weight = weight

    def area(self):
        raise NotImplementedError

    def weighted(self):
        return self.weight * self.area()

    @property
    def doubled(self):
        return 2.0 * self.area()

    def __add__(self, other):
        return self.area() + other.area()

    def __call__(self, x):
        return x * self.area()


class Square(Shape):
    sides = 4

    def __init__(self, weight, side):
        super().__init__(weight)
        self.side = side

    def area(self):
        return self.side**2


class Disc(Shape):
    def __init__(self, weight, radius):
        super().__init__(weight)
        self.radius = radius
        self.count = 2

    @property
    def diameter(self):
        return 2.0 * self.radius

    def area(self):
        return math.pi * self.diameter**2 / 4

    def __mul__(self, factor):
        return Disc(self.weight, self.radius * factor)


class Ring(Disc):
    def __init__(self, weight, radius, inner):
        super().__init__(weight, radius)
        self.inner = inner

    def area(self):
        return super().area() - math.pi * self.inner**2

    def __len__(self):
        return 0


def shapes(x, y):
    found = [Square(x, y)]
    for k in range(6):
        if k % 3 == 0:
            found.append(Disc(x * k, y))
        elif k % 3 == 1:
            found.append(Ring(y, x + k, 0.5 * x))
        else:
            found.append(Square(y, x * k))
    return found


def methods_and_properties(x, y):
    return sum(s.weighted() + s.doubled * s.area() for s in shapes(x, y))


def attributes_of_objects_and_classes(x, y):
    total = 0.0
    for s in shapes(x, y):
        s.weight *= 1.1
        total += s.weight * (s.sides + 1) * s.count
    return total


def asked_for_their_class(x, y):
    total = 0.0
    for s in shapes(x, y):
        if isinstance(s, Ring):
            total += s.inner * s.diameter
        elif isinstance(s, (Disc, int)):
            total -= s.radius * x
        elif not isinstance(s, Disc):
            total += s.side**3
        if type(s) is Disc:
            total += s.diameter * y
        total += isinstance(s, Shape) * x
    return total


def operators_and_calls(x, y):
    found = shapes(x, y)
    total = 0.0
    for a, b in zip(found, found[1:]):
        total += a + b
        total += a(x) - b(y)
        total += x if a else y
    return total


def one_after_the_other(x, y):
    s = Square(x, y)
    total = 0.0
    for k in range(5):
        total += s.area() * (k + 1)
        s = Disc(x, s.area()) if k % 2 else Ring(y, 1.0 + s.weight, 0.1 * x)
    return total + s.weight


def made(kind, x, y):
    if kind == "disc":
        return Disc(x, y)
    return Square(x, y) if kind == "square" else None


def made_by_name(x, y):
    held = {}
    for k, kind in enumerate(["disc", "square", "disc", "nothing", "square"]):
        shape = made(kind, x * (k + 1), y)
        if shape is not None:
            held[kind, k] = shape
    return sum(shape.weighted() * k for (_, k), shape in held.items()) + held["disc", 0].radius


class Number:
    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        return Sum(self, other)

    def of(self, env):
        return self.value


class Name:
    def __init__(self, name):
        self.name = name

    def of(self, env):
        return env[self.name]


class Sum:
    def __init__(self, left, right):
        self.left, self.right = left, right

    def of(self, env):
        return self.left.of(env) + self.right.of(env)


class Product(Sum):
    def of(self, env):
        return self.left.of(env) * self.right.of(env)


def expressions(x, y):
    e = Sum(Product(Number(x), Name("a")), Product(Number(y), Product(Name("a"), Name("b"))))
    return sum(e.of({"a": 0.1 * k, "b": y}) for k in range(5))


def grown(depth, values):
    if depth == 0:
        return Number(values.pop())
    return Product(grown(depth - 1, values), Sum(Number(values.pop()), grown(depth - 1, values)))


def trees(x, y):
    tree = grown(3, [x * k + y for k in range(40)])
    return tree.of({}) + tree.left.right.left.of({}) * x


class Branch:
    def __init__(self, value, children=()):
        self.value, self.children = value, list(children)

    def total(self, x):
        return self.value * x + sum(child.total(x * x) for child in self.children)


class Twig(Branch):
    def total(self, x):
        return self.value - x


def joined_in_pairs(x, y):
    trees = [Branch(x), Twig(y), Branch(x * y), Twig(0.5), Branch(y)]
    while len(trees) > 1:
        a, b = trees.pop(0), trees.pop(0)
        trees.append(Branch(a.value - b.value, [a, b]))
    return trees[0].total(x) + trees[0].value


class Task:
    def __init__(self, time):
        self.time, self.next = time, None

    def done(self, state):
        state.total += self.time


class Repeated(Task):
    def done(self, state):
        state.total += state.gain * self.time
        if self.time < 2.0:
            self.next = Repeated(self.time * 1.5)


class State:
    def __init__(self, gain):
        self.gain, self.total = gain, 0.0


def tasks(x, y):
    state, pending = State(y), [Task(x), Repeated(x * y), Task(y)]
    while pending:
        task = pending.pop()
        task.done(state)
        if task.next is not None:
            pending.append(task.next)
    return state.total


@pytest.mark.parametrize(
    "f",
    [
        *(methods_and_properties, attributes_of_objects_and_classes, asked_for_their_class, operators_and_calls),
        *(one_after_the_other, made_by_name, expressions, trees, tasks, joined_in_pairs),
    ],
)
def test_values_and_slopes(f):
    check_all_ways(f, 0.7, 0.9)
    check_all_ways(f, 1.3, 0.4)


def of_what_may_be_none(x, y):
    last, total = None, 0.0
    for k, s in enumerate(shapes(x, y)):
        if isinstance(last, Disc):
            total += last.radius * k
        if k != 3:
            last = s
    return total + last.weight


def copied(x, y):
    found = [copy.copy(s) for s in shapes(x, y)]
    found[0].weight = x * y
    return sum(s.weight for s in found)


def multiplied(x, y):
    total = 0.0
    for s in shapes(x, y):
        if s.sides == 0:
            total += (s * x).weighted() + (s == s) + hash(s) * 0.0
    return total


def under_two_names(x, y):
    found = shapes(x, y)
    other = found[2]
    other.weight = y * y
    named = sum(len(type(s).__name__) for s in found)
    return sum(s.weight for s in found) + (found[2] is other) + (found[1] in found) + named


@pytest.mark.parametrize("f", [of_what_may_be_none, copied, multiplied, under_two_names])
def test_what_else_is_asked_of_them(f):
    check(f, 0.7, 0.9, specialised=None)


def attribute_of_another_class(x, y):
    return sum(s.radius for s in shapes(x, y))


def method_of_another_class(x, y):
    return sum(s.nothing() for s in shapes(x, y))


@pytest.mark.parametrize("f", [attribute_of_another_class, method_of_another_class])
def test_what_some_do_not_have(f):
    check_raises(f, 0.7, 0.9)


def test_classes_may_change(monkeypatch):
    before = check(methods_and_properties, 0.7, 0.9)
    monkeypatch.setattr(Ring, "area", lambda self: self.inner)
    assert check(methods_and_properties, 0.7, 0.9, specialised=None) != before
    monkeypatch.setattr(Square, "weighted", lambda self: self.side, raising=False)
    check(methods_and_properties, 0.7, 0.9, specialised=None)


@functools.singledispatch
def size(thing):
    raise TypeError("a thing without a size")


@size.register
def _(thing: Square):
    return thing.area() * 2.0


@size.register
def _(thing: Ring):
    return thing.area() + 1.0


@size.register(float)
def _(number, factor=2.0):
    return number * factor


@size.register(list)
def _(things):
    return sum(map(size, things))


def by_dispatch(x, y):
    total = 0.0
    for k, thing in enumerate([Square(x, y), Ring(y, x, 0.1), Square(y, x)]):
        total += k * size(thing)
    return total + size(x) * size(y, factor=3.0) + size([x, Square(x, y), [y]])


def by_dispatch_in_vain(x, y):
    try:
        return size("text")
    except TypeError:
        return x * y


@pytest.mark.parametrize("f", [by_dispatch, by_dispatch_in_vain])
def test_functions_that_are_dispatched_by_class(f):
    check_all_ways(f, 0.7, 0.9)


def test_what_is_dispatched_may_be_registered_anew():
    before = check(by_dispatch, 0.7, 0.9)
    original = size.dispatch(Ring)
    size.register(Ring, lambda thing: thing.area() ** 2)
    try:
        assert check(by_dispatch, 0.7, 0.9) != before
    finally:
        size.register(Ring, original)
