"""Where following one way could go wrong: laziness, aliases, hooks of classes, what is missing at first."""

from __future__ import annotations

import copy
import functools
import warnings
from collections import OrderedDict, defaultdict
from typing import Any

import numpy as np
import pytest
from specialised_cases import check, identical, oracle, same, scope

import autodiff_hook as ad

ROW = np.arange(4.0) + 1


def rows_of_an_array_that_changes(x):
    a = x.copy()
    for i, v in enumerate(a):
        if i + 1 < len(a):
            a[i + 1] += v
    pairs = [u * v for u, v in zip(a, map(lambda v: v + 1, a))]
    return (a * a).sum() + pairs[2]


def views_in_a_list(x):
    a = x.reshape(2, 2).copy()
    rows = [a[0], a[1]]
    rows[0] += 1.0
    rows[1] *= 3.0
    return (a * a).sum()


def views_of_an_argument_in_a_list(x):
    parts = [x[:2], x[2:]]
    parts[0] += 1.0
    return (x * x).sum()


def views_in_a_result(x):
    a = x * 1.0
    p, q = np.split(a, 2)
    a[0] = 5 * x[1]
    return (p * p).sum() + q.sum()


def lazy_expressions(x):
    items, scale, log = [x], 1.0, []
    squares = (v * v for v in items)
    scaled = (v * scale for v in [x, 2 * x])
    items.append(3 * x)
    scale = 10.0

    def large(v):
        log.append(v)
        return v > 1

    any(large(v) for v in [x, 2 * x, 3 * x])
    first = next(v for v in (x, {}) if v is not None)
    return sum(squares) + sum(scaled) + sum(log) + first


def generators(x):
    def powers(v, n):
        for _ in range(n):
            yield v
            v = v * x
        return None

    it = powers(x, 10)
    head = next(it) + next(it)
    return head + sum(v for v, _ in zip(it, range(2))) + next(it)


def lists_in_place(x):
    a = [x]
    b = a
    a *= 2
    a += (x * x,)
    return sum(b) * len(b)


def slots(x):
    class Narrow:
        __slots__ = ("n",)

    s = Narrow()
    s.n = x
    try:
        s.other = 2 * x
    except AttributeError:
        return s.n * x
    return x


class Problem(Exception):
    def __init__(self, value=None):
        super().__init__("a problem", value)
        self.value = value


def values_in_exceptions(x):
    total = x
    try:
        raise ValueError("bad", x)
    except ValueError as error:
        if error.args[1] == x:
            total = total * x
    try:
        raise KeyError(f"bad {x}")
    except KeyError as error:
        if "2." in str(error):
            total = total * x
    try:
        raise Problem(value=x)
    except Problem as problem:
        return total * problem.value


class Doubled:
    def __get__(self, owner, cls=None):
        return 1.0 if owner is None else owner.v * 2


class Checked:
    def __get__(self, owner, cls=None):
        return owner.__dict__["hidden"] * 3

    def __set__(self, owner, value):
        owner.__dict__["hidden"] = value + 1


class Described:
    doubled, checked = Doubled(), Checked()

    def __iadd__(self, other):
        self.v = self.v * other
        return self

    def __add__(self, other):
        raise NotImplementedError

    def __len__(self):
        return 0

    def __iter__(self):
        return iter([self.v, self.v * 2])


def descriptors_and_hooks(x):
    d = Described()
    d.v = x
    d.checked = x
    alias = d
    alias += x
    return d.doubled * d.checked * (2.0 if d else 5.0) * sum(d)


def sets(x, n):
    total = 0.0
    for k in {33, 8, 1}:
        total = total * x + k
    names = {"b", "a"} | {name for name in ("c", "a")}
    return total * len({1, n}) * len(names) * ("a" in names) * (frozenset("ab") == {"a", "b"})


def deep_copies(x):
    inner = [x]
    made = copy.deepcopy([inner, inner, np.array([x, 1.0])])
    made[0].append(2 * x)
    made[2][1] = x
    return sum(made[1]) * made[2].sum() + len(inner)


def stores_into_whole_numbers(x):
    a = np.zeros(3, dtype=int)
    a[0] = x
    a[1] = 2 * x
    return a.sum() * x


class Wilful:
    @property
    def value(self):
        raise KeyError("z")


def errors_of_hasattr(x):
    try:
        hasattr(Wilful(), "value")
    except KeyError:
        return x * x
    return x


def silence(x):
    with np.errstate(divide="ignore"):
        a = x * 2
    try:
        b = np.log(x - x[0])
    except FloatingPointError:
        b = x * 7
    return (a * b).sum()


def sorting(x, y):
    values = sorted([x, y, x * y, 0.5], key=lambda v: -v)
    names = sorted({"b": y, "a": x}.items())
    return values[0] * 2 + values[1] * 3 + names[0][1] ** 3 + [x, y].index(y) + [x, y, x].count(x) * y


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("f", "args"),
    [
        (rows_of_an_array_that_changes, (ROW,)),
        (views_in_a_list, (ROW,)),
        (views_of_an_argument_in_a_list, (ROW,)),
        (views_in_a_result, (ROW,)),
        (lazy_expressions, (2.0,)),
        (generators, (1.5,)),
        (lists_in_place, (2.0,)),
        (slots, (3.0,)),
        (descriptors_and_hooks, (2.0,)),
        (sets, (2.0, 1)),
        (deep_copies, (2.0,)),
        (stores_into_whole_numbers, (2.7,)),
        (errors_of_hasattr, (2.0,)),
        (silence, (ROW[:2],)),
        (sorting, (0.7, 1.3)),
    ],
)
def test_programs(f, args):
    state = np.errstate(all="raise") if f is silence else np.errstate()
    with state:
        plain = copy.deepcopy(args)
        value = f(*plain)
        expected = oracle(f, *copy.deepcopy(args))[1]
        for _ in range(3):
            given = copy.deepcopy(args)
            found, grads = ad.withgradient(f, *given)
            identical(found, value)
            same(grads, expected)
            same(given, plain)
            same(ad.gradient(f, *copy.deepcopy(args)), expected)


def test_values_in_exceptions():
    assert values_in_exceptions(2.0) == 16.0
    for _ in range(2):
        try:
            assert ad.gradient(values_in_exceptions, 2.0) == pytest.approx((32.0,))
        except ad.NotDifferentiable:
            pass


class Holder:
    pass


def test_what_is_left_in_objects_from_outside():
    holder = Holder()

    def f(x):
        held = [x]
        holder.pair = (held, x)
        holder.again = (held, held)
        holder.table = {"k": [x * x]}
        return x * x

    for x in (2.0, 3.0):
        same(ad.gradient(f, x), (2 * x,))
        assert holder.pair == ([x], x)
        assert holder.table == {"k": [x * x]}
        assert holder.pair[0] is holder.again[0] is holder.again[1]

    def g(x):
        holder.pair = (Holder(), lambda: x)
        return x * x

    same(ad.gradient(g, 2.0), (4.0,))
    assert isinstance(holder.pair[0], Holder)
    assert holder.pair[1]() == 2.0


def test_effects_happen_once():
    class Narrow:
        __slots__ = ("n",)

    narrow, made = Narrow(), []
    narrow.n = 0

    class Stop(Exception):
        def __init__(self):
            made.append(1)

    def f(x):
        narrow.n = narrow.n + 1
        try:
            narrow.other = x
        except AttributeError:
            return x * x
        return x

    def g(x):
        try:
            raise Stop
        except Stop:
            return x * x

    for count in (1, 2, 3):
        same(ad.gradient(f, 3.0), (6.0,))
        same(ad.gradient(g, 3.0), (6.0,))
        assert narrow.n == count
        assert len(made) == count


def test_filters_of_warnings_stay():
    def f(x):
        warnings.simplefilter("always")
        held = [x]
        return held[0] * x

    with warnings.catch_warnings():
        warnings.resetwarnings()
        same(ad.gradient(f, 2.0), (4.0,))
        assert len(warnings.filters) == 1


def test_dictionaries_with_defaults_from_outside():
    table: Any = defaultdict(lambda: 5.0, a=2.0)

    def f(x):
        held = [table["missing"], table["a"]]
        return x * held[0] * held[1]

    same(ad.gradient(f, 3.0), (10.0,))
    assert dict(table) == {"a": 2.0, "missing": 5.0}


CHANGES = [
    ("def f(x):\n    items = [x]\n    return items[0] * 2 if hasattr(K, 'flag') else x", "K.flag = 1"),
    ("def f(x):\n    items = [x]\n    return items[0] * getattr(K, 'flag', 3.0)", "K.flag = 7.0"),
    ("def f(x):\n    items = [x]\n    return items[0] * getattr(K(), 'b', 3.0)", "del K.a; K.b = 9.0"),
    ("def f(x):\n    try: b = BONUS\n    except NameError: b = 1.0\n    return x * b", "BONUS = 5.0"),
    ("def f(x):\n    try: b = L[2]\n    except IndexError: b = 1.0\n    return [x * b][0]", "L.append(7.0)"),
    ("def g(c, x): return c['k'] * x\np = partial(g, cfg)\ndef f(x):\n    return p([x][0])", "cfg['k'] = 9.0"),
    ("def g(x, k): return k * x\nq = partial(g, k=3.0)\ndef f(x):\n    return q([x][0])", "q.keywords['k'] = 9.0"),
]


@pytest.mark.parametrize(("source", "change"), CHANGES)
def test_what_was_missing_at_first(source, change):
    namespace = scope(source, K=type("K", (), {"a": 1.0}), L=[1.0, 2.0], cfg={"k": 2.0}, partial=functools.partial)
    f = namespace["f"]
    for _ in range(2):
        same(ad.gradient(f, 3.0), oracle(f, 3.0)[1])
    exec(change, namespace)
    same(ad.gradient(f, 3.0), oracle(f, 3.0)[1])


def test_a_pullback_is_of_the_world_it_was_made_in():
    namespace = scope("def f(x):\n    items = [x]\n    items.append(S)\n    return x * S * items[1]", S=2.0)
    _, back = ad.pullback(namespace["f"], 3.0)
    namespace["S"] = 7.0
    for one in (1.0, 1, True, np.float32(1.0), np.float64(1.0)):
        if one is not True:
            same(back(one), (4.0,))
    with pytest.raises(ad.Unsupported, match="run again"):
        back(True)


def test_functions_of_numbers_that_return_lists():
    def inner(x, y):
        return (x * y, [x, y * y])

    def outer(x, y):
        def steps():
            try:
                yield 1
            finally:
                pass

        list(steps())
        a, (b, c) = inner(x, y)
        return a + b + 2 * c

    same(ad.gradient(outer, 3.0, 5.0), (6.0, 23.0))


@pytest.mark.parametrize("given", [{"a": 2.0, "b": 3.0, "c": 4.0}, {1, 2, 3}, OrderedDict(a=2.0, b=3.0)])
@pytest.mark.parametrize("is_argument", [True, False])
def test_dicts_and_sets_from_outside_that_shrink_while_they_are_iterated(given, is_argument):
    outside = copy.copy(given)

    def f(x, held):
        held = held or outside
        s = x
        for _ in held:
            s = s * x
            if x > 1.0:
                held.clear()
        return s

    for x in (0.5, 0.5, 2.0, 2.0):
        outside = copy.copy(given)
        held = copy.copy(given) if is_argument else None
        if x < 1.0:
            assert ad.gradient(f, x, held)[0] == pytest.approx((len(given) + 1) * x ** len(given))
        else:
            with pytest.raises(RuntimeError):
                ad.gradient(f, x, held)


def settings_of(name, **settings):
    kept = settings.copy()
    for key in settings.keys():
        if "settings" in key:
            held = kept.pop(key, {})
            if key == f"{name}_settings":
                own = held
    try:
        kept.update(own)
    except (KeyError, NameError):
        pass
    return kept["temperature"] * kept["pressure"]


def of_the_first(a, b):
    return settings_of("first", temperature=a, pressure=b, first_settings={"pressure": a + b})


def of_another(a, b):
    return settings_of("second", temperature=a, pressure=b, first_settings={"pressure": a + b})


@pytest.mark.parametrize("f", [of_the_first, of_another])
def test_variables_without_a_value_are_raised_for_on_one_way(f):
    check(f, 1.3, 0.7)
