"""rrule, nondifferentiable and not_implemented, as users write them."""

from __future__ import annotations

import pytest

from autodiff_hook import (
    Any,
    AutodiffError,
    NotDifferentiable,
    Real,
    gradient,
    nondifferentiable,
    not_implemented,
    pullback,
    rrule,
)


def scope(source):
    """The names that ``source`` defines in a module which is not opted in."""
    names = {"__name__": "not_opted_in"}
    exec(source, names)
    return names


def test_a_rule_of_a_function():
    cube = scope("def cube(x): return x**3")["cube"]

    @rrule(cube)
    def cube_rule(x):
        def cube_pullback(ȳ):
            return (100.0 * ȳ,)

        return x**3, cube_pullback

    assert gradient(lambda x: cube(x) * 2, 2.0) == (200.0,)


def test_a_rule_that_is_redefined():
    def twice(x):
        return 2 * x

    f = lambda x: twice(x)  # noqa: E731
    assert gradient(f, 1.0) == (2.0,)
    for factor in (10.0, 20.0):

        @rrule(twice)
        def twice_rule(x, factor=factor):
            def twice_pullback(ȳ):
                return factor * ȳ, None

            return 2 * x, twice_pullback

        assert gradient(f, 1.0) == (factor,)


def test_rules_by_type():
    def half(x):
        return x / 2

    @rrule(half, Real)
    def half_rule(x):
        def half_pullback(ȳ):
            return (7.0 * ȳ,)

        return x / 2, half_pullback

    assert gradient(half, 1.0) == (7.0,)
    assert gradient(half, 1) == (7.0,)

    class Own(float):
        def __truediv__(self, other):
            return float(self) / other

    @rrule(half, Own)
    def own_rule(x):
        def own_pullback(ȳ):
            return (9.0 * ȳ,)

        return x / 2, own_pullback

    assert gradient(half, Own(1.0)) == (9.0,)


def test_keywords_defaults_and_variadic_parameters():
    def f(a, b=2.0, *rest, scale=1.0):
        return (a * b + sum(rest)) * scale

    @rrule(f)
    def f_rule(a, b=2.0, *rest, scale=1.0):
        def f_pullback(ȳ):
            return (ȳ * b * scale, ȳ * a * scale, *(ȳ * scale for _ in rest))

        return (a * b + sum(rest)) * scale, f_pullback

    assert gradient(lambda x: f(x), 3.0) == (2.0,)
    assert gradient(lambda x: f(b=x, a=4.0), 3.0) == (4.0,)
    assert gradient(lambda x, y: f(x, y, x, y, scale=10.0), 3.0, 4.0) == (50.0, 40.0)
    with pytest.raises(NotDifferentiable, match="'scale'"):
        gradient(lambda x: f(1.0, scale=x), 3.0)


def test_rules_of_methods():
    class Model:
        def __init__(self, w):
            self.w = w

        def predict(self, x):
            return self.w * x

    @rrule(Model.predict)
    def predict_rule(self, x):
        def predict_pullback(ȳ):
            return {"w": 100.0 * ȳ}, 10.0 * ȳ

        return self.w * x, predict_pullback

    model, x̄ = gradient(lambda m, x: m.predict(x), Model(2.0), 3.0)
    assert (model.w, x̄) == (100.0, 10.0)

    class Sub(Model):
        pass

    assert gradient(lambda x: Sub(2.0).predict(x), 3.0) == (10.0,)


def test_rules_with_containers():
    norm = scope("def norm(xs): return sum(x * x for x in xs), {'first': xs[0]}")["norm"]

    @rrule(norm)
    def norm_rule(xs):
        def norm_pullback(ȳ):
            total, parts = ȳ
            cotangents = [0.0 if total is None else 2 * x * total for x in xs]
            if parts is not None and parts.get("first") is not None:
                cotangents[0] += parts["first"]
            return (cotangents,)

        return norm(list(xs)), norm_pullback

    def f(xs):
        xs.append(xs[0] * 2)
        total, parts = norm(xs)
        xs.clear()
        return total + parts["first"] * 10

    assert gradient(f, [1.0, 2.0]) == ([20.0, 4.0],)


def test_nondifferentiable():
    @nondifferentiable
    def steps(x):
        return round(x * 10) / 10

    assert gradient(lambda x: x * steps(x), 1.23) == (1.2,)

    measured = scope("def measured(x): return x * 2")["measured"]
    assert nondifferentiable(measured) is measured
    assert gradient(lambda x: x * measured(x), 3.0) == (6.0,)


def test_not_implemented_only_errs_when_it_is_used():
    def f(x, order):
        return x**order

    @rrule(f)
    def f_rule(x, order):
        def f_pullback(ȳ):
            return ȳ * order * x ** (order - 1), not_implemented("the order of f")

        return x**order, f_pullback

    assert gradient(lambda x: f(x, 3.0), 2.0) == (12.0,)
    with pytest.raises(NotDifferentiable, match="the order of f"):
        gradient(lambda x, n: f(x, n * 1.0), 2.0, 3.0)
    with pytest.raises(NotDifferentiable, match="the order of f"):
        gradient(f, 2.0, 3.0)
    _, back = pullback(lambda x, n: (f(x, n), x), 2.0, 3.0)
    assert back((None, 1.0)) == (1.0, 0.0)


def test_ambiguous_rules_are_refused():
    def f(x, y):
        return x

    rrule(f, float, Any)(lambda x, y: (x, lambda c: (c, None)))
    with pytest.raises(AutodiffError, match="ambiguous"):
        rrule(f, Any, float)(lambda x, y: (x, lambda c: (c, None)))
