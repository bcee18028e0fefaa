"""Factorisations and eigenvalues. Each reads what NumPy reads: of a symmetric matrix, one triangle."""

import numpy as np

from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.extend import cotangents, expression, over
from autodiff_rules.numpy._shared import conj, unbroadcast
from autodiff_rules.numpy.linalg import adjoint, pinv_cotangent, solved


def one_triangle(c, uplo):
    """The cotangent of the triangle that was read, from one of the whole Hermitian matrix."""
    return half_triangle(c + adjoint(c), uplo)


def hermitian_of(a, uplo):
    """The Hermitian matrices of which one triangle is read, with the real part of the diagonal."""
    rest = np.tril(a, -1) if uplo in "Ll" else np.triu(a, 1)
    return rest + adjoint(rest) + np.eye(np.shape(a)[-1]) * np.real(a)


def half_triangle(c, uplo="L"):
    """One triangle of matrices, with half of the diagonal."""
    return (np.tril(c) if uplo in "Ll" else np.triu(c)) * (1.0 - 0.5 * np.eye(np.shape(c)[-1]))


_DIRECTLY = 32
"""Up to this size an elimination is as fast."""


def inverse_of_lower(low):
    """The inverse of lower triangular matrices, by blocks: products are faster than eliminations."""
    inverse = np.zeros(np.shape(low), low.dtype)
    _invert(np.tril(low), inverse)
    return inverse


def _invert(low, inverse):
    n = np.shape(low)[-1]
    if n <= _DIRECTLY:
        inverse[...] = np.linalg.inv(low)
        return
    k = n // 2
    first, last = inverse[..., :k, :k], inverse[..., k:, k:]
    _invert(low[..., :k, :k], first)
    _invert(low[..., k:, k:], last)
    inverse[..., k:, :k] = np.matmul(np.matmul(last, low[..., k:, :k]), -first)


cotangents(inverse_of_lower, "low", ((),), low=lambda ȳ, y: -np.tril(np.matmul(np.matmul(adjoint(y), ȳ), adjoint(y))))


@cotangents(np.linalg.cholesky, "a, /, *, upper=False")
def cholesky_back(ȳ, y, a, upper):
    return cholesky_cotangent(adjoint(ȳ), adjoint(y), a, "U") if upper else cholesky_cotangent(ȳ, y, a, "L")


@expression
def cholesky_cotangent(c, low, a, uplo):
    """The cotangent of ``a``, of which one triangle was read, from that of its lower factor."""
    middle = half_triangle(np.matmul(adjoint(low), c))
    inverse = inverse_of_lower(low)
    return unbroadcast(one_triangle(np.matmul(np.matmul(adjoint(inverse), middle), inverse), uplo), a)


def cholesky_tangent(ȧ, low):
    """The tangent of a lower triangular factor (I. Murray, arXiv:1602.07527)."""
    inverse = inverse_of_lower(low)
    return np.matmul(low, half_triangle(np.matmul(np.matmul(inverse, hermitian_of(ȧ, "L")), adjoint(inverse))))


@cotangents(np.linalg.pinv, "a, rcond=None, hermitian=False, **options")
def pinv_back(ȳ, y, a, hermitian):
    if not hermitian:
        return unbroadcast(pinv_cotangent(ȳ, a, y), a)
    return unbroadcast(one_triangle(pinv_cotangent(ȳ, hermitian_of(a, "L"), y), "L"), a)


@cotangents(np.linalg.eigh, "a, UPLO='L'")
def eigh_cotangent(ȳ, y, a, UPLO):
    w, v, w̄, v̄ = y[0], determined("np.linalg.eigh", y[1], y[0]), ȳ[0], ȳ[1]
    middle = np.zeros(np.shape(a)) if w̄ is None else np.eye(np.shape(a)[-1]) * w̄[..., None, :]
    if v̄ is not None:
        middle = middle + np.matmul(adjoint(v), v̄) * gaps("np.linalg.eigh", w, v̄)
    return unbroadcast(one_triangle(np.matmul(np.matmul(v, middle), adjoint(v)), UPLO), a)


def gaps(name, w, *cotangents):
    """1 / (w[j] - w[i]), 0 on the diagonal, for the cotangents of the vectors in columns that ``name`` returns.

    Vectors of equal values are not determined: where a cotangent asks for one of them, that is an error.
    """
    difference, equal = w[..., None, :] - w[..., :, None], are_equal(w)
    shared = np.count_nonzero(equal, -2) > 1
    if any(np.any(shared & np.any(c != 0, -2)) for c in cotangents if c is not None):
        raise undetermined(name)
    return np.where(equal, 0.0, 1.0 / np.where(equal, 1.0, difference))


def are_equal(w):
    """Which pairs of values are equal, each with itself, too."""
    largest = np.max(np.abs(w), -1, initial=0.0)[..., None, None]
    return np.abs(w[..., None, :] - w[..., :, None]) <= _ROUNDING * largest


def undetermined(name):
    kind = "singular values" if "svd" in name else "eigenvalues"
    return NotDifferentiable(
        f"the vectors that {name} returns for equal {kind} are not determined, and have no derivative: functions "
        f"of the whole matrix have one by solve, inv, det, pinv, matrix_power, cholesky, expm or logm"
    )


def determined(name, v, w):
    """The vectors of values. Where these are equal, even a cotangent of zero is an error: what turns them is lost."""
    return v


@cotangents(determined, "name, v, w", ((),), "v")
def determined_cotangent(ȳ, name, w):
    if np.any(np.count_nonzero(are_equal(w), -2) > 1):
        raise undetermined(name)
    return ȳ


_ROUNDING = 1e-14
"""Values that differ by less than this part of the largest are equal, but for rounding."""


@cotangents(np.linalg.eigvalsh, "a, UPLO='L'")
def eigvalsh_cotangent(ȳ, a, UPLO):
    w, v = np.linalg.eigh(a, UPLO)
    v = determined("np.linalg.eigh", v, w)
    return unbroadcast(one_triangle(np.matmul(v * ȳ[..., None, :], adjoint(v)), UPLO), a)


def eigvalsh_tangent(ȧ, a, uplo):
    w, v = np.linalg.eigh(a, uplo)
    v = determined("np.linalg.eigh", v, w)
    return np.real(np.sum(conj(v) * np.matmul(hermitian_of(ȧ, uplo), v), -2))


@cotangents(np.linalg.svd, "a, full_matrices=True, compute_uv=True, hermitian=False")
def svd_back(ȳ, y, a, compute_uv, hermitian):
    whole = hermitian_of(a, "L") if hermitian else a
    ā = svd_cotangent("np.linalg.svd", whole, y, ȳ) if compute_uv else singular_cotangent(whole, ȳ)
    return unbroadcast(one_triangle(ā, "L") if hermitian else ā, a)


cotangents(np.linalg.svdvals, "x, /", x=lambda ȳ, x: unbroadcast(singular_cotangent(x, ȳ), x))


def singular_cotangent(a, s̄):
    u, s, vh = np.linalg.svd(a, False)
    return np.matmul(determined("np.linalg.svd", u, s) * s̄[..., None, :], vh)


def singular_tangent(ȧ, a):
    u, s, vh = np.linalg.svd(a, False)
    return np.real(np.sum(conj(determined("np.linalg.svd", u, s)) * np.matmul(ȧ, adjoint(vh)), -2))


def svd_cotangent(name, a, y, ȳ):
    """The cotangent of ``a`` from those of its singular value decomposition, thin or full."""
    if not np.size(a):
        return np.zeros_like(a)
    u, s, vh = y[0], y[1], y[2]
    ū, s̄, v̄ = ȳ[0], ȳ[1], None if ȳ[2] is None else adjoint(ȳ[2])
    rank = np.shape(s)[-1]
    completed = 0.0
    if ū is not None and np.shape(u)[-1] != rank:
        completed = completed_cotangent(name, u, s, vh, ū)
    if v̄ is not None and np.shape(vh)[-2] != rank:
        completed = completed + adjoint(completed_cotangent(name, adjoint(vh), s, adjoint(u), v̄))
    cut = [None if c is None else c[..., :rank] for c in (ū, v̄)]
    return thin_svd_cotangent(name, u[..., :rank], s, vh[..., :rank, :], cut[0], s̄, cut[1]) + completed


def completed_cotangent(name, u, s, vh, ū):
    """What the singular vectors of no singular value add: a single one is determined, up to its sign."""
    rank = np.shape(s)[-1]
    beyond = ū[..., rank:]
    if np.shape(beyond)[-1] > 1 or np.iscomplexobj(u):
        beyond = none_of(name, beyond)
    turned = np.matmul(adjoint(beyond), u[..., :rank])
    vanish = (s <= _ROUNDING * np.max(s, -1, initial=0.0)[..., None])[..., None, :]
    if np.any(vanish & (turned != 0)):
        raise any_basis(name)
    turned = turned / np.where(vanish, 1.0, s[..., None, :])
    return -np.matmul(np.matmul(u[..., rank:], turned), vh[..., :rank, :])


def none_of(name, c):
    """The cotangent of vectors that are not determined, which is to be 0. How it changes is an error, too."""
    if np.any(c):
        raise any_basis(name)
    return np.zeros(np.shape(c))


@cotangents(none_of, "name, c", ((),), "c")
def none_of_cotangent(ȳ, name):
    raise any_basis(name)


def any_basis(name):
    return NotDifferentiable(
        f"the vectors by which {name}(a, full_matrices=True) of a matrix that is not square, or has not full rank, "
        "completes a basis are not determined: pass full_matrices=False"
    )


def thin_svd_cotangent(name, u, s, vh, ū, s̄, v̄):
    """The cotangent of a matrix from those of its thin singular value decomposition."""
    rank = np.shape(s)[-1]
    u, v = determined(name, u, s), determined(name, adjoint(vh), s)
    vh, row = adjoint(v), s[..., None, :]
    middle = np.zeros((*np.shape(s), rank)) if s̄ is None else np.eye(rank) * s̄[..., None, :]
    sums = row + s[..., :, None]
    factors = gaps(name, s, ū, v̄) / np.where(sums == 0, 1.0, sums)
    outer = 0.0
    if ū is not None:
        turned = np.matmul(adjoint(u), ū)
        middle = middle + (factors * (turned - adjoint(turned))) * row
        if np.shape(u)[-2] != rank:
            outer = outer + np.matmul(over(ū - np.matmul(u, turned), row), vh)
    if v̄ is not None:
        turned = np.matmul(vh, v̄)
        middle = middle + s[..., :, None] * (factors * (turned - adjoint(turned)))
        if np.shape(v)[-2] != rank:
            outer = outer + np.matmul(u, adjoint(over(v̄ - np.matmul(v, turned), row)))
    if np.iscomplexobj(u) and ū is not None:
        turned = np.matmul(adjoint(u), ū)
        middle = middle + 1j * np.imag(np.eye(rank) * turned) / row
    return np.matmul(np.matmul(u, middle), vh) + outer


@cotangents(np.linalg.qr, "a, mode='reduced'")
def qr_back(ȳ, y, a, mode):
    if mode == "raw":
        raise NotDifferentiable("np.linalg.qr is not differentiable in the mode 'raw'")
    q, r = np.linalg.qr(a) if mode == "r" else (y[0], y[1])
    q̄, r̄ = (None, ȳ) if mode == "r" else (ȳ[0], ȳ[1])
    rank = min(np.shape(a)[-2:])
    if mode == "complete" and q̄ is not None and np.any(q̄[..., rank:]):
        raise NotDifferentiable("the columns that np.linalg.qr completes a basis with are not determined")
    cut = [None if q̄ is None else q̄[..., :rank], None if r̄ is None else r̄[..., :rank, :]]
    return unbroadcast(qr_cotangent(a, q[..., :rank], r[..., :rank, :], *cut), a)


def qr_cotangent(a, q, r, q̄, r̄):
    """The cotangent of a matrix from those of its factors: of a wide one, the first columns determine ``q``."""
    rows, columns = np.shape(a)[-2:]
    if rows >= columns:
        return tall_qr_cotangent(q, r, q̄, r̄)
    if r̄ is None:
        return np.concatenate([tall_qr_cotangent(q, r[..., :rows], q̄, None), np.zeros(np.shape(a[..., rows:]))], -1)
    beyond = r̄[..., rows:]
    turning = np.matmul(a[..., rows:], adjoint(beyond))
    first = tall_qr_cotangent(q, r[..., :rows], turning if q̄ is None else q̄ + turning, r̄[..., :rows])
    return np.concatenate([first, np.matmul(q, beyond)], -1)


def tall_qr_cotangent(q, r, q̄, r̄):
    m = np.zeros(np.shape(r))
    if r̄ is not None:
        m = m + np.matmul(r, adjoint(r̄))
    if q̄ is not None:
        m = m - np.matmul(adjoint(q̄), q)
    low = np.tril(m, -1)
    real_diagonal = np.real(np.eye(np.shape(m)[-1]) * m)
    c = np.matmul(q, low + adjoint(low) + real_diagonal)
    if q̄ is not None:
        c = c + q̄
    return adjoint(solved(r, adjoint(c)))


cotangents(
    np.linalg.eig, "a", 1, a=lambda ȳ, y, a: unbroadcast(eig_cotangent("np.linalg.eig", y[0], y[1], ȳ[0], ȳ[1]), a)
)


def eig_cotangent(name, w, v, w̄, v̄):
    """The cotangent of a matrix from those of its eigenvalues and of its eigenvectors, which have the length 1."""
    v = determined(name, v, w)
    h, identity = adjoint(v), np.eye(np.shape(v)[-1])
    middle = np.zeros(np.shape(v)) if w̄ is None else identity * w̄[..., None, :]
    if v̄ is not None:
        v̄ = of_any_phase(v, v̄)
        turned = np.matmul(h, v̄)
        lengths = np.sum(np.real(identity * turned), -2)
        middle = middle + (turned - np.matmul(h, v) * lengths[..., None, :]) * conj(gaps(name, w, v̄))
    return solved(h, np.matmul(middle, h))


def of_any_phase(v, v̄):
    """The cotangent of eigenvectors, as if their phases were free: LAPACK makes the largest component of each real."""
    if not np.iscomplexobj(v):
        return v̄
    places = np.argmax(np.where(np.imag(v) == 0, np.abs(v), -1.0), -2)
    largest = np.arange(np.shape(v)[-1])[:, None] == places[..., None, :]
    turning = np.imag(np.sum(conj(v̄) * v, -2)) / np.sum(np.where(largest, np.real(v), 0.0), -2)
    return v̄ + 1j * np.where(largest, turning[..., None, :], 0.0)


@cotangents(np.linalg.eigvals, "a")
def eigvals_cotangent(ȳ, a):
    w, v = np.linalg.eig(a)
    v = determined("np.linalg.eig", v, w)
    return unbroadcast(solved(adjoint(v), ȳ[..., :, None] * adjoint(v)), a)
