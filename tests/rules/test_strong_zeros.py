"""What is zero in a cotangent or tangent stays zero, though a local derivative is infinite or undefined."""

from __future__ import annotations

import cmath
import math
import warnings

import numpy as np
import pytest
from corpus.modes import RUN
from corpus.registry import Program
from hypothesis import given
from hypothesis import strategies as st

import autodiff_hook as ad
from autodiff_hook.strong import contraction, over, times
from autodiff_hook.testing import check_rule

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
NAN, INF = math.nan, math.inf


def require(function, *args, mode, expected=None):
    RUN[mode](Program("masks", function.__name__, function, lambda: tuple(np.copy(x) for x in args), expected))


UNDEFINED = {
    "sqrt": (np.sqrt, [0.0, -1.0, NAN, INF]),
    "cbrt": (np.cbrt, [0.0, NAN]),
    "log": (np.log, [0.0, -2.0, NAN]),
    "log2": (np.log2, [0.0, -2.0]),
    "log10": (np.log10, [0.0, -2.0]),
    "log1p": (np.log1p, [-1.0, -3.0]),
    "exp": (np.exp, [INF, NAN, 1e4]),
    "sin": (np.sin, [INF, NAN]),
    "tanh": (np.tanh, [NAN]),
    "arcsin": (np.arcsin, [1.0, -1.0, 2.0]),
    "arccos": (np.arccos, [1.0, -1.0, 2.0]),
    "arctanh": (np.arctanh, [1.0, -1.0, 2.0]),
    "reciprocal": (lambda x: 1.0 / x, [0.0, INF]),
    "quotient": (lambda x: np.sin(x) / x, [0.0, INF]),
    "product": (lambda x: x * np.log(x), [0.0, -1.0]),
    "power": (lambda x: x**0.5, [0.0, -1.0]),
    "negative power": (lambda x: np.power(x, -1.5), [0.0, -1.0]),
    "own power": (lambda x: x**x, [-1.0]),
    "abs": (np.abs, [NAN]),
    "chain": (lambda x: np.exp(1.0 / np.sqrt(x)), [0.0, -1.0]),
    "hypot": (lambda x: np.hypot(x, x), [INF, NAN]),
    "arctan2": (lambda x: np.arctan2(x, x * x), [INF, NAN]),
    "logaddexp": (lambda x: np.logaddexp(x, 2.0 * x), [INF, -INF, NAN]),
}


@pytest.mark.parametrize("mode", RUN)
@pytest.mark.parametrize("name", UNDEFINED)
def test_masked(name, mode):
    function, bad = UNDEFINED[name]
    x = np.array([0.3, *bad, 0.7])
    good = np.array([True, *[False] * len(bad), True])

    def masked(y):
        return np.sum(np.where(good, function(np.where(good, y, x)), 0.0) + 0.0 * np.where(good, y, 0.0))

    def unmasked(y):
        return np.sum(np.where(good, function(x + y), 0.0))

    require(masked, np.where(good, x, 0.5), mode=mode)
    at = np.where(good, 0.01, 0.0)
    require(unmasked, at, mode=mode)
    assert np.all(ad.gradient(unmasked, at)[0][~good] == 0.0)


ROWS = np.array([[0.3, 0.4], [0.0, 0.0], [1.0, -2.0]])


def normalised(x):
    norm = np.sqrt(np.sum(x * x, axis=1, keepdims=True))
    return np.sum(np.where(norm > 0, x / norm, 0.0) * np.array([1.0, 2.0]))


@pytest.mark.parametrize("mode", RUN)
def test_rows_divided_by_their_norms(mode):
    expected = np.zeros((3, 2))
    for i in (0, 2):
        a, b = ROWS[i]
        r = math.hypot(a, b)
        expected[i] = (1 / r - a * (a + 2 * b) / r**3, 2 / r - b * (a + 2 * b) / r**3)
    if mode == "hvp":
        assert not np.isnan(ad.hvp(normalised, (ROWS,), (np.ones((3, 2)),))[0]).any()
    else:
        require(normalised, ROWS, mode=mode, expected=tuple(expected.ravel()))


WEIGHTS, MATRIX = np.array([0.0, 1.0]), np.array([[INF, 1.0], [1.0, 2.0]])
CONTRACTIONS = {
    "dot": (lambda x: np.dot(WEIGHTS, np.sqrt(x)), [0.0, 4.0], [0.0, 0.25]),
    "matmul": (lambda x: WEIGHTS @ np.sqrt(x), [0.0, 4.0], [0.0, 0.25]),
    "matrix": (lambda x: (MATRIX @ x)[1], [1.0, 2.0], [1.0, 2.0]),
    "vector": (lambda x: np.dot(x, MATRIX)[1], [1.0, 2.0], [1.0, 2.0]),
    "square": (
        lambda x: np.sum((np.ones((2, 2)) * x) @ MATRIX[:, ::-1] * np.array([1.0, 0.0])),
        [1.0, 2.0],
        [2.0, 4.0],
    ),
    "outer": (lambda x: np.outer(x, [NAN, 1.0])[:, 1].sum(), [1.0, 2.0], [1.0, 1.0]),
    "inner": (lambda x: np.inner(x, MATRIX.T)[1], [1.0, 2.0], [1.0, 2.0]),
    "einsum": (lambda x: np.einsum("ij,j->i", MATRIX, x)[1], [1.0, 2.0], [1.0, 2.0]),
    "tensordot": (lambda x: np.tensordot(MATRIX, x, 1)[1], [1.0, 2.0], [1.0, 2.0]),
    "kron": (lambda x: np.kron(np.array([NAN, 1.0]), x)[2:].sum(), [1.0, 2.0], [1.0, 1.0]),
}


@pytest.mark.parametrize("mode", [mode for mode in RUN if mode != "hvp"])
@pytest.mark.parametrize("name", CONTRACTIONS)
def test_contractions(name, mode):
    function, x, expected = CONTRACTIONS[name]
    require(function, np.array(x), mode=mode, expected=tuple(expected))


NUMBERS = {
    "sqrt": (lambda x: 0.0 * math.sqrt(x) + x, 0.0, 1.0),
    "chosen": (lambda x: min(x * INF, 1.0) + x, 2.0, 1.0),
    "list": (lambda x: [math.sqrt(x), x][1], 0.0, 1.0),
    "sum": (lambda x: sum([w * y for w, y in zip((0.0, 1.0), (math.sqrt(x), 3 * x))]), 0.0, 3.0),
    "power": (lambda x: 0.0 * x**0.5 + x, 0.0, 1.0),
    "asin": (lambda x: 0.0 * math.asin(x) + x, 1.0, 1.0),
    "branch": (lambda x: math.sqrt(x) if x > 0 else 2.0 * x, 0.0, 2.0),
    "square of root": (lambda x: math.sqrt(x * x) + x, 0.0, 1.0),
    "scalar of NumPy": (lambda x: np.float64(0.0) * np.sqrt(x) + x, 0.0, 1.0),
}


FLAT = {
    "square": (lambda x: x**2, 0.0),
    "third power": (lambda x: pow(x, 3), 0.0),
    "power of math": (lambda x: math.pow(x, 2), 0.0),
    "exponent": (lambda x: 1.0 - 1.0**x, 0.5),
    "exponent of math": (lambda x: 1.0 - math.pow(1.0, x), 0.5),
    "exponent of pow": (lambda x: 1.0 - pow(1.0, x), 0.5),
    "item": (lambda x: np.array([x, x])[0] ** 2, 0.0),
    "cos": (lambda x: 1.0 - math.cos(x), 0.0),
    "cosh": (lambda x: math.cosh(x) - 1.0, 0.0),
    "exp": (lambda x: math.exp(-x), 1e4),
    "tanh": (lambda x: 1.0 - math.tanh(x), 40.0),
    "erf": (lambda x: 1.0 - math.erf(x), 40.0),
    "atan": (lambda x: 0.0 * math.atan(x), 1e200),
    "atan2": (lambda x: 0.0 * math.atan2(0.0, x), 2.0),
    "hypot": (lambda x: math.hypot(x, x), 0.0),
    "dist": (lambda x: math.dist([x, x], [0.0, 0.0]), 0.0),
    "prod": (lambda x: math.prod([x, x]), 0.0),
    "cmath": (lambda x: 1.0 - cmath.cos(complex(x, 0.0)).real, 0.0),
    "complex power": (lambda x: (complex(x, 0.0) ** 2).real, 0.0),
}


@pytest.mark.parametrize("mode", [mode for mode in RUN if mode != "hvp"])
@pytest.mark.parametrize("name", FLAT)
def test_flat_numbers_below_an_infinite_cotangent(name, mode):
    flat, x = FLAT[name]
    RUN[mode](Program("flat", name, lambda x: math.sqrt(flat(x)) + 2.0 * x, lambda: (x,), (2.0,)))


@pytest.mark.parametrize("mode", [mode for mode in RUN if mode != "hvp"])
@pytest.mark.parametrize("name", NUMBERS)
def test_numbers(name, mode):
    function, x, expected = NUMBERS[name]
    RUN[mode](Program("masks", name, function, lambda: (x,), (expected,)))


@pytest.mark.parametrize("name", NUMBERS)
def test_second_order_is_defined(name):
    function, x, _ = NUMBERS[name]
    assert not math.isnan(ad.hvp(function, (x,), (1.0,))[0])


def test_what_is_really_undefined_stays_so():
    assert np.isnan(ad.gradient(lambda x: np.sum(np.sqrt(x)), np.array([-1.0, 4.0]))[0]).tolist() == [True, False]
    assert np.isnan(ad.jvp(lambda x: np.sum(np.sqrt(x)), (np.array([-1.0, 4.0]),), (np.ones(2),))[1])
    assert math.isnan(ad.gradient(lambda x: x * NAN, 2.0)[0])
    assert ad.gradient(lambda x: np.sum(np.sqrt(x)), np.array([0.0]))[0] == INF


@pytest.mark.parametrize(
    "differentiate",
    [ad.gradient, lambda f, x: ad.withgradient(f, x)[1], lambda f, x: ad.pullback(f, x)[1](1.0)],
    ids=["gradient", "withgradient", "pullback"],
)
def test_no_function_runs_twice_for_long(differentiate):
    calls = []
    here = ad.nondifferentiable(lambda: calls.append(1))

    def masked(x):
        here()
        return np.sum(np.where(x > 0, np.sqrt(x), 0.0))

    for _ in range(40):
        assert differentiate(masked, np.array([4.0, 0.0]))[0].tolist() == [0.25, 0.0]
    assert len(calls) <= 44


def test_the_adjoint_does_not_warn():
    def masked(x):
        with np.errstate(all="ignore"):
            return np.sum(np.where(x > 0, x * np.log(x) / np.sqrt(x), 0.0))

    x = np.array([0.0, -1.0, 1.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ad.gradient(masked, x)[0].tolist() == [0.0, 0.0, 1.0]
        assert ad.jvp(masked, (x,), (np.ones(3),))[1] == 1.0
        assert ad.hvp(masked, (x,), (np.ones(3),))[0].tolist() == [0.0, 0.0, 0.0]


def test_rules_of_others():
    def steep(x):
        return np.sign(x) * np.sqrt(np.abs(x))

    @ad.rrule(steep, ad.Array)
    def steep_rule(x):
        y = steep(x)

        def steep_pullback(ȳ):
            return (over(ȳ, 2.0 * np.abs(y)),)

        return y, steep_pullback

    def masked(x):
        return np.sum(np.where(x > 0, steep(x), 0.0))

    x = np.array([0.0, 4.0])
    for _ in range(3):
        assert ad.gradient(masked, x)[0].tolist() == [0.0, 0.25]
    assert ad.jvp(masked, (x,), (np.ones(2),))[1] == 0.25


VALUES = st.sampled_from([0.0, -0.0, 1.0, -2.0, INF, -INF, NAN])


@given(st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=4))
def test_sums_of_products_skip_zeros(pairs):
    a, b = np.array(pairs).T
    products = [x * y for x, y in pairs if x and y]
    expected = sum(products)
    with np.errstate(all="ignore"):
        found = contraction(np.dot, a, b)
        single = times(a, b)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(single, [x * y if x and y else 0.0 for x, y in pairs])
    assert [times(x, y) for x, y in pairs] == pytest.approx([x * y if x and y else 0.0 for x, y in pairs], nan_ok=True)


@given(VALUES, VALUES.filter(lambda y: y != 0))
def test_quotients(x, y):
    expected = x / y if x and not math.isinf(y) else 0.0
    assert over(x, y) == pytest.approx(expected, nan_ok=True)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(over(np.array([x]), y), [expected])


@pytest.mark.parametrize("product", [times, over])
@pytest.mark.parametrize("a", [1.5, 1.5 - 0.5j, np.array([1.5, -2.0]), np.array([[0.5], [1.0 + 2.0j]])], ids=repr)
@pytest.mark.parametrize("b", [0.7, 0.7 + 0.3j, np.array([0.7, -1.2]), np.array([0.4 - 1.0j, 2.0])], ids=repr)
def test_the_rules_of_the_products(product, a, b):
    check_rule(product, a, b)


def test_what_is_too_large_to_be_squared_makes_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ad.gradient(lambda x: np.sum(x * 1e200), np.ones(3))[0].tolist() == [1e200] * 3
        assert ad.jvp(lambda x: np.sum(x * 1e200), (np.ones(3),), (np.ones(3),))[1] == 3e200


def log_of_a_sum(x):
    return np.log(np.sum(np.exp(x - np.max(x)))) + np.max(x)


def of_sigmoids(x):
    return np.sum(1.0 / (1.0 + np.exp(-x)))


def over_some(x):
    return np.sum(1.0 / x, where=x > 0)


@pytest.mark.parametrize(
    "function, x, expected, looked_at",
    [
        (log_of_a_sum, [0.0, -INF, 0.0], [0.5, 0.0, 0.5], "no_nan_if_infinite"),
        (lambda x: np.sum((x * x) ** 2), [2.0, INF], [32.0, INF], "no_nan_if_infinite"),
        (of_sigmoids, [0.0, -1e4], [0.25, 0.0], "runtime.no_nan"),
        (over_some, [2.0, 0.0], [-0.25, 0.0], "runtime.no_nan"),
    ],
)
def test_where_programs_look(function, x, expected, looked_at):
    x = np.array(x)
    assert f"{looked_at} %" in ad.code_adjoint(function, x)
    for _ in range(3):
        np.testing.assert_allclose(ad.gradient(function, x)[0], expected)


@pytest.mark.parametrize("rows", [1, 3])
def test_sums_of_a_factor_are_looked_at_with_the_product(rows):
    X = np.ones((rows, 4)) / 4.0

    def layer(W, b):
        return of_sigmoids(X @ W + b)

    W, b = np.zeros((4, 3)), np.array([0.0, -1e4, 0.0])
    assert ad.code_adjoint(layer, W, b).count("no_nan") == 1
    for _ in range(3):
        W̄, b̄ = ad.gradient(layer, W, b)
        np.testing.assert_allclose(b̄, [0.25 * rows, 0.0, 0.25 * rows])
        np.testing.assert_allclose(W̄, np.array([0.0625, 0.0, 0.0625]) * rows * np.ones((4, 1)))


@pytest.mark.parametrize("mode", RUN)
def test_real_numbers_have_no_imaginary_part_that_varies(mode):
    def f(x):
        z = x / np.array([0.0, 2.0])
        return np.sum(x + np.sqrt(np.imag(z)) + np.sqrt(x.imag) + z.imag)

    require(f, np.array([0.5, 2.0]), mode=mode, expected=np.ones(2))
