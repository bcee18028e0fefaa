"""Functions of matrices, matrix equations, norms and structured matrices."""

import numpy as np
from scipy import linalg
from scipy.linalg._solve_toeplitz import levinson

from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.extend import complex_by_value, cotangents, fresh
from autodiff_hook.registry import LINEAR, frule, nondifferentiable
from autodiff_rules._constants import COMPARES, IS_A_SHAPE, IS_OF_INTEGERS, declare_names
from autodiff_rules.numpy._shared import reshaped, unbroadcast
from autodiff_rules.numpy.linalg import adjoint
from autodiff_rules.numpy.norms import norm_cotangent, norm_tangent
from autodiff_rules.scipy._lapack import left
from autodiff_rules.scipy._standins import define, natively, settled

fresh(linalg.expm, linalg.logm, linalg.sqrtm, linalg.solve_sylvester, linalg.solve_continuous_lyapunov)
fresh(linalg.block_diag, linalg.circulant, linalg.toeplitz, linalg.matrix_balance)


def frechet(function, a, direction):
    """The derivative of a function of matrices at ``a`` in a direction, as a block of its value at a larger one.

    N. J. Higham, Functions of Matrices, SIAM 2008, (3.16). The direction is scaled to the size of ``a``.
    """
    n = np.shape(a)[-1]
    if not np.any(direction):
        return np.zeros(np.shape(a))
    scale = np.max(np.abs(direction)) / (1.0 + np.max(np.abs(a)))
    upper = np.concatenate([a, direction / scale], -1)
    lower = np.concatenate([np.zeros(np.shape(a)), a], -1)
    return scale * function(np.concatenate([upper, lower], -2))[..., :n, n:]


cotangents(linalg.expm, "A", A=lambda ȳ, A: unbroadcast(frechet(linalg.expm, adjoint(np.atleast_2d(A)), ȳ), A))
frule(linalg.expm, lambda Ȧ, y, A: np.reshape(frechet(linalg.expm, np.atleast_2d(A), np.atleast_2d(Ȧ)), np.shape(y)))
complex_by_value(linalg.logm, linalg.sqrtm)


@cotangents(linalg.logm, "A")
def logm_cotangent(ȳ, A):
    """That of a matrix times a number is the same: what is turned has no eigenvalue on the cut of the logarithm."""
    h = adjoint(np.asarray(A))
    turn = away_from_cut(h)
    return unbroadcast(frechet(linalg.logm, turn * h, turn * ȳ), A)


@nondifferentiable
def away_from_cut(h):
    """A factor that turns the negative eigenvalues of the adjoint of a matrix off the real axis, across no cut."""
    w = np.linalg.eigvals(h)
    negative = (np.imag(w) == 0) & (np.real(w) < 0)
    if not np.any(negative):
        return 1.0
    return np.exp(0.5j * (np.pi - np.max(np.angle(w), initial=0.0, where=~negative)))


@cotangents(linalg.sqrtm, "A")
def sqrtm_cotangent(ȳ, y, A):
    """From dy y + y dy = dA."""
    if np.ndim(A) < 2:
        raise NotDifferentiable("scipy.linalg.sqrtm is differentiable for matrices: of a number SciPy returns exp")
    h = adjoint(y)
    return unbroadcast(linalg.solve_sylvester(h, h, ȳ), A)


@cotangents(linalg.solve_sylvester, "a, b, q", 2, "a, b, q")
def solve_sylvester_cotangents(ȳ, y, a, b, q):
    if not np.size(ȳ) or not np.size(a) or not np.size(b):
        return np.zeros_like(a), np.zeros_like(b), np.zeros_like(q)
    q̄ = linalg.solve_sylvester(adjoint(a), adjoint(b), ȳ)
    ā, b̄ = -np.matmul(q̄, adjoint(y)), -np.matmul(adjoint(y), q̄)
    return unbroadcast(ā, a), unbroadcast(b̄, b), unbroadcast(q̄, q)


@cotangents(linalg.solve_continuous_lyapunov, "a, q", 2, "a, q")
def solve_continuous_lyapunov_cotangents(ȳ, y, a, q):
    q̄ = linalg.solve_continuous_lyapunov(adjoint(np.atleast_2d(a)), ȳ)
    ā = -np.matmul(q̄, adjoint(y)) - np.matmul(adjoint(q̄), y)
    return unbroadcast(ā, a), unbroadcast(q̄, q)


cotangents(
    linalg.norm,
    "a, ord=None, axis=None, keepdims=False, check_finite=True",
    a=lambda ȳ, y, a, ord, axis, keepdims: norm_cotangent(ȳ, y, a, ord, axis, keepdims),
    ord="that of scipy.linalg.norm with respect to its order",
)


def lyapunov_tangent(ȧ, y, a):
    return -linalg.solve_continuous_lyapunov(a, np.matmul(ȧ, y) + np.matmul(y, adjoint(ȧ)))


frule(
    linalg.solve_sylvester,
    lambda ȧ, y, a, b, q: -linalg.solve_sylvester(a, b, np.matmul(ȧ, y)),
    lambda ḃ, y, a, b, q: -linalg.solve_sylvester(a, b, np.matmul(y, ḃ)),
    LINEAR,
)
frule(
    linalg.solve_continuous_lyapunov,
    lambda ȧ, y, a, q: lyapunov_tangent(np.atleast_2d(ȧ), y, a),
    LINEAR,
)
frule(
    linalg.norm,
    lambda ȧ, y, a, ord, axis, keepdims, check_finite: norm_tangent(ȧ, y, a, ord, axis, keepdims),
)


@cotangents(linalg.block_diag, "*arrs", 0, "arrs")
def block_diag_cotangents(ȳ, arrs):
    parts, row, column = [], 0, 0
    for x in arrs:
        rows, columns = np.shape(np.atleast_2d(x))[-2:]
        block = ȳ[..., row : row + rows, column : column + columns]
        parts.append(reshaped(unbroadcast(block, np.atleast_2d(x)), x))
        row, column = row + rows, column + columns
    return parts


@cotangents(linalg.toeplitz, "c, r=None", 1, "c, r")
def toeplitz_cotangents(ȳ, c, r):
    rows, columns = np.shape(ȳ)[-2:]
    if not rows or not columns:
        return np.zeros_like(c), None if r is None else np.zeros_like(r)
    below = np.stack([np.trace(ȳ, -i, -2, -1) for i in range(rows)], -1)
    above = np.stack([0.0 * below[..., 0], *[np.trace(ȳ, j, -2, -1) for j in range(1, columns)]], -1)
    if r is None:
        return unbroadcast(below + np.conjugate(above), c), None
    return unbroadcast(below, c), unbroadcast(above, r)


declare_names(
    linalg,
    {
        COMPARES: "issymmetric ishermitian",
        IS_A_SHAPE: "bandwidth get_lapack_funcs get_blas_funcs find_best_blas_type",
        IS_OF_INTEGERS: "hilbert invhilbert pascal invpascal hadamard",
    },
)


@cotangents(linalg.circulant, "c")
def circulant_cotangent(ȳ, c):
    places = np.arange(np.shape(ȳ)[-1])
    return unbroadcast(np.sum(ȳ[..., (places + places[:, None]) % len(places), places], -1), c)


def toeplitz_solution(vals, b):
    """The solution for the matrix whose element (i, j) is vals[n - 1 + i - j]."""
    return np.asarray(levinson(np.ascontiguousarray(vals), np.ascontiguousarray(b))[0])


@cotangents(toeplitz_solution, "vals, b", 2, "vals, b")
def toeplitz_solution_cotangents(ȳ, y, vals, b):
    b̄ = toeplitz_solution(np.conj(np.atleast_1d(vals)[::-1]), ȳ)
    return unbroadcast(-np.convolve(b̄, np.conj(np.atleast_1d(y)[::-1])), vals), unbroadcast(b̄, b)


def levinson_parts(a, b):
    x, reflection = natively(levinson, (a, b), {})
    return settled(toeplitz_solution(a, b), np.asarray(x)), left((a, b), (), levinson, 1, REFLECTION)


REFLECTION = "that of the reflection coefficients of Levinson's recursion"
define(levinson, levinson_parts)
