"""Functions in the tables of SciPy's cases, with arrays of other kinds: single, complex, 0-d, empty, stacked."""

from __future__ import annotations

import pytest
import test_scipy_distance
import test_scipy_fft
import test_scipy_linalg
import test_scipy_signal
import test_scipy_special
import test_scipy_special_parameters
import test_scipy_special_rest
from array_kinds import KINDS, first_cases, of_kind, taken
from numpy_checks import check
from scipy import linalg, special

from autodiff_rules.scipy.linalg.functions import toeplitz_solution
from autodiff_rules.scipy.special import distributions

TABLES = (
    *(test_scipy_distance, test_scipy_fft, test_scipy_linalg, test_scipy_signal),
    *(test_scipy_special, test_scipy_special_parameters, test_scipy_special_rest),
)
OF_ANY_PHASE = {
    "complex": (linalg.eigh, linalg.eig, linalg.svd),
    "single": (linalg.eig,),
}
"""Vectors have one that is not continuous there, so differences say nothing: their tests have functions without."""
NOT_FOR = {
    "single": (special.bdtrik, special.bdtrin, special.nbdtrik, special.nbdtrin),
    "0-d": (linalg.sqrtm,),
    "empty": (linalg.solve_sylvester, toeplitz_solution),
    "of-no-length": (linalg.solve_sylvester, toeplitz_solution),
    "complex": (distributions.noncentral_density, linalg.eig_banded, special.airye),
}
"""SciPy returns the exponential, memory as it is, and since 1.18 solutions of few digits; some are of real numbers."""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", first_cases(*TABLES), ids=repr)
def test_rule(case, kind):
    changed = of_kind(case, kind)
    left_out = (*OF_ANY_PHASE.get(kind, ()), *NOT_FOR.get(kind, ()))
    if case.target not in left_out and taken(changed):
        check(changed)
