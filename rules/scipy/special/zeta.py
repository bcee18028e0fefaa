"""The zeta function of Hurwitz and Riemann with respect to both arguments (DLMF 25.11)."""

import numpy as np
from scipy import special

from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.extend import cotangents, elementwise
from autodiff_rules.scipy._elementwise import cotangent
from autodiff_rules.scipy.special._tails import column

COUNT = 12
BY_BERNOULLI = (special.bernoulli(16)[2::2] / special.factorial(np.arange(2, 17, 2))).tolist()


def zeta_in_exponent(x, q):
    """The Euler-Maclaurin series (25.11.9), differentiated by term."""
    if np.any((np.real(x) < 0.0) | (np.abs(np.imag(x)) > 40.0)):
        raise NotDifferentiable("scipy.special.zeta with respect to a first argument below 0, or far from real")
    first = column(q) + np.arange(COUNT)
    exponent = np.reshape(x, (*np.shape(x), 1))
    total = -np.sum(np.log(first) * np.power(first, -exponent), -1)
    edge = q + float(COUNT)
    log, power = np.log(edge), np.power(edge, -x)
    total = total - power * (edge / (x - 1.0) * (log + 1.0 / (x - 1.0)) + 0.5 * log)
    rising, slope, scale = x, 1.0, 1.0 / edge
    for j, factor in enumerate(BY_BERNOULLI):
        total = total + factor * power * scale * (slope - rising * log)
        for more in (x + 2.0 * j + 1.0, x + 2.0 * j + 2.0):
            rising, slope = rising * more, slope * more + rising
        scale = scale / (edge * edge)
    return total


@cotangents(special.zeta, "x, q=None, out=None", 1, "x, q")
def zeta_cotangents(ȳ, x, q):
    if q is None:
        return cotangent(ȳ, zeta_in_exponent(x, 1.0), x), None
    return cotangent(ȳ, zeta_in_exponent(x, q), x), cotangent(ȳ, -x * special.zeta(np.add(x, 1.0), q), q)


elementwise(special.zetac, lambda x: zeta_in_exponent(x, 1.0))
