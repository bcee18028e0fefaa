"""What is known of the shapes of arrays, and of what is there on some ways only."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg
from specialised_cases import check, check_all_ways

import autodiff_hook as ad
from autodiff_hook import reports
from autodiff_hook.runtime.specialising import GENERIC, ONE_WAY

shown = pytest.mark.skipif(GENERIC or ONE_WAY, reason="there is no joint program for all ways")
GENERAL = ("unbroadcast", "fitted", "accumulate", "conj", "scatter_add", "expand_reduced")
"""What is asked at run time where shapes and types are not known."""


def reflection(point, normal):
    normal = np.array(normal[:3], dtype=float, copy=True)
    normal /= np.sqrt(np.dot(normal, normal))
    m = np.identity(4)
    m[:3, :3] -= 2.0 * np.outer(normal, normal)
    m[:3, 3] = (2.0 * np.dot(point[:3], normal)) * normal
    return np.sum(m * np.arange(16.0).reshape(4, 4))


def anomaly(e, r, v):
    if np.dot(e, e) > 1e-20:
        a, b = e * np.sqrt((r * r).sum(axis=0)), r * np.sqrt((e * e).sum(axis=0))
        found = 2.0 * np.arctan2(np.sqrt(((a - b) ** 2).sum(axis=0)), np.sqrt(((a + b) ** 2).sum(axis=0)))
        found = found if np.dot(r, v) > 0 else -found % 6.0
    else:
        found = np.arccos(r[0] / np.sqrt(np.dot(r, r)))
    return found * found


E, R, V = np.array([0.1, 0.2, 0.3]), np.array([1.0, 0.4, -0.3]), np.array([0.3, 1.0, 0.2])


@pytest.mark.parametrize(("f", "args"), [(reflection, (R, V)), (anomaly, (E, R, V))])
def test_nothing_is_asked_of_shapes_that_are_known(f, args):
    check(f, *args)
    check(f, *[-x for x in args])
    if not (GENERIC or ONE_WAY):
        found = ad.code_adjoint(f, *args)
        assert not [line for line in found.splitlines() if any(name in line for name in GENERAL)]


def test_what_is_not_there_on_some_ways():
    check(anomaly, E * 0.0, R, V)
    check(anomaly, E, R, -V)


def spread(x, w):
    return np.sum((x[:3] - x.mean()) ** 2) + np.sum(w * x)


@shown
def test_shapes_that_change_take_a_second_program_and_no_third():
    weights = np.linspace(0.5, 1.5, 9)

    def f(x, w):
        return spread(x, w) * weights[0]

    with reports.collecting() as told:
        for n in (5, 4, 6, 7, 2, 1, 3, 5, 4):
            x = np.arange(float(n)) ** 1.5
            off = 2.0 * (x[:3] - x.mean())
            wanted = np.full(n, 0.5 - off.sum() / n)
            wanted[:3] += off
            dx, dw = ad.gradient(f, x, 0.5)
            np.testing.assert_allclose(dx, 0.5 * wanted, rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(dw, 0.5 * x.sum())
    assert len([each for each in told if each.kind == "typed"]) == 2


def test_arrays_that_are_captured_may_have_another_shape():
    held = [np.array([1.0, 2.0])]

    def f(x):
        return np.sum(held[0] * x)

    for other in (held[0], np.array([3.0]), np.array(2.0), np.array([1.0, 2.0, 3.0])):
        held[0] = other
        np.testing.assert_allclose(ad.gradient(f, 2.0)[0], other.sum())


def broadcast(x, y):
    a, b, c = np.broadcast_arrays(x, y[:, None], 2.0)
    (alone,) = np.broadcast_arrays(y)
    above, whole = np.broadcast_arrays(a > 0.6, 3, subok=True)
    return np.sum(np.sin(a) * b**c * np.where(above, whole, 1.0)) + alone[0] * a[0, 1]


def test_what_is_broadcast():
    for size in (2, 3):
        check(broadcast, np.linspace(0.4, 0.9, size), np.array([0.3, 0.7]))


def test_what_is_broadcast_with_what_is_differentiated_is_a_constant():
    swept = []

    def costly(order):
        return order * order

    @ad.rrule(costly)
    def costly_rule(order):
        def pullback(slope):
            swept.append(slope)
            return (2.0 * slope * order,)

        return order * order, pullback

    ad.extend.pure(costly)

    def f(x, order):
        a, n = np.broadcast_arrays(x, order, subok=False)
        return np.sum(a * costly(n))

    for _ in range(3):
        assert ad.gradient(f, 3.0, order=2.0) == (4.0,)
    assert GENERIC or not swept
    assert ad.gradient(f, 3.0, 2.0) == (4.0, 12.0) and swept


@ad.nondifferentiable
def chosen(items, place):
    return items[place]


ad.extend.pure(chosen)
CHOICES = np.array([1, 2]), np.array([[0.5, 1.5], [2.5, 3.5]])


def chosen_in_turn(x):
    counts, slopes = (chosen(CHOICES, place) for place in range(2))
    return np.sum(x * slopes * counts) * (1.0 if slopes.ndim == 2 else 3.0)


def chosen_by_an_argument(x, place):
    slopes = chosen(CHOICES, place)
    return np.sum(x * slopes) * (1.0 if slopes.ndim == 2 else 3.0)


def test_what_is_chosen_by_a_number_may_be_of_any_kind():
    check(chosen_in_turn, 0.7, specialised=None)
    for place in (0, 1, 0, 1):
        check(chosen_by_an_argument, 0.7, place, specialised=None)


def diffused(d, r, n=7, steps=5):
    """Of lengths that are not known while types are found out, the number of bands is the one that is called for."""
    v = np.sin(np.linspace(0.0, 3.0, n + 1))
    bands = np.zeros((3, n + 1))
    bands[0, 1:] = -d
    bands[1] = 1.0 + 2.0 * d + r
    bands[2, :-1] = -d
    for _ in range(steps):
        v = linalg.solve_banded((1, 1), bands, v)
    return np.sum(v * v)


def bent(d, r, n=8):
    v = np.ones(n)
    bands = np.zeros((5, n))
    bands[0, 2:] = bands[4, :-2] = d
    bands[1, 1:] = bands[3, :-1] = -4.0 * d
    bands[2] = 6.0 * d + r
    for _ in range(4):
        v = linalg.solve_banded((2, 2), bands, v)
    return v[n // 2]


def diffused_evenly(d, r, n=7):
    v = np.cos(np.linspace(0.0, 3.0, n))
    for _ in range(4):
        bands = np.zeros((2, n))
        bands[0, 1:] = -d
        bands[1] = 1.0 + 2.0 * d + r
        v = linalg.solveh_banded(bands, v)
    return np.sum(v * v)


def regressed(x, y, n=20):
    noise = np.random.default_rng(1).standard_normal((n // 2, 4))
    c = np.cov(np.exp(x * noise).mean(axis=1), y * noise[:, 0] + noise[:, -1])
    return c[0, 1] / c[1, 1]


@pytest.mark.parametrize("f", [diffused, bent, diffused_evenly, regressed])
def test_examples_have_the_lengths_that_calls_ask_for(f):
    check_all_ways(f, 0.7, 1.3)


def axes_by_the_shape(b, k):
    b = b[0] if k > 0 else b
    return np.sum(b) * (2.0 if len(b.shape) == 1 else 3.0)


def axes_by_a_function(b, k):
    b = b[0] if b.shape[0] == k else b
    return np.sum(b) * (2.0 if len(np.shape(b)) == 1 else 3.0)


def axes_by_what_is_found(b, k):
    b = b[0] if k > 0 else b
    return np.sum(b) * len(np.nonzero(b)) + len(b.strides)


def axes_by_the_rest(b, k):
    b = b[0] if k > 0 else b
    first, *others = b.shape
    return np.sum(b) * (first if others else 7.0)


@pytest.mark.parametrize("f", [axes_by_the_shape, axes_by_a_function, axes_by_what_is_found, axes_by_the_rest])
def test_how_many_axes_an_array_has_that_has_one_fewer_on_a_branch(f):
    for b in (np.ones((1, 3)), np.ones((2, 3))):
        for k in (1, 0, 1, 2, 0):
            check(f, b, k, specialised=None)
