"""Forward forms: what the tangent of each argument contributes to that of the value."""

import operator

import numpy as np

from autodiff_hook.registry import LINEAR, frule
from autodiff_rules.numpy._shared import stretched
from autodiff_rules.numpy.accumulations import prod_tangent
from autodiff_rules.numpy.arithmetic import nonzero_square
from autodiff_rules.numpy.calculus import diff_tangent, interp_slope, interp_tangent
from autodiff_rules.numpy.decompositions import cholesky_tangent, eigvalsh_tangent, inverse_of_lower, singular_tangent
from autodiff_rules.numpy.extremes import extreme_tangent, sort_tangent
from autodiff_rules.numpy.indexing import scatter_add, scatter_along
from autodiff_rules.numpy.linalg import adjugate, adjugate_slope, det_tangent, slogdet_tangent, solve_tangent
from autodiff_rules.numpy.norms import norm_tangent
from autodiff_rules.numpy.powers import log_or_zero, slope_by_base
from autodiff_rules.numpy.rearranging import diagonal_matrix
from autodiff_rules.numpy.reductions import std_tangent, var_tangent
from autodiff_rules.numpy.selection import clip_tangent
from autodiff_rules.numpy.windows import added_windows

FIRST = "trapezoid block concatenate stack column_stack tile repeat diag compress take_along_axis"
"""What is linear in its first argument, whatever the others are."""
for _target in (
    *(getattr(np, name) for name in FIRST.split()),
    *(np.ndarray.repeat, np.ndarray.item, operator.getitem, operator.neg, operator.pos),
):
    frule(_target, LINEAR)

# What is linear in each of two arguments.
for _target in (
    *(np.dot, np.ndarray.dot, np.matmul, operator.matmul, operator.imatmul, np.inner, np.outer, np.vdot, np.kron),
    *(np.cross, np.tensordot, np.convolve, np.correlate, np.matvec, np.vecmat, np.vecdot, operator.mul, operator.imul),
    *(np.linalg.cross, np.linalg.matmul, np.linalg.outer, np.linalg.tensordot, np.linalg.vecdot),
):
    frule(_target, LINEAR, LINEAR)

frule(
    np.nansum,
    lambda ẋ, y, x, axis, dtype, out, keepdims, initial, where: np.sum(
        np.where(np.isnan(x), 0.0, ẋ), axis, keepdims=keepdims, where=where
    ),
)
frule(
    (np.sum, np.ndarray.sum, np.generic.sum),
    lambda ẋ, y, x, axis, dtype, out, keepdims, initial, where: np.sum(ẋ, axis, keepdims=keepdims, where=where),
)
frule(
    (np.mean, np.ndarray.mean, np.generic.mean),
    lambda ẋ, y, x, axis, dtype, out, keepdims: np.mean(ẋ, axis, keepdims=keepdims),
)
frule((np.add, operator.add, operator.iadd), lambda ẋ, z, x, y: stretched(ẋ, z), lambda ẏ, z, x, y: stretched(ẏ, z))
frule(
    (np.subtract, operator.sub, operator.isub),
    lambda ẋ, z, x, y: stretched(ẋ, z),
    lambda ẏ, z, x, y: stretched(np.negative(ẏ), z),
)
frule(
    (np.divide, operator.truediv, operator.itruediv),
    lambda ẋ, z, x, y: np.divide(ẋ, y),
    lambda ẏ, z, x, y: np.divide(ẏ, y) * -z,
)
frule(
    (np.power, np.float_power, operator.pow, operator.ipow),
    lambda ẋ, z, x, y: np.multiply(ẋ, slope_by_base(x, y)),
    lambda ẏ, z, x, y: np.multiply(ẏ, z * log_or_zero(x, z)),
)

frule(
    np.arctan2,
    lambda ẋ, z, x, y: np.multiply(ẋ, y) / nonzero_square(x, y),
    lambda ẏ, z, x, y: np.multiply(ẏ, x) / -nonzero_square(x, y),
)
frule(
    np.hypot,
    lambda ẋ, z, x, y: np.multiply(ẋ, x) / np.where(z == 0, 1.0, z),
    lambda ẏ, z, x, y: np.multiply(ẏ, y) / np.where(z == 0, 1.0, z),
)
frule(
    np.where,
    None,
    lambda ẋ, z, c, x, y: stretched(np.where(c, ẋ, 0.0), z),
    lambda ẏ, z, c, x, y: stretched(np.where(c, 0.0, ẏ), z),
)

frule(np.einsum, None, LINEAR)
frule((scatter_add, scatter_along, added_windows), None, None, None, LINEAR)
frule(diagonal_matrix, None, None, None, None, None, LINEAR)
frule(sum, lambda ẋ, z, x, start: sum(ẋ), lambda ẏ, z, x, start: ẏ)
frule(np.linalg.norm, lambda ẋ, y, x, ord, axis, keepdims: norm_tangent(ẋ, y, x, ord, axis, keepdims))
frule(np.linalg.inv, lambda ȧ, y, a: -np.matmul(np.matmul(y, ȧ), y))
frule(np.linalg.solve, lambda ȧ, y, a, b: solve_tangent(ȧ, y, a, b), LINEAR)
frule(np.linalg.det, lambda ȧ, y, a: det_tangent(ȧ, y, a))
frule(adjugate, lambda ȧ, z, a, y: adjugate_slope(ȧ, a, y), None)
frule(np.linalg.slogdet, lambda ȧ, y, a: slogdet_tangent(ȧ, y, a))
frule(
    (np.max, np.amax, np.ndarray.max, np.generic.max),
    lambda ẋ, y, a, axis, out, keepdims, initial, where: extreme_tangent(
        ẋ, y, a, np.argmax, axis, keepdims, initial, where
    ),
)
frule(
    (np.min, np.amin, np.ndarray.min, np.generic.min),
    lambda ẋ, y, a, axis, out, keepdims, initial, where: extreme_tangent(
        ẋ, y, a, np.argmin, axis, keepdims, initial, where
    ),
)
frule(
    (np.prod, np.ndarray.prod, np.generic.prod),
    lambda ẋ, y, a, axis, dtype, out, keepdims, initial, where: prod_tangent(ẋ, y, a, axis, keepdims, initial, where),
)
frule(
    (np.var, np.ndarray.var, np.generic.var),
    lambda ẋ, y, a, axis, dtype, out, ddof, keepdims, mean: var_tangent(ẋ, y, a, axis, keepdims, ddof, mean),
)
frule(
    (np.std, np.ndarray.std, np.generic.std),
    lambda ẋ, y, a, axis, dtype, out, ddof, keepdims, mean: std_tangent(ẋ, y, a, axis, keepdims, ddof, mean),
)
frule(np.sort, lambda ẋ, y, a, axis, kind, order: sort_tangent(ẋ, a, axis))
frule(
    np.clip,
    lambda ẋ, y, a, a_min, a_max, out, min, max: clip_tangent(ẋ, y, 0, a, a_min, a_max, min, max),
    lambda ẋ, y, a, a_min, a_max, out, min, max: clip_tangent(ẋ, y, 1, a, a_min, a_max, min, max),
    lambda ẋ, y, a, a_min, a_max, out, min, max: clip_tangent(ẋ, y, 2, a, a_min, a_max, min, max),
    None,
    lambda ẋ, y, a, a_min, a_max, out, min, max: clip_tangent(ẋ, y, 1, a, a_min, a_max, min, max),
    lambda ẋ, y, a, a_min, a_max, out, min, max: clip_tangent(ẋ, y, 2, a, a_min, a_max, min, max),
)
frule(
    (np.ndarray.clip, np.generic.clip),
    lambda ẋ, y, self, min, max, out: clip_tangent(ẋ, y, 0, self, min, max),
    lambda ẋ, y, self, min, max, out: clip_tangent(ẋ, y, 1, self, min, max),
    lambda ẋ, y, self, min, max, out: clip_tangent(ẋ, y, 2, self, min, max),
)
frule(np.linalg.cholesky, lambda ȧ, y, a: cholesky_tangent(ȧ, y))
frule(np.linalg.eigvalsh, lambda ȧ, y, a, UPLO: eigvalsh_tangent(ȧ, a, UPLO))
frule(np.linalg.svdvals, lambda ȧ, y, x: singular_tangent(ȧ, x))
frule(inverse_of_lower, lambda ȧ, y, low: -np.matmul(np.matmul(y, np.tril(ȧ)), y))
frule(np.full, None, lambda ẋ, y, shape, fill_value, dtype, order: stretched(ẋ, y))
frule(np.full_like, None, lambda ẋ, y, a, fill_value, dtype, order, subok, shape: stretched(ẋ, y))
frule(
    np.append,
    lambda ẋ, y, arr, values, axis: np.append(ẋ, np.zeros(np.shape(values)), axis),
    lambda ẋ, y, arr, values, axis: np.append(np.zeros(np.shape(arr)), ẋ, axis),
)
frule(
    np.insert,
    lambda ẋ, y, arr, obj, values, axis: np.insert(ẋ, obj, np.zeros(np.shape(values)), axis),
    None,
    lambda ẋ, y, arr, obj, values, axis: np.insert(np.zeros(np.shape(arr)), obj, ẋ, axis),
)
frule(
    np.interp,
    lambda ẋ, y, x, xp, fp, left, right: np.multiply(ẋ, interp_slope(x, xp, fp)),
    None,
    lambda ẋ, y, x, xp, fp, left, right: interp_tangent(ẋ, x, xp, left, right),
)
frule(np.unwrap, lambda ṗ, y, p, discont, axis: stretched(ṗ, y))
frule(np.diff, lambda ẋ, y, x, n, axis, prepend, append: diff_tangent(ẋ, n, axis, prepend, append))
