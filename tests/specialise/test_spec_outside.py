"""What programs assign outside: derivatives are right, and all is left there that the plain program leaves."""

from __future__ import annotations

import math
import time
import types

import numpy as np
import pytest
from specialised_cases import GENERIC, close, has_all_ways, outcome

import autodiff_hook as ad
from autodiff_hook.api import generic_hvp
from autodiff_hook.runtime import specialising

SOURCE = """
import copy, math
import numpy as np

class Swing:
    def __init__(self):
        self.x, self.v, self.k, self.path, self.best, self.done = 1.0, 0.0, 1.0, [], None, False
    def reset(self):
        self.x, self.v, self.path = 1.0, 0.0, []
    def step(self, dt):
        self.v -= self.k * self.x * dt
        self.x += self.v * dt
        if self.x < 0.0:
            self.v, self.done = -0.9 * self.v, True
        self.path.append(self.x)

class Shared:
    _all = {"v": 1.0}
    def __init__(self):
        self.__dict__ = Shared._all

class Grown:
    def __init__(self):
        self.u, self.w, self.part = np.arange(3.0), np.ones(3), None

class Level:
    __slots__ = ("height", "_flow")
    def __init__(self):
        self.height, self._flow = 1.0, 0.5
    @property
    def flow(self):
        return self._flow * self.height
    def __repr__(self):
        return f"{self.height:.12f} {self._flow:.12f}"

class Counted:
    made, scale = 0, 2.0
    def __init__(self, x):
        self.x = x
        Counted.made += 1
    def value(self):
        return self.x * self.made * self.scale

class Derived(Counted):
    def __init__(self, x):
        super().__init__(x)
        if x > 1.25:
            self.made = 5

one = Counted(0.5)
swing, first, second, level, other = Swing(), Shared(), Shared(), Level(), Level()
by_name, everything = {"level": level}, [level, other]
log, buffer, field, table, count, total = [], [3.0, 1.0, 2.0], np.arange(4.0), {"a": 1.0, "b": 2.0}, 0, 0.0
grown, late, rows, queues, short = Grown(), [], [], {"none": [], "one": [1.0]}, [[1.0]]
same = grown.u
alias, window, nested, grid = buffer, field[1:3], [[1.0, 2.0], [3.0]], np.ones((3, 2))

def left():
    found = vars(swing), first.v, level, other, log, buffer, field, table, count, total, nested
    found = *found, Counted.made, Counted.scale, vars(one), "made" in vars(Derived)
    found = *found, vars(counted)
    return repr((*found, vars(grown), late, rows, same, grown.u is same, grid, queues, short))

def swings(x):
    swing.reset()
    swing.k = x
    for _ in range(300):
        swing.step(0.05)
    return swing.x * swing.x + sum(swing.path)
def goes_on(x):
    swing.step(0.1 * x)
    return swing.x * swing.v
def keeps_the_best(x):
    value = (x - 1.0) ** 2
    if swing.best is None or value < swing.best:
        swing.best = value
    return swing.best * x
def assigned_on_one_way(x):
    if x > 1.0:
        swing.extra = x * x
    return x * getattr(swing, "extra", 2.0)
def appends(x):
    log.append((len(buffer), x * x))
    return x * x
def appends_and_reads(x):
    log.append(x)
    return sum(log) * x
def counts(x):
    global count, total
    count += 1
    total += x * count
    return total * x
def counts_in_a_class(x):
    total = 0.0
    for i in range(3):
        total += Counted(x * i).value() + Derived(x).value() * Derived.made
    Counted.scale = x
    return total * Derived.scale
def counts_and_raises(x):
    if Counted(x).made > 2:
        raise ValueError
    return x * Counted.made
def counts_for_an_object(x):
    Counted(x)
    return one.value() * x
def counts_for_a_derived_class(x):
    Derived.made += 1
    return Counted(x).value() * x
def counted(x):
    counted.calls += 1
    counted.last = x * counted.last
    return counted.last * counted.scale
counted.calls, counted.last, counted.scale = 0, 1.0, 2.0
def counts_calls(x):
    counted.calls = 0
    s = sum(counted(x * i) for i in range(1, 4))
    counted.scale = x * x
    return s * counted.last + counted(x) + counted.calls
def counts_calls_and_raises(x):
    counted(x)
    if counted.calls > 2:
        raise ValueError
    return counted.last
def shows_what_it_keeps(x):
    kept = counted.__dict__
    counted.last = x
    vars(counted)["scale"] = x * x
    return kept["last"] * counted.scale
def names_a_new_one(x):
    counted.first = x
    return counted.first * x
def stores(x):
    for i in range(3):
        buffer[i] = buffer[i - 1] * x + i
    field[1:] = field[:-1] * x
    field[0] += math.sin(x)
    return sum(buffer) * np.sum(field)
def slots(x):
    level.height = level.flow + x
    return level.flow * x
def by_another_name(x):
    level.height = x
    return by_name["level"].height * x
def in_a_list(x):
    level.height = x
    return everything[0].height * x + everything[1].height
def one_of_two(x):
    which = level if x > 1.0 else other
    which.height = x * x
    return level.height * other.height
def of_two_in_turn(x):
    for each in (level, other):
        each.height = each.height * x
    return level.height + other.height
def shared(x):
    first.v = x * 2
    return second.v * x
def shown(x):
    level.height = x * 3
    return x * len(repr(level))
def copied(x):
    level.height = x * 3
    return copy.copy(level).height * x
def asked_for(x):
    found = hasattr(swing, "late")
    swing.late = x
    return x if found else x * x if hasattr(swing, "late") else 0.0
def in_a_dict(x):
    table["a"] = table["b"] * x
    return table["a"] * x
def a_new_key(x):
    table["c"] = x
    return len(table) * table["c"]
def is_a_key(x):
    table["n"] = x
    return x * x if "n" in table else x
def by_get(x):
    table["a"] = x
    return table.get("a") * x
def all_values(x):
    table["a"] = x
    return sum(table.values()) * x
def by_alias(x):
    buffer[0] = x
    return alias[0] * x
def through_a_view(x):
    field[1] = x
    return window[0] * x
def in_a_nested_list(x):
    nested[0][1] = x
    row = nested[0]
    return row[1] * nested[1][0]
def appends_to_a_row(x):
    nested[1].append(x * x)
    return sum(nested[1]) * nested[1][-1]
def appends_to_a_short_row(x):
    row = short[0]
    row.append(x)
    return sum(row) * x
def appends_to_all_rows(x):
    for row in nested:
        row.append(x * row[0])
    return sum([sum(row) for row in nested])
def appends_in_a_dict(x):
    queues["none"].append(x)
    queues["one"].append(x * x)
    return sum(queues["none"]) * sum(queues["one"])
def in_place_by_an_attribute(x):
    grown.u += x * grown.w
    grown.u[1:] *= 1.0 + 0.1 * grown.u[:-1]
    return np.sum(grown.u)
def written_to_what_is_assigned(x):
    grown.u += x
    np.multiply(grown.u, x, out=grown.u)
    np.negative(grown.w, grown.w)
    grown.w += grown.u
    return np.sum(grown.u * grown.w)
def comes_to_be_another_array(x):
    global field
    for _ in range(2):
        field *= 2.0
        field = same
    return np.sum(field) * x
def keeps_a_view(x):
    grown.u[0] = x
    grown.part = grown.u[:2]
    return np.sum(grown.part) * x
def keeps_a_row(x):
    grid[0] *= x
    for row in grid:
        if grown.part is None:
            grown.part = row
    return np.sum(grid)
def keeps_the_whole(x):
    grown.u[0] = x
    rows.append(grown.u)
    return rows[-1][0] * x
def clears(x):
    late.clear()
    for i in range(3):
        late.append(x * i)
    return sum(late) * x
def through_globals(x):
    global total
    total = x * 2
    return globals()["total"] * x
def raising(x):
    level.height = x
    try:
        level.height = x * 2
        raise ValueError
    except ValueError:
        level.height *= x
    return level.height
def put_back(x):
    before, level.height = level.height, x * 5
    try:
        return level.height * x
    finally:
        level.height = before
def fails(x):
    level.height = x
    return level.height / (x - x)
"""
TYPED = "swings goes_on keeps_the_best appends appends_and_reads counts stores slots in_a_dict".split()
TYPED += "in_place_by_an_attribute clears counts_in_a_class counted counts_calls".split()


def made():
    """A module of the program, begun anew."""
    module = types.ModuleType("outside")
    exec(compile(SOURCE, "outside.py", "exec"), vars(module))
    return module


NAMES = [n for n, f in vars(made()).items() if isinstance(f, types.FunctionType) and f.__code__.co_argcount == 1]


def difference(name, before, x):
    """The slope of a call after others."""
    ends = []
    for end in (x + 1e-6, x - 1e-6):
        module = made()
        for earlier in before:
            outcome(getattr(module, name), earlier)
        ends.append(outcome(getattr(module, name), end))
    return ends[0] if isinstance(ends[0], type) else (ends[0] - ends[1]) / 2e-6


@pytest.mark.parametrize("name", NAMES)
def test_outside(name):
    modules = plain, reverse, forward, bent, carried = [made() for _ in range(5)]
    f, g = getattr(reverse, name), getattr(forward, name)
    called = []
    for x in (1.3, 0.6, 1.1, 1.2):
        slope, value = difference(name, called, x), outcome(getattr(plain, name), x)
        found, along = outcome(ad.gradient, f, x), outcome(ad.jvp, g, (x,), (1.0,))
        if isinstance(slope, type):
            assert found is along is slope
        else:
            assert along[0] == value
            assert (found[0], along[1]) == pytest.approx((slope, slope), rel=1e-5, abs=1e-5)
        products = outcome(ad.hvp, getattr(bent, name), (x,), (1.0,))
        wanted = outcome(generic_hvp, getattr(carried, name), (x,), (1.0,))
        if isinstance(wanted, type):
            assert products is wanted
        else:
            close(products, wanted)
        assert len({module.left() for module in modules}) == 1
        called.append(x)
    if name in TYPED and not (GENERIC or specialising.ONE_WAY):
        assert has_all_ways(f)
        # A second derivative that asks for what an object may lack is followed on one way.
        assert has_all_ways(getattr(bent, name)) is (name != "counts_in_a_class")


def objects():
    class Model:
        def __init__(self, x, v):
            self.x, self.v, self.steps = x, v, 0

        def step(self, dt):
            self.v -= math.sin(self.x) * dt
            self.x += self.v * dt
            self.steps += 1

    def loss(model, dt):
        for _ in range(20):
            model.step(dt)
        return model.x * model.x + model.v

    return Model, loss


def test_an_object_that_is_given_and_changed():
    """The gradient is with respect to what it was."""
    Model, loss = objects()
    for x, v, dt in ((1.0, 0.3, 0.1), (0.5, -0.2, 0.05)):
        slopes = []
        for i in range(3):
            ends = []
            for d in (1e-6, -1e-6):
                args = [x, v, dt]
                args[i] += d
                ends.append(loss(Model(*args[:2]), args[2]))
            slopes.append((ends[0] - ends[1]) / 2e-6)
        plain, model = Model(x, v), Model(x, v)
        loss(plain, dt)
        grad, by_dt = ad.gradient(loss, model, dt)
        assert (grad.x, grad.v, by_dt) == pytest.approx(slopes, rel=1e-6)
        assert vars(model) == vars(plain)


@pytest.mark.skipif(GENERIC or specialising.ONE_WAY, reason="nothing is typed for all ways")
def test_what_is_appended_to_may_be_long():
    module = made()

    def seconds(length):
        module.log[:] = [0.5] * length
        for _ in range(3):
            ad.gradient(module.appends, 1.3)
        times = []
        for _ in range(20):
            start = time.perf_counter()
            ad.gradient(module.appends, 1.3)
            times.append(time.perf_counter() - start)
        return min(times)

    assert seconds(200_000) < 5 * seconds(10)


def test_objects_that_come_to_be_one():
    """Two names of two objects may be of one at another call."""
    module = made()
    exec("def f(x):\n    level.height = x * x\n    return other.height * level.height", vars(module))
    assert ad.gradient(module.f, 1.5) == (3.0,)
    assert ad.gradient(module.f, 1.5) == (3.0,)
    module.other = module.level
    assert ad.gradient(module.f, 1.5) == pytest.approx((4 * 1.5**3,))


def test_lists_that_come_to_be_one():
    module = made()
    exec("def f(x):\n    buffer[0] = x * x\n    return sum(alias) * x", vars(module))
    module.alias = [1.0, 2.0]
    assert ad.gradient(module.f, 1.5) == ad.gradient(module.f, 1.5) == (3.0,)
    module.alias = module.buffer
    assert ad.gradient(module.f, 1.5) == pytest.approx((3 * 1.5**2 + 3.0,))


class Pointed:
    def __init__(self, at):
        self.at = at


def _hold(how, array):
    """Objects, one of which holds an array in some way."""
    beside = Pointed(np.ones(2))
    if how == "deeper":
        beside.rest = [Pointed((array,))]
        return [Pointed(np.ones(2)), beside]
    return [Pointed(array[:] if how == "view" else array), beside]


@pytest.mark.parametrize("how", ["itself", "view", "deeper"])
def test_arrays_that_objects_in_lists_hold(how):
    module = made()
    exec(
        "def f(x):\n    field[0] = x * 2.0\n    s = 0.0\n    for p in held:\n        s += p.at[0] * x\n    return s",
        vars(module),
    )
    module.held = [Pointed(np.ones(2)), Pointed(np.ones(2))]
    for _ in range(3):
        assert ad.gradient(module.f, 3.0) == (2.0,)
    module.held = _hold(how, module.field)
    for _ in range(3):
        module.field[0] = 1.0
        assert ad.gradient(module.f, 3.0) == ((2.0 if how == "deeper" else 13.0),)
        assert module.field[0] == 6.0


def test_arrays_that_come_to_share_memory():
    module = made()
    exec("def f(x):\n    field[0] = x * x\n    return np.sum(window) * x", vars(module))
    module.window = np.ones(3)
    assert ad.gradient(module.f, 1.5) == ad.gradient(module.f, 1.5) == (3.0,)
    module.window = module.field[:2]
    assert ad.gradient(module.f, 1.5) == pytest.approx((3 * 1.5**2 + 1.0,))


@pytest.mark.parametrize("given", [np.array([0.3, 0.7]), [0.3, 0.7]], ids=["array", "list"])
def test_what_is_changed_beside_arguments(given):
    module = made()
    exec("def f(x):\n    field[0] = x[0]\n    buffer[0] = x[1]\n    return field[0] * buffer[0] * x[1]", vars(module))
    for _ in range(3):
        (grad,) = ad.gradient(module.f, given)
        assert list(grad) == pytest.approx([0.49, 0.42])


def test_attributes_of_classes_are_assigned_where_the_program_does():
    class Account:
        rate, count, name = 0.5, 0, "none"

        def __init__(self):
            self.held = 1.0

        def pay(self, x, n):
            for i in range(n):
                self.count += 1
                if i:
                    self.rate = self.rate * x
                    self.name = "paid"
            return self.held * self.rate * x

    accounts = [Account() for _ in range(3)]

    def f(account, x, n):
        return account.pay(x, n)

    def g(x, n):
        return accounts[0].pay(x, n)

    plain, given = Account(), Account()
    accounts[0] = Account()
    for n in (0, 1, 2, 3, 0, 2):
        slope = plain.rate * max(n, 1) * 0.7 ** max(n - 1, 0)
        plain.pay(0.7, n)
        assert ad.gradient(f, given, 0.7, n)[1] == pytest.approx(slope)
        assert ad.gradient(g, 0.7, n)[0] == pytest.approx(slope)
        assert vars(given) == vars(accounts[0]) == vars(plain)
