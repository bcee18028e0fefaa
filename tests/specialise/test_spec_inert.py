"""Statements of specialised programs that carry no derivative: they are executed as they are."""

from __future__ import annotations

import bisect
import datetime
import math
import os
import sys
import time
import types
import typing
from collections.abc import Mapping

import numpy as np
import pytest
import specialised_cases
from specialised_cases import changes, check, check_all_ways, check_raises, same, scope

import autodiff_hook as ad

KNOTS = [0.0, 0.5, 1.0, 1.7, 2.4, 3.0]
VALUES = [0.0, 0.2, 0.9, 1.1, 0.7, 0.3]
ARRAY = np.array(KNOTS)
REALS = (int, float, np.floating)
TEXT_OR_FLOAT = typing.Union[str, float]  # noqa: UP007 - what is asked for is this kind of union


def bisected(x, y):
    total = 0.0
    for k in range(6):
        t = x * k
        i = min(max(bisect.bisect_right(KNOTS, t) - 1, 0), len(KNOTS) - 2)
        w = (t - KNOTS[i]) / (KNOTS[i + 1] - KNOTS[i])
        total += (1 - w) * VALUES[i] * y + w * VALUES[i + 1]
    return total


def searched(x, y):
    total = 0.0
    for k in range(6):
        i = max(0, min(int(np.searchsorted(ARRAY, x * k)) - 1, len(ARRAY) - 2))
        total += (x * k - ARRAY[i]) / (ARRAY[i + 1] - ARRAY[i]) * y
    return float(total)


def signs(x, y):
    total = 0.0
    for k in range(8):
        t = x - 0.2 * k
        total += y * float((t > 0) - (t < 0)) * t + ((t > 0) + (y > 0)) * x - (-(t > 1)) * y
    return total


def bools_and_ints(x, y):
    total = 0
    for k in range(6):
        flag = k if k % 2 else x > k
        total = total + flag * y + (flag + flag) * x + True
    return total + abs(x > 0) + (True // 1) * y


def whole_numbers(x, y):
    total = 0.0
    for k in range(6):
        t = x * k + 0.03
        n = math.floor(t) + int(y) + math.ceil(t)
        q, r = divmod(t, 0.7)
        total += n * y + q * r + t // 0.5 + t % 0.3 + round(t, 1) * x + (x if n > k else n)
    return total


def texts(x, y):
    label = f"{x:.3f} and {y}" + "!" * 2
    message = "%g of %s" % (x, label)  # noqa: UP031
    message += "{} {:.2f}".format("y", y)
    total = x * len("pair".split("i")) + (len(message) > 3) * y
    for name in "first second".split():
        if name.startswith("f") and label.endswith("!!") and "and" in label and label.lower() != name.upper():
            total += x * y * len(name)
    first, second = "a-b".split("-")
    return total * 2 if first + second == "ab" and name[0] == "s" and message.find("of") > 0 else total


CHECKED = """
def checked(x, y):
    if not isinstance(x, (int, float, np.floating)) or type(y) is not float:
        raise TypeError(type(x).__name__)
    if not math.isfinite(x):
        raise ValueError(f"{x!r} is not finite")
    assert -10 < x < 10, f"{x} is out of range"
    return x * y if hasattr(x, "real") and callable(abs) and hash("x") is not None else y
"""
checked = scope(CHECKED, math=math, np=np)["checked"]  # pytest writes other code for what is asserted in a test file


def of_kinds(x, y):
    total = 0.0
    if isinstance(x, REALS) and isinstance(x, (str, REALS)) and isinstance(3, int | str):
        total += x * y
    if isinstance(x, TEXT_OR_FLOAT) and not isinstance(x, (typing.Sequence, bool)):
        total += x * x
    return total if isinstance([x], typing.MutableSequence) and not isinstance(y, Mapping | None) else x


BOTH, SIZE, REAL, FIRST = "both", "size", "real", "first"


def by_name(x, y):
    value, total = np.array([x, y]), 0.0
    for k in range(2):
        total += getattr(NAMED, BOTH)(x) * k
    size = getattr(value, SIZE) + getattr(x, REAL) + len(getattr(x, "shape", ())) + getattr(y, "weight", 3.0)
    return total * size + getattr(Named(y), FIRST) * getattr(math, "ex" + "p")(x)


class Named:
    def __init__(self, first):
        self.first = first

    def both(self, x):
        return self.first * x


NAMED = Named(2.5)


def of_version(x, y):
    major, minor = sys.version_info[:2]
    total = x * y if (3, 8) <= sys.version_info < (99, 0) and sys.version_info.major >= 3 else x
    return total * y if sys.version_info[0] == major and (major, minor) > (3, 1) else total


def timed(x, y):
    start = time.perf_counter()
    total = sum(x**k * y for k in range(5))
    return total if time.perf_counter() - start >= 0 and time.time() > 0 else 0.0


def grids(x, y):
    rows = np.mgrid[0:3, 0:4]
    column = np.ogrid[0:4]
    weights = np.exp(-rows[0] * x) * column * y
    assert weights.strides[0] == 4 * weights.itemsize and weights.nbytes > 0
    return float(weights.sum())


def keyword_only(x, y):
    def scaled(t, *, factor=2.0, shift=x):
        return factor * t + shift

    return sum(scaled(k * x) * scaled(y, factor=y) * scaled(1.0, shift=k) for k in range(4))


def imports_within(x, y):
    import math as plain
    from math import sin, tau

    return sum(sin(x * k) * plain.cos(y) for k in range(4)) * tau


FLOATS, LISTS = np.float64 | np.float32, list[float]
ANY_FLOAT = typing.Union[float, np.float64]  # noqa: UP007


def of_kinds_of_types(x, y):
    total = 0.0
    for k in range(3):
        if np.float64 in FLOATS.__args__ and np.int64 not in LISTS.__args__:
            total += x * y * k * (2.0 if np.float64 in ANY_FLOAT.__args__ else 0.5)
    return total


TABLE = {"a": 2.0}


def containers_and_none(x, y):
    made, total = [x, y], 0.0
    for k in range(2):
        if TABLE != None and not (None == made):  # noqa: E711
            total += made[k] * TABLE["a"]
    return total if (x, y) != None else x * y  # noqa: E711


def real_parts(x, y):
    factor = x
    for k in range(3):
        factor = factor.real * y if k else 2
    return factor.real * x.real + factor.imag


def of_their_type(x, y):
    kind = np.dtype(type(x))
    scale = 0.5 if kind.names is None and kind.kind == "f" and kind.itemsize == 8 else 2.0
    return x * y * scale


PROGRAMS = [
    containers_and_none,
    real_parts,
    of_their_type,
    bisected,
    searched,
    signs,
    bools_and_ints,
    whole_numbers,
    texts,
    checked,
    timed,
    grids,
]
PROGRAMS += [keyword_only, imports_within, of_kinds_of_types, of_kinds, by_name, of_version]


@pytest.mark.parametrize("f", PROGRAMS)
def test_what_carries_no_derivative(f):
    for x, y in [(1.3, 0.72), (0.931, -0.41), (0.563, 1.73)]:
        check_all_ways(f, x, y)


def test_arguments_that_are_not_valid():
    check_all_ways(checked, 1.3, 0.7)
    check_raises(checked, 12.0, 0.7)
    check_raises(checked, math.inf, 0.7)
    check_raises(checked, 1.0, 1)


def test_the_classes_that_are_asked_for_are_guarded():
    f = scope("def f(x):\n return x * x if isinstance(x, KINDS) else x", KINDS=(int, float))["f"]
    changes(f, lambda: f.__globals__.update(KINDS=(int, str)), 3.0)
    same(ad.gradient(f, 3.0), (1.0,))


def test_what_is_no_class_for_instances():
    f = scope("def f(x):\n return x * x if isinstance(x, LISTS) else x", LISTS=list[int])["f"]
    with pytest.raises(TypeError):
        ad.gradient(f, 3.0)


def knots_given(knots, values, x):
    i = bisect.bisect_right(knots, x) - 1
    w = (x - knots[i]) / (knots[i + 1] - knots[i])
    return (1 - w) * values[i] + w * values[i + 1]


def test_derivatives_reach_what_a_constant_call_has_read():
    check(knots_given, KNOTS, VALUES, 1.2)
    check(knots_given, KNOTS, VALUES, 0.2)


def test_relative_imports(monkeypatch):
    package = types.ModuleType("inert_package")
    package.__path__, package.specialised_cases = [], specialised_cases
    monkeypatch.setitem(sys.modules, "inert_package", package)
    monkeypatch.setitem(sys.modules, "inert_package.specialised_cases", specialised_cases)
    f = scope(
        "def f(x):\n from . import specialised_cases as cases\n from .specialised_cases import slopes\n"
        " return x * x if cases.slopes is slopes else x",
        __package__="inert_package",
    )["f"]
    check_all_ways(f, 1.5)


def test_the_clock_is_read_at_each_run():
    stamps = scope("def f(x):\n seen = time.perf_counter_ns()\n return x * seen", time=time)["f"]
    first, second, third = (ad.gradient(stamps, 1.0)[0] for _ in range(3))
    assert first < second < third


def test_sleeping_is_an_effect():
    f = scope("def f(x):\n time.sleep(0)\n return x * x", time=time)["f"]
    same(ad.gradient(f, 3.0), (6.0,))


def distributed(x, y):
    from scipy import stats
    from scipy.stats import norm

    total = 0.0
    for k in range(3):
        total += y * norm.cdf(x * k) + stats.norm.pdf(x=y, scale=1.5 + x * x) + norm.ppf(0.2 * (k + 1), y)
    return float(total)


def test_methods_of_distributions():
    check_all_ways(distributed, 0.4, 0.3)
    check_all_ways(distributed, -0.7, 1.3)


def by_days(x, times):
    days = (times - times[0]) / np.timedelta64(1, "D")
    return np.sum(x * np.exp(-0.1 * days))


def by_years(x, times):
    years = times.astype("M8[Y]").astype(int) + 1970
    gaps = np.diff(times).astype(float)
    return np.sum(x[1:] * gaps) * (years[-1] - years[0]) + np.sum(x[times > times[0]])


def by_dates(x, y):
    start, end = np.datetime64("2020-01-01"), np.datetime64("2020-03-01")
    share = (end - start) / np.timedelta64(1, "W")
    return x * share * y if end > start else x


def as_numbers(x, times):
    return np.sum(x * times.astype(float)) * len(times)


def changed_numbers(x, times):
    found = (times - times[0]).view("i8").astype(float)
    found[0] = x[0]
    return np.sum(found * x)


def changed_times(x, times):
    times = times.copy()
    times.sort()
    times[0] = times[1]
    return np.sum(x * (times - times[1]).astype(float))


TIMES = np.array(["2020-01-01", "2020-02-01", "2021-02-03"], dtype="M8[D]")


@pytest.mark.parametrize("f", [by_days, by_years])
def test_times_are_executed(f):
    x = np.array([0.3, 0.7, 0.2])
    check(f, x, TIMES)
    check(f, x, TIMES + np.timedelta64(3, "D"))
    for times in (TIMES[::-1].copy(), TIMES.astype("M8[s]")):
        for _ in range(3):
            check(f, x, times, specialised=None)
    check(f, x[:2], TIMES[:2], specialised=None)


def test_dates_of_numpy_are_executed():
    check(by_dates, 0.3, 0.7)


def of_the_day(x, when):
    passed = np.asanyarray(np.datetime64(when) - np.datetime64("2000-01-01"), dtype=np.timedelta64)
    return x * np.sin(passed / np.timedelta64(1, "D") / 100.0)


def test_a_time_of_the_program_becomes_an_array():
    for day in (1, 2, 9):
        check(of_the_day, 0.3, datetime.datetime(2024, 5, day))


def test_what_asks_for_the_time_is_asked_each_time():
    def since_then(x):
        return x * ((np.datetime64("now", "us") - np.datetime64("2020-01-01")) / np.timedelta64(1, "us"))

    found = []
    for _ in range(4):
        found.append(ad.gradient(since_then, 1.0)[0])
        time.sleep(1.1 if len(found) == 1 else 0.0)
    assert found[0] < found[1]


def test_what_asks_the_system_is_asked_each_time(tmp_path):
    name = str(tmp_path / "there")

    def f(x):
        return x * (2.0 if os.path.exists(name) and os.getpid() > 0 else 3.0) * len(os.getcwd())

    for present in (False, True) * 4:
        if present:
            open(name, "w").close()
        elif os.path.exists(name):
            os.remove(name)
        assert ad.gradient(f, 1.5) == ((2.0 if present else 3.0) * len(os.getcwd()),)
    check(f, 1.5)


def test_numbers_in_the_place_of_times_have_derivatives():
    x = np.array([0.3, 0.7, 0.2])
    for _ in range(3):
        check(as_numbers, x, TIMES)
        check(as_numbers, x, np.array([1.0, 2.0, 3.0]), specialised=None)
        check(as_numbers, x, np.array([1, 2, 3]), specialised=None)


@pytest.mark.parametrize("f", [changed_numbers, changed_times])
def test_what_is_made_of_times_is_changed(f):
    x, times = np.array([0.3, 0.7, 0.2]), TIMES[::-1].copy()
    for _ in range(3):
        check(f, x, times, specialised=None)
    np.testing.assert_array_equal(times, TIMES[::-1])
