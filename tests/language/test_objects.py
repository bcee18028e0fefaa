"""Gradients with respect to objects, and the types that differentiated code sees."""

from __future__ import annotations

import collections
import copy
import dataclasses
import types

import numpy as np
import pytest
from in_all_modes import MODES, differences

from autodiff_hook import Tangent, gradient, pullback
from autodiff_hook.api import generic_gradient


class Line:
    def __init__(self, slope, offset, name="line"):
        self.slope, self.offset, self.name = slope, offset, name

    def __call__(self, x):
        return self.slope * x + self.offset


def both_modes(f, *args):
    """The gradients, which ``pullback`` gives too, and thrice for thrice the cotangent."""
    grads = gradient(f, *copy.deepcopy(args))
    _, back = pullback(f, *copy.deepcopy(args))
    assert repr(back(1.0)) == repr(grads)
    return grads


def test_an_object():
    line, x̄ = both_modes(lambda line, x: line(x) ** 2, Line(2.0, 1.0), 3.0)
    assert isinstance(line, Tangent)
    assert (line.slope, line.offset, line.name, x̄) == (42.0, 14.0, None, 28.0)
    assert line["slope"] == 42.0 and list(line) == ["slope", "offset", "name"] and "slope" in line


def test_an_attribute_that_was_not_reached_is_a_zero():
    (line,) = both_modes(lambda line: line.slope * 2, Line(np.array([1.0, 2.0]).sum(), [1.0, {"a": np.ones(2)}]))
    assert line.slope == 2.0
    assert line.offset[0] == 0.0 and line.offset[1]["a"].tolist() == [0.0, 0.0]


def test_an_unknown_attribute():
    (line,) = both_modes(lambda line: line.slope, Line(1.0, 2.0))
    with pytest.raises(AttributeError, match="'nonsense'"):
        line.nonsense  # noqa: B018


def test_attributes_that_are_rebound():
    """The gradient is with respect to the object as it was passed in."""

    def f(line, x):
        line.slope = line.slope * x
        line.offset = 5.0
        line.extra = line.slope
        return line.slope * line.extra + line.offset

    line, x̄ = both_modes(f, Line(2.0, 1.0), 3.0)
    assert (line.slope, line.offset, x̄) == (2 * 6.0 * 3.0, 0.0, 2 * 6.0 * 2.0)
    assert "extra" not in line


def test_containers_that_are_mutated():
    def f(line):
        line.slope.append(line.slope[0] * 3)
        line.slope[0] = 100.0
        line.offset["a"], line.offset["b"] = line.offset["b"], line.slope[2]
        return line.slope[1] * line.offset["a"] + line.offset["b"]

    (line,) = both_modes(f, Line([1.0, 2.0], {"a": 3.0, "b": 4.0}))
    assert line.slope == [3.0, 4.0] and line.offset == {"a": 0.0, "b": 2.0}


def test_nested_objects_lists_of_objects_and_cycles():
    a = Line(2.0, None)
    b = Line(3.0, a)
    a.offset = b
    ā, items = both_modes(lambda a, items: a.slope * a.offset.slope * items[0].slope, a, [Line(4.0, 0.0)])
    assert (ā.slope, ā.offset.slope, items[0].slope) == (12.0, 8.0, 6.0)
    assert ā.offset.offset is ā


def test_the_same_object_twice():
    line = Line(2.0, 1.0)
    first, second = gradient(lambda a, b: a.slope * b.slope + b.offset, line, line)
    assert first.slope == second.slope == 4.0 and second.offset == 1.0
    g, h = gradient(lambda a, b: a[0] * b.slope, [2.0], Line(3.0, [1.0]))
    assert g == [3.0] and h.slope == 2.0


def test_dataclasses_slots_and_named_tuples():
    @dataclasses.dataclass(frozen=True)
    class Frozen:
        a: float
        b: tuple

    @dataclasses.dataclass(slots=True)
    class Slotted:
        a: float
        b: list

    Row = collections.namedtuple("Row", "a b")
    frozen, slotted, row = both_modes(
        lambda f, s, r: f.a * f.b[1] + s.a * s.b[0] + r.a * r[1],
        Frozen(2.0, (0.0, 3.0)),
        Slotted(4.0, [5.0]),
        Row(6.0, 7.0),
    )
    assert (frozen.a, frozen.b) == (3.0, (0.0, 2.0))
    assert (slotted.a, slotted.b) == (5.0, [4.0])
    assert row == Row(7.0, 6.0) and type(row) is Row


def test_simple_namespaces_and_class_attributes():
    class Model:
        scale = 10.0

        def __init__(self):
            self.w = np.array([1.0, 2.0])

    n, m = both_modes(
        lambda n, m: n.a * m.w.sum() * m.scale, types.SimpleNamespace(a=2.0, deep=types.SimpleNamespace(b=1.0)), Model()
    )
    assert n.a == 30.0 and n.deep.b == 0.0
    assert m.w.tolist() == [20.0, 20.0] and list(m) == ["w"]


def test_a_method_as_the_function():
    assert gradient(Line(2.0, 1.0), 3.0) == (2.0,)
    assert gradient(Line(2.0, 1.0).__call__, 3.0) == (2.0,)
    line, x̄ = gradient(Line.__call__, Line(2.0, 1.0), 3.0)
    assert (line.slope, line.offset, x̄) == (3.0, 1.0, 2.0)


def test_the_object_that_is_returned():
    value, back = pullback(lambda x: Line(x * x, [x, 1.0]), 3.0)
    assert isinstance(value, Line)
    assert back({"slope": 1.0}) == (6.0,)
    assert back({"slope": 1.0, "offset": [10.0, None]}) == (16.0,)
    assert back(Tangent("Line", {"slope": 2.0})) == (12.0,)
    assert back(None) == (0.0,)


def test_values_have_their_real_types():
    seen = []

    def f(x, n, a, xs, d, line):
        seen.extend(map(type, (x, n, a, xs, d, line, x * x, a * x, a[0], xs[0] * x, [x], (x,), {"x": x})))
        assert isinstance(x, float) and type(n) is int and isinstance(a, np.ndarray) and type(line) is Line
        assert isinstance(xs, list) and isinstance(d, dict) and repr(x) == "1.5" and f"{x:.1f}" == "1.5"
        assert n == 2 and range(5)[n] == 2 and [1, 2, 3][n] == 3 and "ab" * n == "abab"
        return x * x

    gradient(f, 1.5, 2, np.ones(2), [1.0], {"a": 1.0}, Line(1.0, 2.0))
    assert seen == [float, int, np.ndarray, list, dict, Line, float, np.ndarray, np.float64, float, list, tuple, dict]


def test_the_example_that_tracing_gets_wrong():
    assert gradient(lambda x: x * x if isinstance(x, float) else x, 0.7) == (1.4,)


def test_integers_index_count_and_repeat():
    def f(x, n):
        total = 0.0
        for i in range(n):
            total += [x, 2 * x][i % 2] * len("a" * n) + x * (n - i)
        return total + x * round(x) + x ** int(x) + divmod(7, n)[0] * x

    x̄, n̄ = gradient(f, 2.0, 3)
    assert x̄ == 3 + 3 * 2 + 3 + 3 + 2 + 1 + 2 + 2 * 2 + 2
    assert isinstance(n̄, float)


def test_text_of_a_number_is_a_constant():
    def f(x):
        text = f"{x!r:>10}|{x:.3e}|{'a' if x > 0 else 'b'}" + str(x) + "%g" % x + "{:d}".format(3) + repr([x])
        return x * len(text)

    x = 1.5
    assert gradient(f, x)[0] == f(1.0 * x) / x


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a, b):
        self.a, self.b = a, b

    @property
    def __dict__(self):
        return {"a": self.a, "b": self.b, "more": 1.0}


def test_slots_of_a_class_that_makes_up_its_dict():
    def f(x, y):
        held = Slotted(x, y)
        held.a = held.a * held.b
        setattr(held, "b", held.a + x)
        return held.a * getattr(held, "b") + vars(held)["a"] * 0.0

    for operator in (gradient, generic_gradient):
        np.testing.assert_allclose(operator(f, 2.0, 3.0), (2 * 2.0 * 9.0 + 2 * 2.0 * 3.0, 2 * 4.0 * 3.0 + 4.0))
    assert gradient(lambda held, x: held.a * x, Slotted(2.0, 3.0), 5.0)[1] == 2.0


class Registered(type):
    made = 0

    def __call__(cls, *args):
        Registered.made += 1
        return super().__call__(*args)


class Filled(metaclass=Registered):
    def __init__(self, values):
        self.values = values
        self.__dict__["doubled"] = values * 2.0


def test_objects_of_a_class_whose_metaclass_is_of_python_hide_nothing():
    def f(x):
        values = np.zeros(2)
        values[0] = x
        held = Filled(values)
        values[1] = x * x
        return (held.doubled**2).sum() + held.__dict__["values"].sum()

    for operator in (gradient, generic_gradient):
        np.testing.assert_allclose(operator(f, 3.0), (8.0 * 3.0 + 1.0 + 2 * 3.0,))


class Shown:
    """An object whose attributes are its own, and what it shows something else."""

    def __init__(self, k):
        self.k = k
        self.held = [k, 2.0 * k]

    @property
    def __dict__(self):
        return {"k": 1.0, "more": self.held[0]}


class Kept:
    """An object that keeps its attributes in a dict of its own, and shows that."""

    __slots__ = ("kept",)

    def __init__(self, **kept):
        self.kept = kept

    def __getattr__(self, name):
        return self.kept[name]

    @property
    def __dict__(self):
        return self.kept


@pytest.mark.parametrize("mode", MODES)
def test_attributes_beside_a_dict_that_a_class_makes_up(mode):
    def f(x):
        shown = Shown(x)
        shown.k = shown.k * x
        setattr(shown, "z", shown.k)
        del shown.k
        return shown.z * shown.held[1] * vars(shown)["more"] if not hasattr(shown, "k") else x

    for x in (0.7, 1.3):
        assert MODES[mode](f, x) == pytest.approx(differences(f, x, 2 if mode == "hvp" else 1), rel=1e-6)


@pytest.mark.parametrize("mode", MODES)
def test_attributes_in_a_dict_that_a_class_shows(mode):
    def f(x):
        held = Kept(a=x, b=[x, 2.0])
        held.kept["c"] = held.a * held.b[0]
        vars(held).update(d=held.c * x)
        held.__dict__["a"] = held.d * held.a
        return held.a * held.b[1] + sum(v for v in vars(held).values() if isinstance(v, float))

    for x in (0.7, 1.3):
        assert MODES[mode](f, x) == pytest.approx(differences(f, x, 2 if mode == "hvp" else 1), rel=1e-6)


class Beside:
    """An object with a slot and a dict, in which the same name may stand."""

    __slots__ = ("__dict__", "v")


@pytest.mark.parametrize("mode", MODES)
def test_a_slot_comes_before_an_item_of_the_dict_of_this_name(mode):
    def f(x):
        beside = Beside()
        beside.__dict__["v"] = x * x
        known = hasattr(beside, "v")
        beside.v = x
        vars(beside)["v"] *= x
        beside.v += beside.__dict__["v"] * x
        return beside.v * beside.__dict__["v"] * len(vars(beside)) * (1.0 if known else 2.0)

    assert MODES[mode](f, 1.3) == pytest.approx(differences(f, 1.3, 2 if mode == "hvp" else 1), rel=1e-6)


class ItsOwnDict(dict):
    def __init__(self, **items):
        super().__init__(**items)
        self.__dict__ = self


KNOWN = ItsOwnDict(w=2.0)


@pytest.mark.parametrize("mode", MODES)
def test_items_of_what_is_its_own_dict_are_its_attributes(mode):
    def f(x, known=KNOWN):
        known.w = x * x
        known["w"] *= known.w
        return known.w * x

    assert MODES[mode](f, 1.3) == pytest.approx(differences(f, 1.3, 2 if mode == "hvp" else 1), rel=1e-6)


def test_gradients_by_what_is_its_own_dict():
    def f(known):
        known.w = known.w * known.v
        return known["w"] * known.v

    for operator in (gradient, generic_gradient):
        assert operator(f, ItsOwnDict(w=2.0, v=3.0)) == ({"w": 9.0, "v": 12.0},)


def test_gradients_of_what_is_behind_a_dict_that_a_class_makes_up():
    def of_shown(o):
        o.z = o.k * o.held[0]
        return o.z * o.held[1]

    def of_kept(o):
        o.__dict__["z"] = o.a * o.b[0]
        return o.z * o.a

    for operator in (gradient, generic_gradient):
        (found,) = operator(of_shown, Shown(2.0))
        assert (found.k, found.held) == (8.0, [8.0, 4.0])
        (found,) = operator(of_kept, Kept(a=2.0, b=[3.0]))
        assert (found.kept["a"], found.kept["b"]) == (12.0, [4.0])


def of_a_deep_copy(x):
    line = Line(x, np.array([1.0, 2.0]))
    other = copy.deepcopy(line)
    other.offset[0] = line.slope
    other.gain = other.offset[0]
    other.slope += copy.deepcopy(other).gain
    return other(x)[0] * x + copy.deepcopy({"line": other, "a": line.offset})["line"].slope


@pytest.mark.parametrize("mode", MODES)
def test_a_deep_copy_of_what_holds_arrays_and_numbers_of_them(mode):
    order = 2 if mode == "hvp" else 1
    assert MODES[mode](of_a_deep_copy, 1.3) == pytest.approx(differences(of_a_deep_copy, 1.3, order), rel=1e-5)
    assert generic_gradient(of_a_deep_copy, 1.3) == pytest.approx((differences(of_a_deep_copy, 1.3, 1),))
