"""Derivatives within loops: what a loop begins with is no constant of what is differentiated there."""

from __future__ import annotations

import functools
import math

import pytest
from specialised_cases import oracle

import autodiff_hook as ad
from autodiff_hook import grad


def energy(a, b):
    return a * a * b + math.sin(a * b)


def by_another_argument(z):
    s = 1.0
    for _ in range(3):
        s = s - 0.1 * grad(energy, 1)(s, z) * z
    return s


def by_turns(z):
    def loss(w, b):
        return (w * z + b - 2.0) ** 2

    w, b = 0.0, 0.0
    for _ in range(3):
        w, b = w - 0.05 * grad(loss, 0)(w, b), b - 0.05 * grad(loss, 1)(w, b)
    return w * b


def by_each_place(z):
    i, found = 0, 0.0
    while i < 2:
        found = found * z + grad(energy, i)(z, z + 1.0) * (i + 1)
        i += 1
    return found


def by_exponents(z):
    n, found = 1, 0.0
    for _ in range(3):
        found = found + grad(lambda n, x: x**n, 1)(n, z)
        n = n + 1
    return found


def by_what_may_be_missing(z):
    scale, found = None, 0.0
    for _ in range(3):
        found = found + grad(lambda k, x: x * x if k is None else x * k, 1)(scale, z)
        scale = z
    return found


def by_names(z):
    name, found = "a", 0.0
    for _ in range(3):
        found = found + grad(lambda n, x: x * x if n == "a" else x * 5.0, 1)(name, z)
        name = "b"
    return found * z


def by_tuples(z):
    pair, found = (1.0, 2.0), 0.0
    for _ in range(3):
        found = found + grad(lambda p, x: x * x * p[0] * p[1], 1)(pair, z)
        pair = pair[1], found
    return found


def of_partials(z):
    b = 1.0
    for _ in range(3):
        b = b * z - 0.05 * grad(functools.partial(energy, b))(z)
    return b


def in_a_direction(z):
    moving, found = None, 0.0
    for _ in range(3):
        found = found * z + ad.jvp(energy, (z, z * z), (z, moving))[1]
        moving = z
    return found


@pytest.mark.parametrize(
    "f",
    [
        *(by_another_argument, by_turns, by_each_place, by_exponents, by_what_may_be_missing),
        *(by_names, by_tuples, of_partials, in_a_direction),
    ],
)
def test_what_changes_while_the_loop_runs(f):
    value, slopes = oracle(f, 0.7)
    for _ in range(2):
        assert ad.withgradient(f, 0.7) == (pytest.approx(value), pytest.approx(slopes))
        assert ad.jvp(f, (0.7,), (1.0,))[1] == pytest.approx(slopes[0])
