"""Distances of all pairs of points, ``scipy.spatial.distance``; the rules of trees of points are loaded with them.

At distance 0 the cotangent of the Euclidean distance is zero.
"""

import numpy as np
from scipy.spatial import distance

from autodiff_hook import pullback
from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.extend import cotangents, fresh
from autodiff_rules._constants import COMPARES, IS_A_POSITION, declare_names
from autodiff_rules.numpy._shared import array_rrule, unbroadcast
from autodiff_rules.scipy import neighbours as neighbours
from autodiff_rules.scipy._metrics import FORMULAS, NAMES

PAIRED = ("euclidean", "sqeuclidean", "cityblock")
"""Metrics whose cotangents are written for all pairs at once; those of the others come of their formulas."""


def weights(ȳ, y, name):
    """The derivative of the distances by half of their squares, times ȳ."""
    if name == "euclidean":
        return np.where(np.equal(y, 0), 0.0, ȳ) / np.where(np.equal(y, 0), 1.0, y)
    return 2.0 * ȳ if name == "sqeuclidean" else ȳ


def is_paired(metric, options):
    return name_of(metric) in PAIRED and all(option is None for option in options.values())


def name_of(metric):
    """The metric by its first name."""
    name = NAMES.get(metric.lower()) if isinstance(metric, str) else getattr(metric, "__name__", None)
    if name not in NAMES or callable(metric) and metric is not getattr(distance, name, None):
        raise NotDifferentiable(f"distances with metric={metric!r} are not differentiated")
    return name


def options_of(name, options, points):
    """The options that are given, and those that are otherwise made of all points."""
    given = {key: option for key, option in options.items() if option is not None}
    if name == "seuclidean" and "V" not in given:
        return given | {"V": np.var(points, 0, ddof=1)}
    if name == "mahalanobis" and "VI" not in given:
        return given | {"VI": np.linalg.inv(np.cov(np.transpose(points)))}
    return given


def pairs_formula(metric, options):
    name = name_of(metric)

    def distances(x):
        first, second = np.triu_indices(len(x), 1)
        return FORMULAS[name](x[first], x[second], **options_of(name, options, x))

    return distances


def table_formula(metric, options):
    name = name_of(metric)

    def distances(a, b):
        return FORMULAS[name](a[:, None, :], b[None, :, :], **options_of(name, options, np.concatenate((a, b))))

    return distances


def towards(w, a, b):
    """The sum over j of w[i, j] (a[i] - b[j]); the origin is moved to lose no digits."""
    origin = np.sum(a, 0) / max(len(a), 1)
    return np.sum(w, 1)[:, None] * (a - origin) - np.matmul(w, b - origin)


def city(w, a, b):
    """The sum over j of w[i, j] sign(a[i] - b[j])."""
    return np.sum(w[:, :, None] * np.sign(a[:, None, :] - b[None, :, :]), 1)


@array_rrule(distance.pdist)
def pdist_rule(X, metric="euclidean", *, out=None, **options):
    y = distance.pdist(X, metric, **options)

    def pdist_pullback(ȳ):
        points = np.asarray(X)
        if not np.size(points):
            return np.zeros_like(X, float), None
        if not is_paired(metric, options):
            return unbroadcast(pullback(pairs_formula(metric, options), points)[1](ȳ)[0], X), None
        w = distance.squareform(weights(ȳ, y, name_of(metric)), checks=False)
        return unbroadcast((city if name_of(metric) == "cityblock" else towards)(w, points, points), X), None

    return y, pdist_pullback


@array_rrule(distance.cdist, 2)
def cdist_rule(XA, XB, metric="euclidean", *, out=None, **options):
    y = distance.cdist(XA, XB, metric, **options)

    def cdist_pullback(ȳ):
        a, b = np.asarray(XA), np.asarray(XB)
        if not is_paired(metric, options):
            ā, b̄ = pullback(table_formula(metric, options), a, b)[1](ȳ)
            return unbroadcast(ā, XA), unbroadcast(b̄, XB), None
        w = weights(ȳ, y, name_of(metric))
        part = city if name_of(metric) == "cityblock" else towards
        return unbroadcast(part(w, a, b), XA), unbroadcast(part(np.transpose(w), b, a), XB), None

    return y, cdist_pullback


fresh(distance.pdist, distance.cdist, distance.squareform)


@cotangents(distance.squareform, "X, force='no', checks=True")
def squareform_cotangent(ȳ, y, X):
    if not np.size(X):
        return np.zeros_like(X, float)
    if np.ndim(y) == 2:
        return unbroadcast(distance.squareform(ȳ + np.transpose(ȳ), "tovector", False), X)
    return unbroadcast(np.triu(distance.squareform(ȳ, "tomatrix", False)), X)


declare_names(distance, {IS_A_POSITION: "num_obs_dm num_obs_y", COMPARES: "is_valid_dm is_valid_y"})
