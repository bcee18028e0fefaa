"""Splines of ``scipy.ndimage``: by the image and the places, and the values of stand-ins in all modes and orders."""

from __future__ import annotations

import warnings
from unittest import mock

import numpy as np
import pytest
from numpy_checks import normal
from scipy import ndimage
from scipy.ndimage import _interpolation, _nd_image

import autodiff_hook as ad
from autodiff_hook.runtime.specialising import GENERIC
from autodiff_hook.testing import check_gradient, check_rule
from autodiff_rules.scipy.ndimage import _windows, interpolation

IMAGE = normal(5, 6)
PLACES = np.array([[1.2, 2.3, 0.7], [2.4, 3.1, 4.2]])
MODES = ("reflect", "grid-mirror", "mirror", "nearest", "wrap", "grid-wrap", "constant", "grid-constant")
OPERATIONS = {
    "places": lambda x, **options: ndimage.map_coordinates(x, 9.0 * normal(2, 20), **options),
    "matrix": lambda x, **options: ndimage.affine_transform(x, [[0.9, 0.2], [-0.1, 1.1]], [0.31, -0.43], **options),
    "diagonal": lambda x, **options: ndimage.affine_transform(x, [0.9, 1.2], [0.31, -0.43], **options),
    "zoom": lambda x, **options: ndimage.zoom(x, (2.0, 0.7), **options),
    "shift": lambda x, **options: ndimage.shift(x, (0.7, -1.3), **options),
    "rotate": lambda x, **options: ndimage.rotate(x, 25.0, **options),
}


class Compared:
    """The native module, whose results are compared with those of the stand-ins."""

    def __getattr__(self, name):
        native = getattr(_nd_image, name)
        place = {"geometric_transform": 5, "zoom_shift": 3}.get(name)
        if place is None:
            return native

        def compared(*args):
            found = getattr(interpolation, name)(*args)
            native(*args)
            np.testing.assert_allclose(np.reshape(found, np.shape(args[place])), args[place], atol=1e-10)

        return compared


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", OPERATIONS)
def test_values(name, mode):
    with mock.patch.object(_interpolation, "_nd_image", Compared()):
        for order in range(6):
            OPERATIONS[name](IMAGE, order=order, mode=mode, cval=0.3)


def energy(y):
    return np.sum(y**3 * np.cos(np.arange(y.size)).reshape(y.shape))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", OPERATIONS)
def test_by_the_image(name, mode):
    for order in range(6):

        def f(x, order=order):
            return energy(OPERATIONS[name](x, mode=mode, order=order, cval=0.3))

        v = normal(5, 6, seed=1)
        check_gradient(f, IMAGE)
        ḡ = ad.gradient(f, IMAGE)[0]
        assert ad.jvp(f, (IMAGE,), (v,))[1] == pytest.approx(np.sum(ḡ * v))
        if order == 3:
            differences = (ad.gradient(f, IMAGE + 1e-6 * v)[0] - ad.gradient(f, IMAGE - 1e-6 * v)[0]) / 2e-6
            np.testing.assert_allclose(ad.hvp(f, (IMAGE,), (v,))[0], differences, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("mode", _windows.MODES)
@pytest.mark.parametrize("name", ["geometric_transform", "zoom_shift"])
def test_rules_of_samples(name, mode):
    native, coordinates = getattr(_nd_image, name), 9.0 * normal(2, 3, 4) - 1.0
    if name == "zoom_shift":
        args = (np.array([0.9, 1.3]), np.array([-1.2, 0.7]), interpolation.RESULT, 3, mode, interpolation.BEYOND, 1, 0)
    else:
        around = (interpolation.RESULT, 3, mode, interpolation.BEYOND, 1, None, None)
        args = (None, coordinates, None, None, *around)
    given, shape = (native, args, (3, 4)), IMAGE.shape
    spread, c = interpolation.beside_coefficients, normal(3, 4)
    sampled = interpolation.sampled
    check_rule(sampled, IMAGE, given, 0.3, differences=lambda x, *_: sampled(x, given, 0.3))
    check_rule(spread, c, given, shape, differences=lambda c, *_: spread(c, given, shape))
    moved = sampled(IMAGE, given, 0.3) - sampled(0.0 * IMAGE, given, 0.3)
    assert np.sum(c * moved) == pytest.approx(np.sum(spread(c, given, shape) * IMAGE))


@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_by_the_places(order):
    def f(places):
        return energy(ndimage.map_coordinates(IMAGE, places, order=order, mode="mirror"))

    v = normal(2, 3)
    check_gradient(f, PLACES)
    assert ad.jvp(f, (PLACES,), (v,))[1] == pytest.approx(np.sum(ad.gradient(f, PLACES)[0] * v))
    differences = (ad.gradient(f, PLACES + 1e-6 * v)[0] - ad.gradient(f, PLACES - 1e-6 * v)[0]) / 2e-6
    np.testing.assert_allclose(ad.hvp(f, (PLACES,), (v,))[0], differences, rtol=1e-5, atol=1e-5)


def test_by_what_moves_the_image():
    check_gradient(lambda shift: energy(ndimage.shift(IMAGE, shift, mode="wrap")), np.array([0.7, -1.3]))
    matrix = np.array([[0.9, 0.2], [-0.1, 1.1]])
    check_gradient(lambda m, c: energy(ndimage.affine_transform(IMAGE, m, c)), matrix, np.array([0.31, -0.43]))


@pytest.mark.parametrize("mode", _windows.MODES)
@pytest.mark.parametrize("order", [2, 3, 5])
@pytest.mark.parametrize("length", [1, 2, 5])
@pytest.mark.parametrize("target", [interpolation.coefficients, interpolation.beside_image])
def test_rules_of_spline_filters(target, length, order, mode):
    given = (order, 1, mode)
    check_rule(target, normal(3, length), *given, differences=lambda x, *_: target(x, *given), second_order=True)


def test_spline_filter():
    check_gradient(lambda x: energy(ndimage.spline_filter(x)), IMAGE)
    check_gradient(lambda x: energy(ndimage.geometric_transform(x, lambda at: (at[0] * 0.9, at[1]))), IMAGE)


def resampled(image):
    taken = ndimage.map_coordinates(image, [[1.5, 2.5], [1.0, 2.2]], order=1).sum()
    return taken + ndimage.zoom(image, 0.5, order=1)[1, 1] * ndimage.shift(image, 0.3)[2, 3]


def resampled_into(image):
    out = np.empty((3, 4))
    ndimage.zoom(image, 0.5, order=1, output=out)
    return out.sum() + ndimage.rotate(image, 10.0, reshape=False, order=1)[2, 2] ** 2


@pytest.mark.skipif(GENERIC, reason="nothing is typed")
@pytest.mark.parametrize("f", [resampled, resampled_into])
def test_images_at_places_are_typed(f):
    image = np.sin(np.arange(42.0)).reshape(6, 7)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_gradient(f, image)
        assert ", 0 carried" in str(ad.explain(f, image))
