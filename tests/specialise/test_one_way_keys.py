"""Keys whose classes say what they equal, hashes and the order of bases, on one way."""

from __future__ import annotations

import dataclasses
from collections import defaultdict

import numpy as np
import pytest
from specialised_cases import check, check_slopes, is_specialised

import autodiff_hook as ad


@dataclasses.dataclass(frozen=True)
class Mode:
    name: str
    order: int = 1


class Unit:
    """Keeps its hash."""

    def __init__(self, **powers):
        self.powers, self._hash = powers, None

    def __hash__(self):
        if self._hash is None:
            self._hash = hash(frozenset(self.powers.items()))
        return self._hash

    def __eq__(self, other):
        return isinstance(other, Unit) and self.powers == other.powers


class Named(Unit):
    def __eq__(self, other):
        return super().__eq__(other)

    __hash__ = Unit.__hash__


class Loud(Unit):
    def __hash__(self):
        ASKED.append(1)
        return 7


class Numbered:
    def __init__(self, number):
        self.number = number

    def __hash__(self):
        return self.number


class Table(dict):
    def __missing__(self, key):
        return 2.0

    def __eq__(self, other):
        return "nothing" == other

    __hash__ = None


ASKED = []
FACTORS = {(Unit(km=1), Unit(mile=1)): 3.0, (Named(s=1), Unit(h=1)): 5.0, "none": 1.0}
BY_MODE = {Mode("a"): 2.0, Mode("b", 2): 4.0}
LOUD = {Loud(a=1): 3.0, Unit(b=1): 2.0}
MILE, SEEN = Unit(mile=1), []


def factor(x, y):
    x = x if Unit.__hash__(MILE) == hash(MILE) else y
    return x * y * FACTORS[Unit(km=1), MILE] + FACTORS.get((Named(s=1), Unit(h=1)), 1.0) * y * FACTORS["none"]


def by_mode(x, y):
    total = x * BY_MODE[Mode("a")] + y * BY_MODE.get(Mode("b", order=2)) * (Mode("a") in BY_MODE)
    return total * x + (y if hash(Mode("a")) == hash(Mode("a", 1)) else x)


def of_what_is_known(x, y):
    kept = Unit(a=1, b=2)
    same = hash(frozenset({("b", 2), ("a", 1)})) == hash(kept) and hash(("a", 1.5, None)) == hash(("a", 1.5, None))
    table = Table(a=x)
    alike = dict.__eq__(table, {"a": x}) and not dict.__ne__(table, Table(table)) and table == "nothing"
    alike = alike and dict.__eq__(table, 3) is NotImplemented and not list.__eq__([x], [y])
    order = type(kept).mro() + Named.mro()
    return x * y if same and alike and order == [Unit, object, Named, Unit, object] else x


@pytest.mark.parametrize("f", [factor, by_mode, of_what_is_known])
def test_objects_as_keys(f):
    check_slopes(f, 0.7, 1.3)


def large_hash(x, y, number):
    return x * y if hash(Numbered(number)) == number else x


@pytest.mark.parametrize("number", [2**62, 5, -1, 2**70])
def test_what_a_class_says_is_no_number_to_be_hashed(number):
    for f in (large_hash, lambda x, y, n: (SEEN.clear(), large_hash(x, y, n))[1]):
        assert ad.gradient(f, 0.7, 1.3, number)[0] == (1.3 if number in (2**62, 5) else 1.0)
        assert ad.hvp(f, (0.7, 1.3, number), (1.0, 2.0, 0.0))[0] == (2.0 if number in (2**62, 5) else 0.0)


class Node:
    def __init__(self, name):
        self.name = name


NODES = [Node("a"), Node("b"), Node("c")]
COSTS = {NODES[0]: 2.0, NODES[1]: 3.0, (NODES[0], NODES[1]): 5.0, (NODES[1], Mode("a")): 0.5}


def by_nodes(x, y):
    a, b = NODES[:2]
    total = x * COSTS[a] + y * COSTS.get(b, x) + x * y * COSTS[a, b] * COSTS[b, Mode("a")]
    return total + (x if NODES[2] in COSTS else y) + COSTS.get(NODES[2], 1.0) * x * x


def test_objects_that_are_like_no_other():
    check_slopes(by_nodes, 0.7, 1.3)
    NODES.insert(0, NODES.pop(1))
    with pytest.raises(KeyError):
        ad.gradient(by_nodes, 0.7, 1.3)
    COSTS[NODES[0], NODES[1]], COSTS[NODES[1], Mode("a")] = 2.0, 4.0
    check_slopes(by_nodes, 0.7, 1.3)
    COSTS[NODES[2]] = 7.0
    check_slopes(by_nodes, 0.7, 1.3)


def counted(x, y):
    total, seen = {}, set()
    for node, count in ((NODES[0], x), (NODES[1], y), (NODES[0], x * y)):
        if node not in total:
            total[node] = 0.0
        total[node] += count
        seen.add(node)
    named = {(node, 1): value * len(node.name) for node, value in total.items()}
    return named[NODES[0], 1] * total[NODES[1]] + len(seen) * x + sum(len(k.name) * v for (k, _), v in named.items())


def weighed(a, b, x):
    total = {a: x, "kind": None}
    total[b] = x * x
    total[a] *= b.name
    del total["kind"]
    return sum(k.name * v for k, v in total.items()) * (1.0 if len(total) > 1 else a.name)


def test_objects_as_keys_of_dicts_of_the_program():
    check_slopes(counted, 0.7, 1.3)
    NODES.reverse()
    check_slopes(counted, 0.7, 1.3)
    NODES.append(NODES[0])
    one, other = Node(2.0), Node(3.0)
    for a, b in ((one, other), (one, one), (other, one), (other, other)):
        check(weighed, a, b, 0.7, specialised=None)


def one_of_several(x, y):
    faces = [[x, "a"], [y, "b"], [x, "a"]]
    outer, alike = faces[1], faces[:]
    held, node = {}, Node(x)
    inner = [face for face in faces if face is not outer]
    total = sum(face[0] for face in inner) * (alike is not faces) * (alike[1] is outer) * (held is not vars(node))
    return total * (x if vars(node) is node.__dict__ and set() is not set() else y) * (faces[0] is faces[0])


def test_lists_that_are_compared_by_identity():
    check_slopes(one_of_several, 0.7, 1.3)


RATES, LEVEL = {0.5: 2.0, 1.5: 3.0, 0.0: 4.0}, Node(np.float64(0.5))


def by_a_float(x, y):
    kinds, own = [1, "a"], {LEVEL.name: x, 3: y}
    return x * RATES[LEVEL.name] * y + own[LEVEL.name] * len(kinds)


def test_constant_floats_as_keys():
    for level in (np.float64(0.5), 1.5, 0.5, 0.0):
        LEVEL.name = level
        check_slopes(by_a_float, 0.7, 1.3, specialised=None if level == 0.0 else True)
    assert ad.gradient(lambda x: {x: x}[x] * len([1, "a"]), 0.7) == (2.0,)
    assert ad.gradient(lambda n: {n.name: 3.0}[n.name] * n.name * len([1, "a"]), Node(0.5))[0].name == 6.0


def test_keys_that_are_there_by_now():
    def f(x, y):
        return x * y * FACTORS[Unit(new=1), MILE]

    for _ in range(2):
        with pytest.raises(KeyError):
            ad.gradient(f, 0.7, 1.3)
    for factor in (2.0, 4.0):
        FACTORS[Unit(new=1), MILE] = factor
        check_slopes(f, 0.7, 1.3)
    FACTORS[Unit(km=1), Unit(mile=1)] = 6.0
    check_slopes(factor_of_a_mile, 0.7, 1.3)
    MILE.powers["mile"], MILE._hash = 2, None
    try:
        with pytest.raises(KeyError):
            ad.gradient(factor_of_a_mile, 0.7, 1.3)
    finally:
        MILE.powers["mile"], MILE._hash = 1, None


def factor_of_a_mile(x, y):
    return x * y * FACTORS[Unit(km=1), MILE]


def test_a_hash_that_has_effects():
    def f(x, y):
        return x * y * LOUD[Unit(b=1)] + x * LOUD[Loud(a=1)]

    for _ in range(3):
        ASKED.clear()
        f(0.7, 1.3)
        count = len(ASKED)
        ASKED.clear()
        assert ad.gradient(f, 0.7, 1.3) == pytest.approx((5.6, 1.4))
        assert len(ASKED) == count


def of_an_argument(table, x):
    return table[Mode("a")] * x + table.get(Mode("b", 2)) * table[Mode("a")]


def test_a_dict_of_the_arguments():
    check(of_an_argument, {Mode("a"): 2.0, Mode("b", 2): 4.0}, 0.7, specialised=None)


def kept(x, y):
    table = Table(a=1)
    table["b"] += table["c"]
    SEEN[:] = [Unit(a=1), table]
    SEEN[0].table = table
    return x * y * table["b"]


def test_derived_containers_that_something_outside_keeps():
    check_slopes(kept, 0.7, 1.3)
    unit, table = SEEN
    assert type(table) is Table and dict.items(table) == {"a": 1, "b": 4.0}.items() and unit.table is table


def in_cells(x, n):
    cells = {}
    for i, place in enumerate(np.arange(1.0, n + 1.0)):
        cells.setdefault(tuple(int(c) for c in (np.floor(place), i % 2)), []).append(x ** (i + 1))
    total = 0.0
    for _ in range(n):
        total = 0.5 * total + x
    return total + sum(k[0] * v for k, held in cells.items() for v in held)


def by_its_number(x, n):
    counts = {(n, 1): x, (2, n): x * x}
    for _ in range(n):
        x = x * x
    return x + sum(k[0] * v for k, v in counts.items())


def test_whole_numbers_that_are_counted_to_and_are_no_keys():
    for n in (4, 4, 6, 4, 6):
        check(in_cells, 0.9, n, specialised=None)
        check(by_its_number, 0.9, n, specialised=None)
    assert is_specialised(in_cells)
    assert ad.gradient(by_its_number, 0.9, 3)[1] == 0.9


class Alike:
    """Is hashed by what it is, whatever it equals."""

    def __init__(self, value):
        self.value, self.parts = value, {self: 1.0}

    def __hash__(self):
        """Each is another one."""
        return id(self)

    def __eq__(self, other):
        return self.value == other.value


class Plain(Alike):
    __hash__ = object.__hash__


class Hashed(Alike):
    def __hash__(self):
        return hash(id(self))


HELD = [Alike(2.0), Alike(2.0)]
OF_HELD = {HELD[0]: 3.0}


def by_identity(cls):
    def f(x, y):
        a, b = cls(x), cls(x)
        total = {a: x, b: y}
        total[a] += y
        more = defaultdict(float)
        for each in [a, b, a, *(HELD if cls is Alike else [])]:
            more[each] += each.value * x
        more.default_factory = None
        try:
            more[cls(x)] += 1.0
        except KeyError:
            x = x * a.parts[a]
        found = [value for key, value in more.items() if key in OF_HELD] or [x]
        return total[a] * total[b] + more[a] * len(more) * (a == b) * found[0]

    return f


def by_what_id_says(x, y):
    nodes, seen, memo = [Node(x), Node(y)], set(), {}
    for node in [*nodes, *nodes, NODES[0]]:
        if id(node) not in seen:
            seen.add(id(node))
            memo[id(node)] = node.name if node is not NODES[0] else 2.0
    total = sum(memo[key] for key in memo) * len(seen)
    return total * memo[id(nodes[0])] * (x if id(nodes[1]) in memo else y) * memo[id(NODES[0])]


def of_sets_of_objects(x, y):
    a, b, c = map(Alike, (x, y, x * y))
    s, t = {a, b}, {b, c}
    common = [*s.intersection(t), *(t & {c}), *s.intersection(defaultdict(float, {a: 1.0}))]
    s.discard(a)
    counts = len(s | t) + 2 * len(s - t) + 3 * len(s ^ t) + s.issubset(t) + (a in t) + s.isdisjoint({a})
    return sum(each.value**2 for each in common) * counts * s.pop().value


@pytest.mark.parametrize("cls", [Alike, Plain, Hashed])
def test_objects_that_are_hashed_by_what_they_are(cls):
    check_slopes(by_identity(cls), 0.7, 1.3)


@pytest.mark.parametrize("f", [by_what_id_says, of_sets_of_objects])
def test_identities_as_keys(f):
    check_slopes(f, 0.7, 1.3)


def test_identities_that_are_more_than_keys():
    held = {}

    def kept(x):
        node = Node(x)
        held.clear()
        held[id(node)] = node
        return node.name * x

    for _ in range(3):
        assert ad.gradient(kept, 0.7) == (1.4,)
        assert [id(node) for node in held.values()] == list(held)
    for f in (
        lambda x: x * (id(node := Node(x)) == id(node)),
        lambda x: x * len(sorted({id(node): node for node in (Node(x), Node(2.0 * x))})),
        lambda x: sum(node.name for node in {Node(x), Node(2.0 * x)}),
    ):
        check_slopes(f, 0.7, specialised=None)
    for _ in range(3):
        assert ad.gradient(lambda p: {id(p): p.name}[id(p)] * p.name, Node(0.7))[0].name == 1.4


@dataclasses.dataclass(frozen=True)
class Place:
    i: int
    j: int


def by_places(x, y):
    total, named = defaultdict(float), {}
    for i in range(3):
        for j in range(3):
            total[Place(i, i * j % 2)] += x * i + y * j
    named[Place(0, 0), "a"] = named[Place(0, 0), 1] = x
    named[Place(0, 0), "a"] *= y
    first = total.pop(Place(0, 0)) + total.get(Place(7, 7), y)
    found = sum(value * (place.i + 1) for place, value in total.items()) * len(total)
    seen = {Place(1, 2), Place(2, 1), Place(1, 2)}
    alike = {Place(1, 2): 1, "a": 2} == {"a": 2, Place(1, 2): 1}
    return found * first * len(seen) * named[Place(0, 0), "a"] * (x if Place(2, 1) in seen and alike else y)


def by_units(x, y):
    total = {}
    for unit, count in ((MILE, x), (Unit(mile=1), y), (Unit(km=1), x * y), (Named(mile=1), x)):
        total[unit] = total.get(unit, 0.0) + count
    return sum(value * len(unit.powers) ** i for i, (unit, value) in enumerate(total.items())) * total[MILE]


@pytest.mark.parametrize("f", [by_places, by_units])
def test_objects_that_say_what_they_equal_as_keys_of_dicts_of_the_program(f):
    check_slopes(f, 0.7, 1.3)


def test_keys_that_are_more_than_looked_up():
    held = {}

    def kept(x):
        held.clear()
        held[Place(1, 2)] = x
        return held[Place(1, 2)] * x

    def loud(x):
        return {Loud(a=1): x, Loud(b=1): x * x}[Loud(b=1)] * len(ASKED) ** 0

    for f in (
        kept,
        loud,
        lambda x: {Place(x, 2): x}[Place(x, 2)],
        lambda x: {Place(1, 2): x, hash(Place(1, 2)): 2.0 * x}[Place(1, 2)],
        lambda x: sum({**dict.fromkeys([Place(1, 2), Place(1, 3)], x), Place(1, 2): x * x}.values()),
    ):
        check_slopes(f, 0.7, specialised=None)
        assert f is not kept or list(held) == [Place(1, 2)]
