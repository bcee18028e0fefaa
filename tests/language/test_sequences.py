"""Tuples and lists: read, built, unpacked, sliced, changed by every method."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from helpers import gradient_at

from autodiff_hook import gradient, withgradient
from autodiff_hook.api import generic_gradient
from autodiff_hook.testing import check_gradient

XS = [0.5, -1.5, 2.0, 3.0]


@gradient_at(1.5, 0.4)
def test_tuples(x, y):
    t = (x, y, x * y)
    u = t + (2.0, x) + t[1:]
    a, (b, c), *rest = t[0], t[1:], x, y
    return t[0] * t[-1] + u[4] * u[-1] + a * b * c + rest[1] + len(u) + (t * 2)[4] + sum(t[::-2])


@gradient_at((1.0, (2.0, 3.0)), 0.5)
def test_nested_tuples(t, y):
    a, (b, c) = t
    u = (t, (t[1], (a, y)))
    return a * b + c * u[1][1][1] + u[0][1][0] * u[1][0][1]


@gradient_at(1.5, 0.4, 2.0)
def test_swaps_and_rotations(a, b, c):
    a, b = b, a
    a, b, c = c, a * b, b
    (a, b), c = (b, c), a
    [c, a] = [a, c]
    return a * b * b + c**3


@gradient_at(XS)
def test_unpacking(xs):
    a, b, *c = xs
    *d, e = xs
    f, *g, h = xs
    (i, *_), (j,) = xs, xs[:1]
    return a * b * c[0] + d[2] * e + f * g[1] * h + i * j + len(c) * a


@gradient_at(XS, (5.0, 6.0))
def test_displays(xs, ys):
    a = [*xs, *ys, xs[0]]
    b = (*ys, *xs[1:], *(v * v for v in xs))
    c = [xs, ys, [xs]]
    return a[4] * a[-1] + b[0] * b[3] * b[-1] + c[0][1] * c[1][0] * c[2][0][2] + sum(a)


@gradient_at(XS)
def test_indexing_and_slices(xs):
    i = 1
    return (
        xs[0] * xs[-1]
        + xs[i] * xs[i + 1]
        + sum(xs[1:3])
        + sum(xs[::-1][:2])
        + xs[::2][1] * xs[-3:-1][0]
        + sum(xs[slice(1, None)])
        + xs[True]
        + len(xs[5:])
    )


@gradient_at(XS, 0.5)
def test_item_stores(xs, y):
    xs[0] = y
    xs[1] = xs[1] * y
    xs[-1] = xs[0] * xs[1]
    xs[2] += xs[3] * y
    xs[2] **= 2
    xs[0], xs[1] = xs[1], xs[0]
    return xs[0] * 2 + xs[1] * 3 + xs[2] * 5 + xs[3] * 7


@gradient_at(XS, 0.5)
def test_slice_stores(xs, y):
    ys = list(xs)
    ys[1:3] = [y, y * y, xs[0]]
    a = ys[3] * ys[2] + ys[-1]
    ys[:0] = (y * 3, 1.0)
    ys[::2] = [v * 2 for v in ys[::2]]
    ys[4:] = []
    return a + sum(v * i for i, v in enumerate(ys, 1)) + xs[1]


@gradient_at(XS, 0.5)
def test_deletion(xs, y):
    xs.append(y)
    del xs[1]
    a = xs[1] * xs[-1]
    del xs[-2:], xs[0]
    return a + xs[0] * y


@gradient_at(XS, 0.5)
def test_append_extend_insert(xs, y):
    xs.append(y * xs[0])
    xs.extend([y, xs[1]])
    xs.extend(v * v for v in (y, 2.0))
    xs.insert(0, y)
    xs.insert(-1, xs[3])
    xs.insert(100, 7.0)
    xs += (y, xs[2])
    xs += [xs[0]]
    return sum(v * (i + 1) for i, v in enumerate(xs))


@gradient_at(XS, 0.5)
def test_pop_remove_clear(xs, y):
    xs.append(y)
    a = xs.pop() * xs.pop(0) + xs.pop(-2) * 3
    xs.insert(1, 9.0)
    xs.remove(9.0)
    b = sum(v * i for i, v in enumerate(xs))
    ys = xs.copy()
    xs.clear()
    xs.append(y)
    return a * b + xs[0] + ys[0] * ys[1]


@gradient_at(XS)
def test_reverse_sort_index_count(xs):
    xs.reverse()
    a = xs[0] * 2 + xs[1] * 3
    xs.sort(reverse=True)
    b = xs[0] * 5 + xs[3] * 7
    return a * b + xs.index(xs[2]) * xs[1] + xs.count(xs[0]) * xs[2] + (xs[1] in xs) * xs[0]


@gradient_at(XS, (1.0, 2.0))
def test_concatenation_and_repetition(xs, t):
    a = xs + [t[0]] + xs[:1]
    b = xs * 2
    b[0] = t[1]
    c = 2 * [t[0], 3.0]
    d = (xs[0], t[1]) * 3 + t
    xs *= 2
    return a[0] * a[4] * a[5] + b[0] * b[4] + c[2] * c[3] + d[4] * d[-1] + xs[5] + sum(xs)


@gradient_at(1.5)
def test_methods_move_derivatives_beside_constants(x):
    """Only one slot of each list has a derivative, and it moves."""
    a = [x, 1.0]
    a.insert(0, 5.0)
    b = [1.0, x]
    b.pop(0)
    c = [1.0, 2.0, x]
    c.reverse()
    d = [1.0, 2.0, x]
    del d[0]
    e = [9.0, x, 0.0]
    e.sort()
    f = [x]
    f[:0] = [1.0, 2.0]
    g = [3.0, x]
    g.remove(3.0)
    h = [1.0, 2.0, x, 4.0]
    h[0:2] = []
    i = [1.0, x]
    i *= 2
    j = [0.0, x, 1.0][::-1]
    return (
        a[1] * 2
        + b[0] * 3
        + c[0] * 5
        + d[1] * 7
        + e[1] * 11
        + f[2] * 13
        + g[0] * 17
        + h[0] * 19
        + i[1] * 23
        + i[3] * 29
        + j[1] * 31
    )


@gradient_at(1.5)
def test_constants_do_not_inherit_derivatives(x):
    xs = [x, 2.0]
    xs[0] = 3.0
    a = xs[0] * x
    xs.insert(0, x * x)
    xs.pop(0)
    ys = [x]
    ys.clear()
    ys.append(4.0)
    return a + xs[0] * xs[1] * x + ys[0]


@gradient_at([1.0, 2.0], 0.5)
def test_aliasing(xs, y):
    ys = xs
    ys[0] = y * xs[1]
    box = [xs, ys, (xs,)]
    box[0].append(y)
    box[2][0][1] = xs[0] * 3
    zs = list(xs)
    zs[0] = 100.0 * y
    return xs[0] * ys[2] + box[1][1] + zs[1]


def test_the_same_list_twice():
    from autodiff_hook import gradient

    def f(a, b):
        a[0] = a[0] * b[1]
        b.append(a[0])
        return a[2] * b[0]

    xs = [2.0, 3.0]
    g, h = gradient(f, xs, xs)
    assert g == h == [2 * 2.0 * 9.0, 2 * 4.0 * 3.0]
    assert xs == [6.0, 3.0, 6.0]


@gradient_at([[1.0, 2.0], [3.0]], 0.5)
def test_nested_lists(rows, y):
    rows[0][1] = rows[1][0] * y
    rows.append([y, rows[0]])
    rows[2][1][0] *= y
    total = 0.0
    for row in rows[:2]:
        row.append(y)
        for v in row:
            total += v * v
    m = [[0.0] * 3 for _ in range(2)]
    for i in range(2):
        for j in range(3):
            m[i][j] = y * i + rows[0][0] * j
    return total + m[1][2] * m[0][1] + [row[:] for row in m][1][1]


@gradient_at([1.0, 2.0], 0.5)
def test_copies_are_independent(xs, y):
    a, b, c, d = xs[:], list(xs), xs.copy(), copy.copy(xs)
    xs[0] = y
    a[1] = y * 2
    b.append(xs[0])
    return a[0] * b[0] * 2 + c[0] + d[1] * b[2] + sum(a) + xs[0]


@gradient_at([[1.0, 2.0], [3.0]], 0.5)
def test_deep_copies(rows, y):
    twin = copy.deepcopy(rows)
    rows[0][0] = y
    twin[1][0] = twin[0][0] * y
    return rows[0][0] * 3 + twin[0][0] * 5 + twin[1][0] * 7 + twin[0][1]


@gradient_at(0.9)
def test_growing_in_a_loop(x):
    xs = [1.0]
    for i in range(5):
        xs.append(xs[-1] * x + i)
        if i == 3:
            xs.pop(0)
    return sum(xs) + xs[2] * xs[0]


@gradient_at(0.9)
def test_lists_made_by_helpers(x):
    class Box:
        items: list

    def fill(box, v):
        box.items = [v * v, v]

    def extend(target, v):
        target.append([v])

    box, rows = Box(), []
    fill(box, x)
    extend(rows, x * 3)
    return box.items[0] + rows[0][0] * box.items[1]


@gradient_at(0.9)
def test_sequences_of_functions_and_texts(x):
    xs = ["a", x, None, lambda t: t * x]
    xs.append(xs.pop(1))
    return xs[-1] * xs[-2](x)


@pytest.mark.parametrize("n", [0, 1, 4])
def test_a_stack_machine(n):
    def f(x):
        stack = [x]
        for op in ["dup", "mul", "push", "add", "dup", "swap"] * n:
            match op:
                case "dup":
                    stack.append(stack[-1])
                case "mul":
                    stack.append(stack.pop() * stack.pop())
                case "push":
                    stack.append(0.5)
                case "add":
                    b, a = stack.pop(), stack.pop()
                    stack.append(a + b)
                case _:
                    stack[-1], stack[-2] = stack[-2], stack[-1]
        return sum(stack)

    check_gradient(f, 0.7)


class Stack(list):
    def push(self, v):
        self.append(v)

    @property
    def top(self):
        return self[-1]


@gradient_at(1.5)
def test_a_subclass_of_list(x):
    s = Stack([1.0, x])
    s.push(x * x)
    total = 0.0
    for v in s:
        total += v * s.top
    s[0] = total
    return s[0] * s.pop() + sum(s) + len(s) + sum(v * v for v in s)


@gradient_at(1.3)
def test_reversed_display(x):
    total = 0.0
    for i, v in enumerate(reversed([x, 2 * x, x * x])):
        total += i * v
    return total


@gradient_at(1.3)
def test_lists_that_change_after_they_are_reversed(x):
    longer, shorter = [x, 2 * x, x * x], [x, 3 * x, x * x]
    turned, other = reversed(longer), reversed(shorter)
    longer.append(x**3)
    del shorter[1:]
    total = 0.0
    for i, v in enumerate(turned):
        total += (i + 1) * v
    return total + sum(other)


@gradient_at(1.3)
def test_sums_of_lists_and_tuples_as_they_come(x):
    pairs = sum(map(tuple, [(1.0,), (x,)]), ())
    lists = sum(([y, y * 2] for y in (x, 2.0)), [])
    return pairs[1] * x + lists[1] * lists[0]


@gradient_at(np.array([1.1, 0.7, 0.5, 0.6]), 2)
def test_sums_of_windows_that_are_empty_where_they_are_not_asked_for(d, width):
    sums = []
    for i in range(len(d)):
        if i < width - 1:
            sums.append(None)
        else:
            window = d[i - width + 1 : i + 1]
            sums.append(sum(window) / width + max(window) + sum(window * window, 1.0))
    return sum(v for v in sums if v is not None) * sums[-1]


class Summed:
    def __init__(self, value):
        self.value = value

    def __radd__(self, other):
        return sum(other) * self.value

    def __iter__(self):
        return iter([self.value])


class Declining(Summed):
    def __radd__(self, other):
        return NotImplemented


class Extended(list):
    """Python asks a subclass first."""


def added(x, make, cls=list):
    xs = same = cls([x, 2 * x])
    xs += make(x)
    return np.sum(np.asarray(xs) ** 2) + len(same) * x


def multiplied(x, make):
    xs = same = [x, 2 * x]
    xs *= make(x)
    return np.sum(np.asarray(xs) ** 2) + len(same) * x


@pytest.mark.parametrize(
    ("f", "make"),
    [
        *((added, make) for make in (lambda x: np.ones(2), lambda x: np.array([x, x]), np.float64, lambda x: (x, x))),
        *((added, make) for make in (Summed, Declining, lambda x: np.int64(2), lambda x: np.array(3.0))),
        *((multiplied, make) for make in (lambda x: np.array([x, x]), lambda x: np.array(3.0), lambda x: np.int64(2))),
        (lambda x, make: added(x, make, Extended), lambda x: np.array([x, x])),
        (lambda x, make: np.sum([x, x * x] / make(x) + (x, x) - make(x)), np.float64),
        (lambda x, make: np.sum(make(x) ** (2.0, 3.0) % [x, x]), np.float64),
        (lambda x, make: (x, 2 * x, x).count(make(x)) * x * x + (x, 2 * x).index(2 * x) * x, float),
    ],
)
def test_what_lists_are_added_to_is_asked_first(f, make):
    for _ in range(3):
        check_gradient(lambda x: f(x, make), 1.3)
        assert withgradient(lambda x: f(x, make), 1.3)[0] == f(1.3, make)


def turned_list(x):
    xs = x.tolist()
    xs.pop()
    xs.__setitem__(slice(1, 3), [x[0] * x[1]])
    return xs[0] * xs[1]


def turned_parts(x):
    parts = np.array_split(x, 3)
    parts.reverse()
    return np.sum(parts[1] ** 2) * parts[1][0]


def parts_left(x):
    parts = np.split(x, [1, 3])
    parts.pop(0)
    parts.append(x)
    return np.sum(parts[0] ** 2) * parts[0][0]


@pytest.mark.parametrize("f", [turned_list, turned_parts, parts_left])
def test_lists_that_numpy_made_are_changed(f):
    for x in np.array([[0.7, 1.3, 0.4, 2.1, 3.0], [1.7, -1.3, 0.6, 2.0, 3.5]]):
        check_gradient(f, x)
        np.testing.assert_allclose(generic_gradient(f, x)[0], gradient(f, x)[0])
