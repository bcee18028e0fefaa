"""``jacobian``, ``jacrev`` and ``jacfwd``: by rows and by columns, which have to agree; ``linearize``."""

from __future__ import annotations

import math
from collections import namedtuple

import numpy as np
import pytest

from autodiff_hook import Tangent, Unsupported, grad, gradient, jacfwd, jacobian, jacrev, jvp, linearize, pullback
from autodiff_hook.runtime.specialising import GENERIC

Pair = namedtuple("Pair", "a b")


class Model:
    def __init__(self, k, w):
        self.k, self.w = k, w

    def of(self, x):
        return self.k * x * self.w


def with_a_loop(x):
    found = []
    total = 0.0
    for i in range(5):
        total += math.sin(x[i % len(x)]) * i
        found.append(total)
    return np.array(found)


CASES = {
    "more rows": (lambda x: np.stack([x[0] * x[1], x[0] ** 2, x[1] ** 3, x.sum()]), np.array([2.0, 3.0])),
    "more columns": (lambda x: np.stack([x.prod(), (x**2).sum()]), np.array([2.0, 3.0, 5.0])),
    "number": (lambda x: x * x, 3.0),
    "numbers to an array": (lambda x: np.array([x, x * x, 1.0]), 3.0),
    "an array to a number": (lambda x: (x**3).sum(), np.ones((2, 2))),
    "matrices": (lambda x: x @ x, np.arange(4.0).reshape(2, 2)),
    "more axes": (lambda x: np.outer(x, x)[None], np.array([1.0, 2.0])),
    "tuples": (lambda x: (x[0] * x[1], x[1]), (2.0, np.array([1.0, 4.0]))),
    "lists": (lambda x: [x[0] * x[1], [x[1], 2.0]], [2.0, 3.0]),
    "dicts": (lambda x: {"a": x["u"] * 2, "b": [x["v"][0] * x["u"], "text"]}, {"u": 2.0, "v": np.ones(2)}),
    "named tuples": (lambda x: Pair(x.a * x.b, x.b), Pair(2.0, np.array([1.0, 3.0]))),
    "objects": (lambda m: m.of(np.array([1.0, 2.0, 4.0])), Model(3.0, 2.0)),
    "numpy's numbers": (lambda x: np.stack([x * x, x, x]), np.float64(3.0)),
    "single precision": (lambda x: np.stack([x[0] * x[1], x[0], x[1]]), np.array([2.0, 3.0], np.float32)),
    "whole numbers": (lambda x: np.stack([x[0] * 2.5, x[1] * 0.5, x.sum() * 1.0]), np.array([2, 3])),
    "0-d": (lambda x: np.stack([x * x, x, x]), np.array(3.0)),
    "0-d values": (lambda x: np.array(x[0] * 3.0), np.array([3.0])),
    "no rows": (lambda x: x[:0] * 2.0, np.ones(2)),
    "no columns": (lambda x: np.concatenate([x, np.ones(3)]), np.zeros(0)),
    "nothing flows": (lambda x: np.ones(4), np.ones(2)),
    "a constant": (lambda x: 3.0, 2.0),
    "a loop": (with_a_loop, np.array([0.3, 0.8])),
}


def agree(a, b):
    assert type(a) is type(b)
    if isinstance(a, (list, tuple)):
        assert len(a) == len(b) and all(map(agree, a, b))
    elif isinstance(a, (dict, Tangent)):
        assert list(a) == list(b) and all(agree(a[key], b[key]) for key in a)
    elif a is not None:
        assert np.asarray(a).dtype == np.asarray(b).dtype and np.shape(a) == np.shape(b)
        np.testing.assert_allclose(a, b, rtol=1e-6)
    return True


@pytest.mark.parametrize("name", CASES)
def test_rows_and_columns_agree(name):
    f, x = CASES[name]
    rows = jacrev(f)(x)
    for _ in range(2):
        agree(jacfwd(f)(x), rows)
        agree(jacobian(f)(x), rows)


@pytest.mark.parametrize("operator", [jacobian, jacrev, jacfwd])
def test_several_arguments(operator):
    def f(x, n, y):
        return np.stack([x * y[0], x**n, y[1], y[0]])

    y = np.array([2.0, 3.0])
    for_x, for_y = operator(f, (0, -1))(3.0, 2, y)
    assert for_x.tolist() == [2.0, 6.0, 0.0, 0.0] and for_y.tolist() == [[3.0, 0.0], [0.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
    assert operator(f, 0)(3.0, n=2, y=y).tolist() == for_x.tolist()
    assert operator(f, ())(3.0, 2, y) == ()
    with pytest.raises(Unsupported, match="out of range"):
        operator(f, 3)(3.0, 2, y)


RUNS = []


def counted(x):
    RUNS.append(1)
    return np.stack([x, x * x, x**3])


@pytest.mark.parametrize("operator", [jacobian, jacrev, jacfwd])
def test_effects_happen_once(operator):
    RUNS.clear()
    assert operator(counted)(2.0).tolist() == [1.0, 4.0, 12.0]
    assert len(RUNS) == 1


def test_the_sweeps_for_several_arguments_are_shared():
    seen = []

    def f(x, y):
        from autodiff_hook import hook

        return hook(lambda c: seen.append(1) or c, x * y)

    x = np.ones(3)
    found = jacrev(f, (0, 1))(x, 2 * x)
    assert len(seen) == 3 and found[0].tolist() == (2 * np.eye(3)).tolist() and found[1].tolist() == np.eye(3).tolist()


@pytest.mark.parametrize("operator", [jacobian, jacrev, jacfwd])
def test_jacobians_within_derivatives(operator):
    w = np.array([0.5, 2.0])

    def first(w):
        return operator(lambda x: np.stack([x * w[0], x**2 * w[1], x]))(3.0).sum()

    assert grad(first)(w).tolist() == [1.0, 6.0]
    # The Jacobian of a gradient is the Hessian.
    rows = operator(grad(lambda x: (x**3).sum() + x[0] * x[1]))(np.array([1.0, 2.0]))
    assert rows.tolist() == [[6.0, 1.0], [1.0, 12.0]]


@pytest.mark.parametrize("operator", [jacobian, jacrev, jacfwd])
def test_jacobians_of_complex_numbers_are_an_error(operator):
    with pytest.raises(Unsupported, match="complex"):
        operator(lambda z: z)(1j)
    with pytest.raises(Unsupported, match="complex"):
        operator(lambda x: x * 1j)(1.0)


@pytest.mark.parametrize("operator", [jacobian, jacrev, jacfwd])
def test_values_that_hold_objects_are_an_error(operator):
    for f in (lambda x: Model(x, x), lambda x: (x, [Model(x, x)]), lambda x: Model(x, x).of):
        with pytest.raises(Unsupported, match="has_aux=True"):
            operator(f)(2.0)
    slope, model = operator(lambda x: (x * x, Model(x, x)), has_aux=True)(2.0)
    assert slope == 4.0 and model.k == 2.0


def test_linearize_is_jvp_at_one_point():
    def f(x, y, k=1.0):
        return [k * x * y, {"s": np.sin(y)}, "text"]

    x, y = 2.0, np.array([0.3, 0.8])
    value, push = linearize(f, x, y, k=3.0)
    assert value[2] == "text" and value[0].tolist() == (6.0 * y).tolist()
    for tangents in [(1.0, np.zeros(2)), (None, np.array([1.0, -2.0])), (0.5, np.array([1.0, 1.0]))]:
        expected = jvp(lambda x, y: f(x, y, k=3.0), (x, y), tangents)[1]
        agree(push(*tangents), expected)


def test_linearize_of_objects_and_lists():
    model = Model(3.0, 2.0)
    value, push = linearize(lambda m, xs: m.of(xs[0]) * xs[1], model, [5.0, 7.0])
    assert value == 210.0
    assert push({"k": 1.0}, None) == 70.0 and push(Tangent("Model", {"w": 1.0}), [1.0, None]) == 105.0 + 42.0
    with pytest.raises(Unsupported, match="linearize is not defined for a value that is, or holds, a Model"):
        linearize(lambda k: Model(k, k), 2.0)


def test_linearize_of_what_holds_itself():
    def with_loops():
        model, table = Model(3.0, 2.0), {"x": 5.0}
        model.own, table["own"] = [model], table
        return model, table

    def f(model, table):
        return model.own[0].k ** 2 * model.w * table["own"]["x"]

    value, push = linearize(f, *with_loops())
    assert value == 90.0
    assert push({"k": 1.0}, None) == 60.0 and push({"w": 1.0}, {"x": 1.0}) == 45.0 + 18.0
    assert push({"own": [{"k": 1.0}]}, None) == 60.0
    second = gradient(lambda model, table: gradient(f, model, table)[0].own[0].k, *with_loops())
    assert (second[0].k, second[0].w, second[1]["own"]["x"]) == (20.0, 30.0, 12.0)


def test_linearize_of_what_has_several_names():
    def f(xs, ys, table):
        xs[0] *= 2.0
        return xs[0] * ys[1] + table["m"].k * table["all"][0].k

    def shared():
        xs, model = [2.0, 3.0], Model(5.0, 0.0)
        return xs, xs, {"m": model, "all": [model]}

    one, two = [1.0, 0.0], {"m": {"k": 1.0}}
    also = {"all": [{"k": 1.0}]}
    for tangents in [(one, None, two), (None, one, also), (one, one, {**two, **also})]:
        assert linearize(f, *shared())[1](*tangents) == jvp(f, shared(), tangents)[1] == 6.0 + 10.0
    for tangents in [(one, [1.0, 1.0], None), (None, None, {**two, "all": [{"k": 2.0}]})]:
        with pytest.raises(Unsupported, match="under another name"):
            linearize(f, *shared())[1](*tangents)


def test_linearize_of_a_function_that_changes_the_length_of_its_arguments():
    def f(xs, table):
        xs.append(xs[0] * table.pop("k"))
        return xs[-1] * xs.pop(1)

    value, push = linearize(f, [2.0, 3.0], {"k": 5.0})
    assert value == 30.0
    assert [push([1.0, 0.0], None), push([0.0, 1.0], None), push(None, {"k": 1.0})] == [15.0, 10.0, 6.0]
    with pytest.raises(Unsupported, match="a list of 2 tangents"):
        push([1.0, 0.0, 0.0], None)


def test_linearize_is_the_transpose_of_pullback():
    rng = np.random.default_rng(0)
    a = rng.normal(size=(4, 3))

    def f(x):
        return np.tanh(a @ x) * x[0]

    x, tangent, cotangent = rng.normal(size=3), rng.normal(size=3), rng.normal(size=4)
    push, back = linearize(f, x)[1], pullback(f, x)[1]
    assert push(tangent) @ cotangent == pytest.approx(back(cotangent)[0] @ tangent)


def test_linearize_runs_what_has_effects_once():
    RUNS.clear()
    _, push = linearize(counted, 2.0)
    assert [push(c).tolist() for c in (1.0, -1.0, 0.5)] == [[1.0, 4.0, 12.0], [-1.0, -4.0, -12.0], [0.5, 2.0, 6.0]]
    assert len(RUNS) == 1


@pytest.mark.parametrize(
    "make", [float, lambda y: complex(y, y), lambda y: np.array([y, 1.0]), lambda y: ({"a": y}, 1)]
)
def test_linearize_of_what_has_changed_since(make):
    factor = [2.0]

    def f(x):
        return make(x * factor[0])

    _, push = linearize(f, 1.5)
    first = push(1.0)
    factor[0] = 5.0
    if GENERIC:
        # What is carried has been recorded, and does not run again.
        np.testing.assert_equal(push(1.0), first)
        return
    with pytest.raises(Unsupported, match="changed since"):
        push(1.0)


def test_linearize_within_a_derivative():
    assert gradient(lambda w: linearize(lambda x: x * x * w, 2.0)[1](1.0), 3.0) == (4.0,)
    assert gradient(lambda c: linearize(lambda x: x**3, 2.0)[1](c), 3.0) == (12.0,)


def test_tangents_that_do_not_fit():
    _, push = linearize(lambda x, y: x * y, 2.0, np.ones(2))
    with pytest.raises(Unsupported, match="2 arguments, and 1"):
        push(1.0)
    with pytest.raises(Unsupported, match="tangents\\[1\\]"):
        push(1.0, np.ones(3))


def test_jacobians_of_arrays():
    a = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    np.testing.assert_allclose(jacobian(lambda x: a @ x)(np.ones(2)), a)
    assert jacobian(lambda x: x * 2)(np.ones((2, 3))).shape == (2, 3, 2, 3)
    assert jacobian(lambda x: np.array([x, x * x]))(3.0).tolist() == [1.0, 6.0]
    assert jacobian(lambda x: (x * x).sum())(np.ones(2)).tolist() == [2.0, 2.0]
    assert jacobian(lambda x: x * x)(3.0) == 6.0


def test_jacobians_of_containers():
    found = jacobian(lambda x: {"a": x["u"] * 2, "b": [x["v"][0] * x["u"], "text"]})({"u": 2.0, "v": np.ones(2)})
    assert found["a"]["u"] == 2.0 and found["a"]["v"].tolist() == [0.0, 0.0]
    assert found["b"][0]["u"] == 1.0 and found["b"][0]["v"].tolist() == [2.0, 0.0] and found["b"][1] is None
    rows = jacobian(lambda p: np.array([p[0], p[1] * p[0]]))((2.0, 3.0))
    assert rows[0].tolist() == [1.0, 3.0] and rows[1].tolist() == [0.0, 2.0]
