"""State that a program makes and changes in loops: attributes of its objects, dicts, lists of arrays."""

from __future__ import annotations

import math
import os
from types import FunctionType

import numpy as np
import pytest
import several_programs
from specialised_cases import changes, check, check_raises, check_slopes

import autodiff_hook as ad
from autodiff_hook.runtime.specialising import GENERIC

ALL_WAYS = None if os.environ.get("AUTODIFF_ONE_WAY") else True


class Particle:
    kind = "particle"

    def __init__(self, x, v):
        self.x, self.v, self.t = x, v, 0
        self.label = "p"

    @property
    def energy(self):
        return 0.5 * self.v**2 - math.cos(self.x)

    def step(self, dt):
        self.v -= dt * math.sin(self.x)
        self.x += dt * self.v
        self.t += 1


class Body:
    def __init__(self, m):
        self.pos, self.vel, self.path = np.array([m, 1.0]), np.zeros(2), 0.0

    def acceleration(self):
        return -self.pos / np.sqrt(np.sum(self.pos**2)) ** 3

    def step(self, dt):
        self.vel = self.vel + dt * self.acceleration()
        self.pos = self.pos + dt * self.vel
        self.path = self.path + np.sum(self.vel * self.vel)


def pendulum(x, n):
    p = Particle(x, 0.0)
    for _ in range(n):
        p.step(0.1)
    return p.energy * p.t + len(p.label) * p.x


def orbit(x, n):
    b = Body(x)
    for _ in range(n):
        b.step(0.05)
    return np.sum(b.pos * b.vel) + b.path


def coupled(x, n):
    p, q = Particle(x, 0.0), Particle(x * x, 1.0)
    for i in range(n):
        p.step(0.1)
        if i % 2:
            q.v += p.x
        q.step(0.1)
    return p.x + q.x * q.v


def one_in_each_iteration(x, n):
    total = 0.0
    for i in range(n):
        p = Particle(x * i, total)
        for _ in range(3):
            p.step(0.1)
        total = total * 0.5 + p.x
    return total


def sums_by_name(x, n):
    d = {"a": 0.0, "b": x}
    for i in range(n):
        d["a"] += x * i
        d["b"] += d["a"] * 0.1
    return d["b"] * d["a"]


def table(x, n):
    d = {}
    d[0] = x
    d[1] = 1.0
    for i in range(2, n + 2):
        d[i] = d[i - 1] * 0.5 + d[i - 2] * x
    return d[n] + (3 in d)


def captured(x, n):
    total, calls = 0.0, 0

    def add(v):
        nonlocal total, calls
        total += v * x
        calls += 1

    for i in range(n):
        add(i * x)
    return total * calls


def layers(x, n):
    weights = [np.ones((3, 3)) * x * (i + 1) for i in range(n)]
    kept = [np.ones(3)]
    for w in weights:
        kept.append(np.tanh(w @ kept[-1] * 0.3))
    return sum(np.sum(a) * x for a in kept) + np.sum(np.array(kept) ** 2)


def replaced_arrays(x, n):
    a = [np.ones(2) * x] * 3
    for i in range(n):
        a[i % 3] = a[(i + 1) % 3] * x + i
    return np.sum(a[0] * a[2])


def distances(x, n):
    a, b = [math.sin(x * i) for i in range(n)], [math.cos(x * i) for i in range(n)]
    table = [[0.0] * (n + 1) for _ in range(n + 1)]
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            table[i][j] = (a[i - 1] - b[j - 1]) ** 2 + min(table[i - 1][j], table[i][j - 1], table[i - 1][j - 1])
    return table[n][n]


def eliminated(x, n):
    m = [[x + (i * j % 3) + (2.0 * n + i if i == j else 0.0) for j in range(n)] for i in range(n)]
    b = [x * i for i in range(n)]
    for k in range(n):
        for i in range(k + 1, n):
            f = m[i][k] / m[k][k]
            for j in range(k, n):
                m[i][j] -= f * m[k][j]
            b[i] -= f * b[k]
    s = [0.0] * n
    for i in range(n - 1, -1, -1):
        t = b[i]
        for j in range(i + 1, n):
            t -= m[i][j] * s[j]
        s[i] = t / m[i][i]
    return sum(s) + sum(m[0]) + len(m)


@pytest.mark.parametrize(
    "f",
    [
        distances,
        eliminated,
        pendulum,
        orbit,
        coupled,
        one_in_each_iteration,
        sums_by_name,
        table,
        captured,
        layers,
        replaced_arrays,
    ],
)
def test_state_that_changes_in_loops(f):
    scope = {**f.__globals__, "f": f}
    g = eval("lambda x: f(x, 6)", scope)
    check_slopes(g, 0.7, specialised=ALL_WAYS)
    if ALL_WAYS and not GENERIC:
        assert "next " in ad.code_adjoint(g, 0.7)
    check_slopes(eval("lambda x: f(x, 21)", scope), 0.7, specialised=ALL_WAYS)


def test_redefined_methods_take_effect():
    def replace():
        Body.acceleration = lambda self: -0.5 * self.pos

    before = Body.acceleration
    try:
        changes(lambda x: orbit(x, 5), replace, 0.7)
    finally:
        Body.acceleration = before


def test_what_is_not_assigned_raises_as_before():
    class Lazy:
        def __init__(self, x):
            self.seed = x

        def step(self):
            self.seed = self.seed * 0.5
            self.seed += self.missing

    def attribute(x):
        lazy = Lazy(x)
        for _ in range(3):
            lazy.step()
        return lazy.seed

    def key(x):
        d = {"a": x}
        for _ in range(3):
            d["a"] = d["a"] + d["b"]
        return d["a"]

    for f in (attribute, key):
        check_raises(f, 0.7)


def test_attributes_that_are_assigned_on_one_way_only():
    class Late:
        def __init__(self, x):
            self.value = x
            if x > 0.5:
                self.extra = x * x

        def step(self):
            self.value = self.value * 0.9
            if self.value > 0.6:
                self.extra = self.value

    def f(x):
        late = Late(x)
        for _ in range(4):
            late.step()
        return late.value + (late.extra if x > 0.5 else 0.0)

    for x in (0.9, 0.3, 0.7):
        check(f, x, specialised=None)


def test_arrays_that_several_attributes_hold():
    def f(x):
        b = Body(x)
        shared = b.pos
        for _ in range(3):
            b.pos += 0.5
            b.vel = b.pos
            b.vel[0] = x
        return np.sum(shared * b.pos) + np.sum(b.vel)

    check_slopes(f, 0.7, specialised=None)


def one_row_three_times(x):
    rows = [[0.0] * 2] * 3
    rows[0][1] = x * x
    return rows[2][1] * x


def a_row_that_is_changed_when_it_is_in(x):
    row, rows = [0.0] * 3, []
    for i in range(3):
        rows.append(row)
        row[i] = x * i
    return rows[0][1] + sum(rows[2])


def rows_that_change_places(x):
    m = [[x * i + j for j in range(3)] for i in range(3)]
    m[0], m[1] = m[1], m[0]
    m[0][1] = x
    return m[0][0] * m[1][1] + m[0][1]


def rows_as_an_array(x):
    m = [[x * i + j for j in range(3)] for i in range(3)]
    m[1][2] *= x
    return np.sum(np.array(m) ** 2)


@pytest.mark.parametrize(
    "f", [one_row_three_times, a_row_that_is_changed_when_it_is_in, rows_that_change_places, rows_as_an_array]
)
def test_lists_in_lists(f):
    check_slopes(f, 0.7, specialised=None)


def test_a_count_that_is_an_argument():
    def powers(x, n):
        v = [0.0] * n
        for i in range(n):
            v[i] = x**i
        return sum(v)

    check(powers, 0.7, 5)


def test_what_the_last_iteration_makes_and_nobody_reads():
    def power_iteration(x):
        v, s = np.ones(3) * x, 0.0
        for _ in range(3):
            s = np.sum(v * v)
            v = v / s
        return s

    check_slopes(power_iteration, 0.7)


@pytest.mark.parametrize("f", [f for f in vars(several_programs).values() if isinstance(f, FunctionType)])
def test_names_of_several_objects_closures_and_lists(f):
    for x in (0.7, -0.6, 0.2, 0.7131):
        try:
            f(x)
        except AttributeError:
            continue
        check_slopes(f, x, specialised=None)
        assert ad.pullback(f, x)[0] == f(x)


def readers(xs):
    """Functions of which a nested one reads what the outer one has captured."""
    yield lambda t: t * sum([xs[0] for _ in range(2)])
    yield lambda t: (lambda u: u * xs[0])(t)
    yield lambda t: t + [xs[0] * t for _ in range(2)][1]


@pytest.mark.parametrize("f", list(readers([0.2])))
def test_nested_functions_that_read_what_the_outer_one_captured(f):
    check_slopes(f, 0.3)
