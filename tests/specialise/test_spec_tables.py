"""Structured arrays from outside in typed programs: what is in their fields and rows counts as it is at each call."""

from __future__ import annotations

import numpy as np
import pytest
from language.in_all_modes import MODES
from specialised_cases import check, has_all_ways, oracle

import autodiff_hook as ad
from autodiff_hook.runtime.specialising import GENERIC, ONE_WAY

TYPE = [("mass", float), ("place", float, 2), ("name", "U4"), ("count", int)]


def stars():
    made = np.zeros(5, dtype=TYPE)
    made["mass"], made["count"] = 0.1 * np.arange(5) + 0.3, 2
    made["place"], made["name"] = 1.5, ["a", "b", "a", "c", "b"]
    return made


TABLE = stars()
RECORDS = TABLE.view(np.recarray)
MASSES, LATER, ROW = TABLE["mass"], TABLE[1:], TABLE[3]


def of_fields(x):
    return np.sum(TABLE["mass"] * x**2 + TABLE["count"] * TABLE["place"][:, 1])


def of_chosen(x):
    return np.sum(TABLE["mass"][TABLE["name"] == "a"] * x**2)


def of_rows(x):
    return TABLE[3]["mass"] * x + TABLE[-1]["place"][0] * x**2 + ROW["mass"]


def of_records(x):
    return np.sum(RECORDS.mass) * x + RECORDS["count"][1] * x**2


def row_by_row(x):
    total = 0.0
    for row in TABLE:
        total += row["mass"] * x ** row["count"]
    return total


@pytest.mark.parametrize("f", [of_fields, of_chosen, of_rows, of_records])
def test_fields(f):
    check(f, 0.7)
    assert GENERIC or ONE_WAY or has_all_ways(f, "gradient")


@pytest.mark.parametrize("f", [of_fields, of_chosen, of_rows, of_records, row_by_row])
def test_other_numbers_and_other_tables(f, monkeypatch):
    check(f, 0.7)
    TABLE["mass"] += 0.25
    check(f, 0.7)
    monkeypatch.setitem(globals(), "TABLE", np.concatenate([TABLE, TABLE[:2]]))
    monkeypatch.setitem(globals(), "RECORDS", TABLE.view(np.recarray))
    check(f, 0.7)
    other = np.zeros(3, dtype=[("count", np.int32), ("mass", np.float32), ("place", float, 3), ("name", "U1")])
    other["mass"], other["place"], other["name"] = 0.5, 2.0, "a"
    monkeypatch.setitem(globals(), "TABLE", np.repeat(other, 4))
    monkeypatch.setitem(globals(), "RECORDS", TABLE.view(np.recarray))
    check(f, 0.7)


def stored_in_a_field(x):
    TABLE["mass"][3] = x * 2
    return TABLE[3]["mass"] * x


def stored_in_a_view(x):
    MASSES[3] = x * 2
    return ROW["mass"] * TABLE["mass"][3] * RECORDS.mass[3]


def stored_in_a_slice(x):
    LATER["mass"][2] = x
    return TABLE[3]["mass"] * x


def stored_in_a_row(x):
    ROW["mass"] = x * 3
    return MASSES[3] * x


def stored_meanwhile(x):
    total = 0.0
    for row in TABLE:
        MASSES[4] = x * 2
        total += row["mass"]
    return total


def filled(x):
    before = ROW["mass"]
    MASSES.fill(9.0)
    return (before + TABLE[3]["mass"]) * x


@pytest.mark.parametrize("operator", [name for name in MODES if name != "hvp"])
@pytest.mark.parametrize(
    "f", [stored_in_a_field, stored_in_a_view, stored_in_a_slice, stored_in_a_row, stored_meanwhile, filled]
)
def test_what_a_program_stores_there(f, operator):
    def again(x):
        TABLE[:] = stars()
        return f(x)

    step = 1e-6
    slope = (again(0.7 + step) - again(0.7 - step)) / (2 * step)
    for _ in range(3):
        TABLE[:] = stars()
        assert MODES[operator](f, 0.7) == pytest.approx(slope)


def test_fields_that_share_memory():
    both = np.dtype({"names": ["a", "b"], "formats": [float, float], "offsets": [0, 0]})
    table = np.zeros(2, both)

    def f(x):
        table["a"][0] = x
        return table["b"][0] * x

    for _ in range(2):
        assert ad.gradient(f, 1.5) == pytest.approx((3.0,))


def test_tables_that_are_given():
    def f(table, x):
        return np.sum(table["mass"] * x)

    for _ in range(2):
        found = ad.gradient(f, stars(), 1.5)
        assert found[0]["mass"].tolist() == oracle(f, stars(), 1.5)[1][0]["mass"].tolist() == [1.5] * 5
        assert found[1] == pytest.approx(np.sum(stars()["mass"]))
