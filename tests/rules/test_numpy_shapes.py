from __future__ import annotations

import operator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy_checks import Case, cases, check, complexes, normal, single

import autodiff_hook as ad
from autodiff_hook.api import generic_gradient
from autodiff_hook.registry import registry
from autodiff_hook.runtime.spreading import first_spread
from autodiff_hook.testing import check_rule
from autodiff_rules.numpy import indexing, windows

X = normal(3, 4, 5)
M = normal(2, 3)
PERMUTED = normal(2, 3, 4).transpose(2, 0, 1)[::-1]
MATRIX_FUNCTIONS = (np.fliplr, np.flipud, np.diag, np.diagonal, np.trace, np.tril, np.triu, np.rot90)
INDICES = (
    *(1, -1, (1, 2), (1, 2, 3), slice(None, None, -2), (slice(1), ..., None, 2), None, ..., (), np.int64(1), True),
    *([0, 2, 2], np.array([[0, 1], [2, 0]]), (slice(None), [1, 1, 0]), ([0, 0], [1, 1]), ([0, 0], slice(None), [1, 1])),
    *(X[:, 0, 0] > 0, X > 0, (X[:, 0, 0] > 0, 1), (np.array([0, 0]), np.array(1)), np.array(1), [True, False, True]),
    *((np.array([0, 0, 2]), slice(1, 3)), (..., np.array([1, 1])), ([1, 0], None, 2), slice(2, 2), np.array([], int)),
)


def turned(m, k):
    """``np.rot90`` by whole turns: NumPy 2.5 cuts numbers off, and steps where they are whole."""
    return np.rot90(m, round(k))


CASES = [
    *(Case(operator.getitem, X, index) for index in INDICES),
    *(Case(operator.getitem, x, 1) for x in (normal(3), single(3), complexes(3), np.array([1, 2, 3]), normal(2, 0))),
    Case(operator.getitem, normal(), ()),
    *(Case(indexing.scatter_add, (3,), np.dtype(float), i, normal(2)) for i in ([0, 0], slice(2), np.array([2, 1]))),
    *(Case(windows.added_windows, (6,), np.dtype(float), (1, k), normal(4, 3)) for k in (0, 1)),
    *(Case(windows.added_windows, (6,), np.dtype(float), (k, 1), normal(2, 2)) for k in (2, 3)),
    Case(windows.added_windows, (4, 3), np.dtype(complex), (3, 1, 3, 1), complexes(3, 2, 2, 2)),
    Case(indexing.scatter_along, M, np.array([[1], [0]]), 1, normal(2, 1)),
    *(Case(f, M, (3, 2)) for f in (np.reshape, np.ndarray.reshape)),
    *(Case(np.reshape, M, (3, -1), order, layouts=order != "A") for order in "CFA"),
    *(Case(np.reshape, x, 1) for x in (2.5, np.float64(2.5), normal(1), normal(), [1.5])),
    Case(np.reshape, [1.0, 2.0, 3.0, 4.0], (2, 2)),
    *(Case(np.ndarray.reshape, M, *shape) for shape in ((3, 2), (-1,), ((6, 1),))),
    Case(np.ndarray.reshape, M, -1, order="F"),
    Case(np.generic.reshape, np.float64(2.5), 1, 1),
    *(
        Case(f, M, order, layouts=order in "CF")
        for f in (np.ravel, np.ndarray.ravel, np.ndarray.flatten)
        for order in "CFAK"
    ),
    *(Case(np.ravel, x) for x in ([[1.0, 2.0], [3.0, 4.0]], 2.5, normal(0, 2), single(2))),
    *(Case(f, np.float64(2.5)) for f in (np.generic.ravel, np.generic.flatten, np.generic.squeeze, np.generic.copy)),
    *(Case(np.transpose, X, *axes) for axes in ((), ((2, 0, 1),), ((-1, 0, 1),))),
    Case(np.transpose, [[1.0, 2.0], [3.0, 4.0]]),
    *(Case(np.ndarray.transpose, X, *axes) for axes in ((), (None,), (2, 0, 1), ((2, 0, 1),))),
    *(Case(np.ndarray.T, x, layouts=False) for x in (normal(3), M)),
    Case(np.ndarray.mT, X, layouts=False),
    Case(np.generic.T, np.float64(2.5)),
    *(Case(f, X) for f in (np.matrix_transpose, np.linalg.matrix_transpose)),
    *(Case(f, X, 0, -1) for f in (np.swapaxes, np.ndarray.swapaxes)),
    *(Case(np.moveaxis, X, *places) for places in ((0, -1), ((0, 1), (-1, 0)))),
    *(Case(np.rollaxis, X, axis, start) for axis in range(-3, 3) for start in range(-3, 4)),
    *(Case(f, normal(1, 3, 1), *axis) for f in (np.squeeze, np.ndarray.squeeze) for axis in ((), (0,), ((0, 2),))),
    *(Case(np.expand_dims, x, axis) for x, axis in ((M, 0), (M, (0, 2)), (2.5, 0), ([1.0, 2.0], 1))),
    *(Case(np.lib.stride_tricks.sliding_window_view, x, 2) for x in (normal(4), [1.0, 2.0, 3.0])),
    Case(np.lib.stride_tricks.sliding_window_view, normal(4, 3), (2, 2)),
    Case(np.lib.stride_tricks.sliding_window_view, normal(4, 3), 2, axis=0),
    Case(np.lib.stride_tricks.sliding_window_view, normal(5), (2, 3), axis=(0, 0)),
    *(Case(np.lib.stride_tricks.sliding_window_view, x, 4) for x in (normal(9), normal(4), single(5), complexes(6))),
    *(Case(np.broadcast_to, x, (2, 3)) for x in (normal(3), 2.0, normal(2, 1), [1.0, 2.0, 3.0])),
    Case(np.broadcast_arrays, normal(3), normal(2, 1)),
    *(Case(first_spread, x, normal(2, 1), 1.0) for x in (normal(3), 2.0, normal(2, 1), complexes(3))),
    *(Case(f, x) for f in (np.atleast_1d, np.atleast_2d, np.atleast_3d) for x in (2.0, normal(3), M, X, [1.0, 2.0])),
    *(Case(f, normal(3), 2.0) for f in (np.atleast_1d, np.atleast_2d, np.atleast_3d)),
    *(Case(np.take, X, indices=i, axis=a) for i, a in (([0, 2, 2], None), (1, None), ([[0, 1]], 1), (1, -1))),
    *(Case(np.ndarray.take, X, np.array(i), axis=a) for i, a in (([0, 2, 2], None), ([[0, 1]], 1))),
    *(Case(np.take, X, indices=[-1, 7, 1], axis=a, mode=m) for a in (None, 1) for m in ("wrap", "clip")),
    Case(np.take, [1.0, 2.0, 3.0], indices=[2, 2, 0]),
    *(Case(np.take_along_axis, M, np.array([[0, 0], [2, 1]]), axis) for axis in (1, -1)),
    Case(np.take_along_axis, M, np.array([0, 0, 5]), None),
    Case(np.compress, [True, False, True], X, 0),
    Case(np.compress, [True, False, True], X),
    Case(np.compress, [True], np.array(0.5), 0),
    Case(np.take, np.array(0.5), [0, 0], 0),
    Case(np.ndarray.compress, X, [True, False, True], 1),
    Case(np.extract, M > 0, M),
    *(Case(np.roll, X, shift=n, axis=a) for n, a in ((2, None), (1, 0), ((1, -2), (0, 2)), (1, (0, 1)))),
    *(Case(np.flip, X, *axis) for axis in ((), (0,), ((0, 2),))),
    *(Case(f, normal(4, 3)) for f in MATRIX_FUNCTIONS),
    *(Case(f, [[1.0, 2.0], [3.0, 4.0]]) for f in MATRIX_FUNCTIONS),
    *(Case(np.rot90, M, k, tolerances={"differences": turned}) for k in (0, 1, 2, 3, -1)),
    Case(np.rot90, X, 1, (1, 2)),
    *(Case(np.tile, x, reps) for x in (M, normal(3), 2.5) for reps in (2, (2, 1), (2, 1, 3))),
    *(Case(f, M, *r) for f in (np.repeat, np.ndarray.repeat) for r in ((2,), (2, 0), ([1, 2], 0), ([2, 0, 3], -1))),
    *(Case(np.repeat, x, 3) for x in (2.5, [1.0, 2.0])),
    *(
        Case(f, X, k, a, b)
        for f in (np.diagonal, np.ndarray.diagonal, np.trace, np.ndarray.trace)
        for k, a, b in ((1, 0, 2), (-1, 2, 1))
    ),
    *(Case(f, X, offset=k) for f in (np.linalg.diagonal, np.linalg.trace) for k in (-2, 0, 1)),
    *(Case(np.diag, x, k) for x in (normal(3), normal(3, 4)) for k in (-1, 0, 2)),
    *(Case(np.diagflat, x, k) for x in (normal(3), M, 2.5) for k in (-1, 0, 1)),
    *(Case(f, x, k=k) for f in (np.tril, np.triu) for x in (normal(3), X) for k in (-1, 0, 1)),
    *(
        Case(np.concatenate, arrays)
        for arrays in ([normal(3), normal(2)], (M, M), [normal(0), normal(2)], [[1.0], [2.0, 3.0]])
    ),
    *(Case(np.concatenate, [M, normal(2, 4)], axis) for axis in (1, -1)),
    Case(np.concatenate, [M, X, 2.5 * normal(1)], None),
    Case(np.concatenate, X),
    Case(np.concatenate, [single(2), normal(2)]),
    *(Case(np.stack, [M, 2.0 * M], axis) for axis in (0, 1, -1)),
    *(Case(np.stack, arrays) for arrays in (X, (1.5, 2.5), [[1.0, 2.0], (3.0, 4.0)], (normal(), normal()))),
    *(Case(f, [normal(3), normal(3, seed=1)]) for f in (np.hstack, np.vstack, np.dstack, np.column_stack)),
    *(Case(f, (M, 2.0 * M)) for f in (np.hstack, np.vstack, np.dstack, np.column_stack)),
    *(Case(f, [1.5, 2.5]) for f in (np.hstack, np.vstack, np.dstack)),
    Case(np.column_stack, [normal(2), M]),
    *(Case(np.append, M, x, axis) for x, axis in ((2.5, None), ([1.0, 2.0], None), (M, 0), (M, 1))),
    Case(np.block, [[M, 2.0 * M], [normal(1, 6)]]),
    Case(np.block, [normal(2), 2.5]),
    Case(np.block, M),
    *(Case(np.pad, X, pad_width=w) for w in (1, (1, 2), ((0, 1), (2, 0), (1, 1)), ((1, 2),))),
    *(Case(np.pad, M, pad_width=2, mode=mode) for mode in ("edge", "reflect", "symmetric", "wrap")),
    *(Case(np.pad, x, pad_width=2, constant_values=1.5) for x in ([1.0, 2.0], normal(0), single(2))),
    *(Case(f, normal(4, 4, 4), 2) for f in (np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit)),
    *(Case(f, X, [1, 3], 1) for f in (np.split, np.array_split)),
    *(Case(f, normal(5), [2]) for f in (np.hsplit, np.split, np.array_split)),
    Case(np.array_split, normal(5), 3),
    *(Case(np.unstack, X, axis=axis) for axis in (0, 1)),
    *(Case(np.meshgrid, normal(2), normal(3), indexing=i, sparse=s) for i in ("xy", "ij") for s in (False, True)),
    Case(np.meshgrid, normal(2), normal(3), [1.0, 2.0]),
    Case(np.meshgrid, normal(3)),
]


@cases(CASES)
def test_rule(case):
    check(case)


@pytest.mark.parametrize("function", [np.ravel, np.ndarray.ravel, np.ndarray.flatten])
@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
@pytest.mark.parametrize(
    "x", [M, M.T, M[:, ::-1], PERMUTED, PERMUTED[..., ::2]], ids=["C", "F", "negative", "permuted", "gaps"]
)
def test_memory_order(function, order, x):
    value, pullback = registry.rule(function, (np.ndarray,))(x, order)
    assert np.array_equal(value, function(x, order))
    assert np.array_equal(pullback(value)[0], x)


@pytest.mark.parametrize("x", [M, M.T], ids=["C", "F"])
def test_reshape_in_memory_order(x):
    value, pullback = registry.rule(np.reshape, (np.ndarray, tuple))(x, (6,), "A")
    assert np.array_equal(pullback(value)[0], x)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, order: np.ravel(x, order),
        lambda x, order: x.flatten(order=order),
        lambda x, order: x.reshape(-1, order=order if order != "K" else "A"),
        lambda x, order: np.copy(x, order=order).ravel(order="K"),
    ],
    ids=["ravel", "flatten", "reshape", "copy"],
)
@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
def test_tangents_may_lie_otherwise_in_memory(function, order):
    weights, x, ẋ = np.arange(6.0), np.asfortranarray(M), np.ascontiguousarray(normal(2, 3, seed=1))
    for point, moved in ((x, ẋ), (ẋ, x)):
        alike = np.empty_like(point)
        alike[...] = 2.0 * moved
        derivative = ad.jvp(lambda x: weights @ function(x * 2.0, order), (point,), (moved,))[1]
        assert derivative == pytest.approx(weights @ function(alike, order))


def test_an_array_without_axes_beside_a_number():
    """Its cotangent has a type of NumPy's, for the pullbacks of what made it."""
    assert generic_gradient(lambda x: float(1 + np.outer(2.0, x).reshape(()).transpose()), 3.0) == (2.0,)


def test_axes_are_whole_numbers_of_any_kind():
    x = normal(4)
    assert ad.gradient(lambda x: np.sum(x.transpose(*np.arange(x.ndim)) * x), x)[0].tolist() == (2.0 * x).tolist()
    assert ad.gradient(lambda x: np.sum(x.transpose(None) * x), x)[0].tolist() == (2.0 * x).tolist()


@given(data=st.data(), shape=hnp.array_shapes(max_dims=3, max_side=4))
@settings(max_examples=60)
def test_any_basic_index(data, shape):
    index = data.draw(hnp.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True))
    check_rule(operator.getitem, normal(*shape), index)


@given(data=st.data(), shape=hnp.array_shapes(max_dims=3, max_side=4))
@settings(max_examples=40)
def test_any_integer_index(data, shape):
    index = data.draw(hnp.integer_array_indices(shape, result_shape=hnp.array_shapes(max_dims=2, max_side=3)))
    check_rule(operator.getitem, normal(*shape), index)


def test_repeated_indices_accumulate():
    _, pullback = registry.rule(operator.getitem, (np.ndarray, list))(np.zeros(3), [0, 0, 2])
    assert pullback(np.array([1.0, 2.0, 4.0]))[0].tolist() == [3.0, 0.0, 4.0]
