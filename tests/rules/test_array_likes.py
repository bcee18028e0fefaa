"""What NumPy makes arrays of, in the place of arrays: ranges, deques, buffers, sequences, what has ``__array__``."""

import operator
from array import array
from collections import deque

import numpy as np
import pytest

import autodiff_hook as ad


class Items:
    def __init__(self, items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


class Wrapped:
    def __init__(self, items):
        self.items = items

    def __array__(self, dtype=None, copy=None):
        return np.array(self.items, dtype)


LIKES = {
    "range": lambda items: range(1, 4),
    "deque": deque,
    "array": lambda items: array("d", items),
    "memoryview": lambda items: memoryview(np.array(items)),
    "sequence": Items,
    "wrapped": Wrapped,
    "tuple": tuple,
}
PAIRED = [np.dot, np.inner, np.vdot, np.outer, np.matmul, np.kron, np.convolve, np.cross, np.hypot, np.arctan2]
PAIRED += [np.add, np.subtract, np.multiply, np.divide, np.power, np.maximum, np.minimum, np.remainder]
PAIRED += [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.matmul]


def joined(a, b):
    return np.stack([a, b]) * np.concatenate([b, a])[:3]


def chosen(a, b):
    return np.where([True, False, True], a, b)


@pytest.mark.parametrize("kind", LIKES)
@pytest.mark.parametrize("function", [*PAIRED, joined, chosen], ids=lambda f: f.__name__)
def test_array_likes(function, kind):
    like, array = LIKES[kind]([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0])
    x, v = np.array([0.4, 1.7, 2.6]), np.array([0.3, -1.0, 0.5])
    for swapped in (False, True):

        def loss(other, x):
            return np.sum(function(x, other) if swapped else function(other, x)) ** 2  # noqa: B023

        found, wanted = (ad.gradient(lambda x: loss(other, x), x)[0] for other in (like, array))  # noqa: B023
        assert found == pytest.approx(wanted)
        found, wanted = (ad.jvp(lambda x: loss(other, x), (x,), (v,))[1] for other in (like, array))  # noqa: B023
        assert found == pytest.approx(wanted)
        found, wanted = (ad.hvp(lambda x: loss(other, x), (x,), (v,))[0] for other in (like, array))  # noqa: B023
        assert found == pytest.approx(wanted)


def test_memory_that_holds_what_is_differentiated_is_an_error():
    with pytest.raises(ad.NotDifferentiable, match="memoryview"):
        ad.gradient(lambda x: np.dot(memoryview(np.array([1.0, x])), np.ones(2)), 3.0)


@pytest.mark.parametrize("kind", ["deque", "sequence", "wrapped", "tuple"])
@pytest.mark.parametrize("function", [*PAIRED, joined, chosen], ids=lambda f: f.__name__)
def test_array_likes_that_hold_what_is_differentiated(function, kind):
    x, v, other = np.array([0.4, 1.7, 2.6]), np.array([0.3, -1.0, 0.5]), np.array([1.0, 2.0, 3.0])
    for swapped in (False, True):

        def loss(x, make):
            like = make([x[0] * x[1], x[1], 2.0 * x[2]])
            return np.sum(function(other, like) if swapped else function(like, other)) ** 2  # noqa: B023

        found, wanted = (ad.gradient(lambda x: loss(x, make), x)[0] for make in (LIKES[kind], np.array))  # noqa: B023
        assert found == pytest.approx(wanted)
        found, wanted = (ad.hvp(lambda x: loss(x, make), (x,), (v,))[0] for make in (LIKES[kind], np.array))  # noqa: B023
        assert found == pytest.approx(wanted)


class Vector(Items):
    def __mul__(self, other):
        return 7.0 * sum(self.items) * np.sum(other)

    def __rmul__(self, other):
        return 3.0 * sum(self.items) * np.sum(other)

    __matmul__, __rmatmul__ = __mul__, __rmul__


class Preferred(Vector):
    __array_priority__ = 100.0


class Alone(Vector):
    __array_ufunc__ = None


@pytest.mark.parametrize("cls", [Vector, Preferred, Alone])
def test_what_says_itself_how_it_is_multiplied(cls):
    """Who is asked first, NumPy knows."""
    for product in (operator.mul, operator.matmul):
        for swapped in (False, True):

            def loss(x):
                for own in (cls([1.0, 2.0]), cls([x, 2.0])):
                    given = np.array([x, x * x])
                    x = x + np.sum(product(given, own) if swapped else product(own, given))  # noqa: B023
                    x = x + 0.1 * np.sum(np.sqrt(x) * own)
                return float(x)

            slope = (loss(0.3 + 1e-6) - loss(0.3 - 1e-6)) / 2e-6
            assert ad.gradient(loss, 0.3) == pytest.approx((slope,), rel=1e-6)
            assert ad.jvp(loss, (0.3,), (1.0,))[1] == pytest.approx(slope, rel=1e-6)


class Measured(Wrapped):
    """Its class says what ufuncs of it give."""

    def __init__(self, items, scale=1.0):
        self.items, self.scale = np.asarray(items), scale

    def __array_wrap__(self, array, context=None, return_scalar=False):
        return type(self)(array * 2.0, self.scale)


class Outranking(Measured):
    __array_priority__ = 10.0

    def __array_wrap__(self, array, context=None, return_scalar=False):
        return Outranking(array * 3.0, self.scale * 2.0)


class Outranked(Measured):
    __array_priority__ = -10.0


def stored(x, a):
    out = np.zeros(3)
    np.exp(Measured(a, x), out=out)
    return out


WRAPPED = {
    "unary": lambda x, a: np.exp(Measured(a, x)),
    "array from the left": lambda x, a: np.add(a * x, Measured(a, x)),
    "the higher priority": lambda x, a: np.multiply(Measured(a, x), Outranking(a, x)),
    "the lower priority": lambda x, a: np.multiply(a, Outranked(a, x)),
    "several results": lambda x, a: np.divmod(Measured(a, x), 0.4)[1],
    "operator": lambda x, a: a * Measured(a, x),
    "number of NumPy's": lambda x, a: np.float64(x) * Measured(a, x),
    "an array for the result": stored,
    "no wrapping": lambda x, a: np.dot(Measured(a, x), a),
}


def content(found):
    return found.scale * np.sum(found.items) if isinstance(found, Measured) else np.sum(found)


@pytest.mark.parametrize("name", WRAPPED)
def test_what_a_class_makes_of_the_results_of_ufuncs(name):
    def f(x):
        return content(WRAPPED[name](x, np.array([0.3, 0.9, 0.55]) * x))

    for x in (0.7, 1.3, 0.9):
        slope = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
        value, grads = ad.withgradient(f, x)
        assert value == pytest.approx(f(x)) and grads == (pytest.approx(slope, rel=1e-6),)
        assert ad.jvp(f, (x,), (1.0,))[1] == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize("function", [np.sum, np.cumsum, np.add.accumulate, np.round, np.floor, np.argmax, np.reshape])
def test_other_results_that_a_class_has_a_say_of_are_an_error(function):
    with pytest.raises(ad.NotDifferentiable, match="__array_wrap__"):
        options = {np.reshape: (-1,)}.get(function, ())
        ad.gradient(lambda x: content(function(Measured(np.outer([0.3, 0.9], [x, 1.0]), x), *options)), 0.7)
