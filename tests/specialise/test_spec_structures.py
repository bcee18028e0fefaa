"""Small structures in specialised programs: arrays taken apart, named tuples, slots, enumerations, objects in loops."""

from __future__ import annotations

import math
from collections import namedtuple
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import numpy as np
import pytest
from specialised_cases import GENERIC, check, check_all_ways, check_raises, check_slopes, same, scope

import autodiff_hook as ad
from autodiff_hook.runtime import specialising

ONE_WAY = GENERIC or specialising.ONE_WAY


def lorenz(state, x):
    a, b, c = state
    return np.array([x * (b - a), a * (2.8 - c) - b, a * b - c])


def arrays_taken_apart(x, y):
    state = np.array([x, y, x * y])
    for _ in range(4):
        state = state + 0.05 * lorenz(state, y)
    (a, b), (c, d) = np.outer(state[:2], state[1:])
    return float(state.sum() + a * d - b * c * y)


def taken_apart_and_stored(x, y):
    values = np.zeros(3)
    for k in range(3):
        values[k] = x * k + y
    a, b, c = values
    values[0] = a * b
    return float(values.sum() * c + values[0])


def lists_in_rows(x, y):
    rows = []
    for k in range(4):
        rows.append((("a", "b"), ["c"], x * k))
    total = 0.0
    for left, right, v in rows:
        total += v * len(left) + y * len(right)
    for row in ([x, y], [y, 1.0, x]):
        total = total * 0.5 + sum(row)
    a, b, c = map(np.asarray, [[x, y], [y, y], [1.0, x]])
    return total + float((a * b + c).sum())


class State(NamedTuple):
    x: float
    v: float
    t: float = 0.0

    def energy(self):
        return 0.5 * self.v**2 + 0.5 * self.x**2

    @property
    def speed(self):
        return abs(self.v)

    def __add__(self, other):
        return State(self.x + other[0], self.v + other[1], self.t)

    def __rmul__(self, factor):
        return self._replace(x=factor * self.x, v=factor * self.v)


Point = namedtuple("Point", "x y", defaults=[1.0])


def named_in_a_loop(x, y):
    state = State(x, y)
    for k in range(5):
        state = State(x=state.x + 0.1 * state.v, v=state.v - 0.1 * state.x, t=state.t + 0.1)
        if k == 2:
            state = 0.5 * state + Point(y)
    a, b, _ = state
    assert isinstance(state, State) and isinstance(state, tuple) and type(state) is State and len(state) == 3
    return state.energy() + a * state[1] * state.speed + state._replace(x=2.0).x + b * state.t


def nearest(x, y):
    best = None
    for k in range(5):
        point = Point(0.3 * k)
        far = math.hypot(x - point.x, y - point.y)
        if best is None or far < best.y:
            best = Point(point.x * y, far)
    return best.x + best.y


class Colour(Enum):
    RED = 1
    BLUE = 2


def coloured(x, y):
    total = 0.0
    for k in range(5):
        colour = Colour.BLUE if k % 2 else Colour.RED
        if colour is Colour.RED:
            total += x * y
        elif colour == Colour.BLUE:
            total += x * x
    return total


class Vector:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __rmul__(self, factor):
        return Vector(factor * self.x, factor * self.y)

    def dot(self, other):
        return self.x * other.x + self.y * other.y


def slots(x, y):
    total = 0.0
    for k in range(4):
        a, b = Vector(x, k), Vector(y, x)
        total += (a + 0.5 * b).dot(b)
    return total


def orbit(x, y):
    place, speed = Vector(x, y), Vector(-y, x)
    for _ in range(5):
        pull = (-1.0 / place.dot(place) ** 1.5) * place
        speed = speed + 0.1 * pull
        place = place + 0.1 * speed
    return place.dot(speed) + place.x


@dataclass(frozen=True)
class Complex:
    re: float
    im: float = 0.0

    def __mul__(self, other):
        return Complex(self.re * other.re - self.im * other.im, self.re * other.im + self.im * other.re)


@dataclass
class Pair:
    first: Complex
    second: Complex
    weight: float = 1.0

    def swapped(self):
        return Pair(self.second, self.first, self.weight * 0.5)


def frozen_powers(x, y):
    base = power = Complex(x, y)
    for k in range(5):
        power = power * base if k % 2 else base * Complex(power.im)
    return power.re + power.im * x


def nested_objects(x, y):
    pair = Pair(Complex(x, y), Complex(y))
    for k in range(4):
        if k == 2:
            pair = pair.swapped()
        elif pair.first.re > 0.5:
            pair = Pair(pair.first * pair.second, pair.second, pair.weight)
        else:
            pair = Pair(pair.first, Complex(x, 1.0), pair.weight * x)
    return (pair.first * pair.second).re * pair.weight + pair.second.im * y


def one_of_two(x, y):
    a, b = Vector(x, y), Vector(y, 2.0)
    chosen = a if x > y else b
    return chosen.x * chosen.y + a.x + b.dot(chosen)


@pytest.mark.parametrize("f", [orbit, frozen_powers, nested_objects, one_of_two])
def test_objects_that_come_by_several_ways(f):
    for x, y in [(1.3, 0.72), (0.931, -0.41), (-0.563, 1.73)]:
        check_all_ways(f, x, y)


class Plain:
    unit = 3.0

    def __init__(self, x):
        self.x = x


def is_one_of_two(x, y):
    a, b = Plain(x), Plain(y)
    chosen = a if x > y else b
    return chosen.x * (2.0 if chosen is a else 3.0)


def assigned_after_it_was_chosen(x, y):
    a, b = Plain(x), Plain(y)
    chosen = a if x > y else b
    a.unit = x * y
    return chosen.x * chosen.unit


def assigned_by_the_other_name(x, y):
    a, b = Plain(x), Plain(y)
    chosen = a if x > y else b
    chosen.x = x * y
    return a.x + 2.0 * b.x


def assigned_on_one_way(x, y):
    a, b = Plain(x), Plain(y)
    if x > 0:
        a.unit = y
    b.unit = x
    for k in range(3):
        a = b if k == 1 else a
    return a.x * a.unit


def of_two_classes(x, y):
    chosen = Plain(x) if x > y else Complex(y)
    return (chosen.x if isinstance(chosen, Plain) else chosen.re) * x


def there_or_not(x, y):
    last, total = None, 0.0
    for k in range(4):
        if last is not None:
            total += last.x * y
        last = Plain(x * k)
    return total


def changed_in_a_loop(x, y):
    a = Plain(x)
    for k in range(4):
        if k % 2:
            a = Plain(a.x * y)
        a.x = a.x + k
    return a.x


MORE = [is_one_of_two, assigned_after_it_was_chosen, assigned_by_the_other_name, assigned_on_one_way]
MORE += [of_two_classes, there_or_not, changed_in_a_loop]


@pytest.mark.parametrize("f", MORE)
def test_objects_that_are_more_than_their_attributes(f):
    for x, y in [(1.3, 0.72), (0.5, 0.9), (-0.563, 1.73), (-0.3, -0.7)]:
        check(f, x, y, specialised=None)


def in_turn(x, y):
    numbers, pairs, lists = [x, y, x * y], [(x, 1.0), (2.0, y)], [[x, 1.0, y], [2.0, y, x]]
    arrays, total = [np.array([x, y]), np.array([1.0, x])], 0.0
    for i in range(6):
        a, b = pairs[i % 2]
        total += numbers[i % 3] * a * b + arrays[i % 2] @ arrays[(i + 1) % 2] * lists[i % 2][i % 3]
    return total


def in_parts(x, y):
    weights, total = [x, 2.0, y, 4.0], 0.0
    for n in range(5):
        total += sum(w * x for w in weights[:n]) - sum([w * y for w in weights[n:]])
    return total + weights[-1]


@pytest.mark.parametrize(
    "f", [in_turn, in_parts, arrays_taken_apart, lists_in_rows, named_in_a_loop, nearest, coloured, slots]
)
def test_structures(f):
    for x, y in [(1.3, 0.72), (0.931, -0.41), (-0.563, 1.73)]:
        check_all_ways(f, x, y)


def test_an_array_that_is_stored_into_after_it_was_taken_apart():
    check(taken_apart_and_stored, 1.3, 0.7, specialised=None)


def test_arrays_that_are_given_and_taken_apart():
    def f(p):
        a, b, c = p
        return a * math.exp(-b) + c * a

    check(f, np.array([1.0, 2.0, 3.0]))
    check_raises(f, np.array([1.0, 2.0]))
    check_raises(f, np.ones(4))
    check(f, np.array([1.0, 2.0, 3.0]))


def pair_of(x):
    return Point(x * x, 2.0 * x)


def test_named_tuples_that_are_returned():
    value, back = ad.pullback(pair_of, 1.5)
    assert type(value) is Point and value == (2.25, 3.0)
    same(back(Point(1.0, 1.0)), (5.0,))


def shows(x):
    point = Point(x, 2.0)
    return x * len(f"{point}") if isinstance([point, None][0], Point) else x * len(repr(point))


def test_named_tuples_that_are_shown():
    check(shows, 1.5, specialised=None)


def test_a_class_that_gets_another_constructor():
    source = "def f(x): return P(x, x * x).y\ndef new(cls, x, y): return tuple.__new__(cls, (x, 3.0 * y))"
    names = scope(source, P=namedtuple("P", "x y"))
    check(names["f"], 1.5, specialised=None)
    names["P"].__new__ = names["new"]
    check(names["f"], 1.5, specialised=None)


def test_a_slot_that_is_not_assigned():
    names = scope("def f(x):\n a = C()\n if x > 1: a.x = x\n return a.x * x\nclass C:\n __slots__ = ('x',)")
    check(names["f"], 1.5, specialised=None)
    check_raises(names["f"], 0.5)


def by_keys_that_carry(x, y):
    d = {}
    d[x] = 2.0
    d[x * y] = y
    return sum(k * v for k, v in d.items()) + sum(d)


def test_keys_that_carry_derivatives_and_are_read():
    check_slopes(by_keys_that_carry, 1.3, 0.7, specialised=None)
