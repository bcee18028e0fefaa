"""Cotangents of Python's floats are Python's, wherever they come from: NumPy's arithmetic takes three times as long."""

from __future__ import annotations

import math

import numpy as np
import pytest

from autodiff_hook import code_adjoint, gradient, hvp, value_and_grad
from autodiff_hook.api import generic_gradient
from autodiff_hook.testing import check_gradient


def stored(a, b):
    out = np.zeros(7)
    for i in range(7):
        t = 0.1 * i
        out[i] = math.exp(-a * t) * math.sin(b * t) / (1.0 + a * a)
    return float(np.sum(out**2))


def stored_in_rows(a, b):
    out, u, v = np.empty((5, 2)), a, b
    for i in range(5):
        u, v = u - 0.1 * v * abs(v), v + 0.1 * u / b
        out[i, 0] = u
        out[i, 1] = v
    return float(np.mean(out[:, 0] ** 2 * out[:, 1]))


def by_branches(a, b):
    out = np.ones(6)
    for i in range(6):
        x = a * i
        if i % 2:
            x = x * b + b
        elif i > 3:
            x = -x / b
        out[i] = x * x
    return np.sum(np.sqrt(out + 1.0))


def through_a_scalar(a, b):
    scale = np.exp(-a)
    x = float(b / scale)
    return (x * x + math.sin(x) * a) * scale


def one_by_one(x):
    s = 0.0
    for i in range(len(x)):
        v = x[i]
        s += math.exp(-v * v) * math.sin(3 * v) / (1 + v * v)
    return s


CASES = [
    (stored, 0.7, 1.3),
    (stored_in_rows, 0.7, 1.3),
    (by_branches, 0.7, 1.3),
    (through_a_scalar, 0.7, 1.3),
    (one_by_one, np.linspace(0.1, 1.0, 5)),
]


@pytest.mark.parametrize("f, args", [(f, args) for f, *args in CASES])
def test_gradients_are_those_of_the_carried_program(f, args):
    for scale in (1.0, 1.1, -0.6):
        at = [scale * x for x in args]
        found, expected = gradient(f, *at), generic_gradient(f, *at)
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        check_gradient(f, *at)
        assert value_and_grad(f)(*at)[0] == f(*at)
        assert type(value_and_grad(f)(*at)[0]) is type(f(*at))


@pytest.mark.parametrize("f, args", [(f, args) for f, *args in CASES[:4]])
def test_other_kinds_of_numbers_are_given_gradients_of_their_kind(f, args):
    for cls in (float, np.float64):
        found = gradient(f, *map(cls, args))
        assert [type(g) for g in found] == [cls, cls]
        np.testing.assert_allclose(found, generic_gradient(f, *args), rtol=1e-12)


@pytest.mark.parametrize("f, args", [(f, args) for f, *args in CASES])
def test_second_order(f, args):
    tangents = tuple(np.ones(np.shape(x)) if np.ndim(x) else 1.0 for x in args)
    h = 1e-6
    ahead, behind = (gradient(f, *[x + d * t for x, t in zip(args, tangents)]) for d in (h, -h))
    expected = np.subtract(ahead, behind) / (2 * h)
    found = hvp(f, tuple(args), tangents)
    np.testing.assert_allclose(np.ravel(found), np.ravel(expected), rtol=1e-5)


@pytest.mark.parametrize("f", [stored, stored_in_rows])
def test_what_is_read_out_of_an_array_is_converted(f):
    behind = code_adjoint(f, 0.7, 1.3).split("reversed")[1]
    assert "call_method[item, ]" in behind and "getitem" not in behind


def test_a_division_by_zero_that_only_the_gradient_has():
    def f(a, b):
        out = np.zeros(2)
        for i in range(2):
            x = a * i
            out[i] = math.sqrt(x) * b
        return float(np.sum(out))

    with np.errstate(all="ignore"):
        for at in ((2.0, 3.0), (0.0, 3.0)):
            np.testing.assert_array_equal(gradient(f, *at), generic_gradient(f, *at))


def test_numbers_of_other_precisions_keep_those_of_their_sums():
    """A float of Python's would take on the precision of what it is multiplied by."""

    def f(a, w):
        out = np.zeros(3)
        for i in range(3):
            out[i] = float(math.sin(a * i) * w[i]) * 3.0 * a
        return float(np.sum(out * out))

    w = np.array([0.1, 0.3, 0.7], np.float32)
    for a in (0.7, 1.3):
        rows = [(float(math.sin(a * i) * w[i]), float(w[i]) * i * math.cos(a * i)) for i in range(3)]
        expected = sum(2.0 * 9.0 * (a * a * r * s + a * r * r) for r, s in rows)
        assert gradient(f, a, w)[0] == pytest.approx(expected, rel=1e-12)
