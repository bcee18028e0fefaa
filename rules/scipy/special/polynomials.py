"""Orthogonal polynomials with respect to their variable (DLMF 18.9.15 to 18.9.26)."""

import numpy as np
from scipy import special

from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.extend import elementwise, pure
from autodiff_rules._constants import IS_OF_INTEGERS, declare

IN_PARAMETERS = "an orthogonal polynomial with respect to its degree or parameters"


def polynomial(target, slope):
    """Declare a polynomial by the derivative with respect to x, the last parameter, a function of all of them."""
    *others, x = slope.__code__.co_varnames[: slope.__code__.co_argcount]
    elementwise(target, **dict.fromkeys(others, IN_PARAMETERS), **{x: slope})


def lower(n):
    """The degree of the derivative: any, where that is zero."""
    if np.any(np.logical_and(np.less(n, 0), np.equal(n, np.floor(n)))):
        raise NotDifferentiable("an orthogonal polynomial of a negative whole degree")
    return np.where(np.equal(n, 0), 0, np.subtract(n, 1))


def positive(n):
    """Whether there is a derivative."""
    return np.where(np.equal(n, 0), 0.0, 1.0)


def jacobi_x(n, alpha, beta, x):
    factor = 0.5 * (n + alpha + beta + 1.0) * positive(n)
    return factor * special.eval_jacobi(lower(n), alpha + 1.0, beta + 1.0, x)


polynomial(special.eval_legendre, lambda n, x: positive(n) * special.eval_gegenbauer(lower(n), 1.5, x))
polynomial(special.eval_chebyt, lambda n, x: n * special.eval_chebyu(np.subtract(n, 1), x))
polynomial(special.eval_chebyu, lambda n, x: 2.0 * positive(n) * special.eval_gegenbauer(lower(n), 2.0, x))
polynomial(special.eval_hermite, lambda n, x: 2.0 * n * special.eval_hermite(lower(n), x))
polynomial(special.eval_hermitenorm, lambda n, x: n * special.eval_hermitenorm(lower(n), x))
polynomial(special.eval_laguerre, lambda n, x: -positive(n) * special.eval_genlaguerre(lower(n), 1.0, x))
polynomial(
    special.eval_genlaguerre,
    lambda n, alpha, x: -positive(n) * special.eval_genlaguerre(lower(n), alpha + 1.0, x),
)
polynomial(
    special.eval_gegenbauer,
    lambda n, alpha, x: 2.0 * alpha * positive(n) * special.eval_gegenbauer(lower(n), alpha + 1.0, x),
)
polynomial(special.eval_jacobi, jacobi_x)

NODES = [
    getattr(special, f"roots_{name}")
    for name in """
        legendre chebyt chebyu chebyc chebys hermite hermitenorm laguerre sh_legendre sh_chebyt sh_chebyu
    """.split()
]
"""Nodes and weights of quadrature, of which nothing but how many there are is asked."""
declare(IS_OF_INTEGERS, *NODES)
pure(*NODES)
