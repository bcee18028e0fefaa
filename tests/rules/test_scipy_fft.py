"""The transforms of ``scipy.fft``: against finite differences, forward and reverse, to second order."""

from __future__ import annotations

import numpy as np
import pytest
from numpy_checks import Case, cases, check, complexes, normal, single
from scipy import fft, fftpack

import autodiff_hook as ad
from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.registry import registry
from autodiff_hook.runtime.specialising import GENERIC
from autodiff_hook.testing import check_gradient

NORMS = (None, "backward", "ortho", "forward")
ONE_AXIS = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
REAL = ("rfft", "ihfft")
TRIGONOMETRIC = ("dct", "idct", "dst", "idst")
TRANSFORMS = (
    *(f"{name}{suffix}" for name in ONE_AXIS for suffix in ("", "2", "n")),
    *TRIGONOMETRIC,
    *(f"{name}n" for name in TRIGONOMETRIC),
    "fht",
    "ifht",
)


def signal(name, *shape):
    return normal(*shape) if name.removesuffix("2").removesuffix("n") in REAL else complexes(*shape)


CASES = [
    *(
        Case(getattr(fft, name), signal(name, 3, 5), n, 0, norm)
        for name in ONE_AXIS
        for n in (None, 2, 5, 6)
        for norm in NORMS[1:]
    ),
    *(Case(getattr(fft, name), x) for name in ONE_AXIS for x in (normal(6), normal(2, 5), single(4), [0.3, -1.2, 2.0])),
    *(
        Case(getattr(fft, f"{name}2"), signal(name, 3, 4), s, norm=norm)
        for name in ONE_AXIS
        for s in (None, (2, 5))
        for norm in NORMS
    ),
    *(
        Case(getattr(fft, f"{name}n"), signal(name, 2, 3, 4), None, axes)
        for name in ONE_AXIS
        for axes in (None, (0, 2), (1,))
    ),
    *(Case(getattr(fft, f"{name}n"), signal(name, 3, 4), 4, 0) for name in ONE_AXIS),
    *(
        Case(getattr(fft, name), x, kind, None, -1, norm, orthogonalize=orthogonalize)
        for name in TRIGONOMETRIC
        for x in (normal(5), complexes(2, 4))
        for kind in (1, 2, 3, 4)
        for norm in NORMS[1:]
        for orthogonalize in (None, True, False)
    ),
    *(
        Case(getattr(fft, name), normal(4, 2), kind, n, 0)
        for name in TRIGONOMETRIC
        for kind in (1, 2, 3)
        for n in (3, 6)
    ),
    *(Case(getattr(fft, name), x) for name in TRIGONOMETRIC for x in (single(4), [0.3, -1.2, 2.0])),
    *(
        Case(getattr(fft, f"{name}n"), normal(3, 4), kind, norm="ortho")
        for name in TRIGONOMETRIC
        for kind in (1, 2, 3, 4)
    ),
    *(Case(getattr(fft, f"{name}n"), normal(3, 4), 2, (2, 6)) for name in TRIGONOMETRIC),
    *(Case(getattr(fft, f"{name}n"), normal(3, 4), 3, None, 1) for name in TRIGONOMETRIC),
]


@cases(CASES)
def test_rules(case):
    check(case)


@cases(CASES[::9])
def test_second_derivatives(case):
    check(case, second_order=True)


def test_all_transforms_are_known():
    assert len(TRANSFORMS) == 28
    assert all(registry.has_rules(getattr(fft, name)) for name in TRANSFORMS if "fht" not in name)


def energy(transform, *options):
    def of(x):
        spectrum = transform(x, *options)
        weights = np.cos(np.arange(spectrum.size)).reshape(spectrum.shape)
        return np.sum(np.real(weights * spectrum) * np.abs(spectrum) ** 2)

    return of


@pytest.mark.parametrize("name", [name for name in TRANSFORMS if "fht" not in name])
def test_all_operators_agree(name):
    f, x, v = energy(getattr(fft, name)), normal(4, 5), normal(4, 5, seed=1)
    check_gradient(f, x)
    assert ad.jvp(f, (x,), (v,))[1] == pytest.approx(np.sum(ad.gradient(f, x)[0] * v))
    differences = (ad.gradient(f, x + 1e-6 * v)[0] - ad.gradient(f, x - 1e-6 * v)[0]) / 2e-6
    np.testing.assert_allclose(ad.hvp(f, (x,), (v,))[0], differences, rtol=1e-5, atol=1e-5)


LEGACY = [
    *((name, options) for name in ("fft", "ifft", "rfft", "irfft") for options in ((), (3, 0), (7,), (6,), (4,))),
    *((name, options) for name in ("fft2", "ifft2", "fftn", "ifftn") for options in ((), ((3, 6),), (None, (0,)))),
    *(
        (name, (kind, n, -1, norm))
        for name in TRIGONOMETRIC
        for kind in (1, 2, 3)
        for n in (None, 6)
        for norm in (None, "ortho")
    ),
    *((f"{name}n", (kind,)) for name in TRIGONOMETRIC for kind in (1, 2, 3)),
]


@pytest.mark.parametrize("name, options", LEGACY)
def test_legacy_transforms(name, options):
    transform, x, v = getattr(fftpack, name), normal(4, 5), normal(4, 5, seed=1)
    f = energy(transform, *options)
    value, (gradient,) = ad.withgradient(f, x)
    assert value == pytest.approx(f(x))
    check_gradient(f, x)
    assert ad.jvp(f, (x,), (v,))[1] == pytest.approx(np.sum(gradient * v))


def test_transforms_that_are_imported_by_name_are_typed():
    transform, legacy = fft.rfft, fftpack.fft

    def f(x):
        return np.sum(np.abs(transform(x, 7)) ** 2 * np.arange(4)) + np.abs(legacy(x, 6)[2])

    check_gradient(f, normal(5))
    assert GENERIC or ad.explain(f, normal(5)).functions[0].how == "typed"


@pytest.mark.parametrize("length", [7, 8])
@pytest.mark.parametrize("transform", [fft.fht, fft.ifht])
def test_hankel_transforms_by_all_parameters(transform, length):
    def f(a, dln, mu, offset, bias):
        return np.sum(transform(a, dln, mu, offset=offset, bias=bias) ** 2)

    a, parameters = normal(length), (0.1, 0.7, 0.2, 0.3)
    check_gradient(f, a, *parameters)
    v = (a, 0.3, -0.2, 0.5, 1.0)
    tangent = ad.jvp(f, (a, *parameters), v)[1]
    assert tangent == pytest.approx(sum(np.sum(g * d) for g, d in zip(ad.gradient(f, a, *parameters), v)))
    second = ad.hvp(lambda a: f(a, *parameters), (a,), (a,))[0]
    np.testing.assert_allclose(second, ad.gradient(f, a, *parameters)[0])


def test_a_singular_hankel_transform_has_no_derivative():
    with pytest.raises(NotDifferentiable, match="singular"):
        ad.gradient(lambda bias: fft.ifht(normal(8), 0.1, 1.0, bias=bias).sum(), 2.0)


def test_the_argument_is_not_overwritten():
    z = complexes(4)
    before = z.copy()
    ad.gradient(lambda z: np.sum(np.abs(fft.fft(z, overwrite_x=True)) ** 4), z)
    assert np.array_equal(z, before)
