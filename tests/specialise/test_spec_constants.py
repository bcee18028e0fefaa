"""Constants that calls give: texts of JSON and members of Enums, written out where they are asked for."""

from __future__ import annotations

import ast
import enum
import json
import math
from collections import defaultdict

import pytest
from specialised_cases import GENERIC, check, check_all_ways, has_all_ways

import autodiff_hook as ad
from autodiff_hook.runtime import specialising

SPEC = '{"layers": [{"w": 0.5, "n": 3}, {"w": 1.5, "n": 2}], "scale": 2.0, "name": "net", "on": true, "gap": null}'


def layers(x, y):
    spec = json.loads(SPEC)
    v = x
    for layer in spec["layers"]:
        for _ in range(layer["n"]):
            v = math.tanh(layer["w"] * v + y)
    return spec["scale"] * v * len(spec["name"]) if spec["on"] and spec["gap"] is None else y


def changed(x, y):
    weights = json.loads("[1.0, 2.5, 4.0]")
    weights.append(x)
    for i in range(len(weights)):
        weights[i] = weights[i] * y
    spec = ast.literal_eval("{'a': 1.5, 'b': (2, 3.0)}")
    spec["a"] = spec["a"] * x
    return sum(weights) * spec["a"] + spec["b"][1] * y


class Mode(enum.Enum):
    LINEAR = "linear"
    CURVED = "curved"

    @property
    def rate(self):
        return 2.0 if self is Mode.CURVED else 1.0

    def of(self, x):
        return x * self.rate + len(self.name)


class Planet(enum.Enum):
    EARTH = (5.97, 6.37)
    MARS = (0.64, 3.39)

    def __init__(self, mass, radius):
        self.mass, self.radius = mass, radius


class Amplifier:
    def __init__(self, gain, mode):
        self.gain, self.mode = gain, mode

    def __call__(self, x):
        if self.mode is Mode.LINEAR:
            return self.gain * x
        return math.tanh(self.gain * x)


def members(x, y):
    stages = [Amplifier(x, Mode.LINEAR), Amplifier(y, Mode("curved")), Amplifier(x, Mode["CURVED"])]
    v = 0.1
    for _ in range(5):
        for stage in stages:
            v = stage(v) + 0.05
    m = Mode.CURVED
    return v + m.rate * x + m.of(y) * len(m.value) * (Mode(m) is m) + Planet.MARS.mass * x / Planet["EARTH"].radius


def all_members(x, y):
    totals = {mode: 0.0 for mode in Mode}
    for k, mode in enumerate(Mode):
        totals[mode] += x * k + y
    named = sum(len(mode.name) * x + len(mode.value) * y for mode in Mode)
    return totals[Mode.LINEAR] * totals[Mode.CURVED] + named + len(Mode) * y


@pytest.mark.parametrize("f", [layers, changed, members, all_members])
def test_constants_are_written_out(f):
    check_all_ways(f, 0.7, 1.3)


def test_texts_are_looked_at_again(monkeypatch):
    before = check(layers, 0.7, 1.3, specialised=None)
    monkeypatch.setitem(globals(), "SPEC", SPEC.replace("1.5", "2.5"))
    assert check(layers, 0.7, 1.3, specialised=None) != before


def test_attributes_of_members_are_looked_at_again():
    before = check(members, 0.7, 1.3, specialised=None)
    Planet.MARS.mass = 2.0
    try:
        assert check(members, 0.7, 1.3, specialised=None) != before
    finally:
        Planet.MARS.mass = 0.64


def test_other_functions_of_that_name_are_called(monkeypatch):
    check(layers, 0.7, 1.3, specialised=None)
    said = []
    loads = json.loads
    monkeypatch.setattr(json, "loads", lambda text: said.append(text) or loads(text))
    check(layers, 0.7, 1.3, specialised=None)
    assert said


class Step:
    def __init__(self, mode, size):
        self.mode, self.size = mode, size


def of_members_that_objects_hold(x, steps):
    by_mode, total = defaultdict(float), 0.0
    for step in steps:
        by_mode[step.mode] += step.size * x
        if step.mode is Mode.CURVED:
            total += x * x * step.size
        elif step.mode == Mode.LINEAR:
            total -= x
        total += len(step.mode.name)
    return total + sum(v * v for v in by_mode.values()) + by_mode[Mode.LINEAR]


def of_members_in_rows(x, rows):
    return sum(row["size"] * x if row["mode"] is Mode.CURVED else x * x for row in rows)


def test_members_that_are_given():
    modes = [Mode.CURVED, Mode.LINEAR, Mode.CURVED]
    check(of_members_that_objects_hold, 0.7, [Step(mode, 0.5 + i) for i, mode in enumerate(modes)])
    check(of_members_that_objects_hold, 0.7, [Step(Mode.LINEAR, 0.5)] * 2)
    check(of_members_in_rows, 0.7, [{"mode": mode, "size": 0.5 + i} for i, mode in enumerate(modes)])
    if not (GENERIC or specialising.ONE_WAY):
        assert has_all_ways(of_members_that_objects_hold, "gradient")
        assert has_all_ways(of_members_in_rows, "gradient")
    check(of_members_that_objects_hold, 0.7, [Step(Mode.LINEAR, 0.5), Step(Planet.MARS, 0.7)], specialised=None)


class Rounded(enum.Enum):
    SMALL = 1
    LARGE = 10

    @classmethod
    def _missing_(cls, value):
        return cls.SMALL if value < 5 else cls.LARGE


def missing_members(x, y):
    return x * Rounded(3).value + y * Rounded(7).value


def text_that_is_made(x, y):
    spec = json.loads(f'{{"a": {2 + 1}}}')
    return x * spec["a"] * y


def options(x, y):
    spec = json.loads("[1.5, 2]", parse_float=lambda text: float(text) * 2)
    return x * spec[0] * y


@pytest.mark.parametrize("f", [missing_members, text_that_is_made, options])
def test_what_need_not_be_typed_is_right(f):
    check(f, 0.7, 1.3, specialised=None)


def no_member(x, y):
    return x * y * len(Mode("round").name)


def no_text(x, y):
    return x * json.loads("{")["a"]


@pytest.mark.parametrize("f", [no_member, no_text])
def test_errors_are_those_of_the_plain_call(f):
    for _ in range(2):
        with pytest.raises(ValueError) as expected:
            f(0.7, 1.3)
        with pytest.raises(type(expected.value)) as found:
            ad.gradient(f, 0.7, 1.3)
        assert str(found.value) == str(expected.value)


@pytest.mark.skipif(GENERIC, reason="nothing is written out")
def test_long_texts_are_not_written_out():
    text = json.dumps(list(range(1000)))

    def total(x):
        return sum(json.loads(text)) * x

    check(total, 0.7, specialised=None)


def outside_is_no_number(x):
    if x < 0.0:
        return float("nan")
    total = 0
    for i in range(4):
        total = total + x**i
    return total


def test_a_call_that_gives_what_is_not_equal_to_itself():
    check_all_ways(outside_is_no_number, 1.5)
    assert math.isnan(ad.withgradient(outside_is_no_number, -1.5)[0])
