"""Arrays in specialised programs, what gradients share, and life in a process."""

from __future__ import annotations

import gc
import math
import os
import subprocess
import sys
import threading
import tracemalloc
import weakref

import numpy as np
import pytest
from specialised_cases import check, check_raises, is_specialised, same, scope

import autodiff_hook as ad
from autodiff_hook.runtime import entering, specialising

RNG = np.random.default_rng(0)
MATRIX, ROW, COLUMN = RNG.normal(size=(3, 4)), RNG.normal(size=4), RNG.normal(size=(3, 1))
ARRAYS = [MATRIX, ROW, COLUMN, RNG.normal(size=(1, 4)), np.array(2.0), np.array([1.5]), np.arange(4)]
ARRAYS += [MATRIX.astype(np.float32), MATRIX[:, ::-1], np.asfortranarray(MATRIX), np.zeros((3, 0)), np.array([[2.0]])]

ELEMENTWISE = [
    "(a * b).sum()",
    "np.mean((a - b) ** 2)",
    "np.sum(np.tanh(a) * b + a)",
    "(a / (1 + b * b)).sum()",
    "(a + a).sum() + (b * a).sum() - (b - a).sum()",
    "np.maximum(a, b).sum()",
    "np.where(a > b, a * b, a).sum()",
    "(-a).sum() + (0.5 + b).sum() * 2",
    "(a.T * 2).sum() + b.sum()",
    "a.reshape(-1)[::2].sum() * b.sum()",
    "np.exp(-abs(a)).sum() * np.sqrt(abs(b) + 1).sum()",
    "(a - a.sum(axis=-1, keepdims=True)).sum() * b.sum()",
]


@pytest.mark.parametrize("expression", ELEMENTWISE)
def test_broadcasting_of_many_shapes_one_after_another(expression):
    source = f"def f(a, b): return {expression}\ndef g(a, b): return {expression}"
    names = scope(source, np=np)
    pairs = [(a, b) for a in ARRAYS for b in [*ARRAYS, 2.0, 3, np.float64(1.5)]]
    with np.errstate(all="ignore"):
        for a, b in pairs:
            if np.ndim(a) == 0 and "axis" in expression:
                continue
            if 0 in (np.size(a), np.size(b)) and "mean" in expression:
                continue
            try:
                value = names["f"](a, b)
            except (ValueError, AttributeError):
                continue
            if not np.isnan(value):
                check(names["f"], a, b, specialised=None)


@pytest.mark.parametrize(
    "expression",
    [
        *(
            "a.sum(axis=0).max()",
            "a.mean(axis=1, keepdims=True).sum()",
            "np.sum(a, axis=(0, 1))",
            "a.max(axis=0).sum()",
        ),
        *("a[0, 1] * a[-1][2]", "a[1:, ::2].sum()", "a[..., 0].sum()", "a[None][0, 0, 1]", "a[a > 0].sum()", "a.std()"),
        *("a[np.array([0, 0, 1])].sum()", "np.trace(a @ a.T)", "a.ravel()[3] * a.flatten()[1]"),
        "np.sum(np.mean(a * a, ()))",
        *("np.concatenate([a, a * 2]).sum()", "np.linalg.norm(a)", "np.outer(a[0], a[1]).max()", "np.cumsum(a)[2]"),
    ],
)
def test_reductions_and_indices(expression):
    f = scope(f"def f(a): return {expression} * 2.0 + a[0, 0]", np=np)["f"]
    for a in (MATRIX, MATRIX * 2, MATRIX[:, :3], MATRIX[::-1]):
        check(f, a, specialised=None)


def items_in_loops(a, b):
    s = a[0] * b[-1]
    y = a + b
    for i in range(len(a)):
        if a[i] > 5:
            continue
        s = s + a[i] * b[i - 1] + y[i] * i
    return s + (y * a).sum()


def slices_in_loops(a, b):
    s = 0.0
    for i in range(3):
        s = s + (a[i:] * b[: len(b) - i]).sum()
    return s


def views(a, b):
    rest = a[1:]
    s = 0.0
    for i in range(3):
        s += rest[i] * b[i] + rest[::-1][i] * i
    return s + rest[::-1].sum()


def one_array_under_two_names(a, b):
    y = a if b[0] > 0 else b * 2
    s = 0.0
    for i in range(len(y)):
        s += y[i] * i
    for i in range(len(a)):
        s += a[i] * i * 10
    return s


@pytest.mark.parametrize("f", [items_in_loops, slices_in_loops, views, one_array_under_two_names])
def test_items_and_slices_in_loops(f):
    for a, b in ((ROW, ROW[::-1]), (ROW, -ROW), (ROW, ROW), (np.arange(4), ROW), (ROW.astype(np.float32), ROW)):
        check(f, a, b, specialised=None)


def in_place(a, b):
    a = a * 1.0
    a += b
    a[0] = b[1]
    a *= a
    return a.sum()


def in_place_of_an_argument(a, b):
    a += b
    return (a * a).sum()


def test_changes_in_place_of_arguments_are_left_to_the_generic_path():
    check(in_place, ROW, ROW * 2)
    a = ROW.copy()
    grads = ad.gradient(in_place_of_an_argument, a, ROW)
    same(a, ROW * 2)
    same(grads, (ROW * 4, ROW * 4))


CAPTURED = RNG.normal(size=4)
SHARING = {
    "sum": lambda a, b: (a + b).sum(),
    "captured": lambda a, b: (a * CAPTURED).sum() + (b * CAPTURED).sum(),
    "product": lambda a, b: (a * b).sum(),
    "same": lambda a, b: a.sum() + (a + a).sum() - b.sum(),
    "view": lambda a, b: a[:2].sum() + b[::-1].sum() + a.reshape(2, 2).T.sum(),
    "dot": lambda a, b: a @ b + CAPTURED @ a,
    "constant": lambda a, b: (a * np.ones(4)).sum() + np.mean(b),
    "unused": lambda a, b: a[0] * 1.0,
    "items": items_in_loops,
}


@pytest.mark.parametrize("name", SHARING)
def test_gradients_share_nothing(name):
    f = SHARING[name]
    a, b = RNG.normal(size=4), RNG.normal(size=4)
    kept = a.copy(), b.copy(), CAPTURED.copy()
    first = check(f, a, b, specialised=None if name == "view" else True)
    for run in (lambda: ad.gradient(f, a, b), lambda: ad.withgradient(f, a, b)[1]):
        grads = run()
        again = run()
        for i, gradient in enumerate(grads):
            assert gradient.flags.writeable and gradient.flags.owndata
            assert not any(np.shares_memory(gradient, x) for x in (a, b, CAPTURED, *again, *grads[:i]))
            gradient[...] = 77.0
        same(run(), first)
        same(again, first)
    for now, before in zip((a, b, CAPTURED), kept):
        assert now.tobytes() == before.tobytes()


def test_read_only_arrays():
    a = ROW.copy()
    a.flags.writeable = False
    for f in SHARING.values():
        check(f, a, a, specialised=None)


def test_gradients_of_lists_share_nothing():
    def f(xs, ys):
        return xs[0] * 2.0

    xs, ys = [1.0, 2.0], [3.0]
    first, second = ad.gradient(f, xs, ys), ad.gradient(f, xs, ys)
    first[0][0] = first[1][0] = 77.0
    assert second == ad.gradient(f, xs, ys) == ([2.0, 0.0], [0.0])
    assert (xs, ys) == ([1.0, 2.0], [3.0])


def test_shapes_that_do_not_fit_raise_what_the_plain_run_raises():
    def f(a, b):
        return (a @ b).sum() + (a * b).sum()

    check(f, ROW, ROW)
    check_raises(f, ROW, ROW[:3])
    check(f, ROW, ROW)


def test_products_of_views_are_those_of_the_plain_run():
    def f(u, v):
        return u @ v

    check(f, MATRIX[::-1][:, 1], MATRIX[::-1][:, 2])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_numpy_functions_that_have_no_part_in_the_result():
    def f(x):
        y = np.sqrt(x - x)
        return x * 2 if x > 1 else y

    assert ad.gradient(f, 2.0) == (2.0,)


# Life in a process


def test_ten_thousand_fresh_lambdas_leave_memory_flat():
    def one(k):
        f = lambda x: x * k * math.sin(x)  # noqa: E731
        ad.gradient(f, 2.0)

    for i in range(100):
        one(float(i))
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for i in range(10_000):
        one(float(i))
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 500_000


def test_programs_of_executed_functions_are_bounded(monkeypatch):
    """A program holds the globals of its function, so it is dropped only when its place is needed."""
    monkeypatch.setattr(specialising._known, "size", 16)
    for table in entering.tables():
        monkeypatch.setattr(table, "size", 16)
    watched = []
    for i in range(50):
        names = scope(f"def f(x): return x * {i}.0 + x")
        assert ad.gradient(names["f"], 2.0) == (i + 1.0,)
        watched.append(weakref.ref(names["f"]))
    del names
    gc.collect()
    assert sum(f() is not None for f in watched) <= 16


def test_first_calls_from_50_threads():
    for _ in range(3):
        names = scope("def h(x): return x * x\ndef f(x, n):\n s = x\n for i in range(n): s = s + h(x) * i\n return s")
        found, barrier = [], threading.Barrier(50)

        def run(names=names, found=found, barrier=barrier):
            barrier.wait()
            found.append((ad.gradient(names["f"], 3.0, 3), ad.withgradient(names["f"], 3.0, 3)))

        threads = [threading.Thread(target=run) for _ in range(50)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [((19.0, 0.0), (30.0, (19.0, 0.0)))] * 50
        assert is_specialised(names["f"])


def test_a_trace_function_sees_the_lines_of_the_program():
    def f(x):
        y = x * x
        return y * x

    check(f, 3.0)
    lines = []

    def tracer(frame, event, arg):
        if frame.f_code.co_name == "f" and event == "line":
            lines.append(frame.f_lineno - f.__code__.co_firstlineno)
        return tracer

    old = sys.gettrace()
    sys.settrace(tracer)
    try:
        grads = ad.gradient(f, 3.0)
    finally:
        sys.settrace(old)
    assert grads == (27.0,)
    assert {1, 2} <= set(lines)


PROGRAM = """
import autodiff_hook as ad
def h(x):
    return x * x
def f(x):
    return h(x) * 3.0
print(ad.gradient(f, 2.0), ad.withgradient(f, 2.0))
"""


@pytest.mark.parametrize("generic", ["", "1"])
def test_the_environment_says_which_path(tmp_path, generic):
    (tmp_path / "program.py").write_text(PROGRAM)
    env = {**os.environ, "AUTODIFF_TRACE": "1", "AUTODIFF_GENERIC": generic}
    found = subprocess.run(
        [sys.executable, tmp_path / "program.py"], capture_output=True, text=True, env=env, check=True
    )
    assert found.stdout == "(12.0,) (12.0, (12.0,))\n"
    assert ("specialised f" in found.stderr) is (not generic)


@pytest.mark.parametrize(
    "expression",
    [
        "np.sum(np.sign(p[:2]) * p[2:])",
        "np.sum(np.sign(p[1:]) * np.sqrt(abs(p[1:])))",
        "np.sum(p[:2].astype(int) * p[2:])",
        "np.sum(np.full_like(p[:2], 2.0) * p[2:])",
        "np.sum(np.where(p[:2], p[2:], 1.0))",
        "np.sum(np.sign(p[p > 1]) * p[:2])",
        "np.sum(np.sign(p[[0, 1]]) * p[2:])",
        "np.sum(np.divmod(p[2:], p[:2])[0] * p[2:])",
        "np.sum(np.meshgrid(p[:1], p[2:])[0] ** 2)",
        "np.sum(np.broadcast_arrays(p[:2], p[2:][None])[0] ** 2)",
        "np.sum(np.atleast_2d(p[:2], p[2:][None])[0] ** 2)",
    ],
)
def test_parts_that_get_no_derivative(expression):
    check(scope(f"def f(p): return {expression}", np=np)["f"], np.array([0.3, 1.1, 0.7, 2.3]), specialised=None)


def test_lengths_that_were_taken_to_fit():
    def f(p, q):
        n = q.shape[0]
        return np.sum(p[:, :n] * q) + np.sum(p[:, n:] ** 2)

    for width, length in ((4, 2), (4, 4), (5, 3), (1, 1), (3, 2)):
        check(f, RNG.normal(size=(3, width)), RNG.normal(size=length))
    with pytest.raises(ValueError, match="broadcast"):
        ad.gradient(f, RNG.normal(size=(3, 2)), RNG.normal(size=3))


@pytest.mark.parametrize(
    "text",
    [
        "sum(i * z for i, z in enumerate(p[p > 0.4].tolist())) + p.sum()",
        "sum(i * z for i, z in enumerate(np.split(p * p, p.size)))[0] if p.size > 1 else p.sum()",
        "np.unstack(p * p)[0] * len(np.unstack(p)) if p.size else 0.0",
        "sum(p[i] ** 2 for i in np.flatnonzero(p > 0.4).tolist()) + p.sum()",
        "sum(i * z[-1] for i, z in enumerate(p[:, None][:, p[:1] > 0.4].tolist()) if z) + p.sum()",
    ],
)
def test_what_has_as_many_items_as_an_array(text):
    f = scope(f"def f(p): return {text}", np=np)["f"]
    if "unstack" in text and not hasattr(np, "unstack"):
        pytest.skip("NumPy has no unstack")
    for values in ([], [0.3], [0.5], [0.3, 0.5, 0.7], [0.9, 0.6]):
        check(f, np.array(values), specialised=None)


def mixture(a, m, q, maps):
    centred = a[None, :, :] - m[:, None, :]
    z = centred * q[:, None, :] + centred @ maps
    return np.sum(np.log(np.sum(np.exp(-0.1 * np.sum(z * z, axis=2)), axis=0)))


def layered(a, m, q, maps):
    h = np.tanh(a[None, :, :] @ maps + m[:, None, :])
    g = h * q[:, None, :] - h @ maps * 0.5
    return np.sum(g * g) + np.sum(g[:, :, 0]) + np.sum(h.mean(axis=1) * q)


def reread(a, m, q, maps):
    b = a[None] * q[:, None, :]
    c = b + m[:, None, :]
    d = c * c
    e = d * b - c
    return np.sum(d) + np.sum(e * e) + np.sum(c[:, 1:] * d[:, :-1])


@pytest.mark.parametrize("f", [mixture, layered, reread])
def test_large_arrays_whose_memory_is_used_again(f):
    for stacks, rows, columns in ((5, 2000, 4), (2, 3, 2), (7, 1200, 3), (1, 5000, 4)):
        args = (
            RNG.normal(size=(rows, columns)),
            RNG.normal(size=(stacks, columns)),
            RNG.normal(size=(stacks, columns)),
            RNG.normal(size=(stacks, columns, columns)),
        )
        given = [x.copy() for x in args]
        check(f, *args)
        for x, y in zip(args, given):
            np.testing.assert_array_equal(x, y)
        turned = (np.asfortranarray(args[0]), args[1][::-1], args[2], args[3].transpose(0, 2, 1))
        check(f, *turned)
