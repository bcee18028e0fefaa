"""Calls of functions in scope that have to do with no derivative: natively where a search shows it sooner."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from autodiff_hook.api import generic_gradient

NATIVE = []
TABLE = {"scale": 0.5}
WORK = np.ones(3)
SEEN = []


class Part:
    def __init__(self, value):
        self.value = value

    def times(self, other):
        NATIVE.append(sys._getframe().f_code is Part.times.__code__)
        return Part(self.value * other.value)


def product_of_parts(n):
    found = Part(1.0)
    for i in range(n):
        found = found.times(Part(1.0 + i))
    return found.value * TABLE["scale"]


def with_something_held(x):
    held = Part(x)
    factor = product_of_parts(5)
    return held.value * factor * x


def test_what_no_derivative_goes_into_runs_natively_where_that_is_seen_soon():
    for _ in range(3):
        NATIVE.clear()
        assert generic_gradient(with_something_held, 1.5)[0] == pytest.approx(180.0)
    assert NATIVE == [True] * 5


def test_a_function_that_finds_a_derivative_later_is_carried_then():
    def f(x, names):
        held = Part(x)
        before = product_of_parts(5)
        if names:
            TABLE["scale"] = held.value
        try:
            return product_of_parts(5) * held.value + before
        finally:
            TABLE["scale"] = 0.5

    for names, expected in [(False, 60.0), (False, 60.0), (True, 360.0), (True, 360.0), (False, 60.0)]:
        assert generic_gradient(f, 1.5, names)[0] == pytest.approx(expected)


def overwritten(n):
    for _ in range(n):
        WORK[:] = Part(2.0).times(Part(1.0)).value
    return WORK.sum()


def test_what_is_written_there_leaves_what_pullbacks_hold():
    def f(x):
        held = Part(x)
        WORK[:] = 3.0
        y = np.sum(WORK * held.value * x)
        return y + overwritten(6)

    for _ in range(4):
        assert generic_gradient(f, 1.5)[0] == pytest.approx(27.0)


def test_what_is_stored_there_is_constant():
    def fill(items, n):
        for i in range(n):
            items[i] = Part(float(i)).times(Part(2.0)).value
        items.append(1.0)

    def f(x):
        held = Part(x)
        items = [1.0] * 6
        fill(items, 6)
        items[0] = held.value * x
        fill(other := [0.0] * 6, 6)
        return sum(items) + other[3] * x

    for _ in range(4):
        assert generic_gradient(f, 1.5)[0] == pytest.approx(9.0)


def test_what_an_object_that_is_handed_over_holds_is_found():
    def total(parts, n):
        found = Part(0.5)
        for i in range(n):
            found = found.times(parts[i % len(parts)])
        return found.value

    def f(x):
        parts = [Part(1.0), Part(2.0)]
        before = total(parts, 10)
        parts[1].value = x
        return total(parts, 10) + before

    for _ in range(4):
        assert generic_gradient(f, 2.0)[0] == pytest.approx(40.0)


def remember(part):
    NATIVE.append(part.times(part))
    for _ in range(10):
        part.times(part)
    SEEN.append(part)
    return 0.0


def test_what_was_kept_there_and_has_a_derivative_later_is_found():
    def f(x):
        held, part = Part(x), Part(1.0)
        remember(part)
        part.value = held.value * x
        return SEEN[-1].value

    for _ in range(4):
        NATIVE.clear(), SEEN.clear()
        assert generic_gradient(f, 1.5)[0] == pytest.approx(3.0)


def test_a_generator_that_is_made_there_finds_what_is_stored_meanwhile():
    def values(part):
        while True:
            yield part.value

    def begun(part):
        for _ in range(10):
            part.times(part)
        return values(part)

    def f(x):
        held, part = Part(x), Part(1.0)
        found = begun(part)
        total = next(found)
        part.value = held.value * x
        return total + next(found)

    for _ in range(4):
        assert generic_gradient(f, 1.5)[0] == pytest.approx(3.0)
