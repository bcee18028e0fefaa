"""Products with logarithms, entropies and robust losses.

Where x log y has no derivative because both are 0, it is 0.
"""

import numpy as np
from scipy import special

from autodiff_hook.extend import elementwise


def logarithm(x):
    """log x, and -inf without a warning at 0."""
    return special.xlogy(1.0, x)


def xlogy_x(x, y):
    both = np.logical_and(np.equal(x, 0), np.equal(y, 0))
    return special.xlogy(np.ones_like(x + y), np.where(both, 1.0, y))


def xlogy_y(x, y):
    both = np.logical_and(np.equal(x, 0), np.equal(y, 0))
    return x / np.where(both, 1.0, y)


def xlog1py_x(x, y):
    both = np.logical_and(np.equal(x, 0), np.equal(y, -1))
    return special.log1p(np.where(both, 0.0, y))


def xlog1py_y(x, y):
    both = np.logical_and(np.equal(x, 0), np.equal(y, -1))
    return x / np.where(both, 1.0, 1.0 + y)


def rel_entr_x(x, y):
    both = np.logical_and(np.equal(x, 0), np.equal(y, 0))
    return logarithm(np.where(both, 1.0, x)) - logarithm(np.where(both, 1.0, y)) + 1.0


elementwise(special.xlogy, x=xlogy_x, y=xlogy_y)
elementwise(special.xlog1py, x=xlog1py_x, y=xlog1py_y)
elementwise(special.entr, lambda x: -logarithm(x) - 1.0)
elementwise(special.rel_entr, x=rel_entr_x, y=lambda x, y: -xlogy_y(x, y))
elementwise(special.kl_div, x=lambda x, y: rel_entr_x(x, y) - 1.0, y=lambda x, y: 1.0 - xlogy_y(x, y))


def huber_delta(delta, r):
    size = np.absolute(r)
    return np.where(size <= delta, 0.0, size - delta)


def pseudo_huber_delta(delta, r):
    root = np.sqrt(1.0 + (r / delta) ** 2)
    return 2.0 * delta * (root - 1.0) - r * r / (delta * root)


elementwise(
    special.huber,
    delta=huber_delta,
    r=lambda delta, r: np.where(np.absolute(r) <= delta, r, delta * np.sign(r)),
)
elementwise(
    special.pseudo_huber,
    delta=pseudo_huber_delta,
    r=lambda delta, r: r / np.sqrt(1.0 + (r / delta) ** 2),
)
