"""The derivatives of ``scipy.linalg``, found through the entry point of that name.

Arguments are never overwritten by a differentiated call, whatever ``overwrite_a`` says.
"""

from autodiff_rules._modules import import_all

import_all(__name__)
