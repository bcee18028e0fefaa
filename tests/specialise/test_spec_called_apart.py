"""Functions that a carried program calls with arrays, containers and objects: typed, with copies of these."""

from __future__ import annotations

import enum
import functools
import math
import random
import sys

import numpy as np
import pytest
from specialised_cases import GENERIC, oracle, slopes

import autodiff_hook as ad
from autodiff_hook.algebras import typed
from autodiff_hook.api import generic_gradient
from autodiff_hook.runtime import splitting
from autodiff_hook.semantics import analysing, functions

pytestmark = pytest.mark.skipif(GENERIC, reason="there are no specialised programs")

TABLE = np.array([0.5, 1.5, 2.5])
WEIGHTS = [1.0, 2.0, 3.0]
LIMITS = {"low": 0.1, "high": [2.0, 3.0]}


def odd():
    """Keeps its caller from being typed."""
    sys.getswitchinterval()


class Spring:
    def __init__(self, k, rest, parts=()):
        self.k, self.rest, self.parts = k, rest, list(parts)

    def energy(self, x):
        own = self.k * (x - self.rest) ** 2
        for part in self.parts:
            own += part.k * x
        return own

    def pull(self, x):
        self.rest = x * self.k
        return self.rest

    def itself(self, x):
        return self


def chain(xs, w):
    s = 0.0
    for i in range(len(xs) - 1):
        s += w * math.exp(-xs[i] * xs[i + 1])
    return s


def rows(table, x):
    return [[x * v for v in row] for row in table]


def named(p, x):
    return {"a": p["a"] * x + p["b"][1], "b": [v * x for v in p["b"]]}


def layers(w, h):
    for _ in range(3):
        h = np.tanh(w @ h)
    return h


def halves(a):
    return a[:2], a[2:] * 2.0


def same_list(xs, x):
    xs[0] + x
    return xs


def by_table(a, x):
    return a * TABLE * x + WEIGHTS[1] * LIMITS["high"][0]


def fills(xs, x):
    xs.append(x * xs[0])
    return xs[-1]


def raises(xs, x):
    if x > 0.0:
        raise ValueError(xs[0])
    return x * xs[0]


def roots(a, x):
    return np.sum(np.sqrt(a)) * x


def of_lists(x):
    odd()
    xs = [x, x * x, 0.3, 2.0 * x]
    y = chain(xs, x) + chain(xs, 2.0)
    xs[1] = 5.0 * x
    xs.append(x)
    return y * chain(xs, x) + xs[1]


def of_lists_that_change_afterwards(x):
    odd()
    xs = [x, x * x, 0.3]
    y = chain(xs, x)
    xs.clear()
    xs.extend([1.0] * 9)
    return y * x


def of_results_in_containers(x):
    odd()
    made = rows([[x, 1.0], [x * x, x]], x)
    made[0][1] *= x
    found = named({"a": x, "b": [x * x, 2.0]}, x)
    found["b"].append(x)
    return made[0][1] * made[1][0] + found["a"] * sum(found["b"])


def of_arrays(x):
    odd()
    w = np.array([[x, 0.5], [0.2, x * x]])
    h = layers(w, np.array([x, 1.0]))
    w[0, 0] = 7.0
    h[1] = x
    return float(np.sum(h * h)) + w[1, 1]


def of_views(x):
    odd()
    a = np.array([x, x * x, 3.0 * x])
    first, rest = halves(a)
    a[0] = 2.0
    return float(np.sum(first) * np.sum(rest) * a[0])


def of_what_is_given_back(x):
    odd()
    xs = [x, x * x]
    ys = same_list(xs, x)
    ys[0] = ys[0] * x
    return xs[0] * ys[1] * (3.0 if xs is ys else 1.0)


def of_objects(x):
    odd()
    spring = Spring(x, 0.5, [Spring(x * x, 0.0), Spring(2.0, x)])
    y = spring.energy(x) + spring.energy(0.3)
    spring.k = x * 3.0
    spring.parts.pop()
    return y * spring.energy(x)


def of_objects_that_are_changed(x):
    odd()
    spring = Spring(x, 0.5)
    return spring.pull(x) * spring.rest + spring.energy(x) + spring.itself(x).k


def of_one_list_twice(x):
    odd()
    xs = [x, 2.0 * x, x]
    return dots(xs, xs) * dots(xs, [1.0, x, 2.0])


def dots(a, b):
    s = 0.0
    for i in range(len(a)):
        s += a[i] * b[i] * a[0]
    return s


def of_constants_outside(x):
    odd()
    a = np.array([x, x, 1.0])
    y = np.sum(by_table(a, x))
    return float(y * np.sum(by_table(a * x, 2.0)))


def of_changed_lists(x):
    odd()
    xs = [x]
    return fills(xs, x) + fills(xs, 2.0) * len(xs) + sum(xs)


def of_exceptions(x):
    odd()
    total = 0.0
    for sign in (1.0, -1.0):
        try:
            total += raises([x, 2.0], sign * x)
        except ValueError as error:
            total += error.args[0] * x
    return total


def of_infinite_slopes(x):
    odd()
    a = np.array([0.0, x])
    return float(roots(a * a, x)) + float(roots(np.array([x, 4.0]), x))


def of_a_closure(x):
    odd()
    scale = [x, 2.0]

    def scaled(xs):
        return sum(v * scale[0] for v in xs)

    first = scaled([x, 1.0])
    scale[0] = x * x
    return first * scaled([x, 1.0])


def by_what_is_marked(a, x):
    return a * MARKED[0] * x


MARKED = [1.0]


def of_marked_globals(x):
    odd()
    MARKED[0] = x
    y = np.sum(by_what_is_marked(np.array([x, 1.0]), x))
    MARKED[0] = 1.0
    return float(y)


def of_tables_that_change(x):
    odd()
    y = float(np.sum(by_table(np.array([x, x, 1.0]), x)))
    before = TABLE.copy()
    TABLE[:] = 9.0
    z = float(np.sum(by_table(np.array([x, x, 1.0]), x)))
    TABLE[:] = before
    return y * z


@functools.lru_cache
def nodes(n):
    return TABLE if n == 3 else np.arange(float(n))


@functools.lru_cache
def weights():
    return WEIGHTS


def numbers_by_table(x):
    return float(np.sum(x * TABLE))


def numbers_by_cached_table(x):
    return float(np.sum(x * nodes(3)))


def number_of_cached_table(x):
    return x * nodes(3)[1]


def number_of_cached_list(x):
    return x * weights()[1]


class Level(enum.Enum):
    LOW = WEIGHTS


def number_of_a_member(x):
    return x * Level.LOW.value[1]


def changed_by(function, change):
    """Numbers go through a function, and then something that it reads is changed."""

    def f(x):
        odd()
        y = function(x)
        change(x)
        z = function(x)
        TABLE[:], WEIGHTS[:] = [0.5, 1.5, 2.5], [1.0, 2.0, 3.0]
        return y * y + z

    return f


def store_constants(x):
    TABLE[:] = 7.0
    WEIGHTS[1] = 7.0


def store_what_has_derivatives(x):
    TABLE[1] = x
    WEIGHTS[1] = x * x


class Settings:
    factor = 1.0
    factors = [1.0, 2.0]

    def scaled(self, xs):
        return self.factor * xs[0]

    @classmethod
    def scaled_by_class(cls, xs):
        return cls.factors[0] * xs[0]


def by_settings(xs, options={"factor": 1.0}):  # noqa: B006
    return Settings.factor * xs[0] * options["factor"]


def of_settings(x):
    odd()
    options = by_settings.__defaults__[0]
    Settings.factor, Settings.factors[0], options["factor"] = x, x * x, 3.0 * x
    y = by_settings([x, 1.0]) + Settings().scaled([x, x]) * Settings.scaled_by_class([x, 1.0])
    Settings.factor, Settings.factors[0], options["factor"] = 1.0, 1.0, 1.0
    return y


SPRING, PAIR = Spring(1.5, 0.2), (WEIGHTS, 2.0)


class Registry:
    springs = (SPRING,)


def by_identity(known, x, default=SPRING):
    s = 0.0
    for i in range(12):
        s += math.sin(x * i) * (2.0 if known is WEIGHTS else 3.0) * (5.0 if known is PAIR or known is default else 7.0)
    return s * (11.0 if known is Registry.springs[0] else 13.0) * (17.0 if known == SPRING else 19.0)


def of_what_is_known_by_identity(x):
    odd()
    known = SPRING
    return sum([by_identity(known, x), by_identity(WEIGHTS, x), by_identity(PAIR, x), by_identity([1.0], x)])


def by_address(springs, x):
    s = 0.0
    for spring in springs:
        for i in range(12):
            s += math.sin(x * i) * spring.k * (2.0 if id(spring) == ADDRESS else 3.0)
    return s


ADDRESS = id(SPRING)


def of_what_is_known_by_its_address(x):
    odd()
    springs = [Spring(1.0, x), SPRING]
    return by_address(springs, x)


def shown(a):
    return str(float(a[0] * a[0]))


def of_texts(x):
    odd()
    return float(shown(np.array([x]))) * x


PROGRAMS = [
    of_settings,
    of_texts,
    of_what_is_known_by_its_address,
    of_what_is_known_by_identity,
    *(of_lists, of_lists_that_change_afterwards, of_results_in_containers, of_arrays, of_views, of_what_is_given_back),
    *(of_objects, of_objects_that_are_changed, of_one_list_twice, of_constants_outside, of_changed_lists),
    *(of_exceptions, of_infinite_slopes, of_a_closure, of_marked_globals, of_tables_that_change),
]


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(splitting, "_WORTH", 0)
    monkeypatch.setattr(splitting, "_LEAST", 0)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_agrees_with_what_is_carried(f, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(typed, "_typed_of_anything", lambda *call: None)
        expected = {x: (f(x), generic_gradient(f, x)) for x in (0.7, 1.3)}
    for x in (0.7, 1.3, 0.7):
        value, gradient = expected[x]
        for _ in range(3):
            assert ad.withgradient(f, x) == (pytest.approx(value, rel=1e-13), pytest.approx(gradient, rel=1e-11))
        y, back = ad.pullback(f, x)
        assert y == pytest.approx(value) and back(1.0) == pytest.approx(gradient)
        assert back(-2.0)[0] == pytest.approx(-2.0 * gradient[0])


@pytest.mark.parametrize("change", [store_constants, store_what_has_derivatives], ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    "function",
    [numbers_by_table, numbers_by_cached_table, number_of_cached_table, number_of_cached_list, number_of_a_member],
    ids=lambda f: f.__name__,
)
def test_what_functions_of_numbers_read_is_changed_afterwards(function, change):
    f = changed_by(function, change)
    for x in (0.7, 1.3, 0.7):
        value, gradient = f(x), oracle(f, x)[1]
        assert gradient == pytest.approx(slopes(f, x))
        for _ in range(3):
            assert ad.withgradient(f, x) == (pytest.approx(value), pytest.approx(gradient))
        _, back = ad.pullback(f, x)
        assert back(1.0) == back(1.0) == pytest.approx(gradient)


def test_what_has_to_run_again_after_what_it_read_was_changed():
    factors = [3.0, 0.0]

    def masked(x):
        return x * factors[0] + factors[1] * math.sqrt(x - 1.5)

    def f(x, after):
        odd()
        factors[0] = 3.0
        y = masked(x)
        factors[0] = after
        return y

    assert ad.gradient(f, 1.5, 3.0) == (3.0, 0.0)
    with pytest.raises(ad.NotDifferentiable, match="in .*masked: .* what it read has been changed since"):
        ad.gradient(f, 1.5, 7.0)


TYPED = {
    of_lists: chain,
    of_arrays: layers,
    of_objects: Spring.energy,
    of_constants_outside: by_table,
}


@pytest.mark.parametrize("f", TYPED, ids=lambda f: f.__name__)
def test_typed(f, monkeypatch):
    # Their callers are carried as a whole.
    monkeypatch.setattr(analysing, "places", lambda code: frozenset())
    functions.forget()
    for x in (0.7, 0.8):
        ad.gradient(f, x)
    split = splitting.split_of(TYPED[f], False)
    assert split.halves is not None and split.used and not split.given_up


def test_nothing_is_made_before_it_pays(monkeypatch):
    monkeypatch.setattr(splitting, "_WORTH", 10**6)

    def sums(xs):
        return sum(v * v for v in xs)

    def f(x):
        odd()
        return sums([x, x * x])

    ad.gradient(f, 0.7)
    split = splitting.split_of(sums, False)
    assert split.halves is None and split.calls == 1 and split.nodes >= 2


def test_what_takes_too_long_to_make_is_made_when_more_is_carried(monkeypatch):
    def sums(xs):
        return sum(math.sin(v) * v for v in xs)

    def f(x):
        odd()
        return sums([x, x * x])

    monkeypatch.setattr(splitting, "_SECONDS", 0.0)
    monkeypatch.setattr(splitting, "_PER_NODE", 0.0)
    expected = generic_gradient(f, 0.7)
    ad.gradient(f, 0.7)
    split = splitting.split_of(sums, False)
    assert split.halves is None and not split.given_up and split.calls == 0
    monkeypatch.setattr(splitting, "_SECONDS", 10.0)
    monkeypatch.setattr(split, "postponed", 8)
    for _ in range(3):
        assert ad.gradient(f, 0.7) == pytest.approx(expected)
    assert split.halves is not None and split.used


class Context:
    """Has functions among its attributes, of which some know what is differentiated."""

    def __init__(self, functions, count):
        self.functions, self.settings = functions, {str(i): [float(i)] for i in range(count)}

    def sums(self, x):
        return sum(f(x) * len(self.settings) for f in self.functions)


def of_functions_in_an_object(count):
    def f(x):
        def inner(y):
            return x * y

        odd()
        context = Context([math.sin, lambda y: y * y, inner, lambda y: inner(y) + y], count)
        return sum(context.sums(x) for _ in range(5))

    return f


@pytest.mark.parametrize(("count", "copies"), [(1, 8), (200, 0)])
def test_functions_in_an_object_and_what_takes_longer_to_copy_than_to_carry(count, copies, monkeypatch):
    monkeypatch.setattr(splitting, "_COPIES", copies)
    f = of_functions_in_an_object(count)
    for x in (0.7, 1.3):
        assert ad.gradient(f, x) == pytest.approx(slopes(f, x), rel=1e-6)


def test_what_takes_longer_to_copy_than_to_carry_is_carried(monkeypatch):
    monkeypatch.setattr(splitting, "_WORTH", 10)
    # Their callers are carried as a whole.
    monkeypatch.setattr(analysing, "places", lambda code: frozenset())
    functions.forget()

    def first(springs):
        return springs[0].energy(0.3) ** 2

    def f(x):
        odd()
        springs = [Spring(x, 0.2 * i) for i in range(100)]
        return sum(first(springs) for _ in range(20))

    assert ad.gradient(f, 0.7) == pytest.approx(slopes(f, 0.7), rel=1e-6)
    split = splitting.split_of(first, False)
    assert split.given_up and split.halves is None


def test_objects_of_classes_written_in_c_are_not_copied():
    class Drawing(random.Random):
        """Has a state that no attribute shows."""

    def noisy(generator, xs):
        return sum(x * generator.random() for x in xs)

    def f(x):
        odd()
        generator = Drawing(7)
        return noisy(generator, [x, x * x]) + noisy(generator, [x, 1.0])

    same = random.Random(7)
    drawn = [same.random() for _ in range(3)]
    for x in (0.7, 1.3, 0.7):
        assert ad.gradient(f, x) == (pytest.approx(drawn[0] + 2.0 * x * drawn[1] + drawn[2]),)


class Slotted:
    __slots__ = ("k",)

    def __init__(self, k):
        self.k = k


class SlotBesideDict(Slotted):
    """As large as an object that has attributes in its ``__dict__`` alone."""

    __slots__ = ("__dict__",)

    def __init__(self, k):
        super().__init__(k)
        self.more = 2.0 * k


@pytest.mark.parametrize("cls", [Slotted, SlotBesideDict])
def test_objects_with_slots_are_not_copied(cls):
    def shown(holder, xs):
        return sum(x * holder.k + getattr(holder, "more", x) for x in xs)

    def f(x):
        odd()
        return shown(cls(x * x), [x, 2.0])

    for _ in range(3):
        assert ad.gradient(f, 1.5) == pytest.approx(slopes(f, 1.5))


def test_objects_with_slots_among_arguments_that_are_taken_together():
    def shown(*given):
        xs, holder = given
        return sum(x * holder.k for x in xs)

    def f(x):
        odd()
        return sum(shown([x * i] * 20, Slotted(x)) for i in range(12))

    for _ in range(3):
        assert ad.gradient(f, 1.5) == pytest.approx(slopes(f, 1.5))
