"""Functions that are made anew for each call, captured or given: one program is for all that have the same code."""

from __future__ import annotations

import functools
import inspect
import math
from functools import partial

import numpy as np
import pytest
from specialised_cases import check, is_specialised, oracle

import autodiff_hook as ad
from autodiff_hook import budget


class Model:
    def __init__(self, rate, then=None):
        self.rate, self.then = rate, then

    def slope(self, y):
        return -y * self.rate


def stepped(f, y, steps=5):
    for _ in range(steps):
        y = y + 0.1 * f(y)
    return y


def slope_of(rate):
    def slope(y):
        return -y * rate if rate > 1.5 else y * y * rate

    return slope


def through_another(f):
    return lambda y: f(y) + 0.5 * f(2.0 * y)


def through(f):
    return lambda p: stepped(lambda y: f(y) * p, 1.0)


def captured(i):
    return through(slope_of(1.0 + i)), 0.4


def captured_twice(i):
    f = through_another(slope_of(1.0 + i))
    return lambda p: stepped(f, p), 0.4


def by_default(i):
    slope = slope_of(1.0 + i)
    return lambda p, f=slope, k=i: stepped(f, p) * k, 0.4


def by_a_method(i):
    f = Model(1.0 + i).slope
    return lambda p: stepped(f, p), 0.4


def by_a_partial(i):
    f = partial(lambda rate, y, power: -rate * y**power, 1.0 + i, power=2)
    return lambda p: stepped(f, p), 0.4


def in_a_tuple(i):
    def composed(*functions):
        return lambda p: functools.reduce(lambda y, f: f(y), functions, p)

    return composed(slope_of(1.0 + i), math.sin, lambda y: y + i), 0.4


def in_an_object(i):
    model = Model(1.0 + i, slope_of(2.0 + i))
    return lambda p: stepped(model.then, p) * model.slope(p), 0.4


def given(i):
    return stepped, slope_of(1.0 + i), 0.4


def given_method(i):
    return stepped, Model(1.0 + i).slope, 0.4


def given_method_and_object(i):
    model = Model(1.0 + i)
    return lambda f, m, p: stepped(f, p) * m.rate, model.slope, model, 0.4


def given_partial(i):
    return stepped, partial(lambda rate, y: -rate * y, 1.0 + i), 0.4


def given_in_an_object(i):
    return lambda m, p: stepped(m.then, p) * m.rate, Model(1.0 + i, slope_of(2.0 + i)), 0.4


def given_array(i):
    scale = np.array([1.0 + i, 0.3])
    return lambda f, p: float(stepped(f, p).sum()), lambda y: -y * scale, np.array([0.4, 2.0])


def given_list(i):
    scale = [1.0 + i, 0.3]
    return lambda f, s, p: stepped(f, p) * s[0], lambda y: -y * scale[0] + scale[1], scale, 0.4


def given_without_content(i):
    return stepped, lambda y: -y * y, 0.4 + 0.1 * i


ALL = [
    captured,
    captured_twice,
    by_default,
    by_a_method,
    by_a_partial,
    in_a_tuple,
    in_an_object,
    given,
    given_method,
    given_method_and_object,
    given_partial,
    given_in_an_object,
    given_array,
    given_list,
    given_without_content,
]


@pytest.mark.parametrize("make", ALL)
def test_one_program_is_for_all(make):
    for i in range(4):
        f, *args = make(i)
        ad.gradient(f, *args)
    spent = budget.spent()
    for i in range(4, 8):
        f, *args = make(i)
        ad.gradient(f, *args)
    assert budget.spent() == spent
    assert is_specialised(f)


@pytest.mark.parametrize("make", ALL)
def test_derivatives_are_those_of_what_is_held_now(make):
    for i in range(4):
        f, *args = make(i)
        check(f, *args, specialised=None)


def test_what_is_captured_may_be_of_another_type():
    for rate in (1.5, 2, np.float64(2.5), np.array([1.0, 3.0]).max(), True, 1.5):
        check(through(slope_of(rate)), 0.4, specialised=None)


def test_what_is_captured_is_counted_in():
    def counting():
        calls = 0

        def f(y):
            nonlocal calls
            calls += 1
            return -y * calls

        return f

    def loss(p):
        return through(counting())(p)

    expected = (loss(0.4 + 1e-6) - loss(0.4 - 1e-6)) / 2e-6
    for _ in range(5):
        assert ad.gradient(through(counting()), 0.4)[0] == pytest.approx(expected)
        assert ad.gradient(lambda p, f: stepped(f, p, 3), 0.4, counting())[0] == pytest.approx(0.9 * 0.8 * 0.7)


def test_what_two_functions_have_captured_counts_in_both():
    def family(rate, rates):
        def f(g, y):
            return g(y) * rate * rates[1]

        def g(y):
            return y * rate * rates[0]

        return f, g

    def others(rate, rates):
        return family(rate, rates)[0], family(rate, rates)[1]

    for make in (family, others, family):
        for _ in range(3):
            f, g = make(3.0, np.array([1.0, 2.0]))
            value, expected = oracle(f, g, 2.0)
            assert ad.gradient(f, g, 2.0)[0].rate == expected[0].rate
            assert ad.gradient(f, g, 2.0)[0].rates == pytest.approx(expected[0].rates)
            f, g = make(3.0, [1.0, 2.0])
            with pytest.raises(ad.NotDifferentiable, match="a captured variable holds a list"):
                ad.gradient(f, g, 2.0)


def test_what_is_told_of_functions():
    def named(i):
        def f(y, k=1.0 + i, *, by: float = 2.0):
            return y * k

        f.__name__ = f"slope{i}" if i % 2 else "f"
        return f

    def told(f, p):
        count = len(inspect.signature(f).parameters) + len(inspect.getfullargspec(f).defaults or ())
        return f(p) * len(f.__name__) * count

    for i in range(6):
        check(told, named(i), 0.4, specialised=None)
        check(told, through_another(slope_of(1.0 + i)), 0.4, specialised=None)


def test_a_function_that_is_given_twice():
    f = slope_of(2.0)
    for _ in range(3):
        check(lambda g, h, p: stepped(g, p) + h(p), f, f, 0.4, specialised=None)


def test_functions_that_hold_one_another_are_followed():
    def recursive(rate):
        def power(n, y):
            return rate if n == 0 else y * power(n - 1, y)

        return power

    def at_three(f):
        return lambda p: f(3, p)

    for i in range(5):
        f = recursive(1.0 + i)
        assert ad.gradient(at_three(f), 2.0) == pytest.approx((12.0 * (1.0 + i),))
        found, _, slope = ad.gradient(lambda g, n, p: g(n, p), f, 3, 2.0)
        assert (found.rate, slope) == pytest.approx((8.0, 12.0 * (1.0 + i)))


def test_an_enclosing_derivative_sees_what_is_captured():
    def slope(w, i):
        f = slope_of(w * i)
        return ad.gradient(lambda p: stepped(lambda y: f(y) * p, 1.0), 2.0)[0]

    def of_argument(w, i):
        return ad.gradient(stepped, slope_of(w * i), 2.0)[1]

    def by_pullback(w, i):
        f = slope_of(w * i)
        return ad.pullback(lambda p: stepped(lambda y: f(y) * p, 1.0), 2.0)[1](1.0)[0]

    def by_direction(w, i):
        f = slope_of(w * i)
        return ad.jvp(lambda p: stepped(lambda y: f(y) * p, 1.0), (2.0,), (1.0,))[1]

    for inner in (slope, of_argument, by_pullback, by_direction):
        for _ in range(4):
            inner(1.5, 2.0)

        def total(w, inner=inner):
            return sum(inner(w, 1.0 + i) for i in range(4))

        for w in (1.6, 1.7, 1.8):
            expected = (total(w + 1e-5) - total(w - 1e-5)) / 2e-5
            assert ad.gradient(total, w)[0] == pytest.approx(expected, rel=1e-6)


def test_a_rule_for_one_of_them_is_its_own():
    def squared(y):
        def squared_pullback(cotangent):
            return (7.0 * cotangent,)

        return y * y, squared_pullback

    for i in range(6):
        f = (lambda: lambda y: y * y)()
        if i == 4:
            ad.rrule(f, ad.Real)(squared)
        expected = 1.7 if i == 4 else 1.08
        assert ad.gradient(stepped, f, 0.4, 1)[1] == pytest.approx(expected)
