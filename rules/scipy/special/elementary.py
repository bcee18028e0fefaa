"""Elementary functions of ``scipy.special``: exponentials, logistic functions, power transforms, Lambert's W."""

from __future__ import annotations

import numpy as np
from scipy import special

from autodiff_hook.registry import nondifferentiable, not_implemented
from autodiff_rules.numpy._shared import array_rrule
from autodiff_rules.scipy._elementwise import binary, cotangent, unary

LOG_TWO, LOG_TEN = 0.6931471805599453, 2.302585092994046
DEGREE = 0.017453292519943295


def expm1_slope(x, y):
    return y + 1.0


def exp2_slope(x, y):
    return LOG_TWO * y


def exp10_slope(x, y):
    return LOG_TEN * y


def log1p_slope(x, y):
    return 1.0 / (1.0 + x)


def cbrt_slope(x, y):
    return 1.0 / (3.0 * y * y)


def cosm1_slope(x, y):
    return -np.sin(x)


def exprel_slope(x, y):
    """(eˣ - 1)/x is M(1, 2, x), whose derivative DLMF 13.3.15 gives."""
    return 0.5 * special.hyp1f1(2.0, 3.0, x)


def sindg_slope(x, y):
    return DEGREE * special.cosdg(x)


def cosdg_slope(x, y):
    return -DEGREE * special.sindg(x)


def tandg_slope(x, y):
    return DEGREE * (1.0 + y * y)


def cotdg_slope(x, y):
    return -DEGREE * (1.0 + y * y)


unary(special.expm1, expm1_slope)
unary(special.exp2, exp2_slope)
unary(special.exp10, exp10_slope)
unary(special.log1p, log1p_slope)
unary(special.cbrt, cbrt_slope)
unary(special.cosm1, cosm1_slope)
unary(special.exprel, exprel_slope)
unary(special.sindg, sindg_slope)
unary(special.cosdg, cosdg_slope)
unary(special.tandg, tandg_slope)
unary(special.cotdg, cotdg_slope)
nondifferentiable(special.round)


# Logistic functions


def expit_slope(x, y):
    return y * special.expit(-x)


def logit_slope(x, y):
    return 1.0 / (x * (1.0 - x))


def log_expit_slope(x, y):
    return special.expit(-x)


unary(special.expit, expit_slope)
unary(special.logit, logit_slope)
unary(special.log_expit, log_expit_slope)


# Powers


def powm1_x(x, p, y):
    return p * np.power(x, p - 1.0)


def powm1_p(x, p, y):
    return special.xlogy(y + 1.0, x)


def boxcox_x(x, p, y):
    return np.power(x, p - 1.0)


def boxcox_p(x, p, y):
    """((p log x - 1) xᵖ + 1)/p², as the derivative of log x exprel(p log x)."""
    log = np.log(x)
    return log * log * exprel_slope(p * log, None)


def boxcox1p_x(x, p, y):
    return np.power(1.0 + x, p - 1.0)


def boxcox1p_p(x, p, y):
    log = special.log1p(x)
    return log * log * exprel_slope(p * log, None)


def inv_boxcox_y(x, p, y):
    return np.power(y, 1.0 - p)


def inv_boxcox_p(x, p, y):
    return -boxcox_p(y, p, x) * np.power(y, 1.0 - p)


def inv_boxcox1p_y(x, p, y):
    return np.power(1.0 + y, 1.0 - p)


def inv_boxcox1p_p(x, p, y):
    return -boxcox1p_p(y, p, x) * np.power(1.0 + y, 1.0 - p)


binary(special.powm1, powm1_x, powm1_p)
binary(special.boxcox, boxcox_x, boxcox_p)
binary(special.boxcox1p, boxcox1p_x, boxcox1p_p)
binary(special.inv_boxcox, inv_boxcox_y, inv_boxcox_p)
binary(special.inv_boxcox1p, inv_boxcox1p_y, inv_boxcox1p_p)


# Lambert's W and Wright's ω

IN_BRANCH = "scipy.special.lambertw with respect to its branch"


@array_rrule(special.lambertw)
def lambertw_rule(z, k=0, tol=1e-8):
    y = special.lambertw(z, k, tol)

    def lambertw_pullback(ȳ):
        """DLMF 4.13.4, with z = W exp(W)."""
        return cotangent(ȳ, np.exp(-y) / (1.0 + y), z), not_implemented(IN_BRANCH), None

    return y, lambertw_pullback


def wrightomega_slope(x, y):
    return y / (1.0 + y)


unary(special.wrightomega, wrightomega_slope)
