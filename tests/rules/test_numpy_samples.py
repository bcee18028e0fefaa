"""Samples move with their parameters as their distribution functions say; permutations and choices are selections."""

from __future__ import annotations

import numpy as np
import pytest
from in_all_orders import check_orders
from numpy_checks import normal

import autodiff_hook as ad
from autodiff_hook.errors import NotDifferentiable

special = pytest.importorskip("scipy.special")
stats = pytest.importorskip("scipy.stats")

SHAPES, OTHERS = np.array([0.3, 0.9, 1.7, 6.0, 40.0]), np.array([2.5, 0.6, 1.2, 3.0, 9.0])
OWNERS = (np.random.default_rng, np.random.RandomState)
STEP = 1e-6


def wald_distribution(mean, scale, y):
    return stats.invgauss.cdf(y, mean / scale, scale=scale)


def wald_quantile(mean, scale, p):
    return stats.invgauss.ppf(p, mean / scale, scale=scale)


IMPLICIT = {
    "standard_gamma": ((SHAPES,), special.gammainc, special.gammaincinv),
    "gamma": (
        (SHAPES, OTHERS),
        lambda a, s, y: special.gammainc(a, y / s),
        lambda a, s, p: s * special.gammaincinv(a, p),
    ),
    "chisquare": ((SHAPES,), lambda df, y: special.chdtr(df, y), lambda df, p: special.chdtri(df, 1.0 - p)),
    "beta": ((SHAPES, OTHERS), special.betainc, special.betaincinv),
    "standard_t": ((OTHERS,), special.stdtr, special.stdtrit),
    "f": ((SHAPES + 0.5, OTHERS), special.fdtr, special.fdtri),
    "noncentral_chisquare": (
        (SHAPES, OTHERS),
        lambda df, nc, y: special.chndtr(y, df, nc),
        lambda df, nc, p: special.chndtrix(p, df, nc),
    ),
    "noncentral_f": (
        (SHAPES + 0.5, OTHERS, SHAPES[::-1] / 8.0),
        lambda a, b, nc, y: special.ncfdtr(a, b, nc, y),
        lambda a, b, nc, p: special.ncfdtri(a, b, nc, p),
    ),
    "wald": ((SHAPES, OTHERS), wald_distribution, wald_quantile),
}
"""Parameters, the distribution function and its inverse."""

SAME_NOISE = {
    "lognormal": (OTHERS, SHAPES[:4].mean() + OTHERS),
    "weibull": (OTHERS,),
    "power": (OTHERS,),
    "pareto": (OTHERS,),
    "triangular": (OTHERS, OTHERS + 0.7, OTHERS + 1.5),
}
NAMES = (*IMPLICIT, *SAME_NOISE, "dirichlet", "vonmises", "multivariate_normal", "permutation", "permuted", "choice")


@pytest.mark.parametrize("owner", OWNERS)
@pytest.mark.parametrize("name", IMPLICIT)
def test_the_distribution_function_of_a_sample_stays(name, owner):
    parameters, distribution, inverse = IMPLICIT[name]
    y = getattr(owner(3), name)(*parameters)
    p = distribution(*parameters, y)
    gradients = ad.gradient(lambda *a: np.sum(getattr(owner(3), name)(*a)), *parameters)
    for i, found in enumerate(gradients):
        ahead, behind = (inverse(*[x + s * (j == i) for j, x in enumerate(parameters)], p) for s in (STEP, -STEP))
        np.testing.assert_allclose(found, (ahead - behind) / (2 * STEP), rtol=2e-4, atol=1e-7)


@pytest.mark.parametrize("name", ["gamma", "beta", "f", "noncentral_chisquare", "wald"])
def test_second_derivatives_of_samples(name):
    _, distribution, inverse = IMPLICIT[name]

    def loss(a):
        y = getattr(np.random.default_rng(3), name)(a, 2.0)
        return np.sum(y * y)

    p = distribution(OTHERS, 2.0, getattr(np.random.default_rng(3), name)(OTHERS, 2.0))
    step = 1e-3
    ahead, here, behind = (inverse(OTHERS + s, 2.0, p) ** 2 for s in (step, 0.0, -step))
    expected = (ahead - 2.0 * here + behind) / step**2
    np.testing.assert_allclose(ad.hvp(loss, (OTHERS,), (np.ones(5),))[0], expected, rtol=2e-3, atol=1e-4)


@pytest.mark.parametrize("owner", OWNERS)
@pytest.mark.parametrize("name", SAME_NOISE)
def test_the_same_noise(name, owner):
    check_orders(lambda *a: getattr(owner(3), name)(*a), *SAME_NOISE[name])
    check_orders(lambda a: getattr(owner(3), name)(a, *[x.max() for x in SAME_NOISE[name][1:]], size=(2, 5)), OTHERS)


def test_samples_without_a_generator():
    def f(a):
        np.random.seed(3)
        return np.random.weibull(a)

    check_orders(f, OTHERS)


def test_the_parts_of_a_dirichlet_sample_are_beta_variables():
    alpha = np.array([0.8, 1.5, 3.0])
    y = np.random.default_rng(3).dirichlet(alpha)
    jacobian = ad.jacobian(lambda alpha: np.random.default_rng(3).dirichlet(alpha))(alpha)
    np.testing.assert_allclose(jacobian.sum(0), 0.0, atol=1e-12)
    for i in range(3):
        rest = alpha.sum() - alpha[i]
        p = special.betainc(alpha[i], rest, y[i])
        ahead, behind = (special.betaincinv(alpha[i] + s, rest, p) for s in (STEP, -STEP))
        assert jacobian[i, i] == pytest.approx((ahead - behind) / (2 * STEP), rel=1e-4)


@pytest.mark.parametrize("options", [{}, {"method": "eigh"}, {"method": "cholesky"}], ids=str)
def test_normal_vectors_with_variances(options):
    def f(mean, variances):
        return np.random.default_rng(3).multivariate_normal(mean, np.diag(variances), 4, **options)

    check_orders(f, normal(3), np.array([3.0, 2.0, 0.5]))


def test_normal_vectors_by_the_cholesky_factor():
    def f(mean, factor):
        cov = factor @ factor.T + np.eye(3)
        return np.random.default_rng(3).multivariate_normal(mean, cov, method="cholesky")

    check_orders(f, normal(3), normal(3, 3))


@pytest.mark.parametrize("owner", OWNERS)
def test_normal_vectors_move_by_half_of_the_relative_change_of_the_covariance(owner):
    a, mean = normal(3, 3), normal(3)
    cov, change = a @ a.T + np.eye(3), a + a.T
    y, ẏ = ad.jvp(lambda cov: owner(3).multivariate_normal(mean, cov, 5), (cov,), (change,))
    np.testing.assert_allclose(ẏ, 0.5 * (y - mean) @ np.linalg.solve(cov, change))


SELECTIONS = {
    "permutation": lambda g, x: g.permutation(x),
    "choice": lambda g, x: g.choice(x[0], 3),
    "one choice": lambda g, x: g.choice(x[0]),
    "choice without replacement": lambda g, x: g.choice(x[1], (2, 2), replace=False),
    "choice with probabilities": lambda g, x: g.choice(x[0], 3, p=[0.1, 0.4, 0.3, 0.2]),
}
LATER = {
    "permutation of columns": lambda g, x: g.permutation(x, axis=1),
    "permuted": lambda g, x: g.permuted(x, axis=1),
    "permuted over all": lambda g, x: g.permuted(x),
    "choice of columns": lambda g, x: g.choice(x, 2, axis=1),
    "choice in order": lambda g, x: g.choice(x, 2, replace=False, shuffle=False),
}


@pytest.mark.parametrize("owner", OWNERS)
@pytest.mark.parametrize("name", [*SELECTIONS, *LATER])
def test_selections(name, owner):
    if name in SELECTIONS or owner is np.random.default_rng:
        select = {**SELECTIONS, **LATER}[name]
        check_orders(lambda x: select(owner(3), x), normal(3, 4))


@pytest.mark.parametrize("owner", OWNERS)
@pytest.mark.parametrize("make", [lambda x: x * x, lambda x: x[:, 0] * 2.0, lambda x: [v * v for v in x[0]]])
def test_shuffling_in_place(make, owner):
    def f(x):
        y = make(x)
        owner(3).shuffle(y)
        return np.array(y)

    check_orders(f, normal(3, 4))


def test_probabilities_of_a_choice_say_so():
    with pytest.raises(NotDifferentiable, match="probabilities"):
        ad.gradient(lambda p: np.random.default_rng(3).choice(np.ones(2), p=p) * 1.0, np.array([0.5, 0.5]))
