"""Distances of all pairs of points, ``scipy.spatial.distance``.

At distance 0 the cotangent of the Euclidean distance is zero.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import distance

from autodiff_hook.errors import NotDifferentiable
from autodiff_rules._constants import COMPARES, IS_A_POSITION, declare_names
from autodiff_rules.numpy._shared import array_rrule, unbroadcast

METRICS = {
    **dict.fromkeys(("euclidean", "euclid", "eu", "e"), "euclidean"),
    **dict.fromkeys(("sqeuclidean", "sqe", "sqeuclid"), "sqeuclidean"),
    **dict.fromkeys(("cityblock", "cblock", "cb", "c"), "cityblock"),
}


def weights(ȳ, y, metric, options):
    """The derivative of the distances by half of their squares, times ȳ."""
    name = METRICS.get(metric.lower()) if isinstance(metric, str) else None
    if name is None or any(option is not None for option in options.values()):
        raise NotDifferentiable(
            f"distances with metric={metric!r} and these options are not differentiated; 'euclidean', 'sqeuclidean' "
            f"and 'cityblock' are"
        )
    if name == "euclidean":
        return name, np.where(np.equal(y, 0), 0.0, ȳ) / np.where(np.equal(y, 0), 1.0, y)
    return name, 2.0 * ȳ if name == "sqeuclidean" else ȳ


def towards(w, a, b):
    """The sum over j of w[i, j] (a[i] - b[j]); the origin is moved to lose no digits."""
    origin = np.mean(a, 0)
    return np.sum(w, 1)[:, None] * (a - origin) - np.matmul(w, b - origin)


def city(w, a, b):
    """The sum over j of w[i, j] sign(a[i] - b[j])."""
    return np.sum(w[:, :, None] * np.sign(a[:, None, :] - b[None, :, :]), 1)


@array_rrule(distance.pdist)
def pdist_rule(X, metric="euclidean", *, out=None, **options):
    y = distance.pdist(X, metric, **options)

    def pdist_pullback(ȳ):
        name, w = weights(ȳ, y, metric, options)
        w = distance.squareform(w, checks=False)
        points = np.asarray(X)
        return unbroadcast((city if name == "cityblock" else towards)(w, points, points), X), None

    return y, pdist_pullback


@array_rrule(distance.cdist, 2)
def cdist_rule(XA, XB, metric="euclidean", *, out=None, **options):
    y = distance.cdist(XA, XB, metric, **options)

    def cdist_pullback(ȳ):
        name, w = weights(ȳ, y, metric, options)
        part = city if name == "cityblock" else towards
        a, b = np.asarray(XA), np.asarray(XB)
        return unbroadcast(part(w, a, b), XA), unbroadcast(part(np.transpose(w), b, a), XB), None

    return y, cdist_pullback


@array_rrule(distance.squareform)
def squareform_rule(X, force="no", checks=True):
    y = distance.squareform(X, force, checks)

    def squareform_pullback(ȳ):
        if np.ndim(y) == 2:
            return unbroadcast(distance.squareform(ȳ + np.transpose(ȳ), "tovector", False), X), None, None
        return unbroadcast(np.triu(distance.squareform(ȳ, "tomatrix", False)), X), None, None

    return y, squareform_pullback


declare_names(distance, {IS_A_POSITION: "num_obs_dm num_obs_y", COMPARES: "is_valid_dm is_valid_y"})
