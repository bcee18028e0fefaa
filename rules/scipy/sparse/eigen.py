"""Some eigenvalues and eigenvectors of a symmetric sparse matrix, ``eigsh``, and singular values, ``svds``."""

import inspect

import numpy as np
from scipy.sparse import block_array, csr_array, eye_array
from scipy.sparse.linalg import eigsh, spsolve, svds

from autodiff_hook.algebras.searching import reaches
from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.extend import cotangents, not_implemented
from autodiff_hook.semantics.functions import enter
from autodiff_hook.semantics.meanings import apply, means
from autodiff_rules.numpy._shared import unbroadcast
from autodiff_rules.scipy._standins import settled
from autodiff_rules.scipy.sparse._entries import rows_of
from autodiff_rules.scipy.sparse.factors import in_format
from autodiff_rules.scipy.sparse.matrices import entries_of, followed, is_own

VECTORS = "that of singular vectors of scipy.sparse.linalg.svds: np.linalg.svd of the dense matrix has one"


def eigenvalues(data, indices, pointers, w, v):
    return w.copy()


def eigenvectors(data, indices, pointers, w, v):
    return v.copy()


@cotangents(eigenvalues, "data, indices, pointers, w, v", ((),))
def eigenvalues_cotangent(ȳ, data, indices, pointers, w, v):
    v = eigenvectors(data, indices, pointers, w, v)
    return unbroadcast(np.sum(ȳ * v[rows_of(pointers)] * v[indices], 1), data)


@cotangents(eigenvectors, "data, indices, pointers, w, v", ((),))
def eigenvectors_cotangent(ȳ, y, data, indices, pointers, w, v):
    """By (A - w) dv = -dA v across v, which the bordered matrix solves."""
    w, size = eigenvalues(data, indices, pointers, w, v), len(pointers) - 1
    matrix, rows = csr_array((data, indices, pointers), shape=(size, size)), rows_of(pointers)
    total = np.zeros(np.shape(data))
    for k in range(len(w)):
        column = y[:, k : k + 1]
        shifted = matrix - w[k] * eye_array(size, format="csr")
        bordered = block_array([[shifted, csr_array(column)], [csr_array(column.T), None]], format="csc")
        z = spsolve(bordered, np.append(ȳ[:, k], 0.0))[:size]
        if not np.all(np.isfinite(z)):
            raise NotDifferentiable("an eigenvector of scipy.sparse.linalg.eigsh whose eigenvalue is not single")
        total = total - z[rows] * y[indices, k]
    return unbroadcast(total, data)


def singular_values(data, indices, pointers, s, u, vt):
    return s.copy()


def of_entries(data, x):
    """Singular vectors, of which no derivative by the entries is known."""
    return x.copy()


cotangents(of_entries, "data, x", ((),), data=lambda: not_implemented(VECTORS))


@cotangents(singular_values, "data, indices, pointers, s, u, vt", ((),))
def singular_values_cotangent(ȳ, data, indices, pointers, s, u, vt):
    u, v = of_entries(data, u), np.transpose(of_entries(data, vt))
    return unbroadcast(np.sum(ȳ * u[rows_of(pointers)] * v[indices], 1), data)


def real_entries(alg, options):
    """The entries of a real sparse matrix in CSR format that derivatives flow into, with their token, or None."""
    matrix = options.get("A")
    if not is_own(matrix) or not reaches(alg, matrix) or matrix.dtype.kind == "c":
        return None
    matrix = in_format(alg, matrix, "csr")
    data, token, _ = entries_of(alg, matrix)
    return (data, matrix.indices, matrix.indptr), token


def given_options(function, args, kwargs):
    return inspect.signature(function).bind(*args, **kwargs).arguments


def reordered(x, places, value):
    return settled(x[places], value)


def in_order_of(found, value, token, alg):
    """The numbers that were found without vectors, in another order."""
    places = np.argsort(value)[np.argsort(np.argsort(found))]
    return enter(alg, (None, token, None, None), reordered, (value, places, found), {})


@means(eigsh)
def symmetric(alg, t, args, kwargs):
    options = given_options(eigsh, args, kwargs)
    entries = real_entries(alg, options)
    if entries is None or options.get("M") is not None or options.get("OPinv") is not None:
        return followed(alg, t, eigsh, args, kwargs)
    wanted = options.pop("return_eigenvectors", True)
    w, v = eigsh(**options, return_eigenvectors=True)
    given, tokens = (*entries[0], w, v), (None, entries[1], None, None, None, None)
    values, w_token = apply(alg, tokens, eigenvalues, given, {})
    if not wanted:
        return in_order_of(eigsh(**options, return_eigenvectors=False), values, w_token, alg)
    vectors, v_token = apply(alg, tokens, eigenvectors, given, {})
    return (values, vectors), (w_token, v_token)


@means(svds)
def singular(alg, t, args, kwargs):
    options = given_options(svds, args, kwargs)
    entries = real_entries(alg, options)
    if entries is None:
        return followed(alg, t, svds, args, kwargs)
    wanted = options.pop("return_singular_vectors", True)
    u, s, vt = svds(**options, return_singular_vectors=True)
    values, token = apply(
        alg, (None, entries[1], None, None, None, None, None), singular_values, (*entries[0], s, u, vt), {}
    )
    if wanted is False:
        return in_order_of(svds(**options, return_singular_vectors=False), values, token, alg)
    parts = [apply(alg, (None, entries[1], None), of_entries, (entries[0][0], x), {}) for x in (u, vt)]
    (u, u_token), (vt, v_token) = parts
    u, u_token = (None, None) if wanted == "vh" else (u, u_token)
    vt, v_token = (None, None) if wanted == "u" else (vt, v_token)
    return (u, values, vt), (u_token, token, v_token)
