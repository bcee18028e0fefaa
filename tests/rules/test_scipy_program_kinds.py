"""SciPy's programs with arrays of all kinds that they take: double, single, complex, 0-d, empty, stacked, with gaps."""

import functools
import types
import warnings

import numpy as np
import pytest
from array_kinds import KINDS, REFUSALS
from in_all_orders import weighed
from numpy_checks import flat, fortran, strided
from program_tables import TABLES

import autodiff_hook as ad

NOT_FOR = {
    "complex": ("logistic.pdf", "logistic.logpdf", "root"),
    "single": ("kurtosis",),
    "stacked": ("gaussian_kde",),
    **dict.fromkeys(("empty", "of-no-length"), ("root", "map_coordinates", "rotate")),
}
"""What is an error (``test_scipy_stats.py``), has no precision to speak of, or what SciPy gives without its solvers.

Densities of few points in several dimensions are too steep for differences.
"""
LAYOUTS = {"double": lambda x: x, "fortran": fortran, "strided": lambda x: strided(x) if x.ndim else x}
STEP = 1e-6


def value_of(f, args):
    """What a function gives, if it takes such arguments; else None."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("error")
            value = f(*args)
    except (*REFUSALS, RuntimeError, Warning):
        return None
    floats = [x for x in flat(value) if np.asarray(x).dtype.kind in "fc"]
    return value if floats and all(np.isfinite(x).all() for x in floats) else None


@functools.cache
def loss_of(module, name):
    """A loss with code of its own: what has been found out about the code of another one does not count for it."""
    f, _ = TABLES[module][name]

    def loss(*args):
        return weighed(f(*args))

    return types.FunctionType(loss.__code__.replace(), globals(), "loss", None, loss.__closure__)


def tangents(args):
    rng = np.random.default_rng(0)
    drawn = [rng.standard_normal((2, *x.shape)) for x in args]
    return tuple(np.asarray(a + 1j * b if x.dtype.kind == "c" else a, x.dtype) for (a, b), x in zip(drawn, args))


def inner(gradients, moving):
    return sum([np.sum(np.real(np.conj(g) * t)) for g, t in zip(gradients, moving)])


@pytest.fixture(autouse=True, scope="module")
def followed():
    """Once for all: each change of what is opted in makes all programs out of date."""
    with ad.install("program_tables", "in_all_orders"):
        yield


@pytest.mark.filterwarnings("ignore:future versions will not create a writeable array")
@pytest.mark.parametrize("kind", [*LAYOUTS, *KINDS])
@pytest.mark.parametrize(("module", "name"), [(module, name) for module, table in TABLES.items() for name in table])
def test_program(module, name, kind):
    f, given = TABLES[module][name]
    args = tuple(np.asarray((LAYOUTS | KINDS)[kind](x)) for x in given)
    loss = loss_of(module, name)
    if name in NOT_FOR.get(kind, ()):
        return
    if value_of(f, args) is None:
        assert kind not in LAYOUTS
        return
    moving, single = tangents(args), kind == "single"
    gradients = ad.gradient(loss, *args)
    assert [(g.shape, g.dtype) for g in gradients] == [(x.shape, x.dtype) for x in args]
    slope = inner(gradients, moving)
    assert ad.jvp(loss, args, moving)[1] == pytest.approx(slope, rel=1e-3 if single else 1e-7, abs=1e-6)
    if single:
        precise = [x.astype(float) for x in args]
        assert slope == pytest.approx(inner(ad.gradient(loss, *precise), moving), rel=5e-3, abs=5e-3)
        return
    ahead, behind = ([x + s * t for x, t in zip(args, moving)] for s in (STEP, -STEP))
    assert slope == pytest.approx((loss(*ahead) - loss(*behind)) / (2 * STEP), rel=1e-5, abs=1e-6)
    second = ad.hvp(loss, args, moving)
    for found, a, b in zip(second, ad.gradient(loss, *ahead), ad.gradient(loss, *behind)):
        scale = max(np.max(np.abs(found), initial=0.0), 1.0)
        np.testing.assert_allclose(found, (a - b) / (2 * STEP), rtol=1e-4, atol=2e-5 * scale)
