"""Derivatives within programs that are followed on one way: containers and objects are known step by step."""

from __future__ import annotations

import math
from collections import namedtuple
from dataclasses import dataclass, replace

import numpy as np
import pytest
from specialised_cases import check, oracle, same

import autodiff_hook as ad
from autodiff_hook.runtime.specialising import GENERIC

VECTOR = np.array([0.7, 0.4, 1.1])
INPUTS = np.linspace(-1.0, 1.0, 5)[:, None]
typed_only = pytest.mark.skipif(GENERIC, reason="nothing is typed")


def error(params, shift):
    h = INPUTS
    for layer in params["layers"]:
        h = np.tanh(h @ layer["w"] + layer["b"])
    return np.mean((h * params["scale"] - np.sin(INPUTS + shift)) ** 2)


def weights():
    rng = np.random.default_rng(3)
    layers = [{"w": rng.normal(size=(1, 3)), "b": np.zeros(3)}, {"w": rng.normal(size=(3, 1)), "b": np.zeros(1)}]
    return {"layers": layers, "scale": 1.5, "name": "network"}


def steps_of_trees(rate):
    params = weights()
    for shift in (0.1, 0.2):
        params = ad.tree_map(lambda p, g: p - rate * g, params, ad.grad(error)(params, shift))
    return error(params, 0.3)


def steps_by_comprehensions(rate):
    pairs = [(VECTOR, 0.1), (VECTOR * 2.0, -0.3)]
    for k in range(2):

        def loss(pairs, k=k):
            return sum([np.sum(np.cos(a) * b) * (i + k) + b**2 for i, (a, b) in enumerate(pairs)])

        slopes = ad.grad(loss)(pairs)
        pairs = [(a - rate * da, b - rate * db) for (a, b), (da, db) in zip(pairs, slopes)]
    return sum(np.sum(a) * b for a, b in pairs)


def steps_in_place(rate):
    params = {"a": VECTOR * rate, "b": 0.5}
    for _ in range(2):
        slopes = ad.gradient(lambda p: np.sum(p["a"] ** 2) * p["b"] * rate, params)[0]
        for key in params:
            params[key] = params[key] - 0.1 * slopes[key]
    return np.sum(params["a"]) * params["b"]


def joined(x):
    def f(y):
        parts = [y[i] * y[i - 1] for i in range(3)]
        whole = np.concatenate([np.stack([y, y * x]), np.outer(parts[:2], y)])
        return np.einsum("ij,kj->", whole, whole) + np.pad(y, 1) @ np.tile(np.block([y[:2], 1.0, x[0], y[2]]), 1)

    return np.sum(ad.grad(f)(x) ** 2)


def lists_of_arrays(x):
    def f(y):
        states = [y]
        for _ in range(3):
            states.append(np.tanh(states[-1] * x) + states[0])
            states[0] = states[0] * 2.0
        return np.sum(states.pop() * states[0])

    return np.sum(ad.grad(f)(x) * x) + np.sum(ad.hessian(f)(x)[0])


@dataclass
class State:
    q: float
    p: float


class Clock:
    def __init__(self):
        self.seen, self.total = [], 0.0

    def __call__(self, x):
        self.seen.append(x)
        self.total = self.total + x * x
        return self.total * len(self.seen)


def objects_that_remember(w):
    clock = Clock()
    slope = sum(ad.grad(clock)(w * i) for i in (1.0, 2.0))
    return slope * clock.total + sum(clock.seen)


def objects_replaced(w):
    state = State(w, 0.5)
    for _ in range(3):
        force = ad.grad(lambda q, state=state: math.cos(q) * w + q * state.p)(state.q)
        state = replace(state, p=state.p - 0.1 * force)
        state.q += 0.1 * state.p
    return state.q * state.p


def functions_of_functions(w):
    f = math.sin
    total = 0.0
    for k in range(4):
        total += f(w) / math.factorial(k)
        f = ad.grad(f)
    return total


def both_of_one_number(w):
    return w * ad.grad(lambda y: w * y)(w) + ad.gradient(lambda a, b: a * b**2 * w, w, w)[0]


def branches(w):
    def f(x):
        if x > w:
            return x**3
        return sum(x**i for i in range(int(w * 3)))

    return ad.grad(f)(w) + ad.grad(f)(2.0 * w) + ad.grad(ad.grad(f))(3.0 * w)


def along(x):
    (a, b), (da, db) = ad.jvp(lambda y: (np.sum(y * x), [y, y * y][1]), (x,), (np.cos(x),))
    return a * np.sum(db) + da * np.sum(b) + np.sum(ad.hvp(lambda y: np.sum(y**3 * x), (x,), (x,))[0])


def columns(x):
    j = ad.jacobian(lambda y: np.stack([y[0] * y[1], np.sin(y[1] * x[2]), y[2] ** 3]))(x)
    return np.trace(j) ** 2 + np.sum(ad.jacfwd(lambda t: np.stack([t * x[0], t * t]))(x[1]))


def with_notes(w):
    def f(p):
        return p["a"] ** 2 * w, {"seen": [p["a"], w]}

    slope, notes = ad.grad(f, has_aux=True)({"a": w, "kind": "x"})
    (value, more), _ = ad.value_and_grad(f, has_aux=True)({"a": 2.0 * w})
    return slope["a"] * notes["seen"][0] + value * more["seen"][1] * (slope["kind"] is None)


Pair = namedtuple("Pair", "first second")


def by_named_tuples(w):
    pair = Pair(1.0, (2.0, 0.5))
    for _ in range(2):
        slopes = ad.grad(lambda p: p.first**2 * p.second[0] * w + p[1][1])(pair)
        pair = Pair(pair.first - 0.1 * slopes.first, (pair.second[0] - slopes.second[0], slopes[1][1] * w))
    return pair.first * pair.second[0] + pair.second[1]


class Layer:
    def __init__(self, weights, bias, name):
        self.weights, self.bias, self.name = weights, bias, name

    def __call__(self, x):
        return np.tanh(self.weights * x + self.bias)


def by_objects(w):
    layers = [Layer(VECTOR * w, 0.1, "first"), Layer(VECTOR, w, "second")]

    def loss(layers, x):
        for layer in layers:
            x = layer(x)
        return np.sum(x**2)

    for _ in range(2):
        slopes, by_x = ad.grad(loss, argnums=(0, 1))(layers, 0.3)
        layers = [
            Layer(layer.weights - 0.1 * slope.weights, layer.bias - 0.1 * slope["bias"], layer.name)
            for layer, slope in zip(layers, slopes)
        ]
    return loss(layers, by_x) + sum(slope.weights[0] for slope in slopes) * (slopes[0].name is None)


GIVEN = {"a": [1.0, np.array([0.5, 2.0])], "b": (0.5, "text")}


def by_what_is_outside(w):
    slopes = ad.grad(lambda p: p["a"][0] * np.sum(p["a"][1] ** 2) * p["b"][0] * w)(GIVEN)
    return slopes["a"][0] * slopes["a"][1][0] * slopes["b"][0] + GIVEN["a"][0] * w


def pulled_back(w):
    params = {"a": [w, 2.0 * w], "b": VECTOR * w}
    (value, parts), back = ad.vjp(lambda p: (p["a"][0] * p["a"][1] + np.sum(p["b"] ** 2), (p["b"], w)), params)
    params["b"] = params["b"] * 2.0
    (slopes,) = back((value, (np.sin(parts[0]), None)))
    (more,) = back((None, (params["b"], 1.0)))
    return slopes["a"][0] * w + np.sum(slopes["b"] * more["b"]) + slopes["a"][1]


def pushed_on(x):
    ys, push = ad.linearize(lambda y, k: np.stack([y * k, y**2]), x, x[0])
    return np.sum(push(x, None) * ys) + np.sum(push(ys[0], x[1]) ** 2)


def draws(w):
    rng = np.random.default_rng(2)
    xs = [w, w * 2.0]
    slope = ad.grad(lambda xs: sum(x * rng.normal() for x in xs))(xs)
    return slope[0] * w + slope[1] * w**2 + rng.normal() * w


CASES = [
    (steps_of_trees, 0.2),
    (steps_by_comprehensions, 0.2),
    (steps_in_place, 0.2),
    (joined, VECTOR),
    (lists_of_arrays, VECTOR),
    (objects_that_remember, 0.7),
    (objects_replaced, 0.7),
    (functions_of_functions, 0.7),
    (both_of_one_number, 0.7),
    (branches, 0.7),
    (along, VECTOR),
    (columns, VECTOR),
    (with_notes, 0.7),
    (draws, 0.7),
    (pulled_back, 0.7),
    (by_named_tuples, 0.7),
    (by_objects, 0.7),
    (by_what_is_outside, 0.7),
    (pushed_on, VECTOR),
]


@typed_only
@pytest.mark.parametrize("f, x", CASES, ids=[f.__name__ for f, _ in CASES])
def test_gradients_of_what_has_them(f, x):
    expected = oracle(f, x)[1]
    for _ in range(3):
        same(ad.gradient(f, x), expected)
    units = [1.0] if isinstance(x, float) else np.eye(len(x))
    differences = [(f(x + 1e-6 * unit) - f(x - 1e-6 * unit)) / 2e-6 for unit in units]
    assert np.ravel(expected[0]) == pytest.approx(differences, rel=1e-5, abs=1e-6)


@typed_only
def test_they_are_typed():
    for f, x in CASES:
        if f is not draws:
            check(f, x)


def changes_its_argument(x):
    def f(y):
        y[0] = y[1] * 2.0
        return np.sum(y * x)

    y = x.copy()
    slope = ad.grad(f)(y)
    return np.sum(slope * y)


def stores_into_what_it_has_captured(x):
    seen = np.zeros(3)
    seen[:] = x * 2.0

    def f(y):
        slope = y @ seen
        seen[0] = y[1] * 3.0
        return slope * seen[0] + seen[1]

    return np.sum(ad.grad(f)(x) * seen)


def changes_its_object(w):
    layer = Layer(w, 2.0, "x")

    def f(layer):
        layer.bias = layer.bias * layer.weights
        return layer.bias * layer.weights

    slope = ad.grad(f)(layer)
    return slope.weights * layer.bias


def reads_its_object_by_another_name(w):
    layer = Layer(w, 2.0, "x")
    return ad.grad(lambda a: a.weights * layer.bias * w)(layer).weights


def changes_its_list(w):
    def f(xs):
        xs.append(xs[0] * w)
        return sum(xs)

    xs = [w, 2.0]
    (slope,) = ad.gradient(f, xs)
    return slope[0] * len(xs) + xs[-1]


def reads_it_by_another_name(w):
    xs = [w, 2.0, {"k": w}]
    return sum(ad.grad(lambda ys: ys[0] * ys[1] * w)(xs[:2])) + ad.grad(lambda ys: ys[0] * xs[1] * ys[2]["k"])(xs)[0]


@pytest.mark.parametrize(
    "f, x",
    [
        (changes_its_argument, VECTOR),
        (stores_into_what_it_has_captured, VECTOR),
        (changes_its_list, 0.7),
        (changes_its_object, 0.7),
        (reads_its_object_by_another_name, 0.7),
        (reads_it_by_another_name, 0.7),
    ],
)
def test_what_is_left_to_the_carried_program(f, x):
    try:
        expected = oracle(f, x)[1]
    except ad.AutodiffError as error:
        for _ in range(3):
            with pytest.raises(type(error)):
                ad.gradient(f, x)
        return
    for _ in range(3):
        same(ad.gradient(f, x), expected)


def test_shapes_and_ways_that_change():
    for n in (3, 5, 3, 4):
        x = np.linspace(0.2, 0.9, n)
        same(ad.gradient(lists_of_arrays, x), oracle(lists_of_arrays, x)[1])
    for w in (0.7, 1.4, 0.2, 0.9):
        same(ad.gradient(branches, w), oracle(branches, w)[1])


def test_errors_are_those_of_the_program():
    def f(w):
        items = [w, 0.0]
        return ad.grad(lambda xs: sum(1.0 / x for x in xs))(items)[0]

    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            ad.gradient(f, 1.0)
        with pytest.raises(ad.Unsupported, match="real scalar"):
            ad.gradient(lambda w: ad.grad(lambda xs: [x * w for x in xs])([w])[0], 1.0)
