"""Each function that JAX has under a name of NumPy has derivatives that are right, or none, for a reason."""

import importlib

import numpy as np
import pytest
from in_all_orders import check_orders
from jax_names import JAX

from autodiff_hook.commands.covering import BEGINS_EMPTY, coverage

NAMES = [(module, name) for module in JAX for name in JAX[module].split()]
M = np.array([[1.9, 0.3, -0.4], [0.45, 1.7, 0.2], [-0.1, 0.6, 2.3]])
V, W = np.array([0.31, 0.74, 0.52]), np.array([0.83, 0.21, 0.45])
PLACES = np.array([2, 0])
OF_ARRAYS = (
    *((V,), (V, W), (M,), (M, M.T @ M), (V, 2), (M, 1), (M, V), ([V, W],), ([M, M],), (V, PLACES), (M, (3, 3))),
    *((V, V > 0.5), (V > 0.5, V, W), (V, 0.1, 0.6), (M, 0, 1), (M, PLACES, 0), (V, 2, W[:2]), (V, PLACES, W[:2])),
)
"""The arguments that are tried, in this order: the first that give floats with a derivative are those of the test."""


def by_place(f):
    def changed(x, *args):
        y = x.copy()
        f(y, *args)
        return y

    return changed


SPECIAL = {
    "numpy": {
        "apply_along_axis": lambda x: np.apply_along_axis(lambda row: row**2, 0, x),
        "apply_over_axes": lambda x: np.apply_over_axes(np.sum, x**2, [0, 1]),
        "arccosh": lambda x: np.arccosh(1.5 + x**2),
        "acosh": lambda x: np.acosh(1.5 + x**2),
        "arange": lambda x: np.arange(x[0, 1], 3.0, x[0, 0]),
        "astype": lambda x: np.astype(x, float),
        "bartlett": None,
        "bincount": lambda x: np.bincount([0, 2, 2], weights=x[0]),
        "blackman": None,
        "choose": lambda x: np.choose([0, 1, 1], [x[0], x[1]]),
        "compress": lambda x: np.compress([True, False, True], x, 0),
        "digitize": None,
        "dsplit": lambda x: np.dsplit(x.reshape(1, 3, 3) ** 2, 3),
        "einsum": lambda x: np.einsum("ij,jk->ik", x, x),
        "extract": lambda x: np.extract(x > 0.4, x),
        "fill_diagonal": lambda x: by_place(np.fill_diagonal)(x, x[0, 1] ** 2),
        "fromfunction": lambda x: np.fromfunction(lambda i: i * x[0, 1] ** 2, (3,)),
        "fromiter": lambda x: np.fromiter((v * v for v in x[0]), float),
        "frompyfunc": lambda x: np.frompyfunc(lambda v: v * v, 1, 1)(x[0]).astype(float),
        "frexp": lambda x: np.frexp(x)[0],
        "full": lambda x: np.full(3, x[0, 1] ** 2),
        "full_like": lambda x: np.full_like(x, x[0, 1] ** 2),
        "hamming": None,
        "hanning": None,
        "histogram": lambda x: np.histogram([0.1, 0.7, 0.8], bins=3, range=(0, 1), weights=x[0])[0],
        "histogram2d": lambda x: np.histogram2d([0.1, 0.7], [0.2, 0.9], bins=2, weights=x[0, :2])[0],
        "histogram_bin_edges": lambda x: np.histogram_bin_edges(x, 3),
        "histogramdd": lambda x: np.histogramdd([[0.1, 0.2], [0.7, 0.9]], bins=2, weights=x[0, :2])[0],
        "interp": lambda x: np.interp(x[0], np.sort(x[1]), x[2]),
        "intersect1d": lambda x: np.intersect1d(x[0], x[:2, 0]),
        "ix_": None,
        "kaiser": lambda x: np.kaiser(4, x[0, 0]),
        "ldexp": lambda x: np.ldexp(x, 3),
        "modf": lambda x: np.modf(x)[0],
        "nextafter": lambda x: np.nextafter(x, 9.0),
        "pad": lambda x: np.pad(x, 1, mode="linear_ramp", end_values=x[0, 1]),
        "piecewise": lambda x: np.piecewise(x, [x < 0.5, x >= 0.5], [lambda v: v**2, lambda v: v**3]),
        "place": lambda x: by_place(np.place)(x, x > 0.5, x[0]),
        "polyfit": lambda x: np.polyfit(x[0], x[1], 1),
        "put": lambda x: by_place(np.put)(x, [0, 4], x[1]),
        "put_along_axis": lambda x: by_place(np.put_along_axis)(x, np.array([[0, 2, 1]]), x[1:2] ** 2, 0),
        "searchsorted": None,
        "select": lambda x: np.select([x < 0.5, x >= 0.5], [x**2, x**3]),
        "take_along_axis": lambda x: np.take_along_axis(x, np.array([[0, 2, 1]]), 0),
        "unique_all": lambda x: np.unique_all(x).values,
        "unique_counts": lambda x: np.unique_counts(x).values,
        "unique_inverse": lambda x: np.unique_inverse(x).values,
        "vectorize": lambda x: np.vectorize(lambda v: v * v)(x),
    },
    "numpy.linalg": {
        "eig": lambda x: np.real(np.linalg.eig(x).eigenvalues),
        "eigh": lambda x: np.linalg.eigh(x).eigenvalues,
        "lstsq": lambda x: np.linalg.lstsq(x, x[0])[0],
        "qr": lambda x: np.linalg.qr(x).R,
        "svd": lambda x: np.linalg.svd(x).S,
        "tensorinv": lambda x: np.linalg.tensorinv(x[:, None], 2) if x.ndim == 3 else np.linalg.tensorinv(x[None], 2),
    },
    "numpy.fft": {"fftfreq": lambda x: np.fft.fftfreq(3, x[0, 0]), "rfftfreq": lambda x: np.fft.rfftfreq(3, x[0, 0])},
}
"""What these arguments are not for; None for what gives floats of no floats."""
OF_NUMBERS = {"cdouble", "complex128", "complex64", "csingle", "double", "float16", "float32", "float64", "single"}


def kinds(module):
    (found,) = coverage(module)
    return {name: kind for kind, names in found.names.items() for name in names}, found


@pytest.mark.parametrize("module", JAX)
def test_none_is_missing(module):
    by_name, found = kinds(module)
    names = [name for name in JAX[module].split() if hasattr(importlib.import_module(module), name)]
    assert {by_name[name] for name in names} <= {"rule", "own source", "in part", "constant"}
    reasons = {found.reasons[name] for name in names if by_name[name] == "constant"}
    assert BEGINS_EMPTY not in reasons
    assert [name for name in names if by_name[name] == "in part"] in ([], ["vectorize"])


def differentiable():
    found = []
    for module in JAX:
        by_name, _ = kinds(module)
        for name in JAX[module].split():
            constant = by_name.get(name) in (None, "constant") or name in OF_NUMBERS
            if not constant and SPECIAL[module].get(name, True) is not None:
                found.append((module, name))
    return found


def floats(y):
    """The arrays of floats in a result, complex ones by their parts."""
    if isinstance(y, (tuple, list)):
        return [part for item in y for part in floats(item)]
    y = np.asarray(y)
    return [np.real(y), np.imag(y)] if y.dtype.kind == "c" else [y] if y.dtype.kind == "f" else []


def program(module, name):
    """The function, and the arguments that it takes."""
    special = SPECIAL[module].get(name)
    if special is not None:
        return special, (M,)
    f = getattr(importlib.import_module(module), name)
    for args in OF_ARRAYS:
        try:
            with np.errstate(all="raise"):
                made = floats(f(*args))
        except Exception:  # other arguments are tried
            continue
        if made and all(np.isfinite(part).all() for part in made) and any(part.size for part in made):
            return f, args
    raise AssertionError(f"no arguments for {name}")


@pytest.mark.parametrize(("module", "name"), differentiable())
def test_derivatives(module, name):
    f, args = program(module, name)
    given = [x for x in args if isinstance(x, np.ndarray) and x.dtype == float]
    lists = isinstance(args[0], list)

    def of_arrays(*arrays):
        rest = iter(arrays)
        found = [next(rest) if isinstance(x, np.ndarray) and x.dtype == float else x for x in args]
        return tuple(floats(f(list(arrays)) if lists else f(*found)))

    check_orders(of_arrays, *(args[0] if lists else given))
