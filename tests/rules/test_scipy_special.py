from __future__ import annotations

import numpy as np
import pytest
from numpy_checks import Case, cases, check, complexes, normal, positive
from scipy import special

from autodiff_hook import gradient
from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.registry import registry
from autodiff_hook.testing import check_gradient, check_rule
from autodiff_rules.scipy.special import symmetric
from autodiff_rules.scipy.special.gammas import complex_polygamma

SIGNED = """
    erf erfc erfcx erfi dawsn wofz gamma gammaln psi rgamma expm1 exp2 exp10 cbrt cosm1 exprel sindg cosdg
    tandg cotdg expit log_expit ndtr log_ndtr wrightomega j0 j1 i0 i1 i0e i1e expi shichi sici fresnel airy
    lambertw softmax log_softmax logsumexp
""".split()
POSITIVE = """
    erfinv erfcinv logit log1p entr ndtri y0 y1 k0 k1 k0e k1e exp1 ellipk ellipe ellipkm1 spence factorial loggamma
""".split()
COMPLEX = """
    erf erfc erfcx erfi dawsn wofz gamma loggamma rgamma expm1 log1p wrightomega ndtr log_ndtr expi exp1 shichi sici
    fresnel airy lambertw spence logsumexp
""".split()
ORDERED = "jv yv iv kv hankel1 hankel2 kve hankel1e hankel2e".split()
REAL_ORDERED = "jve yve ive struve modstruve".split()
PAIRS = """
    beta betaln binom poch gammainc gammaincc gammaincinv gammainccinv xlogy xlog1py rel_entr kl_div huber pseudo_huber
    powm1 boxcox boxcox1p inv_boxcox inv_boxcox1p stdtr stdtrit owens_t ellipkinc ellipeinc comb perm
""".split()
TRIPLES = "betainc betaincinv betaincc betainccinv voigt_profile hyp1f1 hyperu".split()
POLYNOMIALS = "eval_legendre eval_chebyt eval_chebyu eval_hermite eval_hermitenorm eval_laguerre".split()
SPHERICAL = "spherical_jn spherical_yn spherical_in spherical_kn".split()
SHAPES = ((2.3, 0.4), (1 + positive(3), positive(2, 3)))
OPTIONS = {"tolerances": {"rtol": 1e-6}}


def real_arguments(name):
    yield from (positive(3), positive(2, 0), positive(1), positive(), positive(2, 2), positive(3).astype(np.float32))
    yield from (0.37, np.float64(0.4), [0.2, 0.3])
    if name in SIGNED:
        yield from (normal(2, 3), -1.5)


CASES = [
    *(Case(getattr(special, name), x) for name in (*SIGNED, *POSITIVE) for x in real_arguments(name) if np.size(x)),
    *(Case(getattr(special, n), x, **OPTIONS) for n in COMPLEX for x in (complexes(2, 3), complex(0.3, 0.4))),
    *(Case(special.erf, positive(0)), Case(special.hyp0f1, 1.5, normal(3)), Case(special.zeta, 3.5, positive(3))),
    *(Case(special.zeta, 3.0, 1.5), Case(special.ndtri_exp, -positive(3)), Case(special.hyp0f1, 1.5, complexes(2))),
    *(Case(getattr(special, n), v, 0.7) for n in (*ORDERED, *REAL_ORDERED) for v in (0, 2, 1.5)),
    *(Case(getattr(special, n), v, positive(3)) for n in (*ORDERED, *REAL_ORDERED) for v in (0, 2, 1.5)),
    *(Case(getattr(special, n), np.array([0, 1, 2]), 3 * positive(2, 3)) for n in ORDERED),
    *(Case(getattr(special, n), 1.5, complexes(2)) for n in ORDERED),
    *(Case(getattr(special, n), -1.5 if n != "modstruve" else 1.0, 2.0) for n in REAL_ORDERED),
    *(Case(getattr(special, n), k, x) for n in ("kn", "yn", "expn") for k in (0, 1, 3) for x in (0.7, positive(3))),
    *(Case(special.polygamma, n, x) for n in (0, 1, 3) for x in (1.7, positive(2, 2), [1.0, 2.0])),
    *(Case(getattr(special, n), a, b) for n in PAIRS for a, b in SHAPES),
    *(Case(getattr(special, n), 2.3, positive(3).astype(np.float32) * np.float32(1.0)) for n in ("xlogy", "gammainc")),
    *(Case(getattr(special, n), a, 1.3, b) for n in TRIPLES for a, b in SHAPES),
    *(Case(special.hyp2f1, 0.3, 1.2, 2.1, z) for z in (0.4, -1.3, positive(2, 2), 0.3 * complexes(3))),
    *(Case(special.hyp1f1, 0.3, 2.1, z) for z in (0.4, -1.3, 5.0, complexes(3))),
    *(Case(getattr(special, n), k, x) for n in SPHERICAL for k in (0, 2) for x in (1.3, positive(3))),
    *(Case(getattr(special, n), 2, 1.3, True) for n in SPHERICAL),
    *(Case(getattr(special, n), k, x) for n in POLYNOMIALS for k in (0, 1, 4) for x in (0.3, normal(3))),
    *(Case(special.eval_genlaguerre, k, 0.5, normal(3)) for k in (0, 1, 4)),
    *(Case(special.eval_gegenbauer, k, 0.7, positive(3)) for k in (0, 1, 4)),
    *(Case(special.eval_jacobi, k, 0.5, 1.5, positive(3)) for k in (0, 1, 4)),
    *(Case(special.lambertw, z, k) for z, k in ((-0.2, -1), (-0.2, 0), (1.3, 2), (complex(0.2, 0.4), -1), (0.0, 0))),
    *(Case(getattr(special, n), normal(3, 2), axis) for n in ("softmax", "log_softmax") for axis in (0, 1, -1, (0, 1))),
    *(Case(special.logsumexp, normal(3, 2), axis) for axis in (None, 0, 1, (0, 1))),
    *(Case(special.logsumexp, normal(3, 2), axis, None, True) for axis in (None, 0, 1)),
    *(Case(special.logsumexp, normal(3, 2), 1, b) for b in (positive(3, 2), positive(3, 1), 2.0)),
    Case(special.logsumexp, normal(3, 2), 1, positive(2), True),
    Case(special.logsumexp, normal(3, 2), 1, np.array([3.0, -20.0]), False, True),
    *(Case(special.logit, x) for x in (0.99, 1e-3)),
    *(Case(special.ellipk, m) for m in (0.0, -3.0, 1e-9, 0.999)),
    *(Case(special.ellipe, m) for m in (0.0, -3.0, 1e-9, 0.999)),
    *(Case(special.exprel, x) for x in (0.0, 1e-9, 20.0, -20.0)),
    *(Case(special.boxcox, 2.3, p) for p in (0.0, 1e-9, -1.0)),
    *(Case(getattr(special, n), x) for n in ("sici", "shichi") for x in (3.0, 0.2)),
    *(Case(special.log_ndtr, x) for x in (-30.0, 3.0)),
    *(Case(special.expit, x) for x in (-30.0, 30.0)),
    *(Case(special.rgamma, x) for x in (0.0, -1.0, -2.0, -2.5)),
    *(Case(complex_polygamma, n, z, **OPTIONS) for n in (1, 2) for z in (complexes(2, 3), -2.4 + 0.3j, -30.5j)),
    *(Case(getattr(special, n), 1.5, complexes(2, 3)) for n in ("jve", "yve", "ive")),
    *(Case(special.psi, z) for z in (complexes(3), complex(-1.2, 0.4))),
    *(Case(special.zeta, s) for s in (0.4, 1.01, 2.5, 60.0, 1.0 + positive(2, 2), complex(1.4, 2.0))),
    *(Case(special.zeta, s, q) for s in (2.5, 1.0 + positive(3), 90.0) for q in (0.3, 1.3, 80.0)),
    *(Case(special.ellipkinc, phi, m) for phi in (-1.7, 0.0, 0.7, 5.7) for m in (-0.7, 0.0, 0.4)),
    *(Case(special.ellipeinc, phi, m) for phi in (-1.7, 0.0, 0.7, 5.7) for m in (-0.7, 0.0, 0.4)),
    *(Case(special.logsumexp, complexes(3, 2), 1, b, False, True) for b in (None, normal(2), complexes(3, 2))),
]


@cases(CASES)
def test_rule(case):
    check(case)


def test_polygamma_of_complex_numbers_is_that_of_real_ones():
    x = np.array([-3.3, -0.2, 0.1, 2.5, 40.0])
    for n in (1, 2, 3):
        np.testing.assert_allclose(complex_polygamma(n, x + 0.0j), special.polygamma(n, x), rtol=1e-12)


@pytest.mark.parametrize("name", [n for n in (*SIGNED, *POSITIVE) if n not in ("wofz", "lambertw", "factorial")])
def test_second_order(name):
    check_rule(getattr(special, name), 0.37, rtol=1e-5, second_order=True)


@pytest.mark.parametrize("name", ["xlogy", "beta", "huber", "rel_entr", "poch", "boxcox", "kl_div", "owens_t", "zeta"])
def test_second_order_of_two(name):
    check_rule(getattr(special, name), 1.6, 0.7, rtol=1e-5, second_order=True)


@pytest.mark.parametrize("name", [*ORDERED, *REAL_ORDERED, "gammainc", "stdtr", "eval_legendre", "hyp0f1"])
def test_second_order_in_the_variable(name):
    rule = registry.rule(getattr(special, name), (int, float))

    def slope(x):
        _, pullback = rule(2, x)
        return np.real(pullback(1.0)[1])

    check_gradient(slope, 0.7)


def test_not_implemented():
    with pytest.raises(NotDifferentiable):
        gradient(special.jv, 1.5, 2.0)
    with pytest.raises(NotDifferentiable):
        gradient(special.hyp1f1, 1.5, 2.5, 0.3)
    with pytest.raises(NotDifferentiable):
        gradient(special.zeta, -1.5)
    with pytest.raises(NotDifferentiable):
        gradient(lambda x: special.lpmv(1, 3, x), 1.0)
    check_rule(symmetric.once, 1.5)
    assert gradient(lambda x: special.jv(1, x), 2.0)[0] == special.jvp(1, 2.0)


def test_conventions_at_zero():
    assert gradient(special.xlogy, 0.0, 0.0) == (0.0, 0.0)
    assert gradient(special.xlogy, 0.0, 2.0) == (np.log(2.0), 0.0)
    assert gradient(special.rel_entr, 0.0, 2.0) == (-np.inf, 0.0)
    assert gradient(lambda x: special.logsumexp(np.array([x, -np.inf])), 1.5) == (1.0,)


def test_types():
    x = np.array([0.1, 0.2], np.float32)
    (x̄,) = gradient(lambda x: special.wofz(x).imag.sum(), x)
    assert x̄.dtype == np.float32
    assert registry.rule(special.gammasgn, (float,)) is None and registry.is_constant(special.gammasgn)
