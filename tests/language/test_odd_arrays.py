"""Arrays of records and of objects, masked arrays, subclasses, and ``super()`` of values: right, or an error."""

from __future__ import annotations

import mmap
import tempfile

import numpy as np
import pytest

from autodiff_hook import AutodiffError, gradient, jvp, pullback
from autodiff_hook.testing import check_gradient

PAIR = [("a", float), ("b", float)]
ONE = [("a", float)]
X = 1.3


class Value:
    def __init__(self, v):
        self.v = v

    def __add__(self, other):
        return Value(self.v + other.v)

    def __mul__(self, other):
        return Value(self.v * other)


class Tagged(np.ndarray):
    def __new__(cls, values, tag=None):
        made = np.asarray(values).view(cls)
        made.tag = tag
        return made

    def __array_finalize__(self, source):
        self.tag = getattr(source, "tag", None)


class Averaging(np.ndarray):
    def mean(self):
        return super().mean() * 2.0

    def twice(self):
        return super(Averaging, self).sum() * 2.0


class Scaled(np.ndarray):
    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return getattr(ufunc, method)(*map(np.asarray, inputs), **options) * 3.0


class Length(float):
    def __add__(self, other):
        return Length(super().__add__(other))

    def __mul__(self, other):
        return Length(super(Length, self).__mul__(other))


class Doubling(tuple):
    def __getitem__(self, index):
        return super().__getitem__(index) * 2


def of_records(x):
    o = np.zeros(3, ONE)
    o["a"] = x
    return o["a"].sum()


def of_records_by_field(x):
    o = np.zeros(3, PAIR)
    o["a"][0] = x
    return o["a"].sum()


def of_records_by_a_field_alone(x):
    o = np.zeros(3, ONE)
    o["a"][0] = x
    return o["a"].sum()


def of_records_by_record(x):
    o = np.zeros(3, PAIR)
    o[0]["a"] = x
    return o["a"].sum()


def of_records_by_tuple(x):
    o = np.zeros(3, PAIR)
    o[0] = (x, 1.0)
    return o["a"].sum()


def of_records_made(x):
    return float(np.array([(x, 2.0)], dtype=PAIR)["a"][0] * x)


def of_a_record_made(x):
    return np.array([(x, 2.0)], dtype=PAIR)[0]["a"] * x


def of_records_in_a_loop(x):
    return sum(row["a"] for row in np.array([(x, 2.0)], dtype=PAIR))


def of_records_as_attributes(x):
    o = np.zeros(2, PAIR).view(np.recarray)
    o.a[0] = x
    return o.a.sum()


def of_records_as_numbers(x):
    o = np.zeros(2, ONE)
    v = o.view(float)
    v[0] = x
    return o["a"][0] + o[0]["a"] + o.tolist()[0][0]


def of_objects_stored(x):
    o = np.zeros(2, object)
    o[0] = x
    return o[0]


def of_objects_filled(x):
    o = np.empty(2, object)
    o[:] = [x, 1.0]
    return o[0]


def of_objects_made(x):
    o = np.array([x, 1.0], object)
    return o[0] * o[1]


def of_objects_in_a_loop(x):
    return sum(v for v in np.array([x, 1.0], object))


def of_objects_summed(x):
    o = np.array([x, 1.0], object)
    return np.sum(o * o)


def of_objects_with_methods(x):
    o = np.array([Value(x), Value(2 * x)])
    return (o[0] + o[1]).v


def of_objects_with_methods_summed(x):
    return np.array([Value(x), Value(2 * x)]).sum().v


def of_objects_with_methods_added(x):
    return np.add.reduce([Value(x), Value(2 * x)]).v + np.sum([Value(x)]).v


def of_objects_with_methods_multiplied(x):
    return np.dot([Value(x)], [2.0]).v


def of_lists(x):
    return np.asarray([[x], [1.0, 2.0]], dtype=object)[0][0]


def masked_mean(x):
    return np.ma.mean(np.ma.array([x, 2.0])) * 1.0


def masked_sum(x):
    return np.ma.array([x, 2.0], mask=[0, 1]).sum()


def masked_store(x):
    m = np.ma.array([1.0, 2.0], mask=[0, 1])
    m[0] = x
    return m.sum()


def masked_product(x):
    m = np.ma.array([x, 2.0], mask=[0, 1])
    return (m * m).filled(0.0).sum()


def masked_by_condition(x):
    return np.ma.masked_where([True, False], np.array([x, 2 * x])).mean()


def masked_average(x):
    return np.ma.average(np.array([x, 2.0])) + np.ma.median(np.array([x, 2.0]))


def masked_augmented(x):
    m = np.ma.zeros(2)
    m += x
    return m.data[0]


def subclass_with_its_tag(x):
    a = Tagged([x, 1.0], tag=x)
    return (a * a).sum() * a.tag


def subclass_with_a_tag_that_numpy_copies(x):
    a = Tagged(np.ones(2), tag=x)
    return (a * 2.0).tag * a[1:].tag * a.copy().tag * x


def subclass_that_calls_super(x):
    return np.array([x, 1.0]).view(Averaging).mean()


def subclass_that_calls_super_by_name(x):
    return np.array([x, 1.0]).view(Averaging).twice()


def subclass_with_arithmetic(x):
    return np.asarray(np.array([x, 1.0]).view(Scaled) + 1.0).sum()


def subclass_written_to(x):
    a = np.zeros(2).view(Tagged)
    a[0] = x
    a *= x
    return a.sum()


def subclass_in_a_list(x):
    xs = [np.array([x, 1.0]).view(Tagged)]
    xs[0][1] = x
    return np.sum(xs[0]) + np.sin(xs[0]).sum()


def subclass_matrix(x):
    m = np.matrix([[x, 1.0], [2.0, 3.0]])
    return (m * m)[0, 0]


def subclass_of_float(x):
    return Length(x) * x + x


def subclass_of_tuple(x):
    return Doubling((x, 1.0))[0]


PROGRAMS = [
    value
    for name, value in sorted(globals().items())
    if name.startswith(("of_", "masked_", "subclass_")) and callable(value)
]


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_right_or_an_error(f):
    h = 1e-6
    expected = (float(f(X + h)) - float(f(X - h))) / (2 * h)
    for differentiate in (
        lambda: gradient(f, X)[0],
        lambda: pullback(f, X)[1](1.0)[0],
        lambda: jvp(f, (X,), (1.0,))[1],
    ):
        try:
            found = differentiate()
        except AutodiffError:
            continue
        assert found == pytest.approx(expected, rel=1e-5)


RIGHT = (
    *(of_records_by_a_field_alone, of_objects_summed, of_objects_with_methods, subclass_with_its_tag),
    *(subclass_that_calls_super_by_name, subclass_in_a_list, subclass_of_float, subclass_of_tuple),
)


@pytest.mark.parametrize("f", RIGHT, ids=lambda f: f.__name__)
def test_right(f):
    check_gradient(f, X)


def mapped(*values):
    with tempfile.TemporaryFile() as file:
        made = np.memmap(file, dtype=float, mode="w+", shape=(len(values),))
    made[:] = values
    return made


@pytest.mark.parametrize(
    "make", [mapped, lambda *v: np.array(v).view(Tagged), lambda *v: np.array(v).view(np.recarray)]
)
def test_subclasses_as_arguments(make):
    assert gradient(lambda a: (a * a).sum(), make(1.0, 2.0))[0].tolist() == [2.0, 4.0]
    assert gradient(lambda a: (np.asarray(a) ** 2).sum(), make(1.0, 2.0))[0].tolist() == [2.0, 4.0]
    assert gradient(lambda xs: (xs[0] * xs[0]).sum(), [make(1.0, 2.0)])[0][0].tolist() == [2.0, 4.0]
    assert gradient(lambda p: np.sum(p["a"][1:] ** 2), {"a": make(1.0, 2.0)})[0]["a"].tolist() == [0.0, 4.0]


def test_memory_that_is_closed():
    shown = []

    def f(x):
        with mmap.mmap(-1, 16) as memory:
            a = np.ndarray(2, buffer=memory)
            a[:] = [x, 2.0 * x]
            shown.append(memory)
            return float((a * a).sum())

    assert jvp(f, (2.0,), (1.0,)) == (20.0, 20.0)
    for operator in (gradient, pullback):
        with pytest.raises(AutodiffError, match="was closed"):
            operator(f, 2.0)
    assert all(memory.closed for memory in shown)


class Column:
    """What NumPy can make an array of, and what has methods of its own that NumPy's functions ask first."""

    def __init__(self, values):
        self.values = values

    def __len__(self):
        return len(self.values)

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values, dtype)

    def cumsum(self, axis=None, dtype=None, out=None):
        return Column(2.0 * np.cumsum(self.values))

    def clip(self, a_min, a_max, out=None):
        return Column(np.clip(self.values, a_min, a_max))

    def sum(self, axis=None, dtype=None, out=None):
        return {"all": 3.0 * np.sum(self.values)}

    def mean(self, axis=None, dtype=None, out=None):
        return {"all": 5.0 * np.mean(self.values)}

    def take(self, indices):
        return self.values


HANDED_ON = {
    "cumsum": lambda column: np.cumsum(column).values[-1],
    "clip": lambda column: np.clip(column, 0.5, 1.5).values[0],
    "sum": lambda column: np.sum(column)["all"],
    "mean": lambda column: np.mean(column)["all"],
    "what the method refuses": lambda column: np.take(column, [1])[0],
    "no method": lambda column: np.cumprod(column)[-1],
}


@pytest.mark.parametrize("name", HANDED_ON)
def test_functions_that_ask_objects_for_methods(name):
    ask = HANDED_ON[name]

    def f(x):
        return ask(Column(np.array([x * x, 3.0 * x])) if name != "clip" else Column(np.array([x, 3.0])))

    check_gradient(f, X)


def test_functions_that_ask_objects_of_others_for_methods():
    names = {"__name__": "somewhere_else", "np": np}
    exec("class Sums:\n    def __init__(self, x): self.x = x\n    def __len__(self): return 2\n"
         "    def __array__(self, dtype=None, copy=None): return np.array([self.x, 1.0])\n"
         "    def sum(self, **options): return {'first': self.x}\n", names)  # fmt: skip

    def f(x):
        found = np.sum(names["Sums"](x * x))
        return x if "first" in found else x * x

    assert gradient(f, X) == (1.0,)
