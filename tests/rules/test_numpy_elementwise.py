from __future__ import annotations

import operator

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy_checks import Case, cases, check, complexes, normal, positive, single

from autodiff_hook import gradient, hvp, jvp
from autodiff_hook.registry import registry
from autodiff_hook.testing import check_rule

REAL_ONLY = (np.cbrt, np.radians, np.degrees, np.deg2rad, np.rad2deg, np.fabs, np.modf)
ABOVE_ONE = (np.arccosh,)
UNARY = (
    *(np.sqrt, np.cbrt, np.square, np.reciprocal, np.exp, np.exp2, np.expm1, np.log, np.log2, np.log10, np.log1p),
    *(np.sin, np.cos, np.tan, np.arcsin, np.arccos, np.arctan, np.sinh, np.cosh, np.tanh, np.arcsinh, np.arctanh),
    *(np.arccosh, np.radians, np.degrees, np.deg2rad, np.rad2deg, np.absolute, np.fabs, np.sign),
    *(np.negative, np.positive, np.conjugate, np.modf),
)
SIGNED = (np.square, np.exp, np.sin, np.cos, np.tan, np.arctan, np.sinh, np.tanh, np.arcsinh, np.absolute, np.sign)
BINARY = (
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.mod, operator.floordiv, divmod),
    *(np.add, np.subtract, np.multiply, np.divide, np.remainder, np.fmod, np.divmod, np.arctan2, np.hypot),
    *(np.maximum, np.minimum, np.fmax, np.fmin, np.logaddexp, np.logaddexp2, np.copysign),
)
POWERS = (pow, operator.pow, np.power, np.float_power)
COMPLEX_BINARY = (
    *(operator.add, operator.sub, operator.mul, operator.truediv),
    *(np.add, np.subtract, np.multiply, np.divide),
)
BROADCAST = (
    *((normal(3), normal(3, seed=1)), (normal(2, 3), normal(3)), (normal(2, 1), normal(1, 3)), (normal(3), 1.7)),
    *(
        (2.5, normal(3)),
        (normal(), normal(3)),
        (normal(3), normal()),
        (normal(0, 3), normal(3)),
        (normal(1), normal(3)),
    ),
    *((normal(3), [1.0, 2.5, -3.5]), ((1.5, -2.0, 3.0), normal(2, 3)), (normal(3), 2), (normal(3), np.float64(0.7))),
    *(
        (single(2, 3), single(3, seed=2)),
        (single(3), normal(3, seed=2)),
        (single(3), 1.7),
        (normal(1, 2, 1), normal(3, 1, 2)),
    ),
)


def unary_arguments(function):
    shift = 1.0 if function in ABOVE_ONE else 0.0
    for x in (positive(3), positive(2, 0), positive(1), positive(), positive(2, 3, 2), positive(3).astype(np.float32)):
        yield np.asarray(x + shift, x.dtype)
    yield from (float(positive()) + shift, np.float64(positive() + shift), np.float32(0.3 + shift))
    yield from ([0.2 + shift, 0.3 + shift], ((0.2 + shift, 0.3 + shift), [0.4 + shift, 0.5 + shift]))
    if function not in REAL_ONLY:
        yield from (complexes(2, 3), complexes(0), complexes(), complex(0.3, 0.4), complexes(3).astype(np.complex64))
    if function in SIGNED:
        yield from (normal(2, 3), -1.5, np.array([3, -2, 1]), -2)


CASES = [
    *(Case(np.frexp, x) for x in (normal(2, 3), single(3), 2.6, [0.3, -5.0], np.zeros((0, 2)), np.float64(-0.7))),
    *(Case(f, x) for f in UNARY for x in unary_arguments(f)),
    *(Case(f, x, y) for f in BINARY for x, y in BROADCAST),
    *(Case(f, complexes(3), normal(2, 3)) for f in COMPLEX_BINARY),
    *(Case(f, normal(2, 3), complexes(3)) for f in COMPLEX_BINARY),
    *(Case(f, 2.0, complexes(3)) for f in COMPLEX_BINARY),
    *(Case(f, 1j, normal(3)) for f in COMPLEX_BINARY),
    *(Case(f, normal(3), 2.0 + 1j) for f in COMPLEX_BINARY),
    *(Case(f, np.array([3, 4]), normal(2)) for f in (*COMPLEX_BINARY, np.maximum, np.hypot)),
    *(Case(f, np.array([3, 4]), np.array([5, 7])) for f in COMPLEX_BINARY),
    *(Case(f, normal(3), np.array([True, False, True])) for f in (operator.mul, np.multiply, operator.add)),
    *(Case(f, normal(3), flag) for f in (operator.mul, operator.add) for flag in (True, np.True_)),
    *(Case(f, 2.5, 1.5) for f in BINARY if isinstance(f, np.ufunc)),
    *(Case(f, positive(3), normal(3)) for f in POWERS),
    *(Case(f, positive(2, 1), normal(3)) for f in POWERS),
    *(Case(f, 2.0, normal(2, 2)) for f in POWERS),
    *(Case(f, positive(3), p) for f in POWERS for p in (0, 1, 2, 3, -1, 0.5, -1.5, np.float64(2.5))),
    *(Case(f, positive(3).astype(np.float32), p) for f in POWERS[:3] for p in (2, 1.5)),
    *(Case(f, np.array([2, 3]), p) for f in POWERS for p in (2, 1.5)),
    *(Case(f, complexes(3), p) for f in POWERS for p in (2, 1.5, 0.5j)),
    *(Case(f, complexes(3), complexes(3, seed=2)) for f in POWERS),
    *(Case(f, positive(3), [1.0, 2.0, 3.0]) for f in POWERS),
    *(Case(f, 2.5, 1.5) for f in POWERS[2:]),
    *(
        Case(f, x)
        for f in (abs, operator.abs, operator.neg, operator.pos)
        for x in (normal(2, 3), normal(0), single(3))
    ),
    *(Case(abs, x) for x in (complexes(3), np.array([3, -4]))),
    Case(np.ldexp, normal(3), np.array([1, 2, -1]), layouts=False),
    *(Case(float, x) for x in (normal(), single())),
    *(Case(complex, x) for x in (normal(), complexes())),
    Case(complex, normal(), 2.5),
]


@cases(CASES)
def test_rule(case):
    check(case)


numbers = st.one_of(st.floats(-30.0, -0.1), st.floats(0.1, 30.0))


@settings(max_examples=20)
@given(x=numbers)
@pytest.mark.parametrize("function", SIGNED)
def test_signs_and_sizes(function, x):
    check_rule(function, x)
    check_rule(function, np.array([x, -x]))


@settings(max_examples=20)
@given(x=numbers, y=numbers)
@pytest.mark.parametrize("function", [np.multiply, np.divide, np.arctan2, np.hypot, np.maximum, np.logaddexp])
def test_pairs(function, x, y):
    assume(x != y)
    check_rule(function, x, y)


def cotangents(function, *args, ȳ=1.0):
    _, pullback = registry.rule(function, tuple(map(type, args)))(*args)
    return pullback(ȳ)


@pytest.mark.parametrize(
    ("function", "first", "second"),
    [(np.maximum, 1.0, 0.0), (np.minimum, 1.0, 0.0), (np.fmax, 1.0, 0.0), (np.fmin, 1.0, 0.0), (np.hypot, 0.0, 0.0)],
)
def test_ties_go_to_the_first(function, first, second):
    x = np.zeros(2)
    assert [c.tolist() for c in cotangents(function, x, x, ȳ=np.ones(2))] == [[first] * 2, [second] * 2]


@pytest.mark.parametrize("function", [np.absolute, np.fabs, abs, operator.abs])
def test_absolute_at_zero(function):
    assert cotangents(function, np.zeros(2), ȳ=np.ones(2))[0].tolist() == [0.0, 0.0]


def test_absolute_of_complex_zero():
    assert cotangents(np.absolute, np.zeros(2, complex), ȳ=np.ones(2))[0].tolist() == [0.0, 0.0]


def test_nan_is_chosen_and_gets_the_cotangent():
    x, y = np.array([np.nan, 1.0]), np.array([1.0, np.nan])
    assert [c.tolist() for c in cotangents(np.maximum, x, y, ȳ=np.ones(2))] == [[1.0, 0.0], [0.0, 1.0]]
    assert [c.tolist() for c in cotangents(np.fmax, x, y, ȳ=np.ones(2))] == [[0.0, 1.0], [1.0, 0.0]]


@pytest.mark.parametrize("function", POWERS)
@pytest.mark.parametrize("exponent", [0, 0.0, 1, 2, 3.0])
def test_powers_at_zero_are_finite(function, exponent):
    x̄, ȳ = cotangents(function, np.zeros(2), exponent, ȳ=np.ones(2))
    assert x̄.tolist() == [float(exponent == 1)] * 2
    assert ȳ == 0.0
    x̄, ȳ = cotangents(function, np.zeros(2), np.full(2, exponent), ȳ=np.ones(2))
    assert x̄.tolist() == [float(exponent == 1)] * 2
    assert ȳ.tolist() == [0.0, 0.0]


def test_exponent_of_a_negative_base_has_no_derivative_and_no_warning():
    x̄, ȳ = cotangents(operator.pow, np.array([-2.0, 3.0]), 2, ȳ=np.ones(2))
    assert x̄.tolist() == [-4.0, 6.0]
    assert np.isnan(ȳ)


def test_arctan2_at_the_origin():
    assert cotangents(np.arctan2, 0.0, 0.0) == (0.0, 0.0)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int16])
def test_arctan2_of_numbers_whose_squares_overflow(dtype):
    wide, x = np.array([120, 100, 3]), np.array([0.5, -2.0, 1.0])
    for f in (lambda x, n: np.arctan2(x, n).sum(), lambda x, n: np.arctan2(n, x).sum()):
        assert gradient(f, x, wide.astype(dtype))[0] == pytest.approx(gradient(f, x, wide)[0])
        assert jvp(lambda x, f=f: f(x, wide.astype(dtype)), (x,), (x,))[1] == pytest.approx(gradient(f, x, wide)[0] @ x)


@pytest.mark.parametrize("function", [operator.add, operator.mul, np.multiply, np.add])
def test_float32_stays_float32(function):
    x, y = np.ones(3, np.float32), np.ones((2, 3))
    x̄, ȳ = cotangents(function, x, y, ȳ=np.ones((2, 3)))
    assert (x̄.dtype, ȳ.dtype) == (np.float32, np.float64)


def test_logaddexp_of_infinities():
    x̄, ȳ = cotangents(np.logaddexp, np.array([-np.inf, -np.inf]), np.array([0.0, -np.inf]), ȳ=np.ones(2))
    assert (x̄[0], ȳ[0]) == (0.0, 1.0)
    assert np.isfinite([x̄, ȳ]).all()


@pytest.mark.parametrize("function", (np.power, np.float_power))
@pytest.mark.parametrize("zero", [0, 0.0, 0j, np.float64(0.0), np.zeros(())])
def test_the_exponent_of_a_zero_that_is_a_number(function, zero):
    def loss(y):
        return abs(function(zero, y)) + 2.0 * y

    assert gradient(loss, 0.3) == (2.0,) and jvp(loss, (0.3,), (1.0,))[1] == 2.0
    assert hvp(loss, (0.3,), (1.0,))[0] == 0.0
