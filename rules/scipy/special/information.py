"""Products with logarithms, entropies and robust losses.

Where x log y has no derivative because both are 0, it is 0.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from autodiff_rules.scipy._elementwise import binary, unary


def logarithm(x):
    """log x, and -inf without a warning at 0."""
    return special.xlogy(1.0, x)


def xlogy_x(x, y, z):
    both = np.logical_and(np.equal(x, 0), np.equal(y, 0))
    return special.xlogy(np.ones_like(z), np.where(both, 1.0, y))


def xlogy_y(x, y, z):
    nothing = np.equal(x, 0)
    return np.where(nothing, 0.0, x) / np.where(nothing, 1.0, y)


def xlog1py_x(x, y, z):
    both = np.logical_and(np.equal(x, 0), np.equal(y, -1))
    return special.log1p(np.where(both, 0.0, y))


def xlog1py_y(x, y, z):
    nothing = np.equal(x, 0)
    return np.where(nothing, 0.0, x) / np.where(nothing, 1.0, 1.0 + y)


def entr_slope(x, y):
    return -logarithm(x) - 1.0


def rel_entr_x(x, y, z):
    both = np.logical_and(np.equal(x, 0), np.equal(y, 0))
    return logarithm(np.where(both, 1.0, x)) - logarithm(np.where(both, 1.0, y)) + 1.0


def rel_entr_y(x, y, z):
    return -xlogy_y(x, y, z)


def kl_div_x(x, y, z):
    return rel_entr_x(x, y, z) - 1.0


def kl_div_y(x, y, z):
    return 1.0 - xlogy_y(x, y, z)


binary(special.xlogy, xlogy_x, xlogy_y)
binary(special.xlog1py, xlog1py_x, xlog1py_y)
unary(special.entr, entr_slope)
binary(special.rel_entr, rel_entr_x, rel_entr_y)
binary(special.kl_div, kl_div_x, kl_div_y)


def huber_delta(delta, r, y):
    size = np.absolute(r)
    return np.where(size <= delta, 0.0, size - delta)


def huber_r(delta, r, y):
    return np.where(np.absolute(r) <= delta, r, delta * np.sign(r))


def pseudo_huber_delta(delta, r, y):
    root = np.sqrt(1.0 + (r / delta) ** 2)
    return 2.0 * delta * (root - 1.0) - r * r / (delta * root)


def pseudo_huber_r(delta, r, y):
    return r / np.sqrt(1.0 + (r / delta) ** 2)


binary(special.huber, huber_delta, huber_r)
binary(special.pseudo_huber, pseudo_huber_delta, pseudo_huber_r)
