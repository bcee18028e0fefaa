"""Pullbacks that are declared by what they give for each parameter, or for several at once."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_hook as ad
from autodiff_hook import extend
from autodiff_hook.algebras import typed
from autodiff_hook.testing import check_gradient, check_rule

extend.pack(__name__)
WRITTEN = []
COMPUTED = []


def hypotenuse(a, b, overwrite_a=False, largest=None):
    WRITTEN.append(overwrite_a)
    return np.hypot(a, b)


@extend.cotangents(hypotenuse, "a, b, overwrite_a=False, largest=None", 1, "a, b")
def hypotenuse_cotangents(ȳ, y, a, b, largest):
    if largest is not None:
        return ȳ * 0.0, ȳ * 0.0
    c = scaled(ȳ, y)
    return c * a, c * b


def scaled(ȳ, y):
    COMPUTED.append(1)
    return ȳ / y


def nested(a, b):
    return np.sqrt(a * a + b * b)


@extend.cotangents(nested, "a, b", 1, "a, b")
def nested_cotangents(ȳ, y, a, b):
    c = ȳ / y
    if np.ndim(a) > 1:
        return c * a, c * b
    return a * c, b * c


def longest(*sides, scale=1.0):
    return scale * max(sides)


@extend.cotangents(longest, "*sides, scale=1.0", ((),), "sides")
def longest_cotangents(ȳ, sides, scale):
    first = sides.index(max(sides))
    return [ȳ * scale if i == first else 0.0 for i in range(len(sides))]


def softened(x):
    return np.log1p(np.exp(x))


@extend.cotangents(softened, "x")
def softened_cotangent(ȳ, y):
    return ȳ * (1.0 - np.exp(-y))


extend.pure(nested, softened)
X, Y = np.array([0.3, 1.2, 2.0]), np.array([1.5, 0.2, 0.7])


def test_rules():
    check_rule(hypotenuse, X, Y, second_order=True)
    check_rule(hypotenuse, [0.3, 1.2, 2.0], Y)
    check_rule(nested, X, Y, second_order=True)
    check_rule(nested, X[:, None], Y[:, None])
    check_rule(longest, 1.0, 3.0, 2.0, scale=0.5)
    check_rule(softened, X, second_order=True)


def test_common_parts_are_computed_once():
    COMPUTED.clear()
    ad.gradient(lambda a, b: hypotenuse(a, b).sum(), X, Y)
    assert COMPUTED == [1]


def test_nothing_is_overwritten():
    WRITTEN.clear()
    value, back = ad.pullback(lambda a: hypotenuse(a, Y, True), X)
    assert value.tolist() == np.hypot(X, Y).tolist() and not any(WRITTEN)
    np.testing.assert_allclose(back(np.ones(3))[0], X / np.hypot(X, Y))


@pytest.mark.skipif(typed.GENERIC, reason="there are no specialised programs")
@pytest.mark.parametrize("function", [nested, lambda a, b: softened(a) * nested(a, b)])
def test_functions_are_written_out(function):
    def loss(a, b):
        return function(np.sin(a), b).sum()

    check_gradient(loss, X, Y)
    text = str(ad.code_adjoint(loss, X, Y))
    assert all(word not in text for word in ("carried", "unpack", "softened_cotangent", "nested_cotangents"))
