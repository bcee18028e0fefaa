"""``quad``, ``dblquad`` and ``quad_vec`` in typed programs: a loop over the nodes that resolve the integrand."""

import math

import numpy as np
from scipy.integrate import dblquad, quad, quad_vec

from autodiff_hook import stop_gradient
from autodiff_hook.extend import cotangents
from autodiff_hook.semantics.meanings import DEFINITIONS, calling, calling_back, differentiated
from autodiff_rules.scipy.integrate._nodes import NODES, WEIGHTS, check, resolving

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


def between_limits(a, b):
    """A number between finite limits; what is no number gives up."""
    return 0.5 * (a + b) if math.isfinite(a) and math.isfinite(b) else None


def recorded(f, a, b, like, epsabs, epsrel, limit):
    """What ``quad_vec`` gives, its nodes and their weights, and the integrand at the limits where it has a value."""
    value, error, info = quad_vec(f, a, b, epsabs, epsrel, limit=limit, full_output=True)
    middles, halves = np.mean(info.intervals, axis=1), np.diff(info.intervals, axis=1) / 2.0
    nodes, weights = middles[:, None] + halves * NODES, halves * WEIGHTS
    return value, error, np.ravel(nodes), np.ravel(weights), *(_at(f, limit, like) for limit in (a, b))


def _at(f, limit, like):
    try:
        return f(limit)
    except (ArithmeticError, ValueError):
        return like * math.nan


def vector(value, total, f_a, a, f_b, b):
    """``integral`` of a function that gives arrays."""
    return value


cotangents(
    vector,
    "value, total, f_a, a, f_b, b",
    0,
    total=lambda ȳ: ȳ,
    a=lambda ȳ, f_a: -np.sum(ȳ * f_a),
    b=lambda ȳ, f_b: np.sum(ȳ * f_b),
)


def of_vectors(
    f,
    a,
    b,
    epsabs=1e-200,
    epsrel=1e-8,
    norm="2",
    cache_size=100e6,
    limit=10000,
    workers=1,
    points=None,
    quadrature=None,
    full_output=False,
    *,
    args=(),
):
    def integrand(x):
        return f(x, *args)

    if norm != "2" or workers != 1 or points is not None or quadrature is not None or full_output:
        raise NotImplementedError  # The carried program goes through the source.
    low, high = stop_gradient(float(a)), stop_gradient(float(b))
    like = integrand(calling(between_limits, 0.5, low, high))
    results = like, 0.5, RESOLVED[0], RESOLVED[1], like, like
    found = calling_back(recorded, results, integrand, 0.5, low, high, like, epsabs, epsrel, limit)
    value, error, nodes, weights, f_a, f_b = found
    if not differentiated():
        return value, error
    total = 0.0 * like
    for x, weight in zip(nodes.tolist(), weights.tolist()):
        total = total + weight * integrand(x)
    return vector(value, total, f_a, a, f_b, b), estimated(error, total)


DEFINITIONS[id(quad_vec)] = of_vectors
DEFINITIONS[id(quad)] = between
DEFINITIONS[id(dblquad)] = double
