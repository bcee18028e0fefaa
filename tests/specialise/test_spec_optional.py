"""Values that may be None in specialised programs, and what tests say of the types of variables."""

from __future__ import annotations

import math

import numpy as np
import pytest
from specialised_cases import GENERIC, check, check_all_ways, check_raises, check_slopes, same

import autodiff_hook as ad
from autodiff_hook.runtime import specialising


def least(x, y):
    best = None
    for k in range(8):
        t = (x - 0.1 * k) ** 2 + y * math.sin(k)
        if best is None or t < best:
            best = t
    return best


def first_hit(x, y):
    hit = None
    for k in range(6):
        d = x * x - 0.3 * k * y
        if d > 0.1 and (hit is None or x - math.sqrt(d) > hit[0]):
            hit = (x - math.sqrt(d), k, y * d)
    if hit is None:
        return 0.0 * x
    return hit[0] * 2.0 + hit[1] * y + hit[2]


def differences(x, y):
    before, total = None, 0.0
    for k in range(6):
        now = math.sin(x * k) * y
        if before is not None:
            total += (now - before) ** 2
        before = now
    return total


def subtracted_unasked(x, y):
    before, total = None, 0.0
    for k in range(6):
        if k > 0:
            total += (x * k - before) ** 2
        before = y * k
    return total


def defaults(x, y):
    def scaled(a, scale=None, offset=None):
        if scale is None:
            scale = 2.0
        found = a * scale
        return found + offset if offset is not None else found

    total = 0.0
    for k in range(5):
        total += scaled(x * k) + scaled(x, y) * scaled(y, offset=x) + scaled(y, None if k < 2 else x)
    return total


def found_early(x, y):
    def search(step):
        for k in range(30):
            if step * k > 3.0:
                return k, step * k * y
        return None

    found = search(x)
    if not found:
        return x * y
    k, value = found
    return value / k + value


def roots(x, y):
    def solve(a, b, c):
        inside = b * b - 4 * a * c
        if inside < 0:
            return None
        root = math.sqrt(inside)
        return (-b - root) / (2 * a), (-b + root) / (2 * a)

    total = 0.0
    for k in range(8):
        found = solve(x, y, 0.3 - 0.1 * k)
        if found is not None:
            total += found[1] - found[0] * k
        if found:
            low, high = found
            total += low * high
    return total


class Candidate:
    def __init__(self, value):
        self.value = value

    def __call__(self, x):
        return self.value * x


def instances_of_what_stands_for_a_class(x, y):
    best, rows = None, None
    candidates = [Candidate(x * k) for k in range(4)]
    for candidate in candidates:
        if candidate.value > y:
            best, rows = candidate, tuple(c.value * y for c in candidates)
    total = x * y
    if isinstance(best, Candidate):
        total += best.value**2
    if not isinstance(best, (int, type(None))):
        total += best.value
    return total + (sum(rows) if isinstance(rows, tuple) else 0.5) + (best(x) if callable(best) else x)


def chosen_array(x, y):
    kept = None
    for k in range(5):
        values = np.array([x, y, x * y]) * k
        if kept is None or values.sum() > kept.sum():
            kept = values
    return float((kept * kept).sum())


def accumulated_array(x, y):
    total = None
    for k in range(4):
        step = np.array([x * k, y])
        total = step if total is None else total + step * y
    return total[0] * total[1]


def part_may_be_none(x, y):
    state = (x, None)
    for k in range(5):
        value, rate = state
        rate = y if rate is None else rate * 0.9
        state = (value + rate * 0.1 * k, rate)
    return state[0] * (1.0 if state[1] is None else state[1])


def by_class(x, y):
    total = 0.0
    for k in range(6):
        factor = k if k % 2 else x
        if isinstance(factor, int):
            total += y * (factor // 2)
        else:
            total += factor * y
        limit = None if k < 3 else x * k
        if isinstance(limit, float):
            total += limit
    return total


def nested_tests(x, y):
    low, high = None, None
    for k in range(6):
        value = math.cos(x * k) + y
        if low is None:
            low = value
            high = value
        elif high is not None and value > high:
            high = value
        elif low is not None and not value >= low:
            low = value
    if low is not None and high is not None and low != high:
        return (high - low) ** 2 + low
    return x


def compared_with_none(x, y):
    kept, count = None, 0
    for k in range(5):
        count += kept == None  # noqa: E711
        count += kept != x
        kept = x * k if k % 2 else None
    return y * count + (kept or y) * x


def text_or_none(x, y):
    kind, total = None, 0.0
    for k in range(6):
        if k > 2:
            kind = "square" if k > 4 else "cube"
        if kind is None:
            total += x
        elif kind == "square":
            total += x**2 * y
        else:
            total += y**3
    return total


def read_after_the_loop(x, y):
    for k in range(5):
        value = x * k + y
        if value > 3.0:
            last = value * y
            break
    else:
        last = x
    for step in range(1, 3):
        array = np.array([step * x, value])
    return value * x * k + last + array.sum()


PROGRAMS = [
    instances_of_what_stands_for_a_class,
    read_after_the_loop,
    least,
    first_hit,
    differences,
    subtracted_unasked,
    defaults,
    found_early,
    roots,
    chosen_array,
]
PROGRAMS += [accumulated_array, part_may_be_none, by_class, nested_tests, compared_with_none, text_or_none]


@pytest.mark.parametrize("f", PROGRAMS)
def test_what_may_be_none(f):
    for x, y in [(1.3, 0.7), (0.9, -0.4), (-0.6, 1.7), (0.05, 0.3)]:
        check_all_ways(f, x, y)


def converged(x, limit):
    last = None
    for k in range(20):
        step = x / (k + 1)
        if step < limit:
            last = step
            break
    return last * 2.0


def test_arithmetic_with_none_raises_as_it_does_plainly():
    check_all_ways(converged, 1.3, 0.3)
    check_raises(converged, 1.3, 0.01)
    check(converged, 1.3, 0.3)


def assigned_on_some_ways(x, count):
    for k in range(int(count)):
        value = x * k
    if x > 2.0:
        factor = x
    return value * (factor if x > 2.0 else 3.0)


def test_variables_without_a_value():
    check_all_ways(assigned_on_some_ways, 1.3, 3.4)
    check_all_ways(assigned_on_some_ways, 2.3, 3.4)
    check_raises(assigned_on_some_ways, 1.3, 0.4)
    check(assigned_on_some_ways, 2.3, 3.4)


def nothing_found(x):
    for k in range(5):
        if x * k > 3.0:
            return x * k
    return None


def test_what_returns_none_is_refused_as_by_the_carried_program():
    check_all_ways(nothing_found, 1.3)
    with pytest.raises(ad.AutodiffError):
        ad.gradient(nothing_found, 0.1)
    check_all_ways(nothing_found, 1.4)


def pair_with_none(x):
    best = None
    for k in range(3):
        if x > k:
            best = x * k
    return x * x, best


def test_the_pullback_of_what_holds_none():
    value, back = ad.pullback(pair_with_none, 1.5)
    assert value == (2.25, 1.5)
    same(back((1.0, 2.0)), (5.0,))
    value, back = ad.pullback(pair_with_none, -1.5)
    assert value == (2.25, None)
    same(back((1.0, None)), (-3.0,))


def stored_into(x):
    kept = None
    for k in range(4):
        if kept is None:
            kept = np.zeros(3)
        kept[k % 3] = x * k
    return (kept**2).sum()


def read_beside_stores(x, y):
    given, found = None, np.zeros(4)
    for k in range(4):
        if given is None or k == 2:
            given = np.array([x * k, y, x * y])
        if given is not None:
            for i in range(3):
                found[i] = found[i] + given[i] * given.sum() * y
    return (found * found).sum()


def test_arrays_that_may_be_none_and_are_stored_into():
    check(stored_into, 1.5, specialised=None)
    check_all_ways(read_beside_stores, 1.3, 0.7)


def test_one_program_serves_all_ways():
    if GENERIC or specialising.ONE_WAY:
        return
    for x in np.linspace(-2.0, 2.0, 41):
        check(least, float(x), 0.7)
    assert all(len(x.entries) < 2 for x in specialising._known.found[id(least.__code__)].values())


# Tuples that may be absent, in lists


def late_pairs(x, n):
    pair, pairs = None, []
    for i in range(n):
        if i > 2:
            pair = (x * i, x)
        pairs.append(pair)
    return sum_of_pairs(pairs)


def sum_of_pairs(pairs):
    s = 0.0
    for pair in pairs:
        if pair is not None:
            s += pair[0] * pair[1]
    return s


def copied_pairs(x, n):
    pairs = [None, (x, x * x)] * n
    others = pairs[:]
    others[0] = (x, 0.5)
    pairs[1] = None
    return sum_of_pairs(others) * sum_of_pairs(pairs) + sum_of_pairs(others + pairs)


def nested_pairs(x, n):
    found = []
    for i in range(n):
        inner = None
        if i % 2:
            inner = (x * i, x)
        found.append((x, inner))
    s = 0.0
    for y, inner in found:
        if inner is not None:
            s += inner[0] * inner[1] * y
    return s


@pytest.mark.parametrize("f", [late_pairs, copied_pairs, nested_pairs])
def test_pairs_that_may_be_absent_in_lists(f):
    check(f, 0.7, 5, specialised=None)


def ordered_with_none(x, limit=None):
    if x > 10.0 and x * 2.0 > 30.0 and limit < 5.0:
        return x
    return x * x * x


def text_ordered_with_number(x, name="a"):
    try:
        return x if name < 1 else x * 2.0
    except TypeError:
        return x * x


@pytest.mark.parametrize("f", [ordered_with_none, text_ordered_with_number])
def test_comparisons_that_raise_are_left_to_the_program(f):
    check(f, 0.7, specialised=None)


def best_of_constants(n, x):
    best, total = None, 0.0
    for i, v in [(n, x), (2, x * x), (3, 0.1)]:
        if best is None or v > best[1]:
            best = (i, v)
    for i, v in ((1, 0.5), (2, 0.7)):
        total += i * v * x
    p = (1, 2.0)
    for _ in range(3):
        total += p[0] * p[1] * n
        p = (p[0] + 1, x)
    q = (1.0, 2.0) if x > 0.5 else (3.0, 4.0)
    return total + best[0] * best[1] + q[0] * q[1] * x


def letters(n, x):
    total = n
    for c in "abca":
        total = total * x if c == "a" else total + x
    for i, c in enumerate("ab"):
        total += i * x if c == "b" else n
    return total


@pytest.mark.parametrize("f", [best_of_constants, letters])
def test_constant_pairs_and_letters_are_typed(f):
    check_all_ways(f, 0.7, 1.3)


def indexed_by_a_place_or_none(x, y):
    rows, total = np.outer([x, y], [y, 2.0, x]), 0.0
    for i in range(4):
        part = rows[..., PLACES[i % 2]]
        total += part.ndim * x + part.sum() * i
    return total


PLACES = [None, 0]


def test_an_index_that_may_be_none():
    check(indexed_by_a_place_or_none, 0.7, 1.3, specialised=None)


def observed(ys, x):
    m = x
    for y in ys:
        m = np.sin(m * x)
        if y is not None:
            m = m + y
    return m.sum()


def observed_by_name(ys, x):
    return observed(ys.values(), x)


def observed_in_pairs(ys, x):
    m = x
    for scale, y in ys:
        m = np.sin(m * scale)
        if y is not None:
            m = m + y
    return m.sum()


def observed_by_place(ys, x):
    m = x
    for i in range(len(ys)):
        m = np.sin(m * x)
        if ys[i] is not None:
            m = m + ys[i]
    return m.sum()


def observed_in_a_list_made(ys, x):
    return observed([*ys, x * x, None], x) + observed([y if y is None else y * x for y in ys], x)


@pytest.mark.parametrize("f", [observed, observed_by_place, observed_in_a_list_made])
def test_arrays_in_a_list_that_may_be_none(f):
    x, y = np.array([0.7, 1.3]), np.array([0.2, -0.4])
    for ys in ([y, None, y * 2], [None, y], [y, y + 1.0], [y]):
        check(f, ys, x)


def test_arrays_in_dicts_and_tuples_that_may_be_none():
    x, y = np.array([0.7, 1.3]), np.array([0.2, -0.4])
    for ys in ([y, None, y * 2], [None, y], [y, y + 1.0]):
        check(observed_by_name, dict(zip("abc", ys)), x, specialised=None)
        check(observed_in_pairs, [(1.5, y) for y in ys], x, specialised=None)


class Neighbours:
    """Pairs that are near, which are looked for again when something has moved far."""

    def __init__(self, cutoff):
        self.cutoff, self.pairs, self.at = cutoff, None, None

    def is_old(self, x):
        return self.at is None or np.max(np.abs(x - self.at)) > 0.2

    def search(self, x):
        pairs = []
        for i in range(len(x)):
            for j in range(i):
                if abs(x[i] - x[j]) < self.cutoff:
                    pairs.append((i, j))
        self.pairs, self.at = np.array(pairs), x.copy()


def of_neighbours(x, n=5):
    near, at, total = Neighbours(2.0), np.arange(5.0) * x, 0.0
    for _ in range(n):
        if near.is_old(at):
            near.search(at)
        i, j = near.pairs.T
        total += np.sum((at[i] - at[j]) ** 2) + np.sum(near.at)
        at = at * 1.1
    return total


def of_both_kinds_of_truth(x, n=4):
    total, at = 0.0, np.array([x, -x])
    for k in range(n):
        is_first = k == 0 or at[k % 2] > 0.5
        total += x * k if is_first and not (at[0] < 0.0 or k > 5) else x * x
        total += x * (is_first is True) + x * is_first
    return total


def test_truths_of_python_and_of_numpy():
    for x in (0.7, 0.9, 0.3):
        check_all_ways(of_neighbours, x)
        check_slopes(of_both_kinds_of_truth, x)
