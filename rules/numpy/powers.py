"""The cotangents of a power ``z = x ** y``, finite at zero where there is a derivative."""

import numpy as np

from autodiff_hook.strong import times
from autodiff_rules.numpy._shared import conj, unbroadcast


def number_power_cotangent(z̄, x, y):
    """The cotangent of ``x`` for one real number ``y``."""
    return unbroadcast(times(z̄, conj(y * power(x if y else nonzero(x), y - 1))), x)


def power(x, y):
    """``x ** y``, infinite where Python raises ``ZeroDivisionError``."""
    return x**y if isinstance(x, np.ndarray) else np.power(x + 0.0, y)


def nonzero(x):
    return np.where(x == 0, 1.0, x)


def base_cotangent(z̄, x, y):
    """The cotangent of ``x``: 0 where ``y`` is 0."""
    return unbroadcast(times(z̄, conj(slope_by_base(x, y))), x)


def slope_by_base(x, y):
    """The derivative of ``x ** y`` with respect to ``x``: 0 where ``y`` is 0."""
    if isinstance(y, np.ndarray) and not y.ndim:
        y = y[()]
    if isinstance(y, (int, float)):
        return y * power(x if y else nonzero(x), y - 1)
    base = np.where(np.equal(x, 0) & np.equal(y, 0), 1.0, x)
    return np.multiply(y, np.power(base, np.subtract(y, 1)))


def exponent_cotangent(z̄, x, y, z):
    """The cotangent of ``y``: 0 where ``x`` is 0, nan where ``x`` is negative and the power real."""
    return unbroadcast(times(z̄, conj(z * log_or_zero(x, z))), y)


def log_or_zero(x, z):
    """The logarithm without a warning: 0 at 0, nan for negative numbers if ``z`` is real."""
    if isinstance(x, float) and x > 0:
        return np.log(x)
    if np.iscomplexobj(z):
        return np.log(nonzero(x) + 0j)
    return np.log(np.where(np.less(x, 0), np.nan, nonzero(x)))
