"""Quantiles, what edits arrays, padding in all modes, and options of reductions."""

from __future__ import annotations

import numpy as np
import pytest
from numpy_checks import Case, cases, check, complexes, normal, positive, single

import autodiff_hook as ad
from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.registry import registry
from autodiff_hook.testing import check_gradient, check_rule
from autodiff_rules.numpy import stores, ufuncs

X = normal(2, 3, 4)
HOLES = np.where(X > 1, np.nan, X)
MASK = np.arange(24).reshape(2, 3, 4) % 3 > 0
AXES = (None, 1, (0, 2))
RANKS = (0.31, np.array([0.13, 0.87]), [0.26, 0.61])
METHODS = (
    *("linear", "interpolated_inverted_cdf", "hazen", "weibull", "median_unbiased", "normal_unbiased"),
    *("inverted_cdf", "averaged_inverted_cdf", "closest_observation", "lower", "higher", "midpoint", "nearest"),
)
MODES = ("constant", "edge", "linear_ramp", "maximum", "mean", "median", "minimum", "reflect", "symmetric", "wrap")
WIDTHS = ((2, 1), (1, 3), (0, 2))

CASES = [
    *(Case(np.quantile, X, q, axis=axis) for q in RANKS for axis in AXES),
    *(Case(np.nanquantile, HOLES, q, axis=axis) for q in RANKS for axis in AXES),
    *(Case(f, x, 40.0, axis=1, keepdims=True) for f, x in ((np.percentile, X), (np.nanpercentile, HOLES))),
    *(Case(np.quantile, normal(2, 7), 0.37, axis=1, method=method) for method in METHODS),
    *(Case(f, [3.0, 1.0, 2.5, 7.0], 0.4) for f in (np.quantile, np.nanquantile)),
    Case(np.quantile, single(5), 0.4),
    Case(np.quantile, normal(1), 0.4),
    *(Case(np.nanmedian, HOLES, axis=axis) for axis in AXES),
    Case(np.nanmedian, [3.0, np.nan, 2.0]),
    *(Case(f, HOLES, axis=axis, keepdims=k) for f in (np.nanvar, np.nanstd) for axis in AXES for k in (False, True)),
    *(Case(f, HOLES, axis=1, where=MASK) for f in (np.nanvar, np.nanstd)),
    *(Case(np.nanprod, HOLES, axis=axis, keepdims=k) for axis in AXES for k in (False, True)),
    Case(np.nanprod, HOLES, 1, None, None, False, 2.5),
    Case(np.nanprod, np.array([2.0, np.nan, 0.0, 3.0])),
    Case(np.nansum, HOLES, 1, None, None, False, 2.5, MASK),
    Case(np.nanmean, HOLES, axis=(0, 1), where=MASK),
    *(Case(np.prod, x, 1, None, None, k, 2.5, MASK) for x in (X, X * MASK) for k in (False, True)),
    Case(np.prod, complexes(2, 3), 0, None, None, False, 1.5j),
    *(
        Case(f, X, axis, None, k, i, MASK)
        for f in (np.max, np.min)
        for axis in AXES
        for k in (False, True)
        for i in (-0.2, 0.4)
    ),
    *(Case(f, normal(0), None, None, False, 0.4) for f in (np.max, np.min)),
    *(Case(f, X, axis=axis, where=MASK, ddof=d) for f in (np.var, np.std) for axis in AXES for d in (0, 1)),
    *(Case(np.partition, X, 1, axis) for axis in (0, -1)),
    Case(np.partition, X, 5, None),
    Case(np.partition, [3.0, 1.0, 2.0, 2.5], [1, 2]),
    *(Case(np.unique, x) for x in (X, [3.0, 1.0, 2.0], single(4))),
    Case(np.unique, np.array([1.0, 0.5, 2.0]), True, True, True),
    Case(np.unique, np.array([[1.0, 2.0], [0.5, 2.5], [1.5, 3.0]]), axis=0),
    *(Case(np.delete, X, obj, axis) for obj, axis in ((1, 1), (slice(0, 2), 2), ([0, 2], 1), (3, None), ([0, -1], 0))),
    Case(np.delete, [1.0, 2.0, 3.0], 1),
    *(
        Case(np.insert, normal(4), obj, v)
        for obj, v in ((1, 2.5), ([1, 3], normal(2)), ([1, 1], [0.5, 1.5]), (2, normal(3)))
    ),
    *(Case(np.insert, X, obj, v, 1) for obj, v in ((1, normal(2, 4)), ([0, 3], normal(2, 2, 4)), (slice(0, 2), 0.5))),
    Case(np.insert, [1.0, 2.0], 1, 3.0),
    *(Case(np.bincount, np.array([0, 1, 1, 3]), w, n) for w in (normal(4), [1.0, 2.0, 3.0, 4.0]) for n in (0, 6)),
    *(Case(np.pad, x, w, mode) for mode in MODES for x, w in ((normal(3, 4, 2), WIDTHS), (normal(4), 3))),
    *(Case(np.pad, normal(5), 2, mode, stat_length=n) for mode in MODES[3:7] for n in (2, (1, 3))),
    *(Case(np.pad, normal(3, 4), ((1, 2), (0, 3)), mode, stat_length=((2, 3), (1, 4))) for mode in MODES[3:7]),
    *(Case(np.pad, normal(3, 5), 2, mode, reflect_type="odd") for mode in ("reflect", "symmetric")),
    *(Case(np.pad, x, 1) for x in (complexes(2), single(3), [1.0, 2.0])),
    *(Case(np.matvec, x, v) for x, v in ((normal(2, 3, 4), normal(4)), (complexes(3, 4), complexes(2, 4)))),
    *(Case(np.vecmat, v, x) for v, x in ((normal(3), normal(2, 3, 4)), (complexes(2, 3), complexes(3, 4)))),
    Case(np.matvec, [[1.0, 2.0], [3.0, 4.0]], [0.5, 1.5]),
    *(
        Case(stores.added_at, x, i, b)
        for x, i, b in (
            (normal(3), np.array([0, 0, 2]), normal(3)),
            (X, (slice(1), np.array([1, 1])), normal(4)),
            (normal(3), np.array([True, False, True]), 0.5),
        )
    ),
    *(
        Case(ufuncs.summed_at, x, i)
        for x in (normal(5), normal(5, 2))
        for i in map(np.array, ([0, 2], [0, 3, 1, 4], [1]))
    ),
]


@cases(CASES)
def test_rule(case):
    check(case)


SECOND = [case for case in CASES if case.target in (np.quantile, np.nanvar, np.std, np.insert, np.partition, np.pad)]


@cases(SECOND[::3])
def test_second_order(case):
    check(case, second_order=True)


def test_the_derivative_by_the_rank_moves_with_the_elements():
    x, v = np.array([0.5, -0.7, 0.9, 0.1, 0.3]), np.arange(5.0)
    by_x, by_rank = ad.hvp(lambda x, q: np.quantile(x, q), (x, np.array(0.37)), (v, np.array(1.0)))
    # Between the second and the third of the sorted elements the quantile is x[3] + (4 q - 1) (x[4] - x[3]).
    np.testing.assert_allclose(by_x, [0.0, 0.0, 0.0, -4.0, 4.0])
    np.testing.assert_allclose(by_rank, 4.0 * (v[4] - v[3]))


def test_ranks_beyond_the_elements_do_not_move():
    _, pullback = registry.rule(np.quantile, (np.ndarray, float))(np.arange(4.0), 0.01, method="weibull")
    assert pullback(1.0)[1] == 0.0


def test_weights_given_by_name_get_their_cotangent_beside_a_list():
    assert ad.gradient(lambda w: np.bincount([0, 1, 1], weights=w)[1] * w[0], np.array([2.0, 3.0, 5.0]))[
        0
    ].tolist() == [
        *(8.0, 2.0, 2.0),
    ]
    assert ad.gradient(lambda y: np.outer([1.0, 2.0], b=y).sum(), np.ones(2))[0].tolist() == [3.0, 3.0]


def test_values_to_pad_with_have_tangents():
    def padded(x, c):
        return np.sum(np.arange(8.0) * np.pad(x, (1, 2), constant_values=(c, 2.0 * c)))

    args = np.arange(5.0), np.array(0.3)
    assert ad.gradient(padded, *args)[1] == 26.0
    assert ad.jvp(padded, args, (np.zeros(5), np.array(1.0)))[1] == 26.0


@pytest.mark.parametrize("name", ["constant_values", "end_values"])
@pytest.mark.parametrize("ends", [0.5, (0.5, 1.5), normal(2, 2), [0.25]])
def test_values_at_the_ends(name, ends):
    mode = "constant" if name == "constant_values" else "linear_ramp"
    weights = normal(5, 7)

    def f(x, ends):
        y = np.pad(x, WIDTHS[:2], mode, **{name: ends})
        return np.sum(weights * y * y)

    check_gradient(f, normal(2, 3), ends)


@pytest.mark.parametrize("f", [np.var, np.std, np.nanvar, np.nanstd])
def test_a_given_mean(f):
    def around(x, mean):
        y = f(x, 1, mean=mean)
        return np.sum(y * y)

    check_gradient(around, X, normal(2, 1, 4))
    check_gradient(lambda x: np.sum(f(x, 1, mean=np.mean(x, 1, keepdims=True)) ** 2), X)


def test_equal_elements_stand_for_the_first():
    assert ad.gradient(lambda x: np.unique(x)[1], np.array([3.0, 1.0, 3.0]))[0].tolist() == [1.0, 0.0, 0.0]
    assert ad.gradient(lambda x: np.pad(x, (0, 1), "maximum")[2], np.array([3.0, 3.0]))[0].tolist() == [1.0, 0.0]
    assert ad.gradient(lambda x: np.max(x, initial=3.0), np.array([3.0, 1.0]))[0].tolist() == [0.0, 0.0]


def test_a_function_that_pads_says_so():
    with pytest.raises(NotDifferentiable, match="mode"):
        ad.gradient(lambda x: np.pad(x, 1, lambda row, width, axis, options: None).sum(), np.ones(2))


def test_rules_of_views_with_strides():
    as_strided = np.lib.stride_tricks.as_strided
    check_rule(as_strided, normal(6), (2, 3), (8, 16), second_order=True)
    check_rule(as_strided, complexes(6), (2, 2), (16, 16))


@pytest.mark.parametrize("axis", [None, 0, 1], ids=str)
@pytest.mark.parametrize("function", [np.quantile, np.percentile, np.nanquantile, np.nanpercentile])
def test_weighted_quantiles_select_elements(function, axis):
    a, unit = normal(4, 5), 100 if "percentile" in function.__name__ else 1
    holes = np.where(a > 1.2, np.nan, a) if "nan" in function.__name__ else a
    weights = positive(4, 5)

    def total(a):
        y = function(holes + a, [0.3 * unit, 0.7 * unit], axis, method="inverted_cdf", weights=weights)
        return np.sum(y * y)

    check_gradient(total, np.zeros((4, 5)))
    assert (
        ad.gradient(lambda w: np.sum(function(a, 0.4 * unit, method="inverted_cdf", weights=w)), weights)[0].sum() == 0
    )


PRODUCTS = {
    "matmul": ({"dtype": float}, {"axes": [(0, 1), (1, 0), (1, 0)]}, {"casting": "same_kind", "order": "C"}),
    "vecdot": ({"keepdims": True}, {"axes": [0, 1, ()]}, {"axis": 0, "keepdims": True}, {"dtype": float, "axis": 0}),
    "matvec": ({"axes": [(1, 0), (0,), (0,)]}, {"dtype": float}),
    "vecmat": ({"axes": [(0,), (1, 0), (1,)]}, {"subok": False}),
}


@pytest.mark.parametrize("name, options", [(name, options) for name in PRODUCTS for options in PRODUCTS[name]], ids=str)
def test_products_with_options(name, options):
    product = getattr(np, name, None)
    if product is None:
        pytest.skip("not in this version of NumPy")

    def total(a, b):
        y = product(a, b, **options)
        return np.sum(y * np.cos(np.arange(y.size)).reshape(y.shape))

    check_gradient(total, normal(3, 3), normal(3, 3, seed=1))


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2)])
@pytest.mark.parametrize("ufunc", ufuncs.REDUCTIONS)
def test_reductions_of_ufuncs_have_the_axes_that_they_are_given(ufunc, axis, keepdims):
    weights = np.cumsum(np.ones_like(ufunc.reduce(X, axis=axis, keepdims=keepdims)).ravel())

    def f(x):
        return np.sum(weights * np.ravel(ufunc.reduce(x, axis=axis, keepdims=keepdims)))

    assert ad.withgradient(f, X)[0] == f(X)
    check_gradient(f, X)


@pytest.mark.parametrize("f", [np.nanmax, np.nanmin, np.fmax.reduce])
def test_extremes_among_numbers_that_stay_arrays(f):
    check_gradient(lambda x: np.sum(x / (9.0 + f(x, axis=None))), X)


@pytest.mark.parametrize("f", [np.sum, np.mean, np.std, np.nanvar, np.prod, np.max, np.nanmean])
def test_options_that_are_said_not_to_be_given(f):
    nothing = np._NoValue
    options = {"mean": nothing, "correction": nothing} if f in (np.std, np.nanvar) else {}

    def passed_on(x, keepdims=nothing, where=nothing):
        return np.sum(f(x, axis=0, keepdims=keepdims, where=where, **options) ** 2)

    for _ in range(2):
        np.testing.assert_allclose(ad.gradient(passed_on, X)[0], ad.gradient(lambda x: np.sum(f(x, axis=0) ** 2), X)[0])
    check_gradient(passed_on, X)


def by_options(x):
    kept = np.subtract(x[0], 2.0 * x[1], dtype=np.result_type(x, 1.0)) * np.sqrt(x[2] ** 2, casting="same_kind")
    total = np.zeros_like(x[3])
    for row in x:
        total = total + np.multiply(row, row, dtype=float)
    return np.sum(kept) + np.sum(total)


def test_options_of_ufuncs_in_programs():
    for x in (normal(4, 3) + 2.0, normal(5, 2)):
        check_gradient(by_options, x)
        check_gradient(by_options, 0.9 * x)


@pytest.mark.parametrize("f", [np.add, np.matmul])
def test_a_dtype_that_cannot_be_cast_to_is_an_error(f):
    for _ in range(2):
        with pytest.raises(TypeError):
            ad.gradient(lambda x: np.sum(f(x, x, dtype=int) * x), np.array([1.5, 2.0]))
