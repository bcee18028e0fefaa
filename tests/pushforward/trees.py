"""Trees of numbers and arrays: directions, products and differences; and what typed programs alone give."""

import copy

import numpy as np
import pytest

import autodiff_hook as ad
from autodiff_hook._testing_trees import cotangent, inner, leaves
from autodiff_hook.runtime.specialising import GENERIC, differentiated
from autodiff_hook.tangent import Tangent


def direction(point, seed=0):
    return cotangent(point, np.random.default_rng(seed))


def moved(point, tangents, step):
    """A point further along tangents; objects in it are copies."""
    if tangents is None:
        return point
    if isinstance(point, (list, tuple)):
        return type(point)([moved(x, v, step) for x, v in zip(point, tangents)])
    if isinstance(point, dict):
        return {key: moved(x, tangents.get(key), step) for key, x in point.items()}
    if not isinstance(tangents, Tangent):
        return point + step * tangents
    made = copy.copy(point)
    for name in tangents:
        setattr(made, name, moved(getattr(point, name), tangents[name], step))
    return made


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
    """What a typed program of forward mode gives; the test fails if there is none, is skipped if nothing is typed."""
    if GENERIC:
        pytest.skip("nothing is typed")
    found = differentiated(f, point, {}, form, lambda *_, **__: None, tangents=tangents)
    assert found is not None, "carried"
    return found


__all__ = ["assert_slopes", "direction", "inner", "slope", "slopes", "typed"]
