"""Products of matrices and vectors in stacks."""

import numpy as np

from autodiff_hook.extend import cotangents
from autodiff_hook.strong import contraction, times
from autodiff_rules.numpy._shared import conj, unbroadcast


@cotangents(np.matvec, "x1, x2, /", 2, "x1, x2")
def matvec_cotangents(ȳ, x1, x2):
    x̄2 = contraction(np.matvec, np.swapaxes(conj(x1), -1, -2), ȳ)
    return unbroadcast(times(ȳ[..., None], conj(x2)[..., None, :]), x1), unbroadcast(x̄2, x2)


@cotangents(np.vecmat, "x1, x2, /", 2, "x1, x2")
def vecmat_cotangents(ȳ, x1, x2):
    x̄1 = contraction(np.matvec, x2, conj(ȳ))
    return unbroadcast(x̄1, x1), unbroadcast(times(ȳ[..., None, :], x1[..., None]), x2)
