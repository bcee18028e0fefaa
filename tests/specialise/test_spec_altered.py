"""Objects in lists from outside, and in arguments, whose attributes a program assigns: in place, and exactly."""

from __future__ import annotations

import copy
import math
import types

import numpy as np
import pytest
from specialised_cases import GENERIC, outcome, scope

import autodiff_hook as ad
from autodiff_hook.runtime import specialising
from autodiff_hook.runtime.altering import _OPEN

SOURCE = """
import copy, math
import numpy as np

class Particle:
    def __init__(self, x, v, m):
        self.x, self.v, self.m, self.seen, self.name, self.last = x, v, m, 0, "p", None
    def step(self, force, dt):
        self.v += force / self.m * dt
        self.x += self.v * dt
        self.seen += 1
    @property
    def energy(self):
        return 0.5 * self.m * self.v * self.v
    @property
    def place(self):
        return self.x
    @place.setter
    def place(self, x):
        self.x = x * 2.0
    def __repr__(self):
        return f"{self.x:.12f}"

class World:
    def __init__(self, count):
        self.particles = [Particle(0.3 * i + 0.1, 1.0 - 0.2 * i, 1.0 + i) for i in range(count)]
        self.time, self.by_name = 0.0, {"a": self.particles[0], "b": self.particles[1]}
    def step(self, k, dt):
        for p in self.particles:
            p.step(-k * p.x, dt)
        self.time += dt

class Cell:
    level, flow = 0.0, 1.0
    def __init__(self, level=0.0, flow=1.0):
        self.level, self.flow = level, flow

class Slotted:
    __slots__ = ("x",)
    def __init__(self, x):
        self.x = x

class Careful:
    def __init__(self, x):
        object.__setattr__(self, "x", x)
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 0.5)

class Shared:
    kept = {"x": 1.5}
    def __init__(self):
        self.__dict__ = Shared.kept

class Body:
    def __init__(self, at):
        self.at, self.v = np.array(at), np.zeros(2)

class Layer:
    def __init__(self, w):
        self.w, self.given, self.out = w, None, None
    def __call__(self, x):
        self.given = x
        self.out = math.tanh(self.w * x)
        return self.out

particles = [Particle(0.3 * i + 0.1, 1.0 - 0.2 * i, 1.0 + i) for i in range(4)]
first, twice, some = particles[0], [particles[1], particles[2], particles[1]], particles[1:3]
by_name = {"a": particles[0], "b": particles[3]}
alone = [Particle(1.0, 2.0, 3.0)]
world, cells, slotted, careful = World(3), [Cell(), Cell(2.0)], [Slotted(1.0), Slotted(2.0)], [Careful(1.0)]
shared, bodies, layers = [Shared(), Shared()], [Body([1.0, 2.0]), Body([0.5, 0.1])], [Layer(0.5), Layer(1.5)]
pairs = [(particles[0], 2.0), (particles[1], 3.0)]

def moves(k):
    for _ in range(5):
        for p in particles:
            p.v -= k * p.x * 0.1
            p.x += p.v * 0.1
    return sum([p.x * p.x for p in particles])
def moves_by_methods(k):
    for _ in range(4):
        world.step(k, 0.1)
    return sum([p.x + p.energy for p in world.particles]) * world.time
def moves_by_index(k):
    for i in range(len(particles)):
        particles[i].v -= k * (particles[i].x - particles[i - 1].x)
    for p in particles:
        p.x = p.x + p.v * 0.1
    return particles[0].x * particles[-1].v
def moves_in_a_dict(k):
    for name in by_name:
        by_name[name].x = by_name[name].x * k
    for p in by_name.values():
        p.v = p.v * p.x
    return by_name["a"].v * by_name["b"].x
def some_are_moved_twice(k):
    for p in twice:
        p.x = p.x * k + p.v
    return twice[0].x * twice[1].x + twice[2].x
def two_lists(k):
    for p in some:
        p.x = p.x * k
    s = 0.0
    for p in particles:
        s += p.x * p.v
        p.v = s * k
    return s + some[0].v * some[1].x
def one_by_another_name(k):
    for p in particles:
        p.x = p.x * k
    return first.x * k
def one_is_assigned_by_another_name(k):
    first.x = k
    for p in particles:
        p.x = p.x * k
    return first.x * particles[1].x
def in_pairs(k):
    for p, weight in pairs:
        p.x = p.x * weight * k
    return pairs[0][0].x * pairs[1][0].x
def on_some_ways(k):
    for p in particles:
        if p.x * k > 1.0:
            p.x = 1.0 / (k * p.x)
            p.v = -p.v * k
            continue
        if p.v < 0.0:
            break
        p.x = p.x + k
    return sum([p.x * p.v for p in particles])
def counted(k):
    for p in particles:
        p.seen += 1
        p.name = "moved"
        p.x = p.x * k * p.seen
    return sum([p.x for p in particles]) * len(particles[0].name)
def remembered(k):
    for i, p in enumerate(particles):
        p.last = p.x * k if i % 2 else None
    s = 0.0
    for p in particles:
        if p.last is not None:
            s += p.last * p.x
    return s
def forward(x):
    for layer in layers:
        x = layer(x)
    return x * layers[0].out * layers[1].given
def with_defaults(k):
    for c in cells:
        c.level += c.flow * k
        c.flow *= 0.9 * c.level
    return cells[0].level * cells[1].flow
def in_slots(k):
    for s in slotted:
        s.x = s.x * k
    return slotted[0].x * slotted[1].x
def carefully(k):
    for c in careful:
        c.x = c.x * k
    return careful[0].x * k
def by_a_setter(k):
    for p in particles:
        p.place = p.x * k
    return sum([p.place for p in particles])
def sharing(k):
    for s in shared:
        s.x = s.x * k
    return shared[0].x * shared[1].x
def arrays(k):
    for _ in range(3):
        for b in bodies:
            b.v = b.v - k * b.at
            b.at = b.at + 0.1 * b.v
    return float(np.sum(bodies[0].at * bodies[1].v))
def arrays_in_place(k):
    for b in bodies:
        b.v -= k * b.at
        b.at[0] = b.v[1] * k
    return float(np.sum(bodies[0].at * bodies[1].v))
def shown(k):
    for p in particles:
        p.x = p.x * k
    return k * len(repr(particles)) + float(repr(particles[0])[:3]) * k
def looked_into(k):
    for p in particles:
        p.x = p.x * k
    return vars(particles[0])["x"] * particles[1].__dict__["x"]
def copied(k):
    for p in particles:
        p.x = p.x * k
    other = copy.copy(particles[0])
    particles[0].x = 3.0
    return other.x * particles[0].x
def sorted_by(k):
    for p in particles:
        p.x = math.sin(p.x * k * 7.0)
    s = 0.0
    for i, p in enumerate(sorted(particles, key=lambda p: p.x)):
        s += i * p.x
        p.v = s
    return s * particles[0].v
def linked(k):
    for p, q in zip(particles, particles[1:]):
        p.last = q
        q.x = p.x * k
    return particles[0].last.x * particles[-1].x
def added(k):
    for p in particles:
        p.fresh = p.x * k
    return sum([p.fresh for p in particles])
def read_in_lists(k):
    xs = [p.x for p in particles]
    for p in particles:
        p.x = p.x * k
        xs.append(p.x)
    return sum([a * b for a, b in zip(xs, xs[1:])])
def whole_first(k):
    s = 0.0
    for p in particles:
        s += math.exp(p.x * k) * p.x
    for p in particles:
        p.x = s
    return s * particles[2].x
def prints(k):
    for p in particles:
        p.x = p.x * k
        print(p.x)
    return particles[0].x * particles[1].x
def fails(k):
    for i, p in enumerate(particles):
        p.x = p.x * k
        if i == 2:
            p.v = math.log(-p.v * p.v)
    return p.x
def handles(k):
    for i, p in enumerate(particles):
        try:
            p.v = p.v * k
            p.x = math.log(p.v)
        except ValueError:
            p.x = p.x * k
    return sum([p.x for p in particles])
def nothing_of_it_is_used(k):
    for p in particles:
        p.x = p.x * k
    return k * k
def becomes_a_constant(k):
    for p in particles:
        p.x = p.x * k
    s = sum([p.x for p in particles])
    for p in particles:
        p.x = 0.0
    return s + particles[0].x
"""
NAMES = "particles alone world cells slotted careful shared bodies layers".split()
TYPED = {
    *("moves moves_by_methods moves_by_index some_are_moved_twice two_lists in_pairs on_some_ways counted".split()),
    *("forward with_defaults arrays read_in_lists whole_first prints nothing_of_it_is_used".split()),
    "becomes_a_constant",
}


def made():
    module = types.ModuleType("altered")
    exec(compile(SOURCE, "altered.py", "exec"), vars(module))
    return module


def left(module):
    """All that is outside, with the order of attributes."""

    def of(x):
        if isinstance(x, np.ndarray):
            return x.tolist()
        if isinstance(x, (list, tuple)):
            return [of(y) for y in x]
        if isinstance(x, dict):
            return {k: of(v) for k, v in x.items()}
        held = getattr(x, "__dict__", None) or ({"x": x.x} if type(x).__name__ == "Slotted" else None)
        if held is None:
            return x
        seen.setdefault(id(x), len(seen))
        done, number = seen[id(x)] in shown, seen[id(x)]
        shown.add(number)
        return number if done else (number, type(x).__name__, {k: of(v) for k, v in held.items()})

    seen, shown = {}, set()
    return repr([of(getattr(module, name)) for name in NAMES])


FUNCTIONS = [n for n, f in vars(made()).items() if isinstance(f, types.FunctionType) and f.__module__ == "altered"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_objects_in_lists(name, capsys):
    plain, reverse, forward = made(), made(), made()
    f, g, called = getattr(reverse, name), getattr(forward, name), []
    for k in (1.3, 0.7, 1.1, 1.2):
        ends = []
        for d in (1e-6, -1e-6):
            module = made()
            for earlier in called:
                outcome(getattr(module, name), earlier)
            ends.append(outcome(getattr(module, name), k + d))
        capsys.readouterr()
        value = outcome(getattr(plain, name), k)
        said = capsys.readouterr().out
        found = outcome(ad.withgradient, f, k)
        assert capsys.readouterr().out == said
        along = outcome(ad.jvp, g, (k,), (1.0,))
        assert left(reverse) == left(plain) == left(forward)
        if isinstance(value, type):
            assert found is along is value
        elif not isinstance(found, type):
            slope = (ends[0] - ends[1]) / 2e-6
            assert found[0] == along[0] == value
            assert (found[1][0], along[1]) == pytest.approx((slope, slope), rel=1e-4, abs=1e-5)
        else:
            assert found is ad.NotDifferentiable
        called.append(k)
    assert not _OPEN.altered
    if name in TYPED and not (GENERIC or specialising.ONE_WAY):
        for each in (f, g):
            kept = specialising._known.found[id(each.__code__)].values()
            assert any(x.entries for x in kept) and not any(x.one_way for x in kept)


GIVEN = """
def of_a_list(given, k):
    for _ in range(3):
        for p in given:
            p.step(-k * p.x, 0.1)
    return sum([p.x * p.v for p in given])
def of_a_world(given, k):
    for _ in range(3):
        given.step(k, 0.1)
    return sum([p.x for p in given.particles]) * given.time
def of_a_dict(given, k):
    for p in given.values():
        p.x = p.x * k
    return given["a"].x * given["b"].x * given["a"].v
def of_lists(given, k):
    for row in given:
        for p in row:
            p.x = p.x * k * row[0].v
    return sum([p.x for row in given for p in row])
def remembered_there(given, k):
    for p in given:
        p.last = p.x * k
    return sum([p.last * p.last for p in given])
"""


def some(module, count=3):
    return [module.Particle(0.4 * i + 0.2, 0.5 - 0.3 * i, 1.0 + i) for i in range(count)]


MAKERS = {
    "of_a_list": some,
    "of_a_world": lambda module: module.World(3),
    "of_a_dict": lambda module: dict(zip("ab", some(module))),
    "of_lists": lambda module: [some(module), some(module, 2)],
    "remembered_there": some,
}


def leaves(given):
    """The numbers in it that are differentiated, as objects and names."""
    if isinstance(given, list):
        return [x for y in given for x in leaves(y)]
    if isinstance(given, dict):
        return [x for y in given.values() for x in leaves(y)]
    own = leaves(given.particles) if hasattr(given, "particles") else []
    return [*own, *((given, n) for n, x in vars(given).items() if type(x) is float)]


def gradients(grad):
    if isinstance(grad, list):
        return [x for y in grad for x in gradients(y)]
    if isinstance(grad, dict):
        return [x for y in grad.values() for x in gradients(y)]
    fields = ("x", "v", "m") if hasattr(grad, "x") else ("time",)
    return [*(gradients(grad.particles) if hasattr(grad, "particles") else []), *(getattr(grad, n) for n in fields)]


@pytest.mark.parametrize("name", MAKERS)
def test_arguments(name):
    module = made()
    exec(GIVEN, vars(module))
    f, make = getattr(module, name), MAKERS[name]
    slopes = []
    for i in range(len(leaves(make(module)))):
        ends = []
        for d in (1e-6, -1e-6):
            given = make(module)
            owner, attribute = leaves(given)[i]
            setattr(owner, attribute, getattr(owner, attribute) + d)
            ends.append(f(given, 1.2))
        slopes.append((ends[0] - ends[1]) / 2e-6)
    by_k = (f(make(module), 1.2 + 1e-6) - f(make(module), 1.2 - 1e-6)) / 2e-6
    for _ in range(3):
        plain, given = make(module), make(module)
        value = f(plain, 1.2)
        found, (grad, slope) = ad.withgradient(f, given, 1.2)
        assert found == value and slope == pytest.approx(by_k, rel=1e-5)
        assert gradients(grad) == pytest.approx(slopes, rel=1e-5, abs=1e-8)
        assert [getattr(*x) for x in leaves(given)] == [getattr(*x) for x in leaves(plain)]
        assert repr([vars(o) for o, _ in leaves(given)]) == repr([vars(o) for o, _ in leaves(plain)])
    if not (GENERIC or specialising.ONE_WAY):
        kept = specialising._known.found[id(f.__code__)].values()
        assert any(x.entries for x in kept) and not any(x.one_way for x in kept)


@pytest.mark.parametrize("name", MAKERS)
def test_tangents_of_arguments(name):
    module = made()
    exec(GIVEN, vars(module))
    f, make = getattr(module, name), MAKERS[name]
    slope = (f(make(module), 1.2 + 1e-6) - f(make(module), 1.2 - 1e-6)) / 2e-6
    for _ in range(3):
        plain, given = make(module), make(module)
        value = f(plain, 1.2)
        assert ad.jvp(f, (given, 1.2), (None, 1.0)) == pytest.approx((value, slope), rel=1e-6)
        assert repr([vars(o) for o, _ in leaves(given)]) == repr([vars(o) for o, _ in leaves(plain)])
        along = ad.withgradient(f, make(module), 1.2)[1][0]
        given = make(module)
        total = sum(g * g for g in gradients(along) if g is not None)
        assert ad.jvp(f, (given, 1.2), (along, None)) == pytest.approx((value, total), rel=1e-6)
        assert repr([vars(o) for o, _ in leaves(given)]) == repr([vars(o) for o, _ in leaves(plain)])
    if not (GENERIC or specialising.ONE_WAY):
        kept = specialising._known.found[id(f.__code__)].values()
        assert any(x.entries for x in kept) and not any(x.one_way for x in kept)


def test_one_object_twice_in_an_argument():
    module = made()
    exec(GIVEN, vars(module))
    for _ in range(3):
        p, q = some(module, 2)
        expected = copy.deepcopy([p, q, p])
        value = module.of_a_list(expected, 1.2)
        found, (grad, _) = ad.withgradient(module.of_a_list, [p, q, p], 1.2)
        assert found == value and vars(p) == vars(expected[0]) and vars(q) == vars(expected[1])
        if grad[0] is grad[2]:
            ends = []
            for d in (1e-6, -1e-6):
                a, b = some(module, 2)
                a.x += d
                ends.append(module.of_a_list([a, b, a], 1.2))
            assert grad[0].x == pytest.approx((ends[0] - ends[1]) / 2e-6)


def test_objects_that_are_given_and_outside():
    module = made()
    exec(
        GIVEN
        + "def f(given, k):\n    for p in given:\n        p.x = p.x * k\n    return sum([q.x for q in particles])",
        vars(module),
    )
    for _ in range(3):
        assert ad.gradient(module.f, some(module), 1.2)[1] == 0.0
    before = [p.x for p in module.particles]
    found = outcome(ad.gradient, module.f, module.particles, 1.2)
    assert found is ad.NotDifferentiable or found[1] == pytest.approx(sum(before))
    assert [p.x for p in module.particles] == [x * 1.2 for x in before]


@pytest.mark.parametrize("error", [KeyError, KeyboardInterrupt])
def test_what_raises_midway(error):
    """The carried program begins with what was there."""
    names = scope(SOURCE, stops=lambda n: None)
    exec(
        "def f(k):\n    for i, p in enumerate(particles):\n        p.x = p.x * k\n        stops(i)\n    return p.x",
        names,
    )
    ad.gradient(names["f"], 1.2)

    def stops(number):
        if number == 2:
            raise error

    names["stops"], before = stops, [p.x for p in names["particles"]]
    for _ in range(2):
        with pytest.raises(error):
            ad.gradient(names["f"], 2.0)
    assert [p.x for p in names["particles"]] == [*(x * 4.0 for x in before[:3]), before[3]]
    assert not _OPEN.altered


def test_an_undefined_gradient():
    names = scope(SOURCE)
    exec(
        "def f(k):\n    for p in particles:\n        p.x = p.x * k\n    return math.sqrt(p.x * 0.0) * 0.0 + p.x", names
    )
    before = [p.x for p in names["particles"]]
    for i in range(1, 5):
        assert ad.gradient(names["f"], 2.0)[0] == pytest.approx(before[-1] * 2.0 ** (i - 1))
        assert [p.x for p in names["particles"]] == [x * 2.0**i for x in before]


def test_attributes_that_become_something_else():
    names = scope(SOURCE)
    f = names["moves"]
    ad.gradient(f, 1.2)
    for change in (3, np.float64(0.5), np.ones(1)):
        names["particles"][1].x = change
        plain = copy.deepcopy(names["particles"])
        other = scope(SOURCE)
        other["particles"][:] = plain
        value = other["moves"](1.2)
        found = outcome(ad.withgradient, f, 1.2)
        assert isinstance(found, type) or np.all(found[0] == value)
        assert repr([vars(p) for p in names["particles"]]) == repr([vars(p) for p in other["particles"]])
        names["particles"][1].x = 0.5


def within(f):
    return ad.gradient(lambda x: ad.gradient(f, x)[0], 2.0)


def test_operators_change_them_once():
    for work in (
        lambda f: ad.gradient(f, 2.0),
        lambda f: ad.pullback(f, 2.0)[1](1.0),
        lambda f: ad.jvp(f, (2.0,), (1.0,)),
        lambda f: ad.hvp(f, (2.0,), (1.0,)),
        lambda f: ad.value_and_grad(f)(2.0),
        within,
    ):
        names = scope(SOURCE)
        exec("def f(k):\n    for p in particles:\n        p.x = p.x * k\n    return p.x * k", names)
        ad.gradient(names["f"], 2.0)
        for _ in range(3):
            before = [p.x for p in names["particles"]]
            work(names["f"])
            assert [p.x for p in names["particles"]] == [2.0 * x for x in before]
    assert math.isfinite(before[0])
