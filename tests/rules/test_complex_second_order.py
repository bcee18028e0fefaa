"""Derivatives of derivatives of complex functions, in both modes, against differences along both axes."""

from __future__ import annotations

import numpy as np
import pytest

from autodiff_hook import jvp, pullback

POINT, DIRECTION, WEIGHT, STEP = 1.1 + 1.3j, -1.05 + 0.82j, 0.3 - 0.7j, 1e-6


def part_times_itself(x):
    return x.real * x


FUNCTIONS = [np.abs, np.sign, np.real, np.imag, np.angle, np.conj, np.square, np.exp, np.sqrt, part_times_itself]


def weight_of(y):
    return WEIGHT if np.iscomplexobj(y) else 0.7


def forward(f):
    return lambda x, v: jvp(f, (x,), (v,))[1]


def backward(f):
    def cotangent(x, v):
        y, back = pullback(f, x)
        return back(v if np.iscomplexobj(y) else v.real)[0]

    return cotangent


def require_pullback(f, x):
    y, back = pullback(f, x)
    weight = weight_of(y)
    (x̄,) = back(weight if np.ndim(y) == 0 else np.full(y.shape, weight))
    assert np.iscomplexobj(x̄)
    for axis in (1, 1j):
        difference = np.sum(np.conj(weight) * (f(x + STEP * axis) - f(x - STEP * axis))).real / (2 * STEP)
        assert np.sum(np.conj(x̄) * axis).real == pytest.approx(difference, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("make", [complex, np.complex128, lambda z: np.array([z])], ids=["complex", "scalar", "array"])
@pytest.mark.parametrize("mode", [forward, backward])
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_pullback_of_first_derivatives(f, mode, make):
    x, v = make(POINT), make(DIRECTION)
    derivative = mode(f)
    require_pullback(lambda x: derivative(x, v), x)
    require_pullback(lambda v: derivative(x, v), v)


@pytest.mark.parametrize("make", [float, np.array], ids=["float", "array"])
def test_the_gradient_by_a_complex_number_is_complex_within_a_derivative(make):
    def by_cotangent(v):
        return pullback(np.real, POINT)[1](v)[0]

    value, tangent = jvp(by_cotangent, (make(0.3),), (make(0.5),))
    assert type(value) is complex and type(tangent) is complex
    assert (value, tangent) == (0.3 + 0j, 0.5 + 0j)
