"""``RegularGridInterpolator`` and ``interpn``, and the splines on grids that they use."""

import numpy as np
from scipy.interpolate import _dierckx, _ndbspline, _rgi

from autodiff_hook.algebras.shadows import keep_attribute, reaches, some
from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.registry import writes
from autodiff_hook.semantics.functions import enter
from autodiff_hook.semantics.meanings import means
from autodiff_hook.semantics.opaque import call_constant, loses
from autodiff_rules.scipy._standins import follow_instead, stand_in
from autodiff_rules.scipy.interpolate.splines import spline


def distances(grid, xi, indices):
    """Where each point lies in its cell, from 0 to 1."""
    parts = []
    for lines, x, i in zip(grid, xi, indices):
        flat = len(lines) == 1
        parts.append(np.zeros_like(x) if flat else (x - lines[i]) / (lines[i + 1] - lines[i]))
    return np.stack(parts)


@means(_rgi.find_indices)
def find_indices(alg, t, args, kwargs):
    if not loses(alg, t, _rgi.find_indices, args, kwargs):
        return call_constant(alg, _rgi.find_indices, args, kwargs)
    value = _rgi.find_indices(*args)
    return value, (None, enter(alg, (None, *t, None), distances, (*args, value[0]), {})[1])


def linear(values, indices, places, grid, out):
    """The sum over the four corners."""
    (i, j), (u, v) = indices, places
    low = values[i, j] * (1.0 - v) + values[i, j + 1] * v
    high = values[i + 1, j] * (1.0 - v) + values[i + 1, j + 1] * v
    return low * (1.0 - u) + high * u


@means(_rgi.evaluate_linear_2d)
def evaluate_linear_2d(alg, t, args, kwargs):
    value = _rgi.evaluate_linear_2d(*args)
    if not loses(alg, t, _rgi.evaluate_linear_2d, args, kwargs) or min(args[0].shape) < 2:
        return value, None
    return value, enter(alg, (None, *t), linear, args, {})[1]


writes(_rgi.evaluate_linear_2d, 4)
writes(_rgi.find_indices)


def coordinates(points, ndim=None):
    """``_ndim_coords_from_arrays``: points in rows, of a tuple of arrays as well."""
    if isinstance(points, tuple) and len(points) == 1:
        points = points[0]
    if isinstance(points, tuple):
        return np.stack(np.broadcast_arrays(*points), axis=-1) * 1.0
    points = np.asarray(points) * 1.0
    return np.reshape(points, (-1, 1 if ndim is None else ndim)) if points.ndim == 1 else points


follow_instead(_rgi._ndim_coords_from_arrays, coordinates)


@stand_in(_dierckx.evaluate_ndbspline)
def grid_spline(xi, t, len_t, k, nu, extrapolate, c, trailing, strides, indices):
    """A product of splines: its coefficients times the basis of each dimension in turn."""
    sizes = [int(n) - int(degree) - 1 for n, degree in zip(len_t, k)]
    found = np.reshape(c, (sizes[0], -1))
    for d, size in enumerate(sizes):
        basis = spline(t[d, : len_t[d]], np.eye(size), int(k[d]), xi[:, d], int(nu[d]), True)
        found = basis @ found if d == 0 else np.einsum("pn,pnr->pr", basis, np.reshape(found, (len(xi), size, -1)))
    return found


def grid_coefficients(points, values, knots, k):
    """The coefficients of the spline through values on a grid: systems of equations along each axis."""
    found = values * 1.0
    for d, (places, t) in enumerate(zip(points, knots)):
        matrix = _dierckx.evaluate_spline(t, np.eye(len(places)), int(k[d]), np.asarray(places) * 1.0, 0, True)
        rows = np.moveaxis(found, d, 0)
        solved = np.linalg.solve(matrix, np.reshape(rows, (len(places), -1)))
        found = np.moveaxis(np.reshape(solved, rows.shape), 0, d)
    return found


@means(_ndbspline.make_ndbspl)
def make_ndbspl(alg, t, args, kwargs):
    found = _ndbspline.make_ndbspl(*args, **kwargs)
    points, values = args[:2]
    token = None
    if t[0] is not None and some(t[0]) or reaches(alg, points):
        token = alg.unknown(NotDifferentiable("a spline on a grid is not differentiated by the lines of the grid"))
    elif t[1] is not None or reaches(alg, values):
        operands = (points, values, found.t, found.k)
        token = enter(alg, (None, None, t[1], None, None), grid_coefficients, operands, {})[1]
    keep_attribute(alg, found, "_c", token)
    return found, None
