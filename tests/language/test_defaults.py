"""Default values that carry derivatives, of functions that reach the call in all kinds of ways."""

from __future__ import annotations

import functools
import types

from helpers import gradient_at

from autodiff_hook import gradient


class Model:
    pass


@gradient_at(2.0, 3.0)
def test_of_what_wraps_it(x, y):
    def g(t, p=y):
        return t * p

    return functools.wraps(g)(lambda *a: g(*a))(x)


@gradient_at(2.0, 3.0)
def test_keyword_only_of_what_wraps_it(x, y):
    def g(t, *, p=y):
        return t * p

    return functools.wraps(g)(lambda *a: g(*a))(x)


@gradient_at(2.0, 3.0)
def test_of_an_attribute(x, y):
    def g(t, p=y):
        return t * p

    def w():
        return 0

    w.g = g
    return w.g(x)


@gradient_at(2.0, 3.0)
def test_beside_a_name_that_is_assigned(x, y):
    def g(t, *, p=y):
        return t * p

    def w():
        return g

    w.__name__ = g.__name__
    return g(x)


@gradient_at(1.3)
def test_of_a_counting_decorator(x):
    def counted(f):
        @functools.wraps(f)
        def w(*a):
            w.n += 1
            return f(*a)

        w.n = 0
        return w

    @counted
    def g(t, k=x):
        return t * k

    return g(2.0) + g(x)


@gradient_at(2.0, 3.0)
def test_of_a_callee_of_a_callee(x, y):
    def inner(t, *, p=y, q=2.0):
        return t * p * q

    def outer(t, r=y):
        return inner(t) * r

    outer.inner = inner
    return outer(x) + inner(x, q=y)


@gradient_at(2.0, 3.0)
def test_of_partials(x, y):
    def g(t, p=y, *, q=1.0):
        return t * p * q

    bound = functools.partial(g, q=x)
    bound.note = "kept"
    return bound(x) + functools.partial(g, x)(q=y)


@gradient_at(2.0, 3.0)
def test_of_methods(x, y):
    def scaled(self, t, p=y):
        return t * p

    model = Model()
    model.bound = types.MethodType(scaled, model)
    return model.bound(x) + model.bound(x * x, 2.0)


def with_a_number(t, scale=2.0):
    return t * t * scale


@gradient_at(2.0, 3.0)
def test_in_lists(x, y):
    functions = [lambda t, p=p: t * p for p in (x, y, 1.0)]
    table = {"a": functions[1]}
    return sum(f(x) for f in functions) + table["a"](y) + with_a_number(x)


def test_the_same_code_with_other_defaults():
    def of(*parameters):
        made = [lambda t, p=p: t * p for p in parameters]
        for f in made:
            f.label = "made"
        return sum(f(2.0) for f in made)

    for _ in range(4):
        assert gradient(of, 1.0, 2.0, 3.0) == (2.0, 2.0, 2.0)
        assert gradient(lambda x: of(1.0, 2.0) * x, 3.0) == (6.0,)
