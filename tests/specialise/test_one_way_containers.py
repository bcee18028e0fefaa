"""Objects of classes derived from lists and dicts, on one way."""

from __future__ import annotations

import functools
import math
import operator
from collections import Counter

import numpy as np
import pytest
from specialised_cases import check, check_slopes, slopes

import autodiff_hook as ad


class Bunch(dict):
    def __getattr__(self, name):
        if name in self:
            return self[name]
        raise AttributeError(name)

    def __setattr__(self, name, value):
        self[name] = value


class Doubling(dict):
    """``dict`` asks none of these methods itself."""

    def __init__(self, rate, **items):
        super().__init__(items, rate=rate)

    def __setitem__(self, key, value):
        super().__setitem__(key, 2.0 * value)

    def __getitem__(self, key):
        return dict.__getitem__(self, key) + 1.0


class Matrix(list):
    def __init__(self, *rows):
        list.__init__(self, rows)
        self.height = len(rows)

    def total(self):
        return sum(v * v for row in self for v in row)

    def __len__(self):
        return 7


class Reversed(list):
    def __iter__(self):
        return (self[-1 - i] for i in range(len(self)))


class Defaulting(dict):
    def __missing__(self, key):
        return 2.0


def attributes(x, y):
    w = Bunch(k=x, n=2)
    w.m = y * w.k
    w["z"] = x
    alike = Bunch(w)
    alike.update(z=y)
    return w.m * alike.z + sum(w.values()) + (lambda k, m, **rest: k * m * len(rest))(**w) + (not hasattr(w, "no"))


def methods_of_their_own(x, y):
    w = Doubling(x, a=y)
    w["b"] = x
    w.update(c=y)
    w.setdefault("d", x)
    return w["b"] * w.get("c") + w["rate"] * w["d"] + sum(w.values())


def rows(x, y):
    m = Matrix([x, y], [y, x * y])
    other = m
    other.append([x])
    m[0][1] = x * x
    top, *rest = m
    return m.total() * m.height * len(m) + top[1] * rest[-1][0] + (x if m is other and isinstance(m, list) else y)


@pytest.mark.parametrize("f", [attributes, methods_of_their_own, rows])
def test_containers_of_classes(f):
    check_slopes(f, 0.7, 1.3)


class Counted(dict):
    """Keeps what it is asked for and has not."""

    def __missing__(self, key):
        self[key] = self.step
        return self.step

    def copy(self):
        return Counted(self)

    step = 0.5


class Spaced(list):
    def ends(self):
        return self[0] + self[-1]


def what_is_missing(x, y):
    w = Counted(a=x)
    other = w.copy()
    other["a"] *= y
    other["b"] += y
    read, total = w.__getitem__, w["n"] + dict.__getitem__(w, "m")
    total += len(w) + ("k" in w) + (w.get("k") is None) + read("o") * x
    return total * sum(other.values()) + sum(v for _, v in w.items()) * Counter(Defaulting(a=y))["a"]


def without_such_a_method(x, y):
    try:
        return x * Bunch(a=y)["b"]
    except KeyError:
        return x * y


TABLES = {}
UNITS = {"km": Defaulting(metre=3.0), "spaced": Spaced([1.5, 2.0]), "options": Bunch(tol=2.0, most=4)}


def derived_from_outside(x, y):
    km, spaced, options = UNITS["km"], UNITS["spaced"], UNITS["options"]
    total = km["metre"] * x + km["mile"] * y + ("metre" in km) + len(km) + km.get("mile", x) + options.tol
    total += sum(k * v for k, v in enumerate(km.values())) + sum(v * x for v in spaced) + spaced.ends() * spaced[1]
    alike = Defaulting(km)
    alike["mile"] += x
    for name, value in options.items():
        total += value * len(name) * y
    return total * alike["mile"] + [*options][0].count("t") + (x if UNITS["km"] else y) + dict(km)["metre"]


@pytest.mark.parametrize("f", [what_is_missing, without_such_a_method, derived_from_outside])
def test_dicts_that_answer_for_what_they_have_not(f):
    check_slopes(f, 0.7, 1.3)


def test_derived_containers_from_outside_that_change():
    for change in (
        lambda: UNITS["km"].update(mile=1.5),
        lambda: UNITS["km"].pop("mile"),
        lambda: UNITS["spaced"].append(3.0),
        lambda: UNITS["spaced"].pop(),
        lambda: UNITS.update(options=Bunch(most=2, tol=3.0)),
        lambda: setattr(Defaulting, "__contains__", lambda self, key: True),
        lambda: delattr(Defaulting, "__contains__"),
    ):
        change()
        check_slopes(derived_from_outside, 0.7, 1.3)


def test_a_class_is_asked_once_for_what_is_missing_by_now():
    TABLES["counted"] = Counted(a=2.0)
    f = lambda x, y: x * TABLES["counted"]["a"] * y  # noqa: E731
    check_slopes(f, 0.7, 1.3)
    asked = []
    TABLES["counted"].clear()
    Counted.step = property(lambda self: asked.append(1) or 0.5)
    try:
        assert ad.gradient(f, 0.7, 1.3) == (0.65, 0.35)
        assert len(asked) == 2 and TABLES["counted"] == {"a": 0.5}
    finally:
        Counted.step = 0.5


def changed_outside(x, y):
    UNITS["km"]["metre"] = x * y
    return UNITS["km"]["metre"] * UNITS["km"]["mile"]


def test_a_derived_dict_from_outside_that_is_changed():
    before = dict(UNITS["km"])
    for _ in range(3):
        assert ad.gradient(changed_outside, 0.7, 1.3) == (2.6, 1.4)
        assert UNITS["km"] == {"metre": 0.7 * 1.3}
    UNITS["km"].clear()
    UNITS["km"].update(before)


def methods_of_the_object(x, y):
    w = Bunch(a=x)
    object.__setattr__(w, "values", lambda: [y])
    return sum(w.values()) * w["a"] + sum(UNITS["km"].values()) * x


def test_attributes_of_an_object_come_before_methods_of_its_class():
    check_slopes(methods_of_the_object, 0.7, 1.3)
    UNITS["km"].values = UNITS["km"].get = lambda key=None: [5.0]
    check_slopes(methods_of_the_object, 0.7, 1.3, specialised=None)
    check_slopes(lambda x, y: x * y * UNITS["km"].get("metre")[0], 0.7, 1.3, specialised=None)
    UNITS["km"].__dict__.clear()


def of_arguments(units, row, x):
    return units["a"] * x + units["b"] * sum(v for v in units.values()) + row.ends() * sum(row)


def test_derived_containers_among_the_arguments():
    check(of_arguments, Defaulting(a=0.5, c=0.7), Spaced([1.5, 2.0]), 0.7, specialised=None)


def items_by_their_own_code(x, y):
    return sum(Reversed([x, y, x])) + [i * v for i, v in enumerate(Reversed([x, y]))][1] + Defaulting(a=x)["b"] * y


KEPT = []


def kept_and_copied(x, y):
    KEPT[:] = [Matrix([x])]
    w = Bunch(a=x).copy()
    w["a"] = y
    return KEPT[0][0][0] * w["a"] * (type(w) is dict)


@pytest.mark.parametrize("f", [items_by_their_own_code, kept_and_copied])
def test_what_need_not_be_typed_is_right(f):
    check_slopes(f, 0.7, 1.3, specialised=None)


def test_the_plain_call_raises_the_same():
    for f in (lambda x: Bunch(a=x).no, lambda x: x / len(Bunch()), lambda x: Matrix()[0] * x):
        with pytest.raises((AttributeError, ZeroDivisionError, IndexError)) as expected:
            f(2.0)
        with pytest.raises(expected.type):
            ad.gradient(f, 2.0)


class Network:
    def __init__(self):
        self.parts, self.seen, self.by_name = [1.0, "a"], {3}, {}


def network():
    made = Network()
    made.parts.append(None)
    return made


def in_their_order(x, sets):
    total = x
    for found in sets:
        for k in found:
            total = total * 1.01 + k * x
    return total


def sets_that_make_room(x, y):
    n = network()
    n.seen.update({8, 16, 24, 64})
    row, table = [8, 16, 24, 64, 3], {8: x, 16: 1, 24: y, 64: 4, 3: 0}
    few = {3}
    few.update(table)
    sets = [n.seen, frozenset(row), set(frozenset(row)), set(table), {3}.union({8, 16, 24, 64}, [32, 0]), few]
    return in_their_order(x, sets) * y


def sets_changed_in_place(x, y):
    n = network()
    kept = n.seen
    n.seen |= {8, 16, 24, 64}
    total = in_their_order(x, [n.seen])
    n.seen &= {16, 3, 24, 5}
    n.seen -= {5, 16}
    n.seen ^= frozenset([7])
    return total * y + in_their_order(y, [kept]) + x * sum(n.seen)


SEEN, NAMES = {1, 2, 3, 64, 8}, frozenset({"a", "b"})


def sets_from_outside(x, y):
    n = network()
    total = in_their_order(x, [SEEN ^ {1, 16}, n.seen | SEEN, SEEN - n.seen, frozenset({2, 8, 64, 0}) & SEEN])
    total += x * len(NAMES | {"c"}) + y * (NAMES >= {"a"}) + x * y * (n.seen < SEEN) + y * (SEEN == {1})
    return total + (x if {"a", "b"} == NAMES else y)


def dicts_that_are_joined(x, y):
    n = network()
    kept = n.by_name
    n.by_name |= {"a": x}
    n.by_name |= [("b", y), ("c", x * y)]
    joined = {"z": 2.0, "a": y} | n.by_name | {"b": x}
    return sum(i * v for i, v in enumerate(joined.values())) * len(kept)


def sums_of_generators(x, y):
    n = network()
    return math.fsum(x * i for i in range(4)) * math.fsum(map(math.sin, [x, y])) + math.fsum([y, len(n.parts)])


@pytest.mark.parametrize(
    "f", [sets_that_make_room, sets_changed_in_place, sets_from_outside, dicts_that_are_joined, sums_of_generators]
)
def test_sets_and_dicts_beside_lists_of_several_kinds(f):
    check_slopes(f, 0.7, 1.3)


class Reading:
    def __init__(self, value, sensor):
        self.value, self.sensor = value, sensor


def by_getters(x, y):
    network()
    rows = [(x, 2.0 * y, "a"), (x * x, y, "b")]
    readings = [Reading(x * i, Network) for i in range(1, 3)] + [Reading(y, Reading(x, y))]
    both, deep = operator.itemgetter(0, 2), operator.attrgetter("sensor.value")
    total = max(((k * x, k) for k in range(3)), key=operator.itemgetter(0))[0] + both(rows[0])[0] * deep(readings[2])
    total += operator.attrgetter("value", "sensor.sensor")(readings[2])[1]
    return total * min(readings, key=operator.attrgetter("value")).value + sum(map(FIRST, rows))


FIRST = operator.itemgetter(0)


def test_sets_from_outside_that_change():
    for change in (lambda: None, lambda: SEEN.add(16), lambda: SEEN.discard(3), lambda: SEEN.discard(16)):
        change()
        check_slopes(sets_from_outside, 0.7, 1.3)


def test_getters_beside_lists_of_several_kinds():
    check_slopes(by_getters, 0.7, 1.3)


def test_getters_of_what_is_given():
    def f(x, key):
        network()
        rows = [(x, 2.0 * x, 3.0), (x * x, x, 1.0)]
        return sum(sorted(rows, key=operator.itemgetter(key))[0])

    for key in (1, 2, 0, 1):
        check(f, 0.7, key)
        assert ad.gradient(f, 0.7, key)[0] == pytest.approx(slopes(functools.partial(f, key=key), 0.7)[0])


class Folded(dict):
    """Asks for its items by another key than is given."""

    def __getitem__(self, key):
        return 2.0 * super().__getitem__(key.lower())

    def __missing__(self, key):
        return 0.5

    def given(self, key):
        return super().get(key, 3.0)

    def total(self):
        return sum(super().values())


FOLDED = Folded(a=2.0, b=3.0)


def of_a_class_from_outside(x):
    return FOLDED["A"] * x**2 + FOLDED["c"] * x + FOLDED.given("B") * x + FOLDED.total() * x


def of_a_class_that_is_given(held):
    return held["A"] * held["B"] + held.given("b") * held["c"] + held.total()


def test_items_that_a_class_from_outside_asks_its_base_for():
    check_slopes(of_a_class_from_outside, 0.3)
    for key in ("a", "c"):
        FOLDED[key] = 5.0
        check_slopes(of_a_class_from_outside, 0.3)
    check(of_a_class_that_is_given, Folded(a=2.0, b=3.0), specialised=None)
    FOLDED.pop("c")


FLAGS, OTHERS, NESTED, NAN = [True, 2.0], [True, 2.0], [[1.0], [2.0, 3.0]], [math.nan]


def compared_lists(x, given):
    made = [x]
    found = x * made[0] if FLAGS == OTHERS and FLAGS == [True, 2.0] and FLAGS <= OTHERS else x
    if given == FLAGS or NESTED != [[1.0], [2.0, 3.0]] or [given] == [OTHERS]:
        found += x**3
    return found + x**4 if (FLAGS, x) == (OTHERS, x) else found


def compared_nan(x):
    made = [x]
    return x * made[0] if NAN == NAN and NAN != [math.nan] else x


def test_lists_from_outside_that_are_compared():
    check(compared_nan, 0.3, specialised=None)
    for given in ([1.0, 2.0], [0.0, 2.0], [1.0]):
        check(compared_lists, 0.3, given)
    for changed in (OTHERS, NESTED[1]):
        changed[1] = 4.0
        check(compared_lists, 0.3, [1.0, 4.0])


def compared_with_arrays(x, given):
    best, held = [x, 2.0], [given]
    rows = np.array([[x, 1.0], [x * x, 2.0], [1.0, 3.0]])
    total = np.sum(rows[[bool(np.all(best == row)) or bool(np.any((x, 3.0) == row)) for row in rows]])
    total += np.sum(rows[best <= rows]) * np.sum(np.array([x, 5.0]) != best)
    best.append(x)
    return total * best[2] + ([given] == np.int64(1)).sum() * x + (np.array([given, 2]) > held).sum() * x


def test_lists_and_tuples_are_compared_with_arrays_element_by_element():
    for x, given in ((0.3, 1), (1.7, 2)):
        check(compared_with_arrays, x, given)
    with pytest.raises(ValueError, match="broadcast"):
        ad.gradient(lambda x: x * np.sum([x, x] == np.array([x, x, x])), 0.3)


class Measured:
    """Keeps its length, and of which ends it is."""

    def __init__(self, start, end):
        self.start, self.end = start, end
        self.info = {"ends": None, "length": None}

    def length(self):
        ends = self.start, self.end
        if self.info["ends"] != ends:
            self.info["length"], self.info["ends"] = abs(self.end - self.start) ** 2, ends
        return self.info["length"]


def kept_length(x):
    measured = Measured(complex(x, 1.0), complex(2.0, x))
    once = measured.length() * measured.length()
    return once * x if [{"x": x}, None] != [None, x] and [x, None] != [x, x] else once


def test_what_equals_no_number():
    check(kept_length, 0.3)


PAIRS, ROWS = [("A", 1), ("B", 2)], [[1, 2], [3.0]]


class Chosen:
    pairs = (("A", 1), ("B", 2.0))

    def __init__(self, pair=("B", 2)):
        self.known = pair in Chosen.pairs and pair in PAIRS


def searched(x):
    found = [x * x] if Chosen().known and not Chosen(("C", 2)).known else [x]
    if [3.0] in ROWS and (x, 1) not in PAIRS:
        found[0] *= x
    try:
        found[0] *= Chosen.pairs.index(("B", 2)) + ("a", found[0], x).count(x) + ("a", "b").index("b")
        ("a", "b").index(x)
    except ValueError:
        found[0] *= 2.0
    return found[0] * (1 + PAIRS.index(("B", 2))) * ROWS.count([1, 2])


def test_searches_for_lists_and_tuples():
    check_slopes(searched, 0.3)
    ROWS[1][0] = 4.0
    check_slopes(searched, 0.3)


def test_lists_that_are_repeated_by_numbers_of_numpy():
    def f(x):
        counts = np.array([1, 0, 2])
        rows = [[x, x * x] * k for k in counts] + [np.int64(2) * [x]]
        return sum(sum(row) for row in rows) + sum((x, 2.0) * np.int32(2)) * len("ab" * counts[2])

    for x in (1.7, 2.5):
        check(f, x)


class Labelled(list):
    def __init__(self, items, name):
        super().__init__(items)
        self.names = [name]

    def __add__(self, other):
        made = Labelled(super().__add__(other), "")
        made.names = self.names + other.names
        return made


LABELLED = Labelled([1.5, 2.0], "outside")


def labelled(x):
    a = Labelled([x], "made")
    b, c, d = a + LABELLED, LABELLED + a, LABELLED + LABELLED
    return b[0] * c[1] * c[2] * len(b.names) * len(d.names) + d[2] * x


def test_lists_from_outside_are_joined():
    check(labelled, 0.7)
