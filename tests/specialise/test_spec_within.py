"""Derivatives within typed programs: they are of the types at hand, and are differentiated like what is around them."""

from __future__ import annotations

import functools
import math
from collections import deque

import pytest
from specialised_cases import check, close, oracle, slopes

import autodiff_hook as ad
from autodiff_hook.runtime.specialising import GENERIC

typed_only = pytest.mark.skipif(GENERIC, reason="nothing is typed")


def energy(q, k):
    return 0.5 * k * q * q + math.sin(q) * k


class Oscillator:
    def __init__(self, k):
        self.k = k

    def energy(self, q):
        return self.k * q**4

    def force(self, q):
        return -ad.grad(self.energy)(q)


force = ad.grad(energy)
of_k = ad.value_and_grad(energy, 1)


def by_operators_from_outside(k):
    value, slope = of_k(0.3, k)
    return value * slope * force(0.3, k) - force(k, 2.0)


def of_a_captured_number(w):
    return ad.grad(lambda x: w * x * x)(2.0)


def within_a_loop(k):
    q, p = 1.0, 0.0
    for _ in range(20):
        p = p - 0.01 * ad.gradient(energy, q, k)[0]
        q = q + 0.01 * p
    return q * q


def descent(w):
    def loss(x):
        s = 0.0
        for i in range(5):
            s = s + (x - w * i) ** 2 if i % 2 else s + x * math.cos(x)
        return s

    x = 0.5
    for _ in range(20):
        x = x - 0.05 * ad.grad(loss)(x)
    return x


def newton(a):
    x = 1.0
    for _ in range(6):

        def f(x):
            return x**3 - a

        x = x - f(x) / ad.grad(f)(x)
    return x


def what_is_captured_changes(w):
    y = 0.0
    for _ in range(3):
        y = y + ad.grad(lambda x: x * x * w + y * x)(w)  # noqa: B023
    return y


def defaults_change(w):
    y = 0.5
    for _ in range(3):
        y = y + ad.grad(lambda x, y=y, n=2: x**n * w + y * x)(w)
    return y


def of_a_method(k):
    oscillator, q = Oscillator(k), 1.0
    for _ in range(3):
        q = q + 0.1 * oscillator.force(q)
    return q


def with_values(w):
    value, slope = ad.value_and_grad(lambda x: math.exp(w * x) * x)(0.3)
    total, grads = ad.withgradient(energy, value, slope)
    return total * grads[0] * grads[1]


def second(w):
    return ad.grad(ad.grad(lambda x: math.sin(w * x)))(0.4)


def third(x):
    return ad.grad(ad.grad(lambda y: y**4 * x))(x)


def by_several_arguments(w, x):
    a, b = ad.grad(lambda a, b: a * a * b, (0, -1))(w, x)
    return a * b * ad.grad(lambda a, b: a / b, 1)(w, x)


def on_branches(w):
    def f(x):
        return x * w if x > 1.0 else x * x * w

    return ad.grad(f)(w) + ad.grad(f)(0.1)


def not_on_all_ways(w):
    return ad.grad(lambda x: x * math.sqrt(w))(2.0) if w > 0.0 else w


def of_whole_numbers(w):
    n = 1
    for _ in range(3):
        n = n + ad.grad(lambda x: x * x * w)(n)
    return n


@typed_only
@pytest.mark.parametrize(
    "f",
    [
        by_operators_from_outside,
        of_a_captured_number,
        within_a_loop,
        descent,
        newton,
        what_is_captured_changes,
        defaults_change,
        of_a_method,
        with_values,
        second,
        third,
        on_branches,
        not_on_all_ways,
    ],
)
@pytest.mark.parametrize("x", [1.3, 0.7])
def test_derivatives_of_numbers(f, x):
    check(f, x)


def scaled(x, k=1.0, *, shift=0.0):
    return k * (x + shift) ** 3


by_second = ad.grad(scaled, argnums=1)
with_note = ad.value_and_grad(lambda x, k: (k * x**3, (x * k, "note")), has_aux=True)


def by_names_of_arguments(w):
    a = ad.grad(scaled, argnums=0)(w, k=w) * ad.grad(scaled)(w, w, shift=0.5 * w)
    b = ad.gradient(scaled, w, shift=w)[0] + ad.withgradient(scaled, w, k=w)[0] + by_second(w, w, shift=w)
    c = ad.jvp(f=scaled, primals=(w, w), tangents=(1.0, None))[1] + ad.hvp(scaled, (w,), tangents=(w,))[0]
    return a + b * c + ad.grad(f=lambda x: x * w)(w)


def of_partials(w):
    cubic = functools.partial(scaled, k=w)
    total = ad.grad(cubic)(w) * ad.grad(functools.partial(cubic, shift=w * w))(0.5)
    return total + ad.grad(functools.partial(scaled, w))(w) + ad.hessian(cubic)(w)


def with_what_else_there_is(w):
    def f(x, k):
        return k * x**3, (x * w, [k])

    a, (b, (c,)) = ad.grad(f, has_aux=True)(w, 2.0 * w)
    (d, (e, _)), (g, h) = ad.value_and_grad(f, (0, 1), has_aux=True)(0.5, w)
    (i, _), (j, _) = ad.gradient(f, w, w, has_aux=True)
    (k, (m, note)), n = with_note(w, 0.3)
    return a * b + c * d + e * g + h + i * j + k * m * n + len(note)


@typed_only
@pytest.mark.parametrize("f", [by_names_of_arguments, of_partials, with_what_else_there_is])
def test_options_of_operators(f):
    for x in (0.7, 1.3):
        check(f, x)
        assert ad.gradient(f, x) == pytest.approx(slopes(f, x), rel=1e-6)


@typed_only
def test_derivatives_by_several_arguments():
    check(by_several_arguments, 1.5, 0.6)


def test_derivatives_by_what_begins_as_a_whole_number():
    check(of_whole_numbers, 1.5, specialised=None)


@typed_only
def test_an_object_that_is_given():
    def end(oscillator):
        q = 1.0
        for _ in range(3):
            q = q + 0.1 * oscillator.force(q)
        return q

    for _ in range(2):
        (found,) = ad.gradient(end, Oscillator(2.0))
        assert found.k == pytest.approx(ad.gradient(of_a_method, 2.0)[0])


def of_lists(ws):
    return ad.grad(lambda x: sum([w * x**i for i, w in enumerate(ws)]))(0.5)


def test_what_is_captured_is_a_list():
    check(of_lists, [1.0, 2.0, 3.0], specialised=None)


def hidden_zero(w):
    def f(x):
        return math.sqrt(x) * w if x > 0.0 else 0.0

    return ad.grad(f)(w) + ad.grad(lambda x: 0.0 * math.sqrt(x - w) if w > 1.0 else x)(w) * w


@pytest.mark.parametrize("x", [0.25, 4.0])
def test_zeros_that_a_product_with_what_is_infinite_would_lose(x):
    expected = oracle(hidden_zero, x)[1]
    for _ in range(5):
        close(ad.gradient(hidden_zero, x), expected)


def test_what_is_differentiated_within_says_what_is_wrong():
    for _ in range(2):
        with pytest.raises(ad.Unsupported, match="real scalar"):
            ad.gradient(lambda w: ad.grad(lambda x: (x, w))(2.0), 1.0)
        with pytest.raises(ad.Unsupported, match="out of range"):
            ad.gradient(lambda w: ad.grad(lambda x: x * w, 1)(2.0), 1.0)
        with pytest.raises(ZeroDivisionError):
            ad.gradient(lambda w: ad.grad(lambda x: w / x)(0.0), 1.0)


def doubled(x):
    return x + x


@ad.rrule(doubled)
def doubled_rule(x):
    return doubled(x), lambda ȳ: (3.0 * ȳ,)


def test_functions_with_a_rule_have_its_derivative():
    for _ in range(2):
        assert ad.gradient(lambda w: ad.grad(doubled)(w) * w, 2.0) == (ad.grad(doubled)(2.0),)


def test_four_levels():
    check(lambda x: ad.grad(ad.grad(ad.grad(lambda y: y**5 * x)))(x), 1.5, specialised=None)


SCALE = 1.5
FACTORS = {"k": 1.2}
RECENT = deque([1.0, 2.0])
OSCILLATOR = Oscillator(1.0)


class Settings:
    k = 1.0


def of_a_global(x):
    global SCALE
    SCALE = x
    slope = ad.grad(lambda y: y * y * SCALE)(x)
    SCALE = slope
    return slope * ad.gradient(lambda y: y * y * SCALE, x)[0]


def of_an_attribute(x):
    OSCILLATOR.k = x * x
    return OSCILLATOR.force(x)


def of_an_item(x):
    FACTORS["k"] = x
    return ad.jvp(lambda y: FACTORS["k"] * math.sin(y), (x * 2.0,), (x,))[1]


def of_a_class_attribute(x):
    Settings.k = x
    return ad.hvp(lambda y: Settings.k * y**3, (x,), (1.0,))[0]


def of_a_queue(x):
    RECENT.append(x)
    return ad.grad(lambda y: RECENT[-1] * y * y * RECENT[0])(x)


def of_what_its_helper_assigned(x):
    total = 0.0
    for i in range(3):
        OSCILLATOR.k = OSCILLATOR.k * 0.5 + x * i
        total += OSCILLATOR.force(x)
    return total


def reset():
    global SCALE
    SCALE, FACTORS["k"], OSCILLATOR.k, Settings.k = 1.5, 1.2, 1.0, 1.0
    RECENT.clear()
    RECENT.extend([1.0, 2.0])


@pytest.mark.parametrize(
    "f",
    [of_a_global, of_an_attribute, of_an_item, of_a_class_attribute, of_a_queue, of_what_its_helper_assigned],
)
def test_what_the_program_around_has_changed_outside(f):
    def anew(x):
        reset()
        return f(x)

    for x in (0.7, 1.3):
        value, slope = anew(x), slopes(anew, x)
        for _ in range(3):
            reset()
            found = ad.withgradient(f, x)
            assert (found[0], *found[1]) == pytest.approx((value, *slope), rel=1e-5)
            reset()
            assert ad.jvp(f, (x,), (1.0,))[1] == pytest.approx(slope[0], rel=1e-5)
