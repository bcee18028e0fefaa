"""Dicts and sets: read, built, changed by every method; mappings of other types."""

from __future__ import annotations

import collections
import functools
import operator

import numpy as np
import pytest
from helpers import gradient_at, searched_in
from in_all_modes import MODES, differences

from autodiff_hook.api import generic_gradient

D = {"a": 1.5, "b": -0.5, "c": 2.0}


@gradient_at(D)
def test_reading(d):
    return d["a"] * d["b"] + d.get("c") * 2 + d.get("z", d["a"]) + d.get("q", 3.0) + len(d) + ("a" in d) * d["a"]


@gradient_at(D, 0.7)
def test_stores(d, y):
    d["a"] = y
    d["b"] = d["a"] * d["b"]
    d["new"] = d["c"] * y
    d["c"] += d["new"]
    d["c"] *= y
    return d["a"] * 2 + d["b"] * 3 + d["c"] * 5 + d["new"] * 7


@gradient_at(D, 0.7)
def test_removal(d, y):
    a = d.pop("a") * 2 + d.pop("zz", y)
    d["a"] = y * y
    k, v = d.popitem()
    b = v * 3
    del d["b"]
    d["b"] = y
    c = d["b"] + d["c"]
    d.clear()
    d["c"] = y
    return a * b + c * d["c"] + (k == "a")


@gradient_at(D, 0.7)
def test_update_and_setdefault(d, y):
    d.update({"a": y, "e": y * y})
    d.update(f=y * 3, b=d["e"])
    d.update([("g", y), ("c", 1.0)])
    d.update((k, v * 2) for k, v in [("h", y)])
    a = d.setdefault("i", y * 5) * d.setdefault("a", 100.0)
    d |= {"j": y}
    e = d | {"a": 2.0 * y}
    return a + sum(d.values()) * d["i"] + e["a"] * e["j"]


@gradient_at(D, 0.7)
def test_unions_of_several_types(d, y):
    counts, late, other = collections.Counter({"a": y}), collections.defaultdict(float, a=y * 3), {"a": y * 2, "e": y}
    unions = [
        counts | other,
        other | counts,
        late | other,
        other | late,
        other | collections.OrderedDict(d),
        counts | d,
    ]
    kinds = [dict, dict, collections.defaultdict, collections.defaultdict, collections.OrderedDict, dict]
    assert list(map(type, unions)) == kinds
    return sum((i + 1) * union["a"] + i * i * union.get("e", 0.0) for i, union in enumerate(unions)) + unions[5]["c"]


@gradient_at(D)
def test_views(d):
    r = 0.0
    for i, (k, v) in enumerate(d.items()):
        r += v * i * len(k)
    a, b, c = d.values()
    keys = list(d)
    return r + a * b * c + sum(d.values()) + max(d.values()) * list(d.values())[0] + dict(d.items())[keys[1]]


@gradient_at(D, 0.7)
def test_building(d, y):
    a = dict(d)
    b = dict(a, q=y)
    c = {**d, "a": y, **b}
    e = dict(zip("xyz", d.values()))
    f = dict([("k", y), ("m", d["a"])])
    g = d.copy()
    h = dict.fromkeys("uv", y)
    a["a"] = y * 2
    d["b"] = y
    return a["a"] * b["q"] + c["a"] * c["c"] + e["z"] + f["m"] * f["k"] + g["b"] * h["v"]


@gradient_at({"p": {"w": [1.0, 2.0], "b": 0.5}, "q": (1.0, {"r": 2.0})})
def test_nested(params):
    w, b = params["p"]["w"], params["p"]["b"]
    params["p"]["w"][0] = b * w[1]
    s, t = params["q"]
    return w[0] * s + t["r"] * w[1] + params["q"][1]["r"]


@gradient_at(0.7)
def test_keys_of_all_kinds(x):
    d = {1: x, (2, "a"): x * x, None: 3.0, 1.5: x}
    d[True] = x * 5
    return d[1] + d[(2, "a")] * d[None] + d[1.5]


@gradient_at(0.7)
def test_memoisation(x):
    memo = {}

    def fib(n):
        if n not in memo:
            memo[n] = x if n < 2 else fib(n - 1) * x + fib(n - 2)
        return memo[n]

    return fib(8)


@gradient_at(0.7)
def test_counting(x):
    totals = {}
    for i, k in enumerate("abcab"):
        totals[k] = totals.get(k, 0.0) + x * i
    groups = {}
    for i, k in enumerate("abca"):
        groups.setdefault(k, []).append(x**i)
    return totals["a"] * totals["b"] + sum(groups["a"]) * groups["c"][0]


@gradient_at(0.7)
def test_defaultdict_with_contents(x):
    known = {"a": x, "b": [x]}
    made = collections.defaultdict(lambda: x * x, known, c=x + 1.0)
    pairs = collections.defaultdict(None, [("a", 2.0 * x), ("b", 3.0)])
    only = collections.defaultdict(a=x * x)
    made["d"] += 1.0
    return made["a"] * made["c"] + made["b"][0] * made["d"] + pairs["a"] * pairs["b"] + only["a"] * len(made)


@gradient_at(0.7)
def test_defaultdict(x):
    sums = collections.defaultdict(float)
    lists = collections.defaultdict(list)
    for i, k in enumerate("abab"):
        sums[k] += x * i
        lists[k].append(x**i)
    return sums["a"] * sums["b"] + lists["b"][1] * len(lists) + sums["new"]


@gradient_at(0.7)
def test_ordered_dict_and_subclasses(x):
    class Params(dict):
        def __getattr__(self, name):
            return self[name]

        def __missing__(self, key):
            return x * len(key)

    p = Params(a=x, b=2.0)
    p["b"] = p.a * p["a"]
    o = collections.OrderedDict([("a", x), ("b", x * x)])
    o.move_to_end("a")
    return p.b * p["a"] + p["abc"] + sum(o.values()) + list(o.values())[0] * 3


@gradient_at(1.3)
def test_what_is_made_of_an_ordered_dict_keeps_its_order(x):
    o = collections.OrderedDict([("a", x), ("b", x * x), ("c", 2.0 * x)])
    o.move_to_end("a")

    def keywords(**given):
        return given

    updated = {}
    updated.update(o)
    made = [dict(o), {**o}, {} | o, o | {}, updated, keywords(**o), collections.OrderedDict(o), o.copy()]
    made += [collections.defaultdict(float, o), collections.ChainMap(o), dict(o.items())]
    assert all(list(d) == ["b", "c", "a"] for d in made)
    return sum(k * v for d in made for k, v in enumerate(d.values()))


@gradient_at(0.7)
def test_sets(x):
    s = {x, 2.0, x * x}
    s.add(x * 5)
    s.discard(2.0)
    t = sorted(s)
    total = t[0] * t[1]
    for v in s:
        total += v * v
    return total + sum(s) + max(s) * len(s) + max(s | {x * 7}) + sum(s & {x})


@gradient_at(0.7)
def test_sets_and_what_dicts_show(x):
    d = {x: 1, 5.0: x * x}
    kept = s = {x, 2.0}
    total = sum(s & d.keys()) + x * sum(s - d.keys()) + sum(s | d.keys()) + sum(k * k for k in s ^ d.keys())
    s |= d.keys()
    total += sum(s) * len(kept)
    s &= {x: 2}.keys()
    s -= {}.keys()
    s ^= {4.0: 0}.keys()
    pairs = {(5.0, x**2), (3.0, x)}
    for found in (pairs | d.items(), pairs & d.items(), pairs - d.items(), pairs ^ d.items()):
        total += sum(k * v for k, v in found)
    return total + sum(s)


@gradient_at(0.7)
def test_sets_that_are_to_take_what_is_no_set(x):
    s, failed = {1, 2, 3}, 0
    for change in (operator.ior, operator.iand, operator.isub, operator.ixor):
        try:
            change(s, [1, 4])
        except TypeError:
            failed += 1
    try:
        s |= [4]
    except TypeError:
        failed += 1
    return x**failed * len(s)


@gradient_at({"a": 1.0, "b": 2.0}, 0.5)
def test_aliasing(d, y):
    e = d
    e["a"] = y
    box = {"d": d, "e": [e]}
    box["d"]["b"] = d["a"] * 3
    box["e"][0]["c"] = y * y
    return d["a"] * d["b"] + e["c"]


@gradient_at({"a": 1.0, "b": 2.0})
def test_matching(d):
    total = 0.0
    for item in [d, [d["a"], d["b"]], (1, d["a"]), d["b"]]:
        match item:
            case {"a": a, **rest}:
                total += a * rest["b"]
            case [float() as u, v]:
                total += u * v * v
            case (1, v):
                total += 3 * v
            case float(v):
                total += v * v
    return total


@gradient_at(1.3)
def test_default_dict_beside_something_that_is_marked(x):
    known = [x]
    groups = collections.defaultdict(list, {2: known})
    groups[0].append(x * x)
    groups[2].append(x**3)
    return groups[0][0] * sum(groups[2]) + len(groups[1])


class Unit:
    def __init__(self, scale):
        self.scale = [scale]


UNITS = collections.ChainMap({}, {f"u{i}": Unit(float(i)) for i in range(1000)})


def test_what_is_looked_up_in_large_chained_maps_is_not_searched_for():
    def f(x):
        held = [x * 2]
        for name in ("u2", "u3", "none"):
            held.append(UNITS[name].scale[0] * held[0] if name in UNITS else UNITS.get(name, x))
        return sum(held)

    assert generic_gradient(f, 2.0) == (13.0,)
    assert len(searched_in(generic_gradient, f, 2.0)) < 100


class KeysAndDoubles:
    def __init__(self, held):
        self.held = held

    def keys(self):
        return self.held

    def __getitem__(self, key):
        return 2.0 * key


@gradient_at(0.7)
def test_what_tuples_hold_becomes_items_of_dicts(x):
    pairs = (("a", x), ("b", x * x))
    d = dict(pairs, c=3.0 * x)
    d.update((("c", d["c"] * x), ("d", x)))
    d |= (("e", x**3),)
    ordered, default = collections.OrderedDict(pairs), collections.defaultdict(float, pairs)
    named, user = dict(tuple((str(i), i * x) for i in range(3))), collections.UserDict(pairs)
    doubled = dict(KeysAndDoubles((x, x + 1.0)))
    weights = [1.0, 2.0, 3.0, 5.0, 7.0]
    total = sum(w * v for w, v in zip(weights, d.values())) + ordered["b"] * default["a"] + user["b"]
    return total + named["2"] + sum(k * v for k, v in doubled.items())


def equal_keys_of_other_types(x, p, q):
    held = {1: x, True: x * x, 1.0: x**3}  # noqa: F601
    return held[1] + sum(held.values()) * len({p: x, q: 2.0})


def equal_keys_that_are_given(x, p, q):
    held = {p: x, q: 2 * x, (p, 1): x * x, (q, 1): x**3}
    return held[p] * held[q] * x + held[p, 1] * held[q, True]


def equal_keys_of_a_constant(x, p, q):
    held = {p: x * x, q: 5.0}
    return held[p] * x**3


def equal_keys_of_arrays(x, p, q):
    held = {p: np.array([x, 1.0]), q: np.array([x * x, x])}
    return held[p][0] * x + np.sum(held[q]) ** 2


@pytest.mark.parametrize(
    "f", [equal_keys_of_other_types, equal_keys_that_are_given, equal_keys_of_a_constant, equal_keys_of_arrays]
)
def test_the_last_of_equal_keys_counts(f):
    for p, q in ((1, 2), (1, 1), ("a", "b"), ("a", "a"), (1, 1.0), (0.0, False)):
        for mode, differentiated in MODES.items():
            given = functools.partial(f, p=p, q=q)
            assert differentiated(given, 1.3) == pytest.approx(differences(given, 1.3, 2 if mode == "hvp" else 1)), (
                p,
                q,
            )
