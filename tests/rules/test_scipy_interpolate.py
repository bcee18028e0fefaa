"""Interpolation: by the point, by the values and by the places of the data."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from bilinear_checks import require_typed
from scipy import interpolate
from scipy.interpolate import _rgi

from autodiff_hook import gradient, hvp, jvp, withgradient
from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.runtime.specialising import GENERIC
from autodiff_hook.testing import check_gradient, check_rule
from autodiff_rules.scipy.interpolate import grids, polynomials, radial, splines

POINT = np.array([1.31, 0.73, 0.42])
DIRECTION = np.array([0.6, -0.8, 0.3])
PLACES = np.array([0.0, 0.5, 1.3, 2.0, 3.1, 4.0])
VALUES = np.sin(PLACES)


def agrees(f, p=POINT, v=DIRECTION, rtol=1e-6, second=True, size=1e-5):
    """Whether the derivatives of ``f`` in one direction are those of finite differences."""
    step = size * v
    value, (slope,) = withgradient(f, p)
    expected = (f(p + step) - f(p - step)) / (2 * size)
    assert value == f(p)
    assert slope @ v == pytest.approx(expected, rel=rtol, abs=1e-7)
    assert jvp(f, (p,), (v,))[1] == pytest.approx(slope @ v, rel=1e-9, abs=1e-12)
    if second:
        twice = (gradient(f, p + step)[0] - gradient(f, p - step)[0]) / (2 * size)
        assert hvp(f, (p,), (v,))[0] == pytest.approx(twice, rel=1e-4, abs=1e-5)


def data(p):
    """Places and values that both depend on the parameters."""
    return PLACES * p[1] + 0.1 * p[0] * PLACES**2, VALUES * p[0] + p[1] * PLACES**2


def summary(f, p):
    """What a function of one variable gives for one number and for several."""
    return f(p[2]) + np.sum(f(np.array([0.71, 1.52]) * p[0]) ** 2)


KINDS = ["linear", "nearest", "nearest-up", "zero", "slinear", "quadratic", "cubic", "previous", "next", 3, 5]


@pytest.mark.parametrize("kind", KINDS)
def test_interp1d(kind):
    agrees(lambda p: summary(interpolate.interp1d(*data(p), kind=kind), p), second=kind in ("linear", "cubic"))


def test_interp1d_of_rows_and_outside():
    def f(p):
        rows = np.outer(p, VALUES)
        inside = interpolate.interp1d(PLACES, rows, axis=1, bounds_error=False, fill_value=0.0)
        beyond = interpolate.interp1d(PLACES, rows[0], fill_value="extrapolate")
        return np.sum(inside(np.array([1.0, p[1], 9.0])) ** 2) + beyond(4.2 * p[0])

    agrees(f)


CONDITIONS = ["not-a-knot", "natural", "clamped", "periodic", ((1, 0.3), (2, 0.1))]


@pytest.mark.parametrize("condition", CONDITIONS)
def test_cubic_splines(condition):
    def f(p):
        places, values = data(p)
        if condition == "periodic":
            values = np.append(values[:-1], values[0])
        spline = interpolate.CubicSpline(places, values, bc_type=condition)
        whole = spline.integrate(0.1, p[0]) + spline.antiderivative()(p[0])
        return summary(spline, p) + spline(p[2], 1) + spline.derivative()(p[1]) + whole

    agrees(f)


LOCAL = [
    lambda x, y: interpolate.PchipInterpolator(x, y),
    lambda x, y: interpolate.Akima1DInterpolator(x, y),
    lambda x, y: interpolate.Akima1DInterpolator(x, y, method="makima"),
    lambda x, y: interpolate.CubicHermiteSpline(x, y, np.cos(y)),
    lambda x, y: interpolate.PPoly(np.stack([y[1:], x[1:] * y[:-1], y[:-1]]), x),
    lambda x, y: interpolate.PPoly(np.stack([y[1:], x[1:] * y[:-1], y[:-1]])[:, ::-1], x[::-1].copy()),
]


@pytest.mark.parametrize("make", LOCAL)
def test_piecewise_polynomials(make):
    def f(p):
        curve = make(*data(p))
        return summary(curve, p) + curve(p[2], 1) + curve.integrate(0.1, p[0])

    agrees(f)


def test_points_outside_have_no_value():
    def f(p):
        curve = interpolate.PPoly(np.outer(p, p), np.array([0.0, 0.5, 1.0, 2.0]), extrapolate=False)
        return np.nansum(curve(np.array([-1.0, 0.7, 9.0]) * p[0]))

    agrees(f)


SPLINES = [
    lambda x, y: interpolate.make_interp_spline(x, y),
    lambda x, y: interpolate.make_interp_spline(x, y, k=2),
    lambda x, y: interpolate.make_interp_spline(x, y, k=5),
    lambda x, y: interpolate.make_interp_spline(x, y, bc_type="natural"),
    lambda x, y: interpolate.make_interp_spline(x, y, bc_type=([(1, y[0])], [(2, x[1])])),
    lambda x, y: interpolate.make_interp_spline(x, np.append(y[:-1], y[0]), bc_type="periodic"),
    lambda x, y: interpolate.BSpline(np.concatenate([x[[0, 0, 0]], x, x[[-1, -1, -1]]]), np.append(y, y[:2]), 3),
    lambda x, y: interpolate.BSpline(np.concatenate([x[:4] - x[5], x, x[1:] + x[-1]]), np.tile(y, 2)[:11], 3),
]


@pytest.mark.parametrize("make", SPLINES)
def test_splines(make):
    def f(p):
        spline = make(*data(p))
        whole = spline.integrate(0.1, p[0]) + spline.derivative()(p[1])
        return summary(spline, p) + spline(p[2], 1) + whole

    agrees(f, second=False)


def test_splines_of_several_values():
    def f(p):
        spline = interpolate.make_interp_spline(PLACES, np.outer(VALUES, p))
        return np.sum(spline(p) ** 2) + spline(PLACES * p[1]).sum()

    agrees(f)


CURVES = [
    lambda x, y: lambda at: interpolate.splev(at, interpolate.splrep(x, y)),
    lambda x, y: lambda at: interpolate.splev(at, interpolate.splrep(x, y, k=2), der=1),
    lambda x, y: lambda at: interpolate.splev(at, interpolate.splrep(x, y, t=x[2:4], w=1.0 + x)),
    lambda x, y: lambda at: interpolate.splev(at - 2.0, interpolate.splrep(x, y), ext=3),
    lambda x, y: lambda at: interpolate.splev(at - 1.0, interpolate.splrep(x, y), ext=1),
    lambda x, y: interpolate.UnivariateSpline(x, y, s=0),
    lambda x, y: interpolate.InterpolatedUnivariateSpline(x, y, k=4),
    lambda x, y: interpolate.UnivariateSpline(np.arange(len(y)), y, s=0),
    lambda x, y: lambda at: interpolate.splev(at, interpolate.splrep(list(range(len(y))), y)),
    lambda x, y: interpolate.LSQUnivariateSpline(x, y, x[2:4] + 0.1, w=1.0 + x),
    lambda x, y: interpolate.make_lsq_spline(x, y, x[[0, 0, 0, 0, 2, 5, 5, 5, 5]], w=1.0 + y**2),
]


@pytest.mark.parametrize("make", CURVES)
def test_curves_of_fitpack(make):
    agrees(lambda p: summary(make(*data(p)), p), second=False)


def test_integrals_and_derivatives_of_curves():
    def f(p):
        places, values = data(p)
        curve = interpolate.InterpolatedUnivariateSpline(places, values)
        tck = interpolate.splrep(PLACES, values)
        whole = curve.integral(p[2], p[0]) + interpolate.splint(p[1], 3.0 * p[0], tck)
        return whole + curve.derivative()(p[1]) + curve.antiderivative()(p[0])

    agrees(f, second=False)
    agrees(lambda p: interpolate.splint(p[1], p[0], interpolate.splrep(PLACES, VALUES * p[2])))


def test_smoothed_curves_by_the_point_alone():
    agrees(lambda p: interpolate.splev(p[0], interpolate.splrep(PLACES, VALUES, s=0.1)) * 1.0)
    with pytest.raises(NotDifferentiable, match="smoothed"):
        gradient(lambda p: interpolate.splev(1.0, interpolate.splrep(PLACES, VALUES * p[0], s=0.1)) * 1.0, POINT)


def surface_at(p, x, y, dx=0, dy=0):
    """A surface with knots and coefficients that depend on the parameters."""
    tx, ty, c, kx, ky = SURFACE
    return interpolate.bisplev(x, y, (tx * (1 + 0.1 * p[0]), ty, c * p[1], kx, ky), dx, dy)


def made_surface(kx=3, ky=3):
    x, y = np.linspace(0.0, 4.0, 9), np.linspace(-1.0, 3.0, 8)
    return interpolate.RectBivariateSpline(x, y, np.sin(x)[:, None] * np.cos(y) + 0.1 * x[:, None] * y, kx=kx, ky=ky)


SURFACE = (*made_surface().tck, *made_surface().degrees)


@pytest.mark.parametrize("orders", [(0, 0), (1, 0), (1, 2)])
def test_surfaces_of_fitpack(orders):
    """At one point, at several that meet, in pairs, and beyond the border, where the value is that of the border."""
    surface = made_surface(3, 4)
    xs, ys = np.array([0.3, 1.1, 2.9]), np.array([-0.4, 0.9])
    agrees(lambda p: surface_at(p, p[2], p[1] - 0.5, *orders), second=sum(orders) < 2)
    agrees(lambda p: np.sum(surface_at(p, xs * p[2], ys + 0.1 * p[0], *orders) ** 2), second=sum(orders) < 2)
    agrees(lambda p: np.sum(surface(xs * p[2], ys * p[1], *orders) ** 2), second=sum(orders) < 2)
    agrees(lambda p: np.sum(surface.ev(xs * p[2], xs * p[1], *orders) ** 2), second=sum(orders) < 2)
    agrees(lambda p: surface.ev(p[0] + 9.0, p[1] - 9.0, *orders) * p[2], second=sum(orders) < 2)
    agrees(lambda p: np.sum(surface(p[0], 0.5, *orders)) * p[2], second=sum(orders) < 2)


@pytest.mark.parametrize("method", ["linear", "nearest", "slinear", "cubic", "quintic", "pchip"])
def test_regular_grids(method):
    def f(p):
        surface = np.outer(VALUES, np.cos(PLACES)) * p[0] + p[1] * PLACES**2
        grid = interpolate.RegularGridInterpolator((PLACES, PLACES), surface, method=method)
        return np.sum(grid(np.array([[0.3, 0.4], [1.5, 0.72]]) * p[2] + 0.1) ** 2) + grid((p[1:2], p[0:1]))

    if method in ("slinear", "cubic", "quintic"):  # SciPy iterates: the values have few digits
        agrees(lambda p: f(p)[0], rtol=1e-3, second=False, size=1e-3)
    else:
        agrees(lambda p: f(p)[0], second=method == "linear")


def test_values_on_a_grid_move_what_is_read_at_several_points():
    def f(values):
        return interpolate.RegularGridInterpolator((PLACES, PLACES), values, method="cubic")([[0.3, 0.4], [1.5, 0.7]])

    values = np.outer(VALUES, np.cos(PLACES))
    np.testing.assert_allclose(jvp(f, (values,), (values,))[1], f(values), rtol=1e-4)


def test_lines_of_a_grid():
    def f(p):
        surface = np.outer(VALUES, np.cos(PLACES))[..., None] * p
        return np.sum(interpolate.interpn((PLACES * p[0], PLACES), surface, np.array([[0.3, 0.4]]) * p[1]) ** 2)

    agrees(f)
    plane = np.outer(VALUES, VALUES)
    agrees(lambda p: interpolate.interpn((PLACES * p[0], PLACES * p[1]), plane, np.array([[0.3, 0.4]]))[0])
    with pytest.raises(NotDifferentiable, match="lines of the grid"):
        gradient(lambda p: interpolate.interpn((PLACES * p[0], PLACES), plane, [[0.3, 0.4]], "cubic")[0], POINT)


@pytest.mark.parametrize("nu", [0, 1])
@pytest.mark.parametrize("extrapolate", [True, False])
def test_rules_behind_them(nu, extrapolate):
    """The order of the derivative, places among others and what says whether knots have one are whole: they stay."""
    rng = np.random.default_rng(0)
    x, c, xp = np.array([0.0, 1.0, 2.5, 4.0]), rng.normal(size=(4, 3, 2)), np.array([0.3, 1.7, 3.1])
    options = {"extrapolate": extrapolate, "rtol": 1e-5}
    check_rule(
        polynomials.piecewise,
        c,
        x,
        xp,
        nu,
        differences=lambda c, x, xp, _, extrapolate: polynomials.piecewise(c, x, xp, nu, extrapolate),
        second_order=True,
        **options,
    )
    t, rows = np.array([0.0] * 4 + [1.0, 2.5] + [4.0] * 4), rng.normal(size=(6, 2))
    for function in (splines.spline, splines.spline_with_knots):

        def moved(knots, c, k, x, _, extrapolate, function=function):
            return function(t if function is splines.spline else knots, c, 3, x, nu, extrapolate)

        check_rule(function, t, rows, 3, xp, nu, differences=moved, **options)


def test_rule_of_sums_at_places():
    places, values = np.array([0, 2, 2, 1]), np.random.default_rng(0).normal(size=(4, 2))
    scattered = polynomials.scattered
    check_rule(scattered, values, places, 3, differences=lambda x, i, n: scattered(x, places, 3), second_order=True)


def by_lines(values):
    return np.sum(interpolate.interp1d(PLACES, values)(POINT) ** 2)


def by_cubics(values):
    return np.sum(interpolate.CubicSpline(PLACES, values)(POINT) ** 2)


def by_cubics_by_kind(values):
    return np.sum(interpolate.interp1d(PLACES, values, kind="cubic")(POINT) ** 2)


def by_splines(values):
    clamped = interpolate.make_interp_spline(PLACES, values, bc_type="clamped")
    return np.sum(interpolate.make_interp_spline(PLACES, values, k=1)(POINT) * clamped(POINT))


def by_splines_at_points(values):
    return np.sum(interpolate.interp1d(PLACES, VALUES, kind="cubic")(0.3 + 0.1 * np.abs(values)))


def by_monotone_cubics(values):
    return np.sum(interpolate.PchipInterpolator(PLACES, values)(POINT) ** 2)


def by_local_cubics(values):
    return np.sum(interpolate.Akima1DInterpolator(PLACES, values)(POINT) ** 2)


def by_planes(values):
    grid = interpolate.RegularGridInterpolator((PLACES, PLACES), np.outer(values, values))
    return np.sum(grid([[0.3, POINT[0]], [POINT[1], 0.72]]) ** 2)


def between_planes(values):
    return np.sum(interpolate.interpn((PLACES, PLACES), np.outer(values, values), [[0.3, 1.4]]))


@pytest.mark.skipif(GENERIC, reason="nothing is typed")
@pytest.mark.parametrize(
    "f",
    [
        *(by_lines, by_cubics, by_monotone_cubics, by_local_cubics, by_planes, between_planes),
        *(by_cubics_by_kind, by_splines, by_splines_at_points),
    ],
)
def test_interpolants_are_typed(f):
    require_typed(f, VALUES)
    check_gradient(f, VALUES)


CENTRES = np.random.default_rng(1).uniform(size=(7, 2))
HEIGHTS = np.sin(3.0 * CENTRES[:, 0]) + CENTRES[:, 1] ** 2
BETWEEN = np.array([[0.3, 0.4], [0.6, 0.7]])


def by_radial_functions(kernel, centres, heights, points):
    interpolant = interpolate.RBFInterpolator(centres, heights, kernel=kernel, epsilon=1.5, smoothing=0.01)
    return np.sum(interpolant(points) ** 2)


@pytest.mark.parametrize("kernel", radial.KERNELS)
def test_radial_functions(kernel):
    check_gradient(partial(by_radial_functions, kernel), CENTRES, HEIGHTS, BETWEEN)


def test_radial_functions_at_a_centre():
    interpolant = interpolate.RBFInterpolator(CENTRES, HEIGHTS, kernel="cubic")
    check_gradient(lambda p: interpolant(p[None])[0], CENTRES[3])


@pytest.mark.skipif(GENERIC, reason="nothing is typed")
def test_radial_functions_are_typed():
    interpolant = interpolate.RBFInterpolator(CENTRES, HEIGHTS)
    require_typed(lambda p: np.sum(interpolant(p) ** 2), BETWEEN)
    require_typed(lambda heights: by_radial_functions("gaussian", CENTRES, heights, BETWEEN), HEIGHTS)


CURVES = {
    "cubic": interpolate.CubicSpline(PLACES, VALUES),
    "monotone": interpolate.PchipInterpolator(PLACES, VALUES),
    "lines": interpolate.interp1d(PLACES, VALUES, fill_value="extrapolate"),
    "cubic by kind": interpolate.interp1d(PLACES, VALUES, kind="cubic"),
    "b-spline": interpolate.make_interp_spline(PLACES, VALUES),
    "fitpack": interpolate.UnivariateSpline(PLACES, VALUES, s=0),
}
KNOTS = interpolate.splrep(PLACES, VALUES)
GIVEN_SURFACE = interpolate.RectBivariateSpline(PLACES, PLACES, np.outer(VALUES, VALUES + PLACES))


@pytest.mark.skipif(GENERIC, reason="nothing is typed")
@pytest.mark.parametrize("curve", [*CURVES.values(), lambda p: interpolate.splev(p, KNOTS)], ids=[*CURVES, "splev"])
def test_curves_that_are_given_are_typed(curve):
    require_typed(lambda p: np.sum(curve(p) ** 2), POINT)
    require_typed(lambda x: float(curve(x)) * x, 0.42)
    check_gradient(lambda p: np.sum(curve(p) ** 2), POINT)


@pytest.mark.skipif(GENERIC, reason="nothing is typed")
@pytest.mark.parametrize(
    "f",
    [
        lambda x: CURVES["cubic"].integrate(0.3, x) + CURVES["cubic"](x, 1),
        lambda x: CURVES["fitpack"].integral(0.3, x) + CURVES["fitpack"](x, 1) + CURVES["fitpack"](4.5 + x, ext=3),
        lambda x: GIVEN_SURFACE.ev(x, 1.0 + x) + GIVEN_SURFACE(x, 1.1)[0, 0] + GIVEN_SURFACE(x, x, dx=1)[0, 0],
    ],
    ids=["cubic", "fitpack", "surface"],
)
def test_integrals_and_slopes_of_what_is_given_are_typed(f):
    require_typed(lambda x: float(f(x)), 0.42)
    check_gradient(lambda x: float(f(x)), 0.42)


@pytest.mark.parametrize("values", [VALUES[:, None] * VALUES, VALUES[:, None] * (VALUES + 1j * VALUES[::-1])])
def test_rule_of_planes(values):
    lines = (PLACES, PLACES)
    indices, places = _rgi.find_indices(lines, np.array([[0.3, 1.5, 0.31], [0.4, 0.72, 0.41]]))
    check_rule(
        *(grids.bilinear, values, indices, places, lines),
        differences=lambda values, i, places, _: grids.bilinear(values, indices, places, lines),
        second_order=True,
    )
    check_rule(grids.cells, lines, np.array([[0.3, 1.5], [0.4, 0.72]]), differences=lambda *_: indices[:, :2])


@pytest.mark.parametrize("shape", [(1, 3), (3, 1), (1, 1)])
def test_planes_with_one_line(shape):
    lines, inside = [np.arange(float(n)) for n in shape], [0.4 if n > 1 else 0.0 for n in shape]
    values = np.arange(1.0, 4.0)[: np.prod(shape)].reshape(shape)
    check_gradient(lambda v: np.sum(interpolate.RegularGridInterpolator(lines, v)([inside]) ** 2), values)


GRID_X, GRID_Y = np.linspace(0.0, 2.0, 6), np.linspace(0.0, 3.0, 7)
ON_GRID = np.sin(GRID_X)[:, None] * np.cos(GRID_Y) + 0.1 * np.outer(GRID_X, GRID_Y)
SURFACES = {
    "values": (lambda z: interpolate.RectBivariateSpline(GRID_X, GRID_Y, z)([0.3, 1.1], [0.4, 2.2]), ON_GRID),
    "degrees": (lambda z: interpolate.RectBivariateSpline(GRID_X, GRID_Y, z, kx=2, ky=1).ev(0.3, 1.1), ON_GRID),
    "slopes": (lambda z: interpolate.RectBivariateSpline(GRID_X, GRID_Y, z).ev([0.3], [1.1], dx=1, dy=1), ON_GRID),
    "borders": (
        lambda z: interpolate.RectBivariateSpline(GRID_X, GRID_Y, z, bbox=[-0.1, 2.1, None, 3.5]).ev(0.3, 1.1),
        ON_GRID,
    ),
    "places": (lambda x: interpolate.RectBivariateSpline(x, GRID_Y, ON_GRID).ev(0.3, [1.1, 2.0]), GRID_X),
    "volume": (lambda z: interpolate.RectBivariateSpline(GRID_X, GRID_Y, z).integral(0.1, 1.5, 0.2, 9.0), ON_GRID),
    "ends": (
        lambda e: interpolate.RectBivariateSpline(GRID_X, GRID_Y, ON_GRID).integral(e[0], e[1], 0.2, e[2]),
        np.array([0.1, 1.5, 2.2]),
    ),
    "interpn": (lambda z: interpolate.interpn((GRID_X, GRID_Y), z, [[0.3, 1.1]], method="splinef2d"), ON_GRID),
}


@pytest.mark.parametrize("name", SURFACES)
def test_surfaces_through_the_points_of_a_grid(name):
    f, x = SURFACES[name]

    def energy(x):
        return np.sum(f(x) ** 2)

    for scale in (1.0, 1.02, 1.0):
        check_gradient(energy, scale * x)
    v = np.cos(np.arange(x.size)).reshape(x.shape)
    there, here = (gradient(energy, x + h * v)[0] for h in (1e-6, -1e-6))
    np.testing.assert_allclose(hvp(energy, (x,), (v,))[0], (there - here) / 2e-6, rtol=1e-5, atol=1e-5)


def test_smoothed_surfaces_are_an_error():
    with pytest.raises(NotDifferentiable, match="smoothed"):
        gradient(lambda z: interpolate.RectBivariateSpline(GRID_X, GRID_Y, z, s=0.1).ev(0.3, 1.1), ON_GRID)
