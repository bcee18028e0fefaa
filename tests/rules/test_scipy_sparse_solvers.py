"""Solutions of sparse equations, by factors that are kept, by triangles, and by iterations that converge."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse.linalg as sla
from numpy_checks import complexes, normal
from scipy import sparse
from sparse_checks import check_directions

import autodiff_hook as ad
from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.testing import check_gradient, check_rule
from autodiff_rules.scipy.sparse import eigen, factors
from autodiff_rules.scipy.sparse._entries import rows_of

ROWS, COLUMNS = np.nonzero(np.eye(4) + np.diag(np.ones(3), 1) + np.diag(np.ones(2), -2))
DATA = normal(len(ROWS)) + 6.0 * (ROWS == COLUMNS)
B, BS = normal(4), normal(4, 2)


def square(data, form=sparse.csc_array):
    return form((data, (ROWS, COLUMNS)), shape=(4, 4))


def weighted(y):
    y = np.asarray(y)
    return np.sum(np.abs(y) ** 2 * np.cos(np.arange(y.size)).reshape(y.shape))


def check(f, data, b, rtol=1e-5):
    for numbers in (data, 1.1 * data, data + 0.1):
        check_gradient(f, numbers, b)
    if np.iscomplexobj(data) or np.iscomplexobj(b):
        return
    check_directions(f, data, b)


@pytest.mark.parametrize("trans", "NTH")
@pytest.mark.parametrize("b", [B, BS], ids=["vector", "matrix"])
def test_factors(trans, b):
    check(lambda data, b: weighted(sla.splu(square(data)).solve(b, trans)), DATA, b)


@pytest.mark.parametrize("trans", "NTH")
def test_factors_of_complex_matrices(trans):
    data = DATA + 1j * normal(DATA.size, seed=5)
    check(lambda data, b: weighted(sla.splu(square(data)).solve(b, trans)), data, complexes(4))


def kept(data, b):
    a = square(data)
    lu = sla.splu(a)
    a.data[0] = 100.0 * data[1]
    a.data *= 2.0
    return lu.solve(b) + lu.solve(lu.solve(b), trans="T")


FACTORS = {
    "kept_while_the_matrix_changes": kept,
    "factorized": lambda data, b: sla.factorized(square(data))(b),
    "of_rows": lambda data, b: sla.splu(square(data, sparse.csr_array).tocsc(), permc_spec="NATURAL").solve(b),
    "of_duplicates": lambda data, b: sla.splu(
        sparse.csc_array((np.concatenate((data, data)), *twice(square(data))), shape=(4, 4))
    ).solve(b),
    "of_dense": lambda data, b: sla.splu(sparse.csc_matrix(square(data).toarray())).solve(b),
    "inverse": lambda data, b: sla.inv(square(data)) @ b,
    "lower": lambda data, b: sla.spsolve_triangular(sparse.tril(square(data), format="csr"), b),
    "upper": lambda data, b: sla.spsolve_triangular(sparse.triu(square(data), format="csc"), b, lower=False),
    "unit": lambda data, b: sla.spsolve_triangular(sparse.tril(square(data), format="csr"), b, unit_diagonal=True),
}


def twice(a):
    order = np.argsort(np.tile(np.repeat(np.arange(4), np.diff(a.indptr)), 2), kind="stable")
    assert order.size == 2 * a.nnz
    pointers = 2 * a.indptr
    indices = np.empty(2 * a.nnz, int)
    for j in range(4):
        column = a.indices[a.indptr[j] : a.indptr[j + 1]]
        indices[pointers[j] : pointers[j + 1]] = np.concatenate((column, column[::-1]))
    return indices, pointers


@pytest.mark.parametrize("name", FACTORS)
def test_kept_factors_and_triangles(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sparse.SparseEfficiencyWarning)
        check(lambda data, b: weighted(FACTORS[name](data, b)), DATA, B)


def test_triangles_with_several_right_sides_and_a_constant_matrix():
    a = sparse.csr_array(np.tril(normal(4, 4)) + 3.0 * np.eye(4))
    for unit_diagonal in (False, True):
        check_gradient(lambda b, u=unit_diagonal: weighted(sla.spsolve_triangular(a, b, unit_diagonal=u)), BS)


def test_the_factors_themselves_are_an_error():
    with pytest.raises(NotDifferentiable, match="what is solved by them has"):
        ad.gradient(lambda data: weighted(sla.splu(square(data)).L.data), DATA)


def test_single_precision():
    def f(data, b):
        a = square(data).astype(np.float32)
        return weighted(sla.splu(a).solve(b)) + weighted(sla.spsolve_triangular(sparse.tril(a, format="csr"), b))

    def same(data, b):
        a = square(data).toarray()
        return weighted(np.linalg.solve(a, b)) + weighted(np.linalg.solve(np.tril(a), b))

    for g, expected in zip(ad.gradient(f, DATA, B.astype(np.float32)), ad.gradient(same, DATA, B)):
        np.testing.assert_allclose(g, expected, rtol=1e-3, atol=1e-5)


METHODS = ("bicg", "bicgstab", "cgs", "gcrotmk", "gmres", "lgmres", "qmr", "tfqmr")


@pytest.mark.parametrize("name", METHODS)
def test_iterations(name):
    method = getattr(sla, name)

    def f(data, b):
        x, info = method(square(data, sparse.csr_array), b, rtol=1e-13, atol=0.0)
        return weighted(x) + info

    check(f, DATA, B)


@pytest.mark.parametrize("name", ["cg", "minres"])
def test_iterations_of_symmetric_matrices(name):
    method = getattr(sla, name)

    def f(data, b, form):
        a = square(data, form)
        a = a @ a.T + sparse.eye_array(4)
        preconditioner = sparse.diags_array(1.0 / a.diagonal()) if form is sparse.csr_array else None
        x, info = method(a, b, None, rtol=1e-14, M=preconditioner)
        return weighted(x) + info

    for form in (sparse.csr_array, sparse.csc_array, sparse.coo_array):
        check(lambda data, b, form=form: f(data, b, form), DATA, B)


def test_iterations_for_dense_and_constant_matrices():
    def f(data, b):
        return weighted(sla.gmres(square(data).toarray(), b, rtol=1e-13)[0])

    check(f, DATA, B)
    a = square(DATA, sparse.csr_array)
    check_gradient(lambda b: weighted(sla.gmres(a, b, rtol=1e-13)[0]), B)
    check_gradient(lambda b: weighted(sla.bicgstab(a, b, b, rtol=1e-13)[0]), B)


def test_iterations_that_stop_early_are_followed():
    def f(data, b):
        return weighted(sla.bicgstab(square(data), b, rtol=1e-13, maxiter=2)[0])

    check_gradient(f, DATA, B)
    with pytest.raises(NotDifferentiable):
        ad.gradient(lambda data: weighted(sla.gmres(square(data), B, rtol=1e-14, restart=1, maxiter=1)[0]), DATA)


def test_rules_behind_them():
    for data in (DATA, DATA + 1j * normal(DATA.size, seed=5)):
        a = square(data)
        lu, columns = sla.splu(a), rows_of(a.indptr)
        for b in (normal(4), normal(4, 2)) if data is DATA else (complexes(4),):
            for trans in "NTHC":

                def solved(data, b, *_, a=a, columns=columns, trans=trans):
                    m = np.zeros((4, 4), data.dtype)
                    m[a.indices, columns] = data
                    m = m if trans in "NC" else m.T
                    return np.linalg.solve(m.conj() if trans in "HC" else m, b)

                given = a.data, b, lu, a.indices, a.indptr, trans
                check_rule(factors.solve, *given, differences=solved)


SIZE = 8
DIAGONAL = normal(SIZE) + 3.0
START = np.ones(SIZE)


def banded(x, form="csr"):
    return sparse.diags_array([x + np.arange(SIZE), x[1:], x[1:]], offsets=[0, 1, -1]).asformat(form)


EIGEN = {
    "values": lambda x: sla.eigsh(banded(x), k=3, v0=START)[0],
    "smallest": lambda x: sla.eigsh(banded(x, "coo"), 2, which="SA", v0=START, return_eigenvectors=False),
    "shifted": lambda x: sla.eigsh(banded(x, "csc"), k=2, sigma=0.1, v0=START)[0] * x[:2],
    "vectors": lambda x: sla.eigsh(banded(x), k=2, v0=START)[1] ** 2,
    "one": lambda x: sla.eigsh(banded(x) * x[0], k=1, v0=START)[0],
}


@pytest.mark.parametrize("name", EIGEN)
def test_eigenvalues_and_eigenvectors(name):
    def f(x):
        return weighted(EIGEN[name](x))

    for scale in (1.0, 1.1, 0.9):
        check_gradient(f, scale * DIAGONAL)
    v = np.sin(DIAGONAL)
    there, here = (ad.gradient(f, DIAGONAL + h * v)[0] for h in (1e-5, -1e-5))
    np.testing.assert_allclose(ad.hvp(f, (DIAGONAL,), (v,))[0], (there - here) / 2e-5, rtol=1e-5, atol=1e-6)


def test_singular_values():
    check_gradient(lambda x: weighted(sla.svds(banded(x), k=2, v0=START)[1]), DIAGONAL)
    check_gradient(lambda x: weighted(sla.svds(banded(x), k=2, v0=START, return_singular_vectors=False)), DIAGONAL)
    for f in (
        lambda x: weighted(sla.svds(banded(x), k=2, v0=START)[0]),
        lambda x: weighted(sla.svds(banded(x), k=2, v0=START)[2]),
    ):
        with pytest.raises(NotDifferentiable, match="singular vectors"):
            ad.gradient(f, DIAGONAL)
    with pytest.raises(NotDifferentiable, match="singular vectors"):
        ad.hvp(lambda x: weighted(sla.svds(banded(x), k=2, v0=START)[1]), (DIAGONAL,), (START,))


def test_what_is_not_known_of_eigenvalues():
    with pytest.raises(NotDifferentiable):
        ad.gradient(lambda x: weighted(sla.eigsh(banded(x), k=2, M=sparse.eye_array(SIZE))[0]), DIAGONAL)
    with pytest.raises(NotDifferentiable):
        ad.gradient(lambda x: weighted(np.abs(sla.eigs(banded(x), k=2)[0])), DIAGONAL)


def test_rules_of_eigenvalues():
    """By entries on both sides of the diagonal, of which SciPy takes one side for the other."""
    matrix = banded(DIAGONAL)
    data, places = matrix.data, (matrix.indices, matrix.indptr)

    def values(data, *args):
        whole = sparse.csr_array((data, *places))
        return sla.eigsh(0.5 * (whole + whole.T), k=2, v0=START)[0]

    def singular(data, *args):
        return sla.svds(sparse.csr_array((data, *places)), k=2, v0=START)[1]

    w, v = sla.eigsh(matrix, k=2, v0=START)
    u, s, vt = sla.svds(matrix, k=2, v0=START)
    check_rule(eigen.eigenvalues, data, *places, w, v, differences=values, rtol=1e-5)
    check_rule(eigen.singular_values, data, *places, s, u, vt, differences=singular, rtol=1e-5)

    def vectors(data, *args):
        values, found = np.linalg.eig(sparse.csr_array((data, *places)).toarray())
        found = found[:, [np.argmin(np.abs(values - each)) for each in w]]
        return found * np.sign(np.sum(found * v, axis=0))

    check_rule(eigen.eigenvectors, data, *places, w, v, differences=vectors, rtol=1e-4)
    check_rule(eigen.of_entries, data, u, differences=lambda data, x: u)
