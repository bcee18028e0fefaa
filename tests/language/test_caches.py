"""``functools.lru_cache``: what carries no derivative is answered by the cache, whichever operator asks.

Dicts that a program keeps what it has computed in are no such caches: what they have from before is an error.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import sys
import types
import zlib
from operator import xor

import numpy as np
import pytest
from helpers import searched_in
from in_all_modes import MODES, differences

import autodiff_hook as ad
from autodiff_hook.api import generic_gradient

computed = []
state = {"v": 1.0}


@functools.lru_cache(None)
def factor(n, scale=1.0):
    computed.append(n)
    return scale * n


@functools.lru_cache(None)
def table(n):
    computed.append(n)
    return [float(i) for i in range(n)]


@functools.lru_cache(None)
def square(x):
    computed.append(x)
    return x * x


@functools.lru_cache(None)
def reads(n):
    return state["v"] * n


class Model:
    @functools.lru_cache(None)
    def weight(self, n):
        computed.append(n)
        return n * 2.0


MODEL = Model()


def marked(x):
    state["v"] = x
    return sum(factor(7) * state["v"] for _ in range(3))


def read(x):
    state["v"] = x
    return reads(2) * x


PROGRAMS = [
    (lambda x: x * factor(3), 1),
    (lambda x: x * factor(3, scale=2.0), 1),
    (lambda x: sum(x * factor(i % 2) for i in range(6)), 2),
    (lambda x: x * table(3)[2], 1),
    (lambda x: x * table(len([x, x, x]))[1], 1),
    (lambda x: x * MODEL.weight(3), 1),
    (lambda x: x * functools.partial(factor, 5)(), 1),
    (lambda x: sum(map(factor, [1, 2, 1, 2])) * x, 2),
    (lambda x: x * factor(int(x)), 1),
    (marked, 1),
]

OPERATORS = {
    "gradient": lambda f, x: ad.gradient(f, x)[0],
    "by keyword": lambda f, x: ad.gradient(lambda x, *, k: f(x) * k, x, k=1.0)[0],
    "pullback": lambda f, x: ad.pullback(f, x)[1](1.0)[0],
    "J": lambda f, x: ad.J(f, x)[1](1.0)[1],
    "jvp": lambda f, x: ad.jvp(f, (x,), (1.0,))[1],
    "hvp": lambda f, x: ad.hvp(lambda x: f(x) * x, (x,), (1.0,))[0] / 2,
}


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize(("f", "count"), PROGRAMS)
def test_it_is_computed_as_often_as_in_the_plain_run(operator, f, count):
    for cache in (factor, table, Model.weight):
        cache.cache_clear()
    computed.clear()
    for _ in range(3):
        assert OPERATORS[operator](f, 1.5) == pytest.approx(f(1.5) / 1.5)
    assert len(computed) == count


@pytest.mark.parametrize("operator", OPERATORS)
def test_what_carries_a_derivative_is_computed(operator):
    square.cache_clear()
    square(1.5)
    for _ in range(2):
        assert OPERATORS[operator](lambda x: square(x) / x, 1.5) == pytest.approx(1.0)
    reads.cache_clear()
    slope = OPERATORS[operator](lambda x: read(x) / x, 1.5)
    assert slope == pytest.approx(2.0)


scales = {f"unit {i}": [float(i)] for i in range(500)}


@functools.lru_cache(None)
def scale_of(name, other):
    return scales[name][0] * scales[other][0]


def test_what_the_function_could_come_to_is_not_searched_where_the_answer_is_there():
    def converted(x):
        held = [x]
        return held[0] * scale_of("unit 3", "unit 2") * scale_of("unit 3", other="unit 4")

    assert generic_gradient(converted, 1.5) == (72.0,)
    assert len(searched_in(generic_gradient, converted, 1.5)) < 100


class Counted:
    asked = 0

    def __hash__(self):
        type(self).asked += 1
        return 7


@functools.lru_cache(None)
def doubled(key):
    return 2.0


@functools.lru_cache(0)
def forgotten(name):
    return scales[name][0]


def counting(x):
    held, key, Counted.asked = [x], Counted(), 0
    total = doubled(key) + doubled(key) + forgotten("unit 3") + forgotten("unit 3")
    return held[0] * total * Counted.asked


def test_what_counts_how_often_it_is_asked_for_its_hash_counts_as_in_the_plain_run():
    assert counting(1.5) == 30.0
    for operator in OPERATORS:
        assert OPERATORS[operator](lambda x: counting(x) / x * x, 1.5) == pytest.approx(20.0)


def of_numbers(x):
    calls = []

    @functools.lru_cache(maxsize=3)
    def h(a, b=1.0, *, c=2.0):
        calls.append(a)
        return a * b * c * x

    r = h(x) + h(x) * h(0.5) + h(x, b=x) * h(0.5, c=x) + h(0.5)
    return r * len(calls)


def of_many_calls(x):
    @functools.lru_cache(None)
    def fib(n):
        return x ** (n + 1) if n < 2 else fib(n - 1) * 0.5 + fib(n - 2) * x * 0.3

    return fib(60)


def of_lists(x):
    @functools.lru_cache(None)
    def row(n):
        return [x, n * x]

    table.cache_clear()
    given = table(3)
    given[1] = x * given[2]
    row(3).append(x)
    row(3)[0] *= x
    return sum(table(3)) * sum(row(3)) + sum(row(2))


class Grid:
    def __init__(self, k):
        self.k = k

    @functools.lru_cache(None)
    def size(self, n):
        return self.k**n


def of_objects_that_change(x):
    grid = Grid(x)
    first = grid.size(2)
    grid.k = x * x
    second = grid.size(2) * grid.size(3)
    Grid.size.cache_clear()
    return first * second + grid.size(2)


@pytest.mark.parametrize("operator", MODES)
@pytest.mark.parametrize("f", [of_numbers, of_many_calls, of_lists, of_objects_that_change])
def test_what_carries_a_derivative_is_kept_for_the_call(operator, f):
    for x in (0.7, 1.3):
        assert MODES[operator](f, x) == pytest.approx(differences(f, x, 2 if operator == "hvp" else 1), rel=1e-5)
        assert ad.withgradient(f, x)[0] == pytest.approx(f(x), rel=1e-14)


def of_an_answer_from_before(x):
    reads.cache_clear()
    state["v"] = 1.5
    first = reads(2) * x
    state["v"] = x
    return first + reads(2) * x + reads(3)


def of_answers_by_name(x):
    state["v"] = 1.5

    @functools.lru_cache(maxsize=5, typed=True)
    def by_name(n, *, k=1.0):
        return state["v"] * n * k

    first = by_name(2, k=3.0) + by_name(2.0)
    state["v"] = x
    return first + by_name(2, k=3.0) * x + by_name(2.0) + by_name(2)


def of_an_object_that_was_asked_before(x):
    Grid.size.cache_clear()
    grid = Grid(1.5)
    first = grid.size(2)
    grid.k = x
    return first * x + grid.size(2) * grid.size(3)


LEVEL = 2.0


class Settings:
    level = 1.0


@functools.lru_cache
def global_level():
    return LEVEL


@functools.lru_cache
def level_of_class(n):
    return Settings.level * n


@functools.lru_cache
def whole_state():
    return state


def scaled_by_level(x):
    return x * global_level() * level_of_class(2)


def of_globals_assigned_in_a_loop(x):
    global LEVEL
    LEVEL, Settings.level = 2.0, 1.0
    global_level.cache_clear()
    for _ in range(2):
        LEVEL = x * LEVEL
    return x * global_level()


def of_class_attributes(x):
    Settings.level = 1.0
    level_of_class.cache_clear()
    first = level_of_class(2)
    Settings.level = x
    return first * level_of_class(2) * x + level_of_class(3)


def of_a_helper_that_asks(x):
    global LEVEL
    level_of_class.cache_clear()
    global_level.cache_clear()
    sys.getswitchinterval()
    LEVEL, Settings.level = x, x * x
    return scaled_by_level(x)


def of_a_dict_that_is_replaced(x):
    global state
    whole_state.cache_clear()
    for _ in range(2):
        state = {"v": x}
    found = whole_state()["v"] * x
    state = {"v": 1.0}
    return found * whole_state()["v"]


@pytest.mark.parametrize("operator", MODES)
@pytest.mark.parametrize(
    "f",
    [of_globals_assigned_in_a_loop, of_class_attributes, of_a_helper_that_asks, of_a_dict_that_is_replaced],
)
def test_what_a_cached_function_reads_is_as_it_is_when_it_is_called(f, operator):
    for x in (0.7, 1.3, 0.7):
        slope = differences(f, x, 2 if operator == "hvp" else 1)
        assert MODES[operator](f, x) == pytest.approx(slope, rel=1e-5, abs=1e-5)
        plain = f(x)
        assert ad.withgradient(f, x)[0] == pytest.approx(plain, rel=1e-14)


@functools.lru_cache
def of_a_level(n):
    return Settings.level * n


def asks_in_a_loop(x):
    Settings.level = 2.0
    total = 0.0
    for _ in range(2):
        total = total * 0.5 + of_a_level(2) * x
        Settings.level = total
    return total + of_a_level(3)


@pytest.mark.parametrize("operator", MODES)
def test_what_is_assigned_after_a_cache_was_asked(operator):
    for x in (0.7, 1.3, 0.7):
        found = []
        for asked in (asks_in_a_loop, lambda x: MODES[operator](asks_in_a_loop, x)):
            of_a_level.cache_clear()
            found.append(asked(x))
        of_a_level.cache_clear()
        assert ad.withgradient(asks_in_a_loop, x)[0] == pytest.approx(found[0])
        # total is 6 x, and of_a_level(3) is 3 times that
        assert found[1] == pytest.approx(0.0 if operator == "hvp" else 24.0)


@pytest.mark.parametrize("operator", MODES)
@pytest.mark.parametrize("f", [of_an_answer_from_before, of_answers_by_name, of_an_object_that_was_asked_before])
def test_what_a_cache_has_from_before_is_what_the_plain_run_gets(f, operator):
    for x in (0.7, 1.3):
        assert MODES[operator](f, x) == pytest.approx(
            differences(f, x, 2 if operator == "hvp" else 1), rel=1e-5, abs=1e-5
        )
        assert ad.withgradient(f, x)[0] == pytest.approx(f(x), rel=1e-14)


memory = {}


def asked_first(x):
    if x not in memory:
        memory[x] = x**3
    return memory[x]


def tried(x):
    try:
        return memory[x]
    except KeyError:
        memory[x] = x**3
        return memory[x]


def got_by_a_pair(x):
    found = memory.get((x, 1))
    if found is None:
        found = memory[x, 1] = x**3, x
    return found[0]


def set_by_default(x):
    return memory.setdefault((1, x), x**3)


def taken(x):
    memory.setdefault(x, x**3)
    found = memory.pop(x)
    memory[x] = found
    return found


def kept_by_its_text(x):
    key = f"{x:.9f}"
    if key not in memory:
        memory[key] = x**3
    return memory[key]


def kept_by_its_bytes(x):
    key = np.array([x]).tobytes()
    if key not in memory:
        memory[key] = np.array([x]) ** 3
    return memory[key][0]


def kept_by(key):
    def kept(x):
        if key(x) not in memory:
            memory[key(x)] = x**3
        return memory[key(x)]

    return kept


by_a_hash = [
    kept_by(key)
    for key in (
        *(hash, lambda x: hash((x, "cube")), lambda x: hash(str(x)), lambda x: hash(Place(x))),
        *(lambda x: hash(("cube", Point(x))), lambda x: zlib.adler32(np.array([x]).tobytes())),
        *(lambda x: hash((np.array([x]).tobytes(), None)), lambda x: hash(frozenset([x]))),
        *(lambda x: hash(x) ^ hash((x, 1)), lambda x: -hash(x) * 31 + 7, lambda x: abs(hash(x)) % (1 << 31) << 1),
        lambda x: functools.reduce(xor, map(hash, [x, x * x])),
        *(lambda x: divmod(hash(x), 1 << 31)[1], lambda x: divmod(hash(x), 1 << 31)),
        *(lambda x: math.isqrt(abs(hash(x))), lambda x: math.gcd(hash(x), hash(x) << 1)),
        *(lambda x: mixed(hash(x), hash(str(x))), lambda x: functools.reduce(mixed, [hash(x), 3], 7)),
    )
]


def mixed(a, b):
    return a * 31 + b


def kept_in_a_list(x):
    if x not in memory:
        memory[x] = [x, {"cube": x**3}]
    return memory[x][1]["cube"]


def kept_in_an_object(x):
    if x not in memory:
        memory[x] = types.SimpleNamespace(cube=x**3)
    return memory[x].cube


@dataclasses.dataclass(frozen=True)
class Place:
    x: float


class Point:
    __slots__ = ("name", "x")

    def __init__(self, x, name="p"):
        self.x, self.name = x, name

    @property
    def parts(self):
        return self.name, self.x

    def __eq__(self, other):
        return self.parts == other.parts

    def __hash__(self):
        return hash(self.name)


class Species:
    def __init__(self, name, mass):
        self.name, self.mass = name, mass

    def __eq__(self, other):
        return self.name == other.name

    def __hash__(self):
        return hash(self.name)


def parts_of(point):
    return point.name, point.mass


def wrapped(function):
    @functools.wraps(function)
    def called(*args):
        return function(*args)

    return called


class Wrapped(Species):
    """What tells two of them apart, a function says that is wrapped, and one of the module."""

    @wrapped
    def __eq__(self, other):
        return parts_of(self) == parts_of(other)

    __hash__ = Species.__hash__


def by_a_copy(x):
    if not memory:
        memory[Place(x)] = x**3
    return dict(memory)[Place(x)]


by_equal_objects = [
    kept_by(key)
    for key in (
        Place,
        Point,
        lambda x: Wrapped("p", x),
        lambda x: (1, Place(x)),
        lambda x: Place(Point(x)),
        lambda x: frozenset([x]),
    )
]


@pytest.mark.parametrize("operator", MODES)
@pytest.mark.parametrize(
    "f",
    [
        *(*by_equal_objects, by_a_copy),
        *(asked_first, tried, got_by_a_pair, set_by_default, taken, kept_by_its_text, kept_by_its_bytes),
        *(kept_in_a_list, kept_in_an_object, *by_a_hash),
    ],
)
def test_what_a_dict_remembers_of_a_number_is_no_constant(operator, f):
    memory.clear()
    assert MODES[operator](f, 1.3) == pytest.approx(differences(lambda x: x**3, 1.3, 2 if operator == "hvp" else 1))
    with pytest.raises(ad.NotDifferentiable, match="had its value before"):
        MODES[operator](f, 1.3)


NAMES, SAME = {0.5: "sin", 1.3: "cos"}, {1.3: 1.3}


def named_by(x):
    return getattr(math, NAMES[x] or "exp")(x)


@pytest.mark.parametrize("operator", MODES)
@pytest.mark.parametrize("f", [lambda x: SAME[x] ** 3, lambda x: SAME.get(x, x) ** 3, lambda x: x * SAME[x]])
def test_what_a_table_has_of_a_number_is_no_constant(operator, f):
    with pytest.raises(ad.NotDifferentiable, match="had its value before"):
        MODES[operator](f, 1.3)
    assert ad.gradient(named_by, 1.3) == pytest.approx((-math.sin(1.3),))


@pytest.mark.parametrize("operator", MODES)
def test_hashes_that_no_dict_is_asked_by_are_constants(operator):
    def f(x):
        return x**3 if hash(x) == hash((x, 1)[0]) and hash(Place(x)) != hash("x") else x

    assert MODES[operator](f, 1.3) == pytest.approx(differences(lambda x: x**3, 1.3, 2 if operator == "hvp" else 1))


TABLE = {1: 2.0, 2: 5.0, "scale": 3.0}


def by_whole_numbers(x):
    return x * TABLE[2] * TABLE[int(x)] * TABLE["scale"]


def by_a_name(x):
    return x * WEIGHTS[Species("H", x)] * Species("O", x).mass


WEIGHTS = {Species("H", 1.0): 2.0}


def by_objects(x):
    first, factors = Place(x), {(1, Place(x)): 5.0}
    weights = {first: 2.0, "other": 1.0}
    weights[Point(x)] = 3.0
    return (weights[first] + weights[Place(x)] * weights[Point(x)] + factors[1, first]) * x**2


def own_memory(x):
    own = {}

    def power(y, n):
        if (y, n) not in own:
            own[y, n] = y if n < 2 else power(y, n - 1) * y + power(y, n - 2)
        return own[y, n]

    return power(x, 6)


def constants_by_numbers(x):
    weights, places = {x: 2.0, 2 * x: 3.0}, {v: i for i, v in enumerate([x, x * x])}
    counts = {}
    for y in (x, x, 2 * x):
        counts[y] = counts.get(y, 0) + 1
    return weights[x] * x + weights[2 * x] * x * places[x * x] * counts[x]


def remembered_by(key):
    def remembered(place):
        if key(place) not in memory:
            memory[key(place)] = place.x**3
        return memory[key(place)]

    return remembered


@pytest.mark.parametrize("key", [lambda place: place, lambda place: ("cube", place), lambda place: Place(place)])
def test_what_an_earlier_call_put_there_by_an_argument_is_no_constant(key):
    memory.clear()
    f, place = remembered_by(key), Place(1.3)
    (slope,) = ad.gradient(f, place)
    assert slope.x == pytest.approx(3 * 1.3**2)
    for operator in (ad.gradient, lambda f, x: ad.jvp(f, (x,), (slope,)), lambda f, x: ad.hvp(f, (x,), (slope,))):
        with pytest.raises(ad.NotDifferentiable, match="had its value before"):
            operator(f, place)


def weighed_by_itself(place):
    own, (first, second) = {place: 2.0}, (Place(place.x), Place(2 * place.x))
    own |= {("pair", place): 4.0, second: place.x}
    memory[place] = own[first] + dict([(place, 3.0)])[place] * own["pair", place]
    return memory[place] * place.x + own[second]


def test_what_a_program_puts_there_by_an_argument_is_known():
    memory.clear()
    place = Place(1.3)
    for _ in range(2):
        (slope,) = ad.gradient(weighed_by_itself, place)
        assert slope.x == pytest.approx(15.0)
        assert ad.jvp(weighed_by_itself, (place,), (slope,))[1] == pytest.approx(15.0**2)


@pytest.mark.parametrize("operator", MODES)
@pytest.mark.parametrize("f", [by_whole_numbers, by_a_name, by_objects, own_memory, constants_by_numbers])
def test_what_a_program_puts_there_itself_is_known(operator, f):
    expected = differences(f, 1.3, 2 if operator == "hvp" else 1)
    for _ in range(2):
        assert MODES[operator](f, 1.3) == pytest.approx(expected, rel=1e-5, abs=1e-5)


FACTORS = [2.0]


@functools.lru_cache(maxsize=2)
def weighted(k):
    return FACTORS[0] * k


def test_a_cache_with_few_places_forgets_what_was_used_first():
    def f(x):
        weighted.cache_clear()
        FACTORS[0] = x
        first = weighted(3.0) + weighted(4.0) + weighted(3.0)
        FACTORS[0] = 5.0
        kept = weighted(7.0) * weighted(3.0)
        forgotten = weighted(4.0)
        FACTORS[0] = 2.0
        weighted.cache_clear()
        return first * x + kept * x + forgotten * x

    for mode, operator in MODES.items():
        assert operator(f, 1.3) == pytest.approx(differences(f, 1.3, 2 if mode == "hvp" else 1), rel=1e-6)
