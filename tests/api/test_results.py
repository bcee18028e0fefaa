"""Gradients have the form of the arguments."""

from __future__ import annotations

import enum
from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pytest

import autodiff_hook as ad

Point = namedtuple("Point", "x y")


class Colour(enum.Enum):
    RED = 1


@dataclass
class Line:
    slope: float
    offset: float
    name: str = "line"
    samples: object = None

    def at(self, x):
        return self.slope * x + self.offset


def square(x):
    return x * x


@pytest.mark.parametrize(
    ("x", "expected"),
    [(3.0, float), (3, float), (np.float32(3), np.float32), (np.float64(3), np.float64), (np.int64(3), float)],
)
def test_a_number_gives_a_number_of_its_precision(x, expected):
    (g,) = ad.gradient(square, x)
    assert g == 6
    assert type(g) is expected


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_an_array_gives_an_array_of_its_shape_and_float_dtype(dtype):
    x = np.arange(6).reshape(2, 3).astype(dtype)
    (g,) = ad.gradient(lambda x: np.sum(x * x), x)
    assert g.shape == x.shape
    assert g.dtype == (dtype if dtype is not np.int64 else np.float64)
    assert np.array_equal(g, 2 * x)


def test_zero_dimensional_arrays():
    (g,) = ad.gradient(square, np.array(3.0))
    assert isinstance(g, np.ndarray)
    assert g.shape == ()
    assert g == 6


def test_containers_are_complete_with_none_at_leaves_without_derivative():
    def f(tree):
        return tree["a"][0] * tree["b"][1].x

    tree = {"a": [2.0, 5.0], "b": ("s", Point(3.0, True)), "c": None, "d": np.ones(2)}
    (g,) = ad.gradient(f, tree)
    assert g["a"] == [3.0, 0.0]
    assert g["b"] == (None, Point(2.0, None))
    assert g["c"] is None
    assert np.array_equal(g["d"], np.zeros(2))


@pytest.mark.parametrize("inert", ["s", b"s", True, np.True_, None, Colour.RED, square, int])
def test_what_has_no_derivative_gives_none(inert):
    assert ad.gradient(lambda x, y: x, 1.0, inert) == (1.0, None)


def test_numbers_that_do_not_matter_give_zeros():
    assert ad.gradient(lambda x, y: x, 1.0, 2.0) == (1.0, 0.0)


def test_objects_give_tangents():
    line = Line(2.0, 1.0, samples=np.ones(2))
    g, x̄ = ad.gradient(lambda line, x: line.at(x), line, 3.0)
    assert isinstance(g, ad.Tangent)
    assert (g.slope, g["offset"], g.name, x̄) == (3.0, 1.0, None, 2.0)
    assert np.array_equal(g.samples, np.zeros(2))
    with pytest.raises(AttributeError, match="had no attribute"):
        g.missing  # noqa: B018


def test_the_gradient_is_of_the_object_as_it_was_passed_in():
    def f(line):
        line.slope = line.slope * line.offset
        line.offset = 7.0
        return line.slope * line.offset

    line = Line(2.0, 3.0)
    (g,) = ad.gradient(f, line)
    assert (g.slope, g.offset) == (21.0, 14.0)
    assert (line.slope, line.offset) == (6.0, 7.0)


def test_values_passed_twice_have_separate_gradients_and_references_a_common_one():
    x, shared = np.array([2.0]), [2.0]
    a, b = ad.gradient(lambda a, b: np.sum(a * a * b), x, x)
    assert (a[0], b[0]) == (8.0, 4.0)
    assert ad.gradient(lambda a, b: a[0] * b[0] * 3, shared, shared) == ([12.0], [12.0])


def test_complex_numbers_have_the_gradient_of_both_parts():
    (g,) = ad.gradient(lambda z: abs(z) ** 2, 3 + 4j)
    assert g == pytest.approx(6 + 8j)
    (g,) = ad.gradient(lambda z: (z * z).real, 3 + 4j)
    assert g == pytest.approx(6 - 8j)


def test_results_alias_nothing():
    x = np.array([1.0, 2.0])
    a, b = ad.gradient(np.dot, x, x)
    a[0] = 99.0
    assert b[0] == 1.0
    assert x[0] == 1.0


def test_keyword_arguments_are_constants():
    assert ad.gradient(lambda x, *, k: x * k, 2.0, k=5.0) == (5.0,)


def test_f_runs_once():
    calls = []

    def f(x):
        calls.append(x)
        return x * x

    assert ad.withgradient(f, 3.0) == (9.0, (6.0,))
    assert calls == [3.0]


def test_the_function_itself_comes_first_in_j():
    def scaled(w, b):
        return lambda x: w * x + b

    y, back = ad.J(scaled(3.0, 1.0), 2.0)
    f̄, x̄ = back(1.0)
    assert (y, f̄.w, f̄.b, x̄) == (7.0, 2.0, 1.0, 3.0)
    line = Line(2.0, 1.0)
    _, back = ad.J(line.at, 3.0)
    f̄, x̄ = back(2.0)
    assert (f̄.slope, f̄.offset, x̄) == (6.0, 2.0, 4.0)


def test_jacobians_have_the_structure_of_value_and_argument():
    j = ad.jacobian(lambda t: {"s": t["a"] * t["b"], "v": np.array([t["a"], t["b"]])})({"a": 2.0, "b": 3.0})
    assert j["s"] == {"a": 3.0, "b": 2.0}
    assert np.array_equal(j["v"]["a"], [1.0, 0.0])
    x = np.array([1.0, 2.0, 3.0])
    assert np.array_equal(
        ad.jacobian(lambda x: np.outer(x, x))(x)[0], 1.0 * np.eye(3) * x[0] + np.outer(x, np.eye(3)[0])
    )
    assert np.array_equal(ad.jacobian(lambda x, y: x * y, argnums=(0, 1))(x, 2.0)[1], x)


def test_tree_map_is_an_update_step():
    line = Line(2.0, 1.0)
    (g,) = ad.gradient(lambda line: line.at(3.0), line)
    updated = ad.tree_map(lambda p, d: p - 0.5 * d, line, g)
    assert (updated.slope, updated.offset, updated.name) == (0.5, 0.5, "line")
    assert line.slope == 2.0


def test_operator_style():
    assert ad.grad(lambda x, n: x**n)(2.0, 3) == 12.0
    assert ad.grad(lambda x, y: x * y, argnums=(1, 0))(2.0, 3.0) == (2.0, 3.0)
    assert ad.grad(lambda x, y: x * y, argnums=-1)(2.0, 3.0) == 2.0
    x = np.array([1.0, -2.0])
    for _ in range(200):
        value, slope = ad.value_and_grad(lambda x: np.sum((x - 3.0) ** 2))(x)
        x = x - 0.1 * slope
    assert x == pytest.approx(3.0)
    assert value == pytest.approx(0.0)
