"""Peaks: where they are has no derivative; how far they stand out, and how wide they are there, has."""

import numpy as np
from scipy.signal import _peak_finding_utils

from autodiff_hook.extend import cotangents, pure
from autodiff_rules._constants import IS_A_POSITION, declare
from autodiff_rules.numpy.indexing import scatter_add

FOUND = _peak_finding_utils._local_maxima_1d, _peak_finding_utils._select_by_peak_distance
declare(IS_A_POSITION, *FOUND)
pure(*FOUND)


@cotangents(_peak_finding_utils._peak_prominences, "x, peaks, wlen")
def prominences_cotangent(ȳ, y, x, peaks):
    """A peak stands out from the higher one of its bases."""
    (c,) = given(ȳ[:1], peaks)
    base = np.where(x[y[1]] >= x[y[2]], y[1], y[2])
    return scatter_add(x.shape, float, peaks, c) - scatter_add(x.shape, float, base, c)


def given(ȳ, peaks):
    """The cotangents of numbers for each peak: zeros where there are none."""
    return [np.zeros(len(peaks)) if c is None else c for c in ȳ]


@cotangents(
    _peak_finding_utils._peak_widths,
    *("x, peaks, rel_height, prominences, left_bases, right_bases", 1, "x, rel_height, prominences"),
)
def widths_cotangents(ȳ, y, x, peaks, rel_height, prominences):
    widths, heights, left, right = given(ȳ, peaks)
    x_of_left, of_left = crossing(left - widths, x, y[1], np.floor(y[2]).astype(int), 1)
    x_of_right, of_right = crossing(right + widths, x, y[1], np.ceil(y[3]).astype(int), -1)
    heights = heights + of_left + of_right
    x̄ = scatter_add(x.shape, float, peaks, heights) + x_of_left + x_of_right
    return x̄, -np.sum(heights * prominences), -heights * rel_height


def crossing(c, x, height, at, step):
    """The cotangents of x and of the height, from where the line to the next sample crosses it: there, if it does."""
    below = x[at] < height
    beside = np.where(below, at + step, at)
    rise = np.where(below, x[beside] - x[at], 1.0)
    part, c = (height - x[at]) / rise, np.where(below, step * c / rise, 0.0)
    return scatter_add(x.shape, float, at, c * (part - 1.0)) - scatter_add(x.shape, float, beside, c * part), c
