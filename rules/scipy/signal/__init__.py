"""The derivatives of ``scipy.signal``: rules for filters and convolutions; the rest through SciPy's Python code."""

from __future__ import annotations

from autodiff_rules.scipy.signal import convolution as convolution
from autodiff_rules.scipy.signal import filters as filters
from autodiff_rules.scipy.signal import resampling as resampling
