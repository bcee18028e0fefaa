"""Every continuous family of ``scipy.stats``: all methods with respect to the point, all shapes, loc and scale."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import stats

import autodiff_hook as ad
from autodiff_hook.errors import NotDifferentiable

METHODS = ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf")
SHAPES = {
    "alpha": (3.6,), "anglit": (), "arcsine": (), "argus": (1.4,), "beta": (2.3, 0.6), "betaprime": (5.1, 6.2),
    "bradford": (0.3,), "burr": (10.5, 4.3), "burr12": (10.5, 4.3), "cauchy": (), "chi": (2.3,), "chi2": (3.5,),
    "cosine": (), "crystalball": (2.0, 3.5), "dgamma": (1.1,), "dpareto_lognorm": (3.0, 1.2, 1.5, 2.0),
    "dweibull": (2.1,), "erlang": (4.0,), "expon": (), "exponnorm": (1.5,), "exponpow": (2.7,),
    "exponweib": (2.9, 1.9), "f": (9.0, 7.0), "fatiguelife": (0.8,), "fisk": (3.1,), "foldcauchy": (4.7,),
    "foldnorm": (1.95,), "gamma": (2.0,), "genexpon": (9.1, 16.2, 3.3), "genextreme": (-0.1,),
    "gengamma": (4.4, 3.1), "genhalflogistic": (0.8,), "genlogistic": (0.4,), "gennorm": (1.3,),
    "genpareto": (0.1,), "gibrat": (), "gompertz": (0.9,), "gumbel_l": (), "gumbel_r": (), "halfcauchy": (),
    "halfgennorm": (0.7,), "halflogistic": (), "halfnorm": (), "hypsecant": (), "invgamma": (4.1,),
    "invgauss": (0.9,), "invweibull": (10.6,), "jf_skew_t": (8.0, 4.0), "johnsonsb": (4.3, 3.2),
    "johnsonsu": (2.6, 2.2), "kappa3": (1.0,), "kappa4": (0.3, 0.1), "laplace": (), "laplace_asymmetric": (2.0,),
    "levy": (), "levy_l": (), "loggamma": (0.4,), "logistic": (), "loglaplace": (3.3,), "lognorm": (0.9,),
    "loguniform": (0.01, 1.3), "lomax": (1.9,), "maxwell": (), "mielke": (10.4, 4.6), "moyal": (),
    "nakagami": (5.0,), "norm": (), "norminvgauss": (1.25, 0.5), "pareto": (2.6,), "pearson3": (0.1,),
    "powerlaw": (1.7,), "powerlognorm": (2.1, 0.4), "powernorm": (4.4,), "rayleigh": (), "rdist": (1.6,),
    "recipinvgauss": (0.6,), "rel_breitwigner": (36.5,), "rice": (0.8,), "semicircular": (), "skewcauchy": (0.5,),
    "skewnorm": (4.0,), "t": (2.7,), "trapezoid": (0.2, 0.8), "triang": (0.2,), "truncexpon": (4.7,),
    "truncnorm": (-1.0, 2.0), "truncpareto": (2.0, 5.3), "truncweibull_min": (2.5, 0.25, 1.75),
    "tukeylambda": (3.1,), "uniform": (), "vonmises": (4.0,), "vonmises_line": (4.0,), "wald": (),
    "weibull_max": (2.9,), "weibull_min": (1.8,), "wrapcauchy": (0.03,),
}  # fmt: skip


def slopes(f, args):
    for i, x in enumerate(args):
        step = 1e-5 * max(abs(x), 1e-2)
        above, below = ([*args[:i], x + s, *args[i + 1 :]] for s in (step, -step))
        yield (f(*above) - f(*below)) / (2.0 * step)


@pytest.mark.parametrize("name", SHAPES)
def test_methods_by_all_parameters(name):
    shapes, distribution = SHAPES[name], getattr(stats, name)
    x = float(distribution.ppf(0.4, *shapes, 0.3, 1.2))
    for method in METHODS:
        f = getattr(distribution, method)
        args = (0.4 if method in ("ppf", "isf") else x, *shapes, 0.3, 1.2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            differences = list(slopes(f, args))
            np.testing.assert_allclose(ad.gradient(f, *args), differences, rtol=1e-4, atol=1e-7, err_msg=method)


@pytest.mark.parametrize("name", ["gengamma", "exponweib", "betaprime", "johnsonsu", "rice", "nakagami"])
def test_second_order_and_forward(name):
    args = (0.8, *SHAPES[name])
    f = getattr(stats, name).logpdf if name == "rice" else lambda *p: getattr(stats, name).cdf(*p) ** 2
    v = tuple(0.3 + 0.1 * i for i in range(len(args)))
    assert ad.jvp(f, args, v)[1] == pytest.approx(np.dot(ad.gradient(f, *args), v))
    above, below = (ad.gradient(f, *[x + s * d for x, d in zip(args, v)]) for s in (1e-5, -1e-5))
    differences = [(a - b) / 2e-5 for a, b in zip(above, below)]
    np.testing.assert_allclose(ad.hvp(f, args, v), differences, rtol=1e-4, atol=1e-7)


def test_arrays_and_frozen_distributions():
    def f(x, a, c):
        return np.sum(stats.exponweib(a, c, scale=1.3).logpdf(x) * np.arange(1.0, 4.0))

    x, a, c = np.array([0.4, 0.9, 1.7]), 2.9, 1.9
    plain = list(slopes(lambda a, c: f(x, a, c), (a, c)))
    assert ad.gradient(f, x, a, c)[1:] == pytest.approx(plain, rel=1e-6)


DISCRETE = {
    "binom": (lambda p: stats.binom.cdf(2, 5, p), 0.3),
    "binom_sf": (lambda p: stats.binom.logsf(2, 5, p), 0.3),
    "nbinom": (lambda n: stats.nbinom.cdf(2, n, 0.4), 3.3),
    "poisson": (lambda m: stats.poisson.logcdf(3, m), 2.7),
    "geom": (lambda p: stats.geom.cdf(3, p), 0.3),
    "logser": (lambda p: stats.logser.logpmf(3, p), 0.3),
    "betabinom": (lambda a: stats.betabinom.logpmf(3, 5, a, 2.0), 1.3),
    "betanbinom": (lambda a: stats.betanbinom.logpmf(3, 5, a, 2.0), 3.3),
    "zipf": (lambda k: stats.dlaplace.logpmf(2, k), 0.7),
    "boltzmann": (lambda k: stats.boltzmann.pmf(2, k, 8), 0.7),
    "planck": (lambda k: stats.planck.pmf(2, k), 0.7),
    "skellam": (lambda m: stats.skellam.cdf(2, m, 1.3), 0.7),
    "yulesimon": (lambda a: stats.yulesimon.logpmf(2, a), 2.7),
}


@pytest.mark.parametrize("name", DISCRETE)
def test_discrete_families(name):
    f, x = DISCRETE[name]
    assert ad.gradient(f, x)[0] == pytest.approx(next(slopes(f, (x,))), rel=1e-5)


def test_what_is_unknown_is_an_error():
    with pytest.raises(NotDifferentiable):
        ad.gradient(lambda x: stats.nct.pdf(x, 3.0, 0.4), 0.7)


KERNELS = {
    "at": (lambda x: stats.gaussian_kde([0.1, 0.7, 1.9, 2.2])(x), np.array([0.3, 1.1])),
    "by_data": (lambda d: stats.gaussian_kde(d).logpdf([0.3, 1.1]), np.array([0.1, 0.7, 1.9, 2.2])),
    "by_weights": (lambda w: stats.gaussian_kde([0.1, 0.7, 1.9], weights=w)([0.3]), np.array([0.2, 0.5, 0.3])),
    "planar": (lambda d: stats.gaussian_kde(d)([0.3, 1.1]), np.array([[0.1, 0.7, 1.9, 2.2], [0.4, 0.2, 1.3, 0.9]])),
}


@pytest.mark.parametrize("name", KERNELS)
def test_kernel_density_estimates(name):
    estimate, x = KERNELS[name]

    def f(x):
        return np.sum(estimate(x) ** 2)

    v = np.cos(np.arange(x.size)).reshape(x.shape)
    assert ad.withgradient(f, x)[0] == f(x)
    assert ad.jvp(f, (x,), (v,))[1] == pytest.approx((f(x + 1e-6 * v) - f(x - 1e-6 * v)) / 2e-6, rel=1e-6)
    assert np.sum(ad.gradient(f, x)[0] * v) == pytest.approx(ad.jvp(f, (x,), (v,))[1])
