"""``functools.lru_cache`` of functions that a typed program makes: a dict of what is known."""

from __future__ import annotations

import functools
import math

import pytest
from specialised_cases import check, check_all_ways, check_slopes

import autodiff_hook as ad

KINDS = (0, 1, 2, 1, 0, 2, 2, 3)


def of_kinds(x, y):
    @functools.lru_cache
    def weight(kind):
        return math.exp(-x * kind) * math.sin(kind + y)

    total = 0.0
    for i in range(24):
        total += weight(i % 5) * x
    return total


def of_two(x):
    @functools.cache
    def entry(i, j):
        return math.cos(x * i) / (1.0 + x * j)

    total = 0.0
    for i in range(4):
        for j in range(i + 1):
            total += entry(i, j) * entry(j, i)
    return total


def recursive(x):
    @functools.cache
    def legendre(n):
        if n == 0:
            return 1.0
        if n == 1:
            return x
        return ((2 * n - 1) * x * legendre(n - 1) - (n - 1) * legendre(n - 2)) / n

    return sum(0.1 * k * legendre(k) for k in range(12))


def of_texts(x):
    @functools.lru_cache(None)
    def scale(name):
        return {"a": x, "b": x * x}[name]

    return scale("a") * scale("b") + scale("a")


def counted(x):
    calls = [0.0]

    @functools.cache
    def square(k):
        calls[0] += 1.0
        return k * x * x

    return square(2) + square(3) + square(2) + calls[0]


def of_kinds_of_numbers(x):
    @functools.cache
    def tell(k):
        return x if type(k) is int else x * x if type(k) is bool else x * x * x

    return tell(1) + 2.0 * tell(True) + 3.0 * tell(1.0) + 5.0 * tell(1)


def of_pairs_of_numbers(x):
    @functools.cache
    def tell(k, n):
        return x if type(k) is int else x * x

    return tell(1, 2) + 2.0 * tell(1.0, 2.0)


def by_derivatives(x, y):
    @functools.cache
    def cube(z):
        return z * z * z

    return cube(x) + 2.0 * cube(y)


def by_constants_first(x):
    @functools.cache
    def cube(z):
        return z * z * z

    return cube(0.5) + 2.0 * cube(x)


def whole(n, x):
    @functools.cache
    def square(k):
        return k * k * x

    return square(5) + square(n) * n


def forgetful(x):
    seen = []

    @functools.lru_cache(maxsize=2)
    def noted(k):
        seen.append(k)
        return k * x

    total = 0.0
    for k in (1, 2, 3, 1, 3):
        total += noted(k)
    return total * len(seen)


def small_enough(x):
    @functools.lru_cache(maxsize=3)
    def power(k):
        return x**k

    return sum(power(k % 3) for k in range(9))


def passed_by(x):
    @functools.cache
    def square(k):
        return k * x * x

    return square(2) + square.__wrapped__(2)


def test_caches_in_loops_are_typed_for_all_ways():
    check_all_ways(of_two, 0.7)


def test_a_cache_without_brackets_keeps_a_number_of_values():
    check_all_ways(of_kinds, 0.7, 0.3)


@pytest.mark.parametrize("f", [recursive, of_texts, counted, small_enough])
def test_caches_are_typed(f):
    check_slopes(f, 0.7)


@pytest.mark.parametrize("f", [of_kinds_of_numbers, of_pairs_of_numbers])
def test_numbers_that_equal_others_are_told_apart_as_python_does(f):
    check_slopes(f, 0.7, specialised=None)


def test_keys_with_derivatives_are_carried():
    assert check(by_derivatives, 0.5, 0.5, specialised=False) == pytest.approx((0.75, 1.5))
    assert check(by_constants_first, 0.5, specialised=False) == pytest.approx((1.5,))
    assert check(whole, 5, 0.5, specialised=False) == (37.5, 150.0)


def test_a_cache_that_forgets_is_carried():
    check_slopes(forgetful, 0.7, specialised=None)


def test_a_function_that_is_asked_for_behind_its_cache_is_carried():
    check_slopes(passed_by, 0.7, specialised=False)


def test_one_program_serves_all_keys():
    def total(kinds, x):
        @functools.cache
        def weight(kind):
            return math.exp(-x * kind)

        found = 0.0
        for kind in kinds:
            found += weight(kind) * x
        return found

    for kinds in (KINDS, KINDS[:3], KINDS[::-1]):
        (expected,) = ad.gradient(lambda x, kinds=kinds: sum(math.exp(-x * k) * x for k in kinds), 0.7)
        assert ad.grad(functools.partial(total, list(kinds)))(0.7) == pytest.approx(expected)


@functools.cache
def binomial(n, k):
    if k in (0, n):
        return 1
    return binomial(n - 1, k - 1) + binomial(n - 1, k)


@functools.cache
def of_several_types(n, name="a"):
    return n if n < 5 else n / 2.0


def of_whole_numbers(x, count=6):
    total = 0.0
    for n in range(1, count):
        for k in range(n + 1):
            total += binomial(n, k) * x**k * (1.0 - x) ** (n - k) * k
    return total


def of_another_type(x, count=4):
    total = 0.0
    for n in range(count):
        total += of_several_types(n, "b" * n) * x * x
    return total


def test_caches_from_outside_answer_with_numbers():
    check_all_ways(of_whole_numbers, 0.3)
    check_all_ways(of_another_type, 0.3)
    check(of_whole_numbers, 0.7, 9, specialised=None)
    check(of_another_type, 0.7, 9, specialised=None)
