"""Objects as arguments of what is differentiated: specialised programs give the tangents of carried ones."""

from __future__ import annotations

import collections
import copy
import dataclasses

import numpy as np
import pytest
from specialised_cases import GENERIC, is_specialised, oracle, same

import autodiff_hook as ad


@dataclasses.dataclass
class Spring:
    stiffness: float
    length: float
    name: str = "spring"
    parts: object = None

    @property
    def tension(self):
        return self.stiffness * self.length

    def energy(self, x):
        return 0.5 * self.stiffness * (x - self.length) ** 2

    def stretch(self, x):
        self.length = self.length * x
        return self.length


class Layer:
    scale = 2.0

    def __init__(self, width):
        self.w, self.b = np.linspace(0.1, 1.0, width * width).reshape(width, width), np.zeros(width)
        self.calls, self.history = 0, []

    def __call__(self, x):
        self.calls += 1
        self.history.append(self.calls)
        return np.tanh(self.w @ x + self.b) * self.scale


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a, b):
        self.a, self.b = a, b


class Lazy:
    def __init__(self, **options):
        self.options = options

    def __getattr__(self, name):
        return self.options[name] if name != "options" else object.__getattribute__(self, name)


Point = collections.namedtuple("Point", "x y")
CONFIG = Spring(1.0, 2.0)


def energies(springs, x):
    return sum(s.energy(x) for s in springs) + springs[0].tension


def forward(layers, x):
    for layer in layers:
        x = layer(x)
    return x.sum()


def stretched(s, x):
    return s.stretch(x) * s.stretch(x) + s.length


def of_config(s, x):
    return s.energy(x) * CONFIG.stiffness


def of_tuple(s):
    return s.parts[0] * s.parts[1].x + s.parts[1].y * s.stiffness


def of_points(points):
    return points[0].x * points[1].y + points[1][0]


def of_dict(table):
    return table[1].a * table["b"] + table[1].b


def of_list(s):
    s.parts.append(s.parts[0] * 2)
    s.parts[0] = s.stiffness
    return s.parts[-1] * s.parts[0] + sum(s.parts)


def of_options(lazy, x):
    return lazy.rate * x * x + lazy.options["shift"]


def in_place(layer, x):
    layer.b += x
    layer.b[0] = x[1] * 2
    return (layer.b * layer.w[0]).sum()


def of_both(s, t):
    return s.stiffness * t.length + t.tension


class Coil(Slotted):
    __slots__ = ("turns",)

    def __init__(self, a, turns):
        self.a, self.turns = a, turns
        self.b = (a, [turns])


def kept_objects(s, x):
    coil = Coil(x * s.stiffness, 2)
    s.name = coil
    s.parts = [Spring(x, s.length, coil), coil, {"k": Spring(1.0, x)}]
    return coil.a * coil.b[0] + s.parts[0].energy(x) * s.parts[2]["k"].tension


def read_again(s, x):
    if s.parts is None:
        s.parts = Spring(s.stiffness * 2.0, 3.0)
    return s.parts.energy(x) * s.length


class Counted:
    def __init__(self, w):
        self.w, self.last, self.count = w, 1.0, 0

    def __call__(self, x):
        self.count += 1
        self.last = self.w * x + self.last
        return self.last


def by_two_names(s, counted, x):
    first, second = s.parts
    u = first(x)
    v = second(u)
    first.told = x * v
    return v * first.last + second.told * second.count + counted(u) * counted.w * first.w


def dicts_by_two_names(s, x):
    first, second = s.parts
    first["a"] = x * first["a"]
    second["b"] = [first["a"]]
    return second["a"] * first["b"][0] * x


def sets(s, x):
    s.parts["seen"].add(2)
    for held in s.parts.values():
        held.add(1)
        held.discard(5)
    s.name = frozenset(s.parts["seen"])
    s.made = [{3, 1}, s.stiffness * x]
    return s.stiffness * x ** len(s.parts["seen"]) * s.made[1]


def _by_two_names(share=True):
    counted = Counted(2.0)
    return Spring(1.0, 2.0, "x", (counted, counted)), counted if share else Counted(3.0), 0.7


def _dicts_by_two_names():
    table = {"a": 2.0}
    return Spring(1.0, 2.0, "x", [table, table]), 0.7


CASES = {
    "kept": (kept_objects, lambda: (Spring(2.0, 3.0), 0.7)),
    "kept for the next call": (read_again, lambda: (Spring(2.0, 3.0), 0.7)),
    "energies": (energies, lambda: ([Spring(1.0, 2.0), Spring(3.0, 0.5)], 0.7)),
    "energies of a tuple": (energies, lambda: ((Spring(1.0, 2.0), Spring(3.0, 0.5)), 0.7)),
    "layers": (forward, lambda: ([Layer(2), Layer(2)], np.array([0.3, -0.2]))),
    "assigned": (stretched, lambda: (Spring(2.0, 3.0), 0.7)),
    "another object in a global": (of_config, lambda: (Spring(2.0, 3.0), 0.7)),
    "tuples": (of_tuple, lambda: (Spring(2.0, 3.0, "x", (3.0, Point(1.5, 2.5))),)),
    "named tuples": (of_points, lambda: ([Point(1.0, 2.0), Point(3.0, Spring(1.0, 1.0))][:1] + [Point(3.0, 4.0)],)),
    "dicts": (of_dict, lambda: ({1: Slotted(2.0, 3), "b": 4.0},)),
    "lists": (of_list, lambda: (Spring(2.0, 3.0, "x", [1.0, 2.0]),)),
    "lists of ints": (of_list, lambda: (Spring(2.0, 3.0, "x", [1, 2.0]),)),
    "options": (of_options, lambda: (Lazy(rate=2.0, shift=1.0), 0.7)),
    "arrays in place": (in_place, lambda: (Layer(2), np.array([0.3, -0.2]))),
    "slots": (lambda s: s.a * s.b + s.a, lambda: (Slotted(2.0, np.float64(3.0)),)),
    "ints": (lambda s: s.stiffness**s.length, lambda: (Spring(2.0, 3),)),
    "not read": (lambda s, x: x * 2, lambda: (Spring(2.0, [3.0, {"a": np.ones(2)}]), 1.0)),
    "arrays": (lambda s: (s.stiffness * s.length).sum(), lambda: (Spring(np.ones(3), np.arange(3.0)),)),
    "two": (of_both, lambda: (Spring(2.0, 3.0), Spring(4.0, 5.0))),
    "a list that a given list is": (lambda xs, s: xs[0] * s.parts[1], lambda: _shared_list()),
    "read by one of its names": (lambda xs, s: xs[0] * xs[1] * s.length, lambda: _shared_list()),
    "changed by two names": (by_two_names, _by_two_names),
    "changed by two of three names": (by_two_names, lambda: _by_two_names(False)),
    "dicts that are changed by two names": (dicts_by_two_names, _dicts_by_two_names),
    "sets": (sets, lambda: (Spring(2.0, 3.0, "x", {"seen": {1}, "more": {5, 1}}), 0.7)),
    "lists and dicts beside it": (
        lambda xs, table, s: xs[0] * s.length + table["a"][1] * xs[1],
        lambda: ([2.0, 3.0], {"a": (1.0, 2.0)}, Spring(2.0, 3.0)),
    ),
}


def _shared_list():
    items = [2.0, 3.0]
    return items, Spring(1.0, 1.0, "x", items)


def state(value):
    """What an object holds, to be compared."""
    if isinstance(value, Slotted):
        return state([type(value).__name__, value.a, value.b, getattr(value, "turns", None)])
    if dataclasses.is_dataclass(value) or hasattr(value, "__dict__"):
        return {"class": type(value).__name__, **{k: state(v) for k, v in vars(value).items()}}
    if isinstance(value, (list, tuple)):
        return [state(v) for v in value]
    if isinstance(value, dict):
        return {k: state(v) for k, v in value.items()}
    return value.tolist() if isinstance(value, np.ndarray) else repr(value)


def identities(value):
    """Which parts of an object are one."""
    seen = {}

    def visit(part):
        if isinstance(part, (Spring, Slotted, list)) and id(part) in seen:
            return seen[id(part)]
        if isinstance(part, (Spring, Slotted, list, tuple, dict)):
            seen[id(part)] = len(seen)
            held = part if isinstance(part, (list, tuple)) else None
            if isinstance(part, Slotted):
                held = [part.a, part.b]
            return [visit(x) for x in (held if held is not None else getattr(part, "__dict__", part).values())]
        return None

    return visit(value)


@pytest.mark.parametrize("name", CASES)
def test_tangents_and_effects_are_those_of_the_generic_path(name):
    f, make = CASES[name]
    args = make()
    _, expected = oracle(f, *args)
    for _ in range(6):
        given = make()
        same(ad.gradient(f, *given), expected)
        assert state(given) == state(args)
        assert identities(given) == identities(args)
    found, grads = ad.withgradient(f, *make())
    assert found == f(*make())
    same(grads, expected)


@pytest.mark.skipif(GENERIC, reason="there are no specialised programs")
@pytest.mark.parametrize(
    "name",
    ["kept", "kept for the next call", "energies", "layers", "assigned", "tuples", "dicts", "slots", "two"]
    + ["changed by two names", "changed by two of three names", "dicts that are changed by two names", "sets"],
)
def test_they_are_specialised(name):
    f, make = CASES[name]
    ad.gradient(f, *make())
    assert is_specialised(f)


def test_what_was_kept_is_read_at_the_next_call():
    spring, plain = Spring(2.0, 3.0), Spring(2.0, 3.0)
    for x in (0.7, 0.9, 0.3, 1.3):
        expected = oracle(read_again, plain, x)[1]
        same(ad.gradient(read_again, spring, x), expected)
        assert state(spring) == state(plain)


def test_the_object_is_in_a_global_too():
    same(ad.gradient(of_config, Spring(1.0, 2.0), 0.7), oracle(of_config, Spring(1.0, 2.0), 0.7)[1])
    for _ in range(3):
        with pytest.raises(ad.NotDifferentiable, match="another variable of the function"):
            ad.gradient(of_config, CONFIG, 0.7)
        same(ad.gradient(of_config, Spring(1.0, 2.0), 0.7), oracle(of_config, Spring(1.0, 2.0), 0.7)[1])


def test_the_same_object_twice():
    spring = Spring(2.0, 3.0)
    for s, t in ((Spring(2.0, 3.0), Spring(2.0, 3.0)), (spring, spring), (Spring(2.0, 3.0), Spring(2.0, 3.0))):
        _, expected = oracle(of_both, s, t)
        for _ in range(4):
            same(ad.gradient(of_both, s, t), expected)


def test_the_same_object_twice_in_a_list():
    spring = Spring(2.0, 3.0)
    for springs in ([Spring(2.0, 3.0), Spring(2.0, 3.0)], [spring, spring], [Spring(1.0, 3.0), spring]):
        _, expected = oracle(energies, springs, 0.7)
        for _ in range(4):
            same(ad.gradient(energies, springs, 0.7), expected)


def test_attributes_that_change_between_calls():
    spring = Spring(2.0, 3.0)

    def f(s, x):
        return s.energy(x) if isinstance(s.energy(x), float) else s.energy(x).sum()

    changes = [
        ("length", np.float64(2.0)),
        ("stiffness", np.array([1.0, 2.0])),
        ("stiffness", 3),
        ("more", 2.0),
        ("energy", lambda x: x * x),
    ]
    for name, value in changes:
        for _ in range(3):
            same(ad.gradient(f, spring, 0.7), oracle(f, spring, 0.7)[1])
        setattr(spring, name, value)
    same(ad.gradient(f, spring, 0.7), oracle(f, spring, 0.7)[1])


def test_lists_of_objects_that_grow():
    springs = [Spring(1.0, 2.0)]
    for i in range(4):
        for _ in range(3):
            same(ad.gradient(energies, springs, 0.7), oracle(energies, springs, 0.7)[1])
        springs.append(Spring(float(i), 0.3))


def test_objects_that_refer_to_each_other():
    a, b = Spring(2.0, 3.0), Spring(4.0, 5.0)
    a.parts, b.parts = b, a

    def f(s):
        return s.stiffness * s.parts.length * s.parts.parts.length

    expected = oracle(f, a)[1][0]
    for _ in range(3):
        (found,) = ad.gradient(f, a)
        assert found.parts.parts is found
        assert (found.stiffness, found.length, found.parts.length) == (
            expected.stiffness,
            expected.length,
            expected.parts.length,
        )


def test_gradients_that_hold_themselves_are_looked_at_for_nan():
    a, b = Spring(2.0, 3.0), Spring(4.0, 5.0)
    a.parts, b.parts = b, [a]

    def f(s):
        return s.stiffness * s.parts.length if s.length > 1.0 else s.parts.parts[0].length / s.stiffness

    for _ in range(3):
        (found,) = ad.gradient(f, a)
        assert (found.stiffness, found.length, found.parts.length) == (5.0, 0.0, 2.0)
    assert is_specialised(f)


def test_gradients_share_nothing_with_the_object():
    layer = Layer(2)
    for _ in range(3):
        found, _ = ad.gradient(lambda m, x: (m.w * m.w).sum() + m.b.sum() + x, copy.deepcopy(layer), 1.0)
        found.w[:] = 7.0
        found.b[:] = 7.0
    assert layer.w[0, 0] == 0.1
