"""``array.array``: items with derivatives, and the memory that others look into."""

import array
import copy
import math
import pickle
import statistics
import struct

import numpy as np
import pytest
from language.in_all_modes import MODES, differences

import autodiff_hook as ad


def stores_and_reads(x):
    a = array.array("d", [0.0] * 3)
    a[0] = x
    a[1] += a[0] * x
    a[-1] = a[0] * a[1]
    return sum(a) * a[2]


def items_put_in_and_taken_out(x):
    a = array.array("d")
    a.append(x)
    a.extend([x * x, 2 * x])
    a.extend(v * x for v in (1.0, x))
    a.extend(array.array("d", (x,)))
    a.insert(1, x**3)
    a.fromlist([x])
    a.remove(a[2])
    last = a.pop()
    del a[0]
    return sum(i * v for i, v in enumerate(a)) * last * a.pop(1)


def slices(x):
    a = array.array("d", [x, 2.0, x * x, 3.0])
    a[::2] = array.array("d", [x * x, x])
    a[1:1] = a[:1]
    del a[-2:]
    return sum((i + 1) * v for i, v in enumerate(a[::-1]))


def joined_and_repeated(x):
    a = array.array("d", [x, 2.0])
    a += a
    a *= 2
    b = a + a[:1] * 2 + 2 * a[1:2]
    b.reverse()
    return sum(i * v for i, v in enumerate(b))


def iterated(x):
    a = array.array("d", [x, 2.0, x * x])
    first, *rest = a
    total = first * math.prod(rest) + math.hypot(*a) + max(a) * min(a)
    for v, w in zip(a, reversed(a)):
        total += v * w
    return total + sum(map(math.sin, sorted(a))) + math.fsum(a) * a.tolist()[2] * list(a)[0] * next(iter(a))


def changed_while_it_is_iterated(x):
    a, total = array.array("d", [1.0, 2.0, 3.0]), 0.0
    for i, v in enumerate(a):
        total += v * v
        if i < 2:
            a[i + 1] = x * v
    return total


def begun_before_a_store(x):
    a = array.array("d", [1.0])
    iterator = iter(a)
    a[0] = x
    return next(iterator) * x


def copies(x):
    a = array.array("d", [x, 2.0])
    b, c, d = copy.copy(a), copy.deepcopy({"k": a}), array.array("d", a)
    a[0] = 1.0
    return b[0] * c["k"][0] * d[0] * a[0]


def questions(x):
    a = array.array("d", [x, 2.0])
    asked = len(a) + a.index(2.0) + a.count(x) + (x in a) + (a == a[:]) + a.itemsize
    return asked * a[0] if a.typecode == "d" else 0.0


def to_numpy(x):
    a = array.array("d", [x, x * x])
    return float((np.array(a) ** 2).sum())


def statistics_of_it(x):
    a = array.array("d", [x, 2.0, x * x])
    return statistics.mean(a) * statistics.stdev(a) + statistics.fmean(a) + statistics.median(a)


def in_an_object(x):
    class Holder:
        def __init__(self):
            self.values = array.array("d", [0.0] * 3)

    holder = Holder()
    for i in range(3):
        holder.values[i] = x * i
    holder.values[1] += x * x
    return sum(v * v for v in holder.values)


def half_extended(x):
    a = array.array("d", [x])
    try:
        a.extend([x * x, "no number"])
    except TypeError:
        a.append(x)
    return a[1] * a[2]


def whole_numbers(x):
    a = array.array("i", [1, 2])
    a[0] += 5
    return a[0] * x + sum(a) * x * x


def shown_constants(x):
    a = array.array("d", [1.0, 2.0])
    shown = np.frombuffer(a)
    return float(shown[0]) * x + a[1] * x * x


RIGHT = [
    *(
        stores_and_reads,
        items_put_in_and_taken_out,
        slices,
        joined_and_repeated,
        iterated,
        changed_while_it_is_iterated,
    ),
    *(begun_before_a_store, copies, questions, to_numpy, statistics_of_it, in_an_object, half_extended, whole_numbers),
    shown_constants,
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("f", RIGHT)
def test_programs(f, mode):
    expected = differences(f, 0.7, 2 if mode == "hvp" else 1)
    assert MODES[mode](f, 0.7) == pytest.approx(expected, rel=1e-6, abs=1e-4 if mode == "hvp" else 1e-8)


def shown_by_numpy(x):
    return float(np.asarray(array.array("d", [x]))[0])


def shown_by_a_memoryview(x):
    return memoryview(array.array("d", [x]))[0] * x


def shown_then_stored(x):
    a = array.array("d", [1.0, 2.0])
    shown = np.frombuffer(a)
    a[0] = x
    return float(shown[0]) * x


def shown_then_a_constant_is_stored(x):
    a = array.array("d", [x, x])
    shown = np.asarray(a)
    shown[0] = 5.0
    return a[0] * x


def stored_where_it_is_shown(x):
    a = array.array("d", [1.0, 2.0])
    np.frombuffer(a)[0] = x
    return a[0] * x


def stored_through_a_memoryview(x):
    a = array.array("d", [1.0, 2.0])
    memoryview(a)[0] = x
    return a[0] * x


def packed_into(x):
    a = array.array("d", [x, x])
    struct.pack_into("d", a, 0, 2.0)
    return a[0] * x


def through_bytes(x):
    return array.array("d", array.array("d", [x]).tobytes())[0]


def from_bytes(x):
    a = array.array("d", [x])
    a.frombytes(array.array("d", [1.0]).tobytes())
    return a[0] * x


def through_pickle(x):
    return pickle.loads(pickle.dumps(array.array("d", [x])))[0]


REFUSED = [
    *(shown_by_numpy, shown_by_a_memoryview, shown_then_stored, shown_then_a_constant_is_stored),
    *(stored_where_it_is_shown, stored_through_a_memoryview, packed_into, through_bytes, from_bytes, through_pickle),
]


def test_the_error_names_what_helps():
    with pytest.raises(ad.NotDifferentiable, match="numpy.asarray.*give it a copy: list, np.array"):
        ad.gradient(shown_by_numpy, 0.7)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("f", REFUSED)
def test_what_loses_the_derivative_is_an_error(f, mode):
    with pytest.raises(ad.NotDifferentiable):
        MODES[mode](f, 0.7)


def test_as_an_argument():
    a = array.array("d", [0.5, 2.0])
    assert ad.gradient(lambda a, x: a[0] * a[1] * x, a, 3.0) == ([6.0, 1.5], 1.0)
    assert ad.jvp(lambda a: a[0] * a[1], (a,), ([1.0, 2.0],)) == (1.0, 3.0)
    assert list(a) == [0.5, 2.0]


def test_single_precision_does_not_count():
    def f(x):
        a = array.array("f", [0.0])
        a[0] = x
        return a[0] * a[0]

    assert ad.gradient(f, 0.7) == pytest.approx((1.4,), rel=1e-6)


def test_a_method_that_was_taken_before():
    def f(x):
        a = array.array("d")
        put = a.extend
        put([x, x * x])
        return a[0] * a[1]

    assert ad.gradient(f, 2.0) == (12.0,)
