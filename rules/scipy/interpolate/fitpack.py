"""FITPACK's curves: ``splev``, ``splint``, ``splrep``, ``UnivariateSpline`` and their kin; least squares of splines.

Curves that go through all points, or have given knots, are differentiated, and ``RectBivariateSpline`` through all
points of a grid; how smoothing chooses is not. Of all surfaces (``bisplev`` and its kin) the values are differentiated.
"""

import numpy as np
from scipy.interpolate import _bsplines, _dierckx, _fitpack2, _fitpack_impl

from autodiff_hook.algebras.shadows import lose
from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.semantics.functions import enter
from autodiff_hook.semantics.meanings import means
from autodiff_hook.semantics.opaque import call_constant, loses
from autodiff_hook.semantics.structures import gather
from autodiff_rules._constants import IS_A_POSITION, declare
from autodiff_rules.scipy._standins import define, natively, part_natively, settled

# Before SciPy 1.18, FITPACK is Fortran behind f2py; since then it is C, with other orders of arguments and results.
IS_FORTRAN = hasattr(_fitpack_impl, "dfitpack")
native = _fitpack_impl.dfitpack if IS_FORTRAN else _fitpack_impl._fitpack
GRID = native.regrid_smth if IS_FORTRAN else _fitpack2._regrid_smth
FIT = ("task", "x", "y", "w")
ENDS = ("first", "last", "k", "s")
WORK = ("knots", "wrk", "iwrk")
FIT += WORK + ENDS if IS_FORTRAN else ENDS + WORK
RENAMED = {"xb": "first", "xe": "last"}
ZEROS, BOUNDARY = 1, 3
SMOOTHED = "a curve that FITPACK has smoothed is not differentiated: only one with s=0, or with given knots"


def values(t, c, k, x, nu, ext):
    """What ``splev`` gives: beyond the ends an extrapolation, zero, or the value at the end."""
    n, x = len(t) - k - 1, np.asarray(x, float)
    if ext == BOUNDARY:
        x = np.clip(x, t[k], t[n])
    y = _dierckx.evaluate_spline(t, np.reshape(c[:n], (n, 1)), k, x, nu, True)[:, 0]
    return np.where((x < t[k]) | (x > t[n]), 0.0, y) if ext == ZEROS else y


def areas(t, c, k, a, b):
    """The integrals of curves, whose coefficients are columns; the curves are zero beyond the ends."""
    n = len(t) - k - 1
    weighed = c * ((t[k + 1 :] - t[:n]) / (k + 1))[:, None]
    sums = np.concatenate([np.zeros((1, np.shape(c)[1])), np.cumsum(weighed, 0)])
    knots = np.concatenate([t[:1], t, t[-1:]])
    places = np.clip(np.stack([np.asarray(a, float), np.asarray(b, float)]), t[k], t[n])
    ends = _dierckx.evaluate_spline(knots, sums, k + 1, places, 0, True)
    return ends[1] - ends[0]


def area(t, c, k, a, b):
    """What ``splint`` gives."""
    n = len(t) - k - 1
    return areas(t, np.reshape(c[:n], (n, 1)), k, a, b)[0]


def basis(t, k, x, nu):
    """The derivatives of order ``nu`` of the basis functions of a direction, at points within its borders."""
    n = len(t) - k - 1
    return _dierckx.evaluate_spline(t, np.eye(n), k, np.clip(np.ravel(x) * 1.0, t[k], t[n]), nu, True)


def surface(tx, ty, c, kx, ky, nux, nuy, x, y, form):
    """What a surface is where each ``x`` meets each ``y``, in the form that FITPACK gives."""
    across, along = basis(tx, kx, x, nux), basis(ty, ky, y, nuy)
    coefficients = np.reshape(c, (across.shape[1], along.shape[1]))
    return np.reshape(across @ coefficients @ along.T, form)


def places_on_surface(tx, ty, c, kx, ky, nux, nuy, x, y, form):
    across, along = basis(tx, kx, x, nux), basis(ty, ky, y, nuy)
    coefficients = np.reshape(c, (across.shape[1], along.shape[1]))
    return np.reshape(np.sum((across @ coefficients) * along, axis=1), form)


def volume(tx, ty, c, kx, ky, xb, xe, yb, ye):
    """What ``dblint`` gives: the integral of a surface, one direction after the other."""
    coefficients = np.reshape(c, (len(tx) - kx - 1, len(ty) - ky - 1))
    along = areas(tx, coefficients, kx, xb, xe)
    return areas(ty, along[:, None], ky, yb, ye)[0]


def evaluation(target, alone=False):
    """Register a function for what FITPACK computes of a curve, ``alone`` or with a code or a work array behind it."""

    def register(function):
        def evaluated(*args):
            if alone:
                return settled(function(*args), natively(target, args, {}))
            y = settled(function(*args), part_natively(target, args, 0))
            return y, part_natively(target, args, 1)

        return define(target, evaluated)

    return register


@evaluation(native.splev)
def evaluated(t, c, k, x, ext, *rest):
    return values(t, c, k, x, 0, ext)


@evaluation(native.splder)
def derivatives(t, c, k, x, nu, ext, *rest):
    x, nu = (x, nu) if IS_FORTRAN else (nu, x)
    return values(t, c, k, x, nu, ext)


@evaluation(native.splint, alone=not IS_FORTRAN)
def integral(t, c, k, a, b, *rest):
    return area(t, c, k, a, b)


declare(IS_A_POSITION, native.fpchec)


def surface_evaluation(target, function, orders):
    """Register what FITPACK computes of a surface, with a code behind it; ``orders``: of derivatives, if it has any."""

    def evaluated(*args):
        value, code = part_natively(target, args, 0), part_natively(target, args, 1)
        first, rest = args[:5], args[5:]
        nux, nuy = rest[:2] if orders else (0, 0)
        x, y = rest[2:4] if orders else rest[:2]
        return settled(function(*first, nux, nuy, x, y, np.shape(value)), value), code

    define(target, evaluated)


surface_evaluation(native.bispev, surface, False)
surface_evaluation(native.parder, surface, True)
surface_evaluation(native.bispeu, places_on_surface, False)
surface_evaluation(native.pardeu, places_on_surface, True)
evaluation(native.dblint, alone=True)(volume)


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


def fitted_grid(x, y, z, xb=None, xe=None, yb=None, ye=None, kx=3, ky=3, s=0.0, maxit=20):
    """The surface through all points of a grid; the ends are those of the points, if none are given."""
    borders = {"xb": xb, "xe": xe, "yb": yb, "ye": ye}
    given = {name: None if end is None else float(end) for name, end in borders.items()}
    if IS_FORTRAN:
        given = {name: end for name, end in given.items() if end is not None}
    nx, tx, ny, ty, c, fp, code = natively(GRID, (x, y, z), {**given, "kx": kx, "ky": ky, "s": s, "maxit": maxit})
    if s != 0.0:
        raise NotDifferentiable(SMOOTHED)
    first, last = (x[0] if xb is None else xb), (x[-1] if xe is None else xe)
    low, high = (y[0] if yb is None else yb), (y[-1] if ye is None else ye)
    across, along = interpolating_knots(x, first, last, kx), interpolating_knots(y, low, high, ky)
    columns = fitted(x, np.reshape(z, (len(x), len(y))), None, across, kx)
    found = np.ravel(fitted(y, columns.T, None, along, ky).T)
    tx = settled(np.concatenate([across, tx[nx:]]), tx)
    ty = settled(np.concatenate([along, ty[ny:]]), ty)
    return nx, tx, ny, ty, settled(np.concatenate([found, np.zeros(len(c) - len(found))]), c), fp, code


define(GRID, fitted_grid)


def interpolated(x, y, w, t, c, first, last, k, n, through):
    """Knots and coefficients in the lengths that FITPACK gives; ``through`` all points, or with given inner knots."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    knots = interpolating_knots(x, first, last, k) if through else given_knots(t[:n], first, last, k)
    coefficients = fitted(x, y, w, knots, k)
    rest = np.zeros(len(c) - len(coefficients))
    return settled(np.concatenate([knots, t[n:]]), t), settled(np.concatenate([coefficients, rest]), c)


def solved(alg, tokens, given, n, t, c, ier):
    """Knots and coefficients of a fit that found them, as (values, tokens); of a smoothed one, unknown."""
    task = given["task"]
    if task == 1 or task == 0 and given["s"] > 0.0 or ier > 0:
        unknown = alg.unknown(NotDifferentiable(SMOOTHED))
        return (t, c), (unknown, unknown)
    names = ("x", "y", "w")
    operands = (*[given[name] for name in names], t, c, given["first"], given["last"], given["k"], n, task == 0)
    places = None if task == 0 else tokens["knots"]
    moving = (*[tokens[name] for name in names], places, None, tokens["first"], tokens["last"], None, None, None)
    both, found = enter(alg, (None, *moving), interpolated, operands, {})
    return both, found or (None, None)


def stored(array, values):
    array[...] = values
    return array


@means(native.curfit)
def curfit(alg, t, args, kwargs):
    """It writes the knots to its argument, which is what it returns as knots."""
    if not loses(alg, t, native.curfit, args, kwargs):
        return call_constant(alg, native.curfit, args, kwargs)
    given, tokens = dict(zip(FIT, args)), dict(zip(FIT, t))
    knots, place = given["knots"], tokens["knots"]
    tokens["knots"] = gather(alg, knots, place)
    found = knots.copy()
    n, *_, c, fp, ier = native.curfit(*(given | {"knots": found}).values())
    (filled, _), (t_token, c_token) = solved(alg, tokens, given, n, found, c, ier)
    knots, t_token = enter(alg, (None, place, t_token), stored, (knots, filled), {})
    fp_token = alg.unknown(NotDifferentiable("a residual of FITPACK"))
    if IS_FORTRAN:
        return (n, c, fp, ier), (None, c_token, fp_token, None)
    return (n, knots, c, fp, ier), (None, t_token, c_token, fp_token, None)


def fit_of_class(target, task, positional):
    """Register a fit of ``UnivariateSpline`` and its kin, before SciPy 1.18: its result has all data and findings."""

    @means(target)
    def fit(alg, t, args, kwargs):
        if not loses(alg, t, target, args, kwargs):
            return call_constant(alg, target, args, kwargs)
        names = (*positional, *kwargs)
        given = dict(zip(names, (*args, *kwargs.values())))
        tokens = dict.fromkeys(("w", "first", "last")) | dict(zip([RENAMED.get(name, name) for name in names], t))
        value = target(*args, **kwargs)
        x, y = given["x"], given["y"]
        for name, end, i in (("xb", "first", 0), ("xe", "last", -1)):
            if given.get(name) is None:
                tokens[end] = enter(alg, (None, gather(alg, x, tokens["x"]), None), item, (x, i), {})[1]
        _, _, w, first, last, k, s, n, knots, c, *_, ier = value
        used = {"task": task, "x": x, "y": y, "w": w, "first": float(first), "last": float(last), "k": k, "s": s}
        moving = solved(alg, tokens, used, n, knots, c, ier)[1]
        unknown = alg.unknown(NotDifferentiable("a residual of FITPACK"))
        settings = [tokens[name] for name in ("x", "y", "w", "first", "last")]
        return value, (*settings, None, None, None, *moving, unknown, unknown, None, None)


def item(x, i):
    return x[i]


if IS_FORTRAN:
    fit_of_class(native.fpcurf0, 0, ("x", "y", "k"))
    fit_of_class(native.fpcurfm1, -1, ("x", "y", "k", "knots"))


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
