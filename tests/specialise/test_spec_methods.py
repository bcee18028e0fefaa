"""Methods that change lists and dicts of what is differentiated, or look something up in them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from specialised_cases import check, check_all_ways

import autodiff_hook as ad
from autodiff_hook.runtime.specialising import ONE_WAY

VALUES = [0.4, -0.7, 1.3, 0.2]


def put_in_and_taken_out(x, y):
    items = [x, y]
    items.insert(0, x * y)
    items.insert(-1, 2 * x)
    items.insert(99, y * y)
    items.insert(-99, x)
    first = items.pop(0)
    s = first * items.pop(-2) + items.pop(1) * 3
    for i in range(3):
        items.insert(i, s * x)
        s = s * 0.5 + items.pop() * y
    return s + sum((i + 1) * v for i, v in enumerate(items))


def turned_and_sorted(x, y):
    items = [x, -y, x * y, 2 * x, y]
    items.reverse()
    s = items[0] * items[1]
    items.sort()
    s += items[0] * 2 + items[-1] * 3
    items.sort(key=abs, reverse=True)
    s += items[0] * items[1] - items[2]
    rows = [(y, x), (x, y), (x * y, 1.0)]
    rows.sort(key=lambda row: row[0])
    return s + rows[0][1] * rows[2][0]


def extended(x, y):
    items = [x]
    items.extend([y, x * y])
    items.extend(v * 2 for v in [x, y])
    items.extend(items[:2])
    items += map(lambda v: v * y, [x, 1.0])
    items += (x, y)
    other = items
    other += [y]
    s = sum(i * v for i, v in enumerate(items))
    items.clear()
    items.append(s)
    return items[0] * y


def looked_up(x, y):
    items = [x, y, x, 2 * y]
    s = items.index(y) * x + items.count(x) * y
    items.remove(x)
    return s + items[0] * items[1] * items.index(x)


def entered(x, y):
    d = {"a": x}
    d.update(b=y, c=x * y)
    d.update({"a": 2 * x, "d": y})
    s = d.setdefault("a", 5.0) * d.setdefault("e", y) + d.get("b", 1.0) + d.get("z", x)
    for k in ("a", "q"):
        s = s * y + d.get(k, x)
    other = {}
    other.update(d)
    other["a"] = y
    return s + d["a"] * other["a"] + sum(d.values()) + len(other)


def counted(x, y):
    totals = {}
    for i in range(6):
        key = i % 3
        totals[key] = totals.get(key, 0.0) + x * i
    for i in range(4):
        totals.setdefault(i, y)
    return totals[0] * totals[1] + totals[2] * totals[3]


def named_before(x, y):
    items, total = [], 0.0
    push, seen = items.append, {}
    note = seen.setdefault
    for k in range(6):
        push(x * k + y)
        note(k % 3, []).append(x * k)
    take = items.pop
    while items:
        total += take() * math.sin(total + x)
    return total + sum(sum(v) * k for k, v in seen.items())


def given_as_keys(x, y):
    table = {name: math.sin(x * k) + y for k, name in enumerate("abc")}
    total = table[max(table, key=table.get)] + sum(table[k] * i for i, k in enumerate(sorted(table, key=table.get)))
    first, second = map(float, "1.5 2.5".split())
    names = list(map(str.strip, "u , v".split(",")))
    join = ",".join
    return total + first * x + second * y * len(join(names)) + sum(map(table.get, ["a", "b"]))


def copied_dicts(x, y):
    first = {"a": x, "b": y}
    second = dict(first)
    second["a"] *= y
    third = second.copy()
    third["b"] += x
    pairs = dict(zip("pq", (x * y, y)))
    squares = dict((k, v * v) for k, v in pairs.items())
    return first["a"] + second["a"] * third["b"] + squares["p"] * pairs["q"] + dict([("z", x)])["z"]


@pytest.mark.parametrize("f", [named_before, given_as_keys, copied_dicts])
def test_methods_and_constructors_of_what_is_made(f):
    check_all_ways(f, 0.7, 1.3)
    check_all_ways(f, 1.1, 0.4)


CUBIC = np.poly1d([1.0, -2.0, 0.5, 3.0])


def of_polynomial(x, y):
    return CUBIC(x) * y + CUBIC.deriv()(y) * x


def of_distribution(x, y):
    return stats.norm._cdf(x) * stats.norm._pdf(y) - stats.norm._logpdf(x * y)


@pytest.mark.parametrize("f", [of_polynomial, of_distribution])
def test_methods_in_python_of_objects_of_libraries(f):
    for x in (0.7, 1.1, -0.4):
        check(f, x, 1.3)


def test_methods_of_objects_of_libraries_that_change(monkeypatch):
    def f(x):
        return stats.norm._cdf(x) + CUBIC(x)

    before = ad.gradient(f, 0.5)[0]
    assert ad.gradient(f, 0.5)[0] == before == pytest.approx(stats.norm.pdf(0.5) + CUBIC.deriv()(0.5))
    monkeypatch.setattr(stats.norm, "_cdf", lambda x: x * x, raising=False)
    assert ad.gradient(f, 0.5)[0] == pytest.approx(1.0 + CUBIC.deriv()(0.5))
    monkeypatch.undo()
    assert ad.gradient(f, 0.5)[0] == pytest.approx(before)
    kept = CUBIC.coeffs.copy()
    CUBIC.coeffs[:] = [0.0, 0.0, 2.0, 0.0]
    try:
        assert ad.gradient(f, 0.5)[0] == pytest.approx(stats.norm.pdf(0.5) + 2.0)
    finally:
        CUBIC.coeffs[:] = kept


def test_methods_of_given_dicts_as_functions():
    def f(p, x):
        get = p.get
        return get("a") * x + sum(map(get, ["a", "b"])) + get("missing", x)

    typed = None if ONE_WAY else True
    check(f, {"a": 0.7, "b": 1.3}, 0.4, specialised=typed)
    check(f, {"a": 0.1, "b": 1.9}, 0.8, specialised=typed)


@pytest.mark.parametrize("f", [put_in_and_taken_out, turned_and_sorted, extended, looked_up, entered, counted])
def test_methods_of_own_lists_and_dicts(f):
    check_all_ways(f, 0.7, 0.9)
    check_all_ways(f, 1.9, 0.3)


def copies_of_given_lists(xs):
    items = list(xs)
    items.sort()
    items.insert(1, xs[0] * 2)
    items.reverse()
    return sum((i + 1) * v for i, v in enumerate(items)) * xs[-1]


def long_list(xs):
    items = [v * k for k in range(40) for v in xs]
    items.insert(3, xs[0])
    return items.pop(2) * items[4] + items[3]


def test_copies_of_given_lists():
    for count in (4, 3, 3, 1, 4):
        check(copies_of_given_lists, VALUES[:count], specialised=None)
    check(long_list, VALUES, specialised=None)
    check(long_list, VALUES[:1], specialised=None)


def given_list_is_changed(xs):
    xs.sort()
    xs.reverse()
    return xs[0] * xs[1]


def two_names(xs):
    a = [xs[0], xs[1]]
    b = a
    b.insert(0, xs[2])
    a.reverse()
    return b[0] * a[1] * 2 + b[2]


def test_lists_that_have_several_names():
    given, plain = list(VALUES), list(VALUES)
    grads = ad.gradient(given_list_is_changed, given)
    given_list_is_changed(plain)
    assert given == plain
    assert sorted(grads[0]) == [0.0, 0.0, 0.4, 1.3]
    check(two_names, VALUES)


def missing(xs):
    return xs[0] * [xs[0], xs[1]].index(5.0)


def popped(xs):
    items = [xs[0]]
    items.pop(0)
    return items.pop(0)


@pytest.mark.parametrize("f", [missing, popped])
def test_what_the_plain_call_raises_is_raised(f):
    for _ in range(2):
        with pytest.raises(Exception) as expected:
            f(VALUES)
        with pytest.raises(expected.type) as found:
            ad.gradient(f, VALUES)
        assert str(found.value) == str(expected.value)


def counts(x, y):
    items = []
    for _ in range(3):
        items.append(x)
    return y * items.count(x)


def test_nan_is_counted_where_it_is_the_same_object():
    for x in (math.nan, 1.0):
        assert ad.withgradient(counts, x, 2.0) == (6.0, (0.0, 3.0))
