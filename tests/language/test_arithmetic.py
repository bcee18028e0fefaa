"""Operators on numbers and arrays; numbers of all types."""

from __future__ import annotations

import math

import numpy as np
import pytest
from helpers import assert_gradients, gradient_at

from autodiff_hook import gradient
from autodiff_hook.testing import check_gradient


@pytest.mark.parametrize(
    "f",
    [
        lambda x, y: x + y,
        lambda x, y: x - y,
        lambda x, y: x * y,
        lambda x, y: x / y,
        lambda x, y: x**y,
        lambda x, y: x % y,
        lambda x, y: x // y + x,
        lambda x, y: 3 - x * 2 + 1 / y,
        lambda x, y: 2**x * y**-2,
        lambda x, y: -x + +y,
        lambda x, y: divmod(x, y)[1] * x,
        lambda x, y: abs(-x) * pow(x, y),
        lambda x, y: x * x * x + x * y * x,
    ],
)
@pytest.mark.parametrize("args", [(1.7, 0.6), (np.float64(2.2), 0.7), (np.array([1.2, 3.1]), 0.9)])
def test_operators(f, args):
    if isinstance(args[0], np.ndarray):
        check_gradient(lambda x, y: f(x, y).sum(), *args)
    else:
        check_gradient(f, *args)


@gradient_at(1.5, -0.5)
def test_augmented_assignments(x, y):
    r = x
    r += y
    r -= 2 * x
    r *= y
    r /= x
    r **= 2
    r %= 0.9
    r //= 1000.0
    return r + x


@gradient_at(2.5)
def test_a_value_used_many_times(x):
    y = x * x
    return y * y + y / x - x * y


@gradient_at(0.7)
def test_unused_results(x):
    math.sin(x)
    y = x * 2  # noqa: F841
    return x


def test_a_constant_result():
    assert_gradients(lambda x: 3.0, (1.5,), (0.0,))
    assert_gradients(lambda x, y: x, (1.5, 2.0), (1.0, 0.0))


def test_whole_numbers():
    assert_gradients(lambda x, y: x * y + x**2, (3, 4.0), (10.0, 3.0))
    assert_gradients(lambda x, n: x**n, (2, 3), (12.0, 8 * math.log(2)))


@gradient_at(2.3)
def test_whole_number_counters(x):
    n = 0
    n += 1
    m = 7 // 2 + n % 3 - (n << 2) + (5 & 3 | 8) ^ 1
    return x * n + x**m


@gradient_at(1.2, 2.1)
def test_bools_are_factors(x, y):
    return (x < y) * x + (x > y) * y + True * x


@gradient_at(1.5 + 0.5j)
def test_complex_numbers(z):
    return (z * z.conjugate() * z).real + abs(z)


@gradient_at(1.25)
def test_complex_intermediates(x):
    z = complex(x, 2 * x)
    return (z * z).imag + z.real


@gradient_at(2.0)
def test_conversions(x):
    return float(x) * 2 + x * int(x + 0.5) + round(x, 1) * 0 + math.floor(x + 0.3) * x


def test_float32_stays_float32():
    (g,) = gradient(lambda x: x * x, np.float32(1.5))
    assert type(g) is np.float32 and g == 3.0


@gradient_at(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([0.5, -1.0]))
def test_broadcasting_and_matmul(a, b):
    return ((a * b) @ b + a[0] - b).sum() + (a @ a)[0, 1]


@gradient_at(np.array([0.5, 1.5, 2.5]))
def test_array_and_number(a):
    return (2 / a - a**2 + 1).mean() * a[1] + float(a[0])


@gradient_at(1.5)
def test_deep_expressions(x):
    return ((((x + 1) * x + 2) * x + 3) * x + 4) * x + (x * (x + (x * (x + (x * (x + 1))))))


@gradient_at(np.float64(1.3))
def test_a_scalar_of_numpys_and_an_array_in_place(x):
    z = x * 1.0
    z -= np.array([1.0, 2.0])
    z *= np.array([3.0, 2.0])
    return z.sum()


@gradient_at(np.float64(0.7))
def test_parts_of_a_scalar_of_numpys(x):
    s = x * x
    return (np.concatenate([s[..., np.newaxis], s[None], s[()][None]]) * np.array([1.0, 2.0, 3.0])).sum() * s[...]


@gradient_at(np.float64(2.0), np.float64(0.5))
def test_bools_of_numpys_as_numbers(x, y):
    large, small = x > 1, y > 1
    return large * x * y + x * small + (x - large) * 2 + (large + y) / large + x**large + (1 - large) * x
