"""Second order of programs that are followed on one way: by differences of gradients, by typed programs alone."""

import math
from typing import NamedTuple

import numpy as np
import pytest
from trees import assert_slopes, direction, slopes, typed

import autodiff_hook as ad


class State(NamedTuple):
    x: float
    v: float


def spring(k, c, x0):
    s = State(x0, 0.0)
    history = []
    for _ in range(6):
        a = -k * s.x - c * s.v
        s = s._replace(x=s.x + 0.1 * s.v, v=s.v + 0.1 * a)
        history.append(s)
    return sum(h.x**2 for h in history)


class Body:
    def __init__(self, p, m):
        self.p, self.m = list(p), m


def bodies(positions, masses):
    energy, made = 0.0, [Body(p, m) for p, m in zip(positions, masses)]
    for i, a in enumerate(made):
        for b in made[:i]:
            energy -= a.m * b.m / math.sqrt(sum((q - p) ** 2 for p, q in zip(a.p, b.p)) + 0.1)
        a.p[0] += 0.1 * energy
    return energy


def captured_twice(x):
    w = x * 2.0

    def f(v):
        return w[0] * np.sum(v**2) + w[1]

    s = f(x)
    w = [x[0], 2.0]
    return s * f(x)


def halves(x):
    for part in np.split(x, 2):
        yield np.sum(part**3)


def split_in_a_generator(x):
    return sum(h**2 for h in halves(x))


def pairs_of_slices(q, masses):
    energy = 0.0
    for i, (a, m) in enumerate(zip(q, masses)):
        for b, n in zip(q[:i], masses[:i]):
            energy -= m * n / np.linalg.norm(a - b)
    return energy


Q = np.array([[0.1, 0.7], [1.2, -0.4], [-0.6, 0.3], [0.4, 1.1]])
CASES = {
    spring: (2.0, 0.3, 1.0),
    bodies: (Q, [1.0, 2.0, 0.5, 1.5]),
    captured_twice: (np.array([0.7, 1.3]),),
    split_in_a_generator: (np.array([0.7, 1.3, -0.4, 0.2]),),
    pairs_of_slices: (Q, [1.0, 2.0, 0.5, 1.5]),
}


@pytest.mark.parametrize("f", CASES)
def test_products(f):
    point, v = CASES[f], direction(CASES[f])
    expected = slopes(f, point, v)
    for _ in range(2):
        assert_slopes(typed("hvp", f, point, v), expected)


def by_sign(x, parts):
    """The list holds several kinds of things, and which it adds up depends on the argument."""
    found = [x, "a", (x, x)]
    if x > 1.0:
        found.append(x**3)
    else:
        found = [x * x, x]
    return sum(p**3 for p in found if isinstance(p, float)) * parts


def test_another_way():
    for x in (0.5, 1.5, 0.7, 1.2, 2.0, 0.1, 1.1):
        expected = slopes(by_sign, (x, 2.0), (1.0, 0.5))
        assert_slopes(ad.hvp(by_sign, (x, 2.0), (1.0, 0.5)), expected)
    for x in (0.5, 1.5):
        typed("hvp", by_sign, (x, 2.0), (1.0, 0.5))


def test_a_tangent_of_another_form_is_refused_and_the_next_call_is_typed():
    with pytest.raises(ad.Unsupported, match=r"tangents\[0\] must be a number"):
        ad.hvp(spring, (2.0, 0.1, 1.0), ("2", 1.0, 1.0))
    typed("hvp", spring, (2.0, 0.1, 1.0), (1.0, 1.0, 1.0))


def test_hessians():
    found = ad.hessian(spring, (0, 1, 2))(2.0, 0.3, 1.0)
    for i in range(3):
        unit = tuple([float(i == j) for j in range(3)])
        columns = tuple([row[i] for row in found])
        assert_slopes(columns, slopes(spring, (2.0, 0.3, 1.0), unit))
