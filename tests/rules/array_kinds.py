"""The cases of tables with arrays of other kinds, where the function takes them."""

from __future__ import annotations

import warnings

import numpy as np
from numpy_checks import Case, flat, mapped

REFUSALS = (
    *(TypeError, ValueError, LookupError, AttributeError, NotImplementedError, ArithmeticError, SystemError),
    *(RuntimeWarning, DeprecationWarning, np.exceptions.ComplexWarning),
)


def is_doubles(x):
    return isinstance(x, np.ndarray) and x.dtype == float


def first_cases(*modules):
    """Of the cases of arrays of doubles, one of each function with these dimensions and options."""
    found = {}
    for module in modules:
        for case in module.CASES:
            arrays = [x for x in flat(case.args) if is_doubles(x)]
            if all(x.size and np.isfinite(x).all() for x in arrays) and any(x.ndim for x in arrays) and not case.rounds:
                others = [x for x in flat(case.args) if not isinstance(x, (np.ndarray, float, complex))]
                kind = id(case.target), *(x.ndim for x in arrays), repr(others), repr(case.options)
                found.setdefault(kind, case)
    return list(found.values())


def of_kind(case, kind):
    args = mapped(lambda x: KINDS[kind](x) if is_doubles(x) else x, case.args)
    rounds = kind == "single"
    return Case(case.target, *args, tolerances=case.tolerances, layouts=False, rounds=rounds, **case.options)


KINDS = {
    "single": lambda x: x.astype(np.float32),
    "complex": lambda x: x + 0.3j * x[::-1] if x.ndim else x + 0.3j,
    "0-d": lambda x: x.reshape(-1)[:1].reshape(()),
    "empty": lambda x: x[:0] if x.ndim else x,
    "of-no-length": lambda x: np.zeros((0,) * x.ndim) if x.ndim else x,
    "stacked": lambda x: np.stack([x, 1.1 * x + 0.01 * x * x]),
}
"""What is positive, symmetric or positive definite stays so."""


def taken(case):
    """Whether the function takes such arguments, computes with them in their precision, and has a finite value."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("error")
            value = case.target(*case.args, **case.options)
    except REFUSALS:
        return False
    return all(np.isfinite(x).all() for x in flat(value) if np.asarray(x).dtype.kind in "fc")
