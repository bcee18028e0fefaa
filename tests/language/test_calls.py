"""Functions: nested, lambdas, closures, recursion, parameters and arguments of every kind."""

from __future__ import annotations

import functools
import itertools
import math
import statistics
from decimal import Decimal

import numpy as np
import pytest
from helpers import assert_gradients, gradient_at

from autodiff_hook import J, gradient, nondifferentiable
from autodiff_hook.api import generic_withgradient
from autodiff_hook.testing import check_gradient


@gradient_at(1.2, 0.7)
def test_nested_functions(x, y):
    def square(t):
        return t * t

    def scaled(t, k=3.0):
        return square(t) * k + y

    return scaled(x) + scaled(y, x) + square(square(x))


@gradient_at(0.9)
def test_lambdas(x):
    f = lambda t: t * x  # noqa: E731
    return f(x) + (lambda a, b=x: a * b)(2.0) + (lambda: x)()


@gradient_at(1.3)
def test_closures_over_active_variables(x):
    y = x * x

    def g(t):
        return t * y

    def make(k):
        def inner(t):
            return t * k + y

        return inner

    return g(x) + make(y)(x) + make(2.0)(3.0)


@gradient_at(1.3)
def test_a_captured_variable_that_is_rebound_later(x):
    y = x

    def g():
        return y * y

    first = g()
    y = x * x * x
    return first + g()


@gradient_at(0.8)
def test_nonlocal(x):
    total = 0.0

    def add(v):
        nonlocal total
        total = total + v * x
        return total

    for i in range(4):
        add(x * i)
    return total * add(x)


@gradient_at(0.8)
def test_nonlocal_through_several_levels(x):
    state = x

    def outer():
        def inner():
            nonlocal state
            state = state * x
            return state

        return inner() + state

    return outer() + outer() * state


@gradient_at(1.1)
def test_loop_variables_are_captured_late(x):
    fs = []
    for i in range(3):
        v = x * i
        fs.append(lambda t: t * v)
    gs = [lambda t, i=i: t * i * x for i in range(3)]
    return sum(f(x) for f in fs) + sum(g(2.0) for g in gs)


def power(x, n):
    return 1.0 if n == 0 else x * power(x, n - 1)


def even(x, n):
    return x if n == 0 else odd(x * x, n - 1) + n


def odd(x, n):
    return 2 * x if n == 0 else even(x + 1, n - 1) * x


@gradient_at(1.1)
def test_recursion(x):
    def fib(n):
        return x if n < 2 else fib(n - 1) + x * fib(n - 2)

    return power(x, 5) + fib(6)


@gradient_at(0.3)
def test_mutual_recursion(x):
    return even(x, 3) + odd(x, 2)


def defaults(x, k=2.0, *, s=3.0, t=None):
    return x * k + s * (x if t is None else t)


def everything(a, b, /, c, d=4.0, *rest, e, f=6.0, **named):
    return a + 2 * b + 3 * c + 4 * d + sum(rest) * a + 5 * e * f + named.get("g", 1.0) * b + len(named)


@gradient_at(1.5, 0.4)
def test_default_arguments(x, y):
    return defaults(x) + defaults(x, y) + defaults(x, s=y) + defaults(y, t=x, s=x) + defaults(k=x, x=y)


@gradient_at(1.5, 0.4)
def test_all_kinds_of_parameters(x, y):
    return (
        everything(x, y, y, e=x)
        + everything(x, 2.0, c=y, e=y, f=x)
        + everything(x, y, x, y, x, y, 3.0, e=1.0, g=x * y)
        + everything(1.0, x, y, d=x, e=y, g=x, h=y)
    )


@gradient_at(1.5, 0.4)
def test_starred_arguments(x, y):
    pair, more = (x, y), {"e": x, "g": y}
    return (
        everything(*pair, y, **more)
        + everything(*[y, x], *pair, *(x * y,), **more)
        + everything(*pair, c=x, **{"e": y}, **{"f": x})
        + everything(x, *[y] * 3, e=x)
    )


@gradient_at(1.5, 0.4)
def test_arguments_are_passed_on(x, y):
    def inner(a, b=2.0, *args, k=1.0, **kw):
        return a * b + sum(args) * k + sum(kw.values()) * a

    def outer(*args, **kwargs):
        return inner(*args, **kwargs) * args[0] + len(kwargs)

    return outer(x) + outer(x, y) + outer(x, y, x, k=y, m=x) + outer(*(y, x), **{"z": x, "k": x})


@gradient_at((1.0, 2.0, 3.0))
def test_starred_parameters_are_tuples(xs):
    def f(*args):
        assert type(args) is tuple
        first, *rest = args
        return first * sum(rest) + args[-1]

    def g(**kwargs):
        assert type(kwargs) is dict
        kwargs["c"] = kwargs.pop("a") * 2
        return kwargs["c"] * kwargs["b"]

    return f(*xs) + g(a=xs[0], b=xs[1])


@gradient_at(2.0)
def test_a_mapping_is_not_changed_by_the_callee(x):
    given = {"a": x}

    def f(**kw):
        kw["a"] = kw["a"] * 3
        return kw["a"]

    return f(**given) * given["a"]


@gradient_at(2.0)
def test_a_default_that_is_a_list(x):
    def f(v, seen=[]):  # noqa: B006
        seen.append(v * x)
        return sum(seen)

    return f(x) * f(2.0)


@gradient_at(2.0)
def test_functions_in_containers(x):
    table = {"sq": lambda t: t * t, "twice": lambda t: 2 * t * x}
    chain = [math.sin, table["sq"], abs]
    y = x
    for f in chain:
        y = f(y)
    return y * table["twice"](y)


@gradient_at(0.5)
def test_decorators(x):
    def twice(f):
        @functools.wraps(f)
        def wrapper(*args, **kwargs):
            return f(*args, **kwargs) * 2 * x

        return wrapper

    @twice
    @twice
    def g(t):
        return t * t

    return g(x)


@gradient_at(0.5)
def test_caches_are_bypassed(x):
    @functools.lru_cache
    def f(t):
        return t * t * x

    @functools.cache
    def g(n):
        return x if n < 2 else g(n - 1) * x + g(n - 2)

    return f(x) + f(x) + g(5)


@functools.singledispatch
def sized(x):
    return 0.0


@sized.register
def _(x: float):
    return x * x


@sized.register
def _(x: list):
    return sum(x) * 2


@gradient_at(0.5)
def test_singledispatch(x):
    return sized(x) * 3 + sized([x, x * x]) + sized("a") * x


def test_the_gradient_of_a_closure():
    w, b = 3.0, [1.0, 2.0]
    f = lambda x: w * x * x + b[1] * x  # noqa: E731
    value, back = J(f, 2.0)
    f̄, x̄ = back(1.0)
    assert (value, x̄) == (16.0, 14.0)
    assert f̄.w == 4.0 and f̄.b == [0.0, 2.0]
    f̄, x̄ = back(10.0)
    assert (f̄.w, f̄.b, x̄) == (40.0, [0.0, 20.0], 140.0)


def test_the_gradient_of_a_closure_that_rebinds_what_it_captured():
    w = 3.0

    def f(x):
        nonlocal w
        w = w * x
        return w * w

    value, back = J(f, 2.0)
    f̄, x̄ = back(1.0)
    assert value == 36.0 and w == 6.0
    assert (f̄.w, x̄) == (2 * 6.0 * 2.0, 2 * 6.0 * 3.0)


def test_the_gradient_of_a_bound_method():
    class Line:
        def __init__(self, slope):
            self.slope = slope

        def at(self, x):
            return self.slope * x

    _, back = J(Line(3.0).at, 2.0)
    line, x̄ = back(1.0)
    assert (line.slope, x̄) == (2.0, 3.0)


def test_the_gradient_of_what_nested_functions_captured():
    w = 2.0

    def g(x):
        return w * x

    def f(x):
        return g(x) * x

    _, back = J(f, 3.0)
    f̄, x̄ = back(1.0)
    assert x̄ == 12.0
    assert f̄ is None or f̄.g.w == 9.0


def test_captured_values_are_constants_of_gradient():
    w = 3.0
    assert_gradients(lambda x: w * x, (2.0,), (3.0,))


def test_side_effects_happen_once():
    calls = []

    def f(x):
        calls.append(float(x))
        return x * x

    assert gradient(f, 3.0) == (6.0,)
    assert calls == [3.0]


def test_keyword_arguments_are_constants():
    assert gradient(lambda x, *, k: x * k, 2.0, k=5.0) == (5.0,)
    assert gradient(lambda x, k=1.0: x * k, 2.0, k=5.0) == (5.0,)


@pytest.mark.parametrize("args", [(1.0,), (1.0, 2.0), (1.0, 2.0, 3.0)])
def test_variadic_functions_at_the_top(args):
    check_gradient(lambda *xs: sum(x * i for i, x in enumerate(xs, 1)) * xs[0], *args)
    check_gradient(lambda x, y=4.0, *zs, **kw: x * y + sum(zs), *args)


def test_redefinition_takes_effect():
    namespace: dict = {"__name__": __name__}
    exec("def inner(x): return x * x\ndef f(x): return inner(x)", namespace)
    f = namespace["f"]
    assert gradient(f, 3.0) == (6.0,)
    exec("def inner(x): return x * x * x", namespace)
    assert gradient(f, 3.0) == (27.0,)
    namespace["inner"] = math.exp
    assert gradient(f, 0.0) == (1.0,)


def test_a_function_that_changes_after_it_was_called():
    """What a call has been found to be holds no longer than it is so."""

    def make():
        def scaled(t):
            return 3.0 * t

        def squared(t):
            return t * t

        class Box:
            def __init__(self, t):
                self.t = t

        class Twice:
            def __init__(self, t):
                self.t = 2.0 * t

        def f(x):
            y = scaled(x) + Box(x).t
            scaled.__code__ = squared.__code__
            y = y + scaled(x)
            Box.__init__ = Twice.__init__
            y = y + Box(x).t
            Box.__new__ = lambda cls, t: Twice(t)
            return y + Box(x).t + scaled(2.0)

        return f

    assert generic_withgradient(make(), 1.5) == (
        3.0 * 1.5 + 1.5 + 1.5**2 + 3.0 + 3.0 + 4.0,
        (3.0 + 1.0 + 3.0 + 2.0 + 2.0,),
    )


def test_a_function_that_becomes_constant_after_it_was_called():
    def scaled(t):
        return 3.0 * t

    def f(x):
        y = scaled(x)
        nondifferentiable(scaled)
        return y + scaled(x)

    assert generic_withgradient(f, 1.5) == (9.0, (3.0,))


@gradient_at(1.2, 0.7)
def test_arguments_of_builtins_by_name(x, y):
    squared = functools.partial(pow, exp=2)
    z = complex(real=x, imag=y)
    total = sum(itertools.repeat(object=x, times=2)) + float(Decimal(x).max(other=Decimal(y)))
    total += pow(base=x, exp=y) + squared(y) + z.imag * z.real + round(number=x, ndigits=1) * y
    return total + statistics.mean(data=[x, y, 1.0]) + statistics.fmean(data=[x, y]) * sum(map(squared, [x, y]))


@gradient_at(1.2, 0.7)
def test_lists_that_functions_of_numpy_are_given_by_name(x, y):
    total = np.average(a=[x, 2.0, y]) + np.average([1.0, y], weights=[x, 1.0]) + np.sum(a=[x, y])
    total += np.dot(a=[x, 1.0], b=[2.0, y]) + np.cross(a=[1.0, x, 2.0], b=[y, 1.0, 0.0]).sum()
    total += np.nansum(a=[x, y], where=[True, False]) + np.linalg.solve(a=[[x, 1.0], [0.0, 2.0]], b=[1.0, y]).sum()
    return float(total)


@gradient_at(1.2, 0.7)
def test_what_was_given_by_name_and_changes_later(x, y):
    weights, mask, places = [x, 1.0, y], [True, False, True], [1, 0, 2]
    values = np.array([x, y, x * y])
    total = np.average([1.0, x, y], weights=weights) + np.sum(values**2, where=mask)
    total += (np.take(values, indices=places) * [1.0, 2.0, 3.0]).sum()
    weights[0], mask[1], places[0] = 100.0, True, 2
    weights.append(3.0)
    return float(total)


@gradient_at(1.2, 0.7)
def test_a_parameter_that_is_given_by_place_and_by_name(x, y):
    class Quantity:
        def __init__(s, value, **powers):
            s.value, s.powers = value, powers

    def scaled(a, *rest, **options):
        return a * y + len(options)

    total = 0.0
    for call in (
        lambda: Quantity(x, kg=2.0).value,
        lambda: Quantity(x, s=1).value,
        lambda: scaled(x, a=y),
        lambda: scaled(x, **{"a": 1.0, "b": 2.0}),
        lambda: scaled(x, b=2.0),
    ):
        try:
            total += call()
        except TypeError:
            total = 3.0 * total + x * y
    return total
