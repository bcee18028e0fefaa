"""What goes in and what comes out: the forms of arguments, values and gradients."""

from __future__ import annotations

import collections
import enum
import math

import numpy as np
import pytest

from autodiff_hook import Tangent, gradient, pullback, vjp, withgradient


class Mode(enum.Enum):
    FAST = 1


Pair = collections.namedtuple("Pair", "a b")


def same(value, expected):
    """Equality of values and types, through containers."""
    assert type(value) is type(expected)
    if isinstance(expected, np.ndarray):
        assert value.dtype == expected.dtype and value.shape == expected.shape
        np.testing.assert_allclose(value, expected)
    elif isinstance(expected, (list, tuple)):
        assert len(value) == len(expected)
        for v, e in zip(value, expected):
            same(v, e)
    elif isinstance(expected, dict):
        assert list(value) == list(expected)
        for key in expected:
            same(value[key], expected[key])
    else:
        assert value == pytest.approx(expected) if isinstance(expected, float) else value == expected


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        (1.5, 3.0),
        (3, 6.0),
        (np.float64(1.5), np.float64(3.0)),
        (np.float32(1.5), np.float32(3.0)),
        (np.float16(1.5), np.float16(3.0)),
        (np.int64(3), 6.0),
        (np.array(1.5), np.array(3.0)),
        (np.array(1.5, np.float32), np.array(3.0, np.float32)),
        (np.array(3), np.array(6.0)),
        (np.array([1.5]), np.array([3.0])),
    ],
)
def test_scalars_of_all_types(x, expected):
    same(gradient(lambda x: x * x, x), (expected,))


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        (np.array([1.0, 2.0]), np.array([2.0, 4.0])),
        (np.array([1.0, 2.0], np.float32), np.array([2.0, 4.0], np.float32)),
        (np.array([1, 2]), np.array([2.0, 4.0])),
        (np.array([[1.0, 2.0]]).T, np.array([[2.0], [4.0]])),
        (np.zeros((0, 2)), np.zeros((0, 2))),
        (np.array([1.0, 2.0, 3.0])[::2], np.array([2.0, 6.0])),
    ],
)
def test_arrays_of_all_types(x, expected):
    same(gradient(lambda x: (x * x).sum(), x), (expected,))


@pytest.mark.parametrize(
    ("x", "value"),
    [
        (True, 1.0),
        ("text", 4.0),
        (b"ab", 2.0),
        (None, 1.0),
        (Mode.FAST, 1.0),
        (len, 3.0),
        (math, 1.0),
        (np.bool_(True), 1.0),
    ]
    + [
        ({1, 2}, 2.0),
        (np.array(["a"]), 1.0),
        (np.array([True]), 1.0),
        (range(3), 3.0),
        (slice(1), 1.0),
        (int, 1.0),
        ((), 0.0),
    ],
)
def test_what_has_no_derivative_gets_none(x, value):
    grads = gradient(lambda y, x: y * value, 2.0, x)
    assert grads[0] == value
    assert grads[1] == () if isinstance(x, tuple) else grads[1] is None


def test_functions_as_arguments():
    w = 2.0

    def scaled(x):
        return w * x

    f̄, x̄ = gradient(lambda f, x: f(x), scaled, 3.0)
    assert x̄ == 2.0
    assert f̄.w == 3.0
    (fs,) = gradient(lambda fs: fs["f"][0](3.0), {"f": [scaled]})
    assert fs["f"][0].w == 3.0
    assert gradient(lambda f, x: f(x), math.sin, 0.0) == (None, 1.0)
    assert gradient(lambda f, x: f(x), lambda t: t * t, 3.0) == (None, 6.0)


def test_containers():
    x = {"a": [1.0, (2.0, "name", None)], "b": Pair(np.ones(2), [True]), 3: {}}

    def f(x):
        return x["a"][0] * x["a"][1][0] + x["b"].a.sum() * 2

    same(gradient(f, x)[0], {"a": [2.0, (1.0, None, None)], "b": Pair(np.full(2, 2.0), [None]), 3: {}})


def test_containers_are_complete():
    """Where nothing arrives there are zeros, and None where there is no derivative."""
    x = [1.0, np.ones(2), {"a": 2, "b": "text"}, (3.0,)]
    same(gradient(lambda x: 5.0, x)[0], [0.0, np.zeros(2), {"a": 0.0, "b": None}, (0.0,)])
    same(gradient(lambda x: x[0], x)[0], [1.0, np.zeros(2), {"a": 0.0, "b": None}, (0.0,)])


def test_ordered_dicts_and_subclasses_of_containers():
    x = collections.OrderedDict(a=1.0, b=[2.0])
    (g,) = gradient(lambda x: x["a"] * x["b"][0], x)
    assert g == {"a": 2.0, "b": [1.0]}


def test_complex_convention():
    """The cotangent is the derivative by the real part plus i times that by the imaginary part."""
    (g,) = gradient(lambda z: z.real**2 + 3 * z.imag, 1.0 + 2.0j)
    assert g == 2.0 + 3.0j
    (g,) = gradient(lambda z: abs(z) ** 2, 3.0 + 4.0j)
    assert g == pytest.approx(6.0 + 8.0j)
    (g,) = gradient(lambda z: (z * np.conj(z)).real.sum(), np.array([1.0 + 1.0j, 2.0]))
    np.testing.assert_allclose(g, [2 + 2j, 4.0])
    _, back = pullback(lambda z: z * (1 + 2j), 3.0 + 0.0j)
    assert back(1.0 + 0.0j) == (1 - 2j,)
    assert type(gradient(lambda x: (x * (1 + 2j)).imag, 3.0)[0]) is float


def test_a_number_passed_twice_gets_two_gradients():
    x = 3.0
    assert gradient(lambda a, b: a * a * b, x, x) == (18.0, 9.0)
    a = np.array([1.0, 2.0])
    g, h = gradient(lambda a, b: (a * b * b).sum(), a, a)
    assert g.tolist() == [1.0, 4.0] and h.tolist() == [2.0, 8.0]


def accumulator(total):
    def add(x):
        nonlocal total
        total += x * total

    return add, lambda: total * total


def test_what_two_functions_have_captured_is_one_variable():
    def f(add, read):
        add(2.0)
        return read()

    for _ in range(3):
        add, read = gradient(f, *accumulator(1.5))
        assert add.total == read.total == 9.0 * 2.0 * 1.5
        assert [g.total for g in gradient(lambda fs: fs[1](), [*accumulator(1.5)])[0]] == [3.0, 3.0]


def test_a_container_passed_twice_is_one_object():
    xs = [2.0, 3.0]
    g, h = gradient(lambda a, b: a[0] * b[0] * b[1], xs, xs)
    assert g == h == [12.0, 4.0]
    d = {"x": xs, "y": xs}
    (g,) = gradient(lambda d: d["x"][0] * d["y"][1], d)
    assert g["x"] == g["y"] == [3.0, 2.0]


def test_results_alias_nothing():
    a, b = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    ā, b̄ = gradient(lambda a, b: np.dot(a, b), a, b)
    for g in (ā, b̄):
        assert not any(np.shares_memory(g, x) for x in (a, b)) and g.flags.writeable and g.flags.owndata
    g, h = gradient(lambda a, b: (a + b).sum(), a, b)
    assert not np.shares_memory(g, h)
    ȳ = np.array([1.0, 1.0])
    _, back = pullback(lambda a: a, a)
    (g,) = back(ȳ)
    assert not np.shares_memory(g, ȳ)
    g[0] = 100.0
    assert back(ȳ)[0].tolist() == [1.0, 1.0]
    (g,) = gradient(lambda xs: (xs[0] * xs[1]).sum(), [a, a])
    assert not np.shares_memory(g[0], g[1])


def test_the_function_runs_once():
    calls = []

    def f(x):
        calls.append(1)
        return x * x

    gradient(f, 2.0)
    assert len(calls) == 1
    _, back = pullback(f, 2.0)
    back(1.0)
    back(2.0)
    assert len(calls) == 2


def test_withgradient_and_vjp():
    assert withgradient(lambda x, y: x * y, 2.0, 3.0) == (6.0, (3.0, 2.0))
    assert vjp is pullback


def test_a_pullback_is_called_many_times():
    value, back = pullback(lambda x, xs: (x * xs[0], [x, {"k": xs[1]}]), 2.0, [3.0, 4.0])
    assert value == (6.0, [2.0, {"k": 4.0}])
    assert back((1.0, None)) == (3.0, [2.0, 0.0])
    assert back((None, [1.0, {"k": 5.0}])) == (1.0, [0.0, 5.0])
    assert back((1.0, [1.0, {"k": 5.0}])) == (4.0, [2.0, 5.0])
    assert back(None) == (0.0, [0.0, 0.0])
    assert back((1.0, None)) == (3.0, [2.0, 0.0])


def test_a_value_that_is_an_argument():
    xs = [1.0, 2.0]
    value, back = pullback(lambda xs: xs, xs)
    assert value is xs
    assert back([3.0, None]) == ([3.0, 0.0],)
    assert pullback(lambda x: (x, x), 1.0)[1]((1.0, 2.0)) == (3.0,)


def test_an_object_gets_a_tangent():
    class Model:
        def __init__(self):
            self.w, self.name = np.ones(2), "model"

    (g,) = gradient(lambda m: m.w.sum() * 2, Model())
    assert isinstance(g, Tangent) and g.w.tolist() == [2.0, 2.0] and g.name is None
    assert "Model" in repr(g)


def test_no_arguments():
    assert gradient(lambda: 3.0) == ()


def test_special_values():
    assert math.isnan(gradient(lambda x: x * math.nan, 1.0)[0])
    assert gradient(lambda x: x * math.inf, 1.0) == (math.inf,)
    assert gradient(lambda x: x / x if x else 0.0 * x, 0.0) == (0.0,)
    assert gradient(lambda x: x**2, -0.0) == (0.0,)


class Shared:
    """Its objects may show one dict of attributes."""


@pytest.mark.parametrize("count", [2, 3])
def test_objects_that_show_one_dict_of_attributes_have_one_gradient_by_them(count):
    def f(objects, table, last):
        total = 0.0
        for factor, each in enumerate(objects, 1):
            total += factor * each.v * each.pair[0] * each.row[1]
        return total * table["v"] * last.pair[1]

    for v in (1.5, 0.7, 2.0):
        objects = [Shared() for _ in range(count)]
        for each in objects[1:]:
            each.__dict__ = objects[0].__dict__
        objects[0].v, objects[0].pair, objects[0].row = v, (v, 3.0), np.array([1.0, 2.0])
        grads = gradient(f, objects, vars(objects[0]), objects[-1])
        whole = sum(range(1, count + 1)) * v * v * 3.0
        for grad in (*grads[0], grads[1], grads[2]):
            found = grad if isinstance(grad, dict) else {name: getattr(grad, name) for name in ("v", "pair", "row")}
            assert found["v"] == pytest.approx(2 * 2 * whole) and found["pair"][0] == pytest.approx(2 * whole)
            assert found["pair"][1] == pytest.approx(2 * v * whole / 3.0)
            np.testing.assert_allclose(found["row"], [0.0, v * whole])
