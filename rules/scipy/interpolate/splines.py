"""B-splines: ``BSpline``, ``make_interp_spline`` and what is made of them (``interp1d``, FITPACK's functions)."""

import numpy as np
from scipy.interpolate import _dierckx

from autodiff_hook.extend import cotangents, fresh, pure
from autodiff_hook.registry import frule, writes
from autodiff_hook.semantics.calls import apply
from autodiff_hook.semantics.meanings import DEFINITIONS, means
from autodiff_hook.semantics.opaque import call_constant, loses
from autodiff_hook.semantics.structures import gather
from autodiff_rules._constants import IS_A_POSITION, declare
from autodiff_rules.scipy._standins import define, natively, settled


def native_spline(t, c, k, x, nu, extrapolate):
    return _dierckx.evaluate_spline(*map(np.ascontiguousarray, (t, c)), k, np.ascontiguousarray(x), nu, extrapolate)


def spline(t, c, k, x, nu, extrapolate):
    """The derivative of order ``nu`` of splines with coefficients (n, m), at the points x: an array (points, m)."""
    return natively(native_spline, (t, c, k, x, nu, extrapolate), {})


def spline_with_knots(t, c, k, x, nu, extrapolate):
    """The same, if the knots have derivatives."""
    return natively(native_spline, (t, c, k, x, nu, extrapolate), {})


def within(ȳ, t, k, x, extrapolate):
    """The cotangents at those points where the spline depends on anything."""
    inside = np.isfinite(x) & (extrapolate | (t[k] <= x) & (x <= t[-k - 1]))
    return np.where(inside[:, None], ȳ, 0.0)


def interval(t, k, x):
    """The first of the k + 1 coefficients that matter at each point."""
    return np.clip(np.searchsorted(t, x, side="right") - 1, k, len(t) - k - 2) - k


def coefficient_cotangents(evaluate, ȳ, t, c, k, x, nu):
    """The cotangents of the coefficients, of which FITPACK does not use the last ones.

    Of k + 1 neighbours no two leave the same remainder, so as many splines have all that the coefficients are
    multiplied with.
    """
    remainders = np.arange(k + 1)
    factors = evaluate(t, 1.0 * (np.arange(len(t) - k - 1)[:, None] % (k + 1) == remainders), k, x, nu, True)
    first = interval(t, k, x)[:, None]
    places = first + (remainders - first) % (k + 1)
    c̄ = np.zeros(c.shape)
    np.add.at(c̄, places, factors[:, :, None] * ȳ[:, None, :])
    return c̄


def declare_cotangents(evaluate, **of_knots):
    """One function for each argument, as typed programs compute only those that are asked for."""

    def of_coefficients(ȳ, t, c, k, x, nu, extrapolate):
        return coefficient_cotangents(evaluate, within(ȳ, t, k, x, extrapolate), t, c, k, x, nu)

    def of_points(ȳ, t, c, k, x, nu, extrapolate):
        return np.sum(within(ȳ, t, k, x, extrapolate) * evaluate(t, c, k, x, nu + 1, True), axis=1)

    cotangents(evaluate, "t, c, k, x, nu, extrapolate", 0, c=of_coefficients, x=of_points, **of_knots)


def knot_cotangents(ȳ, t, c, k, x, nu, extrapolate):
    ȳ = within(ȳ, t, k, x, extrapolate)
    return np.array([np.sum(ȳ * by_knot(t, c, k, x, nu, j)) for j in range(len(t))])


declare_cotangents(spline)
declare_cotangents(spline_with_knots, t=knot_cotangents)
frule(
    (spline, spline_with_knots),
    None,
    lambda ċ, y, t, c, k, x, nu, extrapolate: within(spline(t, ċ, k, x, nu, True), t, k, x, extrapolate),
    None,
    lambda ẋ, y, t, c, k, x, nu, extrapolate: within(
        ẋ[:, None] * spline(t, c, k, x, nu + 1, True), t, k, x, extrapolate
    ),
)
fresh(spline, spline_with_knots)


def by_knot(t, c, k, x, nu, j):
    """The derivative of a spline by the knot t[j]: a spline with that knot twice.

    It follows from the basis functions as divided differences, in which the derivative by an argument repeats it.
    """
    n = len(t) - k - 1
    c = c[:n]
    knots = np.concatenate([t[: j + 1], t[j:]])
    zero = np.zeros((1, c.shape[1]))
    change = np.concatenate([zero, c]) - np.concatenate([c, zero])
    width = knots[k + 1 :] - knots[: n + 1]
    near = np.arange(n + 1)
    near = (j - k <= near) & (near <= j) & (width > 0.0)
    raised = np.where(near[:, None], change / np.where(near, width, 1.0)[:, None], 0.0)
    if width[n] == 0.0:  # else the last point would lie in an interval without width
        knots, raised = knots[:-1], raised[:-1]
    return spline_with_knots(knots, raised, k, x, nu, True)


@means(_dierckx.evaluate_spline)
def evaluate_spline(alg, t, args, kwargs):
    moving = gather(alg, args[0], t[0]) is not None
    if not loses(alg, t, _dierckx.evaluate_spline, args, kwargs):
        return call_constant(alg, _dierckx.evaluate_spline, args, kwargs)
    return apply(alg, (None, *t), spline_with_knots if moving else spline, args, kwargs)


DEFINITIONS[id(_dierckx.evaluate_spline)] = lambda *args: spline_with_knots(*args)
writes(_dierckx.evaluate_spline)


def basis_at(t, k, x, m, nu=0):
    """``_dierckx.evaluate_all_bspl``: the basis functions that are not zero in the interval m."""
    found = _dierckx.evaluate_spline(t, np.eye(len(t) - k - 1), k, np.reshape(x, (1,)), nu, True)
    return settled(found[0, m - k : m + 1], natively(_dierckx.evaluate_all_bspl, (t, k, x, m, nu), {}))


def colocate(x, t, k, banded, offset=0):
    """``_dierckx._coloc``: the matrix of the basis functions at the points, in LAPACK's banded form."""
    n = len(t) - k - 1
    values = _dierckx.evaluate_spline(t, np.eye(n), k, x, 0, True)
    rows = np.repeat(np.arange(len(x)), k + 1)
    columns = np.ravel(interval(t, k, x)[:, None] + np.arange(k + 1))
    banded[columns, 2 * k + rows + offset - columns] = values[rows, columns]


declare(IS_A_POSITION, _dierckx.find_interval)
pure(_dierckx.find_interval)
writes(_dierckx._coloc, 3)
writes(_dierckx.evaluate_all_bspl)
define(_dierckx.evaluate_all_bspl, basis_at)
define(_dierckx._coloc, colocate)
