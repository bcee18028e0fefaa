"""Objects derived from tuples, and what is asked about parameters and names, on one way."""

from __future__ import annotations

import functools
import inspect
import math
import operator
from collections import namedtuple
from typing import NamedTuple

import numpy as np
import pytest
from specialised_cases import GENERIC, check, check_slopes, is_specialised

import autodiff_hook as ad

Flat = namedtuple("Flat", "x y", defaults=(2.0,))


class Typed(NamedTuple):
    x: float
    y: float = 0.5

    def product(self):
        return self.x * self.y

    @property
    def whole(self):
        return sum(self)


class Checked(namedtuple("Checked", ["x", "y"])):
    __slots__ = ()

    def __new__(cls, x, y=None):
        return super().__new__(cls, x, x * x if y is None else y)

    def __len__(self):
        return 7

    def __add__(self, other):
        return Checked(self.x + other.x, self.y + other.y)


class Vector(tuple):
    def __new__(cls, *items):
        return tuple.__new__(cls, items)

    def __mul__(self, factor):
        return Vector(*(factor * x for x in self))

    def total(self):
        return sum(self, start=0.0)


class Knots(tuple):
    def __new__(cls, items, scale):
        self = tuple.__new__(cls, items)
        self.scale = scale
        return self


class Keeper:
    """Assigned again and again, so that programs around are followed on one way."""

    def __init__(self):
        self.kept = None

    def keep(self, value):
        self.kept = value
        self.kept = (value, 1)
        return self.kept[0]


def fields(x, y):
    p = Keeper().keep(Flat(x, y))
    q = Flat(x * y)
    return p.x * p.y + q.x * q.y + p[1] * len(p)


def methods(x, y):
    p = Keeper().keep(Typed(x))
    return p.product() * y + p.whole + Typed(y, x).product()


def taken_apart(x, y):
    p = Keeper().keep(Flat(x, y))
    a, b = p
    total = 0.0
    for i, item in enumerate(p):
        total += (i + 1) * item
    return total + a * b + sum(v * v for v in p) + max(*p)


def own_methods(x, y):
    p = Keeper().keep(Checked(x)) + Checked(y, x)
    return p.x * p.y * len(p)


def vectors(x, y):
    v = Keeper().keep(Vector(x, y, 2.0))
    return (v * x).total() + v[0] * v[-1] + (y if isinstance(v, tuple) and type(v) is Vector else 0.0)


def compared(x, y):
    p = Keeper().keep(Flat(x, y))
    return x * y if y in p and p else x


@pytest.mark.parametrize("f", [fields, methods, taken_apart, own_methods, vectors, compared], ids=lambda f: f.__name__)
def test_objects_derived_from_tuples(f):
    check_slopes(f, 0.7, 1.3)


def inner(a, b=2.0, *rest, c=3.0, **options):
    return a * b * c


def asked_of_what_is_made(x, y=2.0):
    def taking(a, b, *rest, scale):
        return a * b * x * scale + sum(rest)

    def defaulted(a, b=y):
        return a * b

    count = len(inspect.signature(taking).parameters)
    options = [p for p in inspect.signature(taking).parameters.values() if p.kind is p.KEYWORD_ONLY]
    by_default = inspect.signature(defaulted).parameters["b"].default
    return taking(x, 2.0, x, scale=x) * count * len(options) + by_default * x


def asked_of_a_closure(x):
    def taking(a, b, *rest, scale):
        return a * b * x * scale + sum(rest)

    return taking(x, 2.0, x, scale=x) * len(inspect.signature(taking).parameters)


def test_attributes_of_a_tuple_that_is_given():
    check(lambda knots, x: knots[0] * knots.scale * x, Knots((1.0, 2.0), 3.0), 1.3)


def test_signatures_of_functions_that_are_made():
    for _ in range(4):
        assert ad.gradient(asked_of_a_closure, 1.5)[0] == pytest.approx(4 * (6 * 1.5**2 + 1))
        assert ad.gradient(asked_of_what_is_made, 1.5)[0] == pytest.approx(4 * (6 * 1.5**2 + 1) + 2.0)
    assert GENERIC or "typed for one way" in str(ad.explain(asked_of_a_closure, 1.5))


cached = functools.lru_cache(inspect.signature)


def asked(x, ask=inspect.signature):
    Keeper().keep(x)
    given = {"a": x, "c": x * x, "unknown": 1.0}
    kinds = {p.name: p.kind for p in ask(inner).parameters.values() if p.kind != p.VAR_KEYWORD}
    return inner(**{k: v for k, v in given.items() if k in kinds and kinds[k] is not inspect.Parameter.VAR_POSITIONAL})


def asked_of_cache(x):
    return asked(x, cached)


def specified(x):
    Keeper().keep(x)
    spec = inspect.getfullargspec(inner)
    return x * len(spec.args) + (x * x if spec.varkw == "options" else 0.0)


def bound(x):
    given = inspect.signature(inner).bind(0.5, x, c=x * x)
    given.apply_defaults()
    some = inspect.signature(inner).bind_partial(b=x)
    some.arguments["a"] = 2.0 * x
    return inner(*given.args, **given.kwargs) + inner(*some.args, **some.kwargs)


class Scaling:
    def __init__(self, k, offset=1.0):
        self.k, self.offset = k, offset

    def scale(self, a, b):
        return self.k * a * b + self.offset


def asked_of_methods_and_classes(x):
    scaling = Scaling(**dict.fromkeys(inspect.signature(Scaling).parameters, x))
    return scaling.scale(**dict.fromkeys(inspect.signature(scaling.scale).parameters, x))


@pytest.mark.parametrize("f", [bound, asked_of_methods_and_classes], ids=lambda f: f.__name__)
def test_what_is_bound_by_signatures(f):
    check_slopes(f, 0.7)
    assert GENERIC or "typed for one way" in str(ad.explain(f, 0.7))


def told(x, a=2.0, *, b=3.0):
    return x * a * b


told.__signature__ = inspect.signature(inner)


def by_names(x):
    args, rest, _, defaults, options, given, _ = inspect.getfullargspec(Scaling.scale)
    args.append("own")
    found = inspect.getcallargs(Scaling.scale, x, x * x, b=x)
    Keeper().keep(x)
    told_of = inspect.signature(told).parameters
    return found["a"] * found["b"] * len(args) + len(told_of) * x + len(defaults or ()) * x * x + (rest is None) * x


def test_parameters_by_their_names(monkeypatch):
    check_slopes(by_names, 0.7)
    monkeypatch.setattr(told, "__signature__", inspect.Signature())
    for _ in range(2):
        check_slopes(by_names, 0.7, specialised=None)


def test_the_signature_of_a_class_may_change(monkeypatch):
    f = lambda x: x * len(inspect.signature(Scaling).parameters)  # noqa: E731
    assert ad.gradient(f, 0.5) == (2.0,)
    monkeypatch.setattr(Scaling, "__init__", lambda self, k: None)
    assert ad.gradient(f, 0.5) == (1.0,)
    monkeypatch.setattr(Scaling, "__new__", lambda cls, *args: None)
    monkeypatch.setattr(Scaling, "__signature__", inspect.Signature(), raising=False)
    assert ad.gradient(f, 0.5) == (0.0,)


@pytest.mark.parametrize("f", [asked, asked_of_cache, specified], ids=lambda f: f.__name__)
def test_parameters_of_functions(f):
    check_slopes(f, 0.7)


def test_the_parameters_of_a_function_may_change(monkeypatch):
    def taking(a, b):
        return a

    f = lambda x: Keeper().keep(x) * len(inspect.signature(taking).parameters)  # noqa: E731
    assert ad.gradient(f, 0.5) == (2.0,)
    monkeypatch.setattr(taking, "__code__", (lambda a: a).__code__)
    assert ad.gradient(f, 0.5) == (1.0,)


def doubling(function):
    @functools.wraps(function)
    def doubled(*args):
        return 2.0 * function(*args)

    return doubled


def wrapped_within(x):
    def cube(a):
        return a * x * x

    once, sine = doubling(cube), functools.update_wrapper(lambda a: a * a, wrapped=math.sin)
    twice = doubling(once)
    Keeper().keep(x)
    names = [f.__name__ for f in (cube, once, twice, sine)]
    known = once.__wrapped__ is cube and twice.__wrapped__.__wrapped__ is cube and sine.__wrapped__ is math.sin
    asked_for = [hasattr(f, name) for f in (cube, once) for name in ("__wrapped__", "__call__")]
    kept = names == ["cube", "cube", "cube", "sin"] and getattr(cube, "__wrapped__", None) is None
    return twice(x) * sine(x) if known and kept and asked_for == [False, True, True, True] else x


def test_functions_that_wrap_others():
    for x in (0.7, 1.3, 0.7):
        check_slopes(wrapped_within, x)


TIMES = operator.methodcaller("times", 3)


class Timed(Keeper):
    def times(self, n=2):
        return self.x**n


def called_by_name(x, squared):
    things = [Timed(), Timed()]
    things[0].x, things[1].x = x, 2.0 * x
    get = operator.methodcaller("times") if squared else operator.attrgetter("x")
    return sum(map(get, things)) + TIMES(things[0]) + operator.methodcaller("sum")(np.array([x, x * x]))


@pytest.mark.parametrize("squared", [True, False])
def test_methods_that_are_called_by_name(squared):
    for x in (0.7, 1.3, 0.7):
        check_slopes(lambda x: called_by_name(x, squared), x)


class Listed:
    def __init__(self, x):
        self.part_x = x
        self.part_x = x * 2.0

    @property
    def part_square(self):
        return self.part_x * self.part_x


def listed(x):
    o = Listed(x)
    return sum(getattr(o, name) for name in dir(o) if name.startswith("part_"))


def test_the_names_of_an_object():
    check_slopes(listed, 0.7)
    assert is_specialised(listed)


def test_the_names_of_an_object_may_change(monkeypatch):
    check(listed, 0.7)
    monkeypatch.setattr(Listed, "part_more", property(lambda self: 3.0 * self.part_x), raising=False)
    check_slopes(listed, 0.7)
