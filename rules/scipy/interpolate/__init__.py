"""The derivatives of ``scipy.interpolate``, found through the entry point of that name.

SciPy's Python code is followed, down to what is native: evaluation, collocation, banded systems.
"""

from autodiff_rules._modules import import_all
from autodiff_rules.scipy import _lapack as _lapack

import_all(__name__)
