"""Polynomials, and counts with weights."""

from __future__ import annotations

import numpy as np
import pytest
from in_all_orders import check_orders
from numpy_checks import positive

from autodiff_hook import gradient

POLYNOMIALS = {
    "polymul": lambda a, b: np.polymul(a, b),
    "polyadd": lambda a, b: np.polyadd(a, b),
    "polyder": lambda a, b: np.polyder(a, 1),
    "polydiv": lambda a, b: np.polydiv(a, b),
    "poly1d": lambda a, b: (np.poly1d(a) * np.poly1d(b) - np.poly1d(b))(b[1]),
    "polymul of objects": lambda a, b: np.polymul(np.poly1d(a), b).coeffs,
}


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomials(name):
    check_orders(POLYNOMIALS[name], positive(4), positive(2, seed=1))


def test_bincount_of_truth_values():
    values = np.array([True, False, True])
    assert gradient(lambda w: np.bincount(values, w)[1], np.ones(3))[0].tolist() == [1.0, 0.0, 1.0]
