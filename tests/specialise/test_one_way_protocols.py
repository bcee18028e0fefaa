"""What classes say of their objects, on one way: items, iteration, descriptors, what ``super`` finds."""

from __future__ import annotations

import collections
import contextlib
import copy
import functools
import itertools
import math
from abc import ABCMeta
from typing import Protocol, runtime_checkable

import numpy as np
import pytest
import wrapt
from specialised_cases import GENERIC, check, check_slopes, is_specialised, oracle, same, scope, slopes

import autodiff_hook as ad


class Pair:
    """Only says what it has at an index."""

    store = dict

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __len__(self):
        return 2

    def __getitem__(self, index):
        if index == 0:
            return self.x
        if index == 1:
            return self.y
        raise IndexError(index)

    def kept(self):
        kept = self.store()
        kept["sum"] = self.x + self.y
        return kept["sum"]

    @functools.cached_property
    def product(self):
        return self.x * self.y

    @classmethod
    def twice(cls, x):
        return cls(x, 2 * x)


class Walk(Pair):
    def __iter__(self):
        yield self.x
        yield self.y

    @classmethod
    def twice(cls, x):
        return super().twice(x * x)


class Made:
    def __new__(cls, x):
        self = super().__new__(cls)
        self.x = x
        return self


class Doubled(Made):
    def __new__(cls, x):
        self = super().__new__(cls, 2 * x)
        self.kind = "doubled"
        return self


class Reset:
    """Only says how the attribute is assigned."""

    def __set__(self, owner, value):
        vars(owner)["rows"] = value
        vars(owner).pop("sum", None)


class Table:
    rows = Reset()

    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __contains__(self, key):
        return key in self.rows

    def __getitem__(self, key):
        return self.rows[key]

    def __setitem__(self, key, value):
        self.rows = {**self.rows, key: value}

    def __delitem__(self, key):
        del self.rows[key]

    @functools.cached_property
    def sum(self):
        return sum(self.rows.values())


def tables(x, y):
    table = Table({"a": x, "b": y})
    total = table.sum * len(table)
    table["c"] = x * y
    total += table.sum if "c" in table and "d" not in table and table else 0.0
    del table["a"]
    pair, other = Pair(x, y), Pair(y, x)
    total += x * x if 3.0 in pair and 9.0 not in pair and pair in [other, pair] and pair not in [other, x] else 0.0
    return total + len(table) * table["c"] + (y if len(pair) == 2 else 0.0)


def length_of_given(p, x):
    return x * len(p) * p.x


def by_index(p):
    x, y = p
    return x * y + sum(v * v for v in p) + [*p][1] * p[0] + tuple(p)[0]


def too_many(p):
    try:
        x, y, z = p
    except ValueError:
        return p.x * p.x
    return x


def cached(p):
    return p.product * p.product + p.x


def cached_before(p):
    before = p.product
    p.x = before * 2
    return p.product * p.x


def alternative(p):
    make = p.twice
    return make(p.x)[1] * p.x


MAKERS = {"a pair": lambda: Pair(2.0, 3.0), "a walk": lambda: Walk(2.0, 3.0)}
PROGRAMS = [by_index, too_many, cached, cached_before, alternative, Pair.kept]


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("f", PROGRAMS)
def test_given_objects(f, maker):
    make = MAKERS[maker]
    (expected,) = oracle(f, make())[1]
    for _ in range(4):
        given, plain = make(), make()
        same(ad.gradient(f, given), (expected,))
        f(plain)
        assert vars(given) == vars(plain)
    assert GENERIC or is_specialised(f)


@pytest.mark.parametrize("cls", [Pair, Walk])
@pytest.mark.parametrize("f", PROGRAMS)
def test_objects_of_the_program(f, cls):
    g = scope("def g(x, y):\n    return f(cls(x, y * 2))", f=f, cls=cls, __name__=__name__)["g"]
    check(g, 2.0, 3.0)


def test_containers_that_classes_make():
    check(tables, 2.0, 3.0)
    check(tables, 2.5, 3.5)


def test_lengths_that_classes_say():
    for make in MAKERS.values():
        check(length_of_given, make(), 2.0)
        check(scope("def f(x):\n    return x * len(make()) * x", make=make)["f"], 2.0, specialised=None)


class Counted:
    count, rate = 0, 0.5

    def __init__(self, x):
        Counted.count += 1
        type(self).rate = 0.25 * x
        self.x, self.number = x, self.count


class CountedToo(Counted):
    rate = 1.0


def counted(x):
    held = [Counted(x), CountedToo(x * x), Counted(2.0)]
    total = sum(c.x * c.rate * (c.number - held[0].number + 1) for c in held)
    return total * CountedToo.rate + Counted.rate * x + (held[2].count - held[1].number) * x


def test_attributes_of_classes_that_are_assigned():
    f = scope("def f(x):\n    return counted(x) * x", counted=counted, __name__=__name__)["f"]
    for _ in range(4):
        before = Counted.count
        found = ad.gradient(f, 1.5)
        assert Counted.count == before + 3 and type(Counted.count) is int
        assert Counted.rate == 0.5 and CountedToo.rate == 0.25 * 1.5 * 1.5
        assert found == pytest.approx(slopes(f, 1.5), rel=1e-6)
        assert Counted.count == before + 9
    assert GENERIC or is_specialised(f)


def of_new(x):
    made = Doubled(x)
    return made.x * made.x if made.kind == "doubled" else x


def test_objects_that_new_makes():
    check(of_new, 3.0)


def test_what_is_cached_is_read_from_then_on():
    pair = Pair(2.0, 3.0)
    for begin in ({}, {"product": 7.0}, {}, {"product": 2.0}):
        pair.__dict__.pop("product", None)
        pair.__dict__.update(begin)
        for _ in range(4):
            expected = oracle(cached, copy.copy(pair))[1]
            same(ad.gradient(cached, pair), expected)
            assert pair.product == begin.get("product", 6.0)


class Kept:
    """What a method gives, kept in a dict of the object until that is emptied."""

    def __init__(self, f):
        self.f, self.name = f, f.__name__

    def __get__(self, owner, cls):
        if owner is None:
            return self
        found = owner.kept.get(self.name)
        if found is None:
            found = owner.kept[self.name] = self.f(owner)
        return found


class Material:
    def __init__(self):
        self.kept, self.size = {}, 1.0

    def grow(self, size):
        self.size, self.kept = size, {}

    @Kept
    def area(self):
        return self.size**2

    @Kept
    def volume(self):
        return self.area * self.size


MATERIAL = Material()


def of_a_material(x):
    MATERIAL.grow(x)
    return MATERIAL.area + MATERIAL.volume * MATERIAL.area


def of_a_material_as_it_is(x):
    return MATERIAL.area * x


def test_descriptors_of_objects_from_outside():
    for x in (0.7, 1.3, 0.7, 2.0):
        for _ in range(3):
            assert ad.gradient(of_a_material, x)[0] == pytest.approx(2 * x + 5 * x**4)
            assert MATERIAL.kept["area"] == x**2
    assert GENERIC or is_specialised(of_a_material)
    MATERIAL.grow(3.0)
    for want in (9.0, 9.0, 5.0, 5.0, 9.0):
        vars(MATERIAL).pop("area", None)
        if want == 5.0:
            vars(MATERIAL)["area"] = 5.0
        assert ad.gradient(of_a_material_as_it_is, 0.7) == (want,)


def signed(x):
    try:
        factor = signed.factor
    except AttributeError:
        return x * x
    return x * factor


def test_attributes_that_a_function_does_not_have():
    check(signed, 3.0)
    signed.factor = 5.0
    try:
        same(ad.gradient(signed, 3.0), (5.0,))
    finally:
        del signed.factor
    same(ad.gradient(signed, 3.0), (6.0,))


def test_a_class_that_begins_to_iterate():
    cls = type("Own", (Pair,), {})
    f = scope("def f(x, y):\n    a, b = cls(x, y)\n    return a * a * b", cls=cls, __name__=__name__)["f"]
    check(f, 2.0, 3.0)
    cls.__iter__ = lambda self: iter((self.y, self.x))
    check(f, 2.0, 3.0, specialised=None)
    assert ad.gradient(f, 2.0, 3.0) == (9.0, 12.0)


class Steps:
    """Counts what it has given."""

    def __init__(self, x, make=float):
        self.x, self.make, self.count = x, make, 0

    def __iter__(self):
        for i in range(4):
            self.count += 1
            yield self.make(self.x * i)


def summed_in_turn(x, y):
    steps, named = Steps(x), collections.UserDict(a=x, b=x * y)
    total = sum(steps, y) * steps.count + max(steps) * steps.count - min(steps, default=y)
    groups = itertools.groupby([x, x, y, y], key=lambda number: number > 2.5)
    return (
        total
        + sum(named.values()) * max(named.values())
        + sum(2.0**is_large * sum(group) for is_large, group in groups)
    )


def test_sums_and_extremes_of_what_objects_give():
    for _ in range(2):
        check_slopes(summed_in_turn, 2.0, 3.0)
    check_slopes(lambda x, y: sum(Steps(x, Length), Length(y)).metres, 2.0, 3.0, specialised=None)


class Spread:
    """A class that says its sum with numbers, and keeps what it is given together."""

    def __init__(self, x, *names):
        self.x, self.names = x, tuple(names)

    def __add__(self, other):
        return Spread(self.x + (other.x if isinstance(other, Spread) else other), *self.names, "sum")


def begun_with_an_object(x, numbers):
    parts = sum(numbers, Spread(x)), sum([], Spread(x * x)), sum(numbers[1:], start=Spread(2.0 * x))
    return sum(part.x**2 * (1 + len(part.names)) for part in parts)


def test_sums_that_begin_with_an_object():
    for numbers in ([1.0, 2.0], [3.0, 0.5], [2.0], [1.0, 2.0]):
        check(begun_with_an_object, 0.7, numbers)


class Length:
    def __init__(self, metres):
        self.metres = metres

    def __add__(self, other):
        return Length(self.metres * 0.5 + other.metres)


class Parts:
    def __init__(self, *items):
        self.items = items

    def __iter__(self):
        yield from self.items


def multiples(x, n):
    for i in range(n):
        yield x * i
    return x * 10


def delegating(x):
    last = yield from multiples(x, 3)
    yield last
    nothing = yield from Parts(x, 2 * x)
    yield 0.0 if nothing is None else x
    yield from multiples(last, 2)


def delegated(x, parts):
    held = [1, "a"]
    held.append(x)
    total = 0.0
    for i, v in enumerate(delegating(held[-1])):
        total = total + v * (i + 1)
    return total * held[-1] + sum(v * w for v, w in zip(parts, delegating(x))) + sum(list(Parts(*parts)))


def test_yield_from():
    check(delegated, 1.3, Parts(2.0, 3.0))


def first_of_a_delegation(x):
    done = [1, "a"]

    def inner():
        try:
            yield x * 2
            yield x
        finally:
            done.append(x)

    def outer():
        yield from inner()

    held = outer()
    found = next(held)
    held.close()
    return found * done[-1]


def test_what_a_delegation_that_is_given_up_has_left_to_do():
    check(first_of_a_delegation, 1.3, specialised=None)


def operations_by_name(x, table):
    held = {"a": 1, "b": "s"}
    held["c"] = [x, x * 2]
    rows = held.__getitem__("c")
    named = rows.__getitem__(1) if held.__contains__("b") and not rows.__contains__("b") else x
    return named * rows[0] * table.__getitem__("scale") + rows.__getitem__(slice(0, 1))[0]


def test_operations_of_containers_by_name():
    check(operations_by_name, 1.3, {"scale": 2.0})


class Row:
    """Takes parts of itself as lists do."""

    def __init__(self, *items):
        self.items = items

    def __getitem__(self, index):
        if isinstance(index, slice):
            return Row(*[self.items[i] for i in range(*index.indices(len(self.items)))])
        return self.items[index]


def parts_of_a_row(x, n):
    row = Row(x, x * x, 3.0, x + 1.0)
    return sum(row[1:].items) * row[::-1][n] + row[slice(-2, None)][0] * x


def test_parts_of_what_takes_slices():
    check(parts_of_a_row, 1.3, 2)


class Curve:
    """Hands on the iteration over its segments."""

    def __init__(self, *segments):
        self.held, self.fixed, self.named = [*segments, "end"], segments, {"a": segments[0]}

    def __iter__(self):
        return self.held.__iter__()

    def __len__(self):
        return self.fixed.__len__() + self.named.__len__()


def iterated_by_name(x, curve):
    total = 0.0
    for number, segment in enumerate(Curve(x, x * x)):
        total += 0.0 if segment == "end" else segment * number
    for segment in curve:
        total += x * segment if segment != "end" else len(curve) * x
    return total + sum(v * x for v in curve.fixed.__iter__()) * sum(curve.named[k] for k in curve.named.__iter__())


def test_iterations_by_name():
    check(iterated_by_name, 1.3, Curve(2.0, 3.0))


class Angle:
    """Says which number it is, and what its functions give."""

    def __init__(self, degrees):
        self.degrees = degrees

    def __float__(self):
        return self.degrees * 2.0

    def __int__(self):
        return int(self.degrees) + 1

    def __abs__(self):
        return Angle(abs(self.degrees))

    def __neg__(self):
        return Angle(-self.degrees)

    def __round__(self, digits=0):
        return self.degrees if digits else 4

    def __str__(self):
        return "an angle"


def conversions(x, given):
    held = [Angle(x)]
    held.append(given)
    total = round(given, 2) * round(held[0]) + int(held[0])
    for angle in held:
        total += math.sin(float(-angle)) * float(abs(angle)) * len(str(angle))
    return total


def test_numbers_that_objects_say_they_are():
    check(conversions, 1.3, Angle(0.4))


class Place:
    """Whatever is assigned comes through here, what a property takes as well."""

    unit = 2.0

    def __setattr__(self, name, value):
        super().__setattr__(name, value * self.unit if name in ("x", "y") else value)

    @property
    def y(self):
        return self.x * self.kept

    @y.setter
    def y(self, value):
        object.__setattr__(self, "kept", value)


HERE = Place()


def assignments(x):
    made = Place()
    for place in (made, HERE):
        place.names = ["a"]
        place.x = x * x
        place.y = x
    return made.x * made.y + HERE.y * len(HERE.names)


def test_assignments_that_classes_define():
    for x in (1.3, 0.7):
        check(assignments, x)
        assert vars(HERE) == {"names": ["a"], "x": 2 * x * x, "kept": 2 * x}


class GivenByName:
    def __init__(self, **given):
        for name, value in given.items():
            self.__setattr__(name, value)
        self.texts = []

    def product(self, *names):
        found = [self.__getattribute__(name) for name in names]
        self.__delattr__("texts")
        return math.prod(found) * object.__getattribute__(self, names[0])


def attributes_by_name(x):
    named = GivenByName(a=x, b=x * x, n=2)
    try:
        named.__getattribute__("missing")
    except AttributeError:
        return named.product("a", "b", "n") * named.__getattribute__("b") * (not hasattr(named, "texts"))
    return x


def test_attributes_that_are_named_in_calls():
    check_slopes(attributes_by_name, 1.3)


class Rows:
    def __init__(self, x):
        self.step, self.rows = x, [x, [2.0]]


class Grid(Rows):
    def __init__(self, x):
        super().__init__(x)
        self.itself = self

    def clone(self):
        return copy.deepcopy(self)


class Slotted:
    __slots__ = ("rows", "x")

    def __init__(self, x):
        self.x, self.rows = x, [x]


class Wilful(Rows):
    def __deepcopy__(self, memo):
        return Rows(self.step * 7)


ROWS = Rows(2.0)


class Remembering:
    """Computes once, and knows that it has by a slot that is not empty any more."""

    __slots__ = ("_root", "_square", "x")

    def __init__(self, x):
        self.x = x

    def square(self):
        try:
            return self._square
        except AttributeError:
            self._square = self.x * self.x
        return self._square

    def root(self):
        if not hasattr(self, "_root"):
            self._root = math.sqrt(self.x)
        return self._root


class Filling(Remembering):
    def __getattr__(self, name):
        if name == "_root":
            return 2.0 * self.x
        raise AttributeError(name)


def remembered(x, cls):
    made = cls(x)
    first = made.square() * made.root()
    return first + made.square() + made.root() + getattr(cls(x), "_square", 3.0 * x)


@pytest.mark.parametrize("cls", [Remembering, Filling])
def test_slots_that_are_empty_so_far(cls):
    check_slopes(lambda x: remembered(x, cls), 0.7, specialised=True)


class Naming(type):
    """Adds to the classes that it makes, and leaves calls of them to ``type``."""

    def __new__(mcs, name, bases, namespace):
        return super().__new__(mcs, name, bases, {"factor": 2.0, **namespace})


class Named(metaclass=Naming):
    def __init__(self, x):
        self.x = x

    def scaled(self):
        return self.x * self.factor


class Calling(type):
    def __call__(cls, x):
        made = super().__call__(x)
        made.x *= 3.0
        return made


class Called(Named, metaclass=type("Both", (Calling, Naming), {})):
    pass


class Begun(collections.UserList):
    """Calls the ``__init__`` of its parent by ``super`` of the class, before its own."""

    def __new__(cls, *args):
        made = super().__new__(cls)
        super().__init__(made, [1.0])
        return made

    def __init__(self, x):
        self.data.append(x)

    def scaled(self):
        return self.data[0] * self[1] * len(self)


@pytest.mark.parametrize("cls", [Named, Called, Begun])
def test_classes_that_are_made_and_begun_in_their_own_ways(cls):
    check_slopes(lambda x: cls(x * x).scaled() * x, 0.7, specialised=True)


def copies(x, cls):
    made = cls(x)
    deep, shallow = copy.deepcopy(made), copy.copy(made)
    deep.rows[0] = x * x
    shallow.rows.append(3 * x)
    return made.rows[0] * deep.rows[0] + made.rows[-1] * len(deep.rows) * x


def clones(x):
    made = Grid(x)
    deep, shallow = made.clone(), copy.copy(made)
    deep.step = 3 * x
    return deep.itself.step * shallow.itself.step + deep.itself.itself.rows[1][0]


def copies_of_what_is_outside(x):
    ROWS.step = x
    deep, shallow = copy.deepcopy(ROWS), copy.copy(ROWS)
    deep.rows[1][0] = x
    shallow.step = 2 * x
    return deep.step * shallow.step * ROWS.step + deep.rows[1][0] * ROWS.rows[1][0] * deep.rows[0]


def wilful_copies(x):
    made = Wilful(x)
    made.rows.append(copy.deepcopy(made))
    return made.rows[-1].step * x


def test_copies_of_objects():
    check(copies, 1.3, Grid, specialised=None)
    for cls in (Grid, Slotted):
        f = scope("def f(x):\n    return copies(x, cls)", copies=copies, cls=cls, __name__=__name__)["f"]
        check(f, 1.3)
    check(clones, 1.3)
    check(wilful_copies, 1.3, specialised=None)


def test_copies_of_objects_from_outside():
    check(copies_of_what_is_outside, 1.3)
    assert (ROWS.step, ROWS.rows) == (1.3, [2.0, [2.0]])
    ROWS.more = 4.0
    check(copies_of_what_is_outside, 0.7)
    ROWS.rows.append(5.0)
    check(copies_of_what_is_outside, 0.7)


def methods_that_are_taken(a, shape):
    held = [a.reshape(*shape)]
    held.append(held[0].transpose)
    known = VOWELS("a")
    return (held[1]() * held[0].dot(*(held[0].T,)).sum()).sum() if known else 0.0


VOWELS = frozenset("aeiou").__contains__


def test_methods_of_arrays_and_constants_that_are_taken_before_they_are_called():
    check(methods_that_are_taken, np.arange(1.0, 7.0), (2, 3))


class Ordered:
    def __init__(self, x):
        self.x = x
        self.x = x * 2.0

    def __lt__(self, other):
        return self.x < other.x

    def __len__(self):
        return 2


def ordered(x):
    held = [Ordered(x), Ordered(0.5)]
    held.append(Ordered(2.0))
    best = min(held)
    return (held[0] < held[2]) * len(held[0]) * x * best.x + sum(v.x for v in sorted(held)[1:])


def test_classes_that_were_carried_first():
    plain = [slopes(ordered, x) for x in (0.7, 0.1)]
    assert oracle(ordered, 0.7)[1] == pytest.approx(plain[0])
    check(ordered, 0.7)
    assert ad.gradient(ordered, 0.1) == pytest.approx(plain[1])


class Twice(property):
    """A property that gives, and takes, twice of it."""

    def __get__(self, owner, cls=None):
        return self if owner is None else 2.0 * super().__get__(owner, cls)

    def __set__(self, owner, value):
        super().__set__(owner, 3.0 * value)


class Strict(property):
    def __get__(self, owner, cls=None):
        return self.fget(owner) * 5.0


class Once(functools.cached_property):
    def __get__(self, owner, cls=None):
        return self if owner is None else super().__get__(owner, cls) * 7.0


class Measured:
    def __init__(self, x):
        self.x = x

    @Twice
    def area(self):
        return self.x * self.x

    @area.setter
    def area(self, value):
        self.x = value

    @Strict
    def width(self):
        return self.x

    @Once
    def once(self):
        return self.x * self.x


MEASURED = Measured(2.0)


def read_in_another_way(x):
    made = Measured(x)
    return made.area + MEASURED.area * x


def assigned_in_another_way(x):
    made = Measured(x)
    made.area = x * x
    return made.area


def read_of_objects_alone(x):
    made = Measured(x)
    return made.width * MEASURED.width


def cached_in_another_way(x):
    made = Measured(x)
    return made.once * x


@pytest.mark.parametrize("f", [read_in_another_way, assigned_in_another_way, read_of_objects_alone])
def test_properties_of_derived_classes(f):
    for x in (0.7, 1.3):
        check_slopes(f, x, specialised=None)


def test_cached_properties_of_derived_classes():
    try:
        assert ad.gradient(cached_in_another_way, 0.7) == pytest.approx(slopes(cached_in_another_way, 0.7))
    except ad.NotDifferentiable as error:
        assert "__get__" in str(error)


class Loose:
    kind = 2.0

    @functools.cached_property
    def square(self):
        return self.x * self.x

    @property
    def fixed(self):
        return 1.0


def deleted(x):
    o = Loose()
    o.x, o.kind = x, x * x
    first = o.square * o.kind
    del o.square
    delattr(o, "kind")
    o.x = 2.0 * x
    try:
        del o.y
    except AttributeError:
        first = first * x
    return first + o.square * o.kind + (x if hasattr(o, "kind") else 0.0)


def deleted_for_good(x):
    o = Loose()
    o.x = x
    del o.x
    return getattr(o, "x", x * x) * len(vars(o)) + x


def deleted_by_its_class(x):
    try:
        del Loose().fixed
    except AttributeError:
        return x * x
    return x


LOOSE = Loose()


def deleted_outside(x):
    LOOSE.y = x
    found = LOOSE.y * x
    del LOOSE.y
    return found * (x if hasattr(LOOSE, "y") else 1.0)


@pytest.mark.parametrize("f", [deleted, deleted_for_good])
def test_attributes_that_are_deleted(f):
    check_slopes(f, 0.7)


@pytest.mark.parametrize("f", [deleted_by_its_class, deleted_outside])
def test_attributes_that_are_deleted_elsewhere_are_right(f):
    check_slopes(f, 0.7, specialised=None)
    assert not hasattr(LOOSE, "y")


_put_into = object.__setattr__.__get__


class Frozen:
    """As classes are that write their ``__init__`` themselves."""

    def __init__(self, a, b=2.0):
        put = _put_into(self)
        put("a", a)
        put("b", b)

    def __setattr__(self, name, value):
        raise AttributeError(name)

    def scaled(self, k):
        return self.a * self.b * k


_scaled_of = Frozen.scaled.__get__


def frozen(x):
    o = Frozen(x, b=x * x)
    try:
        o.a = 1.0
    except AttributeError:
        return _scaled_of(o)(x) + Frozen(x).scaled(3.0)
    return x


def test_functions_that_are_bound_by_hand():
    check_slopes(frozen, 0.7)


class Combining(ABCMeta):
    """Classes that are combined by operators, and say how they are shown."""

    def __add__(cls, other):
        return cls, other

    def __or__(cls, other):
        return other

    def __repr__(cls):
        return f"<{cls.__name__}>"


class Shape(metaclass=Combining):
    bounds = (0.5, None, (2.0, "wide"))

    def __init__(self, width):
        self.width = width
        self.limits = copy.deepcopy(self.bounds)

    @staticmethod
    def evaluate(x, width):
        return np.exp(-0.5 * (x / width) ** 2)

    def __setattr__(self, name, value):
        super().__setattr__(name, value * 1.0 if isinstance(self, Shape) and name == "width" else value)

    def __call__(self, x):
        shapes = [np.shape(x), (2, 2)]
        scale = 2.0 if None in shapes else self.limits[0] * self.limits[2][0]
        return scale * self.evaluate(x, self.width)


def by_a_class(x, y):
    return np.sum(Shape.evaluate(np.array([x, 0.3]), y)) + Shape(y)(x)


def test_classes_with_a_metaclass_of_their_own():
    for x, y in ((0.7, 1.3), (0.2, 0.9), (1.1, 2.0)):
        check(by_a_class, x, y)
    assert ad.gradient(lambda y: Shape.evaluate(0.7, y), 1.3) == pytest.approx(
        (Shape.evaluate(0.7, 1.3) * 0.49 / 1.3**3,)
    )


class Settings:
    tolerance, depth = 1.0, 0


@contextlib.contextmanager
def settings(held, **named):
    before = {name: getattr(held, name) for name in named}
    for name, value in named.items():
        setattr(held, name, value)
    try:
        yield held
    finally:
        for name, value in before.items():
            setattr(held, name, value * held.tolerance)


def logged(x, log):
    try:
        for i in range(4):
            yield x * i
    finally:
        log.append(x * x)


def set_for_a_while(x, limit):
    held, log = Settings(), []
    with settings(held, tolerance=x) as inner, settings(held, depth=x * x):
        total = inner.tolerance * held.depth
    total += sum(v * v for v in logged(x, log))
    return total * held.tolerance + held.depth + log[0]


def given_up(x, limit):
    log, total = [], 0.0
    for v in logged(x, log):
        if v > limit:
            break
        total += v
    return total + sum(log) * x


def thrown_into(x, limit):
    held = Settings()
    try:
        with settings(held, tolerance=x):
            if x * x > limit:
                raise ValueError
            total = held.tolerance
    except ValueError:
        total = x * x
    return total * held.tolerance * x


def test_generators_that_clean_up():
    for limit in (10.0, 1.0, 10.0, 1.0):
        check(set_for_a_while, 0.7, limit)
        for f in (given_up, thrown_into):
            check(f, 0.7, limit, specialised=None)
            check(f, 1.3, limit, specialised=None)


class Equivalent(TypeError):
    """Is raised with a message that says what objects are."""


class Side:
    def __init__(self, size, unit="rad"):
        if unit not in ("rad", "deg"):
            raise Equivalent(f"{self} has no unit" + f" {unit!r} of {type(self)}" + ", but should")
        self.size = size

    def __str__(self):
        return "a side"


class Turn(Side):
    def __init__(self, size):
        super().__init__(size, "turns")


def made_of_what_fits(x, options):
    for cls in (Turn, Side):
        try:
            return cls(x * x, **options).size * (2.0 if cls is Turn else 3.0)
        except TypeError:
            pass
    return x


class Bare:
    def __getattr__(self, name):
        raise AttributeError(name)


def found_by_failing(x, depth):
    owner = Bare()
    return sum(x * i for i in range(depth) if not hasattr(owner, f"part{i}"))


def test_handlers_of_calls_that_do_not_fit():
    for options in ({}, {"unit": "deg"}, {"unit": "km"}, {"size": 2.0}, {"colour": 1}):
        check(made_of_what_fits, 0.7, options, specialised=None)
    assert GENERIC or is_specialised(made_of_what_fits)


def test_what_raises_within_a_question_leaves_no_depth():
    check(found_by_failing, 0.7, 80)


def of_a_copied_set(x):
    seen = {1, 2}
    others = seen.copy()
    others.add(3)
    return x * len(others) * len(seen)


def test_copies_of_sets():
    check(of_a_copied_set, 0.7)


NAMES, KINDS = {"a", "b"}, (int, (int, float), "text", int | None, None)


class Tags:
    def __init__(self):
        self.names, self.held = {"a", "x"}, collections.defaultdict(type(None))


TAGS = Tags()


class Half:
    """Does not know what it equals."""

    def __eq__(self, other):
        return NotImplemented if not isinstance(other, str) else other == "half"

    __hash__ = None


def asked_of_sets_and_kinds(x, kind):
    y = x * x if ({"a"} | TAGS.names) - NAMES else x
    y *= 2.0 if kind in KINDS else 3.0
    if TAGS.held["missing"] is None and not set() and TAGS.names:
        y += x * len(TAGS.names)
    return y


def told_by_identity(x, other):
    first, second = Half(), Half()
    return x * (1.0 if first == second else 2.0) * (3.0 if first != second else 5.0) * (7.0 if first == first else x)


def by_what_is_missing(x, found):
    try:
        y = found.get(str(len("ab")), x)
    except AttributeError:
        y = x * x
    z = np.float64(2.0)
    return y * (2.0 if z.__eq__(2.0) else x) * z.__mul__(x) - np.float64(x).__rsub__(1.0)


def test_questions_that_decide_about_the_way():
    for kind in (int, float, "text", "other", None, int | None):
        check(asked_of_sets_and_kinds, 0.7, kind, specialised=None)
    for found in (None, {}, {"2": 3.0}):
        check(by_what_is_missing, 0.7, found, specialised=None)
    check(told_by_identity, 0.7, None)
    assert GENERIC or is_specialised(asked_of_sets_and_kinds) and is_specialised(by_what_is_missing)


@wrapt.decorator
def doubled(wrapped, instance, args, kwargs):
    return 2.0 * wrapped(*args, **kwargs)


@doubled
def power(x, *, exponent=2):
    return x**exponent


def decorated(x):
    return power(x) * power(x, exponent=3) + sum(power(x * i) for i in range(3))


def test_what_wrapt_puts_around_functions():
    check(decorated, 0.7)


class Named:
    """Knows lists and tuples of names."""

    def __init__(self, name):
        self.name = name

    def __eq__(self, other):
        return self.name in other if isinstance(other, (list, tuple)) else isinstance(other, Named)

    def __ne__(self, other):
        return not self == other

    def __lt__(self, other):
        return len(other) > 1

    def __deepcopy__(self, memo):
        return self

    __hash__ = None


NAMED = Named("a")


def compared_with_containers(x, names):
    y = x
    y *= 2.0 if names == NAMED else 3.0
    y *= 5.0 if NAMED == ("a", x) else 7.0
    y *= 11.0 if NAMED != ["b"] else 13.0
    y *= 17.0 if [x] == Half() else 19.0
    y *= 23.0 if Half() != (x,) else 29.0
    y *= 31.0 if names > NAMED else 37.0
    return y * (41.0 if {"a": x} == NAMED else 43.0) * x


def copied_as_it_is(x, names):
    held = copy.deepcopy([NAMED, Named("b"), x, names])
    return held[2] * (2.0 if held[0] is NAMED else 3.0) * len(held[3]) * x


@pytest.mark.parametrize("f", [compared_with_containers, copied_as_it_is], ids=lambda f: f.__name__)
def test_objects_beside_containers(f):
    for names in (["a", "b"], ["b"]):
        check(f, 0.7, names, specialised=None)
    assert GENERIC or is_specialised(f)


@runtime_checkable
class Sized(Protocol):
    def __len__(self): ...


class Deciding(type):
    def __instancecheck__(cls, other):
        return getattr(other, "shape", None) == () or type(other) is str


class Scalar(metaclass=Deciding):
    """What has no axes."""


MISSING = object()


def marked(x, held):
    nothing, other = object(), object()
    found = {"b": x}.get(held, nothing)
    y = x * 2.0 if found is nothing else x
    y *= 3.0 if found is not other and nothing == nothing and nothing != other and other else 5.0
    y *= 7.0 if found is MISSING else 11.0
    known = {nothing: x, other: 2.0}
    return y * known[nothing] * len([each for each in (nothing, held, other) if each is nothing])


def told_by_protocols(x, held):
    a = np.array([x, 2.0])
    y = x if isinstance(a, Sized) and not isinstance(x, (Sized, int)) else 0.0
    y *= 2.0 if isinstance(np.float64(x), Scalar) and isinstance("scalar", Scalar) and not isinstance(a, Scalar) else x
    kinds = {np.dtype(float), a.dtype, np.array([1]).dtype}
    return y * len(kinds) * float(a.__array_namespace__().sum(a)) * (3.0 if a.dtype in kinds else x)


@pytest.mark.parametrize("f", [marked, told_by_protocols], ids=lambda f: f.__name__)
def test_marks_and_protocols(f):
    for held in ("a", "b"):
        check(f, 0.7, held, specialised=None)
    assert GENERIC or is_specialised(f)
