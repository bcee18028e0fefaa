"""Iterators that are used up step by step, and generator expressions whose items are made late."""

from __future__ import annotations

import numpy as np
import pytest
from specialised_cases import GENERIC, check, check_raises, has_all_ways

from autodiff_hook.runtime.specialising import ONE_WAY

VALUES = [0.1, 0.2, 0.3, 0.4]


def in_pairs(xs):
    turned = reversed(xs)
    s = 0.0
    for a, b in zip(turned, turned):
        s += a * a * 2 + b * b * 3
    return s


def in_pairs_of_what_has_begun(xs):
    it = iter(xs)
    s = 0.0
    for a, b in zip(it, it):
        s += a * a * 2 + b * b * 3
    return s


def zipped_after_a_step(xs):
    it = iter(xs)
    s = 0.0
    for a in it:
        s += a * a
        break
    for a, b in zip(xs, it):
        s += a * b * 3
    return s


def continued_behind_the_shorter_one(xs):
    it = iter(xs)
    s = 0.0
    for a, b in zip(xs[:2], it):
        s += a * b * 3
    for b in it:
        s += b * b
    return s


def continued(xs):
    pairs = enumerate(xs)
    s = 0.0
    for i, a in pairs:
        s += a * a
        if i == 1:
            break
    for _, a in pairs:
        s += a * a * 3
    return s


def continued_in_a_loop(xs):
    pairs = zip(xs, xs)
    s = 0.0
    for k in range(3):
        for a, b in pairs:
            s += a * b * (k + 1)
            if a > 0.25:
                break
    return s


def expression_that_is_continued(xs):
    squares = (a * a for a in xs)
    s = 0.0
    for a in squares:
        s += a
        if a > 0.03:
            break
    for a in squares:
        s += a * 2
    return s


def expression_over_a_list_that_changes(xs):
    ys = list(xs)
    squares = (a * a for a in ys)
    ys.append(xs[0])
    ys[0] = xs[1] * 3
    return sum(squares)


def expression_over_a_list_that_grows_meanwhile(xs):
    ys = list(xs)
    s = 0.0
    for b in (a * a for a in ys):
        s += b
        if len(ys) < 7:
            ys.append(b * 3)
    return s


def expression_with_a_variable_that_changes(xs):
    k = xs[0]
    products = (a * k for a in xs)
    k = xs[1] * 2
    return sum(products)


@pytest.mark.parametrize(
    "f",
    [
        *(in_pairs, in_pairs_of_what_has_begun, zipped_after_a_step, continued_behind_the_shorter_one),
        *(continued, continued_in_a_loop, expression_that_is_continued),
        *(expression_over_a_list_that_changes, expression_over_a_list_that_grows_meanwhile),
        expression_with_a_variable_that_changes,
    ],
)
def test_what_is_used_up(f):
    check(f, VALUES, specialised=None)


def used_at_once(xs):
    rows = []
    for v in xs:
        rows.append(sum(a * v for a in xs))
    products = [p * q for p, q in zip((a * a for a in rows), (b * b for b in xs))]
    return sum(products) * max(a for a in rows)


def test_expressions_that_are_used_at_once_are_specialised():
    check(used_at_once, VALUES)


def over_what_it_fills(x, n):
    held = []
    for i in range(n):
        s = 0.0
        for h in held:
            s += h * h
        held.append(x * (i + 1) + 0.1 * s)
    return held[-1]


TABLEAU = [[], [0.5], [0.1, 0.4]]


def over_stages(x, n):
    stages = []
    for row in TABLEAU[:n]:
        y = x
        for a, k in zip(row, stages):
            y = y + a * k
        stages.append(y * np.cos(y))
    return sum(b * k for b, k in zip((0.2, 0.3, 0.5), stages)) + sum(stages)


def over_what_it_fills_backwards(x, n):
    held = []
    for i in range(n):
        s = 0.0
        for k, h in enumerate(reversed(held)):
            s += h / (1 + k)
        held.append(x * i + 0.1 * s)
    return sum([h * x for h in held])


def over_a_dict_that_it_fills(x, n):
    held = {}
    for i in range(n):
        s = sum(held.values())
        for key, value in held.items():
            s += value / (1 + key)
        for key in held:
            s += held[key] * x
        held[i] = x * i + 0.1 * s
    return held[n - 1]


def over_what_stays_empty(x, n):
    held, named = [], {}
    s = x
    for h in held:
        s += h * x
    for h, k in zip((), held):
        s += h * k
    for _, value in named.items():
        s += value * x
    return s * n


@pytest.mark.parametrize(
    "f",
    [
        *(over_what_it_fills, over_stages, over_what_it_fills_backwards, over_a_dict_that_it_fills),
        over_what_stays_empty,
    ],
)
def test_loops_over_what_is_empty_at_first(f):
    specialised = None if ONE_WAY else True
    check(f, 0.7, 3, specialised=specialised)
    check(f, 0.9, 3, specialised=specialised)
    if not (GENERIC or ONE_WAY):
        assert has_all_ways(f, "gradient", "value")
    check(f, 0.8, 1, specialised=None)


def of_what_is_as_long(xs, ys):
    s = sum(i * x * y for i, (x, y) in enumerate(zip(xs, ys, strict=True)))
    for x, y in zip(xs, ys[1:], strict=False):
        s += x * x * y
    return s


@pytest.mark.parametrize("others", [[2.0, 3.0, 5.0, 7.0], np.array([2.0, 3.0, 5.0, 7.0])], ids=["lists", "arrays"])
def test_strict_zips_are_typed_for_all_ways(others):
    check(of_what_is_as_long, VALUES, others)
    assert GENERIC or ONE_WAY or has_all_ways(of_what_is_as_long)
    check(of_what_is_as_long, VALUES[:3], others[:3])
    check_raises(of_what_is_as_long, VALUES, others[:3])
    check_raises(of_what_is_as_long, VALUES[1:], others)
    check(of_what_is_as_long, VALUES, others, specialised=None)
