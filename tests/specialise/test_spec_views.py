"""Views of arrays that are written to, and read after a change, as NumPy programs do it."""

from __future__ import annotations

import numpy as np
import pytest
from specialised_cases import GENERIC, check, check_all_ways, has_all_ways

import autodiff_hook as ad
from autodiff_hook.runtime.specialising import ONE_WAY

RNG = np.random.default_rng(11)
VECTOR = RNG.normal(size=30)
MATRIX = RNG.normal(size=(5, 6))


def rows(a):
    b = a * 1.0
    for i in range(1, b.shape[0]):
        row = b[i]
        row -= 0.5 * b[i - 1]
        row[1:3] *= row[0]
    return float(np.sum(b**2))


def columns(a):
    b = a.copy()
    for j in range(b.shape[1]):
        column = b[:, j]
        column /= 1.0 + np.sqrt(column @ column)
        column[::2] = column[1] * 2.0
    return float(np.sum(b * np.arange(6.0)))


def interior(a):
    b = np.zeros((7, 8))
    inside = b[1:-1, 1:-1]
    inside[:] = a
    left, right = inside[:, 0], inside[:, -1]
    left += right * 0.5
    inside[1:3, 2:4] *= 2.0
    inside[-1][::-2] = left[0]
    return float(np.sum(b**3) + inside[0, 0] * left[1])


def transposed(a):
    b = a.copy()
    b.T[0] = 2.0 * b[1, 0]
    t = b.T
    t[1:3, 2] += b[0, 3:5]
    return float(np.sum(b * b) + t[2, 2])


def reshaped(a):
    y = np.empty(30)
    v = y.reshape(5, 6)
    v[:] = a
    v[2] *= 3.0
    v[1:3, 0] = v[0, 1] * 0.5
    flat = v.ravel()
    flat[3] = flat[4] ** 2
    once = np.ravel(np.reshape(y, (6, 5)))
    once[::3] += np.squeeze(v.reshape(1, 5, 6))[0, 1]
    return float(np.sum(y**2) + v[0, 3])


def masks(a):
    b = a * 2.0
    for i in range(len(b)):
        row = b[i]
        row[row < 0] = 0.1 * i
        row[row > 1] *= 2.0
    return float(np.sum(b**2))


def read_before_and_after(a):
    b = a * 1.0
    first, part = b[0], b[1:3, 2:]
    before = first.sum() + part.sum()
    b[0] = 3.0 * first[::-1]
    b[:, 5] = 0.0, 1.0, 0.0, 2.0, 0.5
    b[:, 3] = 0.0
    b *= 2.0
    return float(before * first[1] + part.sum() * part[1, 0] + first.max())


def relaxed(a):
    u = a.copy()
    inner, east = u[1:-1, 1:-1], u[1:-1, 2:]
    for _ in range(4):
        inner[:] = 0.25 * (east + u[1:-1, :-2] + u[2:, 1:-1] + u[:-2, 1:-1])
        u[0] = u[1]
    return float(np.sum(u**2) + east[0, 0])


def of_views(a):
    b = a * 1.0
    for i in range(2):
        block = b[i : i + 3]
        for j in range(3):
            cells = block[j][1:4]
            cells += block[0][2:5] * 0.1
            cells[0] = j * cells[1]
    return float(np.sum(b**2))


def moved(a):
    b = np.stack([a, a**2])
    last = np.moveaxis(b, 0, -1)
    last[..., 1] *= 3.0
    last[1:3, 0, 0] = last[0, 1, 1]
    swapped = np.swapaxes(b, 0, 2)
    swapped[2] += last[3, 2, 1]
    return float(np.sum(b**2) + swapped[1, 1, 1] + last[0, 0, 0])


def in_order(a):
    b = np.zeros((2, 5, 6))
    turned = np.transpose(b, (2, 0, -2))
    turned[:, 1] = a.T
    turned[1:3, 0, 2:] *= 2.0
    turned[0, 0, 1] += a[1, 1]
    whole = np.ascontiguousarray(b)
    whole[1, 2:4] /= 2.0
    return float(np.sum(b**3) + turned[1, 1, 1])


def with_more_axes(a):
    b = a.T * 1.0
    rows, planes = np.atleast_1d(b), np.atleast_3d(b)
    rows[rows > 0.5] *= 2.0
    planes[1] += planes[0] * b[2, 3]
    lifted = np.expand_dims(b[0], 0)
    lifted[0, 1:] = np.atleast_2d(b[1] * 1.0)[:, :-1]
    return float(np.sum(b**2) + rows[1, 2] + planes[0, 2, 0] + lifted[0, 2])


VIEWS = [
    *(rows, columns, interior, transposed, reshaped, masks, read_before_and_after, relaxed, of_views),
    *(moved, in_order, with_more_axes),
]


@pytest.mark.parametrize("f", VIEWS)
def test_views_that_are_written_to(f):
    check(f, MATRIX)
    check(f, MATRIX[::-1].copy() * 0.7)


def state(x):
    y = np.zeros(4)
    position, velocity = y[:2], y[2:]
    position[0] = x
    velocity[1] = 1.0
    for _ in range(5):
        acceleration = -position / (position @ position) ** 1.5
        velocity += 0.01 * acceleration
        position += 0.01 * velocity
    return float(y @ np.arange(4.0))


def helper(row, x):
    row *= x
    row[0] += x


def in_callees(x):
    table = np.ones((6, 3)) * x
    for k in range(5):
        helper(table[k], x)
        table[k + 1] += table[k]
    return float(table[-1] @ np.arange(3.0))


@pytest.mark.parametrize("f", [state, in_callees])
def test_views_in_loops(f):
    for x in (1.1, 0.8):
        check_all_ways(f, x)


def no_view(a):
    b = a.T * 1.0
    flat = b.ravel()
    flat[0] = 7.0
    return float(b[0, 0] + flat[0] * b[1, 1] + np.sum(flat**2))


def of_an_argument(a):
    row = a[0]
    total = float(row.sum())
    return total * float(a[0, 1])


def one_of_two(a):
    b, c = a * 1.0, a * 2.0
    for k in range(4):
        row = b[k] if k % 2 else c[k]
        row += 1.0
    return float(np.sum(b * c))


def kept_in_a_list(a):
    b = a * 1.0
    held = [b[0], b[1]]
    b[0] = 2.0
    held[1][:] = 3.0
    return float(held[0] @ held[1] + np.sum(b**2))


def given_a_view_of_itself(a):
    b = a * 1.0
    row = b[2]
    row[1:] = row[:-1]
    row[:] = row[::-1]
    b[:, 1:] = b[:, :-1]
    return float(np.sum(b * np.arange(30.0).reshape(5, 6)))


def iterated_and_changed(a):
    b, s = a * 1.0, 0.0
    for x in b.ravel():
        b[2, 3] = b[2, 3] * 0.5
        s += x * x
    return s


def a_copy_iterated(a):
    b, s = a * 1.0, 0.0
    for x in b.T.ravel():
        b[2, 3] = b[2, 3] * 0.5
        s += x * x
    return s


def flat_and_changed(a):
    b, s = a * 1.0, 0.0
    for x in b.T.flat:
        b[2, 3] = b[2, 3] * 0.5
        s += x * x
    for i, x in enumerate(b[1].flat):
        b[1, 4] += i
        s += x * x
    return s


@pytest.mark.parametrize(
    "f",
    [
        *(no_view, of_an_argument, one_of_two, kept_in_a_list, given_a_view_of_itself),
        *(iterated_and_changed, a_copy_iterated, flat_and_changed),
    ],
)
def test_what_may_be_no_view_or_one_of_several(f):
    for _ in range(2):
        check(f, MATRIX, specialised=None)
        check(f, np.asfortranarray(MATRIX), specialised=None)


def eliminated(a):
    b = a[:, :5] + 5.0 * np.eye(5)
    for k in range(5):
        for i in range(k + 1, 5):
            f = b[i, k] / b[k, k]
            for j, x in enumerate(b[k]):
                b[i, j] -= f * x
    return float(np.sum(b**2))


def row_changed_behind(a, k):
    b, s = a * 1.0, 0.0
    for i in range(4):
        for j, x in enumerate(b[i]):
            b[i + k, (j + 1) % 6] += 0.1 * x
            s += x * x
    return s


def test_rows_that_are_iterated_over_beside_changes_of_others():
    check(eliminated, MATRIX)
    if not (GENERIC or ONE_WAY):
        assert has_all_ways(eliminated, "gradient", "value")
    for k in (1, 0, -5, -4, 1):
        check(row_changed_behind, MATRIX, k, specialised=None)


def flat_between_changes(x):
    b, s = np.ones((3, 4)) * x, 0.0
    for k in range(3):
        b[k, 1] = x * b[k, 0]
        for y in b.flat:
            s += y * y
        for y in b[:, 1:].T.flat:
            s += s * y * x
    return s


def test_flat():
    for x in (1.1, 0.8):
        check_all_ways(flat_between_changes, x)


class Grid:
    def __init__(self, cells):
        self.cells = cells
        self.top = cells[0]

    def change(self, k):
        self.top *= 0.5 + k
        self.cells[k] += self.top


def in_objects(a):
    b = a * 1.0
    grid = Grid(b)
    names = {"side": b[:, 1], "turned": b.T}
    for k in (1, 2):
        grid.change(k)
        names["side"][:] += grid.top[:5]
        names["turned"][2] = names["side"] * k
        np.multiply(names["side"], 0.5, out=names["side"])
    return float(np.sum(b * names["turned"].T) + grid.top @ grid.cells[1])


def test_views_in_objects_and_dicts():
    check(in_objects, MATRIX)


def written_by_calls(a):
    b, c = np.empty((5, 6)), a * 1.0
    b.fill(0.5)
    b[1].fill(a[0, 0])
    for k in range(3):
        np.multiply(a, k + 0.5, out=c)
        np.add(c, b, out=c)
        np.copyto(b, c)
        np.copyto(b[k], c[k + 1])
        again = np.tanh(b[:, k], out=b[:, k])
        again += 0.1
    d = a[:, :5] * 2.0
    np.fill_diagonal(d, 2.0)
    return float(np.sum(b * c) + np.sum(c[2] * np.arange(6.0)) + np.sum(d @ d))


def test_calls_that_write_to_arrays():
    check(written_by_calls, MATRIX)


def places(a):
    b, v = a * 1.0, np.zeros(30)
    b[np.diag_indices(5)] = np.exp(np.diag(a))
    for k in range(3):
        i = np.array([0, 3, k])
        v[i + k] = a[k, i]
        v[[7, 9, 11]] += a[k, :3] * v[i]
        b[1:3, i] = a[0, k]
        b[i, k] *= 2.0
        b[np.array([[0, 1], [2, -1]]), 5] = a[:2, :2] + v[k]
    b[[0, 2]] = b[[2, 0]]
    return float(np.sum(b**2) + v @ v)


def places_that_are_repeated(a):
    v, b = np.zeros(6), np.zeros((3, 4))
    i = np.array([0, 2, 2, -4, 5])
    v[i] = a[0, :5]
    v[i] *= a[1, :5]
    b[i[:3] % 3, i[:3] % 4] = a[2, :3]
    b[:, np.array([1, 1])] = a[:3, :2]
    b[np.array([0, 0])] += v[:4] * a[3, 0]
    return float(np.sum(v * np.arange(6.0)) + np.sum(b**2) + v[i] @ v[i])


def views_and_places(a):
    b = a * 1.0
    row, turned = b[1], b.T
    row[np.array([0, 2, 2])] = a[0, :3]
    turned[np.array([1, 4])] *= 0.5
    b[2:][np.array([0, 2])] = row * 2.0
    return float(np.sum(b * b) + row @ turned[:, 2][np.array([0, 1, 2, 3, 4, 0])])


@pytest.mark.parametrize("f", [places, places_that_are_repeated, views_and_places])
def test_stores_at_places(f):
    check(f, MATRIX)


def summed_by_position(a):
    c = np.zeros(5)
    np.sum(a, 1, None, c, True)
    return float(c @ c)


def test_a_result_that_is_written_by_position_before_other_arguments():
    for _ in range(3):
        with pytest.raises(ad.NotDifferentiable, match="not given by name"):
            ad.gradient(summed_by_position, MATRIX)


def on_the_diagonal(a):
    b = a[:5, :5] * 1.0
    b.flat[::6] += a[0, :5]
    b.flat[1] = b.flat[7] * 2.0
    return float(np.sum(b @ b))


def at_flat_places(a):
    b = np.outer(a[0], a[1])
    b.flat[np.array([1, 3])] = a[2, :2]
    b.flat[[0, 2]] = 7.0 * a[0, 0]
    return float(np.sum(b**2))


def copied_by_flat(a):
    b = a * 1.0
    chosen = b.flat[::4]
    b[0, 0] = 5.0
    return float(np.sum(chosen**2) + b[0, 0] * a[0, 1])


def one_after_the_other(a):
    b = a * a
    for i in range(b.size):
        b.flat[i] *= a[i % 5, 0]
    return float(sum(x * x for x in b.flat))


def turned_by_flat(a):
    b = a * 1.0
    b.T.flat[::4] = a[0, 0]
    return float(np.sum(b**2))


@pytest.mark.parametrize("f", [on_the_diagonal, at_flat_places, copied_by_flat, one_after_the_other])
def test_stores_by_flat_places(f):
    check(f, MATRIX)
    assert GENERIC or ONE_WAY or has_all_ways(f)


def test_stores_by_flat_places_of_what_is_turned():
    check(turned_by_flat, MATRIX, specialised=None)


def viewed_as_it_is(a):
    b = a * 1.0
    shown = b.view()
    shown[0] = a[1] * 2.0
    b.view(float)[1, 1] = a[2, 2] ** 2
    return float(np.sum(b.view(np.ndarray) ** 2) + np.sum(b.view(dtype=np.float64)[:, 0]))


def test_views_of_the_same_type():
    check(viewed_as_it_is, MATRIX)
    assert GENERIC or ONE_WAY or has_all_ways(viewed_as_it_is)


def test_places_that_are_stored_into_by_masks_and_lists():
    def of_no_axes(x):
        given = np.asarray(x * 1.0)
        made, bad = np.empty_like(given), np.isclose(given, 0.0)
        made[~bad] = np.sin(given[~bad]) * given[~bad]
        made[~bad] += given[~bad]
        made[bad] = 0.0
        return float(made)

    def by_lists(x):
        a = np.ones(4) * x
        a[[0, 2]] = np.array([x * x, x])
        a[None] = a[::-1] * x
        a[[1, 3]] = a[:2]
        return float((a * np.arange(4.0)).sum())

    for f in (of_no_axes, by_lists):
        for x in (1.7, 0.4):
            check(f, x)
