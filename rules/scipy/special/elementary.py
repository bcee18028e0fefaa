"""Elementary functions of ``scipy.special``: exponentials, logistic functions, power transforms, Lambert's W."""

import numpy as np
from scipy import special

from autodiff_hook.cotangents import not_implemented
from autodiff_hook.extend import cotangents, elementwise
from autodiff_hook.registry import nondifferentiable
from autodiff_rules._constants import CONSISTS_OF_STEPS
from autodiff_rules.scipy._elementwise import cotangent

LOG_TWO, LOG_TEN = 0.6931471805599453, 2.302585092994046
DEGREE = 0.017453292519943295


def exprel_slope(x):
    """(eˣ - 1)/x is M(1, 2, x), whose derivative DLMF 13.3.15 gives."""
    return 0.5 * special.hyp1f1(2.0, 3.0, x)


elementwise(special.expm1, lambda y: y + 1.0)
elementwise(special.exp2, lambda y: LOG_TWO * y)
elementwise(special.exp10, lambda y: LOG_TEN * y)
elementwise(special.log1p, lambda x: 1.0 / (1.0 + x))
elementwise(special.cbrt, lambda y: 1.0 / (3.0 * y * y))
elementwise(special.cosm1, lambda x: -np.sin(x))
elementwise(special.exprel, exprel_slope)
elementwise(special.sindg, lambda x: DEGREE * special.cosdg(x))
elementwise(special.cosdg, lambda x: -DEGREE * special.sindg(x))
elementwise(special.tandg, lambda y: DEGREE * (1.0 + y * y))
elementwise(special.cotdg, lambda y: -DEGREE * (1.0 + y * y))
nondifferentiable(special.round, CONSISTS_OF_STEPS)


# Logistic functions


elementwise(special.expit, lambda x, y: y * special.expit(-x))
elementwise(special.logit, lambda x: 1.0 / (x * (1.0 - x)))
elementwise(special.log_expit, lambda x: special.expit(-x))


# Powers


def boxcox_p(x, p):
    """((p log x - 1) xᵖ + 1)/p², as the derivative of log x exprel(p log x)."""
    log = np.log(x)
    return log * log * exprel_slope(p * log)


def boxcox1p_p(x, p):
    log = special.log1p(x)
    return log * log * exprel_slope(p * log)


elementwise(special.powm1, x=lambda x, p: p * np.power(x, p - 1.0), p=lambda x, y: special.xlogy(y + 1.0, x))
elementwise(special.boxcox, x=lambda x, p: np.power(x, p - 1.0), p=boxcox_p)
elementwise(special.boxcox1p, x=lambda x, p: np.power(1.0 + x, p - 1.0), p=boxcox1p_p)
elementwise(
    special.inv_boxcox, x=lambda p, y: np.power(y, 1.0 - p), p=lambda p, y: -boxcox_p(y, p) * np.power(y, 1.0 - p)
)
elementwise(
    special.inv_boxcox1p,
    x=lambda p, y: np.power(1.0 + y, 1.0 - p),
    p=lambda p, y: -boxcox1p_p(y, p) * np.power(1.0 + y, 1.0 - p),
)


# Lambert's W and Wright's ω

IN_BRANCH = "scipy.special.lambertw with respect to its branch"


@cotangents(special.lambertw, "z, k=0, tol=1e-08", 1, "z, k")
def lambertw_cotangents(ȳ, y, z):
    """DLMF 4.13.4, with z = W exp(W)."""
    return cotangent(ȳ, np.exp(-y) / (1.0 + y), z), not_implemented(IN_BRANCH)


elementwise(special.wrightomega, lambda y: y / (1.0 + y))
