from __future__ import annotations

import operator

import numpy as np
import pytest
from in_all_orders import check_orders
from numpy.linalg import _umath_linalg
from numpy_checks import Case, cases, check, complexes, normal, positive, single
from scipy import linalg

from autodiff_hook import gradient, hvp, jvp
from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.registry import registry
from autodiff_hook.testing import check_gradient, check_rule
from autodiff_rules.numpy.decompositions import determined, inverse_of_lower, none_of
from autodiff_rules.numpy.linalg import adjugate, solved

MATMUL_SHAPES = (
    *(((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((5, 2, 3), (3,)), ((5, 2, 3), (3, 4))),
    *(
        ((3,), (5, 3, 2)),
        ((2, 3), (5, 3, 2)),
        ((5, 4, 3), (5, 3, 2)),
        ((1, 4, 3), (5, 3, 2)),
        ((6, 5, 4, 3), (5, 3, 2)),
    ),
    *(((0, 3), (3, 2)), ((2, 0), (0, 3)), ((5, 1, 4, 3), (7, 3, 2)), ((4, 1), (1, 3)), ((1, 4), (4, 1))),
)
DOT_SHAPES = (*MATMUL_SHAPES[:8], ((5, 4, 3), (6, 3, 2)), ((), (3,)), ((2, 3), ()), ((0, 3), (3, 2)), ((2, 0), (0, 3)))
INNER_SHAPES = (((3,), (3,)), ((2, 3), (3,)), ((3,), (2, 3)), ((2, 3), (4, 3)), ((5, 2, 3), (4, 3)), ((), (3,)))
S = normal(3, 3) + 3 * np.eye(3)
BATCH = normal(2, 3, 3, seed=4) + 3 * np.eye(3)
C = complexes(3, 3) + 3 * np.eye(3)
POSITIVE = S @ S.T
HERMITIAN = C @ C.conj().T
TALL, WIDE = normal(4, 3), normal(3, 4)
EINSUMS = (
    *(
        ("ij,jk->ik", (2, 3), (3, 4)),
        ("ij,jk", (2, 3), (3, 4)),
        ("i,i->", (3,), (3,)),
        ("ii->i", (3, 3)),
        ("ii", (3, 3)),
    ),
    *(
        ("ij->", (2, 3)),
        ("ij->j", (2, 3)),
        ("ij->ji", (2, 3)),
        ("i,j->ij", (2,), (3,)),
        ("bij,bjk->bik", (2, 3, 2), (2, 2, 3)),
    ),
    *(("...ij,...jk->...ik", (2, 2, 3), (3, 2)), ("i...->...i", (2, 3, 2)), ("ij,ij,ij->i", (2, 3), (2, 3), (2, 3))),
    *(("ij, jk -> k", (2, 3), (3, 4)), ("...,...", (2, 3), (3,)), ("iij->j", (2, 2, 3)), ("ij,kj->ki", (2, 3), (4, 3))),
    *(("i,jk->j", (3,), (2, 2)), ("a...b,b->...a", (2, 3, 4), (4,)), (",i->i", (), (3,)), ("ij,j->i", (2, 3), (1,))),
)
ORDERS = (None, 2, 1, np.inf, -np.inf, 3, 2.5, -1, 0)
MATRIX_ORDERS = (None, "fro", "nuc", 1, -1, np.inf, -np.inf, 2, -2)


def products():
    for f in (np.matmul, operator.matmul, np.linalg.matmul):
        usable = [s for s in MATMUL_SHAPES if f is not np.linalg.matmul or min(map(len, s)) > 1]
        yield from (Case(f, normal(*a), normal(*b, seed=1)) for a, b in usable)
        yield from (Case(f, complexes(*a), normal(*b)) for a, b in usable[:8])
        yield from (Case(f, normal(*a), complexes(*b)) for a, b in usable[:8])
        yield Case(f, single(2, 3), single(3, 2))
    for f in (np.dot, np.ndarray.dot):
        yield from (Case(f, normal(*a), normal(*b, seed=1)) for a, b in DOT_SHAPES)
        yield from (Case(f, complexes(*a), normal(*b)) for a, b in DOT_SHAPES[:9])
        yield from (Case(f, normal(*a), complexes(*b)) for a, b in DOT_SHAPES[:9])
        yield Case(f, single(2, 3), normal(3, 2))
    for f in (np.inner, np.outer):
        yield from (Case(f, normal(*a), normal(*b, seed=1)) for a, b in INNER_SHAPES)
        yield from (Case(f, complexes(*a), normal(*b)) for a, b in INNER_SHAPES[:5])
    for f in (np.dot, np.inner, np.outer, np.vdot, np.kron):
        yield from (Case(f, x, y) for x, y in (([1.0, 2.0], [3.0, 4.5]), (normal(2), [1.0, 2.0]), (2.0, 1.5)))
    yield from (Case(np.ndarray.dot, normal(2), y) for y in ([1.0, 2.0], [[1.0, 2.0], [0.5, -1.0]], 1.5))
    yield from (Case(np.matmul, x, y) for x, y in (([1.0, 2.0], [3.0, 4.5]), (normal(2, 2), [1.0, 2.0])))
    yield from (Case(operator.matmul, x, y) for x, y in ((normal(2, 2), [1.0, 2.0]), ((1.0, 2.0), normal(2, 2))))


CASES = [
    *products(),
    Case(np.vdot, normal(2, 3), normal(6)),
    Case(np.vdot, complexes(3), complexes(1, 3, seed=3)),
    *(Case(np.vdot, x, y) for x in (normal(2, 2), complexes(2, 2)) for y in (normal(2, 2), complexes(2, 2, seed=3))),
    *(Case(f, normal(2, 3), complexes(3)) for f in (np.vecdot, np.linalg.vecdot)),
    *(Case(f, complexes(4, 3), complexes(4, 3, seed=2), axis=0) for f in (np.vecdot, np.linalg.vecdot)),
    *(Case(f, normal(3), normal(3, 5, seed=1), axis=0) for f in (np.vecdot, np.linalg.vecdot)),
    Case(np.linalg.outer, complexes(3), normal(2)),
    *(
        Case(f, normal(2, 3, 4), normal(4, 3, 2, seed=1), axes=axes)
        for f in (np.tensordot, np.linalg.tensordot)
        for axes in (0, 1, [[1, 2], [1, 0]], ([-1, 0], [0, 2]))
    ),
    Case(np.tensordot, normal(2, 3), normal(2, 3)),
    Case(np.tensordot, complexes(2, 3), complexes(3, 2), axes=1),
    Case(np.tensordot, normal(3), normal(3), axes=(0, 0)),
    *(Case(np.einsum, text, *(normal(*s, seed=i) for i, s in enumerate(shapes))) for text, *shapes in EINSUMS),
    Case(np.einsum, "ij,jk->ik", complexes(2, 3), normal(3, 2), optimize=True),
    Case(np.einsum, "i,i->", [1.0, 2.0], normal(2)),
    *(
        Case(np.kron, normal(*a), normal(*b, seed=1))
        for a, b in (((2, 3), (3, 2)), ((2,), (3, 2)), ((2, 1, 2), (3,)), ((), (2,)))
    ),
    Case(np.kron, complexes(2), complexes(2, seed=3)),
    *(Case(np.cross, normal(*a), normal(*b, seed=1)) for a, b in (((3,), (3,)), ((4, 3), (3,)), ((3,), (2, 4, 3)))),
    Case(np.cross, normal(3, 4), normal(2, 4, 3), axisa=0, axisc=0),
    Case(np.cross, normal(3, 4), normal(3, 4, seed=1), axis=0),
    Case(np.cross, complexes(3), complexes(3, seed=2)),
    Case(np.cross, [1.0, 2.0, 3.0], (0.5, 0.25, -1.0)),
    Case(np.linalg.cross, normal(3, 4), normal(3, 4, seed=1), axis=0),
    Case(np.linalg.cross, complexes(2, 3), normal(3)),
    *(Case(f, normal(3), normal(3, 5, seed=1), axis=0) for f in (np.cross, np.linalg.cross)),
    *(
        Case(f, x)
        for f in (np.linalg.inv, np.linalg.det)
        for x in (S, BATCH, C, [[3.0, 1.0], [0.5, 2.0]], S.astype(np.float32))
    ),
    *(
        Case(np.linalg.det, x, tolerances={"atol": 1e-6})
        for x in (np.diag([1.0, 2.0, 0.0]), np.ones((1, 1)), normal(0, 2, 2))
    ),
    *(Case(np.linalg.solve, a, b) for a in (S, C) for b in (normal(3), normal(3, 2), complexes(3, 2))),
    *(Case(np.linalg.solve, a, b) for a, b in ((BATCH, normal(2, 3, 1)), (BATCH, normal(3)), (S, normal(4, 3, 2)))),
    Case(np.linalg.solve, [[3.0, 1.0], [0.5, 2.0]], [1.0, 2.0]),
    *(Case(np.linalg.slogdet, x) for x in (S, BATCH, C, -np.eye(3) - 0.1 * S)),
    *(Case(np.linalg.matrix_power, x, n=n) for x in (S, BATCH, C) for n in (-3, -1, 0, 1, 2, 5)),
    *(Case(np.linalg.multi_dot, [normal(2, 3), normal(3, 4), normal(4, 5), normal(5, 1)][:n]) for n in (2, 3, 4)),
    *(Case(np.linalg.multi_dot, x) for x in ((normal(3), normal(3, 2), normal(2)), [complexes(3), S, normal(3, 2)])),
    *(Case(np.linalg.pinv, x) for x in (TALL, WIDE, BATCH, complexes(4, 2), S)),
    *(
        Case(np.linalg.cholesky, x, upper=u)
        for x in (POSITIVE, HERMITIAN, np.stack([POSITIVE, 2 * POSITIVE]))
        for u in (False, True)
    ),
    *(Case(np.linalg.eigvalsh, x, u) for x in (POSITIVE, HERMITIAN, BATCH) for u in "LU"),
    *(Case(np.linalg.eigh, x, u) for x in (POSITIVE, BATCH) for u in "LU"),
    *(Case(np.linalg.svdvals, x) for x in (TALL, WIDE, BATCH, complexes(4, 2))),
    *(Case(np.linalg.svd, x, compute_uv=False) for x in (TALL, WIDE, BATCH, complexes(4, 2))),
    *(Case(np.linalg.svd, x, full_matrices=False) for x in (TALL, WIDE, BATCH)),
    Case(np.linalg.svd, S),
    *(Case(np.linalg.qr, x) for x in (TALL, WIDE, BATCH, S, np.stack([WIDE, 2.0 * WIDE**2]), complexes(4, 2))),
    *(Case(np.linalg.qr, x, mode) for x in (TALL, WIDE) for mode in ("r", "reduced")),
    *(Case(np.linalg.qr, x, "complete") for x in (WIDE, S)),
    *(Case(_umath_linalg.inv, x) for x in (S, BATCH, C)),
    *(Case(np.linalg.eigvals, x, layouts=False) for x in (normal(3, 3), C, BATCH)),
    Case(np.linalg.eigvals, POSITIVE + np.diag([0.0, 3.0, 9.0]) + 0.1 * S, layouts=False),
    *(Case(np.linalg.norm, x, ord) for x in (normal(5), complexes(4)) for ord in ORDERS),
    *(Case(np.linalg.norm, x, ord) for x in (TALL, S, complexes(2, 3)) for ord in MATRIX_ORDERS),
    *(
        Case(np.linalg.norm, normal(2, 3, 4), ord, axis=1, keepdims=k)
        for ord in (None, 1, np.inf, 3)
        for k in (False, True)
    ),
    *(
        Case(np.linalg.norm, normal(2, 3, 4), ord, axis=(2, 0), keepdims=k)
        for ord in MATRIX_ORDERS
        for k in (False, True)
    ),
    *(
        Case(np.linalg.norm, x)
        for x in (normal(2, 3, 4), [3.0, 4.0], (3.0, 4.5), single(3), np.array([3, 4]), normal(1))
    ),
    *(
        Case(np.linalg.vector_norm, normal(2, 3, 4), axis=a, ord=o)
        for a in (None, 0, (0, 2))
        for o in (1, 2, np.inf, 3)
    ),
    *(
        Case(np.linalg.matrix_norm, BATCH, ord=o, keepdims=k)
        for o in ("fro", "nuc", 1, 2, -np.inf)
        for k in (False, True)
    ),
]


@cases(CASES)
def test_rule(case):
    check(case)


@pytest.mark.parametrize(("rows", "columns"), [(5, 3), (3, 5), (3, 3)])
@pytest.mark.parametrize("b", [1, 2])
def test_least_squares(rows, columns, b):
    """Solutions, residuals and singular values; the rank is a constant."""

    def solution(a, b):
        x, residuals, _, values = np.linalg.lstsq(a, b)
        return x, residuals, values

    rule = registry.rule(np.linalg.lstsq, (np.ndarray, np.ndarray))

    def solution_rule(a, b):
        value, back = rule(a, b)

        def solution_pullback(ȳ):
            return back((ȳ[0], ȳ[1], None, ȳ[2]))[:2]

        return (value[0], value[1], value[3]), solution_pullback

    registry.add(solution, (), solution_rule)
    check_rule(solution, normal(rows, columns), normal(*(rows, 2)[:b], seed=1))


def reconstructed(function, combine):
    """A function of a factorisation that does not depend on its free phases, and its rule."""

    def invariant(a):
        return combine(*function(a))

    rule = registry.rule(function, (np.ndarray,))

    def invariant_rule(a):
        value, back = rule(a)

        def invariant_pullback(ȳ):
            return back(weights(ȳ, value))[:1]

        return combine(*value), invariant_pullback

    def weights(ȳ, value):
        cotangents = []
        for i, part in enumerate(value):
            c = np.zeros(part.shape, complex)
            for place in np.ndindex(part.shape):
                for unit in (1.0, 1j) if np.iscomplexobj(part) else (1.0,):
                    step = np.zeros(part.shape, part.dtype)
                    step[place] = 1e-6 * unit
                    ends = [combine(*value[:i], part + s * step, *value[i + 1 :]) for s in (1, -1)]
                    c[place] += unit * np.sum(ȳ * (ends[0] - ends[1]) / 2e-6)
            cotangents.append(c if np.iscomplexobj(part) else c.real)
        return cotangents

    registry.add(invariant, (), invariant_rule)
    return invariant


WEIGHT = normal(3, 3, seed=9)


def of_vectors(values, vectors):
    return np.abs(np.sum(WEIGHT[:, : vectors.shape[-1]] * vectors, 0)) ** 2 * np.real(values)


def of_svd(u, s, vh):
    return (
        np.real(np.sum(WEIGHT[:, :2] * np.matmul(u * s**2, vh)[:3, :2]))
        + np.sum(np.abs(u) ** 4)
        + np.sum(np.abs(vh) ** 4)
    )


def of_qr(q, r):
    return np.real(np.sum(WEIGHT * q[:3] * np.diag(r))) + np.sum(np.abs(r) ** 4)


def svd(a):
    return np.linalg.svd(a, False)


SVD_RULE = registry.rule(np.linalg.svd, (np.ndarray,))
registry.add(svd, (), lambda a: SVD_RULE(a, False))


@pytest.mark.parametrize(
    ("function", "combine", "x"),
    [
        (np.linalg.eigh, of_vectors, HERMITIAN),
        (np.linalg.eigh, of_vectors, POSITIVE),
        (svd, of_svd, complexes(4, 2)),
        (svd, of_svd, complexes(2, 2)),
        (np.linalg.eig, of_vectors, POSITIVE + 0.2 * S),
        (np.linalg.eig, of_vectors, C),
        (np.linalg.qr, of_qr, complexes(4, 3)),
    ],
)
def test_factors_up_to_their_phases(function, combine, x):
    if combine is of_svd and x.shape[0] == 2:
        x = complexes(3, 2)
    check_rule(reconstructed(function, combine), x, rtol=1e-4)


ANY = normal(4, 4, seed=3)
PARTS = complexes(4, 4, seed=5)


@pytest.mark.parametrize("a", [ANY, ANY + 2 * normal(4, 4, seed=7).T, ANY[:2, :2], S])
def test_eigenvectors_have_phases(a):
    part = PARTS[: len(a), : len(a)]

    def function(a):
        w, v = np.linalg.eig(a)
        return np.sum(part.real * np.real(v) + part.imag * np.imag(v)) + np.sum(part[0].real * np.imag(w))

    np.testing.assert_allclose(gradient(function, a)[0], slopes(function, a), rtol=1e-5, atol=1e-7)


def slopes(function, a, step=1e-6):
    found = np.zeros(a.shape)
    for place in np.ndindex(a.shape):
        moved = np.zeros(a.shape)
        moved[place] = step
        found[place] = (function(a + moved) - function(a - moved)) / (2 * step)
    return found


def rotation(a):
    """The rotation next to a matrix, whose last singular value may be 0."""
    u, _, vh = np.linalg.svd(a)
    r = np.dot(u, vh)
    if np.linalg.det(r) < 0.0:
        r -= np.outer(u[:, 2], vh[2] * 2.0)
    return np.sum(WEIGHT * r)


@pytest.mark.parametrize("last", [0.5, 1e-9, 1e-17, 0.0])
def test_singular_vectors_of_a_singular_matrix(last):
    u, _, vh = np.linalg.svd(S)
    a = (u * np.array([3.0, 1.0, last])) @ vh
    np.testing.assert_allclose(gradient(rotation, a)[0], slopes(rotation, a), rtol=1e-5, atol=1e-7)


def outer_vectors(a):
    u, s, vh = np.linalg.svd(a)
    return s[0] + np.sum(WEIGHT[0] * u[:, 0]) * np.sum(WEIGHT[1] * vh[0])


def largest_of_eig(a):
    w, v = np.linalg.eig(a)
    i = np.argmax(np.abs(w))
    return np.real(w[i]) + np.sum(WEIGHT[0] * np.real(v)[:, i])


def largest_of_eigh(a):
    w, v = np.linalg.eigh(a + a.T)
    return w[-1] + np.sum(WEIGHT[0] * v[:, -1]) ** 2


DEGENERATE = np.outer([1.0, 2.0, 3.0], [3.0, -1.0, 2.0])


REPEATED = np.diag([2.0, 2.0, 5.0])


@pytest.mark.parametrize(
    ("function", "a"), [(outer_vectors, DEGENERATE), (largest_of_eig, REPEATED), (largest_of_eigh, REPEATED)]
)
def test_what_is_not_asked_of_vectors_of_equal_values(function, a):
    np.testing.assert_allclose(gradient(function, a)[0], slopes(function, a), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("close", [0.0, 2e-16])
def test_vectors_of_equal_values_say_so(close):
    a = np.diag([2.0, 2.0 + 2 * close, 5.0])
    for function, place in ((np.linalg.eigh, 1), (np.linalg.eig, 1), (np.linalg.svd, 0), (np.linalg.svd, 2)):
        with pytest.raises(NotDifferentiable, match=f"np.linalg.{function.__name__} returns for equal"):
            gradient(lambda a: np.sum(WEIGHT * np.real(function(a)[place])), a)  # noqa: B023


@pytest.mark.parametrize("module", [np.linalg, linalg], ids=["numpy", "scipy"])
def test_directions_in_which_values_are_equal(module):
    """Values have tangents, vectors an error that names who returned them, as have second derivatives of values."""
    a, direction = np.diag([1.0, 1.0, 2.0]), normal(3, 3) + normal(3, 3).T
    for function, values, vectors in ((module.eigh, 0, 1), (module.eig, 0, 1), (module.svd, 1, 0)):

        def cubes(a, function=function, values=values):
            return np.sum(np.real(function(a)[values]) ** 3)

        def component(a, function=function, vectors=vectors):
            return np.sum(np.real(function(a)[vectors][0]))

        np.testing.assert_allclose(jvp(cubes, (a,), (direction,))[1], 3.0 * np.trace(a @ a @ direction))
        for failing in (lambda: jvp(component, (a,), (direction,)), lambda: hvp(cubes, (a,), (direction,))):
            with pytest.raises(NotDifferentiable, match=rf"linalg.{function.__name__} returns for equal .*Remedies"):
                failing()


def cotangent(function, x, ȳ=1.0, **options):
    _, pullback = registry.rule(function, (type(x),))(x, **options)
    return pullback(ȳ)[0]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("generic", [False, True])
@pytest.mark.parametrize(
    "shape", [(3000, 20, 20), (40, 90, 3), (31, 90, 3), (129, 800, 10), (60000, 9, 2), (200, 300, 40)]
)
def test_cotangents_of_long_products(shape, order, generic, monkeypatch):
    if generic:
        monkeypatch.setenv("AUTODIFF_GENERIC", "1")
    rows, inner, columns = shape
    x, w, weights = np.asarray(normal(rows, inner), order=order), normal(inner, columns), normal(rows, columns)
    for product in (np.dot, operator.matmul):
        (found,) = gradient(lambda w: np.sum(product(x, w) * weights), w)  # noqa: B023
        np.testing.assert_allclose(found, x.T @ weights, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("order", [None, 1, 2, np.inf, 3])
def test_norms_at_zero_are_finite(order):
    c = cotangent(np.linalg.norm, np.zeros(3), ord=order)
    assert np.isfinite(c).all()
    assert np.abs(c).sum() == 0.0


def test_a_rank_one_determinant_has_no_derivative_of_its_own():
    assert np.abs(cotangent(np.linalg.det, np.ones((3, 3)))).max() < 1e-12


RANK_TWO = normal(3, 2) @ normal(2, 3, seed=1)


@pytest.mark.parametrize("det", [np.linalg.det, linalg.det])
@pytest.mark.parametrize(
    "a",
    [
        RANK_TWO,  # its determinant is rounding
        *(np.zeros((2, 2)), np.diag([2.0, 2.0, 0.0]), np.eye(4), normal(2, 2, 2)),
        *(np.stack([RANK_TWO, S]), np.diag([0.1, 1.0, 10.0]) @ S, np.zeros((1, 1))),
    ],
)
def test_second_derivatives_of_determinants(det, a):
    check_orders(lambda a: det(a) + np.sum(a, (-1, -2)), a)


def test_second_derivatives_of_determinants_of_singular_complex_matrices():
    shift = complexes(3, 3)
    check_orders(lambda x: np.real(np.linalg.det((x + 1j * x[:, ::-1]) @ shift)), RANK_TWO)


@pytest.mark.parametrize("a", [S, BATCH, C, RANK_TWO, C * [1.0, 1.0, 0.0]])
def test_adjugates(a):
    check_rule(adjugate, a, np.linalg.det(a), differences=lambda a, y: adjugate(a, np.linalg.det(a)))


def test_what_is_not_determined_does_not_change_in_a_known_way():
    with pytest.raises(NotDifferentiable, match="completes a basis are not determined"):
        check_rule(none_of, "np.linalg.svd", np.zeros((2, 2)))


@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (2, 3, 4)])
@pytest.mark.parametrize("function", [np.linalg.svd, linalg.svd])
def test_full_singular_vectors_are_determined_up_to_one(function, shape):
    part, (rows, columns) = normal(4, 4, seed=3), shape[-2:]

    def of_all(a):
        u, s, vh = function(a)
        return np.sum(u * part[:rows, :rows]) * np.sum(vh * part[:columns, :columns]) + np.sum(s)

    a = normal(*shape, seed=2)
    np.testing.assert_allclose(gradient(of_all, a)[0], slopes(of_all, a), rtol=1e-5, atol=1e-7)


def test_second_derivatives_of_null_vectors():
    check_orders(lambda a: np.sum(WEIGHT[0, :3] * np.linalg.svd(a)[2][-1]) ** 2, normal(2, 3, seed=2))
    across = np.cross(np.linalg.svd(S[:2])[2][-1], [1.0, 2.0, 3.0])

    def at_its_least(a):
        return np.sum(across * np.linalg.svd(a)[2][-1]) ** 2

    a, direction = S[:2], WEIGHT[:2]
    expected = (
        gradient(at_its_least, a + 1e-6 * direction)[0] - gradient(at_its_least, a - 1e-6 * direction)[0]
    ) / 2e-6
    np.testing.assert_allclose(hvp(at_its_least, (a,), (direction,))[0], expected, rtol=1e-5)


def test_full_singular_vectors_say_so():
    y, pullback = registry.rule(np.linalg.svd, (np.ndarray,))(normal(5, 3))
    assert pullback((None, np.ones(3), None))[0].shape == (5, 3)
    first = np.diag([1.0, 2.0, 3.0, 0.0, 0.0])
    thin = registry.rule(np.linalg.svd, (np.ndarray,))(normal(5, 3), False)[1]
    np.testing.assert_allclose(pullback((first, None, None))[0], thin((first[:, :3], None, None))[0])
    with pytest.raises(NotDifferentiable, match="full_matrices=False"):
        pullback((y[0], None, None))


def test_null_vectors_of_a_singular_matrix_say_so():
    for a in (np.outer([1.0, 2.0], [1.0, 3.0, 1.0]), np.zeros((2, 3))):
        with pytest.raises(NotDifferentiable, match="full rank"):
            gradient(lambda a: np.linalg.svd(a)[2][-1, 0], a)


def test_products_of_positive_floats_keep_single_precision():
    x = positive(3).astype(np.float32)
    assert cotangent(np.linalg.norm, x).dtype == np.float32


def test_columns_that_complete_a_basis_have_no_derivative_and_those_before_have():
    def first(a):
        q, r = np.linalg.qr(a, "complete")
        return np.sum(q[:, :2] * TALL[:, :2]) + np.sum(r**2 * r)

    assert np.shape(TALL)[0] > 2
    check_gradient(first, TALL[:, :2])
    with pytest.raises(NotDifferentiable, match="completes a basis"):
        gradient(lambda a: np.linalg.qr(a, "complete")[0][0, -1], TALL[:, :2])
    with pytest.raises(NotDifferentiable, match="raw"):
        gradient(lambda a: np.linalg.qr(a, "raw")[0][0, 0], TALL)


@pytest.mark.parametrize("p", [None, 2, -2, 1, -1, np.inf, -np.inf, "fro", "nuc"])
def test_condition_numbers(p):
    check_orders(lambda a: np.linalg.cond(a, p), S + 3.0 * np.eye(len(S)))


@pytest.mark.parametrize(
    "f",
    [
        np.linalg.det,
        lambda a: np.linalg.lstsq(a, np.ones(0))[0].sum(),
        lambda a: np.linalg.tensorsolve(a, np.ones(0)).sum(),
    ],
)
def test_empty_matrices(f):
    assert gradient(f, np.zeros((0, 0)))[0].shape == (0, 0)


@pytest.mark.parametrize("order", [2, "nuc"])
def test_norms_of_empty_matrices_as_this_numpy_has_them(order):
    empty = np.zeros((0, 0))
    try:
        np.linalg.norm(empty, order)
    except ValueError:
        with pytest.raises(ValueError, match="zero-size"):
            gradient(lambda a: np.linalg.norm(a, order), empty)
    else:
        assert gradient(lambda a: np.linalg.norm(a, order), empty)[0].shape == (0, 0)


def test_rules_with_several_results():
    square = S + 3.0 * np.eye(len(S))
    check_rule(np.linalg.eig, square, second_order=True)
    check_rule(np.linalg.lstsq, TALL, normal(len(TALL), 2), None, second_order=True)
    check_rule(np.linalg.lstsq, TALL, normal(len(TALL)), None)
    check_rule(solved, square, normal(len(S), 2), second_order=True)


def test_least_squares_of_lists():
    def f(x):
        return np.linalg.lstsq([[x, 1], [2, x], [1.0, 1.0]], [x, 1.0, 2 * x], rcond=None)[0][0]

    def of_arrays(x):
        rows = np.array([[x, 1.0], [2.0, x], [1.0, 1.0]])
        return np.linalg.lstsq(rows, np.array([x, 1.0, 2 * x]), rcond=None)[0][0]

    assert hvp(f, (0.7,), (1.0,)) == pytest.approx(hvp(of_arrays, (0.7,), (1.0,)))


@pytest.mark.parametrize("size", [3, 40])
def test_inverses_of_triangles_read_one(size):
    low = normal(size, size) / size + 2.0 * np.eye(size)
    assert inverse_of_lower(low) == pytest.approx(np.linalg.inv(np.tril(low)))
    check_rule(inverse_of_lower, low, second_order=True)


def test_vectors_of_values_that_are_apart():
    check_rule(determined, "np.linalg.eigh", normal(3, 3), np.array([1.0, 2.0, 4.0]))


EQUAL = {
    "eigvals": lambda a: np.sum(np.real(np.linalg.eigvals(a)) ** 3),
    "eig": lambda a: np.sum(np.real(np.linalg.eig(a)[0]) ** 3),
    "eigvals with slopes of 0": lambda a: np.sum((np.real(np.linalg.eigvals(a)) - 2.0) ** 2),
    "eigvalsh with slopes of 0": lambda a: np.sum((np.linalg.eigvalsh(a) - 2.0) ** 2),
    "eigh with slopes of 0": lambda a: np.sum((np.linalg.eigh(a)[0] - 2.0) ** 2),
    "svd with slopes of 0": lambda a: np.sum((np.linalg.svd(a)[1] - 2.0) ** 2),
    "svdvals with slopes of 0": lambda a: np.sum((np.linalg.svd(a, compute_uv=False) - 2.0) ** 2),
    "scipy's eigvals": lambda a: np.sum((np.real(linalg.eigvals(a)) - 2.0) ** 2),
    "scipy's eigvalsh": lambda a: np.sum((linalg.eigvalsh(a) - 2.0) ** 2),
    "scipy's eigh of two": lambda a: np.sum((linalg.eigh(a, np.eye(3))[0] - 2.0) ** 2),
    "scipy's eig of two": lambda a: np.sum((np.real(linalg.eig(a, np.eye(3), right=False)) - 2.0) ** 2),
    "scipy's svdvals": lambda a: np.sum((linalg.svdvals(a) - 2.0) ** 2),
}


@pytest.mark.parametrize("f", EQUAL.values(), ids=EQUAL)
def test_second_derivatives_at_equal_values_are_errors(f):
    a, way = 2.0 * np.eye(3), np.array([[0.3, 0.1, 0.2], [0.1, -0.4, 0.5], [0.2, 0.5, 0.6]])
    expected = (f(a + 1e-5 * way) - f(a - 1e-5 * way)) / 2e-5
    assert np.sum(gradient(f, a)[0] * way) == pytest.approx(expected, abs=1e-6)
    with pytest.raises(NotDifferentiable, match="are not determined"):
        hvp(f, (a,), (way,))


def complex_matrix(t):
    return np.array([[t + 1j * t * t, 1j * t, 0.3], [1.0, t * 2 - 1j, 1j]])


NORMS = [
    *(lambda a, order=order: np.linalg.norm(a, order) for order in (None, "fro", "nuc", 1, 2, np.inf)),
    *(lambda a, order=order: np.sum(np.linalg.norm(a, order, axis=1)) for order in (None, 1, 2, 3, np.inf)),
    *(lambda a: np.linalg.norm(a[0], axis=0, keepdims=True)[0], lambda a: np.linalg.norm(a, axis=(0, 1))),
]


@pytest.mark.parametrize("norm", NORMS)
def test_tangents_of_norms_of_complex_arrays(norm):
    def f(t):
        return norm(complex_matrix(t))

    expected = (f(0.7 + 1e-6) - f(0.7 - 1e-6)) / 2e-6
    assert jvp(f, (0.7,), (1.0,))[1] == pytest.approx(expected, rel=1e-6)
    assert gradient(f, 0.7)[0] == pytest.approx(expected, rel=1e-6)


def turned(a, b):
    return np.sum(np.cross(a, np.cross(a, b) * b) ** 2)


@pytest.mark.parametrize(("a", "b"), [((3,), (3,)), ((4, 3), (4, 3)), ((4, 3), (3,)), ((2, 4, 3), (2, 4, 3))])
def test_vectors_in_space(a, b):
    check_orders(turned, normal(*a), normal(*b, seed=1))


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) >= "2.5.0", reason="NumPy has none of two components any more")
@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors:DeprecationWarning")
@pytest.mark.parametrize(("a", "b"), [((2,), (2,)), ((4, 2), (3,)), ((3,), (2,))])
def test_cross_products_of_vectors_in_a_plane(a, b):
    check_rule(np.cross, normal(*a), normal(*b, seed=1))


@pytest.mark.parametrize("shape", [(4, 3), (3, 4)])
def test_singular_vectors_without_a_cotangent_of_a_matrix_of_zeros(shape):
    def shrunk(a):
        u, s, vh = np.linalg.svd(a, full_matrices=False)
        return np.sum(u @ (np.maximum(s - 0.5, 0.0)[:, None] * vh))

    assert not np.any(gradient(shrunk, np.zeros(shape))[0])


def solved_by_gufuncs(a, b):
    # As array_api_compat solves.
    with np.errstate(invalid="raise", over="ignore"):
        x = np.linalg._umath_linalg.solve(a, b, signature="dd->d")
    return np.sum(x**2) + np.sum(np.linalg._umath_linalg.solve1(np.stack([a, 2.0 * a]), b[:2]) ** 3)


def test_the_gufuncs_behind_solve():
    check_gradient(solved_by_gufuncs, np.array([[2.0, 1.0], [0.3, 1.5]]), np.array([[1.0, 2.0], [3.0, 4.0]]))
