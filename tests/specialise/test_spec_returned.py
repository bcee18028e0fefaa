"""Functions that return lists and dicts: their pullbacks, and their calls by what is carried, are typed."""

from __future__ import annotations

import math

import pytest
from specialised_cases import GENERIC, scope

import autodiff_hook as ad
from autodiff_hook.runtime import specialising, splitting

SOURCE = """
import math, time

settings, weights = {"a": 2.0, "b": 3.0}, [1.0, 2.0]

def moments(x):
    s = q = 0.0
    for i in range(20):
        s = s + math.sin(x * i)
        q = q + s * s
    return {"mean": s / 20, "square": q / 20, "n": 20, "unit": "m", "xs": [x * x, 2.0], "pair": (s, (x, 1.0))}
def shared(x):
    held = {"v": x * x}
    return {"first": held, "second": held, "held": [held]}
def outside(x):
    return {"settings": settings, "x": x * x, "weights": weights}
def itself(x):
    return settings if x > 0.0 else {"a": x, "b": x}

def uses_moments(x):
    time.sleep(0)
    one, two = moments(x), moments(x * 0.5)
    before = one["square"]
    one["square"] = one["mean"] * x
    one["xs"].append(x)
    one["xs"][0] *= x
    both = {**two, "z": x}
    total = sum(both[name] for name in ("mean", "square", "z"))
    total += two["pair"][1][0] * two["pair"][0] + len(one["unit"]) * one["n"] * x
    return total + one["mean"] + one["square"] * before + sum(one["xs"])
def uses_shared(x):
    time.sleep(0)
    found = shared(x)
    found["first"]["v"] = found["first"]["v"] * x
    return found["second"]["v"] * found["held"][0]["v"]
def uses_what_is_outside(x):
    time.sleep(0)
    one = outside(x)
    one["settings"]["a"] *= one["x"]
    two = outside(x)
    weights[0] *= x
    found = settings["a"] * two["settings"]["a"] * one["weights"][0] + two["weights"][0]
    settings["a"], weights[0] = 2.0, 1.0
    return found
def uses_itself(x):
    time.sleep(0)
    itself(x)["a"] = x
    found = itself(x)["a"] * settings["a"]
    settings["a"] = 2.0
    return found * x
"""


@pytest.mark.parametrize("name", ["uses_moments", "uses_shared", "uses_what_is_outside", "uses_itself"])
def test_calls_by_what_is_carried(name):
    names = scope(SOURCE)
    f = names[name]
    slope = (f(1.3 + 1e-6) - f(1.3 - 1e-6)) / 2e-6
    for _ in range(3):
        assert ad.gradient(f, 1.3)[0] == pytest.approx(slope, rel=1e-6)
        assert ad.jvp(f, (1.3,), (1.0,))[1] == pytest.approx(slope, rel=1e-6)
    if not (GENERIC or specialising.ONE_WAY) and name in ("uses_moments", "uses_shared"):
        assert splitting.split_of(names[name.removeprefix("uses_")], True).halves is not None


def test_pullbacks():
    f, slopes = scope(SOURCE)["moments"], {}
    for name in ("mean", "square"):
        slopes[name] = (f(1.3 + 1e-6)[name] - f(1.3 - 1e-6)[name]) / 2e-6
    zero = {"mean": None, "square": None, "n": None, "unit": None, "xs": None, "pair": None}
    for _ in range(3):
        value, back = ad.pullback(f, 1.3)
        assert value == f(1.3)
        for name, slope in slopes.items():
            assert back({**zero, name: 2.0})[0] == pytest.approx(2.0 * slope, rel=1e-6)
        whole = {**zero, "mean": 1.0, "xs": [1.0, 5.0], "pair": (None, (3.0, None))}
        expected = slopes["mean"] + 2.6 + 3.0
        assert back(whole)[0] == pytest.approx(expected, rel=1e-6)
        assert back(dict(reversed(whole.items())))[0] == pytest.approx(expected, rel=1e-6)
        value["mean"], value["xs"][0] = 7.0, 7.0
        value["pair"] = value.pop("pair")
        value["n"] = value.pop("n")
        assert back(whole)[0] == pytest.approx(expected, rel=1e-6)
    kept = specialising._known.found.get(id(f.__code__), {}).values()
    assert GENERIC or any(x.entries for x in kept)


def test_rows_of_a_jacobian():
    f = scope("def f(x, y):\n    return {'a': x * y, 'b': [y * y, {'c': x}]}")["f"]
    for _ in range(3):
        by_x, by_y = ad.jacobian(f)(2.0, 3.0), ad.jacobian(f, 1)(2.0, 3.0)
        assert (by_x, by_y) == ({"a": 3.0, "b": [0.0, {"c": 1.0}]}, {"a": 2.0, "b": [6.0, {"c": 0.0}]})


def test_cotangents_of_another_form():
    f = scope("import math\ndef f(x):\n    return {'a': math.sin(x), 'b': x * x}")["f"]
    for _ in range(2):
        _, back = ad.pullback(f, 0.3)
        for wrong in ({"a": 1.0, "b": 2.0, "c": 3.0}, {"a": "text", "b": 1.0}, [1.0, 2.0]):
            with pytest.raises(Exception, match="cotangent"):
                back(wrong)
        assert back({"a": 1.0, "b": 1.0})[0] == pytest.approx(math.cos(0.3) + 0.6)
