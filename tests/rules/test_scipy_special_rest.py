"""Functions of ``scipy.special`` whose derivatives are other functions of it."""

from __future__ import annotations

import numpy as np
import pytest
from numpy_checks import Case, cases, check, positive
from scipy import special

from autodiff_hook import gradient
from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.testing import check_gradient
from autodiff_rules.scipy.special import distributions

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
    *(
        Case(special.elliprd, *xyz, **LOOSE)
        for xyz in ((0.3, 1.2, 2.0), (0.3, 1.2, 0.3), (0.5, 0.5, 0.5), (positive(3), 1.1, 0.7))
    ),
    *(Case(special.elliprg, *xyz, **LOOSE) for xyz in ((0.3, 1.2, 2.0), (0.5, 0.5, 0.5), (positive(3), 1.1, 0.7))),
    *(Case(special.elliprj, 0.3, y, 2.0, p, **LOOSE) for y in (0.3, 1.2, positive(3)) for p in (0.3, 0.8, 2.0, -1.7)),
    *(Case(special.airye, x, **LOOSE) for x in (0.4, positive(3))),
    *(
        Case(special.lpmv, m, v, x, **LOOSE)
        for m, v in ((1, 3), (-1, 3), (0, 2.5), (2, 2))
        for x in (0.3, 0.9 * positive(2, 2))
    ),
    *(Case(special.agm, *ab, **LOOSE) for ab in ((0.3, 1.2), (1.2, 0.3), (1.1, 1.1), (positive(3), 0.7))),
    Case(special.radian, 3.0, 2.0, 1.0),
]


P, HIDDEN = positive(3), special._ufuncs
BESIDES = {
    **{name: (3, P) for name in POLYNOMIALS},
    **{name: (P, 2.3, 1.7) for name in ("_beta_ppf", "_beta_pdf")},
    **{name: (P,) for name in ("kolmogi", "_cosine_cdf", "_cosine_invcdf", "_kolmogci")},
    **{name: (P + 0.3,) for name in ("kolmogorov", "_kolmogc")},
    **{name: (1.5, P) for name in ("pbdv", "pbvv", "pbwa")},
    **{name: (P, 0.3, 1.4) for name in ("_landau_cdf", "_landau_sf", "_landau_ppf", "_landau_isf")},
    **{name: (P, 1.3, 1.4) for name in ("_invgauss_ppf", "_invgauss_isf")},
    **{name: (4.0 * P, 2.5, 1.3) for name in ("chndtr", "_ncx2_pdf", "_ncx2_cdf", "_ncx2_sf")},
    **{name: (P, 2.5, 1.3) for name in ("chndtrix", "_ncx2_ppf", "_ncx2_isf")},
    **{name: (0.7, 1.2, P) for name in ("wright_bessel", "log_wright_bessel")},
    **{"eval_sh_jacobi": (3, 2.5, 1.5, P), "besselpoly": (P, 1.0, 0.5), "tklmbda": (0.5 * P, 0.3), "_log1mexp": (-P,)},
    **{"chdtriv": (0.4, P + 2.0), "pdtrik": (0.4, P + 2.0), "stdtridf": (0.9, 0.5 * P + 1.4)},
    **{name: (0.4, 2.1, P) for name in ("gdtria", "btdtria")},
    **{name: (1.2, 0.4, P) for name in ("gdtrib", "btdtrib")},
    **{"fdtridfd": (3.3, 0.6, P + 1.0), "chndtridf": (1.2, 0.3, P), "chndtrinc": (1.2, 2.1, 0.3 * P)},
    **{name: (0.5, 6.0, P) for name in ("bdtrik", "nbdtrik")},
    **{name: (2.0, 0.5, P) for name in ("bdtrin", "nbdtrin")},
    **{"nrdtrimn": (0.4, 2.1, P), "nrdtrisd": (0.3, 0.7, P + 0.6), "zetac": (P + 1.5,)},
}
WHOLE = {
    **{name: (4, P) for name in ("smirnov", "smirnovi", "_smirnovc", "_smirnovci")},
    **{name: (2.0, 7, P) for name in ("bdtr", "bdtrc", "bdtri", "_binom_cdf", "_binom_sf", "_binom_pmf")},
    **{name: (3, 4, P) for name in ("nbdtr", "nbdtrc", "nbdtri")},
    **{"pdtr": (3, 4.0 * P), "pdtrc": (3, 4.0 * P), "pdtri": (3, P)},
    **{name: (2, 7.5, P) for name in ("_nbinom_cdf", "_nbinom_sf", "_nbinom_pmf")},
}
"""The first arguments are numbers of things; only the chance is moved, and in the last three the number of events."""
ONE_WHOLE = ("_nbinom_cdf", "_nbinom_sf", "_nbinom_pmf")
ONCE = ("kolmogorov", "kolmogi", "_kolmogc", "_kolmogci", *[name for name in BESIDES if name.startswith("_landau")])
"""Nobody has worked out the derivatives of these derivatives."""


def there(table):
    """Those that this version of SciPy has."""
    return [name for name in table if hasattr(HIDDEN, name)]


def at_whole(function, count):
    return lambda *args: function(*map(np.round, args[:count]), *args[count:])


def whole_case(name):
    function, args = getattr(HIDDEN, name), WHOLE[name]
    count = 1 if name in ONE_WHOLE else len(args) - 1
    return Case(function, *args, tolerances={"rtol": 1e-5, "differences": at_whole(function, count)})


CASES += [
    *(Case(getattr(HIDDEN, name), *BESIDES[name], **LOOSE) for name in there(BESIDES)),
    *(whole_case(name) for name in there(WHOLE)),
    Case(distributions.noncentral_density, 4.0 * P, 2.5, 1.3),
    Case(HIDDEN._cosine_cdf, np.array([-4.0, 0.5, 4.0])),
]

DEGREES = np.array([[0], [2], [3]])
LEGENDRE = [
    *((special.legendre_p, DEGREES, P), (special.legendre_p_all, 3, P)),
    *((special.assoc_legendre_p, DEGREES, m, P) for m in (-1, 0, 2)),
    *((special.sph_legendre_p, DEGREES, m, P) for m in (-1, 0, 2)),
    *((f, 3, 2, P) for f in (special.assoc_legendre_p_all, special.sph_legendre_p_all)),
    *((special.sph_harm_y, DEGREES, m, P, 0.4) for m in (-1, 0, 2)),
    *((special.sph_harm_y, 2, 1, theta, P) for theta in (0.2, 1.3)),
    (special.sph_harm_y_all, 3, 2, 0.3, P),
]


@pytest.mark.parametrize("args", LEGENDRE, ids=lambda args: args[0].__name__)
def test_legendre_functions(args):
    check(Case(*args, **LOOSE))
    check(Case(*args, **LOOSE), second_order=True)


def test_derivatives_of_legendre_functions():
    check_gradient(lambda x: special.legendre_p(4, x, diff_n=1)[1] * x, 0.3)
    check_gradient(lambda x: np.real(special.sph_harm_y(3, 1, x, 0.4, diff_n=1)[1] @ np.array([1.0, 2.0])), 0.3)
    with pytest.raises(NotDifferentiable):
        gradient(lambda x: special.legendre_p(4, x, diff_n=2)[2], 0.3)


@cases(CASES)
def test_rule(case):
    check(case)


@pytest.mark.parametrize("name", [name for name in there(BESIDES) if name not in ONCE])
def test_second_order(name):
    check(Case(getattr(HIDDEN, name), *BESIDES[name], **LOOSE), second_order=True)


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


@pytest.mark.parametrize(
    ("target", "args"),
    [
        (special.nbdtrik, (0.5, 6.0, 0.95)),
        (special.bdtrik, (0.1, 6.0, 0.1)),
        (special.chndtrinc, (4.0, 7.6, 0.96)),
        (special.stdtridf, (0.78, 0.49)),
    ],
)
def test_a_number_that_is_kept_within_its_bounds_does_not_move(target, args):
    assert gradient(lambda *args: target(*args), *args) == (0.0,) * len(args)
