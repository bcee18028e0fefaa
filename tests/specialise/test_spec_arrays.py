"""Programs on arrays as they are written with NumPy: results that are named tuples, scalars of all types, views."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from specialised_cases import check, check_all_ways, check_slopes

RNG = np.random.default_rng(5)
X = RNG.normal(size=12)
SQUARE = RNG.normal(size=(4, 4))
POSITIVE = SQUARE @ SQUARE.T + 3 * np.eye(4)


def eigenvalues(a):
    w, v = np.linalg.eigh(a)
    return float(np.sum(np.log(w)) + v[0, 0] ** 2)


def eigenvalues_by_name(a):
    found = np.linalg.eigh(a)
    return float(found.eigenvalues.max() * found[1][0, 0] ** 2)


def singular_values(a):
    return float(np.linalg.svd(a).S.sum() + np.linalg.qr(a).R[0, 0])


def log_determinants(a):
    total = 0.0
    for k in range(3):
        sign, log = np.linalg.slogdet(a + k * np.eye(4))
        total += sign * log
    return float(total)


DIFFERENCES = np.subtract.outer


def outer_products(x):
    return float(np.sum(np.sin(np.add.outer(x, 2 * x)) * DIFFERENCES(x, x[:3]).sum()))


def sums_of_parts(x):
    counts = np.zeros(5)
    np.add.at(counts, np.array([0, 3, 3, 1]), x[:4])
    return float(np.sum(np.add.reduceat(x**2, [0, 2, 4]) ** 2) + counts @ counts)


def axes_of_a_range(x):
    return float(np.sum(np.expand_dims(x, tuple(range(x.ndim, x.ndim + 2))) ** 2))


@pytest.mark.parametrize("f", [outer_products, sums_of_parts, axes_of_a_range])
def test_definitions_of_rule_packs_are_followed(f):
    check(f, X)


@pytest.mark.parametrize("f", [eigenvalues, eigenvalues_by_name, singular_values, log_determinants])
def test_results_that_are_named_tuples(f):
    check(f, POSITIVE)


def halves(x):
    w = x.astype(np.float32)
    s = np.sum(w * w)
    return float(s * s + w[0])


def single(w):
    total = w[0] * w[1]
    for k in range(3):
        total = total + np.sum(w * k) * total
    return total


def whole(x):
    k = np.arange(len(x), dtype=np.int32)
    total = k[3] * x[0]
    for i in k:
        total += x[i] * i + k.max()
    return float(total)


def test_scalars_of_all_types():
    check(halves, X)
    check(single, X.astype(np.float32))
    check(single, X)
    check(whole, X)


def of_lists(x):
    return float(np.dot([1.0, 2.0, x], [x, 0.5, 3.0]) + np.convolve([x, 1.0], np.ones(3)).sum())


def of_matrices(x):
    rows = [[1.0, x], [x * x, 2.0]]
    return float(np.linalg.det(rows) + np.trace(np.dot(rows, (x, 1.0))[:, None] * np.ones((2, 2))))


def of_grown_lists(x):
    items = []
    for k in range(5):
        items.append(x**k)
    return float(np.subtract(items, (0.5, 1.0, x, 2.0, 3.0)) @ np.linspace(0, 1, 5))


@pytest.mark.parametrize("f", [of_lists, of_matrices, of_grown_lists])
def test_functions_of_arrays_are_given_lists(f):
    check_slopes(f, 0.7)
    check_slopes(f, -1.3)


def put_together(x):
    a = np.r_[x, 1.0, x * np.arange(3.0), 0:4, 0:1:3j]
    b = np.c_[a, np.ones(len(a)), a**2]
    c = np.r_[b, b * x][np.s_[1:-1]]
    return float(
        (c * np.linspace(0, 1, c.shape[0])[:, None]).sum() + np.c_[np.array([x, 1.0])][0, 0] * np.r_[[x, 2.0]][0]
    )


def grid_of_an_array_without_axes(x):
    both = np.r_[np.asarray(x)] * np.r_[np.array(2.0), np.asarray(x * x)]
    return float(both @ np.array([1.0, 3.0]))


def until_no_mask_is_true(x):
    y = np.asarray(x)
    mask = np.ones_like(y, dtype=np.bool_)
    while mask.sum():
        y = y * 0.5
        mask = np.abs(y) > 0.2
    return float(y * x)


def grids_in_loops(x):
    total = 0.0
    for k in range(4):
        row = np.r_[0.0, np.cumsum(np.r_[x * k, x, k])]
        total += row @ np.r_[1.0:5.0] * np.mgrid[0:4][k]
        total += np.sum(np.r_["-1", np.zeros((1, 2)), row[None, :], row[None, :2] * x] ** 3 @ np.arange(8.0))
        total += np.sum(np.r_["0", row, row[:2], 0:2] * np.arange(8.0))
    return float(total)


def limits(x):
    a = np.full(3, x)
    tiny = np.finfo(a.dtype).eps * 3 + np.finfo(float).tiny
    if a.dtype.kind != "f" or a.dtype.type is not np.float64 or a.dtype.itemsize > np.iinfo(np.int32).bits:
        return 0.0
    return float(np.sum(a / (a + tiny)) * x)


def no_attribute(x):
    t = np.exp(x)
    try:
        return float(t) * t.type
    except AttributeError:
        return float(t) * x


GRIDS = [put_together, grid_of_an_array_without_axes, until_no_mask_is_true, grids_in_loops, limits, no_attribute]


@pytest.mark.parametrize("f", GRIDS)
def test_grids_and_limits(f):
    check_slopes(f, 0.7)
    check_slopes(f, -1.3)


def normalised(x):
    v = np.array(x, dtype=np.float64, copy=True)
    v /= np.sqrt(np.dot(v, v))
    return float(v[0] * v[1])


def asked_before_it_is_changed(x):
    v = np.atleast_1d(x) / (np.max(np.abs(x), axis=0, keepdims=True) + 1e-9)
    size, steps, spread = np.linalg.norm(v, axis=0, keepdims=True), np.diff(v), np.einsum("i,j->ij", v, v)
    v /= size
    where = np.flatnonzero(size == 0)
    v[where] = 0.0
    return float(v @ np.arange(12.0) + steps[2] * spread[1, 2])


@pytest.mark.parametrize("f", [normalised, asked_before_it_is_changed])
def test_what_is_no_view_may_be_read_after_a_change(f):
    check(f, X)


def over_the_input(x):
    y = x * 1.0
    steps = np.diff(y, 0)
    y[0] = 3.0
    same = np.einsum("i->i", y)
    y[1] = 2.0
    return float(steps @ same)


def test_views_of_what_is_changed_are_known():
    check(over_the_input, X, specialised=None)


class Filter:
    def __init__(self, n, given):
        self.n, self.x = n, np.zeros((n, 1))
        z = np.array([None] * n)
        self.z = np.atleast_2d(z).T if given else np.array([[None] * n]).T

    def update(self, z):
        if z is None:
            self.z = np.array([[None] * self.n]).T
            return
        if z.shape != self.z.shape:
            raise ValueError(z.shape)
        self.x, self.z = self.x + 0.5 * (z - self.x), z


def arrays_of_nothing(k):
    f, s = Filter(2, k > 1.0), 0.0
    for i in range(4):
        f.update(None if i == 1 else np.array([[k], [k * i]]))
        s += f.x[0, 0] * f.x[1, 0]
    return s


def nothing_or_a_number(k):
    value, s = None, 0.0
    for i in range(3):
        found = np.array([value, value])
        s += found[0] * k if found[0] is not None else k
        value = k * i
    return s


def nothing_is_stored_into(k):
    found = np.array([None, None])
    found[0] = k
    return found[0] * k


@pytest.mark.parametrize("f", [arrays_of_nothing, nothing_or_a_number, nothing_is_stored_into])
def test_arrays_of_nothing(f):
    for k in (0.7, 1.3):
        check_slopes(f, k, specialised=True if f is arrays_of_nothing else None)


def densities(mean, cov, x):
    s = 0.0
    for i in range(3):
        s += stats.multivariate_normal.logpdf(x * i, mean, cov)
        s += stats.multivariate_normal.pdf(x, mean=mean, cov=cov)
    return s


def test_methods_of_objects_that_have_rules():
    check_all_ways(lambda a, b: densities(np.full(4, a), POSITIVE * b, X[:4]), 0.2, 1.1)
    check(densities, X[4:8], POSITIVE, X[:4])
