"""Products of matrices and vectors in stacks."""

from __future__ import annotations

import numpy as np

from autodiff_hook.strong import contraction, times
from autodiff_rules.numpy._shared import array_rrule, conj, unbroadcast


@array_rrule(np.matvec, 2)
def matvec_rule(x1, x2, /):
    def matvec_pullback(ȳ):
        x̄2 = contraction(np.matvec, np.swapaxes(conj(x1), -1, -2), ȳ)
        return unbroadcast(times(ȳ[..., None], conj(x2)[..., None, :]), x1), unbroadcast(x̄2, x2)

    return np.matvec(x1, x2), matvec_pullback


@array_rrule(np.vecmat, 2)
def vecmat_rule(x1, x2, /):
    def vecmat_pullback(ȳ):
        x̄1 = contraction(np.matvec, x2, conj(ȳ))
        return unbroadcast(x̄1, x1), unbroadcast(times(ȳ[..., None, :], x1[..., None]), x2)

    return np.vecmat(x1, x2), vecmat_pullback
