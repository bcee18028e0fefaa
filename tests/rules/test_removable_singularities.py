"""Functions written as quotients that are 0 / 0 at a point: both derivatives are right there, and close to it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

import autodiff_hook as ad
from autodiff_hook.testing import check_gradient, check_rule

AROUND = np.array([0.0, 1e-6, 0.1, -0.7])
WEIGHTS = np.array([0.7, -0.4, 0.3, 0.5])
FUNCTIONS = {
    "sinc": np.sinc,
    "bei": special.bei,
    "xlogy": lambda x: special.xlogy(x, 1.0 + x),
    "xlog1py": lambda x: special.xlog1py(x, x),
    "xlogy in both": lambda x: special.xlogy(x, np.array([0.5, 2.0, 0.4, 3.0])),
    "struve": lambda x: special.struve(1, x) + special.modstruve([2], x),
    **{f"spherical_jn({n})": lambda x, n=n: special.spherical_jn(n, x) for n in range(4)},
    **{f"spherical_in({n})": lambda x, n=n: special.spherical_in(n, x) for n in range(3)},
}


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_at_zero(function):
    def total(x):
        return np.sum(np.arange(1.0, 5.0) * function(x))

    check_gradient(total, AROUND)
    slopes = [ad.gradient(total, AROUND + h * WEIGHTS)[0] for h in (1e-5, -1e-5)]
    np.testing.assert_allclose(
        ad.hvp(total, (AROUND,), (WEIGHTS,))[0], (slopes[0] - slopes[1]) / 2e-5, rtol=1e-5, atol=1e-8
    )


@pytest.mark.parametrize("function", [special.it2j0y0, special.it2i0k0])
def test_integrals_at_their_lower_end(function):
    assert ad.hvp(lambda x: function(x)[0], (0.0,), (1.0,)) == (0.25,)


def test_spence_at_one():
    check_rule(special.spence, np.array([1.0, 1.0 + 1e-7, 0.5, 0.91, 1.0999, 1.4]), second_order=True)


def test_sinc_on_both_sides_of_where_its_series_ends():
    check_rule(np.sinc, np.array([0.318, 0.319, -0.3183]), second_order=True)
    check_rule(np.sinc, np.array([0.0, 0.1 + 0.2j, 0.3j]))
