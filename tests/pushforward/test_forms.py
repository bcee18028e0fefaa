"""Tangents in the form of gradients: what may be given, and what comes back."""

import numpy as np
import pytest
from programs import Point

import autodiff_hook as ad


class Vector:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y

    @property
    def length(self):
        return (self.x**2 + self.y**2) ** 0.5


def test_the_tangent_mirrors_the_value():
    def f(x):
        return {"a": [x, 2.0, "text"], "b": (x * x, None), "c": Point(x, 1), "d": np.array([x, 1.0]), "e": Vector(x, x)}

    value, tangent = ad.jvp(f, (3.0,), (1.0,))
    assert value["a"] == [3.0, 2.0, "text"] and tangent["a"] == [1.0, 0.0, None]
    assert tangent["b"] == (6.0, None)
    assert tangent["c"] == Point(1.0, 0.0) and isinstance(tangent["c"], Point)
    assert tangent["d"].tolist() == [1.0, 0.0]
    assert tangent["e"].x == tangent["e"].y == 1.0


def test_a_function_as_value():
    value, tangent = ad.jvp(lambda x: lambda y: x * y, (3.0,), (1.0,))
    assert value(2.0) == 6.0 and tangent.x == 1.0


def test_a_value_that_holds_itself():
    def f(x):
        xs = [x]
        xs.append(xs)
        return xs

    _, tangent = ad.jvp(f, (3.0,), (1.0,))
    assert tangent[0] == 1.0 and tangent[1] is tangent


def test_none_is_zero():
    assert ad.jvp(lambda x, y: x * y, (3.0, 5.0), (None, 2.0)) == (15.0, 6.0)
    assert ad.jvp(lambda p: p[0] * p[1], ([3.0, 5.0],), ([None, 2.0],)) == (15.0, 6.0)
    assert ad.jvp(lambda p: p["a"], ({"a": 3.0},), ({},)) == (3.0, 0.0)
    assert ad.jvp(lambda x: x, (3.0,), (None,)) == (3.0, 0.0)


def test_objects_take_tangents_and_dicts():
    v = Vector(3.0, 4.0)
    (gradient,) = ad.gradient(lambda v: v.length, v)
    assert ad.jvp(lambda v: v.length, (v,), (gradient,))[1] == pytest.approx(1.0)
    assert ad.jvp(lambda v: v.length, (v,), ({"x": 1.0},))[1] == pytest.approx(0.6)


def test_one_list_in_two_places():
    xs = [2.0]
    assert ad.jvp(lambda a, b: a[0] * b[0], (xs, xs), ([1.0], None))[1] == 4.0


def test_precision_and_freshness():
    v = np.ones(2, np.float32)
    value, tangent = ad.jvp(lambda v: v, (v,), (np.ones(2),))
    assert tangent.dtype == np.float32 and value is v
    direction = np.ones(2)
    assert ad.jvp(lambda v: v, (np.ones(2),), (direction,))[1] is not direction


@pytest.mark.parametrize(
    "primal, tangent, message",
    [
        (1.0, "x", r"tangents\[0\] must be a number"),
        (1.0, 1j, r"tangents\[0\] must be real"),
        (np.ones(2), np.ones(3), r"tangents\[0\] must be an array of the shape \(2,\)"),
        ([1.0, 2.0], [1.0], r"tangents\[0\] must be a list of 2 tangents"),
        ([1.0, (2.0,)], [1.0, 2.0], r"tangents\[0\]\[1\] must be a tuple of 1 tangents"),
        ([[1.0, 2.0], [3.0]], [[1.0, 2.0], ["x"]], r"tangents\[0\]\[1\]\[0\] must be a number"),
        ([[1.0], [3.0]], [[1.0], 2.0], r"tangents\[0\]\[1\] must be a list of 1 tangents"),
        ({"a": "text"}, {"a": 1.0}, r"tangents\[0\]\['a'\] must be None"),
        (Vector(1.0, 2.0), 1.0, r"tangents\[0\] must be a Tangent"),
    ],
)
def test_tangents_that_do_not_fit(primal, tangent, message):
    with pytest.raises(ad.Unsupported, match=message):
        ad.jvp(lambda x: x, (primal,), (tangent,))


def test_as_many_tangents_as_primals():
    with pytest.raises(ad.Unsupported, match="1 primals, but 2 tangents"):
        ad.jvp(lambda x: x, (1.0,), (1.0, 2.0))
    with pytest.raises(ad.Unsupported, match="not callable"):
        ad.jvp(3, (1.0,), (1.0,))


def test_primals_and_tangents_are_tuples():
    x = np.ones(2)
    for operator in (ad.jvp, ad.hvp):
        with pytest.raises(ad.Unsupported, match=r"primals is a tuple with one for each argument .* not ndarray"):
            operator(lambda a, b: a * b, x, x)
        with pytest.raises(ad.Unsupported, match=r"tangents is a tuple .* not ndarray"):
            operator(lambda a: np.sum(a * a), (x,), x)
        with pytest.raises(ad.Unsupported, match="tangents is a tuple"):
            ad.gradient(lambda y: operator(lambda a: np.sum(a * a), (y,), x)[0], x)
    assert ad.jvp(lambda a, b: a * b, [2.0, 3.0], [1.0, None]) == (6.0, 3.0)
