"""``np.place`` and ``np.putmask``: stores of values that are repeated."""

import numpy as np
import pytest

import autodiff_hook as ad
from autodiff_hook.testing import check_gradient


@pytest.mark.parametrize("write", [np.place, np.putmask])
@pytest.mark.parametrize("count", [1, 2, 6])
def test_values_are_repeated(write, count):
    mask = np.array([[True, False, True], [True, True, False]])

    def f(x, y):
        a = np.outer(x, np.ones(3)) * 1.0
        write(a, mask, y[:count] * y[0])
        return (a * a).sum() * a[0, 2]

    x, y = np.array([0.3, 1.2]), np.array([0.5, 0.7, 1.1, 0.9, 1.3, 0.4])
    plain = np.outer(x, np.ones(3))
    write(plain, mask, y[:count] * y[0])
    assert ad.withgradient(f, x, y)[0] == (plain * plain).sum() * plain[0, 2]
    check_gradient(f, x, y)
