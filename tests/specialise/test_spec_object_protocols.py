"""What classes say of operators, comparisons, iterations and copies, and properties that are computed once."""

from __future__ import annotations

import copy
import copyreg
import functools

import numpy as np
import pytest
from numpy.lib.mixins import NDArrayOperatorsMixin
from specialised_cases import check, check_all_ways, check_slopes

import autodiff_hook as ad


class Vector:
    """An object that does not know what to do with some operands."""

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        if not isinstance(other, Vector):
            return NotImplemented
        return type(self)(self.x + other.x, self.y + other.y)

    def __mul__(self, other):
        if isinstance(other, (int, float)):
            return Vector(self.x * other, self.y * other)
        if isinstance(other, Vector):
            return self.x * other.x + self.y * other.y
        return NotImplemented

    def __rmul__(self, other):
        return self * other

    def __eq__(self, other):
        if not isinstance(other, Vector):
            return NotImplemented
        return self.x == other.x and self.y == other.y

    def __lt__(self, other):
        return self.x < other.x

    def __bool__(self):
        return self.x > 0.0


class Scale:
    def __init__(self, k):
        self.k = k

    def __mul__(self, other):
        return NotImplemented

    def __rmul__(self, other):
        return Vector(other.x * self.k, other.y)

    def __radd__(self, other):
        return other.x + self.k


class Louder(Vector):
    def __rmul__(self, other):
        return Vector(self.x * 3.0, self.y)

    def __ne__(self, other):
        return self.x > other.x


class Sum:
    def __init__(self, x):
        self.x = x

    def __add__(self, other):
        return Sum(self.x + other.x)

    def __iadd__(self, other):
        self.x += 3.0 * other.x
        return self


def operators(a, b):
    v = Vector(a, b)
    for i in range(4):
        v = v + 0.1 * Vector(b, a * i) * 0.5
        v = v * Scale(a)
    return v * v + (v + Scale(b)) + (Vector(a, 1.0) * Louder(b, a)).x + (Louder(a, b) + v).y


def constant_factors(a, b, h=0.5):
    v = Vector(a, b)
    for _ in range(3):
        k = (h / 2.0) * Vector(v.y, a) + 2.0 * v
        v = v + (h / 6.0) * k
    return v.x * v.y


def comparisons(a, b):
    total, first, unit = 0.0, Vector(a, b), Vector(1.0, 0.0)
    for i in range(4):
        v = Vector(a * i, b)
        if v == first:
            total += a
        if v != first:
            total += b * i
        if v != unit and not (v == 3.0) and v != None and unit == unit:  # noqa: E711
            total += v.x
        if first < v or v > first or Louder(a, b) != Louder(a * i, b):
            total += v.x * b
        if v and v is not first:
            total += a * b
    return total


def identities(a, b):
    one, other = Sum(a), Sum(a)
    kept, total = one, 0.0
    for i in range(3):
        if one == kept and one != other and other != None and one != "a":  # noqa: E711
            total += one.x * b * i
    return total


def in_place(a, b):
    first = Sum(a)
    kept = first
    for _ in range(3):
        first += Sum(b)
    return first.x * kept.x


def in_place_in_lists(a, b):
    found = [Sum(a * i) for i in range(4)]
    kept = found[0]
    found[0] += found[1]
    found[2] = found[2] + found[3]
    return kept.x + 2.0 * found[0].x * b + found[2].x


class Steps:
    def __init__(self, xs):
        self.xs, self.place = xs, 0

    def __iter__(self):
        self.place = 0
        return self

    def __next__(self):
        if self.place >= len(self.xs):
            raise StopIteration
        self.place += 1
        return self.xs[self.place - 1]


class Rows:
    def __init__(self, xs):
        self.xs = xs

    def __iter__(self):
        return iter(self.xs)


def iterations(a, b):
    steps, rows, total = Steps([a * i for i in range(5)]), Rows([b, a]), 0.0
    for x in steps:
        if x > 2.0:
            break
        total += x * x
        for y in rows:
            total += x * y
    total += sum(x * w for w, x in zip([1.0, 2.0, 3.0], Rows([a, b, a])))
    return total + sum(rows) * steps.place + sum([i * x for i, x in enumerate(Steps([b, a]))])


class Curve:
    def __init__(self, x, ys):
        self.x, self.ys = x, ys

    @functools.cached_property
    def square(self):
        return self.x**2

    @functools.cached_property
    def total(self):
        return sum(self.ys) * self.square

    @functools.cached_property
    def rows(self):
        return [y * self.x for y in self.ys]


def cached(a, b):
    total = 0.0
    for i in range(3):
        curve = Curve(a * i, [a, b])
        total += curve.square + curve.square * curve.total
    return total


def cached_before_a_change(a, b):
    curve, total = Curve(a, [a, b]), 0.0
    for i in range(4):
        if i % 2:
            total += curve.total
        curve.x = curve.x + 1.0
        curve.ys.append(a * i)
        total += curve.square + curve.rows[0]
        curve.rows[1] = total
    return total


def cached_or_assigned(a, b):
    curve, total = Curve(a, [b]), 0.0
    curve.square = b**3
    for _ in range(3):
        total += curve.square * curve.total
    return total


def cached_in_lists(a, b):
    curves, total = [Curve(a * i, [b]) for i in range(4)], 0.0
    for _ in range(2):
        for curve in curves:
            total += curve.total
            curve.x = curve.x + total
    return total + sum(curve.square for curve in curves)


class Maybe:
    def __init__(self, x):
        self.x = x

    @functools.cached_property
    def found(self):
        self.x = self.x + 1.0
        return None if self.x > 2.0 else self.x


def cached_none(a, b):
    maybe, total = Maybe(a), 0.0
    for _ in range(3):
        total += b if maybe.found is None else maybe.found * b
    return total + maybe.x


class Scaled:
    def __init__(self, factor):
        self.factor = factor

    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, owner, cls=None):
        return getattr(owner, self.name) * self.factor

    def __set__(self, owner, value):
        if value < -10.0:
            raise ValueError("too small")
        setattr(owner, self.name, value)


class Body:
    mass, speed = Scaled(2.0), Scaled(3.0)

    def __init__(self, mass, speed):
        self.mass, self.speed = mass, speed


class Planet(Body):
    pass


def described(a, b):
    total, bodies = 0.0, [Planet(a * i, b) for i in range(4)]
    for body in bodies:
        body.speed = body.speed * body.mass + a
    for i in range(3):
        body = Body(a * i, b)
        body.mass = body.mass + b
        total += body.mass**2 * body.speed
    return total + sum(body.speed for body in bodies)


def test_descriptors_may_change(monkeypatch):
    check_all_ways(described, 0.7, 1.3)
    monkeypatch.setattr(vars(Body)["mass"], "factor", 5.0)
    check_all_ways(described, 0.7, 1.3)
    monkeypatch.setattr(Planet, "speed", 4.0, raising=False)
    check(described, 0.7, 1.3, specialised=None)
    monkeypatch.setattr(Scaled, "__get__", lambda self, owner, cls=None: getattr(owner, self.name) * 11.0)
    check(described, 0.7, 1.3, specialised=None)


class State:
    def __init__(self, x, v, held=None):
        self.x, self.v, self.held = x, v, held

    def copy(self):
        return State(self.x, self.v)

    def clone(self):
        return copy.copy(self)


class Own(State):
    def __copy__(self):
        return Own(self.x * 2.0, self.v)


def copies(a, b):
    state = State(a, 0.0)
    for i in range(6):
        new = (state.copy(), state.clone(), copy.deepcopy(state))[0] if i > 3 else copy.deepcopy(state)
        new.x = state.x + 0.1 * state.v
        new.v = state.v - b * state.x
        state = new
    return state.x + 2.0 * state.v


def shallow_and_deep(a, b):
    first = State(a, 1.0, [a, b])
    shallow, deep = first.clone(), copy.deepcopy(first)
    for i in range(3):
        shallow.held[0] = shallow.held[0] + a * i
        deep.held[1] = deep.held[1] * b
        shallow.x = shallow.x + 1.0
        deep.v = deep.x * deep.v
    return first.x + 2 * first.held[0] + 3 * shallow.held[1] + 5 * deep.held[0] + 7 * deep.held[1] * shallow.x + deep.v


def copies_in_lists(a, b):
    found = [State(a * i, b) for i in range(4)]
    other = [copy.copy(p) for p in found]
    for p, q in zip(found, other):
        p.x = q.x**2
        q.v = p.v + p.x
    return sum([p.x * q.x + p.v * q.v for p, q in zip(found, other)])


OPERATORS = [operators, constant_factors, comparisons, identities, in_place, in_place_in_lists, iterations]
CACHED = [cached, cached_before_a_change, cached_or_assigned, cached_in_lists]
COPIES = [copies, shallow_and_deep, copies_in_lists]


@pytest.mark.parametrize("f", [*OPERATORS, *CACHED, *COPIES, described], ids=lambda f: f.__name__)
def test_protocols(f):
    for args in ((0.7, 1.3), (1.1, 0.4)):
        check_all_ways(f, *args)


def late(a, b):
    state, total = State(a, b), 0.0
    for i in range(3):
        new = copy.copy(state)
        state.w = a * i
        total += new.x * state.w
    return total


def held_twice(a, b):
    held = [a, b]
    new, total = copy.deepcopy(State(held, held)), 0.0
    for _ in range(3):
        new.v[0] = new.v[0] + a
        total += new.x[0] * b
    return total


def own_copies(a, b):
    return sum([copy.copy(Own(a * i, b)).x for i in range(3)])


@pytest.mark.parametrize("f", [cached_none, late, held_twice, own_copies], ids=lambda f: f.__name__)
def test_what_is_not_followed_on_all_ways_is_right(f):
    for args in ((0.7, 1.3), (1.1, 0.4), (0.2, 0.9)):
        check(f, *args, specialised=None)


def test_how_a_class_is_copied_may_be_registered():
    def f(a):
        return sum([copy.copy(State(a * i, a)).x for i in range(3)])

    check(f, 0.7, specialised=None)
    copyreg.pickle(State, lambda state: (State, (5.0 * state.x, state.v)))
    try:
        check(f, 0.7, specialised=None)
    finally:
        del copyreg.dispatch_table[State]
    check(f, 0.7, specialised=None)


def test_operators_that_nobody_implements_raise():
    def f(a):
        total = a
        for _ in range(2):
            total = total + (Vector(a, a) + 1.0).x
        return total

    for _ in range(3):
        with pytest.raises(TypeError):
            ad.gradient(f, 0.7)


def test_an_iteration_over_its_own_iterator_is_given_up_and_not_run_into():
    class Other(Steps):
        def __iter__(self):
            return self if self.place < 3 else iter([2.0])

    def f(a, n):
        steps = Other([a * i for i in range(n)])
        return sum([x * a for x in steps])

    for n in (5, 2, 0):
        check(f, 0.7, n, specialised=None)


def test_a_class_may_change_what_it_says(monkeypatch):
    check_all_ways(operators, 0.7, 1.3)
    monkeypatch.setattr(Vector, "__rmul__", lambda self, other: Vector(self.x, other))
    check_all_ways(operators, 0.7, 1.3)


class Cell:
    """Is an array to NumPy."""

    def __init__(self, rows):
        self.rows = np.asarray(rows, dtype=float)

    def __array__(self, dtype=None, copy=None):
        return self.rows * 1.0

    def sum(self, axis=None, out=None):
        return self.rows[0, 0]


CELL = Cell([[1.0, 0.5], [0.2, 2.0]])


def as_arrays(a, b):
    cell = Cell([[a, b], [b, a * b]])
    again = Cell(cell)
    total = np.asarray(cell)[0, 1] * np.dot(cell, np.array([a, 1.0]))[0] + np.linalg.norm(again, axis=1)[0]
    for i in range(2):
        total = total + np.multiply(CELL, cell)[i, i] * np.array(again, dtype=float)[i, 0]
    return float(total)


def that_are_asked_for_a_method(a, b):
    return float(np.sum(Cell([[a, b], [b, a]])) * b + np.trace(np.asarray(CELL)) * a)


def test_objects_that_are_arrays_to_numpy(monkeypatch):
    for a, b in ((0.7, 0.3), (0.2, 0.9)):
        check_all_ways(as_arrays, a, b)
        check_slopes(that_are_asked_for_a_method, a, b, specialised=None)
    monkeypatch.setattr(Cell, "__array__", lambda self, dtype=None, copy=None: self.rows * self.rows)
    check_all_ways(as_arrays, 0.7, 0.3)
    monkeypatch.setattr(Cell, "__array_priority__", 2.0, raising=False)
    monkeypatch.setattr(Cell, "__array_function__", lambda self, function, types, args, kwargs: 2.0, raising=False)
    assert ad.gradient(lambda a, b: np.dot(Cell([[a]]), b) * b, 0.7, 0.3) == (0.0, 2.0)


def test_an_argument_that_is_an_array_to_numpy():
    for a in (0.7, 1.5):
        cell, found = ad.gradient(lambda c, a: np.linalg.norm(c) * a, Cell([[3.0, 4.0]]), a)
        assert found == pytest.approx(5.0)
        assert cell.rows == pytest.approx(np.array([[0.6, 0.8]]) * a)


class Quantity:
    """A number with powers of units, which are a tuple of any length."""

    def __init__(self, value, units=(0, 0)):
        self.value, self.units = value, units

    def __mul__(self, other):
        if not isinstance(other, Quantity):
            return Quantity(self.value * other, self.units)
        return Quantity(self.value * other.value, tuple(a + b for a, b in zip(self.units, other.units)))

    def __add__(self, other):
        if other.units != self.units:
            raise TypeError(f"{self.units} and {other.units}")
        return Quantity(self.value + other.value, self.units)

    def __float__(self):
        return float(self.value) if self.units == (0, 0) else -1.0

    def __int__(self):
        return 3 if self.units > (0, 0) else 2

    def __round__(self, digits=0):
        return self.value * digits


def with_units(a, b, n=4):
    length, total = Quantity(a, (1, 0)), Quantity(0.0, (0, 0))
    for i in range(n):
        total = total + length * Quantity(b * i, (-1, 0))
        length = length * Quantity(a)
    return float(total) * int(length) + float(length) + round(total, 2)


def test_objects_that_say_which_number_they_are():
    for a, b in ((0.7, 0.3), (1.2, -0.9)):
        check_all_ways(with_units, a, b)


class Track:
    """An object over whose items one iterates, also twice at once."""

    def __init__(self, *items):
        self.items = list(items)

    def __iter__(self):
        return iter(self.items)

    def __iadd__(self, other):
        for i, x in enumerate(other):
            self.items[i] += x
        return self

    def __mul__(self, k):
        return Track(*(x * k for x in self))

    def dot(self, other):
        return sum(map(lambda pair: pair[0] * pair[1], zip(self, other)))


def over_one_object_twice(a, b, n=3):
    tracks = [Track(a, b, 1.0), Track(b, 2.0, a)]
    total = 0.0
    for i in range(n):
        for track in tracks:
            track += tracks[i % 2] * 0.3
        total += tracks[0].dot(tracks[0]) + sum(map(lambda x, y: x * y, iter(tracks[0]), tracks[1]))
    return total


def test_iterations_over_one_object():
    for a, b in ((0.7, 0.3), (1.2, -0.9)):
        check_all_ways(over_one_object_twice, a, b)


class Amount(NDArrayOperatorsMixin):
    """It says what ufuncs of it are, what operators of arrays are with it, and some functions of NumPy's."""

    def __init__(self, value, unit):
        self.value, self.unit = np.asarray(value), unit

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        values = [x.value if isinstance(x, Amount) else x for x in inputs]
        units = [x.unit for x in inputs if isinstance(x, Amount)]
        if ufunc in (np.add, np.subtract) and len({*units}) > 1:
            return NotImplemented
        made = getattr(ufunc, method)(*values, **kwargs)
        return Amount(made, max(units)) if isinstance(made, np.ndarray) else made

    def __array_function__(self, function, types, args, kwargs):
        if function not in OF_AMOUNTS or not all(issubclass(cls, (Amount, np.ndarray)) for cls in types):
            return NotImplemented
        return OF_AMOUNTS[function](*args, **kwargs)


OF_AMOUNTS = {
    np.mean: lambda a, axis=None: Amount(np.mean(a.value, axis=axis), a.unit),
    np.concatenate: lambda items: Amount(np.concatenate([np.asarray(getattr(x, "value", x)) for x in items]), "m"),
}
LENGTH = Amount(np.array([1.0, 2.0, 0.5]), "m")


class Series:
    """NumPy leaves operators to it."""

    __array_priority__ = 10

    def __init__(self, items):
        self.items = items

    def __radd__(self, other):
        return Series(other + self.items)

    def __rmul__(self, other):
        return Series(other * self.items)

    def __rmatmul__(self, other):
        return Series(other @ self.items)


class Silent(Series):
    __array_ufunc__ = None


def of_ufuncs(a):
    length = Amount(a, "m")
    area = np.multiply(length, LENGTH) * 2.0 - a * length
    return np.sum((np.exp(-area) + np.add.reduce(length)).value) + np.add.reduce(length * length)


def of_operators_of_arrays(a):
    length = Amount(a * a, "m")
    return np.sum((a * length + np.float64(2.0) / length - (a + LENGTH)).value) + np.sum((a @ LENGTH) * a)


def of_functions_of_numpy(a):
    whole = np.concatenate([Amount(a, "m"), LENGTH, a * a])
    return np.sum(np.mean(Amount(np.outer(a, a), "m"), axis=1).value * a) + np.mean(whole).value[()]


def of_what_numpy_defers_to(a):
    series = a + 2.0 * Series(a * a) if a[0] > 10.0 else a * Series(a + 1.0)
    return np.sum(series.items) + np.sum((np.outer(a, a) @ Silent(a)).items) + np.sum((a[0] + Series(a)).items)


@pytest.mark.parametrize("f", [of_ufuncs, of_operators_of_arrays, of_functions_of_numpy, of_what_numpy_defers_to])
def test_what_numpy_asks_of_classes(f):
    for a in (np.array([0.7, -0.3, 1.2]), np.array([1.5, 0.4, 0.9])):
        check(f, a)


def test_units_that_do_not_fit():
    def f(a):
        return np.sum((Amount(a, "m" if a[0] > 0 else "s") + LENGTH).value)

    check(f, np.array([0.7, 0.3, 1.2]))
    with pytest.raises(TypeError, match="operand type"):
        ad.gradient(f, np.array([-0.7, 0.3, 1.2]))
