"""Peaks: where they are has no derivative."""

from scipy.signal import _peak_finding_utils

from autodiff_rules._constants import IS_A_POSITION, declare

declare(IS_A_POSITION, _peak_finding_utils._local_maxima_1d, _peak_finding_utils._select_by_peak_distance)
