"""What is typed in forward mode and to second order: jvp against the gradient, hvp against differences."""

import cmath
import math
from typing import NamedTuple

import numpy as np
import pytest
from trees import assert_slopes, direction, inner, slopes, typed

import autodiff_hook as ad
from autodiff_hook.extend import nondifferentiable
from autodiff_hook.runtime import tangents as tangents_of

XS, YS = np.linspace(0.0, 2.0, 6), np.cos(np.linspace(0.0, 2.0, 6))
MATRIX = np.array([[2.0, 0.3, 0.1], [0.3, 1.5, -0.4], [0.1, -0.4, 1.8]])
P, V = [0.37, 0.93, 1.31], np.array([0.3, 0.8, -0.4, 0.9, 0.25, 0.6])


def items_read_before_loops(p):
    """The item is read before a loop that may have no iteration."""
    total, x = 0.0, p[0]
    for k in range(6):
        for _ in range(k):
            x = x + 0.1 * (p[1] - p[2] * x)
        total += x * x
    return total


def nothing_is_read(p):
    total = p[0] ** 2
    for _ in range(0):
        total += p[7]
    return total


def impedances(p):
    total = 0.0
    for k in range(5):
        s = 1j * (0.1 + 0.3 * k)
        z = p[0] + s * p[1] + 1 / (s * p[2])
        total += math.log(abs(z)) + (1 / z).real + cmath.phase(z)
    return total


def complex_numbers(p):
    z = complex(p[0], p[1])
    w = cmath.exp(1j * p[2]) * cmath.sqrt(z) ** 2.5 - z / (z + 3)
    return (w * w.conjugate()).real + w.imag * abs(z)


def spectrum(x):
    bins = np.fft.fft(x * np.hanning(len(x)))
    return np.sum(np.abs(bins) ** 2 / (1 + np.arange(len(x)))) + np.sum(np.angle(bins[1:3]))


def filtered(x):
    bins = np.fft.rfft(x)
    gain = 1 / (1 + 1j * np.arange(len(bins)) * x[0])
    return np.sum(np.fft.irfft(bins * gain, len(x)) ** 3) + np.sum(np.abs(gain))


def complex_stores(x):
    z = x[:3] + 1j * x[3:]
    z[1] = z[1] * z[0]
    return float(np.sum(np.sqrt(z).real + (z**3).imag)) + abs(z[2])


def likelihood(a):
    low = np.linalg.cholesky(a @ a.T + np.eye(3))
    return np.sum(np.linalg.solve(low, a) ** 2) + np.sum(np.log(np.diag(low)))


def spectral(a):
    return np.sum(np.linalg.eigvalsh(a @ a.T) ** 1.5) + np.sum(np.linalg.svdvals(a) ** 3)


def table(p):
    return sum(np.interp(p[0] * k, XS, YS * p[1]) * k for k in range(3)) + float(np.interp(p[2], XS, YS) ** 2)


def filled(p):
    x = np.append(np.full(3, p[0]), np.full_like(XS, p[1]))
    return np.sum(np.insert(x**2, 2, p[2] ** 3) ** 2)


def greatest_of_two_axes(v):
    return np.sum(np.log1p(np.exp(np.outer(v, v).reshape(3, 2, 3, 2).max(axis=(1, 3)))))


@nondifferentiable
def bracket(x, nodes):
    k = np.searchsorted(nodes, x)
    return k - 1, k


def declared_constants(p):
    low, high = bracket(p[0], nodes=XS)
    return p[0] ** 2 * (YS[low] + YS[high]) * p[1]


def powers(p):
    """The type of a power says only that it was real."""
    total = 0.0
    for k in range(4):
        total += (p[0] + k) ** p[1] * p[2] ** -0.5
    return total


def network(p):
    """Rows that have no derivative stand beside those that have one."""
    layers = [[[p[0], p[1]], [0.5, 0.25]], [[0.1, 0.2]]]
    inputs = [1.0, p[2]]
    for layer in layers:
        inputs = [math.tanh(sum(w * x for w, x in zip(row, inputs))) for row in layer]
    return inputs[0]


def fit(v):
    """``lstsq``, which fits, also returns a rank."""
    c = np.polyfit(np.arange(6.0), v**2, 2)
    return c @ c


def chosen(p):
    """The smallest of some sums, on one way, for the keys of the dict are not known before."""
    rows = [[a * b + 1 for b in p] for a in p]
    return min(map(sum, rows)) * dict(zip("abc", p))["b"]


class State(NamedTuple):
    x: float
    y: float


def states(p):
    """Tuples of constants, which have the tangents 0.0, go into a loop over their items."""
    s = State(1.0, 1.0)
    for _ in range(5):
        slope = State(p[0] * (s.y - s.x), s.x * (p[1] - s.y))
        s = State(*(a + 0.1 * b for a, b in zip(s, slope)))
    return s.x * s.y


POINTS = dict.fromkeys(
    (
        items_read_before_loops,
        nothing_is_read,
        impedances,
        complex_numbers,
        table,
        filled,
        declared_constants,
        powers,
        network,
        states,
        chosen,
    ),
    P,
)
POINTS |= dict.fromkeys((spectrum, filtered, complex_stores, greatest_of_two_axes, fit), V)
POINTS |= dict.fromkeys((likelihood, spectral), MATRIX)


@pytest.mark.parametrize("f", POINTS, ids=lambda f: f.__name__)
def test_directions(f):
    point = (POINTS[f],)
    tangents = direction(point)
    for _ in range(2):
        value, found = typed("jvp", f, point, tangents)
        assert value == pytest.approx(f(*point))
        assert found == pytest.approx(inner(ad.gradient(f, *point), tangents))
        assert_slopes(typed("hvp", f, point, tangents), slopes(f, point, tangents))


def stopped(p):
    a, b = ad.stop_gradient((p[0] ** 2, p[1]))
    return a * p[0] + b * float(np.sum(ad.stop_gradient(np.array(p)) * np.array(p)))


def test_what_is_stopped_is_typed():
    tangents = ([0.3, -0.2, 0.7],)
    total = sum(x * x for x in P)
    slopes_ = [P[0] ** 2 + P[1] * P[0], P[1] * P[1], P[1] * P[2]]
    for _ in range(2):
        assert ad.gradient(stopped, P)[0] == pytest.approx(slopes_)
        value, found = typed("jvp", stopped, (P,), tangents)
        assert value == pytest.approx(P[0] ** 3 + P[1] * total)
        assert found == pytest.approx(np.dot(slopes_, tangents[0]))
        assert typed("hvp", stopped, (P,), tangents)[0] == pytest.approx([0.0, 0.0, 0.0])


def margins(w):
    z = MATRIX @ w[:3]
    return np.mean(np.log1p(np.exp(z)) - 0.5 * z) + 0.01 * np.sum(w * w)


def centred(w):
    rows = np.outer(w, np.sin(w))
    return np.sum(np.mean(rows**2, axis=1) * np.sum(rows, axis=0, keepdims=True)) + np.sum(np.var(rows, axis=0))


def rearranged(w):
    return np.sum(np.sort(w) ** 3 * w[[0, 2, 2, 1, 5, 4]]) + np.trace(np.outer(w, w)) + np.max(w) * w[1] + np.sum(w[1:])


@pytest.mark.parametrize("f", [margins, centred, rearranged], ids=lambda f: f.__name__)
def test_tangents_of_gradients_are_made_of_forward_forms(f, monkeypatch):
    transposed, transpose = [], tangents_of.transpose
    monkeypatch.setattr(tangents_of, "transpose", lambda *call: transposed.append(call) or transpose(*call))
    tangents = (np.cos(V),)
    for _ in range(2):
        slope, found = typed("jvp", ad.grad(f), (V,), tangents)
        assert slope == pytest.approx(ad.grad(f)(V))
        assert found == pytest.approx(ad.hvp(f, (V,), tangents)[0])
    assert not transposed
