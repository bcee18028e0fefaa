"""Equations whose matrix is factorised once, is triangular, or is solved for by iterations that have converged."""

import numpy as np
from scipy.sparse import issparse
from scipy.sparse.linalg import (
    bicg,
    bicgstab,
    cg,
    cgs,
    gcrotmk,
    gmres,
    lgmres,
    minres,
    qmr,
    splu,
    spsolve_triangular,
    tfqmr,
)

from autodiff_hook.algebras.searching import reaches
from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.extend import cotangents
from autodiff_hook.semantics.attribute_stores import setattr_
from autodiff_hook.semantics.functions import enter
from autodiff_hook.semantics.meanings import apply, call_method, means
from autodiff_rules.numpy._shared import unbroadcast
from autodiff_rules.scipy._standins import settled
from autodiff_rules.scipy.sparse._entries import rows_of
from autodiff_rules.scipy.sparse.matrices import entries_of, followed, is_own, solved
from autodiff_rules.scipy.sparse.solving import COLUMNS, ROWS, entries_cotangent

ADJOINT = {"N": "H", "H": "N", "T": "C", "C": "T"}


class Factors:
    """What ``splu`` gives for a matrix that derivatives flow into: the factors of the entries that it had then."""

    def __init__(self, factors, data, indices, pointers):
        self.factors, self.data, self.indices, self.pointers = factors, data, indices, pointers
        self.shape, self.nnz, self.perm_r, self.perm_c = factors.shape, factors.nnz, factors.perm_r, factors.perm_c

    def solve(self, rhs, trans="N"):
        return solve(self.data, rhs, self.factors, self.indices, self.pointers, trans)

    @property
    def L(self):
        raise NotDifferentiable("the factors of a sparse matrix have no derivative: what is solved by them has")

    U = L


def solve(data, b, factors, indices, pointers, trans):
    """The solution for the matrix of these entries in CSC format, its transpose (T), adjoint (H) or conjugate (C)."""
    return np.conj(factors.solve(np.conj(b))) if trans == "C" else factors.solve(b, trans)


@cotangents(solve, "data, b, factors, indices, pointers, trans", ((),), "data, b")
def solve_cotangents(ȳ, y, data, b, factors, indices, pointers, trans):
    b̄ = solve(data, np.asarray(ȳ, np.result_type(y)), factors, indices, pointers, ADJOINT[trans])
    rows, columns = (indices, rows_of(pointers)) if trans in "NC" else (rows_of(pointers), indices)
    data̅ = entries_cotangent(b̄, y, rows, columns)
    return unbroadcast(np.conj(data̅) if trans in "HC" else data̅, data), unbroadcast(b̄, b)


@means(Factors.solve)
def solve_again(alg, t, args, kwargs):
    return enter(alg, (None, *t), Factors.solve, args, kwargs)


@means(splu)
def factorised(alg, t, args, kwargs):
    matrix = args[0] if args else None
    if not is_own(matrix) or not reaches(alg, matrix):
        return followed(alg, t, splu, args, kwargs)
    matrix = in_format(alg, matrix, "csc")
    if not matrix.has_canonical_format:
        call_method(alg, (None,), ("sum_duplicates", ()), matrix)
    factors = splu(matrix, *args[1:], **kwargs)
    data, token, _ = entries_of(alg, matrix)
    data, token = apply(alg, (None, token), np.copy, (data,), {})
    result = Factors(factors, data, matrix.indices.copy(), matrix.indptr.copy())
    setattr_(alg, (None, token), "data", result, data)
    return result, None


def in_format(alg, matrix, *formats):
    if matrix.format in formats:
        return matrix
    return call_method(alg, (None, None), ("asformat", ()), matrix, formats[0])[0]


def give_solution(alg, token, matrix, b, x):
    data, data_token, _ = entries_of(alg, matrix)
    given = data, b, matrix.indices, matrix.indptr, ROWS if matrix.format == "csr" else COLUMNS, x
    return apply(alg, (None, data_token, token, None, None, None, None), solved, given, {})


@means(spsolve_triangular)
def triangular(alg, t, args, kwargs):
    if len(args) < 2 or not is_own(args[0]) or type(args[1]) is not np.ndarray:
        return followed(alg, t, spsolve_triangular, args, kwargs)
    matrix, b = in_format(alg, args[0], "csr", "csc"), args[1]
    unit_diagonal = args[5] if len(args) > 5 else kwargs.get("unit_diagonal", False)
    lower = args[2] if len(args) > 2 else kwargs.get("lower", True)
    if unit_diagonal:
        matrix, _ = call_method(alg, (None,), ("copy", ()), matrix)
        call_method(alg, (None, None), ("setdiag", ()), matrix, 1.0)
    return give_solution(alg, t[1], matrix, b, spsolve_triangular(matrix, b, lower))


def dense_solution(matrix, b, x):
    return settled(np.linalg.solve(matrix, b), x)


def iterative(method):
    """Register a method that approaches the solution: that has its derivative by the matrix and the right side."""

    @means(method)
    def approached(alg, t, args, kwargs):
        matrix, b = args[:2] if len(args) > 1 else (None, None)
        plain = type(b) is np.ndarray and np.ndim(b) == 1 and b.dtype.kind in "fc"
        known = is_own(matrix) or type(matrix) is np.ndarray
        if not plain or not known or kwargs.get("callback") is not None or kwargs.get("shift"):
            return followed(alg, t, method, args, kwargs)
        x, info = method(*args, **kwargs)
        if info:
            return followed(alg, t, method, args, kwargs)
        if issparse(matrix):
            x, token = give_solution(alg, t[1], in_format(alg, matrix, "csr", "csc"), b, x)
        else:
            x, token = enter(alg, (None, t[0], t[1], None), dense_solution, (matrix, b, x), {})
        return (x, info), (token, None)


for method in (bicg, bicgstab, cg, cgs, gcrotmk, gmres, lgmres, minres, qmr, tfqmr):
    iterative(method)
