"""``quad`` and ``dblquad`` in typed programs: a loop over the nodes that resolve the integrand."""

import math

import numpy as np
from scipy.integrate import dblquad, quad

from autodiff_hook import stop_gradient
from autodiff_hook.extend import cotangents
from autodiff_hook.semantics.meanings import DEFINITIONS, calling_back, differentiated
from autodiff_rules.scipy.integrate._nodes import check, resolving

NAME = "scipy.integrate.quad"
RESOLVED = np.zeros(1), np.zeros(1), 0.5, 0.5
"""What is like that which ``found`` gives."""


def found(f, a, b, value, error):
    """Nodes and weights that give an integral, and the integrand at those limits where it is finite."""
    nodes, weights = map(np.array, resolving(f, a, b, None, NAME, False))
    check(weights @ [f(x) for x in nodes.tolist()], value, error, NAME)
    return nodes, weights, at_limit(f, a), at_limit(f, b)


def at_limit(f, limit):
    try:
        return float(f(limit)) if math.isfinite(limit) else math.nan
    except (ArithmeticError, ValueError):
        return math.nan


def integral(value, total, f_a, a, f_b, b):
    """``value``, which is the sum ``total`` over the nodes but for rounding."""
    return value


cotangents(
    integral,
    "value, total, f_a, a, f_b, b",
    0,
    total=lambda ȳ: ȳ,
    a=lambda ȳ, f_a: -ȳ * f_a,
    b=lambda ȳ, f_b: ȳ * f_b,
)


def estimated(error, total):
    return error


NO_ESTIMATE = f"the error estimate of {NAME} is not differentiated"
cotangents(estimated, "error, total", 0, error=lambda ȳ: ȳ, total=NO_ESTIMATE)


def between(func, a, b, args=(), full_output=0, epsabs=1.49e-8, epsrel=1.49e-8, limit=50):
    def integrand(x):
        return func(x, *args)

    if full_output:
        raise NotImplementedError  # The carried program gives all that there is.
    low, high = stop_gradient(a), stop_gradient(b)
    value, error = calling_back(quad, (0.5, 0.5), integrand, 0.5, low, high, (), 0, epsabs, epsrel, limit)
    return derived(integrand, value, error, a, b)


def derived(f, value, error, a, b):
    """What was integrated, with its derivative: that of a sum over nodes."""
    if not differentiated():
        return value, error
    low, high = stop_gradient(a), stop_gradient(b)
    nodes, weights, f_a, f_b = calling_back(found, RESOLVED, f, 0.5, low, high, value, error)
    total = 0.0
    for x, weight in zip(nodes.tolist(), weights.tolist()):
        total += weight * f(x)
    return integral(value, total, f_a, a, f_b, b), estimated(error, total)


def nested(f, a, b, epsabs, epsrel):
    """The integral of the first part of what ``f`` gives, and the largest error: the second parts are others."""
    errors = []

    def inner(x):
        value, error = f(x)
        errors.append(error)
        return value

    value, error = quad(inner, a, b, (), 0, epsabs, epsrel)
    return value, max(0, error, *errors)


def double(func, a, b, gfun, hfun, args=(), epsabs=1.49e-8, epsrel=1.49e-8):
    def inner(x):
        low = gfun(x) if callable(gfun) else gfun
        high = hfun(x) if callable(hfun) else hfun
        return quad(lambda y: func(y, x, *args), low, high, (), 0, epsabs, epsrel)

    def integrand(x):
        return inner(x)[0]

    low, high = stop_gradient(a), stop_gradient(b)
    value, error = calling_back(nested, (0.5, 0.5), inner, 0.5, low, high, epsabs, epsrel)
    return derived(integrand, value, error, a, b)


DEFINITIONS[id(quad)] = between
DEFINITIONS[id(dblquad)] = double
