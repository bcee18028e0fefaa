"""Functions and classes that are chosen by a key, a place or a test, and called then."""

from __future__ import annotations

import math
import operator

import pytest
from specialised_cases import GENERIC, check, check_all_ways, check_raises, has_all_ways

import autodiff_hook as ad
from autodiff_hook.runtime import specialising

ALL_WAYS = not (GENERIC or specialising.ONE_WAY)


def linear(x, p):
    return p * x


def square(x, p=2.0):
    return p * x * x


FUNCTIONS = {"linear": linear, "square": square, "exp": lambda x, p: math.exp(p * x)}
OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "max": max}


class Spring:
    kind = "spring"

    def __init__(self, k):
        self.k = k

    def force(self, x):
        return -self.k * x

    @classmethod
    def weak(cls, k):
        return cls(0.1 * k)


class Damper:
    kind = "damper"

    def __init__(self, k):
        self.k = k

    def force(self, x):
        return -self.k * x * abs(x)

    @classmethod
    def weak(cls, k):
        return cls(0.01 * k)


CLASSES = {"spring": Spring, "damper": Damper}


class Layer:
    def __init__(self, weight, activation):
        self.weight, self.activation = weight, activation

    def __call__(self, x):
        return self.activation(self.weight * x)


def rectified(x):
    return x if x > 0 else 0.1 * x


def by_key(x, y):
    return sum(FUNCTIONS[name](x * k, y) for k, name in enumerate(["linear", "exp", "square", "linear"]))


def by_place(x, y):
    functions = [math.sin, math.tanh, rectified]
    for k in range(7):
        x = functions[k % 3](x) + 0.1 * y
    return x


def by_operators(x, y):
    stack = []
    for word in "x y + x * y - x max".split():
        if word in OPERATORS:
            b, a = stack.pop(), stack.pop()
            stack.append(OPERATORS[word](a, b))
        else:
            stack.append(x if word == "x" else y)
    return stack[0]


def by_test(x, y):
    total = 0.0
    for k in range(4):
        f = square if k % 2 else linear
        total += f(x, y) + (f(x, p=k * y) if f is square else f(y, x))
    return total


def classes_by_key(x, y):
    parts = [CLASSES[name](x * (k + 1)) for k, name in enumerate(["spring", "damper", "spring"])]
    parts += [(Damper if k else Spring).weak(y) for k in range(2)]
    return sum(part.force(y) * len(part.kind) for part in parts)


def in_attributes(x, y):
    layers = [Layer(x, math.tanh), Layer(y, rectified), Layer(x * y, math.sin)]
    value = 0.3
    for _ in range(3):
        for layer in layers:
            value = layer(value) + 0.1
            if layer.activation is math.sin:
                value += y
    return value


def beside_numbers(x, y):
    terms = [(x * k, math.exp if k % 2 else rectified) for k in range(4)]
    return sum(f(a) * y for a, f in terms)


def or_none(x, y):
    total = 0.0
    for k in range(5):
        f = linear if k > 3 else square if k > 1 else None
        total += x if f is None else f(x, y)
    return total


@pytest.mark.parametrize(
    "f",
    [by_key, by_place, by_operators, by_test, classes_by_key, in_attributes, beside_numbers, or_none],
)
def test_values_and_slopes(f):
    check_all_ways(f, 0.7, 0.9)
    check_all_ways(f, 1.3, -0.4)


def of_names(x, names):
    return sum(FUNCTIONS[name](x, 0.5 * x) for name in names)


def test_what_is_given_decides():
    for names in (["linear"], ["square", "exp"], ["exp", "linear", "linear"]):
        check(of_names, 0.7, names)
    if ALL_WAYS:
        assert has_all_ways(of_names, "gradient")


def test_functions_may_change(monkeypatch):
    before = check(by_key, 0.7, 0.9)
    monkeypatch.setitem(FUNCTIONS, "linear", lambda x, p: p - x)
    assert check(by_key, 0.7, 0.9, specialised=None) != before
    monkeypatch.setattr(square, "__code__", linear.__code__)
    check(by_key, 0.7, 0.9, specialised=None)


def made_with(gain):
    return lambda x, p: gain * x * p


def test_functions_that_have_captured_something():
    table = {"a": made_with(2.0), "b": linear}

    def f(x):
        return sum(table[name](x, x) for name in "aba")

    check(f, 0.7, specialised=None)
    assert ad.gradient(f, 0.7)[0] == pytest.approx(10 * 0.7)


def nothing_by_that_name(x, y):
    return x * sum(FUNCTIONS[name](x, y) for name in ["linear", "cube"])


def test_what_is_not_there():
    check_raises(nothing_by_that_name, 0.7, 0.9)
