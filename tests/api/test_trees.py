"""Trees of parameters: leaves, flattened and as vectors for optimisers; sums and multiples of gradients of objects."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, namedtuple
from dataclasses import dataclass

import numpy as np
import pytest

import autodiff_hook as ad

Pair = namedtuple("Pair", "a b")


@dataclass
class Layer:
    w: np.ndarray
    b: float
    name: str = "layer"
    size: int = 3


def params():
    return {
        "layers": [Layer(np.arange(4.0).reshape(2, 2), 0.5), Layer(np.ones(2), -1.0)],
        "pair": Pair(1.5, (2.0, None)),
    }


def loss(p):
    total = p["pair"].a * p["pair"].b[0]
    for layer in p["layers"]:
        total += layer.size * np.sum(layer.w**2) + layer.b * layer.b
    return total


def test_leaves_in_order():
    leaves = ad.tree_leaves(params())
    assert [np.shape(leaf) for leaf in leaves] == [(2, 2), (), (), (2,), (), (), (), ()]
    assert leaves[-2:] == [1.5, 2.0] and ad.tree_leaves("text") == []
    assert ad.tree_leaves(ad.gradient(lambda layer: layer.b * 2.0, Layer(np.ones(1), 3.0)))[1] == 2.0


def test_flattened_and_rebuilt():
    tree = params()
    leaves, rebuild = ad.tree_flatten(tree)
    doubled = rebuild([2 * leaf for leaf in leaves])
    assert type(doubled["pair"]) is Pair and doubled["layers"][1].b == -2.0 and tree["layers"][1].b == -1.0
    assert doubled["layers"][0].name == "layer"
    with pytest.raises(ad.Unsupported, match="8 leaves, and 3"):
        rebuild([1.0, 2.0, 3.0])


def test_a_vector_and_back():
    tree = params()
    vector, unravel = ad.ravel(tree)
    assert vector.tolist() == [0.0, 1.0, 2.0, 3.0, 0.5, 1.0, 1.0, -1.0, 1.5, 2.0]
    again = unravel(vector)
    assert again["layers"][0].size == 3 and type(again["layers"][0].b) is float and again["pair"] == tree["pair"]
    assert np.array_equal(again["layers"][0].w, tree["layers"][0].w)
    with pytest.raises(ad.Unsupported, match="10 floats"):
        unravel(vector[1:])


def test_kinds_of_leaves():
    vector, unravel = ad.ravel([np.float32(2.5), np.ones(2, np.float32), np.arange(3), True, 7, np.zeros((0, 2))])
    assert vector.dtype == np.float64 and vector.tolist() == [2.5, 1.0, 1.0]
    back = unravel(vector)
    assert back[1].dtype == np.float32 and back[2].dtype == np.arange(3).dtype and back[3:5] == [True, 7]
    assert back[5].shape == (0, 2) and ad.ravel("text")[0].shape == (0,)
    with pytest.raises(ad.Unsupported, match="complex"):
        ad.ravel([1j])


def test_what_is_made_of_a_vector_is_differentiated():
    tree = params()
    vector, unravel = ad.ravel(tree)
    value, slope = ad.value_and_grad(lambda v: loss(unravel(v)))(vector)
    (expected,) = ad.gradient(loss, tree)
    assert value == loss(tree)
    assert slope.tolist() == pytest.approx(
        [*expected["layers"][0].w.ravel(), expected["layers"][0].b, *expected["layers"][1].w, expected["layers"][1].b]
        + [expected["pair"].a, expected["pair"].b[0]]
    )
    hessian = ad.hessian(lambda v: loss(unravel(v)))(vector)
    assert np.allclose(hessian, hessian.T) and hessian[0, 0] == pytest.approx(6.0)


def test_gradients_of_objects_are_vectors():
    def energy(layer, x):
        return layer.b * x * x + np.sum(layer.w) * x

    layer = Layer(np.ones(2), 3.0)
    one, two = (ad.gradient(energy, layer, x)[0] for x in (1.0, 2.0))
    total = one + two
    assert total.b == 5.0 and total.w.tolist() == [3.0, 3.0] and total.name is None
    assert (two - one).b == 3.0 and (-one).b == -1.0 and (two / 2).b == 2.0 and (2 * one).b == (one * 2).b == 2.0
    assert sum([one, two], 0 * one).b == 5.0
    stepped = ad.tree_map(lambda p, g: p - g, layer, 0.1 * one)
    assert stepped.b == pytest.approx(2.9)


def test_nested_gradients_and_none():
    a = ad.gradient(lambda o: o.x[0] * o.d["k"], Object([1.0, 2.0], {"k": 3.0, "n": "t"}))[0]
    total = a + 2.0 * a
    assert total.x == [9.0, 0.0] and total.d == {"k": 3.0, "n": None}
    part = type(a)("Object", {"x": None})
    assert (part + a).x == a.x and (part - a).x == [-3.0, 0.0] and (a - part).d == a.d
    with pytest.raises(ValueError, match="2 and of 1"):
        a + type(a)("Object", {"x": [1.0]})
    with pytest.raises(TypeError):
        a + 1.0
    with pytest.raises(TypeError):
        a * a


class Object:
    def __init__(self, x, d):
        self.x, self.d = x, d


def test_arithmetic_of_gradients_is_differentiated():
    def norm(k):
        g = ad.gradient(lambda o: o.x[0] ** 2 * k, Object([2.0], {}))[0]
        return (2.0 * g + g).x[0]

    assert ad.grad(norm)(3.0) == 12.0


class Track:
    """A container of its own: what counts is under names, the rest is kept."""

    __slots__ = ("_points", "name", "scale")

    def __init__(self, points, scale, name="a"):
        self._points, self.scale, self.name = points, scale, name

    def length(self):
        return self.scale * sum(p * p for p in self._points)


def parts_of_track(track):
    return {"_points": track._points, "scale": track.scale}


def track_like(track, parts):
    return type(track)(parts["_points"], parts["scale"], track.name)


class Named(Track):
    __slots__ = ()


ad.register_tree(Track, parts_of_track, track_like)


@pytest.mark.parametrize("cls", [Track, Named])
def test_registered_containers_are_trees(cls):
    tree = {"t": cls([1.0, 2.0], 3.0, "x"), "n": 4.0}
    assert ad.tree_leaves(tree) == [1.0, 2.0, 3.0, 4.0]
    leaves, rebuild = ad.tree_flatten(tree)
    made = rebuild([10 * leaf for leaf in leaves])["t"]
    assert type(made) is cls and (made._points, made.scale, made.name) == ([10.0, 20.0], 30.0, "x")
    both = ad.tree_map(lambda a, b: a + b, tree["t"], made)
    assert both._points == [11.0, 22.0] and tree["t"]._points == [1.0, 2.0]


def test_gradients_fit_registered_containers():
    track = Track([1.0, 2.0], 3.0)
    (slope,) = ad.gradient(Track.length, track)
    stepped = ad.tree_map(lambda p, g: p - 0.1 * g, track, slope)
    assert stepped._points == pytest.approx([0.4, 0.8]) and stepped.scale == pytest.approx(2.5)
    assert ad.tree_map(lambda p, g: p + g, track, {"_points": [1.0, 1.0], "scale": 0.0})._points == [2.0, 3.0]


def test_registered_containers_as_vectors_are_differentiated():
    track = Track([1.0, 2.0], 3.0)
    vector, unravel = ad.ravel(track)
    assert vector.tolist() == [1.0, 2.0, 3.0]
    slope = ad.grad(lambda v: unravel(v).length())(vector)
    assert slope.tolist() == [6.0, 12.0, 5.0]


def test_what_cannot_be_registered():
    for cls in (list, float, np.ndarray, str, ad.Tangent):
        with pytest.raises(ad.Unsupported, match="already"):
            ad.register_tree(cls, dict, lambda value, parts: value)
    with pytest.raises(ad.Unsupported, match="a class"):
        ad.register_tree(3.0, dict, lambda value, parts: value)


def test_dicts_of_every_type():
    for tree in (OrderedDict(a=1.0), defaultdict(list, a=1.0)):
        found = ad.tree_map(lambda x: 2 * x, tree)
        assert type(found) is type(tree) and found == {"a": 2.0} and tree == {"a": 1.0}
    assert ad.tree_map(lambda x: x, defaultdict(list, a=1.0))["b"] == []
    assert ad.grad(lambda x: ad.tree_map(lambda v: v * v, OrderedDict(a=x))["a"])(3.0) == 6.0
