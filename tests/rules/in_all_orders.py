"""A program in all modes: values, gradients, tangents and second derivatives against differences."""

from __future__ import annotations

import numpy as np

import autodiff_hook as ad
from autodiff_hook.testing import check_gradient

_STEP = 1e-6


def check_orders(f, *args):
    """``f``, which returns an array or a tuple of such, of arrays: gradient, jvp and hvp of a weighted sum."""
    with ad.install(__name__, f.__module__):
        _check(f, args)


def _check(f, args):
    def loss(*args):
        return weighed(f(*args))

    check_gradient(loss, *args)
    rng = np.random.default_rng(0)
    tangents = tuple(rng.standard_normal(np.shape(x)) for x in args)
    gradients = ad.gradient(loss, *args)
    pushed = ad.jvp(loss, args, tangents)[1]
    np.testing.assert_allclose(pushed, sum(map(inner, gradients, tangents)), rtol=1e-8, atol=1e-10)
    ahead, behind = (ad.gradient(loss, *map(moved, args, tangents, [s] * len(args))) for s in (_STEP, -_STEP))
    for second, a, b in zip(ad.hvp(loss, args, tangents), ahead, behind):
        if a is not None:
            np.testing.assert_allclose(0.0 if second is None else second, (a - b) / (2 * _STEP), rtol=1e-4, atol=1e-5)


def weighed(y):
    """A sum that each element has its own weight in, once plain and once squared."""
    if isinstance(y, (tuple, list)):
        total = 0.0
        for part in y:
            total = total + weighed(part)
        return total
    array = np.asarray(y)
    weights = np.cos(np.arange(array.size)).reshape(array.shape)
    if np.iscomplexobj(array):
        return np.sum(weights * np.real(array)) - np.sum(weights * np.imag(array))
    return np.sum(weights * array) + 0.5 * np.sum(array * array)


def inner(gradient, tangent):
    return 0.0 if gradient is None else float(np.sum(gradient * tangent))


def moved(x, tangent, step):
    return x + step * tangent
