"""``statistics``: rules for what computes with exact fractions, the rest through its source."""

import math
import statistics
from collections import deque

import numpy as np
import pytest
from language.in_all_modes import MODES, differences

import autodiff_hook as ad
from autodiff_hook.testing import check_rule

DATA = [0.7, 2.5, 1.1, 4.0]


@pytest.mark.parametrize("kind", [list, tuple])
def test_rules(kind):
    data, weights = kind(DATA), kind([1.0, 2.0, 0.5, 3.0])
    for function in (statistics.mean, statistics.variance, statistics.pvariance, statistics.stdev, statistics.pstdev):
        check_rule(function, data, second_order=True)
    for function in (statistics.variance, statistics.pvariance, statistics.stdev, statistics.pstdev):
        check_rule(function, data, statistics.fmean(data))
    check_rule(statistics.harmonic_mean, data, second_order=True)
    check_rule(statistics.harmonic_mean, data, weights, second_order=True)
    check_rule(vars(statistics)["_mean_stdev"], data, second_order=True)
    check_rule(vars(statistics)["_normal_dist_inv_cdf"], 0.3, 1.2, 0.7, second_order=True)
    check_rule(vars(statistics)["_normal_dist_inv_cdf"], 0.999, -1.2, 1.7)


def data(x):
    return [x, x * x, 2.0, math.sin(x) + 3]


def means(x):
    xs, ws = data(x), [1.0, x, 3, x * x]
    exact = statistics.mean(xs) * statistics.mean(v * x for v in xs)
    quick = statistics.fmean(xs) * statistics.fmean(tuple(xs), ws) + statistics.fmean(v for v in xs)
    return exact + quick + statistics.geometric_mean(xs) * statistics.harmonic_mean(xs, weights=ws)


def spreads(x):
    xs = data(x)
    given = statistics.variance(xs, x) + statistics.pvariance(xs, mu=x * x)
    return given + statistics.stdev(v * v for v in xs) * statistics.pstdev(xs) + statistics.variance(tuple(xs))


def of_two_lists(x):
    xs, ys = data(x), [1.0, x, 5.0, 2.0]
    slope, intercept = statistics.linear_regression(xs, ys)
    through_origin = statistics.linear_regression(xs, ys, proportional=True).slope
    return statistics.covariance(xs, ys) + statistics.correlation(xs, ys) * slope * intercept + through_origin


def medians(x):
    xs = data(x)
    odd = statistics.median(xs[:3]) * statistics.median_low(xs)
    grouped = statistics.median_grouped([x, x + 1.0, x + 2, x * x + 1.0], 1.0) + statistics.median_grouped(
        [1.0, 2.0, 2.0], x
    )
    return statistics.median(xs) * statistics.median_high(xs) + odd + grouped + statistics.mode([x, x, 2.0]) ** 2


def quantiles(x):
    xs = data(x)
    lower, upper = statistics.quantiles(xs, n=4)[0], statistics.quantiles(xs, n=5)[3]
    return lower * upper + statistics.quantiles(xs, n=4, method="inclusive")[1] ** 2


def normal_distributions(x):
    a, b = statistics.NormalDist(x * x, 1 + x), statistics.NormalDist(0.2, 1 + x)
    c = -(a + b * x - 0.5) / x
    asked = a.pdf(0.3 * x) * a.cdf(0.3 * x) + a.inv_cdf(0.3 * x) + a.zscore(0.3) * a.quantiles(4)[0]
    return asked + a.overlap(b) * a.overlap(statistics.NormalDist(0.2, 1.0)) + c.mean * c.stdev * c.variance


def fitted_and_sampled(x):
    fitted = statistics.NormalDist.from_samples(data(x))
    return fitted.mean * fitted.stdev + sum(fitted.samples(3, seed=4)) + fitted.median


def density(x):
    if not hasattr(statistics, "kde"):
        return x
    estimated = statistics.kde(data(x), h=1.5)(0.3 * x) * statistics.kde([1.0, 2.0], h=x, kernel="parabolic")(1.1)
    cumulative = statistics.kde(data(x), h=1.5, kernel="logistic", cumulative=True)(0.3 * x)
    return estimated + cumulative + statistics.kde_random(data(x), h=1.5, seed=3)()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "f", [means, spreads, of_two_lists, medians, quantiles, normal_distributions, fitted_and_sampled, density]
)
def test_programs(f, mode):
    expected = differences(f, 0.7, 2 if mode == "hvp" else 1)
    assert MODES[mode](f, 0.7) == pytest.approx(expected, rel=1e-6, abs=1e-4 if mode == "hvp" else 1e-8)


def test_a_deviation_of_equal_data_has_the_derivative_zero():
    assert ad.gradient(lambda x: statistics.stdev([x, x, x]) + statistics.pstdev([x, x]) + x, 0.7) == (1.0,)


def of_arrays(x):
    a = np.array([0.7, 1.3, 2.1]) * x
    around = statistics.pstdev(a, 2) + statistics.variance(a, x) + statistics.pvariance(deque(a), x * x)
    return statistics.mean(a) * statistics.stdev(a) + statistics.correlation(a, np.exp(a)) + around


def test_of_the_items_of_arrays():
    """Statistics of an array are those of a list of its items."""
    slope = (of_arrays(1.1 + 1e-6) - of_arrays(1.1 - 1e-6)) / 2e-6
    assert ad.gradient(of_arrays, 1.1) == pytest.approx((slope,))
    assert ad.jvp(of_arrays, (1.1,), (1.0,))[1] == pytest.approx(slope)
