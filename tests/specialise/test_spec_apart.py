"""Loops over a few things of several kinds: functions in tuples, lists and dicts, objects of several classes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from specialised_cases import GENERIC, check, check_all_ways, has_all_ways

import autodiff_hook as ad
from autodiff_hook.runtime.specialising import ONE_WAY


def square(v):
    return v * v


def shift(v):
    return v + 1.0


FUNCTIONS = [square, shift]
NAMED = {"a": square, "b": shift}
RATES = {
    "n": (lambda v: 0.01 * (v + 5.5) / (1 - math.exp(-(v + 5.5))), lambda v: 0.125 * math.exp(-v)),
    "m": (lambda v: 0.1 * (v + 4.0) / (1 - math.exp(-(v + 4.0))), lambda v: 4.0 * math.exp(-v)),
    "h": (lambda v: 0.07 * math.exp(-v), lambda v: 1 / (1 + math.exp(-v))),
}


def written_out(x, y):
    total = 0.0
    for k in range(3):
        for f in (math.sin, square, shift):
            if k == 1 and f is shift:
                continue
            total += f(x) * y * k
    return total + sum(f(y) * c for f, c in [(square, x), (shift, 2.0)])


def from_outside(x, y):
    total = 0.0
    for f in FUNCTIONS:
        total = f(total * x + y)
    for name, f in NAMED.items():
        if name == "b":
            break
        total += f(x) * len(name)
    for name in NAMED:
        total += NAMED[name](y)
    return total + sum([f(x) for f in NAMED.values()])


def gates(x, y):
    v, found = x, {name: a(x) / (a(x) + b(x)) for name, (a, b) in RATES.items()}
    for _ in range(5):
        v = v + 0.1 * (y - found["m"] ** 3 * found["h"] * v - found["n"])
        for name, (a, b) in RATES.items():
            gate = found[name]
            found[name] = gate + 0.1 * (a(v) * (1 - gate) - b(v) * gate)
    return v * found["n"]


class Linear:
    def __init__(self, w):
        self.w = w

    def __call__(self, v):
        return self.w * v


class Curved:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def __call__(self, v):
        return math.tanh(self.a * v + self.b)


MODEL = [Linear(0.5), Curved(1.5, 0.1), Linear(2.0)]


def several_classes(x, y):
    v = x
    for layer in (Linear(y), Curved(x, y)):
        v = layer(v)
    for layer in MODEL:
        v = layer(v)
    return v


def several_types(x, y):
    total = 0.0
    for w in (x, "text", [y, 1.0], None):
        if w is not None:
            total += w if isinstance(w, float) else len(w) * y
    for w in {"a": x, "b": [y, x]}.values():
        total += sum(w) if isinstance(w, list) else w
    return total


def numbered(x, y):
    total = 0.0
    for i, f in enumerate(FUNCTIONS):
        total += f(x) * (i + 1)
    for v, f in zip([x, y], FUNCTIONS):
        total += f(v) * x
    return total + sum(f(v) * y for f, v in zip((math.sin, shift), (x, y)))


ALL_WAYS = [numbered, written_out, from_outside, gates, several_classes, several_types]


@pytest.mark.parametrize("f", ALL_WAYS)
def test_the_body_stands_once_for_each(f):
    check_all_ways(f, 0.7, 1.3)


def norms(parameters):
    total = 0.0
    for name, value in parameters.items():
        total += np.sum(value**2) * (2.0 if name.startswith("w") else 1.0)
    for name in parameters:
        total += np.sum(parameters[name])
    return total + sum(np.sum(v * v) for v in parameters.values())


def test_a_dict_of_arrays_with_several_axes():
    arrays = {f"{name}{i}": np.arange(1.0, 2.0 + i) for i in range(3) for name in "bc"}
    arrays |= {f"w{i}": np.ones((2, 1 + i)) for i in range(4)}
    for factor in (1.0, 0.5):
        check(norms, {name: factor * value for name, value in arrays.items()})
    if not (GENERIC or ONE_WAY):
        assert has_all_ways(norms, "gradient", "value")


def test_what_is_outside_is_looked_at_again():
    def changed(change, undo):
        before = check(from_outside, 0.7, 1.3)
        change()
        try:
            assert check(from_outside, 0.7, 1.3, specialised=None) != before
        finally:
            undo()

    changed(lambda: FUNCTIONS.append(square), FUNCTIONS.pop)
    changed(lambda: NAMED.update(c=math.sin), lambda: NAMED.pop("c"))
    changed(lambda: NAMED.update(a=shift), lambda: NAMED.update(a=square))
    changed(FUNCTIONS.reverse, FUNCTIONS.reverse)


def test_the_order_of_keys_counts():
    before = check(from_outside, 0.7, 1.3)
    NAMED["a"] = NAMED.pop("a")
    try:
        assert check(from_outside, 0.7, 1.3, specialised=None) != before
    finally:
        NAMED["b"] = NAMED.pop("b")


def many(x, y):
    total = 0.0
    for f in (math.sin, math.cos, math.tan, math.exp, square, shift, math.atan, math.tanh):
        total += f(x) * y
    return total


def grows_meanwhile(x, y):
    functions, total = [square], 0.0
    for f in functions:
        total += f(x) * y
        if len(functions) < 3:
            functions.append(shift)
    return total


def assigned_meanwhile(x, y):
    named = {"a": square, "b": shift, "c": 2.0}
    total = 0.0
    for name, f in named.items():
        named[name] = shift
        total += y * (f(x) if callable(f) else f)
    return total + named["a"](x)


def left_early(x, y):
    for f in (square, shift, math.sin):
        v = f(x * y)
        if v > 0.9:
            return v * y
    else:
        return x
    return y


def two_at_once(x, y):
    return sum(f(v) for f, v in zip((square, shift), (x, y))) + sum(i * f(x) for i, f in enumerate(FUNCTIONS))


@pytest.mark.parametrize("f", [many, grows_meanwhile, assigned_meanwhile, left_early, two_at_once])
def test_what_need_not_be_typed_is_right(f):
    check(f, 0.7, 1.3, specialised=None)


SAID: list[str] = []


def says(x, y):
    SAID.append("a")
    for f in FUNCTIONS:
        x = f(x) * y
    FUNCTIONS.append(square)
    return x


def test_what_is_changed_outside_is_changed_once():
    del SAID[:]
    for _ in range(3):
        count = len(FUNCTIONS)
        try:
            ad.gradient(says, 0.7, 1.3)
            assert len(FUNCTIONS) == count + 1
        finally:
            del FUNCTIONS[2:]
    assert len(SAID) == 3
