"""Stars in displays and calls: what they spread is written out where its parts are known."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest
from specialised_cases import check, check_all_ways

import autodiff_hook as ad


def g(a, b, c=1.0, d=2.0):
    return a * b**2 * c * math.sin(d)


def passing(function):
    @functools.wraps(function)
    def passed(*args, **kwargs):
        return function(*args, **kwargs)

    return passed


passed_on = passing(passing(g))


def positional(x, *rest):
    return g(x, *rest)


def between(x, y):
    return g(*(x, y), 3.0, *(y,))


def named(x, y, **options):
    return g(x, y, **options)


def by_name(x, y):
    return named(x, y, c=x, d=y)


def in_dicts(x, y):
    options = {"d": 1.0, **{"c": x}, **{"d": y}}
    return g(x, y, **options) + sum(options.values())


def decorated(x, y):
    return passed_on(x, y, d=x) * passed_on(x, y)


def displays(x, y):
    t = (x, *(y, x), 2.0)
    items = [*t, y, *[x, x * y]]
    return sum(items) * items[1] * t[2]


def stepped(f, t, y, *args):
    return y + 0.1 * f(t, y, *args)


def integrated(y, k):
    for i in range(5):
        y = stepped(lambda t, y, a, b: a * y + b * t, 0.1 * i, y, k, 0.5)
    return y


@pytest.mark.parametrize("f", [positional, between, by_name, in_dicts, decorated, displays, integrated])
def test_parts_that_are_known(f):
    check(f, 2.0, 3.0)


def from_a_list(x, parameters):
    return g(x, *parameters)


def test_lists_that_are_given():
    check(from_a_list, 2.0, [3.0, 4.0])
    check(from_a_list, 2.0, [3.0, 4.0, 5.0], specialised=None)


def from_an_array(x, parameters):
    return g(x, *parameters)


def changed_on_the_way(x, items):
    both = [x, *items, items.append(x)]
    return both[1] * items[-1]


def of_any_length(x, n):
    return sum([x, *[x * i for i in range(n)]])


@pytest.mark.parametrize(
    "f, args",
    [
        (from_an_array, (2.0, np.array([3.0, 4.0]))),
        (of_any_length, (2.0, 4)),
        (lambda x, items: (lambda *args: args[0] * args[1])(*items, x), (2.0, (3.0,))),
    ],
)
def test_parts_that_are_not(f, args):
    check(f, *args, specialised=None)


def test_what_changes_while_it_is_spread():
    for _ in range(2):
        assert ad.gradient(changed_on_the_way, 2.0, [3.0]) == (3.0, [2.0])


@pytest.mark.parametrize("keywords", [{"c": 1.0, "x": 2.0}, {"a": 1.0}])
def test_keywords_that_do_not_fit_are_the_errors_of_python(keywords):
    def f(x):
        return g(x, 2.0, **keywords)

    for _ in range(2):
        with pytest.raises(TypeError):
            ad.gradient(f, 2.0)


def given_twice(x):
    def f(**options):
        return g(x, 2.0, c=3.0, **options)

    return f(c=x)


def test_a_keyword_that_is_given_twice_is_an_error():
    for _ in range(2):
        with pytest.raises(TypeError, match="multiple values"):
            ad.gradient(given_twice, 2.0)


def called(h, *args):
    return h(*args)


def begins_with_a_constant(w):
    x = 0.5
    for _ in range(3):
        x = called(lambda a, b: a * b + a, x, w)
    return x


def begins_with_a_constant_by_name(w):
    x = 0.5
    for _ in range(3):
        x = named(x, w, c=x)
    return x


@pytest.mark.parametrize("f", [begins_with_a_constant, begins_with_a_constant_by_name])
def test_what_is_spread_in_a_loop_is_not_what_it_began_with(f):
    check(f, 0.7)


def by_dict(x, y):
    options = dict(c=x, d=y)
    return g(x, y, **options) * dict(a=x)["a"]


def reduced(x, y):
    total = functools.reduce(lambda a, b: a * b + x, [x, 2.0, y])
    return functools.reduce(lambda a, b: a + b * y, [x * i for i in range(4)], total) + functools.reduce(g, (x, y, 0.5))


@pytest.mark.parametrize("f", [by_dict, reduced])
def test_calls_that_are_written_out(f):
    check(f, 2.0, 3.0)


def test_reducing_nothing():
    for _ in range(2):
        with pytest.raises(TypeError, match="empty"):
            ad.gradient(lambda x: functools.reduce(lambda a, b: a * b, []) * x, 2.0)
        assert ad.gradient(lambda x: functools.reduce(lambda a, b: a * b, [], x) * x, 2.0) == (4.0,)


class Scaled:
    def __init__(self, k):
        self.k = k

    def of(self, x):
        return self.k * x


def test_objects_from_outside_that_are_spread():
    held = (Scaled(3.0), 2.0)

    def plain(x, scaled, y):
        return scaled.of(x) * y

    def f(x):
        return plain(x, *held)

    check(f, 0.7, specialised=None)


def weighed(*terms):
    total = 1.0
    for i, term in enumerate(terms):
        total = total * term + i
    return total


class Coordinates:
    def __init__(self, *values):
        self.values = list(values)

    def __add__(self, other):
        return Coordinates(*[a + b for a, b in zip(self.values, other.values)])

    def scaled(self, *, by):
        return Coordinates(*(by * a for a in self.values))


class Pair:
    def __init__(self, x, y=0.5):
        self.x, self.y = x, y

    def moved(self, dx, dy):
        return Pair(self.x + dx, self.y + dy)


def counted(*rest):
    return sum(rest) * len(rest)


def into_rest(x, y):
    point = Coordinates(x, y, 1.0)
    for i in range(4):
        point = point + Coordinates(y, i, x).scaled(by=0.1)
    made = [x * k for k in range(3)]
    before = counted(*made)
    made.append(y)
    return sum([a * a for a in point.values]) + before * counted(*made)


def into_parameters(x, y):
    total = 0.0
    for i in range(4):
        found = [x * k + y for k in range(2 + i // 9)]
        moved = Pair(x, y).moved(*found)
        total += moved.x * moved.y
    return total


def of_another_number(x, y):
    total = 0.0
    for i in range(4):
        found = [x * k + y for k in range(i)]
        try:
            total += Pair(*found).y
        except TypeError:
            total += x
    return total


def around_rest(x, y):
    found = [x * k for k in range(3)]
    return counted(y, *found) + counted(*found, *found) + max(*found) * math.hypot(*found)


@pytest.mark.parametrize("f", [into_rest, into_parameters])
def test_any_number_of_items_is_spread(f):
    for args in ((0.7, 1.3), (1.1, -0.4)):
        check_all_ways(f, *args)


@pytest.mark.parametrize("f", [of_another_number, around_rest])
def test_what_is_not_known_of_a_spread_is_right(f):
    check(f, 0.7, 1.3, specialised=None)


def of_array(x):
    return g(*x, x[0])


def of_rows(x):
    return np.sum(g(*x[:2]) * x[2])


def of_any_length(x):
    return weighed(2.0, *x) + sum([1.0, *x])


def of_what_is_made(x):
    first, *rest = [*(2.0 * x), 3.0]
    return first * rest[0]


@pytest.mark.parametrize(
    "f, x",
    [
        (of_array, np.array([1.2, 0.7])),
        (of_rows, np.array([[1.2, 0.7], [0.3, 2.0], [0.4, -0.5]])),
        (of_any_length, np.array([1.2, 0.7])),
        (of_any_length, np.array([0.4, 1.2, 0.7])),
        (of_any_length, np.array([])),
        (of_what_is_made, np.array([1.2, 0.7])),
    ],
)
def test_arrays_that_are_spread(f, x):
    check(f, x)


def test_arrays_of_several_lengths():
    for length in (2, 3, 2, 1, 4):
        x = np.arange(1.0, 1.0 + length)
        check(of_any_length, x)
        assert ad.gradient(of_any_length, x)[0].shape == (length,)


class Stage:
    def __init__(self, gain):
        self.gain = gain

    def __call__(self, x):
        return math.sin(self.gain * x)


class Chain:
    def __init__(self, *stages):
        self.stages = list(stages)

    def __call__(self, x):
        for stage in self.stages:
            x = stage(x)
        return x


def stages_and_one(x, y, n=3):
    return Chain(*(Stage(y * i) for i in range(1, n)), Stage(x))(x) + Chain(Stage(y), *[Stage(x)] * n)(y)


def numbers_around(x, y, n=3):
    held = [x, *[y * i for i in range(n)], *range(n)]
    whole = (*[y * i for i in range(n)], x)
    return sum(a * a for a in held) * held[1 + n - n] + whole[-1] * sum(whole)


def counted_out(x, y):
    points = [(x, y), (y, 2.0), (1.0, x)]
    total = 0.0
    for place in ((0, 1), (1, 2), (2, 0)):
        total += spanned(*[points[i] for i in place], x)
        total += spanned(points[0], *[points[i] for i in place[1:]], factor=y)
    return total


def spanned(a, b, factor):
    return (a[0] * b[1] - a[1] * b[0]) * factor


@pytest.mark.parametrize("f", [stages_and_one, numbers_around, counted_out])
def test_lists_beside_other_parts(f):
    for x, y in ((0.7, 0.4), (1.2, 0.9)):
        check_all_ways(f, x, y)


def test_a_list_that_a_call_has_no_room_for():
    def f(x, n):
        return spanned(*[(x, 1.0 + i) for i in range(n)], x)

    for _ in range(2):
        assert ad.gradient(f, 2.0, 2) == (4.0, 0.0)
        with pytest.raises(TypeError, match="positional"):
            ad.gradient(f, 2.0, 3)


class Curve:
    def __init__(self, points):
        self.points = points

    def __call__(self, t):
        out = [0.0, 0.0]
        for k, (a, b) in enumerate(self.points):
            out[0] += a * t**k
            out[1] += b * t**k
        return tuple(out)


def of_native_code(x, y):
    curve = Curve([[x, y], [y, 1.0], [0.5, x]])
    return sum(math.hypot(*curve(0.1 * i)) for i in range(5))


def test_a_tuple_of_any_length_is_spread_into_native_code():
    check_all_ways(of_native_code, 0.7, 1.3)
    check_all_ways(of_native_code, -0.4, 0.2)
