"""Cotangents that nobody has worked out: an error where they are asked for, which says which call has one."""

from __future__ import annotations

import numpy as np
import pytest

from autodiff_hook import NotDifferentiable, checkpoint, gradient, hvp, jvp, not_implemented, pullback, rrule
from autodiff_hook.testing import check_gradient


def half_known(x, y):
    return x * y


@rrule(half_known)
def half_known_rule(x, y):
    def half_known_pullback(z̄):
        return z̄ * y, not_implemented("nobody knows dz/dy")

    return x * y, half_known_pullback


def told(call, line, function):
    """The text of an error that names a line of a function, counted from its first."""
    with pytest.raises(NotDifferentiable, match="nobody knows dz/dy") as caught:
        call()
    assert f":{function.__code__.co_firstlineno + line} in " in str(caught.value)


def with_numbers(x, y):
    y = 2.0 * y
    z = half_known(x, y)
    return z * 3.0


def with_arrays(x, y):
    row = np.zeros(2)
    row[0] = y
    m = np.sin(row)[0]
    row[1] = m
    return np.sum(half_known(x, row[1]) * row)


def with_containers(x, y):
    parts = {"y": [y, y + 1.0]}
    total = sum(parts["y"])
    parts["y"][0] = half_known(x, total)
    return sum(parts["y"])


def with_a_checkpoint(x, y):
    y = checkpoint(lambda y: y * y)(y)
    return half_known(x, y)


PROGRAMS = [(with_numbers, 2), (with_arrays, 5), (with_containers, 3), (with_a_checkpoint, 2)]


@pytest.mark.parametrize(("function", "line"), PROGRAMS)
def test_the_error_names_the_call(function, line):
    told(lambda: gradient(function, 1.5, 0.7), line, function)
    told(lambda: gradient(lambda v: function(v[0], v[1]), [1.5, 0.7]), line, function)
    told(lambda: jvp(function, (1.5, 0.7), (0.0, 1.0)), line, function)
    told(lambda: gradient(lambda y: gradient(function, 1.5, y)[0], 0.7), line, function)


@pytest.mark.parametrize("function", [function for function, _ in PROGRAMS])
def test_what_is_known_is_right(function):
    check_gradient(lambda x: function(x, 0.7), 1.5)
    tangent = jvp(function, (1.5, 0.7), (1.0, None))[1]
    assert tangent == pytest.approx(gradient(lambda x: function(x, 0.7), 1.5)[0])
    assert hvp(lambda x: function(x * x, 0.7), (1.5,), (1.0,))[0] == pytest.approx(2.0 * tangent)


def test_a_sweep_that_meets_one_leaves_memory_as_it_was():
    def f(a, y):
        square = np.sum(a * a)
        a[0] = y
        z = half_known(square, a[0])
        a[1] = z
        return z + np.sum(np.sin(a))

    a = np.array([1.0, 2.0])
    _, back = pullback(f, a, 0.7)
    after = a.copy()
    for _ in range(2):
        with pytest.raises(NotDifferentiable, match="nobody knows"):
            back(1.0)
        assert np.array_equal(a, after)


def test_what_is_not_asked_for_is_no_error_forwards():
    def f(x, y):
        rows = np.zeros(3)
        rows[1] = half_known(x, y)
        unused = np.exp(rows) * 2.0 + rows[0]
        return (x * y, unused)[0]

    assert jvp(f, (1.5, 0.7), (0.0, 1.0)) == (1.5 * 0.7, 1.5)
    assert hvp(lambda v: f(v[0], v[1]), (np.array([1.5, 0.7]),), (np.array([0.0, 1.0]),))[0].tolist() == [1.0, 0.0]
