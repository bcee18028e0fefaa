"""The dicts of modules, objects and functions' globals, read on one way."""

from __future__ import annotations

import types

import pytest
from specialised_cases import check, check_slopes

import autodiff_hook as ad


class Options:
    size = 4.0

    def __init__(self, tol, size):
        self.tol, self.size, self.kind = tol, size, "plain"

    @property
    def twice(self):
        return 2.0 * self.tol


OPTIONS, MODULE = Options(2.0, 5.0), types.ModuleType("settings")
MODULE.rate, FACTOR, COUNT = 1.5, 3.0, 2


def of_globals(x, y):
    names = globals()
    missing = names.get("NOTHING", y) * ("NOTHING" not in names) * ("COUNT" in names)
    return x * names["FACTOR"] * names["COUNT"] + missing * globals()["FACTOR"] + OPTIONS.__dict__["tol"] * x * y


def of_an_object(x, y):
    held = vars(OPTIONS)
    total = x * held["tol"] + y * held.get("size", 1.0) + sum(v for k, v in held.items() if k != "kind") * x
    return total * (len(held) + ("twice" in held)) * (x if held["kind"] == "plain" else y)


def of_a_module(x, y):
    return x * vars(MODULE)["rate"] + y * MODULE.__dict__.get("rate", 1.0) + y * vars(MODULE).get("order", x)


@pytest.mark.parametrize("f", [of_globals, of_an_object, of_a_module])
def test_namespaces(f, monkeypatch):
    for change in (
        lambda: None,
        lambda: monkeypatch.setitem(globals(), "FACTOR", 4.0),
        lambda: monkeypatch.setitem(globals(), "NOTHING", 7.0),
        lambda: monkeypatch.setattr(OPTIONS, "tol", 0.5),
        lambda: monkeypatch.setattr(OPTIONS, "kind", "other"),
        lambda: monkeypatch.setattr(MODULE, "order", 2.0, raising=False),
    ):
        change()
        check_slopes(f, 0.7, 1.3)


def assigned_beside(x, y):
    global FACTOR
    before, FACTOR = FACTOR, x * y
    found = globals()["FACTOR"] * x
    FACTOR = before
    return found


def test_globals_that_are_assigned_beside():
    check_slopes(assigned_beside, 0.7, 1.3, specialised=None)
    assert FACTOR == 3.0


def of_an_argument(options, x):
    held = vars(options)
    options.new = x * held["tol"]
    return held["tol"] * x + held.get("size") * ("new" in held) * held["new"] + held.get("twice", 1.0)


def test_the_attributes_of_an_argument():
    for options in (Options(2.0, 5.0), Options(1.0, 3.0)):
        _, expected = ad.withgradient(lambda o, x: o.tol * x + o.size * (x * o.tol) + 1.0, options, 0.7)
        for _ in range(3):
            found = ad.gradient(of_an_argument, options, 0.7)
            assert (found[0].tol, found[0].size, found[1]) == (expected[0].tol, expected[0].size, expected[1])
            assert options.new == 0.7 * options.tol
            del options.new


def test_an_argument_that_is_only_read():
    check(lambda options, x: vars(options)["tol"] * x * vars(options)["size"], Options(2.0, 5.0), 0.7)
