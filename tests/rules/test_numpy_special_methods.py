"""Special methods called by name."""

from __future__ import annotations

import numpy as np
import pytest
from in_all_orders import check_orders
from numpy_checks import Case, cases, check, complexes, normal, positive

import autodiff_hook as ad
from autodiff_hook.errors import NotDifferentiable
from autodiff_rules.numpy import dunders

X, Y = positive(2, 3), positive(3) + 0.3
SCALARS = (np.float64(2.5), np.complex128(1 + 2j))

CASES = [
    *(
        Case(getattr(np.ndarray, f"__{r}{name}__"), x, y)
        for name in dunders.ARRAYS
        if name != "matmul"
        for r in ("", "r")
        for x, y in ((X, Y), (X, 1.7), (Y, [0.5, 1.5, 2.5]))
    ),
    *(Case(np.ndarray.__matmul__, *pair) for pair in ((X, Y), (normal(2, 3), normal(3, 2)))),
    *(Case(np.ndarray.__rmatmul__, *pair) for pair in ((Y, X), (normal(3, 2), normal(2, 3)))),
    *(Case(getattr(np.ndarray, f"__{r}mul__"), complexes(3), 1.5j) for r in ("", "r")),
    *(Case(np.ndarray.__pow__, X, n) for n in (2, 0.5)),
    *(
        Case(getattr(type(x), f"__{r}{name}__"), x, 0.75)
        for x in SCALARS
        for name, rules in dunders.SCALARS.items()
        if len(rules) == 2 or isinstance(x, np.floating)
        for r in ("", "r")
    ),
    *(Case(getattr(np.ndarray, f"__{name}__"), normal(3)) for name in dunders.UNARY),
    *(Case(getattr(type(x), f"__{name}__"), x) for x in SCALARS[:1] for name in (*dunders.UNARY, "float")),
]


@cases(CASES)
def test_rule(case):
    check(case)


class Counting(np.ndarray):
    """An array that hands its operations on."""

    calls = 0

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        Counting.calls += 1
        return super().__array_ufunc__(ufunc, method, *map(np.asarray, inputs), **options)


PROGRAMS = {
    "in place": lambda x: (x * 1.0).__iadd__(x * x).__itruediv__(x + 2.0),
    "in place with powers": lambda x: (x * 1.0).__ipow__(2.0).__isub__(1.0).__imul__(x),
    "array": lambda x: x.__array__() * 2.0 + x.__array__(float),
    "iterator": lambda x: np.array([v * v for v in x.__iter__()]),
    "ufunc": lambda x: x.__array_ufunc__(np.sin, "__call__", x),
    "reduction": lambda x: x.__array_ufunc__(np.multiply, "reduce", x),
    "set and get": lambda x: (lambda y: (y.__setitem__(0, x[1] ** 2), y.__getitem__(slice(0, 2)))[1])(x * 1.0),
    "numbers": lambda x: np.array([v.__mul__(v).__rsub__(1.0).__float__() for v in x]),
    "powers": lambda x: x.__pow__(2.5, None) * x.__rpow__(0.5, None) * np.array([v.__pow__(v, None) for v in x]),
    "view as complex": lambda x: (np.exp(1j * x).view(float)[:4] * x[:4]).view(complex) ** 2,
    "view by name": lambda x: x.view("<f8") + x.view(dtype=np.float64),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    check_orders(PROGRAMS[name], positive(5))


def test_a_subclass_that_hands_its_operations_on():
    with ad.install(__name__):
        before = Counting.calls
        assert ad.gradient(lambda x: np.asarray(np.sin(x.view(Counting))).sum(), np.zeros(2))[0].tolist() == [1.0, 1.0]
        assert Counting.calls > before


class Modular(np.ndarray):
    """An array that takes the modulus of ``pow``."""

    def __pow__(self, exponent, mod=None, /):
        return super().__pow__(exponent, mod)


def test_a_subclass_that_hands_the_modulus_of_powers_on():
    with ad.install(__name__):
        check_orders(lambda x: np.asarray(x.view(Modular) ** 3.0), positive(4))


def test_views_of_other_bits_say_so():
    with pytest.raises(NotDifferentiable, match="another type"):
        ad.gradient(lambda x: x.view(np.int64).sum() * 1.0, np.ones(2))
