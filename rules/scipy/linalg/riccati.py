"""Algebraic Riccati equations: their solutions are differentiated implicitly.

With the gain ``k`` and ``c = a - b k``, a variation of the solution solves a Lyapunov equation whose other side comes
of the variations of the matrices; so a cotangent ``x̄`` goes through the adjoint equation, whose solution is ``λ``.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from autodiff_hook.errors import NotDifferentiable
from autodiff_rules.numpy._shared import array_rrule, unbroadcast
from autodiff_rules.numpy.linalg import adjoint

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


@array_rrule(linalg.solve_continuous_are, 4)
def continuous_rule(a, b, q, r, e=None, s=None, balanced=True):
    """Of ``eᴴ x a + aᴴ x e - (eᴴ x b + s) r⁻¹ (bᴴ x e + sᴴ) + q = 0``."""
    x = linalg.solve_continuous_are(a, b, q, r, e, s, balanced)

    def continuous_pullback(x̄):
        xe = x if e is None else np.matmul(x, e)
        given = np.matmul(adjoint(b), xe)
        k = np.linalg.solve(r, given if s is None else given + adjoint(s))
        require_solved(product(adjoint(xe), a), product(adjoint(a), xe), -product(adjoint(k), r, k), q)
        c = a - np.matmul(b, k)
        λ = linalg.solve_continuous_lyapunov(over(e, c), within(e, x̄))
        ā = -2.0 * np.matmul(xe, λ)
        ē = None if e is None else unbroadcast(-2.0 * product(x, c, λ), e)
        return (*shared(a, b, q, r, ā, k, λ), ē, None if s is None else s_cotangent(s, λ, k), None)

    return x, continuous_pullback


@array_rrule(linalg.solve_discrete_are, 4)
def discrete_rule(a, b, q, r, e=None, s=None, balanced=True):
    """Of ``aᴴ x a - eᴴ x e - (aᴴ x b + s) (r + bᴴ x b)⁻¹ (bᴴ x a + sᴴ) + q = 0``."""
    x = linalg.solve_discrete_are(a, b, q, r, e, s, balanced)

    def discrete_pullback(x̄):
        given = product(adjoint(b), x, a)
        inner = r + product(adjoint(b), x, b)
        k = np.linalg.solve(inner, given if s is None else given + adjoint(s))
        before = x if e is None else product(adjoint(e), x, e)
        require_solved(product(adjoint(a), x, a), -before, -product(adjoint(k), inner, k), q)
        c = a - np.matmul(b, k)
        λ = linalg.solve_discrete_lyapunov(over(e, c), -within(e, x̄))
        ā = -2.0 * product(x, c, λ)
        ē = None if e is None else unbroadcast(2.0 * product(x, e, λ), e)
        return (*shared(a, b, q, r, ā, k, λ), ē, None if s is None else s_cotangent(s, λ, k), None)

    return x, discrete_pullback


def require_solved(*terms):
    """Refuse what is no solution: SciPy returns such for complex matrices beside an ``e``."""
    rest = np.max(np.abs(sum(terms)))
    if not rest <= TOLERANCE * max(np.max(np.abs(x)) for x in terms):
        raise NotDifferentiable("what scipy.linalg has returned does not solve the Riccati equation: no derivative")


def shared(a, b, q, r, ā, k, λ):
    """The cotangents of ``a``, ``b``, ``q`` and ``r``."""
    b̄, r̄ = -np.matmul(ā, adjoint(k)), -product(k, λ, adjoint(k))
    return unbroadcast(ā, a), unbroadcast(b̄, b), unbroadcast(-λ, q), unbroadcast(r̄, r)


def s_cotangent(s, λ, k):
    return unbroadcast(2.0 * np.matmul(λ, adjoint(k)), s)
