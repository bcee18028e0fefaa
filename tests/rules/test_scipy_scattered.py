"""Interpolation of scattered data: by values, by places, and by the points at which it is asked."""

import numpy as np
import pytest
from scipy import interpolate
from scipy.spatial import Delaunay

from autodiff_hook import gradient, hvp
from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.testing import check_gradient

PLACES = np.random.default_rng(0).uniform(size=(20, 2))
HEIGHTS = np.sin(3.0 * PLACES[:, 0]) * PLACES[:, 1]
WITHIN = np.random.default_rng(1).uniform(0.3, 0.7, size=(4, 2))
SCATTERED = interpolate.LinearNDInterpolator(PLACES, np.stack([HEIGHTS, HEIGHTS**2], 1))


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (lambda v: interpolate.griddata(PLACES, v, WITHIN), HEIGHTS),
        (lambda v: interpolate.griddata((PLACES[:, 0], PLACES[:, 1]), v, (0.4, WITHIN[:, :1]), "nearest"), HEIGHTS),
        (lambda v: interpolate.griddata(PLACES, v, WITHIN, "nearest", rescale=True), HEIGHTS),
        (lambda v: interpolate.LinearNDInterpolator(Delaunay(PLACES), np.outer(v, [1.0, 2.0]))(WITHIN), HEIGHTS),
        (lambda v: interpolate.LinearNDInterpolator(PLACES, v, fill_value=2.0)([[5.0, 5.0], [0.5, 0.5]]), HEIGHTS),
        (lambda p: interpolate.LinearNDInterpolator(p, HEIGHTS)(WITHIN), PLACES),
        (lambda p: interpolate.griddata(p, HEIGHTS, WITHIN, rescale=True), PLACES),
        (lambda x: SCATTERED(x), WITHIN),
        (lambda x: SCATTERED(x[:, 0], x[:, 1]), WITHIN),
        (lambda x: interpolate.NearestNDInterpolator(PLACES, HEIGHTS)(x), WITHIN),
    ],
)
def test_scattered_data(f, x):
    check_gradient(lambda x: np.sum(f(x) ** 2), x)
    v = np.cos(np.arange(x.size)).reshape(x.shape)
    there, here = (gradient(lambda x: np.sum(f(x) ** 3), x + h * v)[0] for h in (1e-6, -1e-6))
    found = hvp(lambda x: np.sum(f(x) ** 3), (x,), (v,))[0]
    np.testing.assert_allclose(found, (there - here) / 2e-6, rtol=1e-5, atol=1e-5)


def test_smooth_interpolation_of_scattered_data_is_an_error():
    for f, x in (
        (lambda v: interpolate.griddata(PLACES, v, WITHIN, "cubic")[0], HEIGHTS),
        (lambda x: interpolate.CloughTocher2DInterpolator(PLACES, HEIGHTS)(x)[0], WITHIN),
    ):
        with pytest.raises(NotDifferentiable, match="CloughTocher2DInterpolator has no derivative"):
            gradient(f, x)
