from __future__ import annotations

import math

import numpy as np
import pytest

from autodiff_hook.registry import registry
from autodiff_hook.testing import check_rule


@pytest.mark.parametrize("dtype", [float, np.float32, int, complex])
def test_sums(dtype):
    for array in (np.arange(4).astype(dtype), np.arange(6).reshape(2, 3).astype(dtype)):
        check_rule(sum, array)
        check_rule(sum, array, 2.0)
    if dtype is not complex:
        check_rule(math.fsum, np.arange(4).astype(dtype))


@pytest.mark.parametrize("extreme", [max, min])
def test_extremes(extreme):
    array = np.array([2.0, -3.0, 5.0, -1.0])
    check_rule(extreme, array)
    check_rule(extreme, array.astype(np.float32))
    check_rule(extreme, array[:, None])
    check_rule(extreme, array, key=abs)
    check_rule(extreme, np.array(2.0), np.array(3.0))
    check_rule(extreme, np.array(2.0), 3.0)


def test_the_first_candidate_wins():
    array = np.array([1.0, 3.0, 3.0])
    _, pullback = registry.rule(max, (np.ndarray,))(array)
    assert pullback(2.0)[0].tolist() == [0.0, 2.0, 0.0]
