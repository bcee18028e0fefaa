"""Random numbers: derivatives are those of what is drawn, and it is drawn as often as by the plain run."""

from __future__ import annotations

import copy
import math
import random
import types
from typing import Any

import numpy as np
import pytest
from specialised_cases import GENERIC, check_slopes, has_all_ways, is_specialised, oracle, same, slopes

import autodiff_hook as ad
from autodiff_hook.api import generic_hvp
from autodiff_hook.runtime import specialising

CARRIED = GENERIC or specialising.ONE_WAY
NEW, OLD, PLAIN = np.random.default_rng(0), np.random.RandomState(1), random.Random(2)


def own(x):
    rng = np.random.default_rng(seed=3)
    noise = np.random.default_rng(rng).normal(size=4)
    rng.random()
    total = 0.0
    for _ in range(3):
        rng.integers(0, 5)
        total += x * rng.standard_normal() + rng.normal(x, 0.5 + x * x)
        if rng.random() > 0.5:
            total *= rng.uniform(0.5, 1.0, size=3).sum()
    return float(total + noise @ (x * rng.permutation(4)))


def own_of_the_old_kind(x):
    state = np.random.RandomState(seed=7)
    return float(np.sum(np.sin(x * state.randn(5)) * state.rand(5))) + state.randint(0, 9)


def own_of_the_standard_library(x):
    state = random.Random(5)
    total = 0.0
    for _ in range(4):
        total += x * state.choice([1.0, 2.0]) + state.gauss(x, 1.0) * state.random() + state.randint(0, 3)
    return total


def own_of_the_shape_of_others(x):
    rng = np.random.default_rng(3)
    held = {"a": x * np.ones((2, 3)), "b": x}
    drawn = {key: rng.standard_normal(np.shape(value)) for key, value in held.items()}
    noise = rng.normal(0.0, x, size=held["a"].shape)
    return sum(np.sum(drawn[key] * held[key]) for key in held) + np.sum(noise * rng.random(np.shape(noise)))


@pytest.mark.parametrize("f", [own, own_of_the_old_kind, own_of_the_standard_library, own_of_the_shape_of_others])
def test_own_generators(f):
    for x in (0.7, 1.3):
        check_slopes(f, x, specialised=None if specialising.ONE_WAY else True)


def of_modules(x):
    total = 0.0
    for i in range(10):
        total += x * random.random() + math.sin(x * random.gauss(0.0, 1.0)) * random.uniform(i, 20)
    return total + float(np.sum(np.exp(x * np.random.normal(size=3)))) + x * np.random.rand() * np.random.sample()


def of_another_module(x):
    total = SETTINGS.rng.normal() * x
    for _ in range(3):
        total += SETTINGS.old.uniform(0, 1) * math.sin(x) * SETTINGS.plain.random()
    return total


SETTINGS = types.ModuleType("settings")
SETTINGS.rng, SETTINGS.old, SETTINGS.plain = NEW, OLD, PLAIN


def captured(x):
    total = 0.0
    for _ in range(10):
        total += math.exp(x * NEW.standard_normal()) * PLAIN.uniform(0, 1) + x * OLD.randn()
    return total


def with_parameters(x):
    total = 0.0
    for _ in range(5):
        total += NEW.normal(x, 1 + x * x) * random.gauss(x, x) + OLD.uniform(0, x) * PLAIN.expovariate(x)
    return float(total)


def unused(x):
    NEW.normal(x, 1.0)
    random.gauss(x, 1.0)
    OLD.normal(x, x * x)
    for _ in range(3):
        random.uniform(x, 2 * x)
        NEW.random()
    return x * NEW.normal() * random.random() + OLD.randn() * x


def independent(x):
    total = 0.0
    for _ in range(20):
        total += math.sin(x * random.random()) * math.exp(x * NEW.random())
    return total


def seeded(x):
    np.random.seed(3)
    random.seed(4)
    return x * np.random.rand() + x * x * random.random() + float(np.sum(np.random.randn(3) * x))


def by_other_names(x):
    draw, standard = NEW.normal, random.gauss
    again = NEW
    return x * draw() + x * x * again.normal() * standard(0.0, 1.0)


def taken_over(x):
    rng = np.random.default_rng(NEW)
    return x * rng.normal() + x * x * NEW.normal() * np.random.default_rng(rng).normal()


def left_early(x):
    for i in range(50):
        if NEW.random() > 0.9:
            return x * i
        x = x * 1.1 + random.random()
    return x


def metropolis(x):
    y, total = 0.0, 0.0
    for _ in range(50):
        p = y + random.uniform(-1, 1)
        if random.random() < math.exp(min(0.0, -x * (p * p - y * y))):
            y = p
        total += x * y * y
    return total


def chosen(x):
    xs = [x * i for i in range(4)]
    return random.choice(xs) + xs[random.randrange(3)] + random.choices([1.0, 2.0], k=2)[0] * x


def shuffled(x):
    xs = [x, 2 * x, 3.0 * x, x * x]
    random.shuffle(xs)
    return xs[0] + 2 * xs[1] + 3 * xs[2]


def within_a_generator(x):
    return sum(x * OLD.randn() for _ in range(5))


SHARED = [NEW, OLD]


def in_a_list(x):
    return x * SHARED[0].normal() + x * x * NEW.normal()


def in_containers_of_many_kinds(x):
    held = []
    for i in range(4):
        r = PLAIN.random()
        held.append([x * r] if i % 2 else {"a": x + NEW.normal()})
    return sum(o[0] if isinstance(o, list) else o["a"] for o in held)


def by_chance(x):
    held = []
    for _ in range(4):
        held.append([x] if PLAIN.random() < 0.5 else {"a": x * x})
    return sum(o[0] if isinstance(o, list) else o["a"] for o in held)


class Counting:
    def __init__(self):
        self.new, self.drawn, self.last = NEW, 0, 0.0

    def __call__(self, x):
        self.drawn += 1
        self.last = x * self.new.normal()
        return self.last * self.last * self.drawn


def counted(x):
    counter = COUNTER
    counter.drawn = 0
    return counter(x) + counter(x * x)


COUNTER = Counting()
TYPED = [of_modules, captured, with_parameters, unused, independent, seeded, by_other_names, left_early, metropolis]
TYPED += [of_another_module, chosen, shuffled, within_a_generator, in_a_list, counted, in_containers_of_many_kinds]
TYPED.append(taken_over)


def gives_up(x):
    y = x * NEW.random() * random.random()
    try:
        z = {1: 2.0}[3 if x > 1 else 1]
    except KeyError:
        z = 7.0
    return y * z + NEW.random() * x


def set_back(x):
    state, other = NEW.bit_generator.state, random.getstate()
    a = NEW.normal() * x * random.random()
    NEW.bit_generator.state = state
    random.setstate(other)
    return a + NEW.normal() * x * x * random.random()


def one_of_two(x):
    rng = NEW if x > 0.5 else OLD
    return x * rng.normal()


def recursive(x, n=0):
    return x if n > 5 else recursive(x * random.uniform(0.9, 1.1), n + 1)


def refilled(x):
    noise, total = np.empty(3), 0.0
    for _ in range(3):
        NEW.standard_normal(out=noise)
        total += float(np.sum(noise * x * x))
        NEW.standard_normal(3, np.float64, noise)
        total += float(np.sum(noise * x))
        NEW.standard_exponential(3, np.float64, "zig", noise)
        total += float(np.sum(noise * x))
    return total


def filled_once(x):
    noise = np.zeros(2)
    own = np.random.default_rng(1)
    own.random(out=noise)
    NEW.random(None, np.float64, noise[1:])
    return float(noise @ np.array([x, x * x]))


CARRIED_OR_TYPED = [by_chance, refilled, filled_once, gives_up, set_back, one_of_two, recursive]


def filled_by_a_rule(x):
    noise, total = np.empty(3), 0.0
    for _ in range(3):
        NEW.standard_gamma(2.0, 3, np.float64, noise)
        total += float(np.sum(noise * x))
    return total


def test_arrays_for_what_rules_draw_are_errors():
    with pytest.raises(ad.NotDifferentiable, match="standard_gamma"):
        ad.gradient(filled_by_a_rule, 0.5)


def generators() -> list[Any]:
    return [NEW, OLD, PLAIN, np.random.random.__self__, random.random.__self__]


def states() -> list[Any]:
    """What each generator would give next, by itself and of what it has kept of a pair."""
    twins = map(copy.deepcopy, generators())
    return [(x.gauss(0.0, 1.0) if type(x) is random.Random else x.standard_normal(), x.random()) for x in twins]


def begin() -> None:
    NEW.bit_generator.state = np.random.default_rng(0).bit_generator.state
    for number, each in enumerate(generators()[1:]):
        each.seed(number)


def begun(f: Any, *args: Any) -> tuple[Any, list[Any]]:
    """What a call gives, and in which states it leaves the generators."""
    begin()
    return f(*args), states()


@pytest.mark.parametrize("f", TYPED + CARRIED_OR_TYPED)
def test_generators_from_outside_are_drawn_from_as_by_the_plain_run(f):
    for x in (0.7, 1.3, 0.7):
        value, left = begun(f, x)
        (_, wanted), after = begun(oracle, f, x)
        assert after == left
        for _ in range(2):
            found, after = begun(ad.gradient, f, x)
            assert (found, after) == (pytest.approx(wanted, rel=1e-12), left)
        (found, tangent), after = begun(ad.jvp, f, (x,), (1.0,))
        assert (found, after) == (value, left)
        assert tangent == pytest.approx(wanted[0], rel=1e-9)
        (found, back), after = begun(ad.pullback, f, x)
        assert (found, after) == (value, left)
        assert (back(1.0), states()) == (pytest.approx(wanted, rel=1e-12), left)
    if not CARRIED and f in TYPED:
        assert is_specialised(f)


@pytest.mark.parametrize("f", TYPED + CARRIED_OR_TYPED)
def test_second_order_draws_once(f):
    for x in (0.7, 1.3, 0.7):
        wanted, left = begun(generic_hvp, f, (x,), (0.5,))
        for _ in range(2):
            found, after = begun(ad.hvp, f, (x,), (0.5,))
            assert (found, after) == (pytest.approx(wanted, rel=1e-9, abs=1e-12), left)
    if not CARRIED and f in TYPED:
        assert f is in_containers_of_many_kinds or has_all_ways(f, "hvp")


@pytest.mark.parametrize("f", [of_modules, captured, independent, seeded, metropolis, within_a_generator])
def test_slopes_of_what_is_drawn_from_outside(f):
    (wanted,) = slopes(lambda x: begun(f, x)[0], 0.7)
    assert begun(ad.gradient, f, 0.7)[0][0] == pytest.approx(wanted, rel=1e-6)


def of_arguments(x, new, plain):
    return x * new.standard_normal() + plain.gauss(x, 2.0) * plain.choice([1.0, 2.0]) + new.normal(x, 1.0)


class Simulator:
    def __init__(self, a):
        self.a, self.new, self.plain = a, np.random.default_rng(1), random.Random(2)

    def run(self):
        y = self.a
        for _ in range(10):
            y = y * math.exp(0.01 * self.new.standard_normal()) + self.plain.uniform(0, self.a)
        return y


def simulated(simulator):
    return simulator.run()


def test_generators_in_arguments():
    for _ in range(3):
        new, plain = np.random.default_rng(4), random.Random(4)
        found = ad.gradient(of_arguments, 1.3, new, plain)[0]
        other, another = np.random.default_rng(4), random.Random(4)
        same((found,), oracle(of_arguments, 1.3, other, another)[1][:1])
        assert (new.random(), plain.random()) == (other.random(), another.random())
        simulator, again = Simulator(1.3), Simulator(1.3)
        found = ad.gradient(simulated, simulator)[0].a
        assert found == pytest.approx(oracle(simulated, again)[1][0].a, rel=1e-12)
        assert simulator.new.random() == again.new.random()
    assert CARRIED or is_specialised(of_arguments) and is_specialised(simulated)


def drawn_by_another(x, rng):
    return x * np.random.default_rng(rng).normal()


def test_a_generator_that_is_no_seed_is_drawn_from_once():
    for _ in range(3):
        rng, other = np.random.default_rng(1), np.random.default_rng(1)
        assert ad.gradient(drawn_by_another, 0.5, rng)[0] == other.normal()
        assert rng.normal() == other.normal()
    assert GENERIC or is_specialised(drawn_by_another)


class Loaded(random.Random):
    def random(self):
        return 0.5


LOADED = Loaded(1)


def from_a_derived_class(x):
    return x * LOADED.random() + x * x * LOADED.uniform(0.0, 1.0)


def test_derived_classes_are_asked_themselves():
    assert ad.gradient(from_a_derived_class, 3.0) == (3.5,)


def from_plain(x):
    return x * PLAIN.random() + x * x * PLAIN.uniform(0.0, 1.0)


def test_methods_of_one_generator_are_replaced(monkeypatch):
    (found, *_), _ = begun(ad.gradient, from_plain, 3.0)
    assert found == pytest.approx(begun(oracle, from_plain, 3.0)[0][1][0])
    monkeypatch.setattr(PLAIN, "random", lambda: 0.5)
    for f in (from_plain, lambda x: from_plain(x)):
        assert ad.gradient(f, 3.0) == (3.5,)
