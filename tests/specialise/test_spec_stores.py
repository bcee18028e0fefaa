"""Stores into arrays and lists that a program makes: in loops, with all ways in one program."""

from __future__ import annotations

import math
import os

import numpy as np
import pytest
from random_stores import Writer
from specialised_cases import GENERIC, check, check_raises, check_slopes, is_specialised, oracle, same, scope, slopes

import autodiff_hook as ad

ONE_WAY = bool(os.environ.get("AUTODIFF_ONE_WAY"))
ALL_WAYS = None if ONE_WAY else True
DATA = np.random.default_rng(3).normal(size=64)


def filled(x, n):
    out = np.zeros(n)
    for i in range(n):
        out[i] = math.sin(x * i)
    return np.sum(out * out)


def recurrence(x, n):
    a = np.empty(n)
    a[0] = x
    for i in range(1, n):
        a[i] = a[i - 1] + 0.01 * math.sin(a[i - 1]) * a[i - 1]
    return a[-1]


def list_recurrence(x, n):
    a = [0.0] * n
    a[0] = x
    for i in range(1, n):
        a[i] = a[i - 1] + 0.01 * math.sin(a[i - 1])
    return a[-1] * a[n // 2]


def changed_display(x, n):
    a = [x, 1.0, x * x]
    for i in range(n):
        a[i % 3] = a[(i + 1) % 3] * x
    return sum(q * q for q in a)


def appended_display(x, n):
    a = [x]
    for i in range(n):
        a.append(a[-1] * 0.99 + 0.1 * x)
        a[i // 2] *= 0.5
    return sum(a) + len(a)


def heat(x, n):
    u = np.full(30, 1.0) * x
    u[10] = 2.0
    for _ in range(n):
        u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u * u)


def heat_with_a_new_array(x, n):
    u = np.sin(np.arange(20.0) * x)
    for _ in range(n):
        new = u.copy()
        new[1:-1] = u[1:-1] * u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        new[0] = new[1]
        new[-1] = 0.0
        u = new
    return np.sum(u * u)


def behind_an_ellipsis(x, n):
    R = np.zeros((n + 2, 2, 2))
    for i in range(n):
        angle = np.asarray(x * i)
        R[i, ..., 0, 0] = np.cos(angle)
        R[i, ..., 0, 1] = -math.sin(x)
        R[i, 1, 0, ...] = x * x
        R[..., i, 1, 1] = R[i, 1, 0] * x
    return np.sum(R[0] @ R[1]) + np.sum(R * R)


def below_a_mask(x, n):
    grid, cube = np.zeros((n, 3)), np.ones((n, 2, 3))
    for z in range(3):
        low = np.arange(n) < z + 2
        grid[:, z] = np.sin(x * np.arange(n) * z)
        grid[low, z] = grid[low, z] * x + np.cos(x * np.arange(z + 2))
        grid[low] *= 1.5
        cube[low, 1, z] = x * z
        cube[~low, :, 1] += grid[~low, :2]
        cube[np.array([0, 2]), low[:2]] = x
    return np.sum(grid * grid) + np.sum(cube**2)


def by_lists_of_places(x, n):
    K, v, even = np.zeros((n + 1, n + 1)), np.zeros(n), [i for i in range(n) if i % 2 == 0]
    for e in range(n - 4):
        nodes = [e, e + 1]
        K[np.ix_(nodes, nodes)] += np.array([[x, -1.0], [-1.0, x * x]])
        K[nodes, 0] *= x
        K[0, even] = K[0, even] * 0.5 + x
        v[even] += K[0, even] * x
        v[even[1:]] = v[even[1:]] * x
    return np.sum(K * K) + np.sum(v * v) + np.sum(K[np.ix_(even, np.arange(2))])


def by_slices_that_are_called(x, n):
    a = x * np.arange(1.0, n + 4.0)
    for k in range(3):
        part = slice(k, k + n)
        a[slice(2)] = a[part][:2] * x
        a[part] = a[part] + a[slice(None, None, -1)][:n] * 0.1
    return np.sum(a * a)


def by_indices_of_slices(x, n):
    a, total = x * np.arange(1.0, n + 4.0), 0.0
    for part in range(*slice(1, None, 2).indices(len(a))):
        begin, end, step = slice(-n - part, -1).indices(n + 4)
        total += a[part] * a[begin] * (end + step)
        a[end - 1] = total
    return np.sum(a * a)


def assembled(x, n):
    K = np.zeros((n + 1, n + 1))
    ke = np.array([[1.0, -1.0], [-1.0, x]]) * x
    for e in range(n):
        K[e : e + 2, e : e + 2] += ke
    return np.sum(K * K)


def rhs(y, x):
    dy = np.zeros(2)
    dy[0] = y[1]
    dy[1] = -x * y[0]
    return dy


def trajectory(x, n):
    y, h = np.array([1.0, 0.0]), 0.05
    out = np.zeros((n + 1, 2))
    out[0] = y
    for i in range(n):
        y = y + h * rhs(y + 0.5 * h * rhs(y, x), x)
        out[i + 1] = y
    return np.sum(out[:, 0] ** 2)


def tridiagonal(x, n):
    a, b, d = np.full(n, -1.0) * x, np.full(n, 3.0), np.ones(n)
    cp, dp, s = np.zeros(n), np.zeros(n), np.zeros(n)
    cp[0], dp[0] = -1.0 / b[0], d[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i] * cp[i - 1]
        cp[i] = -1.0 / m
        dp[i] = (d[i] - a[i] * dp[i - 1]) / m
    s[-1] = dp[-1]
    for i in range(n - 2, -1, -1):
        s[i] = dp[i] - cp[i] * s[i + 1]
    return s.sum()


def cholesky(x, n):
    A, L = np.zeros((n, n)), np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            A[i, j] = math.exp(-x * abs(i - j))
    for i in range(n):
        for j in range(i + 1):
            s = 0.0
            for k in range(j):
                s += L[i, k] * L[j, k]
            L[i, j] = math.sqrt(A[i, i] + 1.0 - s) if i == j else (A[i, j] - s) / L[j, j]
    return sum([math.log(L[i, i]) for i in range(n)])


def fit(x, n):
    ys = []
    for i in range(n):
        ys.append(math.exp(-x * i * 0.01))
    return np.sum((np.array(ys) - DATA[:n]) ** 2)


def masked(x, n):
    u = np.linspace(-1.0, 1.0, n) * x
    for _ in range(3):
        u[u > 0.3] *= 0.5
        u[u < -0.2] = x * x
    return np.sum(u * u)


def left_early(x, n):
    u = np.zeros(n)
    for i in range(n):
        u[i] = x * (i + 1)
        if u[i] > 2.0:
            return u[: i + 1].sum() + u[0]
        if i == 5:
            u[0] += x
            continue
        u[-1] = u[i] * 0.5
    return np.sum(u)


def in_a_branch(x, n):
    u = np.ones(4) * x
    for i in range(n):
        if i % 3 == 0:
            u[i % 4] = u[(i + 1) % 4] * x
        elif i % 3 == 1:
            u *= 0.9
        else:
            u[1:] += u[:-1] * 0.1
    return np.sum(u * u)


def iterated(x, n):
    w, s, t = np.zeros(n), 0.0, 0.0
    for i, t in enumerate(w):
        s += t * x
        w[i + 1 :] = x * i
    return s + t


def buffers_in_turn(x, n):
    u, new = np.sin(np.arange(9.0) * x), np.zeros(9)
    for _ in range(n):
        new[1:-1] = np.tanh(u[1:-1]) + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        u, new = new, u
    return np.sum(u * u) + new[3]


def made_in_a_branch(x, n):
    u = np.ones(4) * x
    for i in range(n):
        if i % 3 == 1:
            u = u + 0.1 * x
        u[i % 4] *= x
    if x > 0.5:
        w = np.zeros(4)
    else:
        w = u * u
    w[1] = x
    return np.sum(u * u * w) + np.sum(w)


PROGRAMS = [
    buffers_in_turn,
    made_in_a_branch,
    filled,
    recurrence,
    list_recurrence,
    changed_display,
    appended_display,
    heat,
    heat_with_a_new_array,
]
PROGRAMS += [
    behind_an_ellipsis,
    below_a_mask,
    by_lists_of_places,
    by_slices_that_are_called,
    by_indices_of_slices,
    assembled,
    trajectory,
    tridiagonal,
    cholesky,
    fit,
    masked,
    left_early,
    in_a_branch,
    iterated,
]


@pytest.mark.parametrize("f", PROGRAMS)
def test_loops_that_store(f):
    scope_of = {**f.__globals__, "f": f}
    g = eval("lambda x: f(x, 7)", scope_of)
    check_slopes(g, 0.7, specialised=ALL_WAYS)
    if not (GENERIC or ONE_WAY):
        assert "next " in ad.code_adjoint(g, 0.7)
    check_slopes(eval("lambda x: f(x, 20)", scope_of), 0.7, specialised=ALL_WAYS)


def test_time_is_linear_in_the_length_of_a_loop():
    texts = {ad.code_adjoint(eval(f"lambda x: recurrence(x, {n})", globals()), 0.7).count("setitem") for n in (50, 500)}
    if not (GENERIC or ONE_WAY):
        assert len(texts) == 1
    check_slopes(lambda x: recurrence(x, 3000), 0.7, specialised=ALL_WAYS)


def view_after_a_store(x):
    u = np.ones(4) * x
    v = u[1:]
    u[2] = x * x
    return np.sum(v * u[:3])


def transposed_after_a_store(x):
    m = np.ones((2, 3)) * x
    t = m.T
    m[0] *= x
    return np.sum(t @ m)


def two_arrays_in_turn(x):
    u, v = np.ones(5) * x, np.zeros(5)
    for _ in range(4):
        v[1:-1] = u[:-2] * u[2:]
        u, v = v, u
    return np.sum(u * v)


def two_names_in_turn(x):
    u = np.ones(5) * x
    v = u
    for i in range(4):
        v[1:-1] = u[:-2] * u[2:]
        if i == 2:
            v = np.zeros(5)
        u, v = v, u
    return np.sum(u * v) + np.sum(u)


def in_a_tuple(x):
    u = np.ones(3) * x
    pair = (u, x)
    u[0] = x * x
    return np.sum(pair[0]) * pair[1]


def in_a_list(x):
    u, kept = np.ones(3) * x, []
    for i in range(3):
        kept.append(u)
        u[i] = x * x * i
    return np.sum(kept[0]) + np.sum(np.array(kept))


def of_an_argument(x):
    def change(a):
        a[0] = x * 3

    u = np.ones(3) * x
    v = u.reshape(3, 1)
    change(v)
    return np.sum(u * u)


def asarray_is_the_array(x):
    u = np.ones(3) * x
    v = np.asarray(u)
    v[0] = x * x
    return np.sum(u * u)


def element_without_axes(x):
    u = np.ones(2) * x
    v = u[..., 0]
    u[0] = 5.0 * x * x
    return np.sum(v * v)


def diagonal_by_einsum(x):
    m = np.eye(3) * x
    d = np.einsum("ii->i", m)
    d[1] = 2.0 * x * x
    return np.sum(m * m)


def results_that_pullbacks_hold(x):
    e = np.exp(np.ones(3) * x * np.arange(3))
    e /= e.sum()
    root = np.sqrt(e + 1.0)
    root[0] = x
    inverse = np.linalg.inv(np.eye(2) * x)
    inverse[0, 0] += 1.0
    inverse *= x
    running = np.cumprod(np.ones(3) * x)
    running *= x
    return e[0] + root[1] * root[0] + inverse.sum() + running.sum()


def softmax_in_a_loop(x):
    u = np.ones(3) * x
    for _ in range(3):
        e = np.exp(u)
        e /= e.sum()
        u[0] += e[-1]
        u = u + e
    return u.sum() * u[0]


def negation_before_a_store(x):
    u = np.ones(2) * x
    v, w = -u, u * 3.0
    u[0] = 5.0
    return np.sum(v * v) + np.sum((w * 2.0) * v)


def products_of_parts_before_a_store(x):
    m = np.ones((3, 4)) * x
    s = np.sum(m[0, 1] * (x * m[2])) * 0.1
    m *= s
    m[0, 2] *= x * m[-1, 0]
    return np.sum(m * m)


def iterated_and_made_anew(x):
    m, t = np.ones(3) * x, 0.3
    w = np.zeros(6)
    if math.sin(w[-1]) > 0.5:
        return m[1]
    w = np.array([x, 1.0, 2.0, t, 0.1, x])
    for t in w:  # noqa: B007
        w = np.zeros(6) * (0.5 * x)
    return math.sin(t) + np.sum(m * m) * 0.1


def iterated_and_stored_into_or_made_anew(x):
    w, s = np.ones(4) * x, 0.0
    for t in w:
        s += t * x
        if s > 1.0:
            w = np.zeros(4)
        w[-1] = t * x
    return s + np.sum(w)


def read_in_an_inner_loop(x):
    s = 0.0
    for _ in range(2):
        u = np.ones(5) * x
        for i in range(5):
            s += u[i] * u[i] * s
            s += u[-1]
    return s


def sum_of_a_product_before_a_store(x):
    u = np.ones(3) * x
    t, w = u * u, -u
    u[0] = 5.0
    first = np.sum(t)
    u[1] = x
    return first * np.sum(w) * np.sum(u)


def list_used_as_a_whole_between_changes(x):
    a = [x, x * x, 1.0]
    s = sum(a) * max(a)
    a[1] = 3.0 * x
    b = np.array(a)
    a.append(s)
    a[0] = 0.0
    return np.sum(b * b) + sum(a) * s


def chosen_by_sequences(x):
    a = np.outer([1.0, 2.0, 3.0], [x, x * x, 1.0])
    column, rows, pair = a[[2, 0], 1], a[[0, 1]], a[(0, 2), 1:]
    for part in (column, rows, pair):
        part *= 3.0
    np.negative(column, column)
    rows[0] = x
    return np.sum(column * column[::-1]) + np.sum(rows * rows) * np.sum(pair) + np.sum(a * a)


@pytest.mark.parametrize(
    "f",
    [
        *(
            view_after_a_store,
            transposed_after_a_store,
            two_arrays_in_turn,
            two_names_in_turn,
            in_a_tuple,
            in_a_list,
            of_an_argument,
        ),
        *(
            chosen_by_sequences,
            element_without_axes,
            diagonal_by_einsum,
            results_that_pullbacks_hold,
            softmax_in_a_loop,
        ),
        *(negation_before_a_store, products_of_parts_before_a_store, iterated_and_made_anew, read_in_an_inner_loop),
        iterated_and_stored_into_or_made_anew,
        *(asarray_is_the_array, sum_of_a_product_before_a_store, list_used_as_a_whole_between_changes),
    ],
)
def test_other_names_of_what_is_stored_into(f):
    check_slopes(f, 0.7, specialised=None)


@pytest.mark.parametrize("seed", range(int(os.environ.get("AUTODIFF_TEST_PROGRAMS", "40"))))
@pytest.mark.filterwarnings("ignore")
def test_random_stores(seed):
    source = Writer(seed).source()
    f = scope(source, np=np, math=math)["f"]
    with np.errstate(all="ignore"):
        try:
            value = f(0.7, 0.4)
        except (ValueError, IndexError):
            pytest.skip("the program raises")
        if np.isfinite(value):
            check(f, 0.7, 0.4, specialised=None)


def test_most_random_stores_are_understood():
    if GENERIC or ONE_WAY:
        return
    count = 0
    for seed in range(40):
        f = scope(Writer(seed).source(), np=np, math=math)["f"]
        with np.errstate(all="ignore"):
            try:
                ad.gradient(f, 0.7, 0.4)
            except (ValueError, IndexError):
                continue
        count += is_specialised(f)
    assert count > 20


def test_with_respect_to_arrays():
    def smooth(u, kernel):
        out = np.zeros_like(u)
        for i in range(1, len(u) - 1):
            for j in range(3):
                out[i] += kernel[j] * u[i + j - 1]
        return np.sum(out**2)

    u, kernel = DATA[:12].copy(), np.array([0.2, 0.5, 0.3])
    kept = u.copy()
    check(smooth, u, kernel)
    np.testing.assert_array_equal(u, kept)
    (du, dk), eps = ad.gradient(smooth, u, kernel), 1e-6
    bump = np.eye(12)[4] * eps
    assert du[4] == pytest.approx((smooth(u + bump, kernel) - smooth(u - bump, kernel)) / 2 / eps, rel=1e-5)
    assert dk[0] == pytest.approx(
        (smooth(u, kernel + [eps, 0, 0]) - smooth(u, kernel - np.array([eps, 0, 0]))) / 2 / eps, rel=1e-5
    )


@pytest.mark.parametrize("made", ["[x, y]", "(x, y)", "[x * x, y][:2]", "[*(x, y), x]"])
@pytest.mark.parametrize("function", ["np.asarray", "np.asanyarray", "np.atleast_2d", "np.ascontiguousarray"])
def test_what_numpy_makes_of_lists_and_tuples_of_arrays(function, made):
    source = f"""
def f(x, y):
    rows = {function}({made})
    rows[:, y > 0.5] = 0.3 * x[0]
    rows /= y
    rows[0] *= rows[1]
    return np.sum(rows**2) + np.sum(x * y)
"""
    check(scope(source, np=np)["f"], np.array([0.3, 0.7, 1.1]), np.array([0.4, 0.9, 0.2]))


def test_a_pullback_may_be_used_twice():
    def path(x):
        out = np.zeros(5)
        for i in range(5):
            out[i] = x ** (i + 1)
        return out * x

    value, back = ad.pullback(path, 0.7)
    np.testing.assert_array_equal(value, path(0.7))
    first, second = back(np.ones(5))[0], back(np.ones(5))[0]
    assert first == second == pytest.approx(sum((i + 2) * 0.7 ** (i + 1) for i in range(5)))


def test_what_raises_raises_as_before():
    def beyond(x):
        a = np.zeros(3)
        for i in range(5):
            a[i] = x
        return a[0]

    def too_long(x):
        a = np.zeros(3)
        a[1:] = np.ones(3) * x
        return a[0]

    def wider(x):
        a = np.zeros(3)
        a += np.ones((1, 3)) * x
        return a[0]

    for f in (beyond, too_long, wider):
        check_raises(f, 0.7)

    def rotated(x):
        u, v = np.full(3, x), np.ones(3)
        for _ in range(3):
            u, v = v, u
            u[::-1] *= 0.5
        return np.sum(u) + np.sum(v)

    check(rotated, 0.7, specialised=None)
    check_raises(rotated, 1)


def test_whole_numbers_and_single_precision():
    def whole(x):
        a = np.zeros(3, int)
        for i in range(3):
            a[i] = i * 2
        return np.sum(a * x)

    def single(x):
        a = np.zeros(3, np.float32)
        for i in range(3):
            a[i] = i * 2
        return np.sum(a * x)

    for f in (whole, single):
        same(ad.gradient(f, 0.7), oracle(f, 0.7)[1])


def in_another_shape(x):
    a = np.array([x, 2.0, x * x, 1.0])
    view = a[1:]
    a.shape = (2, 2)
    return a[1, 0] * a[0, 0] + view.sum() * a.shape[0] + a.T[1, 0] * len(a)


def stored_in_another_shape(x):
    a = np.array([x, 2.0, x * x, 1.0])
    view = a[1:]
    a.shape = (2, 2)
    a[0, 1] = x
    return (a * a).sum() + view[0]


@pytest.mark.skipif(GENERIC, reason="arrays in another shape are an error where they are carried")
@pytest.mark.parametrize("f", [in_another_shape, stored_in_another_shape], ids=lambda f: f.__name__)
def test_shapes_that_are_assigned(f):
    try:
        found = ad.gradient(f, 0.7)
    except ad.NotDifferentiable:
        assert f is stored_in_another_shape
        return
    assert found == pytest.approx(slopes(f, 0.7))


def fitted_to_a_line(x):
    a = np.empty((4, 2))
    a[:, 0] = np.arange(1.0, 5.0) * x
    a[:, 1] = 1.0
    return np.linalg.lstsq(a, np.arange(4.0), rcond=None)[0][1] * x


def test_nothing_is_tried_out_on_what_memory_happens_to_hold(capfd):
    """LAPACK says itself what it does not like, past Python."""
    for size in (16, 12, 8, 4, 2):
        kept = [np.full(size, np.nan) for _ in range(100)]
        del kept
    assert ad.gradient(fitted_to_a_line, 1.3) == pytest.approx((-1.0,))
    assert "illegal value" not in "".join(capfd.readouterr())
