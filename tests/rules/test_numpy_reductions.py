from __future__ import annotations

import numpy as np
import pytest
from numpy_checks import Case, cases, check, complexes, normal, positive, single

from autodiff_hook import jvp
from autodiff_hook.registry import registry
from autodiff_rules.numpy import accumulations, extremes, log_sums

X = normal(2, 3, 4)
NANS = np.where(X > 1, np.nan, X)
MASK = np.array([True, False, True])
AXES = (None, 0, 1, -1, (0, 2), (-1,), (0, 1, 2))
LOG_SUMS = (log_sums.log_sum, log_sums.log2_sum)
OF_NUMBERS = (extremes.greatest_number, extremes.least_number)
SO_FAR = (accumulations.greatest_so_far, accumulations.least_so_far)
SUMS = (np.sum, np.mean, np.prod, np.var, np.std, np.max, np.min)
METHODS = tuple(getattr(np.ndarray, f.__name__) for f in SUMS)
SCALAR_METHODS = tuple(getattr(np.generic, f.__name__) for f in SUMS)
WITH_ZEROS = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 3.0], [-1.0, 2.0, 0.5]])


def reductions(function):
    yield from (Case(function, X, axis=axis, keepdims=keepdims) for axis in AXES for keepdims in (False, True))
    yield Case(function, X, 1)
    yield Case(function, normal(3, 0, 2), axis=0)
    yield Case(function, single(2, 3), axis=0)
    yield Case(function, normal(1), axis=0)
    yield Case(function, normal())
    yield Case(function, np.array([[3, 1], [4, -7]]), axis=1)


def complex_reductions(function):
    yield from (Case(function, complexes(2, 3), axis=axis) for axis in (None, 1))


CASES = [
    *(case for f in (*SUMS, *METHODS) for case in reductions(f)),
    *(case for f in (*SUMS[:5], *METHODS[:5]) for case in complex_reductions(f)),
    *(Case(f, x) for f in SUMS for x in ([1.5, 2.5, -4.0], (1.5, 2.5), [[1.0, 2.0], [3.0, -4.5]], 3.5, -2)),
    *(Case(f, [normal(3), normal(3, seed=1)], 0) for f in SUMS),
    *(Case(f, x) for f in SCALAR_METHODS for x in (np.float64(-2.5), np.float32(0.5))),
    *(Case(f, normal(0)) for f in (np.sum, np.prod, np.cumsum, np.cumprod, np.nansum)),
    Case(np.sum, X, where=MASK[:, None]),
    Case(np.sum, normal(3), None, None, None, False, 2.5),
    Case(np.sum, single(3), dtype=np.float64),
    Case(np.sum, np.array([True, False])),
    Case(np.mean, X, axis=1, where=MASK[:, None]),
    *(Case(f, X, axis=1, ddof=1) for f in (np.var, np.std)),
    *(Case(f, X, axis=1, correction=1) for f in (np.var, np.std)),
    *(Case(np.prod, WITH_ZEROS, axis=axis) for axis in (0, 1)),
    *(Case(f, np.array(0.0), 0) for f in (np.prod, np.cumprod)),
    *(Case(f, X, axis=a, keepdims=k) for f in LOG_SUMS for a in (0, 1, -1) for k in (False, True)),
    *(Case(f, X, 1, initial=0.3, where=MASK[:, None]) for f in LOG_SUMS),
    *(Case(f, x) for f in LOG_SUMS for x in ([1.0, -2.5], single(3), normal(1))),
    *(Case(f, NANS, axis=a, keepdims=k) for f in OF_NUMBERS for a in (None, 0, -1, (0, 2)) for k in (False, True)),
    *(Case(f, X, 1, initial=0.3, where=MASK[:, None]) for f in OF_NUMBERS),
    *(Case(f, x) for f in (*OF_NUMBERS, *SO_FAR) for x in ([1.0, -2.5], single(3), normal(1))),
    *(Case(f, X, axis=a) for f in SO_FAR for a in (0, 1, -1)),
    *(Case(np.cumprod, WITH_ZEROS, axis=axis) for axis in (None, 0, 1)),
    *(Case(f, X, axis=a) for f in (np.cumsum, np.cumprod) for a in (None, 0, -1)),
    *(Case(f, X, 1) for f in (np.ndarray.cumsum, np.ndarray.cumprod)),
    *(Case(f, complexes(2, 3), axis=a) for f in (np.cumsum, np.cumprod) for a in (None, 1)),
    *(Case(f, x) for f in (np.cumsum, np.cumprod) for x in ([1.0, 2.5], single(3), normal(1), np.array([2, 3]))),
    *(Case(f, np.float64(2.5)) for f in (np.generic.cumsum, np.generic.cumprod)),
    *(Case(f, np.where(X > 1, np.nan, X), axis=a) for f in (np.nansum, np.nanmean) for a in (None, 1, (0, 2))),
    *(Case(np.nansum, X, keepdims=True, axis=1) for _ in range(1)),
    *(Case(np.average, X, axis=axis) for axis in (None, 1, (0, 1))),
    *(Case(np.average, X, axis, positive(X.shape[axis])) for axis in (0, 1, -1)),
    *(Case(np.average, X, None, positive(2, 3, 4), returned) for returned in (False, True)),
    Case(np.average, X, 1, positive(2, 3, 4), True, keepdims=True),
    Case(np.average, [1.0, 2.0, 4.0], weights=positive(3)),
    Case(np.average, [1.0, 2.0, 4.0], None, [0.5, 0.25, 1.0]),
    Case(np.average, complexes(3), 0, positive(3)),
    *(Case(f, X, axis=axis) for f in (np.ptp, np.amax, np.amin) for axis in (None, 0, (0, 1))),
    *(Case(np.median, normal(*s), axis=a) for s in ((4, 3), (3, 5)) for a in (None, 0, 1, (0, 1))),
    *(Case(np.median, x) for x in ([3.0, 1.0, 2.0, 7.0], normal(1), single(4))),
    Case(np.median, X, axis=(0, 2), keepdims=True),
    *(Case(np.sort, X, axis) for axis in (None, 0, -1)),
    Case(np.sort, [3.0, 1.0, 2.0]),
    Case(np.sort, single(5)),
]


@cases(CASES)
def test_rule(case):
    check(case)


def gradient(function, x, **options):
    value, pullback = registry.rule(function, (type(x),))(x, **options)
    return pullback(np.ones_like(value, float))[0]


@pytest.mark.parametrize("function", [np.max, np.min, np.ndarray.max, np.ndarray.min])
def test_the_first_of_equal_elements_gets_the_cotangent(function):
    ties = np.array([[1.0, 1.0], [1.0, 1.0]])
    assert gradient(function, ties).tolist() == [[1.0, 0.0], [0.0, 0.0]]
    assert gradient(function, ties, axis=1).tolist() == [[1.0, 0.0], [1.0, 0.0]]
    assert gradient(function, ties, axis=(0, 1)).tolist() == [[1.0, 0.0], [0.0, 0.0]]


def test_std_of_equal_numbers_is_finite():
    assert gradient(np.std, np.ones(3)).tolist() == [0.0, 0.0, 0.0]
    for options in ({}, {"axis": 0}, {"where": [True, True, True]}):
        for function in (np.std, np.nanstd):
            found = gradient(function, np.full(3, 0.1), **options)  # whose mean is another number
            assert found.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(("x", "expected"), [([2.0, 0.0, 3.0], [0.0, 6.0, 0.0]), ([0.0, 0.0, 3.0], [0.0, 0.0, 0.0])])
def test_product_with_zeros(x, expected):
    assert gradient(np.prod, np.array(x)).tolist() == expected


def test_nan_is_the_maximum():
    assert gradient(np.max, np.array([1.0, np.nan, 3.0])).tolist() == [0.0, 1.0, 0.0]


def test_the_tangent_of_a_sum_without_nan():
    """What is left out has none, and ``initial`` is not added to it."""
    x = np.array([[1.0, np.nan, 2.0], [3.0, 4.0, np.nan]])
    value, tangent = jvp(lambda x: np.nansum(x, 1, initial=2.0), (x,), (np.ones((2, 3)),))
    assert value.tolist() == [5.0, 9.0] and tangent.tolist() == [2.0, 2.0]
