"""Functions in the tables of cases, with arrays of other kinds where NumPy takes them: single, complex, 0-d, empty."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import test_numpy_elementwise
import test_numpy_fourier
import test_numpy_linalg
import test_numpy_reductions
import test_numpy_shapes
import test_numpy_values
from numpy_checks import Case, check, mapped

TABLES = (
    *(test_numpy_elementwise, test_numpy_fourier, test_numpy_linalg),
    *(test_numpy_reductions, test_numpy_shapes, test_numpy_values),
)


def first_cases():
    """One case of each function, of arrays of doubles."""
    found = {}
    for module in TABLES:
        for case in module.CASES:
            arrays = [x for x in case.args if isinstance(x, np.ndarray) and x.dtype == float]
            if any(x.size and x.ndim for x in arrays) and all(np.isfinite(x).all() for x in arrays) and not case.rounds:
                found.setdefault(id(case.target), case)
    return list(found.values())


def of_kind(case, kind):
    args = mapped(lambda x: KINDS[kind](x) if isinstance(x, np.ndarray) and x.dtype == float else x, case.args)
    rounds = kind == "single"
    return Case(case.target, *args, tolerances=case.tolerances, layouts=False, rounds=rounds, **case.options)


KINDS = {
    "single": lambda x: x.astype(np.float32),
    "complex": lambda x: x + 0.3j * x[::-1] if x.ndim else x + 0.3j,
    "0-d": lambda x: x.reshape(-1)[:1].reshape(()),
    "empty": lambda x: x[:0] if x.ndim else x,
}


OF_ANY_PHASE = (np.linalg.eigh, np.linalg.eig, np.linalg.svd)
"""Vectors of complex matrices have one, so differences say nothing: their tests have functions without."""


def taken(case):
    """Whether the function takes such arguments, and computes with them in their precision."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("error")
            case.target(*case.args, **case.options)
    except (TypeError, ValueError, LookupError, RuntimeWarning, np.exceptions.ComplexWarning, DeprecationWarning):
        return False
    return True


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", first_cases(), ids=repr)
def test_rule(case, kind):
    changed = of_kind(case, kind)
    if callable(case.target) and taken(changed) and not (kind == "complex" and case.target in OF_ANY_PHASE):
        check(changed)
