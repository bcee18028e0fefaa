"""FITPACK's curves: ``splev``, ``splint``, ``splrep``, ``UnivariateSpline`` and their kin; least squares of splines.

Curves that go through all points, or have given knots, are differentiated; how smoothing chooses is not.
"""

from __future__ import annotations

import numpy as np
from scipy.interpolate import _bsplines, _dierckx, _fitpack_impl

from autodiff_hook.algebras.shadows import lose
from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.semantics.functions import enter
from autodiff_hook.semantics.meanings import means
from autodiff_hook.semantics.opaque import call_constant, loses
from autodiff_hook.semantics.structures import gather
from autodiff_rules.scipy._standins import settled

native = _fitpack_impl.dfitpack
ZEROS, BOUNDARY = 1, 3
SMOOTHED = "a curve that FITPACK has smoothed is not differentiated: only one with s=0, or with given knots"


def values(t, c, k, x, nu, ext):
    """What ``splev`` gives: beyond the ends an extrapolation, zero, or the value at the end."""
    n = len(t) - k - 1
    if ext == BOUNDARY:
        x = np.clip(x, t[k], t[n])
    y = _dierckx.evaluate_spline(t, np.reshape(c[:n], (n, 1)), k, x, nu, True)[:, 0]
    return np.where((x < t[k]) | (x > t[n]), 0.0, y) if ext == ZEROS else y


def derivatives(t, c, k, x, nu, ext):
    return values(t, c, k, x, nu, ext)


def area(t, c, k, a, b):
    """What ``splint`` gives: the curve is zero beyond the ends."""
    n = len(t) - k - 1
    sums = np.concatenate([[0.0], np.cumsum(c[:n] * (t[k + 1 :] - t[:n]) / (k + 1))])
    knots = np.concatenate([t[:1], t, t[-1:]])
    places = np.clip(np.stack([np.asarray(a, float), np.asarray(b, float)]), t[k], t[n])
    ends = _dierckx.evaluate_spline(knots, np.reshape(sums, (n + 1, 1)), k + 1, places, 0, True)[:, 0]
    return ends[1] - ends[0]


def evaluation(target, function, arranged):
    """Register what FITPACK computes of a curve, with a code or a work array behind it."""

    @means(target)
    def evaluated(alg, t, args, kwargs):
        if kwargs or not loses(alg, t, target, args, kwargs):
            return call_constant(alg, target, args, kwargs)
        value = target(*args)
        moving = enter(alg, (None, *arranged(t)), function, arranged(args), {})[1]
        return value, (moving, *[None] * (len(value) - 1))


evaluation(native.splev, values, lambda items: (*items[:4], 0 if type(items[2]) is int else None, *items[4:5]))
evaluation(native.splder, derivatives, lambda items: tuple(items))
evaluation(native.splint, area, lambda items: tuple(items))


def interpolating_knots(x, first, last, k):
    """The knots of a curve of degree k through all points: points for odd k, else middles between two."""
    half = k // 2
    inner = (
        x[half + 1 : len(x) - half - 1] if k % 2 else (x[half : len(x) - half - 1] + x[half + 1 : len(x) - half]) / 2
    )
    return np.concatenate([np.stack([first] * (k + 1)), inner, np.stack([last] * (k + 1))])


def given_knots(t, first, last, k):
    """The knots of a fit, of which the inner ones are given."""
    return np.concatenate([np.stack([first] * (k + 1)), t[k + 1 : len(t) - k - 1], np.stack([last] * (k + 1))])


def fitted(x, y, w, knots, k):
    """The coefficients of the curve with these knots that is nearest to the points."""
    n = len(knots) - k - 1
    matrix = _dierckx.evaluate_spline(knots, np.eye(n), k, x, 0, True)
    if n == len(x):
        return np.linalg.solve(matrix, y)
    matrix = matrix * w[:, None]
    values = y * (w[:, None] if y.ndim > 1 else w)
    return np.linalg.solve(matrix.T @ matrix, matrix.T @ values)


def interpolated(x, y, w, t, c, first, last, k, n, through):
    """Knots and coefficients in the lengths that FITPACK gives; ``through`` all points, or with given inner knots."""
    knots = interpolating_knots(x, first, last, k) if through else given_knots(t[:n], first, last, k)
    coefficients = fitted(x, y, w, knots, k)
    rest = np.zeros(len(c) - len(coefficients))
    return settled(np.concatenate([knots, t[n:]]), t), settled(np.concatenate([coefficients, rest]), c)


def store(array, values):
    array[...] = values


@means(native.curfit)
def curfit(alg, t, args, kwargs):
    if not loses(alg, t, native.curfit, args, kwargs):
        return call_constant(alg, native.curfit, args, kwargs)
    task, x, y, w, knots, wrk, iwrk, first, last, k, s = args
    found = knots.copy()
    n, c, fp, ier = native.curfit(task, x, y, w, found, wrk, iwrk, first, last, k, s)
    if task == 1 or task == 0 and s > 0.0 or ier > 0:
        unknown = alg.unknown(NotDifferentiable(SMOOTHED))
        knots[...] = found
        return (n, c, fp, ier), (None, unknown, unknown, lose(alg, knots, unknown) and None)
    inner = None if task == 0 else gather(alg, knots, t[4])
    operands = (x, y, w, found, c, first, last, k, n, task == 0)
    tokens = (None, *t[1:4], inner, None, t[7], t[8], None, None, None)
    both, moving = enter(alg, tokens, interpolated, operands, {})
    moving = moving or (None, None)
    enter(alg, (None, t[4], moving[0]), store, (knots, both[0]), {})
    return (n, c, fp, ier), (None, moving[1], alg.unknown(NotDifferentiable("a residual of FITPACK")), None)


@means(native.fpcurf0)
def fpcurf0(alg, t, args, kwargs):
    if not loses(alg, t, native.fpcurf0, args, kwargs):
        return call_constant(alg, native.fpcurf0, args, kwargs)
    value = native.fpcurf0(*args, **kwargs)
    given = dict(zip(("x", "y", "k", *kwargs), t))
    first, last = [value[i] if kwargs.get(name) is None else kwargs[name] for name, i in (("xb", 3), ("xe", 4))]
    unknown = alg.unknown(NotDifferentiable(SMOOTHED))
    tokens = [given["x"], given["y"], given.get("w"), given.get("xb"), given.get("xe"), *[None] * 9]
    tokens[8:12] = unknown, unknown, unknown, unknown
    if value[6] == 0.0 and value[-1] <= 0:
        ends = [enter(alg, (None, gather(alg, args[0], t[0]), None), item, (args[0], i), {})[1] for i in (0, -1)]
        ends = [end if kwargs.get(name) is None else given[name] for end, name in zip(ends, ("xb", "xe"))]
        weights = value[2]
        operands = (args[0], args[1], weights, value[8], value[9], float(first), float(last), value[5], value[7], True)
        moving = enter(alg, (None, t[0], t[1], None, None, None, *ends, None, None, None), interpolated, operands, {})[
            1
        ]
        tokens[8:10] = moving or (None, None)
    return value, tuple(tokens)


def item(x, i):
    return x[i]


@means(_bsplines._lsq_solve_qr)
def nearest_spline(alg, t, args, kwargs):
    """Of what is found, the coefficients alone are used."""
    value = _bsplines._lsq_solve_qr(*args, **kwargs)
    if kwargs.get("periodic") or len(args) > 5 and args[5]:
        moving = alg.unknown(NotDifferentiable("a periodic spline of least squares is not differentiated"))
    else:
        x, y, knots, k, w = args[:5]
        moving = enter(alg, (None, t[0], t[1], t[4], t[2], None), fitted, (x, y, w, knots, k), {})[1]
    unknown = alg.unknown(NotDifferentiable("a factor or a residual of a spline of least squares"))
    return value, tuple(moving if i == 2 else lose(alg, part, unknown) for i, part in enumerate(value))
