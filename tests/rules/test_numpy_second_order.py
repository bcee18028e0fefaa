"""The pullbacks are made of what has rules: one second derivative for each target."""

from __future__ import annotations

import numpy as np
import test_numpy_elementwise
import test_numpy_linalg
import test_numpy_reductions
import test_numpy_shapes
import test_numpy_values
from numpy_checks import cases, check

TABLES = (test_numpy_elementwise, test_numpy_linalg, test_numpy_reductions, test_numpy_shapes, test_numpy_values)


def firsts():
    """The first case of each target that has an array of floats."""
    seen = set()
    for table in TABLES:
        for case in table.CASES:
            if id(case.target) not in seen and any(map(is_interesting, case.args)):
                seen.add(id(case.target))
                yield case


def is_interesting(x):
    return isinstance(x, np.ndarray) and x.dtype == float and x.size > 0 and x.ndim > 0


@cases(list(firsts()))
def test_second_derivative(case):
    check(case, second_order=True)
