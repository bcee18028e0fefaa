from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from autodiff_hook.cotangents import NotImplementedCotangent
from autodiff_hook.registry import registry
from autodiff_hook.testing import check_rule
from autodiff_rules._polygamma import polygamma

DOMAINS = {
    "exp": (-20, 20),
    "expm1": (-20, 20),
    "exp2": (-20, 20),
    "log": (1e-3, 1e3),
    "log2": (1e-3, 1e3),
    "log10": (1e-3, 1e3),
    "log1p": (-0.9, 1e3),
    "sqrt": (1e-3, 1e3),
    "cbrt": (1e-3, 1e3),
    "sin": (-20, 20),
    "cos": (-20, 20),
    "tan": (-1.4, 1.4),
    "asin": (-0.95, 0.95),
    "acos": (-0.95, 0.95),
    "atan": (-20, 20),
    "sinh": (-20, 20),
    "cosh": (-20, 20),
    "tanh": (-5, 5),
    "asinh": (-20, 20),
    "acosh": (1.1, 20),
    "atanh": (-0.95, 0.95),
    "degrees": (-20, 20),
    "radians": (-900, 900),
    "erf": (-3, 3),
    "erfc": (-3, 3),
    "gamma": (0.1, 20),
    "lgamma": (0.1, 200),
    "fabs": (0.1, 20),
}
EULER = 0.5772156649015329


def cotangents(target, *args, ȳ=1.0):
    _, pullback = registry.rule(target, tuple(map(type, args)))(*args)
    return pullback(ȳ)


@pytest.mark.parametrize("name", [name for name in dir(math) if callable(getattr(math, name)) and name[0] != "_"])
def test_every_function_is_ruled_or_declared(name):
    function = getattr(math, name)
    assert registry.has_rules(function) != registry.is_constant(function)


@pytest.mark.parametrize("name", DOMAINS)
@given(share=st.floats(0.001, 0.999))
def test_functions_of_one_number(name, share):
    low, high = DOMAINS[name]
    x = low + share * (high - low)
    check_rule(getattr(math, name), x)
    check_rule(getattr(math, name), np.float64(x))


@pytest.mark.parametrize("name", ["cbrt", "fabs"])
@given(x=st.floats(-9, -0.1))
def test_negative_numbers(name, x):
    check_rule(getattr(math, name), x)


@pytest.mark.parametrize("name", [name for name in DOMAINS if DOMAINS[name][0] < 3 < DOMAINS[name][1]])
def test_integers_and_single_precision(name):
    check_rule(getattr(math, name), 3)
    check_rule(getattr(math, name), np.float32(3))


@pytest.mark.parametrize("x", [-0.5, -1.3, -2.25, -3.75, -7.9, -15.5])
def test_gamma_of_negative_numbers(x):
    check_rule(math.gamma, x)
    check_rule(math.lgamma, x)


@pytest.mark.parametrize(
    "n, x, expected",
    [
        (0, 1.0, -EULER),
        (0, 0.5, -EULER - 2 * math.log(2)),
        (0, 1, -EULER),
        (0, -0.5, -EULER - 2 * math.log(2) + 2),
        (0, 1e10, math.log(1e10) - 0.5e-10),
        (1, 1.0, math.pi**2 / 6),
        (1, 0.5, math.pi**2 / 2),
        (1, -0.5, math.pi**2 / 2 + 4),
        (2, 1.0, -2 * 1.2020569031595942),
        (2, 0.5, -14 * 1.2020569031595942),
        (2, -0.5, -14 * 1.2020569031595942 + 16),
        (3, 1.0, math.pi**4 / 15),
        (3, 0.5, math.pi**4),
        (3, -0.5, math.pi**4 + 96),
        (5, 1.0, 8 * math.pi**6 / 63),
    ],
)
def test_polygamma_in_closed_form(n, x, expected):
    assert math.isclose(polygamma(n, x), expected, rel_tol=1e-13)


@given(n=st.integers(0, 4), x=st.floats(-20, 40))
def test_polygamma(n, x):
    assume(x > 0.05 or abs(x - round(x)) > 0.05)
    check_rule(polygamma, n, x, rtol=1e-5)
    recurrence = polygamma(n, x) + (-1) ** n * math.factorial(n) / x ** (n + 1)
    assert math.isclose(polygamma(n, x + 1), recurrence, rel_tol=1e-11, abs_tol=1e-11 * abs(polygamma(n, x)))


signed = st.floats(0.1, 20).flatmap(lambda x: st.sampled_from((x, -x)))


@given(x=signed, y=signed)
def test_functions_of_two_numbers(x, y):
    check_rule(math.atan2, x, y)
    check_rule(math.copysign, x, y)
    check_rule(math.log, abs(x), abs(y) + 1.1)
    check_rule(math.pow, abs(x), y)
    check_rule(math.pow, x, round(y))
    fraction = x / y - math.floor(x / y)
    assume(min(abs(fraction - corner) for corner in (0, 0.5, 1)) > 1e-3)
    check_rule(math.fmod, x, y)
    check_rule(math.remainder, x, y)


def test_an_exponent_of_a_negative_base():
    assert isinstance(cotangents(math.pow, -2.0, 3.0)[1], NotImplementedCotangent)
    assert cotangents(math.pow, -2.0, 3.0)[0] == 12.0


@pytest.mark.parametrize(
    "name, args, expected",
    [
        ("sqrt", (0.0,), (math.inf,)),
        ("cbrt", (0.0,), (math.inf,)),
        ("asin", (1.0,), (math.inf,)),
        ("acos", (-1,), (-math.inf,)),
        ("acosh", (1.0,), (math.inf,)),
        ("fabs", (0.0,), (0.0,)),
        ("hypot", (0.0, 0.0), (0.0, 0.0)),
        ("hypot", (3.0, 4, 0), (0.6, 0.8, 0.0)),
        ("atan2", (0.0, 0.0), (0.0, -0.0)),
        ("atan2", (0.0, -1.0), (-1.0, -0.0)),
        ("dist", ([1.0, 2.0], [1.0, 2.0]), ([0.0, 0.0], [-0.0, -0.0])),
        ("pow", (0.0, 0.5), (math.inf, 0.0)),
        ("pow", (0.0, 0.0), (0.0, 0.0)),
        ("pow", (0.0, 2.0), (0.0, 0.0)),
        ("prod", ([2.0, 0.0, 3.0],), ([0.0, 6.0, 0.0],)),
        ("prod", ((0.0, 0.0),), ((0.0, 0.0),)),
        ("prod", ([],), ([],)),
    ],
)
def test_conventions(name, args, expected):
    assert cotangents(getattr(math, name), *args) == expected


def test_tiny_and_huge_numbers():
    assert cotangents(math.atan2, 3e-200, 4e-200) == pytest.approx((0.16e200, -0.12e200))
    assert cotangents(math.atan2, 3e200, 4e200) == pytest.approx((0.16e-200, -0.12e-200), rel=1e-12, abs=0)
    assert cotangents(math.asinh, 1e200) == (1e-200,)
    assert cotangents(math.acosh, 1e200) == pytest.approx((1e-200,), rel=1e-12, abs=0)
    assert cotangents(math.erf, 1e200) == (0.0,)
    assert cotangents(math.expm1, -40.0) == (math.exp(-40),)


def test_parts_of_a_number():
    for x in (2.75, -3.3, 1e-3):
        check_rule(math.modf, x)
        check_rule(math.frexp, x)
        check_rule(math.ldexp, x, 5)
        check_rule(math.ldexp, x, -3)
    assert cotangents(math.ldexp, 1.5, 2) == (4.0, pytest.approx(6 * math.log(2)))


vectors = st.lists(signed, min_size=1, max_size=6)


@given(xs=vectors, scale=signed)
def test_sums_and_products(xs, scale):
    ys = [0.7 * scale + 0.3 * i for i in range(len(xs))]
    for container in (list, tuple):
        check_rule(math.fsum, container(xs))
        check_rule(math.prod, container(xs))
        check_rule(math.prod, container(xs), start=2.5)
        check_rule(math.dist, container(xs), ys, rtol=1e-5)
    check_rule(math.hypot, *xs)
    check_rule(math.dist, np.array(xs), np.array(ys), rtol=1e-5)


@pytest.mark.skipif(not hasattr(math, "sumprod"), reason="Python 3.12")
@given(xs=vectors)
def test_sumprod(xs):
    check_rule(math.sumprod, xs, xs[::-1])
    check_rule(math.sumprod, tuple(xs), [1, *xs[1:]])


@pytest.mark.skipif(not hasattr(math, "fma"), reason="Python 3.13")
@given(x=signed, y=signed, z=signed)
def test_fma(x, y, z):
    check_rule(math.fma, x, y, z)


@given(x=signed, y=signed)
def test_next_number(x, y):
    assume(x != y)
    check_rule(math.nextafter, x, y)
