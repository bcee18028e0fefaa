"""Sparse equations, whose transpose is the same matrix in the other format."""

import numpy as np
from scipy.sparse import csc_array, csr_array
from scipy.sparse.linalg import SuperLU, spsolve
from scipy.sparse.linalg._dsolve import _superlu

from autodiff_hook.extend import cotangents
from autodiff_rules._definitions import follow_instead
from autodiff_rules.numpy._shared import unbroadcast
from autodiff_rules.scipy._standins import natively, settled
from autodiff_rules.scipy.sparse._entries import rows_of

ROWS, COLUMNS = 0, 1


def solution(data, indices, pointers, b, form):
    """The solution of A x = b for a matrix in CSR or CSC format."""
    size = len(pointers) - 1
    matrix = (csr_array if form == ROWS else csc_array)((data, indices, pointers), shape=(size, size), copy=True)
    return np.reshape(spsolve(matrix, b), np.shape(b))


@cotangents(solution, "data, indices, pointers, b, form", 0, "data, b")
def solution_cotangents(ȳ, y, data, indices, pointers, b, form):
    b̄ = solution(np.conj(data), indices, pointers, ȳ, COLUMNS if form == ROWS else ROWS)
    outer, inner = rows_of(pointers), indices
    rows, columns = (outer, inner) if form == ROWS else (inner, outer)
    return unbroadcast(entries_cotangent(b̄, y, rows, columns), data), unbroadcast(b̄, b)


def entries_cotangent(b̄, y, rows, columns):
    """That of the entries at these places, for the solution ``y`` and the cotangent of the right sides."""
    terms = -b̄[rows] * np.conj(y[columns])
    return np.sum(terms, 1) if np.ndim(terms) == 2 else terms


def gssv(size, count, data, indices, pointers, b, form, options=None):
    """SuperLU's driver, which gives the solution and whether there was one."""
    x, failed = natively(_superlu.gssv, (size, count, data, indices, pointers, b, form), {"options": options})
    return settled(solution(data, indices, pointers, b, form), x), failed


follow_instead(_superlu.gssv, gssv)

TRANSPOSED = {"N": "H", "H": "N"}


@cotangents(SuperLU.solve, "self, rhs, trans='N'", ((SuperLU,),), "rhs")
def superlu_solve_cotangent(ȳ, self, rhs, trans):
    if trans == "T":
        return unbroadcast(np.conj(self.solve(np.conj(ȳ))), rhs)
    return unbroadcast(self.solve(ȳ, TRANSPOSED[trans]), rhs)
