"""Joint programs over arrays: what is written, and that nothing but their own memory is ever written to."""

from __future__ import annotations

import re

import numpy as np
import pytest

from autodiff_hook import code_adjoint, gradient, pullback
from autodiff_hook.algebras.reverse import Reverse
from autodiff_hook.api import generic_gradient
from autodiff_hook.emit import emit
from autodiff_hook.ir.printer import to_text
from autodiff_hook.registry import registry
from autodiff_hook.runtime.binding import Call
from autodiff_hook.runtime.guards import MISS
from autodiff_hook.runtime.preparing import prepare
from autodiff_hook.runtime.programs import joint_ir
from autodiff_hook.transform.specialise.bodies import Refused


def made(f, *args):
    prepare()
    registry.packs.load()
    return joint_ir(Call.plain(f, args)).ir


def entry(f, *args):
    """The joint program of ``f`` for arguments like these."""
    return type(f)(emit(made(f, *args), release=True), f.__globals__)


def text(f, *args):
    """The program behind its guards, with short names."""
    registry.packs.load()
    body = [line.split("  # ")[0].strip() for line in code_adjoint(f, *args).split("\n")[2:]]
    names: dict[str, str] = {}
    return "\n".join(
        re.sub(r"%\d+", lambda m: names.setdefault(m.group(), f"%{len(names)}"), re.sub(r" at 0x[\w.]+>?", ">", line))
        for line in body
        if line
    )


def softmax_weighted(x):
    e = np.exp(x - np.max(x))
    return np.sum(e * e)


def affine(W, b, X):
    return np.sum(np.tanh(X @ W + b))


def test_elementwise_operations_overwrite_what_is_dead():
    assert text(lambda x: np.sum(np.exp(-x)), np.ones(3)) == (
        "%0 = unary[-] %1\n"
        "%2 = call[] <ufunc 'exp'> %0 %0\n"
        "%3 = call[] ufunc.reduce %2 None\n"
        "%4 = call[] <ufunc 'negative'> %2 %2\n"
        "call[] autodiff_hook.runtime.specialised_runtime.no_nan_if_infinite %3 %4\n"
        "%5 = build_tuple %4\n"
        "return %5"
    )


def test_negations_that_cancel_are_left_out_and_quotients_computed_once():
    assert text(lambda x: np.sum(1.0 / (1.0 + np.exp(-x))), np.ones(3)) == (
        "%0 = unary[-] %1\n"
        "%2 = call[] <ufunc 'exp'> %0 %0\n"
        "%3 = binary[+] 1.0 %2\n"
        "%4 = call[] <ufunc 'divide'> 1.0 %3 %3\n"
        "%5 = inplace[*] %4 %4\n"
        "%6 = inplace[*] %5 %2\n"
        "call[] autodiff_hook.runtime.specialised_runtime.no_nan %6\n"
        "%7 = build_tuple %6\n"
        "return %7"
    )


def test_a_sum_becomes_a_difference_where_that_saves_a_negation():
    found = text(lambda x: np.sum(np.exp(x)) / np.sum(x * x), np.ones(3))
    assert "negative" not in found and "unary" not in found and "inplace[-]" in found


def test_layers_are_written_without_helpers():
    W, b, X = np.ones((3, 2)), np.ones(2), np.ones((4, 3))
    found = text(affine, W, b, X)
    assert all("no_nan" in line for line in found.splitlines() if "autodiff" in line)
    assert "'tanh'> %3 %3" in found


def test_slices_add_into_one_buffer():
    found = text(lambda x: np.sum((x[1:] - x[:-1]) ** 2), np.arange(5.0))
    assert found.count("numpy.zeros") == 1
    assert "scatter_add" not in found


def stepped(x, k):
    y = x.copy()
    for _ in range(5):
        y[1:-1] += k * (y[2:] - 2.0 * y[1:-1] + y[:-2])
    return np.sum(y * y)


def test_views_are_taken_before_the_loop():
    found = text(stepped, np.arange(6.0), 0.1)
    loops = found.split("next ")[1:]
    assert len(loops) == 2 and found.count("getitem") == 6
    assert "getitem" not in loops[0].split("jump b1()")[0] and "getitem" not in loops[1].split("jump b4(")[0]


def test_views_show_what_is_stored_meanwhile():
    def shifted(x, k):
        y, total = x * k, 0.0
        for i in range(3):
            total = total + np.sum(y[1:] * y[:-1])
            y[1:] = y[:-1] * k + y[1:] * i
            z = y[1:] * y[1:]
            y[:2] = z[-2:]
            total = total + np.sum(y[1:] * z[:1])
        return total

    for run in (gradient, specialised):
        for found, expected in zip(run(shifted, VECTOR, 0.7), generic_gradient(shifted, VECTOR, 0.7)):
            np.testing.assert_allclose(found, expected)


VECTOR = np.array([0.3, -1.2, 0.8, 2.0])
MATRIX = np.arange(12.0).reshape(3, 4) / 7.0 - 0.5
OFFSET = np.array([0.5, -0.25, 1.5, 0.75])


def loop(x):
    h = x * 0.0
    for i in range(4):
        h = np.tanh(h * 0.5 + x * i)
    return np.sum(h * h)


def loop_over_rows(m):
    s = np.zeros(4)
    for i in range(m.shape[0]):
        s = s + m[i] * m[i] * i
    return np.sum(s * s)


def branches(x):
    y = x * 2.0
    if np.sum(x) > 0.0:
        z = y + 1.0
    else:
        z = y
    return np.sum(z * y)


ONE = [
    lambda x: np.sum(x),
    lambda x: np.sum(x + x),
    lambda x: np.sum(x * x),
    lambda x: np.sum(x * OFFSET),
    lambda x: np.dot(x, OFFSET),
    lambda x: np.dot(x, x),
    lambda x: x @ OFFSET,
    lambda x: np.sum(x**2),
    lambda x: np.sum(x**3),
    lambda x: np.sum((x * x + 1.0) ** 0.5),
    lambda x: np.sum(x / (1.0 + x * x)),
    lambda x: np.sum(2.0 / (3.0 + x)),
    lambda x: np.sum(1.0 - x) * 3.0,
    lambda x: np.sum(-x * 2.0),
    lambda x: np.sum(np.exp(x) - x),
    lambda x: np.max(x) * np.sum(x),
    lambda x: np.min(x * x) + x[0],
    lambda x: x[1] * x[2] + x[-1],
    lambda x: np.sum(x[1:] * x[:-1]),
    lambda x: np.sum(x[::2] * x[1::2]),
    lambda x: np.sum(x[::-1] * x),
    lambda x: np.sum(x[[0, 0, 2]] ** 2),
    lambda x: np.sum(x[None, :] * x[:, None]),
    lambda x: np.sum(x[:, None] - OFFSET),
    lambda x: np.sum(np.maximum(x, 0.0) * x),
    lambda x: np.sum(np.where(x > 0.0, x * 2.0, x)),
    lambda x: np.sum(x * np.sum(x * x)),
    lambda x: np.sum((x - np.mean(x)) ** 2),
    lambda x: np.sum(x.T * x.reshape(-1)),
    lambda x: np.sum(x) + np.sum(x) * np.sum(x),
    lambda x: np.log(np.sum(np.exp(x - np.max(x)))) + np.max(x),
    lambda x: np.sum(np.exp(x) / np.sum(np.exp(x)) * OFFSET),
    lambda x: np.sum(MATRIX @ x),
    lambda x: np.sum((MATRIX @ x) * MATRIX[:, 0]),
    lambda x: np.sum(MATRIX * x),
    lambda x: np.sum(np.tanh(MATRIX * x + x), axis=0)[1] + x[0],
    lambda x: np.sum(x * 1.0),
    lambda x: np.mean((x - OFFSET) ** 2),
    lambda x: x.mean() * x.sum() + np.mean(x[1:]),
    lambda x: np.sum(np.where(x > 0.0, 3.0, x * x)),
    lambda x: np.sum(np.where(OFFSET > 0.0, x, 0.0) * np.where(x > 0.0, x, OFFSET)),
    lambda x: np.sum(np.maximum(x, 0.0)),
    lambda x: np.sum((x > 0.0) * x) + np.sum(np.minimum(x, OFFSET)),
    lambda x: np.sum(np.abs(x)) + np.sqrt(np.sum(x * x)),
    lambda x: np.sum(x**1),
    lambda x: np.sum(1.0 / (1.0 + np.exp(-x))),
    lambda x: -np.sum(OFFSET * (x - np.log(np.sum(np.exp(-x))))),
    lambda x: np.sum(-np.exp(-x) - x * np.sum(-x)),
    lambda x: np.sum(-(1.0 - x)) - np.sum(2.0 - (1.0 - x) / (3.0 - x * x)),
    softmax_weighted,
    loop,
    branches,
]
TWO = [
    lambda m: np.sum(m),
    lambda m: np.sum(np.sum(m, axis=0) ** 2),
    lambda m: np.sum(np.sum(m, axis=1) ** 2),
    lambda m: np.sum(np.sum(m, axis=1, keepdims=True) * m),
    lambda m: np.sum(m - np.max(m, axis=1, keepdims=True)),
    lambda m: np.sum(np.max(m, axis=0) * OFFSET),
    lambda m: np.sum(np.max(m, axis=1) ** 2),
    lambda m: np.sum(np.min(m, axis=-1, keepdims=True) * m),
    lambda m: np.max(m) * np.sum(m),
    lambda m: np.sum(m @ m.T),
    lambda m: np.sum(np.dot(m.T, m) * 0.5),
    lambda m: np.sum(m @ OFFSET),
    lambda m: np.sum(np.exp(m + OFFSET)),
    lambda m: np.sum(np.exp(m) / np.sum(np.exp(m), axis=1, keepdims=True) * OFFSET),
    lambda m: np.sum(m[:, 1:] * m[:, :-1]),
    lambda m: np.sum(m[1] * m[0]),
    lambda m: np.sum(m[:, 0]) * m[1, 2],
    lambda m: np.sum(m[:, None, :] - m[None, :, :]) + np.sum((m[:, None, :] * OFFSET) ** 2),
    lambda m: np.sum(np.transpose(m) @ m),
    lambda m: np.sum((m - np.mean(m, axis=1, keepdims=True)) ** 2),
    lambda m: np.sum(np.mean(m, axis=0) ** 2) + np.mean(m) + np.mean(m, axis=(0, 1)),
    lambda m: np.sum(np.where(m > 0.0, m, OFFSET) * m),
    lambda m: np.sum(np.sqrt(m * m + 1.0)[1:]),
    loop_over_rows,
]


def forms(array):
    """The same elements in arrays of other kinds."""
    wide = np.zeros((2 * array.shape[0], *array.shape[1:]))
    wide[::2] = array
    locked = array.copy()
    locked.flags.writeable = False
    return {
        "plain": array,
        "view": wide[::2],
        "locked": locked,
        "fortran": np.asfortranarray(array),
        "float32": array.astype(np.float32),
        "swapped": array.astype(">f8"),
        "int": np.arange(1, array.size + 1).reshape(array.shape),
    }


@pytest.mark.parametrize("kind", forms(VECTOR))
@pytest.mark.parametrize("number", range(len(ONE) + len(TWO)))
def test_gradients_are_those_of_the_generic_path(number, kind):
    f = [*ONE, *TWO][number]
    x = forms(VECTOR if number < len(ONE) else MATRIX)[kind]
    before, offset, matrix = x.copy(), OFFSET.copy(), MATRIX.copy()
    expected = generic_gradient(f, x)[0]
    for run in (gradient, specialised):
        (found,) = run(f, x)
        assert type(found) is type(expected) and found.dtype == expected.dtype and found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=2e-5 if kind == "float32" else 1e-10, atol=1e-6)
        assert not np.shares_memory(found, x) and not np.shares_memory(found, OFFSET)
        assert not np.shares_memory(found, MATRIX) and found.flags.writeable
        np.testing.assert_array_equal(x, before)
        np.testing.assert_array_equal(OFFSET, offset)
        np.testing.assert_array_equal(MATRIX, matrix)


def specialised(f, *args):
    """The gradient by the joint program itself; by ``gradient`` where there is none."""
    try:
        program = entry(f, *args)
    except Refused:
        return gradient(f, *args)
    result = program(f, args)
    return gradient(f, *args) if result is MISS else result


@pytest.mark.parametrize(
    "f",
    [
        lambda x, y: np.dot(x, y),
        lambda x, y: np.sum(x * y),
        lambda x, y: np.sum(x + y),
        lambda x, y: np.sum((x + y) * (x - y)),
        lambda x, y: np.sum(x) * np.sum(y),
        lambda x, y: np.sum(x * 2.0) + np.sum(y * 2.0),
        lambda x, y: np.max(x) + np.max(y),
        lambda x, y: np.sum(np.exp(x - y)) + np.sum(y[1:] * x[:-1]),
    ],
)
def test_gradients_alias_nothing(f):
    for x, y in ((VECTOR.copy(), OFFSET.copy()), (shared := VECTOR.copy(), shared)):
        kept = x.copy(), y.copy()
        expected = generic_gradient(f, x, y)
        for run in (gradient, specialised):
            a, b = run(f, x, y)
            np.testing.assert_allclose(a, expected[0])
            np.testing.assert_allclose(b, expected[1])
            arrays = [a, b, x, y]
            pairs = [(p, q) for i, p in enumerate(arrays) for q in arrays[:i] if p is not q]
            assert a is not b
            assert not any(np.shares_memory(p, q) for p, q in pairs)
            np.testing.assert_array_equal(x, kept[0])
            np.testing.assert_array_equal(y, kept[1])


def test_shapes_that_were_assumed_are_checked():
    def f(x, y):
        return np.sum(x * y)

    program = entry(f, np.ones(3), np.ones(3))
    assert program(f, (np.ones(3), np.ones(4))) is MISS
    a, b = gradient(f, np.ones((2, 3)), np.ones((2, 3)))
    assert a.shape == b.shape == (2, 3)
    a, b = gradient(f, np.ones((2, 3)), np.ones((1, 3)))
    np.testing.assert_array_equal(b, [[2.0, 2.0, 2.0]])
    a, b = gradient(f, np.ones((2, 1)), np.ones((1, 3)))
    np.testing.assert_array_equal(a, [[3.0], [3.0]])
    np.testing.assert_array_equal(b, [[2.0, 2.0, 2.0]])
    assert program(f, (np.ones(0), np.ones(0)))[0].shape == (0,)


@pytest.mark.parametrize("x", [np.array(0.5), np.zeros(0), np.zeros((0, 3)), np.ones(1), np.ones((1, 1))])
def test_arrays_without_axes_or_elements(x):
    for f in (lambda x: np.sum(np.exp(x) * x + 1.0), lambda x: np.sum(x) ** 2, lambda x: np.sum((x - 1.0) ** 2)):
        for run in (gradient, specialised):
            np.testing.assert_allclose(run(f, x)[0], generic_gradient(f, x)[0])
            assert run(f, x)[0].shape == x.shape


def test_errors_of_the_program_are_raised():
    with pytest.raises(ValueError, match="zero-size"):
        gradient(lambda x: np.sum(x) + 0.0 * np.max(x), np.zeros(0))
    with pytest.raises(ValueError, match="broadcast"):
        gradient(lambda x, y: np.sum(x) + 0.0 * np.sum(x + y), np.ones(3), np.ones(4))


def test_lengths_that_change_in_a_loop():
    def f(x):
        s = 0.0
        while x.shape[0] > 1:
            x = x[1:] * x[:-1] + 0.5
            s = s + np.sum(x * x)
        return s

    np.testing.assert_allclose(gradient(f, VECTOR)[0], generic_gradient(f, VECTOR)[0])


def test_numbers_that_were_lengths():
    def f(x):
        n, s = x.shape[0], 0.0
        while n > 1:
            n = n - 1
            z = np.zeros(n) + x[0]
            s = s + np.sum(z * z * n)
        return s

    np.testing.assert_allclose(gradient(f, VECTOR)[0], generic_gradient(f, VECTOR)[0])
    np.testing.assert_allclose(specialised(f, VECTOR)[0], generic_gradient(f, VECTOR)[0])


@pytest.mark.parametrize("number", range(len(ONE) + len(TWO)))
def test_values_are_those_of_the_function(number):
    f, x = [*ONE, *TWO][number], VECTOR if number < len(ONE) else MATRIX
    prepare()
    try:
        ir = joint_ir(Call.plain(f, (x,)), "value").ir
    except Refused:
        pytest.skip("there is no joint program")
    value, gradients = type(f)(emit(ir, release=True), f.__globals__)(f, (x,))
    np.testing.assert_allclose(value, f(x))
    np.testing.assert_allclose(gradients[0], generic_gradient(f, x)[0], atol=1e-12)


def test_a_program_can_run_again():
    program = entry(affine, np.ones((3, 2)), np.ones(2), np.ones((4, 3)))
    W, b, X = np.random.RandomState(0).randn(3, 2), np.ones(2), np.random.RandomState(1).randn(4, 3)
    first = program(affine, (W, b, X))
    copies = [g.copy() for g in first]
    second = program(affine, (W, b, X))
    for one, copy, two in zip(first, copies, second):
        np.testing.assert_array_equal(one, copy)
        np.testing.assert_array_equal(two, copy)
        assert not np.shares_memory(one, two)


def test_lengths_that_were_assumed_to_be_constants_are_checked():
    weights = np.array([1.0, 2.0, 3.0])

    def f(x):
        return np.sum((x * np.array([1.0, 2.0, 3.0]) + weights) ** 2)

    assert "unbroadcast" not in text(f, np.ones(3))
    program = entry(f, np.ones(3))
    assert program(f, (np.ones(1),)) is MISS
    for x in (np.ones(3), np.ones(1), np.ones((2, 3)), np.ones((2, 1))):
        np.testing.assert_allclose(gradient(f, x)[0], generic_gradient(f, x)[0])


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(np.reshape(np.array([x[0], x[1]]), (2, 1)) * np.array([[1.0], [2.0]])),
        lambda x: np.sum(np.concatenate([np.array([x[0]]), np.array([x[1]])]) * np.array([1.0, 2.0])),
        lambda x: np.sum(np.array([x[0], x[1]]).copy() * np.array([1.0, 2.0])),
        lambda x: np.sum(np.outer(np.array([x[0], x[1]]), np.array([1.0, x[1]])) * np.ones((2, 2))),
        lambda x: np.sum(np.ravel(np.array([[x[0], x[1]]])) * np.array([1.0, 2.0])),
    ],
)
def test_shapes_that_examples_tell(f):
    x = np.array([0.3, 0.8])
    assert "unbroadcast" not in text(f, x)
    np.testing.assert_allclose(gradient(f, x)[0], generic_gradient(f, x)[0])


@pytest.mark.parametrize(
    "step",
    [
        lambda u: np.roll(u, 1, 0) - np.flip(u, 1),
        lambda u: np.vstack([u[1:], u[:1]]) + u[::-1],
        lambda u: np.outer(u[:, 0], u[-1]) + np.cumsum(u, axis=1),
        lambda u: np.moveaxis(np.moveaxis(u, 0, 1), 1, 0) + np.tile(u[0], 1),
    ],
)
def test_shapes_follow_from_those_of_examples_of_other_lengths(step):
    def f(x):
        u = x
        for _ in range(2):
            u = u + 0.3 * x * step(u)
        return np.sum(u)

    assert "unbroadcast" not in text(f, np.ones((4, 3)))
    for shape in ((4, 3), (2, 5), (1, 3), (3, 1), (1, 1)):
        x = np.arange(1.0, 1.0 + shape[0] * shape[1]).reshape(shape)
        np.testing.assert_allclose(gradient(f, x)[0], generic_gradient(f, x)[0])


def test_shapes_that_examples_do_not_tell():
    def f(x, n):
        return np.sum(np.tile(np.array([x[0], x[1]]), n) + np.zeros(1))

    for n in (1, 2, 3):
        np.testing.assert_allclose(gradient(f, np.array([0.3, 0.8]), n)[0], [n, n])


def test_lists_that_grow_have_no_known_shape():
    def f(x, rows):
        return np.sum((np.array([np.sin(row[0] * x[0]) for row in rows * x]) + np.array([x[1], x[0]])) ** 2)

    x = np.array([0.3, 0.8])
    for n in (1, 2):
        args = x, np.arange(2.0 * n).reshape(n, 2) + 1.0
        for found, expected in zip(entry(f, *args)(f, args), generic_gradient(f, *args)):
            np.testing.assert_allclose(found, expected)


def test_lists_that_grow_are_joined():
    def f(x, n):
        parts = [np.array([x[0], x[1]])]
        for i in range(n):
            parts.append(np.array([x[1], x[0] * i]))
        return np.sum(np.concatenate(parts) ** 2 * x[0])

    x = np.array([0.3, 0.8])
    for n in (0, 1, 3):
        np.testing.assert_allclose(entry(f, x, n)(f, (x, n))[0], generic_gradient(f, x, n)[0])


def test_sums_of_lists_that_grow():
    def f(x, n):
        terms = [x[0] * x[1]]
        for i in range(n):
            terms.append(x[0] * i)
        return sum(terms) * sum([x[0], x[1]])

    x = np.array([0.3, 0.8])
    for n in (0, 1, 3):
        np.testing.assert_allclose(entry(f, x, n)(f, (x, n))[0], generic_gradient(f, x, n)[0])


def test_rows_that_are_stored_on_one_way():
    def f(x):
        rows = np.zeros((3, 2))
        for i in range(3):
            rows[i] = np.array([x[0] * i, x[1]])
        rows[1, 0] = x[1] * x[1]
        rows[:, 1] = x[0]
        rows[2] = x[0] * 2.0
        return np.sum(rows * rows)

    x = np.array([0.3, 0.8])
    ir = joint_ir(Call.plain(f, (x,)), one_way=2000).ir
    assert "stored_cotangent" not in to_text(ir)
    program = type(f)(emit(ir, release=True), f.__globals__)
    np.testing.assert_allclose(program(f, (x,))[0], generic_gradient(f, x)[0])


def test_cotangents_from_outside_have_types():
    def f(y, a):
        return [a * y[0] - y[1], y * a, a * y[0] * y[1]]

    y = np.array([4.0, 2.0])
    assert "scatter_add" not in to_text(joint_ir(Call.plain(f, (y, 1.5)), "pullback").ir)
    _, back = pullback(f, y, 1.5)
    for seed in ([1.0, np.array([1.0, 2.0]), 3], [np.float64(2.0), None, 1.0], (1, np.ones(2), None)):
        for found, expected in zip(back(seed), Reverse(f, (y, 1.5), {}).back(seed)):
            np.testing.assert_allclose(found, expected)
            assert type(found) is type(expected)


def test_sums_of_items_of_arrays_give_each_the_cotangent():
    def f(A, b):
        v = [b * A[0, 0], A[1, 1]]
        for i in range(2):
            v = [sum([v[k] * A[k, j] for k in range(2)], A[j, i]) for j in range(2)]
        return sum(v)

    A = np.array([[0.7, 0.3], [0.2, 0.8]])
    ir = joint_ir(Call.plain(f, (A, 0.5)), one_way=2000).ir
    assert "summands" not in to_text(ir)
    for found, expected in zip(gradient(f, A, 0.5), generic_gradient(f, A, 0.5)):
        np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize(
    "f",
    [
        lambda u, v, x: u[0] * v[1] + np.sum((u + x[::-1]) * v),
        lambda u, v, x: u[-1] * v[1] + np.sum(np.cos(u) * (v + u[::-1])) + np.sum((v + u[::-1])[1:]),
        lambda u, v, x: u[0] * v[1] + np.sum((v + v[::-1]) * u) + (v + v[::-1])[1] * u[0],
    ],
)
def test_parts_are_added_before_what_is_added_is_overwritten(f):
    def g(x):
        return f(x * 1.5 + x[::-1], np.sin(x), x)

    x = np.array([0.3, 0.9, -0.4])
    np.testing.assert_allclose(gradient(g, x)[0], generic_gradient(g, x)[0])


def steady_arrays(x, n):
    u, kept = np.zeros_like(x), []
    for k in range(n):
        fresh = x * 2.0
        fresh[0] = k
        kept.append(np.sin(x) ** 2)
        kept[k][1:] *= k + 1.0
        u = u + (x * 0.5) ** 2 * np.cos(u) + fresh
    return np.sum(u * kept[0])


def test_arrays_of_several_iterations_are_several():
    def f(x):
        old = new = x
        for _ in range(3):
            old, new = new, x * 2.0
        return old, new

    for _ in range(2):
        old, new = pullback(f, np.ones(3))[0]
        assert not np.shares_memory(old, new)


def steady_constants(x, n):
    marks, total = np.zeros(3), 0.0
    for k in range(n):
        total += np.sum(x**2 * (marks * 2.0))
        marks[k] = k + 1.0
    return total


def test_arrays_are_computed_once_that_are_the_same_in_each_iteration():
    def f(x, n):
        u = x
        for _ in range(n):
            u = u + (x * 0.5) ** 2 * np.cos(u)
        return np.sum(u)

    x = np.array([0.3, 0.8, -0.2])
    for n in (0, 3):
        np.testing.assert_allclose(gradient(f, x, n)[0], generic_gradient(f, x, n)[0])
    loop = text(f, x, 3).partition("next")[2]
    assert "0.5" not in loop.partition("next")[2].partition("jump")[0] and "**" not in loop
    for n in (1, 3):
        for g in (steady_arrays, steady_constants):
            np.testing.assert_allclose(gradient(g, x, n)[0], generic_gradient(g, x, n)[0])
