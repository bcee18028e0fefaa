"""Loops whose iterations are run in the adjoint alone, and those that must not be."""

from __future__ import annotations

import math
import random
import tracemalloc

import numpy as np
import pytest
from specialised_cases import check, oracle

import autodiff_hook as ad
from autodiff_hook.runtime.specialising import GENERIC, ONE_WAY

shown = pytest.mark.skipif(GENERIC or ONE_WAY, reason="there are no loops in these programs")
WEIGHTS = [0.3, -1.2, 0.8, 2.0]
ROWS = [[0.5, 1.5], [-0.25, 2.0, 1.0], []]


def by_index(xs):
    total = 0.0
    for i in range(len(xs)):
        total = total + xs[i] * WEIGHTS[i]
    return total


def by_two_indices(xs, ys):
    energy = 0.0
    for i in range(len(xs)):
        for j in range(i):
            d = xs[i] - xs[j]
            energy = energy - ys[i] * ys[j] / math.sqrt(d * d + 0.01)
    return energy


def with_steps(xs, k):
    total = 0.0
    for i in range(len(xs) - 1, 0, -2):
        total = total + math.sin(xs[i] * k) * xs[i - 1]
    return total


def of_items(xs):
    total = 0.0
    for x in xs:
        total = total + x * x
    return total


def of_numbered_items(xs, ys):
    total = 0.0
    for i, (x, y) in enumerate(zip(xs, ys)):
        total = total + x * math.exp(y) * i
    return total


def of_rows(rows, k):
    total = 0.0
    for row in rows:
        for x in row:
            total = total + k * x * x
    return math.exp(-total)


def of_squares(xs, k):
    total = 0.0
    for i in range(len(xs)):
        d = k - xs[i]
        total = total + d * d
    return 0.5 * total / len(xs)


@shown
@pytest.mark.parametrize(
    "f, args",
    [
        (by_index, ([1.0, 2.0, 3.0],)),
        (by_two_indices, (WEIGHTS, [1.0, 0.5, 2.0, 0.25])),
        (with_steps, (WEIGHTS, 0.7)),
        (of_items, (WEIGHTS,)),
        (of_numbered_items, (WEIGHTS, [0.1, 0.2, 0.3])),
        (of_squares, (WEIGHTS, 0.7)),
    ],
)
def test_no_records_are_left(f, args):
    assert "list_append" not in ad.code_adjoint(f, *args)
    check(f, *args)


def of_a_norm(xs):
    total = 0.0
    for i in range(len(xs)):
        total = total + xs[i] * xs[i]
    return math.sqrt(total)


def likelihood(xs, k):
    total = 0.0
    for i in range(len(xs)):
        total = total + xs[i] * WEIGHTS[i]
    return math.exp(-total * k)


@shown
@pytest.mark.parametrize("f, args", [(of_a_norm, (WEIGHTS,)), (likelihood, ([1.0, 2.0, 3.0], 0.2))])
def test_items_are_taken_out_of_lists_again(f, args):
    found = ad.code_adjoint(f, *args)
    assert found.count("next ") == 2 and "list_append" not in found
    check(f, *args)


def of_products(xs, ys):
    total = 0.0
    for x, y in zip(xs, ys):
        total = total + x * y
    return math.exp(total)


def of_numbered_products(xs, ys):
    total = 0.0
    for i, x in enumerate(xs):
        total = total + i * x * ys[i]
    return math.exp(total)


@shown
def test_items_are_counted_where_somebody_reads_the_counts():
    lists = [0.3, 1.2, -0.4], [2.0, 0.5, 1.0]
    assert "enumerate" not in ad.code_adjoint(of_products, *lists)
    for f in (of_products, of_numbered_products):
        check(f, *lists)


@pytest.mark.parametrize("f", [by_index, of_items, lambda xs: of_squares(xs, 0.5)])
def test_of_arrays(f):
    for x in (np.array([1.0, 2.0, 3.0]), np.zeros(1)):
        expected = oracle(f, x)[1][0]
        for _ in range(2):
            np.testing.assert_allclose(ad.gradient(f, x)[0], expected)


@pytest.mark.parametrize("args", [(ROWS, 0.4), ([], 0.4), ([[], []], 1.0)])
def test_of_rows(args):
    check(of_rows, *args, specialised=None)


def test_what_an_iteration_raises_is_raised():
    for args in ([1.0] * 3,), ([1.0] * 9,), ([1.0] * 3,):
        if len(args[0]) > len(WEIGHTS):
            with pytest.raises(IndexError, match="out of range"):
                ad.gradient(by_index, *args)
        else:
            assert ad.gradient(by_index, *args) == (WEIGHTS[:3],)


def unread(xs, ys, k):
    for i in range(len(ys)):
        k = k + 0.0 * (xs[i] * ys[i])
    total = 0.0
    for i in range(len(ys)):
        xs[i] * ys[i]
    return total + k * k


def branching(xs, k):
    total = 0.0
    for i in range(4):
        total = total + k * xs[i]
    return total if k > 0.0 else k * k


def test_what_is_not_gone_back_over_raises_as_well():
    for _ in range(4):
        check(unread, [1.0, 2.0], [3.0, 4.0], 1.5, specialised=None)
        with pytest.raises(IndexError):
            ad.gradient(unread, [1.0], [3.0, 4.0], 1.5)
        check(branching, [1.0, 2.0, 3.0, 4.0], 1.5, specialised=None)
        check(branching, [1.0, 2.0, 3.0, 4.0], -1.5, specialised=None)
        with pytest.raises(IndexError):
            ad.gradient(branching, [1.0], -1.5)


def unread_row(xs, k):
    total = 0.0
    for i in range(2, 0, -1):
        for w in WEIGHTS:
            (w - xs[i]) * k
    return total + k


def test_what_is_read_before_its_loop_raises_there():
    check(unread_row, [1.0, 2.0, 3.0], 0.5)
    for _ in range(3):
        with pytest.raises(IndexError):
            ad.gradient(unread_row, [1.0], 0.5)


def changed_behind(xs, k):
    ys, total = [k * x for x in xs], 0.0
    for i in range(len(ys)):
        total = total + ys[i] * ys[i] * k
    for i in range(len(ys)):
        ys[i] = 3.0
    ys.append(k)
    return total + ys[0] + ys[-1]


def rows_changed_behind(xs, k):
    rows, total = [[k, x] for x in xs], 0.0
    for row in rows:
        total = total + row[0] * row[1] * k
    for i in range(len(rows)):
        rows[i][1] = 3.0 * k
    return total + rows[0][1]


def pairs_changed_behind(xs, k):
    rows, total = [[k, x] for x in xs], 0.0
    for a, b in rows:
        total = total + a * b * k
    for i in range(len(rows)):
        total = math.sin(total + rows[i][0])
        rows[i][0] = 3.0 * k
    return total + rows[0][0]


def changed_within(xs, k):
    total = 0.0
    ys = list(xs)
    for i in range(len(ys) - 1):
        total = total + ys[i] * k * ys[i]
        ys[i + 1] = ys[i + 1] + total
    return total


def array_changed_behind(x, k):
    y, total = x * k, 0.0
    for i in range(len(x)):
        total = total + y[i] * y[i] * k
    y[0] = 2.0
    return total + y[0] + y[1]


def carried_along(xs, k):
    total = 1.0
    for i in range(len(xs)):
        total = total * xs[i] + k
    return total


def left_early(xs, k):
    total = 0.0
    for i in range(len(xs)):
        total = total + k * xs[i]
        if i == 2:
            break
    return total


def one_after_the_other(xs, k):
    total = 0.0
    for i in range(len(xs)):
        total = total + xs[i] * k
    for i in range(len(xs)):
        k = k + xs[i] * total
    return k


@pytest.mark.parametrize(
    "f",
    [
        rows_changed_behind,
        pairs_changed_behind,
        changed_behind,
        changed_within,
        carried_along,
        left_early,
        one_after_the_other,
    ],
)
def test_what_the_loop_reads_and_comes_to(f):
    check(f, [0.5, 1.5, -0.5, 2.0], 0.7, specialised=None)


def test_an_array_that_is_changed_behind_the_loop():
    x = np.array([0.5, 1.5, -0.5])
    expected = oracle(array_changed_behind, x, 0.7)[1]
    for _ in range(3):
        for found, wanted in zip(ad.gradient(array_changed_behind, x, 0.7), expected):
            np.testing.assert_allclose(found, wanted)


def test_a_pullback_has_what_the_call_has_read():
    weights = [1.0, 2.0, 3.0]

    def weighted(k):
        total = 0.0
        for i in range(len(weights)):
            total = total + k * weights[i]
        return total

    for _ in range(3):
        _, back = ad.pullback(weighted, 2.0)
        weights[0] = 100.0
        assert back(1.0) == (6.0,)
        weights[0] = 1.0


class Ball:
    def __init__(self, place, size):
        self.place, self.size = place, size

    def depth(self, x):
        d = x - self.place
        inside = self.size * self.size - d * d
        return math.sqrt(inside) if inside > 0.0 else None


def of_branches(xs, k):
    total = 0.0
    for x in xs:
        if x > 0.0:
            y = math.log(x) * k
        else:
            y = x * x + k
        total += max(y * y, 0.1 * k)
    return total


def of_newton(xs, k):
    total = 0.0
    for x in xs:
        root = 1.0 + k
        for _ in range(30):
            step = (root * root - 2.0 - x * x) / (2.0 * root)
            root -= step
            if abs(step) < 1e-12:
                break
        total += (root - k) ** 2
    return total / len(xs)


def of_balls(balls, k):
    total = 0.0
    for i in range(4):
        for j in range(3):
            x, best, hit = 0.3 * i - 0.2 * j, -1.0, None
            for ball in balls:
                depth = ball.depth(x)
                if depth is not None and depth > best:
                    best, hit = depth, ball
            if hit is not None:
                total += (best * hit.size - k) ** 2
    return total


BALLS = [Ball(0.1, 0.4), Ball(0.5, 0.3), Ball(-0.2, 0.25)]


@shown
@pytest.mark.parametrize(
    "f, args, left",
    [
        (of_branches, (WEIGHTS, 0.7), 0),
        (of_newton, (WEIGHTS, 0.7), 1),
        (of_balls, (BALLS, 0.2), 1),
    ],
)
def test_iterations_of_several_blocks_leave_no_records(f, args, left):
    """What is left is of a loop within."""
    assert ad.code_adjoint(f, *args).count("list_append") == left


@pytest.mark.parametrize("f", [of_branches, of_newton])
def test_iterations_of_several_blocks(f):
    for k in (0.7, -0.3):
        check(f, WEIGHTS, k)
    check(f, [0.5], 0.7)


def test_iterations_over_objects():
    def numbers(places, sizes, k):
        return of_balls([Ball(*it) for it in zip(places, sizes)], k)

    places, sizes = [b.place for b in BALLS], [b.size for b in BALLS]
    expected = oracle(numbers, places, sizes, 0.2)[1]
    for _ in range(3):
        balls, k = ad.gradient(of_balls, BALLS, 0.2)
        np.testing.assert_allclose([b.place for b in balls], expected[0])
        np.testing.assert_allclose([b.size for b in balls], expected[1])
        np.testing.assert_allclose(k, expected[2])


def of_lists_that_are_made(xs, k):
    total = 0.0
    for i in range(len(xs)):
        ys = [x * k * i for x in xs]
        for y in ys:
            total += y * ys[0]
    return total


def of_slices(xs, k):
    total = 0.0
    for i in range(3):
        ys = xs[1:]
        total += ys[i] * ys[0] * k
    return total


def of_sums_of_lists(xs, k):
    total = 0.0
    for i in range(4):
        ys = xs + [k, k * i]
        total += ys[i] * ys[-1] if i else ys[0]
    return total


def of_draws(xs, k):
    draw, total = random.Random(3), 0.0
    for x in xs:
        if x > 0.0:
            total += draw.random() * x * k
    return total


def of_one_iterator(xs, k):
    rest, total = iter(xs), 0.0
    for i in range(2):
        for x in rest:
            total += x * k * x
            if x < 0.0:
                break
        total += i * k
    return total


@pytest.mark.parametrize(
    "f", [of_lists_that_are_made, of_slices, of_sums_of_lists, of_draws, of_one_iterator], ids=lambda f: f.__name__
)
def test_what_an_iteration_makes_or_goes_on_with(f):
    check(f, WEIGHTS, 0.7, specialised=None)


def test_what_raises_in_a_branch_of_an_iteration_is_raised():
    def logs(xs, k):
        total = 0.0
        for x in xs:
            if k > 0.5:
                total += math.log(x) * 0.0
            total += k * k
        return total

    for xs in ([1.0, 2.0], [1.0, -1.0], [3.0, 0.5], [-1.0]):
        if min(xs) < 0.0:
            with pytest.raises(ValueError):
                ad.gradient(logs, xs, 0.7)
            assert ad.gradient(logs, xs, 0.2)[1] == 0.4 * len(xs)
        else:
            assert ad.gradient(logs, xs, 0.7)[1] == 1.4 * len(xs)


def of_steps(k, count):
    total = 0.0
    for i in range(count):
        y = k if i % 3 else math.sin(k * i)
        for _ in range(4):
            y = y * k + 0.1
        total += y * y
    return total


@shown
def test_the_memory_of_a_sum_does_not_grow():
    def used(count):
        for _ in range(3):
            ad.gradient(of_steps, 0.7, count)
        tracemalloc.start()
        ad.gradient(of_steps, 0.7, count)
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        ad.gradient(of_steps, 0.7, count)
        found = tracemalloc.get_traced_memory()[1] - before
        tracemalloc.stop()
        return found

    check(of_steps, 0.7, 5)
    assert used(1000) < used(10) + 1000


def rotation(angle, shift):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, shift * c], [s, c, shift * s], [0.0, 0.0, 1.0]])


def arm(angles, shifts, targets):
    cost = 0.0
    for row, target in zip(angles, targets):
        at = np.eye(3)
        for shift, angle in zip(shifts, row):
            at = at @ rotation(angle, shift)
        cost += np.sum((at[:2, 2] - target) ** 2) + np.dot(row, row)
    return cost


def stored_on_the_way(angles, targets):
    cost, work = 0.0, np.zeros(2)
    for row, target in zip(angles, targets):
        work[:] = work + np.tanh(row) * target
        cost += np.sum(work * work)
    return cost


def with_lists_of_arrays(angles, targets):
    cost, seen = 0.0, []
    for row, target in zip(angles, targets):
        parts = [np.sin(row), np.cos(row) * target]
        seen.append(parts)
        cost += np.sum(parts[0] * parts[1])
    return cost + np.sum(seen[0][0] * seen[-1][1])


@pytest.mark.parametrize("f", [stored_on_the_way, with_lists_of_arrays, lambda a, t: arm(a, [0.5, 0.25], t)])
def test_iterations_with_arrays(f):
    random = np.random.default_rng(3)
    check(f, random.normal(size=(4, 2)), random.normal(size=(4, 2)), specialised=None)


@shown
def test_the_memory_of_a_sum_of_arrays_does_not_grow_with_its_parts():
    def used(count):
        angles, targets = np.linspace(0.0, 1.0, 2 * count).reshape(count, 2), np.ones((count, 2))
        for _ in range(3):
            ad.gradient(arm, angles, [0.5, 0.25], targets)
        tracemalloc.start()
        ad.gradient(arm, angles, [0.5, 0.25], targets)
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        ad.gradient(arm, angles, [0.5, 0.25], targets)
        found = tracemalloc.get_traced_memory()[1] - before
        tracemalloc.stop()
        return found

    assert used(100) < 3 * used(10)


def sum_of_a_generator(xs, k):
    return sum(math.exp(-k * x) for x in xs) / len(xs)


def sum_of_a_list(xs, k):
    return 0.5 * sum([x * x * k if x > 0.0 else x for x in xs])


def sums_on_the_way(xs, k):
    total, items = k, []
    for x in xs:
        items.append(x * k)
        total = total * x + sum(items)
        items.append(total)
    return total


def sum_between(xs, k):
    items = []
    items.append(k * k)
    first = sum(items)
    for x in xs:
        items.append(x * first)
    return first * sum(items, 1) - sum(items)


def sums_within(xs, k):
    total = 1.0
    for i in range(3):
        total = total * k + sum([x * i for x in xs]) * math.sin(sum([total * x for x in xs]))
    return total


def sum_behind_a_break(xs, k):
    items = []
    for x in xs:
        items.append(x * k)
        if x > 1.0:
            break
    return math.sqrt(abs(sum(items)))


def sum_of_no_items(xs, k):
    items = []
    for x in xs:
        if x > 100.0:
            items.append(x)
    return k * k + sum(items) / len(xs)


def sum_and_items(xs, k):
    items = [x * k for x in xs]
    return sum(items) * items[1] + len(items) * k


def sum_of_what_is_changed(xs, k):
    items = []
    for x in xs:
        items.append(x * k)
    total = sum(items)
    items[0] = total
    items.pop()
    return total * sum(items)


def sum_by_two_names(xs, k):
    items = other = []
    for x in xs:
        items.append(x)
        other.append(k * x)
    return sum(items) * sum(other)


SUMS = [
    sum_of_a_generator,
    sum_of_a_list,
    sums_on_the_way,
    sum_between,
    sums_within,
    sum_behind_a_break,
    sum_of_no_items,
    sum_and_items,
    sum_of_what_is_changed,
    sum_by_two_names,
]


@pytest.mark.parametrize("f", SUMS, ids=lambda f: f.__name__)
def test_sums_of_lists(f):
    check(f, [0.5, 1.5, -0.5, 2.0], 0.7)
    hessian = ad.hessian(lambda k: f([0.5, 1.5, -0.5, 2.0], k))(0.7)
    slope = [ad.gradient(lambda k: f([0.5, 1.5, -0.5, 2.0], k), 0.7 + d)[0] for d in (-1e-5, 1e-5)]
    assert hessian == pytest.approx((slope[1] - slope[0]) / 2e-5, rel=1e-6, abs=1e-6)


@shown
@pytest.mark.parametrize("f", [sum_of_a_generator, sum_of_a_list])
def test_no_lists_are_made_for_sums(f):
    assert "list_append" not in ad.code_adjoint(f, WEIGHTS, 0.7)


def test_what_is_divided_by_the_length_of_a_list_raises():
    with pytest.raises(ZeroDivisionError):
        ad.gradient(sum_of_a_generator, [], 0.7)
