"""Directions and vectors of ``erfa``, on which astropy's coordinates stand."""

from __future__ import annotations

import numpy as np
import pytest
from erfa import ufunc
from numpy_checks import normal

from autodiff_hook.testing import check_rule

VECTORS = normal(2, 3) + np.array([1.0, -2.0, 0.5])
ANGLES = normal(4)
TURN = normal(3, 3)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        *((ufunc.s2c, (0.7, -0.4)), (ufunc.s2c, (ANGLES, 0.3)), (ufunc.s2c, (ANGLES[:2], ANGLES[:, None]))),
        *((ufunc.s2p, (0.7, -0.4, 2.0)), (ufunc.s2p, (ANGLES, 0.3, ANGLES**2 + 1.0))),
        *((ufunc.c2s, (VECTORS[0],)), (ufunc.c2s, (VECTORS,)), (ufunc.p2s, (VECTORS[1],)), (ufunc.p2s, (VECTORS,))),
        *((ufunc.pm, (VECTORS,)), (ufunc.anp, (ANGLES + 7.0,)), (ufunc.anpm, (ANGLES + 7.0,))),
        *((ufunc.rxp, (TURN, VECTORS[0])), (ufunc.rxp, (TURN, VECTORS)), (ufunc.rxp, (normal(2, 3, 3), VECTORS[0]))),
    ],
    ids=lambda value: value.__name__ if isinstance(value, np.ufunc) else "",
)
def test_rule(function, args):
    check_rule(function, *args, second_order=True)
