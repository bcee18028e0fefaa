"""Bringing the axes that a reduction takes together to the end, and back."""

import math

import numpy as np


def to_last(x, axis):
    """``x`` with ``axis`` (None: all; a tuple: those) as its last axis."""
    if axis is None or np.ndim(x) == 0:
        return x.reshape(-1)
    if not isinstance(axis, tuple):
        return np.moveaxis(x, axis, -1)
    moved = np.moveaxis(x, sorted([i % np.ndim(x) for i in axis]), last_axes(axis))
    kept = moved.shape[: moved.ndim - len(axis)]
    return moved.reshape((*kept, math.prod(moved.shape[len(kept) :])))


def from_last(c, x, axis):
    """The inverse: ``c`` in the shape of ``x``."""
    if axis is None or np.ndim(x) == 0:
        return c.reshape(np.shape(x))
    if not isinstance(axis, tuple):
        return np.moveaxis(c, -1, axis)
    places = sorted([i % np.ndim(x) for i in axis])
    return np.moveaxis(c.reshape(np.moveaxis(x, places, last_axes(axis)).shape), last_axes(axis), places)


def last_axes(axis):
    """The places of as many axes at the end, in their order."""
    return tuple(range(-len(axis), 0))
