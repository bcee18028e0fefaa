"""Splines through images, by the image and by the places where they are asked for.

An image is turned into coefficients of B-splines along each axis, a linear filter; then each value is a sum of the
coefficients around its place (M. Unser, Splines: a perfect fit for signal and image processing, 1999).
"""

from itertools import product
from math import comb, factorial

import numpy as np
from scipy import LowLevelCallable
from scipy.ndimage import _nd_image

from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.extend import cotangents, fresh, frule, linear
from autodiff_hook.semantics.functions import enter
from autodiff_hook.semantics.meanings import meaning_of, means
from autodiff_hook.semantics.opaque import loses
from autodiff_rules.numpy._shared import unbroadcast
from autodiff_rules.scipy._standins import stand_in, write_instead
from autodiff_rules.scipy.ndimage._windows import MODES, require_apart

OF_COEFFICIENTS = {"constant": "mirror", "wrap": "mirror"}
"""How coefficients go on beyond the borders, where that is not as the image does."""


def coefficients(x, order, axis, mode):
    """The coefficients of the splines along an axis."""
    y = np.empty(np.shape(x))
    _nd_image.spline_filter1d(x, order, axis, y, mode)
    return y


def beside_image(c, order, axis, mode):
    """The transpose: the filter of each unit vector, which has no symmetry near the borders."""
    length = np.shape(c)[axis]
    matrix = coefficients(np.eye(length), order, 0, mode)
    return np.moveaxis(np.matmul(np.moveaxis(c, axis, -1), matrix), -1, axis)


linear(
    coefficients,
    "x, order, axis, mode",
    lambda ȳ, x, order, axis, mode: unbroadcast(beside_image(ȳ, order, axis, mode), x),
    kinds=0,
)
linear(beside_image, "c, order, axis, mode", lambda ȳ, order, axis, mode: coefficients(ȳ, order, axis, mode), kinds=0)
fresh(coefficients, beside_image)


@write_instead(_nd_image.spline_filter1d, 3)
def spline_filter1d(input, order, axis, output, mode):
    output[...] = coefficients(input, order, axis, mode)


def folded(x, length, mode):
    """A place within the image for one that may be outside; ``x`` may be of floats or of whole numbers."""
    if mode in ("constant", "grid-constant"):
        return x
    if mode == "nearest":
        return np.clip(x, 0, length - 1)
    if mode == "grid-wrap":
        return np.mod(x, length)
    if length == 1:
        return 0 * x
    if mode == "wrap":
        return np.where((x < 0) | (x > length - 1), np.mod(x, length - 1), x)
    if mode == "mirror":
        return (length - 1) - np.abs(np.mod(x, 2 * length - 2) - (length - 1))
    return (length - 0.5) - np.abs(np.mod(x + 0.5, 2 * length) - length)


def basis(x, order):
    """The B-spline of this order around 0."""
    parts = [
        (-1) ** k * comb(order + 1, k) * np.power(np.maximum(x + 0.5 * (order + 1) - k, 0.0), order)
        for k in range(order + 1)
    ]
    return sum(parts) / factorial(order)


def interpolated(coefficients, places, order, mode, cval):
    """The spline at places (axes, points); outside the image as ``mode`` says."""
    shape, outside = np.shape(coefficients), False
    taps, weights = [], []
    for place, length in zip(places, shape):
        if mode == "constant":
            outside = outside | (place < 0) | (place > length - 1)
        place = place if mode == "nearest" else folded(place, length, mode)
        first = np.floor(place if order % 2 else place + 0.5).astype(int) - order // 2
        taps.append([first + k for k in range(order + 1)])
        weights.append([basis(place - tap, order) if order else np.ones(np.shape(place)) for tap in taps[-1]])
    total = 0.0
    for chosen in product(range(order + 1), repeat=len(shape)):
        weight, index, absent = 1.0, [], False
        for axis, k in enumerate(chosen):
            tap = taps[axis][k]
            weight = weight * weights[axis][k]
            absent = absent | (tap < 0) | (tap >= shape[axis])
            index.append(
                np.clip(folded(tap, shape[axis], OF_COEFFICIENTS.get(mode, mode)), 0, shape[axis] - 1).astype(int)
            )
        value = coefficients[tuple(index)]
        total = total + weight * (np.where(absent, cval, value) if mode == "grid-constant" else value)
    return np.where(outside, cval, total) if mode == "constant" else total


def grid_of(output):
    return np.indices(np.shape(output)).reshape(np.ndim(output), -1).astype(float)


def taps_of(places, shape, order, mode):
    """Which coefficients stand around each place, by their numbers, and what each is multiplied with."""
    points = np.shape(places)[1]
    index, weight = np.zeros((1, points), int), np.ones((1, points))
    for place, length in zip(places, shape):
        if mode == "constant":
            weight = np.where((place < 0) | (place > length - 1), 0.0, weight)
        place = place if mode == "nearest" else folded(place, length, mode)
        first = np.floor(place if order % 2 else place + 0.5).astype(int) - order // 2
        taps = first + np.arange(order + 1)[:, None]
        own = basis(place - taps, order) if order else np.ones((1, points))
        if mode == "grid-constant":
            own = np.where((taps < 0) | (taps >= length), 0.0, own)
        taps = np.clip(folded(taps, length, OF_COEFFICIENTS.get(mode, mode)), 0, length - 1).astype(int)
        count = len(index) * len(taps)
        index = np.reshape(index[:, None] * length + taps, (count, points))
        weight = np.reshape(weight[:, None] * own, (count, points))
    return index, weight


def sampled(x, given, cval):
    """What a native loop makes of coefficients alone; ``given``: the loop, its arguments, and the result's shape."""
    native, args, shape = given
    y = np.empty(shape)
    native(x, *[y if v is RESULT else cval if v is BEYOND else v for v in args])
    return y


RESULT, BEYOND = "the result", "the value beyond the borders"


def beside_coefficients(c, given, shape):
    native, args, output = given
    if native is geometric_transform_native:
        _, coordinates, matrix, offset, _, order, mode, _, padding, *_ = args
        places = places_of(coordinates, matrix, offset, c)
    else:
        zoom, shift, _, order, mode, _, padding, grid_mode = args
        places = zoomed_places(zoom, shift, c, grid_mode)
    index, weight = taps_of(places + padding, shape, order, MODES[mode])
    total = np.bincount(np.ravel(index), np.ravel(weight * np.ravel(c)), int(np.prod(shape)))
    return np.reshape(total, shape)


cotangents(
    sampled, "x, given, cval", 0, x=lambda ȳ, x, given: unbroadcast(beside_coefficients(ȳ, given, np.shape(x)), x)
)
frule(sampled, lambda ẋ, y, x, given, cval: sampled(ẋ, given, 0.0))
linear(beside_coefficients, "c, given, shape", lambda ȳ, given: sampled(ȳ, given, 0.0), kinds=0)


def places_of(coordinates, matrix, offset, output):
    if coordinates is not None:
        return np.reshape(coordinates, (np.shape(coordinates)[0], -1))
    return np.matmul(matrix, grid_of(output)) + np.reshape(offset, (-1, 1))


def transform_of_image(
    input, mapping, coordinates, matrix, offset, output, order, mode, cval, padding, arguments, keywords
):
    require_apart(output, input)
    args = (mapping, coordinates, matrix, offset, RESULT, order, mode, BEYOND, padding, arguments, keywords)
    output[...] = sampled(input, (geometric_transform_native, args, output.shape), cval)


@stand_in(_nd_image.geometric_transform, 5, fixed=transform_of_image, at=(1, 2, 3, 4, 8))
def geometric_transform(
    input, mapping, coordinates, matrix, offset, output, order, mode, cval, padding, arguments, keywords
):
    require_apart(output, input)
    places = places_of(coordinates, matrix, offset, output)
    return interpolated(input, places + padding, order, MODES[mode], cval)


def mapped(input, mapping, coordinates, matrix, offset, output, order, mode, cval, padding, arguments, keywords):
    """``geometric_transform`` with a function that says the places."""
    if isinstance(mapping, LowLevelCallable):
        raise NotDifferentiable("scipy.ndimage.geometric_transform with a compiled function is not differentiated")
    require_apart(output, input)
    rows = np.array([mapping(place, *arguments, **keywords) for place in np.ndindex(*np.shape(output))])
    places = np.reshape(np.transpose(rows), (np.ndim(input), *np.shape(output)))
    geometric_transform_native(input, None, places, None, None, output, order, mode, cval, padding, None, None)


geometric_transform_native = _nd_image.geometric_transform
by_coordinates = meaning_of(_nd_image.geometric_transform)


@means(_nd_image.geometric_transform)
def transform(alg, t, args, kwargs):
    """``_nd_image.geometric_transform``: the places of a function are coordinates."""
    if args[1] is None or not loses(alg, t, args[1], args, kwargs):
        return by_coordinates(alg, t, args, kwargs)
    return enter(alg, (None, *t), mapped, args, kwargs)


def zoomed_places(zoom, shift, output, grid_mode):
    places = grid_of(output)
    if shift is not None:
        places = places + np.reshape(shift, (-1, 1))
    if zoom is not None:
        factor = np.reshape(zoom, (-1, 1))
        places = (places + 0.5) * factor - 0.5 if grid_mode else places * factor
    return places


def zoom_of_image(input, zoom, shift, output, order, mode, cval, padding, grid_mode):
    require_apart(output, input)
    args = (zoom, shift, RESULT, order, mode, BEYOND, padding, grid_mode)
    output[...] = sampled(input, (_nd_image.zoom_shift, args, output.shape), cval)


@stand_in(_nd_image.zoom_shift, 3, fixed=zoom_of_image, at=(1, 2, 6))
def zoom_shift(input, zoom, shift, output, order, mode, cval, padding, grid_mode):
    require_apart(output, input)
    places = zoomed_places(zoom, shift, output, grid_mode)
    return interpolated(input, places + padding, order, MODES[mode], cval)
