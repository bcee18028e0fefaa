"""Matrices in LIL format, and those that are made of dense arrays: what is stored into them, and read out of them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy_checks import normal
from scipy import sparse

import autodiff_hook as ad
from autodiff_hook.testing import check_gradient

FORMS = (sparse.lil_matrix, sparse.lil_array)
X, KE = normal(5), np.array([[1.0, -1.0], [-1.0, 1.0]])
P = np.array([1.1, 0.7])


def items(p, form):
    a = form((5, 5))
    for i in range(5):
        a[i, i] = p[0] * i + 1.0
    a[-1, 0] = p[1]
    a[0, 0] = p[0] * p[1]
    return a


def summed(p, form):
    a = form((5, 5))
    for i in range(4):
        a[i, i] += p[0]
        a[i + 1, i + 1] += p[0] * p[1]
        a[i, i + 1] -= p[1]
    return a


def blocks(p, form):
    a = form((5, 5))
    for i in range(4):
        a[np.ix_([i, i + 1], [i, i + 1])] += p[0] * KE + p[1]
    return a


def slices(p, form):
    a = form((5, 5))
    a[0, :] = p[0] * X
    a[:, 3] = (p[1] * X)[:, None]
    a[1:3, 1:3] = KE * p[0] * p[1]
    a[[1, 2], [0, 4]] = p
    a[4] = p[1]
    a.setdiag(p[0])
    return a


def borders(p, form):
    """Rows that are overwritten by constants, zeros among them."""
    a = blocks(p, form)
    a[0, :] = 0.0
    a[0, 0] = 1.0
    a[1, 2] = 0
    a[2, 2] = a[1, 1] * a[2, 2] + a[3, 0]
    return a


def parts(p, form):
    a = blocks(p, form)
    b = a[[0, 2], 1:].tocsr() @ X[1:]
    return a.copy()[1:4, ::-1].tocsc().T @ (a.getrow(2).toarray().ravel()[:3] + np.sum(b)) + a[:, 4].toarray().ravel()


def sparse_parts(p, form):
    """What a sparse matrix does not store, is stored nowhere."""
    a, b = blocks(p, form), sparse.csr_array(np.diag(p[0] * X[:3]))
    a[1:4, 2:5] = b
    a[4, :3] = b[[1]] * p[1]
    a[0] = a[2] * 2.0
    a += sparse.coo_array((np.append(p, p), ([0, 0, 1, 2], [3, 3, 1, 2])), shape=(5, 5))
    a[:2, :2] = sparse.coo_array((np.append(p, p), ([0, 0, 1, 1], [1, 1, 1, 0])), shape=(2, 2))
    a /= 3.0
    assert a.nnz == 12
    return a


def of_entries(p, form):
    a = sparse.csr_array((np.concatenate((p, p)), ([0, 1, 2, 2], [0, 2, 2, 3])), shape=(5, 5)).tolil()
    a[0, 1] = p[0] ** 2
    a.data[2][1] = p[1] ** 3
    a.data[1].clear()
    a.rows[1].clear()
    return form(a) * p[1] + 2.0 * form(a) / p[0]


PROGRAMS = (items, summed, blocks, slices, borders, parts, sparse_parts, of_entries)


def weighted(a):
    y = a if isinstance(a, np.ndarray) else a.tocsr() @ X + a.tocsc().T @ (X * X) + np.sum(a.toarray() ** 2, axis=1)
    return np.sum(np.asarray(y) ** 2 * np.cos(np.arange(5.0)))


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_lists_of_rows(program, form):
    def f(p):
        return weighted(program(p, form))

    v = normal(2, seed=3)
    for p in (P, P + 0.3, -P):
        check_gradient(f, p)
        assert ad.jvp(f, (p,), (v,))[1] == pytest.approx(np.sum(ad.gradient(f, p)[0] * v))
        differences = (ad.gradient(f, p + 1e-6 * v)[0] - ad.gradient(f, p - 1e-6 * v)[0]) / 2e-6
        np.testing.assert_allclose(ad.hvp(f, (p,), (v,))[0], differences, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("form", [sparse.lil_array, sparse.dok_array, sparse.dok_matrix])
def test_a_derivative_by_an_entry_that_is_zero_is_kept(form):
    def f(p):
        a = form((2, 2))
        a[0, 0] = p[0]
        a[0, 1] += p[0]
        a[[1, 1], [0, 1]] = p
        return np.sum(a.tocsr() @ np.arange(1.0, 3.0))

    for p in (np.zeros(2), np.ones(2)):
        np.testing.assert_allclose(ad.gradient(f, p)[0], [4.0, 2.0])


def test_entries_of_a_vector_that_are_zero():
    def f(p):
        a = sparse.dok_array((4,))
        a[1], a[0] = p[0], 0.0
        a[[2, 3]] = p
        return a.toarray() @ np.arange(4.0)

    for p in (np.zeros(2), np.ones(2)):
        np.testing.assert_allclose(ad.gradient(f, p)[0], [3.0, 3.0])


def test_a_matrix_from_outside_is_changed():
    a = sparse.lil_matrix(np.diag(np.arange(1.0, 4.0)))

    def f(p):
        a[0, 1] = p
        a[1, 1] = 3.0
        return np.sum(a.tocsr() @ np.arange(1.0, 4.0)) * p

    for p in (2.0, 3.0, 4.0):
        assert ad.gradient(f, p)[0] == pytest.approx((f(p + 1e-6) - f(p - 1e-6)) / 2e-6)
    assert a[0, 1] == pytest.approx(4.0, abs=1e-5)


def test_other_kinds_of_numbers():
    def f(p, dtype):
        a = sparse.lil_matrix((3, 3), dtype=dtype)
        a[0, 0] = p[0] * (1.0 + 2.0j) if dtype is complex else p[0]
        a[1, :] = p[1] * np.arange(3.0)
        return np.sum(np.abs(a.tocsr() @ np.arange(1.0, 4.0)) ** 2)

    check_gradient(lambda p: f(p, complex), P)
    np.testing.assert_allclose(ad.gradient(lambda p: f(p, np.float32), P)[0], [2 * P[0], 128 * P[1]], rtol=1e-5)
    assert ad.gradient(lambda p: f(np.round(p * 10), int) * p[0], P)[0] == pytest.approx([11.0**2 + 56.0**2, 0.0])


def test_indices_that_are_none():
    def f(p):
        a = sparse.lil_matrix((3, 3))
        a[0, 3] = p
        return a.sum()

    with pytest.raises(IndexError):
        ad.gradient(f, 1.0)


DENSE = (sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix, sparse.csr_array, sparse.csc_array, sparse.coo_array)


@pytest.mark.parametrize("form", DENSE, ids=lambda form: form.__name__)
def test_made_of_dense_arrays(form):
    def f(p):
        a = form(np.diag(p[0] * X) + np.diag(p[1] * X[1:], 1))
        b = form([[p[0], 0.0, p[1]], [0.0, p[0] * p[1], 1.0]], shape=(2, 3))
        return weighted(np.asarray(a @ X)) + np.sum((b @ X[:3]) ** 2) + np.sum(form(np.zeros((2, 2)) * p) @ p)

    v = normal(2, seed=3)
    for p in (P, np.array([0.5, 2.0]), np.array([2.0, -1.0])):
        check_gradient(f, p)
        assert ad.jvp(f, (p,), (v,))[1] == pytest.approx(np.sum(ad.gradient(f, p)[0] * v))
        differences = (ad.gradient(f, p + 1e-6 * v)[0] - ad.gradient(f, p - 1e-6 * v)[0]) / 2e-6
        np.testing.assert_allclose(ad.hvp(f, (p,), (v,))[0], differences, rtol=1e-5, atol=1e-4)
    single = ad.gradient(lambda p: np.sum(form(np.outer(p, p), dtype=np.float32) @ p), P)[0]
    np.testing.assert_allclose(single, ad.gradient(lambda p: np.sum(np.outer(p, p) @ p), P)[0], rtol=1e-5)
    check_gradient(lambda p: np.sum(np.abs(form(np.outer(p, 1j * p + 1.0)) @ p) ** 2), P)
