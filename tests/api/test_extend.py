"""A rule pack of others, written with ``autodiff_hook.extend`` alone, gets the programs that built-in functions get."""

from __future__ import annotations

import importlib
import math
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import autodiff_hook as ad
from autodiff_hook.algebras import typed
from autodiff_hook.testing import check_gradient, check_rule

THEIRS = """
import math
import numpy as np

def sine(x):
    return np.sin(x)

def mirrored(m):
    return np.fliplr(m)

def product(x1, x2):
    return np.multiply(x1, x2)

def logarithm(x):
    return math.log(x)

def summed(a, axis=None):
    return np.add.reduce(a, axis)
"""
RULES = """
import math
import numpy as np
import theirs
from autodiff_hook import extend

extend.pack(__name__)

extend.elementwise(theirs.sine, lambda x: np.cos(x))
extend.elementwise(theirs.product, x1=lambda x2: x2, x2=lambda x1: x1)
extend.linear(theirs.mirrored, "m", lambda ȳ: theirs.mirrored(ȳ))
extend.scalar(theirs.logarithm, extend.per(lambda x: x))
extend.cotangents(theirs.summed, "a, axis=None", a=lambda ȳ, a, axis: spread(ȳ, a, axis))
extend.pointwise(theirs.sine, theirs.product)
extend.pure(theirs.mirrored, theirs.logarithm, theirs.summed)


def spread(ȳ, a, axis):
    return np.broadcast_to(ȳ if axis is None else np.expand_dims(ȳ, axis), np.shape(a))


@extend.typed(spread)
def spread_typing(site, c, a, axis):
    return site.fact(a) if site.is_double(a) else None


@extend.shortcut(theirs.summed)
def summed_shortcut(site, a, axis=extend.Constant(None)):
    return site.call(np.add.reduce, a, axis) if site.is_double(a) else None
"""


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    folder: Path = tmp_path_factory.mktemp("pack")
    (folder / "theirs.py").write_text(THEIRS, encoding="utf-8")
    (folder / "rules_of_theirs.py").write_text(RULES, encoding="utf-8")
    sys.path.insert(0, str(folder))
    try:
        importlib.import_module("rules_of_theirs")
        yield importlib.import_module("theirs")
    finally:
        sys.path.remove(str(folder))


def program(f, *args):
    """The typed program of a function, without lines and names."""
    text = re.sub(r" +# line \d+", "", ad.code_adjoint(f, *args))
    return re.sub(r"<ufunc '\w+'>|<function \w+ at \w+>|theirs\.\w+|math\.\w+", "f", text)


X = np.linspace(0.1, 0.9, 12)
PAIRS = {
    "sine": (lambda f: lambda x: (f(x) * x).sum(), np.sin, X),
    "product": (lambda f: lambda x: np.exp(f(x, x * 2.0)).sum(), np.multiply, X),
    "mirrored": (lambda f: lambda x: (f(x) * x).sum(), np.fliplr, X.reshape(3, 4)),
    "logarithm": (lambda f: lambda x: f(x) * x, math.log, 0.7),
}


@pytest.mark.skipif(typed.GENERIC, reason="there are no specialised programs")
@pytest.mark.parametrize("name", PAIRS)
def test_programs_are_those_of_built_in_functions(theirs, name):
    within, builtin, x = PAIRS[name]
    found, expected = program(within(getattr(theirs, name)), x), program(within(builtin), x)
    assert found == expected and not found.startswith("# carried")


@pytest.mark.parametrize("second_order", [False, True])
def test_rules(theirs, second_order):
    check_rule(theirs.sine, X, second_order=second_order)
    check_rule(theirs.product, X, 2.0, second_order=second_order)
    check_rule(theirs.product, X.reshape(3, 4), X[:4], second_order=second_order)
    check_rule(theirs.mirrored, X.reshape(3, 4), second_order=second_order)
    check_rule(theirs.logarithm, 0.7, second_order=second_order)
    check_rule(theirs.summed, X.reshape(3, 4), 1, second_order=second_order)


def test_gradients(theirs):
    check_gradient(lambda x: np.sum(theirs.sine(theirs.product(x, x[::-1]))) * theirs.summed(x), X)


def test_forward_forms_come_of_the_same_declaration(theirs):
    value, tangent = ad.jvp(lambda x: theirs.product(x, 3.0 * x), (X,), (np.ones(12),))
    np.testing.assert_allclose(tangent, 6.0 * X)
    second = ad.hvp(lambda x: theirs.product(x, x).sum(), (X,), (X,))
    np.testing.assert_allclose(second[-1] if isinstance(second[-1], np.ndarray) else second[-1][0], 2.0 * X)


def test_lists_are_taken_as_arrays(theirs):
    assert ad.gradient(lambda x: theirs.product(x, 2.0).sum(), [1.0, 2.0]) == ([2.0, 2.0],)


def test_what_nobody_has_worked_out():
    def power(x, n):
        return x**n

    ad.extend.elementwise(power, x=lambda x, n: n * x ** (n - 1), n="that by the exponent")
    assert ad.gradient(lambda x: power(x, 3), 2.0) == (12.0,)
    with pytest.raises(ad.NotDifferentiable, match="that by the exponent"):
        ad.gradient(lambda n: power(2.0, n), 3.0)


def test_a_decorator():
    def cube(x):
        return x**3

    @ad.extend.elementwise(cube)
    def cube_slope(x):
        return 3.0 * x * x

    assert ad.gradient(cube, 2.0) == (12.0,) and cube_slope(2.0) == 12.0


def test_packs_use_the_public_interface_alone():
    """What the packs of this repository need of the engine, others can have."""
    folder = Path(__file__).parents[2] / "rules"
    private = re.compile(r"^\s*from autodiff_hook\.(transform|ir)[.\w]* import", re.MULTILINE)
    assert [path.name for path in folder.rglob("*.py") if private.search(path.read_text(encoding="utf-8"))] == []
