"""Derivatives of what operators have made: they are typed like those of functions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from specialised_cases import close

import autodiff_hook as ad
from autodiff_hook.api import generic_withgradient
from autodiff_hook.operators import _rows_of_hessian
from autodiff_hook.runtime import specialising
from autodiff_hook.runtime.specialising import GENERIC, ONE_WAY

typed_only = pytest.mark.skipif(GENERIC or ONE_WAY, reason="only programs of all ways have derivatives within them")
MATRIX = np.random.default_rng(0).normal(size=(5, 3))
VECTOR = np.array([0.4, -0.2, 0.7])


def programs_of(f):
    """How many programs there are of derivatives of a function."""
    known = specialising._known.found.get(id(f.__code__), {})
    return sum(len(x.entries) for (_, _, works, _), x in known.items() if works)


def quartic(x, w=0.5):
    return x**4 * w + math.sin(x)


def loss(w, scale=1.0):
    return np.mean(np.log1p(np.exp(-(MATRIX @ w)))) * scale + np.sum(w**3)


@typed_only
def test_numbers_to_third_order():
    second = ad.grad(ad.grad(quartic))
    third = ad.grad(second)
    for x in (0.7, 1.3, 2.0):
        assert second(x) == pytest.approx(6.0 * x**2 - math.sin(x), rel=1e-12)
        assert third(x) == pytest.approx(12.0 * x - math.cos(x), rel=1e-12)
        assert ad.value_and_grad(second)(x) == (second(x), third(x))
        assert ad.jvp(second, (x,), (2.0,)) == (second(x), pytest.approx(2.0 * third(x), rel=1e-12))
    assert programs_of(quartic) == 4


@typed_only
def test_functions_that_are_made_anew_share_a_program():
    def made(n):
        return lambda x: x**3 * n

    for n in (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0):
        assert ad.grad(ad.grad(made(n)))(0.5) == pytest.approx(3.0 * n)
    assert programs_of(made(0.0)) == 1


@typed_only
def test_arguments_that_are_chosen():
    f = ad.grad(lambda a, b: a**2 * b**3, 1)
    for a, b in ((2.0, 0.5), (1.5, 0.7)):
        assert ad.grad(f)(a, b) == pytest.approx(6.0 * a * b**2)
        assert ad.grad(f, (0, 1))(a, b) == pytest.approx((6.0 * a * b**2, 6.0 * a**2 * b))
    with pytest.raises(ad.Unsupported, match="out of range"):
        ad.grad(f)(2.0)


@typed_only
@pytest.mark.parametrize("size", [(3,), (3, 2), (3, 1)])
def test_hessians_of_arrays_are_those_of_carried_programs(size):
    w = np.random.default_rng(1).normal(size=size)
    expected = _rows_of_hessian(loss, (w,), True, False)
    for _ in range(2):
        close(ad.hessian(loss)(w), expected)
        close(ad.jacobian(ad.grad(loss))(w), expected)
    assert ad.hessian(loss)(w, scale=2.0).shape == size + size


def product(a, b, n):
    return np.sum(np.tanh(a) * b) ** 2 * n


@typed_only
@pytest.mark.parametrize("argnums", [0, (0,), (0, 1), (1, 0)])
def test_hessians_of_several_arrays(argnums):
    given = (VECTOR, np.array([1.5]))
    places = argnums if isinstance(argnums, tuple) else (argnums,)

    def of_chosen(*xs):
        return product(*[xs[places.index(i)] if i in places else given[i] for i in (0, 1)], 2)

    found = ad.hessian(product, argnums)(*given, 2)
    close(found, _rows_of_hessian(of_chosen, tuple(given[i] for i in places), isinstance(argnums, int), False))


def test_what_is_masked_has_no_nan():
    def f(x):
        return np.sum(np.where(x > 0.1, np.sqrt(x), 0.0))

    x = np.array([0.0, 0.25, 1.0])
    for _ in range(3):
        close(ad.hessian(f)(x), np.diag([0.0, -2.0, -0.25]))


def test_errors_are_those_of_the_function():
    def f(x):
        if x[0] > 1.0:
            raise KeyError("too far")
        return np.sum(x**2)

    for _ in range(2):
        close(ad.hessian(f)(VECTOR), 2.0 * np.eye(3))
        with pytest.raises(KeyError, match="too far"):
            ad.hessian(f)(VECTOR + 2.0)
        with pytest.raises(KeyError, match="too far"):
            ad.jacobian(ad.grad(f))(VECTOR + 2.0)


def test_what_is_called_is_seen_by_name_and_value():
    calls = []

    def f(x):
        calls.append(float(x))
        return x**3

    for _ in range(3):
        calls.clear()
        assert ad.grad(ad.grad(f))(2.0) == pytest.approx(12.0)
        assert calls == [2.0]
    assert generic_withgradient(ad.grad(quartic), 0.5)[1][0] == pytest.approx(ad.grad(ad.grad(quartic))(0.5))
