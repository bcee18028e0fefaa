from __future__ import annotations

import numpy as np
import pytest
from numpy_checks import Case, cases, check, normal
from scipy.spatial import distance

from autodiff_hook import gradient
from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.testing import check_gradient, check_rule

METRICS = ("euclidean", "sqeuclidean", "cityblock")
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


def test_other_metrics_are_errors():
    with pytest.raises(NotDifferentiable):
        gradient(lambda x: distance.pdist(x, "cosine").sum(), normal(3, 2))
    with pytest.raises(NotDifferentiable):
        gradient(lambda x: distance.pdist(x, "sqeuclidean", w=[1.0, 2.0]).sum(), normal(3, 2))
