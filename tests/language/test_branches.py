"""Comparisons, boolean logic, conditionals, several returns, walrus, assertions.

PYTEST_DONT_REWRITE: an assertion of a program would be one of pytest's, which takes a minute to be followed.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from helpers import assert_gradients, assert_same_exception, gradient_at

from autodiff_hook import gradient
from autodiff_hook.testing import check_gradient

BOTH = pytest.mark.parametrize("x", [1.3, -0.8])


@BOTH
def test_if(x):
    def f(x):
        y = 2.0
        if x > 0:
            y = x * x
        return y * x

    check_gradient(f, x)


@pytest.mark.parametrize("x", [-2.5, -0.5, 0.5, 1.5, 7.0])
def test_elif(x):
    def f(x):
        if x < -1:
            y = x * x
        elif x < 0:
            y = 3 * x
        elif x < 1:
            y = math.sin(x)
        elif not x < 5:
            return x**3
        else:
            y = x / 2
        return y + x

    check_gradient(f, x)


@BOTH
def test_conditional_expressions(x):
    check_gradient(lambda x: x**2 if x > 0 else -x, x)
    check_gradient(lambda x: (x if x > 0 else 2 * x) * (3 * x if x < 0 else x), x)
    check_gradient(lambda x: (1 if x > 0 else 2 if x > -1 else 3) * x, x)


@BOTH
def test_boolean_operators_give_operands(x):
    check_gradient(lambda x: (x > 0 and x * x) or x * 5, x)
    check_gradient(lambda x: (x and x * 3) + (0.0 or x), x)
    check_gradient(lambda x: (not x) + x if not (x < 0 or x > 100) else 2 * x, x)


def test_and_gives_the_first_false_operand():
    assert_gradients(lambda x, y: x and y, (0.0, 3.0), (1.0, 0.0))
    assert_gradients(lambda x, y: x or y, (0.0, 3.0), (0.0, 1.0))


@pytest.mark.parametrize("x", [-1.0, 0.5, 3.0])
def test_chained_comparisons(x):
    check_gradient(lambda x: x * x if 0 < x < 1 else 4 * x if -5.0 <= x != 3.5 > 2 else x, x)


def test_every_operand_of_a_chain_is_evaluated_once():
    seen = []

    def note(x):
        seen.append(x)
        return x

    def f(x):
        return x * (note(x) < note(2 * x) < note(x))

    assert gradient(f, 1.5) == (0.0,)
    assert seen == [1.5, 3.0, 1.5]


@BOTH
def test_several_returns(x):
    def f(x):
        if x > 5:
            return x
        if x > 0:
            return x * x
        return

    if x > 0:
        check_gradient(f, x)
    else:
        with pytest.raises(Exception, match="NoneType"):
            gradient(f, x)


@BOTH
def test_walrus(x):
    check_gradient(lambda x: (y := x * x) + y * 2 if (z := x + 1) > 0 else z, x)


@BOTH
def test_walrus_in_a_loop(x):
    def f(x):
        total = 0.0
        n = 5
        while (n := n - 1) and (step := x * n) < 100:
            total += step * x
        return total + step

    check_gradient(f, x)


@gradient_at(1.2)
def test_branches_on_identity_and_membership(x):
    y = None
    if y is None:
        y = x * 2
    if y is not None and "a" in {"a": 1} and 3 not in (1, 2):
        y = y * x
    return y


@gradient_at(0.7)
def test_branches_on_numpy_bools(x):
    a = np.array([x, 2 * x])
    y = x
    if np.all(a > 0):
        y = y * x
    if a[0] > 10:
        y = y * 100
    return y * a.sum() if a.any() else y


@gradient_at(1.5)
def test_truth_of_containers_and_objects(x):
    class Full:
        def __bool__(self):
            return True

    y = x if [] else x * x
    y = y * x if [x] else y
    y = y + x if 0 or {} or () or "" else y - 3 * x
    return y * (x if Full() else 1)


@gradient_at(0.5)
def test_asserts(x):
    assert x > 0, "positive"
    assert isinstance(x, float)
    return x * x


def failing(x):
    y = x * x
    assert y > 100, f"too small: {y}"
    return y


def deep_failure(x):
    def inner(y):
        return [1, 2][int(y) + 7]

    return inner(x) + x


def raising(x):
    if x > 0:
        raise ValueError(f"bad {x:.2f}") from KeyError("k")
    return x


def dividing(x):
    return x / (x - x)


def misspelt(x):
    return x.nonsense + undefined_name  # noqa: F821


def unbound(x):
    if x > 100:
        y = x
    return y


def mistyped(x):
    return x + "text"


def wrong_call(x):
    def g(a, b, *, c=1):
        return a

    return g(x) + g(x, x, d=3)


def too_few(x):
    a, b, c = [x, x]
    return a


def in_a_loop(x):
    for i in range(5):
        x = x * x
        if i == 3:
            raise RuntimeError("at three")
    return x


def in_a_comprehension(x):
    return [x / (2 - i) for i in range(4)]


def in_a_library(x):
    return math.sqrt(-x)


def in_a_generator(x):
    def gen():
        yield x
        yield x / 0

    return sum(gen())


class Account:
    def __init__(self, x):
        self.x = x

    @property
    def half(self):
        return self.x / 0

    def __add__(self, other):
        return self.missing


def in_a_property(x):
    return Account(x).half


def in_an_operator(x):
    return Account(x) + x


@pytest.mark.parametrize(
    "f",
    [
        failing,
        deep_failure,
        raising,
        dividing,
        misspelt,
        unbound,
        mistyped,
        wrong_call,
        too_few,
        in_a_loop,
        in_a_comprehension,
        in_a_library,
        in_a_generator,
        in_a_property,
        in_an_operator,
    ],
)
def test_exceptions_are_those_of_the_plain_run(f):
    assert_same_exception(f, 1.5)


def test_the_cause_is_kept():
    with pytest.raises(ValueError, match="bad") as caught:
        gradient(raising, 2.0)
    assert isinstance(caught.value.__cause__, KeyError)


def test_tracebacks_show_the_users_lines_only():
    with pytest.raises(IndexError) as caught:
        gradient(deep_failure, 1.5)
    names = [entry.name for entry in caught.traceback]
    assert names[-2:] == ["deep_failure", "inner"]
    assert "apply" not in names and "forward" not in names
