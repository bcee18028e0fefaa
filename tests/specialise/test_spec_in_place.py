"""``u *= v`` of arrays of the program's own."""

from __future__ import annotations

import numpy as np
import pytest
from specialised_cases import check

import autodiff_hook as ad

X = np.array([0.4, -0.7, 1.2])


def damped(x):
    old, new = np.zeros(3), x * 2.0
    for k in range(3):
        step = new * 2.0 - old
        step *= x
        step += k
        old, new = new, step
    return np.sum(new * old)


def normalized_in_turn(x):
    w = np.exp(x)
    for k in range(3):
        if k == 1:
            w /= np.sum(w)
        w *= x + k
    return w[0] * np.sum(w**2)


def by_itself(x):
    w = x * 1.0
    w *= w
    w -= w[0]
    return np.sum(w**3)


@pytest.mark.parametrize("f", [damped, normalized_in_turn, by_itself])
def test_what_nobody_else_sees(f):
    check(f, X)


def a_view_is_used_afterwards(x):
    w = x * 1.0
    part, row = w[1:], iter(w)
    w *= x
    return np.sum(part) * w[0] + next(row) * 3.0


def a_list_has_it(x):
    w, held = x * 1.0, []
    for _ in range(2):
        held.append(w)
        w *= x
    return np.sum(held[0] * held[1])


def a_function_has_it(x):
    w = x * 1.0

    def total():
        return np.sum(w)

    before = total()
    w *= x
    return before * total()


def another_name(x):
    w = x * 1.0
    v = w
    w *= x
    return np.sum(v * w)


def of_one_branch(x):
    w = x * 1.0
    v = w if x[0] > 0 else x * 2.0
    w *= x
    return np.sum(v * w)


def of_an_argument(x):
    def scale(a):
        a *= x
        return a[0]

    w = x * 1.0
    return scale(w) + np.sum(w)


def of_other_types(x):
    w = x.astype(np.float32)
    w *= 3
    whole = np.arange(3)
    whole *= 2
    return np.sum(w * whole * x)


@pytest.mark.parametrize(
    "f",
    [
        a_view_is_used_afterwards,
        a_list_has_it,
        a_function_has_it,
        another_name,
        of_one_branch,
        of_an_argument,
        of_other_types,
    ],
)
def test_other_names_see_the_change(f):
    check(f, X, specialised=None)
    check(f, -X, specialised=None)


def test_an_array_does_not_grow():
    def f(x, y):
        w = x * 1.0
        w *= y
        return np.sum(w)

    check(f, X, X)
    check(f, X, X[:1])
    with pytest.raises(ValueError, match="broadcast"):
        ad.gradient(f, X[:1], X)
