"""``scipy.ndimage``: gradients of filters against finite differences, and the values of stand-ins in all modes."""

from __future__ import annotations

import numpy as np
import pytest
from bilinear_checks import check_bilinear, require_typed
from in_all_orders import check_orders
from numpy_checks import normal
from scipy import ndimage

import autodiff_hook as ad
from autodiff_hook.runtime.specialising import GENERIC
from autodiff_hook.testing import check_gradient, check_rule
from autodiff_rules.scipy.ndimage import _windows, filters

IMAGE, KERNEL, LONG = normal(5, 6), normal(2, 3), normal(15)
MODES = ("reflect", "grid-mirror", "mirror", "nearest", "wrap", "grid-wrap", "constant", "grid-constant")

FILTERS = {
    "correlate": lambda x, mode: ndimage.correlate(x, KERNEL, mode=mode, cval=0.3, origin=(0, -1)),
    "convolve": lambda x, mode: ndimage.convolve(x, KERNEL, mode=mode, cval=0.3),
    "correlate1d": lambda x, mode: ndimage.correlate1d(x, KERNEL[1], 0, mode=mode, cval=0.3, origin=1),
    "long": lambda x, mode: ndimage.convolve1d(x, LONG, mode=mode),
    "uniform_filter": lambda x, mode: ndimage.uniform_filter(x, (2, 3), mode=mode, cval=0.3),
    "gaussian_filter": lambda x, mode: ndimage.gaussian_filter(x, (0.7, 1.2), mode=mode),
    "gaussian_gradient": lambda x, mode: ndimage.gaussian_filter1d(x, 0.7, order=1, mode=mode),
    "sobel": lambda x, mode: ndimage.sobel(x, mode=mode),
    "prewitt": lambda x, mode: ndimage.prewitt(x, 0, mode=mode),
    "laplace": lambda x, mode: ndimage.laplace(x, mode=mode),
    "gaussian_laplace": lambda x, mode: ndimage.gaussian_laplace(x, 0.8, mode=mode),
    "maximum_filter": lambda x, mode: ndimage.maximum_filter(x, (2, 3), mode=mode),
    "minimum_filter": lambda x, mode: ndimage.minimum_filter(x, footprint=KERNEL > 0, mode=mode),
    "grey_dilation": lambda x, mode: ndimage.grey_dilation(x, structure=KERNEL, mode=mode),
    "median_filter": lambda x, mode: ndimage.median_filter(x, 3, mode=mode),
    "rank_filter": lambda x, mode: ndimage.rank_filter(x, 1, 2, mode=mode, cval=0.3),
    "median_of_a_line": lambda x, mode: ndimage.median_filter(x[0], 3, mode=mode),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", FILTERS)
def test_filters(name, mode):
    def f(x):
        y = FILTERS[name](x, mode)
        return np.sum(y**3 * np.cos(np.arange(y.size)).reshape(y.shape))

    assert ad.withgradient(f, IMAGE)[0] == pytest.approx(f(IMAGE), rel=1e-12)
    check_gradient(f, IMAGE)


@pytest.mark.parametrize("name", ["gaussian_filter", "correlate", "median_filter", "grey_dilation"])
def test_all_operators_agree(name):
    def f(x):
        return np.sum(FILTERS[name](x, "reflect") ** 3)

    v = normal(5, 6, seed=1)
    assert ad.jvp(f, (IMAGE,), (v,))[1] == pytest.approx(np.sum(ad.gradient(f, IMAGE)[0] * v))
    differences = (ad.gradient(f, IMAGE + 1e-6 * v)[0] - ad.gradient(f, IMAGE - 1e-6 * v)[0]) / 2e-6
    np.testing.assert_allclose(ad.hvp(f, (IMAGE,), (v,))[0], differences, rtol=1e-5, atol=1e-5)


def test_by_the_kernel_and_its_width():
    check_gradient(lambda k: np.sum(ndimage.correlate(IMAGE, k) ** 3), KERNEL)
    check_gradient(lambda k: np.sum(ndimage.convolve1d(IMAGE, k) ** 3), KERNEL[1])
    check_gradient(lambda s: np.sum(ndimage.gaussian_filter(IMAGE, s, radius=3) ** 3), 0.8)


@pytest.mark.parametrize("mode", _windows.MODES)
@pytest.mark.parametrize("size, origin", [(1, 0), (2, 0), (2, -1), (3, 1), (4, -2), (7, 3), (13, -6)])
def test_rules_of_lines(size, origin, mode):
    x, w, options = IMAGE, normal(size), (0, mode, origin)
    check_bilinear(filters.filtered, filters.filtered_image, filters.beside_image, filters.beside_kernel, x, w, options)
    by_mean = filters.uniform
    check_rule(
        by_mean,
        *(x, size, 1, mode, 0.3, origin),
        differences=lambda x, _, axis, m, cval, o: by_mean(x, size, 1, mode, cval, origin),
        second_order=True,
    )
    spread = filters.uniform_by_image
    c = normal(5, 6, seed=2)
    check_rule(
        spread, c, size, 1, mode, origin, differences=lambda c, *_: spread(c, size, 1, mode, origin), second_order=True
    )


@pytest.mark.parametrize("mode", _windows.MODES)
@pytest.mark.parametrize("shape, origins", [((2, 3), [0, 1]), ((1, 4), [0, -2]), ((9, 7), [4, -3])])
def test_rules_of_kernels(shape, origins, mode):
    options = (None, mode, origins)
    check_bilinear(
        *(filters.filtered, filters.filtered_image, filters.beside_image, filters.beside_kernel),
        *(IMAGE, normal(*shape), options),
    )


def test_images_that_are_empty_or_of_one_precision():
    empty = np.zeros((0, 3))
    assert ad.gradient(lambda x: ndimage.gaussian_filter(x, 1.0).sum(), empty)[0].shape == (0, 3)
    single = ad.gradient(lambda x: ndimage.gaussian_filter(x, 1.0)[1].sum(), IMAGE.astype(np.float32))[0]
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, ad.gradient(lambda x: ndimage.gaussian_filter(x, 1.0)[1].sum(), IMAGE)[0], 1e-4)
    check_gradient(lambda x: np.sum(np.abs(ndimage.convolve1d(x + 1j * x**2, [1j, 2.0, 0.5])) ** 2), IMAGE)


def test_what_is_rounded_is_constant():
    assert not ad.gradient(lambda x: 1.0 * ndimage.gaussian_filter(x, 1.0, output=int).sum(), 9.0 * IMAGE)[0].any()


@pytest.mark.parametrize(
    "write",
    [
        lambda a: ndimage.shift(a, 0.5, output=a, order=1),
        lambda a: ndimage.affine_transform(a, 0.9 * np.eye(2), output=a, order=1),
        lambda a: ndimage.geometric_transform(a, lambda p: (p[0] * 0.7, p[1] * 0.5), output=a, order=1),
        lambda a: ndimage.generic_filter(a, np.sum, 2, output=a),
    ],
)
def test_what_is_overwritten_before_it_is_read(write):
    def f(x):
        a = x * 1.0
        write(a)
        return np.sum(a * IMAGE)

    for differentiate in (ad.gradient, lambda f, x: ad.jvp(f, (x,), (IMAGE,))):
        with pytest.raises(ad.NotDifferentiable, match="overwrites elements"):
            differentiate(f, IMAGE)


def test_filters_in_place():
    def f(x):
        a = x * 1.0
        ndimage.gaussian_filter(a, 1.0, output=a)
        ndimage.shift(a, 0.5, output=a)
        ndimage.median_filter(a, 2, output=a)
        return np.sum(a * IMAGE)

    check_gradient(f, IMAGE)


def test_measurements():
    check_gradient(lambda x: ndimage.mean(x) * ndimage.sum(x) * ndimage.variance(x), IMAGE)
    check_gradient(lambda x: sum(ndimage.center_of_mass(x)), np.abs(IMAGE))


def by_windows(x):
    def weighted(around, factor, power=1.0):
        return np.sum(around**2) * factor + around[0] * power

    footprint = np.array([[0, 1, 0], [1, 1, 1]])
    image = np.outer(x[:3], x)
    options = {"mode": "constant", "cval": 0.3, "extra_arguments": (2.0,), "extra_keywords": {"power": x[0]}}
    return ndimage.generic_filter(image, weighted, footprint=footprint, **options)


def by_a_mapping(x):
    image = np.outer(x, x[:4])
    moved = ndimage.geometric_transform(image, lambda p, k: (p[0] * 0.8, p[1] + k), extra_arguments=(x[0],))
    near = ndimage.geometric_transform(
        image, lambda p: (p[0] - 0.4 * x[1], p[1] * 0.9), (2, 3), mode="nearest", order=2
    )
    return np.append(moved, near)


@pytest.mark.parametrize("program", [by_windows, by_a_mapping])
def test_callbacks(program):
    check_orders(program, np.array([0.7, 1.3, 0.9, 1.6]))


@pytest.mark.skipif(GENERIC, reason="nothing is typed")
@pytest.mark.parametrize("name", [*list(FILTERS)[:11], "gaussian_gradient_magnitude"])
def test_filters_are_typed(name):
    def f(x):
        if name == "gaussian_gradient_magnitude":
            return np.sum(ndimage.gaussian_gradient_magnitude(x, 1.0) ** 2)
        return np.sum(FILTERS[name](x, "reflect") ** 2)

    require_typed(f, IMAGE)
