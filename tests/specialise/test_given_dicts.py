"""Dicts and lists that are given: of any plain keys, of items of several kinds by name, of named tuples, and empty."""

from __future__ import annotations

import copy
import datetime
import math
from collections import Counter, OrderedDict, defaultdict
from typing import NamedTuple

import numpy as np
import pytest
from specialised_cases import GENERIC, check, has_all_ways, oracle, same

import autodiff_hook as ad
from autodiff_hook.runtime.specialising import ONE_WAY

ALL_WAYS = not (GENERIC or ONE_WAY)
TABLES = [
    {1: 2.0, 3: 4.0},
    {(1, 2): 0.5, (2, 1): 0.7},
    {("a", 0.5): 1.5, ("b", 1.5): 2.5},
    {0.5: 1.0, 1.5: 2.0},
    {np.int64(3): 1.5, np.int64(4): 0.5},
    {name: float(i) for i, name in enumerate("abcdefghijklmn")},
]
SODIUM = {"name": "Na", "place": [0.1, 0.2], "width": 1.2, "count": 3, "flag": True}
CHLORINE = {"name": "Cl", "place": [0.4, 0.7], "width": 0.9, "count": 2, "flag": False, "share": 0.5}
OXYGEN = {"name": "O", "place": [0.3, 0.6], "width": 1.9, "count": 1, "flag": True, "note": None}


def over_a_table(x, table):
    s = x
    for key, value in table.items():
        s += value * x * (1 if key in table else 0)
    for key in table:
        s += table[key] ** 2
    return s + table.get("nobody", 3.0) * len(table)


@pytest.mark.parametrize("table", TABLES)
def test_keys_of_any_plain_kind(table):
    check(over_a_table, 1.3, table)
    if ALL_WAYS:
        assert has_all_ways(over_a_table, "gradient")
    same(ad.gradient(lambda x: over_a_table(x, table), 1.3), oracle(lambda x: over_a_table(x, table), 1.3)[1])


def by_pairs(x, table, pairs):
    return sum(table[i, j] * x**i for i, j in pairs)


def test_items_by_pairs():
    table = {(i, j): 0.1 * i + j for i in range(4) for j in range(4)}
    check(by_pairs, 1.3, table, [(1, 2), (3, 3), (1, 2)])
    if ALL_WAYS:
        assert has_all_ways(by_pairs, "gradient")


def test_keys_that_are_others_later():
    check(over_a_table, 0.7, {1: 2.0})
    check(over_a_table, 0.7, {1.5: 2.0})
    check(over_a_table, 0.7, {(1, 2): 2.0})
    check(over_a_table, 0.7, {(1, 2): 2.0, "a": 1.0}, specialised=None)
    check(over_a_table, 0.7, {})


def named(x, rows):
    s = 0.0
    for row in rows:
        s += row["width"] * x * sum(row["place"]) * row.get("share", 1.0)
        s += row["count"] * x if row["flag"] else len(row["name"])
        if "share" in row:
            s += row["share"] ** 2
    return s


def of_the_widest(x, rows):
    widest = rows[0]
    for row in rows:
        if row["width"] > widest["width"]:
            widest = row
    first = sorted(rows, key=lambda row: -row["width"])[-1]
    return widest["width"] * x + first["place"][1] ** 2 + sum(len(row) for row in rows)


def by_name(x, rows):
    found = {row["name"]: row for row in rows}
    return sum(found[name]["width"] * x * found[name]["count"] for name in found)


def of_dicts_in_dicts(x, rows):
    return sum(row["inner"]["a"] * row["inner"]["b"][0] * x for row in rows)


def of_arrays(x, rows):
    return sum(row["place"] @ row["place"] * row["width"] * x for row in rows)


def of_dates_that_nobody_asks(x, rows):
    return sum(row["width"] * x for row in rows)


ROWS = [SODIUM, CHLORINE, OXYGEN] * 3
DATES = [{"day": datetime.date(2020, 1, 1 + i), "width": 1.0 + i} for i in range(8)]
NESTED = [{"inner": {"a": 1.0 * i, "b": [2.0, 3.0], "text": "x"}, "width": 2.0, "text": "y"} for i in range(8)]
ARRAYS = [{"place": np.ones(2) * i, "width": 0.5 * i, "text": "y"} for i in range(8)]


@pytest.mark.parametrize(
    ("f", "rows"),
    [
        *((named, ROWS), (of_the_widest, ROWS), (by_name, ROWS), (of_dicts_in_dicts, NESTED), (of_arrays, ARRAYS)),
        (of_dates_that_nobody_asks, DATES),
    ],
)
def test_rows_whose_items_are_of_several_kinds(f, rows):
    for x in (1.3, 0.7):
        check(f, x, copy.deepcopy(rows) if rows is not ROWS else [dict(row, place=[*row["place"]]) for row in rows])
    if ALL_WAYS:
        assert has_all_ways(f, "gradient", "value")

    def captured(x):
        return f(x, rows)

    check(captured, 1.3)
    if ALL_WAYS:
        assert has_all_ways(captured, "gradient", "value")


def with_texts_and_numpy(x, settings):
    names, held = settings["names"], np.ones(3) * x
    weights = dict(zip(names, held))
    return sum(w * len(name) * weights["b"] for name, w in zip(names, settings["weights"]))


def test_lists_of_texts_beside_lists_of_numbers_where_numpy_takes_part():
    settings = {"names": ["a", "b", "cc"], "weights": [1.0, 2.0, 0.5], "note": None}
    check(with_texts_and_numpy, 1.3, settings)
    check(with_texts_and_numpy, 0.4, settings)


def of_known_functions(x, rows):
    return sum(row["f"](row["width"]) * x for row in rows)


def with_items(x, rows):
    s = 0.0
    for row in rows:
        for key, value in row.items():
            if key == "width":
                s += value * x
    return s


def changed(x, rows):
    for row in rows:
        row["width"] = row["width"] * x
    return sum(row["width"] ** 2 for row in rows)


def test_what_is_not_known_of_rows():
    check(of_known_functions, 1.3, [{"f": (math.sin, math.cos)[i % 2], "width": 0.3 * i} for i in range(8)])
    check(with_items, 1.3, [dict(SODIUM, width=0.2 * i, place=[0.1]) for i in range(8)])
    rows = [dict(SODIUM, width=0.2 * i, place=[0.1]) for i in range(8)]
    expected = oracle(changed, 1.3, copy.deepcopy(rows))[1]
    for _ in range(3):
        same(ad.gradient(changed, 1.3, copy.deepcopy(rows)), expected)


def test_rows_that_are_of_other_kinds_later():
    rows = [{"width": 0.2 * i, "count": 2, "flag": True, "name": "a", "place": [0.1]} for i in range(8)]
    for change in ({}, {"width": 3}, {"count": 1.5}, {"more": 1.0}, {"name": None}, {"place": []}, {"flag": 1}):
        others = [dict(row, place=[*row["place"]]) for row in rows]
        others[5] |= change
        if change.get("name", "a") is not None:
            check(named, 1.3, others, specialised=None)
        else:
            with pytest.raises(TypeError):
                ad.gradient(lambda x, others=others: named(x, [dict(row, flag=False) for row in others]), 1.3)


OFTEN_EMPTY: list[float] = []


class Held:
    def __init__(self):
        self.items, self.named = [], {}


def over_what_is_given_empty(x, weights, held):
    s = x * x + sum(weights) + len(held.items)
    for w in weights:
        s += w * x
    for w in OFTEN_EMPTY:
        s += w * x * x
    for w in held.items:
        s += w * x
    for key, w in held.named.items():
        s += w * x * len(key)
    return s + np.sum(np.array(weights)) if weights else s + max(OFTEN_EMPTY, default=2.0) * x


def test_what_was_empty_may_hold_something_later():
    held = Held()
    check(over_what_is_given_empty, 0.7, [], held)
    if ALL_WAYS:
        assert has_all_ways(over_what_is_given_empty, "gradient")
    check(over_what_is_given_empty, 0.7, [0.1, 0.2], held, specialised=None)
    OFTEN_EMPTY.append(3.0)
    held.items.append(0.3)
    try:
        check(over_what_is_given_empty, 0.7, [], held, specialised=None)
        held.named["ab"] = 0.5
        check(over_what_is_given_empty, 0.7, [0.3], held, specialised=None)
    finally:
        OFTEN_EMPTY.clear()
    check(over_what_is_given_empty, 0.7, [], Held(), specialised=None)


SETTINGS = {"rate": 0.5, "name": "a"}


def with_options(x):
    return x * SETTINGS.get("rate") * SETTINGS.get("scale", 2.0) + (1.0 if SETTINGS.get("note") is None else x)


def test_options_that_are_not_there():
    check(with_options, 0.7)
    if ALL_WAYS:
        assert has_all_ways(with_options, "gradient")
    SETTINGS["scale"] = 3.0
    try:
        check(with_options, 0.7, specialised=None)
    finally:
        del SETTINGS["scale"]
    check(with_options, 0.7, specialised=None)


def decayed(x, start, days):
    held = dict(start)
    for _ in range(days):
        held = {name: amount * x for name, amount in held.items()}
    return sum(held.values()) + held["a"]


def test_what_begins_as_a_copy_of_one_that_is_captured():
    start = {"a": 1.0, "b": 0.5}

    def loss(x):
        return decayed(x, start, 4)

    check(loss, 0.7)
    if ALL_WAYS:
        assert has_all_ways(loss, "gradient")
    start["c"] = 2.0
    check(loss, 0.7)


class Rays:
    def __init__(self, cells):
        self.cells = cells


def over_cells(x, rays):
    total = sum(sum(w * x for _, w in cells) * k for k, cells in rays.cells.items())
    return total + len(rays.cells[1]) * x * (2.0 if isinstance(rays.cells, defaultdict) else 3.0)


def of_a_cell_that_is_not_there(x, rays):
    return over_cells(x, rays) + sum(w for _, w in rays.cells[77]) * x


def powers(x, counts):
    return sum(n * x**k for k, n in counts.items()) * (1.0 if 99 in counts else x) + counts[2] * x


def under_two_names(x, a, b):
    b[1] = x
    return a[1] * b[2] * x


CELLS = {0: [(0, 0.5)], 1: [(1, 1.5), (2, 0.2)], 2: [(3, 0.7)]}


def test_mappings_of_the_standard_library():
    rays = Rays(defaultdict(list, CELLS))
    check(over_cells, 0.7, rays, specialised=True if ALL_WAYS else None)
    check(powers, 0.7, OrderedDict({1: 2.0, 2: 3.0}), specialised=True if ALL_WAYS else None)

    def captured(x):
        return over_cells(x, rays)

    def counted(x):
        return powers(x, counts)

    counts = Counter([1, 2, 2])
    check(counted, 0.7, specialised=True if ALL_WAYS else None)
    counts = {1: 2.0, 2: 0.5}
    check(counted, 0.7, specialised=None)
    for rays.cells in (defaultdict(list, CELLS), dict(CELLS), defaultdict(None, CELLS)):
        check(captured, 0.7, specialised=None)
    if ALL_WAYS:
        assert has_all_ways(over_cells, "gradient") and has_all_ways(captured, "gradient")


def test_what_makes_items_of_given_mappings():
    rays, twice = Rays(defaultdict(list, CELLS)), defaultdict(float, {1: 2.0, 2: 3.0})

    def captured(x):
        return of_a_cell_that_is_not_there(x, rays)

    check(captured, 0.7, specialised=None)
    assert rays.cells.pop(77) == []
    ad.gradient(captured, 0.7)
    assert rays.cells.pop(77) == []
    check(lambda x: under_two_names(x, twice, twice), 0.7, specialised=None)
    assert twice == {1: 0.7, 2: 3.0}


class Member(NamedTuple):
    i: int
    j: int
    stiffness: float


class Place(NamedTuple):
    x: float
    y: float
    tag: str = "a"

    @property
    def distance(self):
        return math.hypot(self.x, self.y)

    def scaled(self, factor):
        return Place(self.x * factor, self.y * factor, self.tag)


class Turned(NamedTuple):
    x: float
    y: float

    def __getitem__(self, place):
        return 2.0 * tuple.__getitem__(self, place)


def over_members(x, members):
    s = 0.0
    for m in members:
        s += (x + m.i) * m.j * m.stiffness
    for k, (i, j, stiffness) in enumerate(members):
        s += stiffness * x**k * (i - j) + m[2]
    return s


def over_places(x, places):
    best, s = places[0], 0.0
    for p in places:
        s += p.x * x * p.y + p.distance + (p.scaled(x).y if p.tag == "a" else 0.0)
        moved = p._replace(x=p.x + x)
        s += moved.x * moved.y
        if p.y > best.y:
            best = p
    by_tag = {p.tag: p for p in places}
    return s + best.x * by_tag["a"].y + sorted(places, key=lambda p: -p.x)[0].y * x


@pytest.mark.parametrize(
    ("f", "rows"),
    [
        (over_members, [Member(i, i + 1, 0.5 + i) for i in range(8)]),
        (over_places, [Place(0.3 + 0.1 * i, 1.0 - 0.2 * i, "ab"[i % 2]) for i in range(8)]),
    ],
)
def test_rows_that_are_named_tuples(f, rows):
    for x in (1.3, 0.7):
        check(f, x, rows)
    if ALL_WAYS:
        assert has_all_ways(f, "gradient", "value")
    check(f, 1.3, [*rows, rows[0]._replace(**{rows[0]._fields[1]: 2.0 if f is over_places else 5})])
    check(lambda x: f(x, rows), 1.3)


def test_named_tuples_that_say_what_their_items_are():
    rows = [Turned(0.1 * i, 1.0) for i in range(8)]
    check(lambda x: sum(row[0] * x + row.y for row in rows), 1.3, specialised=None)
    check(lambda x, rows: sum(row[0] * x + row.x for row in rows), 1.3, rows, specialised=None)


def values_in_step(held):
    s = 0.0
    for i, value in enumerate(reversed(held.values())):
        s += (i + 1) * value**2
    for weight, value, (key, other) in zip((1.0, 2.0, 3.0), held.values(), held.items()):
        s += weight * value * other * key
    return s


def values_of_a_view_taken_before(held):
    grown = {key: value * value for key, value in held.items()}
    view = grown.values()
    grown[9] = grown[1] * 3.0
    return sum(i * value for i, value in enumerate(view))


def values_that_are_references(held):
    rows = {key: [value] for key, value in held.items()}
    for value, row in zip(held.values(), rows.values()):
        row.append(value * row[0])
    return sum(weight * row[-1] for weight, row in zip((1.0, 2.0), rows.values()))


@pytest.mark.parametrize("f", [values_in_step, values_of_a_view_taken_before, values_that_are_references])
def test_values_are_gone_through_in_step_with_something_else(f):
    check(f, {1: 0.5, 2: 0.7})
    if ALL_WAYS:
        assert has_all_ways(f, "gradient", "value")
