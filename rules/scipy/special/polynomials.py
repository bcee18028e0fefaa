"""Orthogonal polynomials with respect to their variable (DLMF 18.9.15 to 18.9.26)."""

from __future__ import annotations

import numpy as np
from scipy import special

from autodiff_hook.errors import NotDifferentiable
from autodiff_rules.scipy._elementwise import binary, last_of_four, ternary

IN_PARAMETERS = "an orthogonal polynomial with respect to its degree or parameters"


def lower(n):
    """The degree of the derivative: any, where that is zero."""
    if np.any(np.logical_and(np.less(n, 0), np.equal(n, np.floor(n)))):
        raise NotDifferentiable("an orthogonal polynomial of a negative whole degree")
    return np.where(np.equal(n, 0), 0, np.subtract(n, 1))


def positive(n):
    """Whether there is a derivative."""
    return np.where(np.equal(n, 0), 0.0, 1.0)


def legendre_x(n, x, y):
    return positive(n) * special.eval_gegenbauer(lower(n), 1.5, x)


def chebyt_x(n, x, y):
    return n * special.eval_chebyu(np.subtract(n, 1), x)


def chebyu_x(n, x, y):
    return 2.0 * positive(n) * special.eval_gegenbauer(lower(n), 2.0, x)


def hermite_x(n, x, y):
    return 2.0 * n * special.eval_hermite(lower(n), x)


def hermitenorm_x(n, x, y):
    return n * special.eval_hermitenorm(lower(n), x)


def laguerre_x(n, x, y):
    return -positive(n) * special.eval_genlaguerre(lower(n), 1.0, x)


def genlaguerre_x(n, alpha, x, y):
    return -positive(n) * special.eval_genlaguerre(lower(n), alpha + 1.0, x)


def gegenbauer_x(n, alpha, x, y):
    return 2.0 * alpha * positive(n) * special.eval_gegenbauer(lower(n), alpha + 1.0, x)


def jacobi_x(n, alpha, beta, x, y):
    factor = 0.5 * (n + alpha + beta + 1.0) * positive(n)
    return factor * special.eval_jacobi(lower(n), alpha + 1.0, beta + 1.0, x)


binary(special.eval_legendre, IN_PARAMETERS, legendre_x)
binary(special.eval_chebyt, IN_PARAMETERS, chebyt_x)
binary(special.eval_chebyu, IN_PARAMETERS, chebyu_x)
binary(special.eval_hermite, IN_PARAMETERS, hermite_x)
binary(special.eval_hermitenorm, IN_PARAMETERS, hermitenorm_x)
binary(special.eval_laguerre, IN_PARAMETERS, laguerre_x)
ternary(special.eval_genlaguerre, IN_PARAMETERS, IN_PARAMETERS, genlaguerre_x)
ternary(special.eval_gegenbauer, IN_PARAMETERS, IN_PARAMETERS, gegenbauer_x)
last_of_four(special.eval_jacobi, IN_PARAMETERS, jacobi_x)
