"""What stands outside of a program, on one way: lists, sets and dicts that are asked, enums, attributes of classes."""

from __future__ import annotations

import enum
import itertools
import sys
import threading
import types
import warnings
from functools import partial
from unittest.mock import patch

import numpy as np
import pytest
from specialised_cases import GENERIC, check, check_slopes, is_specialised, oracle, same, slopes

import autodiff_hook as ad

NAMES = ["a", "b"]
LETTERS = {"x", "y"}
FACTORS = {"k": 2.0}


class Side(enum.Enum):
    LEFT = 1
    RIGHT = 2


class Body:
    def __init__(self, radius):
        self.radius = radius

    def area(self, x):
        return self.radius * x * x


Body.EARTH = Body(3.0)


def in_a_list(x, name):
    return x * x if name in NAMES else x


def in_a_set(x, name):
    return x * x if name in LETTERS else x


def in_a_dict(x, name):
    return x * FACTORS[name] if name in FACTORS else x


def by_sets(x):
    return x * x if {"x"}.issubset(LETTERS) and LETTERS.issuperset({"y"}) else x


def by_side(x, side):
    return x * x if side is Side.LEFT else x


def of_a_class(x):
    return Body.EARTH.area(x)


def machine(x):
    return x * np.finfo(float).eps + x + np.iinfo(np.int8).max


class Scaled:
    def __init__(self, by):
        self.by = by

    def __call__(self, x):
        return self.by * x


HOME = types.ModuleType("home")
HOME.scaled, HOME.body, HOME.nested = Scaled(3.0), Body(2.0), [Scaled(1.5)]


def not_installed(x):
    try:
        from a_package_that_nobody_has.part import square
    except ImportError:
        square = None
    try:
        import another_package_that_nobody_has as other
    except ModuleNotFoundError:
        return x * x if square is None else x
    return other.square(x)


def held_by_a_module(x):
    return HOME.scaled(x) * HOME.body.area(x) + HOME.nested[0](x)


def iterators(x, n):
    rows = itertools.chain([x, 2.0], itertools.islice(itertools.count(1), n), *[[x * x]])
    total = sum(a * b for a, b in itertools.product([x, 3.0], rows))
    for a, b in itertools.pairwise(itertools.accumulate([x, 2.0, x])):
        total += a * b
    for group in itertools.chain.from_iterable([[(x, 1)], [(2, x)]]):
        total += group[0] * group[1]
    for key, items in itertools.groupby([1, 1, 2], key=lambda k: k % 2):
        total += x**key * len(list(items))
    for a, b in itertools.combinations([x, 2.0, x * x], 2):
        total += a * b
    total += sum(a * b * b for a, b in itertools.permutations((x, 2.0, n), len([1, 2])))
    counts = {n, 2} | set([n, n + 1])
    total += sum(value for _, value in dict.items(FACTORS)) * x * len(counts)
    return total + max(itertools.starmap(pow, [(x, 2), (x, 3)]))


def no_numbers(x, n):
    try:
        return x * len(range([n]))
    except TypeError:
        return x * x


def or_default(x):
    return x * getattr(x, "weight", 2.0)


def by_tuples(x, n):
    seen, table = set(), {(0, "a"): x, (n, "b"): x * x}
    for k in range(3):
        if (k, n) not in seen:
            seen.add((k, n))
            table[k, n] = x * k
    seen.discard((9, 9))
    seen.update([(7, n), (8, n)])
    seen.remove((8, n))
    count = len(seen) + ((1, n) in seen) + ((n, "b") in table) + ((5, n) in table)
    return table[(n, "b")] * table[2, n] * count


def or_without(x, row):
    total = 0.0
    for value in (x, row, row[0]):
        try:
            total = total + value.weight
        except AttributeError:
            total = total + value * x
    return total[0] * x


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (in_a_list, (2.0, "a")),
        (in_a_set, (2.0, "x")),
        (in_a_dict, (2.0, "k")),
        (by_sets, (2.0,)),
        (by_side, (2.0, Side.LEFT)),
        (of_a_class, (2.0,)),
        (machine, (2.0,)),
        (or_default, (2.0,)),
        (by_tuples, (2.0, 3)),
        (held_by_a_module, (2.0,)),
        (not_installed, (2.0,)),
        (iterators, (2.0, 3)),
        (no_numbers, (2.0, 3)),
        (or_without, (2.0, np.array([3.0, 4.0]))),
    ],
)
def test_what_stands_outside_is_asked(f, args):
    check(f, *args, specialised=None)
    assert GENERIC or is_specialised(f)
    if len(args) == 2 and type(args[1]) is int:
        for other in (0, 7, args[1]):
            check(f, args[0], other, specialised=None)
    elif len(args) == 2 and not isinstance(args[1], np.ndarray):
        for other in ("a", "z", "x", "k", Side.RIGHT, args[1]):
            check(f, args[0], other, specialised=None)


def test_what_stands_outside_changes():
    for _ in range(3):
        assert ad.gradient(in_a_list, 3.0, "c")[0] == 1.0
        assert ad.gradient(in_a_set, 3.0, "z")[0] == 1.0
        assert ad.gradient(by_sets, 3.0)[0] == 6.0
        assert ad.gradient(of_a_class, 3.0)[0] == 18.0
    NAMES.append("c")
    LETTERS.add("z")
    LETTERS.remove("y")
    Body.EARTH.radius = 4.0
    try:
        for _ in range(3):
            assert ad.gradient(in_a_list, 3.0, "c")[0] == 6.0
            assert ad.gradient(in_a_set, 3.0, "z")[0] == 6.0
            assert ad.gradient(by_sets, 3.0)[0] == 1.0
            assert ad.gradient(of_a_class, 3.0)[0] == 24.0
        Body.EARTH = Body(5.0)
        assert ad.gradient(of_a_class, 3.0)[0] == 30.0
    finally:
        NAMES.pop()
        LETTERS.remove("z")
        LETTERS.add("y")
        Body.EARTH = Body(3.0)


CALLS, LAST, PLACES = 0, 1.0, np.ones(2)


def noted(x):
    global CALLS, LAST, PLACES
    CALLS += 1
    LAST = x * CALLS
    PLACES = np.array([x, LAST])
    PLACES *= x
    return LAST


def kept_in_globals(x):
    held = {1: Body(x), "two": noted(x)}
    return held[1].area(noted(x)) * HERE.LAST + held["two"] * globals()["CALLS"] + PLACES.sum()


HERE = sys.modules[__name__]


def test_globals_that_are_assigned(monkeypatch):
    def left_by(f, x):
        for name, value in (("CALLS", 0), ("LAST", 1.0), ("PLACES", np.ones(2))):
            monkeypatch.setattr(HERE, name, value)
        return f(x), CALLS, LAST, *PLACES

    gradient = lambda x: ad.withgradient(kept_in_globals, x)  # noqa: E731
    for x in (0.7, 1.3, 0.7, 0.9):
        plain, ((value, (slope,)), *kept) = left_by(kept_in_globals, x), left_by(gradient, x)
        assert [value, *kept] == pytest.approx(plain)
        step = [left_by(kept_in_globals, x + h)[0] for h in (1e-6, -1e-6)]
        assert slope == pytest.approx((step[0] - step[1]) / 2e-6)
        assert type(LAST) is float and type(PLACES) is np.ndarray
    left_by(lambda x: ad.gradient(kept_in_globals, x), 0.7)
    assert is_specialised(kept_in_globals)


def test_what_a_module_holds_changes():
    for change in (lambda: None, lambda: setattr(HOME.scaled, "by", 5.0), lambda: setattr(HOME, "scaled", Scaled(7.0))):
        change()
        for _ in range(2):
            check(held_by_a_module, 2.0)
    Scaled.__call__ = lambda self, x: self.by + x
    check(held_by_a_module, 2.0, specialised=None)


def test_a_package_that_comes_to_be_there(monkeypatch):
    check(not_installed, 3.0, specialised=None)
    package = types.ModuleType("another_package_that_nobody_has")
    package.square = lambda x: x * 7
    monkeypatch.setitem(sys.modules, "another_package_that_nobody_has", package)
    assert ad.gradient(not_installed, 3.0) == (7.0,)


class Lazily:
    """What some packages put in the place of their module."""

    def __init__(self, module):
        self._module = module

    def __getattr__(self, name):
        return getattr(self._module, name)


def test_an_object_in_the_place_of_a_module(monkeypatch):
    module = types.ModuleType("a_lazy_package")
    module.scaled, module.sizes = Scaled(3.0), {"a": 2.0}
    monkeypatch.setitem(sys.modules, "a_lazy_package", Lazily(module))

    def f(x):
        import a_lazy_package
        from a_lazy_package import sizes

        return a_lazy_package.scaled(x) * sizes["a"]

    check(f, 2.0)
    module.scaled = Scaled(5.0)
    check(f, 2.0)


def test_data_of_a_module_that_are_imported_within():
    def f(x):
        from home_of_data import nested, sizes

        return nested[0](x) * sizes["a"] * x

    home = types.ModuleType("home_of_data")
    home.nested, home.sizes = [Scaled(1.5)], {"a": 2.0}
    with patch.dict(sys.modules, home_of_data=home):
        check(f, 2.0)
        home.sizes = {"a": 3.0}
        check(f, 2.0)


def test_a_set_that_the_program_changes():
    seen = set()

    def f(x):
        if "x" not in seen:
            seen.add("x")
            return x * x
        return x

    assert [ad.gradient(f, 3.0)[0] for _ in range(3)] == [6.0, 1.0, 1.0]
    assert seen == {"x"}


def warned(x, limit):
    items = [x]
    items.append(x * 2.0)
    if x > limit:
        warnings.warn(f"{len(items)} items above {limit}", RuntimeWarning, stacklevel=2)
    return items[0] * items[1]


def test_warnings_are_given_each_time_for_the_line_of_the_program():
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        for _ in range(3):
            assert ad.gradient(warned, 3.0, 1.0)[0] == 12.0
        assert [(str(w.message), w.category) for w in given] == [("2 items above 1.0", RuntimeWarning)] * 3
        if not GENERIC:
            assert is_specialised(warned)
            assert given[-1].filename == __file__
        given.clear()
        assert ad.gradient(warned, 3.0, 5.0)[0] == 12.0
        assert not given
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="2 items"):
            ad.gradient(warned, 3.0, 1.0)


class Keeper:
    def __init__(self):
        self.pair, self.seen, self.left = (0.0, 1.0), None, [1.0, "a", None]


def test_tuples_that_are_kept_outside():
    """Of the lists of several kinds of things, which only one way takes, nothing else is read."""

    def f(keeper, x):
        keeper.left[0] = keeper.pair[1] * x
        first, second = keeper.pair
        keeper.pair = second, first + second * x
        keeper.seen = keeper.pair, (x, "text")
        return sum(keeper.pair) * keeper.seen[1][0]

    plain, typed = Keeper(), Keeper()
    g = ad.grad(lambda x: f(typed, x))
    for x in (1.3, 0.7, 1.3, 0.4):
        second = typed.pair[1]
        slope = typed.pair[0] + second + 2.0 * second * x
        f(plain, x)
        assert g(x) == pytest.approx(slope)
        assert vars(typed) == vars(plain)


MANY = {f"k{i}": float(i) for i in range(300)}
MANY["function"] = np.sin


def asked_for_a_key(x):
    return x[0] * MANY.get("k3") + MANY.get("none", 2.0) * x[1] + MANY.get("function")(x[1])


def asked_for_a_key_that_is_stored(x):
    MANY["k3"] = x[1]
    return x[0] * MANY.get("k3") + (x[1] if MANY.get("none") is None else 0.0)


def by_dtype(x):
    kinds = np.dtype(int), np.dtype(np.float64)
    return np.sum(x * x) if np.array(x, copy=True).dtype in kinds else np.sum(x)


@pytest.mark.parametrize("f", [asked_for_a_key, by_dtype, asked_for_a_key_that_is_stored])
def test_dicts_are_asked_for_a_key_and_tuples_for_a_dtype(f):
    for kept in (3.0, 5.0):
        MANY["k3"] = kept
        check(f, np.array([1.2, 0.7]))


def test_dicts_that_get_another_key():
    x = np.array([1.2, 0.7])
    MANY["k3"] = 3.0
    assert ad.gradient(asked_for_a_key, x)[0] == pytest.approx([3.0, 2.0 + np.cos(0.7)])
    MANY["unasked"] = 1.0
    assert GENERIC or is_specialised(asked_for_a_key)
    MANY["none"] = 7.0
    try:
        assert ad.gradient(asked_for_a_key, x)[0] == pytest.approx([3.0, 7.0 + np.cos(0.7)])
    finally:
        del MANY["none"]
    assert ad.gradient(asked_for_a_key, x)[0] == pytest.approx([3.0, 2.0 + np.cos(0.7)])


class Space:
    """Equal to nothing but itself."""

    def __init__(self, size):
        self.size = size


class Named(Space):
    def __eq__(self, other):
        return isinstance(other, Named)

    __hash__ = Space.__hash__


FIRST, SECOND = Space(2.0), Space(3.0)
SPACES = [FIRST, SECOND, FIRST]
PLACE = {"name": "a", "space": FIRST, "white": np.ones(3)}
SAME, OTHER = dict(PLACE), {**PLACE, "space": SECOND}


def which_are_the_same(x):
    total = x * x if FIRST == SECOND else x * 3.0
    for space in SPACES:
        if space == FIRST:
            total += x * space.size
        if space != SECOND and space != 1.0 and not space == None:  # noqa: E711
            total *= x
    return total if PLACE == SAME else total * x


def which_dicts_are_alike(x):
    total = x if PLACE == SAME else x * x
    total *= x if {"name": "a", "space": SECOND} == {"name": "a", "space": FIRST} else x * x
    total += x if (1, FIRST) == (1, SECOND) else 2.0
    return total + (x if dict(SAME) != OTHER else 1.0) + (x if {"n": 1} == {"m": 1} else 0.5)


@pytest.mark.parametrize("f", [which_are_the_same, which_dicts_are_alike])
def test_objects_that_are_compared(f, monkeypatch):
    check_slopes(f, 0.7)
    for name, found in (("SECOND", FIRST), ("SAME", {"name": "a"}), ("SAME", PLACE), ("OTHER", SAME)):
        with monkeypatch.context() as patched:
            patched.setitem(globals(), name, found)
            check_slopes(f, 0.6, specialised=None)
    monkeypatch.setitem(globals(), "SPACES", [SECOND, *SPACES])
    check_slopes(f, 0.5, specialised=None)


def test_objects_that_are_given_and_compared():
    def f(a, b, x):
        return x * a.size if a == b else x * x * b.size

    named = Named(4.0), Named(5.0)
    for a, b in ((FIRST, SECOND), (FIRST, FIRST), (SECOND, SECOND), (FIRST, SECOND), named, (FIRST, named[0])):
        expected = a.size if a == b else 1.4 * b.size
        assert ad.gradient(f, a, b, 0.7)[2] == pytest.approx(expected)


LOCAL = threading.local()


def current():
    return LOCAL.__dict__.get("space", FIRST)


def in_its_thread(x):
    kinds = [1, "a", None]
    return current().size * x * x + (x if kinds[1] == "a" else 0.0)


def assigned_beside(x):
    LOCAL.space = Space(x)
    return current().size * x


def changed_beside(x):
    LOCAL.__dict__["space"] = Space(x)
    return LOCAL.space.size * x


def test_objects_of_threads():
    def elsewhere():
        LOCAL.space = Space(7.0)
        check_slopes(in_its_thread, 0.4)

    check_slopes(in_its_thread, 0.7)
    LOCAL.space = SECOND
    check_slopes(in_its_thread, 0.7, specialised=None)
    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    del LOCAL.space
    check_slopes(in_its_thread, 0.6)
    for f in (assigned_beside, changed_beside):
        for x in (0.7, 0.6):
            assert ad.gradient(f, x) == (2 * x,)
            assert LOCAL.space.size == x
            del LOCAL.space


def test_objects_of_threads_that_are_given():
    def of_both(local, x):
        return local.factor * x * LOCAL.__dict__.get("factor", 5.0) * ("a" in [1, "a"])

    other = threading.local()
    LOCAL.factor, other.factor = 3.0, 2.0
    for _ in range(2):
        assert ad.gradient(of_both, other, 0.7)[1] == 6.0
        assert ad.gradient(of_both, LOCAL, 0.7)[1] == 9.0
    del LOCAL.factor
    assert ad.gradient(of_both, other, 0.7)[1] == 10.0


class Planet(enum.Enum):
    EARTH = (5.0, 1.2)
    MARS = (0.6, 0.5)

    def __init__(self, mass, radius):
        self.mass, self.radius = mass, radius

    @property
    def gravity(self):
        return self.mass / self.radius**2

    def weight(self, x):
        return x * self.gravity

    def __call__(self, x):
        return x * x if self is Planet.EARTH else x * self.radius

    @classmethod
    def heaviest(cls):
        return max(cls, key=lambda planet: planet.mass)


MOONS = {Planet.EARTH: 1.0, Planet.MARS: 2.0}


def of_all_members(x):
    total = len(Planet) * x
    for i, planet in enumerate(Planet):
        total += i * planet.weight(x) * MOONS[planet] + planet(x)
    return total + Planet.heaviest().gravity * x + sum([p.mass * x for p in sorted(Planet, key=lambda p: p.mass)][:1])


def of_named_members(x):
    total = x
    for name, value in (("MARS", (5.0, 1.2)), ("EARTH", (0.6, 0.5))):
        total = total * Planet[name].weight(x) + Planet(value)(x)
    return total


def of_another_member_later(x):
    planet, y = Planet.EARTH, x
    while y < 10:
        y = y * 1.1 + planet.weight(x) + planet.radius
        if y > 3:
            planet = Planet.MARS
    return y


@pytest.mark.parametrize("f", [of_all_members, of_named_members, of_another_member_later])
def test_methods_of_members_of_enums(f, monkeypatch):
    check_slopes(f, 0.7)
    monkeypatch.setattr(Planet.MARS, "mass", 0.9)
    check_slopes(f, 0.7)
    monkeypatch.setattr(Planet, "weight", lambda self, x: x**3 * self.mass)
    check_slopes(f, 0.6)


def test_members_of_enums_that_are_given():
    def f(x, planet):
        return planet.weight(x) * planet(x)

    for planet in (*Planet, *Planet):
        check(f, 0.7, planet)
        assert ad.gradient(f, 0.7, planet)[0] == pytest.approx(slopes(partial(f, planet=planet), 0.7)[0])


class Registry:
    def __init__(self):
        self.total, self.cache, self.names = 1.0, {"n": 2.0}, ["a"]


REGISTRY = Registry()
KNOWN = [REGISTRY, "a", None]


def by_two_names(x, y):
    here, there = REGISTRY, KNOWN[0]
    before = there.total * there.cache["n"]
    here.total = x * y
    there.total += x
    there.cache["k"] = here.total
    here.cache["n"] = before + there.cache["k"] * y
    here.names.append("b")
    return there.total * here.cache.get("k", y) + there.cache["n"] * len(there.names) + here.cache["n"] * x


def changed_while_read(x, y):
    total = x
    for name in KNOWN[0].names:
        if len(REGISTRY.names) < 3:
            REGISTRY.names.append(name)
        total *= y
    return total


@pytest.mark.parametrize("f", [by_two_names, changed_while_read])
def test_what_is_changed_by_two_names(f):
    for known in (REGISTRY, Registry(), REGISTRY):
        KNOWN[0] = known
        for _ in range(3):
            states = []
            for run in (f, lambda x, y: ad.gradient(f, x, y), lambda x, y: oracle(f, x, y)[1]):
                REGISTRY.__init__(), known.__init__()
                states.append((run(0.7, 1.3), vars(REGISTRY).copy(), vars(known).copy()))
            assert states[0][1:] == states[1][1:] == states[2][1:]
            same(states[1][0], states[2][0])


class Available:
    """A descriptor that makes another method, or function, each time it is asked."""

    def __init__(self, function):
        self.function = function

    def __get__(self, owner, cls=None):
        if owner is not None:
            return types.MethodType(self.function, owner)
        return lambda *args: self.function(*args)


class Step:
    scale = 2.0

    def __init__(self, factor):
        self.factor = factor

    @Available
    def applied(self, x):
        return self.factor * x * x


STEPS = [("first", Step(1.5)), ("second", Step(2.5)), ("third", "passthrough")]
SETTINGS = {"factor": 3.0}


def by_steps(x):
    """Objects are compared with texts; settings are changed, and put back, beside attributes that are read by vars."""
    kept = dict(SETTINGS)
    SETTINGS["factor"] = x
    for _, step in STEPS:
        if step is not None and step != "passthrough":
            x = step.applied(x) + sum(value for name, value in vars(step).items() if not name.startswith("_"))
    x = x * SETTINGS["factor"] + Step.applied(STEPS[0][1], x)
    SETTINGS.update(kept)
    return x * SETTINGS["factor"]


def test_descriptors_that_make_methods(monkeypatch):
    check_slopes(by_steps, 0.7)
    monkeypatch.setattr(STEPS[0][1], "factor", 0.5)
    check_slopes(by_steps, 0.7)
    monkeypatch.setattr(Step, "applied", Available(lambda self, x: self.scale * x))
    check_slopes(by_steps, 0.7, specialised=None)
