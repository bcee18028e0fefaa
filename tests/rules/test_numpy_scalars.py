"""What scalars of NumPy have because arrays have it, and what NumPy makes of array-likes."""

from __future__ import annotations

import numpy as np
import pytest
from in_all_orders import check_orders
from numpy_checks import normal

from autodiff_hook import gradient
from autodiff_hook.testing import check_gradient

V = normal(4)

METHODS = {
    "compress": lambda y: y.compress([True]),
    "repeat": lambda y: y.repeat(3),
    "take": lambda y: y.take([0, 0]),
    "transpose": lambda y: y.transpose() * y,
    "view": lambda y: y.view() * y,
    "choose": lambda y: np.int64(1).choose([y, y * y]),
    "to_device": lambda y: y.to_device("cpu") * y,
}


@pytest.mark.parametrize("name", METHODS)
def test_methods_of_scalars(name):
    check_orders(lambda x: METHODS[name](np.exp(x).sum()), V)


@pytest.mark.parametrize("name", METHODS)
def test_values_are_those_of_the_method(name):
    seen = []

    def program(x):
        seen.append(METHODS[name](np.exp(x).sum()))
        return np.sum(seen[-1])

    gradient(program, V)
    plain = METHODS[name](np.exp(V).sum())
    assert type(seen[-1]) is type(plain)
    np.testing.assert_array_equal(seen[-1], plain)


KEYS = [(), ..., None, (None, ...), True, False, np.True_, np.False_, (None, False)]


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_keys_of_scalars(key):
    check_orders(lambda x: np.exp(x).sum()[key] * x[0], V)


PROGRAMS = {
    "fromiter": lambda x: np.fromiter((v * v for v in x), float),
    "fromiter of a list": lambda x: np.fromiter([x[0], 2.0, x[1] * x[2]], float, 2),
    "fromiter counted": lambda x: np.fromiter(iter(x.tolist()), np.float64, count=3),
    "broadcast": lambda x: np.array([a * b for a, b in np.broadcast(x, x[:2, None])]),
    "logspace": lambda x: np.logspace(x[0], x[1], 4, base=np.exp(x[2])),
    "geomspace": lambda x: np.geomspace(np.exp(x[0]), np.exp(x[1:3]), 4),
    "to_device": lambda x: (x * x).to_device("cpu"),
    "frexp": lambda x: np.frexp(x * x)[0] * x,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name):
    check_orders(PROGRAMS[name], V)


def test_what_broadcast_tells():
    def program(x):
        together = np.broadcast(x, x[:2, None])
        told = (together.shape, together.ndim, together.nd, together.size, together.numiter, together.index)
        next(together)
        assert told == ((2, 4), 2, 2, 8, 2, 0) and together.index == 1
        together.reset()
        columns.append([float(v) for v in together.iters[1]])
        return x.sum() + together.index

    columns = []
    assert program(V) == V.sum()
    gradient(program, V)
    assert columns[0] == columns[1]


@pytest.mark.parametrize(
    "program, error",
    [
        (lambda x: np.fromiter(iter(x), float, 9).sum(), ValueError),
        (lambda x: np.broadcast(x, x[:3]).size * 1.0, ValueError),
    ],
)
def test_errors_are_those_of_numpy(program, error):
    with pytest.raises(error) as plain:
        program(V)
    with pytest.raises(error) as raised:
        gradient(program, V)
    assert str(raised.value) == str(plain.value)


def test_what_describes_a_scalar_is_constant():
    def f(x):
        described = np.float64(x)
        return x * (described.itemsize + described.ndim + described.__array_priority__)

    assert gradient(f, 0.5) == (f(1.0),)


def test_masked_arrays_meet_scalars():
    def f(x):
        masked = np.ma.array(x, mask=[False, True])
        return (masked + np.float64(x[0]) * np.log(2.0)).sum()

    check_gradient(f, np.array([1.0, 2.0]))
