"""The ufuncs of two arguments that are no operators: those of geometry and of choice, and the product."""

import numpy as np

from autodiff_hook.extend import cotangents, elementwise, expression
from autodiff_hook.strong import over, times
from autodiff_rules.numpy._shared import unbroadcast

elementwise(np.multiply, x1=lambda x2: x2, x2=lambda x1: x1)
cotangents(
    np.fmod,
    "x1, x2, /",
    2,
    x1=lambda ȳ, x1: unbroadcast(ȳ, x1),
    x2=lambda ȳ, x1, x2: unbroadcast(times(-ȳ, np.trunc(np.divide(x1, x2))), x2),
)


@cotangents(np.arctan2, "x1, x2, /", 2, "x1, x2")
def arctan2_cotangents(ȳ, x1, x2):
    c = over(ȳ, nonzero_square(x1, x2))
    return unbroadcast(times(c, x2), x1), unbroadcast(times(-c, x1), x2)


def nonzero_square(x1, x2):
    """The square of the distance from the origin, 1 at the origin; that of short whole numbers would overflow."""
    square = np.square(np.hypot(x1, x2))
    return np.where(square == 0, 1.0, square)


@cotangents(np.hypot, "x1, x2, /", 2, "x1, x2")
def hypot_cotangents(ȳ, y, x1, x2):
    c = over(ȳ, np.where(y == 0, 1.0, y))
    return unbroadcast(times(c, x1), x1), unbroadcast(times(c, x2), x2)


# Of equal ones the first is chosen, and what is nan


@expression
def is_larger(x1, x2):
    return np.greater_equal(x1, x2) | np.not_equal(x1, x1)


@expression
def is_smaller(x1, x2):
    return np.less_equal(x1, x2) | np.not_equal(x1, x1)


elementwise(np.maximum, x1=is_larger, x2=lambda x1, x2: ~is_larger(x1, x2))
elementwise(np.minimum, x1=is_smaller, x2=lambda x1, x2: ~is_smaller(x1, x2))
elementwise(
    np.fmax,
    x1=lambda x1, x2: np.greater_equal(x1, x2) | np.not_equal(x2, x2),
    x2=lambda x1, x2: ~(np.greater_equal(x1, x2) | np.not_equal(x2, x2)),
)
elementwise(
    np.fmin,
    x1=lambda x1, x2: np.less_equal(x1, x2) | np.not_equal(x2, x2),
    x2=lambda x1, x2: ~(np.less_equal(x1, x2) | np.not_equal(x2, x2)),
)


def share(exponential, x, other, y):
    """The exponential of x - y, where y is the logarithm of a sum of two; of equal infinities each has one half."""
    same = np.equal(x, y)
    part = exponential(np.where(same, 0.0, x) - np.where(same, 0.0, y))
    return np.where(same & np.equal(x, other), 0.5, part)


elementwise(
    np.logaddexp,
    x1=lambda x1, x2, y: share(np.exp, x1, x2, y),
    x2=lambda x1, x2, y: share(np.exp, x2, x1, y),
)
elementwise(
    np.logaddexp2,
    x1=lambda x1, x2, y: share(np.exp2, x1, x2, y),
    x2=lambda x1, x2, y: share(np.exp2, x2, x1, y),
)
elementwise(np.copysign, x1=lambda x1, y: np.where(np.signbit(x1) == np.signbit(y), 1.0, -1.0), x2=None)
cotangents(np.heaviside, "x1, x2, /", 2, x2=lambda ȳ, x1, x2: unbroadcast(np.where(np.equal(x1, 0), ȳ, 0.0), x2))
cotangents(np.ldexp, "x1, x2, /", 2, x1=lambda ȳ, x1, x2: unbroadcast(np.ldexp(ȳ, x2), x1))
cotangents(
    np.nextafter,
    "x, y, /",
    2,
    x=lambda ȳ, z, x, y: unbroadcast(np.where(np.equal(z, y), 0.0, ȳ), x),
    y=lambda ȳ, z, y: unbroadcast(np.where(np.equal(z, y), ȳ, 0.0), y),
)
