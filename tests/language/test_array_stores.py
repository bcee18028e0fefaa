"""Arrays that are written to: cotangents follow the buffer, memory is as the plain function leaves it."""

from __future__ import annotations

import math
import pickle
from collections import deque
from unittest.mock import patch

import numpy as np
import pytest
from helpers import gradient_at
from in_all_modes import MODES, differences

from autodiff_hook import NotDifferentiable, Unsupported, gradient, hvp, jvp, pullback
from autodiff_hook.algebras import typed
from autodiff_hook.api import generic_gradient, generic_hvp, generic_jvp
from autodiff_hook.testing import check_gradient

V = np.array([0.5, 1.5, -0.7, 2.0])
W = np.array([1.0, 2.0, -3.0, 5.0])


@gradient_at(V)
def test_items_and_slices_of_a_constant_array(x):
    a = np.zeros(4)
    a[0] = x[1]
    a[1:3] = x[2:] * x[0]
    return (a * a).sum()


@gradient_at(V)
def test_a_constant_stored_into_a_live_array(x):
    a = x * 2
    b = a * a
    a[1] = 5.0
    return (a * b).sum()


@gradient_at(V)
def test_stores_into_whole_numbers_that_were_made_of_what_is_differentiated(x):
    kinds = np.full_like(x, -1, dtype=np.int32)
    kinds[x > 0] = 3
    signs = x.astype(np.int8)
    signs[1:][::2] = -signs[:2]
    seen = np.zeros_like(x, dtype=bool) | (x > 1)
    seen[0] = True
    return np.sum(x * kinds * signs * seen + x)


@gradient_at(V)
def test_stores_into_whole_numbers_of_another_dtype(x):
    a = np.array([0, 0, 0, 0, 1], dtype=x.dtype)
    a[:4] = x
    rows = np.array([[1, 0], [0, 1]], x.dtype)
    rows[0] = x[:2]
    return (a * a).sum() + (rows @ x[2:]).sum() * np.ones_like(x, int)[0]


def test_what_is_like_an_array_has_the_dtype_that_is_asked_for():
    found = gradient(lambda x: np.sum(np.ones_like(x, int) * x), V)[0]
    assert found.dtype == float


def test_small_whole_numbers_keep_their_derivatives():
    def f(x):
        s = np.array([4, 5, 6, 7], np.int16) * x
        rows = s.reshape(2, 2).T
        rows[0, 0] = 3
        s[3] = x[1]
        return np.sum(s[::-1] * np.array([1.0, 2.0, 3.0, 4.0]))

    x = np.array([1, 2, 3, 4], np.int16)
    assert gradient(f, x)[0].tolist() == generic_gradient(f, x)[0].tolist() == [0.0, 16.0, 12.0, 0.0]
    assert jvp(f, (x,), (np.ones(4),))[1] == 28.0


@gradient_at(V)
def test_augmented_assignment_and_an_overlapping_copy(x):
    a = x.copy()
    a += x * x
    a *= a
    a[1:] = a[:-1]
    return np.sum(a * x)


@gradient_at(V)
def test_a_view_that_was_written_to_elsewhere_is_stored(x):
    def add_to(a, b):
        a += b

    out = np.zeros((2, 4))
    out[0] = x * x
    row = out[1]
    add_to(row, out[0] * x)
    out[1] = row
    return (out * out).sum()


@gradient_at(V)
def test_the_argument_itself_is_written_to(x):
    x[0] = 3.0
    return (x * x).sum()


@gradient_at(V, 0.3)
def test_a_stencil_in_place(u0, alpha):
    u = u0.copy()
    for _ in range(4):
        u[1:-1] += alpha * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u * u)


@gradient_at(V)
def test_masks(x):
    a = x * 1.0
    a[a < 0] = x[0]
    a[a > 1] *= 2.0
    return np.sum(a**2)


@gradient_at(V)
def test_views_see_each_others_stores(x):
    a = x * x
    view = a[1:]
    view[0] = 7.0
    product = view * x[1:]
    a[2] += x[0]
    return product.sum() + view.sum() + a.sum()


@gradient_at(V)
def test_out_arguments(x):
    b = np.empty(4)
    np.multiply(x, x, out=b)
    np.exp(b, b)
    np.add(b, x, out=b)
    return b.sum()


@gradient_at(V)
def test_an_array_for_one_of_two_results(x):
    first, second = np.zeros(4), np.zeros(4)
    parts, whole = np.modf(x * 1.1, first)
    whole, rest = np.divmod(x, 0.8, None, second)
    mantissas, _ = np.frexp(1.1 * x, np.zeros(4))
    return np.sum(first * x + second * x * x + parts + rest * 2.0 + mantissas * x)


def keep(out=None):
    """A function of the user's with a parameter of that name."""
    return out * 2


@gradient_at(V)
def test_out_of_a_function_that_is_not_numpys(x):
    return np.sum(keep(out=x) * x)


@gradient_at(V)
def test_repeated_indices_where_the_last_store_wins(x):
    a = np.zeros(5)
    a[[0, 0, 2, 3]] = x
    a[np.array([1, 1])] += x[:2]
    return (a * np.arange(5.0)).sum()


@gradient_at(V)
def test_rows_in_a_loop(x):
    matrix = np.zeros((3, 4))
    for i in range(3):
        matrix[i] = x * i
    for row in matrix:
        row *= x
    return (matrix @ x).sum()


@gradient_at(V)
def test_arrays_of_an_object_through_two_attributes(x):
    class Box:
        pass

    box = Box()
    box.a = np.zeros(4)
    box.a[1] = x[0]
    box.b = box.a
    box.b[2] = x[1] * x[1]
    return (box.a * x).sum()


@gradient_at(V)
def test_zero_dimensional_arrays(x):
    a = np.array(x[0])
    a[...] = x[1] * 2
    a += x[2]
    return a * a


@gradient_at(V)
def test_reshaped_and_transposed_views(x):
    a = (x * x).reshape(2, 2)
    a[0] = x[:2]
    b = a.T
    b[1, 1] *= 3.0
    return np.sum(a * a)


@gradient_at(V)
def test_a_store_in_a_callee(x):
    def fill(a):
        a[1] = x[0] * x[0]
        return a

    a = fill(np.ones(4) * x)
    return np.sum(a * a)


@gradient_at(V)
def test_arrays_in_lists_between_stores(x):
    a = np.zeros(2)
    b = x[:2] * 1.0
    a[0] = x[3]
    c = np.concatenate([a, b])
    a[1] = x[0]
    d = np.stack([a, b])
    return c.sum() * d[0, 1] + c[0]


@gradient_at(V)
def test_a_workspace_that_is_refilled(x):
    workspace = np.zeros(4)
    total = 0.0
    for i in range(3):
        workspace[:] = i + 1.0
        total = total + np.sum(workspace * x * x)
    return total


@gradient_at(V)
def test_constants_stored_through_flat(x):
    a = x * 2.0
    a.flat[::2] = 2.0
    b = x[:2] * np.ones((2, 2))
    np.fill_diagonal(b, 3.0)
    return np.sum(a * a) + np.sum(b * b)


@gradient_at(V)
def test_copyto_fill_and_flat(x):
    a = np.ones(4)
    np.copyto(a, x)
    b = a * a
    a.fill(x[1])
    a.flat[::2] = a.flat[1] * x[3]
    return (a * x).sum() + b.sum()


@gradient_at(V)
def test_stores_through_flat_repeat_what_is_too_short_and_begin_anew(x):
    a = np.zeros((3, 2))
    a.flat[:5] = x[:2] * x[1]
    a.flat[[0, 2, 3]] = [x[0] ** 2, 1.0]
    a.flat[5:] = x
    items = a.flat
    next(items)
    items[1] = x[3]
    return next(items) * next(items) * x[2] + np.sum(a * np.arange(6.0).reshape(3, 2))


@gradient_at(V)
def test_stores_through_flat_of_an_array_of_no_dimension(x):
    a = np.array(1.0)
    a.flat[1:] = x[0]
    a.flat[:] = [x[1] * x[2], 5.0]
    b = a * x[0]
    a.flat[[0, 0]] = [2.0, x[3] * a]
    np.put(a, [0], a * x[2])
    np.multiply.at(a, ..., x[1])
    return a * b


def refill(x):
    workspace = np.zeros(3)
    total = 0.0
    rng = np.random.default_rng(7)
    for _ in range(3):
        rng.standard_normal(out=workspace)
        total = total + np.sum(workspace * x * x)
    return total


def test_a_workspace_that_an_opaque_call_refills():
    x = np.array([0.5, -1.0, 2.0])
    rng = np.random.default_rng(7)
    weights = sum(rng.standard_normal(3) for _ in range(3))
    assert gradient(refill, x)[0] == pytest.approx(2 * weights * x)


def test_memory_is_left_as_the_plain_function_leaves_it():
    def f(x, workspace):
        workspace[:] = x
        y = workspace * x
        workspace *= 3.0
        x[0] = 9.0
        return y.sum() + workspace.sum()

    plain_x, plain_w, x, w = V.copy(), np.ones(4), V.copy(), np.ones(4)
    value = f(plain_x, plain_w)
    y, back = pullback(f, x, w)
    first = back(1.0)
    assert y == value
    for a, b in ((x, plain_x), (w, plain_w)):
        assert a.tobytes() == b.tobytes()
    second = back(2.0)
    assert second[0] == pytest.approx(2 * first[0])
    assert first[0] == pytest.approx(2 * V + 3.0)
    assert first[1] == pytest.approx(0.0)


def test_two_pullbacks_over_one_workspace_interleaved():
    workspace = np.zeros(2)

    def f(x):
        workspace[:] = x * x
        return np.sum(workspace * x)

    a, b = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    _, back_a = pullback(f, a)
    content = workspace.copy()
    assert back_a(1.0)[0] == pytest.approx(3 * a**2)
    assert np.array_equal(workspace, content)
    _, back_b = pullback(f, b)
    assert back_b(1.0)[0] == pytest.approx(3 * b**2)
    assert back_a(1.0)[0] == pytest.approx(3 * a**2)
    workspace[:] = 7.0
    assert back_a(1.0)[0] == pytest.approx(3 * a**2)
    assert back_b(1.0)[0] == pytest.approx(3 * b**2)
    assert workspace.tolist() == [7.0, 7.0]


SHARED = np.ones(3)
LEVEL = [2.0]


def stores_an_item(x):
    SHARED[0] = LEVEL[0]
    return float((SHARED * x).sum())


def multiplies(x):
    global SHARED
    SHARED *= LEVEL[0]
    return float((SHARED * x).sum())


def writes_by_a_ufunc(x):
    np.multiply(SHARED, LEVEL[0], out=SHARED)
    return float((SHARED * x).sum())


def fills(x):
    SHARED.fill(LEVEL[0])
    SHARED[1:] += 1.0
    return float((SHARED * x).sum())


def prepared():
    SHARED[1] = LEVEL[0]
    SHARED.sort()


def calls_what_stores(x):
    prepared()
    return float((SHARED * x * x).sum())


def draws(x):
    np.random.default_rng(int(LEVEL[0])).standard_normal(out=SHARED)
    return float((SHARED * x).sum())


@pytest.mark.parametrize("later", [pullback, gradient, lambda f, x: jvp(f, (x,), (1.0,))])
@pytest.mark.parametrize(
    "f", [stores_an_item, multiplies, writes_by_a_ufunc, fills, calls_what_stores, draws], ids=lambda f: f.__name__
)
def test_pullbacks_find_what_later_passes_overwrite_with_constants(f, later):
    LEVEL[0], SHARED[:] = 2.0, [1.0, 2.0, 3.0]
    _, back = pullback(f, 1.5)
    found = back(1.0)
    LEVEL[0] = 5.0
    kept = later(f, 1.5)
    content = SHARED.copy()
    assert back(1.0) == found and np.array_equal(SHARED, content)
    del kept


def reads_the_array(x):
    return float((SHARED * x * x).sum())


def reads_rows(x):
    total = 0.0
    for value in SHARED:
        total += math.sin(value * x) * value
    return total


def moves_what_is_there(x):
    SHARED[:] = SHARED[::-1] * x
    return float(SHARED.sum())


@pytest.mark.parametrize("later", [pullback, gradient, lambda f, x: jvp(f, (x,), (1.0,))])
@pytest.mark.parametrize("change", [stores_an_item, multiplies, moves_what_is_there], ids=lambda f: f.__name__)
@pytest.mark.parametrize("f", [reads_the_array, reads_rows], ids=lambda f: f.__name__)
def test_typed_pullbacks_find_what_passes_of_other_functions_overwrite(f, change, later):
    for _ in range(3):
        LEVEL[0], SHARED[:] = 5.0, [1.0, 2.0, 3.0]
        _, back = pullback(f, 1.5)
        found = back(1.0)
        kept = later(change, 0.5)
        content = SHARED.copy()
        assert back(1.0) == pytest.approx(found) and np.array_equal(SHARED, content)
        del kept


def filled_by_a_generator(x):
    array = x * np.array([1.0, 2.0])
    before = float((array * array).sum())
    np.random.default_rng(0).random(out=array)
    np.random.default_rng(1).standard_normal(out=array[:1])
    return before + float((array * x * x).sum())


def rounded_in_place(x):
    array = np.array([0.5, 2.0]) * x
    before = float((array * array).sum())
    np.round(array, 1, out=array)
    again = x * np.array([1.0, 3.0])
    again.round(0, out=again)
    return before + float(((array + again) * x).sum())


@pytest.mark.parametrize("f, at", [(filled_by_a_generator, 1.3), (rounded_in_place, 2.0)], ids=["drawn", "rounded"])
@pytest.mark.parametrize("mode", MODES)
def test_constants_that_are_written_as_results(mode, f, at):
    """Also where they are what was there."""
    expected = differences(f, at, 1 + (mode == "hvp"))
    assert MODES[mode](f, at) == pytest.approx(expected, rel=1e-5)
    with patch.object(typed, "GENERIC", True):
        assert MODES[mode](f, at) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("mode", MODES)
def test_what_ufuncs_have_copied_stays_as_it_was(mode):
    def f(x):
        a = np.array([x, x * x, 1.0])
        same, conjugate = np.positive(a), np.conj(a[1:])
        for e in (x, 2.0):
            a += e
            conjugate *= a[:2]
        return (a * same).sum() + (conjugate * same[1:]).sum()

    for at in (0.7, 1.3, 0.7):
        assert MODES[mode](f, at) == pytest.approx(differences(f, at, 2 if mode == "hvp" else 1), rel=1e-5)


@gradient_at(V)
def test_unsigned_numbers_and_booleans_that_are_subtracted(x):
    a = x * 2.0
    np.subtract.at(a, [0, 1, 0], np.array([200, 100, 3], np.uint8))
    np.subtract.at(a, [2], np.array([True]))
    return (a * x).sum()


def test_what_a_broadcast_shows_that_was_made_before():
    array = np.ones(2)
    pairs = np.broadcast(array, array)

    def f(x):
        array[0] = x
        return sum(a * b for a, b in pairs)

    # One that the program makes is differentiated where its call is carried.
    with patch.object(typed, "GENERIC", True), pytest.raises(NotDifferentiable, match="numpy.broadcast"):
        generic_gradient(f, 2.0)


def test_writing_calls_that_are_not_known_are_errors():
    def f(x):
        a = x * 2
        a.setfield(5.0, float)
        return a.sum()

    with pytest.raises(NotDifferentiable, match="wrote to an array|numpy.ndarray.setfield"):
        gradient(f, V)


def test_loops_over_items_stay_linear():
    def f(w):
        total = 0.0
        for i in range(len(w)):
            total += w[i] * w[i]
        return total

    w = np.arange(2000.0)
    assert generic_gradient(f, w)[0] == pytest.approx(2 * w)


def overlapping(kind, m):
    if kind == "broadcast":
        return np.broadcast_to(m[0], (3, 4))
    if kind == "windows":
        return np.lib.stride_tricks.sliding_window_view(m[0], 2)
    if kind == "diagonal":
        return m.diagonal()
    return np.broadcast_arrays(m[0], m)[0]


@pytest.mark.parametrize("kind", ["broadcast", "windows", "arrays", "diagonal"])
@pytest.mark.parametrize("used", [0.0, 1.0])
def test_a_view_that_repeats_elements_or_cannot_be_written_to_and_a_store_after_it(kind, used):
    def f(m):
        m = m * 1.0
        view = overlapping(kind, m)
        before = (view**3).sum()
        m *= 0.5
        m[0, 1] = m[1, 2]
        after = overlapping(kind, m)
        return (m * m).sum() + used * (before + (view * after**2).sum())

    def g(m):
        view = overlapping(kind, m)
        m[1] *= 0.5
        return (m * m).sum() + used * view.sum()

    matrix = np.arange(8.0).reshape(2, 4) + 1.0
    direction = np.cos(matrix)
    for h in (f, g):
        np.testing.assert_allclose(gradient(h, matrix.copy())[0], slopes(h, matrix), rtol=1e-6)

        def slope(m, h=h):
            return np.sum(gradient(h, m)[0] * direction)

        along = slopes(slope, matrix)
        for product in (
            hvp(h, (matrix.copy(),), (direction,))[0],
            gradient(slope, matrix.copy())[0],
            generic_gradient(slope, matrix.copy())[0],
        ):
            np.testing.assert_allclose(product, along, rtol=1e-6, atol=1e-8)


def a_buffer_of_complex_numbers_with_a_real_tangent(m):
    v = (m - 0.3j) * 1.0
    v *= m
    return (v * v.conj()).real.sum()


def a_copy_of_complex_numbers_with_a_real_tangent(m):
    v = (m - 0.3j).copy()
    v[0] = v[1] * 1j
    return (v**3).imag.sum()


def complex_scalars_in_buffers_of_real_numbers(m):
    v = np.zeros(3)
    v[0] = np.complex128(m[0, 0] ** 2 + 1j * m[0, 1])
    v.flat[1] = np.complex128(m[1, 0] * (m[1, 1] + 2j))
    return (v**3).sum() + (np.full(2, np.complex128(m[0, 1] ** 2 + 1j), dtype=float) ** 2).sum()


def results_that_their_pullback_holds(m):
    q, r = np.linalg.qr(m)
    q[0] *= m[1]
    r[:] = r * r
    found = np.linalg.eigh(m + m.T)
    found.eigenvectors[0] = m[1]
    return (q**3).sum() + r.sum() + (found.eigenvectors**3).sum() + (found.eigenvalues**2).sum()


@pytest.mark.parametrize(
    "f",
    [
        a_buffer_of_complex_numbers_with_a_real_tangent,
        a_copy_of_complex_numbers_with_a_real_tangent,
        complex_scalars_in_buffers_of_real_numbers,
        results_that_their_pullback_holds,
    ],
)
@pytest.mark.parametrize("differentiate", [gradient, generic_gradient])
@pytest.mark.filterwarnings("ignore:Casting complex")
def test_second_derivatives_of_what_is_stored_into(f, differentiate):
    matrix = np.array([[2.0, 0.3], [0.5, 1.1]])
    direction = np.cos(matrix)

    def slope(m):
        return np.sum(differentiate(f, m)[0] * direction)

    along = slopes(slope, matrix)
    product = hvp if differentiate is gradient else generic_hvp
    np.testing.assert_allclose(differentiate(slope, matrix)[0], along, rtol=1e-6)
    np.testing.assert_allclose(product(f, (matrix,), (direction,))[0], along, rtol=1e-6)


class Wrapped:
    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


class Number:
    def __init__(self, x):
        self.x = x

    def __float__(self):
        return float(self.x)


@gradient_at(V)
def test_stores_of_what_numpy_makes_an_array_of(x):
    a, b = np.zeros((3, 4)), np.zeros(4)
    a[0] = Wrapped(x * x)
    a[1, 1:] = deque([x[0], 2.0, x[1] * x[2]])
    a[2] = x[2:].tolist() * 2
    np.copyto(b, Wrapped(x * 3.0))
    b[:2] = Wrapped(np.ones(2))
    return (a * a).sum() + (b * a[0]).sum()


@pytest.mark.parametrize("value", [lambda x: Number(x[0]), lambda x: [Number(x[0]), x[1], 1.0, 2.0]])
def test_stores_of_objects_that_become_numbers_are_errors(value):
    def f(x):
        a = np.zeros(4)
        a[...] = value(x)
        return (a * a).sum()

    assert f(V) > 0.0
    for operator in (gradient, generic_gradient):
        with pytest.raises(NotDifferentiable, match="asarray"):
            operator(f, V)


def columns(m):
    part = m[:, [0, 1]]
    part[0] += 1.0
    return (part * part).sum()


def rows_by_mask(m):
    part = m[..., m[0] > 0.4]
    part[0] = part[0] * 2.0
    return (part * part).sum()


def of_three_axes(m):
    part = m[None][0, :, [0, 1]]
    part[0] = 0.0
    return (part * part).sum()


def of_what_was_written(m):
    whole = np.zeros((2, 4))
    whole[:, 1:] = m
    part = whole[:, [0, 2]]
    part[1] = part[1] * m[0, 0] + part[0]
    return (part * part).sum()


def through_views(m):
    rows, columns = (m * 2.0)[[1, 0]], (m * m)[:, [2, 0]]
    row, column = rows[0], columns[:, 1]
    row += 1.0
    column *= m[0, 1]
    return (rows[:, :2] * columns).sum()


def of_complex_numbers(m):
    whole = np.zeros((2, 4, 4), complex)
    whole[:, :2, 1:] = m * (1.0 + 0.5j)
    part = whole[:, [[0], [1]], [1, 2]]
    for i in range(2):
        part[:, i, :] += whole[:, 0, [1, 3]] * whole[1, 1, 2]
    return np.abs(part).sum()


def of_several_results(m):
    across, down = np.meshgrid(m[0], m[1])
    across[0] *= m[1, 1]
    q, r = np.linalg.qr(m.T)
    q[:, 0] += 1.0
    part = down[1:, :2]
    part += 2.0
    return (across * down).sum() + (q @ r * m.T).sum()


OF_SELECTIONS = [columns, rows_by_mask, of_three_axes, of_what_was_written, through_views, of_complex_numbers]


@pytest.mark.parametrize("f", [*OF_SELECTIONS, of_several_results])
def test_new_arrays_that_are_written_to_by_views(f):
    matrix = np.array([[0.3, 0.5, 0.2], [0.7, 1.1, -0.4]])
    expected = slopes(f, matrix)
    for operator in (gradient, gradient, generic_gradient):
        np.testing.assert_allclose(operator(f, matrix.copy())[0], expected, atol=1e-6)
    direction = np.array([[0.2, -1.0, 0.4], [0.9, 0.3, 1.5]])
    for push in (jvp, generic_jvp):
        np.testing.assert_allclose(push(f, (matrix.copy(),), (direction,))[1], np.sum(expected * direction), atol=1e-6)
    found = generic_hvp(f, (matrix.copy(),), (direction,))[0]
    steps = [generic_gradient(f, matrix + h * direction)[0] for h in (1e-5, -1e-5)]
    np.testing.assert_allclose(found, (steps[0] - steps[1]) / 2e-5, atol=1e-6)


def slopes(f, x):
    found = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[place] = 1e-6
        found[place] = (f(x + step) - f(x - step)) / 2e-6
    return found


def factors_in_place(m):
    q, r = np.linalg.qr(m)
    r *= 2.0
    return r.sum() + q.sum()


def eigenvectors_in_place(m):
    w, v = np.linalg.eigh(m + m.T)
    w[0] *= 2.0
    v[:, 1] *= 3.0
    return w.sum() + (v * v * v).sum()


def a_tuple_of_views(m):
    m = m * 2.0
    rows = (m[0], m[1])
    m[0] *= 3.0
    return np.concatenate(rows).sum() + np.array(rows).prod()


def enumerated(m):
    return sum((i + 2 * j) * v * v for (i, j), v in np.ndenumerate(m))


@pytest.mark.parametrize("f", [factors_in_place, eigenvectors_in_place, a_tuple_of_views, enumerated])
def test_parts_of_results_and_of_tuples(f):
    matrix = np.array([[2.0, 0.4, 0.3], [0.5, 2.4, 1.0], [1.3, 0.8, 2.8]])
    for _ in range(2):
        np.testing.assert_allclose(gradient(f, matrix.copy())[0], slopes(f, matrix), rtol=1e-5, atol=1e-5)
        value, back = pullback(f, matrix.copy())
        assert value == f(matrix.copy())
        np.testing.assert_allclose(back(1.0)[0], slopes(f, matrix), rtol=1e-5, atol=1e-5)


def stored_mantissas(x):
    mantissas = np.frexp(1.1 * x)[0]
    mantissas[0] = 0.5
    return (mantissas * mantissas).sum()


@pytest.mark.parametrize(
    "f",
    [
        *(stored_mantissas, lambda x: x.data[0] ** 2, lambda x: np.sum(x[1:].base), lambda x: next(x.flat) * 2.0),
        *(lambda x: max(x.data) * x[0], lambda x: min(memoryview(x)) * x[1], lambda x: sum(np.nditer(x)) * x[0]),
    ],
)
def test_what_leaves_the_arrays_is_right_or_an_error(f):
    for _ in range(2):
        try:
            (found,) = gradient(f, V.copy())
        except (NotDifferentiable, Unsupported):
            continue
        np.testing.assert_allclose(found, slopes(f, V), rtol=1e-5, atol=1e-6)


def test_flat_iterators():
    def f(m):
        flat = (m * m).flat
        total = next(flat) * m[1, 1]
        for item in flat:
            total = total + item * m[0, 1]
        return total + (m.T * 2.0).flat[1] ** 2 + np.sum(m.flat[1:3])

    check_gradient(f, np.array([[0.3, 0.5], [0.7, 1.1]]))


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.parametrize("reduced", [sum, max, min, math.prod, math.fsum, lambda items: max(items, default=0.0)])
@pytest.mark.parametrize("of", [lambda m: m, lambda m: m.view(np.matrix)])
def test_flat_iterators_are_reduced(reduced, of):
    def f(m):
        begun = (m * m).flat
        next(begun)
        return reduced(of(m).flat) * m[0, 0] + reduced(begun) * m[1, 1]

    check_gradient(f, np.array([[0.3, 0.5], [0.7, 1.1]]))


def test_a_result_that_another_function_changes():
    def doubled(y):
        y *= 2.0
        return y.sum()

    x = np.array([0.1, 0.2])
    for f, expected in ((np.exp, np.exp(x)), (written_result, [1.0, np.exp(0.2)])):
        y, back = pullback(f, x)
        gradient(doubled, y)
        gradient(doubled, y)
        np.testing.assert_allclose(back(np.ones(2))[0], expected)
        np.testing.assert_allclose(y, 4.0 * f(x))


def written_result(x):
    y = np.exp(x)
    y[0] = x[0]
    return y


@pytest.mark.filterwarnings("ignore")
def test_a_store_into_a_view_whose_elements_share_memory_is_an_error():
    def f(a, x):
        view = np.broadcast_arrays(a, np.ones((3, 4)))[0]
        view *= x
        return a.sum()

    for _ in range(2):
        with pytest.raises((NotDifferentiable, ValueError)):
            gradient(f, np.ones(4), 2.0)


@gradient_at(V)
def test_containers_of_arrays_that_only_a_store_makes_depend_on_the_argument(x):
    r = np.zeros(2)
    held = [r]
    r[0] = x[0]
    s = np.sum(np.array([r, r])) + np.sum(np.stack((r, r * 2))) + np.sum(np.concatenate((r, r)))
    r[1] = x[1] * x[2]
    return s + np.sum(np.vstack(held)) + sum(q[1] for q in held)


@gradient_at(V)
def test_parts_of_a_split_array_that_are_written_to(x):
    u = x * x
    a, b = np.split(u, 2)
    a[0] += x[3]
    s = a.sum()
    b *= x[0]
    return s * b[1] + u.sum()


@gradient_at(V)
def test_items_that_are_taken_after_a_store(x):
    a, total = np.zeros(3), 0.0
    for i, item in enumerate(a):
        a[1:] = x[:2] * i
    total += item * x[0]
    b = np.zeros(3)
    items = iter(b)
    total += next(items)
    b[1:] = x[2]
    return total + next(items) * next(items)


@pytest.mark.parametrize("shape", [(), (1,), (2,)])
def test_second_derivatives_of_stores_into_arrays_of_few_elements(shape):
    def f(x):
        s = np.zeros(shape)
        s += x * x
        s[...] = s + x
        return (s * s).sum()

    size = np.prod(shape)
    slope, curvature = 2 * 1.19 * 2.4, 2 * 2.4**2 + 4 * 1.19
    assert gradient(f, 0.7)[0] == pytest.approx(slope * size)
    assert hvp(f, (0.7,), (1.0,))[0] == pytest.approx(curvature * size)
    assert gradient(lambda x: gradient(f, x)[0], 0.7)[0] == pytest.approx(curvature * size)


def unpickled(values):
    return pickle.loads(pickle.dumps(np.array(values), protocol=5))


def centred(x):
    x -= x.mean()
    y = x.reshape(-1, 1)
    y[0] *= x[1]
    return np.sum(y * y)


def test_arrays_that_were_pickled_have_their_memory_for_themselves():
    expected = gradient(centred, np.array([1.0, 2.0, 4.0]))[0]
    for _ in range(3):
        for x in (unpickled([1.0, 2.0, 4.0]), np.frombuffer(bytearray(np.array([1.0, 2.0, 4.0]).tobytes()))):
            np.testing.assert_allclose(gradient(centred, x)[0], expected)


def test_bytes_that_others_hold_are_not_stored_into():
    memory = bytearray(np.array([1.0, 2.0, 4.0]).tobytes())
    seen = np.frombuffer(bytearray(memory))
    view = memoryview(seen.base)
    for x in (np.frombuffer(memory), np.frombuffer(memoryview(memory)), seen):
        with pytest.raises(NotDifferentiable, match="others may use"):
            gradient(centred, x)
    assert len(view) == 24


@gradient_at(V)
def test_numbers_stored_into_a_copy_that_is_used_in_between(x):
    y = x.copy()
    total = 0.0
    for i in range(6):
        y[i % 3] = y[(i + 1) % 3] * x[0] + float(i)
        y[-1] = total + 2.0
        if i % 2:
            total = total + (y * y).sum() + np.exp(y)[1]
        y[0] = 3
    return total + y.sum()


@gradient_at(V)
def test_numbers_stored_into_what_others_view(x):
    y = x.copy()
    half = y[1:]
    y[1] = x[0] * x[0]
    total = (half * half).sum()
    half[0] = total * x[1]
    y[2] = half[0] * 2.0
    return total * y[1] + half.sum()


def test_a_store_beside_a_copy_raises_as_numpy_does():
    def f(x):
        y = x.copy()
        for i in range(4):
            y[i] = x[0] * i
        return y.sum()

    for _ in range(3):
        with pytest.raises(IndexError, match="out of bounds"):
            gradient(f, np.array([1.0, 2.0, 3.0]))


DOUBLE = type(np.dtype(float))


def ufuncs_of_a_class_of_dtypes(x):
    a, b = np.array([x, 2.0]), np.zeros(2)
    np.multiply(a, a, out=b, where=np.array([True, False]), casting="unsafe", dtype=DOUBLE)
    return float((np.sin(a, dtype=DOUBLE) * b.astype(DOUBLE)).sum() + np.asarray([x], DOUBLE)[0])


@pytest.mark.parametrize("mode", MODES)
def test_a_class_of_dtypes_stands_for_its_dtype(mode):
    expected = differences(ufuncs_of_a_class_of_dtypes, 0.7, 2 if mode == "hvp" else 1)
    assert MODES[mode](ufuncs_of_a_class_of_dtypes, 0.7) == pytest.approx(expected, rel=1e-6)
    assert generic_gradient(ufuncs_of_a_class_of_dtypes, 0.7)[0] == pytest.approx(
        differences(ufuncs_of_a_class_of_dtypes, 0.7, 1)
    )


def numbers_made_finite_in_place(x):
    a, b = np.array([x, np.nan, x**2]), np.array([[np.inf, x]])
    c = np.nan_to_num(a, copy=False, nan=x)
    c[0] *= x
    np.nan_to_num(b[0], False, 0.0, x**3)
    return float(np.sum(a**2) + np.sum(b * a[:2]))


@pytest.mark.parametrize("mode", MODES)
def test_numbers_made_finite_without_a_copy(mode):
    expected = differences(numbers_made_finite_in_place, 0.7, 2 if mode == "hvp" else 1)
    assert MODES[mode](numbers_made_finite_in_place, 0.7) == pytest.approx(expected, rel=1e-6)


@gradient_at(V)
def test_what_is_written_in_python_for_a_result_is_stored(x):
    a, b, c, d = x + 0.0, x + 3.0, np.outer(x, x), x * x
    np.subtract.accumulate(a, out=a)
    np.divide.accumulate(b, out=b)
    np.multiply.reduceat(c, [0, 2], axis=1, out=c[:, :2])
    np.cumulative_sum(d, out=d)
    return np.sum(W * a) + np.sum(W * b) + np.sum(W * c) + np.sum(W * d)


def _or_its_error(f, *args):
    try:
        return f(*args)
    except (TypeError, ValueError) as error:
        return type(error), str(error)


OTHER_FORMS = {
    "sum": lambda x: np.sum(x, axis=0, out=np.zeros(2)),
    "mean": lambda x: np.mean(x, axis=0, out=np.zeros(2)),
    "std": lambda x: x.std(axis=0, out=np.zeros(2)),
    "cumsum": lambda x: np.cumsum(x, out=np.zeros(4)),
    "reduce": lambda x: np.multiply.reduce(x, out=np.zeros(2)),
    "accumulate": lambda x: np.add.accumulate(x, out=np.zeros((2, 2))),
    "einsum": lambda x: np.einsum("ij,jk", x, x, out=np.zeros((2, 2))),
    "a ufunc": lambda x: np.exp(x, out=np.zeros((3, 2, 2))),
    "whole numbers": lambda x: np.add(x, x, out=np.zeros((2, 2), int)),
    "a part of whole numbers": lambda x: np.add(x, x, out=np.zeros((2, 2), int), where=x > 0.5),
    "reals": lambda x: np.multiply(x, 1j, out=np.zeros((2, 2))),
    "too many axes": lambda x: np.sum(x, axis=0, out=np.zeros((1, 2))),
    "a longer axis": lambda x: np.sum(x, axis=0, keepdims=True, out=np.zeros((2, 2))),
    "another type than dot has": lambda x: np.dot(x, x, out=np.zeros((2, 2))),
    "two results": lambda x: np.divmod(x, 0.3, out=(np.zeros((2, 2)), np.zeros((2, 2), int))),
}


@pytest.mark.parametrize("name", OTHER_FORMS)
def test_results_are_written_to_an_array_of_another_form_as_numpy_does(name):
    f, x = OTHER_FORMS[name], np.array([[0.1, 0.7], [1.3, 1e-8]], np.float32)
    expected = _or_its_error(f, x)
    for _ in range(3):
        for values in (lambda: pullback(f, x)[0], lambda: jvp(f, (x,), (x,))[0]):
            np.testing.assert_equal(_or_its_error(values), expected)


def refused(store, *args):
    try:
        store(*args)
    except TypeError:
        return True
    return False


@gradient_at(V)
def test_what_handles_that_a_result_is_refused(x):
    counts, total = np.arange(4), 0.0
    if refused(lambda: np.multiply(counts, x, out=counts)):
        total += (counts * x * x) @ W
    if refused(np.copyto, counts, x):
        total += np.sum(x**3)
    if refused(np.putmask, counts, x > 0.0, x):
        total += np.sum(x**2)
    if refused(np.place, counts, x > 0.0, x):
        total *= x[0]
    np.copyto(counts, x * 3.1, casting="unsafe")
    return total + (counts * W) @ x


def _flat_items(a):
    a.flat[1:] = a[:-1]


def _flat(a):
    b = np.outer(a, a)
    b.flat = b.T
    a += b[:, 1]


def _every_other(a):
    a[::2] = a[:2][::1]
    a[1::2] = a[1:3]


def _part_of_a_view(a):
    every_other = np.append(a, a)[::2]
    every_other[:] *= a
    b = np.append(a, a)
    shown = b[::2]
    shown[:3] = b[:3]
    a *= every_other * b[: len(a)]


def _column(a):
    b = np.outer(a, a + 1.0)
    b[:, 2] = b[1]
    a *= b[:, 2]


def _row_from_the_end(a):
    b = np.outer(a, a + 1.0)[::-1, ::-1]
    b[2] = b[:, 1]
    a *= b[2]


def _joined(a):
    np.concatenate([a[2:], a[:2]], out=a)


def _diagonal(a):
    b = np.outer(a, a + 1.0)
    np.fill_diagonal(b, b[::-1, 0])
    a *= b[3]


def _raveled(a):
    b = np.outer(a, a + 1.0)
    b.ravel()[::2] = b.ravel()[:8]
    a *= b[0]


CHANGES = [_flat_items, _flat, _part_of_a_view, _column, _row_from_the_end, _joined, _diagonal, _raveled]


@pytest.mark.parametrize("change", CHANGES)
def test_what_numpy_overwrites_before_it_has_read_it_is_an_error(change):
    def f(x):
        a = x * 1.0
        change(a)
        return np.sum(W * a)

    for differentiate in (gradient, pullback, lambda f, x: jvp(f, (x,), (W,))):
        with pytest.raises(NotDifferentiable, match="overwrites elements"):
            differentiate(f, V)


@gradient_at(V)
def test_memory_that_is_read_before_it_is_overwritten(x):
    a, b, c = x * 1.0, np.outer(x, x), x * 2.0
    _every_other(a)
    b[0] = b[1]
    b[:, 0] = b[:, 1]
    b[2] = b[:, 1]
    b.T[0] = b[3]
    b[1], b[2] = b[2] * 1.0, b[1]
    c[1:] = c[:-1]
    c[:-1] = c[1:]
    c.flat = c[::-1]
    np.copyto(c[1:], c[:-1])
    return np.sum(W * a) + np.sum(W * b) + np.sum(W * c)


@gradient_at(V)
def test_parts_are_turned_round_in_place(x):
    a, b = x * 1.0, np.outer(x, x)
    a[1:4] = a[1:4][::-1]
    part = a[:3]
    part[1:] = part[:-1]
    part[:] = part[::-1]
    a[2:] = a[:-2][::-1][: len(a) - 2]
    b[1, 1:] = b[1, 1:][::-1]
    b[0] = b[2][::-1]
    shown = b[::-1]
    shown[0, :2] = shown[0, 1:3]
    return np.sum(W * a) + np.sum(W * b)


@gradient_at(np.array([[0.5, 1.5, 2.0], [1.0, 0.3, 0.7]]))
def test_stores_into_views_with_new_axes(x):
    norm = np.sqrt((x**2).sum(axis=0))[np.newaxis, ...]
    norm *= 2.0
    norm += x[:1]
    rows = (x * x)[None, :]
    rows[0, 1] += x[0]
    rows[..., 1:] = x[None, :, :2]
    return np.sum(x / norm) + np.sum(rows**2)


@gradient_at(np.array([[2.0, 0.5, 0.1], [0.5, 1.5, 0.3], [0.1, 0.3, 1.0]]))
def test_stores_into_what_decompositions_give(a):
    u, s, v = np.linalg.svd(a, full_matrices=False)
    signs = np.sign(u[0])
    u *= signs
    v *= signs[:, None]
    q, r = np.linalg.qr(a)
    q[:, 0] *= 2.0
    whole, rest = np.divmod(a, 0.37)
    rest += whole
    return np.sum(u**3) + np.sum(v**3) + s[0] + np.sum(q * a) + r[0, 0] + np.sum(rest**2)


@gradient_at(V)
def test_stores_into_parts_of_complex_arrays_and_what_is_the_array_itself(x):
    z = (x * (1.0 + 2.0j)).copy()
    real = z.real
    real /= 3.0
    real[0] = 2.0
    spectrum = np.fft.fft(x)
    found = np.fft.ifft(spectrum * spectrum).real
    found *= x[0]
    found[1:3] += found[0]
    y = x * 2.0
    same = y[::-1].conj()
    same /= x[1]
    own = y.real
    own[0] = x[2] * x[3]
    return np.sum(W * real) + np.sum(found**2) + np.sum(W * y) + np.sum(same * own)


@gradient_at(V)
def test_what_a_view_was_taken_of_is_read_after_a_store_into_it(x):
    z = x * (1.0 + 2.0j)
    real, imag = z.real, z.imag
    real *= x
    imag[1] = x[0]
    z *= 2.0
    return np.sum(np.abs(z) ** 2 * W) + np.sum(real * imag)


@gradient_at(V)
def test_arguments_that_are_stored_into_by_what_is_the_array_itself(x):
    y = x.conj()
    y[0] = x[1] * x[2]
    part = x[1:].real
    part *= y[0]
    return np.sum(W * x)


@gradient_at(V)
def test_a_scalar_stays_as_it_is_where_items_are_put_into_it(x):
    total = x.sum()
    np.put(total, [0], 3.0)
    return total * x[0]


def test_the_real_part_of_booleans_that_were_stored():
    def f(x, n):
        seen = np.array([True, False, True])
        seen[0] = n
        return np.sum(np.sin(seen.real) * x[:3])

    assert jvp(f, (V, 2.0), (np.ones(4), 1.0))[1] == pytest.approx(2 * math.sin(1.0), rel=1e-2)
