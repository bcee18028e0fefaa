"""The derivatives of ``scipy.linalg``, found through the entry point of that name.

Arguments are never overwritten by a differentiated call, whatever ``overwrite_a`` says.
"""

from autodiff_rules._modules import import_all
from autodiff_rules.scipy import _lapack as _lapack

import_all(__name__)
