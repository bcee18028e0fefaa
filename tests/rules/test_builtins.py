from __future__ import annotations

import logging
import math
import operator
import random
import time
import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from autodiff_hook.cotangents import NotImplementedCotangent
from autodiff_hook.registry import registry
from autodiff_hook.testing import check_rule

signed = st.floats(0.1, 20).flatmap(lambda x: st.sampled_from((x, -x)))
distinct = st.lists(st.integers(-40, 40).map(lambda n: n + 0.25), min_size=1, max_size=6, unique=True)


def applied(target, *args, **options):
    return registry.rule(target, tuple(map(type, args)), tuple(options))(*args, **options)


def cotangents(target, *args, ȳ=1.0, **options):
    _, pullback = applied(target, *args, **options)
    return pullback(ȳ)


@given(x=signed, y=signed)
def test_arithmetic(x, y):
    for number in (x, np.float64(x), complex(x, y)):
        check_rule(abs, number)
    check_rule(pow, abs(x), y)
    check_rule(pow, x, 2)
    check_rule(pow, x, 2, None)
    check_rule(pow, complex(x, y), 1.5)
    assume(abs(x / y - round(x / y)) > 1e-3)
    check_rule(divmod, x, y)


@pytest.mark.parametrize("x", [3, -2.5, 1.5 - 2.0j])
def test_attributes_and_methods_of_numbers(x):
    for name in ("real", "imag", "conjugate", "__float__"):
        target = getattr(type(x), name, None)
        if target is not None and registry.rule(target, (type(x),)) is not None:
            check_rule(target, x, second_order=True)
    if isinstance(x, int):
        check_rule(int.numerator, x, second_order=True, differences=float)


def test_arithmetic_of_integers():
    assert applied(divmod, 7, 2)[0] == (3, 1)
    assert cotangents(divmod, 7, 2, ȳ=(None, 1.0)) == (1.0, -3.0)
    assert cotangents(divmod, 7, 2, ȳ=(1.0, None)) == (None, None)
    value, pullback = applied(pow, 3, 5, 7)
    assert value == 5 and all(isinstance(x̄, NotImplementedCotangent) for x̄ in pullback(1.0))
    assert cotangents(abs, 0) == (0.0,)
    assert cotangents(abs, -3) == (-1.0,)


def test_rounding_has_derivative_zero():
    for x in (2.3, np.float64(2.3), -1.26):
        check_rule(round, x)
        check_rule(round, x, 1)
    assert cotangents(round, 2.3) == (None, None)


@pytest.mark.filterwarnings("ignore:complex.. argument:DeprecationWarning")
def test_conversions():
    for x in (2.5, -3, np.float64(2.5), np.float32(2.5)):
        check_rule(float, x)
        check_rule(complex, x)
        check_rule(complex, x, 1.5)
        check_rule(complex, 1 + 2j, x)
    check_rule(complex, 1 + 2j)
    check_rule(complex, 1.5, 1 + 2j)
    check_rule(complex, 1 - 2j, 3 + 2j)
    assert applied(float, "2.5")[0] == 2.5 and cotangents(float, "2.5") == (1.0,)
    assert cotangents(complex, 1.0, imag=2.0, ȳ=3 + 4j) == (3.0, 4.0)


@given(xs=st.lists(signed, max_size=6), start=signed, im=signed)
def test_sums_of_numbers(xs, start, im):
    for container in (list, tuple):
        check_rule(sum, container(xs))
        check_rule(sum, container(xs), start)
        check_rule(sum, container([complex(x, im) for x in xs]))
        check_rule(sum, container([*xs, complex(start, im)]), start)
    assert cotangents(sum, [1, True, 2.0], start=3.0) == ([1.0, 1.0, 1.0], 1.0)


def test_sums_of_arrays():
    a, b = np.array([1.0, 2.0]), np.array([[3.0, 4.0], [5.0, 6.0]])
    check_rule(sum, [a, a + 1, a + 2])
    check_rule(sum, (a, b), a)
    check_rule(sum, [a, 2.0, b[:1], b[:, :1]], 1.5)
    check_rule(sum, [a.astype(np.float32), a.astype(np.float32)])
    check_rule(sum, [a, 1j * a, 3.0])


def test_a_sum_of_lists_is_not_implemented():
    value, pullback = applied(sum, [[1.0], [2.0]], [])
    assert value == [1.0, 2.0]
    assert isinstance(pullback([1.0, 1.0])[0][0], NotImplementedCotangent)


@pytest.mark.parametrize("extreme", [max, min])
@given(xs=distinct)
def test_extremes(extreme, xs):
    check_rule(extreme, xs)
    check_rule(extreme, tuple(xs))
    check_rule(extreme, tuple(xs), default=0.5)
    check_rule(extreme, xs, key=abs)
    if len(xs) > 1:
        check_rule(extreme, *xs)
        check_rule(extreme, *xs, key=operator.neg)
        check_rule(extreme, *map(np.float64, xs))


@pytest.mark.parametrize(
    "args, options, expected",
    [
        ((2.0, 2.0), {}, (1.0, 0.0)),
        ((2, 2.0), {}, (1.0, 0.0)),
        ((1.0, 3.0, 3.0), {}, (None, 1.0, None)),
        ((1.0, 2.0, 3.0, 3.0), {}, (None, None, 1.0, None)),
        ((math.nan, 1.0), {}, (1.0, 0.0)),
        ((1.0, math.nan), {}, (1.0, 0.0)),
        ((1.0, -3.0), {"key": abs}, (None, 1.0)),
        (([1.0, 3.0, 3.0],), {}, ([None, 1.0, None],)),
        (([],), {"default": 7.0}, ([],)),
        (("b", "a"), {}, (1.0, None)),
        (([1, 2], [3, 4]), {}, (None, 1.0)),
        ((True, 0.5), {}, (1.0, None)),
    ],
)
def test_the_first_candidate_wins(args, options, expected):
    value, pullback = applied(max, *args, **options)
    assert value is max(*args, **options)
    assert pullback(1.0) == expected
    if not options and all(type(x) in (float, list) for x in args) and args != ([1, 2], [3, 4]):
        negated = [[-x for x in xs] if isinstance(xs, list) else -xs for xs in args]
        assert cotangents(min, *negated, **options) == expected


def test_the_key_is_called_once_for_each_candidate():
    calls = []
    applied(max, 1.0, 3.0, 2.0, key=lambda x: calls.append(x) or x)
    applied(max, [4.0, 5.0], key=lambda x: calls.append(x) or x)
    assert calls == [1.0, 3.0, 2.0, 4.0, 5.0]


def test_extremes_of_other_iterables():
    value, pullback = applied(max, {1.0: "a", 2.0: "b"})
    assert value == 2.0 and isinstance(pullback(1.0)[0], NotImplementedCotangent)


@pytest.mark.parametrize(
    "target",
    [
        *(int, bool, len, range, isinstance, id, hash, repr, str, format, print, type, ord, chr, input, open),
        *(str.join, str.format, str.split, bytes.decode, float.is_integer, float.hex, float.imag, int.bit_length),
        *(time.time, time.perf_counter, time.sleep, warnings.warn, logging.info, logging.Logger.debug),
        *(random.random, random.seed, random.Random.random, random.Random.getrandbits, random.randint),
    ],
)
def test_declared_constants(target):
    assert registry.is_constant(target) and not registry.has_rules(target)


@pytest.mark.parametrize("target", [random.uniform, random.gauss, random.choice, random.Random.shuffle])
def test_what_depends_on_its_arguments_is_no_constant(target):
    assert not registry.is_constant(target)


@pytest.mark.parametrize("target", [list, tuple, dict, set, sorted, reversed, zip, map, filter, enumerate, iter, next])
def test_containers_are_left_to_the_runtime(target):
    assert not registry.is_constant(target) and not registry.has_rules(target)
