"""Arrays without axes, as code for numbers and arrays makes of numbers: typed like numbers, and still arrays."""

import numpy as np
import pytest
from specialised_cases import check_slopes

import autodiff_hook as ad


def payment(rate, present):
    rate, periods, present, future, when = map(np.array, [rate, 12.0, present, 0, 1])
    growth = (1 + rate) ** periods
    safe = np.where(rate == 0, 1, rate)
    factor = np.where((rate == 0) != 0, periods, (1 + safe * when) * (growth - 1) / safe)
    return -(future + present * growth) / factor


def powers(x, y):
    a, b = np.asarray(x), np.asarray(y)
    return a**b + 2.0**a - a**2 + b ** np.asarray(3) + a**-1.0


def functions(x, y):
    a, b = np.asarray(x), np.asarray(y)
    return np.sin(a) * np.sqrt(b) + np.maximum(a, b) - np.hypot(a, 2) + np.exp(-np.where(a < b, a, b * b))


def changed_in_place(x, y):
    a = np.array(x)
    b = np.asarray(a)
    before = a * y
    a += y
    return before * b + np.square(a)


def stored(x, y):
    a = np.zeros(())
    a[()] = x
    kept = a * y
    a[...] = y * y
    return kept * a


def changed_in_a_loop(x, y):
    total = np.array(x)
    step = np.asarray(y)
    for i in range(4):
        total *= step + i
        step = np.where(total > 3.0, step, step * 1.1)
    return total * step


def one_or_the_other(x, y):
    a = np.asarray(x) if y > 0 else x
    return a * y + np.negative(a) / y


def of_whole_numbers(x, y):
    n, m = np.asarray(3), np.asarray(2)
    return x**n * (n // m) + y / n - n * m


def truncated(x, y):
    whole = np.asarray(x * 3.0, dtype=int)
    return whole * y + np.array(y * 4.0, int) * x + np.where(whole > 2, x, y)


def by_an_array(x, y):
    a = np.asarray(x)
    row = np.array([1.0, 2.0, 3.0]) * y
    return np.sum(row * a + a / row) + np.where(row > a, row, a).sum()


@pytest.mark.parametrize(
    "f",
    [payment, powers, functions, changed_in_place, stored, changed_in_a_loop, one_or_the_other, of_whole_numbers]
    + [truncated, by_an_array],
    ids=lambda f: f.__name__,
)
@pytest.mark.parametrize("given", [(0.7, 1.3), (1.9, 0.4)])
def test_arrays_without_axes_have_the_slopes_of_numbers(f, given):
    check_slopes(f, *given, specialised=None)


@pytest.mark.parametrize("base", [0.0, -1.5])
def test_powers_of_arrays_without_axes_are_defined_where_those_of_numbers_are(base):
    def f(x):
        return np.asarray(x) ** np.asarray(2.0)

    assert ad.gradient(f, base) == (2.0 * base,)


def test_cotangents_of_arrays_without_axes_take_no_detour():
    text = ad.code_adjoint(powers, 0.7, 1.3)
    assert "unbroadcast" not in text and "conj" not in text, text


def endpoints(a, b):
    a, b = np.asarray(a), np.asarray(b)
    try:
        return a[0] - b[1]
    except IndexError:
        return a - b


def counted(a, b):
    a = np.asarray(a)
    try:
        n = len(a)
    except TypeError:
        n = 7
    return a * n * b


def summed(a, b):
    a = np.asarray(a)
    try:
        total = sum(x for x in a)
    except TypeError:
        total = 7 * a
    return total * b


@pytest.mark.parametrize("f", [endpoints, counted, summed], ids=lambda f: f.__name__)
def test_what_they_are_asked_for_in_vain_is_raised_for_certain(f):
    check_slopes(f, 0.7, 1.3)
