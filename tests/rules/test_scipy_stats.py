from __future__ import annotations

import numpy as np
import pytest
from numpy_checks import normal, positive
from scipy import stats
from scipy.stats import _stats

from autodiff_hook import gradient, hessian, hvp, jvp
from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.testing import check_gradient, check_rule
from autodiff_rules.numpy.decompositions import hermitian_of
from autodiff_rules.scipy.stats import discrete
from autodiff_rules.scipy.stats.definite import spectrum
from autodiff_rules.scipy.stats.families import FAMILIES
from autodiff_rules.scipy.stats.methods import target_of

SHAPES = {
    "lognorm": (0.8,),
    "gamma": (2.3,),
    "invgamma": (2.3,),
    "chi2": (3.5,),
    "beta": (2.3, 1.7),
    "t": (4.5,),
    "f": (3.5, 6.0),
    "weibull_min": (1.7,),
    "pareto": (2.2,),
    "invgauss": (0.9,),
    "skewnorm": (1.4,),
}
NAMES = sorted(
    "norm halfnorm expon uniform cauchy halfcauchy laplace logistic gumbel_r gumbel_l rayleigh maxwell".split()
    + list(SHAPES)
)
DENSITIES, INTEGRALS, QUANTILES = ("pdf", "logpdf"), ("cdf", "logcdf", "sf", "logsf"), ("ppf", "isf")


def points(name):
    """Arguments within the support for loc = 0.2 and scale = 1.3."""
    x = positive(2, 3) * 1.2 + 0.25
    return x + 1.3 if name == "pareto" else x


def test_every_family_is_checked():
    assert {type(getattr(stats, name)) for name in NAMES} == set(FAMILIES)


@pytest.mark.parametrize("method", DENSITIES)
@pytest.mark.parametrize("name", NAMES)
def test_densities(name, method):
    target = target_of(getattr(stats, name), method)
    check_rule(target, points(name), *SHAPES.get(name, ()), 0.2, 1.3)
    check_rule(target, points(name)[0, 0], *[np.array([s, s + 0.1]) for s in SHAPES.get(name, ())], 0.2, 1.3)


@pytest.mark.parametrize("method", (*INTEGRALS, *QUANTILES))
@pytest.mark.parametrize("name", NAMES)
def test_distribution_functions(name, method):
    target = target_of(getattr(stats, name), method)
    x = positive(3) if method in QUANTILES else points(name)
    check_rule(target, x, *SHAPES.get(name, ()), 0.2, 1.3, rtol=1e-5)


@pytest.mark.parametrize("method", (*DENSITIES, *INTEGRALS))
def test_calls(method):
    of_norm, of_gamma = getattr(stats.norm, method), getattr(stats.gamma, method)
    check_gradient(lambda x: of_norm(x), 0.7)
    check_gradient(lambda x, m, s: of_norm(x, m, s), 0.7, 0.2, 1.3)
    check_gradient(lambda x, m, s: of_norm(x=x, scale=s, loc=m), 0.7, 0.2, 1.3)
    check_gradient(lambda x, m, s: np.sum(of_norm(x, loc=m, scale=s)), normal(3), normal(2, 1), 1.3)
    check_gradient(lambda x, m, s: of_gamma(x, 2.5, loc=m, scale=s), 0.7, 0.2, 1.3)
    check_gradient(lambda x: np.sum(of_norm(x)), [0.3, 0.4])


def test_shapes_by_name():
    check_gradient(lambda x, a, s: stats.gamma.logpdf(x, a=a, scale=s), 0.7, 2.2, 1.3)
    check_gradient(lambda x, a, b: stats.beta.pdf(x, b=b, a=a), 0.7, 2.2, 1.3)


def test_frozen_distributions():
    check_gradient(lambda x, m, s: stats.norm(m, s).logpdf(x), 0.7, 0.2, 1.3)
    check_gradient(lambda x, m, s: stats.norm(loc=m, scale=s).cdf(x), 0.7, 0.2, 1.3)
    check_gradient(lambda x, a, s: stats.gamma(a, scale=s).pdf(x), 0.7, 2.2, 1.3)
    frozen = stats.norm(0.2, 1.3)
    check_gradient(lambda x: frozen.logsf(x), 0.7)


OPERATED = {
    "by_place_and_name": lambda p: stats.norm.logcdf(p[0], p[1], scale=1.3) * stats.gamma.pdf(p[0], 2.2, scale=p[1]),
    "frozen": lambda p: stats.norm(p[0], p[1]).logpdf(0.3) + stats.expon(scale=p[1]).sf(p[0]),
    "shapes_out_of_order": lambda p: stats.beta.pdf(p[0], b=1.3, a=2.2) + np.sum(stats.t.logpdf(p, 4.5)),
    "quantiles": lambda p: stats.norm.ppf(p[0], scale=p[1]) * stats.expon.isf(p[0]),
    "discrete": lambda p: np.sum(stats.poisson.logpmf([0, 2, 5], p[0])) + stats.binom.pmf(2, 5, p[1]),
    "two_shapes": lambda p: stats.nbinom.logpmf(3, 4.0 * p[0], p=p[1]),
    "normal_of_several": lambda p: stats.multivariate_normal.logpdf(p, np.zeros(2), np.eye(2) * p[0]),
    "through_the_source": lambda p: stats.exponweib.logpdf(p[0], 1.5, 2.0, scale=p[1]) + stats.norm.entropy(p[0], p[1]),
}


@pytest.mark.parametrize("name", OPERATED)
def test_all_operators_agree(name):
    f, p, v = OPERATED[name], np.array([0.7, 0.6]), np.array([0.6, -0.8])
    check_gradient(f, p)
    assert jvp(f, (p,), (v,))[1] == pytest.approx(gradient(f, p)[0] @ v, rel=1e-9)
    by_differences = (gradient(f, p + 1e-5 * v)[0] - gradient(f, p - 1e-5 * v)[0]) / 2e-5
    assert np.allclose(hvp(f, (p,), (v,))[0], by_differences, rtol=1e-5)
    assert np.allclose(hessian(f)(p) @ v, by_differences, rtol=1e-5)


def test_outside_the_support():
    assert gradient(stats.gamma.pdf, -0.5, 2.5) == (0.0, 0.0)
    assert gradient(stats.beta.logpdf, 1.5, 2.5, 1.5) == (0.0, 0.0, 0.0)
    assert gradient(lambda x: stats.uniform.cdf(x, 0.0, 2.0), 3.0) == (0.0,)
    (x̄,) = gradient(lambda x: stats.expon.pdf(x).sum(), np.array([-1.0, 0.5, 2.0]))
    assert np.allclose(x̄, [0.0, -np.exp(-0.5), -np.exp(-2.0)])


def test_far_tails():
    assert np.isclose(gradient(stats.norm.logcdf, -40.0)[0], 40.0249688, rtol=1e-8)
    assert np.isclose(gradient(stats.norm.logsf, 40.0)[0], -40.0249688, rtol=1e-8)
    assert np.isclose(gradient(stats.norm.logpdf, -400.0)[0], 400.0)


def test_a_subclass_is_not_its_base():
    class Shifted(type(stats.norm)):
        def _logpdf(self, x):
            return -((x - 1.0) ** 2)

    shifted = Shifted(name="shifted")
    assert target_of(shifted, "logpdf") is None


def test_discrete():
    check_gradient(lambda mu: np.sum(stats.poisson.logpmf([0, 2, 5], mu)), 2.5)
    check_gradient(lambda mu: np.sum(stats.poisson.pmf(np.arange(4), mu=mu)), 2.5)
    check_gradient(lambda mu: stats.poisson.logpmf(3, mu, loc=1), 2.5)
    check_gradient(lambda p: np.sum(stats.binom.logpmf([0, 2, 5], 5, p)), 0.3)
    check_gradient(lambda p: np.sum(stats.bernoulli.pmf([0, 1, 1], p)), np.array([0.3, 0.4, 0.7]))
    check_gradient(lambda p: stats.geom.logpmf(3, p), 0.3)
    check_gradient(lambda n, p: np.sum(stats.nbinom.logpmf([0, 3], n, p)), 2.5, 0.3)
    assert gradient(lambda mu: stats.poisson.pmf(-1, mu), 2.5) == (0.0,)


POINT, MEAN, COV = normal(2), normal(2, seed=1), np.array([[1.3, 0.4], [0.4, 0.9]])


def symmetric(cov):
    return cov + cov.T


@pytest.mark.parametrize("method", [stats.multivariate_normal.logpdf, stats.multivariate_normal.pdf])
def test_multivariate_normal(method):
    check_gradient(lambda x, m, c: method(x, m, symmetric(c)), POINT, MEAN, COV)
    check_gradient(lambda x, m, c: np.sum(method(x, mean=m, cov=symmetric(c))), normal(3, 2), MEAN, COV)
    check_gradient(lambda x, m, c: np.sum(method(x, m, c)), normal(2, 3, 2), MEAN, 1.3)
    check_gradient(lambda x, m, c: method(x, m, c), POINT, MEAN, np.array([0.7, 1.4]))
    check_gradient(lambda x, m, c: np.sum(method(x, m, c)), normal(3), 0.3, 1.3)
    check_gradient(lambda x: method(x, cov=np.eye(2)), POINT)
    check_gradient(lambda x: method(x), 0.4)
    for alike in (0.4, normal(1), normal(3, 1)):
        check_gradient(lambda x, m, c: np.sum(method(x, m, symmetric(c))), alike, MEAN, COV)


def test_multivariate_normal_at_equal_eigenvalues():
    check_gradient(lambda x, s: stats.multivariate_normal.logpdf(x, cov=symmetric(s)), POINT, 0.4 * np.eye(2))


def test_factors_of_definite_matrices():
    """Factors are determined but for a rotation from the right: that of the differences has the derivative chosen."""
    cov = np.array([[1.3, 0.4, 0.1], [0.4, 0.9, 0.2], [0.1, 0.2, 1.1]])
    options = None, None, True, True, False
    eps, null, rank, factor, _ = spectrum(cov, *options)

    def turned(M, *options):
        whole = hermitian_of(M, "L")
        near = (1.5 * np.eye(3) - 0.5 * np.linalg.inv(cov) @ whole) @ factor
        return eps, null, rank, near, np.linalg.slogdet(whole)[1]

    check_rule(spectrum, cov, *options, differences=turned)


MATRIX = np.array([[0.3, 0.2], [0.7, 1.1]])
OF_SEVERAL = {
    "frozen": lambda m, c: stats.multivariate_normal(m, c).logpdf(MATRIX).sum(),
    "entropy": lambda m, c: stats.multivariate_normal(m, c).entropy(),
    "student": lambda m, c: stats.multivariate_t(m, c, df=3.0 + m[0]).logpdf(POINT),
    "of_matrices": lambda m, c: stats.matrix_normal(rowcov=c, colcov=c + np.eye(2)).logpdf(m[0] * MATRIX),
}


@pytest.mark.parametrize("name", OF_SEVERAL)
@pytest.mark.parametrize("cov", [COV, 0.8 * np.eye(2), np.diag([0.8, 1.3])], ids=["full", "alike", "diagonal"])
def test_distributions_of_several_variables(name, cov):
    check_gradient(lambda m, c: OF_SEVERAL[name](m, 0.5 * symmetric(c)), MEAN, cov)


def test_a_singular_covariance_of_a_frozen_distribution_is_an_error():
    with pytest.raises(NotDifferentiable, match="singular matrix of covariances"):
        gradient(lambda c: stats.multivariate_normal(None, c, allow_singular=True).logpdf(POINT), np.diag([1.0, 0.0]))


@pytest.mark.parametrize("method", [stats.multivariate_normal.logpdf, stats.multivariate_normal.pdf])
def test_multivariate_normal_within_the_range_of_a_singular_covariance(method):
    basis = np.array([[1.0, 0.5, 0.0], [0.0, 1.0, -1.0]])
    cov = basis.T @ basis

    def density(s, m):
        return method(s @ basis, m @ basis, cov, allow_singular=True)

    check_gradient(density, np.array([0.3, -0.4]), np.array([0.1, 0.7]))
    check_gradient(lambda s, m: density(s, m).sum(), normal(4, 2), np.array([0.1, 0.7]))
    far = gradient(lambda x: method(x, np.zeros(3), cov, allow_singular=True), np.array([0.0, 0.0, 9.0]))
    assert far[0].tolist() == [0.0, 0.0, 0.0]
    with pytest.raises(NotDifferentiable, match="singular covariance"):
        gradient(lambda c: method(basis[0], np.zeros(3), c, allow_singular=True), cov)


def test_rules_of_vectors_and_angles():
    mean, factor = normal(3), normal(3, 3)
    vectors, cov = type(stats.multivariate_normal), factor @ factor.T
    for method in (vectors.pdf, vectors.logpdf):
        check_rule(method, stats.multivariate_normal, mean, normal(3, seed=1), cov, second_order=True)
        check_rule(method, stats.multivariate_normal, normal(4, 3), mean, cov)
    for kappa, x in ((2.3, 0.7), (positive(3), 3.0 * normal(3))):
        check_rule(_stats.von_mises_cdf, kappa, x, second_order=True)


MASSES = {"poisson": (2.3,), "bernoulli": (0.3,), "binom": (5, 0.3), "geom": (0.3,), "nbinom": (3.5, 0.3)}


@pytest.mark.parametrize("name", MASSES)
def test_rules_of_probabilities(name):
    """The number of events, that of trials and loc are whole: they stay."""
    whole = {"binom": 2}.get(name, 1)
    for method in ("pmf", "logpmf"):
        target = discrete.target_of(getattr(stats, name), method)

        def moved(*args, target=target):
            return target(*map(np.round, args[:whole]), *args[whole:-1], np.round(args[-1]))

        for p in (MASSES[name][-1], np.array([1.0, 1.1]) * MASSES[name][-1]):
            check_rule(target, 1, *MASSES[name][:-1], p, 0, differences=moved)


@pytest.mark.parametrize(
    "name", ["norm", "gumbel_r", "gamma", "lognorm", "weibull_min", "cauchy", "laplace", "logistic"]
)
@pytest.mark.parametrize("method", ["pdf", "logpdf"])
def test_complex_points(name, method):
    z, way = np.array([1.45 + 0.2j, 1.6 + 0.1j]), np.array([0.3 + 0.8j, -0.4 + 0.5j])

    def f(x):
        y = getattr(getattr(stats, name), method)(x, *SHAPES.get(name, ()), 0.2, 1.1)
        return np.sum(0.7 * np.real(y) + 0.4 * np.imag(y))

    if name in ("cauchy", "laplace", "logistic"):
        with pytest.raises(NotDifferentiable, match="by complex numbers"):
            gradient(f, z)
        return
    expected = (f(z + 1e-6 * way) - f(z - 1e-6 * way)) / 2e-6
    assert np.sum(np.real(np.conj(gradient(f, z)[0]) * way)) == pytest.approx(expected, rel=1e-6)
