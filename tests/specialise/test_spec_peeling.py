"""Loops in which a variable is a number at first and an array later: the first iteration stands before them."""

from __future__ import annotations

import numpy as np
import pytest
from specialised_cases import GENERIC, check, has_all_ways

import autodiff_hook as ad
from autodiff_hook.runtime.specialising import ONE_WAY

A = np.array([1.0, 2.0, 3.0])


def total(xs, a):
    s = 0
    for x in xs:
        s += x * a
    return np.sum(s * s)


def nested(xs, a):
    s = 0
    for x in xs:
        t = 0
        for k in range(3):
            t = t + x**k * a
        s += t * t
    return np.sum(s)


def with_others(xs, a):
    product, kept, last = 1, [], None
    for i, x in enumerate(xs):
        if x < 0.0:
            raise ValueError(x)
        product = product * np.cos(x * a) if x > 0.25 else product + a
        kept.append(product)
        last = i
    return np.sum(kept[0] * product) + last * np.sum(kept[-1])


def swapped(xs, a):
    s = t = 0
    for x, y in zip(xs, xs[1:]):
        s, t = t + x * a, s + y * a
    return np.sum(s * t)


def stored_into(xs, a):
    s = 0
    for x in xs:
        b = a.copy()
        b[0] = x
        s = s + b
        s[1] = x * x
    return np.sum(s * s)


def horner(coefficients, x):
    r = 0
    for c in coefficients[::-1]:
        r = r * x + c
    return r


def in_calls(xs, a):
    return np.sum(horner(xs, a) * horner([1.0, 2.0], a))


PROGRAMS = [total, nested, with_others, swapped, stored_into, in_calls]


@pytest.mark.parametrize("f", PROGRAMS)
def test_numbers_that_become_arrays(f):
    for xs in ([0.3, 0.7, 1.2], [0.2, 0.5], [1.1, 0.1, 0.4, 0.2]):
        check(f, xs, A)
    assert GENERIC or ONE_WAY or has_all_ways(f, "gradient", "value")


@pytest.mark.parametrize("f", [total, nested, in_calls])
def test_no_iteration(f):
    ad.gradient(f, [0.3, 0.7], A)
    for _ in range(2):
        value, (_, grad) = ad.withgradient(f, [], A)
        assert value == f([], A)
        assert grad.tolist() == [0.0] * 3


def left_early(xs, a):
    s = 0
    for x in xs:
        if x > 1.0:
            return np.sum(s * a)
        s += x * np.exp(a)
    return np.sum(s)


def test_ways_out_of_the_first_iteration():
    for xs in ([0.3, 0.7], [1.2, 0.4], [0.3, 1.2], [0.5]):
        check(left_early, xs, A, specialised=None)
