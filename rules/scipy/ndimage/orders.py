"""Filters that choose: minimum, maximum, median and ranks of what a window shows; of equal elements the first."""

import numpy as np
from scipy.ndimage import _filters, _nd_image

from autodiff_rules.scipy._standins import stand_in
from autodiff_rules.scipy.ndimage._windows import line_windows, windows


@stand_in(_nd_image.min_or_max_filter1d, 3)
def min_or_max_filter1d(input, size, axis, output, mode, cval, origin, minimum):
    seen = np.stack(line_windows(input, size, axis, mode, cval, origin))
    return np.min(seen, 0) if minimum else np.max(seen, 0)


@stand_in(_nd_image.min_or_max_filter, 3)
def min_or_max_filter(input, footprint, structure, output, mode, cval, origins, minimum):
    seen = windows(input, np.asarray(footprint, bool), mode, cval, origins)
    if structure is not None:
        added = structure[np.asarray(footprint, bool)]
        seen = [part - added[k] if minimum else part + added[k] for k, part in enumerate(seen)]
    return np.min(np.stack(seen), 0) if minimum else np.max(np.stack(seen), 0)


@stand_in(_nd_image.rank_filter, 3)
def rank_filter(input, rank, footprint, output, mode, cval, origins):
    seen = np.stack(windows(input, np.asarray(footprint, bool), mode, cval, origins))
    return np.sort(seen, 0)[rank]


@stand_in(_filters._rank_filter_1d.rank_filter, 3)
def rank_filter_1d(input, rank, size, output, mode, cval, origin):
    return np.sort(np.stack(line_windows(input, size, 0, mode, cval, origin)), 0)[rank]
