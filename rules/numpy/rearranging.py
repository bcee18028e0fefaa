"""Repeating, rolling and flipping, and diagonals and triangles."""

from __future__ import annotations

import numpy as np

from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.registry import nondifferentiable, rrule
from autodiff_rules.numpy._shared import array_rrule, float_dtype, reshaped, unbroadcast
from autodiff_rules.numpy.indexing import scatter_add


@array_rrule(np.roll)
def roll_rule(a, shift, axis=None):
    back = tuple(-n for n in shift) if isinstance(shift, (tuple, list)) else -shift

    def roll_pullback(ȳ):
        return np.roll(ȳ, back, axis), None, None

    return np.roll(a, shift, axis), roll_pullback


@array_rrule(np.flip)
def flip_rule(m, axis=None):
    def flip_pullback(ȳ):
        return np.flip(ȳ, axis), None

    return np.flip(m, axis), flip_pullback


@array_rrule(np.fliplr)
def fliplr_rule(m):
    def fliplr_pullback(ȳ):
        return (np.fliplr(ȳ),)

    return np.fliplr(m), fliplr_pullback


@array_rrule(np.flipud)
def flipud_rule(m):
    def flipud_pullback(ȳ):
        return (np.flipud(ȳ),)

    return np.flipud(m), flipud_pullback


@array_rrule(np.rot90)
def rot90_rule(m, k=1, axes=(0, 1)):
    def rot90_pullback(ȳ):
        return np.rot90(ȳ, -k, axes), None, None

    return np.rot90(m, k, axes), rot90_pullback


@array_rrule(np.tile)
def tile_rule(A, reps):
    def tile_pullback(ȳ):
        counts, lengths = tiling(A, reps)
        stacked = np.reshape(ȳ, [n for pair in zip(counts, lengths) for n in pair])
        return reshaped(stacked.sum(tuple(range(0, stacked.ndim, 2))), A), None

    return np.tile(A, reps), tile_pullback


@nondifferentiable
def tiling(a, reps):
    """How often ``a`` is repeated along each axis of the result, and its lengths there."""
    reps = list(reps) if np.ndim(reps) else [int(reps)]
    axes = max(len(reps), np.ndim(a))
    return [1] * (axes - len(reps)) + reps, [1] * (axes - np.ndim(a)) + list(np.shape(a))


@array_rrule(np.pad)
def pad_rule(array, pad_width, mode="constant", **options):
    if mode not in ("constant", "edge", "reflect", "symmetric", "wrap", "empty") or "reflect_type" in options:
        raise NotDifferentiable(
            f"np.pad in the mode {mode!r} is not differentiable: use 'constant', 'edge' or 'reflect'"
        )

    def pad_pullback(ȳ):
        if mode in ("constant", "empty"):
            return unbroadcast(ȳ[inner_part(array, pad_width)], array), None, None
        places = np.pad(np.arange(np.size(array)).reshape(np.shape(array)), pad_width, mode)
        flat = scatter_add((np.size(array),), float_dtype(array), places, ȳ)
        return reshaped(flat, array), None, None

    return np.pad(array, pad_width, mode, **options), pad_pullback


@nondifferentiable
def inner_part(array, pad_width):
    """The index of what was there before padding."""
    if isinstance(pad_width, dict):
        pad_width = [pad_width.get(i, pad_width.get(i - np.ndim(array), 0)) for i in range(np.ndim(array))]
        pad_width = [(width, width) if np.ndim(width) == 0 else width for width in pad_width]
    before = np.broadcast_to(pad_width, (np.ndim(array), 2))[:, 0].tolist()
    return tuple([slice(start, start + n) for start, n in zip(before, np.shape(array))])


@array_rrule(np.repeat)
@rrule(np.ndarray.repeat)
def repeat_rule(a, repeats, axis=None):
    def repeat_pullback(ȳ):
        if axis is None:
            flat = scatter_add((np.size(a),), float_dtype(a), repeated_indices(np.size(a), repeats), ȳ)
            return reshaped(flat, a), None, None
        place = repeated_indices(np.shape(a)[axis], repeats)
        index = (*[slice(None)] * (axis % np.ndim(a)), place)
        return scatter_add(np.shape(a), float_dtype(a), index, ȳ), None, None

    return np.repeat(a, repeats, axis), repeat_pullback


@nondifferentiable
def repeated_indices(count, repeats):
    """The index that each repeated element came from."""
    return np.repeat(np.arange(count), repeats)


def diagonal_matrix(shape, dtype, offset, axis1, axis2, c):
    """Zeros of ``shape`` with ``c`` on a diagonal: the transpose of ``np.diagonal``."""
    out = np.zeros(shape, dtype)
    count = c.shape[-1]
    rows = np.arange(count) + max(-offset, 0)
    np.moveaxis(out, (axis1, axis2), (-2, -1))[..., rows, rows + offset] = c
    return out


@rrule(diagonal_matrix)
def diagonal_matrix_rule(shape, dtype, offset, axis1, axis2, c):
    def diagonal_matrix_pullback(ȳ):
        return None, None, None, None, None, np.diagonal(ȳ, offset, axis1, axis2)

    return diagonal_matrix(shape, dtype, offset, axis1, axis2, c), diagonal_matrix_pullback


@array_rrule(np.diagonal)
@rrule(np.ndarray.diagonal)
def diagonal_rule(a, offset=0, axis1=0, axis2=1):
    def diagonal_pullback(ȳ):
        return diagonal_matrix(np.shape(a), float_dtype(a), offset, axis1, axis2, ȳ), None, None, None

    return np.diagonal(a, offset, axis1, axis2), diagonal_pullback


@array_rrule(np.linalg.diagonal)
def linalg_diagonal_rule(x, /, *, offset=0):
    def diagonal_pullback(ȳ):
        return (diagonal_matrix(np.shape(x), float_dtype(x), offset, -2, -1, ȳ),)

    return np.linalg.diagonal(x, offset=offset), diagonal_pullback


@array_rrule(np.trace)
@rrule(np.ndarray.trace)
def trace_rule(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    def trace_pullback(ȳ):
        return trace_cotangent(ȳ, a, offset, axis1, axis2), None, None, None, None, None

    return np.trace(a, offset, axis1, axis2, dtype, out), trace_pullback


@array_rrule(np.linalg.trace)
def linalg_trace_rule(x, /, *, offset=0, dtype=None):
    def trace_pullback(ȳ):
        return (trace_cotangent(ȳ, x, offset, -2, -1),)

    return np.linalg.trace(x, offset=offset, dtype=dtype), trace_pullback


def trace_cotangent(ȳ, a, offset, axis1, axis2):
    """``ȳ`` in every place of the diagonal."""
    ones = np.ones(diagonal_length(a, offset, axis1, axis2))
    return diagonal_matrix(np.shape(a), float_dtype(a), offset, axis1, axis2, np.expand_dims(ȳ, -1) * ones)


@nondifferentiable
def diagonal_length(a, offset, axis1, axis2):
    """The number of elements on a diagonal."""
    return np.diagonal(a, offset, axis1, axis2).shape[-1]


@array_rrule(np.diag)
def diag_rule(v, k=0):
    def diag_pullback(ȳ):
        if np.ndim(v) == 1:
            return np.diagonal(ȳ, k), None
        return diagonal_matrix(np.shape(v), float_dtype(v), k, 0, 1, ȳ), None

    return np.diag(v, k), diag_pullback


@array_rrule(np.diagflat)
def diagflat_rule(v, k=0):
    def diagflat_pullback(ȳ):
        return reshaped(np.diagonal(ȳ, k), v), None

    return np.diagflat(v, k), diagflat_pullback


@array_rrule(np.tril)
def tril_rule(m, k=0):
    def tril_pullback(ȳ):
        return unbroadcast(np.tril(ȳ, k), m), None

    return np.tril(m, k), tril_pullback


@array_rrule(np.triu)
def triu_rule(m, k=0):
    def triu_pullback(ȳ):
        return unbroadcast(np.triu(ȳ, k), m), None

    return np.triu(m, k), triu_pullback
