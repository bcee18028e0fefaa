"""The gamma and beta functions, complete and incomplete (DLMF chapters 5 and 8), and what is made of them."""

from __future__ import annotations

import numpy as np
from scipy import special

from autodiff_hook.registry import nondifferentiable, not_implemented
from autodiff_rules.numpy._shared import array_rrule
from autodiff_rules.scipy._elementwise import binary, cotangent, require_real, ternary, unary

IN_PARAMETERS = "an incomplete gamma or beta function with respect to its parameters"
IN_ORDER = "scipy.special.polygamma with respect to its order"


def gamma_slope(x, y):
    """DLMF 5.2.2."""
    return y * special.psi(x)


def log_gamma_slope(x, y):
    return special.psi(x)


def rgamma_slope(x, y):
    """At the poles of the gamma function, where 1/Γ is 0, by DLMF 5.2.1: (-1)ⁿ n!."""
    if np.iscomplexobj(x):
        return -y * special.psi(x)
    pole = np.logical_and(np.less_equal(x, 0), np.equal(x, np.floor(x)))
    inside = np.where(pole, 1.0, x)
    sign = 1.0 - 2.0 * np.mod(np.where(pole, x, 0.0), 2.0)
    at_pole = sign * special.gamma(1.0 - np.where(pole, x, 0.0))
    return np.where(pole, at_pole, -special.rgamma(inside) * special.psi(inside))


def psi_slope(x, y):
    require_real(x, "scipy.special.psi")
    return special.polygamma(1, x)


unary(special.gamma, gamma_slope)
unary(special.gammaln, log_gamma_slope)
unary(special.loggamma, log_gamma_slope)
unary(special.rgamma, rgamma_slope)
unary(special.psi, psi_slope)
nondifferentiable(special.gammasgn)


@array_rrule(special.polygamma, 2)
def polygamma_rule(n, x):
    def polygamma_pullback(ȳ):
        return not_implemented(IN_ORDER), cotangent(ȳ, special.polygamma(np.add(n, 1), x), x)

    return special.polygamma(n, x), polygamma_pullback


@array_rrule(special.zeta)
def zeta_rule(x, q=None, out=None):
    def zeta_pullback(ȳ):
        in_x = not_implemented("scipy.special.zeta with respect to its first argument")
        if q is None:
            return in_x, None, None
        return in_x, cotangent(ȳ, -x * special.zeta(np.add(x, 1.0), q), q), None

    return special.zeta(x, q, out), zeta_pullback


# The beta function, DLMF 5.12


def beta_a(a, b, y):
    return y * (special.psi(a) - special.psi(a + b))


def beta_b(a, b, y):
    return y * (special.psi(b) - special.psi(a + b))


def log_beta_a(a, b, y):
    return special.psi(a) - special.psi(a + b)


def log_beta_b(a, b, y):
    return special.psi(b) - special.psi(a + b)


def binom_n(n, k, y):
    return y * (special.psi(n + 1.0) - special.psi(n - k + 1.0))


def binom_k(n, k, y):
    return y * (special.psi(n - k + 1.0) - special.psi(k + 1.0))


def poch_z(z, m, y):
    return y * (special.psi(z + m) - special.psi(z))


def poch_m(z, m, y):
    return y * special.psi(z + m)


binary(special.beta, beta_a, beta_b)
binary(special.betaln, log_beta_a, log_beta_b)
binary(special.binom, binom_n, binom_k)
binary(special.poch, poch_z, poch_m)


# The incomplete functions: densities, and the inverses of those


def gamma_density(a, x):
    """The derivative of P(a, x), DLMF 8.8.13 by Γ(a)."""
    return np.exp(special.xlogy(a - 1.0, x) - x - special.gammaln(a))


def gammainc_x(a, x, y):
    return gamma_density(a, x)


def gammaincc_x(a, x, y):
    return -gamma_density(a, x)


def gammaincinv_p(a, p, x):
    return 1.0 / gamma_density(a, x)


def gammainccinv_p(a, p, x):
    return -1.0 / gamma_density(a, x)


binary(special.gammainc, IN_PARAMETERS, gammainc_x)
binary(special.gammaincc, IN_PARAMETERS, gammaincc_x)
binary(special.gammaincinv, IN_PARAMETERS, gammaincinv_p)
binary(special.gammainccinv, IN_PARAMETERS, gammainccinv_p)


def beta_density(a, b, x):
    """The derivative of I(a, b, x), DLMF 8.17.1."""
    return np.exp(special.xlogy(a - 1.0, x) + special.xlog1py(b - 1.0, -x) - special.betaln(a, b))


def betainc_x(a, b, x, y):
    return beta_density(a, b, x)


def betaincc_x(a, b, x, y):
    return -beta_density(a, b, x)


def betaincinv_p(a, b, p, x):
    return 1.0 / beta_density(a, b, x)


def betainccinv_p(a, b, p, x):
    return -1.0 / beta_density(a, b, x)


ternary(special.betainc, IN_PARAMETERS, IN_PARAMETERS, betainc_x)
ternary(special.betaincinv, IN_PARAMETERS, IN_PARAMETERS, betaincinv_p)
if hasattr(special, "betaincc"):
    ternary(special.betaincc, IN_PARAMETERS, IN_PARAMETERS, betaincc_x)
    ternary(special.betainccinv, IN_PARAMETERS, IN_PARAMETERS, betainccinv_p)
