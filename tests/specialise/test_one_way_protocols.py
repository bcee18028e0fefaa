"""What classes say of their objects, on one way: items, iteration, descriptors, what ``super`` finds."""

from __future__ import annotations

import copy
import functools

import pytest
from specialised_cases import GENERIC, check, is_specialised, oracle, same, scope, slopes

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
