"""Trees of numbers and arrays: directions, products and differences; and what typed programs alone give."""

import numpy as np
import pytest

import autodiff_hook as ad
from autodiff_hook._testing_trees import cotangent, inner, leaves, mapped
from autodiff_hook.runtime.specialising import differentiated


def direction(point, seed=0):
    return cotangent(point, np.random.default_rng(seed))


def moved(point, tangents, step):
    return mapped(lambda x, v: x if v is None else x + step * v, point, tangents)


def slope(f, point, tangents, step=1e-6):
    """The derivative of a value along tangents, by central differences."""
    return (f(*moved(point, tangents, step)) - f(*moved(point, tangents, -step))) / (2 * step)


def slopes(f, point, tangents, step=1e-5):
    """The derivatives of gradients along tangents, by path."""
    up, down = (dict(leaves(ad.gradient(f, *moved(point, tangents, s)))) for s in (step, -step))
    return {path: (up[path] - down[path]) / (2 * step) for path in up}


def assert_slopes(found, expected):
    found = dict(leaves(found))
    assert found.keys() == expected.keys()
    for path, x in expected.items():
        assert found[path] == pytest.approx(x, rel=1e-5, abs=1e-6), path


def typed(form, f, point, tangents):
    """What a typed program of forward mode gives; the test fails if there is none."""
    found = differentiated(f, point, {}, form, lambda *_, **__: None, tangents=tangents)
    assert found is not None, "carried"
    return found


__all__ = ["assert_slopes", "direction", "inner", "moved", "slope", "slopes", "typed"]
