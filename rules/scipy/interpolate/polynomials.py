"""Piecewise polynomials: ``PPoly`` and its kin (``CubicSpline``, ``PchipInterpolator``, ``Akima1DInterpolator``)."""

import math

import numpy as np
from scipy.interpolate import _ppoly

from autodiff_hook.extend import cotangents, linear, pure
from autodiff_hook.registry import frule, nondifferentiable, writes
from autodiff_rules._definitions import follow_instead
from autodiff_rules.scipy._standins import settled, write_instead


def scattered(values, index, size):
    """An array of ``size`` rows, each the sum of the rows of ``values`` whose index it is."""
    total = np.zeros((size, *values.shape[1:]), values.dtype)
    np.add.at(total, index, values)
    return total


linear(scattered, "values, index, size", lambda ȳ, index: ȳ[index], kinds=((),))


def interval(x, xp):
    """The interval between the breakpoints ``x`` of each point, the first or last one if it is outside."""
    if x[-1] < x[0]:
        x, xp = -x, -xp
    return np.clip(np.searchsorted(x, xp, side="right") - 1, 0, len(x) - 2)


def piecewise(c, x, xp, nu, extrapolate):
    """The derivative of order ``nu`` of a piecewise polynomial, with ``c`` of shape (order, intervals, n)."""
    out = np.empty((len(xp), c.shape[2]), c.dtype)
    _ppoly.evaluate(c, x, xp, nu, extrapolate, out)
    return out


def inside(ȳ, x, xp, extrapolate):
    """The cotangents of the values at points where there is a polynomial."""
    between = (np.minimum(x[0], x[-1]) <= xp) & (xp <= np.maximum(x[0], x[-1]))
    return np.where((np.isfinite(xp) & (extrapolate | between))[:, None], ȳ, 0.0)


def coefficients_cotangent(ȳ, c, x, xp, nu, extrapolate):
    ȳ, i = inside(ȳ, x, xp, extrapolate), interval(x, xp)
    s, k = xp - x[i], c.shape[0]
    rows = [np.zeros((c.shape[1], c.shape[2])) for _ in range(min(nu, k))]
    for power in range(nu, k):
        factor = math.perm(power, nu) * s ** (power - nu)
        rows.append(scattered(ȳ * factor[:, None], i, c.shape[1]))
    return np.stack(rows[::-1])


def points_cotangent(ȳ, c, x, xp, nu, extrapolate):
    return np.sum(inside(ȳ, x, xp, extrapolate) * piecewise(c, x, xp, nu + 1, True), axis=1)


def breakpoints_cotangent(ȳ, c, x, xp, nu, extrapolate):
    return scattered(-points_cotangent(ȳ, c, x, xp, nu, extrapolate), interval(x, xp), len(x))


cotangents(
    piecewise,
    "c, x, xp, nu, extrapolate",
    0,
    c=coefficients_cotangent,
    x=breakpoints_cotangent,
    xp=points_cotangent,
)


frule(
    piecewise,
    lambda ċ, y, c, x, xp, nu, extrapolate: inside(piecewise(ċ, x, xp, nu, True), x, xp, extrapolate),
    lambda ẋ, y, c, x, xp, nu, extrapolate: inside(
        -ẋ[interval(x, xp)][:, None] * piecewise(c, x, xp, nu + 1, True), x, xp, extrapolate
    ),
    lambda ẋp, y, c, x, xp, nu, extrapolate: inside(
        ẋp[:, None] * piecewise(c, x, xp, nu + 1, True), x, xp, extrapolate
    ),
)


@write_instead(_ppoly.evaluate, 5)
def evaluate_into(c, x, xp, nu, extrapolate, out):
    out[...] = piecewise(c, x, xp, nu, extrapolate)


def antiderivative(c, x):
    """The coefficients of the integral from the first breakpoint."""
    k = c.shape[0]
    raised = c / np.arange(k, 0, -1)[:, None, None]
    width = np.diff(x)[:, None]
    areas = sum(raised[j] * width ** (k - j) for j in range(k))
    start = np.concatenate([np.zeros((1, c.shape[2])), np.cumsum(areas, axis=0)[:-1]])
    return np.concatenate([raised, start[None]])


@write_instead(_ppoly.integrate, 5)
def integrate_into(c, x, a, b, extrapolate, out):
    ends = piecewise(antiderivative(c, x), x, np.array([a, b], float), 0, True)
    out[...] = settled(ends[1] - ends[0], integral(c, x, a, b, extrapolate))


@nondifferentiable
def integral(c, x, a, b, extrapolate):
    out = np.empty(c.shape[2], c.dtype)
    _ppoly.integrate(c, x, a, b, extrapolate, out)
    return out


pure(integral)


def fix_continuity(c, x, order):
    """Make the derivatives up to ``order`` those of the interval before, in place; those of the first one stay."""
    k = c.shape[0]
    for i in range(1, c.shape[1]):
        step = x[i] - x[i - 1]
        for nu in range(order + 1):
            terms = [c[k - 1 - power, i - 1] * (math.comb(power, nu) * step ** (power - nu)) for power in range(nu, k)]
            c[k - 1 - nu, i] = sum(terms)


writes(_ppoly.fix_continuity, 0)
follow_instead(_ppoly.fix_continuity, fix_continuity)
