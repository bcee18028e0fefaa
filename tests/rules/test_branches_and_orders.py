"""Formulas at their edges: branch cuts, orders that are not whole, matrices of which one triangle is read."""

from __future__ import annotations

import cmath

import numpy as np
import pytest
from scipy import special

from autodiff_hook import NotDifferentiable, gradient, jvp
from autodiff_hook.testing import check_rule


def require_derivative(function, x, h=1e-6):
    difference = (function(x + h) - function(x - h)) / (2 * h)
    assert gradient(function, x) == (pytest.approx(difference, rel=1e-4, abs=1e-6),)
    assert jvp(function, (x,), (1.0,))[1] == pytest.approx(difference, rel=1e-4, abs=1e-6)


CUTS = [
    *((1.3, 0.0, 1.0), (1.3, -0.0, 1.0), (-1.3, 0.0, 1.0), (-1.3, -0.0, 1.0), (-2.0, 0.0, 1.0), (-2.0, -0.0, 1.0)),
    *((0.0, 1.4, 1j), (-0.0, 1.4, 1j), (0.0, -1.4, 1j), (-0.0, -1.4, 1j), (0.3, 0.4, 1.0)),
]


@pytest.mark.parametrize("re, im, direction", CUTS)
@pytest.mark.parametrize(
    "function",
    [
        *(np.arcsin, np.arccos, np.arctan, np.arcsinh, np.arccosh, np.arctanh, np.log, np.sqrt, np.log1p),
        *(cmath.asin, cmath.acos, cmath.atan, cmath.asinh, cmath.acosh, cmath.atanh, cmath.log, cmath.sqrt),
    ],
)
def test_on_branch_cuts_and_off(function, re, im, direction):
    def along(t):
        z = complex(re + t, im) if direction == 1.0 else complex(re, im + t)
        w = function(z)
        return w.real * 0.7 + w.imag * 0.4

    require_derivative(along, 0.0)


ORDERS = (0, 1, 2, 5, 0.0, 1.0, 0.37, 0.9, -0.4, 1.5, 2.6)


def require_slope(function, *parameters, x):
    require_derivative(lambda x: function(*parameters, x) * 1.0, x)


@pytest.mark.filterwarnings("ignore:floating point number truncated")
@pytest.mark.parametrize("n", ORDERS)
def test_orthogonal_polynomials_and_functions_of_any_order(n):
    for polynomial in (special.eval_legendre, special.eval_chebyt, special.eval_chebyu, special.eval_laguerre):
        require_slope(polynomial, n, x=0.3)
    for polynomial in (special.eval_genlaguerre, special.eval_gegenbauer):
        require_slope(polynomial, n, 1.5, x=0.3)
    require_slope(special.eval_jacobi, n, 0.5, 0.3, x=0.3)
    if n == int(n) and n >= 0:
        for polynomial in (special.eval_hermite, special.eval_hermitenorm):
            require_slope(polynomial, int(n), x=0.3)
    for function in (special.kn, special.yn, special.expn):
        require_slope(function, n, x=0.7)


def test_negative_whole_degrees():
    require_derivative(lambda x: special.eval_chebyt(-3, x) * 1.0, 0.3)
    with pytest.raises(NotDifferentiable, match="negative whole degree"):
        gradient(lambda x: special.eval_legendre(-3, x) * 1.0, 0.3)


def test_lists_for_any_argument_of_a_special_function():
    check_rule(special.eval_gegenbauer, 3, 1.5, [0.3, 0.4])
    check_rule(special.eval_gegenbauer, 3, [1.5, 2.0], 0.3)
    check_rule(special.betainc, 1.3, [1.3, 2.7], 0.37)
    with pytest.raises(NotDifferentiable, match="with respect to its order"):
        gradient(lambda x: special.jv([x, 1.3], 0.4).sum(), 0.3)
    with pytest.raises(NotDifferentiable, match="with respect to its order"):
        gradient(lambda x: special.jv((x, 1.3), 0.4).sum(), 0.3)


SYMMETRIC = np.array([[2.0, 0.3, 0.1], [0.3, -3.0, 0.4], [0.1, 0.4, 1.5]])
SKEW = np.array([[0.0, 0.3, 0.2], [-0.3, 0.0, 0.5], [-0.2, -0.5, 0.0]])
OTHER = np.array([[0.5, 0.2, 0.3], [0.7, 0.1, 0.9], [0.4, 0.6, 0.2]])


@pytest.mark.parametrize(
    "function",
    [
        lambda a: np.linalg.pinv(a, hermitian=True) * OTHER,
        lambda a: np.linalg.svd(a, compute_uv=False, hermitian=True) * OTHER[0],
        lambda a: np.linalg.svd(a, hermitian=True)[1] * OTHER[0],
        lambda a: np.abs(np.linalg.svd(a, hermitian=True)[0]) * OTHER,
    ],
    ids=["pinv", "values", "all values", "vectors"],
)
def test_functions_of_hermitian_matrices_read_the_lower_triangle(function):
    require_derivative(lambda t: function(SYMMETRIC + t * OTHER).sum(), 0.0)
    hermitian = SYMMETRIC + 1j * SKEW
    move = OTHER + 0.3j * OTHER.T
    require_derivative(lambda t: function(hermitian + t * move).sum().real, 0.0)


def test_complex_powers_and_logarithms_of_negative_numbers():
    require_derivative(lambda t: np.power(-0.4, t + 0.3j).real * 1.0, 1.3)
    require_derivative(lambda t: special.xlogy(t + 0.3j, -0.4).imag * 1.0, 1.3)


def test_sums_and_columns_of_arrays():
    require_derivative(lambda x: (sum(np.array([x, 2 * x]), np.array([x, 3.0])) ** 2).sum(), 1.3)
    require_derivative(lambda x: (sum(np.array([[x, 2 * x], [x, 1.0]]), np.array([x, 3.0])) ** 2).sum(), 1.3)
    require_derivative(lambda x: (np.column_stack(np.array([x, 2 * x])) ** 2).sum(), 1.3)
    require_derivative(lambda x: (np.column_stack([x, 2 * x]) ** 2).sum(), 1.3)
    require_derivative(lambda x: (np.column_stack([[x, 1.0], [2 * x, x]]) ** 2).sum(), 1.3)
    require_derivative(lambda x: (np.stack([[x, 1.0], [2 * x, x]]) ** 2).sum(), 1.3)
