"""Statistics and tests of ``scipy.stats`` through SciPy's own code, and their p values."""

from __future__ import annotations

import numpy as np
import pytest
from numpy_checks import normal
from scipy import stats

import autodiff_hook as ad

X, Y = normal(12), normal(12, seed=1)

FUNCTIONS = {
    "ttest_ind": lambda x: sum(stats.ttest_ind(x[:6], x[6:])),
    "welch": lambda x: stats.ttest_ind(x[:6], x[6:], equal_var=False).pvalue,
    "ttest_1samp": lambda x: sum(stats.ttest_1samp(x, 0.1)),
    "ttest_rel": lambda x: stats.ttest_rel(x[:6], x[6:]).statistic,
    "pearsonr": lambda x: stats.pearsonr(x, Y).statistic + stats.pearsonr(x, Y).pvalue,
    "linregress": lambda x: stats.linregress(x, Y).slope + stats.linregress(x, Y).rvalue,
    "f_oneway": lambda x: sum(stats.f_oneway(x[:4], x[4:8], x[8:])),
    "chisquare": lambda x: sum(stats.chisquare(x * x)),
    "bartlett": lambda x: stats.bartlett(x[:6], x[6:]).statistic,
    "levene": lambda x: sum(stats.levene(x[:6], x[6:])),
    "jarque_bera": lambda x: sum(stats.jarque_bera(x)),
    "normaltest": lambda x: stats.normaltest(np.concatenate((x, Y))).statistic,
    "zscore": lambda x: np.sum(stats.zscore(x) ** 3),
    "moments": lambda x: stats.skew(x) + stats.kurtosis(x) + stats.moment(x, 3) + stats.sem(x) + stats.variation(x),
    "means": lambda x: stats.gmean(x * x) + stats.hmean(x * x) + stats.pmean(x * x, 2.5) + stats.tmean(x),
    "spread": lambda x: stats.iqr(x) + stats.median_abs_deviation(x),
    "entropy": lambda x: stats.entropy(x * x) + stats.entropy(x * x, np.abs(Y)),
    "boxcox": lambda x: np.sum(stats.boxcox(x * x, 0.3)) + np.sum(stats.yeojohnson(x, 0.3)),
    "describe": lambda x: stats.describe(x).variance,
    "fit": lambda x: sum(stats.norm.fit(x)),
    "likelihood": lambda x: stats.norm.nnlf((x[0], x[1] ** 2), Y),
    "summaries": lambda x: stats.gamma.mean(x[0] ** 2, scale=x[1] ** 2) + stats.gamma.var(x[0] ** 2, scale=2.0),
    "interval": lambda x: sum(stats.gamma.interval(0.9, x[0] ** 2)) + stats.gamma.median(x[1] ** 2),
    "dirichlet": lambda x: stats.dirichlet.logpdf([0.2, 0.3, 0.5], x[:3] ** 2),
    "multinomial": lambda x: stats.multinomial.logpmf([1, 2, 3], 6, x[:3] ** 2 / np.sum(x[:3] ** 2)),
    "multivariate": lambda x: stats.multivariate_normal(x[:2], np.eye(2)).logpdf([0.1, 0.2]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    f, v = FUNCTIONS[name], np.cos(np.arange(12.0))
    difference = (f(X + 1e-6 * v) - f(X - 1e-6 * v)) / 2e-6
    assert np.sum(ad.gradient(f, X)[0] * v) == pytest.approx(difference, rel=1e-5)
    assert ad.jvp(f, (X,), (v,))[1] == pytest.approx(difference, rel=1e-5)


@pytest.mark.parametrize("name", ["ttest_ind", "pearsonr", "f_oneway", "zscore", "moments", "entropy", "likelihood"])
def test_second_order(name):
    f, v = FUNCTIONS[name], np.cos(np.arange(12.0))
    differences = (ad.gradient(f, X + 1e-5 * v)[0] - ad.gradient(f, X - 1e-5 * v)[0]) / 2e-5
    scale = np.max(np.abs(differences))
    np.testing.assert_allclose(ad.hvp(f, (X,), (v,))[0], differences, rtol=1e-4, atol=1e-6 * scale)
