"""Iterations over the rows of arrays."""

from __future__ import annotations

import numpy as np
import pytest
from specialised_cases import check, oracle

from autodiff_hook import gradient
from autodiff_hook.runtime.specialising import ONE_WAY

W = np.array([1.0, 2.0, 3.0])
A = np.arange(12.0).reshape(4, 3) / 7.0 + 0.1


def numbered(a):
    c = 0.0
    for i, q in enumerate(a):
        c += (i + 1) * np.sum(q * q)
    return c


def transposed(a):
    c = 0.0
    for q in a.T:
        c += np.sum(q**3)
    return c


def sliced(a):
    c = 0.0
    for q in a[1:]:
        c += q @ W
    return c


def pairs(a):
    c = 0.0
    for p, q in zip(a, a[1:]):
        c += np.sum((p - q) ** 2) * p[0]
    return c


def unpacked(a):
    c = 0.0
    for x, y, z in a:
        c += x * y * z
    return c


def comprehension(a):
    return sum([q @ W * q[0] for q in a])


def generator(a):
    return sum(q @ W * q[0] for q in a)


def backwards(a):
    c = 1.0
    for q in reversed(a):
        c = c * 0.5 + np.sum(q * q) * c
    return c


def as_a_state(a):
    x = np.zeros(3)
    for q in a:
        x = np.tanh(x + q) * W
    return np.sum(x)


def matrices(a):
    b = np.stack([a, 2 * a])
    c = 0.0
    for m in b:
        for q in m:
            c += np.sum(q * q * q)
    return c


def appended(a):
    rows = []
    for q in a:
        rows.append(q * q)
    return np.sum(np.array(rows) * a)


def kept(a):
    rows = []
    for q in a:
        rows.append(q)
    return np.sum(rows[0] * rows[1])


def left_early(a):
    c = 0.0
    for q in a:
        if q[0] > 0.5:
            break
        c += q @ q
    return c


def mapped(a):
    return sum(map(lambda q: q @ q * q[1], a))


def last(a):
    for q in a:
        row = q
    return np.sum(row * row)


def nested(a):
    c = 0.0
    for i, p in enumerate(a):
        for q in a[i + 1 :]:
            c += 1.0 / np.sqrt(np.sum((p - q) ** 2) + 0.1)
    return c


def greatest(a):
    return max(np.sum(q * q) for q in a)


def assign_row(a):
    out = np.zeros_like(a)
    for i, q in enumerate(a):
        out[i] = q * q[0]
    return np.sum(out**2)


def accumulate_into(a):
    out = np.zeros(3)
    for q in a:
        out += q * q
    return np.sum(out**2)


def changed_on_the_way(a):
    b = a * 2
    c = 0.0
    for i, q in enumerate(b):
        c += np.sum(q * q)
        b[i] = 0.0
        c += np.sum(q)
    return c


def row_written(a):
    b = a * 2
    for q in b:
        q[0] = q[1] * q[2]
    return np.sum(b * b)


def row_scaled(a):
    b = a * 2
    for q in b:
        q *= q[0]
    return np.sum(b * b)


def starred(a):
    c = 0.0
    for x, *r in a:
        c += x * r[0] * r[1]
    return c


def made_into_lists(a):
    rows = [list(q) for q in a]
    for i in range(len(rows)):
        for k in range(3):
            rows[i][k] += 0.1 * rows[i - 1][k] ** 2
    return sum(x * x for q in rows for x in q)


def made_into_a_list(a):
    x, y, z = list(a[0])
    rows = list(a)
    return x * y * z + np.sum(rows[1] * rows[-1])


def summed_into_lists(a):
    sums = [[0.0, 0.0, 0.0] for _ in a]
    for i, q in enumerate(a):
        for k in range(3):
            sums[i][k] += q[k] * q[k - 1]
    return sums[0][0] * sums[1][2] + sum(sums[-1])


def flat(a):
    c = 1.0
    for v in a.flat:
        c += v * v * c
    return c


def flat_of_columns(a):
    return sum(v**3 * (i + 1) for i, v in enumerate([*a.T[1:].flat]))


def flat_while_it_changes(a):
    b = a * 2
    c = 0.0
    for v in b.T.flat:
        b *= 1.1
        c += v * v
    return c


def flat_while_what_is_given_changes(a):
    c = 0.0
    for v in a.flat:
        a *= 1.1
        c += v * v
    return c


def flat_while_parts_are_stored(a):
    b = a * 2
    c = 0.0
    for i, v in enumerate(b.T.flat):
        b[0, 1] = 0.5 * v
        c += v * v * i
    return c


def lists(a):
    c = 0.0
    for row in a.tolist():
        for v in row:
            c += v * v * v
    rows = a.T.tolist()
    rows[0][1] = rows[1][2] * c
    return sum(rows[0]) * len(a.tolist())


class Kept:
    pass


def lists_of_an_object(a):
    kept = Kept()
    kept.none, kept.rows, kept.blocks = a[:, :0].tolist(), a.tolist(), a[None, :2].tolist()
    return kept.rows[1][0] * kept.blocks[0][1][1] + sum(kept.rows[0]) * len(kept.none)


def list_of_one_axis(a):
    xs = a[0].tolist()
    xs.append(xs[0] * xs[1])
    return sum(x * x for x in xs) if isinstance(xs[0], float) and not isinstance(xs[0], np.floating) else 0.0


def items(a):
    c, b = 0.0, a.ravel()
    for i in range(len(b)):
        c += b.item(i) ** 2 * b.item(-i)
    return c if type(b.item(0)) is float else 0.0


@pytest.mark.parametrize(
    "f",
    [
        flat,
        lists,
        lists_of_an_object,
        list_of_one_axis,
        items,
        numbered,
        made_into_lists,
        made_into_a_list,
        summed_into_lists,
        transposed,
        sliced,
        pairs,
        unpacked,
        comprehension,
        generator,
        backwards,
        as_a_state,
        matrices,
        appended,
        kept,
        left_early,
        mapped,
        last,
        nested,
        greatest,
        assign_row,
        accumulate_into,
    ],
)
def test_rows(f):
    check(f, A, specialised=None if ONE_WAY and f is flat else True)


@pytest.mark.parametrize(
    "f",
    [
        changed_on_the_way,
        row_written,
        row_scaled,
        starred,
        flat_of_columns,
        flat_while_it_changes,
        flat_while_parts_are_stored,
    ],
)
def test_rows_that_are_changed_or_shared_out(f):
    check(f, A, specialised=None)


def test_rows_of_numbers_of_single_precision():
    check(numbered, A.astype(np.float32))


def test_rows_of_an_array_without_any():
    check(numbered, A[:0])


@pytest.mark.parametrize("f", (lists, items, flat))
def test_items_of_arrays_of_other_types_and_sizes(f):
    for a in (A.astype(np.float32), np.arange(12).reshape(4, 3), np.asfortranarray(A)):
        check(f, a, specialised=None)


@pytest.mark.parametrize("a", (A, np.asfortranarray(A), A[:, ::2]))
def test_an_array_that_changes_while_its_items_are_taken(a):
    def f(x):
        return flat_while_what_is_given_changes(x.copy())

    for _ in range(2):
        expected = oracle(flat_while_what_is_given_changes, a.copy())[1][0]
        np.testing.assert_allclose(gradient(flat_while_what_is_given_changes, a.copy())[0], expected)
        np.testing.assert_allclose(gradient(f, a)[0], expected)


def test_places_out_of_range():
    with pytest.raises(IndexError, match="index 3 is out of bounds for"):
        gradient(lambda a: a.item(3), W)
