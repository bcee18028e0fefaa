"""Creation, conversion, selection, calculus of samples, and samples of distributions."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from numpy_checks import Case, cases, check, complexes, normal, positive, single

from autodiff_hook import gradient, strong
from autodiff_hook.registry import registry
from autodiff_hook.runtime.specialised_runtime import fitted
from autodiff_hook.testing import check_rule
from autodiff_rules.numpy import _shared, products, quantiles, rearranging
from autodiff_rules.numpy.selection import made_finite

X = normal(2, 3, 4)
MASK = np.array([True, False, True])
NESTED = (
    *([1.0, 2.0], (1.0, 2.5), [normal(2), normal(2, seed=1)], [[1.0, np.float64(2)], (3.0, 4.0)], [normal(), 2.0]),
    *([1, 2.5], [[1.0, 2.0], normal(2)], [], [1j, 2.0], [np.float32(0.5), 2], [[]], [[[1.0]], [[2.0]]]),
)
LEAVES = (normal(3), normal(2, 2).T, normal(), normal(0), single(3), complexes(2), 2.5, 3, 1j, np.float64(2.5))
MAKERS = (np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray, np.asarray_chkfinite, np.copy)
KNOTS, HEIGHTS = np.array([0.0, 1.0, 2.5, 4.0]), normal(4)
INSIDE, BEYOND = np.array([0.3, 1.7, 3.0, 1.1]), np.array([-0.5, 0.3, 3.9, 5.0])
LOW, HIGH = -0.4, np.array([0.2, 0.5, 0.9])

CASES = [
    *(Case(f, x, layouts=False) for f in MAKERS for x in (*NESTED, *LEAVES)),
    *(Case(f, [1.5, 2.5], np.float32, rounds=True) for f in MAKERS[:6]),
    *(Case(np.array, x, ndmin=3) for x in (normal(3), [1.0, 2.0], 2.5)),
    *(Case(np.full, (2, 3), x) for x in (2.5, normal(3), [1.0, 2.0, 3.0], np.float64(0.5), 1j)),
    *(Case(np.full_like, normal(2, 3), x) for x in (2.5, normal(3))),
    Case(np.full_like, [1.0, 2.0], 2.5),
    *(Case(np.kaiser, 7, beta) for beta in (0.5, 2.3, 8.6)),
    *(Case(f, 6, d) for f in (np.fft.fftfreq, np.fft.rfftfreq) for d in (0.5, -2.0)),
    *(
        Case(np.linspace, *ends, num=5)
        for ends in ((0.5, 2.0), (normal(2), 3.0), (normal(2), normal(2, seed=1)), ([1.0], 2))
    ),
    *(Case(np.linspace, normal(2), 3.0, num=4, axis=1, endpoint=e) for e in (False, True)),
    *(Case(np.linspace, 0.5, 2.0, num=n, endpoint=e, retstep=True) for n in (2, 5) for e in (False, True)),
    *(Case(np.linspace, 0.5, 2.0, num=n) for n in (0, 1)),
    *(Case(f, normal(2, 3), d) for f in (np.ndarray.astype, np.astype) for d in (float, complex)),
    *(Case(f, normal(2, 3), np.float32, rounds=True) for f in (np.ndarray.astype, np.astype)),
    *(Case(np.ndarray.astype, x, float) for x in (np.array([1, 2]), single(3), complexes(2).real)),
    Case(np.generic.astype, np.float64(2.5), np.float32, rounds=True),
    *(Case(np.ndarray.copy, x, *order) for x in (normal(2, 3), np.array([1, 2])) for order in ((), ("F",))),
    Case(np.ndarray.__copy__, normal(3)),
    Case(np.ndarray.__deepcopy__, normal(3), {}),
    Case(np.generic.__deepcopy__, np.float64(2.5), {}),
    Case(np.generic.__copy__, np.float64(2.5)),
    *(Case(np.ndarray.item, x) for x in (normal(), normal(1), normal(1, 1), single(1), complexes(1))),
    *(Case(np.ndarray.tolist, x) for x in (normal(), normal(3), X, single(2), complexes(2), normal(0))),
    *(
        Case(f, x)
        for f in (np.generic.item, np.generic.tolist)
        for x in (np.float64(2.5), np.float32(0.5), np.complex128(1j))
    ),
    *(Case(f, x) for f in (np.real, np.imag) for x in (normal(3), complexes(2, 2), 2.5, 1 + 2j, [1j, 2.0], single(2))),
    *(Case(f, x) for f in (np.ndarray.real, np.ndarray.imag) for x in (normal(3), complexes(2, 2), single(2))),
    *(Case(np.ndarray.T, x) for x in (normal(2, 3), normal(3), normal(0, 2), single(2, 1), complexes(2, 3))),
    *(Case(np.ndarray.mT, x) for x in (normal(2, 3, 4), single(2, 1), complexes(2, 3))),
    *(Case(np.generic.T, x) for x in (np.float64(2.5), np.complex128(1 + 2j))),
    *(Case(np.nextafter, x, y) for x, y in ((normal(3), normal(3, seed=1)), (normal(2, 1), 0.5), (0.3, 0.4))),
    *(Case(f, x) for f in (np.generic.real, np.generic.imag) for x in (np.float64(2.5), np.complex128(1 + 2j))),
    *(Case(f, x) for f in (np.ndarray.conj, np.ndarray.conjugate) for x in (normal(3), complexes(2, 2))),
    *(Case(f, x) for f in (np.generic.conj, np.generic.conjugate) for x in (np.float64(2.5), np.complex128(1 + 2j))),
    *(Case(np.angle, x, *deg) for x in (complexes(3), 1 + 2j, normal(3), [1j, 2.0]) for deg in ((), (True,))),
    *(Case(np.real_if_close, x) for x in (normal(3), complexes(3))),
    *(
        Case(cls, x)
        for cls in (np.float64, np.longdouble, np.complex128, np.clongdouble)
        for x in (2.5, np.float32(0.5), 3)
    ),
    *(Case(cls, 0.5, rounds=True, tolerances={"rtol": 1e-3, "atol": 1e-3}) for cls in (np.float32, np.complex64)),
    Case(np.float16, 0.5, rounds=True, tolerances={"rtol": 0.05, "atol": 0.05}),
    Case(np.float64, [1.0, 2.0]),
    *(
        Case(np.where, MASK, x, y)
        for x, y in ((normal(3), normal(3, seed=1)), (normal(2, 3), 2.5), (0.5, normal(3)), (1.5, 2.5))
    ),
    Case(np.where, MASK, [1.0, 2.0, 3.0], complexes(3)),
    Case(np.where, MASK, single(3), 0.0),
    *(Case(np.clip, x, LOW, HIGH) for x in (normal(2, 3), 0.3, 2.5, [1.0, -2.0, 0.5])),
    *(Case(np._core.umath.clip, normal(2, 3), *b) for b in ((LOW, HIGH), (normal(3, seed=1), 0.5), (HIGH, LOW))),
    *(Case(np.clip, normal(3), *b) for b in ((LOW, None), (None, HIGH), (HIGH, LOW), (normal(3, seed=1), 0.5))),
    *(Case(np.ndarray.clip, normal(2, 3), *b) for b in ((LOW,), (None, HIGH), (LOW, HIGH))),
    Case(np.generic.clip, np.float64(0.3), LOW, 0.2),
    Case(np.select, [MASK, np.array([True, True, False])], [normal(3), 2.5], 0.5),
    Case(np.select, [MASK[:, None], ~MASK[:, None]], (normal(3, 2), normal(2)), normal(2, seed=1)),
    *(Case(made_finite, x) for x in (np.array([1.0, np.nan, np.inf, -np.inf]), normal(3), 2.5, [1.0, np.nan])),
    Case(made_finite, np.array([1.0, np.nan, np.inf, -np.inf]), nan=0.5, posinf=2.0, neginf=-3.0),
    *(Case(np.diff, X, n=n, axis=a) for n in (0, 1, 2) for a in (0, 1, -1)),
    *(
        Case(np.unwrap, x, axis=a, period=p)
        for x in (7 * X, 5 * normal(4, 3))
        for a in (0, -1)
        for p in (2 * np.pi, 3.0)
    ),
    *(Case(np.unwrap, x, discont=4.0) for x in ([1.0, 9.0, -2.0], 9 * normal(1), 9 * single(4), normal(0))),
    *(Case(np.diff, x) for x in ([1.0, 3.0, 2.0], normal(1), single(4), complexes(3))),
    Case(np.diff, normal(2, 3), 1, -1, 0.5, normal(2, 2)),
    Case(np.diff, normal(2, 3), 0, -1, 0.5),
    *(Case(np.trapezoid, normal(0, 3), x, axis=0) for x in (None, normal(0))),
    Case(np.diff, normal(3), 1, -1, append=2.0),
    Case(np.ediff1d, normal(2, 3)),
    Case(np.ediff1d, [1.0, 4.0, 2.0], 0.5, [1.0, 2.0]),
    *(Case(np.trapezoid, normal(2, 3), axis=a) for a in (0, 1)),
    *(Case(np.trapezoid, normal(2, 3), x) for x in (positive(3), normal(2, 3, seed=1), [0.0, 1.0, 3.0])),
    Case(np.trapezoid, normal(3, 2), positive(3), axis=0),
    *(Case(np.trapezoid, normal(*shape), positive(2)) for shape in ((3,), (2, 3))),
    *(Case(np.trapezoid, normal(*shape), positive(3)) for shape in ((2,), (3, 2))),
    Case(np.trapezoid, [1.0, 2.0, 4.0], None, 0.5),
    Case(np.trapezoid, normal(3), None, positive(2)),
    *(Case(np.trapezoid, y, KNOTS) for y in (complexes(4), single(4))),
    *(Case(np.interp, x, KNOTS, HEIGHTS) for x in (INSIDE, BEYOND, 0.7, -1.0, INSIDE.reshape(2, 2))),
    *(Case(np.interp, INSIDE, KNOTS, y, layouts=False) for y in (complexes(4), [1.0, 2.0, 0.5, 4.0])),
    *(Case(np.interp, x, KNOTS, complexes(4)) for x in (0.7, 9.0)),
    *(Case(np.interp, x, KNOTS, HEIGHTS) for x in (9.0, np.float64(0.7), np.array(0.7), np.inf)),
    *(Case(np.interp, x, [0.5], [2.0]) for x in (0.1, 0.9)),
    *(Case(np.interp, x, np.uint8([0, 1, 200]), np.uint8([200, 100, 50])) for x in (np.array([0.3, 5.2]), 0.3)),
    Case(np.interp, np.array([0.3, 0.7]), [False, True], [True, False]),
    Case(np.interp, 0.7, KNOTS, HEIGHTS, 0.25, 1.5),
    Case(np.interp, -1.0, KNOTS, HEIGHTS, 0.25),
    Case(np.interp, [0.3, 0.4], [0.0, 1.0, 2.0], [1.0, 2.0, 0.5]),
    Case(np.interp, BEYOND, KNOTS, HEIGHTS, 0.25, 1.5),
    *(
        Case(f, normal(m), normal(n, seed=1), mode)
        for f in (np.convolve, np.correlate)
        for mode in ("full", "same", "valid")
        for m, n in ((5, 3), (3, 5), (4, 2), (2, 4), (1, 1), (3, 3))
    ),
    *(Case(f, complexes(4), complexes(2, seed=3)) for f in (np.convolve, np.correlate)),
    *(Case(f, [1.0, 2.0], normal(3)) for f in (np.convolve, np.correlate)),
    *(Case(np.sinc, x) for x in (normal(3), 0.5, complexes(2), 0.0)),
    *(Case(np.heaviside, x, y) for x, y in ((np.array([-1.0, 1.0]), normal(2)),)),
]


@cases(CASES)
def test_rule(case):
    check(case)


@pytest.mark.parametrize(
    "x", [normal(2, 3), normal(3), normal(2, 1), normal(), 1.5, single(3), np.array([1, 2, 3])], ids=str
)
def test_unbroadcast_and_expand_are_transposes(x):
    c = normal(2, 3, seed=5)
    small = _shared.unbroadcast(c, x)
    assert np.shape(small) == np.shape(x)
    again = registry.rule(_shared.unbroadcast, (np.ndarray, type(x)))(c, x)[1](small)[0]
    assert again.shape == c.shape
    np.testing.assert_allclose(np.sum(again * c), np.sum(small * small), rtol=1e-6)
    wide = _shared.stretched(small, c)
    np.testing.assert_allclose(np.sum(wide * c), np.sum(small * small), rtol=1e-6)
    narrow = registry.rule(_shared.stretched, (type(small), np.ndarray))(small, c)[1](c)[0]
    np.testing.assert_allclose(narrow, small, rtol=1e-6)
    if isinstance(x, np.ndarray):
        for widen in (_shared.expand, _shared.widened):
            back = registry.rule(widen, (np.ndarray, np.ndarray))(np.asarray(small), c)[1](c)[0]
            np.testing.assert_allclose(back, small, rtol=1e-6)


@pytest.mark.parametrize("shared", [_shared.expand_reduced, _shared.restore_axes])
@pytest.mark.parametrize(
    "c, axis, keepdims",
    [(normal(2, 4), 1, False), (normal(3), (0, 2), False), (normal(2, 1, 4), 1, True), (1.5, None, False)],
)
def test_cotangents_of_reductions(shared, c, axis, keepdims):
    check_rule(shared, c, X, axis, keepdims)


@pytest.mark.parametrize("make", [normal, complexes])
@pytest.mark.parametrize("rows, columns, others", [(3, 2, 4), (40, 16, 2), (40, 2, 3), (2, 3, 1)])
def test_products_with_a_transpose(make, rows, columns, others):
    check_rule(products.transposed_product, make(rows, columns), make(rows, others))


@pytest.mark.parametrize("size", [3, 20_000])
def test_expanded_numbers_are_whole_arrays(size):
    y = _shared.expand(2.5, np.zeros(size, np.float32))
    assert (y.shape, y.dtype, y.min(), y.max()) == ((size,), np.float32, 2.5, 2.5)


def test_nested_cotangents():
    c = _shared.nest(np.arange(3.0), [1.0, 2, np.float64(3.0)])
    assert c == [0.0, 1.0, 2.0]
    assert _shared.collect([None, 2.0], [1.0, 3.0]).tolist() == [0.0, 2.0]
    assert registry.rule(_shared.nest, (np.ndarray, list))(np.ones(2), [1.0, 2.0])[1]([None, 4.0])[0].tolist() == [
        0.0,
        4.0,
    ]
    assert registry.rule(_shared.collect, (list, list))([1.0, 2.0], [0.0, 0.0])[1](np.ones(2))[0] == [1.0, 1.0]


def test_scattered_diagonals():
    check_rule(rearranging.diagonal_matrix, (2, 3), np.dtype(float), 0, 0, 1, normal(2), atol=1e9)
    args = ((2, 3), np.dtype(float), 1, 0, 1, normal(2))
    _, pullback = registry.rule(rearranging.diagonal_matrix, tuple(map(type, args)))(*args)
    assert pullback(np.arange(6.0).reshape(2, 3))[-1].tolist() == [1.0, 5.0]


def test_helpers_of_pullbacks():
    x, row = normal(2, 3), normal(3)
    check_rule(_shared.unbroadcast, x, row, second_order=True)
    check_rule(fitted, x, row, second_order=True)
    check_rule(_shared.unbroadcast, complexes(2, 3), row)
    for spread in (_shared.expand, _shared.stretched, _shared.widened):
        check_rule(spread, row, x, second_order=True)
    for c, axis, keepdims in ((row, 0, False), (row[None], 0, True), (0.7, None, False)):
        for spread in (_shared.expand_reduced, _shared.restore_axes):
            check_rule(spread, c, x, axis, keepdims, second_order=True)
    check_rule(_shared.nest, row, [1.0, 2.0, 3.0], second_order=True)
    check_rule(_shared.collect, [row, (1.0, 2.0, 3.0)], [row, (1.0, 2.0, 3.0)])
    check_rule(strong.with_value, row, row + 1.0, differences=lambda plain, value: plain)
    check_rule(quantiles.moving_with, positive(3), row, positive(3), differences=lambda ranks, *_: ranks * positive(3))


def test_conjugates():
    check_rule(_shared.conj, complexes(3))
    check_rule(_shared.conj, 2.5)


@pytest.mark.parametrize(("place", "at"), [((1,), (0, 1)), ((-1,), (1, 2)), ((1, 0), (1, 0)), (((1, -1),), (1, 2))])
def test_item_at_a_place(place, at):
    x = normal(2, 3)
    y, pullback = registry.rule(np.ndarray.item, (np.ndarray,))(x, *place)
    assert y == x[at]
    x̄, *rest = pullback(2.0)
    assert (x̄[at], np.count_nonzero(x̄), rest) == (2.0, 1, [None] * len(place))


@pytest.mark.parametrize("function", [np.array, np.asarray])
def test_whole_parts_have_no_derivative(function):
    assert registry.rule(function, (np.ndarray, type))(normal(3), int)[1](np.ones(3))[0] is None


def test_astype_of_whole_parts_has_no_derivative():
    assert registry.rule(np.ndarray.astype, (np.ndarray, type))(normal(3), int)[1](np.ones(3))[0] is None


def test_integers_stay_differentiable():
    assert registry.rule(np.ndarray.astype, (np.ndarray, type))(np.array([1, 2]), np.int32)[1](np.ones(2))[
        0
    ].tolist() == [
        1,
        1,
    ]
    assert registry.rule(np.array, (list,))([1, 2], int)[1](np.ones(2))[0] == [1.0, 1.0]


def test_where_with_one_argument():
    y, pullback = registry.rule(np.where, (np.ndarray,))(MASK)
    assert [part.tolist() for part in y] == [[0, 2]]
    assert pullback([None]) == (None, None, None)


def test_where_lets_nothing_through_the_branch_not_taken():
    _, pullback = registry.rule(np.where, (np.ndarray,) * 3)(MASK, np.zeros(3), np.zeros(3))
    x̄, ȳ = pullback(np.array([1.0, np.inf, np.nan]))[1:]
    assert (x̄[1], ȳ[0], ȳ[2]) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(("lower", "upper"), [(0.0, 1.0), (0.0, 0.0)])
def test_clip_at_its_bounds_passes_the_cotangent_on(lower, upper):
    _, pullback = registry.rule(np.clip, (np.ndarray,))(np.array([lower, upper]), lower, upper)
    assert pullback(np.ones(2))[0].tolist() == [1.0, 1.0]


def test_clip_with_bounds_by_keyword():
    x = np.array([0.0, 0.5, 1.0])
    y, pullback = registry.rule(np.clip, (np.ndarray,))(x, min=0.2, max=0.8)
    assert np.array_equal(y, np.clip(x, min=0.2, max=0.8))
    x̄, _, _, _, lower, upper = pullback(np.array([1.0, 2.0, 4.0]))
    assert (x̄.tolist(), lower, upper) == ([0.0, 2.0, 0.0], 1.0, 4.0)


@pytest.mark.parametrize("args", [(0.5, 3.0, 0.5), (0.5, 3.0)])
def test_arange(args):
    places = np.arange(len(np.arange(*args)))
    check_rule(np.arange, *args, differences=lambda start, stop, step=1.0: start + step * places)
    _, pullback = registry.rule(np.arange, (float,) * len(args))(*args)
    count = len(np.arange(*args))
    assert pullback(np.ones(count)) == (count, None, count * (count - 1) / 2)


def test_arange_of_names():
    """``np.arange(start=a, step=s, stop=b)``."""

    def total(start, step):
        return np.sum(np.arange(start=start, step=step, stop=start + 3.5 * step) ** 2)

    for start, step in ((0.5, 0.7), (1.5, 0.25), (-0.5, 1.25)):
        places = start + step * np.arange(4)
        assert gradient(total, start, step) == pytest.approx((2 * places.sum(), 2 * (places * np.arange(4)).sum()))


def test_arange_of_a_stop():
    assert registry.rule(np.arange, (float,))(3.0)[1](np.ones(3))[0] is None


FAMILIES = {"normal": 2, "laplace": 2, "logistic": 2, "gumbel": 2, "uniform": 2, "exponential": 1, "rayleigh": 1}


@pytest.mark.parametrize("owner", [np.random.Generator, np.random.RandomState, np.random])
@pytest.mark.parametrize("name", FAMILIES)
def test_families_of_distributions(name, owner):
    """The same noise, moved and stretched: as the rule has it and by differences."""
    parameters = (np.array([0.5, 1.5]), np.array([2.0, 2.5]))[-FAMILIES[name] :]
    target = getattr(owner, name)

    def drawn(*parameters):
        if owner is np.random:
            np.random.seed(0)
            return target, parameters
        source = np.random.default_rng(0) if owner is np.random.Generator else np.random.RandomState(0)
        return target, (copy.deepcopy(source), *parameters)

    def sample(*parameters):
        function, args = drawn(*parameters)
        return function(*args)

    def sample_rule(*parameters):
        function, args = drawn(*parameters)
        y, back = registry.rule(function, tuple(map(type, args)))(*args)

        def sample_pullback(ȳ):
            cotangents = back(ȳ)
            assert len(cotangents) == len(args) + 1
            return cotangents[len(args) - len(parameters) : len(args)]

        return y, sample_pullback

    registry.add(sample, (), sample_rule)
    check_rule(sample, *parameters)


@pytest.mark.parametrize("name", ["random", "standard_normal", "integers"])
def test_samples_are_constants(name):
    assert registry.is_constant(getattr(np.random.Generator, name))


@pytest.mark.parametrize("name", ["choice", "permutation", "shuffle", "gamma", "multivariate_normal"])
def test_what_depends_on_its_arguments_is_no_constant(name):
    assert not registry.is_constant(getattr(np.random.Generator, name))
