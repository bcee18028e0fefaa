"""What looks like a constant, but depends on its arguments: limits, spacings, ranks, lengths, neighbours."""

from __future__ import annotations

import math
import operator
import time

import numpy as np
import pytest
from scipy import linalg, optimize

from autodiff_hook import NotDifferentiable, gradient, jvp

VALUES = np.array([1.0, 3.0, 4.5, 0.2])
WEIGHTS = np.arange(1.0, 8.0)


class Keys:
    """Gives back what it is asked for."""

    def __getitem__(self, key):
        return key

    def product(self, key):
        return key.start * key.stop


class Compared:
    """Whose comparisons are numbers."""

    def __init__(self, v):
        self.v = v

    def __lt__(self, other):
        return self.v * other.v

    __eq__ = __lt__
    __hash__ = None


def enumerated(x):
    total = 0.0
    for index, value in np.ndenumerate(np.array([[x, x * x], [2.0, 3 * x]])):
        total = total + value * value * (1 + index[0])
    return total


RIGHT = {
    "fftfreq": (lambda d: np.fft.fftfreq(6, d)[1:3].sum(), 2.0),
    "rfftfreq": (lambda d: (np.fft.rfftfreq(6, d=d) ** 2).sum(), 2.0),
    "fftfreq_of_an_array": (lambda d: (np.fft.fftfreq(3, np.array([d, 2 * d, 3.0])) ** 2).sum(), 2.0),
    "ix": (lambda a: (np.ix_(np.array([a, 2.0]), np.array([1.0, a * a]))[1] ** 2).sum(), 2.0),
    "hanning": (lambda m: (np.hanning(m) * WEIGHTS).sum(), 6.6),
    "hamming": (lambda m: (np.hamming(m) * WEIGHTS).sum(), 6.6),
    "blackman": (lambda m: (np.blackman(m) * WEIGHTS).sum(), 6.6),
    "bartlett": (lambda m: (np.bartlett(m) * WEIGHTS).sum(), 6.6),
    "kaiser": (lambda beta: (np.kaiser(7, beta) * WEIGHTS).sum(), 2.3),
    "kaiser_large": (lambda beta: (np.kaiser(7, beta=beta) * WEIGHTS).sum(), 60.0),
    "mgrid": (lambda a: (np.mgrid[0:a:3j] ** 2).sum(), 2.0),
    "mgrid_of_two": (lambda a: (np.mgrid[0:a:3j, a:3:4j] ** 2).sum(), 2.0),
    "mgrid_step": (lambda a: (np.mgrid[0:2.2:a] ** 2).sum(), 0.5),
    "ogrid": (lambda a: sum((q**2).sum() for q in np.ogrid[0:a:3j, a:3:4j]), 2.0),
    "r_": (lambda a: (np.r_[0:a:3j, a, 3:a:4j, [a, 1.0]] ** 2).sum(), 2.0),
    "c_": (lambda a: (np.c_[0:a:3j] ** 2).sum(), 2.0),
    "approx_fprime": (lambda x: optimize.approx_fprime([x, 2 * x], lambda v: (v**2).sum(), 1e-3).sum(), 1.3),
    "math_nextafter": (lambda x: math.nextafter(x, 2.0) * x, 1.3),
    "np_nextafter": (lambda x: (np.nextafter(np.array([x, 2.0]), [2.0, x]) * x).sum(), 1.3),
    "dft": (lambda n: linalg.dft(n).real.sum(), 3.4),
    "ndenumerate": (enumerated, 1.3),
    "slice_of_an_object": (lambda x: Keys()[x : 2 * x].start * Keys()[x : 2 * x].stop, 1.3),
    "slice_called": (lambda x: slice(x, 2 * x).stop * slice(x * x).stop, 1.3),
    "slice_passed_on": (lambda x: Keys().product(slice(x, x * x, 3)), 1.3),
    "slices_in_a_tuple": (lambda x: Keys()[x:1.0, 2.0:x][1].stop * 1.0, 1.3),
    "operator_lt": (lambda x: operator.lt(Compared(x), Compared(x)) * 1.0, 1.3),
    "operator_eq": (lambda x: operator.eq(Compared(x), Compared(x)) * 1.0, 1.3),
    "comparison": (lambda x: (Compared(x) < Compared(x)) * 1.0, 1.3),
    "out_none_by_place": (lambda x: np.exp(x, None) * 1.0, 1.3),
}
if np.lib.NumpyVersion(np.__version__) >= "2.3.0":
    RIGHT["out_ellipsis"] = lambda x: np.multiply(x, x, out=...) * 1.0, 1.3


@pytest.mark.parametrize("name", RIGHT)
def test_the_derivative_is_that_of_finite_differences(name):
    function, x = RIGHT[name]
    h = 1e-5
    difference = (function(x + h) - function(x - h)) / (2 * h)
    for _ in range(2):
        assert gradient(function, x) == (pytest.approx(difference, rel=1e-5),)
        assert jvp(function, (x,), (1.0,))[1] == pytest.approx(difference, rel=1e-5)


ERRORS = {
    "struct_time": lambda x: time.struct_time((x,) * 9)[0] * 2.0,
}


@pytest.mark.parametrize("name", ERRORS)
def test_or_an_error(name):
    for _ in range(2):
        with pytest.raises(NotDifferentiable):
            gradient(ERRORS[name], 1.3)
        with pytest.raises(NotDifferentiable):
            jvp(ERRORS[name], (1.3,), (1.0,))
