"""Signals and images that go on beyond their borders."""

from functools import lru_cache

import numpy as np

PADDING = {
    "reflect": "symmetric",
    "grid-mirror": "symmetric",
    "mirror": "reflect",
    "nearest": "edge",
    "wrap": "wrap",
    "grid-wrap": "wrap",
}
"""The modes of ``scipy.ndimage`` by the names of ``numpy.pad``."""
CONSTANT = ("constant", "grid-constant")


def extended(x, axis, before, after, mode, cval=0.0):
    """``x`` with so many elements more along ``axis``, which ``mode`` says; what has none gets none."""
    length = np.shape(x)[axis]
    if length == 0:
        return x
    if mode not in CONSTANT:
        return np.take(x, np.pad(np.arange(length), (before, after), PADDING[mode]), axis)
    places = np.arange(-before, length + after)
    inside = (places >= 0) & (places < length)
    taken = np.take(x, np.where(inside, places, 0), axis)
    return np.where(np.reshape(inside, [-1 if i == axis % np.ndim(x) else 1 for i in range(np.ndim(x))]), taken, cval)


def folded(whole, axis, before, length, mode):
    """The transpose of ``extended``: what is beyond the borders is added to where it came from."""
    rows = np.moveaxis(whole, axis, 0)
    beyond = len(rows) - length
    total = rows[before : before + length]
    if length and beyond and mode not in CONSTANT:
        total = total.copy()
        outside = np.concatenate((rows[:before], rows[before + length :]))
        np.add.at(total, taken_from(length, before, beyond - before, mode), outside)
    return np.moveaxis(total, 0, axis)


@lru_cache(256)
def taken_from(length, before, after, mode):
    """The places of what is taken beyond the borders."""
    places = np.pad(np.arange(length), (before, after), PADDING[mode])
    return np.concatenate((places[:before], places[before + length :]))
