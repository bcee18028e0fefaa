from __future__ import annotations

import math
import operator

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from autodiff_hook.cotangents import NotImplementedCotangent
from autodiff_hook.registry import registry
from autodiff_hook.testing import check_rule

RUNTIME = {"call", "concat", "iconcat", "getitem", "setitem", "delitem", "itemgetter", "attrgetter", "methodcaller"}
"""Containers and callables: differentiated by the runtime."""
ARRAYS = {"matmul", "imatmul"}
"""Operators that only arrays have."""

numbers = st.one_of(
    st.floats(0.1, 30.0), st.floats(-30.0, -0.1), st.integers(-9, 9), st.floats(0.1, 9.0).map(np.float64)
)
complexes = st.complex_numbers(min_magnitude=0.1, max_magnitude=9.0)


def cotangents(target, *args, ȳ=1.0):
    _, pullback = registry.rule(target, tuple(map(type, args)))(*args)
    return pullback(ȳ)


@pytest.mark.parametrize("name", [name for name in dir(operator) if not name.startswith("_")])
def test_every_operator_is_ruled_or_declared(name):
    function = getattr(operator, name)
    covered = registry.has_rules(function) or registry.is_constant(function)
    assert covered or name in RUNTIME | ARRAYS


@pytest.mark.parametrize("name", ["add", "sub", "mul", "iadd", "isub", "imul"])
@given(x=numbers, y=numbers)
def test_ring(name, x, y):
    check_rule(getattr(operator, name), x, y)


@pytest.mark.parametrize("name", ["truediv", "itruediv"])
@given(x=numbers, y=numbers)
def test_division(name, x, y):
    assume(y)
    check_rule(getattr(operator, name), x, y)


@pytest.mark.parametrize("name", ["floordiv", "mod", "ifloordiv", "imod"])
@given(x=st.floats(-30, 30), y=numbers)
def test_remainders(name, x, y):
    assume(y and abs(x / y - round(x / y)) > 1e-3)
    check_rule(getattr(operator, name), x, y)


@given(x=st.floats(0.1, 9.0), y=numbers)
def test_positive_base(x, y):
    check_rule(operator.pow, x, y)
    check_rule(operator.ipow, x, y)


@pytest.mark.parametrize("x", [-2.5, -1.0, -3, 2, 3.5])
@pytest.mark.parametrize("y", [-3, -1, 0, 1, 2, 5, 2.0, -1.0, 0.0])
def test_integer_exponent(x, y):
    value, pullback = registry.rule(operator.pow, (type(x), type(y)))(x, y)
    assert value == x**y and type(value) is type(x**y)
    x̄, ȳ = pullback(1.0)
    assert math.isclose(x̄, y * float(x) ** (y - 1))
    if x > 0:
        assert math.isclose(ȳ, value * math.log(x))
    else:
        assert isinstance(ȳ, NotImplementedCotangent)


@pytest.mark.parametrize(
    "x, y, expected",
    [
        (0.0, 0, (0.0, 0.0)),
        (0.0, 1, (1.0, 0.0)),
        (0.0, 2, (0.0, 0.0)),
        (0.0, 0.0, (0.0, 0.0)),
        (0.0, 0.5, (math.inf, 0.0)),
        (0.0, 1.0, (1.0, 0.0)),
        (0.0, 1.5, (0.0, 0.0)),
        (0, 3, (0.0, 0.0)),
        (0j, 0, (0.0, 0.0)),
        (0j, 1, (1.0, 0.0)),
        (0j, 2, (0.0, 0.0)),
    ],
)
def test_powers_of_zero(x, y, expected):
    assert cotangents(operator.pow, x, y) == expected


def test_negative_base_with_complex_result():
    check_rule(operator.pow, -2.0, 0.5)
    check_rule(operator.pow, -2, 1.5)


@pytest.mark.parametrize("name", ["neg", "pos", "abs"])
@given(x=numbers, z=complexes)
def test_unary(name, x, z):
    assume(name != "abs" or x)
    check_rule(getattr(operator, name), x)
    check_rule(getattr(operator, name), z)


def test_absolute_value_of_zero():
    assert cotangents(operator.abs, 0.0) == (0.0,)
    assert cotangents(operator.abs, 0j) == (0.0,)


@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv", "pow", "iadd", "isub", "imul", "itruediv", "ipow"])
@given(x=complexes, y=complexes, real=st.floats(0.1, 5.0))
def test_complex(name, x, y, real):
    function = getattr(operator, name)
    assume(abs(x.imag) > 1e-2 and not (name.endswith("pow") and abs(y) > 3))
    check_rule(function, x, y)
    check_rule(function, x, real)
    check_rule(function, real, y)
    check_rule(function, x, 2)


@pytest.mark.parametrize("name", ["add", "sub", "mul"])
def test_a_bool_takes_part_in_arithmetic(name):
    function = getattr(operator, name)
    for x in (2.5, 2, np.float32(2.5), 1 - 2j):
        check_rule(function, x, True)
        check_rule(function, False, x)


@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv", "pow", "mod"])
def test_single_precision_is_kept(name):
    check_rule(getattr(operator, name), np.float32(2.5), np.float32(1.7))
    check_rule(getattr(operator, name), np.float32(2.5), 1.7)
    check_rule(getattr(operator, name), 2.5, np.float32(1.7))


@pytest.mark.parametrize("name", ["and_", "or_", "xor", "lshift", "rshift", "iand", "ior", "ixor"])
def test_bit_operations_have_derivative_zero(name):
    check_rule(getattr(operator, name), 13, 3)
    check_rule(getattr(operator, name), True, 3)
    assert cotangents(getattr(operator, name), 13, 3) == (None, None)
    assert registry.rule(getattr(operator, name), (dict, dict)) is None


def test_tiny_and_huge_numbers():
    assert cotangents(operator.truediv, 1.0, 1e-200)[0] == 1e200
    assert cotangents(operator.truediv, 0.0, 1e-200) == (1e200, -0.0)
    assert cotangents(operator.pow, 1e-200, 2) == (2e-200, 0.0)
    assert cotangents(operator.mul, math.inf, 2.0) == (2.0, math.inf)


@pytest.mark.parametrize("name", ["inv", "invert", "ilshift", "irshift"])
def test_bits_of_whole_numbers(name):
    check_rule(getattr(operator, name), *((13,) if name.startswith("inv") else (13, 2)))
