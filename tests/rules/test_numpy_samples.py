"""Samples move with their parameters as their distribution functions say; permutations and choices are selections."""

from __future__ import annotations

import numpy as np
import pytest
from in_all_orders import check_orders
from numpy_checks import normal

import autodiff_hook as ad
from autodiff_hook.api import generic_hvp
from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.testing import check_rule

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


LOCATION_SCALE = ("normal", "laplace", "logistic", "gumbel", "uniform")
MOVED = {
    **{name: (-0.5, 2.0) for name in LOCATION_SCALE},
    **{name: (1.7,) for name in ("exponential", "rayleigh", "weibull", "power", "pareto")},
    **{"lognormal": (0.5, 0.3), "triangular": (0.3, 1.0, 2.0), "vonmises": (0.5, 2.0)},
    **{"permutation": (normal(4, 2),), "permuted": (normal(2, 3),), "choice": (normal(5), 3)},
}
"""What no draw is rejected for, so that differences are those of the samples themselves."""


@pytest.mark.parametrize("owner", OWNERS)
@pytest.mark.parametrize("name", MOVED)
def test_rule(name, owner):
    method = getattr(type(owner(3)), name, None)
    if method is not None:
        check_rule(method, owner(3), *MOVED[name], second_order=True)
    if name in (*LOCATION_SCALE, *SAME_NOISE):
        for size in ((), ((3, 2),)):
            check_rule(method, owner(3), *[np.array([x, 1.1 * x]) for x in MOVED[name]], *size, second_order=True)
            check_rule(method, owner(3), *MOVED[name], *size)


@pytest.mark.parametrize("owner", OWNERS)
@pytest.mark.parametrize("name", IMPLICIT)
def test_rule_where_draws_are_rejected(name, owner):
    parameters, distribution, inverse = IMPLICIT[name]
    method = getattr(type(owner(3)), name)
    for given in (parameters, [x[2] for x in parameters]):
        p = distribution(*given, method(owner(3), *given))
        check_rule(method, owner(3), *given, differences=lambda _, *a, p=p: inverse(*a, p), rtol=2e-4)


@pytest.mark.parametrize("owner", OWNERS)
def test_rules_of_vectors(owner):
    cls, alpha, a, mean = type(owner(3)), np.array([0.8, 1.5, 3.0]), normal(3, 3), normal(3)
    parts = cls.dirichlet(owner(3), alpha)
    rest = alpha.sum() - alpha
    p = special.betainc(alpha, rest, parts)

    def shares(_, alpha):
        """Each part moves as a beta variable does, and the others shrink with what is left for them."""
        steps = special.betaincinv(alpha, rest, p) - parts
        return parts + steps - parts * np.sum(steps / (1.0 - parts)) + parts * steps / (1.0 - parts)

    check_rule(cls.dirichlet, owner(3), alpha, differences=shares, rtol=1e-5)
    cov = a @ a.T + np.eye(3)
    y = cls.multivariate_normal(owner(3), mean, cov, 4)

    def vectors(_, moved, other, size):
        change = 0.5 * (other + other.T) - cov
        return y + moved - mean + 0.5 * (y - mean) @ np.linalg.solve(cov, change)

    check_rule(cls.multivariate_normal, owner(3), mean, cov, 4, differences=vectors)


@pytest.mark.parametrize("owner", OWNERS)
def test_a_number_stands_for_that_many_places(owner):
    x = normal(5)
    for places in (lambda n: owner(3).choice(n, 2), lambda n: owner(3).permutation(n)):
        (x̄,) = ad.gradient(lambda x, n=5, places=places: np.sum(x[places(n)]), x)
        assert x̄.sum() == len(places(5))
        assert ad.gradient(lambda x, n, places=places: np.sum(x[places(n)]), x, 5)[0].tolist() == x̄.tolist()


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


@pytest.mark.parametrize("options", [{}, {"method": "cholesky"}], ids=str)
def test_normal_vectors_with_lists_of_numbers(options):
    def f(x):
        return np.sum(np.random.default_rng(3).multivariate_normal([x, 1.0], [[1.0, 0.0], [0.0, x]], **options))

    ahead, behind = (ad.gradient(f, 1.3 + step)[0] for step in (1e-5, -1e-5))
    for second in (ad.hvp, generic_hvp):
        assert second(f, (1.3,), (1.0,))[0] == pytest.approx((ahead - behind) / 2e-5, rel=1e-6)


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
