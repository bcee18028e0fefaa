"""LAPACK's solvers, as SciPy's own code calls them: nobody looks at the factors, which have no derivative."""

import numpy as np
from scipy.linalg import lapack, solve_banded

from autodiff_rules.scipy._standins import define, part_natively, settled


def solution(a, b, overwrite_a=False, overwrite_b=False):
    """``dgesv``."""
    factors, pivots, x, info = (part_natively(lapack.dgesv, (a, b), i) for i in range(4))
    return factors, pivots, settled(np.linalg.solve(a, b), x), info


def symmetric_solution(a, b, lwork=None, lower=False, overwrite_a=False, overwrite_b=False):
    """``dsysv``, which reads one triangle of the matrix."""
    factors, pivots, x, info = (part_natively(solve_symmetric, (a, b, lower), i) for i in range(4))
    whole = np.tril(a) + np.tril(a, -1).T if lower else np.triu(a) + np.triu(a, 1).T
    return factors, pivots, settled(np.linalg.solve(whole, b), x), info


def solve_symmetric(a, b, lower):
    return lapack.dsysv(a, b, lower=lower)


def banded_solution(kl, ku, banded, b, overwrite_ab=False, overwrite_b=False):
    """``dgbsv``."""
    factors, pivots, x, info = (part_natively(lapack.dgbsv, (kl, ku, banded, b), i) for i in range(4))
    return factors, pivots, settled(solve_banded((kl, ku), banded[kl:], b), x), info


define(lapack.dgesv, solution)
define(lapack.dsysv, symmetric_solution)
define(lapack.dgbsv, banded_solution)
