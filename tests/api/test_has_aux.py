"""``has_aux``: what a function returns beside its value goes through every operator, and has no derivative."""

from __future__ import annotations

import math
import struct
from collections import namedtuple

import numpy as np
import pytest

import autodiff_hook as ad

Found = namedtuple("Found", "value aux")


class Report:
    def __init__(self, text):
        self.text = text

    def __eq__(self, other):
        return isinstance(other, Report) and self.text == other.text


AUX = {
    "number": lambda x: x * 10.0,
    "array": lambda x: np.array([x, 2.0]),
    "dict": lambda x: {"loss": x, "steps": 3, "name": "a"},
    "list": lambda x: [x, x * x],
    "text": lambda x: f"{x:.1f}",
    "None": lambda x: None,
    "object": lambda x: Report("r"),
    "what has no rule": lambda x: struct.unpack("d", struct.pack("d", x))[0],
    "pair": lambda x: (x, (x, None)),
}


def pair(name):
    aux = AUX[name]
    return lambda x: (x**3 * math.sin(1.0), aux(x))


SLOPE, CURVE = 12.0 * math.sin(1.0), 12.0 * math.sin(1.0)


@pytest.fixture(params=AUX)
def case(request):
    return pair(request.param), AUX[request.param](2.0)


def equal(a, b):
    assert type(a) is type(b) and np.all(np.asarray(a == b))
    return True


@pytest.mark.parametrize("again", range(2))
def test_gradients(case, again):
    f, aux = case
    value = f(2.0)[0]
    grads, found = ad.gradient(f, 2.0, has_aux=True)
    assert grads == pytest.approx((SLOPE,)) and equal(found, aux)
    (first, found), grads = ad.withgradient(f, 2.0, has_aux=True)
    assert first == value and grads == pytest.approx((SLOPE,)) and equal(found, aux)
    slope, found = ad.grad(f, has_aux=True)(2.0)
    assert slope == pytest.approx(SLOPE) and equal(found, aux)
    (first, found), slope = ad.value_and_grad(f, has_aux=True)(2.0)
    assert first == value and slope == pytest.approx(SLOPE) and equal(found, aux)


def test_pullbacks(case):
    f, aux = case
    for operator in (ad.pullback, ad.vjp, ad.J):
        value, back, found = operator(f, 2.0, has_aux=True)
        assert value == f(2.0)[0] and equal(found, aux)
        assert back(0.5)[-1] == pytest.approx(0.5 * SLOPE) and back(1.0)[-1] == pytest.approx(SLOPE)


def test_forward_and_second_order(case):
    f, aux = case
    value, tangent, found = ad.jvp(f, (2.0,), (0.5,), has_aux=True)
    assert value == f(2.0)[0] and tangent == pytest.approx(0.5 * SLOPE) and equal(found, aux)
    products, found = ad.hvp(f, (2.0,), (0.5,), has_aux=True)
    assert products == pytest.approx((0.5 * CURVE,)) and equal(found, aux)
    value, push, found = ad.linearize(f, 2.0, has_aux=True)
    assert value == f(2.0)[0] and push(0.5) == pytest.approx(0.5 * SLOPE) and equal(found, aux)


@pytest.mark.parametrize("operator", [ad.jacobian, ad.jacrev, ad.jacfwd, ad.hessian])
def test_operators_that_make_functions(case, operator):
    f, aux = case
    slope, found = operator(f, has_aux=True)(2.0)
    assert slope == pytest.approx(CURVE if operator is ad.hessian else SLOPE) and equal(found, aux)


def test_arrays_and_several_arguments():
    def f(x, y, k=1.0):
        return np.stack([x * y[0], x * y[1] * k, x**2, y[1]]), {"k": k}

    y = np.array([2.0, 3.0])
    for operator in (ad.jacobian, ad.jacrev, ad.jacfwd):
        (for_y, for_x), aux = operator(f, (1, 0), has_aux=True)(3.0, y, k=2.0)
        assert for_x.tolist() == [2.0, 6.0, 6.0, 0.0] and aux == {"k": 2.0}
        assert for_y.tolist() == [[3.0, 0.0], [0.0, 6.0], [0.0, 0.0], [0.0, 1.0]]


def test_the_function_runs_once():
    runs = []

    def f(x):
        runs.append(x)
        return x * x, len(runs)

    for operator in (ad.grad, ad.value_and_grad, ad.jacobian, ad.jacrev, ad.jacfwd, ad.hessian):
        runs.clear()
        operator(f, has_aux=True)(3.0)
        assert len(runs) == 1, operator


RUNS = []


def counted(x):
    RUNS.append(1)
    return np.array([x[0] * x[1], x[0] ** 2, 3.0 * x[1]])


@pytest.mark.parametrize("operator", (ad.jacobian, ad.jacrev, ad.jacfwd))
def test_effects_happen_once(operator):
    for _ in range(3):
        RUNS.clear()
        assert operator(counted)(np.array([2.0, 5.0])).tolist() == [[5.0, 2.0], [4.0, 0.0], [0.0, 3.0]]
        assert len(RUNS) == 1
    RUNS.clear()
    _, push = ad.linearize(counted, np.array([2.0, 5.0]))
    assert [push(unit).tolist() for unit in np.eye(2)] == [[5.0, 4.0, 0.0], [2.0, 0.0, 3.0]]
    assert len(RUNS) == 1


def test_objects_bound_methods_and_named_pairs():
    class Model:
        def __init__(self, w):
            self.w = w

        def loss(self, x):
            return Found(self.w * x * x, "note")

    model = Model(3.0)
    assert ad.grad(model.loss, has_aux=True)(2.0) == (12.0, "note")
    slope, aux = ad.grad(Model.loss, has_aux=True)(model, 2.0)
    assert slope.w == 4.0 and aux == "note"


def test_aux_is_constant_for_its_own_operator_only():
    def outer(w):
        slope, aux = ad.grad(lambda x: (x * x * w, w * w), has_aux=True)(2.0)
        return slope * aux

    assert ad.grad(outer)(3.0) == pytest.approx(4.0 * 3 * 9.0)


@pytest.mark.parametrize("result", [lambda x: x, lambda x: (x, x, x), lambda x: [x, x]])
def test_what_is_no_pair_is_an_error(result):
    for call in (
        lambda: ad.gradient(result, 2.0, has_aux=True),
        lambda: ad.pullback(result, 2.0, has_aux=True),
        lambda: ad.jvp(result, (2.0,), (1.0,), has_aux=True),
        lambda: ad.hvp(result, (2.0,), (1.0,), has_aux=True),
        lambda: ad.linearize(result, 2.0, has_aux=True),
        lambda: ad.jacobian(result, has_aux=True)(2.0),
        lambda: ad.hessian(result, has_aux=True)(2.0),
    ):
        with pytest.raises(ad.Unsupported, match="has_aux=True"):
            call()


def test_a_value_that_is_no_scalar_is_an_error():
    with pytest.raises(ad.Unsupported, match="real scalar"):
        ad.gradient(lambda x: (np.ones(2) * x, 1), 2.0, has_aux=True)
