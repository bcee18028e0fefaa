"""Structured and record arrays: fields and records are read and stored into, arrays of them made and moved."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from in_all_modes import MODES, differences

from autodiff_hook import NotDifferentiable, gradient, jvp, pullback

AT, WAY = np.array([0.7, 1.3, 2.1]), np.array([0.3, -1.1, 0.6])
PAIR = [("x", float), ("y", float)]
MIXED = [("n", "i4"), ("x", float), ("s", "U3"), ("k", int)]
NESTED = [("p", [("u", float), ("v", float, (2,))]), ("w", "f4")]


def fields_stored(x):
    a = np.zeros(3, PAIR)
    a["x"], a["y"] = x, np.sin(x)
    a["x"] *= x
    a["y"][1] = x[0]
    return float(np.sum(a["x"] * a["y"]))


def records_stored(x):
    a = np.zeros(3, PAIR)
    for i in range(3):
        a[i] = (x[i], x[i] ** 2)
    a[0] = a[2]
    a[1:] = a[:-1]
    return float(np.sum(a["x"] * a["y"]))


def fields_of_records_stored(x):
    a = np.zeros(3, PAIR)
    for i in range(3):
        a[i]["x"] = x[i]
        a[i][1] = x[i] * 2
        a[i]["y"] *= x[0]
    return float(np.sum(a["x"] * a["y"]))


def fields_of_records_read(x):
    a = np.zeros(3, PAIR)
    a["x"], a["y"] = x, x**2
    total = sum(row["x"] * row[1] for row in a)
    u, v = a[2]
    return float(total + a[1]["x"] * u + a["y"][0] * v)


def fields_of_several_types(x):
    a = np.zeros(3, MIXED)
    for i in range(3):
        a[i] = (i, x[i], "ab", 2)
    a["x"][a["n"] > 0] += 1.0
    b = a[[2, 0]]
    return float(np.sum(b["x"] ** 2 * b["n"] * b["k"]) + sum(row["x"] * row["n"] for row in a))


def fields_of_fields(x):
    a = np.zeros(3, NESTED)
    a["p"]["u"] = x
    a["p"]["v"] = x[:, None] ** 2
    a[0]["p"] = (x[1], x[:2])
    return float(np.sum(a["p"]["u"] * a["p"]["v"][:, 1]))


def made_of_tuples(x):
    a = np.array([(x[i], float(i)) for i in range(3)], dtype=PAIR)
    return float(np.sum(a["x"] ** 2 * a["y"]))


def made_of_rows_of_tuples(x):
    a = np.array([[(x[0], 1), (x[1], 2)], [(x[2], 3), (0.5, 4)]], dtype=PAIR)
    a[1] = a[0]
    a[0, 1] = a[1, 0]
    a[0, 0]["x"] *= x[2]
    return float(np.sum(a["x"] * a["y"]) + a[1, 1]["x"] ** 2)


def one_number_for_all_fields(x):
    a = np.zeros((2, 2), PAIR)
    a[0] = x[1] ** 2
    a["y"][1] = x[:2]
    return float(np.sum(a["x"] * a["y"]) + a["y"].sum() * x[0])


def chosen_and_copied(x):
    a = np.zeros(3, PAIR)
    a["x"], a["y"] = x, -x
    b = a[a["x"] > 1.0].copy()
    r = a[0].copy()
    a["x"] = 0.0
    return float(np.sum(b["x"] ** 2 * b["y"]) + r["x"] ** 2)


def several_fields(x):
    a = np.zeros(3, MIXED)
    a["x"] = x**2
    return float(np.sum(a[["x", "n"]]["x"] ** 2))


def joined_and_turned(x):
    a = np.zeros(3, PAIR)
    a["x"] = x
    b = np.concatenate([a, a[::-1]]).reshape(2, 3).T
    c = np.where(b["x"] > 1.0, b, b[::-1])
    return float(np.sum(b["x"] ** 2 * np.arange(6).reshape(3, 2)) + np.sum(c["x"] * np.arange(6).reshape(3, 2)))


def sorted_by_a_field(x):
    a = np.zeros(3, PAIR)
    a["x"], a["y"] = -x, x**2
    b = np.sort(a, order="x")
    a.sort(order="x")
    return float(np.sum(b["y"] * np.arange(3)) + np.sum(a["y"] * np.arange(3) ** 2))


def of_other_types(x):
    a = np.zeros(3, PAIR)
    a["x"] = x
    b = a.astype([("x", "f8"), ("y", "f4")])
    return float(np.sum(b["x"] ** 2))


def as_lists(x):
    a = np.zeros(2, PAIR)
    a["x"] = x[:2]
    return float(sum(u * u + v for u, v in a.tolist()) + a[0].item()[0] * a[1].tolist()[0])


def as_numbers(x):
    a = np.zeros(3, PAIR)
    a["x"] = x
    v = a.view(float)
    v[1] = x[2] ** 2
    return float(a["y"][0] * a["x"][0] + np.sum(v**2))


def record_arrays(x):
    r = np.rec.fromarrays([x, x**2], names="a,b")
    r.a[0] = x[2]
    r[1].b = x[0] ** 2
    r.b *= 2
    return float(sum(row.a * row.b for row in r) + r.b[1] * r["a"][1] + np.sum(r[r.a > 1].a))


def record_arrays_by_view(x):
    a = np.zeros(3, PAIR).view(np.recarray)
    a.x, a.y = x, x * 2
    return float(np.sum(a.x * a.y) + a[0].x)


def record_arrays_made_of_tuples(x):
    r = np.rec.array([(x[0], 1.0), (x[1], x[2])], dtype=PAIR)
    return float(np.sum(r.x * r.y) + r[1].y ** 2)


def in_an_object(x):
    class Table:
        def __init__(self):
            self.rows = np.zeros(3, PAIR)

        def fill(self, i, value):
            self.rows["x"][i] = value
            self.rows[i]["y"] = value * 2

    table = Table()
    for i in range(3):
        table.fill(i, x[i])
    return float(np.dot(table.rows["x"], table.rows["y"]))


def handed_to_a_library(x):
    from numpy.lib.recfunctions import structured_to_unstructured

    a = np.zeros(3, PAIR)
    a["x"], a["y"] = x, x**2
    return float(np.sum(structured_to_unstructured(a) ** 2))


def fields_of_objects(x):
    a = np.zeros(3, [("n", "i4"), ("o", object), ("f", float), ("q", object)])
    for i in range(3):
        a[i] = (i, x[i] ** 2, x[i], [x[i]])
    b, c = a[[0, 2]], copy.deepcopy(a)
    a["f"] *= x
    r = np.rec.array(a)
    objects = sum(b["o"]) + c[1]["o"] * c["q"][1][0] + c[0]["q"][0] + r[1].o + r.o[2]
    return float(objects + sum(row["f"] for row in a) + c["f"].sum() * a[2][1])


def made_like_another(x):
    a = np.zeros(3, PAIR)
    a["x"] = x
    b = np.empty_like(a)
    b["y"] = a["x"] ** 2
    b["x"] = 1.0
    return float(b["y"].sum())


def kept_and_swapped(x):
    a = np.zeros(3, PAIR)
    a["x"] = x
    rows = {i: row for i, row in enumerate(a)}
    a["x"][0] = 5 * x[1]
    a["x"], a["y"] = a["y"].copy(), a["x"].copy()
    a[[0, 1]] = a[[1, 0]]
    return float(rows[0]["y"] * rows[1]["y"] + (a["y"] * np.arange(3)).sum())


def complex_fields(x):
    a = np.zeros(3, [("z", complex), ("m", float), ("w", complex, (2,))])
    a["m"] = x
    a["z"] = x * (1 + 2j) + 1j * x**2
    a["w"] = (a["z"] * a["m"])[:, None] * np.array([1.0, 2.0j])
    a["z"][1] *= 1j
    a[0] = a[2]
    a["w"].real[1] = x[:2] ** 3
    return float(np.sum(np.abs(a["z"]) ** 2 * a["m"]) + np.sum(a["w"].imag[:, 1] * a["w"][:, 0].real))


RIGHT = (
    complex_fields,
    *(fields_of_objects, made_like_another, kept_and_swapped),
    *(fields_stored, records_stored, fields_of_records_stored, fields_of_records_read, fields_of_several_types),
    *(fields_of_fields, made_of_tuples, made_of_rows_of_tuples, one_number_for_all_fields, chosen_and_copied),
    *(several_fields, joined_and_turned, sorted_by_a_field, of_other_types, as_lists, as_numbers, record_arrays),
    *(record_arrays_by_view, record_arrays_made_of_tuples, in_an_object, handed_to_a_library),
)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("f", RIGHT, ids=lambda f: f.__name__)
def test_right(f, mode):
    def along(step):
        return f(AT + step * WAY)

    expected = differences(along, 0.0, 2 if mode == "hvp" else 1)
    assert MODES[mode](along, 0.0) == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_memory_is_as_the_program_left_it():
    kept = np.zeros(3, PAIR)

    def f(x):
        kept["x"] = x
        y = kept["x"] * kept["x"]
        kept["x"] = y
        return np.sum(kept["x"] * y)

    back = pullback(f, AT)[1]
    left = kept.copy()
    assert back(1.0)[0] == pytest.approx(4 * AT**3)
    assert back(1.0)[0] == pytest.approx(4 * AT**3)
    assert (kept == left).all()


def complex_fields_of_another_length(x):
    a = np.zeros(3, [("z", complex), ("w", np.float32)])
    a["z"] = x * (1 + 1j)
    return float(np.sum(np.abs(a["z"]) ** 2))


def test_complex_fields_of_another_length():
    assert gradient(complex_fields_of_another_length, AT)[0] == pytest.approx(4 * AT)
    with pytest.raises(NotDifferentiable, match="complex numbers in records"):
        jvp(complex_fields_of_another_length, (AT,), (WAY,))


def whole(x):
    a = np.zeros(3, PAIR)
    a["x"] = x
    return a


def shown_as_whole_numbers(x):
    return float(whole(x).view("i4").sum())


def without_repetitions(x):
    return float(np.unique(whole(x))["x"].sum())


@pytest.mark.parametrize("f", [shown_as_whole_numbers, without_repetitions])
def test_clear_errors(f):
    for differentiate in (gradient, lambda f, x: jvp(f, (x,), (WAY,))):
        with pytest.raises(NotDifferentiable):
            differentiate(f, AT)
