"""Named tuples that programs make, as states of simulations: taken apart, put together from generators, replaced."""

from __future__ import annotations

import math
import typing
from collections import namedtuple
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from specialised_cases import check, check_all_ways, check_slopes

import autodiff_hook as ad


def square(x):
    return x * x


class State(NamedTuple):
    x: float
    y: float
    z: float = 0.5


class Pair(NamedTuple):
    x: float
    y: float


class Backwards(NamedTuple):
    x: float
    y: float

    def __iter__(self):
        return iter((self[1], self[0]))


Plain = namedtuple("Plain", "a b")


def flow(s, x):
    return Pair(x * (s.y - s.x), s.x - s.y * s.x)


def steps(x, y):
    s = Pair(1.0, y)
    for _ in range(5):
        k = flow(s, x)
        half = Pair(*(a + 0.1 * b for a, b in zip(s, k)))
        s = Pair(*[a + 0.1 * b for a, b in zip(s, flow(half, x))])
    return s.x * s._replace(y=x).y + sum(s)


def spread(x, y):
    s = Plain(*map(math.sin, (x, y)))
    total = 0.0
    for i, v in enumerate(s):
        total += v * (i + 1)
    a, *rest = s
    return total + a * rest[0] + max(s) + np.sum(s) + s._asdict()["b"] * len(s)


def in_a_loop(x, y):
    s = Pair(x, y)
    for i in range(4):
        s = Pair(*(v * 0.5 + i for v in reversed(s)))
    return s.x * s.y


def arguments(x, y):
    def product(a, b):
        return a * b

    return product(*(v * i for i, v in enumerate((x, y), 1))) + (lambda a: a * x)(*[v for v in (y,)])


def moduli(x, y):
    moduli = namedtuple("Moduli", ["bulk", "shear"])
    return moduli(x * y, shear=x - y)


def of_a_class_made_here(x, y):
    point = namedtuple("Point", "x y")
    p = point(x, y)._replace(x=moduli(x, y).bulk)
    return p.x * p.y + moduli(*p)[1]


@pytest.mark.parametrize("f", [steps, spread, in_a_loop, arguments, of_a_class_made_here])
def test_named_tuples_that_are_taken_apart(f):
    check_all_ways(f, 0.7, 1.3)


class Part(NamedTuple):
    name: str
    value: float
    ends: tuple

    def current(self, volts):
        return volts / self.value


def parts_in_lists(x, y):
    parts = [Part("r0", x, ("a", "b"))]
    for k in range(5):
        parts.append(Part(f"{'rv'[k % 2]}{k}", x * (k + 1), ("b", f"n{k}")))
    total = 0.0
    for part in parts:
        if part.name[0] == "r":
            total += part.current(y) * math.sin(total + x)
        else:
            total += part[1] * len(part.ends)
    for name, value, (_, end) in parts:
        total += value * len(name + end)
    largest = max(parts, key=lambda part: part.value)
    return total + largest.value * y + len({part.name[0] for part in parts}) * isinstance(parts[0], Part)


def parts_in_dicts(x, y):
    found = {}
    for k in range(4):
        found[k % 3] = Part("p", x * k, (k, y))
    return sum(part.value * part.ends[1] for part in found.values()) + found[0]._replace(value=y).value


@pytest.mark.parametrize("f", [parts_in_lists, parts_in_dicts])
def test_named_tuples_in_lists_and_dicts(f):
    check_all_ways(f, 0.7, 1.3)
    check_all_ways(f, 1.1, 0.4)


KEPT: list = []
TABLE = {"last": None}


def shown_in_a_list(x, y):
    return x * len(str([Pair(x, y)])) + y * len(repr([Plain(1, 2)]))


def kept_outside(x, y):
    KEPT.append(Pair(x, y))
    TABLE["last"] = [Pair(x, x * y)]
    return KEPT[-1].x * TABLE["last"][0].y


def in_another_order(x, y):
    a, b = (v for pair in [Backwards(x, y)] for v in pair)
    return a * 2 + b * y


@pytest.mark.parametrize("f", [shown_in_a_list, kept_outside, in_another_order])
def test_what_shows_the_class_of_items_is_right(f):
    check(f, 0.7, 1.3, specialised=None)
    assert all(type(pair) is Pair for pair in [*KEPT, *(TABLE["last"] or ())])


def some_defaults(x, y):
    return sum(State(*(v for v in (x, y)))) * State(*(v for v in (x, y, x))).z


def own_iteration(x, y):
    s = Backwards(x, y)
    a, b = [v for v in s]
    return a * 2 + b * y + sum(i * v for i, v in enumerate(s))


def as_many_as_there_are(x, y):
    def count(*values):
        return len(values) * sum(values)

    return count(*(v for v in (x, y, x * y)))


@pytest.mark.parametrize("f", [some_defaults, own_iteration, as_many_as_there_are])
def test_what_need_not_be_typed_is_right(f):
    check(f, 0.7, 1.3, specialised=None)


def too_many(x, y):
    return Pair(*(v for v in (x, y, x))).x


def too_few(x, y):
    return (lambda a, b, c: a * b)(*(v for v in (x, y)))


@pytest.mark.parametrize("f", [too_many, too_few])
def test_another_number_is_the_error_of_the_plain_call(f):
    with pytest.raises(TypeError) as expected:
        f(0.7, 1.3)
    for _ in range(2):
        with pytest.raises(TypeError) as found:
            ad.gradient(f, 0.7, 1.3)
        assert str(found.value) == str(expected.value)


class Term(NamedTuple):
    factor: float
    of: Callable[[float], float]

    def scaled(self, x):
        return self.factor * self.of(x)


TERMS = [Term(0.5, math.sin), Term(2.0, math.exp), Term(1.5, square)]
TERM = Term(0.25, math.cos)


def of_made(x, y):
    made = Term(x, math.sin)
    return made.of(made.factor) * y + made.scaled(y)


def of_global(x, y):
    return TERM.of(x) * TERM.factor + sum(term.of(y) * term.factor + term.scaled(x) for term in TERMS)


@pytest.mark.parametrize("f", [of_made, of_global])
def test_functions_that_are_fields(f, monkeypatch):
    check_all_ways(f, 0.7, 0.3)
    monkeypatch.setitem(globals(), "TERM", Term(0.5, math.tan))
    monkeypatch.setitem(globals(), "TERMS", [*TERMS[:2], Term(3.0, math.atan)])
    check_slopes(f, 0.3, 0.7)


def test_a_function_that_is_a_field_of_an_argument():
    for of in (math.sin, square, math.sin):
        term = Term(2.0, of)
        grads = ad.gradient(lambda t, x: t.of(x) * t.factor, term, 0.7)
        assert grads[1] == pytest.approx(ad.gradient(of, 0.7)[0] * 2.0)
        assert grads[0].factor == of(0.7)


def test_annotations_of_inner_functions():
    # They are looked at where the function is made: this module asks for them as texts.
    space = {name: getattr(typing, name) for name in ("List", "Dict", "Optional", "Union")}
    exec(
        "def annotated(x, y):\n"
        "    def inner(a: List[float], b: Optional[float] = None) -> Dict[str, list[int]]:\n"
        "        c: Union[int, tuple[float, ...]] = a\n"
        "        return c * y\n"
        "    return inner(x)\n",
        space,
    )
    check_all_ways(space["annotated"], 0.7, 0.3)
