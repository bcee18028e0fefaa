"""``RegularGridInterpolator`` and ``interpn``, and the splines on grids that they use."""

import numpy as np
from scipy.interpolate import _dierckx, _ndbspline, _rgi

from autodiff_hook.algebras.searching import reaches
from autodiff_hook.algebras.shadows import keep_attribute, some
from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.extend import cotangents
from autodiff_hook.registry import writes
from autodiff_hook.semantics.functions import enter
from autodiff_hook.semantics.meanings import means
from autodiff_rules.numpy._shared import unbroadcast
from autodiff_rules.scipy._standins import define, stand_in, write_instead
from autodiff_rules.scipy.interpolate.polynomials import scattered
from autodiff_rules.scipy.interpolate.splines import spline


def distances(grid, xi, indices):
    """Where each point lies in its cell, from 0 to 1."""
    parts = []
    for lines, x, i in zip(grid, xi, indices):
        flat = len(lines) == 1
        parts.append(np.zeros_like(x) if flat else (x - lines[i]) / (lines[i + 1] - lines[i]))
    return np.stack(parts)


def cells(grid, xi):
    """The cell of each point along each axis."""
    return _rgi.find_indices(grid, xi)[0]


cotangents(cells, "grid, xi", 0, xi=lambda ȳ: None)


def find_indices(grid, xi):
    indices = cells(grid, xi)
    return indices, distances(grid, xi, indices)


def bilinear(values, indices, places, grid):
    """The sum over the four corners of a cell; an axis with one line has the cell -1."""
    out = np.empty(indices.shape[1], values.dtype)
    return _rgi.evaluate_linear_2d(values, indices, places, grid, out)


def corners(indices, shape):
    """Where the four corners are among the values."""
    (i, j), (m, n) = indices, shape
    return [(i + a) % m * n + (j + b) % n for a in (0, 1) for b in (0, 1)]


def bilinear_by_values(ȳ, values, indices, places):
    u, v = places
    weights = [(1.0 - u) * (1.0 - v), (1.0 - u) * v, u * (1.0 - v), u * v]
    parts = np.concatenate([ȳ * weight for weight in weights])
    total = scattered(parts, np.concatenate(corners(indices, values.shape)), values.size)
    return unbroadcast(np.reshape(total, values.shape), values)


def bilinear_by_places(ȳ, values, indices, places):
    u, v = places
    flat = np.reshape(values, -1)
    a, b, c, d = [flat[corner] for corner in corners(indices, values.shape)]
    slopes = np.stack([(c - a) * (1.0 - v) + (d - b) * v, (b - a) * (1.0 - u) + (d - c) * u])
    return unbroadcast(np.conj(slopes) * ȳ, places)


cotangents(
    bilinear,
    "values, indices, places, grid",
    0,
    values=bilinear_by_values,
    places=bilinear_by_places,
)


@write_instead(_rgi.evaluate_linear_2d, 4)
def evaluate_linear_2d(values, indices, places, grid, out):
    out[...] = bilinear(values, indices, places, grid)
    return out


writes(_rgi.find_indices)
define(_rgi.find_indices, find_indices)


def coordinates(points, ndim=None):
    """``_ndim_coords_from_arrays``: points in rows, of a tuple of arrays as well."""
    if isinstance(points, tuple) and len(points) == 1:
        points = points[0]
    if isinstance(points, tuple):
        return np.stack(np.broadcast_arrays(*points), axis=-1) * 1.0
    points = np.asarray(points) * 1.0
    return np.reshape(points, (-1, 1 if ndim is None else ndim)) if points.ndim == 1 else points


define(_rgi._ndim_coords_from_arrays, coordinates)


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
