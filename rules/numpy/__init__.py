"""The derivatives of NumPy, found through the entry point ``numpy`` once NumPy is imported."""

from autodiff_rules._modules import import_all

import_all(__name__)
