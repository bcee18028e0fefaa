"""``debug_nans``: an error at the first operation that makes nan of what has none."""

from __future__ import annotations

import math
import os
import subprocess
import sys

import numpy as np
import pytest

import autodiff_hook as ad

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
BOTH = np.array([-1.0, 2.0])


def inner(x):
    return np.log(x)


def in_a_callee(x):
    return (inner(x) * 2.0).sum()


def in_an_operator(x):
    much = x * math.inf
    return (much - much).sum()


OF_VALUES = {in_a_callee: (inner, 1, "numpy.log has made nan"), in_an_operator: (in_an_operator, 2, "the operator -")}
WAYS = {
    "gradient": lambda f, x: ad.gradient(f, x),
    "pullback": lambda f, x: ad.pullback(f, x),
    "jvp": lambda f, x: ad.jvp(f, (x,), (np.ones(2),)),
    "hvp": lambda f, x: ad.hvp(f, (x,), (np.ones(2),)),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("function", OF_VALUES)
def test_in_the_function(function, way):
    home, line, what = OF_VALUES[function]
    for _ in range(20):
        with ad.debug_nans(), pytest.raises(ad.NotANumber, match=what) as caught:
            WAYS[way](function, BOTH)
        assert f"{__file__}:{home.__code__.co_firstlineno + line} in {home.__qualname__}: " in str(caught.value)


def a_sum_of_cotangents(x):
    root = np.sqrt(x - x)
    return (root[0] - root[1]) * 1.0


def test_in_the_reverse_sweep():
    with ad.debug_nans(), pytest.raises(ad.NotANumber, match="cotangents") as caught:
        ad.gradient(lambda x: a_sum_of_cotangents(x), BOTH)
    assert f"{__file__}:{a_sum_of_cotangents.__code__.co_firstlineno + 1} in a_sum_of_cotangents" in str(caught.value)


def test_a_pullback():
    def f(x):
        return x * 2.0

    @ad.rrule(f, ad.Real)
    def f_rule(x):
        def f_pullback(ȳ):
            return (ȳ * math.nan,)

        return f(x), f_pullback

    def program(x):
        return f(x) + 1.0

    with ad.debug_nans(), pytest.raises(ad.NotANumber, match="the pullback of .*f has made nan") as caught:
        ad.gradient(program, 2.0)
    assert f":{program.__code__.co_firstlineno + 1} in " in str(caught.value)
    with ad.debug_nans(), pytest.raises(ad.NotANumber, match="the tangent of the operator|tangent of .*f is nan"):
        ad.jvp(program, (2.0,), (1.0,))


def test_a_tangent():
    with ad.debug_nans(), pytest.raises(ad.NotANumber, match="the tangent of the operator - is nan"):
        ad.jvp(lambda x: np.sqrt(x)[0] - np.sqrt(x)[1], (np.zeros(2),), (np.ones(2),))


def test_what_was_given_as_nan_is_nobodys_fault():
    x = np.array([math.nan, 2.0])
    with ad.debug_nans():
        assert np.isnan(ad.gradient(lambda x: (x * x).sum(), x)[0]).tolist() == [True, False]
        assert math.isnan(ad.jvp(lambda x: x * 2.0, (1.0,), (math.nan,))[1])


def test_what_is_defined_is_as_ever():
    def masked(x):
        return np.sum(np.where(x > 0, np.sqrt(np.abs(x)), 0.0))

    x = np.array([4.0, 0.0])
    with ad.debug_nans():
        assert ad.gradient(masked, x)[0].tolist() == [0.25, 0.0]
        assert ad.jvp(masked, (x,), (np.ones(2),))[1] == 0.25
        assert ad.hvp(masked, (x,), (np.ones(2),))[0].tolist() == [-1 / 32, 0.0]


def test_the_switch():
    def undefined(x):
        return x * math.inf - x * math.inf

    assert math.isnan(ad.gradient(undefined, 2.0)[0])
    with ad.debug_nans():
        with ad.debug_nans(False):
            assert math.isnan(ad.gradient(undefined, 2.0)[0])
        with pytest.raises(ad.NotANumber):
            ad.gradient(undefined, 2.0)
    assert math.isnan(ad.gradient(undefined, 2.0)[0])
    ad.debug_nans()
    try:
        with pytest.raises(ad.NotANumber):
            ad.gradient(undefined, 2.0)
    finally:
        ad.debug_nans(False)
    assert math.isnan(ad.gradient(undefined, 2.0)[0])


def test_the_environment():
    program = "import autodiff_hook as ad; ad.gradient(lambda x: x * float('inf') - x * float('inf'), 2.0)"
    for value, code in (("1", 1), ("0", 0)):
        environment = os.environ | {"AUTODIFF_DEBUG_NANS": value}
        done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
        assert done.returncode == code
        assert ("NotANumber: <string>:1 in <lambda>: the operator - has made nan" in done.stderr) == bool(code)
