"""What rules are given that is no number and no array of numbers: right, or an error, never zero."""

from __future__ import annotations

import math

import numpy as np
import pytest

from autodiff_hook import AutodiffError, gradient, jvp


class Items:
    """Whose iterator is one of a tuple."""

    def __init__(self, *v):
        self.v = v

    def __iter__(self):
        return iter(self.v)


class Doubled(Items):
    def __iter__(self):
        return map(lambda q: q * 2, self.v)


class Indexed:
    def __init__(self, *v):
        self.v = v

    def __len__(self):
        return len(self.v)

    def __getitem__(self, i):
        return self.v[i]


class Own:
    """A number of a user's own."""

    def __init__(self, v):
        self.v = v

    def __add__(self, other):
        return Own(self.v + (other.v if isinstance(other, Own) else other))

    __radd__ = __add__

    def __mul__(self, other):
        return Own(self.v * (other.v if isinstance(other, Own) else other))

    __rmul__ = __mul__

    def __gt__(self, other):
        return self.v > other.v

    def __lt__(self, other):
        return self.v < other.v

    def __float__(self):
        return float(self.v)


RECORD = [("a", float), ("b", float)]
RIGHT = [
    *(lambda x, f=f, k=k: f(k(x, x * x)) * x for f in (sum, max, min, math.fsum, math.prod) for k in (Items, Doubled)),
    *(lambda x, f=f: f(Indexed(x, x * x)) * x for f in (sum, max, min, math.fsum, math.prod)),
    lambda x: math.dist(Items(x, x * x), [0.0, 0.0]) if x == 0 else sum({"a": x, "b": x * x}.values()),
    lambda x: sum([Own(x), Own(x * x)]).v,
    lambda x: sum(Own(q) for q in (x, x * x)).v,
    lambda x: sum((Own(q) for q in (x, x * x)), start=Own(x)).v,
    lambda x: sum(map(Own, [x, x * x])).v,
    lambda x: sum(Items(Own(x), Own(x * x))).v,
    lambda x: sum({"a": Own(x)}.values(), Own(x)).v,
    lambda x: math.prod([Own(x), Own(x * x)]).v,
    lambda x: math.prod(Own(q) for q in (x, x * x)).v,
    lambda x: max(Own(q) for q in (x, x * x)).v,
    lambda x: max(Items(Own(x), Own(x * x))).v,
    lambda x: max(Own(x), Own(x * x)).v,
    lambda x: np.sum([Own(x), Own(x * x)]).v,
    lambda x: np.prod((Own(x), Own(x * x))).v,
    lambda x: np.add(Own(x), Own(x)).v,
    lambda x: np.dot([Own(x), Own(x)], [1.0, 2.0]).v,
    lambda x: np.array([Own(x), Own(x)]).sum().v,
    lambda x: np.array([x, None])[0] * 1.0,
    lambda x: np.array([[x, 1], [2]], dtype=object)[0][0] * 1.0,
    lambda x: np.ma.mean(np.ma.array([x, x * x])) * 1.0,
    lambda x: np.mean(np.ma.masked_less([x, x * x], 1.5)) * 1.0,
    lambda x: np.array([(x, 2.0)], dtype=RECORD)["a"][0] * x,
    lambda x: np.array([(x, 2.0)], dtype=RECORD)[0]["a"] * 1.0,
    lambda x: np.array([(x, 2.0)], dtype=RECORD)[0].item()[0] * 1.0,
    lambda x: np.array([(x, 2.0)], dtype=RECORD).tolist()[0][0] * 1.0,
    lambda x: np.array([(x, 2.0)], dtype=RECORD).view(float)[0] * 1.0,
    lambda x: np.rec.fromarrays([[x], [2.0]], names="a,b").a[0] * 1.0,
    lambda x: np.maximum(np.array([x], dtype=object), 1.0)[0] * 1.0,
    lambda x: np.full(2, x, dtype=object)[0] * x,
    lambda x: (np.array([x, x * x], dtype=object) * 2.0).sum(),
    lambda x: float(np.dot(Indexed(x, x * x), [1.0, 2.0])),
    lambda x: np.array(Indexed(x, x * x)).sum() * 1.0,
]
ERRORS = [
    lambda x: np.float64(Own(x)) * 1.0,
    lambda x: np.array([Own(x)], dtype=float)[0] * 1.0,
    lambda x: math.fsum([Own(x), Own(x)]),
    lambda x: np.logical_or(np.array([x], dtype=object), 2.0)[0] * 1.0,
]


@pytest.mark.parametrize("function", RIGHT)
def test_iterables_and_objects_are_taken_as_python_takes_them(function):
    difference = (function(1.3 + 1e-6) - function(1.3 - 1e-6)) / 2e-6
    for _ in range(2):
        assert gradient(function, 1.3) == (pytest.approx(difference, rel=1e-5),)
    assert jvp(function, (1.3,), (1.0,))[1] == pytest.approx(difference, rel=1e-5)


@pytest.mark.parametrize("function", ERRORS)
def test_what_a_rule_is_not_meant_for_is_an_error(function):
    function(1.3)
    for _ in range(2):
        with pytest.raises(AutodiffError):
            gradient(function, 1.3)
    with pytest.raises(AutodiffError):
        jvp(function, (1.3,), (1.0,))


def test_an_object_that_a_rule_returns_carries_no_silent_zero():
    from autodiff_hook import rrule

    names = {"__name__": "not_opted_in", "Own": Own}
    exec("def target(x): return Own(x)", names)
    target = names["target"]

    @rrule(target)
    def target_rule(x):
        return Own(x), lambda ȳ: (ȳ,)

    with pytest.raises(AutodiffError):
        gradient(lambda x: target(x).v * 2.0, 1.3)
