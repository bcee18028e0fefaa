"""Classes that look up attributes by code of their own, on one way: wrappers of results, loggers, proxies."""

from __future__ import annotations

import pytest
from specialised_cases import check, check_slopes


class Results:
    def __init__(self, params):
        self.params = params


class Wrapper:
    """Shows what it has itself, and then what the results have."""

    def __init__(self, results):
        self._results = results
        self.factor = 2.0

    def __getattribute__(self, attr):
        def get(name):
            return object.__getattribute__(self, name)

        try:
            results = get("_results")
        except AttributeError:
            pass
        try:
            return get(attr)
        except AttributeError:
            pass
        return getattr(results, attr) * 1.5

    def scaled(self, k):
        return self.params * k

    @property
    def double(self):
        return self.params * 2


class Logging:
    def __init__(self, x):
        self.x = x
        self.seen = []

    def __getattribute__(self, name):
        if name not in ("seen", "__class__"):
            super().__getattribute__("seen").append(name)
        return super().__getattribute__(name)

    def square(self):
        return self.x**2


class Filling:
    def __getattribute__(self, name):
        if name.startswith("a"):
            raise AttributeError(name)
        return super().__getattribute__(name)

    def __getattr__(self, name):
        return object.__getattribute__(self, "b") * 3.0


class Proxy:
    """Says of everything, of its class as well, what its target says."""

    def __init__(self, target):
        object.__setattr__(self, "_target", target)

    def __getattribute__(self, name):
        return getattr(object.__getattribute__(self, "_target"), name)

    def __setattr__(self, name, value):
        setattr(object.__getattribute__(self, "_target"), name, value)


def wrapped(x):
    w = Wrapper(Results(x * x))
    return w.params * w.factor + w.scaled(3.0) + w.double


def missing(x):
    w = Wrapper(Results(x))
    try:
        return w.nothing
    except AttributeError:
        return w.params * (2.0 if hasattr(w, "factor") and not hasattr(w, "nothing") else 1.0)


def logged(x):
    log = Logging(x)
    return log.square() * len(log.seen) + log.x


def filled(x):
    f = Filling()
    f.b = x
    return f.abc * f.b + (x * x if hasattr(f, "zz") else 1.0)


def stood_for(x):
    p = Proxy(Results(x))
    p.params = p.params * 2
    factors = [isinstance(p, Results), isinstance(p, Proxy), type(p) is Proxy, p.__class__ is Results]
    assert factors == [True] * 4
    return p.params**2 + vars(p)["params"] + getattr(p, "nothing", x)


@pytest.mark.parametrize("f", [wrapped, missing, logged, filled, stood_for])
def test_lookups(f):
    for x in (1.3, 0.7):
        check_slopes(f, x, specialised=True)


FITTED = Wrapper(Results(4.0))


def test_objects_from_outside_and_arguments_are_carried():
    check(lambda x: FITTED.scaled(x) + FITTED.params * x, 1.3, specialised=None)
    check(lambda w: w.params**2 + w.factor, FITTED, specialised=None)
