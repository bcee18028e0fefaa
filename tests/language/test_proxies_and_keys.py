"""What a program merely holds: dead weak proxies, objects that lie about their class; slices as keys."""

from __future__ import annotations

import copy
import operator
import weakref

import numpy as np
import pytest

import autodiff_hook as ad


class Point:
    def __init__(self, k):
        self.k = k


class Liar:
    @property
    def __class__(self):
        raise RuntimeError("it was asked for its class")


class Holder:
    def __init__(self):
        self.dead, self.k, self.liar = DEAD, 1.0, Liar()


DEAD = weakref.proxy(Point(1.0))
HELD = [DEAD, 1.0]
LIARS = [Liar(), 1.0]
NAMED = {"dead": DEAD, "k": 1.0}
PAIR = (DEAD, 1.0)
HOLDER = Holder()


def iterated(x):
    return x * len([y for y in HELD]) / 2


def stored(x):
    point = Point(1.0)
    point.dead, point.liar, point.x = HELD[0], HOLDER.liar, x
    items, names = [HELD[0]], {"dead": HELD[0], "x": x}
    items += [x, HOLDER.liar]
    return point.x * items[1] / names["x"]


def copied(x):
    other, items = copy.copy(HOLDER), list(HELD)
    other.k, items[1] = x, x
    return (other.k + items[1] + [*items, *HELD][1]) / 3


def bound(x):
    def chosen(dead, k, **rest):
        return k * rest["x"]

    return chosen(*HELD, x=x)


def holding(x, held=[DEAD, Liar(), 1.0]):
    return x * held[2]


def captured():
    held = [DEAD, Liar(), 1.0]
    return lambda x: x * held[2]


PROGRAMS = [
    lambda x: x * HELD[1],
    lambda x: x * NAMED["k"],
    lambda x: x * PAIR[1],
    lambda x: x * LIARS[1],
    lambda x: x * HOLDER.k,
    lambda x: x if HELD[0] is not None and type(HELD[0]) is weakref.ProxyType else 0.0,
    iterated,
    stored,
    copied,
    bound,
    holding,
    captured(),
]


@pytest.mark.parametrize("f", PROGRAMS)
def test_what_cannot_be_asked_is_reached(f):
    for _ in range(2):
        assert ad.gradient(f, 1.3) == pytest.approx((1.0,))
    assert ad.pullback(f, 1.3)[1](1.0) == pytest.approx((1.0,))
    assert ad.J(f, 1.3)[1](1.0)[1] == pytest.approx(1.0)
    assert ad.jvp(f, (1.3,), (1.0,))[1] == pytest.approx(1.0)
    assert ad.gradient(lambda x: ad.gradient(lambda y: y * f(y) / 2, x)[0], 1.3) == pytest.approx((1.0,))


ARGUMENTS = {
    "list": ([1.3, DEAD, Liar()], lambda a: a[0], [1.0, None, None]),
    "tuple": ((1.3, DEAD, Liar()), lambda a: a[0], (1.0, None, None)),
    "dict": ({"k": 1.3, "dead": DEAD, "liar": Liar()}, lambda a: a["k"], {"k": 1.0, "dead": None, "liar": None}),
    "object": (HOLDER, lambda a: a.k * 1.0, None),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments_that_hold_what_cannot_be_asked(name):
    argument, f, expected = ARGUMENTS[name]
    for _ in range(2):
        found = ad.gradient(f, argument)[0]
        assert found.k == 1.0 if expected is None else found == expected
        assert ad.gradient(lambda x, held: x * f(held), 2.0, held=argument) == (f(argument),)


ROWS = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
MIXED = [1.0, "a", None, 2.0, np.ones(3)]
CUT = slice(0, 2)
KEYS = {"a": [1.0, 2.0], (1, 2): 3.0, 1.5: 2.0, None: 4.0}

SLICES = [
    (lambda x: ROWS[:-1][0][0] * x, 1.0),
    (lambda x: MIXED[0:4:3][1] * x, 2.0),
    (lambda x: MIXED[::-1][1] * x, 2.0),
    (lambda x: MIXED[4][CUT].sum() * x, 2.0),
    (lambda x: operator.getitem(ROWS, slice(0, 1))[0][0] * x, 1.0),
    (lambda x: len(ROWS[1:]) * x, 2.0),
    (lambda x: x if ROWS[1:] == ROWS[1:] else 0.0, 1.0),
    (lambda x: sum(row[0] for row in ROWS[1:]) * x, 8.0),
    (lambda x: (ROWS[:1] + ROWS[1:])[2][1] * x, 6.0),
    (lambda x: [x, 2.0, 3.0][CUT][0], 1.0),
    (lambda x: KEYS["a"][0:1][0] * KEYS[1, 2] * KEYS[1.5] * KEYS[None] * x, 24.0),
    (lambda x, cut=slice(0, 2): ROWS[cut][1][0] * x, 3.0),
]


@pytest.mark.parametrize(("f", "expected"), SLICES)
def test_slices_as_keys(f, expected):
    for _ in range(2):
        assert ad.gradient(f, 1.3) == pytest.approx((expected,))


def test_each_slice_is_a_list_of_its_own():
    def f(x):
        first, second = ROWS[:2], ROWS[:2]
        first[0] = [x, x]
        return second[0][0] * x + first[0][1]

    for _ in range(2):
        assert ad.gradient(f, 1.3) == (2.0,)
    assert ROWS[0] == [1.0, 2.0]


class Doubling(staticmethod):
    """Stands for a callable in all that is asked of it, and gives twice what that gives, by native code."""

    __module__ = "builtins"  # what classes of native code say that name no module

    def __init__(self, wrapped):
        super().__init__(lambda *args: 2.0 * wrapped(*args))
        self.stands_for = wrapped

    @property
    def __class__(self):
        return type(self.stands_for)

    def __getattr__(self, name):
        return getattr(self.stands_for, name)


class Scaled:
    def __init__(self, k):
        self.k = k

    def plain(self, x):
        return self.k * x * x

    def __rmul__(self, x):
        return self.k * x


class Doubled(Scaled):
    def __init__(self, k, method):
        super().__init__(k)
        self.method = method


TRIPLED = Doubling(lambda x: 3.0 * x * x)
BOUND = Doubling(Scaled(3.0).plain)
MADE = Doubling(Scaled)
STAND_INS = [
    lambda x: TRIPLED(x),
    lambda x: BOUND(x),
    lambda x: MADE(3.0 * x * x),
    lambda x: Doubled(1.0, TRIPLED).method(x),
    lambda x: sum(map(TRIPLED, [x])),
]


@pytest.mark.parametrize("f", STAND_INS)
def test_what_says_that_it_is_a_function_is_called_as_what_it_is(f):
    try:
        found = ad.gradient(f, 0.7)[0], ad.jvp(f, (0.7,), (1.0,))
    except ad.NotDifferentiable:
        return
    assert found == (pytest.approx(12.0 * 0.7), pytest.approx((f(0.7), 12.0 * 0.7)))


class Keeper:
    def __init__(self, x):
        self.dead, self.x = DEAD, x


def test_globals_that_are_dead_proxies_are_not_asked_for_their_class():
    assert ad.gradient(lambda x: Keeper(x * x).x, 2.0) == (4.0,)


def test_what_other_code_may_change_is_not_asked_for_its_class():
    namespace = {"__name__": "somewhere_else"}
    exec("def keep(x, *held): return None", namespace)
    keep = namespace["keep"]

    def f(x):
        held = Liar()
        keep(x, held, [held], Holder())
        return x * x

    assert ad.gradient(f, 2.0) == (4.0,)
