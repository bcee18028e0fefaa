"""Distribution functions of ``scipy.special`` with respect to their parameters, small to large, to second order."""

from __future__ import annotations

import numpy as np
import pytest
from numpy_checks import Case, cases, check, positive
from scipy import special

from autodiff_hook import gradient, hvp
from autodiff_hook.testing import check_gradient

PARAMETERS = (0.02, 0.7, 2.3, 45.0)
PLACES = (0.01, 0.4, 1.6, 40.0)
RANKS = (0.04, 0.6, 0.97)
LOOSE = {"tolerances": {"rtol": 1e-5, "atol": 1e-9}}

CASES = [
    *(
        Case(getattr(special, n), a, x, **LOOSE)
        for n in ("gammainc", "gammaincc", "chdtr", "chdtrc")
        for a in PARAMETERS
        for x in PLACES
    ),
    *(Case(getattr(special, n), 1.3, a, x, **LOOSE) for n in ("gdtr", "gdtrc") for a in PARAMETERS for x in PLACES),
    *(Case(getattr(special, n), a, 3.0, x, **LOOSE) for n in ("fdtr", "fdtrc") for a in PARAMETERS for x in PLACES),
    *(
        Case(getattr(special, n), a, b, x, **LOOSE)
        for n in ("betainc", "betaincc")
        for a in PARAMETERS
        for b in PARAMETERS
        for x in RANKS
    ),
    *(Case(special.stdtr, a, x, **LOOSE) for a in PARAMETERS[1:] for x in (-3.0, -0.2, 0.4, 5.0)),
    *(
        Case(getattr(special, n), a, p, **LOOSE)
        for n in ("gammaincinv", "gammainccinv", "chdtri", "stdtrit")
        for a in PARAMETERS[1:]
        for p in RANKS
    ),
    *(
        Case(getattr(special, n), a, 2.1, p, **LOOSE)
        for n in ("betaincinv", "betainccinv", "fdtri")
        for a in PARAMETERS[1:]
        for p in RANKS
    ),
    *(Case(special.gdtrix, 1.3, 2.1, p, **LOOSE) for p in RANKS),
    *(
        Case(special.gammainc, np.array([[0.5], [2.0]]), positive(3)),
        Case(special.betainc, positive(3), 2.0, positive(2, 1)),
    ),
]


@cases(CASES)
def test_rule(case):
    check(case)


@cases(
    [
        Case(special.gammainc, 2.3, 1.6),
        Case(special.gammaincc, 0.7, positive(3)),
        Case(special.stdtr, 3.5, -0.7),
        Case(special.betainc, 2.3, 0.7, 0.4),
        Case(special.chdtrc, 3.0, 2.0),
        Case(special.fdtr, 3.0, 2.5, 0.7),
    ]
)
def test_second_order(case):
    check(case, second_order=True)


KNOWN = [
    (special.gammainc, (1.0, 1.0), -0.4317297106348987),
    (special.gammainc, (0.001, 0.1), -1.8210559392083065),
    (special.gammainc, (1000.0, 1050.0), -0.0036718379194951802),
    (special.gammaincc, (2.0, 60.0), 1.9700535528457559e-24),
    (special.betainc, (2.0, 3.0, 0.4), -0.24086937608755657),
    (special.betainc, (0.01, 200.0, 1e-5), -5.3473025200148123),
]


@pytest.mark.parametrize("function, at, slope", KNOWN, ids=lambda x: getattr(x, "__name__", str(x)))
def test_known_values(function, at, slope):
    """Computed with forty digits."""
    assert gradient(function, *at)[0] == pytest.approx(slope, rel=1e-11)


def test_edges_and_nan():
    for x, slope in ((0.0, 0.0), (np.inf, 0.0)):
        assert gradient(special.gammainc, 2.0, x)[0] == slope
    assert gradient(special.betainc, 2.0, 3.0, 1.0)[:2] == (0.0, 0.0)
    assert gradient(special.stdtr, 2.0, 0.0)[0] == 0.0
    assert np.isnan(gradient(special.gammainc, np.nan, 1.0)[0])


COUNTS = {
    "pdtr": lambda p: special.pdtr(3, p),
    "pdtrc": lambda p: special.pdtrc(3.5, p),
    "pdtri": lambda p: special.pdtri(3, p),
    "bdtr": lambda p: special.bdtr(3, 7, p),
    "bdtrc": lambda p: special.bdtrc(3, 7, p),
    "bdtri": lambda p: special.bdtri(3, 7, p),
    "nbdtr": lambda p: special.nbdtr(3, 7, p),
    "nbdtrc": lambda p: special.nbdtrc(3, 7, p),
    "nbdtri": lambda p: special.nbdtri(3, 7, p),
    "kolmogorov": special.kolmogorov,
    "kolmogi": special.kolmogi,
    "smirnov": lambda p: special.smirnov(5, p),
    "smirnovi": lambda p: special.smirnovi(5, p),
    "tklmbda": lambda p: special.tklmbda(p, 0.3),
    "chndtr": lambda p: special.chndtr(p, 2.3, 0.7),
    "noncentrality": lambda p: special.chndtr(1.3, 2.3, p),
    "degrees_of_freedom": lambda p: special.chndtr(1.3, 3.0 * p, 7.0),
    "quantile_by_degrees": lambda p: special.chndtrix(0.3, 3.0 * p, 7.0),
    "shape": lambda p: special.tklmbda(0.4, p),
    "no_shape": lambda p: special.tklmbda(0.4, 1e-9 * p),
    "chndtrix": lambda p: special.chndtrix(p, 2.3, 0.7),
    "quantile_by_noncentrality": lambda p: special.chndtrix(0.3, 2.3, p),
}


@pytest.mark.parametrize("name", COUNTS)
def test_the_argument_that_has_a_derivative(name):
    for p in (0.15, 0.6, 0.85):
        check_gradient(COUNTS[name], p, rtol=1e-5)


def test_numbers_of_events_are_steps():
    assert gradient(special.pdtr, 3.5, 2.0)[0] == 0.0


def test_second_derivative_in_the_order():
    h = 1e-5
    differences = (gradient(special.gammainc, 2.3 + h, 1.6)[0] - gradient(special.gammainc, 2.3 - h, 1.6)[0]) / (2 * h)
    assert hvp(lambda a: special.gammainc(a, 1.6), (2.3,), (1.0,))[0] == pytest.approx(differences, rel=1e-8)
