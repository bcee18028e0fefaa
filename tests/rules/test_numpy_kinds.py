"""Functions in the tables of NumPy's cases, with arrays of other kinds: single, complex, 0-d, empty, stacked."""

from __future__ import annotations

import numpy as np
import pytest
import test_numpy_elementwise
import test_numpy_fourier
import test_numpy_linalg
import test_numpy_reductions
import test_numpy_shapes
import test_numpy_values
from array_kinds import KINDS, first_cases, of_kind, taken
from numpy_checks import check

TABLES = (
    *(test_numpy_elementwise, test_numpy_fourier, test_numpy_linalg),
    *(test_numpy_reductions, test_numpy_shapes, test_numpy_values),
)
OF_ANY_PHASE = (np.linalg.eigh, np.linalg.eig, np.linalg.svd)
"""Vectors of complex matrices have one, so differences say nothing: their tests have functions without."""
READS_MEMORY = (np.einsum,)
"""As it is, where an axis of length 0 is to be as long as another one."""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", first_cases(*TABLES), ids=repr)
def test_rule(case, kind):
    changed = of_kind(case, kind)
    left_out = OF_ANY_PHASE if kind == "complex" else READS_MEMORY if kind == "empty" else ()
    if callable(case.target) and case.target not in left_out and taken(changed):
        check(changed)
