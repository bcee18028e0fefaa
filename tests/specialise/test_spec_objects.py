"""Objects in specialised programs: made inside, read from outside; containers as arguments."""

from __future__ import annotations

import functools
import math

import pytest
from specialised_cases import check, check_all_ways, check_slopes, oracle

import autodiff_hook as ad


class Complex:
    """Numbers with operators, properties, class methods and static methods."""

    def __init__(self, re, im=0.0):
        self.re, self.im = re, im

    @classmethod
    def polar(cls, r, phi):
        return cls(r * math.cos(phi), r * math.sin(phi))

    @staticmethod
    def square(x):
        return x * x

    @property
    def size(self):
        return math.sqrt(self.square(self.re) + self.square(self.im))

    def __add__(self, other):
        return Complex(self.re + other.re, self.im + other.im)

    def __mul__(self, other):
        return Complex(self.re * other.re - self.im * other.im, self.re * other.im + self.im * other.re)

    def __rmul__(self, factor):
        return Complex(factor * self.re, factor * self.im)

    def __neg__(self):
        return Complex(-self.re, -self.im)

    def __call__(self, x):
        return self.re * x + self.im


class Shifted(Complex):
    def __init__(self, re, by):
        super().__init__(re + by, by)
        self.by = by

    @property
    def size(self):
        return self.re * self.by

    def __call__(self, x):
        return super().__call__(x) * 2


def test_constructors_operators_and_properties():
    check_slopes(lambda x, y: (Complex(x, y) * Complex(y)).size, 0.7, -1.3)
    check_slopes(lambda x, y: (2.0 * Complex(x, y) + -Complex(y, x)).size, 0.7, -1.3)
    check_slopes(lambda x, y: Complex.polar(x, y).im * Complex.square(y), 0.7, -1.3)
    check_slopes(lambda x, y: Complex(im=x, re=y)(y), 0.7, -1.3)


def test_inheritance():
    check_slopes(lambda x, y: Shifted(x, y).size + Shifted(y, x)(y), 0.7, -1.3)
    check_slopes(lambda x, y: Shifted(x, y).square(x) * (2.0 * Shifted(x, 3.0)).re, 0.7, -1.3)


def test_objects_made_in_a_loop():
    def f(x, y):
        s = 0.0
        for i in range(4):
            z = Complex(x * i, y)
            s = s + z.size * z(i) if i % 2 else s - (z * z).im
        return s

    check_slopes(f, 0.7, -1.3)


def test_an_object_that_is_carried_by_a_loop():
    def f(x, y):
        z = Complex(x, y)
        for _ in range(3):
            z = z * z
        return z.size

    check_slopes(f, 0.7, -0.3, specialised=None)


def test_objects_in_objects():
    def f(x, y):
        outer = Complex(Complex(x, y), Complex(y, x))
        return outer.re.size * outer.im.re

    check_slopes(f, 0.7, -1.3)


class Box:
    a = 1.0

    def __init__(self):
        pass


def assigned_twice(x):
    o = Box()
    o.a = x
    y = o.a * 2
    o.a = y * x
    return o.a * y


def assigned_once_and_read_before(x):
    o = Box()
    y = o.a * x
    o.a = x * x
    return y * o.a


def assigned_in_a_branch(x):
    o = Box()
    if x > 5:
        o.a = x
    return o.a * x


def assigned_in_a_loop(x):
    o = Box()
    s = 0.0
    for _ in range(2):
        s += o.a * x
        o.a = x
    return s


def test_attributes_that_are_assigned_twice_fall_back():
    check_slopes(assigned_twice, 2.0, specialised=None)
    check_slopes(assigned_once_and_read_before, 2.0, specialised=None)


@pytest.mark.parametrize("f", [assigned_in_a_branch, assigned_in_a_loop])
def test_attributes_that_are_assigned_sometimes(f):
    for x in (2.0, 7.0):
        check_slopes(f, x, specialised=None)


class Settings:
    """Attributes that are None for all objects, until one has its own."""

    scale = None

    def __init__(self, k):
        self.k = k


class Derived(Settings):
    offset = None


def attribute_of_the_class_that_is_none(x):
    made = Settings(x)
    try:
        scale = made.scale
    except AttributeError:
        return x * 5.0
    return made.k * 2.0 if scale is None else x


def inherited_attribute_that_is_none(x):
    made = Derived(x)
    return made.k * 3.0 if made.scale is None and made.offset is None else x


def attribute_that_is_none_until_it_is_assigned(x):
    made = Derived(x)
    made.scale = x * 2.0 if made.scale is None else x
    return made.scale * made.k


def attribute_that_is_none_on_some_ways(x):
    total = 0.0
    for i in range(4):
        made = Derived(x * i)
        if i % 2:
            made.offset = x
        if made.offset is not None:
            total += made.offset * made.k
    return total


OF_CLASSES = [
    *(attribute_of_the_class_that_is_none, inherited_attribute_that_is_none),
    *(attribute_that_is_none_until_it_is_assigned, attribute_that_is_none_on_some_ways),
]


@pytest.mark.parametrize("f", OF_CLASSES, ids=lambda f: f.__name__)
def test_attributes_of_classes_that_are_none(f, monkeypatch):
    check_slopes(f, 0.7)
    monkeypatch.setattr(Settings, "scale", 4.0)
    check_slopes(f, 0.7, specialised=None)


class Model:
    scale = 3.0

    def __init__(self):
        self.weights, self.table, self.inner = [1.0, 2.0], {"k": 4.0}, Complex(0.5, 0.25)
        self.bias = 0.5

    def run(self, x):
        return self.weights[1] * x * x + self.table["k"] * self.inner.size * x + self.bias * self.scale


def test_objects_from_outside_that_change_between_calls():
    model = Model()

    def f(x):
        return model.run(x) * model.bias

    def changed(**names):
        vars(model).update(names)

    check_slopes(f, 0.7)
    steps = [
        lambda: changed(bias=3),
        lambda: changed(bias=2.5),
        lambda: model.weights.__setitem__(1, 7.0),
        lambda: model.weights.__setitem__(1, 7),
        lambda: model.table.update(k=-1.0),
        lambda: changed(inner=Shifted(1.0, 2.0)),
        lambda: changed(weights=(3.0, 4.0)),
        lambda: changed(scale=9.0),
    ]
    for step in steps:
        step()
        check(f, 0.7, specialised=None)
    del model.table["k"]
    with pytest.raises(KeyError):
        ad.gradient(f, 0.7)


def test_attributes_that_the_path_does_not_read():
    class Lazy:
        count = 0

        @functools.cached_property
        def value(self):
            Lazy.count += 1
            return 3.0

    lazy = Lazy()

    def f(x):
        return lazy.value * x if x > 1 else x * 2

    assert ad.gradient(f, 0.5) == (2.0,)
    assert Lazy.count == 0


def test_containers_as_arguments():
    def f(p, q):
        return p["w"] * q[0] + p["b"] * q[1][1] ** q[1][0] + p["n"]["z"] * q[2]

    p = {"w": 2.5, "b": 3.0, "n": {"z": 2, "t": None}, "name": "x"}
    q = (0.5, (2, 3.0), 4.0, True, None, "s")
    grads = check(f, p, q, specialised=None)
    assert grads[0] == {"w": 0.5, "b": 9.0, "n": {"z": 4.0, "t": None}, "name": None}
    check(f, {**p, "b": 4}, q, specialised=None)
    check(f, dict(reversed(p.items())), q, specialised=None)


def test_lists_in_containers():
    def f(p, q):
        return p["w"][0] * p["w"][1] * q[0] + p["a"]["v"][0] * q[1][1] + p["a"]["v"][0] * q[1][2]

    check(f, {"w": [1.5, 2.5], "a": {"v": [2.0]}}, (0.5, [3.0, 4.0, 5.0]), specialised=None)


def test_lists_by_index():
    def f(xs, ys):
        s = xs[0]
        for i in range(len(ys)):
            if ys[i] > 0:
                s = s * xs[i - 1] + ys[-i]
        return s * xs[-1]

    check(f, [1.5, -2.5, 3.0], [1.0, -1.0, 2.0])
    check(f, [1.5, -2.5], [1.0, 2.0])
    check(f, [1, 2, 3], [3, 4], specialised=None)
    check(f, [1.5, 2], [3, 4.0], specialised=None)
    check(f, (1.5, -2.5, 3.0), (1.0, -1.0, 2.0), specialised=None)
    with pytest.raises(IndexError):
        ad.gradient(f, [1.5], [1.0, 2.0, 3.0])


def test_the_same_list_twice():
    def f(xs, ys):
        return xs[0] * ys[0] * ys[1]

    xs = [2.0, 3.0]
    check(f, xs, [2.0, 3.0])
    assert ad.gradient(f, xs, xs) == oracle(f, xs, xs)[1]
    check(f, [4.0, 3.0], xs)

    def g(d, ys):
        return d["x"][0] * ys[0] * ys[1]

    check(g, {"x": [2.0, 3.0]}, xs, specialised=None)
    assert ad.gradient(g, {"x": xs}, xs) == oracle(g, {"x": xs}, xs)[1]


SHARED = [2.0, 3.0]
TABLE = {"a": 2.0}


def test_an_argument_that_is_a_global_too():
    def f(xs):
        return xs[0] * SHARED[1]

    def g(table):
        return table["a"] * TABLE["a"]

    check(f, [2.0, 3.0])
    check(g, {"a": 3.0})
    for function, argument in ((f, SHARED), (g, TABLE)):
        with pytest.raises(ad.NotDifferentiable, match="another variable of the function"):
            ad.gradient(function, argument)


def test_arguments_that_have_no_part_in_the_value():
    def f(x, y):
        return x * 2

    for y in ([1.0, 2.0], {"a": (1.0, 2)}, (1, None, "x", True), 3, "s", None, [1, 2], (), {}):
        check(f, 1.5, y, specialised=None)


def test_lists_deep_in_arguments_that_have_no_part_in_the_value():
    def f(x, y):
        return x * 2

    check(f, 1.5, {"a": (1.0, [2, 3])}, specialised=None)


LINE = Complex(1.5, 0.5)
HELD = Complex(0.5, 2.0), 3.0


def in_a_tuple(x):
    pair = (LINE, x)
    return pair[0](x) * pair[1]


def unpacked_from_a_tuple(x):
    line, y = (LINE, x)
    return line(x) * y


def in_a_dict(x):
    return {"line": LINE}["line"](x)


def by_position(x):
    def called(*args):
        return args[0](x) * args[1]

    return called(LINE, x)


def beside_others(x):
    def called(x, line, factor):
        return line(x) * factor

    return called(*(x,), *HELD)


def in_one_of_two(x):
    pair = (LINE, 1.0) if x > 0 else (LINE, x)
    return pair[0](x) * pair[1]


def one_of_two(x):
    line = LINE if x > 0 else HELD[0]
    return line(x)


@pytest.mark.parametrize("f", [in_a_tuple, unpacked_from_a_tuple, in_a_dict, by_position, beside_others, in_one_of_two])
def test_objects_from_outside_in_containers_that_the_program_makes(f):
    check(f, 0.3)
    check(f, -0.3)


def test_one_of_two_objects_from_outside():
    check(one_of_two, 0.3, specialised=None)
    check(one_of_two, -0.3, specialised=None)


class Gauge:
    """What is assigned goes through a property; a method is bound to the class, or to nothing."""

    unit = 2.0

    def __init__(self, level):
        self.level = level

    @property
    def level(self):
        return self._level * self.unit

    @level.setter
    def level(self, value):
        self._level = value * value

    @classmethod
    def doubled(cls, x):
        return cls(x + x)

    @staticmethod
    def halved(x):
        return x / 2


class Library:
    """Names functions of another library."""

    root, made = staticmethod(math.sqrt), staticmethod(Complex)


LIBRARY = Library()


def by_static_methods(x):
    return Library().root(x) * Library.root(x + 1.0) * LIBRARY.root(x + 2.0) * LIBRARY.made(x, x).size


def test_static_methods_that_are_no_functions_of_python(monkeypatch):
    check_all_ways(by_static_methods, 2.0)
    monkeypatch.setattr(Library, "root", staticmethod(math.exp))
    check_all_ways(by_static_methods, 1.5)
    monkeypatch.setattr(LIBRARY, "root", math.log, raising=False)
    check_slopes(by_static_methods, 1.5)


class Series:
    def __init__(self, n):
        self.n, self.last = n, 0.0

    @classmethod
    def powers(cls, x, n):
        return [x ** (i + cls.lowest) for i in range(n)]

    lowest = 1

    def value(self, x):
        terms = self.powers(x, self.n)
        for i in range(1, self.n):
            terms[i] = terms[i] + terms[i - 1] * x
        self.last = terms[self.n - 1]
        return self.last * terms[0]


SERIES = Series(4)


def test_class_methods_that_are_called_by_an_object(monkeypatch):
    for f in (lambda x: SERIES.value(x), lambda x: Series(3).value(x)):
        check_all_ways(f, 0.7)
        monkeypatch.setattr(Series, "lowest", Series.lowest + 1)
        check_all_ways(f, 0.6)


class Scaled:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x):
        return self.factor * x


class Layer:
    """Its properties give what is called."""

    def __init__(self, factor):
        self.factor = factor

    @property
    def scaled(self):
        return Scaled(self.factor)

    @property
    def activation(self):
        return math.sin if self.factor > 1.0 else square

    @property
    def shifted(self):
        return lambda x, by=1.0: x * self.factor + by

    @functools.cached_property
    def kept(self):
        return Scaled(self.factor * 2.0)


def square(x):
    return x * x


LAYER = Layer(3.0)


def of_an_own_layer(x):
    layer = Layer(x)
    return layer.scaled(x) * layer.activation(x) + layer.shifted(x, by=x)


def of_a_global_layer(x):
    return LAYER.scaled(x) * LAYER.activation(x) + LAYER.shifted(x)


def of_what_is_kept(x):
    return LAYER.kept(x) * Layer(x).kept(x)


def test_properties_whose_value_is_called(monkeypatch):
    for factor in (3.0, 0.5):
        monkeypatch.setattr(LAYER, "factor", factor)
        for x in (0.7, 1.2):
            check_slopes(of_an_own_layer, x)
            check_slopes(of_a_global_layer, x)
            check_slopes(of_what_is_kept, x, specialised=None)
            (given, found), expected = (
                ad.gradient(of_a_given_layer, Layer(factor), x),
                2 * factor * x * LAYER.shifted(x),
            )
            assert found == pytest.approx(expected + factor * factor * x * x)
            assert given.factor == pytest.approx(x * x * LAYER.shifted(x) + factor * x * x * x)


def of_a_given_layer(layer, x):
    return layer.scaled(x) * layer.shifted(x) * x


def set_by_property(x):
    gauge = Gauge(x)
    gauge.level = gauge.level * x
    return gauge.level


def set_by_property_of_many(x):
    gauges = [Gauge(x + i) for i in range(3)]
    for gauge in gauges:
        gauge.level = gauge.level * x
    return sum([gauge.level for gauge in gauges])


def bound_methods(x):
    gauge = Gauge(x)
    halved, doubled = gauge.halved, gauge.doubled
    return halved(doubled(x).level) + gauge.doubled(x).halved(x)


@pytest.mark.parametrize("f", [set_by_property, set_by_property_of_many, bound_methods])
def test_properties_are_set_and_methods_bound_by_their_class(f):
    check_slopes(f, 1.3)


def read_set_of_items(xs, x):
    wanted, total = set([1, 2, 7]), 0.0
    for i in range(len(xs)):
        if i in wanted:
            total = total + xs[i] * x
    return total


def test_a_set_made_of_items_is_followed():
    check(read_set_of_items, [0.5, 1.5, 2.5, 3.5], 2.0)
