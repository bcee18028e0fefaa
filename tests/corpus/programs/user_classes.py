"""Classes of the program where builtins, NumPy and the standard library expect their own."""

from __future__ import annotations

import itertools

import numpy as np

from corpus.registry import program


class Values:
    def __init__(self, *values):
        self.values = values

    def __iter__(self):
        return iter(self.values)


@program("iterables of the program", 1.3)
def sum_of_an_iterable(x):
    return sum(Values(x, x * x))


@program("iterables of the program", 1.3)
def maximum_of_an_iterable(x):
    return max(Values(x, x * x))


@program("iterables of the program", 1.3)
def tee_of_a_generator(x):
    _, second = itertools.tee(v * x for v in (1, x))
    return max(second)


class Quantity:
    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        return Quantity(self.value + (other.value if isinstance(other, Quantity) else other))

    __radd__ = __add__


@program("sums of objects", [1.0, 2.0])
def sum_of_a_generator_of_objects(xs):
    return 2.0 * sum(Quantity(v) for v in xs).value


@program("sums of objects", [1.0, 2.0])
def numpy_sum_of_objects(xs):
    return np.sum([Quantity(v) for v in xs]).value


class Totalled(list):
    """A list that keeps its total as it changes."""

    def __init__(self, *values):
        super().__init__(values)
        self.total = sum(values)

    def append(self, value):
        self.total += value
        super().append(value)

    def __setitem__(self, i, value):
        self.total += value - self[i]
        super().__setitem__(i, value)


@program("subclasses of list", 1.3)
def list_that_keeps_its_total(x):
    xs = Totalled(x, 2 * x)
    xs.append(0.0)
    xs[0] = x * 1
    xs.extend([0.0])
    return xs.total * sum(xs) * 2


class Sequence:
    def __init__(self, *values):
        self.values = values

    def __len__(self):
        return len(self.values)

    def __getitem__(self, i):
        return self.values[i]

    def __getattr__(self, name):
        raise AttributeError(name)


@program("sequences of the program given to NumPy", 1.3)
def dot_of_a_sequence(x):
    return float(np.dot(Sequence(x, x * x), [1.0, 2.0]))


@program("kinds of arrays", 1.3)
def assigned_shape(x):
    a = np.array([x, 2 * x])
    a.shape = (2, 1)
    return float((a @ a.T).sum())


@program("kinds of arrays", 1.3)
def structured_array(x):
    return float(np.array([(x, 2.0)], dtype=[("a", float), ("b", float)])["a"][0] * x)


@program("kinds of arrays", np.array([1.0, 2.0, 3.0]))
def store_into_a_field(x):
    o = np.zeros(3, [("a", float)])
    o["a"] = x
    return o["a"].sum()


@program("kinds of arrays", np.array([1.0, 2.0, 3.0]))
def mean_of_a_masked_array(x):
    return np.ma.mean(np.ma.array(x)) * 1.0
