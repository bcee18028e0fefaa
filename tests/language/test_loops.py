"""while and for, over everything that can be iterated; break, continue, else."""

from __future__ import annotations

import math

import numpy as np
import pytest
from helpers import gradient_at

from autodiff_hook.testing import check_gradient

XS = [0.5, -1.5, 2.0]


@pytest.mark.parametrize("n", [0, 1, 5])
def test_while(n):
    def f(x):
        r, i = 1.0, 0
        while i < n:
            r = r * x + i
            i += 1
        return r * x

    check_gradient(f, 1.1)


@gradient_at(3.7)
def test_while_on_an_active_condition(x):
    n = 0
    while x > 0.2:
        x = x / 2
        n += 1
    return x * n


@gradient_at(1.2)
def test_while_true_with_several_ways_out(x):
    total, i = 0.0, 0
    while True:
        i += 1
        if i % 3 == 0:
            total += x
            continue
        if i > 10:
            break
        if total > 1e6:
            return total * x
        total = total + i * x * x
    return total * x


@gradient_at(0.8)
def test_while_else(x):
    i = 0
    while i < 3:
        i += 1
        x = x * 1.5
    else:
        x = x * x
    while i < 9:
        i += 1
        if i == 5:
            break
    else:
        x = x * 100
    return x


@gradient_at(0.9)
def test_range(x):
    r = 1.0
    for i in range(4):
        r = r * x + i * x
    for i in range(5, 0, -2):
        r = r + i * x
    for _ in range(0):
        r = r * 100
    return r


@gradient_at(XS)
def test_lists(xs):
    r = 1.0
    for v in xs:
        r = r * v + v
    return r


@gradient_at(tuple(XS))
def test_tuples(xs):
    r = 1.0
    for v in xs:
        r = r * v + v
    return r


@gradient_at(XS, (2.0, 3.0, 4.0))
def test_zip(xs, ys):
    return_value = 0.0
    for a, b in zip(xs, ys):
        return_value += a * b
    for a, b, i in zip(xs, ys, range(2), strict=False):
        return_value += a * b * i * a
    return return_value


@gradient_at(XS)
def test_enumerate(xs):
    r = 0.0
    for i, v in enumerate(xs):
        r += i * v * v
    for i, (j, v) in enumerate(enumerate(xs, 3), start=1):
        r += i * j * v
    for i, v in enumerate(xs, bool(xs)):
        r += i * v * (5.0 if i is True else 7.0)
    return r


@gradient_at({"a": 1.5, "b": 2.5})
def test_dict_views(d):
    r = 1.0
    for k in d:
        r *= d[k]
    for k in d.keys():
        r += d[k] ** 2
    for v in d.values():
        r = r * v + v
    for k, v in d.items():
        r += v * len(k) * r
    return r


@gradient_at(np.array([0.5, -1.5, 2.0]))
def test_arrays(a):
    r = 1.0
    for v in a:
        r = r * v + v
    return r


@gradient_at(np.array([[0.5, -1.5], [2.0, 1.0]]))
def test_rows_of_arrays(a):
    r = 0.0
    for i, row in enumerate(a):
        for v, w in zip(row, a[i - 1]):
            r = r + v * w * row.sum()
    return r


@gradient_at(1.5)
def test_strings_and_bytes(x):
    r = 0.0
    for c in "abc":
        r = r * x + ord(c) / 100
    for b in b"xy":
        r += b * x / 50
    return r


@gradient_at(XS)
def test_sets_and_frozensets(xs):
    r = 0.0
    for v in sorted(set(xs)):
        r = r * 2 + v
    for v in frozenset({1, 2}):
        r += v * xs[0]
    return r


@gradient_at(XS)
def test_reversed(xs):
    r = 1.0
    for v in reversed(xs):
        r = r / 2 + v * r
    for v in reversed(tuple(xs)):
        r = r / 2 + v * r
    for i in reversed(range(3)):
        r += i * xs[i]
    return r


@gradient_at(1.4)
def test_for_else_and_break(x):
    for i in range(10):
        if i * x > 4:
            break
        x = x + 0.1 * x
    else:
        x = x * 1000
    for _ in range(3):
        pass
    else:
        x = x * x
    return x * i


@gradient_at(0.3)
def test_continue(x):
    total = 0.0
    for i in range(8):
        if i % 2:
            continue
        total = total + x**i
    return total


@gradient_at(0.6)
def test_return_from_a_loop(x):
    for i in range(100):
        x = x * 1.2
        if x > 2:
            for j in range(3):
                if j == 1:
                    return x * x + i
    return x


@gradient_at(1.1, 0.4)
def test_nested_loops(x, y):
    r = 0.0
    for i in range(3):
        s = x
        for j in range(i + 1):
            s = s * y + j
            k = 0
            while k < j:
                s += x * k
                k += 1
        r = r + s * s
    return r


@gradient_at(1.1)
def test_the_loop_variable_after_the_loop(x):
    for v in [x, 2 * x, 3 * x]:
        pass
    for i in range(3):  # noqa: B007
        x = x + v
    return x * v * i


@gradient_at(1.3, 0.4)
def test_swaps_and_rotations_in_loops(a, b):
    c = 2.0
    for _ in range(5):
        a, b = b, a + b
        a, b, c = b * a, c, a
    return a * b + c


@gradient_at(1.3)
def test_a_variable_that_changes_its_type(x):
    r = 0
    for i in range(3):
        r = r + x if i else i
    s = None
    for i in range(3):
        s = x if s is None else s * x
    return r * s


@gradient_at([1.0, 2.0])
def test_a_list_that_grows_while_it_is_iterated(xs):
    for v in xs:
        if len(xs) < 6:
            xs.append(v * xs[0] + v)
    return sum(xs) * len(xs)


@gradient_at([1.0, 2.0, 3.0], 0.7)
def test_a_list_that_is_rewritten_while_it_is_iterated(xs, y):
    for i, v in enumerate(xs):
        if i + 1 < len(xs):
            xs[i + 1] = xs[i + 1] * v + y
    return xs[-1]


@gradient_at(0.7)
def test_a_constant_list_that_is_rewritten_while_it_is_iterated(y):
    """The list holds no derivative when the iteration begins."""
    xs = [1.0, 2.0, 3.0]
    total = 0.0
    for i, v in enumerate(xs):
        if i + 1 < len(xs):
            xs[i + 1] = v * y
        total = total + v
    ys = [1.0, 2.0]
    for v, w in zip(ys, [2.0, 3.0]):
        ys[1] = y * 3
        total = total + v * w
    zs = [1.0, 2.0]
    for v in map(lambda t: t * 2, zs):
        zs[1] = y * 3
        total = total + v
    return total


@gradient_at(0.7)
def test_a_constant_dict_that_is_rewritten_while_it_is_iterated(y):
    d = {"a": 1.0, "b": 2.0}
    total = 0.0
    for _, v in d.items():
        d["b"] = y * y
        total = total + v
    e = {"a": 1.0, "b": 2.0}
    for v in e.values():
        e["b"] = y * v
        total = total + v
    return total


@gradient_at(0.7)
def test_iterators_made_before_what_they_yield(y):
    xs = [1.0, 2.0]
    it = iter(xs)
    xs[0] = y * y
    back = reversed(xs)
    return next(it) + next(it) + next(back)


@gradient_at(1.5)
def test_newton_iteration(a):
    x = a
    while abs(x * x - a) > 1e-12:
        x = 0.5 * (x + a / x)
    return x


@gradient_at(0.5)
def test_series_with_break_on_convergence(x):
    term, total = 1.0, 1.0
    for n in range(1, 200):
        term *= x / n
        total += term
        if abs(term) < 1e-16:
            break
    return math.log(total) * total
