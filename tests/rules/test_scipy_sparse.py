"""``scipy.sparse``: gradients by the entries and by what is dense, forward and reverse, to second order."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse.linalg as sla
from numpy_checks import complexes, normal
from scipy import sparse
from sparse_checks import check_directions

import autodiff_hook as ad
from autodiff_hook.api import generic_gradient
from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.runtime import specialising
from autodiff_hook.testing import check_gradient, check_rule
from autodiff_rules.scipy._standins import settled
from autodiff_rules.scipy.sparse import _entries, matrices, multiplying, pairs, reading, solving, structure

ROWS, COLUMNS = np.array([0, 0, 1, 2, 2, 1, 0]), np.array([0, 2, 1, 0, 2, 3, 0])
DATA, X, W = normal(7) + 2.0, normal(4), normal(4, 2)
DENSE = normal(4, 4) + 3.0 * np.eye(4)
SQUARE_ROWS, SQUARE_COLUMNS = np.nonzero(np.abs(DENSE) > 0.4)
SQUARE = DENSE[SQUARE_ROWS, SQUARE_COLUMNS]


def build(data, form):
    return form((data, (ROWS, COLUMNS)), shape=(3, 4))


def square(data, form=sparse.csc_array):
    return form((data, (SQUARE_ROWS, SQUARE_COLUMNS)), shape=(4, 4))


CONSTANT, X2 = build(2.0 + normal(7, seed=9), sparse.csr_array), np.concatenate((X, X[::-1]))
FORMS = (sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix)
OPERATIONS = {
    "vector": lambda a: a @ X,
    "dense": lambda a: a @ W,
    "from_left": lambda a: X[:3] @ a,
    "transposed": lambda a: a.T @ X[:3],
    "dot": lambda a: a.dot(X),
    "toarray": lambda a: a.toarray(),
    "scaled": lambda a: (2.0 * a / 3.0) @ X,
    "negated": lambda a: (-a) @ X,
    "added": lambda a: (a + a.tocsr()).toarray(),
    "subtracted": lambda a: (a - build(np.arange(1.0, 8.0), sparse.csr_array)).toarray(),
    "squared": lambda a: (a @ a.T).toarray(),
    "by_elements": lambda a: a.multiply(a).toarray(),
    "by_rows": lambda a: a.multiply(X[None, :]).toarray(),
    "power": lambda a: a.tocsr().power(3).toarray(),
    "formats": lambda a: a.tocsc().tocsr().tocoo().tocsr() @ X,
    "sum": lambda a: a.sum(),
    "diagonal": lambda a: a.tocsr().diagonal(),
    "rows": lambda a: a.tocsr()[[2, 0]].toarray(),
    "todense": lambda a: a.todense(),
    "toarray_by_columns": lambda a: a.toarray(order="F"),
    "toarray_into_another": lambda a: a.toarray(out=np.zeros((3, 4))),
    "sum_of_columns": lambda a: a.sum(axis=0),
    "sum_of_rows": lambda a: a.tocsr().sum(-1),
    "mean": lambda a: a.mean(axis=1),
    "dense_added": lambda a: (
        np.asarray(a + a.toarray() ** 2) - np.asarray(W @ W.T[:, [0, 1, 0, 1]] - a.tocsr().T.tocsc() @ a)[:3]
    ),
    "trace": lambda a: a.trace() * a.trace(1),
    "other_diagonals": lambda a: a.diagonal(1)[:2] * a.tocsc().diagonal(-1),
    "items": lambda a: a.tocsr()[0, 2] * a.tocsc()[2, -1] + a.tocsr()[1, 0],
    "repeated": lambda a: a.tocsr()[[2, 0, 2]].toarray() @ a.tocsc()[:, [1, 2, 1, 1]].toarray().T,
    "chosen": lambda a: a.tocsr()[np.ix_([0, 2], [0, 3, 2])].toarray(),
    "pairs_of_places": lambda a: np.asarray(a.tocsr()[[0, 2, 2], [0, 2, 1]]),
    "mask": lambda a: a.tocsr()[np.array([True, False, True])].toarray(),
    "slices_backwards": lambda a: a.tocsc()[::-1, 1::2].toarray(),
    "one_row": lambda a: a.tocsr()[[1]].toarray() * a.tocsc()[:, [2]].sum(),
    "stacks": lambda a: (
        sparse.hstack([sparse.vstack([a.tocsr(), CONSTANT]), sparse.bmat([[a.tocsr()], [a.tocsc()]])]) @ X2
    ),
    "triangles": lambda a: (sparse.tril(a.tocsr()) - sparse.triu(a.tocsc(), k=1)).toarray(),
    "blocks_of_one_matrix": lambda a: sparse.block_diag([a.tocsr(), a.tocsc(), CONSTANT]).tocsr()[::2].sum(axis=0),
    "products_by_elements": lambda a: a.tocsr().multiply(CONSTANT).tocsc().multiply(a.tocsc()).toarray(),
    "product_of_columns": lambda a: (a.tocsc() @ CONSTANT.T.tocsc() @ a.tocsr()).toarray(),
    "power_of_a_matrix": lambda a: sla.matrix_power(a.tocsr()[:, :3], 3).toarray(),
    "copied": lambda a: changed(a.tocsr().copy()) @ X + a @ X,
    "transposed_in_the_same_memory": lambda a: shared_transpose(a.tocsr()) @ X[:3],
    "sum_then_entries": lambda a: a.sum() * a.data[1],
    "slice": lambda a: a.tocsr()[1:, :3].toarray(),
    "function": lambda a: a.tocsr().sqrt().toarray(),
    "blocks": lambda a: sparse.block_diag([a, a]) @ np.concatenate((X, X)),
    "kron": lambda a: sparse.kron(sparse.eye(2), a) @ np.concatenate((X, X)),
    "norm": lambda a: sla.norm(a.tocsr()),
    "without_zeros": lambda a: eliminated(a).toarray(),
    "largest": lambda a: a.max(axis=0).toarray(),
    "in_blocks": lambda a: a.tocsr().tobsr((3, 2)).tocsr() @ X,
    "kron_of_blocks": lambda a: sparse.kron(a, np.ones((2, 2))).tocsr() @ np.concatenate((X, X)),
}


def changed(a):
    a.data[1] *= a.data[0]
    return a


def shared_transpose(a):
    b = a.T
    a.data[0] *= 3.0
    b.data[1] = b.data[2] ** 2
    return b + b[:, ::-1] + a.T


def stored_into(data):
    a = build(DATA, sparse.csr_array)
    a.data[1] = data[0] * data[1]
    a.data[2:4] *= data[2]
    return a


def stored_into_what_is_shared(data):
    entries, given = 2.0 * data[:6], build(DATA, sparse.csr_array)
    a = sparse.csr_array((entries, given.indices, given.indptr), shape=(3, 4))
    before = a @ X
    entries[0] = data[3] ** 2
    return before + a.tocsc() @ X + a @ X


class Doubled(sparse.csr_array):
    """A class of a program's, whose code is followed."""

    def __init__(self, arg1, *args, factor=None, **options):
        if factor is not None:
            arg1 = (factor * arg1[0], *arg1[1:])
        super().__init__(arg1, *args, **options)

    def tocsc(self, copy=False):
        return (2.0 * sparse.csr_array(self)).tocsc()


def of_own_class(data):
    a = Doubled((data, (ROWS, COLUMNS)), shape=(3, 4), factor=data[0])
    return a.tocsc() @ X


MADE = {
    "lists": lambda d: sparse.csr_array(([d[0], d[1] * d[2], 3.0], ([0, 1, 2], [0, 1, 2])), shape=(3, 4)) @ X,
    "without_a_shape": lambda d: sparse.csc_matrix((d, (ROWS, COLUMNS))) @ X,
    "by_keyword": lambda d: sparse.csr_array(arg1=(d, (ROWS, COLUMNS)), shape=(3, 4)) @ X,
    "of_another": lambda d: sparse.csc_matrix(build(d, sparse.coo_array)) @ W,
    "of_a_view": lambda d: sparse.csr_array(build(d, sparse.csr_array), copy=True) @ W,
    "not_canonical": lambda d: sparse.csr_array((d, [0, 2, 1, 2, 3, 0, 3], [0, 2, 3, 7]), shape=(3, 4)).tocsc() @ X,
    "in_blocks": lambda d: sparse.bsr_array((np.reshape(d[:4], (1, 2, 2)), [0], [0, 1, 1]), shape=(4, 4)) @ X,
    "in_blocks_of_entries": lambda d: sparse.bsr_array((d, (ROWS, COLUMNS)), shape=(3, 4)) @ X,
    "whole_numbers": lambda d: sparse.csr_array((d, (ROWS, COLUMNS)), shape=(3, 4), dtype=int) @ X + d[0],
    "complex": lambda d: sparse.csr_array(((1.0 + 2.0j) * d, (ROWS, COLUMNS)), shape=(3, 4)) @ (X + 1.0j * d[:4]),
    "one_axis": lambda d: sparse.coo_array((d, (np.arange(7),)), shape=(7,)) @ d,
    "stored_into": lambda d: stored_into(d) @ X,
    "stored_into_and_converted": lambda d: stored_into(d).tocsc() @ X + sparse.coo_array(stored_into(d)) @ X,
    "stored_into_what_is_shared": stored_into_what_is_shared,
    "own_class": of_own_class,
}


def eliminated(a):
    rows = a.tocsr()
    rows.eliminate_zeros()
    return rows


def weighted(y):
    y = np.asarray(y)
    return np.sum(np.abs(y) ** 2 * np.cos(np.arange(y.size)).reshape(y.shape))


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
@pytest.mark.parametrize("name", OPERATIONS)
def test_by_the_entries(name, form):
    def f(data):
        return weighted(OPERATIONS[name](build(data, form)))

    check_gradient(f, DATA)
    v = normal(7, seed=3)
    assert ad.jvp(f, (DATA,), (v,))[1] == pytest.approx(np.sum(ad.gradient(f, DATA)[0] * v))
    differences = (ad.gradient(f, DATA + 1e-6 * v)[0] - ad.gradient(f, DATA - 1e-6 * v)[0]) / 2e-6
    np.testing.assert_allclose(ad.hvp(f, (DATA,), (v,))[0], differences, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("name", MADE)
def test_how_matrices_are_made(name):
    def f(data):
        return weighted(MADE[name](data))

    check_gradient(f, DATA)
    v = normal(7, seed=3)
    ḡ = ad.gradient(f, DATA)[0]
    assert ad.jvp(f, (DATA,), (v,))[1] == pytest.approx(np.sum(ḡ * v))
    differences = (ad.gradient(f, DATA + 1e-6 * v)[0] - ad.gradient(f, DATA - 1e-6 * v)[0]) / 2e-6
    np.testing.assert_allclose(ad.hvp(f, (DATA,), (v,))[0], differences, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("form", [*FORMS, sparse.dia_array, sparse.bsr_array], ids=lambda form: form.__name__)
def test_by_what_is_dense(form):
    a = form(build(DATA, sparse.csr_array))
    check_gradient(lambda x: weighted(a @ x), X)
    check_gradient(lambda x: weighted(a @ x), W)
    check_gradient(lambda x: weighted(a.T @ x), X[:3])
    check_gradient(lambda x: weighted(a @ x), complexes(4))


def test_elements_and_stacks():
    check_gradient(lambda data: build(data, sparse.csr_array)[0, 0] * build(data, sparse.csc_array)[2, 2], DATA)
    check_gradient(lambda data: weighted(sparse.vstack([build(data, sparse.csr_array)] * 2) @ X), DATA)


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_array, sparse.coo_array])
def test_blocks(form):
    def stacked(data):
        a, b = build(data, form), build(data * data, form)
        both = sparse.hstack([sparse.vstack([a, b], format="csr"), sparse.vstack([b, a], format="csr")])
        return (
            np.sin(both.toarray()) + sparse.block_array([[a, None], [b, a]]).toarray() + sparse.hstack([a, b, a]).sum()
        )

    check_gradient(lambda data: weighted(stacked(data)), DATA)


DIAGONALS = {
    "diags": lambda d: sparse.diags(d) @ X,
    "several": lambda d: sparse.diags([d, d[:3]], [0, 1]) @ W,
    "diags_array": lambda d: sparse.diags_array([d[:3], d], offsets=[-1, 0]).tocsr() @ X,
    "spdiags": lambda d: sparse.spdiags(np.stack([d, d * d]), [0, 1], 4, 4) @ X,
    "from_dense": lambda d: sparse.csr_array(np.outer(d, d)) @ X,
}


@pytest.mark.parametrize("name", DIAGONALS)
def test_made_of_parts(name):
    check_gradient(lambda d: weighted(DIAGONALS[name](d)), normal(4))


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_array], ids=lambda form: form.__name__)
@pytest.mark.parametrize("b", [X, W, complexes(4)], ids=["vector", "matrix", "complex"])
def test_equations(form, b):
    def f(data, b):
        return weighted(sla.spsolve(square(data, form), b))

    check_gradient(f, SQUARE, b)
    if not np.iscomplexobj(b):
        check_directions(f, SQUARE, b)


def test_factors_of_a_constant_matrix():
    a = square(SQUARE)
    for trans in ("N", "T", "H"):
        check_gradient(lambda b, trans=trans: weighted(sla.splu(a).solve(b, trans)), X)
    check_gradient(lambda b: weighted(sla.factorized(a)(b)), X)


def test_exponentials():
    check_gradient(lambda data, x: weighted(sla.expm_multiply(square(data), x)), 0.3 * SQUARE, X)


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix], ids=lambda form: form.__name__)
def test_what_cancels_has_a_derivative(form):
    a, right = form(np.eye(2)), np.array([1.0, 3.0])

    def f(d):
        b = form((d, ([0, 1], [0, 1])), shape=(2, 2))
        c, e = b - a, b.multiply(b - a) + a
        return weighted(c.toarray() + 1.0) + weighted(e @ right) + weighted((c @ e - e) @ right)

    for d in (np.ones(2), np.array([1.0, 2.0]), np.array([0.0, 1.0])):
        check_gradient(f, d)


@pytest.mark.parametrize("name", ["tocsr", "tocsc", "tocoo"])
def test_zeros_on_diagonals_that_are_left_away_are_an_error(name):
    def f(d):
        return weighted(getattr(sparse.dia_array((d, 0), shape=(4, 4)), name)() @ X)

    d = normal(4)
    check_gradient(f, d)
    d[1] = 0.0
    with pytest.raises(NotDifferentiable, match="leaves away an entry"):
        ad.gradient(f, d)
    with pytest.raises(NotDifferentiable, match="leaves away an entry"):
        ad.jvp(f, (d,), (np.ones(4),))


def test_zeros_that_are_eliminated_are_an_error():
    with pytest.raises(NotDifferentiable, match="leaves away an entry"):
        ad.gradient(lambda data: eliminated(build(data, sparse.csr_array)).sum(), DATA * (np.arange(7) != 2))


def stiffness(data):
    a = build(data, sparse.coo_array)
    a.eliminate_zeros()
    return weighted(a.tocsr() @ X)


def test_the_derivative_by_an_entry_that_is_left_away_is_not_known():
    """But what does not depend on such entries is: factors that all entries have."""
    data = DATA * (np.arange(7) != 2)
    for mode in (ad.gradient, generic_gradient):
        by_entries = mode(stiffness, data)[0]
        assert np.isnan(by_entries).tolist() == (data == 0).tolist()
        assert mode(lambda k: stiffness(k * data), 1.0)[0] == pytest.approx(by_entries[data != 0] @ data[data != 0])
    assert ad.jvp(stiffness, (data,), (data,))[1] == pytest.approx(by_entries[data != 0] @ data[data != 0])
    assert np.isnan(ad.jvp(stiffness, (data,), (np.ones(7),))[1])
    check_rule(structure.entries_kept, DATA, DATA != 0, second_order=True)


def test_more_than_two_dimensions():
    places = np.array([0, 1, 1]), np.array([2, 0, 2]), np.array([3, 1, 3])
    for order in "CF":
        check_gradient(
            lambda d, order=order: weighted(sparse.coo_array((d, places), shape=(2, 3, 4)).toarray(order)), normal(3)
        )


def test_zeros_outside_of_the_matrix_are_no_entries():
    check_gradient(lambda d: weighted(sparse.diags([d, d[:3]], [0, 1]).tocsr() @ W), normal(4))


def product_of(data, x, rows, columns):
    y = np.zeros((3, *np.shape(x)[1:]), np.result_type(data, x))
    np.add.at(y, rows, np.reshape(data, (-1, *(1,) * (np.ndim(x) - 1))) * x[columns])
    return y


def test_rules_behind_them():
    a = square(SQUARE).tocsc()
    factors = sla.splu(a)
    for trans in ("N", "T", "H"):
        check_rule(sla.SuperLU.solve, factors, normal(a.shape[0]), trans, second_order=True)
        check_rule(sla.SuperLU.solve, factors, normal(a.shape[0], 2), trans)
    for b in (normal(a.shape[0]), normal(a.shape[0], 2)):
        for form, given in ((solving.ROWS, a.tocsr()), (solving.COLUMNS, a)):
            places = given.indices, given.indptr

            def solved(data, indices, pointers, b, form, places=places):
                return solving.solution(data, *places, b, round(form))

            check_rule(solving.solution, given.data, *places, b, form, differences=solved, second_order=True)
            if np.ndim(b) == 1:
                check_rule(
                    matrices.solved,
                    *(given.data, b, *places, form, solving.solution(given.data, *places, b, form)),
                    differences=lambda data, b, i, p, form, x, solved=solved: solved(data, i, p, b, form),
                )
    places = np.array([0, 2, 2, 1])
    for values in (normal(4), complexes(4), normal(4, 2)):
        check_rule(_entries.summed, values, places, 3, differences=lambda x, i, n: _entries.summed(x, places, 3))
    for x in (X, W, complexes(4)):
        given = build(DATA, sparse.csr_array)
        check_rule(
            multiplying.times,
            *(given.data, x, given.indices, given.indptr, (3, 4), True),
            differences=lambda data, x, *_, given=given: given._with_data(data) @ x,
            second_order=True,
        )
    column, row = np.array([0, 2, 1, 3]), np.array([2, 0, 0, 1])
    for x in (X, W, complexes(4)):
        check_rule(
            multiplying.product,
            *(normal(4), x, row, column, product_of(normal(4), x, row, column)),
            differences=lambda data, x, *_: product_of(data, x, row, column),
            second_order=True,
        )
    value = np.array([3.0, 0.0, 2.0])
    check_rule(
        matrices.regrouped,
        *(normal(4), np.array([2, -1, 0, 2]), value),
        differences=lambda data, *_: matrices.spread(data, np.array([2, -1, 0, 2]), value),
        second_order=True,
    )
    origins = np.array([[2, -1, 0], [2, 1, -1]])
    check_rule(
        reading.gathered,
        *(normal(4), origins, normal(2, 3)),
        differences=lambda data, *_: np.where(origins >= 0, data[origins], 0.0),
        second_order=True,
    )
    both = [np.array([2, -1, 0, 2]), np.array([1, 0])]

    def sum_of(a, b, places, value, sign):
        return matrices.spread(a, places[0], value) + sign * matrices.spread(b, places[1], value)

    check_rule(
        pairs.combined,
        *(normal(4), normal(2), both, value, -1.0),
        differences=lambda a, b, *_: sum_of(a, b, both, value, -1.0),
    )
    check_rule(settled, normal(3), normal(3), differences=lambda x, value: x)


LAPLACE = {
    "csr": sparse.diags([np.ones(3), -2.0 * np.ones(4), np.ones(3)], [-1, 0, 1]).tocsr(),
    "csc": sparse.csc_array(square(SQUARE)),
    "single": sparse.csr_array(square(SQUARE)).astype(np.float32),
    "of_itself": build(DATA, sparse.csr_array)[:, :3],
}


@pytest.mark.parametrize("name", LAPLACE)
@pytest.mark.parametrize("x", [X, W, complexes(4)], ids=["vector", "matrix", "complex"])
def test_products_with_a_matrix_from_outside_are_typed(name, x):
    a = LAPLACE[name]

    def heated(x):
        u = x[: a.shape[1]]
        for _ in range(3):
            u = u + 0.1 * (a @ (u * u))
        return u

    def f(x):
        return weighted(heated(x)) + np.sum(np.abs(heated(x) * (a.dot(x[: a.shape[1]]))))

    check_gradient(f, x)
    if not np.iscomplexobj(x):
        v = normal(*np.shape(x), seed=3)
        assert ad.jvp(f, (x,), (v,))[1] == pytest.approx(np.sum(ad.gradient(f, x)[0] * v))
        differences = (ad.gradient(f, x + 1e-6 * v)[0] - ad.gradient(f, x - 1e-6 * v)[0]) / 2e-6
        np.testing.assert_allclose(ad.hvp(f, (x,), (v,))[0], differences, rtol=1e-5, atol=1e-4)
    if not specialising.GENERIC:
        assert ad.explain(f, x).functions[0].how == "typed"


def test_a_matrix_that_changes_and_one_of_another_shape():
    a = LAPLACE["csr"].copy()

    def f(x):
        return weighted(a @ x)

    for _ in range(2):
        assert ad.gradient(f, X)[0] == pytest.approx(ad.gradient(lambda x: weighted(a.toarray() @ x), X)[0])
        a.data[1] += 1.0
    a.data = 2.0 * a.data
    assert ad.gradient(f, X)[0] == pytest.approx(ad.gradient(lambda x: weighted(a.toarray() @ x), X)[0])
    with pytest.raises(ValueError, match="mismatch"):
        ad.gradient(f, X[:3])
