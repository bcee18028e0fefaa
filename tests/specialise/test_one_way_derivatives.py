"""Derivatives, and solvers that call back, in programs that are followed on one way."""

from __future__ import annotations

import math

import numpy as np
import pytest
from specialised_cases import is_specialised

import autodiff_hook as ad

pytest.importorskip("scipy")
from scipy import integrate, optimize

POINTS = [(0.7, 1.3), (1.7, 0.4), (0.9, 2.1)]


class Model:
    """Its options are a copy of a dict of the class, of several types: no program for all ways is made of that."""

    options = {"a": 0.0, "b": 0.0, "x": None, "name": ""}

    def __init__(self, a, b):
        self.options = Model.options.copy()
        self.options.update(a=a, b=b)
        self.calls = 0
        self.a = a

    def residual(self, x):
        return x**3 + self.a * x - self.options["b"]


class Outside:
    c, items = 1.5, [1.0, 2.0]


OUTSIDE = Outside()
FACTOR = 2.0


def of_a_method(a, b):
    return optimize.brentq(Model(a, b).residual, -10, 10)


def of_a_closure(a, b):
    model = Model(a, b)
    root = optimize.newton(lambda x: x**3 + model.a * x - b, 1.0)
    return root * a if root > 0.5 else root * b


def with_a_result(a, b):
    model = Model(a, b)
    return optimize.root_scalar(model.residual, bracket=(-10, 10)).root * a


def of_several(a, b):
    model = Model(a, b)
    return optimize.fsolve(lambda x: [x[0] ** 3 + model.a * x[1] - b, x[1] - x[0] * b], [1.0, 1.0])[0]


def an_integral(a, b):
    model = Model(a, b)
    return integrate.quad(lambda t: math.exp(-model.a * t) * b, 0.0, b)[0]


def of_a_dict_that_is_filled(a, b):
    model = Model(a, b)

    def properties(x):
        found = {}
        found["x"] = x
        found["h"] = x * model.a + math.sin(x)
        found["region"] = 2
        return found

    return optimize.brentq(lambda x: properties(x)["h"] - b, -10, 10)


def of_what_is_assigned_later(a, b):
    model, parameters, shape = Model(a, b), [a, b], np.array([a, b])

    def residual(x):
        return x**3 + parameters[0] * x - shape[1] * model.a

    root = optimize.brentq(residual, -10, 10)
    parameters[0], shape[1], model.a = root, root * 0.5, b
    return optimize.brentq(residual, -10, 10) * parameters[0]


def a_gradient(a, b):
    model, x = Model(a, b), 0.5
    for _ in range(4):
        x = x - 0.1 * ad.gradient(lambda x: (x * x - model.a) ** 2 + b * x, x)[0]
    return x


def a_gradient_with_its_value(a, b):
    model = Model(a, b)
    value, slope = ad.value_and_grad(lambda x: x**3 * model.a + b * x)(b)
    return value * slope


def in_a_direction(a, b):
    model = Model(a, b)
    return ad.jvp(lambda x: x**3 * model.a + b * x, (b,), (a,))[1]


def a_hessian(a, b):
    model = Model(a, b)
    return np.linalg.det(ad.hessian(lambda v: v[0] * v[1] * model.a + v[1] ** 3 * b)(np.array([a, b])))


FOLLOWED = [
    *(of_a_method, of_a_closure, with_a_result, of_several, an_integral, of_a_dict_that_is_filled),
    *(of_what_is_assigned_later, a_gradient, a_gradient_with_its_value, in_a_direction, a_hessian),
]


def counted(a, b):
    model = Model(a, b)

    def residual(x):
        model.calls += 1
        return model.residual(x)

    return optimize.brentq(residual, -10, 10) * (2.0 if model.calls > 3 else 5.0)


def of_an_attribute_outside(a, b):
    model = Model(a, b)
    OUTSIDE.c = a * b
    return optimize.brentq(lambda x: x**3 + OUTSIDE.c * x - model.options["b"], -10, 10)


def of_an_item_outside(a, b):
    model = Model(a, b)
    OUTSIDE.items[0] = a
    return optimize.brentq(lambda x: x**3 + OUTSIDE.items[0] * x - model.options["b"], -10, 10)


def of_a_global_name(a, b):
    global FACTOR
    model = Model(a, b)
    FACTOR = a * 3.0
    return optimize.brentq(lambda x: x**3 + FACTOR * x - model.options["b"], -10, 10)


def what_is_captured_is_written(a, b):
    model, last = Model(a, b), [0.0]

    def residual(x):
        last[0] = x * a
        return model.residual(x)

    return optimize.brentq(residual, -10, 10) + last[0]


def without_a_root(a, b):
    model = Model(a, b)
    try:
        return optimize.brentq(lambda x: x**2 + model.a**2 + 1.0, -10, 10)
    except ValueError:
        return a * b


REFUSED = [counted, of_an_attribute_outside, of_an_item_outside, of_a_global_name, what_is_captured_is_written]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("f", [*FOLLOWED, *REFUSED, without_a_root])
def test_derivatives_on_one_way(f):
    for a, b in POINTS * 2:
        value, found = ad.withgradient(f, a, b)
        again = ad.gradient(f, a, b)
        h = 1e-5
        differences = [(f(a + h, b) - f(a - h, b)) / 2 / h, (f(a, b + h) - f(a, b - h)) / 2 / h]
        assert value == pytest.approx(f(a, b), rel=1e-12)
        assert found == pytest.approx(differences, rel=1e-6) and again == pytest.approx(found, rel=1e-12)
    assert f not in FOLLOWED or is_specialised(f)


def given_an_object(model, b):
    return optimize.brentq(lambda x: x**3 + model.a * x - b, -10, 10) * model.options["a"]


def test_an_object_that_is_given():
    def moved(h):
        model = Model(0.7, 1.3)
        model.a += h
        return given_an_object(model, 1.3)

    for _ in range(3):
        found = ad.gradient(given_an_object, Model(0.7, 1.3), 1.3)[0]
        assert found.a == pytest.approx((moved(1e-5) - moved(-1e-5)) / 2e-5, rel=1e-6)
        assert found.options["a"] == pytest.approx(moved(0.0) / 0.7, rel=1e-12)
