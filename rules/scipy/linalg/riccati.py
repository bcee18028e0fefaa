"""Algebraic Riccati equations: their solutions are differentiated implicitly.

With the gain ``k`` and ``c = a - b k``, a variation of the solution solves a Lyapunov equation whose other side comes
of the variations of the matrices; so a cotangent ``x̄`` goes through the adjoint equation, whose solution is ``λ``.
"""

import numpy as np
from scipy import linalg

from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.extend import cotangents, effects, fresh
from autodiff_rules.numpy._shared import unbroadcast
from autodiff_rules.numpy.linalg import adjoint

fresh(linalg.solve_continuous_are, linalg.solve_discrete_are)
TOLERANCE = 1e-6


def product(*factors):
    """The product of matrices, from the left to the right."""
    result = factors[0]
    for factor in factors[1:]:
        result = np.matmul(result, factor)
    return result


def within(e, x̄):
    """The hermitian part of a cotangent, between the inverses of ``e``."""
    c = 0.5 * (x̄ + adjoint(x̄))
    return c if e is None else np.linalg.solve(e, adjoint(np.linalg.solve(e, c)))


def over(e, c):
    return c if e is None else np.linalg.solve(e, c)


EQUATION = "a, b, q, r, e=None, s=None, balanced=True"


@cotangents(linalg.solve_continuous_are, EQUATION, 4, "a, b, q, r, e, s")
def continuous_cotangents(ȳ, y, a, b, q, r, e, s):
    """Of ``eᴴ y a + aᴴ y e - (eᴴ y b + s) r⁻¹ (bᴴ y e + sᴴ) + q = 0``."""
    ye = y if e is None else np.matmul(y, e)
    given = np.matmul(adjoint(b), ye)
    k = np.linalg.solve(r, given if s is None else given + adjoint(s))
    require_solved(product(adjoint(ye), a), product(adjoint(a), ye), -product(adjoint(k), r, k), q)
    c = a - np.matmul(b, k)
    λ = linalg.solve_continuous_lyapunov(over(e, c), within(e, ȳ))
    ē = None if e is None else unbroadcast(-2.0 * product(y, c, λ), e)
    return (*shared(a, b, q, r, -2.0 * np.matmul(ye, λ), k, λ), ē, s_cotangent(s, λ, k))


@cotangents(linalg.solve_discrete_are, EQUATION, 4, "a, b, q, r, e, s")
def discrete_cotangents(ȳ, y, a, b, q, r, e, s):
    """Of ``aᴴ y a - eᴴ y e - (aᴴ y b + s) (r + bᴴ y b)⁻¹ (bᴴ y a + sᴴ) + q = 0``."""
    given = product(adjoint(b), y, a)
    inner = r + product(adjoint(b), y, b)
    k = np.linalg.solve(inner, given if s is None else given + adjoint(s))
    before = y if e is None else product(adjoint(e), y, e)
    require_solved(product(adjoint(a), y, a), -before, -product(adjoint(k), inner, k), q)
    c = a - np.matmul(b, k)
    λ = linalg.solve_discrete_lyapunov(over(e, c), -within(e, ȳ))
    ē = None if e is None else unbroadcast(2.0 * product(y, e, λ), e)
    return (*shared(a, b, q, r, -2.0 * product(y, c, λ), k, λ), ē, s_cotangent(s, λ, k))


def require_solved(*terms):
    """Refuse what is no solution: SciPy returns such for complex matrices beside an ``e``."""
    rest = np.max(np.abs(sum(terms)))
    if not rest <= TOLERANCE * max(np.max(np.abs(x)) for x in terms):
        raise NotDifferentiable("what scipy.linalg has returned does not solve the Riccati equation: no derivative")


effects(require_solved)


def shared(a, b, q, r, ā, k, λ):
    b̄, r̄ = -np.matmul(ā, adjoint(k)), -product(k, λ, adjoint(k))
    return unbroadcast(ā, a), unbroadcast(b̄, b), unbroadcast(-λ, q), unbroadcast(r̄, r)


def s_cotangent(s, λ, k):
    return None if s is None else unbroadcast(2.0 * np.matmul(λ, adjoint(k)), s)
