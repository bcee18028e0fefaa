"""Pullbacks are differentiated themselves: each of them must be made of differentiable parts."""

from __future__ import annotations

import cmath
import math
import operator

import numpy as np
import pytest

import autodiff_hook as ad
from autodiff_hook.testing import check_rule

REAL = {
    0.37: "exp expm1 exp2 log log1p log2 log10 sqrt cbrt sin cos tan asin acos atan sinh cosh tanh asinh atanh "
    "degrees radians erf erfc gamma lgamma fabs modf frexp",
    -2.3: "exp cbrt sin gamma lgamma fabs modf frexp",
    2.7: "acosh gamma lgamma",
}
COMPLEX = "exp log log10 sqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh phase polar"
OTHERS = [
    (math.log, 3.0, 2.0),
    (math.pow, 2.3, 1.2),
    (math.atan2, 1.0, 2.0),
    (math.copysign, 3.0, -2.0),
    (math.fmod, 7.3, 2.0),
    (math.remainder, 7.3, 2.0),
    (math.ldexp, 1.5, 3),
    (math.hypot, 1.0, 2.0, 3.0),
    (math.dist, [1.0, 2.0], (3.0, 5.0)),
    (math.prod, [1.0, 2.0, 3.0]),
    (math.fsum, [1.0, 2.0]),
    (cmath.log, 1 + 2j, 3.0),
    (cmath.rect, 1.0, 2.0),
    (operator.pow, 2.3, 3),
    (operator.pow, -2.3, 0.5),
    (operator.neg, 2.3),
    (abs, -2.3),
    (abs, 1 + 2j),
    (divmod, 7.3, 2.0),
    (pow, 2.3, 1.2),
    (pow, 2.3 + 1j, 1.2),
    (sum, [1.0, 2.0], 3.0),
    (sum, [1.0, 2j], 3.0),
    (max, [1.0, 2.0]),
    (max, 1.0, 2.0),
    (min, 1.0, 2.0, 3.0),
    (complex, 1.0, 2.0),
    (float, 2.0),
]


@pytest.mark.parametrize("x, name", [(x, name) for x, names in REAL.items() for name in names.split()])
def test_math(x, name):
    check_rule(getattr(math, name), x, second_order=True)


@pytest.mark.parametrize("z", [0.7 + 0.4j, 0.37])
@pytest.mark.parametrize("name", COMPLEX.split())
def test_cmath(z, name):
    check_rule(getattr(cmath, name), z, second_order=True)


@pytest.mark.parametrize("x, y", [(2.3, 1.7), (2.3 + 0.4j, 1.7 - 0.1j), (2.3, 1.7 - 0.1j), (2.3 + 0.4j, 2)])
@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv", "pow", "mod", "floordiv"])
def test_operators(x, y, name):
    if name not in ("mod", "floordiv") or isinstance(x, float) and isinstance(y, float):
        check_rule(getattr(operator, name), x, y, second_order=True)


@pytest.mark.parametrize("target, args", [(target, args) for target, *args in OTHERS])
def test_others(target, args):
    check_rule(target, *args, second_order=True)


@pytest.mark.parametrize("name, args", [("sumprod", ([1.0, 2.0], [3.0, 4.0])), ("fma", (1.0, 2.0, 3.0))])
def test_newer_functions(name, args):
    if hasattr(math, name):
        check_rule(getattr(math, name), *args, second_order=True)


def cubed(x):
    return x * x * x


@ad.rrule(cubed, ad.Array)
@ad.rrule(cubed)
def cubed_rule(x):
    _, back = ad.pullback(lambda x: x * x * x, x)

    def cubed_pullback(ȳ):
        return (back(ȳ)[0],)

    return cubed(x), cubed_pullback


@pytest.mark.parametrize("x", [2.0, np.array([1.0, 2.0])])
def test_a_rule_may_keep_a_pullback_for_its_own(x):
    def f(x):
        return np.sum(cubed(x))

    ones = x * 0.0 + 1.0
    assert ad.hvp(f, (x,), (ones,))[0] == pytest.approx(6.0 * x)
    assert ad.jvp(lambda x: ad.gradient(f, x)[0], (x,), (ones,))[1] == pytest.approx(6.0 * x)
    assert ad.gradient(lambda x: np.sum(ad.jvp(f, (x,), (ones,))[1]), x)[0] == pytest.approx(6.0 * x)
