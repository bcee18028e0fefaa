"""Calls of ``functools.lru_cache`` on one way, and strings that decide about it."""

from __future__ import annotations

import enum
import functools
import json
import math
from types import SimpleNamespace

import numpy as np
import pytest
from specialised_cases import GENERIC, check, is_specialised, oracle, same, scope, slopes

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
    assert GENERIC or "typed for one way" in str(ad.explain(series, 2.5, 1))


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


KNOTS = (0.0, 0.0, 0.25, 0.5, 1.0, 1.0)


@functools.lru_cache(maxsize=128)
def basis(u, knots, k, i):
    if k == 0:
        return 1.0 if knots[i] <= u < knots[i + 1] else 0.0
    found = 0.0
    for j in (i, i + 1):
        width = knots[j + k] - knots[j]
        if width:
            part = (u - knots[j]) / width
            found += (part if j == i else 1.0 - part) * basis(u, knots, k - 1, j)
    return found


def curve(c):
    return sum(c**i * basis(0.3, KNOTS, 2, i) for i in range(3))


def along_a_curve(u, c):
    return sum(c**i * basis(u, KNOTS, 2, i) * basis(u, KNOTS, k=2, i=i) for i in range(3))


def at_equal_places(u, v):
    return basis(u, KNOTS, 2, 1) + 3.0 * basis(v, KNOTS, 2, 1) + 5.0 * basis(u, KNOTS, 2, 1)


def at_what_is_cut_off(u):
    return u * basis(float(int(u)), KNOTS, 2, 1) + u * basis(round(u, 1), KNOTS, 2, 0)


_scale = 2.0


@functools.cache
def scaled(u):
    return u * _scale


def by_an_old_scale(x, place):
    return x * scaled(place)


def by_a_new_scale(x):
    return x * scaled(x)


class Table:
    rows = 3

    def __init__(self, step=0.5):
        self.step = step

    @functools.cache  # noqa: B019
    def entry(self, i, j):
        return self.step if i == j else self.step * self.entry(i, j - 1) if j else 0.25

    @functools.lru_cache  # noqa: B019
    def at(self, x):
        return [self.step * x]

    @staticmethod
    @functools.cache
    def weight(i):
        return 1.0 / (1.0 + i)


TABLE = Table()


def of_a_table(x):
    return sum(TABLE.entry(i, 2) * TABLE.weight(i) * x**i for i in range(TABLE.rows))


def of_its_own_table(x):
    table = Table(x)
    before = table.entry(1, 1) * table.entry(1, 2)
    table.step = x * x
    return before + table.entry(1, 1) + table.step


def of_a_given_table(table, x):
    return table.entry(2, 2) * x + table.entry(2, 2)


def of_what_is_kept(x):
    found = TABLE.at(x)
    found.append(x * x)
    return sum(TABLE.at(x)) * TABLE.at(x)[0]


class Equal(Table):
    def __eq__(self, other):
        return isinstance(other, Equal)

    def __hash__(self):
        return 1


def of_equal_tables(x):
    return Equal(x).at(x)[0] + Equal(2 * x).at(x)[0]


def _forget():
    for cache in (basis, scaled, Table.entry, Table.at, Table.weight):
        cache.cache_clear()


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (curve, (1.5,)),
        (along_a_curve, (0.3, 1.5)),
        (at_equal_places, (0.3, 0.3)),
        (at_what_is_cut_off, (0.4,)),
        (of_a_table, (0.3,)),
        (of_its_own_table, (0.7,)),
        (of_a_given_table, (Table(0.7), 0.3)),
    ],
)
def test_caches_are_asked_for_numbers_and_objects_and_followed_with_what_has_derivatives(f, args):
    _forget()
    check(f, *args)
    if f is not of_a_given_table:
        for shift in (0.01, 0.2, -0.15):
            check(f, *(x + shift for x in args))
    check(f, *args)


def test_what_a_cache_keeps_is_one_object():
    _forget()
    for x in (0.3, 0.4, 0.3):
        check(of_what_is_kept, x, specialised=None)
        Table.at.cache_clear()


def test_keys_that_equal_others_by_their_own_word():
    check(of_equal_tables, 0.3, specialised=None)


def test_the_answer_of_a_cache_may_be_older_than_what_its_function_reads(monkeypatch):
    _forget()
    assert by_an_old_scale(3.0, 0.5) == 3.0
    for scale in (2.0, 5.0, 7.0):
        monkeypatch.setitem(globals(), "_scale", scale)
        for _ in range(4):
            assert ad.withgradient(functools.partial(by_an_old_scale, place=0.5), 3.0) == (3.0, (1.0,))
            assert ad.gradient(by_a_new_scale, 3.0) == (6.0 * scale,)
    _forget()
    for _ in range(3):
        assert ad.withgradient(functools.partial(by_an_old_scale, place=0.5), 3.0) == (10.5, (3.5,))


class Symbol:
    """Equals others of its name."""

    def __init__(self, name):
        self.name = name

    def __eq__(self, other):
        return isinstance(other, Symbol) and self.name == other.name

    def __hash__(self):
        return hash(self.name)


SYMBOLS = {"m": Symbol("m"), "ft": Symbol("ft"), "other": Symbol("m")}
counted = []


@functools.cache
def size(symbol, power=1):
    counted.append(symbol)
    return SimpleNamespace(factor={"m": 1.0, "ft": 0.3, "yd": 0.9}[symbol.name] ** power)


def by_sizes(x, name):
    at_foot = size(SYMBOLS["ft"], power=2)
    return x * x * size(SYMBOLS[name]).factor + at_foot.factor * x + (size(SYMBOLS["other"]) is size(SYMBOLS["m"]))


def renamed(x, name):
    symbol = SYMBOLS[name]
    before, symbol.name = symbol.name, "yd"
    y = x * x * size(symbol).factor
    symbol.name = before
    return y


def test_caches_are_asked_for_objects_that_say_by_themselves_what_they_equal():
    for _ in range(3):
        check(by_sizes, 0.7, "m", specialised=None)
        check(renamed, 0.7, "m", specialised=None)
        check(renamed, 0.7, "ft", specialised=None)
    assert GENERIC or is_specialised(by_sizes)
    count = len(counted)
    check(by_sizes, 0.7, "other", specialised=None)
    assert len(counted) == count
    SYMBOLS["m"].name = "yd"
    check(by_sizes, 0.7, "m", specialised=None)
    SYMBOLS["m"].name = "m"


def test_answers_of_several_types():
    @functools.cache
    def told(knots):
        return {1.0: 2, 2.0: 0.5, 3.0: [4.0]}[knots[0]]

    def f(x, knots):
        found = told(knots)
        return x * found if type(found) is float else x * x * (found if type(found) is int else found[0])

    for first in (1.0, 2.0, 3.0, 1.0, 3.0, 2.0):
        want = {1.0: 12.0, 2.0: 0.5, 3.0: 24.0}[first]
        for _ in range(3):
            assert ad.gradient(functools.partial(f, knots=(first, 0.0)), 3.0) == (want,)


SHOWN = np.array([1.0, 2.0, 3.0])
LISTED = [1.0, 2.0]


@functools.lru_cache
def shown():
    return SHOWN, SHOWN[1:]


@functools.lru_cache
def listed():
    return LISTED


@functools.lru_cache
def ramp(n):
    return np.arange(1.0, n + 1.0)


def by_what_was_shown(a):
    a[1] *= 2.0
    return a[0] * shown()[0][1]


def by_a_view(a):
    whole, part = shown()
    a[1] *= 2.0
    return a[0] * part[0] * whole[2]


def by_an_array_of_its_own(a):
    a[1] *= 2.0
    return a[0] * np.sum(ramp(3) * a)


@pytest.mark.parametrize("f", [by_what_was_shown, by_a_view, by_an_array_of_its_own])
def test_a_cache_that_keeps_an_argument_which_is_changed(f):
    def reset():
        SHOWN[:] = [1.0, 2.0, 3.0]
        return SHOWN

    value, expected = f(reset()), oracle(f, reset())[1]
    for _ in range(3):
        found = ad.withgradient(f, reset())
        assert found[0] == value
        same(found[1], expected)
        assert SHOWN[1] == 4.0


def test_a_cache_that_answers_with_an_argument():
    def f(xs):
        return xs[0] * listed()[0]

    listed.cache_clear()
    for _ in range(3):
        with pytest.raises(ad.NotDifferentiable, match="the global LISTED holds a list that is"):
            ad.gradient(f, LISTED)
    assert ad.gradient(f, [3.0]) == ([1.0],)
    listed()
    for _ in range(3):
        assert ad.gradient(f, LISTED) == ([2.0, 0.0],)


LEVELS = {"low": 2.0}


@functools.lru_cache
def level(name):
    return LEVELS[name]


def test_a_function_is_typed_once_its_cache_has_an_answer():
    def f(x):
        return x * x * level("low")

    level.cache_clear()
    for _ in range(3):
        assert ad.gradient(f, 1.5) == (6.0,)
    assert is_specialised(f)
    level.cache_clear()
    LEVELS["low"] = 3.0
    for _ in range(3):
        assert ad.gradient(f, 1.5) == (9.0,)
    LEVELS["low"] = 2.0


class Unit:
    made = 0

    def __init__(self, name, factor):
        type(self).made += 1
        self.name, self.powers = name, Powers({name: factor})


class Powers(dict):
    def __missing__(self, key):
        return 1.0


FACTORS = {"km": 3.0, "mile": 5.0}


@functools.lru_cache
def unit(name):
    return Unit(name, FACTORS[name])


@functools.lru_cache(maxsize=1)
def last_unit(name):
    return Unit(name, FACTORS[name])


def by_units(x, y, name):
    total = x * unit(name).powers[name] + y * unit("mile").powers["other"]
    for key, power in unit("mile").powers.items():
        total *= power * len(key) * x
    return total + (y if unit(name) is unit("mile") else x)


def test_caches_that_answer_with_objects():
    unit.cache_clear()
    Unit.made = 0
    for name in ("km", "mile", "km"):
        check(by_units, 0.7, 1.3, name)
    assert Unit.made == 2
    unit("mile").powers["mile"] = 2.0
    unit.cache_clear()
    FACTORS["mile"] = 4.0
    check(by_units, 0.7, 1.3, "km")
    unit("km").powers["km"] = 7.0
    check(by_units, 0.7, 1.3, "km")
    assert Unit.made == 4


def changed_and_asked(x, y):
    unit("km").factor = x * y
    return unit("km").factor * y


def test_an_object_of_a_cache_that_is_changed():
    unit("km").factor = 1.0
    for _ in range(3):
        assert ad.gradient(changed_and_asked, 0.5, 2.0) == (4.0, 2.0)
        assert unit("km").factor == 1.0
        unit("km").factor = 3.0


def test_a_cache_of_objects_that_forgets():
    def f(x):
        return x * last_unit("km").powers["km"] * last_unit("mile").powers["mile"] * last_unit("km").powers["a"]

    check(f, 0.7, specialised=None)
    for _ in range(3):
        # It is tried once more whether it can be typed.
        ad.gradient(f, 0.7)
    before = Unit.made
    ad.gradient(f, 0.7)
    assert Unit.made == before + 2


def test_a_cache_that_answers_with_an_object_of_the_arguments():
    def f(u, x):
        return u.powers["km"] * unit("km").powers["km"] * x

    FACTORS["km"] = 3.0
    unit.cache_clear()
    for u in (Unit("km", 2.0), unit("km"), Unit("km", 2.0), unit("km")):
        want = 2 * 3.0 if u is unit("km") else 3.0
        for _ in range(3):
            found = ad.gradient(f, u, 1.0)[0]
            assert found.powers["km"] == want


@functools.lru_cache
def coefficients(count):
    return [float(i + 1) for i in range(count)]


@functools.lru_cache
def properties(scale):
    return {"powers": [1.0 * scale, 2.0], "b": 3.0, "within": {"d": 2.0 * scale}}


def by_cached_containers(x):
    held = Unit("km", 2.0)
    held.factor = held.factor * x if hasattr(held, "factor") else x
    found = properties(3)
    total = sum(c * held.factor**i for i, c in enumerate(coefficients(4)))
    return total + found["powers"][0] * x + found["b"] * held.factor + found["within"]["d"] * x


def by_a_cached_list_that_is_changed(x):
    held, numbers = Unit("km", 2.0), coefficients(3)
    numbers.append(x)
    total = sum(numbers) * x * held.powers["km"]
    numbers.pop()
    return total * (1.0 if numbers is coefficients(3) else 2.0)


@pytest.mark.parametrize("f", [by_cached_containers, by_a_cached_list_that_is_changed])
def test_caches_that_answer_with_containers(f):
    coefficients.cache_clear()
    properties.cache_clear()
    check(f, 0.7, specialised=None)
    coefficients(4)[1], coefficients(3)[0] = 9.0, 7.0
    properties(3)["powers"][0] = properties(3)["within"]["d"] = 5.0
    check(f, 0.7, specialised=None)
    assert len(coefficients(3)) == 3
    assert GENERIC or f is not by_cached_containers or is_specialised(f)


class Tables:
    """Reads what it needs when it is first asked for it."""

    def __init__(self, path):
        self.path, self.kept = path, None

    @property
    def kept_by_hand(self):
        if self.kept is None:
            with open(self.path) as file:
                self.kept = json.load(file)
        return self.kept

    @functools.cached_property
    def cached(self):
        with open(self.path) as file:
            return json.load(file)


@pytest.mark.parametrize("name", ["kept_by_hand", "cached"])
def test_what_first_calls_fill_is_read_by_typed_programs(name, tmp_path):
    path = tmp_path / "table.json"
    path.write_text('{"k": 1.5}')
    tables = Tables(path)
    f = scope("def f(x): return sum([sin(x * i * getattr(tables, name)['k']) for i in range(5)])")["f"]
    f.__globals__.update(sin=math.sin, tables=tables, name=name)
    for _ in range(3):
        assert ad.gradient(f, 0.3) == pytest.approx(slopes(f, 0.3))
        ad.gradient(f, 0.3)
    check(f, 0.3)
