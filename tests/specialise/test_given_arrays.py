"""Given arrays that a program changes in place: typed, and changed at its end."""

from __future__ import annotations

import copy
import ctypes

import numpy as np
import pytest
from specialised_cases import GENERIC, identical, is_specialised, oracle, outcome, same

import autodiff_hook as ad

A, B = np.array([1.0, 7.5, 0.2, 9.0]), np.array([0.3, 0.2, 4.0, 1.0])
ROWS = np.array([[1.0, 2.0], [3.0, 5.0], [0.1, 0.2]])


def rescaled(rows):
    rows -= rows.mean(axis=0)
    most = np.abs(rows).max()
    if most > 0:
        rows *= 1.5 / most
    return np.sum(rows**3)


def unwrapped(angle):
    steps = np.diff(angle)
    angle[1:] += np.cumsum((steps + np.pi) % (2 * np.pi) - np.pi - steps)
    return np.sum(np.sin(angle) * np.arange(angle.size))


def both(p, q):
    p *= 2.0
    q[1:] = p[:-1] * q[0]
    return np.sum(q * p)


def gradient_that_is_an_argument(p, q):
    """The gradient by ``q`` is what ``p`` was."""
    value = p @ q
    p[0] = 5.0
    return value


def by_a_view(p):
    tail = p[1:]
    p *= 3.0
    tail[0] = 1.0
    return np.sum(p**2) + tail[1]


def clipped(p):
    np.clip(p, -1.0, 1.0, out=p)
    return np.sum(p**2)


def stored_numbers(p, x):
    for i in range(3):
        p[i] = x * p[i + 1]
    return np.sum(p)


CHANGING = [
    *((rescaled, ROWS), (unwrapped, A), (both, A, B), (gradient_that_is_an_argument, A, B), (by_a_view, A)),
    *((clipped, A), (stored_numbers, A, 0.7)),
]


def leaves_as(expected, given):
    """Whether two lists of arguments are the same to the bit."""
    for x, y in zip(ad.tree_leaves(expected), ad.tree_leaves(given), strict=True):
        identical(x, y)


@pytest.mark.parametrize(("f", "args"), [(f, args) for f, *args in CHANGING], ids=lambda x: getattr(x, "__name__", ""))
def test_arguments_are_changed_as_by_the_plain_call(f, args):
    plain = copy.deepcopy(args)
    value = f(*plain)
    _, expected = oracle(f, *copy.deepcopy(args))
    for _ in range(3):
        given = copy.deepcopy(args)
        same(ad.gradient(f, *given), expected)
        leaves_as(plain, given)
    given = copy.deepcopy(args)
    found, grads = ad.withgradient(f, *given)
    assert found == pytest.approx(value, rel=1e-14)
    same(grads, expected)
    leaves_as(plain, given)
    assert is_specialised(f)


def scaled(p, q):
    p *= 2.0
    return np.sum(q * p)


def second_is_scaled(p, q):
    q *= 2.0
    return np.sum(p**2)


def first_holds_a_number(p, q):
    p[0] = 3.0
    return np.sum(p * q)


SHARED = "whose memory several arguments show"


@pytest.mark.parametrize("f", [scaled, second_is_scaled, first_holds_a_number])
@pytest.mark.parametrize("place", [slice(1, 3), slice(0, 2)])
def test_arguments_that_show_one_memory(f, place):
    """The derivatives of one would be lost in the other; typed programs for arrays apart do not take them."""
    same(ad.gradient(f, A[:2].copy(), B[:2].copy()), oracle(f, A[:2].copy(), B[:2].copy())[1])
    for _ in range(3):
        whole = A.copy()
        with pytest.raises(ad.NotDifferentiable, match=SHARED):
            ad.gradient(f, whole[:2], whole[place])


@pytest.mark.parametrize("f", [scaled, second_is_scaled])
def test_arguments_in_two_parts_of_one_array(f):
    """Right where it is typed, an error where it is carried."""
    expected = oracle(f, A[:2].copy(), A[2:].copy())[1]
    whole = A.copy()
    if not GENERIC:
        same(ad.gradient(f, whole[:2], whole[2:]), expected)
    with pytest.raises(ad.NotDifferentiable, match=SHARED):
        oracle(f, whole[:2], whole[2:])
    whole = A.copy()
    apart, along = outcome(ad.jvp, f, (whole[:2], whole[2:]), (B[:2], B[:2])), sum(x @ B[:2] for x in expected)
    assert apart is ad.NotDifferentiable if GENERIC else apart[1] == pytest.approx(along)


WEIGHTS = np.ones(3)


def shown_by_a_global(p):
    p[1] = p[0] * 2.0
    return np.sum(p * WEIGHTS)


def test_an_array_that_a_global_shows(monkeypatch):
    ad.gradient(shown_by_a_global, np.ones(3))
    for _ in range(2):
        mine, other = np.arange(3.0), np.arange(3.0)
        monkeypatch.setitem(globals(), "WEIGHTS", other)
        expected = oracle(shown_by_a_global, other)[1]
        monkeypatch.setitem(globals(), "WEIGHTS", mine)
        same(ad.gradient(shown_by_a_global, mine), expected)
        identical(mine, other)


HELD = np.zeros(2)
NUMBER = ctypes.c_double.from_buffer(HELD)


def shown_by_native_code(p, x):
    p[0] = x
    return NUMBER.value * 2.0


def test_an_array_that_native_code_shows():
    for _ in range(3):
        with pytest.raises(ad.NotDifferentiable):
            ad.gradient(shown_by_native_code, HELD, 0.7)


def fails_behind(p):
    p *= 2.0
    if p[0] > 3.0:
        raise KeyError("too large")
    return np.sum(p)


def test_what_raises_has_changed_its_argument_once():
    for _ in range(3):
        given = np.array([1.0, 2.0])
        ad.gradient(fails_behind, given)
        assert given.tolist() == [2.0, 4.0]
    given = np.array([2.0, 2.0])
    with pytest.raises(KeyError):
        ad.gradient(fails_behind, given)
    assert given.tolist() == [4.0, 4.0]


def test_auxiliary_values_may_be_what_is_changed():
    def f(p):
        p *= 2.0
        return np.sum(p), p

    given = A.copy()
    grads, aux = ad.gradient(f, given, has_aux=True)
    assert aux is given or GENERIC
    same(grads, (np.full(4, 2.0),))


def test_arrays_that_cannot_be_written():
    given = A.copy()
    given.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        ad.gradient(rescaled, given)
    column = np.ones((4, 2))[:, 0]
    same(ad.gradient(stored_numbers, column, 0.7), oracle(stored_numbers, np.ones(4), 0.7)[1])
