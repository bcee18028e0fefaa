"""Objects from outside that change places while the program runs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

import pytest
from specialised_cases import check, check_all_ways

from autodiff_hook import grad


class P:
    def __init__(self, k):
        self.k = k

    def val(self, x):
        return self.k * x * x


class Q(P):
    def val(self, x):
        return self.k * x * x * x


A, B, C = P(1.0), P(2.0), Q(3.0)
PA, PB = (A, 1.0), (B, 2.0)


def over_a_tuple(x):
    s = 0.0
    for o in (A, B, A):
        s += o.val(x)
    return s


def another_after_one(x):
    o = A
    s = 0.0
    for i in range(3):
        s += o.val(x) * (i + 1)
        o = B
    return s


def call(o, x):
    return o.val(x)


def spread_with_another(x):
    o = A
    s = 0.0
    for i in range(3):
        s += call(*(o, x)) * (i + 1)
        o = B
    return s


def in_a_tuple_with_another(x):
    o = A
    s = 0.0
    for i in range(3):
        t = (o, x)
        s += t[0].val(t[1]) * (i + 1)
        o = B
    return s


def pairs_in_turn(x):
    p = PA
    s = 0.0
    for i in range(3):
        s += p[0].val(x) * (i + 1)
        p = PB
    return s


def spread_out_of_pairs(x):
    p = PA
    s = 0.0
    for i in range(3):
        s += call(*(p[0], x)) * (i + 1) * p[1]
        p = PB
    return s


def scaled(o, k, x):
    return o.val(x) * k


def spread_pairs(x):
    p = PA
    s = 0.0
    for i in range(3):
        s += scaled(*p, x) * (i + 1)
        p = PB
    return s


def within(x):
    o = A
    for _i in range(3):
        x = x + 0.1 * grad(lambda w: o.val(w) * w)(x)  # noqa: B023
        o = B
    return x


def of_another_class(x):
    o = A
    s = 0.0
    for i in range(3):
        s += o.val(x) * (i + 1)
        o = C
    return s


def exchanged(x):
    p, q = A, B
    s = 0.0
    for i in range(3):
        s += p.val(x) * (i + 1) + q.val(x)
        p, q = q, p
    return s


def dicts_in_turn(x):
    d = {"o": A}
    s = 0.0
    for i in range(3):
        s += d["o"].val(x) * (i + 1)
        d = {"o": B}
    return s


def descend(o, n, x):
    if n == 0:
        return o.val(x)
    return descend(B, n - 1, x) + o.val(x)


def recursive(x):
    return descend(A, 3, x)


def descend_in_turn(o, p, n, x):
    if n == 0:
        return o.val(x)
    return descend_in_turn(p, o, n - 1, x) + 2 * o.val(x) * n


def recursive_exchanged(x):
    return descend_in_turn(A, B, 3, x)


def in_rows(x):
    s = 0.0
    for o, k in ((A, 1.0), (B, x), (C, 2.0)):
        s += o.val(x) * k
    return s


def applied(fn, x):
    return fn(x)


def bound_in_turn(x):
    o = A
    s = 0.0
    for i in range(3):
        s += applied(o.val, x) * (i + 1)
        o = B
    return s


def out_of_a_list(x):
    s = 0.0
    objs = [A, B]
    for i in range(3):
        o = objs[i % 2]
        s += call(o, x) * (i + 1)
    return s


def numbers_spread(x):
    w = 1.0
    for _i in range(4):
        w = w - 0.1 * scaled(*(A, w, x))
    return w


def spread_again(x):
    args = (1.0,)
    for _i in range(4):
        args = (args[0] - 0.1 * scaled(A, *args, x),)
    return args[0]


def to_a_function_within(x):
    w = 1.0

    def g(*a):
        return a[0] * a[1] * x

    for _i in range(4):
        w = g(*(w, x))
    return w


@pytest.mark.parametrize(
    "f",
    [
        over_a_tuple,
        another_after_one,
        spread_with_another,
        in_a_tuple_with_another,
        pairs_in_turn,
        spread_out_of_pairs,
        spread_pairs,
        within,
        of_another_class,
        exchanged,
        dicts_in_turn,
        recursive,
        recursive_exchanged,
        in_rows,
        bound_in_turn,
        out_of_a_list,
        numbers_spread,
        spread_again,
        to_a_function_within,
    ],
)
@pytest.mark.parametrize("x", [0.7, 1.3])
def test_objects_in_turn(f, x):
    check(f, x, specialised=None)


class Phase(Enum):
    REST = 1
    SPIKE = 2


@dataclass(frozen=True)
class Cell:
    v: float
    phase: Phase = Phase.REST


def by_phase(x, n=7):
    cell, total = Cell(x), 0.0
    for _ in range(n):
        if cell.phase is Phase.REST:
            cell = replace(cell, v=cell.v * 1.1, phase=Phase.SPIKE)
        else:
            cell = Cell(cell.v * x)
        total += cell.v
    return total


def stepped(cell, x):
    match cell.phase:
        case Phase.REST:
            if cell.v > 1.0:
                return replace(cell, v=0.1 * x, phase=Phase.SPIKE)
            return replace(cell, v=cell.v + 0.3 * x)
        case Phase.SPIKE:
            return Cell(cell.v * 1.1)


def by_a_step_that_may_give_nothing(x, n=7):
    cell, total = Cell(x), 0.0
    for _ in range(n):
        cell = stepped(cell, x)
        total += cell.v
    return total


@pytest.mark.parametrize("f", [by_phase, by_a_step_that_may_give_nothing])
def test_objects_in_states(f):
    for x in (0.7, 0.9, 1.4):
        check_all_ways(f, x)
