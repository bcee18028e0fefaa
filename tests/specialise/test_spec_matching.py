"""``match`` in typed programs: classes, sequences, mappings and values."""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass

import pytest
from specialised_cases import check, check_all_ways

import autodiff_hook as ad


@dataclass
class Number:
    value: float


@dataclass
class Name:
    name: str


@dataclass
class Pair:
    op: str
    left: object
    right: object


def evaluated(e, names):
    match e:
        case Number(v):
            return v
        case Name(name):
            return names[name]
        case Pair("+", left, right):
            return evaluated(left, names) + evaluated(right, names)
        case Pair("*", left, right=right):
            return evaluated(left, names) * evaluated(right, names)
        case Pair(op="^", left=left, right=Number(n)):
            return evaluated(left, names) ** n
    raise ValueError(e)


TREE = Pair("+", Pair("*", Name("x"), Pair("^", Name("y"), Number(2.0))), Pair("*", Number(3.0), Name("x")))


def from_outside(x, y):
    return evaluated(TREE, {"x": x, "y": y})


def made_here(x, y):
    return evaluated(Pair("+", Pair("*", Number(x), Name("y")), Number(y)), {"y": y * x})


def area(shape):
    match shape:
        case ("circle", r):
            return 3.14 * r * r
        case ("box", w, h):
            return w * h
        case [a, b, *rest] if rest:
            return a * b * len(rest)
        case {"kind": "triangle", "a": a, "h": h}:
            return a * h * 0.5
        case {"kind": kind, **more}:
            return more["a"] * len(kind)
        case float(v) | int(v):
            return v
        case str():
            return 2.0
        case None:
            return 3.0
        case _:
            return 1.0


def shapes(x, y):
    total = area(("circle", x)) + area(("box", x, y)) + area([x, y, 1.0, x])
    total += area({"kind": "triangle", "a": x * y, "h": y}) + area({"kind": "none", "a": x * y})
    return total + area(x * y) + area(2) + area(None) * area("text") + area({1, 2}) * area(())


def in_a_loop(x, y):
    total = 0.0
    for k in range(6):
        match k % 3:
            case 0:
                total += x * k
            case 1 | 2 if k > 3:
                total -= y * x
            case other:
                total *= y + other
    return total


@pytest.mark.parametrize("f", [from_outside, made_here, shapes, in_a_loop])
def test_patterns_are_typed(f):
    check_all_ways(f, 0.7, 1.3)


class Slow:
    __match_args__ = ("first", "second")

    def __init__(self, first):
        self.first = first

    @property
    def third(self):
        return self.first * 2


def missing_attribute(x, y):
    match Slow(x):
        case Slow(a, b):
            return a * b
        case Slow(third=c):
            return c * y
    return x


def several_types(x, y):
    total = 0.0
    for k in range(4):
        value = 2 if k % 2 else x
        match value:
            case int():
                total += y
            case float():
                total += value * y
    return total


def becomes_another(x, y):
    e, total = Number(x), 0.0
    for _ in range(3):
        match e:
            case Number(v):
                total += v * y
                e = Name("y")
            case Name(name):
                total *= y + len(name)
                e = Number(x * x)
    return total


def other_sequences(x, y):
    total = 0.0
    for items in (deque([x, y]), OrderedDict(a=x)):
        match items:
            case [a, b]:
                total += a * b
            case {"a": a}:
                total += a * y
    match (v for v in (x, y)):
        case [_, _]:
            return 0.0
    return total


def too_many_parts(x, y):
    match Number(x):
        case Number(a, b):
            return a * b
    return y


@pytest.mark.parametrize("f", [missing_attribute, several_types, becomes_another, other_sequences])
def test_what_need_not_be_typed_is_right(f):
    check(f, 0.7, 1.3, specialised=None)


def test_errors_of_patterns_are_those_of_the_plain_call():
    for _ in range(2):
        with pytest.raises(TypeError, match="accepts 1 positional sub-pattern"):
            ad.gradient(too_many_parts, 0.7, 1.3)


class Point:
    __match_args__ = ("a", "b")

    def __init__(self, a, b):
        self.a, self.b = a, b


def difference(x, y):
    match Point(x * y, y):
        case Point(a, b):
            return a - b * b


def test_names_of_patterns_are_looked_at_again():
    check(difference, 0.7, 1.3)
    Point.__match_args__ = ("b", "a")
    try:
        check(difference, 0.7, 1.3)
    finally:
        Point.__match_args__ = ("a", "b")
