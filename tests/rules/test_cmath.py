from __future__ import annotations

import cmath
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from autodiff_hook.registry import registry
from autodiff_hook.testing import check_rule

HOLOMORPHIC = (
    *("exp", "log", "log10", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan"),
    *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
)
axis = st.floats(0.2, 2.5)
sign = st.sampled_from((1, -1))


def cotangents(target, *args, ȳ=1.0):
    _, pullback = registry.rule(target, tuple(map(type, args)))(*args)
    return pullback(ȳ)


@pytest.mark.parametrize("name", [name for name in dir(cmath) if callable(getattr(cmath, name)) and name[0] != "_"])
def test_every_function_is_ruled_or_declared(name):
    function = getattr(cmath, name)
    assert registry.has_rules(function) != registry.is_constant(function)


@pytest.mark.parametrize("name", HOLOMORPHIC)
@given(re=axis, im=axis, s=sign, t=sign)
def test_holomorphic(name, re, im, s, t):
    z = complex(s * re, t * im)
    assume(abs(z - 1j) > 0.1 and abs(z + 1j) > 0.1)
    check_rule(getattr(cmath, name), z)
    check_rule(getattr(cmath, name), np.complex128(z))


@pytest.mark.parametrize("name", HOLOMORPHIC)
def test_a_real_argument_has_a_real_cotangent(name):
    for x in (0.3, np.float64(0.3)) if name == "atanh" else (0.3, 2.0, 3, np.float64(0.3)):
        check_rule(getattr(cmath, name), x)


@given(re=axis, im=axis, s=sign, t=sign, base=st.floats(1.5, 9))
def test_logarithm_with_a_base(re, im, s, t, base):
    z = complex(s * re, t * im)
    check_rule(cmath.log, z, base)
    check_rule(cmath.log, re, complex(base, im))
    check_rule(cmath.log, z, complex(base, im))


@given(re=axis, im=axis, s=sign, t=sign)
def test_polar_coordinates(re, im, s, t):
    z = complex(s * re, t * im)
    check_rule(cmath.phase, z)
    check_rule(cmath.polar, z)
    check_rule(cmath.rect, re, t * im)
    check_rule(cmath.polar, re)


def test_conventions():
    assert cotangents(cmath.sqrt, 0.0)[0] == math.inf
    assert cotangents(cmath.phase, 0j) == (0.0,)
    assert cotangents(cmath.polar, 0j, ȳ=(1.0, 1.0)) == (0.0,)


@pytest.mark.parametrize("name", ["asin", "acos", "acosh", "asinh", "atan", "atanh"])
@pytest.mark.parametrize("side", [0.0, -0.0])
@pytest.mark.parametrize("end", [1, -1])
def test_both_sides_of_a_branch_cut(name, side, end):
    z = complex(side, end * 1.7) if name in ("asinh", "atan") else complex(end * 1.7, side)
    beside = complex(z.real or math.copysign(1e-9, side), z.imag or math.copysign(1e-9, side))
    here, there = (cotangents(getattr(cmath, name), x)[0] for x in (z, beside))
    assert cmath.isclose(here, there, rel_tol=1e-6)
