"""Functions that a solver calls, and what they read and assign by other names than their own: classes, modules."""

from __future__ import annotations

import functools
import random
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from scipy import integrate, optimize

from autodiff_hook import NotDifferentiable, gradient, hvp, jvp, withgradient

PARAMS = {"k": 1.0}
MODULE = ModuleType("settings")
MODULE.__dict__.update(k=1.0, params={"k": 1.0}, inner=ModuleType("settings.inner"))


class Config:
    k = 1.0
    params = {"k": 1.0}
    named = SimpleNamespace(k=1.0)


class Model:
    weight = 1.0

    def rate(self, t):
        return PARAMS["k"] * t

    @property
    def slope(self):
        return PARAMS["k"]

    @staticmethod
    def plain(t):
        return PARAMS["k"] * t

    @classmethod
    def weighed(cls, t):
        return cls.weight * t

    def through_itself(self, t):
        return self.rate(t) * t

    def __mul__(self, t):
        return PARAMS["k"] * t

    def __call__(self, t):
        return PARAMS["k"] * t * t


class Derived(Model):
    def through_super(self, t):
        return super().through_itself(t)


class Made:
    def __init__(self, t):
        self.value = PARAMS["k"] * t


MODEL = Model()


def rate():
    return PARAMS["k"]


def area(f):
    return integrate.quad(f, 0.0, 2.0)[0]


def of_class_attributes(x):
    Config.k = x
    return area(lambda t: Config.k * t)


def of_dicts_of_classes(x):
    Config.params["k"] = x
    return area(lambda t: Config.params["k"] * t)


def of_objects_of_classes(x):
    Config.named.k = x
    return area(lambda t: Config.named.k * t)


def of_modules(x):
    MODULE.k = x
    return area(lambda t: MODULE.k * t)


def of_dicts_of_modules(x):
    MODULE.params["k"] = x
    return area(lambda t: MODULE.params["k"] * t)


def of_modules_of_modules(x):
    MODULE.inner.k = x
    return area(lambda t: MODULE.inner.k * t)


def of_roots(x):
    Config.k = x
    return optimize.brentq(lambda z: z**3 - Config.k, 0.0, 5.0)


def of_steps(x):
    Config.k = x
    return integrate.odeint(lambda y, t: -Config.k * y, [1.0], [0.0, 1.0])[-1, 0]


def of_vectorized(x):
    Config.params["k"] = x
    return np.vectorize(lambda t: Config.params["k"] * t)(np.arange(3.0)).sum()


def with_params(f):
    """The area below a function that is made when the item of a global dict has been assigned."""

    def of_params(x):
        PARAMS["k"] = x
        return area(f())

    return of_params


def of_class_methods(x):
    Model.weight = x
    return area(functools.partial(lambda s, t: Model.weighed(t) * s, 2.0))


def of_methods_and_roots(x):
    PARAMS["k"] = x
    return optimize.brentq(lambda z: z**3 - MODEL.rate(1.0), 0.0, 5.0)


def of_methods_and_steps(x):
    PARAMS["k"] = x
    return integrate.odeint(lambda y, t: -MODEL.slope * y, [1.0], [0.0, 1.0])[-1, 0]


CALLED_BACK = {
    "functions": lambda: lambda t: rate() * t,
    "bound methods": lambda: MODEL.through_itself,
    "methods of objects": lambda: lambda t: MODEL.rate(t),
    "methods of captured objects": lambda: (lambda model: lambda t: model.rate(t))(Model()),
    "properties": lambda: lambda t: MODEL.slope * t,
    "static methods": lambda: lambda t: Model.plain(t),
    "objects": lambda: MODEL,
    "operators": lambda: lambda t: MODEL * t,
    "methods of base classes": lambda: Derived().through_super,
    "constructors": lambda: lambda t: Made(t).value,
}

PROGRAMS = [
    *(of_class_attributes, of_dicts_of_classes, of_objects_of_classes, of_modules, of_dicts_of_modules),
    *(of_modules_of_modules, of_roots, of_steps, of_vectorized, of_class_methods, of_methods_and_roots),
    of_methods_and_steps,
    *(pytest.param(with_params(f), id=name) for name, f in CALLED_BACK.items()),
]


@pytest.mark.parametrize("f", PROGRAMS)
def test_what_is_read_by_another_name_is_differentiated(f):
    for x in (0.7, 1.3, 0.7):
        expected = (f(x + 1e-4) - f(x - 1e-4)) / 2e-4
        for _ in range(3):
            assert gradient(f, x) == (pytest.approx(expected, rel=1e-5),)


def test_what_nobody_asks_for_is_no_derivative():
    def f(x):
        PARAMS["k"] = x
        return area(lambda t: Model.weight * t) * x

    Model.weight = 1.0
    assert gradient(f, 0.7) == (pytest.approx(2.0),)


GENERATOR, TWISTER, PLAIN = np.random.default_rng(0), np.random.RandomState(0), random.Random(0)


def seeded():
    GENERATOR.bit_generator.state = np.random.default_rng(5).bit_generator.state
    TWISTER.seed(2)
    PLAIN.seed(4)
    np.random.seed(1)
    random.seed(1)


def drawing_root(x):
    return optimize.brentq(lambda z: z * z - x * (1.0 + 1e-13 * GENERATOR.normal()), 0.0, 3.0) + GENERATOR.normal()


def drawing_integral(x):
    return integrate.quad(lambda t: t * x + 0.0 * PLAIN.random(), 0.0, 1.0)[0] + PLAIN.random()


def drawing_zero(x):
    return optimize.fsolve(lambda z: z * z - x + 0.0 * TWISTER.normal(), 1.0)[0] + TWISTER.normal()


def drawing_minimum(x):
    return optimize.minimize(lambda p: (p[0] - x) ** 2 + 0.0 * GENERATOR.normal(), [0.1]).x[0] + GENERATOR.normal()


def drawing_path(x):
    return integrate.odeint(lambda y, t: -x * y + 0.0 * GENERATOR.normal(), 1.0, [0.0, 1.0])[-1, 0] + GENERATOR.normal()


def drawing_steps(x):
    found = integrate.solve_ivp(lambda t, y: -x * y + 0.0 * GENERATOR.normal(), (0.0, 1.0), [1.0], rtol=1e-8)
    return found.y[0, -1] + GENERATOR.normal()


def drawing_of_modules(x):
    first = optimize.newton(lambda z: z * z - x + 0.0 * np.random.normal() + 0.0 * random.random(), 1.0)
    return first + np.random.normal() + random.random()


@pytest.mark.parametrize(
    "f",
    [
        *(drawing_root, drawing_integral, drawing_zero, drawing_minimum, drawing_path, drawing_steps),
        drawing_of_modules,
    ],
)
def test_generators_are_left_where_the_solver_leaves_them(f):
    def value(x):
        seeded()
        return f(x)

    expected, states = value(1.7), (GENERATOR.random(), TWISTER.rand(), PLAIN.random(), random.random())
    slope = (value(1.7 + 1e-4) - value(1.7 - 1e-4)) / 2e-4
    for _ in range(3):
        seeded()
        found, (gradient_of_f,) = withgradient(f, 1.7)
        assert found == pytest.approx(expected, abs=1e-6)
        assert (GENERATOR.random(), TWISTER.rand(), PLAIN.random(), random.random()) == states
        assert gradient_of_f == pytest.approx(slope, rel=1e-3)


LATEST = 0.0


def assigning_globals(x, t):
    global LATEST
    LATEST = x * x


def assigning_to_classes(x, t):
    Config.k = x * x


def assigning_to_modules(x, t):
    MODULE.k = x * x


ASSIGNED = {
    assigning_globals: lambda: LATEST,
    assigning_to_classes: lambda: Config.k,
    assigning_to_modules: lambda: MODULE.k,
}

SOLVERS = {
    "quad": lambda f, x: integrate.quad(lambda t: f(t) * t, 0.0, 1.0)[0],
    "odeint": lambda f, x: integrate.odeint(lambda y, t: f(t) * y, 1.0, [0.0, 0.5])[-1, 0],
    "solve_ivp": lambda f, x: integrate.solve_ivp(lambda t, y: f(t) * y, (0.0, 0.5), [1.0], rtol=1e-9).y[0, -1],
    "brentq": lambda f, x: optimize.brentq(lambda z: z * z - f(z), 0.0, 5.0),
    "fsolve": lambda f, x: optimize.fsolve(lambda z: z * z - f(z), 1.0)[0],
    "minimize": lambda f, x: optimize.minimize(lambda p: (p[0] - f(p)) ** 2, [0.1]).x[0],
    "least_squares": lambda f, x: optimize.least_squares(lambda p: p - f(p), [0.1]).x[0],
    "leastsq": lambda f, x: optimize.leastsq(lambda p: p * p - f(p), [1.0])[0][0],
}


@pytest.mark.parametrize("solve", SOLVERS.values(), ids=SOLVERS)
@pytest.mark.parametrize("assign", ASSIGNED)
def test_what_is_assigned_by_another_name_is_differentiated(assign, solve):
    def f(x):
        def called(t):
            assign(x, t)
            return x

        return solve(called, x) * ASSIGNED[assign]()

    expected = (f(1.3 + 1e-4) - f(1.3 - 1e-4)) / 2e-4
    for _ in range(3):
        assert gradient(f, 1.3) == (pytest.approx(expected, rel=1e-4),)


def summed(x, seen, t):
    seen["sum"] = seen.get("sum", 0.0) + x


def chosen(x, seen, t):
    if abs(float(np.sum(t))) >= seen.get("place", 0.0):
        seen["place"], seen["chosen"] = abs(float(np.sum(t))), float(np.sum(t)) * x


@pytest.mark.parametrize("solve", SOLVERS.values(), ids=SOLVERS)
@pytest.mark.parametrize("store", [summed, chosen])
def test_what_several_calls_make_together_is_right_or_an_error(store, solve):
    def f(x):
        seen = {}

        def called(t):
            store(x, seen, t)
            return x

        return solve(called, x) * seen[store.__name__.replace("summed", "sum")]

    expected = (f(1.3 + 1e-4) - f(1.3 - 1e-4)) / 2e-4
    try:
        found = gradient(f, 1.3)
    except NotDifferentiable as error:
        assert "called: what it stored is not differentiated" in str(error)
    else:
        assert found == (pytest.approx(expected, rel=1e-3),)


def remembering(f):
    known = {}

    def called(t):
        if t not in known:
            known[t] = f(t)
        return known[t]

    return called


BY_CACHES = [(name, functools.cache) for name in ("quad", "odeint", "solve_ivp", "brentq")]


@pytest.mark.parametrize(("name", "remember"), [*BY_CACHES, ("quad", remembering), ("solve_ivp", remembering)])
def test_what_a_solver_has_asked_of_a_cache_is_differentiated(name, remember):
    def f(x):
        return SOLVERS[name](remember(lambda t: x * t + 1.0), x)

    expected = (f(1.3 + 1e-4) - f(1.3 - 1e-4)) / 2e-4
    assert gradient(f, 1.3) == (pytest.approx(expected, rel=1e-4),)


CALLS = 0


@pytest.mark.parametrize("solve", SOLVERS.values(), ids=SOLVERS)
def test_counters_count_the_calls_of_the_solver_alone(solve):
    def f(x):
        local, seen, array = 0, {"calls": 0}, np.zeros(1, int)

        def called(t):
            global CALLS
            nonlocal local
            CALLS, local = CALLS + 1, local + 1
            seen["calls"] += 1
            seen["latest"] = x
            Config.calls += 1
            array[0] += 1
            return x

        before = CALLS, Config.calls
        found = solve(called, x) * seen["calls"]
        counts.append((CALLS - before[0], Config.calls - before[1], local, seen["calls"], int(array[0])))
        return found

    counts, Config.calls = [], 0
    for operator in (f, lambda x: gradient(f, x), lambda x: jvp(f, (x,), (1.0,)), lambda x: hvp(f, (x,), (1.0,))):
        operator(1.3)
    assert {*counts} == {(counts[0][0],) * 5}
