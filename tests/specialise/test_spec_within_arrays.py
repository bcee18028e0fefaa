"""Derivatives by arrays, tuples, dicts and lists within typed programs."""

from __future__ import annotations

import numpy as np
import pytest
from specialised_cases import check, check_raises, close, direction, is_specialised, oracle, same

import autodiff_hook as ad
from autodiff_hook.runtime.specialising import GENERIC

pytestmark = pytest.mark.skipif(GENERIC, reason="nothing is typed")

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(7, 3)), RNG.normal(size=7)
LAYERS = RNG.normal(size=(3, 4)), RNG.normal(size=4), RNG.normal(size=4)


def ridge(w, penalty):
    r = X @ w - Y
    return np.sum(r * r) / len(r) + penalty * np.sum(w * w)


def network(layers, x, y):
    hidden = np.tanh(x @ layers[0] + layers[1])
    return np.mean((hidden @ layers[2] - y) ** 2)


def descent(penalty):
    w = np.zeros(3)
    for _ in range(10):
        w = w - 0.1 * ad.gradient(ridge, w, penalty)[0]
    return ridge(w, 0.0)


def descent_in_place(rate):
    w = np.ones(3)
    for _ in range(5):
        w -= rate * ad.grad(ridge)(w, 0.1)
    return np.sum(w * w)


def by_several_arrays(rate):
    a, b, c = LAYERS

    def f(a, b, c):
        return network((a, b, c), X, Y)

    for _ in range(3):
        da, db, dc = ad.gradient(f, a, b, c)
        a, b, c = a - rate * da, b - rate * db, c - rate * dc
    return f(a, b, c)


def by_a_tuple(rate):
    layers = LAYERS
    for _ in range(3):
        a, b, c = ad.gradient(network, layers, X, Y)[0]
        layers = layers[0] - rate * a, layers[1] - rate * b, layers[2] - rate * c
    return network(layers, X, Y)


def by_a_dict(rate):
    layers = {"a": LAYERS[0], "b": LAYERS[1], "c": LAYERS[2], "name": "demo"}

    def f(p):
        return network((p["a"], p["b"], p["c"]), X, Y)

    value, slopes = ad.value_and_grad(f)(layers)
    return value * np.sum(slopes["a"] ** 2) * rate + np.sum((layers["b"] - rate * slopes["b"]) ** 2)


def energy(q, p):
    return np.sum(p * p) / 2 + np.sum(q**4) / 4 + np.sum(np.cos(q))


def leapfrog(q):
    p = np.zeros(3)
    for _ in range(5):
        p = p - 0.1 * ad.gradient(energy, q, p)[0]
        q = q + 0.1 * ad.gradient(energy, q, p)[1]
    return np.sum(q * q)


def newton(a):
    def f(x):
        return np.sum(x**4) / 4 - a * np.sum(x)

    x = np.array([1.0, 2.0])
    for _ in range(4):
        x = x - ad.grad(f)(x) / (3 * x**2)
    return np.sum(x)


def output(a, b, c, x):
    return c @ np.tanh(a * x + b)


def residuals(a, b, c):
    slope = ad.grad(output, 3)
    total = 0.0
    for x in POINTS:
        r = ad.grad(slope, 3)(a, b, c, x) + output(a, b, c, x)
        total += r * r
    return total


POINTS = np.linspace(0.0, 1.0, 4)


def stores(x):
    def f(x):
        y = np.zeros(3)
        for i in range(3):
            y[i] = x[i] * x[i - 1]
        return np.sum(y * x)

    return np.dot(ad.gradient(f, x)[0], x)


def items(x):
    def f(x):
        total = 0.0
        for i in range(len(x) - 1):
            total += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
        return total

    for _ in range(3):
        x = x - 0.0001 * ad.grad(f)(x)
    return f(x)


def slices(x):
    def f(x):
        return np.sum((x[1:] - x[:-1] ** 2) ** 2) + np.max(x)

    return np.sum(ad.grad(f)(x) ** 3)


def reductions(x):
    def f(x):
        return np.mean(x, axis=0) @ np.sum(x * x, axis=0) + np.add.reduce(np.exp(x), None)

    return np.sum(ad.grad(f)(x) * np.sin(x))


def broadcasts(x):
    def f(b):
        return np.sum(np.tanh(X * x + b) ** 2)

    return np.sum(ad.grad(f)(0.5 * x) * x) + ad.grad(lambda c: np.sum(np.exp(c * x)))(0.3)


def branches(x):
    def f(y):
        return np.sum(y**3) if y[0] > 0.6 else np.sum(y) * y[1]

    return np.sum(ad.grad(f)(x) * x)


def third_order(x):
    def f(y):
        return np.sum(y**4 * x)

    slope = ad.grad(lambda y: np.sum(ad.grad(f)(y) ** 2))(x)
    return np.sum(slope * x)


def whole_numbers(x):
    return np.sum(ad.grad(lambda n: np.sum(n * n * x))(np.array([1, 2, 3])) * x)


def nothing_of_it(x):
    da, db = ad.gradient(lambda a, b: np.sum(a * x), x, 2.0 * x)
    return np.sum(da) + np.sum((db + 1.0) * x)


def kept_apart(x):
    slope = ad.grad(lambda y: y @ x)(x)
    slope[0] = 7.0
    slope += 1.0
    return slope @ x


def stores_of_arrays(x):
    def f(y):
        z = np.zeros((2, 3))
        z[0], z[1, 1:], z[:, 0] = y * y, y[:2] * x[0], y[1]
        z[1] += x * y
        return np.sum(z**3)

    return np.sum(ad.grad(f)(x) * x)


def by_a_number_of_numpy(x):
    return ad.grad(lambda s: s * s * np.sum(x))(np.sum(x)) * ad.grad(lambda s: s * np.sum(x * s))(0.5)


VECTOR = np.array([0.7, 0.4, 1.1])


@pytest.mark.parametrize(
    "f, args",
    [
        (descent, (0.3,)),
        (descent_in_place, (0.05,)),
        (by_several_arrays, (0.1,)),
        (by_a_tuple, (0.1,)),
        (by_a_dict, (0.1,)),
        (leapfrog, (VECTOR,)),
        (newton, (2.0,)),
        (stores, (VECTOR,)),
        (stores_of_arrays, (VECTOR,)),
        (items, (VECTOR,)),
        (slices, (VECTOR,)),
        (reductions, (X,)),
        (broadcasts, (VECTOR,)),
        (branches, (VECTOR,)),
        (third_order, (VECTOR,)),
        (whole_numbers, (VECTOR,)),
        (nothing_of_it, (VECTOR,)),
        (kept_apart, (VECTOR,)),
        (by_a_number_of_numpy, (VECTOR,)),
    ],
)
def test_derivatives_by_arrays(f, args):
    expected = check(f, *args)
    v = [direction(g, i) for i, g in enumerate(expected)]
    there, back = (f(*[x + step * d for x, d in zip(args, v)]) for step in (1e-6, -1e-6))
    assert sum(np.sum(g * d) for g, d in zip(expected, v)) == pytest.approx((there - back) / 2e-6, rel=1e-5, abs=1e-6)


def agrees(f, *args):
    """The gradients are those of the carried program, and typed; the last digits of the value may be others."""
    expected = oracle(f, *args)[1]
    for _ in range(3):
        same(ad.gradient(f, *args), expected)
    assert is_specialised(f)


def test_second_derivatives_within_a_loop():
    agrees(residuals, VECTOR, 0.5 * VECTOR[::-1], VECTOR**2)


def by_a_list(xs):
    def f(xs):
        total = 0.0
        for i in range(len(xs)):
            total += (xs[i] - i) ** 2 * xs[i - 1]
        return total

    for _ in range(3):
        xs = [x - 0.01 * d for x, d in zip(xs, ad.gradient(f, xs)[0])]
    return f(xs)


def by_a_list_written_out(w):
    a, b = ad.grad(lambda xs: xs[0] ** 2 * xs[1] * w)([w, 2.0])
    return a * b


def test_derivatives_by_lists():
    check(by_a_list, [1.0, 0.5, 2.0])
    check(by_a_list, [1.0, 0.5, 2.0, -0.3, 0.1])
    check(by_a_list_written_out, 1.5)


def makes_lists(w):
    def f(x):
        ys = []
        for i in range(3):
            ys.append(x * w**i)
        return sum(y * y for y in ys) + ys[0] * ys[2]

    return ad.grad(f)(w) + ad.grad(f)(0.5)


def makes_lists_in_loops(w):
    def f(x):
        total = 0.0
        for i in range(3):
            ys = [x * w, x]
            for _ in range(i):
                ys.append(ys[-1] * ys[0])
            total += sum(ys)
            ys[0] = total
            total += ys[0] * ys[1]
        return total

    return ad.grad(f)(w)


def lists_that_may_be_one(w):
    def f(x):
        ys, zs = [x, 2.0 * x], [w * x, 1.0]
        for i in range(3):
            ys, zs = zs, ys
            ys[0] = ys[0] * x + i
        return ys[0] * zs[0] + ys[1] * zs[1]

    return ad.grad(f)(w)


@pytest.mark.parametrize("f", [makes_lists, makes_lists_in_loops, lists_that_may_be_one])
@pytest.mark.parametrize("w", [0.7, 1.3])
def test_functions_that_make_lists(f, w):
    expected = oracle(f, w)[1]
    for _ in range(3):
        same(ad.gradient(f, w), expected)


def test_one_list_under_two_names():
    def f(xs):
        a, b = ad.gradient(lambda a, b: a[0] * b[1] ** 2, xs, xs)
        return a[0] * b[1] + xs[1]

    check(f, [1.5, 0.7], specialised=None)


def test_other_shapes():
    def f(x, w):
        return np.sum(ad.grad(lambda y: np.sum(np.tanh(y * w) ** 2))(x) * x)

    for x, w in [(3, 3), (4, 4), (4, 1), (1, 4), ((2, 3), 3), (0, 0), (5, 5)]:
        check(f, 0.1 + RNG.uniform(size=x), RNG.uniform(size=w), specialised=None)


def test_one_array_under_two_names():
    def f(x, y):
        return np.sum(ad.grad(lambda z: np.sum(z**3 * y))(x) * ad.grad(lambda z: np.sum(z * x * y))(y))

    for args in ((VECTOR, VECTOR.copy()), (VECTOR, VECTOR)):
        agrees(f, *args)


def test_types_that_change_are_followed_again():
    def f(x):
        return np.sum(ad.grad(lambda y: np.sum(y * y) * 0.5)(x) * 3.0)

    for x in (VECTOR, VECTOR.astype(np.float32), 0.5, np.float64(0.5), VECTOR + 1j, VECTOR):
        expected = oracle(f, x)[1] if not np.iscomplexobj(x) else None
        for _ in range(2):
            if expected is None:
                with pytest.raises(ad.Unsupported):
                    ad.gradient(f, x)
            else:
                same(ad.gradient(f, x), expected)


def test_errors_within_are_those_of_the_program():
    def raises(x):
        def f(y):
            if y[0] > 0.5:
                raise ValueError("too far")
            return np.sum(y * x)

        return np.sum(ad.grad(f)(x))

    check(raises, 0.1 * VECTOR)
    check_raises(raises, VECTOR)
    check(raises, 0.2 * VECTOR)

    def no_scalar(x):
        return np.sum(ad.grad(lambda y: y * x)(x))

    for _ in range(2):
        with pytest.raises(ad.Unsupported, match="real scalar"):
            ad.gradient(no_scalar, VECTOR)


def test_zeros_that_a_product_with_what_is_infinite_would_lose():
    def f(x):
        return np.sum(ad.grad(lambda y: np.sum(np.where(y > 0.5, np.sqrt(y), 0.0) * x))(x * x) * x)

    for x in (VECTOR, np.array([0.0, 0.9, 1.0]), np.array([0.1, 0.0, 2.0])):
        expected = oracle(f, x)[1]
        for _ in range(3):
            close(ad.gradient(f, x), expected)


def test_reductions_of_ufuncs_are_those_of_numpy():
    def f(x):
        rows = np.add.reduce(x) * np.maximum.reduce(x, 0, keepdims=True) + np.minimum.reduce(x, axis=0)
        return np.add.reduce(rows, None) + np.multiply.reduce(x, 1, None, None, False, 2.0) @ x[:, 0]

    check(f, X)


def test_places_have_no_tangents():
    def f(x):
        places = [(x[i], i) for i in range(3)]
        return sum([y * x.item(i) for y, i in places])

    check(f, VECTOR)


def of_scaled_array(a, x):
    return np.sum(x * a * a)


def by_a_float(a, x):
    return ad.gradient(of_scaled_array, a, x)[0] * a


def test_gradients_by_floats_are_floats():
    check(by_a_float, 2.0, np.array([0.4, 2.3]))
