"""Interpolation of scattered data: ``LinearNDInterpolator``, ``NearestNDInterpolator``, and so ``griddata``.

``n`` points in ``d`` dimensions have values of ``m`` components; a triangulation is constant between the places where
it changes.
"""

import numpy as np
from scipy.interpolate import CloughTocher2DInterpolator, LinearNDInterpolator
from scipy.spatial import Delaunay

from autodiff_hook.errors import NotDifferentiable
from autodiff_rules._definitions import follow_instead
from autodiff_rules.scipy._standins import natively, settled

Interpolator = LinearNDInterpolator.__mro__[1]


def coordinates(points):
    """Points (..., d), which may be given by coordinate."""
    if isinstance(points, tuple):
        points = np.stack(np.broadcast_arrays(*points), -1)
    return np.asarray(points)


def listed(points, d):
    """Points (n, d)."""
    return np.reshape(coordinates(points), (-1, d))


def with_values(self, found, points, values):
    """An interpolator that has the values, and what was ``found`` without derivatives."""
    self.__dict__.update(found.__dict__)
    if not isinstance(points, Delaunay):
        places = listed(points, found.points.shape[1])
        if found.scale is not None:
            middle, spread = np.mean(places, 0), np.max(places, 0) - np.min(places, 0)
            self.offset = settled(middle, found.offset)
            self.scale = settled(np.where(spread > 0.0, spread, 1.0), found.scale)
            places = scale(self, places)
        self.points = settled(places, found.points)
    if found.values is not None:
        self.values = settled(np.reshape(values, found.values.shape), found.values)


def linear(points, values, fill_value=np.nan, rescale=False):
    self = object.__new__(LinearNDInterpolator)
    found = natively(LinearNDInterpolator, (points, values, fill_value, rescale), {})
    with_values(self, found, points, values)
    return self


def begin(self, points, values, *args, **options):
    with_values(self, natively(Interpolator, (points, values, *args), options), points, values)


def require_shape(self, xi):
    natively(Interpolator._check_call_shape, (self, xi), {})
    return np.asarray(xi)


def scale(self, xi):
    return xi if self.scale is None else (xi - self.offset) / self.scale


def evaluate(self, *args, **options):
    if isinstance(self, CloughTocher2DInterpolator):
        raise NotDifferentiable("scipy.interpolate.CloughTocher2DInterpolator has no derivative", remedies=REMEDIES)
    value = natively(type(self).__call__, (self, *args), options)
    places = scale(self, listed(args if len(args) > 1 else args[0], self.points.shape[1]))
    tolerance = 100.0 * np.finfo(float).eps * options.get("simplex_tolerance", 1.0)
    simplex = natively(self.tri.find_simplex, (places,), {"tol": tolerance})
    inside = np.flatnonzero(simplex >= 0)
    corners = self.tri.simplices[simplex[inside]]
    found = np.full((len(places), self.values.shape[1]), self.fill_value)
    found[inside] = np.einsum("nk,nkm->nm", weights(places[inside], self.points[corners]), self.values[corners])
    return settled(np.reshape(found, np.shape(value)), value)


REMEDIES = "interpolate linearly (LinearNDInterpolator)", "use RBFInterpolator"


def weights(places, corners):
    """The barycentric coordinates (n, d + 1) of places (n, d) in simplices with the corners (n, d + 1, d)."""
    last = corners[:, -1]
    edges = np.swapaxes(corners[:, :-1] - last[:, None], 1, 2)
    first = np.linalg.solve(edges, (places - last)[..., None])[..., 0]
    return np.concatenate([first, 1.0 - np.sum(first, 1, keepdims=True)], 1)


follow_instead(LinearNDInterpolator, linear)
follow_instead(Interpolator.__init__, begin)
follow_instead(Interpolator.__call__, evaluate)
follow_instead(Interpolator._check_call_shape, require_shape)
follow_instead(Interpolator._scale_x, scale)
