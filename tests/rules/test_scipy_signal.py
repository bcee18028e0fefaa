"""``scipy.signal``: filters and convolutions against finite differences, in all modes, and the values of stand-ins."""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np
import pytest
import scipy
from bilinear_checks import check_bilinear, require_typed
from numpy_checks import Case, cases, check, complexes, normal, single
from scipy import signal
from scipy.signal import _peak_finding_utils, _sigtools, _upfirdn

import autodiff_hook as ad
from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.runtime.specialising import GENERIC
from autodiff_hook.testing import check_gradient, check_rule
from autodiff_rules.scipy.signal import convolution, filters, resampling

X, B, A = normal(12), np.array([0.2, 0.3, 0.1]), np.array([1.0, -0.4, 0.2])
SOS = signal.butter(4, 0.3, output="sos")

CASES = [
    *(Case(signal.lfilter, B, a, X) for a in (A, 2.0 * A, A[:2], [1.0], [0.5], [1.0, 0.3, 0.1, 0.2, -0.1])),
    *(Case(signal.lfilter, B, A, normal(3, 5), axis) for axis in (0, 1, -1)),
    *(
        Case(signal.lfilter, b, 2.0 * A, x)
        for b, x in ((B, complexes(7)), (complexes(2), normal(7)), (B[:1], [0.3, 0.2]))
    ),
    Case(signal.lfilter, complexes(2), np.array([1.0, 0.2j]), complexes(2, 6), layouts=False),
    Case(signal.lfilter, B.astype(np.float32), A.astype(np.float32), single(6)),
    *(
        Case(signal.lfilter, b, a, normal(6), -1, normal(2))
        for b, a in ((B, A), (B, 2.0 * A[:2]), (B[:2], A), (B, [2.0]))
    ),
    *(
        Case(signal.lfilter, B, a, normal(2, 5), axis, zi, layouts=False)
        for a in (A, A[:1])
        for axis, zi in ((1, normal(2, 2)), (1, normal(1, 2)), (0, normal(2, 5)))
    ),
    Case(signal.lfilter, B, A, normal(1), -1, normal(2)),
    *(
        Case(f, a, b, mode, method)
        for f in (signal.convolve, signal.correlate)
        for a, b in (
            (normal(6), normal(3)),
            (normal(3), normal(6)),
            (normal(5), complexes(4)),
            (normal(5, 4), normal(2, 3)),
        )
        for mode in ("full", "same", "valid")
        for method in ("direct", "fft")
    ),
    *(Case(f, normal(2, 3, 4), normal(2, 1, 2)) for f in (signal.convolve, signal.correlate)),
    *(Case(f, [0.3, 0.2, 0.5], single(2)) for f in (signal.convolve, signal.correlate)),
]


@cases(CASES)
def test_rules(case):
    check(case)


@cases([case for case in CASES if not any(isinstance(x, list) for x in case.args)][::4])
def test_second_derivatives(case):
    check(case, second_order=True)


def weighted(y):
    return np.sum(np.abs(y) ** 2 * np.cos(np.arange(y.size)).reshape(y.shape))


THROUGH_THE_SOURCE = {
    "filtfilt": (lambda x, b, a: signal.filtfilt(b, a, x), normal(20), B, 2.0 * A),
    "filtfilt_normalised": (lambda x, b, a: signal.filtfilt(b, a, x), normal(20), B, A / A[0]),
    "filtfilt_gust": (lambda x: signal.filtfilt(B, A, x, method="gust"), normal(20)),
    "sosfilt": (
        lambda x, b, a: signal.sosfilt([[*b, 1.0, *a], [0.5, 0.1, b[0], 1.0, 0.1, a[1]]], x),
        normal(2, 6),
        B,
        A[1:],
    ),
    "sosfilt_state": (lambda x, zi: signal.sosfilt(SOS, x, zi=zi)[1], normal(6), normal(2, 2)),
    "sosfiltfilt": (lambda x: signal.sosfiltfilt(SOS, x), normal(30)),
    "lfiltic": (signal.lfiltic, B, A / A[0], normal(4), normal(1)),
    "lfiltic_of_output": (lambda y: signal.lfiltic(B[:1], 2.0 * A, y), normal(2)),
    "lfilter_zi": (signal.lfilter_zi, B, 2.0 * A),
    "lfilter_zi_normalised": (signal.lfilter_zi, B[:1], A / A[0]),
    "lfilter_zi_without_feedback": (lambda b: signal.lfilter_zi(b, [1.0]), B),
    "fftconvolve": (lambda x, y: signal.fftconvolve(x, y, "same"), normal(4, 5), normal(3, 2)),
    "fftconvolve_axis": (lambda x, y: signal.fftconvolve(x, y, axes=1), normal(2, 5), normal(2, 3)),
    "oaconvolve": (lambda x, y: signal.oaconvolve(x, y), normal(30), normal(3)),
    "convolve2d": (lambda x, y: signal.convolve2d(x, y, "same", "wrap"), normal(4, 5), normal(3, 2)),
    "correlate2d": (lambda x, y: signal.correlate2d(x, y, "full", "symm"), normal(4, 5), normal(3, 2)),
    "savgol": (lambda x: signal.savgol_filter(x, 5, 2), normal(9)),
    "savgol_derivative": (lambda x: signal.savgol_filter(x, 5, 3, deriv=1, mode="nearest"), normal(9)),
    "detrend": (lambda x: signal.detrend(x), normal(9)),
    "detrend_parts": (lambda x: signal.detrend(x, bp=[4]), normal(9)),
    "hilbert": (lambda x: np.imag(signal.hilbert(x)), normal(9)),
    "hilbert2": (lambda x: signal.hilbert2(x), normal(4, 5)),
    "upfirdn": (lambda h, x: signal.upfirdn(h, x, 3, 2), normal(5), normal(2, 6)),
    "resample_poly": (lambda x: signal.resample_poly(x, 3, 2), normal(9)),
    "resample": (lambda x: signal.resample(x, 14), normal(9)),
    "decimate": (lambda x: signal.decimate(x, 2), normal(40)),
    "stft": (lambda x: signal.stft(x, nperseg=8)[2], normal(20)),
    "gaussian": (lambda s: signal.windows.gaussian(7, s), 1.3),
    "kaiser": (lambda s: signal.windows.kaiser(7, s), 1.3),
    "tukey": (lambda s: signal.windows.tukey(9, s), 0.4),
    "window": (lambda x: signal.get_window("hann", 9) * x, normal(9)),
    "medfilt": (lambda x: signal.medfilt(x, 3), normal(9)),
    "wiener": (lambda x: signal.wiener(x, 3), normal(9)),
    "butter": (lambda w: signal.butter(3, w)[0], 0.3),
    "freqz": (lambda b, a: signal.freqz(b, a, 8)[1], B, A),
}


@pytest.mark.parametrize("name", THROUGH_THE_SOURCE)
def test_functions_of_scipy(name):
    transform, *args = THROUGH_THE_SOURCE[name]

    def f(*args):
        return weighted(transform(*args))

    v = tuple(np.asarray(normal(*np.shape(x), seed=7)) if np.ndim(x) else 0.7 for x in args)
    check_gradient(f, *args)
    ḡ = ad.gradient(f, *args)
    assert ad.jvp(f, tuple(args), v)[1] == pytest.approx(sum(np.sum(g * d) for g, d in zip(ḡ, v)))
    above = ad.gradient(f, *[x + 1e-6 * d for x, d in zip(args, v)])
    below = ad.gradient(f, *[x - 1e-6 * d for x, d in zip(args, v)])
    for h, a, b in zip(ad.hvp(f, tuple(args), v), above, below):
        np.testing.assert_allclose(h, (a - b) / 2e-6, rtol=1e-4, atol=1e-5 * np.max(np.abs(h)))


def test_peaks_are_where_they_are():
    def f(x):
        peaks, found = signal.find_peaks(x, height=-9.0, distance=3)
        return np.sum(x[peaks] ** 2) + np.sum(found["peak_heights"] * peaks)

    check_gradient(f, normal(30))


def test_how_far_peaks_stand_out_and_how_wide_they_are():
    def found(x, height):
        peaks, of = signal.find_peaks(x, prominence=0.1, width=0.1, rel_height=height, wlen=15)
        total = np.sum(of["prominences"] ** 2 * peaks) + np.sum(of["width_heights"] ** 2)
        return total + np.sum(of["widths"] * of["left_ips"] + x[peaks] * of["right_ips"])

    for height in (0.4, 0.9):
        check_gradient(found, normal(30), height)
    x = normal(30)
    peaks = signal.find_peaks(x)[0]
    data = signal.peak_prominences(x, peaks)
    check_rule(_peak_finding_utils._peak_prominences, x, peaks, -1, second_order=True)
    check_rule(_peak_finding_utils._peak_widths, x, peaks, 0.7, *data, second_order=True)


def test_spectra():
    check_gradient(lambda x: weighted(signal.welch(x, nperseg=8)[1]), normal(20))
    check_gradient(lambda x: weighted(signal.periodogram(x)[1]), normal(9))
    check_gradient(lambda x, y: weighted(signal.csd(x, y, nperseg=8)[1]), normal(20), normal(20, seed=1))


@pytest.mark.parametrize("kernel", [(1, 1), (2, 3), (4, 3), (5, 7)])
@pytest.mark.parametrize("boundary", convolution.BORDERS)
def test_the_stand_in_of_convolve2d(kernel, boundary):
    for shape, flip, mode in product([(6, 8), (2, 3)], (0, 1), (0, 1, 2)):
        if mode or shape == (6, 8):
            args = normal(*shape), normal(*kernel), flip, mode, boundary, 0.7
            np.testing.assert_allclose(convolution.convolve2d(*args), _sigtools._convolve2d(*args[:5], np.array(0.7)))


@pytest.mark.parametrize("length", [2, 3, 5])
@pytest.mark.parametrize("mode", resampling.BORDERS)
def test_rules_of_upfirdn(length, mode):
    maps = resampling.resampled, resampling.resampled_signal, resampling.beside_signal, resampling.beside_filter
    for taps, up, down in product((1, 3, 6), (1, 2, 3), (1, 2, 4)):
        phases = _upfirdn._UpFIRDn(normal(taps), np.float64, up, down)._h_trans_flip
        options = (up, down, 1, mode, _upfirdn._output_len(taps, length, up, down))
        check_bilinear(*maps, normal(2, length), phases, options, second_order=False)
    options = (2, 3, 1, mode, _upfirdn._output_len(5, length, 2, 3))
    check_bilinear(*maps, normal(2, length), complexes(6), options, second_order=False)


def test_upfirdn_says_nothing_new():
    for mode in ("constant", "wrap", "edge", "symmetric", "reflect"):
        f = partial(signal.upfirdn, B, up=2, down=3, mode=mode)
        np.testing.assert_array_equal(ad.pullback(f, X)[0], f(X))
    check_rule(_upfirdn._output_len, 5, 7, 2, 3, differences=lambda *_: 9)
    with pytest.raises(ValueError, match="Unknown mode"):
        ad.gradient(lambda x: signal.upfirdn(B, x, mode="none").sum(), X)


def in_sections(sos, x, zi):
    """By filters of one section each, which need not have 1 in front."""
    states = []
    for row, state in zip(sos, np.moveaxis(zi, 1, 0)):
        x, last = signal.lfilter(row[:3], row[3:], x, zi=state)
        states.append(last)
    return x, np.stack(states, 1)


def test_rules_of_sections():
    x, zi = normal(2, 7), normal(2, 2, 2)
    check_rule(filters.sections, SOS, x, zi, differences=in_sections, second_order=True)
    check_rule(
        *(filters.sections_of_signal, SOS, x, zi),
        differences=lambda _, x, zi: in_sections(SOS, x, zi),
        second_order=True,
    )


TYPED = {
    "savgol": lambda x: signal.savgol_filter(x, 5, 2),
    "savgol_mirror": lambda x: signal.savgol_filter(x, 5, 2, mode="mirror"),
    "welch": lambda x: signal.welch(x, nperseg=8)[1],
    "periodogram": lambda x: signal.periodogram(x)[1],
    "csd": lambda x: signal.csd(x, x**2, nperseg=8)[1],
    "stft": lambda x: signal.stft(x, nperseg=8)[2],
    "filtfilt": lambda x: signal.filtfilt(B, A, x),
    "sosfilt": lambda x: signal.sosfilt(SOS, x),
    "sosfiltfilt": lambda x: signal.sosfiltfilt(SOS, x),
    "upfirdn": lambda x: signal.upfirdn(B, x, 3, 2),
    "resample": lambda x: signal.resample(x, 14),
    "oaconvolve": lambda x: signal.oaconvolve(x, B),
    "find_peaks": lambda x: x[signal.find_peaks(x, distance=3)[0]],
    "peak_widths": lambda x: signal.peak_widths(x, signal.find_peaks(x)[0])[0],
}
if tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 18):
    # From then on it asks whether a view may be written to: it is carried.
    TYPED["hilbert"] = lambda x: signal.hilbert(x)


@pytest.mark.skipif(GENERIC, reason="nothing is typed")
@pytest.mark.parametrize("name", TYPED)
def test_what_is_typed(name):
    transform = TYPED[name]
    require_typed(lambda x: weighted(transform(x)), normal(40))


def test_borders_without_derivative_are_errors():
    with pytest.raises(NotDifferentiable, match="extrapolating"):
        ad.gradient(lambda x: signal.upfirdn(B, x, mode="antisymmetric").sum(), X)


def test_rule_of_initial_states():
    check_rule(signal.lfilter_zi, B, 2.0 * A, second_order=True)
