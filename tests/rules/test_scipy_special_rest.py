"""Functions of ``scipy.special`` whose derivatives are other functions of it."""

from __future__ import annotations

import numpy as np
import pytest
from numpy_checks import Case, cases, check, positive
from scipy import special

from autodiff_hook import gradient
from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.testing import check_gradient

LOOSE = {"tolerances": {"rtol": 1e-5}}
ONE = """
    itj0y0 iti0k0 it2j0y0 it2i0k0 itstruve0 itmodstruve0 it2struve0 itairy ber bei ker kei berp beip kerp keip kelvin
""".split()
POLYNOMIALS = "eval_sh_legendre eval_sh_chebyt eval_sh_chebyu eval_chebyc eval_chebys".split()
PLACES = (0.4, 2.3, positive(2, 3) * 3.0)

CASES = [
    *(Case(getattr(special, name), x, **LOOSE) for name in ONE for x in PLACES),
    *(Case(special.ellipj, u, m, **LOOSE) for u in (0.3, 1.7, -2.0) for m in (0.3, 0.9, positive(3))),
    *(Case(special.elliprf, *xyz, **LOOSE) for xyz in ((0.3, 1.2, 2.0), (positive(3), 1.1, 0.7))),
    *(Case(special.elliprc, *xy, **LOOSE) for xy in ((0.3, 1.2), (1.2, 0.3), (positive(3), 1.1))),
    *(Case(special.agm, *ab, **LOOSE) for ab in ((0.3, 1.2), (1.2, 0.3), (1.1, 1.1), (positive(3), 0.7))),
    Case(special.radian, 3.0, 2.0, 1.0),
]


@cases(CASES)
def test_rule(case):
    check(case)


ONE_OF_SEVERAL = {
    **{name: (lambda x, name=name: getattr(special, name)(3, x)) for name in POLYNOMIALS},
    **{f"{name}_0": (lambda x, name=name: getattr(special, name)(0, x)) for name in POLYNOMIALS},
    "eval_sh_jacobi": lambda x: special.eval_sh_jacobi(3, 2.5, 1.5, x),
    "wright_bessel": lambda x: special.wright_bessel(0.7, 1.2, x),
    "log_wright_bessel": lambda x: special.log_wright_bessel(0.7, 1.2, x),
    "besselpoly": lambda x: special.besselpoly(x, 1.0, 0.5),
    "pbdv": lambda x: special.pbdv(1.5, x)[0] * special.pbdv(1.5, x)[1],
    "pbvv": lambda x: special.pbvv(1.5, x)[0] * special.pbvv(1.5, x)[1],
    "pbwa": lambda x: special.pbwa(1.5, x)[0] * special.pbwa(1.5, x)[1],
    "small_parameter": lambda x: special.ellipj(0.7, 1e-3 * x)[0],
}


@pytest.mark.parametrize("name", ONE_OF_SEVERAL)
def test_the_argument_that_has_a_derivative(name):
    for x in (0.2, 0.85):
        check_gradient(ONE_OF_SEVERAL[name], x, rtol=1e-5)


def test_at_zero():
    assert gradient(special.bei, 0.0) == (0.0,)
    assert gradient(special.beip, 0.0) == (0.5,)
    assert gradient(lambda x: special.it2j0y0(x)[0], 0.0) == (0.0,)
    assert gradient(lambda m: special.ellipj(0.7, m)[3], 0.0)[0] == pytest.approx(
        -0.25 * (0.7 - np.sin(0.7) * np.cos(0.7))
    )


def test_orders_are_errors():
    with pytest.raises(NotDifferentiable):
        gradient(lambda v: special.pbdv(v, 0.3)[0], 1.5)
