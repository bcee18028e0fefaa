"""Tangents of programs on one way that change what is outside: they do it once, at their end."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest

import autodiff_hook as ad
from autodiff_hook.runtime import specialising
from autodiff_hook.runtime.specialising import GENERIC


class Model:
    calls = 0

    def __init__(self):
        self.state, self.history, self.time = [0.1, 0.2, 0.3], [], 0.0
        self.names, self.field = {"a": 0.5}, None

    def run(self, k):
        for i in range(4):
            self.state[i % 3] = self.state[i % 3] + k * self.state[i - 1]
            self.history.append(self.state[0])
            self.time += 0.1 * k
        self.names["b"] = self.names["a"] * k
        return sum(self.history) + self.state[2] * self.time


def of_a_model(model, k):
    return model.run(k) * model.names["b"]


def of_lists(xs, k):
    xs[1:3] = [xs[2] * k, xs[1] + 0.1]
    del xs[0]
    xs.append(k)
    return xs[0] * xs[-1] + len(xs)


def of_an_array(xs, k):
    first, second = xs
    first.sort()
    second[0] = k * first[0]
    return float(first @ second), k


def of_nothing_that_moves(model, k):
    model.time = 3.0
    model.field = [1, 2]
    return k * k


def warning(model, k):
    model.time = k
    warnings.warn("slow", stacklevel=1)
    return k * k


def failing(model, k):
    model.time = k
    if k > 1.0:
        raise ValueError
    return k * k


CASES = [
    (of_a_model, Model),
    (of_lists, lambda: [0.1, 0.2, 0.3, 0.4]),
    (of_an_array, lambda: [np.array([0.3, 0.1]), np.array([0.5, 0.6])]),
    (of_nothing_that_moves, Model),
    (warning, Model),
]


def seen(x):
    return repr(vars(x) if isinstance(x, Model) else x)


@pytest.mark.parametrize(("f", "make"), CASES)
def test_tangents_and_effects(f, make):
    number = (lambda x: x[0]) if f is of_an_array else (lambda x: x)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for k in (0.7, 0.8, 0.9):
            slope = (number(f(make(), k + 1e-6)) - number(f(make(), k - 1e-6))) / 2e-6
            plain, given = make(), make()
            value = f(plain, k)
            said.clear()
            found, along = ad.jvp(f, (given, k), (None, 1.0))
            assert found == value and number(along) == pytest.approx(slope, rel=1e-6)
            assert seen(given) == seen(plain) and len(said) == (f is warning)
    if not GENERIC and f is not of_an_array:
        kept = specialising._known.found[id(f.__code__)].values()
        assert any(x.entries for x in kept)


def test_what_fails_is_as_it_was_left():
    for k in (0.5, 2.0, 0.5, 2.0):
        plain, given = Model(), Model()
        for work, model in (
            (lambda m, k: failing(m, k), plain),
            (lambda m, k: ad.jvp(failing, (m, k), (None, 1.0)), given),
        ):
            if k > 1.0:
                with pytest.raises(ValueError, match="^$"):
                    work(model, k)
            else:
                work(model, k)
        assert seen(given) == seen(plain)


def test_columns_change_nothing_twice():
    for k in (0.5, 0.6, 0.7):
        plain, given = Model(), Model()
        of_a_model(plain, k)
        moved = copy.deepcopy(given)
        ad.jacfwd(of_a_model, argnums=1)(moved, k)
        assert seen(moved) == seen(plain)
        ad.hvp(of_a_model, (given, k), (None, 1.0))
        assert seen(given) == seen(plain)
