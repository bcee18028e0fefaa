"""Numbers and arrays that are whole on one way, floats on another: what is made of them is what the plain run makes."""

from __future__ import annotations

import numpy as np
import pytest
from specialised_cases import oracle, same

import autodiff_hook as ad


def an_array_made_of_one(a):
    x = np.array([1, 2])
    if a > 0:
        x = x * a
    y = x * 2
    y[0] = a * 3
    return float(y.sum() * a)


def an_array_changed_in_place(a):
    x = np.array([1, 2]) if a < 0 else np.array([1.0, a])
    y = x + x
    y[0] += a
    z = np.zeros_like(x)
    z[1] = a * a
    return float(y.sum() * a + z.sum())


def in_a_loop(a):
    x = np.zeros(2, int)
    for k in range(3):
        if k == 2:
            x = x + a
        x = x * 2
    z = np.empty_like(x)
    z[:] = a
    return float((x * z).sum())


def of_truth_values(a):
    x = np.array([True, False])
    if a > 0:
        x = x * a
    return float((x + x).sum() * a)


def its_dtype(a):
    s = np.array([0, 0])
    for k in range(3):
        s = s + np.array([1, 2]) * (a if k == 1 else 1)
    t = np.zeros(2, s.dtype)
    t[0] = a
    return float(t.sum() * s.sum())


def filled_with_a_number(a):
    n = 3 if a < 0 else a * 2
    x = np.full(2, n)
    x[0] = a
    return float(x.sum() * n)


def made_of_numbers(a):
    n = 3 if a < 0 else a * 2
    x = np.array([n, 2])
    x[1] = a
    return float(x.sum() * n)


def made_of_a_list(a):
    items = [1, 2] if a < 0 else [a, 2.0]
    x = np.array(items)
    x[1] = a * a
    return float(x.sum() * x[0])


def filled_with_its_sum(a):
    x = np.asarray(3) if a < 0 else np.asarray(a)
    y = np.full(2, np.sum(x))
    y[0] = a * 0.7
    return float(y.sum() * a)


def made_of_its_items(a):
    x = np.array([3, 4]) if a < 0 else np.array([a, 1.0])
    y = np.array([x.max(), x.min()])
    y[0] = a * 0.7
    z = np.array([x[0], 1])
    z[1] = a * 1.2
    return float(y.sum() * a + z.sum())


def undefined_on_one_way(a):
    x = np.array([1, 2]) if a < 0 else np.array([a, np.nan])
    w = np.nan_to_num(x) * 2
    w[0] = a * a
    return float(w.sum())


OF_KINDS = [
    *(filled_with_its_sum, made_of_its_items, undefined_on_one_way),
    *(an_array_made_of_one, an_array_changed_in_place, in_a_loop, of_truth_values, its_dtype),
    *(filled_with_a_number, made_of_numbers, made_of_a_list),
]


@pytest.mark.parametrize("points", [(0.5, -0.5, 0.7), (-0.5, 0.5, -1.7)], ids=["floats first", "whole first"])
@pytest.mark.parametrize("f", OF_KINDS)
def test_what_is_made_is_of_the_kind_of_the_plain_run(f, points):
    copy = type(f)(f.__code__.replace(co_name=f"{f.__name__}_{points[0] > 0}"), f.__globals__)
    for a in points * 2:
        value, expected = oracle(copy, a)
        assert value == f(a)
        for _ in range(2):
            assert ad.withgradient(copy, a)[0] == f(a)
            same(ad.gradient(copy, a), expected)
        assert ad.pullback(copy, a)[1](1.0)[0] == pytest.approx(expected[0])
        assert ad.jvp(copy, (a,), (1.0,)) == pytest.approx((f(a), expected[0]))


def stored_into(a, items):
    x = np.array(items)
    x[1] = a * a
    return float(x.sum() * x[0] * a)


def test_lists_of_whole_numbers_and_of_floats():
    for items in ([1, 2], [1.0, 2.0], [1, 2.0], [3, 4], [1.5, 2]):
        value, expected = oracle(stored_into, 0.7, items)
        assert value == stored_into(0.7, items)
        for _ in range(2):
            found = ad.withgradient(stored_into, 0.7, items)
            assert found[0] == value
            same(found[1], expected)
