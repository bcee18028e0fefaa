"""Keyword arguments, ``functools.partial``, methods, ``J``: bound in one way, specialised in one way."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest

import autodiff_hook as ad
from autodiff_hook.api import generic_withgradient
from autodiff_hook.loader.attach import AttachedJ
from autodiff_hook.runtime.binding import unfolded
from autodiff_hook.runtime.specialising import GENERIC, differentiated


def power(x, n, *, k=1.0, shift=(0.5, 2)):
    r = 1.0
    for _ in range(n):
        r = r * x * k
    return r + shift[0] * x


def gathers(x, *xs, scale=1.0, **options):
    total = x * options.get("first", 1.0)
    for other in xs:
        total += other * scale * x
    return total + sum(options.values())


def weighted(w, X, names=None, table=None):
    total = (X @ w).sum()
    for name in names or ():
        total += table[name] * w[0]
    return total


class Model:
    def __init__(self, w):
        self.w = w

    def loss(self, x, n=2, *, offset=0.0):
        return self.w * x**n + offset * x


def rosenbrock(x, y, a=1.0, b=100.0):
    return (a - x) ** 2 + b * (y - x * x) ** 2


class Called(Model):
    """A model that is called itself."""

    def __call__(self, x, n=2, *, offset=0.0):
        return self.loss(x, n, offset=offset)


CALLS = {
    "keyword": (power, (1.1,), {"n": 3}),
    "keyword-only": (power, (1.1, 4), {"k": 2.0}),
    "all keywords": (power, (1.1,), {"shift": (1.5, 1), "k": 0.3, "n": 2}),
    "star and options": (gathers, (1.1, 2.0, 3.0), {"scale": 0.5, "first": 3.0, "other": 7.0}),
    "arrays": (weighted, (np.array([1.0, 2.0]),), {"X": np.array([[1.0, 2.0], [3.0, 4.0]])}),
    "containers": (
        weighted,
        (np.array([1.0, 2.0]), np.eye(2)),
        {"names": ["a", "b"], "table": {"a": 2.0, "b": 3.0}},
    ),
    "method": (Model(2.0).loss, (1.3,), {"n": 3, "offset": 0.7}),
    "partial": (functools.partial(rosenbrock, a=2.0), (0.3, 0.4), {}),
    "partial in front": (functools.partial(rosenbrock, 0.3), (0.4,), {"b": 10.0}),
    "partial of a method": (functools.partial(Model(2.0).loss, n=4), (1.3,), {"offset": 0.1}),
    "partial of a partial": (functools.partial(functools.partial(rosenbrock, 0.3), b=5.0), (0.4,), {"b": 10.0}),
    "called object": (Called(2.0), (1.3,), {}),
    "called object by name": (Called(2.0), (1.3,), {"n": 3, "offset": 0.7}),
    "partial of a called object": (functools.partial(Called(2.0), n=4), (1.3,), {"offset": 0.1}),
    "partial of stars": (functools.partial(gathers, 1.1, 2.0), (3.0,), {"scale": 0.5}),
}


def numbers(tree):
    return [x for item in tree for x in np.ravel(item).tolist()]


@pytest.mark.parametrize("name", CALLS)
def test_every_operator_specialises_every_call(name):
    f, args, kwargs = CALLS[name]
    value, expected = generic_withgradient(f, *args, **kwargs)
    for _ in range(2):
        assert numbers(ad.gradient(f, *args, **kwargs)) == pytest.approx(numbers(expected), rel=1e-12)
        found, grads = ad.withgradient(f, *args, **kwargs)
        assert found == value == f(*args, **kwargs)
        assert numbers(grads) == pytest.approx(numbers(expected), rel=1e-12)
        found, back = ad.pullback(f, *args, **kwargs)
        assert found == value and numbers(back(2.0)) == pytest.approx([2 * x for x in numbers(expected)])
        assert np.ravel(ad.grad(f)(*args, **kwargs)) == pytest.approx(numbers(expected[:1]))
        assert np.ravel(ad.jacobian(f)(*args, **kwargs)) == pytest.approx(numbers(expected[:1]))
    for form in ("gradient", "value", "pullback"):
        assert GENERIC or differentiated(f, args, kwargs, form, lambda *args, **kwargs: None) is not None


def test_objects_that_are_called_may_change():
    class Counting:
        def __init__(self):
            self.calls = []

        def __call__(self, x):
            self.calls.append(x)
            return x * len(self.calls)

    counting, called = Counting(), Called(2.0)
    assert [ad.gradient(counting, 3.0) for _ in range(3)] == [(1.0,), (2.0,), (3.0,)]
    assert counting.calls == [3.0] * 3
    assert [ad.gradient(called, 1.5) for _ in range(2)] == [(6.0,)] * 2
    called.w = 3.0
    assert ad.gradient(called, 1.5) == (9.0,)


def test_calls_that_are_static_or_of_the_class():
    class Static:
        @staticmethod
        def __call__(x):
            return x**3

    class OfClass:
        power = 3

        @classmethod
        def __call__(cls, x):
            return x**cls.power

    for called in (Static(), OfClass()):
        for _ in range(2):
            assert ad.gradient(called, 2.0) == (12.0,)
            assert ad.gradient(lambda x, f=called: f(x) * x, 2.0) == (32.0,)


def test_what_a_class_is_called_with_changes(monkeypatch):
    class Power:
        def __call__(self, x):
            return x * x

    power = Power()
    assert [ad.gradient(power, 3.0) for _ in range(2)] == [(6.0,)] * 2
    monkeypatch.setattr(Power, "__call__", lambda self, x: x**3)
    assert ad.gradient(power, 3.0) == (27.0,)


def test_a_rule_for_an_object_that_is_called_is_asked_first():
    class Square:
        def __call__(self, x):
            return x * x

    square = Square()
    assert ad.gradient(square, 3.0) == (6.0,)
    ad.rrule(square)(lambda x: (x * x, lambda ȳ: (100.0,)))
    assert ad.gradient(square, 3.0) == (100.0,)
    constant = Square()
    ad.nondifferentiable(constant)
    assert ad.gradient(constant, 3.0) in ((0.0,), (None,))


def test_other_values_and_other_types_by_keyword():
    for k in (1.0, 2.0, 3, np.float64(0.5), True, np.array(2.0)):
        for n in (1, 4):
            assert ad.gradient(power, 1.1, n=n, k=k, shift=(0.0, 0)) == pytest.approx((n * 1.1 ** (n - 1) * k**n,))
    with pytest.raises(TypeError):
        ad.gradient(power, 1.1, n=2, k=None)
    for word in ("sin", "cos", "sin"):
        assert ad.gradient(by_name, 0.3, how=word) == ((math.cos if word == "sin" else lambda x: -math.sin(x))(0.3),)


def test_names_in_any_order_and_arguments_by_position_or_by_name():
    def f(x, y=1.0, z=2.0):
        return x * y**2 * z**3

    for _ in range(4):
        assert ad.gradient(f, 2.0, y=3.0, z=2.0) == ad.gradient(f, 2.0, z=2.0, y=3.0) == (72.0,)
        assert ad.gradient(f, 2.0, 3.0, z=2.0) == (72.0, 96.0)
        assert ad.gradient(f, 2.0, y=3.0) == (72.0,)
        assert ad.gradient(f, 2.0, z=1.0) == (1.0,)
        assert ad.value_and_grad(f)(2.0, y=3.0) == (144.0, 72.0)
        assert ad.pullback(f, 2.0, z=1.0)[1](3.0) == (3.0,)


def by_name(x, how):
    return getattr(math, how)(x)


def test_functions_by_keyword():
    def applied(x, *, f):
        return f(x) * x

    for _ in range(2):
        assert ad.gradient(applied, 3.0, f=lambda t: 2 * t) == (12.0,)
        assert ad.gradient(applied, 3.0, f=math.exp) == pytest.approx((4 * math.exp(3.0),))


def test_what_is_given_twice():
    """A list that is an argument and is named, too, means what it means where it is carried."""

    def both(xs, ys=None):
        return xs[0] * ys[0]

    xs, other = [3.0, 1.0], [5.0, 1.0]
    for given in (other, xs, other):
        assert ad.gradient(both, xs, ys=given) == generic_withgradient(both, xs, ys=given)[1]
    assert ad.gradient(both, xs, ys=other) == ([5.0, 0.0],)
    a = np.array([3.0, 1.0])
    np.testing.assert_allclose(ad.gradient(both, a, ys=a)[0], [3.0, 0.0])


def test_calls_that_do_not_fit():
    for kwargs in ({"n": 3, "x": 2.0}, {"m": 3}, {"n": 2, "unknown": 1.0}):
        for operator in (ad.gradient, ad.withgradient, ad.pullback, ad.J):
            with pytest.raises(TypeError, match="argument"):
                operator(power, 1.1, **kwargs)


@pytest.mark.parametrize("operator", [ad.gradient, ad.withgradient, ad.pullback])
def test_keywords_alone_are_an_error_that_says_what_to_do(operator):
    with pytest.raises(ad.Unsupported, match=r"power was called with keyword arguments alone.*by position.*lambda x"):
        operator(power, x=2.0, n=3)
    with pytest.raises(ad.Unsupported, match="by position .what is given by keyword is constant"):
        ad.grad(power)(x=2.0, n=3)
    assert ad.gradient(lambda x: power(x=x, n=3), 2.0) == (12.5,)


def test_J_of_what_holds_nothing_with_a_derivative():
    for f, args, kwargs in CALLS.values():
        expected = generic_withgradient(f, *args, **kwargs)[1]
        for _ in range(2):
            value, back = ad.J(f, *args, **kwargs)
            assert value == f(*args, **kwargs)
            assert numbers(back(1.0)[1:]) == pytest.approx(numbers(expected))
    assert ad.J(power, 1.1, 3)[1](1.0)[0] is None
    assert AttachedJ(power)(1.1, n=3)[1](1.0) == (None, pytest.approx(3 * 1.1**2 + 0.5))


def test_J_of_closures_and_methods():
    def scaled(w, label):
        return lambda x, n=2: w * x**n if label else x

    for _ in range(2):
        value, back = ad.J(scaled(3.0, "a"), 2.0, n=3)
        f_bar, x_bar = back(1.0)
        assert (value, f_bar.w, x_bar) == (24.0, 8.0, 36.0)
        f_bar, x_bar = ad.J(Model(3.0).loss, 2.0, offset=1.0)[1](1.0)
        assert (f_bar.w, x_bar) == (4.0, 13.0)


def test_a_cotangent_of_another_form():
    """It needs the function to be run again, with the same keywords."""
    value, back = ad.J(power, 1.1, n=3)
    assert back(np.array(2.0)) == (None, pytest.approx(2 * (3 * 1.1**2 + 0.5)))


def test_rules_and_constants_are_not_looked_through():
    assert unfolded(functools.partial(math.pow, 2.0), (3.0,), {}) is None
    assert ad.gradient(functools.partial(math.pow, 2.0), 3.0) == pytest.approx((8 * math.log(2.0),))


def test_keywords_within_what_is_differentiated():
    def outer(x, y):
        return ad.grad(power)(x, n=3) * y + ad.gradient(power, x, 2, k=y)[0]

    step = 1e-6
    for _ in range(2):
        slope = (outer(1.1 + step, 0.7) - outer(1.1 - step, 0.7)) / (2 * step)
        assert ad.gradient(outer, 1.1, 0.7)[0] == pytest.approx(slope, rel=1e-6)
    with pytest.raises(ad.Unsupported, match="keyword arguments alone"):
        ad.gradient(lambda x: ad.gradient(power, x=x, n=2)[0], 1.1)


class Scale:
    def by_square(self, x, y=2.0):
        return x * y * y


FORMS = {
    "gradient": ad.gradient,
    "withgradient": lambda *args, **named: ad.withgradient(*args, **named)[1],
    "pullback": lambda *args, **named: ad.pullback(*args, **named)[1](1.0),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_a_function_and_its_method_are_two(form):
    """They share their code, and may be given as many arguments."""
    method = Scale().by_square
    for _ in range(2):
        assert form(Scale.by_square, 1.5, 3.0) == pytest.approx((0.0, 4.0))
        assert form(method, 1.5, 3.0) == pytest.approx((9.0, 9.0))
        assert form(method, 1.5) == pytest.approx((4.0,))
        assert form(method, 1.5, y=3.0) == pytest.approx((9.0,))
        assert form(Scale.by_square, 1.5, x=3.0, y=3.0) == pytest.approx((0.0,))
