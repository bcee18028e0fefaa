"""Dataclasses: default factories, frozen ones, ``replace``, several in lists; getters as keys of sorting."""

from __future__ import annotations

import math
import operator
from collections import OrderedDict
from dataclasses import InitVar, asdict, astuple, dataclass, field, fields, replace
from inspect import signature
from operator import attrgetter, itemgetter
from types import MappingProxyType

import pytest
from specialised_cases import check, check_all_ways, check_slopes

import autodiff_hook as ad
from autodiff_hook.runtime.lookup import behind


@dataclass
class Layer:
    w: float
    b: float = 0.1
    seen: list = field(default_factory=list)


def layers(x, y):
    stack = [Layer(x), Layer(y, 0.3)]
    v = 0.5
    for _ in range(3):
        for layer in stack:
            v = math.tanh(layer.w * v + layer.b)
            layer.seen.append(v)
            layer.b = layer.b * 0.5 + 0.1 * v
    return v + sum(sum(layer.seen) for layer in stack) + sum(Layer(x, seen=[y]).seen)


@dataclass(frozen=True)
class Point:
    x: float
    y: float = 2.0

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)

    def scaled(self, k):
        return replace(self, x=self.x * k)


def frozen(x, y):
    p = Point(x, y)
    for _ in range(4):
        p = (p + Point(0.1)).scaled(0.5)
    points = [Point(x * i, y / (i + 1)) for i in range(4)]
    points.sort(key=lambda q: q.y)
    return p.x * p.y + sum(q.x * i for i, q in enumerate(points)) + replace(points[1], y=x).y


def getters(x, y):
    pairs = [("a", x), ("b", y), ("a", x * y)]
    points = [Point(x * i, y / (i + 1)) for i in range(4)]
    both = itemgetter(0, 1)([x, y])
    largest = max(points, key=attrgetter("x"))
    return sorted(pairs, key=operator.itemgetter(1))[0][1] * both[1] + largest.y * attrgetter("y", "x")(largest)[1]


class Vector:
    def __init__(self, *parts):
        self.parts = list(parts)

    def __iter__(self):
        return iter(self.parts)


def copied(x, y):
    v = Vector(x, y)
    total = sum(v) * x
    v.parts[0] = y * y
    return total + v.parts[0] * list((x, y))[1]


def numbers_of_texts(x, y):
    total = 0.0
    for word in "2.5 x 1e-1 y".split():
        total = total * y + (x if word == "x" else y if word == "y" else float(word))
    return total


@pytest.mark.parametrize("f", [layers, frozen, getters, copied, numbers_of_texts])
def test_dataclasses_are_typed(f):
    check_all_ways(f, 0.7, 1.3)


class Counter:
    count = 0.5

    def __init__(self):
        self.added = 0

    def add(self, v):
        self.count = self.count + v


def of_the_class_first(x, y):
    counters = [Counter(), Counter()]
    for i in range(4):
        counters[i % 2].add(x * i)
    return counters[0].count * counters[1].count + y * Counter().count


def of_the_class_in_turn(x, y):
    counters = [Counter(), Counter(), Counter()]
    counters[0].add(x)
    total = 0.0
    for c in counters:
        total += c.count * y
    return total


@dataclass
class Derived:
    a: float
    scale: InitVar[float] = 2.0
    b: float = field(init=False, default=0.0)

    def __post_init__(self, scale):
        self.b = self.a * scale


def derived(x, y):
    d = Derived(x, y)
    return replace(d, a=y, scale=x).b * d.b


def test_fields_that_init_makes_are_made_anew():
    check(derived, 0.7, 1.3)
    with pytest.raises((TypeError, ValueError), match="init=False"):  # which, depends on the version
        ad.gradient(lambda x: replace(Derived(x), b=x, scale=x).b, 0.7)


@pytest.mark.parametrize("f", [of_the_class_first, of_the_class_in_turn])
def test_what_need_not_be_typed_is_right(f):
    check(f, 0.7, 1.3, specialised=None)


def another_field(x, y):
    return replace(Point(x, y), z=1.0).x


def fixed(x, y):
    points = [Point(x, y), Point(y, x)]
    for p in points:
        p.x = 1.0
    return points[0].x


def no_number(x, y):
    total = 0.0
    for word in ["1", "one"]:
        total += float(word) * x * y
    return total


@pytest.mark.parametrize("f", [another_field, fixed, no_number])
def test_errors_are_those_of_the_plain_call(f):
    for _ in range(2):
        with pytest.raises(Exception) as expected:
            f(0.7, 1.3)
        with pytest.raises(type(expected.value)) as found:
            ad.gradient(f, 0.7, 1.3)
        assert str(found.value) == str(expected.value)


SCALES = {"scale": 2.0}


@dataclass
class Described:
    a: float = field(default=1.0, metadata=SCALES)
    b: float = field(default=2.0, metadata={"unit": "m", "fixed": True})
    c: float = 3.0


def by_metadata(o):
    total = 0.0
    for f in fields(o):
        value = getattr(o, f.name) * f.metadata.get("scale", 1.0)
        total += value * value if "fixed" not in f.metadata else value * len(f.metadata["unit"])
    return total


def by_metadata_of_its_own(x, y):
    o = Described(x, b=y)
    return by_metadata(o) + sum(asdict(o).values()) * astuple(o)[1]


@pytest.mark.parametrize(("f", "args"), [(by_metadata, (Described(0.3, 0.4),)), (by_metadata_of_its_own, (0.3, 0.7))])
def test_metadata_of_fields(f, args, monkeypatch):
    check(f, *args)
    for scale in (3.0, 5, None):
        if scale is None:
            monkeypatch.delitem(SCALES, "scale")
        else:
            monkeypatch.setitem(SCALES, "scale", scale)
        for _ in range(3):
            check(f, *args)


VIEW = MappingProxyType(SCALES)


def by_a_view(x, scales):
    return x * VIEW["scale"] * scales["scale"]


def by_a_view_of_what_changes(x):
    before = VIEW["scale"]
    SCALES["scale"] = x
    found = x * VIEW["scale"] * before
    SCALES["scale"] = 2.0
    return found


def by_a_class(x):
    return x * vars(Described)["b"] + len(VIEW.keys())


def assigned_through(x):
    try:
        VIEW["scale"] = x
    except TypeError:
        return x * x
    return x


class Held:
    pass


HELD = Held()
HELD.scale = 2.0
OF_HELD = MappingProxyType(vars(HELD))
ORDERED = MappingProxyType(OrderedDict(scale=2.0, shift=0.5))


def by_all_of_a_view(x):
    found = sum(ORDERED.values()) * x + len(ORDERED) * x**2 + dict(ORDERED)["shift"] * x
    if ORDERED:
        found += ORDERED.get("shift", 1.0) * x + ORDERED.get("absent", 1.5) * x
    for name, number in ORDERED.items():
        found += x**3 * number if name in ORDERED and ORDERED else 0.0
    return found + sum({**ORDERED}.values()) * x + sum(x * ORDERED[name] for name in ORDERED)


def described(a, b=2.0, *, by=1.0):
    return a * b * by


DESCRIBED = signature(described)


def bound_by_its_signature(x):
    given = DESCRIBED.bind(x, by=x * x)
    given.apply_defaults()
    return described(*given.args, **given.kwargs)


def by_a_view_of_what_is_assigned(x):
    HELD.scale = x * x
    found = OF_HELD["scale"] * x
    HELD.scale = 2.0
    return found


def by_all_of_what_is_assigned(x):
    values = OF_HELD.values()
    HELD.scale = x * x
    found = sum(values) * x
    HELD.scale = 2.0
    return found


def by_all_of_what_changes(x):
    values = VIEW.values()
    SCALES["scale"] = x
    found = sum(values) * x
    SCALES["scale"] = 2.0
    return found


def test_all_that_views_of_dicts_hold(monkeypatch):
    check_slopes(by_all_of_a_view, 0.3)
    check_slopes(bound_by_its_signature, 0.3)
    monkeypatch.setitem(behind(ORDERED), "shift", 0.7)
    check_slopes(by_all_of_a_view, 0.3)
    monkeypatch.setitem(behind(ORDERED), "third", 0.7)
    check_slopes(by_all_of_a_view, 0.3)
    for f in (by_a_view_of_what_is_assigned, by_all_of_what_is_assigned, by_all_of_what_changes):
        check_slopes(f, 0.3, specialised=None)


def test_views_of_dicts(monkeypatch):
    check(by_a_view, 0.3, {"scale": 0.5})
    check(by_a_view, 0.3, SCALES, specialised=None)
    check(by_a_view_of_what_changes, 0.3, specialised=None)
    check(by_a_class, 0.3, specialised=None)
    check(assigned_through, 0.3, specialised=None)
    monkeypatch.setitem(globals(), "VIEW", MappingProxyType(OrderedDict(scale=3.0)))
    check(by_a_view, 0.3, {"scale": 0.5}, specialised=None)
