"""Objects that a program makes and puts into lists or dicts, and changes there."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
from specialised_cases import GENERIC, check, check_all_ways, check_slopes, has_all_ways

import autodiff_hook as ad
from autodiff_hook.runtime.specialising import ONE_WAY


class Body:
    gravity = 0.5

    def __init__(self, mass, x):
        self.mass, self.x, self.v, self.force = mass, x, 0.0, 0.0
        self.other = None

    @property
    def energy(self):
        return 0.5 * self.mass * self.v**2

    def distance(self, other):
        return math.sqrt((self.x - other.x) ** 2 + 0.1)

    def move(self, dt):
        self.v += self.force / self.mass * dt
        self.x += self.v * dt

    @staticmethod
    def rest(body):
        body.force = 0.0


@dataclass
class Layer:
    weights: list
    bias: float

    def __call__(self, xs):
        return [math.tanh(w * x + self.bias) for w, x in zip(self.weights, xs)]


class Vector:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, factor):
        return Vector(self.x * factor, self.y * factor)

    def __len__(self):
        return 2


class Planet(Body):
    def __init__(self, mass, x, moons):
        super().__init__(mass, x)
        self.moons = moons

    def move(self, dt):
        super().move(dt * self.moons)


class Field:
    def __init__(self, count, k):
        self.w = np.full(count, k)

    def apply(self, x):
        self.w = self.w + 0.1 * x
        return np.tanh(self.w * x)


class Group:
    def __init__(self):
        self.values, self.total = [], 0.0

    def add(self, value):
        self.values.append(value)
        self.total += value


def bodies(m):
    found = [Body(m * (i + 1), math.cos(i)) for i in range(4)]
    for _ in range(6):
        for b in found:
            Body.rest(b)
        for i, a in enumerate(found):
            for b in found[i + 1 :]:
                f = Body.gravity * a.mass * b.mass / a.distance(b) ** 3 * (b.x - a.x)
                a.force += f
                b.force -= f
        for b in found:
            b.move(0.1)
    return sum(b.energy for b in found)


def layers(s):
    found = [Layer([s * math.sin(i + k) for i in range(3)], 0.1 * s) for k in range(4)]
    x = [0.1, 0.2, 0.3]
    for layer in found:
        x = layer(x)
    return sum(x)


def vectors(k):
    points = [Vector(math.cos(i), k * i) for i in range(5)]
    for _ in range(4):
        for i in range(5):
            points[i] = points[i] + points[i - 1] * (0.1 * k)
    return sum(p.x * p.y for p in points) * len(points[0])


def fields(k):
    found = [Field(3, k * (i + 1)) for i in range(3)]
    x = np.ones(3)
    for _ in range(4):
        for each in found:
            x = each.apply(x)
    return np.sum(x) + np.sum(found[0].w)


def groups(x):
    found = {}
    for i in range(12):
        if i % 3 not in found:
            found[i % 3] = Group()
        found[i % 3].add(math.sin(x * i))
    return sum(g.total * len(g.values) for g in found.values())


def by_names(x):
    found = {f"body {i}": Body(x, i) for i in range(3)}
    names = list(found)
    for i, name in enumerate(names):
        found[name].force = found[names[i - 1]].x * x
    for body in found.values():
        body.move(0.1)
    return sum(body.x * body.v for body in found.values())


def linked(x):
    found = [Body(x, x * i) for i in range(5)]
    for a, b in zip(found, found[1:]):
        a.other = b
    body, total = found[0], 0.0
    while body is not None:
        total, body = total + body.x * body.x, body.other
    return total


def derived(x):
    found = [Planet(x, i * x, i) for i in range(4)]
    for planet in found:
        planet.force = x
        planet.move(0.1)
    return sum(planet.x * planet.energy for planet in found)


def of_one_object(x):
    body = Body(x, x)
    found = [body, body]
    found[0].x = found[0].x * x
    return found[1].x + body.x * body.mass


def chosen(x):
    found = [Body(math.sin(i) * x, i) for i in range(5)]
    found.sort(key=lambda b: b.mass)
    return max(found, key=lambda b: b.mass * b.x).mass + found[1].mass * x


def in_tuples(x):
    pairs = [(Body(x, i * x), i) for i in range(4)]
    for body, i in pairs:
        body.x = body.x * i
    return sum(body.x * i for body, i in pairs)


def stepped(x):
    """The object is another one in each iteration, and changed."""
    body = Body(x, 0.1)
    for i in range(5):
        new = Body(body.mass, body.x)
        new.v = body.v + x * math.cos(body.x)
        if i % 2:
            new.other = body
        new.x += 0.1 * new.v
        body = new
    return body.x * body.v


def best_or_none(x):
    best = None
    for i in range(5):
        body = Body(x, math.sin(3 * i))
        if best is None or body.x > best.x:
            best = body
        best.mass += 0.1 * x
    return best.mass * best.x * x


def kept_through_branches(x):
    first, second = Body(x, 1.0), Body(1.0, x)
    for i in range(4):
        body = first if i % 2 else second
        body.v += x * i
        first, second = second, first
    return first.v * first.mass + second.energy


class Unit:
    def __init__(self, weight, act, make=Vector):
        self.weight, self.act, self.make = weight, act, make

    def __call__(self, x):
        return self.act(self.weight * x)


def one_function_each(x):
    units, made, y = [Unit(x * math.sin(i), math.tanh) for i in range(1, 5)], [], x
    for unit in units:
        y = unit(y) + unit.act(x)
        made.append(unit.make(y, x))
    functions = []
    for _ in range(3):
        functions.append(math.exp)
    return sum([v.x * v.y for v in made]) + sum([f(x) for f in functions])


@dataclass(frozen=True)
class Ray:
    place: Vector
    heading: Vector
    alive: bool = True


def met(ray, c):
    if c < 0.75:
        return ray.place + ray.heading * c, Vector(0.0, -1.0)
    reach = c - ray.place.y
    if reach < 0.0:
        return None
    place = ray.place + ray.heading * math.sqrt(reach)
    return place, (place + ray.heading) * c


def traced(ray, x):
    for i in range(3):
        found = met(ray, x * (1.0 + 0.1 * i))
        if found is None:
            return replace(ray, alive=False)
        place, heading = found
        ray = Ray(place, heading)
    return ray


def pairs_or_none(x):
    total = 0.0
    for i in range(6):
        ray = traced(Ray(Vector(0.1 * i, 0.3 * i), Vector(0.6, 0.1)), x)
        total += ray.place.x + ray.heading.y * x if ray.alive else x
    return total


PROGRAMS = [
    *(bodies, layers, vectors, fields, groups, by_names, linked, derived, of_one_object, chosen, in_tuples),
    *(stepped, best_or_none, kept_through_branches, one_function_each),
]


@pytest.mark.parametrize("f", PROGRAMS)
def test_built(f):
    for x in (0.7, 1.2):
        check_all_ways(f, x)


def test_pairs_of_objects_that_may_be_absent():
    for x in (0.7, 1.2):
        check(pairs_or_none, x, specialised=None)
    if not (GENERIC or ONE_WAY):
        assert has_all_ways(pairs_or_none, "gradient")


def other_functions(x):
    units = [Unit(x * i, math.tanh) for i in range(3)]
    total = sum(unit(x) for unit in units)
    for unit in units[1:]:
        unit.act = math.sin
    return total + sum(unit(x) for unit in units)


def test_functions_that_become_others():
    check(other_functions, 0.7, specialised=None)


def test_a_function_that_only_some_objects_have():
    def f(x):
        found = [Vector(x, i) for i in range(3)]
        for vector in found[1:]:
            vector.x = math.sin(x)
        units = [Unit.__new__(Unit) for _ in range(3)]
        for unit in units[1:]:
            unit.act = math.tanh
        return sum(unit.act(vector.x) for unit, vector in zip(units, found))

    for _ in range(3):
        with pytest.raises(AttributeError):
            ad.gradient(f, 0.7)


def shown(x):
    """A text of an object is that of its class."""
    found = [Layer([x], x), Layer([2 * x], x)]
    return x * ("Layer(" in repr(found[0])) + str(found).count("weights")


def compared(x):
    found = [Layer([x], x), Layer([x], x)]
    return x * 2.0 if found[0] == found[1] else x


def asked(x):
    found = [Vector(x, 2 * x), Vector(x, x)]
    for v in found:
        v.x *= x
    return x * len(found[0]) if found[1] and isinstance(found[0], Vector) else x


def looked_into(x):
    found = [Body(x, x), Body(x, 2 * x)]
    for body in found:
        body.x *= x
    return sum(vars(found[0]).get("x", 0.0) for _ in range(2)) + found[1].x


def iterated(x):
    found = [Body(x, x), Body(x, 2 * x)]
    found[0].x *= 2.0
    try:
        return sum(v for v in found[0])
    except TypeError:
        return found[0].x


def of_two_classes(x):
    found = [Body(x, x), Group()]
    found[1].add(x)
    return found[0].x * found[1].total


@pytest.mark.parametrize("f", [shown, compared, asked, looked_into, iterated, of_two_classes])
def test_what_is_no_dict(f):
    for x in (0.7, 1.2):
        check_slopes(f, x, specialised=None)


KEPT = []


def kept(x):
    found = [Body(x, x), Body(x, 2 * x)]
    found[0].x *= x
    KEPT.append(found[0])
    return found[0].x


def test_what_is_kept_is_an_object():
    KEPT.clear()
    check(kept, 1.5, specialised=None)
    assert {type(body) for body in KEPT} == {Body}
    assert {body.x for body in KEPT} == {2.25}


class Row:
    def __init__(self, x):
        self.items, self.count = [x, x * x, x * 2.0], 0

    def __setitem__(self, place, x):
        self.items[place] = x
        self.count += 1

    def __iter__(self):
        yield from self.items

    def __len__(self):
        return self.count


def by_special_methods(x):
    rows, s = [Row(x), Row(x * 0.5)], 0.0
    for row in rows:
        row[1] = x * 3.0
        rows[0][0] = row.items[2] * x
        for item in row:
            s += item * item
        if row:
            s *= len(row)
    return s + sum(rows[0])


def test_special_methods():
    for x in (0.7, 1.2):
        check_all_ways(by_special_methods, x)
