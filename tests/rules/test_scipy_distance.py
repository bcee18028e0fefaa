from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from numpy_checks import Case, cases, check, normal
from scipy.spatial import KDTree, cKDTree, distance

from autodiff_hook import gradient, hvp, jvp
from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.testing import check_gradient, check_rule

METRICS = ("euclidean", "sqeuclidean", "cityblock")
OTHERS = "minkowski chebyshev canberra braycurtis cosine correlation jensenshannon seuclidean mahalanobis".split()
W = np.array([0.5, 1.5, 0.9])
CASES = [
    *(Case(distance.pdist, x, m) for m in METRICS for x in (normal(4, 3), normal(2, 1), normal(3, 2).tolist())),
    *(Case(distance.cdist, normal(4, 3), normal(2, 3, seed=1), m) for m in METRICS),
    Case(distance.cdist, normal(4, 2), [[1.0, 2.0]]),
    Case(distance.squareform, normal(6)),
    Case(distance.squareform, normal(4, 4), checks=False),
]


@cases(CASES)
def test_rule(case):
    check(case)


@pytest.mark.parametrize("metric", METRICS[:2])
def test_second_order(metric):
    check_rule(distance.pdist, normal(3, 2), metric, second_order=True)
    check_rule(distance.cdist, normal(3, 2), normal(2, 2, seed=1), metric, second_order=True)


OPTIONS = [
    *((metric, {}) for metric in OTHERS),
    *((metric, {"w": W}) for metric in (*METRICS, *OTHERS[:6])),
    *(("minkowski", {"p": p}) for p in (1.5, 3, np.inf)),
    ("seuclidean", {"V": W}),
    ("mahalanobis", {"VI": np.diag(W)}),
    (distance.cosine, {}),
]


def along(f, args, directions):
    """The derivative of f by finite differences, and from its gradient."""
    above, below = (f(*[x + s * v for x, v in zip(args, directions)]) for s in (1e-6, -1e-6))
    return (above - below) / 2e-6, sum(np.sum(x̄ * v) for x̄, v in zip(gradient(f, *args), directions))


@pytest.mark.parametrize("metric, options", OPTIONS)
def test_metrics_by_their_formulas(metric, options):
    """Not by ``check_gradient``: their cotangents are compiled at the second call, when the last digits may change."""
    x, y = np.abs(normal(5, 3)), np.abs(normal(2, 3, seed=1))
    for v in (normal(5, 3, seed=2), normal(5, 3, seed=3)):
        expected, found = along(lambda x: np.sum(distance.pdist(x, metric, **options) ** 3), (x,), (v,))
        assert found == pytest.approx(expected, rel=1e-6)
        expected, found = along(lambda *a: np.sum(distance.cdist(*a, metric, **options) ** 3), (x, y), (v, y))
        assert found == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("metric", OTHERS)
def test_all_operators_agree(metric):
    def f(x):
        return np.sum(distance.pdist(x, metric) ** 3)

    x, v = np.abs(normal(5, 3)), normal(5, 3, seed=2)
    slope = jvp(f, (x,), (v,))[1]
    assert slope == pytest.approx((f(x + 1e-6 * v) - f(x - 1e-6 * v)) / 2e-6, rel=1e-6)
    assert np.sum(gradient(f, x)[0] * v) == pytest.approx(slope)
    differences = (gradient(f, x + 1e-6 * v)[0] - gradient(f, x - 1e-6 * v)[0]) / 2e-6
    np.testing.assert_allclose(hvp(f, (x,), (v,))[0], differences, rtol=1e-4, atol=1e-5)


def test_kernel_matrix():
    def f(x, scale):
        return np.sum(np.exp(-0.5 * distance.squareform(distance.pdist(x / scale, metric="sqeuclidean"))) ** 2)

    check_gradient(f, normal(4, 2), 0.7)


def test_far_from_the_origin():
    x = normal(3, 2)
    near, far = (gradient(lambda x: distance.pdist(x)[0] ** 2, x + shift)[0] for shift in (0.0, 1e7))
    assert np.allclose(near, far, rtol=1e-7)


def test_equal_points():
    assert np.array_equal(gradient(lambda x: distance.pdist(x).sum(), np.ones((2, 2)))[0], np.zeros((2, 2)))


def test_what_is_unknown_is_an_error():
    with pytest.raises(NotDifferentiable, match="metric"):
        gradient(lambda x: distance.pdist(x, "hamming").sum(), normal(3, 2))
    with pytest.raises(NotDifferentiable, match="option"):
        gradient(lambda w: distance.pdist(normal(3, 2), "sqeuclidean", w=w).sum(), np.ones(2))


class Neighbours:
    def __init__(self, tree, points):
        found = tree.query_ball_point(points - 0.0, r=np.full(len(points), 1.5))
        self.rows = [np.array(found[i]) for i in range(len(points))]


def cubes(points, rows, i):
    row = rows[i]
    row = row[np.sum((points[row] - points[i]) ** 2, 1) < 2.0]
    return np.sum((points[row] - points[i]) ** 3)


def of_neighbours(tree_of):
    def energy(points):
        tree = tree_of(points)
        near = tree.query_ball_point(points - 0.0, r=1.5)
        pairs = [points[row] - points[i] for i, row in enumerate(near)]
        first, second = tree.query_pairs(1.4, output_type="ndarray").T
        rows = Neighbours(tree, points).rows
        near = [cubes(points, rows, i) for i in range(len(points))]
        return sum(near) + sum([np.sum(d**3) for d in pairs]) + np.sum((points[first] * points[second]) ** 2)

    return energy


@pytest.mark.parametrize("tree_of", [cKDTree, KDTree, lambda x: cKDTree(x, copy_data=True)])
def test_which_points_are_near_has_no_derivative(tree_of):
    points = np.random.default_rng(0).normal(size=(6, 3))
    for scale in (1.0, 1.1, 1.0):
        check_gradient(of_neighbours(tree_of), scale * points)


POINTS = np.random.default_rng(0).normal(size=(7, 3))
ASKED = np.random.default_rng(1).normal(size=(2, 3))


@pytest.mark.parametrize("tree_of", [cKDTree, KDTree])
@pytest.mark.parametrize(
    "read",
    [
        lambda tree, x: tree.query(ASKED)[0],
        lambda tree, x: tree.query(x, k=2)[0][:, 1],
        lambda tree, x: tree.query(ASKED, k=[2, 4], p=1)[0],
        lambda tree, x: tree.query(ASKED[0], p=np.inf)[0],
        lambda tree, x: np.nan_to_num(tree.query(x, k=3, distance_upper_bound=1.8)[0], posinf=0.0),
        lambda tree, x: x[tree.query(ASKED, k=2)[1]] * tree.n,
        lambda tree, x: np.outer(tree.maxes, tree.mins) + tree.data[2] * tree.m,
        lambda tree, x: KDTree(POINTS).query(x[0] + ASKED)[0],
    ],
)
def test_distances_and_places_of_a_tree(read, tree_of):
    def f(x):
        return np.sum(read(tree_of(x), x) ** 2 * 1.5)

    for scale in (1.0, 1.1, 1.0):
        check_gradient(f, scale * POINTS)
    v = np.cos(np.arange(POINTS.size)).reshape(POINTS.shape)
    there, here = (gradient(f, POINTS + h * v)[0] for h in (1e-6, -1e-6))
    np.testing.assert_allclose(hvp(f, (POINTS,), (v,))[0], (there - here) / 2e-6, rtol=1e-5, atol=1e-5)


def test_distances_in_a_periodic_box():
    def f(x):
        return np.sum(
            KDTree(x, boxsize=[2.0, 0.0, 3.0]).query(np.array([[0.1, 0.2, 0.1], [1.9, 0.5, 2.9]]), k=3)[0] ** 3
        )

    check_gradient(f, np.remainder(POINTS, 2.0))


class Labelled(KDTree):
    def query(self, x, **options):
        return super().query(np.asarray(x) * 1.0, **options)[0]


def test_trees_of_a_derived_class():
    check_gradient(lambda x: np.sum(Labelled(POINTS).query(x, k=2)), ASKED)
    with pytest.raises(NotDifferentiable, match="Labelled"):
        gradient(lambda x: np.sum(Labelled(x).query(ASKED, k=2)), POINTS)


@pytest.mark.parametrize(
    "read",
    [
        lambda tree: tree.sparse_distance_matrix(tree, 2.0).sum(),
        lambda tree: tree.tree.split,
        lambda tree: copy.copy(tree).data[0, 0],
        lambda tree: pickle.loads(pickle.dumps(tree)).data[0, 0],
    ],
)
def test_what_is_read_out_of_a_tree_otherwise_is_an_error(read):
    for tree_of in (cKDTree, KDTree):
        with pytest.raises(NotDifferentiable):
            gradient(lambda x, tree_of=tree_of: read(tree_of(x)), POINTS)
