"""Calls of ``functools.lru_cache`` on one way, and strings that decide about it."""

from __future__ import annotations

import enum
import functools
import math

import numpy as np
import pytest
from specialised_cases import check

import autodiff_hook as ad

_asked = []
_mode = "plain"


@functools.lru_cache
def factor(name):
    _asked.append(name)
    return {"A": 2.0, "b": 3.0}[name.strip()]


@functools.lru_cache
def lowered(name, *, strip=True):
    return name.lower().strip() if strip else name.lower()


@functools.lru_cache
def current():
    return _mode


def scaled_by(x, name):
    return x * x * factor(name)


def by_mode(x, name):
    return x * x if lowered(name, strip=True) == "square" else math.sin(x)


def in_a_mode(x, name):
    global _mode
    before = _mode
    _mode = lowered(name)
    y = x * x if _mode == "square" else math.sin(x)
    _mode = lowered(before)
    return y


def asked_while_changed(x):
    global _mode
    before, _mode = _mode, "other"
    y = x * x if current() == "other" else x
    _mode = before
    return y


@functools.lru_cache
def weights(count, step):
    _asked.append(count)
    found = np.arange(1.0, count + 1, step)
    found.setflags(write=False)
    return found, found.size


def series(x, step):
    found, count = weights(int(x) + 2, step)
    return np.sum(found * np.sin(x * found)) / count


def test_caches_are_asked_with_whole_numbers():
    _asked.clear()
    weights.cache_clear()
    for x in (2.5, 3.5, 2.7, 3.1, 2.2):
        want = sum(k * k * math.cos(x * k) for k in range(1, int(x) + 3)) / (int(x) + 2)
        for _ in range(3):
            assert ad.gradient(series, x, 1)[0] == pytest.approx(want, rel=1e-12)
    assert set(_asked) == {4, 5}
    assert "typed for one way" in str(ad.explain(series, 2.5, 1))


def test_caches_are_asked_with_strings():
    _asked.clear()
    factor.cache_clear()
    for name, slope in (("A", 4.0), ("b ", 6.0), ("A", 4.0), ("b", 6.0)):
        for _ in range(3):
            assert ad.gradient(scaled_by, 1.0, name)[0] == slope
    assert _asked == ["A", "b ", "b"]


def test_strings_that_caches_give_decide_about_the_way():
    for name, slope in (("Square", 1.0), (" square", 1.0), ("Sine", math.cos(0.5)), ("SQUARE", 1.0)):
        for _ in range(3):
            assert ad.gradient(by_mode, 0.5, name)[0] == slope


@pytest.mark.parametrize("before", ["plain", "Plain", "other"])
def test_a_global_that_is_put_back_through_a_cache(before, monkeypatch):
    for name, slope in (("Square", 1.0), ("Sine", math.cos(0.5)), ("Square", 1.0)):
        for _ in range(3):
            monkeypatch.setitem(globals(), "_mode", before)
            assert ad.gradient(in_a_mode, 0.5, name)[0] == slope
            assert _mode == before.lower()


def test_a_cached_function_that_is_replaced(monkeypatch):
    for _ in range(3):
        assert ad.gradient(scaled_by, 1.0, "A")[0] == 4.0
    monkeypatch.setitem(globals(), "factor", functools.lru_cache(lambda name: 5.0))
    for _ in range(3):
        assert ad.gradient(scaled_by, 1.0, "A")[0] == 10.0


def test_a_cache_that_reads_what_has_been_changed():
    current.cache_clear()
    assert ad.gradient(asked_while_changed, 3.0) == (6.0,)
    current.cache_clear()
    current()
    for _ in range(3):
        assert ad.gradient(asked_while_changed, 3.0) == (1.0,)


class Mode(enum.Enum):
    FAST = 1
    SLOW = 2


@functools.lru_cache
def namespace_of(cls):
    return (np, Mode.FAST) if cls is np.ndarray else (math, Mode.SLOW)


def by_namespace(x):
    module, mode = namespace_of(type(x))
    return module.exp(x[0]) if mode is Mode.FAST else x[0]


def test_caches_that_answer_with_modules():
    check(by_namespace, np.array([0.3, 0.2]))
    namespace_of.cache_clear()
    check(by_namespace, np.array([0.4, 0.2]))
