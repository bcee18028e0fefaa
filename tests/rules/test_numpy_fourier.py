"""Rules of ``np.fft``: against finite differences, and against the plain transforms."""

from __future__ import annotations

import numpy as np
import pytest
from numpy_checks import Case, cases, check, complexes, normal, single

import autodiff_hook as ad

F = np.fft
NORMS = ("backward", "ortho", "forward")

CASES = [
    *(
        Case(f, x)
        for f in (F.fft, F.ifft)
        for x in (normal(5), normal(4, 3), complexes(6), [1.0, -0.5, 2.0], single(4))
    ),
    *(Case(f, complexes(3, 4), n, 0) for f in (F.fft, F.ifft) for n in (2, 3, 5)),
    *(Case(f, complexes(5), norm=norm) for f in (F.fft, F.ifft) for norm in NORMS),
    *(Case(F.rfft, x) for x in (normal(5), normal(6), normal(2, 3))),
    *(Case(F.rfft, normal(5, 2), n, 0) for n in (3, 4, 7, 8)),
    *(Case(F.irfft, complexes(4), n) for n in (None, 5, 6, 7, 10, 3)),
    *(Case(F.irfft, complexes(2, 3), axis=0, norm=norm) for norm in NORMS),
    *(Case(F.rfft, normal(6), norm=norm) for norm in NORMS),
    *(Case(f, complexes(3, 4)) for f in (F.fft2, F.ifft2, F.fftn, F.ifftn)),
    *(Case(f, complexes(2, 3, 4), axes=(0, 2)) for f in (F.fftn, F.ifftn, F.irfftn)),
    *(Case(f, complexes(3, 4), (2, 5)) for f in (F.fft2, F.ifft2, F.irfft2)),
    *(Case(f, normal(3, 4)) for f in (F.rfft2, F.rfftn)),
    Case(F.rfftn, normal(3, 4), (4, 5), (0, 1)),
    Case(F.irfftn, complexes(3, 4), norm="ortho"),
]


@cases(CASES)
def test_rules(case):
    check(case)


@cases([c for c in CASES if c.args and not isinstance(c.args[0], list)][::5])
def test_second_derivatives(case):
    check(case, second_order=True)


def filtered(x):
    spectrum = np.fft.rfft(x)
    spectrum = spectrum * np.exp(-0.1 * np.arange(len(spectrum)))
    shifted = np.fft.fftshift(np.abs(np.fft.fft(x)) ** 2)
    return np.sum(shifted * np.arange(len(x))) + np.sum(np.fft.irfft(spectrum, len(x)) ** 3)


@pytest.mark.parametrize("length", [7, 8])
def test_a_filter(length):
    x = np.sin(np.arange(length) * 1.3)
    slopes = [(filtered(x + d) - filtered(x - d)) / 2e-6 for d in np.eye(length) * 1e-6]
    for _ in range(2):
        np.testing.assert_allclose(ad.gradient(filtered, x)[0], slopes, rtol=1e-6, atol=1e-6)
