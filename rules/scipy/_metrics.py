"""Distances between vectors, the last axis, as formulas: those of ``scipy.spatial.distance``."""

import numpy as np

from autodiff_hook.errors import NotDifferentiable


def weighted(x, w):
    return x if w is None else x * w


def root(square):
    """The square root, whose derivative at 0 shall be 0."""
    return np.where(square > 0.0, np.sqrt(np.where(square > 0.0, square, 1.0)), 0.0)


def ratio(a, b):
    """a/b, or 0 where both are."""
    return np.where(b > 0.0, a / np.where(b > 0.0, b, 1.0), 0.0)


def sqeuclidean(x, y, w=None):
    return np.sum(weighted(np.square(x - y), w), -1)


def euclidean(x, y, w=None):
    return root(sqeuclidean(x, y, w))


def cityblock(x, y, w=None):
    return np.sum(weighted(np.abs(x - y), w), -1)


def chebyshev(x, y, w=None):
    return np.max(np.abs(x - y) if w is None else np.where(w > 0.0, np.abs(x - y), 0.0), -1)


def minkowski(x, y, p=2, w=None):
    if np.isinf(p):
        return chebyshev(x, y, w)
    total = np.sum(weighted(np.power(np.abs(x - y), p), w), -1)
    return np.where(total > 0.0, np.power(np.where(total > 0.0, total, 1.0), 1.0 / p), 0.0)


def canberra(x, y, w=None):
    return np.sum(weighted(ratio(np.abs(x - y), np.abs(x) + np.abs(y)), w), -1)


def braycurtis(x, y, w=None):
    return np.sum(weighted(np.abs(x - y), w), -1) / np.sum(weighted(np.abs(x + y), w), -1)


def cosine(x, y, w=None):
    inner, first, second = (np.sum(weighted(product, w), -1) for product in (x * y, x * x, y * y))
    return 1.0 - inner / np.sqrt(first * second)


def correlation(x, y, w=None):
    def centred(v):
        mean = np.mean(v, -1, keepdims=True) if w is None else np.sum(v * w, -1, keepdims=True) / np.sum(w)
        return v - mean

    return cosine(centred(x), centred(y), w)


def mahalanobis(x, y, VI):
    apart = x - y
    return root(np.sum(np.matmul(apart, VI) * apart, -1))


def seuclidean(x, y, V):
    return root(np.sum(np.square(x - y) / V, -1))


def jensenshannon(x, y, w=None):
    if w is not None:
        raise NotDifferentiable("the weighted Jensen-Shannon distance is not differentiated")
    p, q = x / np.sum(x, -1, keepdims=True), y / np.sum(y, -1, keepdims=True)
    mean = 0.5 * (p + q)
    return root(0.5 * np.sum(entropy(p, mean) + entropy(q, mean), -1))


def entropy(p, mean):
    """p log(p/mean), 0 where p is."""
    positive = p > 0.0
    return np.where(positive, p * np.log(np.where(positive, p, 1.0) / np.where(positive, mean, 1.0)), 0.0)


FORMULAS = {
    **dict.fromkeys(("euclidean", "euclid", "eu", "e"), euclidean),
    **dict.fromkeys(("sqeuclidean", "sqe", "sqeuclid"), sqeuclidean),
    **dict.fromkeys(("cityblock", "cblock", "cb", "c"), cityblock),
    **dict.fromkeys(("chebychev", "chebyshev", "cheby", "cheb", "ch"), chebyshev),
    **dict.fromkeys(("minkowski", "mi", "m", "pnorm"), minkowski),
    **dict.fromkeys(("cosine", "cos"), cosine),
    **dict.fromkeys(("correlation", "co"), correlation),
    **dict.fromkeys(("mahalanobis", "mahal", "mah"), mahalanobis),
    **dict.fromkeys(("seuclidean", "se", "s"), seuclidean),
    **dict.fromkeys(("jensenshannon", "js"), jensenshannon),
    "canberra": canberra,
    "braycurtis": braycurtis,
}
NAMES = {name: formula.__name__ for name, formula in FORMULAS.items()}
