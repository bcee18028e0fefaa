"""Arguments on one way that are read by another name, too: it is an error, or right."""

from __future__ import annotations

from collections import namedtuple

import pytest
from specialised_cases import oracle, same

import autodiff_hook as ad


class Known:
    def __init__(self, w, v):
        self.w, self.v, self.parts = w, v, [w, v]

    def times(self, x):
        return self.w * x


HELD = Known(2.0, 3.0)
LISTED, KEYED, FLAT = [HELD, "a", None], {HELD: 1.0}, HELD.parts
TIMES = HELD.times


def by_a_global(n, x, kinds=(1, "a")):
    return HELD.w * x * n.v * len([kinds, "a", None])


def by_a_list(n, x):
    return LISTED[0].w * x * n.v


def by_its_part(n, x):
    return FLAT[0] * x * len([n, "a", None])


def by_a_key(n, x):
    return sum(k.w * x for k in KEYED) * n.v


def by_a_method(n, x):
    return TIMES(x) * n.v


@pytest.mark.parametrize("f", [by_a_global, by_a_list, by_its_part, by_a_key, by_a_method])
def test_an_argument_that_is_read_by_another_name(f):
    """It is an error, or right; what another one was given alike is no reason to miss it."""
    other, deep = Known(5.0, 7.0), Known(5.0, 7.0)
    deep.inner = HELD
    for given in (other, HELD, other, deep, HELD):
        expected = None
        try:
            expected = oracle(f, given, 2.0)[1]
        except ad.NotDifferentiable:
            with pytest.raises(ad.NotDifferentiable):
                ad.gradient(f, given, 2.0)
        for _ in range(2 if expected is not None else 0):
            same(ad.gradient(f, given, 2.0), expected)


class Listed(list):
    pass


class Keyed(dict):
    pass


Pair = namedtuple("Pair", "first second")
PART = [2.0, "a"]
NUMBERS, ENTRIES = Listed([2.0, "a"]), Keyed(w=2.0, name="a")


@pytest.mark.parametrize(
    ("f", "other", "held"),
    [
        (lambda n, x: n[0] * NUMBERS[0] * x, Listed([3.0, "a"]), NUMBERS),
        (lambda n, x: n["w"] * ENTRIES["w"] * x, Keyed(w=3.0, name="a"), ENTRIES),
        (lambda n, x: n[0][0] * PART[0] * x, Listed([[3.0, "a"]]), Listed([PART])),
        (lambda n, x: n["w"][0] * PART[0] * x, Keyed(w=[3.0, "a"]), Keyed(w=PART)),
        (lambda n, x: n.first[0] * PART[0] * x, Pair([3.0, "a"], 1.0), Pair(PART, 1.0)),
        (lambda n, x: n.w["w"] * ENTRIES["w"] * x, Known(Keyed(w=3.0), 1.0), Known(ENTRIES, 1.0)),
    ],
)
def test_arguments_of_derived_classes(f, other, held):
    for _ in range(3):
        assert ad.gradient(f, other, 1.5)[1] == 6.0
        with pytest.raises(ad.NotDifferentiable):
            ad.gradient(f, held, 1.5)


class Spring:
    def __init__(self, stiffness):
        self.stiffness = stiffness


def test_an_argument_whose_attributes_are_read_as_a_dict():
    spring, other = Spring(2.0), Spring(4.0)
    names = vars(spring)

    def f(s, x):
        return s.stiffness * names["stiffness"] * x

    for _ in range(3):
        assert ad.gradient(f, other, 3.0)[0].stiffness == 6.0
        with pytest.raises(ad.NotDifferentiable):
            ad.gradient(f, spring, 3.0)


SPRING = Spring(2.0)
OWN = vars(SPRING)


def read_as_a_dict(x):
    SPRING.stiffness = x * x
    return OWN["stiffness"] * x


def changed_as_a_dict(x):
    OWN["stiffness"] = x * x
    return SPRING.stiffness * x


def by_its_method(x):
    HELD.w = x * x
    return TIMES(x)


@pytest.mark.parametrize("f", [read_as_a_dict, changed_as_a_dict, by_its_method])
def test_what_is_changed_is_read_in_another_way(f):
    for x in (1.5, 2.0, 3.0):
        SPRING.stiffness = HELD.w = 2.0
        assert ad.withgradient(f, x) == (x**3, (pytest.approx(3 * x * x),))
        assert SPRING.stiffness == x * x or HELD.w == x * x
    HELD.w = 2.0
