"""The derivatives of ``scipy.signal``: rules for filters and convolutions; the rest through SciPy's Python code."""

from autodiff_rules._modules import import_all

import_all(__name__)
