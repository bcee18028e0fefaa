"""Power transforms by their parameter, also where SciPy goes over to logarithms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from autodiff_hook import gradient, hvp, jvp
from autodiff_hook.testing import check_gradient

X = np.array([0.4, 2.3, 1.1, 0.7, 3.2])
Z = np.array([-0.4, 2.3, -1.1, 0.7, 3.2])
WEIGHTS = np.arange(1.0, 6.0)


@pytest.mark.parametrize("power", [0.0, 2.0, 0.7, -0.4])
def test_yeojohnson(power):
    def total(power, x):
        return np.sum(WEIGHTS * stats.yeojohnson(x, power))

    check_gradient(total, power, Z)
    check_gradient(stats.yeojohnson_llf, power, Z)
    check_gradient(lambda power, x: gradient(total, power, x)[0], power, Z)


@pytest.mark.parametrize("power", [0.0, 1e-9, 0.7])
def test_log_likelihood_of_boxcox(power):
    """SciPy's own function is a difference of what is large where the power is small."""
    for f in (lambda p: stats.boxcox_llf(p, X), lambda p: np.sum(stats.boxcox_llf(p, X[None], axis=1, keepdims=True))):
        expected = (f(power + 1e-4) - f(power - 1e-4)) / 2e-4
        assert gradient(f, power)[0] == pytest.approx(expected, rel=1e-4)
        assert jvp(f, (power,), (1.0,))[1] == pytest.approx(expected, rel=1e-4)
        twice = (gradient(f, power + 1e-5)[0] - gradient(f, power - 1e-5)[0]) / 2e-5
        assert hvp(f, (power,), (1.0,))[0] == pytest.approx(twice, rel=1e-4)
    check_gradient(lambda x: stats.boxcox_llf(round(power, 3), x), X, rtol=1e-4)


def test_what_is_omitted():
    holes = np.append(X, np.nan)
    found = gradient(lambda x: stats.boxcox_llf(0.3, x, nan_policy="omit"), holes)[0]
    np.testing.assert_allclose(found[:-1], gradient(lambda x: stats.boxcox_llf(0.3, x), X)[0])
    assert found[-1] == 0.0
