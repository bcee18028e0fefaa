"""Shadows: none is taken for that of another reference; they hold no memory that a plain run would not."""

from __future__ import annotations

import functools
import gc
import tracemalloc
from unittest.mock import patch

import pytest
from lifetime_modes import AT, MODES

from autodiff_hook.algebras import typed as typed_calls
from autodiff_hook.algebras.reverse import Reverse


class Plain:
    def __init__(self, value):
        self.value = value


def identities_that_are_used_again(x):
    def pair(a, b):
        return [a, b]

    total = 0.0
    for i in range(800):
        moving, still, o = [x, float(i)], [2.0, 3.0], Plain(x)
        constant, table = Plain(5.0), {"x": x}
        total = total + moving[0] * still[1] + moving[1] * still[0] + o.value * constant.value
        if i % 7 == 0:
            total = total + pair(x, 1.0)[0] * pair(2.0, 3.0)[1] + table["x"]
        if i % 5 == 0:
            del moving, table
    return total


@pytest.mark.parametrize("mode", MODES)
def test_a_new_reference_has_nothing_of_one_that_is_gone(mode):
    f = identities_that_are_used_again
    grads = MODES[mode](f)
    assert grads == pytest.approx([f(1.0) - f(0.0)] * len(grads))


def only_numbers(x, n):
    total = 0.0
    for _ in range(n):
        total = total + x
    return total


def objects_dropped(x, n):
    total = 0.0
    for _ in range(n):
        total = total + Plain(x).value
    return total


def lists_dropped(x, n):
    total = 0.0
    for _ in range(n):
        items = [x, 1.0]
        total = total + items[0]
    return total


def dicts_dropped(x, n):
    total = 0.0
    for _ in range(n):
        table = {"x": x}
        total = total + table["x"]
    return total


def cells_dropped(x, n):
    total = 0.0
    for _ in range(n):
        y = x
        total = total + (lambda: y)()
    return total


def _kept(f, n=20_000):
    """The bytes that a pullback keeps for each iteration, and the most that its forward pass needs."""
    with patch.object(typed_calls, "GENERIC", True):
        Reverse(functools.partial(f, n=10), (AT,), {})
        gc.collect()
        tracemalloc.start()
        try:
            session = Reverse(functools.partial(f, n=n), (AT,), {})
            kept, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert session.back(1.0)[0] == n
    return kept / n, most / n


@pytest.mark.parametrize("f", [objects_dropped, lists_dropped, dicts_dropped, cells_dropped], ids=lambda f: f.__name__)
def test_memory_is_that_of_the_tape(f):
    kept, most = _kept(f)
    tape, _ = _kept(only_numbers)
    assert kept < tape + 10
    assert most < tape + 50
