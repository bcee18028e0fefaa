from __future__ import annotations

import numpy as np
import pytest
import scipy
from numpy_checks import Case, cases, check, complexes, normal
from scipy import linalg
from scipy.linalg import blas, lapack

from autodiff_hook import gradient, hvp, jvp
from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.testing import check_gradient, check_rule
from autodiff_rules.scipy import _lapack
from autodiff_rules.scipy.linalg.functions import toeplitz_solution


def definite(*shape, kind=normal):
    """A positive definite matrix whose eigenvalues lie apart."""
    x = kind(*shape)
    return x @ np.conj(np.swapaxes(x, -1, -2)) + np.diag(np.arange(1.0, 1.0 + shape[-1]))


A, B, Z = normal(3, 3) + 3 * np.eye(3), normal(3, 2), complexes(3, 3) + 3 * np.eye(3)
P, Q = definite(3, 3), definite(3, 3, kind=complexes)
R = normal(3, 3, seed=3) @ normal(3, 3, seed=3).T + 2 * np.eye(3)
P32 = P.astype(np.float32)
BAND = np.array([[0.0, 0.0, 0.3, 0.4], [0.0, 1.0, 0.7, -0.4], [4.0, 5.0, 6.0, 7.0], [0.5, 0.2, 0.9, 0.0]])
SYMMETRIC_BANDS = np.array([[0.0, 0.0, 0.3, 0.4], [0.0, 1.0, 0.7, -0.4], [4.0, 5.0, 6.0, 7.0]])
SYMMETRIC_BANDS = SYMMETRIC_BANDS, np.array([[4.0, 5.0, 6.0, 7.0], [1.0, 0.7, -0.4, 0.0], [0.3, 0.4, 0.0, 0.0]])
TOEPLITZ = np.array([0.3, 0.5, 4.0, 0.7, -0.2])
TRIDIAGONAL = normal(4) + 2.0 * np.arange(4), normal(3)
BAND3 = np.triu(np.tril(A, 1), -1)
TRIANGLES = ("upper triangular", "lower triangular")

CASES = [
    *(Case(linalg.cholesky, a, lower) for a in (P, Q, P32, P.tolist()) for lower in (True, False)),
    *(Case(linalg.cho_factor, a, lower) for a in (P, Q) for lower in (True, False)),
    *(Case(linalg.inv, a) for a in (A, Z, A.tolist())),
    *(Case(linalg.det, a) for a in (A, Z, normal(2, 3, 3), np.ones((2, 2)))),
    *(Case(linalg.solve, a, b) for a in (A, Z) for b in (B, normal(3), complexes(3, 2), normal(3).tolist())),
    *(Case(linalg.solve, P, B, lower, assume_a="pos") for lower in (True, False)),
    *(Case(linalg.solve, A, b, transposed=True) for b in (B, normal(3))),
    *(Case(linalg.solve, Q, B, lower, assume_a="her") for lower in (True, False)),
    *(Case(linalg.solve, np.tril(a), B, True, assume_a=kind) for a in (P, Q) for kind in ("her", "pos")),
    *(Case(linalg.solve, np.triu(a), B, assume_a="sym") for a in (P, Z + Z.T)),
    *(Case(linalg.solve, a, B) for a in ([[2.0]], np.array([[2.0 + 1.0j]]))),
    *(
        Case(linalg.solve_triangular, Z, normal(3), trans, lower, unit, layouts=False)
        for trans in (0, 1, 2, "T")
        for lower in (True, False)
        for unit in (True, False)
    ),
    *(Case(linalg.solve_triangular, a, b) for a in (A, Z) for b in (B, normal(3).tolist())),
    *(Case(linalg.solve_banded, (1, 2), BAND, b) for b in (normal(4), normal(4, 2), complexes(4))),
    *(Case(linalg.solveh_banded, ab, normal(4), lower=lower) for lower, ab in zip((False, True), SYMMETRIC_BANDS)),
    *(Case(linalg.solveh_banded, SYMMETRIC_BANDS[0] + 0.2j, b) for b in (complexes(4), normal(4, 2))),
    *(Case(linalg.solveh_banded, 0.3j + SYMMETRIC_BANDS[1][:k], normal(4), lower=True) for k in (1, 2)),
    *(Case(linalg.pinv, a) for a in (normal(3, 2), normal(2, 3), A)),
    *(Case(linalg.lu_factor, a) for a in (A, Z, normal(4, 4))),
    *(Case(linalg.qr, a, mode="economic") for a in (normal(4, 3), A, complexes(4, 3))),
    *(Case(linalg.qr, a, pivoting=True) for a in (A, normal(4, 4))),
    *(Case(linalg.qr, a) for a in (A, Z, normal(3, 5), complexes(2, 4))),
    *(Case(linalg.qr, normal(3, 5), pivoting=True, mode=mode) for mode in ("full", "economic")),
    *(Case(linalg.qr, normal(4, 3), mode="r") for _ in (0,)),
    *(Case(linalg.eigh, a, lower=lower) for a in (P,) for lower in (True, False)),
    *(Case(linalg.eigh, P, R, lower=lower) for lower in (True, False)),
    *(Case(linalg.eigvalsh, a) for a in (P, Q)),
    Case(linalg.eigh, P, subset_by_index=[0, 1], eigvals_only=True),
    *(Case(linalg.eig, a, left=left, right=True) for a in (A, Z, normal(4, 4)) for left in (True, False)),
    *(Case(linalg.eig, a, left=left, right=False) for a in (A, Z) for left in (True, False)),
    *(Case(linalg.eig, a, b, right=False) for a, b in ((A, R), (Z, R), (A, Z))),
    *(Case(linalg.svd, a, False) for a in (normal(4, 3), A, normal(2, 3))),
    *(Case(linalg.svd, a, compute_uv=False) for a in (normal(4, 3), complexes(2, 3))),
    *(Case(linalg.svdvals, a) for a in (normal(4, 3), complexes(2, 3))),
    *(Case(linalg.expm, a) for a in (A, Z, 30 * A, np.zeros((2, 2)), normal(2, 3, 3), [[0.1, 0.2], [0.3, 0.4]])),
    *(Case(linalg.sqrtm, a) for a in (P, Q, A)),
    *(Case(linalg.solve_sylvester, *args) for args in ((A, P, A), (Z, P, A), (P, Q, Z))),
    *(Case(linalg.solve_continuous_lyapunov, a, q) for a, q in ((A, P), (A, A), (Z, P), (Z, Z))),
    *(Case(linalg.norm, x) for x in (normal(4), A, complexes(2, 3))),
    *(Case(linalg.norm, A, o) for o in ("fro", "nuc", 2, 1, np.inf)),
    *(Case(linalg.norm, normal(4), o) for o in (1, 3, np.inf)),
    *(Case(linalg.norm, normal(2, 3), axis=axis, keepdims=keep) for axis in (0, 1) for keep in (True, False)),
    Case(linalg.block_diag, A, normal(2, 1), normal(3), 2.5, layouts=False),
    *(Case(linalg.toeplitz, c) for c in (normal(3), complexes(3), [1.0, 2.0])),
    *(Case(linalg.toeplitz, normal(3), r) for r in (normal(4), complexes(2))),
    *(Case(linalg.circulant, c) for c in (normal(3), complexes(4), [1.0, 2.0])),
    *(Case(linalg.lu, a, permute) for a in (A, Z, normal(4, 4)[::-1]) for permute in (False, True)),
    Case(linalg.lu, normal(4, 4)[::-1], p_indices=True),
    *(Case(toeplitz_solution, v, b) for v, b in ((TOEPLITZ, normal(3)), (TOEPLITZ + 0.3j, complexes(3)))),
    *(Case(linalg.eigh_tridiagonal, *TRIDIAGONAL, alone) for alone in (False, True)),
    Case(linalg.eigh_tridiagonal, *TRIDIAGONAL, True, "i", (1, 2)),
    *(
        Case(linalg.eig_banded, b, low, alone)
        for b, low in zip(SYMMETRIC_BANDS, (False, True))
        for alone in (False, True)
    ),
    Case(linalg.eig_banded, SYMMETRIC_BANDS[1], True, True, select="v", select_range=(4.0, 9.0)),
]
STACKS = np.lib.NumpyVersion(scipy.__version__) >= "1.15.0"
"""Whether SciPy takes stacks of matrices, and all kinds of them."""
if STACKS:
    CASES += [
        *(Case(linalg.solve, A, B, assume_a=kind) for kind in (*TRIANGLES, "banded")),
        *(Case(linalg.solve, x, B, assume_a=kind) for kind, x in (("diagonal", A * np.eye(3)), ("tridiagonal", BAND3))),
        *(Case(linalg.solve_triangular, np.stack([A, 2.0 * A]), b) for b in (normal(3), B)),
        Case(linalg.solve_banded, (1, 2), np.stack([BAND, 2.0 * BAND]), normal(4)),
    ]
FACTORED = [
    *((linalg.cho_factor, linalg.cho_solve, a, (lower,)) for a in (P, Q) for lower in (True, False)),
    *((linalg.lu_factor, linalg.lu_solve, a, ()) for a in (A, Z, *([np.stack([A, P])] if STACKS else ()))),
]


@cases(CASES)
def test_rule(case):
    check(case)


@pytest.mark.parametrize("b", [B, normal(3), complexes(3)], ids=["matrix", "vector", "complex"])
@pytest.mark.parametrize("factor, solve, a, options", FACTORED, ids=lambda x: getattr(x, "__name__", ""))
def test_solving_with_factors(factor, solve, a, options, b):
    def f(a, b):
        return np.sum(np.abs(solve(factor(a, *options), b)) ** 2)

    check_gradient(f, a, b)


E = 3 * np.eye(3) + 0.3 * normal(3, 3, seed=5)
RICCATI = [
    *((normal, options) for options in ((), (E,), (E, 0.1 * B), (None, 0.1 * B))),
    *((complexes, options) for options in ((), (None, 0.1 * complexes(3, 2)))),
]


@pytest.mark.parametrize("solve", [linalg.solve_continuous_are, linalg.solve_discrete_are])
@pytest.mark.parametrize("kind, options", RICCATI)
def test_riccati_equations(solve, kind, options):
    def f(a, b, q, r, *options):
        x = solve(a, b, q @ np.conj(q.T) + np.eye(3), r @ np.conj(r.T) + np.eye(2), *options)
        return np.sum(np.real(x * (B @ B.T + 1j * A)))

    given = kind(3, 3), kind(3, 2, seed=1), kind(3, 3, seed=2), kind(2, 2, seed=3)
    check_gradient(f, *given, *options)


def test_what_does_not_solve_the_equation_is_an_error():
    b, c, d = complexes(3, 2, seed=1), complexes(3, 3, seed=2), complexes(2, 2, seed=3)
    q, r = c @ np.conj(c.T) + np.eye(3), d @ np.conj(d.T) + np.eye(2)
    with pytest.raises(NotDifferentiable, match="does not solve"):
        gradient(lambda a: np.sum(np.abs(linalg.solve_continuous_are(a, b, q, r, E))), complexes(3, 3))


@pytest.mark.parametrize("solve", [linalg.solve_continuous_are, linalg.solve_discrete_are])
def test_second_derivatives_of_riccati_equations(solve):
    def f(t):
        x = solve(A * t, B, P, np.eye(2) / t)
        return np.sum(x * x)

    step = 1e-5
    difference = (gradient(f, 1.1 + step)[0] - gradient(f, 1.1 - step)[0]) / (2 * step)
    assert hvp(f, (1.1,), (1.0,))[0] == pytest.approx(difference, rel=1e-6)


BALANCED = np.array([[1.0, 200.0, 0.0], [0.003, 2.0, 1.0], [0.5, 0.0, 3.0]])


@pytest.mark.parametrize("options", [{}, {"separate": True}, {"permute": False}, {"scale": False}])
@pytest.mark.parametrize("a", [BALANCED, BALANCED * (1.0 + 0.5j)])
def test_balanced_matrices(a, options):
    check_gradient(lambda a: np.sum(np.real(linalg.matrix_balance(a, **options)[0] * (B @ B.T + 1j * A))), a)


def test_eigenvalues_alone():
    check_gradient(lambda a, b: np.sum(np.abs(linalg.eigvals(a)) ** 3 + np.real(linalg.eigvals(a, b))), A, R)


def test_eigenvectors_of_two_matrices_are_an_error():
    with pytest.raises(NotDifferentiable, match="eigenvalues alone"):
        gradient(lambda a: np.sum(np.abs(linalg.eig(a, R)[1])), A)


@pytest.mark.parametrize("trans", [0, 1, 2])
def test_solving_with_a_transposed_factor(trans):
    def f(a, b):
        return np.sum(np.abs(linalg.lu_solve(linalg.lu_factor(a), b, trans)) ** 2)

    check_gradient(f, Z, B)
    check_gradient(f, normal(4, 4), normal(4))


NEGATIVE = np.array([[0.1, 1.0, 0.3], [0.5, 0.3, -0.4], [0.2, 0.1, -1.5]])
"""Two eigenvalues are negative, one is positive."""
TURNING = np.array([[-1.0, 2.0, 0.3], [-2.0, -1.0, -0.4], [0.2, 0.1, -1.5]])
"""One eigenvalue is negative, two are complex."""


@pytest.mark.parametrize("a", [NEGATIVE, TURNING], ids=["negative", "turning"])
def test_logarithm_of_real_matrices_with_negative_eigenvalues(a):
    direction = normal(3, 3, seed=4)

    def f(t):
        y = linalg.logm(a + t * direction)
        return float(np.sum(np.real(y @ B)) + np.sum(np.imag(y @ B)))

    expected = (f(1e-5) - f(-1e-5)) / 2e-5
    assert gradient(f, 0.0)[0] == pytest.approx(expected, rel=1e-6)
    assert jvp(f, (0.0,), (1.0,))[1] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("a", [P, Q, A], ids=["definite", "hermitian", "plain"])
def test_logarithm(a):
    (ā,) = gradient(lambda a: np.sum(np.real(linalg.logm(a) @ B)), a)
    step = 1e-6 * normal(3, 3, seed=4)
    difference = np.sum(np.real((linalg.logm(a + step) - linalg.logm(a - step)) @ B)) / 2
    assert np.isclose(np.sum(np.real(ā) * step), difference, rtol=1e-6)


@pytest.mark.parametrize(
    "target, args",
    [
        (linalg.cholesky, (P,)),
        (linalg.inv, (A,)),
        (linalg.solve, (A, B)),
        (linalg.solve_triangular, (A, B)),
        (linalg.expm, (A,)),
        (linalg.sqrtm, (P,)),
        (linalg.eigvalsh, (P,)),
        (linalg.det, (A,)),
        (linalg.cho_solve, ((P, True), B)),
        (linalg.toeplitz, (normal(3),)),
        (linalg.block_diag, (A, B)),
        (linalg.solve_sylvester, (A, P, A)),
        (linalg.circulant, (normal(3),)),
        (linalg.lu, (A,)),
        (toeplitz_solution, (TOEPLITZ, normal(3))),
        (linalg.eigh_tridiagonal, TRIDIAGONAL),
        (linalg.eig_banded, (SYMMETRIC_BANDS[1], True)),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_second_order(target, args):
    check_rule(target, *args, rtol=1e-5, second_order=True)


@pytest.mark.parametrize("b", [normal(5), normal(5, 2), complexes(5)], ids=["vector", "matrix", "complex"])
def test_least_squares(b):
    def f(a, b):
        x, residuals, _, values = linalg.lstsq(a, b)
        return np.sum(np.abs(x) ** 3) + np.sum(np.real(residuals)) ** 2 + np.sum(values**2 * np.arange(1, 4))

    a, v = normal(5, 3), (normal(5, 3, seed=1), b)
    check_gradient(f, a, b)
    ḡ = gradient(f, a, b)
    assert jvp(f, (a, b), v)[1] == pytest.approx(sum(np.sum(np.real(np.conj(g) * d)) for g, d in zip(ḡ, v)))


def test_least_squares_to_second_order():
    def f(a):
        return np.sum(linalg.lstsq(a, normal(5))[0] ** 3)

    a, v = normal(5, 3), normal(5, 3, seed=1)
    differences = (gradient(f, a + 1e-6 * v)[0] - gradient(f, a - 1e-6 * v)[0]) / 2e-6
    np.testing.assert_allclose(hvp(f, (a,), (v,))[0], differences, rtol=1e-5, atol=1e-6)


def test_options_without_a_derivative():
    with pytest.raises(NotDifferentiable):
        gradient(lambda a: linalg.qr(a)[0].sum(), normal(4, 2))
    with pytest.raises(NotDifferentiable):
        gradient(lambda a: linalg.eigh(a, subset_by_index=[0, 1])[1].sum(), P)


def test_equal_eigenvalues_have_no_vectors():
    with pytest.raises(NotDifferentiable, match="equal eigenvalues"):
        gradient(lambda a: linalg.eigh(a)[1].sum(), np.eye(3))
    assert np.array_equal(gradient(lambda a: linalg.eigh(a)[0].sum(), np.eye(3))[0], np.eye(3))


MATRIX = np.array([[3.0, 0.7, 0.2], [0.4, 4.0, -0.5], [1.1, 0.3, 5.0]])
LOWER = np.linalg.cholesky(MATRIX @ MATRIX.T)
WIDE = np.array([[0.0], [9.0]])
INDEFINITE = np.array([[1.0, 2.0], [2.0, 1.0]])
SOLVERS = {
    "dgesv": lambda a, b: lapack.dgesv(a, b)[2],
    "dsysv": lambda a, b: lapack.dsysv(a, b)[2] + lapack.dsysv(a, b, lower=True)[2],
    "dposv": lambda a, b: lapack.dposv(a, b)[1] + lapack.dposv(a, b, lower=True, overwrite_b=True)[1],
    "dpotrf": lambda a, b: lapack.dpotrf(a)[0] @ b + lapack.dpotrf(a, lower=True, clean=False)[0] @ b,
    "dpotrs": lambda a, b: lapack.dpotrs(LOWER * a, b, lower=True)[0] + lapack.dpotrs(LOWER.T * a, b)[0],
    "dtrtrs": lambda a, b: lapack.dtrtrs(a, b, lower=True)[0] + lapack.dtrtrs(a, b, trans=1, unitdiag=True)[0],
    "dgbsv": lambda a, b: lapack.dgbsv(1, 1, np.vstack([np.zeros(3), a[[1, 0, 2]]]), b)[2],
    "dpbsv": lambda a, b: (
        lapack.dpbsv(a[[0, 2]] ** 2 + WIDE, b)[1] * lapack.dpbsv(a[[2, 0]] + WIDE[::-1], b, lower=True)[1]
    ),
    "dgtsv": lambda a, b: lapack.dgtsv(a[1, :2], a[0] + 2.0, a[2, :2], b)[3],
    "dptsv": lambda a, b: lapack.dptsv(a[0] + 9.0, a[1, :2], b)[2],
    "dtrsm": lambda a, b: blas.dtrsm(a[0, 0], a, b, lower=True) + blas.dtrsm(1.0, a, b.T, side=1, trans_a=1, diag=1).T,
    "dgemm": lambda a, b: blas.dgemm(a[0, 0], a, b, a[1, 1], b, trans_a=1) + blas.dgemm(2.0, a, b.T, trans_b=True),
}


@pytest.mark.parametrize("name", SOLVERS)
def test_solvers_of_lapack(name):
    b = np.array([[1.0, 0.2], [-0.3, 2.0], [0.5, 0.6]])
    check_gradient(lambda a, b: np.sum(SOLVERS[name](a, b) ** 2), MATRIX, b)
    check_gradient(lambda b: np.sum(SOLVERS[name](MATRIX, b) ** 2), b)


FACTORS = {
    "dgesv": lambda a, b: lapack.dgesv(a, b)[0],
    "dsysv": lambda a, b: lapack.dsysv(a, b)[0],
    "dposv": lambda a, b: lapack.dposv(a, b)[0],
    "dgbsv": lambda a, b: lapack.dgbsv(1, 1, np.vstack([np.zeros(3), a[[1, 0, 2]]]), b)[0],
    "dpbsv": lambda a, b: lapack.dpbsv(a[[0, 2]] ** 2 + WIDE, b)[0],
    "dgtsv": lambda a, b: lapack.dgtsv(a[1, :2], a[0] + 2.0, a[2, :2], b)[1],
    "dptsv": lambda a, b: lapack.dptsv(a[0] + 9.0, a[1, :2], b)[0],
}


@pytest.mark.parametrize("name", FACTORS)
def test_factors_that_solvers_leave_behind_are_an_error(name):
    f = lambda a, b: np.sum(FACTORS[name](a, b) ** 2) + SOLVERS[name](a, b)[0, 0]  # noqa: E731
    b = np.array([[1.0, 0.2], [-0.3, 2.0], [0.5, 0.6]])
    with pytest.raises(NotDifferentiable, match="of the factors which a solver of LAPACK leaves behind"):
        gradient(f, MATRIX, b)
    with pytest.raises(NotDifferentiable, match="of the factors which a solver of LAPACK leaves behind"):
        jvp(f, (MATRIX, b), (MATRIX, b))
    solution = gradient(lambda b: SOLVERS[name](MATRIX, b)[0, 0], b)[0]
    np.testing.assert_allclose(gradient(lambda b: f(MATRIX, b), b)[0], solution)


def test_factors_do_not_depend_on_what_is_on_the_right():
    check_rule(_lapack.left, (), (normal(3, 2),), lambda b: lapack.dgesv(MATRIX, b), 0, _lapack.FACTORS)


def test_what_lapack_has_not_solved_is_an_error():
    for f in (lambda a: np.sum(lapack.dposv(a, np.ones(2))[1]), lambda a: np.sum(lapack.dpotrf(a)[0])):
        with pytest.raises(NotDifferentiable, match="that of a system which LAPACK has not solved"):
            gradient(f, INDEFINITE)
    with pytest.raises(NotDifferentiable, match="that of a system which LAPACK has not solved"):
        gradient(lambda a: np.sum(lapack.dgesv(a, np.ones(2))[2]), np.ones((2, 2)))


def test_programs_may_ask_whether_lapack_has_solved_something():
    def f(a):
        factor, info = lapack.dpotrf(a)
        if info > 0:
            a = a + 2.0 * np.trace(a) * np.eye(2)
            factor, info = lapack.dpotrf(a)
        return np.sum(np.log(np.diag(factor)))

    for a in (INDEFINITE, np.eye(2), INDEFINITE):
        check_gradient(f, a)


@pytest.mark.parametrize("name", ["dgesv", "dsysv", "dposv", "dpotrs", "dtrtrs"])
def test_what_solvers_give_has_the_axes_of_what_they_are_given(name):
    def f(a, b):
        found = getattr(lapack, name)(a, b)
        return np.sum(found[-2] ** 2) * (1.0 if found[-2].ndim == 1 else 5.0) * (found[-1] == 0)

    check_gradient(f, MATRIX, np.array([1.0, -0.3, 0.5]))
    check_gradient(f, MATRIX, np.array([[1.0], [-0.3], [0.5]]))


def test_pivots_are_positions():
    check_gradient(lambda a: np.sum(np.sin(a)[lapack.dgesv(a, np.ones(3))[1]] * np.arange(9).reshape(3, 3)), MATRIX)


def test_arguments_are_not_overwritten():
    a = np.asfortranarray(P)
    gradient(lambda a: linalg.cholesky(a, overwrite_a=True).sum(), a)
    assert np.array_equal(a, P)


def test_systems_of_toeplitz_matrices():
    x = np.array([4.0, 0.5, -0.3, 0.2])
    check_gradient(lambda x, b: np.sum(linalg.solve_toeplitz(x, b) ** 2), x, normal(4))
    check_gradient(lambda x, b: np.sum(linalg.solve_toeplitz((x, 0.5 * x), b) ** 3), x, normal(4, 2))
    with pytest.raises(NotDifferentiable, match="real matrices"):
        gradient(lambda x: np.sum(linalg.eigh_tridiagonal(x, x[1:], select="i", select_range=(0, 1))[1]), x)
    with pytest.raises(NotDifferentiable, match="square"):
        gradient(lambda x: np.sum(linalg.lu(np.outer(x, x[:2]))[2]), x)


def test_equal_singular_values_have_no_vectors():
    with pytest.raises(NotDifferentiable, match="equal singular values"):
        gradient(lambda a: linalg.svd(a)[0].sum(), np.eye(3))


@pytest.mark.parametrize("options", [{}, {"lower": False}, {"return_rank": True}], ids=str)
def test_pseudo_inverses_of_symmetric_matrices(options):
    check_rule(linalg.pinvh, normal(3, 3) + 2.0 * np.eye(3), second_order=True, **options)
    check_rule(linalg.pinvh, complexes(3, 3) + 2.0 * np.eye(3), **options)
    if not options:
        assert gradient(lambda a: linalg.pinvh(a).sum(), np.eye(2))[0].tolist() == [[-1.0, 0.0], [-2.0, -1.0]]


@pytest.mark.filterwarnings("ignore:Diagonal number", "ignore:invalid value", "ignore:divide by zero")
def test_derivatives_of_factors_of_singular_matrices_are_not_finite():
    singular = np.array([[1.0, 2.0], [2.0, 4.0]])
    assert np.isnan(gradient(lambda a: linalg.lu_factor(a)[0].sum(), singular)[0]).any()
    assert np.isnan(gradient(lambda a: linalg.lu_solve(linalg.lu_factor(a), np.ones(2)).sum(), singular)[0]).any()


def test_rules_with_several_results_and_options():
    tall, square = normal(4, 3), normal(3, 3) + 2.0 * np.eye(3)
    factors, pivots = linalg.lu_factor(square)
    for transposed in (0, 1):
        check_rule(
            linalg.lu_solve,
            (factors, pivots),
            normal(3, 2),
            transposed,
            second_order=True,
            differences=lambda given, b, trans: linalg.lu_solve((given[0], pivots), b, round(trans)),
        )
    check_rule(linalg.lstsq, tall, normal(4, 2), second_order=True)
    check_rule(linalg.logm, square @ square.T, second_order=True)
    check_rule(linalg.eig, square @ square.T)
    check_rule(linalg.matrix_balance, square)
    for solve in (linalg.solve_continuous_are, linalg.solve_discrete_are):

        def moved(a, b, q, r, solve=solve):
            return solve(a, b, 0.5 * (q + q.T), 0.5 * (r + r.T))

        check_rule(solve, square, tall[:3, :2], square @ square.T, np.eye(2), differences=moved, rtol=1e-5)


def flipped(a):
    u, s, v = linalg.svd(a, full_matrices=False)
    signs = np.sign(u[0])
    u *= signs
    v *= signs[:, None]
    q, _ = linalg.qr(a, mode="economic")
    q[:, 0] *= 2.0
    x = linalg.solve(a @ a.T + np.eye(3), a[:, 0])
    x += s[0]
    return np.sum(u**3) + np.sum(v**3) + np.sum(q * a) + np.sum(x**2)


def test_stores_into_results():
    check_gradient(flipped, A)
