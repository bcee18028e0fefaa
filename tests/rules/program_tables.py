"""Programs of SciPy's modules that have no rules of their own: what they compute from arrays of doubles."""

from functools import partial

import numpy as np
from numpy_checks import positive
from scipy import interpolate, ndimage, optimize, sparse, stats
from scipy.sparse import linalg as sparse_linalg

X, Y, Z = positive(5), positive(5, seed=1) + 0.3, positive(5, seed=2) + 0.5
GRID, SHAPE = positive(3, 5) + 0.2, positive(3, 1) + 1.2
IMAGE, KERNEL = positive(5, 6), positive(2, 3)
PLACES = np.array([0.0, 0.5, 1.3, 2.0, 3.1, 4.0])
VALUES, POINTS = np.cos(PLACES) + 1.7, np.array([0.31, 1.74, 2.52])
ROWS, COLUMNS, ENTRIES = np.array([0, 0, 1, 2, 2, 1]), np.array([0, 2, 1, 0, 2, 0]), positive(6) + 0.4
SYSTEM, RIGHT = np.array([0, 1, 2, 0, 1]), positive(3)


def by_family(name, method, *shapes):
    return lambda x, loc, scale: getattr(getattr(stats, name), method)(x + loc, *shapes, loc, scale)


def by_shape(name, method):
    return lambda x, shape: getattr(getattr(stats, name), method)(x, shape)


def matrix(entries, form=sparse.csr_array):
    return form((entries, (ROWS, COLUMNS)), shape=(3, 3))


def root_of_each(a, b):
    return optimize.fsolve(lambda x: x * x + a * x - b, 1.0 + 0.0 * (a + b))


STATS = {
    **{
        f"{name}.{method}": (by_family(name, method), (X, Y, Z))
        for name in ("norm", "logistic", "gumbel_r", "expon")
        for method in ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf")
    },
    **{
        f"{name}.{method}": (by_family(name, method, 2.3), (X, Y, Z))
        for name in ("gamma", "t", "weibull_min", "lognorm")
        for method in ("pdf", "logpdf", "cdf", "sf")
    },
    **{
        f"{name} by shape, {method}": (by_shape(name, method), (GRID, SHAPE))
        for name in ("gamma", "chi2", "t", "nakagami")
        for method in ("pdf", "logpdf", "cdf")
    },
    "ppf": (lambda q, loc, scale: stats.norm.ppf(q, loc, scale), (X, Y, Z)),
    "isf": (lambda q, loc, scale: stats.gamma.isf(q, 2.3, loc, scale), (X, Y, Z)),
    "poisson": (lambda mu: stats.poisson.logpmf(np.array(2), mu), (X,)),
    "binom": (lambda p: stats.binom.pmf(1, 3, p), (X,)),
    **{
        name: (partial(lambda f, x: f(x), getattr(stats, name)), (GRID,))
        for name in (
            "gmean",
            "hmean",
            "kurtosis",
            "moment",
            "sem",
            "skew",
            "zscore",
            "gstd",
            "tvar",
            "iqr",
            "median_abs_deviation",
            "kstat",
            "entropy",
            "tmean",
            "gzscore",
        )
    },
    "boxcox": (lambda x: stats.boxcox(x, 0.3), (X,)),
    "yeojohnson": (lambda x: stats.yeojohnson(x, 0.3), (X,)),
    "ttest_ind": (lambda x, y: tuple(stats.ttest_ind(x, y)), (GRID, GRID[::-1] ** 2)),
    "pearsonr": (lambda x, y: stats.pearsonr(x, y).statistic, (X, Y)),
    "linregress": (lambda x, y: tuple(stats.linregress(x, y))[:2], (X, Y)),
    "trim_mean": (lambda x: stats.trim_mean(x, 0.2), (GRID,)),
    "multivariate_normal": (lambda x, m: stats.multivariate_normal.logpdf(x, m, np.diag([1.0, 2, 3, 4, 5])), (X, Y)),
    "dirichlet": (lambda a: stats.dirichlet.entropy(a), (Y,)),
    "gaussian_kde": (lambda x, q: stats.gaussian_kde(x)(q), (X, Y)),
}
NDIMAGE = {
    **{
        name: (partial(lambda f, x: f(x), getattr(ndimage, name)), (IMAGE,))
        for name in ("laplace", "sobel", "prewitt", "spline_filter")
    },
    **{
        name: (partial(lambda f, x: f(x, 3), getattr(ndimage, name)), (IMAGE,))
        for name in (
            "uniform_filter",
            "maximum_filter",
            "minimum_filter",
            "median_filter",
            "grey_dilation",
            "grey_erosion",
            "grey_opening",
            "white_tophat",
            "morphological_gradient",
        )
    },
    **{
        name: (partial(lambda f, x: f(x, 0.8), getattr(ndimage, name)), (IMAGE,))
        for name in ("gaussian_filter", "gaussian_filter1d", "gaussian_laplace", "gaussian_gradient_magnitude")
    },
    **{
        name: (partial(lambda f, x: f(x), getattr(ndimage, name)), (IMAGE,))
        for name in (
            "mean",
            "sum_labels",
            "variance",
            "standard_deviation",
            "maximum",
            "minimum",
            "median",
            "center_of_mass",
        )
    },
    "convolve": (lambda x, k: ndimage.convolve(x, k, mode="wrap"), (IMAGE, KERNEL)),
    "correlate": (lambda x, k: ndimage.correlate(x, k, mode="nearest"), (IMAGE, KERNEL)),
    "convolve1d": (lambda x, k: ndimage.convolve1d(x, k), (IMAGE, KERNEL[0])),
    "correlate1d": (lambda x, k: ndimage.correlate1d(x, k, 0), (IMAGE, KERNEL[0])),
    "map_coordinates": (lambda x: ndimage.map_coordinates(x, [[0.7, 1.2], [1.3, 2.2]]), (IMAGE,)),
    "places": (lambda p: ndimage.map_coordinates(IMAGE, p, order=3, mode="nearest"), (positive(2, 4) * 3,)),
    "zoom": (lambda x: ndimage.zoom(x, 1.7), (IMAGE,)),
    "shift": (lambda x: ndimage.shift(x, 0.6, mode="nearest"), (IMAGE,)),
    "rotate": (lambda x: ndimage.rotate(x, 25.0, mode="reflect"), (IMAGE,)),
    "affine_transform": (lambda x, m: ndimage.affine_transform(x, m, mode="nearest"), (IMAGE, np.array([0.9, 1.2]))),
}
INTERPOLATE = {
    **{
        f"interp1d, {kind}": (lambda y, q, kind=kind: interpolate.interp1d(PLACES, y, kind)(q), (VALUES, POINTS))
        for kind in ("linear", "nearest", "cubic", "quadratic")
    },
    **{
        f.__name__: (lambda y, q, f=f: f(PLACES, y)(q), (VALUES, POINTS))
        for f in (
            interpolate.CubicSpline,
            interpolate.PchipInterpolator,
            interpolate.Akima1DInterpolator,
            interpolate.make_interp_spline,
            interpolate.BarycentricInterpolator,
            interpolate.KroghInterpolator,
        )
    },
    "by the places": (lambda x, q: interpolate.CubicSpline(x, VALUES)(q), (PLACES + 0.1, POINTS)),
    "rows": (lambda y, q: interpolate.CubicSpline(PLACES, y, axis=1)(q), (np.stack([VALUES, VALUES**2]), POINTS)),
    "derivative": (lambda y, q: interpolate.CubicSpline(PLACES, y).derivative()(q), (VALUES, POINTS)),
    "integral": (lambda y: interpolate.CubicSpline(PLACES, y).integrate(0.3, 2.5), (VALUES,)),
    "splev": (lambda y, q: interpolate.splev(q, interpolate.splrep(PLACES, y)), (VALUES, POINTS)),
    "BSpline": (lambda c, q: interpolate.BSpline(np.arange(10.0) - 3.0, c, 3)(q), (VALUES, POINTS)),
    "PPoly": (lambda c, q: interpolate.PPoly(c, PLACES)(q), (positive(3, 5), POINTS)),
    "UnivariateSpline": (lambda y, q: interpolate.UnivariateSpline(PLACES, y, s=0)(q), (VALUES, POINTS)),
    "RegularGridInterpolator": (
        lambda v, q: interpolate.RegularGridInterpolator((PLACES[:5], PLACES), v)(q),
        (IMAGE, np.stack([POINTS, POINTS], 1)),
    ),
    "interpn": (lambda v, q: interpolate.interpn((PLACES[:5], PLACES), v, q), (IMAGE, np.stack([POINTS, POINTS], 1))),
}
OPTIMIZE = {
    "fsolve": (root_of_each, (X, Y)),
    "root": (lambda a: optimize.root(lambda x: x**3 + a * x - 1, np.ones(np.shape(a)), tol=1e-12).x, (X,)),
    "newton": (lambda a: optimize.newton(lambda x: x**3 + a * x - 1, np.ones(np.shape(a))), (X,)),
    "fixed_point": (lambda a: optimize.fixed_point(lambda x: np.cos(a * x), np.ones(np.shape(a)), xtol=1e-13), (X,)),
    "least_squares": (
        lambda a, b: optimize.least_squares(lambda x: (x - a) * b + 0.1 * x**3, np.ones(np.size(a))).x,
        (X, Y),
    ),
    "brentq": (lambda a: optimize.brentq(lambda x: x**3 + np.sum(a) * x - 1, 0.0, 1.0, xtol=1e-14), (X,)),
    "approx_fprime": (lambda a: optimize.approx_fprime(a, lambda x: np.sum(x * x), 0.1), (X,)),
    "rosen": (lambda x: (optimize.rosen(x), optimize.rosen_der(x)), (X,)),
}
SPARSE = {
    "vector": (lambda e, x: matrix(e) @ x, (ENTRIES, RIGHT)),
    "rows": (lambda e, x: x @ matrix(e), (ENTRIES, positive(2, 3))),
    "columns": (lambda e, x: matrix(e, sparse.csc_array) @ x, (ENTRIES, positive(3, 2))),
    "coo": (lambda e, x: matrix(e, sparse.coo_array) @ x, (ENTRIES, RIGHT)),
    "toarray": (lambda e: matrix(e).toarray(), (ENTRIES,)),
    "products": (lambda e: (matrix(e) @ matrix(e).T).toarray(), (ENTRIES,)),
    "sum": (lambda e: (matrix(e).sum(), matrix(e).sum(axis=0)), (ENTRIES,)),
    "multiply": (lambda e, x: matrix(e).multiply(x[None, :]).toarray(), (ENTRIES, RIGHT)),
    "scaled": (lambda e: (2.0 * matrix(e) - matrix(e) / 3.0).toarray(), (ENTRIES,)),
    "from dense": (lambda x: sparse.csr_array(x).toarray(), (positive(3, 4),)),
    "diags": (lambda x: sparse.diags([x], [1]).toarray(), (RIGHT,)),
    "kron": (lambda e, x: sparse.kron(sparse.eye(2), matrix(e)) @ np.concatenate([x, x]), (ENTRIES, RIGHT)),
    "spsolve": (lambda e, b: sparse_linalg.spsolve(matrix(e, sparse.csc_array), b), (ENTRIES, RIGHT)),
    "expm_multiply": (lambda e, b: sparse_linalg.expm_multiply(matrix(e), b), (ENTRIES, RIGHT)),
    "cg": (lambda b: sparse_linalg.cg(sparse.diags([2.0, 3.0, 4.0]).tocsr(), b, rtol=1e-13)[0], (RIGHT,)),
    "norm": (lambda e: sparse_linalg.norm(matrix(e)), (ENTRIES,)),
}
TABLES = {"stats": STATS, "ndimage": NDIMAGE, "interpolate": INTERPOLATE, "optimize": OPTIMIZE, "sparse": SPARSE}
