"""Rules that return something else than their pullbacks owe, and calls that rules do not know."""

from __future__ import annotations

import math

import numpy as np
import pytest

from autodiff_hook import AutodiffError, NotDifferentiable, gradient, hessian, hvp, jvp, pullback, rrule, withgradient


def target_of(source):
    """A function of a module that is not opted in."""
    names = {"__name__": "not_opted_in", "np": np}
    exec(f"def target(*args, **kwargs): return {source}", names)
    return names["target"]


def given_back(cotangents, source="args[0] * 2.0"):
    """A function whose rule returns ``cotangents(ȳ, *args)``."""
    target = target_of(source)

    @rrule(target)
    def wrong_rule(x):
        def wrong_pullback(ȳ):
            return cotangents(ȳ, x)

        return target(x), wrong_pullback

    return target


OPERATORS = [
    lambda f, x: gradient(f, x),
    lambda f, x: withgradient(f, x),
    lambda f, x: pullback(f, x)[1](1.0),
    lambda f, x: jvp(f, (x,), (np.ones_like(x),)),
    lambda f, x: hvp(f, (x,), (np.ones_like(x),)),
]
ARRAY = np.array([1.0, 2.0, 3.0])
WRONG_OF_NUMBERS = [
    lambda ȳ, x: 2.0 * ȳ,
    lambda ȳ, x: [2.0 * ȳ],
    lambda ȳ, x: None,
    lambda ȳ, x: np.array([2.0 * ȳ]),
    lambda ȳ, x: (),
    lambda ȳ, x: (2.0 * ȳ, None),
    lambda ȳ, x: (np.array([2.0, 2.0]) * ȳ,),
    lambda ȳ, x: ([2.0 * ȳ],),
    lambda ȳ, x: ("2.0",),
]
WRONG_OF_ARRAYS = [
    lambda ȳ, x: 2.0 * ȳ,
    lambda ȳ, x: (2.0 * ȳ[:2],),
    lambda ȳ, x: (2.0 * ȳ[:, None],),
    lambda ȳ, x: (6.0,),
    lambda ȳ, x: (2.0 * ȳ, None),
    lambda ȳ, x: (object(),),
]


@pytest.mark.parametrize("take", OPERATORS)
@pytest.mark.parametrize("cotangents", WRONG_OF_NUMBERS)
def test_a_wrong_pullback_of_a_number_is_an_error_that_names_the_rule(take, cotangents):
    f = given_back(cotangents)

    def program(x):
        total = 0.0
        for _ in range(2):
            total = total + f(x) * x
        return total

    for _ in range(2):
        with pytest.raises(AutodiffError, match="wrong_rule"):
            take(program, 1.5)


@pytest.mark.parametrize("take", OPERATORS)
@pytest.mark.parametrize("cotangents", WRONG_OF_ARRAYS)
def test_a_wrong_pullback_of_an_array_is_an_error_that_names_the_rule(take, cotangents):
    f = given_back(cotangents)
    for _ in range(2):
        with pytest.raises(AutodiffError, match="wrong_rule"):
            take(lambda x: (f(x) * x).sum(), ARRAY)


@pytest.mark.parametrize(
    "cotangents",
    [
        lambda ȳ, x: ([ȳ],),
        lambda ȳ, x: ([ȳ, ȳ, ȳ],),
        lambda ȳ, x: (ȳ,),
        lambda ȳ, x: (np.ones((2, 2)),),
        lambda ȳ, x: ([ȳ, [ȳ]],),
        lambda ȳ, x: ([ȳ, np.ones(2)],),
    ],
)
@pytest.mark.parametrize("make", [list, tuple])
def test_a_wrong_cotangent_of_a_list_or_tuple_is_an_error(cotangents, make):
    f = given_back(cotangents, "sum(args[0])")
    for _ in range(2):
        with pytest.raises(AutodiffError, match="wrong_rule"):
            gradient(lambda x, y: f(make([x, y])) * 1.0, 1.0, 2.0)


def test_what_a_pullback_may_return():
    for right in (lambda ȳ, x: (2.0 * ȳ,), lambda ȳ, x: (np.float64(2.0 * ȳ),), lambda ȳ, x: (np.array(2.0 * ȳ),)):
        f = given_back(right)
        assert gradient(lambda x: f(x) * 1.0, 1.5) == (2.0,)
        assert jvp(lambda x: f(x) * 1.0, (1.5,), (1.0,)) == (3.0, 2.0)
    f = given_back(lambda ȳ, x: (np.array([ȳ, ȳ]),), "sum(args[0])")
    assert gradient(lambda x, y: f([x, y]) * 1.0, 1.0, 2.0) == (1.0, 1.0)
    f = given_back(lambda ȳ, x: ({"a": ȳ},), "args[0]['a']")
    assert gradient(lambda x: f({"a": x, "b": x}) * 1.0, 1.0) == (1.0,)


scaled = target_of("args[0] * args[1] * kwargs.get('scale', 1.0)")


@rrule(scaled)
def scaled_rule(x, y):
    def scaled_pullback(ȳ):
        return ȳ * y, ȳ * x

    return x * y, scaled_pullback


UNKNOWN = [
    (lambda x: scaled(x, x, scale=2.0), "'scale'", 8.0),
    (lambda x: scaled(x * 1.0, x * x, scale=1), "'scale'", 8.0),
    (lambda x: np.array([x, x * x]).conj(np.empty(2))[0], "argument 2", 2.0),
]


@pytest.mark.parametrize("program, name, value", UNKNOWN)
@pytest.mark.parametrize("take", OPERATORS)
def test_what_a_rule_does_not_know_is_named_by_the_error_and_the_value_is_plain(program, name, value, take):
    assert pytest.approx(program(2.0)) == value
    assert withgradient(lambda x: x * (program(x) > 0), 2.0) == (2.0, (1.0,))
    with pytest.raises(NotDifferentiable, match=f"does not know .*{name}|wrote to an array"):
        take(program, 2.0)


def test_a_rule_that_leaves_out_parameters():
    target = target_of("args[0] * (args[1] if args[1:] else kwargs.get('scale', 3.0))")

    @rrule(target)
    def target_rule(x, scale):
        def target_pullback(ȳ):
            return ȳ * scale, ȳ * x

        return x * scale, target_pullback

    assert gradient(lambda x: target(x, 2.0), 1.0) == (2.0,)
    assert gradient(lambda x: target(x, scale=2.0), 1.0) == (2.0,)
    for program in (lambda x: target(x) * 1.0, lambda x: target(x, 2.0, 5.0) * 1.0, lambda x: target(x, other=x) * 1.0):
        with pytest.raises(NotDifferentiable, match="does not know"):
            gradient(program, 1.0)
        with pytest.raises(NotDifferentiable, match="does not know"):
            jvp(program, (1.0,), (1.0,))


@pytest.mark.parametrize(
    "returned", [lambda x: 2.0 * x, lambda x: (2.0 * x,), lambda x: (2.0 * x, 2.0), lambda x: None]
)
@pytest.mark.parametrize("take", OPERATORS)
def test_a_rule_that_does_not_return_a_value_and_a_pullback_is_named(returned, take):
    f = target_of("args[0] * 2.0")

    @rrule(f)
    def wrong_rule(x):
        return returned(x)

    for x in (1.5, ARRAY):
        with pytest.raises(AutodiffError, match="wrong_rule"):
            take(lambda x: np.sum(f(x) * x), x)


def test_complex_numbers_of_their_parts():
    assert gradient(lambda x, y: (np.complex128(x, y) ** 2).imag, 2.0, 3.0) == (6.0, 4.0)


def test_rules_that_are_no_functions():
    class Rule:
        def __call__(self, x, power=2.0):
            return x**power, lambda ȳ: (ȳ * power * x ** (power - 1.0), None)

    target = target_of("args[0] ** (args[1] if args[1:] else kwargs.get('power', 2.0))")
    rrule(target)(Rule())
    assert gradient(lambda x: target(x), 3.0) == (6.0,)
    assert gradient(lambda x: target(x, power=3.0), 3.0) == (27.0,)
    assert hessian(lambda x: x * x * 1.0)(3.0) == 2.0
    with pytest.raises(AutodiffError, match="option 'other'"):
        gradient(lambda x: target(x, other=1.0), 3.0)


def test_math_functions_take_what_they_take():
    with pytest.raises(TypeError):
        gradient(lambda x: math.sin(x, x), 1.0)
