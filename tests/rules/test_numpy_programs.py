"""What is differentiated through definitions in Python: writing in place, methods and options of ufuncs."""

from __future__ import annotations

import operator

import numpy as np
import pytest
from in_all_orders import check_orders
from numpy.lib.stride_tricks import as_strided
from numpy_checks import normal, positive
from scipy import special

import autodiff_hook as ad
from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.runtime.specialising import GENERIC
from autodiff_hook.testing import check_gradient

X, V, P = normal(3, 4), normal(5), positive(5)
MASK = np.array([True, False, True, True, False])
INF = float("inf")
BINARY = """
    add subtract multiply divide power maximum minimum fmax fmin arctan2 hypot logaddexp logaddexp2 fmod remainder
    copysign float_power
""".split()
UNARY = """
    sqrt exp exp2 log log2 log10 log1p expm1 sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arctanh
    absolute fabs square cbrt reciprocal sign negative positive degrees radians conjugate
""".split()


def written(write):
    """The program that lets ``write`` change a copy of its first argument."""

    def program(x, *others):
        y = x * 1.0
        write(y, *others)
        return y

    return program


WRITING = {
    "copyto": lambda y, v: np.copyto(y, v),
    "copyto where": lambda y, v: np.copyto(y, v * v, where=y[:1] > 0),
    "copyto of a number": lambda y, v: np.copyto(y, v[0], where=y > 0),
    "put": lambda y, v: np.put(y, [0, 5, -1], v[:2]),
    "put twice": lambda y, v: y.put([1, 1], v[:2]),
    "put clipped": lambda y, v: y.put([1, 99], v[:2], mode="clip"),
    "sort": lambda y, v: y.sort(),
    "sort along": lambda y, v: y.sort(axis=0),
    "partition": lambda y, v: y.partition(1, axis=0),
    "add.at": lambda y, v: np.add.at(y, (0, [1, 1, 2]), v[:3]),
    "add.at of rows": lambda y, v: np.add.at(y, [0, 2, 0], v),
    "subtract.at": lambda y, v: np.subtract.at(y, ([0, 0], [1, 1]), v[0]),
    "fill_diagonal": lambda y, v: np.fill_diagonal(y, v[0]),
    "fill_diagonal with 0": lambda y, v: np.fill_diagonal(y, 0.0),
    "flat": lambda y, v: operator.setitem(y.flat, slice(0, None, 3), 0.0),
    "put_along_axis": lambda y, v: np.put_along_axis(y, np.argmax(y, 1)[:, None], v[:3, None] ** 2, 1),
}


@pytest.mark.parametrize("name", WRITING)
def test_writing(name):
    write, others = WRITING[name], X[0] if "rows" in name or name in ("copyto", "copyto where") else V
    check_orders(written(write), X, others)


@pytest.mark.parametrize("name", BINARY)
def test_methods_of_ufuncs(name):
    f = getattr(np, name)
    check_orders(lambda x, y: f.outer(x, y), P, 3.0 * X[0] ** 2 + 1.0)
    check_orders(lambda x: f.accumulate(x + 0.1), P)
    check_orders(lambda x: f.accumulate(x, axis=1), positive(3, 4))
    check_orders(lambda x: f.accumulate(x + 0.1, axis=None), P)
    check_orders(lambda x: f.reduceat(x, range(len(x)), axis=(0,)), P)
    check_orders(lambda x: f.reduceat(x + 0.1, [0, 1, 3, 3]), P)
    check_orders(written(lambda y, x: f.at(y, [0, 1, 1], 2.0 * x + 0.3)), P, P[2:])


@pytest.mark.parametrize("name", BINARY)
def test_reductions_by_ufuncs(name):
    f, x = getattr(np, name), positive(3, 4)
    check_orders(lambda x: f.reduce(x, axis=0) * f.reduce(x, axis=-1, keepdims=True), np.float64(0.7))
    if np.allclose(f.reduce(x), f(f(x[0], x[1]), x[2])):
        check_orders(lambda x: f.reduce(x), x)
    else:
        with pytest.raises(NotDifferentiable, match="reduce does not give"):
            ad.gradient(lambda x: f.reduce(x).sum(), x)


@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "minimum", "logaddexp", "fmax"])
@pytest.mark.parametrize(
    "options", [{"axis": (0, 1)}, {"axis": 1, "keepdims": True}, {"axis": 1, "initial": 0.3}], ids=str
)
def test_options_of_reductions(name, options):
    f, x = getattr(np, name), positive(3, 4)
    if name != "logaddexp" or options["axis"] == 1:
        check_orders(lambda x: f.reduce(x, **options), x)
        check_orders(lambda x: f.reduce(x, 1, out=x[:, 0] * 0.0), x)


@pytest.mark.parametrize("name", ["fmax", "fmin"])
@pytest.mark.parametrize("options", [{}, {"axis": (0, 1)}, {"axis": 1, "keepdims": True}, {"initial": 0.9}], ids=str)
def test_reductions_that_pass_over_what_is_no_number(name, options):
    f, of_all, last = (np.fmax, np.max, -np.inf) if name == "fmax" else (np.fmin, np.min, np.inf)
    x = positive(3, 4)
    x[0, 1] = x[2, 2] = np.nan
    options = {"axis": 0, **options}

    def known(x):
        return np.sum(of_all(np.where(np.isnan(x), last, x), **options) ** 2)

    expected = ad.gradient(known, x)[0]
    assert np.array_equal(ad.gradient(lambda x: np.sum(f.reduce(x, **options) ** 2), x)[0], expected)


@pytest.mark.parametrize(
    "f", [np.nanmin, np.nanmax, lambda x: np.minimum.accumulate(x)[-1], lambda x: np.maximum.accumulate(x).sum()]
)
@pytest.mark.skipif(GENERIC, reason="nothing is typed")
def test_extremes_are_typed(f):
    def loss(x):
        return f(x * x)

    ad.gradient(loss, V)
    assert ad.explain(loss, V).functions[0].how == "typed"


FLAGS = np.arange(12).reshape(3, 4) % 5 > 1
OF_FLAGS = {
    "several": lambda x: np.where(np.logical_and.reduce([x > 0.3, x < 1.5, x * x < 2.0]), x * x, x),
    "along": lambda x: x[:, None] * np.logical_xor.reduce(FLAGS[:, :3], axis=1, keepdims=True),
    "where": lambda x: x * np.bitwise_or.reduce(FLAGS, 1, where=FLAGS, initial=False),
    "all": lambda x: x * np.logical_or.reduce(FLAGS, None),
    "divisors": lambda x: x * np.gcd.reduce(np.array([[4, 6, 3], [8, 9, 2]])),
    "chosen": lambda x: sum(np.sum(x * np.logical_and.reduce(FLAGS, axis)) for axis in (1, None, (0, 1))),
    "histogram": lambda x: np.histogram(np.array([0.1, 0.4, 0.7]), bins=4, range=(0.2, 0.9), weights=x)[0],
}


@pytest.mark.parametrize("name", OF_FLAGS)
def test_reductions_without_derivative(name):
    f = OF_FLAGS[name]
    check_orders(f, positive(3))
    with ad.install(__name__):
        assert GENERIC or ad.explain(lambda x: np.sum(f(x)), positive(3)).functions[0].how == "typed"


@pytest.mark.parametrize("f", [np.logaddexp, np.logaddexp2])
def test_options_of_logarithms_of_sums(f):
    check_orders(lambda x, y: f.reduce(x, 0, where=x > 0.5, initial=y), positive(3, 4), positive()[()])
    check_orders(lambda x: f.reduce(x, -1, float, None, True, None), positive(3, 4))
    check_orders(lambda x: f.reduce(x, where=x > 0.5), positive(3))


@pytest.mark.parametrize("f", [np.logaddexp, np.logaddexp2])
@pytest.mark.parametrize("operator", [ad.gradient, lambda f, x: (ad.jacfwd(f)(x),)], ids=["gradient", "jacfwd"])
def test_logarithms_of_sums_of_infinities(f, operator):
    def shares(x, *options):
        return operator(lambda x: f.reduce(x, 0, None, None, False, *options), np.array(x))[0].tolist()

    assert shares([-INF, 0.0, -INF]) == [0.0, 1.0, 0.0]
    assert shares([-INF, -INF, -INF, -INF]) == [0.25] * 4
    assert shares([-INF, -INF, -INF], -INF) == [0.25] * 3
    assert shares([INF, 800.0, INF, -INF]) == [0.5, 0.0, 0.5, 0.0]
    assert shares([0.0, 5000.0, INF], -INF, [True, False, False]) == [1.0, 0.0, 0.0]
    assert shares([]) == []


@pytest.mark.parametrize("name", BINARY)
def test_options_of_ufuncs_of_two_arguments(name):
    f = getattr(np, name)
    check_orders(lambda x: f(x, 2.0 * x + 0.3, out=0.5 * x, where=MASK), P)
    check_orders(lambda x: f(x, 2.0 * x + 0.3, out=None, where=MASK)[MASK], P)
    check_orders(lambda x: f(x, 2.0 * x + 0.3, dtype=float, casting="same_kind"), P)


@pytest.mark.parametrize("name", UNARY)
def test_options_of_ufuncs_of_one_argument(name):
    f = getattr(np, name)
    check_orders(lambda x: f(x, out=0.5 * x, where=MASK), P)
    check_orders(written(lambda y: f.at(y, [0, 2])), P)


@pytest.mark.parametrize("dtype", [np.dtype(float), type(np.dtype(float)), np.float32])
def test_options_beside_known_numbers(dtype):
    def f(x):
        return x * np.subtract(0.75, 0.25, dtype=dtype)

    for mode in (lambda x: ad.gradient(f, x)[0], lambda x: ad.jvp(f, (x,), (1.0,))[1]):
        assert mode(1.5) == 0.5
    assert GENERIC or ad.explain(f, 1.5).functions[0].how == "typed"


def test_what_is_not_computed_is_not_warned_of():
    def shares(x):
        rest = x - x[0]
        return np.divide(x, rest, out=np.zeros_like(x), where=rest != 0)

    check_orders(shares, V)


def test_an_accumulated_maximum_follows_the_first_of_equal_elements_and_nan():
    x = np.array([1.0, 3.0, 3.0, np.nan, 5.0])
    gradient = ad.jacobian(lambda x: np.maximum.accumulate(x))(x)
    assert np.argmax(gradient, 1).tolist() == [0, 1, 1, 3, 3]


@pytest.mark.parametrize("name", ["sig", "signature"])
def test_signatures(name):
    def f(x, signature):
        return np.sum(np.add(x * x, x, **{name: signature}))

    for signature in ("dd->d", (float, float, float)):
        check_gradient(lambda x, signature=signature: f(x, signature), V)
    for signature in ("fd->d", (None, None, float)):
        with pytest.raises(NotDifferentiable, match="signature"):
            ad.gradient(f, V, signature)


def test_options_of_functions_of_scipy():
    check_gradient(lambda x: special.xlogy(x, x, casting="same_kind", order="K", out=None, dtype=float).sum(), P)


def test_parts_of_several_results():
    chosen = np.arange(len(V)) % 2 == 0
    check_gradient(lambda x: np.sum(np.modf(x, out=(None, None), where=chosen)[0][chosen] ** 2), V)


def strided_then_changed(x):
    y = x * 1.0
    windows = as_strided(y, (3, 3), (8, 8))
    y[1] = x[0] * x[2]
    return windows * windows


PROGRAMS = {
    "choose": (lambda x: np.choose([0, 1, 2, 0], x), X),
    "choose of a list": (lambda x: np.choose([0, 1, 1, 0], [x[0], x[1] ** 2]), X),
    "choose wrapped": (lambda x: np.array([0, 1, 5, -1]).choose(x, mode="wrap"), X),
    "vander": (lambda x: np.vander(x, 3, increasing=True), V),
    "cumulative_sum": (lambda x: np.cumulative_sum(x, axis=1, include_initial=True), X),
    "cumulative_prod": (lambda x: np.cumulative_prod(x, axis=1), X),
    "histogram": (lambda w: np.histogram([0.0, 1, 1, 3, 2], 3, weights=w, density=True)[0], P),
    "histogram2d": (lambda w: np.histogram2d(np.arange(5.0), np.arange(5.0) ** 2, 3, weights=w)[0], P),
    "vectorize": (lambda x: np.vectorize(lambda a, b: a * b if a > 0 else -a)(x, x[0]), X),
    "vectorize to two": (lambda x: np.vectorize(lambda a: (a * a, -a))(x), X),
    "vectorize with types": (lambda x: np.vectorize(lambda a: a * a, otypes=[float])(x), X),
    "vectorize with a signature": (lambda x: np.vectorize(lambda a: a * a.sum(), signature="(n)->(n)")(x), X),
    "vectorize but one": (lambda x: np.vectorize(lambda a, k: a * a * k, excluded=["k"])(x, k=2), X),
    "apply_along_axis": (lambda x: np.apply_along_axis(lambda row: row * row.sum(), 1, x), X),
    "ediff1d": (lambda x: np.ediff1d(x, to_end=x[:2]), V),
    "nanmax": (lambda x: np.nanmax(np.where(x > 1, np.nan, x), axis=1), X),
    "nancumsum": (lambda x: np.nancumsum(np.where(x > 1, np.nan, x), axis=1), X),
    "unique_inverse": (lambda x: np.unique_inverse(x)[0], X),
    "union1d": (lambda x: np.union1d(x, 2.0 * x[:2]), V),
    "einsum of lists": (lambda x: np.einsum(x, [0, 1], x, [0, 2], [1, 2]), X),
    "einsum of lists alone": (lambda x: np.einsum(x, [..., 0], x, [..., 0]), X),
    "interp with a period": (
        lambda x, xp, fp, period: np.interp(x, xp, fp, period=period),
        *(3.0 * P, np.array([0.1, 1.25, 0.6, 0.9]), V[:4], np.array(1.1)),
    ),
    "average along two axes": (lambda a, w: np.average(a, (1, 2), w), normal(2, 3, 4), positive(3, 4)),
    "average along axes in another order": (lambda a, w: np.average(a, (2, 0), w), normal(2, 3, 4), positive(4, 2)),
    "sum of weights": (lambda w: np.average(X, weights=w, axis=1, returned=True), positive(4)),
    "quantile with weights": (lambda x: np.quantile(x, [0.2, 0.37], weights=P, method="inverted_cdf"), V),
    "quantile without weights": (lambda x: np.quantile(x, 0.37, weights=None), V),
    "percentile with weights": (
        lambda x: np.percentile(x, 30, axis=1, weights=positive(3, 4), method="inverted_cdf", keepdims=True),
        X,
    ),
    "as_strided": (lambda x: as_strided(x, (3, 3), (8, 8)), V),
    "as_strided backwards": (lambda x: as_strided(x[1:] * 1.0, (2, 2), (8, 16)), V),
    "as_strided of what changes": (strided_then_changed, V),
    "matmul to an array": (lambda x: np.matmul(x, x.T, out=np.zeros((3, 3))), X),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    check_orders(*PROGRAMS[name])


def test_strides_beyond_an_array_say_so():
    with pytest.raises(NotDifferentiable, match="leads out"):
        ad.gradient(lambda x: as_strided(x[1:3].copy(), (2,), (16,))[0], V)
    with pytest.raises(NotDifferentiable, match="C order"):
        ad.gradient(lambda x: as_strided(x[::2], (2,), (8,)).sum(), V)


MASKED = {
    "average": (lambda a: np.average(a, 1, [1.0, 0.0]), np.array([[1.0, 2.0], [np.inf, np.nan]]), [[1, 0], [0, 0]]),
    "average by weights": (lambda w: np.average([[1.0, 2.0], [np.inf, 3.0]], 1, w), np.ones(2), [-0.25, 0.25]),
    "interp": (lambda fp: np.interp([0.5, 1.5], [0.0, 1, 2], fp), np.array([1.0, 2, np.inf]), [0.5, 0.5, 0.0]),
    "interp by place": (lambda x: np.interp(x, [0.0, 1, 2], [1, 2, np.inf]), np.array([0.5, 1.5]), [1.0, 0.0]),
}


@pytest.mark.parametrize("name", MASKED)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_is_masked_stays_zero(name):
    f, x, expected = MASKED[name]
    assert ad.gradient(lambda x: np.where([True, False], f(x), 0.0).sum(), x)[0].tolist() == expected
