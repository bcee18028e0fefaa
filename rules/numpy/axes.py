"""Bringing the axes that a reduction takes together to the end, and back."""

from __future__ import annotations

import math

import numpy as np

from autodiff_hook.registry import nondifferentiable


def to_last(x, axis):
    """``x`` with ``axis`` (None: all; a tuple: those) as its last axis."""
    if axis is None:
        return x.reshape(-1)
    if not isinstance(axis, tuple):
        return np.moveaxis(x, axis, -1)
    order, shape = gathered(x, axis)
    return x.transpose(order).reshape(shape)


def from_last(c, x, axis):
    """The inverse: ``c`` in the shape of ``x``."""
    if axis is None:
        return c.reshape(np.shape(x))
    if not isinstance(axis, tuple):
        return np.moveaxis(c, -1, axis)
    order, _ = gathered(x, axis)
    return c.reshape([np.shape(x)[i] for i in order]).transpose(np.argsort(order))


@nondifferentiable
def gathered(x, axis):
    """The order of axes that has those in ``axis`` last, and the shape where these are one."""
    reduced = [i % np.ndim(x) for i in axis]
    kept = [i for i in range(np.ndim(x)) if i not in reduced]
    lengths = np.shape(x)
    return kept + sorted(reduced), [*[lengths[i] for i in kept], math.prod([lengths[i] for i in reduced])]
