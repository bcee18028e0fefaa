"""Lists, tuples and objects among the arguments that are used whole, beside what is no source of derivatives."""

from __future__ import annotations

import math
import tempfile

import numpy as np
import pytest
from specialised_cases import is_specialised

import autodiff_hook as ad


class Holder:
    def __init__(self, k, **others):
        self.k = k
        self.__dict__.update(others)


class Sub(np.ndarray):
    pass


def mapped(*values):
    with tempfile.TemporaryFile() as file:
        found = np.memmap(file, dtype=float, mode="w+", shape=(len(values),))
    found[:] = values
    return found


def array(*values):
    return np.array(values, float)


def stored(xs, o):
    xs[0] = [o.k, o.k * 2]
    xs[1].append(o.k)
    return sum(xs[0]) * sum(xs[1])


WHOLE = {
    "a list, beside an object": (lambda xs, o: sum(xs) + o.k, lambda: ([0.1, 0.2], Holder(0.3)), [[1, 1], 1]),
    "beside a bare object": (lambda xs, o: sum(xs) * 2, lambda: ([0.1, 0.2], object()), [[2, 2], None]),
    "beside a set": (
        lambda m, s: np.array(m).sum(),
        lambda: ([[0.1, 0.2], [0.3, 0.4]], {1, 2}),
        [[[1, 1], [1, 1]], None],
    ),
    "beside a generator": (
        lambda xs, rng: sum(xs) * 2,
        lambda: ([0.1, 0.2], np.random.default_rng(0)),
        [[2, 2], None],
    ),
    "a tuple": (lambda xs, o: math.prod(xs) * 10, lambda: ((0.1, 0.2), Holder(0.3)), [[2, 1], 0]),
    "arrays": (
        lambda xs, o: np.concatenate(xs).sum(),
        lambda: ([array(1, 2), array(3)], Holder(0.3)),
        [[[1, 1], [1]], 0],
    ),
    "by an attribute": (lambda xs, o: o.f(xs), lambda: ([0.1, 0.2], Holder(0.3, f=sum)), [[1, 1], 0]),
    "an attribute": (lambda o: np.concatenate(o.k).sum(), lambda: (Holder([array(1, 2), array(3)]),), [[[1, 1], [1]]]),
    "of a tuple": (lambda o: np.array(o.k[1]).prod(), lambda: (Holder((object(), [0.5, 2.0])),), [[None, [2, 0.5]]]),
    "of lists in tuples": (
        lambda o: np.array(o.k[0]) @ np.array(o.k[1][0]),
        lambda: (Holder(([1.0, 2.0], ([3.0, 4.0],))),),
        [[[3, 4], [[1, 2]]]],
    ),
    "in what is built": (
        lambda xs, o: np.stack([xs, [o.k, 1.0]]).sum(),
        lambda: ([0.1, 0.2], Holder(0.3)),
        [[1, 1], 1],
    ),
    "a dict": (
        lambda d, o: sum(d.values()) * o.k,
        lambda: ({"a": 1.0, "b": 2.0}, Holder(0.5)),
        [[0.5, 0.5], 3],
    ),
    "after stores": (stored, lambda: ([[0.1, 0.2], [0.3, 0.4]], Holder(0.5)), [[[0, 0], [1.5, 1.5]], 5.1]),
}


@pytest.mark.parametrize("name", WHOLE)
def test_what_is_used_whole_has_its_gradient(name):
    f, make, expected = WHOLE[name]
    for _ in range(4):
        assert_close(numbers(ad.gradient(f, *make())), expected)
    assert is_specialised(f)


SUBCLASSES = {
    "asarray": (lambda a: (np.asarray(a) ** 2).sum(), lambda: (array(1, 2, 3).view(Sub),)),
    "a product": (lambda a: (a * a).sum(), lambda: (mapped(1, 2, 3),)),
    "a function": (lambda a: np.sum(np.sin(a)), lambda: (mapped(1, 2),)),
    "in a list": (lambda xs: (xs[0] * xs[0]).sum(), lambda: ([mapped(1, 2)],)),
    "in a dict, by a part": (lambda d: d["a"][0] * d["a"][1] * 1.0, lambda: ({"a": mapped(1, 2)},)),
    "in an object": (lambda o: np.dot(o.k, o.k), lambda: (Holder(array(1, 2).view(Sub)),)),
    "beside an array": (lambda a, b: np.dot(a, b), lambda: (array(1, 2), mapped(3, 4))),
}


@pytest.mark.parametrize("name", SUBCLASSES)
def test_subclasses_of_arrays(name):
    f, make = SUBCLASSES[name]
    (expected,) = {repr(numbers(ad.gradient(f, *plain(make())))) for _ in range(2)}
    for _ in range(4):
        assert repr(numbers(ad.gradient(f, *make()))) == expected


def plain(value):
    """The same with arrays of NumPy's own class."""
    if isinstance(value, np.ndarray):
        return np.array(value)
    if isinstance(value, (tuple, list)):
        return type(value)(map(plain, value))
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return Holder(plain(value.k))


def numbers(value):
    """The numbers in a gradient."""
    if isinstance(value, (tuple, list)):
        return [numbers(x) for x in value]
    if isinstance(value, dict):
        return [numbers(x) for x in value.values()]
    if isinstance(value, ad.Tangent):
        return numbers(value.k)
    return value if value is None else np.asarray(value).tolist()


def assert_close(found, expected):
    """Numbers in lists, one by one."""
    if isinstance(expected, list):
        assert len(found) == len(expected)
        for a, b in zip(found, expected):
            assert_close(a, b)
    else:
        assert found == (expected if expected is None else pytest.approx(expected))
