"""``functools.partial`` in typed programs: made by the program or from outside."""

from __future__ import annotations

import math
from functools import partial, reduce

import numpy as np
import pytest
from specialised_cases import check, check_slopes, oracle, same

import autodiff_hook as ad


def g(a, b, c=1.0, *, d=2.0):
    return a * b**2 * c * math.sin(d)


def stepped(f, y, steps):
    for _ in range(steps):
        y = y + 0.1 * f(y)
    return y


WEIGHTS = np.array([1.0, 2.0])
OUTSIDE = partial(g, 1.5, d=0.7)
OF_ARRAYS = partial(lambda w, x: np.sum(w * x), WEIGHTS)
NESTED = partial(OUTSIDE, c=3.0)
OF_C = partial(math.pow, 2.0)


class Model:
    def __init__(self, k):
        self.k = k

    def rate(self, y, a):
        return -self.k * a * y


def made(x, y):
    return partial(g, x)(y) + partial(g, b=y, d=x)(2.0)


def made_of_a_lambda(x, y):
    f = partial(lambda a, b: a * b + y, x)
    return f(y) * f(2.0)


def made_again(x, y):
    return partial(partial(g, x), c=y)(3.0, d=y)


def overridden(x, y):
    return partial(g, x, 1.0, d=5.0)(d=y)


def of_a_method(x, y):
    return stepped(partial(Model(x).rate, a=y), 1.0, 3)


def in_a_loop(x, y):
    total = 0.5
    for i in range(3):
        total = partial(g, total, d=0.1 * i)(y) + x
    return total


def given_to_functions(x, y):
    return sum(map(partial(g, x), [y, 2.0])) + reduce(partial(g, d=x), [y, 2.0, 0.3])


def read_again(x, y):
    f = partial(partial(g, x, c=y), 3.0 * y)
    return f() * f.args[0] * f.args[1] * len(f.args) + f.func(y, x)


def from_outside(x, y):
    return OUTSIDE(x) * NESTED(y) + OUTSIDE(x, d=y)


@pytest.mark.parametrize(
    "f", [made, made_of_a_lambda, made_again, overridden, of_a_method, in_a_loop, read_again, from_outside]
)
def test_partials_of_python_code(f):
    check(f, 0.7, 1.3)


@pytest.mark.parametrize("f", [given_to_functions, lambda x, y: OF_C(x) * partial(max, y)(x)])
def test_other_partials(f):
    check(f, 0.7, 1.3, specialised=None)


def test_partials_that_hold_arrays():
    def f(x):
        return OF_ARRAYS(x) * x[0]

    x = np.array([0.5, 0.7])
    check(f, x)
    WEIGHTS[0] = 3.0
    try:
        same(ad.gradient(f, x), oracle(f, x)[1])
    finally:
        WEIGHTS[0] = 1.0


def test_keywords_of_partials_that_change():
    p = partial(g, 2.0, d=0.7)

    def f(x):
        return p(x)

    check(f, 0.5)
    p.keywords["d"] = 0.3
    same(ad.gradient(f, 0.5), oracle(f, 0.5)[1])
    p.keywords["c"] = 3.0
    same(ad.gradient(f, 0.5), oracle(f, 0.5)[1])
    del p.keywords["d"]
    same(ad.gradient(f, 0.5), oracle(f, 0.5)[1])


def test_other_functions_at_the_same_place():
    def f(x, flag):
        h = partial(g, x) if flag else partial(lambda a, b: a - b, 2.0)
        return h(3.0) * x

    for flag in (True, False):
        check(f, 0.5, flag, specialised=None)


def handed_over(x, transform=None):
    if transform == None or not callable(transform):  # noqa: E711
        return x
    return transform(x) * x


def compared_with_what_was_there(x, k):
    plain = handed_over(x)
    return plain * handed_over(x, lambda y: y * k) + handed_over(x, partial(g, b=x)) * k


def test_functions_are_none_of_what_was_there():
    check_slopes(compared_with_what_was_there, 0.7, 1.3)
