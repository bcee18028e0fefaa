"""``AUTODIFF_TRACE=1``: why a function is not specialised, in plain words, with the line, once."""

from __future__ import annotations

import functools
import math
import sys
import time

import numpy as np
import pytest
from specialised_cases import GENERIC

import autodiff_hook as ad
from autodiff_hook.runtime.specialising import ONE_WAY

pytestmark = pytest.mark.skipif(GENERIC, reason="there are no specialised programs")


class Point:
    def __init__(self, x):
        self.x = x


def compiles(x):
    compile("0", "", "eval")
    return x * x


def waits(x):
    time.sleep(0)
    return x * x


def uses_a_view(x):
    values = np.ones(3) * x
    (part,) = np.split(values, 1)
    values[0] = 5.0
    return part.sum()


def changes_its_argument(x, given):
    given[0] = x
    return given.sum()


def evaluates(x):
    return eval("2.0", {}) * x


def callee(x):
    compile("0", "", "eval")
    return x


def calls(x):
    return callee(x) * x


def applied(f, x):
    return f(x)


def line(function, offset):
    return f"{__file__}:{function.__code__.co_firstlineno + offset}: "


REASONS = [
    (compiles, (2.0,), line(compiles, 1) + "a call of compile"),
    (waits, (2.0,), line(waits, 1) + "a call of time.sleep, which has effects"),
    (uses_a_view, (2.0,), line(uses_a_view, 4) + "a view of an array is used after the array was changed in place"),
    (changes_its_argument, (2.0, np.ones(4)[::2]), line(changes_its_argument, 1) + "an array is changed in place that"),
    (evaluates, (2.0,), line(evaluates, 1) + "a call of eval"),
    (calls, (2.0,), line(callee, 1) + "a call of compile"),
    (applied, (functools.lru_cache(lambda x: x * 2.0), 2.0), "a callable as an argument"),
    (math.sin, (2.0,), "math.sin: only what is Python code"),
    (lambda point: point.x * len({point}), (Point(1.0),), ""),
]


@pytest.mark.parametrize(("f", "args", "reason"), REASONS)
def test_reasons(f, args, reason, monkeypatch, capsys):
    monkeypatch.setenv("AUTODIFF_TRACE", "1")
    for _ in range(4):
        ad.gradient(f, *args)
        ad.gradient(f, *args)
    said = [text for text in capsys.readouterr().err.splitlines() if "specialised" in text]
    # On one way it is known what is in a set.
    followed = ONE_WAY and not reason
    assert followed or any(x.startswith("autodiff: not specialised: ") and reason in x for x in said), said
    assert len(said) == len(set(said))
    assert not any("Refused" in text or "object at 0x" in text or "example=" in text for text in said)


def test_under_a_debugger(monkeypatch, capsys):
    monkeypatch.setenv("AUTODIFF_TRACE", "1")
    before = sys.gettrace()
    sys.settrace(lambda *event: None)
    try:
        ad.gradient(lambda x: x * x, 2.0)
    finally:
        sys.settrace(before)
    assert "while a debugger or a coverage tool traces the program" in capsys.readouterr().err


def test_other_ways_and_many_types(monkeypatch, capsys):
    def f(x, items):
        total = 0.0
        for item in items:
            total += x if item == "a" else x * x
        return total

    monkeypatch.setenv("AUTODIFF_TRACE", "1")
    for n in range(30):
        ad.gradient(f, 1.5, ["a"] * n + ["b", Point(1.0)][: n % 2 + 1])
    err = capsys.readouterr().err
    assert "not specialised: " in err and len(err.splitlines()) < 40
