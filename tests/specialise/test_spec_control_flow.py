"""Control flow in specialised programs: loops, early exits, loop-carried values, random programs."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from random_scalars import Writer
from specialised_cases import check, check_raises, check_slopes, is_specialised, scope

import autodiff_hook as ad
from autodiff_hook.runtime.specialising import GENERIC, ONE_WAY
from autodiff_hook.transform.specialise.infer import Inference


def h(p, q):
    if p > q:
        return math.sin(p) * q
    return p + q * 0.5


def fibonacci(x, y):
    n = 0
    while n < 3:
        n += 1
        x, y = y, x + y
    return y * x


def swap_while(x, y):
    n = 0
    while n < 3:
        n += 1
        x, y = y, x
    return y * y * x


def rotate_while(x, y):
    n, z = 0, 0.5
    while n < 4:
        n += 1
        x, y, z = y, z, x * y
    return x + 2 * y + 3 * z


def lagging(x, y):
    n, z = 0, 0.5
    while n < 3:
        n += 1
        x, y, z = math.sin(x * y), x, y
    return x + 2 * y + 3 * z


def lagging_true(x, y):
    while True:
        old, x = y, x * y
        y = x + 0.5 * y
        if x < -2.0 or x > 2.0:
            break
    return x * y + old


def swap_true(x, y):
    n = 0
    while True:
        x, y = y, x * 1.5
        n += 1
        if n > 2:
            break
    return x * x * y


def swap_for(x, y):
    for _ in range(3):
        x, y = y, x * y
    return x * x * y


def rotate_for(x, y):
    z = 0.5
    for i in range(4):
        x, y, z = y, z, x * y + i
    return x + 2 * y + 3 * z


def nested_swap(x, y):
    for i in range(2):
        for _ in range(3):
            x, y = y, x + i
        y = y * x
    return x * y


@pytest.mark.parametrize("f", [swap_for, rotate_for, nested_swap])
def test_values_change_places(f):
    check_slopes(f, 0.7, -1.3)


@pytest.mark.parametrize("f", [fibonacci, swap_while, swap_true, rotate_while, lagging, lagging_true])
def test_values_change_places_in_loops_that_are_left_at_their_end(f):
    check_slopes(f, 0.7, -1.3)


def left_early(x, y):
    s = x
    for i in range(5):
        if i == 1:
            continue
        s = s * y + i
        if s > 6:
            break
    else:
        s = s * x
    return s


def returns_from_the_inside(x, y):
    s = 0.0
    for i in range(4):
        for j in range(3):
            s = s + x * i - y * j
            if s > y * 3:
                return s * s
            if j == 1 and s < 0:
                break
        else:
            s = s * 0.5
            continue
        s = s + y
    return s * x


def branches_in_loops_in_branches(x, y):
    if x > y:
        k = x * 2
        for i in range(3):
            if i % 2:
                k = k * y
                if k < 0:
                    k = -k + x
            else:
                k = k + x
    else:
        n = 0
        k = y
        while n < 3:
            n += 1
            k = math.sin(k) * x if n == 2 else k + y
    return k * k


def read_after_the_loop(x, y):
    for i in range(3):
        for j in range(2):
            v = x * i + y * j
        w = v * v
    return v * w + i * x + j * y


def zero_iterations(x, y):
    s = x
    for i in range(0):
        s = s * i
    n = 0
    while n > 0:
        s = s * y
    else:
        s = s + y * y
    return s


def walrus_and_chain(x, y):
    if (z := x * y) > 0.5 or -1 < (w := z - x) < y:
        return z * z
    return w * z


def conditions(x, y):
    a = x and y
    b = (x > 0.3 and y) or x * 2
    c = not x < y
    return a * b * (2 + c) if 0 < x <= y or not (x == y) else x


def while_true(x, y):
    s, n = x, 0
    while True:
        s = math.tanh(s * y) + x
        n += 1
        if n % 2:
            continue
        if s < 0.2 or n > 6:
            return s * s * n
        s = s + 1


def assigned_in_all_branches(x, y):
    for i in range(3):
        if x > y * i:
            v = x * i
        elif i == 1:
            v = y
        else:
            v = x * y
        x = x + v
    return x * v


PROGRAMS = [left_early, returns_from_the_inside, branches_in_loops_in_branches, read_after_the_loop, zero_iterations]
PROGRAMS += [walrus_and_chain, conditions, while_true, assigned_in_all_branches]
POINTS = [(0.7, 1.3), (1.3, 0.7), (-0.4, 0.9), (2.1, -0.3), (-1.1, -2.2), (3.1, 4.3)]


@pytest.mark.parametrize("f", PROGRAMS)
def test_programs(f):
    for x, y in POINTS:
        check_slopes(f, x, y)


def sometimes_unbound(x):
    if x > 1:
        v = x * 2
    return v * x


def unbound_after_a_loop(x):
    for _ in range(int(x)):
        v = x * 2
    return v * x


def unbound_cell(x):
    if x > 1:
        k = x * 2

    def g():
        return k * x

    return g()


def deleted(x):
    v = x
    if x < 1:
        del v
    return v * x


@pytest.mark.parametrize("f", [sometimes_unbound, unbound_after_a_loop, unbound_cell, deleted])
def test_variables_that_are_not_bound_on_some_path(f):
    for x in (2.0, 0.5, 3.0, 0.25):
        if x > 1:
            check_slopes(f, x, specialised=None)
        else:
            check_raises(f, x)


class Double:
    def __call__(self, x):
        return x * 7

    def __neg__(self):
        return 3.0

    def __mul__(self, x):
        return x


DOUBLE = Double()


class Once:
    def __init__(self, x):
        self.x = x


class Tenfold:
    def __init__(self, x):
        self.x = 10 * x


@pytest.mark.parametrize("kind", ["call", "operator", "class"])
def test_what_is_called_changes_in_the_loop(kind):
    def call(x):
        g, s = DOUBLE, 0.0
        for _ in range(3):
            s += g(x) * x
            g = math.sin
        return s

    def operator(x):
        v = DOUBLE
        for _ in range(2):
            v = -v
        return v * x

    def class_(x):
        cls, s = Once, 0.0
        for _ in range(3):
            s += cls(x).x * x
            cls = Tenfold
        return s

    check_slopes({"call": call, "operator": operator, "class": class_}[kind], 2.0, specialised=None)


def test_a_function_that_changes_in_the_loop():
    def f(x):
        g, s = math.sin, 0.0
        for _ in range(3):
            s += g(x) * x
            g = math.cos
        return s

    def of_python(x):
        g, s = h, 0.0
        for _ in range(3):
            s += g(x, 1.0) * x
            g = max
        return s

    check_slopes(f, 2.0, specialised=None)
    check_slopes(of_python, 2.0, specialised=None)


def test_gradients_of_ints_are_floats():
    def f(x, y):
        c = not x < y
        return x * y * (2 + c) if x < y else x

    check(f, 2, 3)


@pytest.mark.parametrize("kind", ["branch", "clamp", "power", "root"])
def test_what_has_no_part_in_the_result_does_not_spoil_it(kind):
    def branch(x):
        big = x * 1e308 * 10.0
        y = big * x
        if x > 1:
            return x * x
        return y

    def clamp(x):
        w = (x * 1e200) * (x * 1e200) * x
        if w > 5:
            w = x
        return w

    def power(x):
        y = (x - x) ** 0.5
        return x * 2 if x > 1 else y

    def root(x):
        y = math.sqrt(x - x)
        return x * 2 if x > 1 else y

    f, slope = {"branch": (branch, 4.0), "clamp": (clamp, 1.0), "power": (power, 2.0), "root": (root, 2.0)}[kind]
    check(f, 2.0, specialised=None)
    assert ad.gradient(f, 2.0) == (slope,)


def run(seeds, whiles):
    """Check the programs of these seeds; returns how many were specialised."""
    count = 0
    for seed in seeds:
        source = Writer(seed, whiles).source()
        f = scope(source, h=h, math=math, __name__=__name__)["f"]
        try:
            for args in ((0.61, -0.37), (-0.2, 1.3), (np.float64(0.3), 2)):
                check(f, *args, specialised=None)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}:\n{source}") from error
        count += is_specialised(f)
    return count


def test_random_programs_with_for_loops():
    assert run(range(15), whiles=False) > 7


def test_random_programs():
    run(range(1000, 1015), whiles=True)


def in_turn(x, y):
    if x > 1.0:
        kind, scale = 1, x
    else:
        kind, scale = 2.0, 3
    if y > 1.0:
        kind = kind + 1
    else:
        kind, scale = halved(y), 1
    if x > y:
        kind, scale = 4, scale * kind
    else:
        kind, scale = kind * scale, halved(x)
    return x * y * kind + scale


def halved(x):
    half, sign = 0.5 * x, 1
    if half < 0.0:
        half, sign = -half, -1
    return half * sign if half > 0.1 else half


@pytest.mark.skipif(GENERIC or ONE_WAY, reason="there is no interpretation of all ways")
def test_what_is_in_no_loop_is_interpreted_once(monkeypatch):
    visits = Counter()
    visit = Inference._visit

    def counted(self, block):
        visits[block] += 1
        visit(self, block)

    monkeypatch.setattr(Inference, "_visit", counted)
    check_slopes(in_turn, 1.3, 1.7)
    check_slopes(in_turn, 0.7, 2.3)
    assert len(visits) > 20 and max(visits.values()) == 1
